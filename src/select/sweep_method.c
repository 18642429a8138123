/* SPDX-License-Identifier: Apache-2.0 */
/* Fits one method on the splits of a group, and tries all settings of the learner on its features. Called by sweep.c. */
#include "select/sweep_method.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/search.h"
#include "core/workers.h"
#include "gram/place.h"
#include "system/system.h"

/* Estimated times above this are logged. */
#define KFE_LONG_SECONDS 3600.0
/* No estimate before this much time has passed. */
#define KFE_WARM_SECONDS 5.0

int64_t kfe_i_sweep_setting(const kfe_i_grid *grid, const int64_t choice[KFE_AXIS_PLACES])
{
    int64_t index = 0;

    for (int p = 0; p < KFE_AXIS_PLACES; p++)
        index = index * grid->counts[p] + choice[p];
    return index;
}

int kfe_i_sweep_wants(const kfe_i_sweep_state *r, int64_t split, int64_t setting)
{
    return !r->sweep->wanted || r->sweep->wanted[split * r->sweep->grid->count + setting];
}

/* How many of the settings that this extraction serves are wanted on the split. */
static int64_t count_served(const kfe_i_sweep_state *r, int64_t split)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];
    int64_t count = 0;

    memcpy(choice, r->choice, sizeof choice);
    for (choice[KFE_AXIS_DIM] = 0; choice[KFE_AXIS_DIM] < grid->counts[KFE_AXIS_DIM]; choice[KFE_AXIS_DIM]++)
        for (choice[KFE_AXIS_LEARNER] = 0; choice[KFE_AXIS_LEARNER] < grid->counts[KFE_AXIS_LEARNER];
             choice[KFE_AXIS_LEARNER]++)
            count += kfe_i_sweep_wants(r, split, kfe_i_sweep_setting(grid, choice));
    return count;
}

/* ---- tasks ---- */

/* Keeps the reason of a fit that failed, so that the search goes on. */
static kfe_status keep_failure(kfe_context *worker, kfe_status result, kfe_i_task_failure *out)
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
static kfe_status extract(kfe_context *worker, const kfe_i_sweep_state *r, int64_t number, kfe_i_fold *out)
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
    kfe_i_sweep_state *r = user;
    int64_t split = r->group.members[task];
    kfe_i_extracted *part = &r->parts[task];
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
static int64_t trial_at(const kfe_i_sweep_state *r, int64_t task, int64_t choice[KFE_AXIS_PLACES])
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
    kfe_i_sweep_state *r = user;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];
    const kfe_i_extracted *part = &r->parts[trial_at(r, task, choice)];
    int64_t split = r->group.members[part - r->parts];
    int64_t cell = split * grid->count + kfe_i_sweep_setting(grid, choice);
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

    if (part->failure.reason || !kfe_i_sweep_wants(r, split, kfe_i_sweep_setting(grid, choice)))
        return KFE_OK;
    if (kfe_i_spec_calibration(r->spec) != KFE_CALIBRATION_NONE) {
        status = kfe_i_grid_spec(worker, grid, kfe_i_sweep_setting(grid, choice), &whole);
        if (status != KFE_OK)
            return status;
        trial.calibrated = whole;
    }
    status = kfe_i_fold_measure(
        worker, &part->fold, &trial,
        &(kfe_i_measured_fold){.values = r->cells->values + cell * sweep->metric_count,
                               .variances = r->cells->variances + cell * sweep->metric_count,
                               .residuals = r->cells->residuals + cell * 2 * r->cells->targets,
                               .predictions =
                                   r->cells->kept > 0 ? r->cells->predictions + cell * r->cells->kept : NULL,
                               .support_vectors = r->cells->support_vectors + cell});
    kfe_spec_free(whole);
    r->cells->seconds[cell] =
        part->seconds + (trial.trained ? part->learning_seconds : 0) + kfe_i_clock() - began;
    return keep_failure(worker, status, &r->trial_failures[task]);
}

/* ---- learning on a device ---- */

/* The settings of the learner that are wanted on a split with one number of features; their trials follow `first`. */
static int64_t list_wanted(const kfe_i_sweep_state *r, int64_t first, const void **settings, int64_t *tasks)
{
    int64_t choice[KFE_AXIS_PLACES];
    int64_t count = 0;

    for (int64_t l = 0; l < r->sweep->grid->counts[KFE_AXIS_LEARNER]; l++) {
        int64_t place = trial_at(r, first + l, choice);
        if (r->parts[place].failure.reason ||
            !kfe_i_sweep_wants(r, r->group.members[place], kfe_i_sweep_setting(r->sweep->grid, choice)))
            continue;
        settings[count] = r->learners[l]->learner_settings;
        tasks[count++] = first + l;
    }
    return count;
}

