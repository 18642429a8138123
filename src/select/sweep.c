/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all settings of a grid on all splits: walks the grid from what costs most to change to what costs least,
 * and shares kernel matrices, fits and features on the way. Called by assess.c. */
#include "select/sweep.h"
#include "select/deal.h"
#include "select/duplicates.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/search.h"
#include "core/workers.h"
#include "select/group.h"
#include "select/sum_fold.h"

/* Estimated times above this are logged. */
#define KFE_LONG_SECONDS 3600.0
/* No estimate before this much time has passed. */
#define KFE_WARM_SECONDS 5.0

/* Why a task failed; no reason: it did not. */
typedef struct task_failure {
    kfe_status status;
    char *reason;
} task_failure;

/* The features of one split of the group, or why there are none. */
typedef struct extracted {
    kfe_i_fold fold;
    task_failure failure;
    double seconds;
    double learning_seconds; /* of one setting, if a device learned several at once */
} extracted;

/* One run of a sweep. */
typedef struct run {
    kfe_context *ctx;
    const kfe_i_sweep *sweep;
    kfe_i_cells *cells;
    kfe_spec **learners; /* specs that hold the settings of the learner; one per learner setting */
    int64_t *dims;       /* number of features of each dim setting; 0: all */
    int64_t largest_dim; /* index of the dim setting whose fit serves all others */
    /* where the run stands */
    int64_t choice[KFE_AXIS_PLACES]; /* index of the current value of each place */
    kfe_spec *spec;                  /* with these values */
    kfe_i_group group;               /* the splits that are being worked on */
    kfe_i_train_cache trains;        /* of these fit options */
    kfe_i_shared shared;
    kfe_i_row_sums sums;           /* of the rows of the group */
    kfe_i_landmark_sums landmarks; /* shared, of the current kernel */
    kfe_i_sum_plan plan;           /* how splits are fitted from sums alone */
    extracted *parts;              /* one per split of the group */
    task_failure *trial_failures;  /* one per trial */
    kfe_i_predictor *trained;      /* one per trial: by a device; without outputs: not */
    int learns_on_device;          /* 0: it was tried, and no device did */
    int said_where;
    /* progress */
    double began;
    int64_t done, total; /* extractions */
    int announced;
    double matrix_seconds, feature_seconds, learning_seconds;
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

/* How many of the settings that this extraction serves are wanted on the split. */
static int64_t count_served(const run *r, int64_t split)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];
    int64_t count = 0;

    memcpy(choice, r->choice, sizeof choice);
    for (choice[KFE_AXIS_DIM] = 0; choice[KFE_AXIS_DIM] < grid->counts[KFE_AXIS_DIM]; choice[KFE_AXIS_DIM]++)
        for (choice[KFE_AXIS_LEARNER] = 0; choice[KFE_AXIS_LEARNER] < grid->counts[KFE_AXIS_LEARNER];
             choice[KFE_AXIS_LEARNER]++)
            count += is_wanted(r, split, setting_of(grid, choice));
    return count;
}

/* ---- tasks ---- */

/* Keeps the reason of a fit that failed, so that the search goes on. */
static kfe_status keep_failure(kfe_context *worker, kfe_status result, task_failure *out)
{
    kfe_status status = KFE_OK;

    if (!kfe_i_is_failed_cell(result))
        return result;
    KFE_STRDUP(worker, out->reason, worker->message);
    out->status = result;
cleanup:
    return status;
}

/* From sums alone, or else from the rows. */
static kfe_status extract(kfe_context *worker, const run *r, int64_t number, kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = &r->sweep->splits->items[number];
    kfe_i_shared shared = r->shared;
    int done = 0;

    const kfe_i_sum_source source = {.sums = r->shared.sums,
                                     .landmarks = r->landmarks.factor.cols > 0 ? &r->landmarks : NULL};
    KFE_TRY(kfe_i_sum_fold_extract(worker, r->ctx, &source, split, r->spec, &r->plan, out, &done));
    shared.train = kfe_i_train_cache_at(&r->trains, number);
    if (!done)
        KFE_TRY(kfe_i_fold_extract(worker, r->ctx, r->sweep->data, split, r->spec, &shared, out));
cleanup:
    return status;
}

