/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations of linear models: coefficients reproduce predictions for every linear method, scaling and kind of data, and
 * loadings, variance, VIP and selectivity ratio equal their formulas computed from the data by brute force. */
#include <math.h>
#include <stdio.h>

#include "support/fit.h"

enum { ROWS = 40, COLS = 6 };

static kfe_data *real_data(kfe_context *ctx, const double *x, const double *y, int64_t targets)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, targets, y));
    return data;
}

/* Columns of different spread and location, and targets that depend on three of them. */
static void make_problem(double *x, double *y)
{
    uint64_t random = 5;

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++)
            x[i * COLS + j] = (support_normal(&random) + j) * pow(3, j - 2);
        y[2 * i] = x[i * COLS] - x[i * COLS + 2] / 3 + 0.1 * support_normal(&random);
        y[2 * i + 1] = x[i * COLS + 1] + 0.1 * support_normal(&random);
    }
}

static kfe_model *fit_with(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                           const char *learner, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    if (learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

/* The numbers of a table, row by row, in memory that a later call uses again after some thousand numbers. */
static const double *table_of(const kfe_result *e, const char *name, int64_t rows, int64_t cols)
{
    static double pool[1 << 16];
    static int64_t used = 0;
    const kfe_table *table = kfe_result_find(e, name);

    if (!table)
        fail_msg("there is no table %s", name);
    assert_int_equal(table->rows, rows);
    assert_int_equal(table->cols, cols + 1);
    assert_true(rows * cols <= (int64_t)(sizeof pool / sizeof *pool));
    used = used + rows * cols <= (int64_t)(sizeof pool / sizeof *pool) ? used : 0;
    double *values = pool + used;
    used += rows * cols;
    for (int64_t i = 0; i < rows * cols; i++)
        values[i] = kfe_table_column(table, i % cols + 1)->numbers[i / cols];
    return values;
}

/* ---- coefficients ---- */

static void check_coefficients(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                               const double *x)
{
    kfe_result *e = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    int64_t k = kfe_model_outputs(model);

    assert_ok(ctx, kfe_explain(ctx, model, NULL, "parts=linear", &e));
    assert_ok(ctx, kfe_predict(ctx, model, data, &predictions, &outputs));
    const double *weights = table_of(e, "coefficients", COLS, k);
    const double *intercept = table_of(e, "intercept", k, 1);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t o = 0; o < k; o++) {
            double sum = intercept[o];
            double size = fabs(intercept[o]);
            for (int64_t j = 0; j < COLS; j++) {
                sum += x[i * COLS + j] * weights[j * k + o];
                size += fabs(x[i * COLS + j] * weights[j * k + o]);
            }
            assert_true(fabs(sum - outputs.values[i * k + o]) <= 1e-12 * size);
        }
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&outputs);
    kfe_result_free(e);
}

typedef struct linear_case {
    const char *method, *params, *kernel, *learner;
} linear_case;

static const linear_case classifiers[] = {
    {"pls", "dim=3,scale=standard", NULL, "ls"},     {"blf", "dim=3,scale=minmax", NULL, "linear-svm"},
    {"pca", "dim=3,scale=none", NULL, "ls"},         {"oc", "scale=standard", NULL, "linear-svm"},
    {"none", "scale=unit-norm", NULL, "linear-svm"}, {"kpls", "dim=3", "linear", "ls"},
    {"kfd", "scale=standard", "linear", "ls"},       {"none", "scale=standard", "linear", "svm"},
};

static void test_coefficients_predict(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(3, ROWS, COLS, 3, 2, &x, &class_of);
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = x[i] * pow(4, i % COLS) + i % COLS;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (size_t c = 0; c < sizeof classifiers / sizeof *classifiers; c++) {
        const linear_case *one = &classifiers[c];
        kfe_model *model = fit_with(ctx, one->method, one->params, one->kernel, one->learner, data);
        check_coefficients(ctx, model, data, x);
        kfe_model_free(model);
    }
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* ---- loadings and what follows from them ---- */

enum { DIM = 3, TARGETS = 2 };

/* Centred columns and targets, and the features of one model. */
typedef struct planted {
    double x[ROWS * COLS], y[ROWS * TARGETS];
    kfe_matrix t;
    kfe_result *e;
} planted;

static double square_sum(int64_t count, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sum;
}

/* Column c of a (ROWS × width) times feature a, over the squared length of the feature. */
static double loading(const planted *p, const double *a, int64_t width, int64_t c, int64_t feature)
{
    double product = 0;
    double size = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        double t = p->t.values[i * DIM + feature];
        product += t * a[i * width + c];
        size += t * t;
    }
    return product / size;
}

/* The part of ‖a‖² that a feature explains: its squared length times that of its loadings, which are compared. */
static double check_loadings(const planted *p, const char *name, const double *a, int64_t width,
                             int64_t feature)
{
    const double *got = table_of(p->e, name, width, DIM);
    double size = 0;
    double sum = 0;

    for (int64_t i = 0; i < ROWS; i++)
        size += p->t.values[i * DIM + feature] * p->t.values[i * DIM + feature];
    for (int64_t c = 0; c < width; c++) {
        double expected = loading(p, a, width, c, feature);
        assert_true(fabs(got[c * DIM + feature] - expected) <= 1e-10 * (1 + fabs(expected)));
        sum += expected * expected;
    }
    return size * sum;
}

