/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel matrix of a search on a device (shared.h): bases of its kernels, and the matrix that is mapped from them. subset.c has
 * the operators of its parts. */
#include "gram/device/shared_matrix.h"

#include <string.h>

#include "core/memory.h"
#include "gram/place.h"

static int is_mapped_from(const kfe_i_shared_term *term, const kfe_i_kernel *kernel,
                          const kfe_i_formula *formula)
{
    return term->points && term->view == kernel->view && term->formula.base == formula->base &&
           term->formula.term == formula->term;
}

static void free_term(const kfe_i_device *device, kfe_i_shared_term *term)
{
    if (term->points)
        device->table->points_free(device->handle, term->points);
    kfe_i_device_matrix_free(device, &term->base);
    *term = (kfe_i_shared_term){0};
}

static void free_terms(kfe_i_device_shared *shared)
{
    for (int64_t m = 0; m < shared->count; m++)
        free_term(shared->device, &shared->terms[m]);
    kfe_i_free(shared->ctx, shared->terms);
    shared->terms = NULL;
    shared->count = 0;
}

void kfe_i_device_shared_free(kfe_i_device_shared *shared)
{
    if (!shared)
        return;
    free_terms(shared);
    kfe_i_device_matrix_free(shared->device, &shared->values);
    kfe_i_free(shared->ctx, shared);
}

int kfe_i_device_shared_gave_up(const kfe_i_device_shared *shared)
{
    return shared->gave_up;
}

/* ---- filling ---- */

/* Dot products, distances or sums over coordinates of all pairs. */
static kfe_status make_term(kfe_i_device_shared *shared, const kfe_i_kernel *kernel,
                            const kfe_i_formula *formula, const kfe_i_table *table, kfe_i_shared_term *term,
                            kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    kfe_device_kernel plain = {.formula = *formula, .weight = 1};
    kfe_i_device *device = shared->device;

    free_term(device, term);
    plain.formula.map = KFE_KERNEL_NONE;
    term->formula = *formula;
    term->view = kernel->view;
    KFE_TRY(kfe_i_device_upload_points(device, table, formula, NULL, &term->points, result));
    if (*result == KFE_DEVICE_OK)
        *result = kfe_i_device_matrix_new(device, shared->size, shared->size, KFE_DEVICE_F64, &term->base);
    if (*result == KFE_DEVICE_OK) {
        kfe_device_range all = {term->points, 0, shared->size};
        *result = device->table->block(device->handle, &plain, all, all, &term->base, KFE_DEVICE_MIRROR);
    }
cleanup:
    return status;
}

/* values += weight·κ, in panels of rows. */
static kfe_device_status add_mapped(const kfe_i_device_shared *shared, const kfe_device_kernel *kernel,
                                    const kfe_i_shared_term *term)
{
    const kfe_i_device *device = shared->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix panel = {0};
    int64_t n = shared->size;
    int64_t step = kfe_i_device_panel_rows(n);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, step, n, KFE_DEVICE_F64, &panel));
    for (int64_t row = 0; row < n; row += step) {
        int64_t rows = n - row < step ? n - row : step;
        kfe_device_matrix mapped = kfe_device_part(panel, 0, rows, 0, n);
        kfe_device_matrix base = kfe_device_part(term->base, row, rows, 0, n);
        kfe_device_matrix to = kfe_device_part(shared->values, row, rows, 0, n);
        KFE_DEVICE_TRY(device->table->map(device->handle, kernel, &base,
                                          (kfe_device_range){term->points, row, rows},
                                          (kfe_device_range){term->points, 0, n}, &mapped));
        KFE_DEVICE_TRY(device->table->add(device->handle, 1, &mapped, 1, &to));
    }
cleanup:
    kfe_i_device_matrix_free(device, &panel);
    return status;
}

