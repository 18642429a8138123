/* SPDX-License-Identifier: Apache-2.0 */
/* The road, walked once: check the data, scale it, open the Gram operator, run the method, build the model.
 */
#include <math.h>
#include <string.h>

#include "api/spec.h"
#include "core/memory.h"
#include "data/utf8.h"
#include "model/model.h"

/* What a fit holds on the way. */
typedef struct fit_job {
    kfe_context *ctx;
    const kfe_spec *spec;
    const kfe_data *train;
    kfe_model *model;
    kfe_i_table *scaled; /* one per view */
    kfe_i_kernel_list kernels;
    kfe_i_gram *gram;
    kfe_i_solution solution;
} fit_job;

/* ---- is this data for this method? ---- */

static kfe_status check_target(kfe_context *ctx, const kfe_i_method *method, const kfe_data *train)
{
    const char *name = method->name;

    if (!(method->flags & KFE_HAS_SUPERVISION))
        return KFE_OK;
    if (train->target.task == KFE_TASK_NONE)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "method %s needs labels, and the data has none; see --label and --label-file",
                          name);
    if (train->target.task == KFE_TASK_REAL && !(method->flags & KFE_HAS_REGRESSION))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "method %s needs class labels, but the target was taken for a real number; if it is a class, "
            "say --task classify",
            name);
    if (train->target.task == KFE_TASK_CLASSES && train->target.class_count < 2)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "method %s needs at least two classes, but every example is of class '%s'", name,
                          train->target.names[0]);
    return KFE_OK;
}

static kfe_status check_view(kfe_context *ctx, const kfe_i_view *view)
{
    int64_t row = 0;
    int64_t col = 0;

    if (view->table.cols < 1)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: the data has no feature columns; if none is a label, say --label none",
                          view->name);
    if (kfe_i_table_find_nonfinite(&view->table, &row, &col))
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: row %lld, column %lld is not a finite number", view->name,
                          (long long)row + 1, (long long)col + 1);
    return KFE_OK;
}

static kfe_status check_data(const fit_job *job)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = job->ctx;
    const kfe_i_method *method = job->spec->method;

    if (kfe_data_rows(job->train) < 1)
        KFE_FAIL(ctx, KFE_EINPUT, "there are no examples to fit on");
    if (job->train->view_count > 1 && !(method->flags & KFE_HAS_MULTIVIEW))
        KFE_FAIL(ctx, KFE_EINPUT, "method %s takes one table, but %d were given", method->name,
                 job->train->view_count);
    for (int v = 0; v < job->train->view_count; v++)
        KFE_TRY(check_view(ctx, &job->train->views[v]));
    KFE_TRY(check_target(ctx, method, job->train));
cleanup:
    return status;
}

/* ---- kernels ---- */

static kfe_status add_default_kernel(fit_job *job)
{
    kfe_i_kernel kernel = {0};
    const char *text = job->spec->method->flags & KFE_HAS_KERNELS ? "rbf" : "linear";
    kfe_status status = kfe_i_kernel_parse(job->ctx, text, &kernel);

    return status == KFE_OK ? kfe_i_kernel_list_add(&job->kernels, &kernel) : status;
}

static kfe_status check_kernel_for_method(const fit_job *job, const kfe_i_kernel *kernel)
{
    const kfe_i_method *method = job->spec->method;
    int plain = strcmp(kernel->def->name, "linear") == 0 && kernel->common.weight == 1;
    int has_points = kernel->def->base != KFE_BASE_GIVEN && kernel->def->base != KFE_BASE_STRING;

    if (!(method->flags & KFE_HAS_KERNELS) && (!plain || job->kernels.count > 1))
        return kfe_i_fail(job->ctx, KFE_EINVAL,
                          "method %s is linear and takes no kernel; with kernels, use k%s", method->name,
                          method->name);
    if (method->flags & KFE_HAS_SYNTHETIC && !has_points)
        return kfe_i_fail(job->ctx, KFE_EINVAL,
                          "method %s needs the points themselves and cannot use kernel %s; use kda-qr",
                          method->name, kernel->def->name);
    if (kernel->def->base == KFE_BASE_GIVEN && job->spec->fit.scale != KFE_SCALE_NONE)
        return kfe_i_fail(job->ctx, KFE_EINVAL, "a precomputed kernel cannot be scaled; leave out --scale");
    return KFE_OK;
}

