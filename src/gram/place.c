/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses between the context's device and the CPU. Nothing else does, so that code on one CPU runs no code of devices. */
#include "gram/place.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "gram/device/expand.h"
#include "gram/device/gradient.h"
#include "kernel/expansion.h"
#include "kernel/few.h"

kfe_status kfe_i_choose_device(kfe_context *ctx, double work, kfe_i_device **out)
{
    *out = NULL;
    return kfe_i_wants_device(ctx, work) ? kfe_i_device_get(ctx, out) : KFE_OK;
}

/* ---- features ---- */

static int suits_expansion(const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                           const kfe_i_table *supports)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        int view = kernels->items[m].view;
        if (!kfe_i_kernel_has_formula(&kernels->items[m]) || views[view].kind == KFE_TABLE_TEXT)
            return 0;
        if (views[view].rows == 0 || supports[view].rows == 0)
            return 0;
    }
    return kernels->count > 0 && !kfe_i_few_suits(kernels, views, supports);
}

kfe_status kfe_i_expand_anywhere(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                 const kfe_i_table *supports, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;
    int done = 0;

    if (k > 0 && suits_expansion(kernels, views, supports))
        KFE_TRY(kfe_i_choose_device(
            ctx, (double)views[kernels->items[0].view].rows * (double)supports[kernels->items[0].view].rows,
            &device));
    if (device)
        KFE_TRY(kfe_i_device_expand(device, kernels, views, supports, v, k, out, &done));
    if (!done)
        KFE_TRY(kfe_i_expand(ctx, kernels, views, supports, v, k, out));
cleanup:
    return status;
}

static int is_zero(const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (values[i] != 0)
            return 0;
    return 1;
}

kfe_status kfe_i_expand_by_view(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                const kfe_i_table *supports, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t size = views[0].rows * k;
    double *part = NULL;

    KFE_ALLOC(ctx, part, size);
    memset(out, 0, (size_t)size * sizeof *out);
    for (int64_t m = 0; m < kernels->count;) {
        kfe_i_kernel_list own = {.ctx = ctx, .items = kernels->items + m};
        int view = own.items[0].view;
        int64_t block = supports[view].rows * k;
        while (m < kernels->count && kernels->items[m].view == view)
            own.count = ++m - (own.items - kernels->items);
        if (is_zero(v + view * block, block))
            continue; /* the features do not depend on this view */
        KFE_TRY(kfe_i_expand_anywhere(ctx, &own, views, supports, v + view * block, k, part));
        cblas_daxpy((blasint)size, 1, part, 1, out, 1);
    }
cleanup:
    kfe_i_free(ctx, part);
    return status;
}

/* ---- gradients ---- */

static int suits_gradients(const kfe_i_expansion_sum *f, const kfe_i_table *rows)
{
    for (int64_t m = 0; m < f->kernels->count; m++)
        if (!f->kernels->items[m].def->slope ||
            f->kernels->items[m].def->base != f->kernels->items[0].def->base)
            return 0;
    return f->kernels->count > 0 && f->k > 0 && rows->cols > 0 && rows->kind == KFE_TABLE_DENSE &&
           f->support->kind == KFE_TABLE_DENSE;
}

kfe_status kfe_i_agop_anywhere(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                               int diagonal, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;
    int done = 0;

    if (suits_gradients(f, rows))
        KFE_TRY(kfe_i_choose_device(ctx, (double)rows->rows * (double)f->support->rows, &device));
    if (device)
        KFE_TRY(kfe_i_device_agop(device, f, rows, diagonal, out, &done));
    if (!done)
        KFE_TRY(kfe_i_agop(ctx, f, rows, diagonal, out));
cleanup:
    return status;
}
