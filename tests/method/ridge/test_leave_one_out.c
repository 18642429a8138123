/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out errors in closed form against refits without each example, and the ridge chosen by them. */
#include "support/fit.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "method/ridge/leave_one_out.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 24, COLS = 3, TARGETS = 2, RIDGES = 4 };
static const double ridges[RIDGES] = {1e-3, 0.1, 2, 50};

/* ---- refits ---- */

/* Solves the COLS equations a·w = b by elimination with pivoting. */
static void eliminate(double a[COLS][COLS], double b[COLS][TARGETS])
{
    for (int p = 0; p < COLS; p++) {
        int top = p;
        for (int i = p + 1; i < COLS; i++)
            if (fabs(a[i][p]) > fabs(a[top][p]))
                top = i;
        for (int j = 0; j < COLS; j++) {
            double kept = a[p][j];
            a[p][j] = a[top][j];
            a[top][j] = kept;
        }
        for (int t = 0; t < TARGETS; t++) {
            double kept = b[p][t];
            b[p][t] = b[top][t];
            b[top][t] = kept;
        }
        for (int i = 0; i < COLS; i++) {
            double factor = a[i][p] / a[p][p];
            for (int j = 0; i != p && j < COLS; j++)
                a[i][j] -= factor * a[p][j];
            for (int t = 0; i != p && t < TARGETS; t++)
                b[i][t] -= factor * b[p][t];
        }
    }
    for (int p = 0; p < COLS; p++)
        for (int t = 0; t < TARGETS; t++)
            b[p][t] /= a[p][p];
}

/* The squared error at example `out` of the regression with an intercept on all other examples. */
static double refit_error(const double *x, const double *y, int out, double ridge, int centred)
{
    double a[COLS][COLS] = {{0}};
    double b[COLS][TARGETS] = {{0}};
    double mean_x[COLS] = {0};
    double mean_y[TARGETS] = {0};
    double sum = 0;

    for (int i = 0; centred && i < ROWS; i++) {
        for (int j = 0; i != out && j < COLS; j++)
            mean_x[j] += x[i * COLS + j] / (ROWS - 1);
        for (int t = 0; i != out && t < TARGETS; t++)
            mean_y[t] += y[i * TARGETS + t] / (ROWS - 1);
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; i != out && j < COLS; j++) {
            for (int k = 0; k < COLS; k++)
                a[j][k] += (x[i * COLS + j] - mean_x[j]) * (x[i * COLS + k] - mean_x[k]);
            for (int t = 0; t < TARGETS; t++)
                b[j][t] += (x[i * COLS + j] - mean_x[j]) * (y[i * TARGETS + t] - mean_y[t]);
        }
    for (int j = 0; j < COLS; j++)
        a[j][j] += ridge;
    eliminate(a, b);
    for (int t = 0; t < TARGETS; t++) {
        double error = y[out * TARGETS + t] - mean_y[t];
        for (int j = 0; j < COLS; j++)
            error -= (x[out * COLS + j] - mean_x[j]) * b[j][t];
        sum += error * error;
    }
    return sum;
}

/* ---- the closed form ---- */

/* Some rows of a regression on the kernel of dot products, with their targets. */
typedef struct regression {
    double x[ROWS * COLS], y[ROWS * TARGETS];
    int64_t rows;
    int centred;
    const double *roots;
    double mass;
} regression;

static void take_rows(const double *x, const double *y, int centred, regression *out)
{
    *out = (regression){.rows = ROWS, .centred = centred};
    memcpy(out->x, x, sizeof out->x);
    memcpy(out->y, y, sizeof out->y);
    if (centred) {
        free(support_centre_columns(ROWS, COLS, out->x));
        free(support_centre_columns(ROWS, TARGETS, out->y));
    }
}

