/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a tiled operator with vectors β of which many rows are zero, such as the coefficients of SVMs. With the rows s that are not
 * zero, the support, first,
 *
 *     Gβ = ( K_ss ) β_s,
 *          ( K_os )
 *
 * where half of K_ss is evaluated, because it is symmetric, and K_os has a row for each other example. For s support examples of
 * n that is s²/2 + (n − s)s kernel values in place of n²/2: two thirds if s = 0.42n.
 */
#include <string.h>

#include "core/memory.h"
#include "gram/form.h"
#include "kernel/tile/cross.h"

/* A larger share of support examples does not repay the copies of the points. */
#define MOST_SUPPORT 0.7
/* The copies may take this share of the memory that is left. */
#define COPIES_SHARE 0.125

typedef struct division {
    int64_t count, support;
    int64_t *order; /* count: support examples, then the others */
} division;

static int is_zero(const double *values, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        if (values[j] != 0)
            return 0;
    return 1;
}

static void divide(const double *beta, int64_t k, division *d)
{
    int64_t other = d->count;

    for (int64_t i = d->count - 1; i >= 0; i--)
        if (is_zero(beta + i * k, k))
            d->order[--other] = i;
    d->support = 0;
    for (int64_t i = 0; i < d->count; i++)
        if (!is_zero(beta + i * k, k))
            d->order[d->support++] = i;
}

static int pays_off(const kfe_i_gram *gram, const kfe_i_points *points, const division *d, int64_t k)
{
    double bytes = 8.0 * (double)d->count * (double)(points->table.cols + 2 * k);

    return points->table.kind == KFE_TABLE_DENSE && d->support > 0 &&
           (double)d->support < MOST_SUPPORT * (double)d->count &&
           bytes < COPIES_SHARE * (double)kfe_i_memory_left(gram->ctx);
}

static void copy_rows(const double *from, const int64_t *index, int64_t count, int64_t k, double *to)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * k, from + index[i] * k, (size_t)k * sizeof *to);
}

static kfe_status multiply(const kfe_i_gram *gram, const kfe_i_kernel *kernel, const kfe_i_points *points,
                           const division *d, const double *beta, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    int64_t others = d->count - d->support;
    kfe_i_points support = {0};
    kfe_i_points other = {0};
    double *coefficients = NULL;
    double *product = NULL; /* of the support examples, then of the others */
    double *work = NULL;

    KFE_ALLOC(ctx, coefficients, d->support * k);
    KFE_ALLOC_ZERO(ctx, product, d->count * k);
    copy_rows(beta, d->order, d->support, k, coefficients);
    KFE_TRY(kfe_i_points_gather(ctx, points, d->order, d->support, &support));
    KFE_ALLOC_ZERO(ctx, work, kfe_i_self_times_work(ctx, kernel, &support, k));
    KFE_TRY(kfe_i_self_times(ctx, &(kfe_i_self_product){kernel, &support, {0, 1}, 0, {coefficients, k}}, 1,
                             product, work));
    if (others > 0) {
        KFE_TRY(kfe_i_points_gather(ctx, points, d->order + d->support, others, &other));
        kfe_i_free(ctx, work);
        work = NULL;
        KFE_ALLOC_ZERO(ctx, work, kfe_i_cross_times_work(ctx, kernel, &other, &support));
        KFE_TRY(kfe_i_cross_times(ctx, kernel, &other, &support,
                                  &(kfe_i_product){1, coefficients, k, product + d->support * k}, work));
    }
    for (int64_t i = 0; i < d->count; i++)
        memcpy(out + d->order[i] * k, product + i * k, (size_t)k * sizeof *out);
cleanup:
    kfe_i_points_free(&support);
    kfe_i_points_free(&other);
    kfe_i_free(ctx, coefficients);
    kfe_i_free(ctx, product);
    kfe_i_free(ctx, work);
    return status;
}

kfe_status kfe_i_tiled_times_sparse(const kfe_i_gram *gram, const double *beta, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    division d = {.count = gram->size};

    gram->form->tiles(gram, &kernel, &points);
    KFE_ALLOC(gram->ctx, d.order, d.count);
    divide(beta, k, &d);
    if (pays_off(gram, points, &d, k))
        KFE_TRY(multiply(gram, kernel, points, &d, beta, k, out));
    else
        KFE_TRY(kfe_i_gram_times(gram, beta, k, out));
cleanup:
    kfe_i_free(gram->ctx, d.order);
    return status;
}