static kfe_status choose_kernels(fit_job *job)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < job->spec->kernels.count; m++) {
        kfe_i_kernel copy = {0};
        KFE_TRY(kfe_i_kernel_copy(job->ctx, &job->spec->kernels.items[m], &copy));
        KFE_TRY(kfe_i_kernel_list_add(&job->kernels, &copy));
    }
    if (job->kernels.count == 0)
        KFE_TRY(add_default_kernel(job));
    for (int64_t m = 0; m < job->kernels.count; m++)
        KFE_TRY(check_kernel_for_method(job, &job->kernels.items[m]));
    KFE_TRY(kfe_i_kernel_list_bind(&job->kernels, job->train->view_count));
cleanup:
    return status;
}

static kfe_status prepare_kernels(fit_job *job)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < job->kernels.count; m++) {
        kfe_i_kernel *kernel = &job->kernels.items[m];
        status = kfe_i_kernel_prepare(job->ctx, kernel, &job->scaled[kernel->view]);
        if (status != KFE_OK)
            return kfe_i_fail_prefix(job->ctx, status, job->train->views[kernel->view].name);
    }
    return KFE_OK;
}

/* ---- the model ---- */

static kfe_status describe_views(fit_job *job)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < job->train->view_count; v++) {
        const kfe_i_view *view = &job->train->views[v];
        KFE_STRDUP(job->ctx, job->model->views[v].name, view->name);
        kfe_i_force_utf8(job->model->views[v].name); /* file names may be any bytes */
        job->model->views[v].cols = view->table.cols;
        job->model->views[v].strings = view->table.kind == KFE_TABLE_TEXT;
    }
cleanup:
    return status;
}

static kfe_status describe_target(fit_job *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    const kfe_i_target *target = &job->train->target;

    model->task = target->task;
    if (target->task == KFE_TASK_CLASSES) {
        KFE_ALLOC_ZERO(job->ctx, model->class_names, target->class_count);
        for (; model->class_count < target->class_count; model->class_count++)
            KFE_STRDUP(job->ctx, model->class_names[model->class_count], target->names[model->class_count]);
    }
cleanup:
    return status;
}

static kfe_status begin_model(fit_job *job)
{
    kfe_status status = KFE_OK;
    kfe_i_text params;

    KFE_TRY(kfe_i_model_new(job->ctx, job->train->view_count, &job->model));
    KFE_STRDUP(job->ctx, job->model->method, job->spec->method->name);
    KFE_STRDUP(job->ctx, job->model->version, KFE_VERSION);
    kfe_i_text_init(&params, job->ctx);
    kfe_i_params_format(&job->spec->method->params, job->spec->settings, &params);
    KFE_TRY(kfe_i_text_take(&params, &job->model->params));
    job->model->train_rows = kfe_data_rows(job->train);
    KFE_TRY(describe_views(job));
    KFE_TRY(describe_target(job));
cleanup:
    return status;
}

/* Kernels square the values; beyond this, what overflows would look like data that does not vary. */
static kfe_status check_magnitude(kfe_context *ctx, const kfe_i_view *view, const kfe_i_table *scaled)
{
    const double largest = 1e150;
    int64_t row = 0;
    int64_t col = 0;

    if (!kfe_i_table_find_beyond(scaled, largest, &row, &col))
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "%s: row %lld, column %lld is too large to compute with (beyond %g); write the column in "
        "another unit, or remove it",
        view->name, (long long)row + 1, (long long)col + 1, largest);
}