static kfe_status closed_errors(kfe_context *ctx, const regression *g, double *errors)
{
    double gram[ROWS * ROWS];
    kfe_i_tridiagonal t = {0};
    int definite = 0;

    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t j = 0; j < g->rows; j++) {
            gram[i * g->rows + j] = 0;
            for (int k = 0; k < COLS; k++)
                gram[i * g->rows + j] += g->x[i * COLS + k] * g->x[j * COLS + k];
        }
    kfe_status status = kfe_i_tridiagonal_new(ctx, g->rows, gram, &t);
    const kfe_i_loo_reduced reduced = {.matrix = &t,
                                       .targets = g->y,
                                       .columns = TARGETS,
                                       .centred = g->centred,
                                       .roots = g->roots,
                                       .mass = g->mass};
    if (status == KFE_OK)
        status = kfe_i_loo_errors(ctx, &reduced, RIDGES, ridges, errors, &definite);
    assert_true(status != KFE_OK || definite);
    kfe_i_tridiagonal_free(&t);
    return status;
}

static void test_closed_forms_equal_refits(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(1, ROWS * COLS);
    double *y = support_normals(2, ROWS * TARGETS);
    double errors[RIDGES * ROWS];
    regression g;

    for (int i = 0; i < ROWS; i++) {
        x[i * COLS] += 3; /* so that centring matters */
        y[i * TARGETS] += 2 * x[i * COLS + 1];
    }
    for (int centred = 0; centred < 2; centred++) {
        take_rows(x, y, centred, &g);
        assert_ok(ctx, closed_errors(ctx, &g, errors));
        for (int r = 0; r < RIDGES; r++)
            for (int i = 0; i < ROWS; i++) {
                double expected = refit_error(x, y, i, ridges[r], centred);
                assert_below(fabs(errors[r * ROWS + i] - expected), 1e-10 * (1 + expected));
            }
    }
    free(x);
    free(y);
}

/* ---- rows of equal content ---- */

/* Row i of the regression has the content i % DIFFERENT and a weight of its own; here the rows of one content are left out. */
enum { DIFFERENT = 17 };

static double refit_unit_error(const double *x, const double *y, const double *weights, int unit,
                               double ridge)
{
    double a[COLS][COLS] = {{0}};
    double b[COLS][TARGETS] = {{0}};
    double mean_x[COLS] = {0};
    double mean_y[TARGETS] = {0};
    double mass = 0;
    double sum = 0;

    for (int i = 0; i < ROWS; i++)
        mass += i % DIFFERENT == unit ? 0 : weights[i];
    for (int i = 0; i < ROWS; i++) {
        double w = i % DIFFERENT == unit ? 0 : weights[i] / mass;
        for (int j = 0; j < COLS; j++)
            mean_x[j] += w * x[i * COLS + j];
        for (int t = 0; t < TARGETS; t++)
            mean_y[t] += w * y[i * TARGETS + t];
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; i % DIFFERENT != unit && j < COLS; j++) {
            double dx = weights[i] * (x[i * COLS + j] - mean_x[j]);
            for (int k = 0; k < COLS; k++)
                a[j][k] += dx * (x[i * COLS + k] - mean_x[k]);
            for (int t = 0; t < TARGETS; t++)
                b[j][t] += dx * (y[i * TARGETS + t] - mean_y[t]);
        }
    for (int j = 0; j < COLS; j++)
        a[j][j] += ridge;
    eliminate(a, b);
    for (int i = unit; i < ROWS; i += DIFFERENT)
        for (int t = 0; t < TARGETS; t++) {
            double error = y[i * TARGETS + t] - mean_y[t];
            for (int j = 0; j < COLS; j++)
                error -= (x[i * COLS + j] - mean_x[j]) * b[j][t];
            sum += weights[i] * error * error;
        }
    return sum;
}

/* Multiplies by the roots of the weights after subtracting weighted means. */
static void weigh(const double *weights, int cols, double *values)
{
    double mass = 0;

    for (int i = 0; i < ROWS; i++)
        mass += weights[i];
    for (int j = 0; j < cols; j++) {
        double mean = 0;
        for (int i = 0; i < ROWS; i++)
            mean += weights[i] / mass * values[i * cols + j];
        for (int i = 0; i < ROWS; i++)
            values[i * cols + j] = sqrt(weights[i]) * (values[i * cols + j] - mean);
    }
}