static kfe_status extract_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    int64_t split = r->group.members[task];
    extracted *part = &r->parts[task];
    double began = kfe_i_clock();
    int64_t served = count_served(r, split);

    if (served == 0)
        return KFE_OK;
    kfe_status status = extract(worker, r, split, &part->fold);
    part->seconds = kfe_i_clock() - began;
    if (status != KFE_OK && r->shared.matrix && r->shared.matrix->device &&
        kfe_i_device_shared_gave_up(r->shared.matrix->device))
        return status; /* run_kernel starts again in host memory */
    kfe_i_search_count(worker, served);
    return keep_failure(worker, status, &part->failure);
}

/* The split of a trial (its place in the group) and its setting. */
static int64_t trial_at(const run *r, int64_t task, int64_t choice[KFE_AXIS_PLACES])
{
    const kfe_i_grid *grid = r->sweep->grid;

    memcpy(choice, r->choice, sizeof r->choice);
    choice[KFE_AXIS_LEARNER] = task % grid->counts[KFE_AXIS_LEARNER];
    task /= grid->counts[KFE_AXIS_LEARNER];
    choice[KFE_AXIS_DIM] = task % grid->counts[KFE_AXIS_DIM];
    return task / grid->counts[KFE_AXIS_DIM];
}

static kfe_status measure_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];
    const extracted *part = &r->parts[trial_at(r, task, choice)];
    int64_t split = r->group.members[part - r->parts];
    int64_t cell = split * grid->count + setting_of(grid, choice);
    double began = kfe_i_clock();
    kfe_i_trial trial = {.data = sweep->data,
                         .split = &sweep->splits->items[split],
                         .learner = r->learners[choice[KFE_AXIS_LEARNER]]->learner,
                         .settings = r->learners[choice[KFE_AXIS_LEARNER]]->learner_settings,
                         .trained = r->trained[task].outputs > 0 ? &r->trained[task] : NULL,
                         .dim = r->dims[choice[KFE_AXIS_DIM]],
                         .positive = sweep->positive,
                         .metrics = sweep->metrics,
                         .metric_count = sweep->metric_count};
    kfe_spec *whole = NULL;
    kfe_status status = KFE_OK;

    if (part->failure.reason || !is_wanted(r, split, setting_of(grid, choice)))
        return KFE_OK;
    if (r->spec->fit.calibration != KFE_CALIBRATION_NONE) {
        status = kfe_i_grid_spec(worker, grid, setting_of(grid, choice), &whole);
        if (status != KFE_OK)
            return status;
        trial.calibrated = whole;
    }
    status = kfe_i_fold_measure(worker, &part->fold, &trial, r->cells->values + cell * sweep->metric_count,
                                r->cells->support_vectors + cell);
    kfe_spec_free(whole);
    r->cells->seconds[cell] =
        part->seconds + (trial.trained ? part->learning_seconds : 0) + kfe_i_clock() - began;
    return keep_failure(worker, status, &r->trial_failures[task]);
}

/* ---- learning on a device ---- */

/* The settings of the learner that are wanted on a split with one number of features; their trials follow `first`. */
static int64_t list_wanted(const run *r, int64_t first, const void **settings, int64_t *tasks)
{
    int64_t choice[KFE_AXIS_PLACES];
    int64_t count = 0;

    for (int64_t l = 0; l < r->sweep->grid->counts[KFE_AXIS_LEARNER]; l++) {
        int64_t place = trial_at(r, first + l, choice);
        if (r->parts[place].failure.reason ||
            !is_wanted(r, r->group.members[place], setting_of(r->sweep->grid, choice)))
            continue;
        settings[count] = r->learners[l]->learner_settings;
        tasks[count++] = first + l;
    }
    return count;
}

