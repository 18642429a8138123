/* SPDX-License-Identifier: Apache-2.0 */
/* SVMs on which pairs of variables make no headway: columns in their own units, large C, duplicates, columns that nearly depend on
 * others, weights, real targets. The optimality conditions and the duality gap are computed here from the explicit kernel matrix. */
#include <float.h>
#include <math.h>

#include "core/rng.h"
#include "learn/blocks/blocks.h"
#include "learn/svm_dual.h"
#include "support/learn.h"
#include "support/smo.h"

enum { ROWS = 150, COLS = 9 };
#define STOP 1e-3

/* A clinical table: years, mmHg, mg/dl, beats per minute, and codes; the label follows some of them, with noise. */
typedef struct clinic {
    double x[ROWS * COLS];
    double label[ROWS], amount[ROWS], weight[ROWS];
} clinic;

static void fill_row(kfe_i_rng *rng, double *row)
{
    row[0] = round(54 + 9 * kfe_i_rng_normal(rng));
    row[1] = round(131 + 18 * kfe_i_rng_normal(rng));
    row[2] = round(250 + 52 * kfe_i_rng_normal(rng));
    row[3] = round(150 + 23 * kfe_i_rng_normal(rng));
    row[4] = fabs(round(12 * kfe_i_rng_normal(rng)) / 10);
    for (int64_t j = 5; j < COLS; j++)
        row[j] = kfe_i_rng_normal(rng) > 0;
}

static clinic make(void)
{
    clinic c;
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, 5, 0);
    for (int64_t i = 0; i < ROWS; i++) {
        double *row = c.x + i * COLS;
        fill_row(&rng, row);
        double score = row[4] - (row[3] - 150) / 23 + row[5] + 0.5 * row[6] - 1.5 + kfe_i_rng_normal(&rng);
        c.label[i] = score > 0 ? 1 : -1;
        c.amount[i] = score;
        c.weight[i] = 0.2 + 2 * fabs(kfe_i_rng_normal(&rng));
    }
    return c;
}

static void use_units(clinic *c)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            c->x[i * COLS + j] *= pow(10, (double)(j % 5) - 2);
}

/* Every row three times, a third of them with the other label. */
static void repeat_rows(clinic *c)
{
    for (int64_t i = ROWS / 3; i < ROWS; i++) {
        memcpy(c->x + i * COLS, c->x + (i % (ROWS / 3)) * COLS, COLS * sizeof *c->x);
        c->label[i] = i < 2 * ROWS / 3 ? c->label[i % (ROWS / 3)] : -c->label[i % (ROWS / 3)];
    }
}

static void make_dependent(clinic *c)
{
    for (int64_t i = 0; i < ROWS; i++)
        c->x[i * COLS + 7] = c->x[i * COLS + 1] + c->x[i * COLS + 2] + 1e-6 * c->x[i * COLS + 8];
}

/* ---- kernels ---- */

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (int64_t j = 0; j < COLS; j++)
        sum += a[j] * b[j];
    return sum;
}

static double kernel_value(int kind, const double *a, const double *b)
{
    double between = dot(a, a) + dot(b, b) - 2 * dot(a, b);
    return kind == 0 ? dot(a, b) : kind == 1 ? pow(dot(a, b) / 1e4 + 1, 3) : exp(-between / 1e4);
}

static double *kernel_matrix(int kind, const clinic *c)
{
    double *k = smo_zeros(ROWS * ROWS);

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++)
            k[i * ROWS + j] = kernel_value(kind, c->x + i * COLS, c->x + j * COLS);
    return k;
}

/* ---- checks ---- */

typedef struct setting {
    int kind, real, weighted;
    double c;
} setting;

static void check_feasible(const clinic *c, const setting *s, const double *beta)
{
    double sum = 0;
    double total = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        double upper = s->c * (s->weighted ? c->weight[i] : 1);
        assert_true(fabs(beta[i]) <= upper * (1 + 1e-12));
        assert_true(s->real || beta[i] * c->label[i] >= 0);
        sum += beta[i];
        total += fabs(beta[i]);
    }
    assert_true(fabs(sum) <= 1e-10 * (total + 1));
}

static kfe_i_svm_certificate certify(const clinic *c, const setting *s, const double *k, const double *beta,
                                     double offset)
{
    double values[ROWS] = {0};
    int64_t rows[ROWS];

    for (int64_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        for (int64_t j = 0; j < ROWS; j++)
            values[i] += k[i * ROWS + j] * beta[j];
    }
    kfe_i_svm_column column = {beta, values, 1, offset, s->weighted ? c->weight : NULL};
    kfe_i_svm_targets real = {c->amount, ROWS, 1, 0.1};
    kfe_i_binary binary = {
        .count = ROWS, .rows = rows, .sign = c->label, .positive_weight = 1, .negative_weight = 1};
    return s->real ? kfe_i_svm_certify_real(&real, s->c, &column)
                   : kfe_i_svm_certify_classes(&binary, s->c, &column);
}

