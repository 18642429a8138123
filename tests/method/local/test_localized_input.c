/* SPDX-License-Identifier: Apache-2.0 */
/* mkl, lmkl and sldr through the public header on unusual data, on bad input, and under failing allocations. */
#include "support/scene.h"
#include "support/sweep.h"

#include <math.h>

/* ---- bad input ---- */

static void test_views_that_do_not_fit_the_model(void **state)
{
    static const char *const methods[] = {"mkl", "lmkl", "sldr"};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 40, 2);
    kfe_matrix out = {0};
    const int first[] = {0};
    kfe_data *missing = scene_join(ctx, &s, 1, first);
    const kfe_data *swapped_parts[] = {s.parts[1], s.parts[0]};
    kfe_data *swapped = NULL;

    assert_ok(ctx, kfe_data_join_views(ctx, 2, swapped_parts, s.names, &swapped));
    for (int m = 0; m < 3; m++) {
        kfe_model *model = scene_fit(ctx, methods[m], NULL, "linear", NULL, NULL, s.data);
        assert_fails(ctx, KFE_EINPUT, "narrow", kfe_predict(ctx, model, missing, &out, NULL));
        assert_fails(ctx, KFE_EINPUT, "columns", kfe_predict(ctx, model, swapped, &out, NULL));
        assert_fails(ctx, KFE_EINPUT, "columns", kfe_transform(ctx, model, swapped, &out));
        assert_null(out.values);
        kfe_model_free(model);
    }
    kfe_data_free(missing);
    kfe_data_free(swapped);
    scene_close(&s);
}

static void test_options_that_do_not_fit_the_data(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 40, 2);

    assert_fails(ctx, KFE_EINVAL, "'elsewhere'", scene_try_fit(ctx, "sldr", "gate=elsewhere", s.data));
    assert_fails(ctx, KFE_EINVAL, "'3'", scene_try_fit(ctx, "lmkl", "gate=3", s.data));
    assert_fails(ctx, KFE_EINVAL, "local-dim", scene_try_fit(ctx, "sldr", "local-dim=0", s.data));
    assert_fails(ctx, KFE_EINVAL, "restarts", scene_try_fit(ctx, "sldr", "restarts=0", s.data));
    assert_fails(ctx, KFE_EINVAL, "features", scene_try_fit(ctx, "sldr", "features=all", s.data));
    assert_fails(ctx, KFE_EINVAL, "gate-ridge", scene_try_fit(ctx, "sldr", "gate-ridge=-1", s.data));
    support_catch_log(ctx);
    kfe_model *model = scene_fit(ctx, "sldr", "local-dim=9,gate-dim=99", NULL, NULL, NULL, s.data);
    const char *log = support_log();
    assert_non_null(strstr(log, "view wide has only 4"));
    assert_non_null(strstr(log, "view narrow has only 3"));
    assert_non_null(strstr(log, "the gate sees only 7 columns"));
    assert_int_equal(kfe_model_dim(model), 7);
    kfe_model_free(model);
    scene_close(&s);
}

static void test_labels_that_cannot_be_learned(void **state)
{
    static const char *const methods[] = {"mkl", "lmkl", "sldr"};
    kfe_context *ctx = *state;
    double x[6] = {1, 2, 3, 4, 5, 6};
    int one_class[6] = {0};
    kfe_data *same = support_dense(ctx, 6, 1, x, one_class);
    kfe_data *bare = support_dense(ctx, 6, 1, x, NULL);
    kfe_data *real = support_dense(ctx, 6, 1, x, NULL);

    assert_ok(ctx, kfe_data_set_targets(ctx, real, 1, x));
    for (int m = 0; m < 3; m++) {
        assert_fails(ctx, KFE_EINPUT, "two classes", scene_try_fit(ctx, methods[m], NULL, same));
        assert_fails(ctx, KFE_EINPUT, "labels", scene_try_fit(ctx, methods[m], NULL, bare));
        assert_fails(ctx, KFE_EINPUT, "labels", scene_try_fit(ctx, methods[m], NULL, real));
    }
    kfe_data_free(same);
    kfe_data_free(bare);
    kfe_data_free(real);
}

/* ---- unusual data ---- */

static void check_sound(kfe_context *ctx, scene *s, const char *kernel)
{
    static const char *const methods[] = {"mkl", "lmkl", "sldr"};

    for (int m = 0; m < 3; m++) {
        kfe_model *model = scene_fit(ctx, methods[m], NULL, kernel, NULL, NULL, s->data);
        kfe_matrix scores = scene_scores(ctx, model, s->data);
        kfe_matrix features = support_transform(ctx, model, s->data);
        char *text = NULL;
        for (int64_t i = 0; i < features.rows * features.cols; i++)
            assert_true(isfinite(features.values[i]));
        assert_true(isfinite(scene_last_objective(model)));
        assert_ok(ctx, kfe_model_describe(ctx, model, KFE_STYLE_JSON, &text));
        assert_null(strstr(text, "nan"));
        kfe_string_free(ctx, text);
        kfe_matrix_free(&features);
        kfe_matrix_free(&scores);
        kfe_model_free(model);
    }
}