/* Learns these trials of one split in one call. */
static kfe_status learn_at_once(run *r, const void *const *settings, const int64_t *tasks, int64_t count,
                                kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t choice[KFE_AXIS_PLACES];
    extracted *part = &r->parts[trial_at(r, tasks[0], choice)];
    double began = kfe_i_clock();

    KFE_TRY(kfe_i_fold_learn_on_device(r->ctx, &part->fold, r->learners[0]->learner,
                                       r->dims[choice[KFE_AXIS_DIM]], settings, count, out));
    r->learns_on_device = 0;
    for (int64_t i = 0; i < count; i++) {
        r->trained[tasks[i]] = out[i];
        r->learns_on_device |= out[i].outputs > 0;
    }
    if (r->learns_on_device && !r->said_where)
        kfe_i_log(r->ctx, KFE_LOG_INFO, "search: %s learns all its settings at once on %s",
                  r->learners[0]->learner->name, kfe_context_device(r->ctx));
    r->said_where |= r->learns_on_device;
    part->learning_seconds = (kfe_i_clock() - began) / (double)count;
cleanup:
    return status;
}

/* Learns as many trials as possible on the context's device, which serves one thread; measure_task does the others. */
static kfe_status learn_on_device(run *r, int64_t trials)
{
    kfe_status status = KFE_OK;
    int64_t learners = r->sweep->grid->counts[KFE_AXIS_LEARNER];
    const kfe_i_learner *learner = r->learners[0]->learner;
    const void **settings = NULL;
    int64_t *tasks = NULL;
    kfe_i_predictor *trained = NULL;

    if (!learner || !learner->fit_on_device)
        return KFE_OK;
    KFE_ALLOC(r->ctx, settings, learners);
    KFE_ALLOC(r->ctx, tasks, learners);
    KFE_ALLOC(r->ctx, trained, learners);
    for (int64_t first = 0; r->learns_on_device && first < trials; first += learners) {
        int64_t count = list_wanted(r, first, settings, tasks);
        if (count > 0)
            KFE_TRY(learn_at_once(r, settings, tasks, count, trained));
    }
cleanup:
    kfe_i_free(r->ctx, settings);
    kfe_i_free(r->ctx, tasks);
    kfe_i_free(r->ctx, trained);
    return status;
}

/* ---- failed cells ---- */

static kfe_status fail_cell(run *r, int64_t split, const int64_t choice[KFE_AXIS_PLACES],
                            const task_failure *failure)
{
    int64_t setting = setting_of(r->sweep->grid, choice);
    int64_t metrics = r->sweep->metric_count;
    double *values = r->cells->values + (split * r->sweep->grid->count + setting) * metrics;

    if (!is_wanted(r, split, setting))
        return KFE_OK;
    for (int64_t m = 0; m < metrics; m++)
        values[m] = NAN;
    return kfe_i_cells_fail(r->cells, split, setting, failure->status, failure->reason);
}

/* Marks the cells whose extraction or trial failed, in the order of tasks. */
static kfe_status mark_failed_trials(run *r, int64_t trials)
{
    kfe_status status = KFE_OK;
    int64_t choice[KFE_AXIS_PLACES];

    for (int64_t task = 0; task < trials; task++) {
        int64_t place = trial_at(r, task, choice);
        const task_failure *failure = &r->parts[place].failure;
        if (!failure->reason)
            failure = &r->trial_failures[task];
        if (failure->reason)
            KFE_TRY(fail_cell(r, r->group.members[place], choice, failure));
    }
cleanup:
    return status;
}

/* Marks all settings with the current kernel, on all splits of the group. */
static kfe_status mark_failed_kernel(run *r, kfe_status why)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t settings =
        grid->counts[KFE_AXIS_METHOD] * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];
    int64_t choice[KFE_AXIS_PLACES] = {r->choice[KFE_AXIS_FIT], r->choice[KFE_AXIS_KERNEL]};
    int64_t first = setting_of(grid, choice);
    task_failure failure = {.status = why};

    KFE_STRDUP(r->ctx, failure.reason, r->ctx->message);
    for (int64_t place = 0; place < r->group.count; place++)
        for (int64_t c = first; c < first + settings; c++) {
            kfe_i_grid_choice(grid, c, choice);
            KFE_TRY(fail_cell(r, r->group.members[place], choice, &failure));
        }
    r->done += r->group.count * grid->counts[KFE_AXIS_METHOD];
