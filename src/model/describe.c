/* SPDX-License-Identifier: Apache-2.0 */
/* What a model says about its own fit: method, parameters, learner, options and kernels as given, views and classes. Called by kfe_i_fit_begin. */
#include "model/describe.h"

#include "core/intern.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/utf8.h"

static kfe_status copy_column_names(kfe_i_fit *job, const kfe_i_view *view, kfe_i_model_view *out)
{
    kfe_status status = KFE_OK;

    if (!view->column_names)
        return KFE_OK;
    KFE_ALLOC_ZERO(job->ctx, out->column_names, view->table.cols);
    for (int64_t j = 0; j < view->table.cols; j++) {
        KFE_STRDUP(job->ctx, out->column_names[j], view->column_names[j] ? view->column_names[j] : "");
        kfe_i_force_utf8(out->column_names[j]);
    }
cleanup:
    return status;
}

/* New data is matched by names, so that two columns of one name could be exchanged without a trace. */
static kfe_status warn_of_twins(kfe_i_fit *job, const kfe_i_view *view, int64_t cols, char *const *names)
{
    int64_t first = 0;
    int64_t second = 0;
    kfe_status status = kfe_i_find_twins(job->ctx, cols, (const char *const *)names, &first, &second);

    if (status == KFE_OK && second > 0)
        kfe_i_log(job->ctx, KFE_LOG_WARNING,
                  "%s: columns %lld and %lld are both called '%.100s'; data with these names will be "
                  "refused by the model, since it is not clear which is which: rename one of them, or "
                  "leave one out with {drop}",
                  kfe_i_view_shown(view), (long long)first + 1, (long long)second + 1, names[first]);
    return status;
}

static kfe_status copy_encoding(kfe_i_fit *job, const kfe_i_view *view, kfe_i_model_view *out)
{
    kfe_status status = kfe_i_encoding_copy(job->ctx, &view->encoding, &out->encoding);

    for (int64_t e = 0; status == KFE_OK && e < out->encoding.count; e++)
        if (out->encoding.columns[e].name)
            kfe_i_force_utf8(out->encoding.columns[e].name);
    return status;
}

static kfe_status describe_views(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < job->train->view_count; v++) {
        const kfe_i_view *view = &job->train->views[v];
        KFE_STRDUP(job->ctx, job->model->views[v].name, view->name);
        kfe_i_force_utf8(job->model->views[v].name); /* file names may be any bytes */
        job->model->views[v].cols = view->table.cols;
        KFE_TRY(copy_column_names(job, view, &job->model->views[v]));
        if (job->train->division.cols == 0)
            KFE_TRY(warn_of_twins(job, view, view->table.cols, job->model->views[v].column_names));
        job->model->views[v].strings = view->table.kind == KFE_TABLE_TEXT;
        if (view->encoding.count > 0)
            KFE_TRY(copy_encoding(job, view, &job->model->views[v]));
    }
cleanup:
    return status;
}

static kfe_status describe_target(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    const kfe_i_target *target = &job->train->target;

    model->target.task = target->task;
    if (target->task == KFE_TASK_CLASSES) {
        KFE_ALLOC_ZERO(job->ctx, model->target.class_names, target->class_count);
        for (; model->target.class_count < target->class_count; model->target.class_count++)
            KFE_STRDUP(job->ctx, model->target.class_names[model->target.class_count],
                       target->names[model->target.class_count]);
    }
cleanup:
    return status;
}

static kfe_status describe_learner(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *learner = job->spec->learner;
    kfe_i_text params;

    if (!learner)
        return KFE_OK;
    KFE_STRDUP(job->ctx, job->model->learner, learner->name);
    kfe_i_text_init(&params, job->ctx);
    kfe_i_params_format(&learner->params, job->spec->learner_settings, &params);
    KFE_TRY(kfe_i_text_take(&params, &job->model->learner_params));
cleanup:
    return status;
}

/* Options and kernels before the fit resolves them; `none` has kernels only if they are given. */
static kfe_status describe_given(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = job->spec;
    kfe_i_text options;

    kfe_i_text_init(&options, job->ctx);
    kfe_i_params_format(&kfe_i_fit_params, &spec->fit, &options);
    KFE_TRY(kfe_i_text_take(&options, &job->model->given.options));
    if (spec->kernels.count > 0 || spec->method->flags & KFE_HAS_KERNELS)
        KFE_TRY(kfe_i_kernel_list_copy(job->ctx, &job->kernels, &job->model->given.kernels));
cleanup:
    return status;
}

kfe_status kfe_i_fit_describe(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_text params;

    KFE_TRY(kfe_i_model_new(job->ctx, job->train->view_count, &job->model));
    KFE_STRDUP(job->ctx, job->model->method, job->spec->method->name);
    KFE_STRDUP(job->ctx, job->model->origin.version, KFE_VERSION);
    kfe_i_text_init(&params, job->ctx);
    kfe_i_params_format(&job->spec->method->params, job->spec->settings, &params);
    KFE_TRY(kfe_i_text_take(&params, &job->model->params));
    KFE_TRY(describe_learner(job));
    KFE_TRY(describe_given(job));
    job->model->origin.train_rows = kfe_data_rows(job->train);
    job->model->origin.label_place = job->train->label_place;
    if (job->train->target_name)
        KFE_STRDUP(job->ctx, job->model->origin.label_name, job->train->target_name);
    if (job->train->id_name && !job->train->ids_are_numbers) {
        KFE_STRDUP(job->ctx, job->model->origin.id_name, job->train->id_name);
        kfe_i_force_utf8(job->model->origin.id_name);
    }
    KFE_TRY(describe_views(job));
    if (job->train->division.cols > 0) {
        const kfe_i_division *division = &job->train->division;
        KFE_TRY(kfe_i_division_copy(job->ctx, division, &job->model->division));
        KFE_TRY(warn_of_twins(job, &job->train->views[0], division->cols, division->names));
    }
    KFE_TRY(describe_target(job));
cleanup:
    return status;
}
