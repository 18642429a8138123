/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an explanation and the labels that they share; called by every part of explain/. */
#include "core/memory.h"
#include "explain/explain.h"
#include "model/chain_views.h"
#include "model/linear.h"

/* ---- building ---- */

kfe_status kfe_i_explain_begin(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_result_new(job->ctx, &job->result));
    job->result->has_matrices = 1;
    KFE_GROW(job->ctx, job->axes, job->axis_capacity, KFE_MODEL_AXES);
    for (; job->axis_count < KFE_MODEL_AXES; job->axis_count++)
        job->axes[job->axis_count] = (kfe_i_labels){0};
cleanup:
    return status;
}

void kfe_i_explain_free(kfe_i_explaining *job)
{
    for (int64_t a = 0; a < job->axis_count; a++)
        if (job->axes[a].labels)
            kfe_i_strings_free(job->ctx, job->axes[a].count, job->axes[a].labels);
    kfe_i_free(job->ctx, job->axes);
    kfe_result_free(job->result);
}

/* Labels are copied into an axis that has none. */
static kfe_status set_labels(kfe_context *ctx, kfe_i_labels *axis, const char *const *labels)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, axis->labels, axis->count);
    for (int64_t i = 0; i < axis->count; i++)
        KFE_STRDUP(ctx, axis->labels[i], labels[i]);
cleanup:
    return status;
}

kfe_status kfe_i_explain_axis(kfe_i_explaining *job, const char *name, int64_t count,
                              const char *const *labels, int *out)
{
    kfe_status status = KFE_OK;

    KFE_GROW(job->ctx, job->axes, job->axis_capacity, job->axis_count + 1);
    *out = (int)job->axis_count++;
    job->axes[*out] = (kfe_i_labels){.name = name, .count = count};
    if (labels)
        KFE_TRY(set_labels(job->ctx, &job->axes[*out], labels));
cleanup:
    return status;
}

/* Without steps, prepared columns are the columns. */
static int own_axis(const kfe_i_explaining *job, int axis)
{
    return axis == KFE_BY_PREPARED && !kfe_i_model_prepares(job->model) ? KFE_BY_COLUMN : axis;
}

kfe_status kfe_i_explain_table(kfe_i_explaining *job, const char *name, const char *about, int rows, int cols,
                               double **values)
{
    kfe_status status = KFE_OK;

    rows = own_axis(job, rows);
    cols = own_axis(job, cols);
    KFE_TRY(kfe_i_explain_model_axis(job, rows));
    KFE_TRY(kfe_i_explain_model_axis(job, cols));
    KFE_TRY(kfe_i_result_matrix(job->result, name, about, &job->axes[rows], &job->axes[cols], values));
cleanup:
    return status;
}

/* ---- axes of the model ---- */

kfe_status kfe_i_explain_column_label(const kfe_i_explaining *job, int v, int64_t j, const char *name,
                                      char **out)
{
    const kfe_i_model_view *view = &job->model->views[v];
    kfe_i_text text;

    kfe_i_text_init(&text, job->ctx);
    if (job->model->view_count > 1)
        kfe_i_text_printf(&text, "%s.", view->name);
    if (name && *name)
        kfe_i_text_puts(&text, name);
    else
        kfe_i_text_printf(&text, "column %lld", (long long)j + 1);
    return kfe_i_text_take(&text, out);
}

static kfe_status label_columns(const kfe_i_explaining *job, kfe_i_labels *axis)
{
    kfe_status status = KFE_OK;
    int64_t position = 0;

    KFE_ALLOC_ZERO(job->ctx, axis->labels, axis->count);
    for (int v = 0; v < job->model->view_count; v++)
        for (int64_t j = 0; j < job->model->views[v].cols; j++)
            KFE_TRY(kfe_i_explain_column_label(job, v, j, kfe_model_column_name(job->model, v, j),
                                               &axis->labels[position++]));
cleanup:
    return status;
}

