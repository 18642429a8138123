/* SPDX-License-Identifier: Apache-2.0 */
/* The public hook for users' rules: rules that give known methods, the state that a rule sees, and the
 * resulting models. */
#include "support/deflation.h"
#include "support/result.h"

#include <math.h>

#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = DEFLATION_ROWS, TEST_ROWS = DEFLATION_TEST_ROWS, COLS = 4, DIM = 3 };
#define TOLERANCE_ITERATIONS 1e-8
#define GAMMA "rbf:gamma=0.3"

/* ---- rules ---- */

/* v ← (I − QQᵀ)v */
static void remove_features(const kfe_deflation_state *state, double *v)
{
    for (int64_t j = 0; j < state->iteration; j++) {
        const double *q = state->features + j * state->examples;
        double along = 0;
        for (int64_t i = 0; i < state->examples; i++)
            along += q[i] * v[i];
        for (int64_t i = 0; i < state->examples; i++)
            v[i] -= along * q[i];
    }
}

static double length(int64_t n, const double *v)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* The leading eigenvector of the deflated kernel matrix by the power method, divided by the root of its
 * eigenvalue. */
static kfe_status principal_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    double image[ROWS];
    double size = 1;

    (void)user;
    for (int64_t i = 0; i < state->examples; i++)
        direction[i] = cos((double)(i * i + 1));
    for (int step = 0; step < 4000; step++) {
        remove_features(state, direction);
        kfe_status status = state->times(state->handle, direction, 1, image);
        if (status != KFE_OK)
            return status;
        remove_features(state, image);
        size = length(state->examples, image);
        for (int64_t i = 0; i < state->examples; i++)
            direction[i] = image[i] / size;
    }
    for (int64_t i = 0; i < state->examples; i++)
        direction[i] /= sqrt(size);
    return KFE_OK;
}

/* With one target, this rule gives kpls. */
static kfe_status covariance_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    double image[ROWS];
    double square = 0;
    int *iterations = user;

    *iterations += state->iteration == *iterations;
    kfe_status status = state->times(state->handle, state->residual, 1, image);
    for (int64_t i = 0; i < state->examples; i++)
        square += image[i] * state->residual[i];
    for (int64_t i = 0; i < state->examples; i++)
        direction[i] = state->residual[i] / sqrt(square);
    return status;
}

static kfe_model *fit_rule(kfe_context *ctx, kfe_rule_fn rule, void *user, const char *params,
                           const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_new_rule(ctx, "mine", rule, user, params, GAMMA, &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

static void test_principal_rule_is_kpca(void **state)
{
    static const char *const params[] = {"dim=3", "dim=3,center=no"};
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 41, COLS, 1);
    kfe_data *unlabelled = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, p.x, &unlabelled));
    for (int i = 0; i < 2; i++) {
        kfe_matrix expected = support_features(ctx, "kpca", params[i], GAMMA, unlabelled, p.test_data);
        kfe_model *model = fit_rule(ctx, principal_rule, NULL, params[i], i ? p.data : unlabelled);
        kfe_matrix got = support_transform(ctx, model, p.test_data);
        assert_int_equal(got.cols, DIM);
        assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, expected.values, got.values),
                     TOLERANCE_ITERATIONS);
        kfe_matrix_free(&expected);
        kfe_matrix_free(&got);
        kfe_model_free(model);
    }
    kfe_data_free(unlabelled);
    deflation_free(&p);
}

static void test_linear_principal_rule_is_pca(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 42, COLS, 1);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix expected = support_features(ctx, "pca", "dim=3", NULL, p.data, p.test_data);

    assert_ok(ctx, kfe_spec_new_rule(ctx, "mine", principal_rule, NULL, "dim=3", "linear", &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, p.data, &model));
    kfe_matrix got = support_transform(ctx, model, p.test_data);
    assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, expected.values, got.values),
                 TOLERANCE_ITERATIONS);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    kfe_spec_free(spec);
    deflation_free(&p);
}

static void test_covariance_rule_is_kpls(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 43, COLS, 1);
    int iterations = 0;
    kfe_matrix expected = support_features(ctx, "kpls", "dim=3", GAMMA, p.data, p.test_data);
    kfe_model *model = fit_rule(ctx, covariance_rule, &iterations, "dim=3", p.data);
    kfe_matrix got = support_transform(ctx, model, p.test_data);

    assert_int_equal(iterations, DIM);
    assert_below(support_distance_up_to_sign(TEST_ROWS, DIM, expected.values, got.values),
                 TOLERANCE_ITERATIONS);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    deflation_free(&p);
}

/* ---- the state that a rule sees ---- */

/* Checks that features are orthonormal, that the residual is orthogonal to them, and that the sizes are
 * right; then takes any direction. */
static kfe_status watching_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    const deflation_problem *p = user;

    assert_int_equal(state->examples, ROWS);
    assert_int_equal(state->targets, p->targets);
    for (int64_t i = 0; i < state->examples; i++)
        assert_true(direction[i] == 0);
    for (int64_t j = 0; j < state->iteration; j++) {
        const double *q = state->features + j * ROWS;
        for (int64_t l = 0; l <= j; l++) {
            double inner = 0;
            for (int64_t i = 0; i < ROWS; i++)
                inner += q[i] * state->features[l * ROWS + i];
            assert_below(fabs(inner - (j == l)), TOLERANCE_ITERATIONS);
        }
        for (int64_t t = 0; t < state->targets; t++) {
            double inner = 0;
            for (int64_t i = 0; i < ROWS; i++)
                inner += q[i] * state->residual[i * state->targets + t];
            assert_below(fabs(inner), TOLERANCE_ITERATIONS);
        }
    }
    if (state->iteration == 0)
        assert_below(support_distance(ROWS * p->targets, p->centred, state->residual), TOLERANCE_ITERATIONS);
    direction[(7 * state->iteration + 3) % ROWS] = 2;
    direction[0] = 1;
    return KFE_OK;
}