/* `special` 0: one view has a single column; 1: another is constant; 2: another has columns of very different
 * sizes. */
static void check_odd(kfe_context *ctx, int64_t rows, int classes, int special)
{
    scene s = {.rows = rows, .class_of = calloc((size_t)rows, sizeof(int))};
    double *third = support_normals(8, rows * 2);

    for (int64_t i = 0; i < rows; i++) {
        s.class_of[i] = (int)(i % classes);
        if (special == 1)
            third[2 * i] = third[2 * i + 1] = 7;
        if (special == 2) {
            third[2 * i] *= 1e3;
            third[2 * i + 1] *= 1e-9;
        }
    }
    scene_add(&s, "plain", 3, support_normals(6, rows * 3));
    scene_add(&s, "one", 1, support_normals(7, rows));
    scene_add(&s, "third", 2, third);
    if (special == 0) {
        free(third);
        s.count = 2;
    }
    scene_finish(ctx, &s);
    check_sound(ctx, &s, "rbf:gamma=0.5");
    check_sound(ctx, &s, "linear");
    scene_close(&s);
}

static void test_odd_data(void **state)
{
    kfe_context *ctx = *state;

    check_odd(ctx, 3, 2, 0);
    check_odd(ctx, 3, 3, 0);
    check_odd(ctx, 2, 2, 0);
    check_odd(ctx, 20, 2, 1);
    check_odd(ctx, 20, 3, 2);
    check_odd(ctx, 31, 10, 0);
    check_odd(ctx, 11, 10, 1);
}

static void test_a_class_of_one_member(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, 30, 2);

    s.class_of[17] = 2;
    for (int v = 0; v < 2; v++)
        support_label(ctx, s.parts[v], 30, s.class_of);
    support_label(ctx, s.data, 30, s.class_of);
    check_sound(ctx, &s, "linear");
    scene_close(&s);
}

/* ---- failing allocations ---- */

enum { FEW = 9 };

typedef struct whole_use {
    const char *method, *params, *kernel;
    const double *x;
} whole_use;

/* Uses a model as a program would, stopping at the first failure. */
static kfe_status use_model(kfe_context *ctx, void *user)
{
    const whole_use *one = user;
    static const char *const labels[FEW] = {"a", "b", "c", "a", "b", "c", "a", "b", "c"};
    static const char *const names[] = {"x", "y"};
    kfe_data *parts[2] = {0};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix scores = {0};
    char *bytes = NULL;
    char *text = NULL;
    size_t size = 0;
    kfe_status status = kfe_data_wrap_dense(ctx, FEW, 3, 3, one->x, &parts[0]);

    if (status == KFE_OK)
        status = kfe_data_wrap_dense(ctx, FEW, 2, 3, one->x + 1, &parts[1]);
    if (status == KFE_OK)
        status = kfe_data_join_views(ctx, 2, (const kfe_data *const *)parts, names, &data);
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, data, labels);
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, one->method, one->params, "linear", &spec);
    if (status == KFE_OK)
        status = kfe_spec_set_view_kernel(ctx, spec, "y", one->kernel);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    if (status == KFE_OK)
        status = kfe_model_save_bytes(ctx, model, &bytes, &size);
    if (status == KFE_OK)
        status = kfe_model_load_bytes(ctx, bytes, size, &loaded);
    if (status == KFE_OK)
        status = kfe_predict(ctx, loaded, data, &predictions, &scores);
    if (status == KFE_OK)
        status = kfe_model_describe(ctx, loaded, KFE_STYLE_TEXT, &text);
    kfe_string_free(ctx, text);
    kfe_string_free(ctx, bytes);
    kfe_matrix_free(&scores);
    kfe_matrix_free(&predictions);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_data_free(parts[0]);
    kfe_data_free(parts[1]);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    static const char *const uses[][3] = {{"mkl", NULL, "rbf:gamma=0.3"},
                                          {"lmkl", "restarts=2,max-iter=4", "poly:degree=2"},
                                          {"sldr", "restarts=2,max-iter=4", "laplacian:gamma=0.3"}};
    double *x = support_normals(3, FEW * 3 + 1);
    (void)state;

    for (int r = 0; r < 3; r++) {
        whole_use one = {uses[r][0], uses[r][1], uses[r][2], x};
        support_sweep_all(one.method, use_model, &one, 100);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_views_that_do_not_fit_the_model),
        with_context(test_options_that_do_not_fit_the_data),
        with_context(test_labels_that_cannot_be_learned),
        with_context(test_odd_data),
        with_context(test_a_class_of_one_member),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