cleanup:
    kfe_i_free(r->ctx, failure.reason);
    return status;
}

/* ---- one method on the splits of a group ---- */

/* With fewer tasks than threads it is better to use the threads inside of each; functions of the user are
 * promised one thread at a time. */
static int threads_for(const run *r, int64_t tasks)
{
    int threads = kfe_context_threads(r->ctx);
    return tasks < threads || kfe_i_has_user_kernel(r->spec) ? 1 : threads;
}

/* A device serves one thread, so that fits on it take their turns. */
static kfe_status threads_for_fits(const run *r, int *threads)
{
    kfe_status status = KFE_OK;
    double rows = (double)r->group.row_count;
    int by_kernel = r->spec->method->flags & KFE_HAS_KERNELS || kfe_i_spec_learns_from_kernel(r->spec);
    int in_host = r->shared.matrix && !r->shared.matrix->device;
    kfe_i_device *device = NULL;

    if (by_kernel && !in_host)
        KFE_TRY(kfe_i_device_get(r->ctx, rows * rows, &device));
    *threads = device ? 1 : threads_for(r, r->group.count);
cleanup:
    return status;
}

/* Says once how long a long search will take, when there is enough to estimate from. */
static void announce_long_runs(run *r)
{
    double spent = kfe_i_clock() - r->began;
    double left = spent / (double)r->done * (double)(r->total - r->done);

    if (r->announced || spent < KFE_WARM_SECONDS || left < KFE_LONG_SECONDS)
        return;
    r->announced = 1;
    kfe_i_log(r->ctx, KFE_LOG_NOTICE, "%lld of %lld fits took %.3g s; the others will take about %.1f hours",
              (long long)r->done, (long long)r->total, spent, left / 3600);
}

static void free_parts(run *r, int64_t trials)
{
    for (int64_t i = 0; r->parts && i < r->group.count; i++) {
        kfe_i_fold_free(&r->parts[i].fold);
        kfe_i_free(r->ctx, r->parts[i].failure.reason);
    }
    for (int64_t i = 0; r->trial_failures && i < trials; i++)
        kfe_i_free(r->ctx, r->trial_failures[i].reason);
    for (int64_t i = 0; r->trained && i < trials; i++)
        kfe_i_predictor_free(&r->trained[i]);
    kfe_i_free(r->ctx, r->parts);
    kfe_i_free(r->ctx, r->trial_failures);
    kfe_i_free(r->ctx, r->trained);
    r->parts = NULL;
    r->trial_failures = NULL;
    r->trained = NULL;
}

static int has_few_test_rows(const run *r)
{
    for (int64_t i = 0; i < r->group.count; i++)
        if (r->sweep->splits->items[r->group.members[i]].test_count > kfe_i_row_sums_few(&r->sums))
            return 0;
    return 1;
}

/* Makes the sums over the rows of the group, where they serve its splits. */
static kfe_status share_sums(run *r)
{
    kfe_status status = KFE_OK;
    int64_t learners = r->sweep->grid->counts[KFE_AXIS_LEARNER];

    r->shared.sums = NULL;
    r->plan.usable = 0;
    if (r->landmarks.factor.cols > 0)
        return kfe_i_landmark_plan_make(r->ctx, r->spec, r->learners, learners, r->sweep->data, &r->plan);
    if (!kfe_i_row_sums_serve(r->spec->method) || r->sweep->data->target.weights ||
        kfe_i_spec_weighs_classes(r->spec))
        return KFE_OK;
    KFE_TRY(kfe_i_row_sums_make(r->ctx, r->sweep->data, r->group.rows, r->group.row_count, &r->sums));
    r->shared.sums = &r->sums;
    if (r->sums.count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_sum_plan_make(r->ctx, r->spec, r->learners, learners, r->sweep->data, &r->plan));
    if (r->plan.kind == KFE_SCALE_AUTO &&
        r->group.count > 1) /* splits that auto would scale are not grouped */
        r->plan.kind = KFE_SCALE_NONE;
    if (r->plan.usable && r->plan.kind == KFE_SCALE_NONE && r->spec->method->takes_spectrum &&
        has_few_test_rows(r))
        KFE_TRY(kfe_i_row_sums_rotate(r->ctx, &r->sums));
cleanup:
    return status;
}

