/* SPDX-License-Identifier: Apache-2.0 */
/* Problems with real targets, and deflation with every matrix formed, for the tests of the deflation methods. */
#include "support/deflation.h"

#include <math.h>

static deflation_problem make_points(kfe_context *ctx, uint64_t seed, int64_t cols, int64_t targets)
{
    deflation_problem p = {.cols = cols,
                           .targets = targets,
                           .x = support_normals(seed, DEFLATION_ROWS * cols),
                           .test = support_normals(seed + 50, DEFLATION_TEST_ROWS * cols),
                           .y = calloc((size_t)(DEFLATION_ROWS * targets), sizeof(double))};

    for (int64_t i = 0; i < DEFLATION_ROWS * cols; i++)
        p.x[i] = 1 + p.x[i] * pow(0.7, (double)(i % cols));
    for (int64_t i = 0; i < DEFLATION_TEST_ROWS * cols; i++)
        p.test[i] = 1 + p.test[i] * pow(0.7, (double)(i % cols));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, DEFLATION_ROWS, cols, cols, p.x, &p.data));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, DEFLATION_TEST_ROWS, cols, cols, p.test, &p.test_data));
    return p;
}

static void centre_target(deflation_problem *p)
{
    size_t count = (size_t)(DEFLATION_ROWS * p->targets);

    p->centred = malloc(count * sizeof *p->centred);
    memcpy(p->centred, p->y, count * sizeof *p->centred);
    free(support_centre_columns(DEFLATION_ROWS, p->targets, p->centred));
}

deflation_problem deflation_make(kfe_context *ctx, uint64_t seed, int64_t cols, int64_t targets)
{
    deflation_problem p = make_points(ctx, seed, cols, targets);
    uint64_t random = seed + 7;

    for (int64_t i = 0; i < DEFLATION_ROWS; i++)
        for (int64_t t = 0; t < targets; t++)
            p.y[i * targets + t] = 3 + sin(2 * p.x[i * cols] + (double)t) +
                                   (double)(t + 1) * p.x[i * cols + (t + 1) % cols] +
                                   0.3 * support_normal(&random);
    assert_ok(ctx, kfe_data_set_targets(ctx, p.data, targets, p.y));
    centre_target(&p);
    return p;
}

deflation_problem deflation_make_classes(kfe_context *ctx, uint64_t seed, int64_t cols)
{
    deflation_problem p = make_points(ctx, seed, cols, 1);
    uint64_t random = seed + 9;
    int class_of[DEFLATION_ROWS];

    for (int64_t i = 0; i < DEFLATION_ROWS; i++) {
        class_of[i] = i < 2 ? (int)i : p.x[i * cols] - 1 + 1.5 * support_normal(&random) > 0.3;
        p.y[i] = class_of[i] ? 1 : -1;
    }
    support_label(ctx, p.data, DEFLATION_ROWS, class_of);
    centre_target(&p);
    return p;
}

void deflation_free(deflation_problem *p)
{
    kfe_data_free(p->data);
    kfe_data_free(p->test_data);
    free(p->x);
    free(p->test);
    free(p->y);
    free(p->centred);
}

double deflation_leading(int64_t n, const double *a, double *vector)
{
    double *values = malloc((size_t)n * sizeof *values);
    double *vectors = malloc((size_t)(n * n) * sizeof *vectors);

    support_jacobi(n, a, values, vectors);
    double largest = values[0];
    for (int64_t i = 0; i < n; i++)
        vector[i] = vectors[i * n];
    free(values);
    free(vectors);
    return largest;
}

void deflation_remove(int64_t n, int64_t k, const double *tau, double *a)
{
    double square = 0;

    for (int64_t i = 0; i < n; i++)
        square += tau[i] * tau[i];
    for (int64_t j = 0; j < k; j++) {
        double along = 0;
        for (int64_t i = 0; i < n; i++)
            along += tau[i] * a[i * k + j] / square;
        for (int64_t i = 0; i < n; i++)
            a[i * k + j] -= tau[i] * along;
    }
}

double deflation_cosine(int64_t n, const double *a, int64_t a_step, const double *b, int64_t b_step)
{
    double aa = 0;
    double bb = 0;
    double ab = 0;

    for (int64_t i = 0; i < n; i++) {
        aa += a[i * a_step] * a[i * a_step];
        bb += b[i * b_step] * b[i * b_step];
        ab += a[i * a_step] * b[i * b_step];
    }
    return fabs(ab) / sqrt(aa * bb);
}
