/* SPDX-License-Identifier: Apache-2.0 */
/* skpls and skblf equal kpls and kblf if they may use all examples; with fewer, a search over explicit
 * matrices finds the same direction. */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = DEFLATION_ROWS, TEST_ROWS = DEFLATION_TEST_ROWS, COLS = 4, DIM = 4, CLASSES = 3 };

#define GAMMA "rbf:gamma=0.3"
/* Added to rounding by iterations. */
#define TOLERANCE_ITERATIONS 1e-9

/* Three classes of ten examples each. */
static kfe_data *balanced_classes(kfe_context *ctx, const deflation_problem *p, int *class_of)
{
    for (int64_t i = 0; i < ROWS; i++)
        class_of[i] = (int)(i % CLASSES);
    return support_dense(ctx, ROWS, COLS, p->x, class_of);
}

/* ---- all examples ---- */

static void compare(kfe_context *ctx, const char *dense, const char *dense_params, const char *sparse,
                    const char *sparse_params, const kfe_data *data)
{
    kfe_matrix a = support_features(ctx, dense, dense_params, GAMMA, data, data);
    kfe_matrix b = support_features(ctx, sparse, sparse_params, GAMMA, data, data);

    assert_int_equal(a.cols, b.cols);
    assert_below(support_distance_up_to_sign(ROWS, a.cols, a.values, b.values), TOLERANCE_ITERATIONS);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
}

static void compare_all(kfe_context *ctx, const kfe_data *data)
{
    static const char *const rules[] = {"mr", "mi"};
    char sparse[64];

    for (int r = 0; r < 2; r++) {
        snprintf(sparse, sizeof sparse, "dim=4,nu=1,rule=%s", rules[r]);
        compare(ctx, "kpls", "dim=4,center=no", "skpls", sparse, data);
        compare(ctx, "kblf", "dim=4,center=no", "skblf", sparse, data);
        snprintf(sparse, sizeof sparse, "dim=4,nu=1,center=yes,rule=%s", rules[r]);
        compare(ctx, "kpls", "dim=4", "skpls", sparse, data);
        compare(ctx, "kblf", "dim=4", "skblf", sparse, data);
    }
}

static void test_all_examples_give_kpls_and_kblf(void **state)
{
    kfe_context *ctx = *state;
    int class_of[ROWS];

    for (int64_t targets = 1; targets <= 3; targets++) {
        deflation_problem p = deflation_make(ctx, 11, COLS, targets);
        compare_all(ctx, p.data);
        deflation_free(&p);
    }
    deflation_problem p = deflation_make(ctx, 11, COLS, 1);
    kfe_data *classes = balanced_classes(ctx, &p, class_of);
    compare_all(ctx, classes);
    kfe_data_free(classes);
    deflation_free(&p);
}

/* ---- a share of the examples ---- */

/* The feature of a direction with y's values on the `count` examples of largest `size`. */
static void sparse_feature(const double *k, const double *y, const double *size, int64_t count,
                           double *feature)
{
    for (int64_t i = 0; i < ROWS; i++)
        feature[i] = 0;
    for (int64_t j = 0; j < ROWS; j++) {
        int64_t larger = 0;
        for (int64_t l = 0; l < ROWS; l++)
            larger += fabs(size[l]) > fabs(size[j]);
        for (int64_t i = 0; larger < count && i < ROWS; i++)
            feature[i] += k[i * ROWS + j] * y[j];
    }
}

static void test_rules_choose_the_largest(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 12, COLS, 1);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double *covariance = support_product(ROWS, ROWS, 1, k, p.centred);
    double feature[ROWS];
    int64_t count = 0;

    for (int mi = 0; mi < 2; mi++) {
        kfe_model *model =
            support_fit(ctx, "skpls", mi ? "dim=1,nu=0.22,rule=mi" : "dim=1,nu=0.22", GAMMA, p.data);
        kfe_matrix f = support_transform(ctx, model, p.data);
        sparse_feature(k, p.centred, mi ? covariance : p.centred, 7, feature);
        assert_below(1 - deflation_cosine(ROWS, feature, 1, f.values, 1), TOLERANCE_ITERATIONS);
        assert_int_equal((int)kfe_model_record(model, "kernel-evaluations", &count)[0], 7);
        assert_int_equal(kfe_model_support_size(model), 7);
        kfe_matrix_free(&f);
        kfe_model_free(model);
    }
    free(k);
    free(covariance);
    deflation_free(&p);
}

