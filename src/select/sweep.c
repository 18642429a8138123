/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all settings of a grid on all splits: walks the grid from what costs most to change to what costs least,
 * and shares kernel matrices, fits and features on the way. Called by assess.c. */
#include "select/sweep.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/workers.h"
#include "select/group.h"

/* Estimated times above this are logged. */
#define KFE_LONG_SECONDS 3600.0
/* No estimate before this much time has passed. */
#define KFE_WARM_SECONDS 5.0

/* One run of a sweep. */
typedef struct run {
    kfe_context *ctx;
    const kfe_i_sweep *sweep;
    double *values, *support_vectors;
    kfe_spec **learners; /* specs that hold the settings of the learner; one per learner setting */
    int64_t *dims;       /* number of features of each dim setting; 0: all */
    int64_t largest_dim; /* index of the dim setting whose fit serves all others */
    /* where the run stands */
    int64_t choice[KFE_AXIS_PLACES]; /* index of the current value of each place */
    kfe_spec *spec;                  /* with these values */
    kfe_i_group group;               /* the splits that are being worked on */
    const kfe_i_shared_matrix *shared;
    kfe_i_fold *folds; /* one per split of the group */
    /* progress */
    double began;
    int64_t done, total; /* extractions */
    int announced;
} run;

static int64_t setting_of(const kfe_i_grid *grid, const int64_t choice[KFE_AXIS_PLACES])
{
    int64_t index = 0;

    for (int p = 0; p < KFE_AXIS_PLACES; p++)
        index = index * grid->counts[p] + choice[p];
    return index;
}

static int is_wanted(const run *r, int64_t split, int64_t setting)
{
    return !r->sweep->wanted || r->sweep->wanted[split * r->sweep->grid->count + setting];
}

/* Whether any setting that this extraction serves is wanted on the split. */
static int extraction_is_wanted(const run *r, int64_t split)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];

    memcpy(choice, r->choice, sizeof choice);
    for (choice[KFE_AXIS_DIM] = 0; choice[KFE_AXIS_DIM] < grid->counts[KFE_AXIS_DIM]; choice[KFE_AXIS_DIM]++)
        for (choice[KFE_AXIS_LEARNER] = 0; choice[KFE_AXIS_LEARNER] < grid->counts[KFE_AXIS_LEARNER];
             choice[KFE_AXIS_LEARNER]++)
            if (is_wanted(r, split, setting_of(grid, choice)))
                return 1;
    return 0;
}

/* ---- tasks ---- */

static kfe_status extract_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    int64_t split = r->group.members[task];

    if (!extraction_is_wanted(r, split))
        return KFE_OK;
    return kfe_i_fold_extract(worker, r->ctx, r->sweep->data, &r->sweep->splits->items[split], r->spec,
                              r->shared, &r->folds[task]);
}

static kfe_status measure_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];

    memcpy(choice, r->choice, sizeof choice);
    choice[KFE_AXIS_LEARNER] = task % grid->counts[KFE_AXIS_LEARNER];
    task /= grid->counts[KFE_AXIS_LEARNER];
    choice[KFE_AXIS_DIM] = task % grid->counts[KFE_AXIS_DIM];
    task /= grid->counts[KFE_AXIS_DIM];
    int64_t split = r->group.members[task];
    int64_t cell = split * grid->count + setting_of(grid, choice);
    kfe_i_trial trial = {.data = sweep->data,
                         .split = &sweep->splits->items[split],
                         .learner = grid->base->learner,
                         .settings = r->learners[choice[KFE_AXIS_LEARNER]]->learner_settings,
                         .dim = r->dims[choice[KFE_AXIS_DIM]],
                         .positive = sweep->positive,
                         .metrics = sweep->metrics,
                         .metric_count = sweep->metric_count};
    if (!is_wanted(r, split, setting_of(grid, choice)))
        return KFE_OK;
    return kfe_i_fold_measure(worker, &r->folds[task], &trial, r->values + cell * sweep->metric_count,
                              r->support_vectors ? r->support_vectors + cell : NULL);
}

/* ---- one method on the splits of a group ---- */

/* With fewer tasks than threads it is better to use the threads inside of each; functions of the user are
 * promised one thread at a time. */
