/* SPDX-License-Identifier: Apache-2.0 */
/* The objective of lmkl and sldr against full matrices, its gradient against differences, and the geometry of
 * its steps. */
#include "kernel/tile/tile.h"
#include "support/local.h"

#include <math.h>

#include "oracles/libsvm.h"
#include "support/mkl.h"
#include "support/tolerance.h"

enum { ROWS = 30, COLS_A = 4, COLS_B = 3 };

typedef struct scene {
    double *a, *b;
    int *class_of;
    support_views views;
    kfe_i_local_problem p;
    double *parameters;
} scene;

static const kfe_i_local_settings settings = {.local_dim = 2,
                                              .gate_dim = 2,
                                              .gate = "all",
                                              .c = 2,
                                              .stop = 1e-11,
                                              .ridge = 0.1,
                                              .max_iterations = 1,
                                              .restarts = 1};

static void open_scene_of(kfe_context *ctx, int64_t rows, int classes, double apart, const char *kernel,
                          int projects, scene *s)
{
    kfe_i_local_retraction r = {0};
    kfe_i_rng rng;
    double value = 0;
    int *other = NULL;

    memset(s, 0, sizeof *s);
    support_clouds(3, rows, COLS_A, classes, apart, &s->a, &s->class_of);
    support_clouds(4, rows, COLS_B, classes, apart, &s->b, &other);
    free(other);
    assert_ok(ctx, support_views_begin(ctx, rows, s->class_of, &s->views));
    support_views_add(&s->views, "first", COLS_A, s->a);
    support_views_add(&s->views, "second", COLS_B, s->b);
    assert_ok(ctx, support_views_kernel(&s->views, 0, kernel));
    assert_ok(ctx, support_views_kernel(&s->views, 1, kernel));
    assert_ok(ctx, support_views_kernel(&s->views, 1, "linear:weight=0.5"));
    assert_ok(ctx, kfe_i_local_problem_open(ctx, "test", &s->views.problem, &settings, projects, &s->p));
    assert_ok(ctx, kfe_i_local_retraction_open(&s->p, &r));
    s->parameters = calloc((size_t)s->p.at.size, sizeof *s->parameters);
    kfe_i_rng_init(&rng, 1, KFE_STREAM_LOCAL);
    assert_ok(ctx, kfe_i_local_start(&s->p, KFE_LOCAL_RANDOM, &rng, &r, s->parameters));
    /* a gate far from uniform, so that every term of its gradient counts */
    for (int64_t i = projects ? s->p.at.weights : s->p.at.gate; i < s->p.at.size; i++)
        s->parameters[i] = 0.7 * kfe_i_rng_normal(&rng);
    s->p.ridge = 0.3;
    assert_ok(ctx, kfe_i_local_update(&s->p, KFE_LOCAL_PROJECTIONS, s->parameters));
    assert_ok(ctx, kfe_i_local_update(&s->p, KFE_LOCAL_GATE_MAP, s->parameters));
    assert_ok(ctx, kfe_i_local_value(&s->p, s->parameters, &value));
    kfe_i_local_retraction_free(&r);
}

static void open_scene(kfe_context *ctx, int classes, const char *kernel, int projects, scene *s)
{
    open_scene_of(ctx, ROWS, classes, 1, kernel, projects, s);
}

static void close_scene(scene *s)
{
    kfe_i_local_problem_free(&s->p);
    support_views_end(&s->views);
    free(s->parameters);
    free(s->a);
    free(s->b);
    free(s->class_of);
}

static double value_at(scene *s, kfe_i_local_block block)
{
    double value = 0;

    assert_ok(s->p.ctx, kfe_i_local_update(&s->p, block, s->parameters));
    assert_ok(s->p.ctx, kfe_i_local_value(&s->p, s->parameters, &value));
    return value;
}

/* Checks every entry of the block, ignoring the constraints on it. */
static void check_block(scene *s, kfe_i_local_block block)
{
    const double h = 1e-5;
    int64_t first = 0;
    int64_t count = 0;

    kfe_i_local_block_place(&s->p, block, &first, &count);
    assert_true((count > 0) == (s->p.projects || block == KFE_LOCAL_GATE_WEIGHTS));
    if (count == 0)
        return;
    double *gradient = calloc((size_t)s->p.at.size, sizeof *gradient);
    double value = value_at(s, block);
    assert_ok(s->p.ctx, kfe_i_local_gradient(&s->p, block, s->parameters, gradient));
    double largest = support_largest(count, gradient + first);
    assert_true(largest > 1e-3);
    for (int64_t i = first; i < first + count; i++) {
        double before = s->parameters[i];
        double side[2];
        for (int k = 0; k < 2; k++) {
            s->parameters[i] = before + (k ? h : -h);
            side[k] = value_at(s, block);
        }
        s->parameters[i] = before;
        assert_below(fabs((side[1] - side[0]) / (2 * h) - gradient[i]), 1e-5 * (largest + 0.01 * value));
    }
    for (int64_t i = 0; i < s->p.at.size; i++)
        assert_true((i >= first && i < first + count) || gradient[i] == 0);
    value_at(s, block);
    free(gradient);
}

