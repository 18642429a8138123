/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of columns on a device: every number that comes back, against plain loops over the CPU's columns. */
#include "support/device.h"

#include "gram/device/device_pool.h"

enum { ROWS = 83, COLS = 7 };

/* Columns of the CPU's operator, n numbers after each other. */
static double *cpu_columns(const support_pair *p, const int64_t *index, int64_t count)
{
    double *columns = calloc((size_t)(ROWS * count), sizeof *columns);
    double *transposed = calloc((size_t)(ROWS * count), sizeof *transposed);

    assert_ok(p->ctx, kfe_i_gram_columns(p->cpu, index, count, columns));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t c = 0; c < count; c++)
            transposed[c * ROWS + i] = columns[i * count + c];
    free(columns);
    return transposed;
}

static double dot(const double *a, const double *b, int64_t stride)
{
    double sum = 0;

    for (int64_t i = 0; i < ROWS; i++)
        sum += a[i] * b[i * stride];
    return sum;
}

enum { CANDIDATES = 3, TARGETS = 2, FEATURES = 2 };
static const int64_t candidates[CANDIDATES] = {3, 40, 77};
static const int64_t places[CANDIDATES] = {2, 0, 1};
static const int64_t picks[FEATURES] = {5, 60};

/* A pool on the device, and the same on the CPU. */
typedef struct pool_check {
    kfe_context *ctx;
    kfe_i_device_pool pool;
    double *residual; /* ROWS × TARGETS */
    double *columns;  /* of the candidates, one after the other */
    double *q;        /* the features, one after the other */
    double slack;
} pool_check;

/* Makes column j of c->q orthogonal to those before it, and compares what the pool says of it. */
static void check_feature(pool_check *c, int64_t j)
{
    double *v = c->q + j * ROWS;
    double before = sqrt(dot(v, v, 1));
    double shared = j ? dot(c->q, v, 1) : 0;
    double part = 0;
    double whole = 0;
    double length = 0;
    double slopes[TARGETS];

    for (int64_t i = 0; j && i < ROWS; i++)
        v[i] -= shared * c->q[i];
    double after = sqrt(dot(v, v, 1));
    assert_ok(c->ctx, kfe_i_device_pool_pick(&c->pool, picks[j], 2, j, &part, &whole, &length));
    support_assert_near("the norm of a column", whole, 2 * before, c->slack);
    support_assert_near("the norm of what is new", length, 2 * after, c->slack);
    if (j)
        support_assert_near("the part along a feature", part, 2 * shared, c->slack);
    assert_ok(c->ctx, kfe_i_device_pool_accept(&c->pool, j, length, slopes));
    for (int64_t i = 0; i < ROWS; i++)
        v[i] /= after;
    for (int t = 0; t < TARGETS; t++) {
        double slope = dot(v, c->residual + t, TARGETS);
        support_assert_near("the slope of a target", slopes[t], slope, c->slack);
        for (int64_t i = 0; i < ROWS; i++)
            c->residual[i * TARGETS + t] -= slope * v[i];
    }
}

static void check_candidates(pool_check *c)
{
    double squares[CANDIDATES];
    double covariance[CANDIDATES * TARGETS];
    double along[CANDIDATES * FEATURES];
    kfe_i_device_pool_measures measures = {squares, covariance, along};

    assert_ok(c->ctx, kfe_i_device_pool_load(&c->pool, candidates, places, CANDIDATES, FEATURES, &measures));
    for (int i = 0; i < CANDIDATES; i++) {
        const double *column = c->columns + i * ROWS;
        support_assert_near("a squared norm", squares[i], dot(column, column, 1), c->slack);
        for (int t = 0; t < TARGETS; t++)
            support_assert_near("a covariance", covariance[i * TARGETS + t],
                                dot(column, c->residual + t, TARGETS), c->slack);
        for (int j = 0; j < FEATURES; j++)
            support_assert_near("a product with a feature", along[j * CANDIDATES + i],
                                dot(c->q + j * ROWS, column, 1), c->slack);
    }
    assert_ok(c->ctx, kfe_i_device_pool_along(&c->pool, 1, along));
    for (int i = 0; i < CANDIDATES; i++)
        support_assert_near("a candidate along the last feature", along[places[i]],
                            dot(c->q + ROWS, c->columns + i * ROWS, 1), c->slack);
}

/* Picks two features and loads three candidates; every number that comes back is compared. */
static void check_pool(const support_pair *p, kfe_device_type type)
{
    kfe_i_device_pool_shape shape = {
        .size = CANDIDATES, .most = FEATURES, .targets = TARGETS, .type = type, .scale = 1};
    pool_check c = {.ctx = p->ctx,
                    .residual = support_random(41, ROWS * TARGETS),
                    .columns = cpu_columns(p, candidates, CANDIDATES),
                    .q = cpu_columns(p, picks, FEATURES),
                    .slack = ROWS * support_pair_slack(p, type == KFE_DEVICE_F32)};
    int open = 0;

    assert_ok(p->ctx, kfe_i_device_pool_open(p->device, &shape, c.residual, &c.pool, &open));
    assert_true(open);
    for (int64_t j = 0; j < FEATURES; j++)
        check_feature(&c, j);
    check_candidates(&c);
    kfe_i_device_pool_close(&c.pool);
    free(c.residual);
    free(c.columns);
    free(c.q);
}

static void test_pools_of_columns(void **state)
{
    static const kfe_i_gram_storage storages[] = {KFE_GRAM_TILED, KFE_GRAM_F64};
    support_points points;
    support_pair p;

    support_points_make(&points, 5, ROWS, COLS, 1);
    for (int i = 0; i < 2; i++) {
        support_pair_open(*state, "rbf:gamma=0.5 poly:degree=2,weight=0.1", &points, 0, storages[i], &p);
        check_pool(&p, KFE_DEVICE_F64);
        check_pool(&p, KFE_DEVICE_F32);
        support_pair_close(&p);
    }
    support_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_pools_of_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