static int threads_for(const run *r, int64_t tasks)
{
    int threads = kfe_context_threads(r->ctx);
    return tasks < threads || kfe_i_has_user_kernel(r->spec) ? 1 : threads;
}

/* Warns once, when there is enough to estimate from. */
static void announce_long_runs(run *r)
{
    double spent = kfe_i_clock() - r->began;
    double left = spent / (double)r->done * (double)(r->total - r->done);

    if (r->announced || spent < KFE_WARM_SECONDS || left < KFE_LONG_SECONDS)
        return;
    r->announced = 1;
    kfe_i_log(r->ctx, KFE_LOG_WARNING, "%lld of %lld fits took %.3g s; the others will take about %.1f hours",
              (long long)r->done, (long long)r->total, spent, left / 3600);
}

static kfe_status run_method(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t trials = r->group.count * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];

    KFE_ALLOC_ZERO(r->ctx, r->folds, r->group.count);
    KFE_TRY(kfe_i_workers_run(r->ctx, "extracting features", threads_for(r, r->group.count), r->group.count,
                              extract_task, r));
    KFE_TRY(kfe_i_workers_run(r->ctx, "learning", threads_for(r, trials), trials, measure_task, r));
    r->done += r->group.count;
    announce_long_runs(r);
cleanup:
    for (int64_t i = 0; r->folds && i < r->group.count; i++)
        kfe_i_fold_free(&r->folds[i]);
    kfe_i_free(r->ctx, r->folds);
    r->folds = NULL;
    return status;
}

static kfe_status run_methods(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;

    r->choice[KFE_AXIS_DIM] = r->largest_dim;
    for (r->choice[KFE_AXIS_METHOD] = 0; r->choice[KFE_AXIS_METHOD] < grid->counts[KFE_AXIS_METHOD];
         r->choice[KFE_AXIS_METHOD]++) {
        r->choice[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        KFE_TRY(run_method(r));
    }
cleanup:
    return status;
}

/* ---- groups of splits ---- */

/* All kernels on the splits of the group; those whose dependence on the training rows is not `dependent` are
 * left to other groups. */
static kfe_status run_group(run *r, int dependent)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    kfe_i_shared_matrix shared = {0};
    int depends = 0;

    for (r->choice[KFE_AXIS_KERNEL] = 0; r->choice[KFE_AXIS_KERNEL] < grid->counts[KFE_AXIS_KERNEL];
         r->choice[KFE_AXIS_KERNEL]++) {
        r->choice[KFE_AXIS_METHOD] = 0;
        r->choice[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        KFE_TRY(kfe_i_group_depends_on_rows(&r->group, r->spec, &depends));
        if (depends != dependent)
            continue;
        r->shared = NULL;
        if (kfe_i_group_can_share(&r->group, r->spec)) {
            KFE_TRY(kfe_i_group_fill(&r->group, r->spec, &shared));
            r->shared = &shared;
        }
        KFE_TRY(run_methods(r));
    }
cleanup:
    r->shared = NULL;
    return status;
}

/* One choice of fit options: first the kernels that all splits share, then split by split the others. */
static kfe_status run_fit_options(run *r)
{
    kfe_status status = KFE_OK;
    int64_t splits = r->sweep->splits->count;

    KFE_TRY(kfe_i_group_set(&r->group, 0, splits));
    KFE_TRY(run_group(r, 0));
    for (int64_t s = 0; s < splits; s++) {
        KFE_TRY(kfe_i_group_set(&r->group, s, 1));
        KFE_TRY(run_group(r, 1));
    }
cleanup:
    return status;
}

/* ---- beginning and end ---- */

static kfe_status read_dims(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->dims, grid->counts[KFE_AXIS_DIM]);
    for (int64_t i = 0; i < grid->axis_count; i++) {
        if (grid->axes[i].place != KFE_AXIS_DIM)
            continue;
        for (int64_t d = 0; d < grid->axes[i].count; d++) {
            const kfe_i_param *row = kfe_i_param_find(&grid->base->method->params, "dim");
            choice[KFE_AXIS_DIM] = d;
            KFE_TRY(kfe_i_grid_apply(r->ctx, grid, choice, KFE_AXIS_DIM, KFE_AXIS_DIM, r->spec));
            r->dims[d] = *(const int64_t *)(const void *)((const char *)r->spec->settings + row->offset);
            r->largest_dim = r->dims[d] > r->dims[r->largest_dim] ? d : r->largest_dim;
        }
    }
cleanup:
    return status;
}

