/* SPDX-License-Identifier: Apache-2.0 */
/* The deflation and pursuit methods with targets and data far from one: features do not depend on the unit of
 * the target, they scale with the unit of the data, saved models can be loaded, and kernels that lost
 * their digits are refused. */
#include "support/deflation.h"

#include <math.h>

enum { ROWS = DEFLATION_ROWS, COLS = 4 };
#define TOLERANCE_SCALE 1e-9

typedef struct method {
    const char *name, *params;
    int kernel;    /* whether the method takes a kernel */
    double degree; /* power of the data's unit with which features of a linear kernel grow */
    double tolerance;
} method;

static const method methods[] = {
    {"pls", "dim=3", 0, 1, TOLERANCE_SCALE},   {"kpls", "dim=3", 1, 1, TOLERANCE_SCALE},
    {"blf", "dim=3", 0, 0, TOLERANCE_SCALE},   {"kblf", "dim=3", 1, 0, TOLERANCE_SCALE},
    {"kblf", "dim=3,loss=lad", 1, 0, 1e-6}, /* lad is smoothed below 1e-7 of the spread */
    {"cr", "dim=3,alpha=0.3", 0, 1, 1e-6},  /* the search stops at the root of the precision */
    {"skpls", "dim=3", 1, 1, TOLERANCE_SCALE}, {"skblf", "dim=3", 1, 0, TOLERANCE_SCALE},
    {"sma", "dim=3", 1, 0, TOLERANCE_SCALE},   {"smc", "dim=3", 1, 1, TOLERANCE_SCALE},
    {"skfa", "dim=3", 1, 1, TOLERANCE_SCALE},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* The features of the training examples from the model after saving and loading. */
static kfe_matrix features_after_loading(kfe_context *ctx, const method *m, const char *kernel,
                                         const kfe_data *data)
{
    kfe_model *model = support_fit(ctx, m->name, m->params, kernel, data);
    kfe_model *loaded = NULL;
    const char *path = support_path("scale.kfe");

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    kfe_matrix f = support_transform(ctx, loaded, data);
    kfe_model_free(model);
    kfe_model_free(loaded);
    return f;
}

static void check_target_scales(kfe_context *ctx, const method *m)
{
    static const double scales[] = {1e-307, 1e-200, 1e-155, 1e-80, 1e80, 1e155, 1e200, 1e307};
    deflation_problem p = deflation_make(ctx, 61, COLS, 1);
    const char *kernel = m->kernel ? "rbf:gamma=0.3" : NULL;
    kfe_matrix expected = features_after_loading(ctx, m, kernel, p.data);
    double y[ROWS];

    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        for (int64_t i = 0; i < ROWS; i++)
            y[i] = scales[s] * p.y[i];
        assert_ok(ctx, kfe_data_set_targets(ctx, p.data, 1, y));
        kfe_matrix got = features_after_loading(ctx, m, kernel, p.data);
        assert_int_equal(got.cols, expected.cols);
        assert_below(support_distance_up_to_sign(ROWS, got.cols, expected.values, got.values), m->tolerance);
        kfe_matrix_free(&got);
    }
    kfe_matrix_free(&expected);
    deflation_free(&p);
}

static void test_scale_of_targets(void **state)
{
    for (int m = 0; m < METHODS; m++)
        check_target_scales(*state, &methods[m]);
}

/* The examples times `scale`. The caller frees the data and *x. */
static kfe_data *scaled_data(kfe_context *ctx, const deflation_problem *p, double scale, double **x)
{
    kfe_data *data = NULL;

    *x = malloc(ROWS * COLS * sizeof **x);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        (*x)[i] = scale * p->x[i];
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, *x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, p->y));
    return data;
}

static void check_data_scales(kfe_context *ctx, const method *m)
{
    static const double scales[] = {1e-140, 1e-90, 1e-50, 1e50, 1e90, 1e140};
    deflation_problem p = deflation_make(ctx, 62, COLS, 1);
    const char *kernel = m->kernel ? "linear" : NULL;
    kfe_matrix expected = features_after_loading(ctx, m, kernel, p.data);
    double *x = NULL;

    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        kfe_data *data = scaled_data(ctx, &p, scales[s], &x);
        kfe_matrix got = features_after_loading(ctx, m, kernel, data);
        assert_int_equal(got.cols, expected.cols);
        for (int64_t i = 0; i < ROWS * got.cols; i++)
            got.values[i] /= pow(scales[s], m->degree);
        assert_below(support_distance_up_to_sign(ROWS, got.cols, expected.values, got.values),
                     fmax(m->tolerance, 1e-7));
        kfe_matrix_free(&got);
        kfe_data_free(data);
        free(x);
    }
    kfe_matrix_free(&expected);
    deflation_free(&p);
}

static void test_scale_of_data(void **state)
{
    for (int m = 0; m < METHODS; m++)
        check_data_scales(*state, &methods[m]);
}

static void test_kernels_that_lost_digits_are_refused(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 63, COLS, 1);
    double *x = NULL;
    kfe_data *data = scaled_data(ctx, &p, 1e-155, &x);

    for (int m = 0; m < METHODS; m++) {
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        assert_ok(ctx, kfe_spec_parse(ctx, methods[m].name, methods[m].params,
                                      methods[m].kernel ? "linear" : NULL, &spec));
        assert_fails(ctx, KFE_EINPUT, "too small to compute with", kfe_fit(ctx, spec, data, &model));
        assert_null(model);
        kfe_spec_free(spec);
    }
    kfe_data_free(data);
    free(x);
    deflation_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_scale_of_targets),
        with_context(test_scale_of_data),
        with_context(test_kernels_that_lost_digits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