/* The rows of one content as one row, which carries the root of their weights' sum. */
static void join_rows(const kfe_i_loo_units *units, const double *x, const double *roots, regression *out,
                      double *joined_roots)
{
    out->rows = units->count;
    for (int64_t g = 0; g < units->count; g++)
        joined_roots[g] = sqrt(units->masses[g]);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLS; k++)
            out->x[units->of[i] * COLS + k] = x[i * COLS + k] / roots[i] * joined_roots[units->of[i]];
    memcpy(out->y, units->targets, (size_t)units->count * TARGETS * sizeof *out->y);
}

static void test_equal_rows_are_left_out_together(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(11, ROWS * COLS);
    double *y = support_normals(12, ROWS * TARGETS);
    double weights[ROWS];
    double roots[ROWS];
    double joined_roots[ROWS];
    double mass = 0;
    double errors[RIDGES * ROWS];
    kfe_i_row_key keys[ROWS];
    kfe_i_distinct distinct;
    kfe_i_loo_units units;
    regression g;

    for (int i = 0; i < ROWS; i++) {
        memcpy(x + i * COLS, x + i % DIFFERENT * COLS, COLS * sizeof *x);
        keys[i] = (kfe_i_row_key){.order = (uint64_t)(i % DIFFERENT), .same = (uint64_t)(i % DIFFERENT)};
        weights[i] = 0.5 + i % 3;
        roots[i] = sqrt(weights[i]);
        mass += weights[i];
    }
    double *plain_x = support_normals(11, ROWS * COLS);
    double *plain_y = support_normals(12, ROWS * TARGETS);
    memcpy(plain_x, x, ROWS * COLS * sizeof *x);
    weigh(weights, COLS, x);
    weigh(weights, TARGETS, y);
    assert_ok(ctx, kfe_i_distinct_make(ctx, ROWS, keys, 1, &distinct));
    assert_ok(ctx, kfe_i_loo_units_make(&distinct, distinct.count, roots, TARGETS, y, &units));
    take_rows(x, y, 0, &g); /* centred already */
    join_rows(&units, x, roots, &g, joined_roots);
    g.centred = 1;
    g.roots = joined_roots;
    g.mass = mass;
    assert_ok(ctx, closed_errors(ctx, &g, errors));
    assert_int_equal(units.count, DIFFERENT);
    for (int r = 0; r < RIDGES; r++)
        for (int content = 0; content < DIFFERENT; content++) {
            int64_t unit = distinct.of[content];
            double expected = refit_unit_error(plain_x, plain_y, weights, content, ridges[r]);
            assert_below(fabs(errors[r * DIFFERENT + unit] + units.within[unit] - expected),
                         1e-10 * (1 + expected));
        }
    kfe_i_loo_units_free(&units);
    kfe_i_distinct_free(&distinct);
    free(x);
    free(y);
    free(plain_x);
    free(plain_y);
}

/* ---- the choice ---- */

/* The rule for examples that weigh the same. */
static int64_t best_of(int64_t count, int64_t n, const double *errors, kfe_i_loo_rule rule)
{
    double ones[ROWS];

    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;
    return kfe_i_loo_best(count, n, errors, ones, rule);
}

static void test_rule(void **state)
{
    /* means 2, 1, 1, 1.2 and 3 of four examples; the standard error of the smallest is sqrt(4)/4 = 0.5 */
    const double errors[] = {2, 2, 2, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2.4, 0, 2.4, 3, 3, 3, 3};
    (void)state;

    assert_int_equal(best_of(5, 4, errors, KFE_LOO_SMALLEST_ERROR),
                     2); /* of equal errors, the one with the larger ridge */
    assert_int_equal(best_of(5, 4, errors, KFE_LOO_LARGEST_RIDGE), 3);  /* 1.2 ≤ 1 + 0.5 < 3 */
    assert_int_equal(best_of(5, 4, errors, KFE_LOO_SMALLEST_RIDGE), 1); /* 1 ≤ 1 + 0.5 < 2 */
}

static double record_of(const kfe_model *model, const char *name)
{
    int64_t count = 0;
    const double *values = kfe_model_record(model, name, &count);

    assert_non_null(values);
    assert_int_equal(count, 1);
    return *values;
}

/* Points of two classes, and the leave-one-out errors of refits on their indicators for the path of ridges. */
typedef struct refits {
    kfe_data *data;
    double *x, *centred; /* the points, which `data` refers to */
    double path[KFE_LOO_RIDGES], errors[KFE_LOO_RIDGES * ROWS];
    double trace; /* of the centred linear kernel */
} refits;

