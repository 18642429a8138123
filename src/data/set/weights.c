/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of examples: how many examples each row counts for. Set by hosts and by {weight}; used by fits and metrics. */
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "data/set/encode.h"

kfe_status kfe_data_set_weights(kfe_context *ctx, kfe_data *data, const double *weights)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    double *copy = NULL;

    if (weights) {
        KFE_TRY(kfe_i_weights_check(ctx, rows, weights));
        KFE_ALLOC(ctx, copy, rows);
        memcpy(copy, weights, (size_t)rows * sizeof *copy);
    }
    kfe_i_free(data->ctx, data->target.weights);
    data->target.weights = copy;
    data->target.ctx = data->ctx; /* data without a target has weights too */
    KFE_TRY(kfe_i_data_drop_weightless_categories(ctx, data));
cleanup:
    return status;
}

const double *kfe_data_weights(const kfe_data *data)
{
    return data->target.weights;
}

kfe_status kfe_data_take_weights(kfe_context *ctx, kfe_data *data, const char *column)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &data->views[0].table;
    double *weights = NULL;
    int64_t at = 0;

    KFE_TRY(kfe_i_data_find_column(ctx, data, "weight", column, &at));
    KFE_ALLOC(ctx, weights, table->rows);
    for (int64_t i = 0; i < table->rows; i++)
        weights[i] = kfe_i_table_value(table, i, at);
    KFE_TRY(kfe_data_set_weights(ctx, data, weights));
    KFE_TRY(kfe_i_data_remove_column(ctx, data, "weight", at));
cleanup:
    kfe_i_free(ctx, weights);
    return status;
}

kfe_status kfe_i_data_copy_target(kfe_context *ctx, const kfe_data *data, kfe_data *out)
{
    *out = *data;
    memset(&out->target, 0, sizeof out->target);
    return kfe_i_target_gather(ctx, &data->target, NULL, kfe_data_rows(data), &out->target);
}

/* The first class with a row that counts, or −1; used: whether each class has one. Returns how many have none. */
static int64_t find_used(const kfe_i_target *target, unsigned char *used, int32_t *first)
{
    int64_t unused = target->class_count;

    *first = -1;
    for (int64_t i = 0; i < target->rows; i++)
        if (target->weights[i] > 0 && !used[target->codes[i]]) {
            used[target->codes[i]] = 1;
            unused--;
            *first = *first < 0 ? target->codes[i] : *first;
        }
    return unused;
}

kfe_status kfe_i_data_forget_classes(kfe_context *ctx, const kfe_data *data, kfe_data *own,
                                     const kfe_data **counted)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &data->target;
    unsigned char *used = NULL;
    int32_t *old_code = NULL;
    int32_t first = -1;

    *counted = data;
    if (!target->weights || target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, used, target->class_count);
    if (find_used(target, used, &first) == 0 || first < 0)
        goto cleanup;
    KFE_ALLOC(ctx, old_code, target->class_count);
    KFE_TRY(kfe_i_data_copy_target(ctx, data, own));
    for (int64_t i = 0; i < target->rows; i++) /* such rows are in no part of a split */
        if (!used[target->codes[i]])
            own->target.codes[i] = first;
    kfe_i_target_compact(&own->target, old_code);
    *counted = own;
cleanup:
    kfe_i_free(ctx, used);
    kfe_i_free(ctx, old_code);
    return status;
}

kfe_status kfe_i_data_drop_weightless(kfe_context *ctx, const kfe_data *data, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    int64_t *kept = NULL;
    int64_t count = 0;

    *out = NULL;
    KFE_ALLOC(ctx, kept, rows);
    for (int64_t i = 0; i < rows; i++)
        if (kfe_i_weight_of(&data->target, i) > 0)
            kept[count++] = i;
    if (count == rows)
        goto cleanup;
    KFE_TRY(kfe_data_take(ctx, data, count, kept, out));
    KFE_TRY(kfe_i_data_copy_label_place(ctx, data, *out));
    kept[count] = rows;
    for (int64_t k = 0; data->row_numbers && k <= count; k++)
        kept[k] = data->row_numbers[kept[k]];
    (*out)->row_numbers = kept;
    (*out)->ids_are_numbers = data->ids_are_numbers;
    kept = NULL;
cleanup:
    kfe_i_free(ctx, kept);
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    return status;
}
