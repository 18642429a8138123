/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that decides whether a spec can be fitted on data, and says why not and what to use instead:
 * kfe_spec_check. kfe_fit calls it first; hosts call it before they read data and to skip methods. */
#include <string.h>

#include "core/memory.h"
#include "data/target/class_weights.h"
#include "model/chain_views.h"
#include "model/spec.h"

typedef struct checking {
    kfe_context *ctx;
    const kfe_spec *spec;
    const kfe_data *data;
    kfe_misfit misfit;
    int values_checked; /* the values are known to be finite */
} checking;

/* Fails with this message and notes the reason. */
#define MISFIT(job, reason, code, ...) ((job)->misfit = (reason), kfe_i_fail((job)->ctx, code, __VA_ARGS__))

const char *kfe_misfit_text(kfe_misfit misfit)
{
    static const char *const texts[] = {[KFE_FITS] = "can be fitted",
                                        [KFE_MISFIT_KERNEL] = "takes no kernel",
                                        [KFE_MISFIT_POINTS] = "needs columns of numbers",
                                        [KFE_MISFIT_VIEWS] = "takes one view",
                                        [KFE_MISFIT_LABELS] = "needs labels",
                                        [KFE_MISFIT_CLASSES] = "needs classes",
                                        [KFE_MISFIT_ONE_CLASS] = "needs two classes",
                                        [KFE_MISFIT_TWO_CLASSES] = "takes two classes",
                                        [KFE_MISFIT_WEIGHTS] = "takes no weights",
                                        [KFE_MISFIT_OTHER] = "cannot be fitted"};

    return (unsigned)misfit < sizeof texts / sizeof *texts ? texts[misfit] : "unknown reason";
}

/* ---- kernels ---- */

static int has_points(const kfe_i_kernel *kernel)
{
    return kernel->def->base != KFE_BASE_GIVEN && kernel->def->base != KFE_BASE_STRING;
}

static int asks_for_scaling(const kfe_spec *spec)
{
    return spec->fit.scale != KFE_SCALE_NONE && spec->fit.scale != KFE_SCALE_AUTO;
}

static kfe_status check_scale(checking *job, const kfe_i_kernel *kernel)
{
    if (kernel->def->base == KFE_BASE_GIVEN && asks_for_scaling(job->spec))
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL,
                      "a precomputed kernel cannot be scaled; leave out {scale}");
    return KFE_OK;
}

static kfe_status refuse_kernel(checking *job, const kfe_i_kernel *kernel)
{
    const kfe_i_method *method = job->spec->method;
    kfe_misfit reason = has_points(kernel) ? KFE_MISFIT_KERNEL : KFE_MISFIT_POINTS;

    if (method == &kfe_i_method_none)
        return MISFIT(
            job, reason, KFE_EINVAL,
            "a kernel without a method is for a learner to learn from: add {learner=svm}, or choose "
            "a method");
    return MISFIT(job, reason, KFE_EINVAL, "method %s is linear and takes no kernel%s%s", method->name,
                  method->instead ? "; with kernels, use " : "", method->instead ? method->instead : "");
}

static kfe_status check_kernel_for_learner(checking *job, const kfe_i_kernel *kernel)
{
    if (!job->spec->learner->fit_gram)
        return MISFIT(job, has_points(kernel) ? KFE_MISFIT_KERNEL : KFE_MISFIT_POINTS, KFE_EINVAL,
                      "learner %s works on features and cannot learn from a kernel alone; choose a method, "
                      "such as kpca, or use {learner=svm}",
                      job->spec->learner->name);
    return check_scale(job, kernel);
}

static kfe_status check_kernel(checking *job, const kfe_i_kernel *kernel)
{
    const kfe_i_method *method = job->spec->method;
    int plain = strcmp(kernel->def->name, "linear") == 0 && kernel->common.weight == 1;

    if (kfe_i_spec_learns_from_kernel(job->spec))
        return check_kernel_for_learner(job, kernel);
    if (kfe_i_spec_maps_kernel(job->spec))
        return check_scale(job, kernel);
    if (!(method->flags & KFE_HAS_KERNELS) && (!plain || job->spec->kernels.count > 1))
        return refuse_kernel(job, kernel);
    if (method->flags & KFE_HAS_SYNTHETIC && !has_points(kernel))
        return MISFIT(job, KFE_MISFIT_POINTS, KFE_EINVAL,
                      "method %s needs the points themselves and cannot use kernel %s%s%s", method->name,
                      kernel->def->name, method->instead ? "; use " : "",
                      method->instead ? method->instead : "");
    if (method->flags & KFE_HAS_DERIVATIVE && !(kernel->def->flags & KFE_HAS_DERIVATIVE))
        return MISFIT(
            job, KFE_MISFIT_KERNEL, KFE_EINVAL,
            "method %s needs the derivative of the kernel, but %s has none; use exp, matern, rbf, poly or "
            "linear",
            method->name, kernel->def->name);
    return check_scale(job, kernel);
}