/* `weighted`: indicators divided by the roots of the class sizes, as in kfd and hsic. */
static void refit_all(kfe_context *ctx, int weighted, refits *out)
{
    int *class_of = NULL;
    double y[ROWS * TARGETS];
    double members[TARGETS] = {0};

    support_clouds(7, ROWS, COLS, TARGETS, 1, &out->centred, &class_of);
    free(class_of);
    support_clouds(7, ROWS, COLS, TARGETS, 1, &out->x, &class_of);
    out->data = support_dense(ctx, ROWS, COLS, out->x, class_of);
    free(support_centre_columns(ROWS, COLS, out->centred));
    for (int i = 0; i < ROWS; i++)
        members[class_of[i]]++;
    for (int i = 0; i < ROWS; i++)
        for (int t = 0; t < TARGETS; t++)
            y[i * TARGETS + t] = (class_of[i] == t) / (weighted ? sqrt(members[t]) : 1);
    out->trace = 0;
    for (int p = 0; p < ROWS * COLS; p++)
        out->trace += out->centred[p] * out->centred[p];
    for (int r = 0; r < KFE_LOO_RIDGES; r++) {
        out->path[r] = out->trace / ROWS * pow(10, -5 + 0.5 * r);
        for (int i = 0; i < ROWS; i++)
            out->errors[r * ROWS + i] = refit_error(out->centred, y, i, out->path[r], 1);
    }
    free(class_of);
}

static void refits_free(refits *r)
{
    kfe_data_free(r->data);
    free(r->x);
    free(r->centred);
}

static void check_choice(kfe_context *ctx, const kfe_data *data, const char *method, const char *record,
                         double expected)
{
    kfe_model *model = support_fit(ctx, method, "scale=none", "linear", data);

    assert_below(fabs(record_of(model, record) - expected), 1e-9 * expected);
    assert_true(record_of(model, "loo-rows") == ROWS);
    kfe_model_free(model);
}

/* On a linear kernel the models have the ridges, or the C, that refits choose. */
static void test_models_have_the_ridges_of_refits(void **state)
{
    kfe_context *ctx = *state;
    refits weighted;
    refits plain;

    refit_all(ctx, 1, &weighted);
    refit_all(ctx, 0, &plain);
    double smallest_error = plain.path[best_of(KFE_LOO_RIDGES, ROWS, plain.errors, KFE_LOO_SMALLEST_ERROR)];
    double largest = weighted.path[best_of(KFE_LOO_RIDGES, ROWS, weighted.errors, KFE_LOO_LARGEST_RIDGE)];
    double smallest = weighted.path[best_of(KFE_LOO_RIDGES, ROWS, weighted.errors, KFE_LOO_SMALLEST_RIDGE)];
    assert_true(smallest < smallest_error && smallest_error < largest); /* else rules are not told apart */
    check_choice(ctx, plain.data, "kfd", "ridge", largest);
    check_choice(ctx, plain.data, "hsic", "ridge", smallest);
    check_choice(ctx, plain.data, "usvm-joint", "xi", smallest_error);
    check_choice(ctx, plain.data, "usvm-joint", "svm-c", 10);
    check_choice(ctx, plain.data, "svm-joint", "svm-c", 4 / smallest_error);
    check_choice(ctx, plain.data, "slmc", "svm-c", 4 / smallest_error);
    check_choice(ctx, plain.data, "svm-mkl", "xi", smallest_error / plain.trace); /* kernels of trace one */
    refits_free(&weighted);
    refits_free(&plain);
}