static void check_vip(const planted *p, const double *explained)
{
    const double *w = table_of(p->e, "weights", COLS, DIM);
    const double *vip = table_of(p->e, "vip", COLS, 1);
    double total = 0;

    for (int a = 0; a < DIM; a++)
        total += explained[a];
    for (int j = 0; j < COLS; j++) {
        double sum = 0;
        for (int a = 0; a < DIM; a++)
            sum += COLS * explained[a] * w[j * DIM + a] * w[j * DIM + a] / total;
        assert_true(fabs(vip[j] - sqrt(sum)) < 1e-10);
    }
}

static void test_tables_equal_formulas(void **state)
{
    kfe_context *ctx = *state;
    planted p = {0};
    double explained[DIM];

    make_problem(p.x, p.y);
    kfe_data *data = real_data(ctx, p.x, p.y, TARGETS);
    kfe_model *model = fit_with(ctx, "pls", "dim=3,scale=none", NULL, "ls", data);
    p.t = support_transform(ctx, model, data);
    assert_ok(ctx, kfe_explain(ctx, model, data, "examples=yes", &p.e));
    assert_true(support_distance(ROWS * DIM, p.t.values, table_of(p.e, "scores", ROWS, DIM)) == 0);
    kfe_data_free(data);
    free(support_centre_columns(ROWS, COLS, p.x));
    free(support_centre_columns(ROWS, TARGETS, p.y));
    const double *x_shares = table_of(p.e, "x-variance", DIM, 2);
    const double *y_shares = table_of(p.e, "y-variance", DIM, 2);
    for (int a = 0; a < DIM; a++) {
        double of_x = check_loadings(&p, "x-loadings", p.x, COLS, a);
        explained[a] = check_loadings(&p, "y-loadings", p.y, TARGETS, a);
        assert_true(fabs(x_shares[2 * a] - of_x / square_sum(ROWS * COLS, p.x)) < 1e-10);
        assert_true(fabs(y_shares[2 * a] - explained[a] / square_sum(ROWS * TARGETS, p.y)) < 1e-10);
    }
    check_vip(&p, explained);
    kfe_matrix_free(&p.t);
    kfe_result_free(p.e);
    kfe_model_free(model);
}

/* Sparse data gives the tables of the same data stored densely. */
static void test_sparse_equals_dense(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    support_csr arrays;
    kfe_result *e[2] = {0};

    support_clouds(4, ROWS, COLS, 2, 2, &x, &class_of);
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = x[i] < 0.5 ? 0 : x[i];
    kfe_data *data[2] = {support_dense(ctx, ROWS, COLS, x, class_of),
                         support_sparse(ctx, ROWS, COLS, x, class_of, &arrays)};
    for (int d = 0; d < 2; d++) {
        kfe_model *model = fit_with(ctx, "pls", "dim=2,scale=none", NULL, "ls", data[d]);
        assert_ok(ctx, kfe_explain(ctx, model, NULL, NULL, &e[d]));
        kfe_model_free(model);
    }
    static const char *const names[] = {"x-loadings", "x-variance", "selectivity-ratio", "vip"};
    static const int64_t cols[] = {2, 2, 2, 1};
    for (int k = 0; k < 4; k++) {
        int64_t rows = k == 1 ? 2 : COLS;
        assert_true(support_distance(rows * cols[k], table_of(e[0], names[k], rows, cols[k]),
                                     table_of(e[1], names[k], rows, cols[k])) < 1e-9);
    }
    for (int d = 0; d < 2; d++) {
        kfe_result_free(e[d]);
        kfe_data_free(data[d]);
    }
    support_csr_free(&arrays);
    free(x);
    free(class_of);
}

/* ---- mistakes ---- */

static void test_what_does_not_apply(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * COLS];
    double y[ROWS * 2];
    kfe_result *e = NULL;
    kfe_matrix out = {0};
    double wide[4] = {0};
    kfe_matrix features = {1, 4, 4, wide, NULL};

    make_problem(x, y);
    kfe_data *data = real_data(ctx, x, y, 2);
    kfe_model *kernel = fit_with(ctx, "kpls", "dim=2", "rbf", "ls", data);
    kfe_model *rows = fit_with(ctx, "pls", "dim=2,scale=l2-rows", NULL, "ls", data);
    assert_fails(ctx, KFE_EUNSUPPORTED, "its kernel is not linear",
                 kfe_explain(ctx, kernel, NULL, "parts=linear", &e));
    assert_fails(ctx, KFE_EINVAL, "there is no part 'lines'",
                 kfe_explain(ctx, kernel, NULL, "parts=lines", &e));
    assert_fails(ctx, KFE_EUNSUPPORTED, "rows of length one",
                 kfe_inverse_transform(ctx, rows, &features, &out));
    kfe_model_free(rows);
    rows = fit_with(ctx, "pls", "dim=2", NULL, NULL, data);
    assert_fails(ctx, KFE_EINVAL, "the model has 2 features, but the rows have 4",
                 kfe_inverse_transform(ctx, rows, &features, &out));
    assert_fails(ctx, KFE_EINVAL, "cannot predict", kfe_predict_path(ctx, rows, data, &out));
    kfe_model_free(rows);
    kfe_model_free(kernel);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_coefficients_predict),
        with_context(test_tables_equal_formulas),
        with_context(test_sparse_equals_dense),
        with_context(test_what_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
