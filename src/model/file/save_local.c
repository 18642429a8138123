/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the localized projector of a model (lmkl, sldr); called by save.c. */
#include <stdio.h>

#include "model/file/saving.h"

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

static void add_part_entry(kfe_i_json *json, const kfe_i_local_part *part)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_boolean(json, "mapped", part->mapped);
    kfe_i_json_integer(json, "columns", part->cols);
    kfe_i_json_integer(json, "dim", part->dim);
    kfe_i_json_end(json);
}

static kfe_status set_description(kfe_i_safetensors *file, const kfe_i_local *local)
{
    kfe_i_json json;
    char shows[32] = "";

    kfe_i_word_at(KFE_LOCAL_FEATURE_WORDS, local->shows, shows, sizeof shows);
    kfe_i_json_init(&json, file->ctx, 0);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "features", shows);
    kfe_i_json_integer(&json, "gate_dim", local->gate_dim);
    kfe_i_json_integer(&json, "rows", local->rows);
    kfe_i_json_integer(&json, "outputs", local->outputs);
    kfe_i_json_array(&json, "parts");
    for (int64_t m = 0; m < local->part_count; m++)
        add_part_entry(&json, &local->parts[m]);
    kfe_i_json_end(&json);
    kfe_i_json_end(&json);
    return kfe_i_set_json(file, "local", &json);
}

kfe_status kfe_i_save_local(kfe_i_safetensors *file, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const kfe_i_local *local = model->local;

    if (!local)
        return KFE_OK;
    for (int64_t m = 0; m < local->part_count; m++)
        KFE_TRY(add_projection(file, local, m));
    KFE_TRY(add_numbers(file, local));
    KFE_TRY(set_description(file, local));
cleanup:
    return status;
}