static kfe_status check_landmarks(checking *job)
{
    const kfe_i_method *method = job->spec->method;

    if (job->spec->fit.landmarks == 0)
        return KFE_OK;
    if (method == &kfe_i_method_none && job->spec->kernels.count == 0)
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL,
                      "{landmarks} stands for a kernel matrix, but there is no kernel; give {kernel}");
    if (method != &kfe_i_method_none && !(method->flags & KFE_HAS_KERNELS))
        return MISFIT(job, KFE_MISFIT_KERNEL, KFE_EINVAL,
                      "method %s is linear and has no kernel matrix for {landmarks} to stand for%s%s",
                      method->name, method->instead ? "; use " : "", method->instead ? method->instead : "");
    return KFE_OK;
}

/* The columns of a kernel matrix are examples, not categories. */
static kfe_status refuse_encoded_matrix(kfe_context *ctx, const kfe_data *data,
                                        const kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_view *view = &data->views[kernels->items[m].view];
        if (kernels->items[m].def->base == KFE_BASE_GIVEN && view->encoding.count > 0)
            return kfe_i_fail(
                ctx, KFE_EINVAL,
                "%s: a precomputed kernel matrix has no columns of categories; leave out {encode}",
                kfe_i_view_shown(view));
    }
    return KFE_OK;
}

/* Every kernel finds its view, and suits it. */
static kfe_status check_binding(checking *job)
{
    kfe_i_kernel_list kernels;
    kfe_status status;

    kfe_i_kernel_list_init(job->ctx, &kernels);
    status = kfe_i_spec_kernels(job->ctx, job->spec, job->data, &kernels);
    if (status == KFE_OK)
        status = refuse_encoded_matrix(job->ctx, job->data, &kernels);
    if (status == KFE_OK && kfe_i_spec_prepares(job->spec))
        status = kfe_i_chains_check(job->ctx, job->spec->fit.prepare, &kernels, job->data);
    kfe_i_kernel_list_free(&kernels);
    if (status != KFE_OK)
        job->misfit = KFE_MISFIT_OTHER;
    return status;
}

/* ---- targets ---- */

static kfe_status check_classes(checking *job)
{
    const kfe_i_method *method = job->spec->method;
    const kfe_i_target *target = &job->data->target;

    if (target->class_count < 2)
        return MISFIT(job, KFE_MISFIT_ONE_CLASS, KFE_EINPUT,
                      "method %s needs at least two classes, but every example is of class '%s'",
                      method->name, target->names[0]);
    if (target->class_count > 2 && method->flags & KFE_HAS_TWO_CLASSES)
        return MISFIT(job, KFE_MISFIT_TWO_CLASSES, KFE_EINPUT,
                      "method %s takes two classes, but the data has %lld; keep two, or join the others "
                      "into one",
                      method->name, (long long)target->class_count);
    return KFE_OK;
}

/* Of a method that compares views: with one view, the target is the other. */
static kfe_status check_second_view(checking *job)
{
    if (job->data->view_count > 1)
        return KFE_OK;
    if (job->data->target.task == KFE_TASK_NONE)
        return MISFIT(
            job, KFE_MISFIT_LABELS, KFE_EINPUT,
            "%s compares views, but there is one and no target; give several files, or name columns "
            "of one table by {view}",
            job->spec->method->name);
    return job->data->target.task == KFE_TASK_CLASSES ? check_classes(job) : KFE_OK;
}

static kfe_status check_target(checking *job)
{
    const kfe_i_method *method = job->spec->method;

    if (kfe_i_method_compares_views(method))
        return check_second_view(job);
    if (!(method->flags & KFE_HAS_SUPERVISION))
        return KFE_OK;
    switch (job->data->target.task) {
    case KFE_TASK_NONE:
        return MISFIT(job, KFE_MISFIT_LABELS, KFE_EINPUT,
                      "method %s needs labels, but the data has none; give {labels}", method->name);
    case KFE_TASK_REAL:
        if (method->flags & KFE_HAS_REGRESSION)
            return KFE_OK;
        return MISFIT(job, KFE_MISFIT_CLASSES, KFE_EINPUT,
                      "method %s needs class labels, but the targets were read as real numbers; if they are "
                      "classes, use {task=classify}; if they are not the labels, give {labels}",
                      method->name);
    case KFE_TASK_CLASSES:
        break;
    }
    return check_classes(job);
}