static kfe_status run_method(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t trials = r->group.count * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];
    int threads = 1;

    KFE_ALLOC_ZERO(r->ctx, r->parts, r->group.count);
    KFE_ALLOC_ZERO(r->ctx, r->trial_failures, trials);
    KFE_ALLOC_ZERO(r->ctx, r->trained, trials);
    KFE_TRY(share_sums(r));
    KFE_TRY(threads_for_fits(r, &threads));
    double began = kfe_i_clock();
    KFE_TRY(kfe_i_workers_run(r->ctx, "extracting features", threads, r->group.count, extract_task, r));
    double between = kfe_i_clock();
    KFE_TRY(learn_on_device(r, trials));
    KFE_TRY(kfe_i_workers_run(r->ctx, "learning", threads_for(r, trials), trials, measure_task, r));
    r->feature_seconds += between - began;
    r->learning_seconds += kfe_i_clock() - between;
    KFE_TRY(mark_failed_trials(r, trials));
    r->done += r->group.count;
    announce_long_runs(r);
cleanup:
    free_parts(r, trials);
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

/* Whether any setting with the current kernel is wanted on the splits of the group. */
static int kernel_is_wanted(const run *r)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t settings =
        grid->counts[KFE_AXIS_METHOD] * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];
    int64_t choice[KFE_AXIS_PLACES] = {r->choice[KFE_AXIS_FIT], r->choice[KFE_AXIS_KERNEL]};
    int64_t first = setting_of(grid, choice);

    for (int64_t place = 0; place < r->group.count; place++)
        for (int64_t c = first; c < first + settings; c++)
            if (is_wanted(r, r->group.members[place], c))
                return 1;
    return 0;
}

/* All methods with the current kernel, on one matrix for all splits if that pays off. */
static kfe_status run_shared(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_shared_matrix shared = {0};
    int shares = 0;
    double began = kfe_i_clock();

    KFE_TRY(kfe_i_group_can_share(&r->group, r->spec, r->sweep->grid->counts[KFE_AXIS_METHOD], &shares));
    if (shares) {
        KFE_TRY(kfe_i_group_fill(&r->group, r->spec, &shared));
        r->shared.matrix = &shared;
        KFE_TRY(kfe_i_train_cache_fill(&r->trains, r->sweep->data, r->spec, r->sweep->splits,
                                       r->group.members, r->group.count));
    }
    KFE_TRY(kfe_i_landmark_sums_make(&r->group, r->spec, &r->landmarks));
    r->matrix_seconds += kfe_i_clock() - began;
    KFE_TRY(run_methods(r));
cleanup:
    kfe_i_landmark_sums_free(&r->landmarks);
    r->shared.matrix = NULL;
    return status;
}

/* The current kernel on the splits of the group. `dependent` says which kernels have their turn: those that are resolved on
 * the training rows of a split (1) or those that are the same for all splits (0). The others are passed over. */
static kfe_status run_kernel(run *r, int dependent)
{
    kfe_status status = KFE_OK;
    int depends = 0;

    KFE_TRY(kfe_i_group_depends_on_rows(&r->group, r->spec, &depends));
    if (depends != dependent || !kernel_is_wanted(r))
        return KFE_OK;
    r->shared.keeps_units = !depends;
    status = run_shared(r);
    if (status != KFE_OK && kfe_i_group_leaves_device(&r->group))
        status = run_shared(r);
cleanup:
    return status;
}