/* kb regresses ±1 on the kernel without a constant. */
static void test_kb_has_the_ridge_of_refits(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    double y[ROWS * TARGETS] = {0};
    double path[KFE_LOO_RIDGES];
    double errors[KFE_LOO_RIDGES * ROWS];
    double trace = 0;

    support_clouds(7, ROWS, COLS, 2, 1, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (int p = 0; p < ROWS * COLS; p++)
        trace += x[p] * x[p];
    for (int i = 0; i < ROWS; i++)
        y[i * TARGETS] = class_of[i] == 0 ? 1 : -1;
    for (int r = 0; r < KFE_LOO_RIDGES; r++) {
        path[r] = trace / ROWS * pow(10, -5 + 0.5 * r);
        for (int i = 0; i < ROWS; i++)
            errors[r * ROWS + i] = refit_error(x, y, i, path[r], 0);
    }
    check_choice(ctx, data, "kb", "ridge",
                 path[best_of(KFE_LOO_RIDGES, ROWS, errors, KFE_LOO_LARGEST_RIDGE)]);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* With many examples a sample determines the ridge. The same seed gives the same sample, and the ridge is
 * near that of all examples. */
static void test_sample_of_many(void **state)
{
    kfe_context *ctx = *state;
    enum { MANY = 700 };
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(8, MANY, COLS, 2, 1, &x, &class_of);
    kfe_data *data = support_dense(ctx, MANY, COLS, x, class_of);
    kfe_model *once = support_fit(ctx, "kopls", NULL, "rbf:gamma=0.2", data);
    kfe_model *again = support_fit(ctx, "uhsic", NULL, "rbf:gamma=0.2", data);
    assert_true(record_of(once, "loo-rows") == 270);
    assert_true(record_of(once, "ridge") > 0);
    assert_true(record_of(again, "loo-rows") == 270);
    assert_true(record_of(again, "loo-unexplained-variance") > 0 &&
                record_of(again, "loo-unexplained-variance") < 1);
    kfe_model_free(once);
    kfe_model_free(again);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* The kernel xx' − 0.5yy' of two columns is indefinite: negative eigenvalues count as zero, as in the positive part. */
static void test_indefinite_kernel(void **state)
{
    kfe_context *ctx = *state;
    enum { N = 30 };
    double *x = support_normals(5, 2 * N);
    double matrix[N * N];
    double positive[N * N];
    double values[N];
    double vectors[N * N];
    int64_t index[N];
    kfe_i_gram *gram[2] = {NULL, NULL};
    kfe_i_loo_choice choice[2];

    for (int i = 0; i < N; i++) {
        index[i] = i;
        for (int j = 0; j < N; j++)
            matrix[i * N + j] = x[2 * i] * x[2 * j] - 0.5 * x[2 * i + 1] * x[2 * j + 1];
    }
    memcpy(positive, matrix, sizeof positive);
    assert_ok(ctx, kfe_i_symmetric_eigen(ctx, N, positive, N, values, vectors));
    assert_true(values[N - 1] < -1);
    for (int j = 0; j < N; j++)
        values[j] = fmax(values[j], 0);
    double scratch[N * N];
    kfe_i_from_spectrum(N, vectors, values, scratch, positive);
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, kfe_i_gram_subset(ctx, N, k == 0 ? matrix : positive, index, N, &gram[k]));
        const kfe_i_loo_problem problem = {
            .gram = gram[k], .targets = x, .columns = 1, .rule = KFE_LOO_SMALLEST_ERROR};
        assert_ok(ctx, kfe_i_loo_choose(ctx, &problem, &choice[k]));
        kfe_i_gram_free(gram[k]);
    }
    assert_true(choice[0].indefinite && !choice[1].indefinite);
    assert_below(fabs(choice[0].ridge - choice[1].ridge), 1e-9 * choice[1].ridge);
    assert_below(fabs(choice[0].error - choice[1].error), 1e-8 * choice[1].error);
    free(x);
}

static kfe_status errors_once(kfe_context *ctx, void *user)
{
    double errors[RIDGES * ROWS];

    return closed_errors(ctx, user, errors);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    double *x = support_normals(3, ROWS * COLS);
    double *y = support_normals(4, ROWS * TARGETS);
    regression g;

    take_rows(x, y, 1, &g);
    support_sweep_all("leave-one-out", errors_once, &g, 4);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_closed_forms_equal_refits),
        with_context(test_equal_rows_are_left_out_together),
        cmocka_unit_test(test_rule),
        with_context(test_models_have_the_ridges_of_refits),
        with_context(test_kb_has_the_ridge_of_refits),
        with_context(test_sample_of_many),
        with_context(test_indefinite_kernel),
        with_context(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