static kfe_status scale_views(fit_job *job)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(job->ctx, job->scaled, job->train->view_count);
    for (int v = 0; v < job->train->view_count; v++) {
        const kfe_i_table *table = &job->train->views[v].table;
        kfe_i_scaler *scaler = &job->model->views[v].scaler;
        if (table->kind == KFE_TABLE_TEXT && job->spec->fit.scale != KFE_SCALE_NONE)
            KFE_FAIL(job->ctx, KFE_EINVAL, "%s: strings cannot be scaled; leave out --scale",
                     job->train->views[v].name);
        KFE_TRY(kfe_i_scaler_learn(job->ctx, (kfe_i_scale_kind)job->spec->fit.scale, table, scaler));
        KFE_TRY(kfe_i_scaler_apply(job->ctx, scaler, table, &job->scaled[v]));
        KFE_TRY(check_magnitude(job->ctx, &job->train->views[v], &job->scaled[v]));
    }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status run_method(fit_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_method *method = job->spec->method;
    /* linear methods work on the factor of the operator, so it must stay factored */
    kfe_i_gram_storage storage =
        method->flags & KFE_HAS_KERNELS ? (kfe_i_gram_storage)job->spec->fit.gram : KFE_GRAM_AUTO;
    kfe_i_problem problem = {.target = &job->train->target,
                             .kernels = &job->kernels,
                             .views = job->scaled,
                             .view_count = job->train->view_count};

    KFE_TRY(kfe_i_gram_open(job->ctx, &job->kernels, job->scaled, storage, &job->gram));
    problem.gram = job->gram;
    KFE_TRY(method->fit(job->ctx, &problem, job->spec->settings, &job->solution));
cleanup:
    return status;
}

static void free_job(fit_job *job)
{
    kfe_i_solution_free(&job->solution);
    kfe_i_gram_free(job->gram);
    kfe_i_kernel_list_free(&job->kernels);
    for (int v = 0; job->scaled && v < job->train->view_count; v++)
        kfe_i_table_free(&job->scaled[v]);
    kfe_i_free(job->ctx, job->scaled);
    kfe_model_free(job->model);
}

kfe_status kfe_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out)
{
    kfe_status status = KFE_OK;
    fit_job job = {.ctx = ctx, .spec = spec, .train = train};
    int saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    kfe_i_kernel_list_init(ctx, &job.kernels);
    KFE_TRY(check_data(&job));
    KFE_TRY(choose_kernels(&job));
    KFE_TRY(begin_model(&job));
    KFE_TRY(scale_views(&job));
    KFE_TRY(prepare_kernels(&job));
    KFE_TRY(run_method(&job));
    KFE_TRY(kfe_i_model_adopt(job.model, &job.solution, &job.kernels, job.scaled));
    *out = job.model;
    job.model = NULL;
cleanup:
    free_job(&job);
    kfe_i_threads_leave(saved_threads);
    return status;
}

/* Training data that overflows is refused; new data may still hold larger values. */
static kfe_status check_features(kfe_context *ctx, const kfe_data *data, const kfe_matrix *features)
{
    for (int64_t p = 0; p < features->rows * features->cols; p++)
        if (!isfinite(features->values[p]))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "%s: row %lld has values too large to compute with; correct or remove it",
                              data->views[0].name, (long long)(p / features->cols) + 1);
    return KFE_OK;
}

kfe_status kfe_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_matrix *out)
{
    kfe_status status = KFE_OK;
    int saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    KFE_ALLOC(ctx, out->values, kfe_data_rows(data) * model->dim);
    out->owner = ctx;
    out->rows = kfe_data_rows(data);
    out->cols = out->stride = model->dim;
    KFE_TRY(kfe_i_model_project(ctx, model, data, out->values));
    KFE_TRY(check_features(ctx, data, out));
cleanup:
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}
