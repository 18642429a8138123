/* SPDX-License-Identifier: Apache-2.0 */
/* mbpls and block-splsda on two views whose answer is known, models in files, and failing allocations. python/tests/test_blocks.py compares
 * their definitions with NumPy. */
#include <math.h>

#include "support/fit.h"
#include "support/sweep.h"

enum { ROWS = 8, COLS = 2, VIEWS = 2 };

/* Orthogonal contrasts of eight rows. The class is the first; view one has it with length 3, beside the second; view two has it with length 1,
 * beside the third. */
static const int class_of[ROWS] = {0, 0, 0, 0, 1, 1, 1, 1};
static const double contrasts[3][ROWS] = {
    {-1, -1, -1, -1, 1, 1, 1, 1}, {-1, -1, 1, 1, -1, -1, 1, 1}, {-1, 1, -1, 1, -1, 1, -1, 1}};
static double values[VIEWS][ROWS * COLS];

static void fill_values(void)
{
    for (int i = 0; i < ROWS; i++) {
        values[0][i * COLS] = 3 * contrasts[0][i];
        values[0][i * COLS + 1] = 4 * contrasts[1][i] + 7;
        values[1][i * COLS] = contrasts[2][i] - 5;
        values[1][i * COLS + 1] = contrasts[0][i];
    }
}

typedef struct views {
    kfe_data *parts[VIEWS], *data;
} views;

static kfe_status open_views(kfe_context *ctx, views *out)
{
    kfe_status status = KFE_OK;
    const char *const names[] = {"one", "two"};

    *out = (views){0};
    for (int v = 0; v < VIEWS && status == KFE_OK; v++)
        status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, values[v], &out->parts[v]);
    if (status == KFE_OK)
        status = kfe_data_join_views(ctx, VIEWS, (const kfe_data *const *)out->parts, names, &out->data);
    if (status == KFE_OK) {
        const char *labels[ROWS];
        for (int i = 0; i < ROWS; i++)
            labels[i] = class_of[i] ? "b" : "a";
        status = kfe_data_set_labels(ctx, out->data, labels);
    }
    return status;
}

static void free_views(views *v)
{
    kfe_data_free(v->data);
    kfe_data_free(v->parts[0]);
    kfe_data_free(v->parts[1]);
}

static void check_record(const kfe_model *model, const char *name, int64_t count, const double *expected)
{
    int64_t found = 0;
    const double *got = kfe_model_record(model, name, &found);

    assert_int_equal(found, count);
    for (int64_t k = 0; k < count; k++)
        assert_true(fabs(got[k] - expected[k]) < 1e-12);
}

/* Total variances are 25 and 2, so that the class is 3/5 of view one and 1/√2 of view two; all weight is on these columns. */
static void test_what_each_view_contributes(void **state)
{
    kfe_context *ctx = *state;
    views v;

    assert_ok(ctx, open_views(ctx, &v));
    kfe_model *model = support_fit(ctx, "mbpls", "dim=1,scale=none", NULL, v.data);
    const double length = sqrt(0.36 + 0.5);
    const double weights[] = {0.6 / length, sqrt(0.5) / length};
    check_record(model, "view-weights", 2, weights);
    check_record(model, "view-importance", 2, (const double[]){sqrt(2) * weights[0], sqrt(2) * weights[1]});
    check_record(model, "view-variance", 2, (const double[]){0.36, 0.5});
    check_record(model, "score-correlations", 4, (const double[]){1, 1, 1, 1});
    kfe_matrix got = support_transform(ctx, model, v.data);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(fabs(got.values[i] - length * contrasts[0][i]) < 1e-12);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    free_views(&v);
}

static void test_scores_of_each_view(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_path("blocks.kfe");
    kfe_model *loaded = NULL;
    views v;

    assert_ok(ctx, open_views(ctx, &v));
    kfe_model *model = support_fit(
        ctx, "block-splsda", "dim=1,keep=one:1;two:1,scale=none,design=0.5,calibration=none", NULL, v.data);
    assert_ok(ctx, kfe_model_save(ctx, model, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    kfe_matrix got = support_transform(ctx, loaded, v.data);
    assert_int_equal(got.cols, VIEWS);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_true(fabs(got.values[2 * i] - 3 * contrasts[0][i]) < 1e-12);
        assert_true(fabs(got.values[2 * i + 1] - contrasts[0][i]) < 1e-12);
    }
    check_record(loaded, "keep", 2, (const double[]){1, 1});
    check_record(loaded, "prediction-weights", 2, (const double[]){0.5, 0.5});
    /* cov(t_1, Yv) = 3/5, cov(t_2, Yv) = 1/√2, and the link of the two is half of their product */
    check_record(loaded, "criterion", 1, (const double[]){0.6 + sqrt(0.5) + 0.5 * 0.6 * sqrt(0.5)});
    kfe_matrix_free(&got);
    kfe_model_free(loaded);
    kfe_model_free(model);
    free_views(&v);
}

/* ---- failures ---- */

typedef struct fit_case {
    const char *method, *params;
} fit_case;

static kfe_status fit_views(kfe_context *ctx, void *user)
{
    const fit_case *c = user;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    views v;
    kfe_status status = open_views(ctx, &v);

    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, c->method, c->params, NULL, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, v.data, &model);
    kfe_model_free(model);
    kfe_spec_free(spec);
    free_views(&v);
    return status;
}

enum { CLOUD_ROWS = 24, CLOUD_COLS = 4 };

/* Numbers of columns by cross-validation, in views that are the halves of clouds. */
static kfe_status choose_columns(kfe_context *ctx, void *user)
{
    const support_fit_case *c = user;
    const char *names[] = {"one", "a name that is too long for a parameter"};
    const char *const columns[] = {"1-2", "3-4"};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    const char *labels[CLOUD_ROWS];

    for (int i = 0; i < CLOUD_ROWS; i++)
        labels[i] = c->class_of[i] ? "b" : "a";
    kfe_status status = kfe_data_wrap_dense(ctx, CLOUD_ROWS, CLOUD_COLS, CLOUD_COLS, c->x, &data);
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, data, labels);
    if (status == KFE_OK)
        status = kfe_data_divide(ctx, data, 2, names, columns);
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, c->method, c->params, NULL, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    if (status == KFE_OK) {
        int64_t count = 0;
        assert_non_null(kfe_model_record(model, "keep", &count));
        assert_int_equal(count % 2, 0);
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_choices_whose_allocations_fail(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *classes = NULL;

    support_clouds(3, CLOUD_ROWS, CLOUD_COLS, 2, 2, &x, &classes);
    support_fit_case c = {.method = "block-splsda",
                          .params = "dim=2,keep=auto,keep-values=2;1;1;all,calibration=none",
                          .x = x,
                          .class_of = classes};
    support_sweep_all("keep=auto of views", choose_columns, &c, 30);
    c.params = "keep=auto,keep-values=x";
    assert_fails(ctx, KFE_EINVAL, "keep-values", choose_columns(ctx, &c));
    free(x);
    free(classes);
}

static void test_allocations_that_fail(void **state)
{
    fit_case cases[] = {{"mbpls", "dim=2"},
                        {"mbpls", "dim=2,features=all"},
                        {"block-splsda", "dim=2,keep=one:1;two:1;2,calibration=none"},
                        {"block-splsda", "dim=1,class-rule=threshold,design=0;1;1;0,calibration=none"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        support_sweep_all(cases[i].params, fit_views, &cases[i], 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_what_each_view_contributes),
        with_context(test_scores_of_each_view),
        with_context(test_allocations_that_fail),
        with_context(test_choices_whose_allocations_fail),
    };

    fill_values();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
