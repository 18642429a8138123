/* SPDX-License-Identifier: Apache-2.0 */
/* The training rows of splits, gathered once for all kernels of a search (train_rows.h). */
#include "select/train_rows.h"

#include <string.h>

#include "core/memory.h"
#include "select/fold.h"

/* The share of the memory that is left that the rows of all splits may take. */
#define KFE_KEPT_SHARE 0.125

/* ---- one split ---- */

kfe_status kfe_i_compact_classes(kfe_context *ctx, kfe_data *data, int32_t **old_code)
{
    kfe_status status = KFE_OK;

    *old_code = NULL;
    if (data->target.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC(ctx, *old_code, data->target.class_count);
    kfe_i_target_compact(&data->target, *old_code);
cleanup:
    return status;
}

kfe_status kfe_i_train_rows_make(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                 const kfe_i_split *split, kfe_i_train_rows *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_train_rows){0};
    KFE_TRY(kfe_i_fold_gather_train(ctx, data, spec, split, &out->data));
    KFE_TRY(kfe_i_compact_classes(ctx, out->data, &out->old_code));
cleanup:
    return status;
}

void kfe_i_train_rows_free(kfe_context *ctx, kfe_i_train_rows *rows)
{
    kfe_data_free(rows->data);
    kfe_i_free(ctx, rows->old_code);
    *rows = (kfe_i_train_rows){0};
}

kfe_status kfe_i_train_rows_target(kfe_context *ctx, const kfe_i_train_rows *rows, kfe_i_target *target,
                                   int32_t **old_code)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *source = &rows->data->target;
    int64_t *index = NULL;

    KFE_ALLOC(ctx, index, source->rows);
    for (int64_t i = 0; i < source->rows; i++)
        index[i] = i;
    KFE_TRY(kfe_i_target_gather(ctx, source, index, source->rows, target));
    if (rows->old_code) {
        KFE_ALLOC(ctx, *old_code, source->class_count);
        memcpy(*old_code, rows->old_code, (size_t)source->class_count * sizeof **old_code);
    }
cleanup:
    kfe_i_free(ctx, index);
    return status;
}

/* ---- all splits ---- */

/* Bytes of one row of the data, on average. */
static double row_bytes(const kfe_data *data)
{
    double sum = 0;

    for (int v = 0; v < data->view_count; v++) {
        const kfe_i_table *table = &data->views[v].table;
        double rows = table->rows > 0 ? (double)table->rows : 1;
        if (table->kind == KFE_TABLE_DENSE)
            sum += 8.0 * (double)table->cols;
        else
            sum += (double)table->row_start[table->rows] / rows * (table->kind == KFE_TABLE_CSR ? 12.0 : 1.0);
    }
    return sum;
}

static int are_few(kfe_context *ctx, const kfe_data *data, const kfe_i_splits *splits)
{
    double rows = 0;

    for (int64_t s = 0; s < splits->count; s++)
        rows += (double)splits->items[s].train_count;
    return rows * row_bytes(data) <= KFE_KEPT_SHARE * (double)kfe_i_memory_left(ctx);
}

static kfe_status has_given_kernel(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec, int *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    *out = 0;
    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, data, &kernels));
    for (int v = 0; v < data->view_count; v++)
        *out |= kfe_i_kernel_list_given(&kernels, v) > 0;
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

kfe_status kfe_i_train_cache_init(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                  const kfe_i_splits *splits, kfe_i_train_cache *out)
{
    kfe_status status = KFE_OK;
    int given = 0;

    *out = (kfe_i_train_cache){.ctx = ctx};
    KFE_TRY(has_given_kernel(ctx, data, spec, &given));
    if (given || !are_few(ctx, data, splits))
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->items, splits->count);
    out->count = splits->count;
cleanup:
    return status;
}

kfe_status kfe_i_train_cache_fill(kfe_i_train_cache *cache, const kfe_data *data, const kfe_spec *spec,
                                  const kfe_i_splits *splits, const int64_t *members, int64_t count)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; cache->items && m < count; m++) {
        kfe_i_train_rows *rows = &cache->items[members[m]];
        if (!rows->data)
            KFE_TRY(kfe_i_train_rows_make(cache->ctx, data, spec, &splits->items[members[m]], rows));
    }
cleanup:
    return status;
}

const kfe_i_train_rows *kfe_i_train_cache_at(const kfe_i_train_cache *cache, int64_t split)
{
    return cache->items && cache->items[split].data ? &cache->items[split] : NULL;
}

void kfe_i_train_cache_free(kfe_i_train_cache *cache)
{
    for (int64_t s = 0; cache->items && s < cache->count; s++)
        kfe_i_train_rows_free(cache->ctx, &cache->items[s]);
    if (cache->ctx)
        kfe_i_free(cache->ctx, cache->items);
    *cache = (kfe_i_train_cache){0};
}
