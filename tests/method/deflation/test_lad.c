/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loss lad of blf, kblf and skblf. The test finds a minimiser of Σ|y − f| over intercept and k
 * coefficients by trying every set of k + 1 examples that f may pass through. The signs of the other
 * residuals then determine the multipliers of those k + 1 examples, and with them the next direction. Where
 * minimisers or multipliers are not unique, the rule must not depend on the order of rows.
 */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = DEFLATION_ROWS, COLS = 4, MOST = 3 };
#define GAMMA "rbf:gamma=0.3"

/* ---- the minimiser by brute force ---- */

typedef struct vertex {
    int64_t count;              /* k + 1 */
    int64_t examples[MOST + 1]; /* the examples that f passes through */
    double loss;
    double f[ROWS];
} vertex;

/* Computes f through these examples from the columns of b (ROWS × count); returns 0 if the examples are
 * dependent. */
static int pass_through(const double *b, const double *y, vertex *v)
{
    double system[(MOST + 1) * (MOST + 1)];
    double right[MOST + 1];

    for (int64_t i = 0; i < v->count; i++) {
        right[i] = y[v->examples[i]];
        for (int64_t j = 0; j < v->count; j++)
            system[i * v->count + j] = b[v->examples[i] * v->count + j];
    }
    double *c = support_solve(v->count, 1, system, right);
    v->loss = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        v->f[i] = 0;
        for (int64_t j = 0; j < v->count; j++)
            v->f[i] += b[i * v->count + j] * c[j];
        v->loss += fabs(y[i] - v->f[i]);
    }
    free(c);
    return isfinite(v->loss);
}

static void search(const double *b, const double *y, vertex *v, int64_t filled, vertex *best)
{
    if (filled == v->count || filled > MOST) {
        if (pass_through(b, y, v) && v->loss < best->loss)
            *best = *v;
        return;
    }
    for (int64_t i = filled > 0 ? v->examples[filled - 1] + 1 : 0; i < ROWS; i++) {
        v->examples[filled] = i;
        search(b, y, v, filled + 1, best);
    }
}

/* w: the signs of the residuals and, for the examples of the vertex, the values for which Bᵀw = 0. */
static void multipliers(const double *b, const double *y, const vertex *v, double *w)
{
    double system[(MOST + 1) * (MOST + 1)];
    double right[MOST + 1] = {0};

    for (int64_t i = 0; i < ROWS; i++)
        w[i] = y[i] > v->f[i] ? 1 : -1;
    for (int64_t i = 0; i < v->count; i++)
        w[v->examples[i]] = 0;
    for (int64_t j = 0; j < v->count; j++) {
        for (int64_t i = 0; i < ROWS; i++)
            right[j] -= b[i * v->count + j] * w[i];
        for (int64_t i = 0; i < v->count; i++)
            system[j * v->count + i] = b[v->examples[i] * v->count + j];
    }
    double *on_vertex = support_solve(v->count, 1, system, right);
    for (int64_t i = 0; i < v->count; i++) {
        assert_true(fabs(on_vertex[i]) <= 1 + 1e-9); /* otherwise the vertex is not a minimiser */
        w[v->examples[i]] = on_vertex[i];
    }
    free(on_vertex);
}

/* Checks feature k + 1 of a model, which is (I − QQᵀ)Kw for its first k features, and its k-th loss. */
static void check_feature(const deflation_problem *p, const kfe_model *model, const kfe_matrix *features,
                          const double *kernel, int64_t k)
{
    double b[ROWS * (MOST + 1)];
    double w[ROWS];
    vertex v = {.count = k + 1};
    vertex best = {.loss = INFINITY};
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++) {
        b[i * (k + 1)] = 1;
        for (int64_t j = 0; j < k; j++)
            b[i * (k + 1) + j + 1] = features->values[i * features->cols + j];
    }
    search(b, p->y, &v, 0, &best);
    const double *losses = kfe_model_record(model, "loss", &count);
    if (k > 0)
        assert_below(fabs(losses[k - 1] - best.loss / ROWS), 1e-6 * best.loss / ROWS);
    multipliers(b, p->y, &best, w);
    double *tau = support_product(ROWS, ROWS, 1, kernel, w);
    for (int64_t j = 0; j < k; j++) {
        double q[ROWS];
        for (int64_t i = 0; i < ROWS; i++)
            q[i] = features->values[i * features->cols + j];
        deflation_remove(ROWS, 1, q, tau);
    }
    assert_below(1 - deflation_cosine(ROWS, tau, 1, features->values + k, features->cols), 1e-9);
    free(tau);
}

static void check_method(kfe_context *ctx, const char *method, uint64_t seed)
{
    deflation_problem p = deflation_make(ctx, seed, COLS, 1);
    int linear = method[0] == 'b';
    kfe_model *model = support_fit(ctx, method, "dim=4,loss=lad", linear ? NULL : GAMMA, p.data);
    kfe_matrix features = support_transform(ctx, model, p.data);
    double *kernel;

    if (linear) {
        double *turned = support_transpose(ROWS, COLS, p.x);
        kernel = support_product(ROWS, COLS, ROWS, p.x, turned);
        free(turned);
    } else {
        kernel = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.3);
    }
    support_centre_kernel(ROWS, kernel);
    /* after the median, which is an interval here, and after vertices of two and three examples */
    for (int64_t k = 1; k < 3; k++)
        check_feature(&p, model, &features, kernel, k);
    free(kernel);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    deflation_free(&p);
}