static kfe_status add_kernel(kfe_i_device_shared *shared, int64_t m, const kfe_i_kernel *kernel,
                             const kfe_i_table *table, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    kfe_device_kernel mapped = {kfe_i_kernel_formula(kernel), kernel->common.weight};
    kfe_i_shared_term *term = &shared->terms[m];

    if (!is_mapped_from(term, kernel, &mapped.formula))
        KFE_TRY(make_term(shared, kernel, &mapped.formula, table, term, result));
    if (*result != KFE_DEVICE_OK)
        return KFE_OK;
    if (m > 0) {
        *result = add_mapped(shared, &mapped, term);
    } else {
        kfe_device_range all = {term->points, 0, shared->size};
        *result = shared->device->table->map(shared->device->handle, &mapped, &term->base, all, all,
                                             &shared->values);
    }
cleanup:
    return status;
}

static kfe_status add_kernels(kfe_i_device_shared *shared, const kfe_i_kernel_list *kernels,
                              const kfe_i_table *views, kfe_device_status *result)
{
    kfe_status status = KFE_OK;

    if (shared->count != kernels->count) {
        free_terms(shared);
        KFE_ALLOC_ZERO(shared->ctx, shared->terms, kernels->count);
        shared->count = kernels->count;
    }
    if (!shared->values.address)
        *result = kfe_i_device_matrix_new(shared->device, shared->size, shared->size, KFE_DEVICE_F64,
                                          &shared->values);
    shared->device->stage = "computing the kernel matrix";
    for (int64_t m = 0; m < kernels->count && *result == KFE_DEVICE_OK; m++)
        KFE_TRY(add_kernel(shared, m, &kernels->items[m], &views[kernels->items[m].view], result));
cleanup:
    return status;
}

/* ---- calls ---- */

static int has_formulas(const kfe_i_kernel_list *kernels, const kfe_i_table *views)
{
    for (int64_t m = 0; m < kernels->count; m++)
        if (!kfe_i_kernel_has_formula(&kernels->items[m]) ||
            views[kernels->items[m].view].kind == KFE_TABLE_TEXT)
            return 0;
    return kernels->count > 0;
}

kfe_status kfe_i_device_shared_fits(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                    const kfe_i_table *views, int64_t rows, int *fits)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = NULL;
    double n = (double)rows;

    *fits = 0;
    KFE_TRY(kfe_i_choose_device(ctx, n * n, &device));
    if (!device || !has_formulas(kernels, views))
        return KFE_OK;
    double columns = 0;
    for (int64_t m = 0; m < kernels->count; m++)
        columns += (double)(3 * views[kernels->items[m].view].cols);
    *fits = 8 * n * (n * (double)(1 + kernels->count) + columns) <= kfe_i_device_room(device);
    if (!*fits)
        kfe_i_log(ctx, KFE_LOG_INFO,
                  "search: the kernel matrix of %lld examples does not fit in the memory of %s",
                  (long long)rows, device->name);
cleanup:
    return status;
}

kfe_status kfe_i_device_shared_fill(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                    const kfe_i_table *views, kfe_i_device_shared **shared)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;

    if (!*shared) {
        KFE_ALLOC_ZERO(ctx, *shared, 1);
        (*shared)->ctx = ctx;
        (*shared)->size = views[kernels->items[0].view].rows;
        KFE_TRY(
            kfe_i_choose_device(ctx, (double)(*shared)->size * (double)(*shared)->size, &(*shared)->device));
        kfe_i_log(ctx, KFE_LOG_INFO, "search: the kernel matrix of %lld examples is on %s for all splits",
                  (long long)(*shared)->size, (*shared)->device->name);
    }
    KFE_TRY(add_kernels(*shared, kernels, views, &result));
    if (result != KFE_DEVICE_OK && !kfe_i_device_gives_up((*shared)->device, result, "search"))
        KFE_TRY(kfe_i_device_status((*shared)->device, result));
cleanup:
    if (status != KFE_OK || result != KFE_DEVICE_OK) {
        kfe_i_device_shared_free(*shared);
        *shared = NULL;
    }
    return status;
}
