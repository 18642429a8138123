/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the localized projector of a model (lmkl, sldr); called by load.c. All shapes are checked against the
 * kernels and the views, so that using it needs no checks. */
#include <stdio.h>

#include "core/memory.h"
#include "model/file/loading.h"

static int64_t count_of(const kfe_i_json_value *entry, const char *key)
{
    int64_t value = kfe_i_json_get_integer(entry, key);
    return value >= 1 && value <= INT32_MAX ? value : 0;
}

/* Columns of a part are those of its view, or as many as there are landmarks. */
static kfe_status load_shape(kfe_i_loading *job, const kfe_i_json_value *entry, int64_t m)
{
    const kfe_i_kernel *kernel = &job->model->kernels.items[m];
    const kfe_i_model_view *view = &job->model->views[kernel->view];
    kfe_i_local_part *part = &job->model->local->parts[m];
    int needs_map = kernel->def->base == KFE_BASE_GIVEN || kernel->def->base == KFE_BASE_STRING;

    part->mapped = kfe_i_json_get_true(entry, "mapped");
    part->cols = count_of(entry, "columns");
    part->dim = count_of(entry, "dim");
    int64_t columns = kfe_i_map_cols(&view->scaler.map, view->cols);
    if (part->dim < 1 || part->cols != (part->mapped ? job->model->origin.train_rows : columns) ||
        (needs_map && !part->mapped))
        return kfe_i_damaged(job, "local");
    return KFE_OK;
}

static kfe_status load_part(kfe_i_loading *job, int64_t m)
{
    kfe_status status = KFE_OK;
    kfe_i_local *local = job->model->local;
    kfe_i_local_part *part = &local->parts[m];
    char prefix[32];
    char name[64];

    snprintf(prefix, sizeof prefix, "part%lld", (long long)m);
    snprintf(name, sizeof name, "%s.projection", prefix);
    KFE_TRY(kfe_i_take_reals(job, name, part->cols * part->dim, !part->mapped, &part->projection));
    if (!part->projection && part->dim != part->cols)
        return kfe_i_damaged(job, name);
    snprintf(name, sizeof name, "%s.gating", prefix);
    KFE_TRY(kfe_i_take_reals(job, name, part->cols * local->gate_dim, 1, &part->gating));
    KFE_TRY(kfe_i_take_support(job, prefix, 0, local->rows, part->dim, &part->support));
cleanup:
    return status;
}

static kfe_status load_description(kfe_i_loading *job, const kfe_i_json_value *entry)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    int64_t m = 0;
    const kfe_i_json_value *parts = kfe_i_json_get(entry, "parts");
    const char *shows = kfe_i_json_get_text(entry, "features");

    if (!shows || kfe_i_word_index(KFE_LOCAL_FEATURE_WORDS, shows) < 0 ||
        !kfe_i_json_is(parts, KFE_JSON_ARRAY) || parts->count != model->kernels.count)
        return kfe_i_damaged(job, "local");
    KFE_TRY(kfe_i_local_new(job->ctx, model->kernels.count, &model->local));
    model->local->shows = kfe_i_word_index(KFE_LOCAL_FEATURE_WORDS, shows);
    model->local->gate_dim = count_of(entry, "gate_dim");
    model->local->rows = count_of(entry, "rows");
    model->local->outputs = count_of(entry, "outputs");
    if (!model->local->gate_dim || !model->local->rows || !model->local->outputs)
        return kfe_i_damaged(job, "local");
    for (const kfe_i_json_value *part = parts->first; part; part = part->next)
        KFE_TRY(load_shape(job, part, m++));
cleanup:
    return status;
}

static kfe_status load_numbers(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_local *local = job->model->local;

    KFE_TRY(
        kfe_i_take_reals(job, "gate.weights", local->gate_dim * local->part_count, 1, &local->gate_weights));
    if (!local->gate_weights && local->gate_dim != local->part_count)
        return kfe_i_damaged(job, "gate.weights");
    KFE_TRY(kfe_i_take_reals(job, "gate.offset", local->part_count, 0, &local->gate_offset));
    KFE_TRY(kfe_i_take_reals(job, "local.weights", local->rows * local->outputs, 0, &local->weights));
    KFE_TRY(kfe_i_take_reals(job, "local.offset", local->outputs, 0, &local->offset));
    KFE_TRY(kfe_i_take_reals(job, "local.shares", local->rows * local->part_count, 0, &local->shares));
cleanup:
    return status;
}

kfe_status kfe_i_load_local(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    kfe_i_json_tree entry = {0};
    void *index = NULL;

    KFE_TRY(kfe_i_take_json(job, "local", KFE_JSON_OBJECT, &entry));
    KFE_TRY(load_description(job, entry.root));
    for (int64_t m = 0; m < model->local->part_count; m++)
        KFE_TRY(load_part(job, m));
    KFE_TRY(load_numbers(job));
    model->rows = model->local->rows;
    model->dim = kfe_i_local_dim(model->local);
    KFE_TRY(kfe_i_take_tensor(job, "support.index", KFE_DTYPE_I64, model->rows, 1, &index));
    model->support_index = index;
cleanup:
    kfe_i_json_tree_free(&entry);
    return status;
}