/* Learns these trials of one split in one call. */
static kfe_status learn_at_once(kfe_i_sweep_state *r, const void *const *settings, const int64_t *tasks,
                                int64_t count, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t choice[KFE_AXIS_PLACES];
    kfe_i_extracted *part = &r->parts[trial_at(r, tasks[0], choice)];
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
static kfe_status learn_on_device(kfe_i_sweep_state *r, int64_t trials)
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

kfe_status kfe_i_sweep_fail_cell(kfe_i_sweep_state *r, int64_t split, const int64_t choice[KFE_AXIS_PLACES],
                                 const kfe_i_task_failure *failure)
{
    int64_t setting = kfe_i_sweep_setting(r->sweep->grid, choice);
    int64_t metrics = r->sweep->metric_count;
    double *values = r->cells->values + (split * r->sweep->grid->count + setting) * metrics;

    if (!kfe_i_sweep_wants(r, split, setting))
        return KFE_OK;
    for (int64_t m = 0; m < metrics; m++)
        values[m] = NAN;
    kfe_i_cells_clear_residuals(r->cells, split, setting);
    return kfe_i_cells_fail(r->cells, split, setting, failure->status, failure->reason);
}

/* Marks the cells whose extraction or trial failed, in the order of tasks. */
static kfe_status mark_failed_trials(kfe_i_sweep_state *r, int64_t trials)
{
    kfe_status status = KFE_OK;
    int64_t choice[KFE_AXIS_PLACES];

    for (int64_t task = 0; task < trials; task++) {
        int64_t place = trial_at(r, task, choice);
        const kfe_i_task_failure *failure = &r->parts[place].failure;
        if (!failure->reason)
            failure = &r->trial_failures[task];
        if (failure->reason)
            KFE_TRY(kfe_i_sweep_fail_cell(r, r->group.members[place], choice, failure));
    }
cleanup:
    return status;
}

/* ---- all splits of the group ---- */

/* With fewer tasks than threads it is better to use the threads inside of each; functions of the user are
 * promised one thread at a time. */
static int threads_for(const kfe_i_sweep_state *r, int64_t tasks)
{
    int threads = kfe_context_threads(r->ctx);
    return tasks < threads || kfe_i_has_user_kernel(r->spec) ? 1 : threads;
}

/* A device serves one thread, so that fits on it take their turns. */
static kfe_status threads_for_fits(const kfe_i_sweep_state *r, int *threads)
{
    kfe_status status = KFE_OK;
    double rows = (double)r->group.row_count;
    int by_kernel = r->spec->method->flags & KFE_HAS_KERNELS || kfe_i_spec_learns_from_kernel(r->spec);
    int in_host = r->shared.matrix && !r->shared.matrix->device;
    kfe_i_device *device = NULL;

    if (by_kernel && !in_host)
        KFE_TRY(kfe_i_choose_device(r->ctx, rows * rows, &device));
    *threads = device ? 1 : threads_for(r, r->group.count);
cleanup:
    return status;
}

/* Says once how long a long search will take, when there is enough to estimate from. */
static void announce_long_runs(kfe_i_sweep_state *r)
{
    double spent = kfe_i_clock() - r->began;
    double left = spent / (double)r->done * (double)(r->total - r->done);

    if (r->announced || spent < KFE_WARM_SECONDS || left < KFE_LONG_SECONDS)
        return;
    r->announced = 1;
    kfe_i_log(r->ctx, KFE_LOG_NOTICE, "%lld of %lld fits took %.3g s; the others will take about %.1f hours",
              (long long)r->done, (long long)r->total, spent, left / 3600);
}

static void free_parts(kfe_i_sweep_state *r, int64_t trials)
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

static int has_few_test_rows(const kfe_i_sweep_state *r)
{
    for (int64_t i = 0; i < r->group.count; i++)
        if (r->sweep->splits->items[r->group.members[i]].test_count > kfe_i_row_sums_few(&r->sums))
            return 0;
    return 1;
}

/* Makes the sums over the rows of the group, where they serve its splits. */
static kfe_status share_sums(kfe_i_sweep_state *r)
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
    const kfe_i_row_parts parts = {r->group.splits, r->group.members, r->group.count};
    KFE_TRY(kfe_i_row_sums_make(r->ctx, r->sweep->data, r->group.rows, r->group.row_count, &parts, &r->sums));
    r->shared.sums = &r->sums;
    if (r->sums.count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_sum_plan_make(r->ctx, r->spec, r->learners, learners, r->sweep->data, &r->plan));
    if (r->plan.kind == KFE_SCALE_AUTO &&
        r->group.count > 1) /* splits that auto would scale are not grouped */
        r->plan.kind = KFE_SCALE_NONE;
    if (r->plan.usable && r->plan.kind == KFE_SCALE_NONE &&
        kfe_i_method_use(r->spec->method, r->spec->settings, KFE_OFFER_SPECTRUM, NULL) &&
        has_few_test_rows(r))
        KFE_TRY(kfe_i_row_sums_rotate(r->ctx, &r->sums));
cleanup:
    return status;
}

kfe_status kfe_i_sweep_run_method(kfe_i_sweep_state *r)
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