static void test_what_a_rule_sees(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 44, COLS, 2);
    kfe_model *model = fit_rule(ctx, watching_rule, &p, "dim=6,center=no", p.data);

    assert_int_equal(kfe_model_dim(model), 6);
    assert_int_equal(kfe_model_support_size(model), 7);
    kfe_model_free(model);
    deflation_free(&p);
}

/* ---- the resulting models ---- */

static void test_model_needs_no_function(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 45, COLS, 1);
    const char *path = support_path("rule.kfe");
    kfe_model *model = fit_rule(ctx, principal_rule, NULL, "dim=2", p.data);
    kfe_model *loaded = NULL;

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    assert_string_equal(kfe_model_method(loaded), "mine");
    kfe_matrix a = support_transform(ctx, model, p.test_data);
    kfe_matrix b = support_transform(ctx, loaded, p.test_data);
    assert_memory_equal(a.values, b.values, TEST_ROWS * 2 * sizeof(double));
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_model_free(model);
    kfe_model_free(loaded);
    deflation_free(&p);
}

/* Each copy of a spec needs a method of its own. */
static void test_rules_can_be_cross_validated(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 46, COLS, 1);
    const char *grid = "dim=1,2";
    kfe_spec *spec = NULL;
    char *text = NULL;

    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    assert_ok(ctx, kfe_spec_new_rule(ctx, "mine", principal_rule, NULL, NULL, GAMMA, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, write_cross_validate(ctx, spec, 1, &grid, p.data, NULL, KFE_STYLE_JSON, NULL, &text));
    assert_non_null(strstr(text, "mine"));
    kfe_string_free(ctx, text);
    kfe_spec_free(spec);
    deflation_free(&p);
}

/* ---- refused input ---- */

static kfe_status nan_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    (void)user;
    direction[state->iteration] = state->iteration == 1 ? NAN : 1;
    return KFE_OK;
}

static kfe_status failing_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    (void)direction;
    return state->iteration == *(const int *)user ? KFE_EUNSUPPORTED : principal_rule(NULL, state, direction);
}

static kfe_status zero_rule(void *user, const kfe_deflation_state *state, double *direction)
{
    const int *iterations = user;

    if (state->iteration < *iterations)
        direction[state->iteration] = 1;
    return KFE_OK;
}

static void assert_rule_fails(kfe_context *ctx, kfe_status expected, const char *text, kfe_rule_fn rule,
                              void *user, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_new_rule(ctx, "mine", rule, user, "dim=4", GAMMA, &spec));
    assert_fails(ctx, expected, text, kfe_fit(ctx, spec, data, &model));
    assert_null(model);
    kfe_spec_free(spec);
}

static void test_rules_that_fail(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 47, COLS, 1);
    int first = 0;
    int second = 1;

    assert_rule_fails(ctx, KFE_EUNSUPPORTED, "rule mine failed in iteration 2", failing_rule, &second,
                      p.data);
    assert_rule_fails(ctx, KFE_EUNSUPPORTED, "", failing_rule, &first, p.data);
    assert_rule_fails(ctx, KFE_EINVAL, "entry 2 of the direction in iteration 2", nan_rule, NULL, p.data);
    assert_rule_fails(ctx, KFE_EINPUT, "no direction", zero_rule, &first, p.data);
    support_catch_log(ctx);
    kfe_model *model = fit_rule(ctx, zero_rule, &second, "dim=4", p.data);
    assert_int_equal(kfe_model_dim(model), 1);
    assert_non_null(strstr(support_log(), "mine: 4 features were asked for"));
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_names_and_parameters_that_are_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_spec *spec = NULL;
    char name[100];

    memset(name, 'x', sizeof name);
    name[99] = '\0';
    assert_fails(ctx, KFE_EINVAL, "already",
                 kfe_spec_new_rule(ctx, "kpls", nan_rule, NULL, NULL, NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "bytes", kfe_spec_new_rule(ctx, "", nan_rule, NULL, NULL, NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "bytes", kfe_spec_new_rule(ctx, name, nan_rule, NULL, NULL, NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "no function",
                 kfe_spec_new_rule(ctx, "mine", NULL, NULL, NULL, NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "loss",
                 kfe_spec_new_rule(ctx, "mine", nan_rule, NULL, "loss=ls", NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "nowhere",
                 kfe_spec_new_rule(ctx, "mine", nan_rule, NULL, NULL, "nowhere", &spec));
    assert_null(spec);
}

static kfe_status fit_once(kfe_context *ctx, void *user)
{
    const deflation_problem *p = user;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, p->x, &data);

    if (status == KFE_OK)
        status = kfe_spec_new_rule(ctx, "mine", principal_rule, NULL, "dim=2,scale=standard", GAMMA, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_failing_allocations(void **state)
{
    deflation_problem p = deflation_make(*state, 48, COLS, 1);

    support_sweep_all("mine", fit_once, &p, 20);
    deflation_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_principal_rule_is_kpca),  with_context(test_linear_principal_rule_is_pca),
        with_context(test_covariance_rule_is_kpls), with_context(test_what_a_rule_sees),
        with_context(test_model_needs_no_function), with_context(test_rules_can_be_cross_validated),
        with_context(test_rules_that_fail),         with_context(test_names_and_parameters_that_are_refused),
        with_context(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