static void test_gradients_are_those_of_the_value(void **state)
{
    static const char *const kernels[] = {"linear",
                                          "linear:weight=1.7",
                                          "poly:degree=3,gamma=0.4,coef0=1",
                                          "poly:degree=1,gamma=0.5",
                                          "rbf:gamma=0.3",
                                          "rbf:gamma=0.6,weight=2"};
    kfe_context *ctx = *state;

    for (int classes = 2; classes <= 3; classes++)
        for (int projects = 0; projects < 2; projects++)
            for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
                scene s;
                open_scene(ctx, classes, kernels[k], projects, &s);
                for (int block = 0; block < KFE_LOCAL_BLOCKS; block++)
                    check_block(&s, (kfe_i_local_block)block);
                close_scene(&s);
            }
}

/* ---- the value by the formulas ---- */

static double dot_of(const double *x, const double *y, int64_t cols)
{
    double sum = 0;
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    return sum;
}

/* The gate's weights of the parts at example i, by eq. (3). */
static void shares_of(const scene *s, int64_t i, double *shares)
{
    const kfe_i_local_problem *p = &s->p;
    double gate[2] = {0};
    double sum = 0;

    for (int64_t k = 0; k < 2; k++) {
        for (int64_t j = 0; j < COLS_A; j++)
            gate[k] += s->a[i * COLS_A + j] * s->parameters[p->at.gate + j * 2 + k];
        for (int64_t j = 0; j < COLS_B; j++)
            gate[k] += s->b[i * COLS_B + j] * s->parameters[p->at.gate + (COLS_A + j) * 2 + k];
    }
    for (int m = 0; m < 3; m++) {
        shares[m] = exp(gate[0] * s->parameters[p->at.weights + m] +
                        gate[1] * s->parameters[p->at.weights + 3 + m] + s->parameters[p->at.offset + m]);
        sum += shares[m];
    }
    for (int m = 0; m < 3; m++)
        shares[m] /= sum;
}

static void project(const scene *s, int m, int64_t i, double *z)
{
    const double *w = s->parameters + s->p.parts[m].projection_at;
    int64_t cols = m == 0 ? COLS_A : COLS_B;
    const double *x = m == 0 ? s->a + i * cols : s->b + i * cols;

    for (int64_t k = 0; k < 2; k++) {
        z[k] = 0;
        for (int64_t j = 0; j < cols; j++)
            z[k] += x[j] * w[j * 2 + k];
    }
}

/* Entry (i, j) of the localized kernel: twice an rbf kernel with gamma 0.3, then half a dot product. */
static double entry(const scene *s, int64_t i, int64_t j)
{
    double eta[2][3];
    double sum = 0;

    shares_of(s, i, eta[0]);
    shares_of(s, j, eta[1]);
    for (int m = 0; m < 3; m++) {
        double z[2][2];
        project(s, m, i, z[0]);
        project(s, m, j, z[1]);
        double squared = pow(z[0][0] - z[1][0], 2) + pow(z[0][1] - z[1][1], 2);
        sum += eta[0][m] * eta[1][m] * (m < 2 ? exp(-0.3 * squared) : 0.5 * dot_of(z[0], z[1], 2));
    }
    return sum;
}

static void test_value_is_the_optimum_on_the_localized_kernel(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    double *k = malloc(ROWS * ROWS * sizeof *k);

    open_scene(ctx, 3, "rbf:gamma=0.3", 1, &s);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < ROWS; j++) {
            k[i * ROWS + j] = entry(&s, i, j);
            assert_below(fabs(k[i * ROWS + j] - s.p.now.matrix.values[i * ROWS + j]), 1e-12);
        }
    double expected = oracle_svms_optimum(ROWS, k, s.class_of, 3, 2, NULL);
    for (int i = 0; i < 6; i++)
        expected += 0.5 * 0.3 * pow(s.parameters[s.p.at.weights + i], 2);
    assert_below(fabs(value_at(&s, KFE_LOCAL_GATE_MAP) - expected), 1e-6 * expected);
    close_scene(&s);
    free(k);
}