/* What rounding may make of a value. */
static double rounding_of(const double *k, const double *beta)
{
    double largest = 0;

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++)
            largest = fmax(largest, fabs(beta[j] * k[i * ROWS + j]));
    return DBL_EPSILON * ROWS * largest;
}

static void check(kfe_context *ctx, const clinic *c, setting s)
{
    double *k = kernel_matrix(s.kind, c);
    kfe_i_table table = learn_dense(ROWS, ROWS, k);
    kfe_i_gram *gram = NULL;
    int64_t rows[ROWS];
    double beta[ROWS] = {0};
    double values[ROWS];
    kfe_i_svm_dual dual = {.count = ROWS,
                           .rows = rows,
                           .target = s.real ? c->amount : c->label,
                           .real = s.real,
                           .tube = s.real ? 0.1 : 0,
                           .upper = {s.c, s.c},
                           .weights = s.weighted ? c->weight : NULL,
                           .beta = beta,
                           .values = values};

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    assert_ok(ctx, kfe_i_blocks_solve(ctx, gram, &dual, 1, &(kfe_i_blocks_options){.stop = STOP}));
    double rounding = rounding_of(k, beta);
    kfe_i_svm_certificate found = certify(c, &s, k, beta, dual.offset);
    check_feasible(c, &s, beta);
    if (found.violation > 2 * STOP + rounding)
        fail_msg("kernel %d, C %g, real %d, weighted %d: violation %g", s.kind, s.c, s.real, s.weighted,
                 found.violation);
    /* a violation costs at most itself times the largest coefficient, for every example */
    assert_below(found.gap, 6 * STOP * s.c * ROWS);
    kfe_i_gram_free(gram);
    free(k);
}

static void check_all(kfe_context *ctx, const clinic *c, double most)
{
    static const double costs[] = {1e-3, 1, 100, 1e4, 1e6};

    for (int kind = 0; kind < 3; kind++)
        for (size_t e = 0; e < sizeof costs / sizeof *costs && costs[e] <= most; e++)
            for (int form = 0; form < 3; form++)
                check(ctx, c, (setting){kind, form == 1, form == 2, costs[e]});
}

static void test_own_units(void **state)
{
    clinic c = make();

    check_all(*state, &c, 1e6);
}

static void test_many_units(void **state)
{
    clinic c = make();

    use_units(&c);
    check_all(*state, &c, 100);
}

static void test_repeated_rows(void **state)
{
    clinic c = make();

    repeat_rows(&c);
    check_all(*state, &c, 1e6);
}

static void test_dependent_columns(void **state)
{
    clinic c = make();

    make_dependent(&c);
    check_all(*state, &c, 1e6);
}

/* Working sets that hold a part of the variables only. */
static void test_small_working_sets(void **state)
{
    kfe_context *ctx = *state;
    clinic c = make();
    double *k = kernel_matrix(0, &c);
    kfe_i_table table = learn_dense(ROWS, ROWS, k);
    kfe_i_gram *gram = NULL;
    int64_t rows[ROWS];
    double beta[ROWS] = {0};
    double values[ROWS];
    kfe_i_svm_dual dual = {
        .count = ROWS, .rows = rows, .target = c.label, .upper = {100, 100}, .beta = beta, .values = values};

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    assert_ok(ctx, kfe_i_blocks_solve(ctx, gram, &dual, 1,
                                      &(kfe_i_blocks_options){.stop = STOP, .working_set = 40}));
    assert_below(dual.violation, STOP);
    kfe_i_gram_free(gram);
    free(k);
}

/* ---- what users read ---- */

/* Units twelve decades apart leave no digits for the conditions. */
static void test_the_end_is_told(void **state)
{
    kfe_context *ctx = *state;
    clinic c = make();
    int class_of[ROWS];

    for (int64_t i = 0; i < ROWS; i++) {
        class_of[i] = c.label[i] > 0;
        c.x[i * COLS] *= 1e8;
        c.x[i * COLS + 4] *= 1e-4;
    }
    kfe_i_table table = learn_dense(ROWS, COLS, c.x);
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    support_catch_log(ctx);
    kfe_i_predictor predictor = learn_fit(ctx, "svm", "C=1e4", &table, &target);
    const char *log = support_log();
    assert_non_null(strstr(log, "svm: the SVM did not reach its optimum"));
    assert_non_null(strstr(log, "duality gap"));
    assert_non_null(strstr(log, "scale the columns"));
    kfe_context_on_log(ctx, NULL, NULL);
    kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_own_units),          with_context(test_many_units),
        with_context(test_repeated_rows),      with_context(test_dependent_columns),
        with_context(test_small_working_sets), with_context(test_the_end_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