static kfe_status label_prepared(const kfe_i_explaining *job, kfe_i_labels *axis)
{
    kfe_status status = KFE_OK;
    int64_t position = 0;

    KFE_ALLOC_ZERO(job->ctx, axis->labels, axis->count);
    for (int v = 0; v < job->model->view_count; v++) {
        const kfe_i_model_view *view = &job->model->views[v];
        for (int64_t j = 0; j < kfe_i_view_prepared_cols(view); j++)
            KFE_TRY(kfe_i_explain_column_label(job, v, j, kfe_i_view_prepared_name(view, j),
                                               &axis->labels[position++]));
    }
cleanup:
    return status;
}

/* Without names of their own, features are numbers. */
static kfe_status label_features(const kfe_i_explaining *job, kfe_i_labels *axis)
{
    kfe_status status = KFE_OK;

    if (!kfe_i_features_have_names(job->model))
        return KFE_OK;
    KFE_ALLOC_ZERO(job->ctx, axis->labels, axis->count);
    for (int64_t j = 0; j < axis->count; j++) {
        char name[KFE_FEATURE_NAME];
        kfe_i_feature_name(job->model, j, name, sizeof name);
        KFE_STRDUP(job->ctx, axis->labels[j], name);
    }
cleanup:
    return status;
}

static kfe_status label_outputs(const kfe_i_explaining *job, kfe_i_labels *axis)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(job->ctx, axis->labels, axis->count);
    for (int64_t o = 0; o < axis->count; o++)
        KFE_TRY(kfe_i_output_name(job->ctx, job->model, o, &axis->labels[o]));
cleanup:
    return status;
}

/* Rows of the data are named by their ids, if they have any. */
static kfe_status label_examples(const kfe_i_explaining *job, kfe_i_labels *axis)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *ids = &job->data->ids;

    if (ids->rows != axis->count || ids->kind != KFE_TABLE_TEXT)
        return KFE_OK;
    KFE_ALLOC_ZERO(job->ctx, axis->labels, axis->count);
    for (int64_t i = 0; i < axis->count; i++) {
        size_t length = (size_t)(ids->row_start[i + 1] - ids->row_start[i]);
        KFE_CHECK_ALLOC_BY(job->ctx, axis->labels[i],
                           kfe_i_strndup(job->ctx, ids->bytes + ids->row_start[i], length));
    }
cleanup:
    return status;
}

kfe_status kfe_i_explain_model_axis(kfe_i_explaining *job, int which)
{
    const kfe_model *model = job->model;
    const kfe_i_model_target *target = &model->target;
    kfe_i_labels *axis = &job->axes[which];

    if (axis->name)
        return KFE_OK;
    switch (which) {
    case KFE_BY_COLUMN:
        *axis = (kfe_i_labels){.name = "column", .count = kfe_i_model_all_cols(model)};
        return label_columns(job, axis);
    case KFE_BY_PREPARED:
        *axis = (kfe_i_labels){.name = "column", .count = kfe_i_model_prepared_cols(model)};
        return label_prepared(job, axis);
    case KFE_BY_FEATURE:
        *axis = (kfe_i_labels){.name = "feature", .count = model->dim};
        return label_features(job, axis);
    case KFE_BY_OUTPUT:
        *axis = (kfe_i_labels){.name = "output", .count = model->predictor.outputs};
        return label_outputs(job, axis);
    case KFE_BY_TARGET:
        *axis = (kfe_i_labels){.name = "target", .count = model->moments.targets};
        if (target->task != KFE_TASK_CLASSES)
            return KFE_OK;
        axis->count = target->class_count;
        return set_labels(job->ctx, axis, (const char *const *)target->class_names);
    default:
        *axis = (kfe_i_labels){.name = "example", .count = kfe_data_rows(job->data)};
        return label_examples(job, axis);
    }
}