/* More rows than a tile, enough for several threads, and kernels of every kind. */
static void test_matrices_larger_than_a_tile(void **state)
{
    enum { MANY = 1100 };
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    support_views views;
    kfe_i_local_problem p;
    double parameters[4] = {0.3, -0.2, 0.5, 0.1}; /* two columns, two parts */
    double all[6] = {0};
    double value = 0;

    support_clouds(9, MANY, 2, 2, 0.5, &x, &class_of);
    assert_ok(ctx, support_views_begin(ctx, MANY, class_of, &views));
    support_views_add(&views, "x", 2, x);
    assert_ok(ctx, support_views_kernel(&views, 0, "linear"));
    assert_ok(ctx, support_views_kernel(&views, 0, "rbf:gamma=0.5"));
    assert_ok(ctx, kfe_i_local_problem_open(ctx, "test", &views.problem, &settings, 0, &p));
    p.svms.stop = 1e-2;
    assert_int_equal(p.at.size, 6);
    memcpy(all, parameters, sizeof parameters);
    assert_ok(ctx, kfe_i_local_update(&p, KFE_LOCAL_GATE_WEIGHTS, all));
    assert_ok(ctx, kfe_i_local_value(&p, all, &value));
    for (int64_t i = 0; i < MANY; i += 37)
        for (int64_t j = 0; j < MANY; j++) {
            double eta[2];
            for (int side = 0; side < 2; side++) {
                const double *row = x + 2 * (side ? j : i);
                double difference =
                    row[0] * (parameters[0] - parameters[1]) + row[1] * (parameters[2] - parameters[3]);
                eta[side] = 1 / (1 + exp(-difference));
            }
            double squared = pow(x[2 * i] - x[2 * j], 2) + pow(x[2 * i + 1] - x[2 * j + 1], 2);
            double expected = eta[0] * eta[1] * dot_of(x + 2 * i, x + 2 * j, 2) +
                              (1 - eta[0]) * (1 - eta[1]) * exp(-0.5 * squared);
            assert_below(fabs(p.now.matrix.values[i * MANY + j] - expected), 1e-12);
        }
    kfe_i_local_problem_free(&p);
    support_views_end(&views);
    free(x);
    free(class_of);
}

/* Products over more support examples than a tile has rows. */
static void test_gradients_larger_than_a_tile(void **state)
{
    enum { MANY = 330 };
    scene s;

    open_scene_of(*state, MANY, 2, 0.1, "rbf:gamma=0.3", 0, &s);
    check_block(&s, KFE_LOCAL_GATE_WEIGHTS);
    assert_true(s.p.work.support_count > KFE_TILE_SIDE);
    close_scene(&s);
}

/* If the parts' matrices do not fit in memory, lmkl evaluates them again: value and gradient are the same. */
static void test_kernels_that_do_not_fit_are_evaluated_again(void **state)
{
    kfe_context *ctx = *state;
    double *gradients[2];
    double values[2];
    int64_t size = 0;

    for (int small = 0; small < 2; small++) {
        scene s;
        assert_ok(ctx, kfe_context_set_memory(ctx, small ? 20000 : 0));
        open_scene(ctx, 3, "rbf:gamma=0.3", 0, &s);
        assert_true((s.p.parts[0].kept == NULL) == small);
        size = s.p.at.size;
        gradients[small] = calloc((size_t)size, sizeof **gradients);
        values[small] = value_at(&s, KFE_LOCAL_GATE_WEIGHTS);
        assert_ok(ctx, kfe_i_local_gradient(&s.p, KFE_LOCAL_GATE_WEIGHTS, s.parameters, gradients[small]));
        close_scene(&s);
    }
    assert_below(fabs(values[1] - values[0]), 1e-8 * values[0]);
    assert_below(support_distance(size, gradients[0], gradients[1]), 1e-6);
    free(gradients[0]);
    free(gradients[1]);
}

/* ---- the gate ---- */

static void test_softmax_of_huge_activations(void **state)
{
    double logits[] = {1e308, -1e308, 0, 1e308, 1e308, -1e308, -700, -701, -1e6, 3, 3, 3};

    (void)state;
    kfe_i_softmax_rows(4, 3, logits);
    for (int i = 0; i < 4; i++) {
        double sum = logits[3 * i] + logits[3 * i + 1] + logits[3 * i + 2];
        assert_below(fabs(sum - 1), 4 * DBL_EPSILON);
    }
    assert_true(logits[0] == 1 && logits[1] == 0 && logits[2] == 0);
    assert_true(logits[3] == 0.5 && logits[4] == 0.5);
    assert_below(fabs(logits[6] - 1 / (1 + exp(-1))), 4 * DBL_EPSILON);
    assert_below(fabs(logits[9] - 1.0 / 3), DBL_EPSILON);
}