static void test_features_follow_the_multipliers(void **state)
{
    for (uint64_t seed = 31; seed < 37; seed++) {
        check_method(*state, "blf", seed);
        check_method(*state, "kblf", seed);
    }
}

/* ---- scale ---- */

/* Targets times 10¹² or 10⁻¹² have the same features and proportional losses. */
static void test_scale_of_the_target_does_not_matter(void **state)
{
    static const double scales[] = {1e-150, 1e-12, 1e-6, 1e6, 1e12, 1e150};
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 41, COLS, 1);
    double y[ROWS];
    int64_t count = 0;
    kfe_model *model = support_fit(ctx, "kblf", "dim=3,loss=lad", GAMMA, p.data);
    kfe_matrix expected = support_transform(ctx, model, p.data);
    const double *losses = kfe_model_record(model, "loss", &count);

    for (int s = 0; s < 6; s++) {
        for (int64_t i = 0; i < ROWS; i++)
            y[i] = scales[s] * (p.y[i] + 5);
        assert_ok(ctx, kfe_data_set_targets(ctx, p.data, 1, y));
        kfe_model *other = support_fit(ctx, "kblf", "dim=3,loss=lad", GAMMA, p.data);
        kfe_matrix got = support_transform(ctx, other, p.data);
        const double *scaled = kfe_model_record(other, "loss", &count);
        assert_below(support_distance_up_to_sign(ROWS, 3, expected.values, got.values), 1e-6);
        for (int64_t j = 0; j < 3; j++)
            assert_below(fabs(scaled[j] / scales[s] - losses[j]), 1e-6 * losses[j]);
        kfe_matrix_free(&got);
        kfe_model_free(other);
    }
    kfe_matrix_free(&expected);
    kfe_model_free(model);
    deflation_free(&p);
}

/* ---- ties ---- */

/* The example in row i of another order. */
static int64_t other_row(int64_t i)
{
    return i * 7 % ROWS; /* ROWS is not a multiple of 7 */
}

/* Two classes of unequal size: the best constant is exactly 1, twenty residuals vanish, and one multiplier is
 * determined. Few distinct values: residuals vanish in groups. */
static void check_ties(kfe_context *ctx, const char *method, int classes)
{
    deflation_problem p = deflation_make(ctx, 51, COLS, 1);
    double x[ROWS * COLS];
    double y[2][ROWS];
    int class_of[2][ROWS];
    kfe_data *data = NULL;

    for (int64_t i = 0; i < ROWS; i++) {
        y[0][i] = floor(p.y[i]);
        class_of[0][i] = i % 3 == 1;
    }
    for (int64_t i = 0; i < ROWS; i++) {
        y[1][i] = y[0][other_row(i)];
        class_of[1][i] = class_of[0][other_row(i)];
        memcpy(x + i * COLS, p.x + other_row(i) * COLS, COLS * sizeof *x);
    }
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, x, &data));
    if (classes) {
        support_label(ctx, p.data, ROWS, class_of[0]);
        support_label(ctx, data, ROWS, class_of[1]);
    } else {
        assert_ok(ctx, kfe_data_set_targets(ctx, p.data, 1, y[0]));
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y[1]));
    }
    const char *kernel = method[0] == 'b' ? NULL : GAMMA;
    kfe_matrix a = support_features(ctx, method, "dim=4,loss=lad", kernel, p.data, p.test_data);
    kfe_matrix b = support_features(ctx, method, "dim=4,loss=lad", kernel, data, p.test_data);
    assert_int_equal(a.cols, b.cols);
    assert_below(support_distance_up_to_sign(a.rows, a.cols, a.values, b.values), 1e-6);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_data_free(data);
    deflation_free(&p);
}

static void test_ties_do_not_depend_on_the_order_of_rows(void **state)
{
    static const char *const methods[] = {"blf", "kblf", "skblf"};

    for (int m = 0; m < 3; m++)
        for (int classes = 0; classes < 2; classes++)
            check_ties(*state, methods[m], classes);
}

/* The first direction of two unequal classes: all twenty vanishing residuals share the multiplier, so w is
 * the centred indicator and the feature is that of kpls. */
static void test_equal_residuals_share_the_multiplier(void **state)
{
    kfe_context *ctx = *state;
    deflation_problem p = deflation_make(ctx, 52, COLS, 1);
    int class_of[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        class_of[i] = i % 3 == 1;
    support_label(ctx, p.data, ROWS, class_of);
    kfe_matrix a = support_features(ctx, "kpls", "dim=1", GAMMA, p.data, p.test_data);
    kfe_matrix b = support_features(ctx, "kblf", "dim=1,loss=lad", GAMMA, p.data, p.test_data);
    assert_below(1 - deflation_cosine(a.rows, a.values, 1, b.values, 1), 1e-9);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    deflation_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_features_follow_the_multipliers),
        with_context(test_scale_of_the_target_does_not_matter),
        with_context(test_ties_do_not_depend_on_the_order_of_rows),
        with_context(test_equal_residuals_share_the_multiplier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
