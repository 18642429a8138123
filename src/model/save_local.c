/* SPDX-License-Identifier: Apache-2.0 */
/* A localized projector into the model file. */
#include <stdio.h>

#include "model/saving.h"

static kfe_status add_projection(kfe_i_safetensors *file, const kfe_i_local *local, int64_t m)
{
    kfe_status status = KFE_OK;
    const kfe_i_local_part *part = &local->parts[m];
    char prefix[32];

    snprintf(prefix, sizeof prefix, "part%lld", (long long)m);
    if (part->projection)
        KFE_TRY(kfe_i_add_part(file, prefix, "projection", KFE_DTYPE_F64, part->cols, part->dim,
                               part->projection));
    if (part->gating)
        KFE_TRY(
            kfe_i_add_part(file, prefix, "gating", KFE_DTYPE_F64, part->cols, local->gate_dim, part->gating));
    KFE_TRY(kfe_i_add_support(file, prefix, &part->support));
cleanup:
    return status;
}

static kfe_status add_numbers(kfe_i_safetensors *file, const kfe_i_local *local)
{
    kfe_status status = KFE_OK;

    if (local->gate_weights)
        KFE_TRY(kfe_i_add_part(file, "gate", "weights", KFE_DTYPE_F64, local->gate_dim, local->part_count,
                               local->gate_weights));
    KFE_TRY(kfe_i_add_part(file, "gate", "offset", KFE_DTYPE_F64, local->part_count, -1, local->gate_offset));
    KFE_TRY(
        kfe_i_add_part(file, "local", "weights", KFE_DTYPE_F64, local->rows, local->outputs, local->weights));
    KFE_TRY(kfe_i_add_part(file, "local", "offset", KFE_DTYPE_F64, local->outputs, -1, local->offset));
    KFE_TRY(kfe_i_add_part(file, "local", "shares", KFE_DTYPE_F64, local->rows, local->part_count,
                           local->shares));
cleanup:
    return status;
}

static json_t *part_list(const kfe_i_local *local)
{
    json_t *list = json_array();

    for (int64_t m = 0; m < local->part_count; m++)
        json_array_append_new(list, json_pack("{s:b, s:I, s:I}", "mapped", local->parts[m].mapped, "columns",
                                              (json_int_t)local->parts[m].cols, "dim",
                                              (json_int_t)local->parts[m].dim));
    return list;
}

kfe_status kfe_i_save_local(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;
    char shows[32] = "";

    if (!local)
        return KFE_OK;
    for (int64_t m = 0; m < local->part_count; m++)
        KFE_TRY(add_projection(file, local, m));
    KFE_TRY(add_numbers(file, local));
    kfe_i_word_at(KFE_LOCAL_FEATURE_WORDS, local->shows, shows, sizeof shows);
    KFE_TRY(kfe_i_set_json(file, "local",
                           json_pack("{s:s, s:I, s:I, s:I, s:o}", "features", shows, "gate_dim",
                                     (json_int_t)local->gate_dim, "rows", (json_int_t)local->rows, "outputs",
                                     (json_int_t)local->outputs, "parts", part_list(local))));
cleanup:
    return status;
}
