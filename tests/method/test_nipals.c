/* SPDX-License-Identifier: Apache-2.0 */
/* Fits on observed entries: the same after saving, on several threads, and under failing allocations. python/tests/test_nipals.py checks the
 * numbers against the definition. */
#include "support/fit.h"

#include <math.h>
#include <string.h>

#include "support/sweep.h"

enum { ROWS = 60, COLS = 7, TARGETS = 2, MANY = 4000, WIDE = 40 };

typedef struct problem {
    const char *method, *params;
    int64_t rows, cols;
    double *x, *y;
} problem;

/* Every ninth value is missing. */
static problem make(const char *method, const char *params, int64_t rows, int64_t cols)
{
    problem p = {.method = method, .params = params, .rows = rows, .cols = cols};

    p.x = support_normals(3, rows * cols);
    p.y = support_normals(4, rows * TARGETS);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t m = 0; m < TARGETS; m++)
            p.y[i * TARGETS + m] += 3 * p.x[i * cols + m];
    for (int64_t c = 0; c < rows * cols; c += 9)
        p.x[c] = (double)NAN;
    return p;
}

static void release(problem *p)
{
    free(p->x);
    free(p->y);
}

static kfe_status fit_problem(kfe_context *ctx, const problem *p, kfe_model **out)
{
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, p->rows, p->cols, p->cols, p->x, &data);

    if (status == KFE_OK)
        status = kfe_data_set_targets(ctx, data, TARGETS, p->y);
    if (status == KFE_OK)
        status = kfe_data_set_missing(ctx, data, "nipals");
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, p->method, p->params, NULL, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, out);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static kfe_status apply(kfe_context *ctx, const problem *p, const kfe_model *model, kfe_matrix *out)
{
    kfe_data *data = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, p->rows, p->cols, p->cols, p->x, &data);

    if (status == KFE_OK)
        status = kfe_transform(ctx, model, data, out);
    kfe_data_free(data);
    return status;
}

/* Fits, saves, loads and applies both models, which give the same bits; so does the serving call. */
static kfe_status use(kfe_context *ctx, void *user)
{
    const problem *p = user;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix before = {0};
    kfe_matrix after = {0};
    char *bytes = NULL;
    size_t size = 0;
    double served[8];
    kfe_status status = fit_problem(ctx, p, &model);

    if (status == KFE_OK)
        status = kfe_model_save_bytes(ctx, model, &bytes, &size);
    if (status == KFE_OK)
        status = kfe_model_load_bytes(ctx, bytes, size, &loaded);
    if (status == KFE_OK)
        status = apply(ctx, p, model, &before);
    if (status == KFE_OK)
        status = apply(ctx, p, loaded, &after);
    if (status == KFE_OK) {
        assert_memory_equal(before.values, after.values, (size_t)(p->rows * before.cols) * sizeof(double));
        const kfe_rows row = {.values = p->x, .rows = 1, .cols = p->cols, .stride = p->cols, .type = KFE_F64};
        status = kfe_transform_into(ctx, loaded, &row, served);
    }
    for (int64_t a = 0; status == KFE_OK && a < before.cols; a++)
        assert_true(fabs(served[a] - before.values[a]) < 1e-12);
    kfe_matrix_free(&before);
    kfe_matrix_free(&after);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    return status;
}

static void under_failing_allocations(void **state)
{
    static const char *const fits[][2] = {{"pca", "dim=3"}, {"pls", "dim=3"}, {"opls", "orthogonal=2"}};

    (void)state;
    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++) {
        problem p = make(fits[k][0], fits[k][1], ROWS, COLS);
        support_sweep_all(fits[k][0], use, &p, 60);
        release(&p);
    }
}

/* Large enough for threads to share the rows. */
static void on_several_threads(void **state)
{
    kfe_context *ctx = *state;
    static const char *const fits[][2] = {{"pca", "dim=3"}, {"pls", "dim=6"}, {"opls", "orthogonal=2"}};

    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++) {
        problem p = make(fits[k][0], fits[k][1], MANY, WIDE);
        kfe_model *model = NULL;
        kfe_matrix features[2] = {{0}};
        for (int t = 0; t < 2; t++) {
            assert_ok(ctx, kfe_context_set_threads(ctx, t ? 3 : 1));
            assert_ok(ctx, fit_problem(ctx, &p, &model));
            assert_ok(ctx, apply(ctx, &p, model, &features[t]));
            kfe_model_free(model);
        }
        for (int64_t c = 0; c < MANY * features[0].cols; c++)
            assert_true(fabs(features[0].values[c] - features[1].values[c]) < 1e-8);
        kfe_matrix_free(&features[0]);
        kfe_matrix_free(&features[1]);
        release(&p);
    }
}

/* Units far from one neither overflow nor vanish. */
static void in_any_unit(void **state)
{
    kfe_context *ctx = *state;
    static const double units[] = {1, 1e120, 1e-120};
    double *expected = NULL;

    for (int u = 0; u < 3; u++) {
        problem p = make("pls", "dim=3", ROWS, COLS);
        kfe_model *model = NULL;
        kfe_matrix features = {0};
        for (int c = 0; c < ROWS * COLS; c++)
            p.x[c] *= units[u];
        assert_ok(ctx, fit_problem(ctx, &p, &model));
        assert_ok(ctx, apply(ctx, &p, model, &features));
        if (u == 0)
            expected =
                support_product(ROWS, 3, 3, features.values, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
        for (int c = 0; c < ROWS * 3; c++)
            assert_true(fabs(features.values[c] / units[u] - expected[c]) < 1e-9);
        kfe_matrix_free(&features);
        kfe_model_free(model);
        release(&p);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_failing_allocations),
        with_context(on_several_threads),
        with_context(in_any_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
