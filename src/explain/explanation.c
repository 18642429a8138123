/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an explanation and the labels that they share; called by every part of explain/. */
#include "core/memory.h"
#include "explain/explain.h"
#include "model/linear.h"

/* ---- building ---- */

kfe_status kfe_i_explanation_axis(kfe_i_explanation *e, const char *name, int64_t count, int *out)
{
    kfe_status status = KFE_OK;

    KFE_GROW(e->ctx, e->axes, e->axis_capacity, e->axis_count + 1);
    e->axes[e->axis_count] = (kfe_i_labels){.name = name, .count = count};
    *out = (int)e->axis_count++;
cleanup:
    return status;
}

/* Room for labels on the newest axis. */
static kfe_status label_axis(kfe_i_explanation *e, int axis)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(e->ctx, e->axes[axis].labels, e->axes[axis].count);
cleanup:
    return status;
}

kfe_status kfe_i_explanation_words(kfe_i_explanation *e, const char *name, int64_t count,
                                   const char *const *labels, int *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_explanation_axis(e, name, count, out));
    KFE_TRY(label_axis(e, *out));
    for (int64_t i = 0; i < count; i++)
        KFE_STRDUP(e->ctx, e->axes[*out].labels[i], labels[i]);
cleanup:
    return status;
}

kfe_status kfe_i_explanation_add(kfe_i_explanation *e, const char *name, const char *about, int row_axis,
                                 int col_axis, double **values)
{
    return kfe_i_result_matrix(e->result, name, about, &e->axes[row_axis], &e->axes[col_axis], values);
}

void kfe_i_explanation_free(kfe_i_explanation *e)
{
    for (int64_t a = 0; a < e->axis_count; a++)
        if (e->axes[a].labels)
            kfe_i_strings_free(e->ctx, e->axes[a].count, e->axes[a].labels);
    kfe_i_free(e->ctx, e->axes);
    kfe_result_free(e->result);
}

/* ---- axes of the model ---- */

/* "name", "view.name", "column 3" or "view.column 3" */
static kfe_status column_label(kfe_i_explaining *job, int v, int64_t j, char **out)
{
    const kfe_i_model_view *view = &job->model->views[v];
    kfe_i_text text;

    kfe_i_text_init(&text, job->ctx);
    if (job->model->view_count > 1)
        kfe_i_text_printf(&text, "%s.", view->name);
    if (view->column_names && *view->column_names[j])
        kfe_i_text_puts(&text, view->column_names[j]);
    else
        kfe_i_text_printf(&text, "column %lld", (long long)j + 1);
    return kfe_i_text_take(&text, out);
}

kfe_status kfe_i_column_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;
    int64_t position = 0;

    if (job->column_axis < 0) {
        KFE_TRY(
            kfe_i_explanation_axis(job->out, "column", kfe_i_model_all_cols(job->model), &job->column_axis));
        KFE_TRY(label_axis(job->out, job->column_axis));
        for (int v = 0; v < job->model->view_count; v++)
            for (int64_t j = 0; j < job->model->views[v].cols; j++)
                KFE_TRY(column_label(job, v, j, &job->out->axes[job->column_axis].labels[position++]));
    }
    *out = job->column_axis;
cleanup:
    return status;
}

kfe_status kfe_i_component_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;

    if (job->component_axis < 0)
        KFE_TRY(kfe_i_explanation_axis(job->out, "feature", job->model->dim, &job->component_axis));
    *out = job->component_axis;
cleanup:
    return status;
}

kfe_status kfe_i_output_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = job->model;

    if (job->output_axis < 0) {
        KFE_TRY(kfe_i_explanation_axis(job->out, "output", model->predictor.outputs, &job->output_axis));
        KFE_TRY(label_axis(job->out, job->output_axis));
        for (int64_t o = 0; o < model->predictor.outputs; o++)
            KFE_TRY(kfe_i_output_name(job->ctx, model, o, &job->out->axes[job->output_axis].labels[o]));
    }
    *out = job->output_axis;
cleanup:
    return status;
}

kfe_status kfe_i_target_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_model_target *target = &job->model->target;

    if (job->target_axis < 0 && target->task == KFE_TASK_CLASSES)
        KFE_TRY(kfe_i_explanation_words(job->out, "target", target->class_count,
                                        (const char *const *)target->class_names, &job->target_axis));
    else if (job->target_axis < 0)
        KFE_TRY(kfe_i_explanation_axis(job->out, "target", job->model->moments.targets, &job->target_axis));
    *out = job->target_axis;
cleanup:
    return status;
}

/* Rows of the data are named by their ids, if they have any. */
static kfe_status label_examples(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *ids = &job->data->ids;
    kfe_i_labels *axis = &job->out->axes[job->example_axis];

    if (ids->rows != axis->count || ids->kind != KFE_TABLE_TEXT)
        return KFE_OK;
    KFE_TRY(label_axis(job->out, job->example_axis));
    for (int64_t i = 0; i < axis->count; i++) {
        size_t length = (size_t)(ids->row_start[i + 1] - ids->row_start[i]);
        KFE_CHECK_ALLOC_BY(job->ctx, axis->labels[i],
                           kfe_i_strndup(job->ctx, ids->bytes + ids->row_start[i], length));
    }
cleanup:
    return status;
}

kfe_status kfe_i_example_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;

    if (job->example_axis < 0) {
        KFE_TRY(kfe_i_explanation_axis(job->out, "example", kfe_data_rows(job->data), &job->example_axis));
        KFE_TRY(label_examples(job));
    }
    *out = job->example_axis;
cleanup:
    return status;
}
