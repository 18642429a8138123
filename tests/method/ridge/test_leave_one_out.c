/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out errors in closed form against refits without each example, and the ridge chosen by them. */
#include "support/fit.h"

#include <math.h>
#include <string.h>

#include "gram/dense/linalg.h"
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

typedef struct eigenpairs {
    double x[ROWS * COLS], y[ROWS * TARGETS];
    double values[ROWS], vectors[ROWS * ROWS];
    kfe_i_loo_factor factor;
} eigenpairs;

/* Eigenpairs of XXᵀ for the points, centred on request, as the closed form takes them. */
static void decompose(kfe_context *ctx, const double *x, const double *y, int centred, eigenpairs *out)
{
    double gram[ROWS * ROWS];

    memcpy(out->x, x, sizeof out->x);
    memcpy(out->y, y, sizeof out->y);
    if (centred) {
        free(support_centre_columns(ROWS, COLS, out->x));
        free(support_centre_columns(ROWS, TARGETS, out->y));
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            gram[i * ROWS + j] = 0;
            for (int k = 0; k < COLS; k++)
                gram[i * ROWS + j] += out->x[i * COLS + k] * out->x[j * COLS + k];
        }
    assert_ok(ctx, kfe_i_symmetric_eigen(ctx, ROWS, gram, ROWS, out->values, out->vectors));
    for (int j = 0; j < ROWS; j++)
        out->values[j] = fmax(out->values[j], 0);
    out->factor = (kfe_i_loo_factor){.n = ROWS,
                                     .rank = ROWS,
                                     .columns = TARGETS,
                                     .vectors = out->vectors,
                                     .values = out->values,
                                     .targets = out->y,
                                     .centred = centred};
}

/* The errors from a tridiagonal form of the same matrix. */
static void reduced_errors(kfe_context *ctx, const eigenpairs *pairs, double *errors)
{
    double gram[ROWS * ROWS];
    double scratch[ROWS * ROWS];
    kfe_i_tridiagonal t = {0};
    int definite = 0;

    kfe_i_from_spectrum(ROWS, pairs->vectors, pairs->values, scratch, gram);
    assert_ok(ctx, kfe_i_tridiagonal_new(ctx, ROWS, gram, &t));
    const kfe_i_loo_reduced reduced = {
        .matrix = &t, .targets = pairs->y, .columns = TARGETS, .centred = pairs->factor.centred};
    assert_ok(ctx, kfe_i_loo_reduced_errors(ctx, &reduced, RIDGES, ridges, errors, &definite));
    assert_true(definite);
    kfe_i_tridiagonal_free(&t);
}

static void test_closed_forms_equal_refits(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(1, ROWS * COLS);
    double *y = support_normals(2, ROWS * TARGETS);
    double errors[RIDGES * ROWS];
    double reduced[RIDGES * ROWS];
    eigenpairs pairs;

    for (int i = 0; i < ROWS; i++) {
        x[i * COLS] += 3; /* so that centring matters */
        y[i * TARGETS] += 2 * x[i * COLS + 1];
    }
    for (int centred = 0; centred < 2; centred++) {
        decompose(ctx, x, y, centred, &pairs);
        assert_ok(ctx, kfe_i_loo_errors(ctx, &pairs.factor, RIDGES, ridges, errors));
        reduced_errors(ctx, &pairs, reduced);
        for (int r = 0; r < RIDGES; r++)
            for (int i = 0; i < ROWS; i++) {
                double expected = refit_error(x, y, i, ridges[r], centred);
                assert_below(fabs(errors[r * ROWS + i] - expected), 1e-10 * (1 + expected));
                assert_below(fabs(reduced[r * ROWS + i] - expected), 1e-10 * (1 + expected));
            }
    }
    free(x);
    free(y);
}

/* ---- the choice ---- */

static void test_rule(void **state)
{
    /* means 2, 1, 1, 1.2 and 3 of four examples; the standard error of the smallest is sqrt(4)/4 = 0.5 */
    const double errors[] = {2, 2, 2, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2.4, 0, 2.4, 3, 3, 3, 3};
    (void)state;

    assert_int_equal(kfe_i_loo_best(5, 4, errors, KFE_LOO_SMALLEST_ERROR),
                     2); /* of equal errors, the one with the larger ridge */
    assert_int_equal(kfe_i_loo_best(5, 4, errors, KFE_LOO_LARGEST_RIDGE), 3);  /* 1.2 ≤ 1 + 0.5 < 3 */
    assert_int_equal(kfe_i_loo_best(5, 4, errors, KFE_LOO_SMALLEST_RIDGE), 1); /* 1 ≤ 1 + 0.5 < 2 */
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
    double smallest_error =
        plain.path[kfe_i_loo_best(KFE_LOO_RIDGES, ROWS, plain.errors, KFE_LOO_SMALLEST_ERROR)];
    double largest =
        weighted.path[kfe_i_loo_best(KFE_LOO_RIDGES, ROWS, weighted.errors, KFE_LOO_LARGEST_RIDGE)];
    double smallest =
        weighted.path[kfe_i_loo_best(KFE_LOO_RIDGES, ROWS, weighted.errors, KFE_LOO_SMALLEST_RIDGE)];
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
                 path[kfe_i_loo_best(KFE_LOO_RIDGES, ROWS, errors, KFE_LOO_LARGEST_RIDGE)]);
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
    assert_true(record_of(again, "loo-error") > 0 && record_of(again, "loo-error") < 1);
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
    const eigenpairs *pairs = user;
    double errors[RIDGES * ROWS];

    return kfe_i_loo_errors(ctx, &pairs->factor, RIDGES, ridges, errors);
}

static void test_allocation_failures(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(3, ROWS * COLS);
    double *y = support_normals(4, ROWS * TARGETS);
    eigenpairs pairs;

    decompose(ctx, x, y, 1, &pairs);
    support_sweep_all("leave-one-out", errors_once, &pairs, 4);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_closed_forms_equal_refits),
        cmocka_unit_test(test_rule),
        with_context(test_models_have_the_ridges_of_refits),
        with_context(test_kb_has_the_ridge_of_refits),
        with_context(test_sample_of_many),
        with_context(test_indefinite_kernel),
        with_context(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