static void test_a_gate_of_huge_weights_is_no_harm(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    double gradient[64] = {0};

    open_scene(ctx, 3, "rbf:gamma=0.3", 1, &s);
    assert_true(s.p.at.size <= 64);
    s.p.ridge = 0;
    for (int64_t i = s.p.at.weights; i < s.p.at.size; i++)
        s.parameters[i] *= 1e150;
    assert_true(isfinite(value_at(&s, KFE_LOCAL_GATE_MAP)));
    for (int block = 0; block < KFE_LOCAL_BLOCKS; block++) {
        int64_t first = 0;
        int64_t count = 0;
        kfe_i_local_block_place(&s.p, (kfe_i_local_block)block, &first, &count);
        assert_ok(ctx, kfe_i_local_gradient(&s.p, (kfe_i_local_block)block, s.parameters, gradient));
        for (int64_t i = first; i < first + count; i++)
            assert_true(isfinite(gradient[i]));
    }
    close_scene(&s);
}

/* ---- orthonormal columns ---- */

static double off_orthonormal(int64_t rows, int64_t k, const double *a)
{
    double most = 0;

    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0;
            for (int64_t l = 0; l < rows; l++)
                sum += a[l * k + i] * a[l * k + j];
            most = fmax(most, fabs(sum - (i == j)));
        }
    return most;
}

static void test_polar_factor_is_the_nearest(void **state)
{
    enum { TALL = 7, WIDE = 2 };
    kfe_context *ctx = *state;
    scene s;
    kfe_i_local_retraction r = {0};
    double *m = support_normals(8, TALL * WIDE);
    double polar[TALL * WIDE];
    double square[WIDE * WIDE] = {0};

    open_scene(ctx, 2, "linear", 1, &s);
    assert_ok(ctx, kfe_i_local_retraction_open(&s.p, &r));
    memcpy(polar, m, sizeof polar);
    /* the workspace is sized for the gate's matrix, 7 × 2 */
    assert_ok(ctx, kfe_i_local_polar(&r, TALL, WIDE, polar));
    assert_below(off_orthonormal(TALL, WIDE, polar), 1e-13);
    /* the nearest one: polarᵀm is symmetric and positive definite */
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j < WIDE; j++)
            for (int l = 0; l < TALL; l++)
                square[i * WIDE + j] += polar[l * WIDE + i] * m[l * WIDE + j];
    assert_below(fabs(square[1] - square[2]), 1e-13);
    assert_true(square[0] > 0 && square[0] * square[3] > square[1] * square[2]);
    kfe_i_local_retraction_free(&r);
    close_scene(&s);
    free(m);
}

static void test_starts_are_orthonormal_and_differ(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    kfe_i_local_retraction r = {0};
    kfe_i_rng rng;

    open_scene(ctx, 3, "linear", 1, &s);
    assert_ok(ctx, kfe_i_local_retraction_open(&s.p, &r));
    kfe_i_rng_init(&rng, 5, KFE_STREAM_LOCAL);
    for (int start = 0; start < 2; start++) {
        double before = s.parameters[0];
        assert_ok(ctx, kfe_i_local_start(&s.p, start, &rng, &r, s.parameters));
        for (int m = 0; m < 3; m++)
            assert_below(
                off_orthonormal(s.p.parts[m].columns.cols, 2, s.parameters + s.p.parts[m].projection_at),
                1e-13);
        assert_below(off_orthonormal(s.p.at.gate_cols, 2, s.parameters + s.p.at.gate), 1e-13);
        assert_true(before != s.parameters[0]);
    }
    kfe_i_local_retraction_free(&r);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_gradients_are_those_of_the_value),
        with_context(test_value_is_the_optimum_on_the_localized_kernel),
        with_context(test_matrices_larger_than_a_tile),
        with_context(test_gradients_larger_than_a_tile),
        with_context(test_kernels_that_do_not_fit_are_evaluated_again),
        with_context(test_softmax_of_huge_activations),
        with_context(test_a_gate_of_huge_weights_is_no_harm),
        with_context(test_polar_factor_is_the_nearest),
        with_context(test_starts_are_orthonormal_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
