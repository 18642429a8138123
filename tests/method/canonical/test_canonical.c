/* SPDX-License-Identifier: Apache-2.0 */
/* kcca and kgcca on two views whose canonical correlations are known: features, files, landmarks, failing allocations, and what is
 * refused. python/tests/test_canonical.py compares their definitions with SciPy. */
#include <math.h>

#include "support/fit.h"
#include "support/sweep.h"

enum { ROWS = 64, COLS = 2, VIEWS = 2 };
static const double known[COLS] = {0.8, 0.3};
static double values[VIEWS][ROWS * COLS];

typedef struct views {
    kfe_data *parts[VIEWS], *data;
} views;

/* Two tables of orthogonal centred columns with one length, whose cross products say that the canonical correlations are `known`. */
static void fill_values(void)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++) {
            double angle = 2 * acos(-1) * (double)((j + 1) * i) / ROWS;
            values[0][i * COLS + j] = sqrt(2) * cos(angle);
            values[1][i * COLS + j] =
                sqrt(2) * (known[j] * cos(angle) + sqrt(1 - known[j] * known[j]) * sin(angle));
        }
}

static kfe_status open_views(kfe_context *ctx, views *out)
{
    kfe_status status = KFE_OK;
    const char *const names[] = {"one", "other"};

    *out = (views){0};
    for (int v = 0; v < VIEWS && status == KFE_OK; v++)
        status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, values[v], &out->parts[v]);
    if (status == KFE_OK)
        status = kfe_data_join_views(ctx, VIEWS, (const kfe_data *const *)out->parts, names, &out->data);
    return status;
}

static void free_views(views *v)
{
    kfe_data_free(v->data);
    kfe_data_free(v->parts[0]);
    kfe_data_free(v->parts[1]);
}

/* ---- what is known ---- */

static void check_features(kfe_context *ctx, const char *method, const char *params, double shrink)
{
    views v;
    kfe_model *loaded = NULL;
    const char *path = support_path("views.kfe");
    int64_t count = 0;

    assert_ok(ctx, open_views(ctx, &v));
    kfe_model *model = support_fit(ctx, method, params, "linear", v.data);
    const double *correlations = kfe_model_record(model, "correlations", &count);
    assert_int_equal(count, COLS);
    kfe_matrix got = support_transform(ctx, model, v.data);
    assert_int_equal(got.cols, VIEWS * COLS);
    for (int64_t j = 0; j < COLS; j++) {
        assert_true(fabs(correlations[j] - known[j]) < 1e-9);
        double sign =
            got.values[j] > 0 ? 1 : -1; /* the first row of the first view is positive in every column */
        for (int64_t i = 0; i < ROWS * VIEWS; i++) {
            double expected = sign * shrink * values[i / ROWS][(i % ROWS) * COLS + j];
            double feature = got.values[(i % ROWS) * got.cols + i / ROWS * COLS + j];
            /* kgcca: the column of the view is the projection of z, which lies between the two */
            double scale = strcmp(method, "kgcca") == 0 ? sqrt((1 + known[j]) / 2) : 1;
            assert_true(fabs(feature - scale * expected) < 1e-8);
        }
    }
    assert_ok(ctx, kfe_model_save(ctx, model, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    kfe_matrix again = support_transform(ctx, loaded, v.data);
    assert_memory_equal(again.values, got.values, (size_t)(got.rows * got.cols) * sizeof(double));
    kfe_matrix_free(&got);
    kfe_matrix_free(&again);
    kfe_model_free(model);
    kfe_model_free(loaded);
    free_views(&v);
}

static void test_known_correlations(void **state)
{
    const char *methods[] = {"kcca", "kgcca"};

    for (int m = 0; m < 2; m++) {
        check_features(*state, methods[m], "ridge=1e-12,features=all", 1);
        check_features(*state, methods[m], "ridge=1e-12,features=all,landmarks=64", 1);
    }
    /* eigenvalues 64 and 64, trace 128: a ridge of half the trace halves every squared feature */
    check_features(*state, "kcca", "ridge=0.5,features=all", sqrt(0.5));
}

/* ---- what is refused ---- */

static void refuse(kfe_context *ctx, const char *params, const kfe_data *data, kfe_status expected,
                   const char *message)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kcca", params, "linear", &spec));
    assert_fails(ctx, expected, message, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
}

static void test_refused(void **state)
{
    kfe_context *ctx = *state;
    double constant[ROWS * COLS] = {0};
    kfe_data *still = support_dense(ctx, ROWS, COLS, constant, NULL);
    views v;

    assert_ok(ctx, open_views(ctx, &v));
    refuse(ctx, NULL, v.parts[0], KFE_EINPUT, "there is one and no target");
    refuse(ctx, "features=third", v.data, KFE_EINVAL, "there is no view 'third'");
    refuse(ctx, "features=3", v.data, KFE_EINVAL, "1 to 2");
    const kfe_data *const parts[] = {v.parts[0], still};
    const char *const names[] = {"varies", "still"};
    kfe_data *half = NULL;
    assert_ok(ctx, kfe_data_join_views(ctx, 2, parts, names, &half));
    refuse(ctx, NULL, half, KFE_EINPUT, "all examples are the same to the kernel");
    kfe_data_free(half);
    free_views(&v);
    kfe_data_free(still);
}

static void test_more_features_than_there_are(void **state)
{
    views v;

    assert_ok(*state, open_views(*state, &v));
    kfe_model *model = support_fit(*state, "kcca", "dim=9,ridge=0.1", "linear", v.data);
    assert_int_equal(kfe_model_dim(model), COLS);
    kfe_model_free(model);
    free_views(&v);
}

/* ---- failing allocations ---- */

typedef struct use {
    const char *method, *params;
} use;

static kfe_status fit_views(kfe_context *ctx, void *user)
{
    const use *u = user;
    views v;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    kfe_status status = open_views(ctx, &v);

    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, u->method, u->params, "rbf:gamma=0.5", &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, v.data, &model);
    if (status == KFE_OK)
        status = kfe_transform(ctx, model, v.data, &features);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    free_views(&v);
    return status;
}

static void test_failing_allocations(void **state)
{
    use uses[] = {{"kcca", "dim=2,ridge=0.01"},
                  {"kgcca", "dim=2,features=all"},
                  {"kcca", "dim=2,landmarks=9,features=other"}};

    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        support_sweep_all(uses[i].params, fit_views, &uses[i], 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_known_correlations),
        with_context(test_refused),
        with_context(test_more_features_than_there_are),
        with_context(test_failing_allocations),
    };

    fill_values();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