static kfe_status read_learners(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->learners, grid->counts[KFE_AXIS_LEARNER]);
    for (int64_t l = 0; l < grid->counts[KFE_AXIS_LEARNER]; l++) {
        choice[KFE_AXIS_LEARNER] = l;
        KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->learners[l]));
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, choice, KFE_AXIS_LEARNER, KFE_AXIS_LEARNER, r->learners[l]));
    }
cleanup:
    return status;
}

/* A precomputed kernel matrix must be square and symmetric before rows and columns are picked from it. */
static kfe_status check_given(const run *r)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = r->sweep->data;
    kfe_i_kernel_list kernels;
    kfe_i_gram *gram = NULL;

    kfe_i_kernel_list_init(r->ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(r->ctx, r->sweep->grid->base, data, &kernels));
    for (int64_t m = 0; m < kernels.count; m++) {
        const kfe_i_view *view = &data->views[kernels.items[m].view];
        if (kernels.items[m].def->base != KFE_BASE_GIVEN)
            continue;
        if ((status = kfe_i_kernel_prepare(r->ctx, &kernels.items[m], &view->table)) != KFE_OK ||
            (status = kfe_i_gram_precomputed(r->ctx, &view->table, &gram)) != KFE_OK) {
            status = kfe_i_fail_prefix(r->ctx, status, kfe_i_view_shown(view));
            goto cleanup;
        }
        kfe_i_gram_free(gram);
        gram = NULL;
    }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* Mistakes that every split would report are reported for the whole data, with its own row numbers. */
static kfe_status check_data(const run *r)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = r->sweep->data;

    if (!kfe_spec_predicts(r->sweep->grid->base))
        KFE_FAIL(r->ctx, KFE_EINVAL,
                 "method %s gives features only and cannot predict; add a learner, such as {learner=knn}; "
                 "{learners} lists them",
                 r->sweep->grid->base->method->name);
    if (data->target.task == KFE_TASK_NONE)
        KFE_FAIL(r->ctx, KFE_EINPUT, "predictions can only be measured on data with labels; give {labels}");
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_check_view(r->ctx, &data->views[v]));
    KFE_TRY(check_given(r));
cleanup:
    return status;
}

static kfe_status begin_run(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t cells = sweep->splits->count * grid->count;

    KFE_TRY(check_data(r));
    for (int64_t i = 0; i < cells * sweep->metric_count; i++)
        r->values[i] = NAN;
    for (int64_t i = 0; r->support_vectors && i < cells; i++)
        r->support_vectors[i] = NAN;
    KFE_TRY(kfe_i_group_init(r->ctx, sweep->data, sweep->splits, &r->group));
    KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->spec));
    KFE_TRY(read_dims(r));
    KFE_TRY(read_learners(r));
    r->began = kfe_i_clock();
    r->total = sweep->splits->count * grid->counts[KFE_AXIS_FIT] * grid->counts[KFE_AXIS_KERNEL] *
               grid->counts[KFE_AXIS_METHOD];
cleanup:
    return status;
}

static void end_run(run *r)
{
    for (int64_t l = 0; r->learners && l < r->sweep->grid->counts[KFE_AXIS_LEARNER]; l++)
        kfe_spec_free(r->learners[l]);
    kfe_i_free(r->ctx, r->learners);
    kfe_i_free(r->ctx, r->dims);
    kfe_i_group_free(&r->group);
    kfe_spec_free(r->spec);
}

kfe_status kfe_i_sweep_run(kfe_context *ctx, const kfe_i_sweep *sweep, double *values,
                           double *support_vectors)
{
    kfe_status status = KFE_OK;
    run r = {.ctx = ctx, .sweep = sweep, .values = values, .support_vectors = support_vectors};

    KFE_TRY(begin_run(&r));
    for (r.choice[KFE_AXIS_FIT] = 0; r.choice[KFE_AXIS_FIT] < sweep->grid->counts[KFE_AXIS_FIT];
         r.choice[KFE_AXIS_FIT]++)
        KFE_TRY(run_fit_options(&r));
cleanup:
    end_run(&r);
    return status;
}