/* ---- weights of examples ---- */

/* Names the methods that take weights. */
static kfe_status refuse_weights(checking *job, const char *kind, const char *name, int learners)
{
    kfe_status status = KFE_OK;
    kfe_i_text list;
    char *names = NULL;

    kfe_i_text_init(&list, job->ctx);
    for (int i = 0; learners && kfe_i_learner_at(i); i++)
        if (kfe_i_learner_at(i)->flags & KFE_HAS_SAMPLE_WEIGHTS)
            kfe_i_text_printf(&list, "%s%s", list.length ? ", " : "", kfe_i_learner_at(i)->name);
    for (int i = 0; !learners && kfe_i_method_at(i); i++)
        if (kfe_i_method_at(i)->flags & KFE_HAS_SAMPLE_WEIGHTS)
            kfe_i_text_printf(&list, "%s%s", list.length ? ", " : "", kfe_i_method_at(i)->name);
    KFE_TRY(kfe_i_text_take(&list, &names));
    status = MISFIT(job, KFE_MISFIT_WEIGHTS, KFE_EUNSUPPORTED,
                    "%s %s takes no weights of examples; these do: %s", kind, name, names);
cleanup:
    kfe_i_free(job->ctx, names);
    return status;
}

static kfe_status check_weights(checking *job)
{
    const kfe_spec *spec = job->spec;

    if (kfe_i_spec_weighs_classes(spec) && job->data->target.task != KFE_TASK_CLASSES)
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL, "class weights are for classes, but %s",
                      job->data->target.task == KFE_TASK_REAL ? "the target is real"
                                                              : "the data has no labels");
    if (!job->data->target.weights && !kfe_i_spec_weighs_classes(spec))
        return KFE_OK;
    if (!kfe_i_spec_learns_from_kernel(spec) && !kfe_i_spec_maps_kernel(spec) &&
        !(spec->method->flags & KFE_HAS_SAMPLE_WEIGHTS))
        return refuse_weights(job, "method", spec->method->name, 0);
    if (spec->learner && !(spec->learner->flags & KFE_HAS_SAMPLE_WEIGHTS))
        return refuse_weights(job, "learner", spec->learner->name, 1);
    if (!spec->learner && !(spec->method->flags & KFE_HAS_SUPERVISION))
        return KFE_OK;
    kfe_status status = kfe_i_target_masses_check(job->ctx, &job->data->target);
    if (status != KFE_OK)
        job->misfit = KFE_MISFIT_OTHER;
    return status;
}

static kfe_status check_learner(checking *job)
{
    kfe_status status = KFE_OK;

    if (job->spec->learner)
        status = kfe_i_learner_check(job->ctx, job->spec->learner, &job->data->target);
    if (status != KFE_OK)
        job->misfit = KFE_MISFIT_OTHER;
    return status;
}

/* ---- views ---- */

static kfe_status check_columns(kfe_context *ctx, const kfe_i_view *view)
{
    if (view->table.cols > 0)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "%s: the data has no feature columns; if no column is a label, use {label=none}",
                      kfe_i_view_shown(view));
}

static kfe_status check_view(checking *job, const kfe_i_view *view)
{
    kfe_status status = KFE_OK;

    if (view->table.kind == KFE_TABLE_TEXT && asks_for_scaling(job->spec))
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL, "%s: strings cannot be scaled; leave out {scale}",
                      kfe_i_view_shown(view));
    status = job->values_checked ? check_columns(job->ctx, view) : kfe_i_check_view(job->ctx, view);
    if (status != KFE_OK)
        job->misfit = KFE_MISFIT_OTHER;
    return status;
}

/* Number of the first row without any value; -1: every row has one. */
static int64_t find_empty_row(const kfe_i_view *view)
{
    for (int64_t i = 0; i < view->table.rows; i++)
        if (view->gaps.row_start[i + 1] - view->gaps.row_start[i] == view->table.cols)
            return i;
    return -1;
}

