/* SPDX-License-Identifier: Apache-2.0 */
/* knn against brute force, on points with many ties and duplicates. */
#include <stdio.h>

#include "data/table/keys.h"
#include "support/learn.h"
#include "support/tolerance.h"

enum { TRAIN = 300, QUERIES = 270, GRID = 3 };

/* Points on a coarse grid: distances are exact, and many are equal or zero. */
static double *grid_points(uint64_t seed, int64_t rows)
{
    double *x = calloc((size_t)(rows * GRID), sizeof *x);

    for (int64_t i = 0; i < rows * GRID; i++)
        x[i] = floor(5 * support_uniform(&seed)) - 1;
    return x;
}

static double squared_distance(int64_t cols, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

static double brute_weight(int by_distance, int has_match, double distance)
{
    if (!by_distance)
        return 1;
    if (has_match)
        return distance == 0;
    return 1 / sqrt(distance);
}

/* The nearest row with votes left; of equally near rows the first. */
static int64_t take_nearest(const double *distances, const double *left)
{
    int64_t best = -1;

    for (int64_t i = 0; i < TRAIN; i++)
        if (left[i] > 0 && (best < 0 || distances[i] < distances[best]))
            best = i;
    return best;
}

/* Rows of equal content vote together: all of them by the same share of a vote if fewer votes are left. `answers` are class numbers (one
 * output per class) or values (one output). */
static void brute_force(const double *train, const double *query, const double *answers, int classes,
                        int64_t k, int by_distance, double *out)
{
    double distances[TRAIN];
    double left[TRAIN];
    double total = 0;
    double voted = 0;
    int has_match = 0;

    memset(out, 0, (size_t)(classes ? classes : 1) * sizeof *out);
    for (int64_t i = 0; i < TRAIN; i++) {
        left[i] = 1;
        distances[i] = squared_distance(GRID, train + i * GRID, query);
        has_match |= distances[i] == 0;
    }
    while (voted < (double)k) {
        const double *nearest = train + take_nearest(distances, left) * GRID;
        double equal = 0;
        for (int64_t i = 0; i < TRAIN; i++)
            equal += squared_distance(GRID, train + i * GRID, nearest) == 0;
        double share = fmin(1, ((double)k - voted) / equal);
        for (int64_t i = 0; i < TRAIN; i++) {
            if (squared_distance(GRID, train + i * GRID, nearest) > 0)
                continue;
            double weight = share * brute_weight(by_distance, has_match, distances[i]);
            total += weight;
            out[classes ? (int)answers[i] : 0] += classes ? weight : weight * answers[i];
            left[i] = 0;
        }
        voted += share * equal;
    }
    for (int g = 0; g < (classes ? classes : 1); g++)
        out[g] /= total;
}

/* Every training row with its answer is among the support rows. */
static void check_support(const kfe_i_predictor *predictor, const double *train, const double *answers)
{
    char taken[TRAIN] = {0};

    for (int64_t i = 0; i < TRAIN; i++) {
        double row[GRID];
        int64_t at = 0;
        kfe_i_table_dense_row(&predictor->support, i, row);
        while (at < TRAIN && (taken[at] || predictor->answers[i] != answers[at] ||
                              squared_distance(GRID, row, train + at * GRID) > 0))
            at++;
        assert_true(at < TRAIN);
        taken[at] = 1;
    }
}

static void check_knn(kfe_context *ctx, int classes, int64_t k, int by_distance, int sparse)
{
    double *train = grid_points(1, TRAIN);
    double *queries = grid_points(2, QUERIES);
    double answers[TRAIN];
    int class_of[TRAIN];
    char params[64];
    int64_t outputs = classes ? classes : 1;
    double expected[3];
    double rows[TRAIN * GRID];
    kfe_i_target target;
    uint64_t seed = 3;

    for (int64_t i = 0; i < TRAIN; i++) {
        class_of[i] = i < classes ? (int)i : (int)(support_uniform(&seed) * (classes ? classes : 1));
        answers[i] = classes ? class_of[i] : support_normal(&seed);
    }
    if (classes)
        target = learn_classes(ctx, TRAIN, class_of);
    else
        assert_ok(ctx, kfe_i_target_from_values(ctx, TRAIN, 1, answers, &target));
    kfe_i_table table = sparse ? learn_sparse(ctx, TRAIN, GRID, train) : learn_dense(TRAIN, GRID, train);
    kfe_i_table asked =
        sparse ? learn_sparse(ctx, QUERIES, GRID, queries) : learn_dense(QUERIES, GRID, queries);
    assert_ok(ctx, kfe_i_table_row_keys(ctx, &table, &target.keys));
    snprintf(params, sizeof params, "neighbors=%d,vote=%s", (int)k, by_distance ? "distance" : "uniform");
    kfe_i_predictor predictor = learn_fit(ctx, "knn", params, &table, &target);
    double *got = learn_outputs(ctx, &predictor, &asked);
    check_support(&predictor, train, answers);
    for (int64_t i = 0; i < TRAIN; i++)
        kfe_i_table_dense_row(&predictor.support, i, rows + i * GRID);
    for (int64_t i = 0; i < QUERIES; i++) {
        brute_force(rows, queries + i * GRID, predictor.answers, classes, k < TRAIN ? k : TRAIN, by_distance,
                    expected);
        for (int64_t g = 0; g < outputs; g++)
            assert_below(fabs(got[i * outputs + g] - expected[g]), tolerance_sum(k, 8));
    }
    kfe_i_predictor_free(&predictor);
    kfe_i_table_free(&table);
    kfe_i_table_free(&asked);
    kfe_i_target_free(&target);
    free(got);
    free(train);
    free(queries);
}

static void test_knn_is_brute_force(void **state)
{
    static const int64_t k[] = {1, 2, 5, 40, TRAIN};

    for (size_t i = 0; i < sizeof k / sizeof *k; i++)
        for (int way = 0; way < 8; way++)
            check_knn(*state, way & 1 ? 3 : 0, k[i], way & 2, way & 4);
}

/* Single precision, which passes over most rows, must not pass over a neighbour: points of any magnitude, far from the
 * origin, close together, and a query far from all. */
static void check_magnitude(kfe_context *ctx, double size, double away, double apart)
{
    double *train = support_normals(11, (int64_t)TRAIN * GRID);
    double *queries = support_normals(12, (int64_t)QUERIES * GRID);
    double *answers = support_normals(13, TRAIN);
    double expected;
    kfe_i_target target;

    for (int64_t p = 0; p < (int64_t)TRAIN * GRID; p++)
        train[p] = size * (away + (p % 2 ? apart : 1) * train[p]);
    for (int64_t p = 0; p < (int64_t)QUERIES * GRID; p++)
        queries[p] = size * (away + (p == 0 ? 1e6 : p % 3 ? apart : 1) * queries[p]);
    assert_ok(ctx, kfe_i_target_from_values(ctx, TRAIN, 1, answers, &target));
    kfe_i_table table = learn_dense(TRAIN, GRID, train);
    kfe_i_table asked = learn_dense(QUERIES, GRID, queries);
    double *got = learn_fit_outputs(ctx, "knn", "neighbors=3", &table, &target, &asked);
    for (int64_t i = 0; i < QUERIES; i++) {
        brute_force(train, queries + i * GRID, answers, 0, 3, 0, &expected);
        assert_below(fabs(got[i] - expected), tolerance_sum(3, 12));
    }
    kfe_i_target_free(&target);
    free(got);
    free(train);
    free(queries);
    free(answers);
}

static void test_points_of_any_magnitude(void **state)
{
    static const double sizes[] = {1, 1e-140, 1e-30, 1e-19, 1e19, 1e30, 1e140};

    for (int i = 0; i < 7; i++) {
        check_magnitude(*state, sizes[i], 0, 1);
        check_magnitude(*state, sizes[i], 1e5, 1);
        check_magnitude(*state, sizes[i], 0, 1e-6);
    }
}

static void test_more_neighbours_than_rows(void **state)
{
    kfe_context *ctx = *state;
    double x[3] = {0, 1, 5};
    int class_of[3] = {0, 0, 1};
    kfe_i_table table = learn_dense(3, 1, x);
    kfe_i_target target = learn_classes(ctx, 3, class_of);

    support_catch_log(ctx);
    kfe_i_predictor predictor = learn_fit(ctx, "knn", "neighbors=10", &table, &target);
    assert_non_null(strstr(support_log(), "only 3 rows"));
    double *out = learn_outputs(ctx, &predictor, &table);
    for (int i = 0; i < 3; i++) {
        assert_below(fabs(out[2 * i] - 2.0 / 3), 1e-15);
        assert_int_equal(kfe_i_predictor_decide(&predictor, out + 2 * i), 0);
    }
    free(out);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
}

/* Whatever its name, the class of the nearest neighbour among those with equal votes wins. */
static void test_equal_votes(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    kfe_context *ctx = *state;
    double x[5] = {1, 2, 3, 4, 9};
    double queries[2] = {0, 4.5};
    kfe_i_table table = learn_dense(5, 1, x);
    kfe_i_table asked = learn_dense(2, 1, queries);

    for (int o = 0; o < 3; o++) {
        const int *name = orders[o];
        int class_of[5] = {name[0], name[1], name[1], name[2], name[2]};
        kfe_i_target target = learn_classes(ctx, 5, class_of);
        for (int k = 2; k <= 4; k += 2) {
            kfe_i_predictor predictor =
                learn_fit(ctx, "knn", k == 2 ? "neighbors=2" : "neighbors=4", &table, &target);
            double *out = learn_outputs(ctx, &predictor, &asked);
            /* from 0: 1 and 2, then 3 and 4: the second class has two votes of four */
            assert_int_equal(kfe_i_predictor_decide(&predictor, out), name[k == 2 ? 0 : 1]);
            /* from 4.5: 4 and 3, then 2 and 1 */
            assert_int_equal(kfe_i_predictor_decide(&predictor, out + 3), name[k == 2 ? 2 : 1]);
            for (int g = 0; g < 3; g++)
                assert_below(fabs(out[g] * k - nearbyint(out[g] * k)), 1e-15);
            free(out);
            kfe_i_predictor_free(&predictor);
        }
        kfe_i_target_free(&target);
    }
}

/* Distances whose reciprocal overflows or vanishes. */
static void test_tiny_and_huge_distances_vote(void **state)
{
    kfe_context *ctx = *state;
    double x[3] = {1e-170, 1e-160, 1e150};
    double zero = 0;
    int class_of[3] = {0, 1, 1};
    kfe_i_table table = learn_dense(3, 1, x);
    kfe_i_table query = learn_dense(1, 1, &zero);
    kfe_i_target target = learn_classes(ctx, 3, class_of);
    double *out = learn_fit_outputs(ctx, "knn", "neighbors=3,vote=distance", &table, &target, &query);

    assert_true(isfinite(out[0]) && isfinite(out[1]));
    assert_below(fabs(out[0] + out[1] - 1), 1e-15);
    free(out);
    kfe_i_target_free(&target);
}

/* A model fitted on dense rows accepts sparse rows, and the other way round. */
static void test_sparse_queries_meet_dense_rows(void **state)
{
    kfe_context *ctx = *state;
    double *train = grid_points(5, TRAIN);
    double *queries = grid_points(6, QUERIES);
    kfe_i_table tables[2] = {learn_dense(TRAIN, GRID, train), learn_sparse(ctx, TRAIN, GRID, train)};
    kfe_i_table asked[2] = {learn_dense(QUERIES, GRID, queries), learn_sparse(ctx, QUERIES, GRID, queries)};
    kfe_i_target target;
    double *values = support_normals(7, TRAIN);
    double *first = NULL;

    assert_ok(ctx, kfe_i_target_from_values(ctx, TRAIN, 1, values, &target));
    for (int way = 0; way < 4; way++) {
        double *got = learn_fit_outputs(ctx, "knn", "neighbors=4,vote=distance", &tables[way & 1], &target,
                                        &asked[way / 2]);
        if (first)
            assert_memory_equal(first, got, QUERIES * sizeof *got);
        else
            first = support_product(QUERIES, 1, 1, got, (double[]){1});
        free(got);
    }
    free(first);
    free(values);
    free(train);
    free(queries);
    kfe_i_table_free(&tables[1]);
    kfe_i_table_free(&asked[1]);
    kfe_i_target_free(&target);
}

/* ---- the default number of neighbours ---- */

enum { FEW = 40, NUMBERS = 13 };

/* Rows of which every third is equal to the one before it. */
static double *repeated_points(uint64_t seed)
{
    double *x = support_normals(seed, FEW * GRID);

    for (int64_t i = 2; i < FEW; i += 3)
        memcpy(x + i * GRID, x + (i - 1) * GRID, GRID * sizeof *x);
    return x;
}

/* The share of the classes with most votes that are not the true one. */
static double share_of_wrong(const double *votes, int64_t classes, int32_t truth)
{
    int wins = 0;

    for (int64_t g = 0; g < classes; g++) {
        if (votes[g] > votes[truth] + 1e-12)
            return 1;
        wins += votes[g] > votes[truth] - 1e-12;
    }
    return 1 - 1.0 / wins;
}

/* The loss of knn with k neighbours at row `out`, fitted on the other rows. */
static double refit_loss(kfe_context *ctx, const double *x, const double *answers, int classes, int out,
                         int k, const char *vote)
{
    double others[FEW * GRID];
    double values[FEW];
    int class_of[FEW];
    char params[64];
    kfe_i_target target;
    int n = 0;

    for (int i = 0; i < FEW; i++) {
        if (i == out)
            continue;
        memcpy(others + n * GRID, x + i * GRID, GRID * sizeof *x);
        values[n] = answers[i];
        class_of[n++] = (int)answers[i];
    }
    if (classes)
        target = learn_classes(ctx, n, class_of);
    else
        assert_ok(ctx, kfe_i_target_from_values(ctx, n, 1, values, &target));
    kfe_i_table table = learn_dense(n, GRID, others);
    kfe_i_table query = learn_dense(1, GRID, x + out * GRID);
    assert_ok(ctx, kfe_i_table_row_keys(ctx, &table, &target.keys));
    snprintf(params, sizeof params, "neighbors=%d,vote=%s", k, vote);
    kfe_i_predictor predictor = learn_fit(ctx, "knn", params, &table, &target);
    double *got = learn_outputs(ctx, &predictor, &query);
    double loss = (got[0] - answers[out]) * (got[0] - answers[out]);
    for (int i = 0; classes && i < n;
         i++) /* classes are numbered by first appearance, so leaving out a row may change the numbers */
        if (class_of[i] == (int)answers[out])
            loss = share_of_wrong(got, predictor.classes, target.codes[i]);
    free(got);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    return loss;
}

/* The default number of neighbours has the smallest loss over refits without each row; of equal losses, the
 * largest number wins. */
static void test_automatic_number_by_refits(void **state)
{
    kfe_context *ctx = *state;

    for (int way = 0; way < 4; way++) {
        int classes = way & 1 ? 3 : 0;
        const char *vote = way & 2 ? "vote=distance" : "vote=uniform";
        double *x = repeated_points(11 + (uint64_t)way);
        double answers[FEW];
        int class_of[FEW];
        double errors[NUMBERS] = {0};
        uint64_t seed = 5;
        int best = 0;
        kfe_i_target target;

        for (int i = 0; i < FEW; i++) {
            class_of[i] = i < 6 ? i % 3 : (x[i * GRID] > 0) + (support_uniform(&seed) > 0.8);
            answers[i] = classes ? class_of[i] : x[i * GRID] + support_normal(&seed);
        }
        if (classes)
            target = learn_classes(ctx, FEW, class_of);
        else
            assert_ok(ctx, kfe_i_target_from_values(ctx, FEW, 1, answers, &target));
        for (int m = 0; m < NUMBERS; m++) {
            for (int i = 0; i < FEW; i++)
                errors[m] += refit_loss(ctx, x, answers, classes, i, 2 * m + 1, vote + 5) / FEW;
            if (errors[m] <= errors[best] * (1 + 1e-12))
                best = m;
        }
        kfe_i_table table = learn_dense(FEW, GRID, x);
        assert_ok(ctx, kfe_i_table_row_keys(ctx, &table, &target.keys));
        kfe_i_predictor predictor = learn_fit(ctx, "knn", vote, &table, &target);
        assert_int_equal(predictor.neighbours, 2 * best + 1);
        assert_string_equal(predictor.records[0].name, "neighbors");
        assert_true(predictor.records[0].value == 2 * best + 1);
        assert_below(fabs(predictor.records[1].value - errors[best]), 1e-12 * (1 + errors[best]));
        kfe_i_predictor_free(&predictor);
        kfe_i_target_free(&target);
        free(x);
    }
}

/* A table given three times has three times as many neighbours, which are the same rows. */
static void test_automatic_number_of_a_repeated_table(void **state)
{
    kfe_context *ctx = *state;
    double *x = repeated_points(21);
    double *queries = support_normals(22, QUERIES * GRID);
    double thrice[3 * FEW * GRID];
    int class_of[3 * FEW];
    uint64_t seed = 5;
    double *got[2];
    int64_t neighbours[2];

    for (int64_t i = 0; i < 3 * FEW; i++) {
        memcpy(thrice + i * GRID, x + i % FEW * GRID, GRID * sizeof *x);
        class_of[i] = i >= FEW ? class_of[i - FEW] : (x[i * GRID] > 0) + (support_uniform(&seed) > 0.8);
    }
    for (int copies = 0; copies < 2; copies++) {
        int64_t rows = copies ? 3 * FEW : FEW;
        kfe_i_table table = learn_dense(rows, GRID, thrice);
        kfe_i_table asked = learn_dense(QUERIES, GRID, queries);
        kfe_i_target target = learn_classes(ctx, rows, class_of);
        assert_ok(ctx, kfe_i_table_row_keys(ctx, &table, &target.keys));
        kfe_i_predictor predictor = learn_fit(ctx, "knn", NULL, &table, &target);
        neighbours[copies] = predictor.neighbours;
        got[copies] = learn_outputs(ctx, &predictor, &asked);
        kfe_i_predictor_free(&predictor);
        kfe_i_target_free(&target);
    }
    assert_true(neighbours[0] > 1);
    assert_int_equal(neighbours[1], 3 * neighbours[0]);
    for (int64_t p = 0; p < (int64_t)QUERIES * 3; p++)
        assert_below(fabs(got[0][p] - got[1][p]), 1e-14);
    free(got[0]);
    free(got[1]);
    free(queries);
    free(x);
}

/* Equal rows, and only two rows: a number of neighbours is always found. */
static void test_automatic_number_of_few_rows(void **state)
{
    kfe_context *ctx = *state;
    double x[8] = {0};
    int class_of[8] = {0, 1, 0, 0, 0, 0, 0, 0};

    for (int64_t n = 2; n <= 8; n++) {
        kfe_i_table table = learn_dense(n, 1, x);
        kfe_i_target target = learn_classes(ctx, n, class_of);
        kfe_i_predictor predictor = learn_fit(ctx, "knn", NULL, &table, &target);
        assert_true(predictor.neighbours >= 1 && predictor.neighbours < n && predictor.neighbours % 2 == 1);
        kfe_i_predictor_free(&predictor);
        kfe_i_target_free(&target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_knn_is_brute_force),
        with_context(test_points_of_any_magnitude),
        with_context(test_more_neighbours_than_rows),
        with_context(test_tiny_and_huge_distances_vote),
        with_context(test_equal_votes),
        with_context(test_sparse_queries_meet_dense_rows),
        with_context(test_automatic_number_by_refits),
        with_context(test_automatic_number_of_a_repeated_table),
        with_context(test_automatic_number_of_few_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