/* Two targets: a fine search over angles finds the combination y = Y(cos a, sin a) with the largest yᵀKy. The
 * direction takes the values of y on the examples where y is largest. */
static void test_targets_are_combined_through_the_kernel(void **state)
{
    enum { ANGLES = 200000 };
    const double pi = 3.14159265358979323846;
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 13, COLS, 2);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double *ky = support_product(ROWS, ROWS, 2, k, p.centred);
    double y[ROWS];
    double feature[ROWS];
    double inner[3] = {0};
    double best = -1;
    double at = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        inner[0] += p.centred[2 * i] * ky[2 * i];
        inner[1] += p.centred[2 * i] * ky[2 * i + 1];
        inner[2] += p.centred[2 * i + 1] * ky[2 * i + 1];
    }
    for (int a = 0; a < ANGLES; a++) {
        double c = cos(pi * a / ANGLES);
        double s = sin(pi * a / ANGLES);
        double value = c * c * inner[0] + 2 * c * s * inner[1] + s * s * inner[2];
        if (value > best) {
            best = value;
            at = pi * a / ANGLES;
        }
    }
    for (int64_t i = 0; i < ROWS; i++)
        y[i] = cos(at) * p.centred[2 * i] + sin(at) * p.centred[2 * i + 1];
    kfe_matrix f = support_features(ctx, "skpls", "dim=1,nu=0.3", GAMMA, p.data, p.data);
    sparse_feature(k, y, y, 9, feature);
    /* angles are pi/ANGLES apart, and the cosine falls with the square of the error in the angle */
    assert_below(1 - deflation_cosine(ROWS, feature, 1, f.values, 1), TOLERANCE_ITERATIONS);
    kfe_matrix_free(&f);
    free(k);
    free(ky);
    deflation_free(&p);
}

/* ---- ties among candidates ---- */

enum { FEW = ROWS / 3 }; /* examples of the rare class; their centred target is twice that of the others */

/* The one example of the common class in the support of a direction that may use the rare class and one more
 * example. */
static int64_t the_last_place(kfe_context *ctx, const kfe_data *data, const char *params, uint64_t seed)
{
    int64_t found = -1;

    kfe_context_set_seed(ctx, seed);
    kfe_model *model = support_fit(ctx, "skpls", params, GAMMA, data);
    const int64_t *index = kfe_model_support_index(model);
    assert_int_equal(kfe_model_support_size(model), FEW + 1);
    for (int64_t s = 0; s <= FEW; s++)
        if (index[s] >= FEW) {
            assert_int_equal(found, -1);
            found = index[s];
        }
    kfe_model_free(model);
    return found;
}

/* In the first iteration all residuals of a class are equal: the largest covariance with the target decides,
 * among as many examples as `cache` allows; with a cache of one, the choice is random. */
static void test_one_place_is_left_for_equals(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 14, COLS, 1);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    double y[ROWS];
    double values[ROWS];
    int64_t best = -1;
    int64_t first = -1;
    int differs = 0;
    kfe_data *data = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        values[i] = i < FEW ? 1 : 0;
        y[i] = values[i] - (double)FEW / ROWS;
    }
    double *covariance = support_product(ROWS, ROWS, 1, k, y);
    for (int64_t i = FEW; i < ROWS; i++)
        if (best < 0 || fabs(covariance[i]) > fabs(covariance[best]))
            best = i;
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, p.x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, values));
    for (uint64_t seed = 1; seed <= 8; seed++) {
        assert_int_equal(the_last_place(ctx, data, "dim=1,nu=0.36,scale=none", seed), best);
        int64_t drawn = the_last_place(ctx, data, "dim=1,nu=0.36,cache=1,scale=none", seed);
        first = first < 0 ? drawn : first;
        differs |= drawn != first;
    }
    assert_true(differs);
    kfe_data_free(data);
    free(covariance);
    free(k);
    deflation_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_all_examples_give_kpls_and_kblf),
        with_context(test_rules_choose_the_largest),
        with_context(test_targets_are_combined_through_the_kernel),
        with_context(test_one_place_is_left_for_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