static kfe_status check_missing(checking *job, const kfe_i_view *view)
{
    const kfe_spec *spec = job->spec;
    int combines = kfe_i_spec_prepares(spec) || spec->fit.scale == KFE_SCALE_L2_ROWS ||
                   kfe_i_word_index(KFE_DISTANCE_WORDS, spec->fit.distance) < 0;
    int64_t empty = -1;

    if (view->gaps.fill != KFE_FILL_NIPALS)
        return KFE_OK;
    if (!(spec->method->flags & KFE_HAS_MISSING))
        return MISFIT(
            job, KFE_MISFIT_OTHER, KFE_EUNSUPPORTED,
            "{missing=nipals} is for pca, pls, plsda and opls, not for method %s; use {missing=mean}",
            spec->method->name);
    if (combines)
        return MISFIT(
            job, KFE_MISFIT_OTHER, KFE_EINVAL,
            "{missing=nipals} leaves values missing, but {prepare}, {scale=l2-rows} and a {distance} from a "
            "file combine the columns of a row; leave them out, or use {missing=mean}");
    empty = find_empty_row(view);
    if (empty >= 0)
        return MISFIT(
            job, KFE_MISFIT_OTHER, KFE_EINPUT,
            "%s: row %lld has no value in any column, so there is nothing to learn from it; leave it out",
            kfe_i_view_shown(view), (long long)empty + 1);
    return KFE_OK;
}

static kfe_status check_views(checking *job)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = job->data;

    if (kfe_data_rows(data) < 1)
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINPUT, "there are no examples to fit on");
    if (data->view_count > 1 && !(job->spec->method->flags & KFE_HAS_MULTIVIEW) &&
        !kfe_i_spec_learns_from_kernel(job->spec) && !kfe_i_spec_maps_kernel(job->spec))
        return MISFIT(job, KFE_MISFIT_VIEWS, KFE_EINPUT, "method %s takes one table, but %d were given",
                      job->spec->method->name, data->view_count);
    for (int v = 0; v < data->view_count; v++) {
        KFE_TRY(check_view(job, &data->views[v]));
        KFE_TRY(check_missing(job, &data->views[v]));
    }
cleanup:
    return status;
}

kfe_status kfe_i_check_view(kfe_context *ctx, const kfe_i_view *view)
{
    kfe_status status = check_columns(ctx, view);

    return status == KFE_OK ? kfe_i_table_check_finite(ctx, &view->table, kfe_i_view_shown(view)) : status;
}

static kfe_status check_distance(checking *job)
{
    int word = kfe_i_word_index(KFE_DISTANCE_WORDS, job->spec->fit.distance);

    if (word > 0 && !(job->spec->method->flags & KFE_HAS_DERIVATIVE))
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL,
                      "method %s learns no distance: give {distance} a file, or use rfm to learn one",
                      job->spec->method->name);
    return KFE_OK;
}

/* The steps themselves; their columns are checked with the data. */
static kfe_status check_prepare(checking *job)
{
    kfe_status status = KFE_OK;

    if (kfe_i_spec_prepares(job->spec))
        status = kfe_i_chain_check(job->ctx, job->spec->fit.prepare);
    if (status != KFE_OK)
        job->misfit = KFE_MISFIT_OTHER;
    else if (kfe_i_spec_prepares(job->spec) &&
             kfe_i_word_index(KFE_DISTANCE_WORDS, job->spec->fit.distance) < 0)
        return MISFIT(job, KFE_MISFIT_OTHER, KFE_EINVAL,
                      "a {distance} from a file is for the columns of the data; leave out {prepare}");
    return status;
}

static kfe_status check_all(checking *job)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_landmarks(job));
    KFE_TRY(check_distance(job));
    KFE_TRY(check_prepare(job));
    for (int64_t m = 0; m < job->spec->kernels.count; m++)
        KFE_TRY(check_kernel(job, &job->spec->kernels.items[m]));
    if (!job->data)
        return KFE_OK;
    KFE_TRY(check_target(job));
    KFE_TRY(check_views(job));
    KFE_TRY(check_learner(job));
    KFE_TRY(check_weights(job));
    KFE_TRY(check_binding(job));
cleanup:
    return status;
}

kfe_status kfe_i_spec_check_but_values(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data)
{
    checking job = {.ctx = ctx, .spec = spec, .data = data, .misfit = KFE_FITS, .values_checked = 1};

    return check_all(&job);
}

kfe_status kfe_spec_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data, kfe_misfit *misfit)
{
    checking job = {.ctx = ctx, .spec = spec, .data = data, .misfit = KFE_FITS};
    kfe_status status = check_all(&job);

    if (misfit)
        *misfit = job.misfit;
    return status;
}