/* All kernels of one kind (see run_kernel) on the splits of the group. */
static kfe_status run_group(run *r, int dependent)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;

    for (r->choice[KFE_AXIS_KERNEL] = 0; r->choice[KFE_AXIS_KERNEL] < grid->counts[KFE_AXIS_KERNEL];
         r->choice[KFE_AXIS_KERNEL]++) {
        r->choice[KFE_AXIS_METHOD] = 0;
        r->choice[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        status = run_kernel(r, dependent);
        if (kfe_i_is_failed_cell(status))
            status = mark_failed_kernel(r, status);
        KFE_TRY(status);
    }
cleanup:
    return status;
}

/* One choice of fit options: first the kernels that all splits share, then split by split the others. */
static kfe_status run_fit_options(run *r)
{
    kfe_status status = KFE_OK;
    int64_t splits = r->sweep->splits->count;

    kfe_i_train_cache_free(&r->trains);
    KFE_TRY(kfe_i_grid_apply(r->ctx, r->sweep->grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_FIT, r->spec));
    KFE_TRY(kfe_i_train_cache_init(r->ctx, r->sweep->data, r->spec, r->sweep->splits, &r->trains));
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

static kfe_status begin_run(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;

    KFE_TRY(kfe_i_sweep_check(r->ctx, sweep));
    KFE_TRY(kfe_i_cells_make(r->ctx, sweep->splits->count, grid->count, sweep->metric_count, r->cells));
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
    kfe_i_train_cache_free(&r->trains);
    kfe_i_row_sums_free(&r->sums);
    kfe_spec_free(r->spec);
}

static int64_t count_wanted(const kfe_i_sweep *sweep)
{
    int64_t cells = sweep->splits->count * sweep->grid->count;
    int64_t wanted = 0;

    for (int64_t i = 0; sweep->wanted && i < cells; i++)
        wanted += sweep->wanted[i] != 0;
    return sweep->wanted ? wanted : cells;
}

/* Fits the cells that are wanted; each stays in this process. */
static kfe_status run_cells(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    run r = {.ctx = ctx, .sweep = sweep, .cells = out, .learns_on_device = 1};

    KFE_TRY(begin_run(&r));
    for (r.choice[KFE_AXIS_FIT] = 0; r.choice[KFE_AXIS_FIT] < sweep->grid->counts[KFE_AXIS_FIT];
         r.choice[KFE_AXIS_FIT]++)
        KFE_TRY(run_fit_options(&r));
    kfe_i_log(ctx, KFE_LOG_DEBUG,
              "the search took %.3g s for kernel matrices, %.3g s for features, %.3g s for learning",
              r.matrix_seconds, r.feature_seconds, r.learning_seconds);
cleanup:
    end_run(&r);
    return status;
}

/* In a cluster: this process fits the cells that it is dealt, and gets the others. */
static kfe_status run_dealt_cells(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sweep own = *sweep;
    unsigned char *wanted = NULL;

    KFE_ALLOC(ctx, wanted, sweep->splits->count * sweep->grid->count);
    kfe_i_deal_cells(ctx, sweep, wanted);
    own.wanted = wanted;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(ctx);
    status = run_cells(ctx, &own, out);
    kfe_i_cluster_resume(ctx, cluster);
    if (status == KFE_OK)
        status = kfe_i_deal_exchange(ctx, sweep, out);
cleanup:
    kfe_i_free(ctx, wanted);
    return status;
}

kfe_status kfe_i_sweep_run(kfe_context *ctx, const kfe_i_sweep *asked, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    kfe_i_duplicates duplicates = {0};
    kfe_i_sweep once = *asked;

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_duplicates_find(ctx, asked->grid, asked->splits->count, asked->wanted, &duplicates));
    once.wanted = duplicates.first ? duplicates.wanted : asked->wanted;
    KFE_TRY(kfe_i_ranks(ctx) > 1 ? run_dealt_cells(ctx, &once, out) : run_cells(ctx, &once, out));
    if (out->failed > 0 && out->failed == count_wanted(&once))
        KFE_FAIL(ctx, out->failures[0].status, "%s", out->failures[0].reason);
    KFE_TRY(kfe_i_duplicates_fill(&duplicates, asked->wanted, out));
cleanup:
    kfe_i_duplicates_free(&duplicates);
    if (status != KFE_OK)
        kfe_i_cells_free(out);
    return status;
}
