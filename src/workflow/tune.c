/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_tune: the answer to "which method, which kernel, which width?" within a budget. Used by `kfe tune` and kfe.tune.
 *
 * The error that is reported is honest: it is measured on rows that took no part in any choice. Up to 5,000 rows,
 * these are the test parts of outer folds: the whole search is made once more on each training part. Larger data: one
 * part is held out, and the search sees the rest only.
 */
#include "workflow/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/search.h"
#include "model/identity.h"
#include "system/system.h"

enum { FOLDS_UP_TO = 5000 };
enum { ASSESS_AUTO, ASSESS_FOLDS, ASSESS_HELD_OUT };
enum { KERNEL_ANY, KERNEL_PRECOMPUTED };

typedef struct tune_settings {
    char time[KFE_PARAM_TEXT_SIZE];
    int64_t trials;
    int assess, kernel;
    int64_t folds;
    char metrics[KFE_PARAM_TEXT_SIZE];
    char positive[KFE_PARAM_TEXT_SIZE];
    char prepare[KFE_PARAM_TEXT_SIZE], grid[KFE_PARAM_TEXT_SIZE];
} tune_settings;

static const kfe_i_param rows[] = {
    KFE_TEXT(
        tune_settings, time, "time", "60s",
        "time for the search, such as 60s, 10m or 2h, or none; while it does not end the search, the result "
        "depends on the seed only"),
    KFE_INT(tune_settings, trials, "trials", "0", 0, KFE_INT_MAX,
            "try this many settings, spread evenly over all candidates; 0: all"),
    KFE_CHOICE(
        tune_settings, assess, "assess", "auto", "auto|folds|held-out",
        "how the error is measured on rows that took no part in choosing: outer folds, or one part held out; "
        "auto: folds up to 5000 rows"),
    KFE_INT(tune_settings, folds, "folds", "5", 2, KFE_INT_MAX,
            "number of outer folds; one of them is held out"),
    KFE_CHOICE(tune_settings, kernel, "kernel", "any", "any|precomputed",
               "what the data is: rows for any kernel, or a kernel matrix between all examples"),
    KFE_TEXT(tune_settings, metrics, "metrics", "",
             "what to measure, as NAME;NAME;…; the first decides; accuracy or rmse unless given"),
    KFE_TEXT(tune_settings, positive, "positive", "", KFE_POSITIVE_HELP),
    KFE_TEXT(tune_settings, prepare, "prepare", KFE_CHAIN_NONE,
             "chains of steps that prepare each row, to try before every candidate, separated by |, such as "
             "none|snv|snv,sg:derivative=1; learned on training rows only"),
    KFE_TEXT(tune_settings, grid, "grid", "",
             "settings of these steps to try, as sg.window=7,11,15;sg.order=2,3"),
};
static const kfe_i_param_table params = KFE_PARAM_TABLE(rows, tune_settings);

const kfe_param_info *kfe_tune_option(int index)
{
    return kfe_i_param_info(&params, index);
}

/* "90", "90s", "10m", "2h"; "none" means no limit. */
static kfe_status parse_time(kfe_context *ctx, const char *text, double *seconds)
{
    char *unit = NULL;
    double value = strtod(text, &unit);

    *seconds = 0;
    if (strcmp(text, "none") == 0)
        return KFE_OK;
    if (unit == text || !(value > 0) || !isfinite(value) || (*unit && (unit[1] || !strchr("smh", *unit))))
        return kfe_i_fail(ctx, KFE_EINVAL, "{time} takes a time such as 60s, 10m or 2h, or none, not '%s'",
                          text);
    *seconds = value * (*unit == 'h' ? 3600 : *unit == 'm' ? 60 : 1);
    return KFE_OK;
}

/* ---- preparation ---- */

static kfe_status check_data(kfe_context *ctx, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &data->target;

    if (target->task == KFE_TASK_NONE)
        KFE_FAIL(ctx, KFE_EINPUT, "a search needs something to predict; give {labels}");
    if (target->task == KFE_TASK_CLASSES && target->class_count < 2)
        KFE_FAIL(ctx, KFE_EINPUT, "there is nothing to predict: every example is of class '%s'",
                 target->names[0]);
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_check_view(ctx, &data->views[v]));
cleanup:
    return status;
}

static int is_symmetric(const kfe_i_table *table)
{
    if (table->kind != KFE_TABLE_DENSE || table->rows != table->cols || table->rows < 2)
        return 0;
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < i; j++)
            if (kfe_i_table_value(table, i, j) != kfe_i_table_value(table, j, i))
                return 0;
    return 1;
}

/* Whether the data is a kernel matrix: only if the user says so, but a symmetric table is remarked on. */
static kfe_status check_given_kernel(kfe_i_tune *tune, const tune_settings *settings)
{
    const kfe_data *data = tune->data;
    const kfe_i_table *table = &data->views[0].table;

    tune->given_kernel = settings->kernel == KERNEL_PRECOMPUTED;
    if (tune->given_kernel && data->view_count > 1)
        return kfe_i_fail(
            tune->ctx, KFE_EUNSUPPORTED,
            "{kernel=precomputed} takes one kernel matrix, not %d; add them up first, or compare "
            "methods such as mkl",
            data->view_count);
    if (tune->given_kernel && table->rows != table->cols)
        return kfe_i_fail(
            tune->ctx, KFE_EINPUT,
            "a kernel matrix has as many columns as rows; this one has %lld rows and %lld columns",
            (long long)table->rows, (long long)table->cols);
    if (!tune->given_kernel && data->view_count == 1 && is_symmetric(table))
        kfe_i_log(
            tune->ctx, KFE_LOG_WARNING,
            "the table is symmetric, as kernel matrices are, but its columns are taken as measurements; "
            "{kernel=precomputed} takes it as a kernel matrix");
    return KFE_OK;
}

static kfe_status make_outer(kfe_i_tune *tune, const tune_settings *settings)
{
    kfe_status status = KFE_OK;
    const kfe_i_split_rows all = kfe_i_split_all(tune->data);

    tune->held_out = settings->assess == ASSESS_HELD_OUT ||
                     (settings->assess == ASSESS_AUTO && kfe_i_split_count(&all) > FOLDS_UP_TO);
    KFE_TRY(kfe_i_tune_outer(tune, settings->folds));
    KFE_ALLOC_ZERO(tune->ctx, tune->winners, tune->searchers);
    KFE_ALLOC_ZERO(tune->ctx, tune->fold_begin, tune->searchers + 1);
    const kfe_i_target *target = &tune->data->target;
    const kfe_i_cells shape = {.splits = tune->outer.count,
                               .settings = 1,
                               .metrics = tune->metric_count,
                               .targets = target->task == KFE_TASK_REAL ? target->cols : 0};
    KFE_TRY(kfe_i_cells_make(tune->ctx, &shape, &tune->honest));
    KFE_TRY(kfe_i_held_out_make(tune->ctx, target, &tune->outer, &tune->held_out_truth));
    KFE_TRY(kfe_i_extent_of(tune->ctx, &tune->outer, &tune->extent));
cleanup:
    return status;
}

static kfe_status begin(kfe_i_tune *tune, const tune_settings *settings)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &tune->data->target;

    KFE_TRY(check_data(tune->ctx, tune->data));
    KFE_TRY(check_given_kernel(tune, settings));
    KFE_TRY(kfe_i_metric_list(tune->ctx, settings->metrics, target->task, KFE_MOST_METRICS, tune->metrics,
                              &tune->metric_count));
    if (tune->metric_count == 0)
        tune->metrics[tune->metric_count++] = kfe_i_metric_default(target->task);
    KFE_TRY(kfe_i_find_positive(tune->ctx, target->class_count, target->names, settings->positive,
                                &tune->positive));
    KFE_TRY(kfe_i_tune_chains_suit(tune));
    KFE_TRY(make_outer(tune, settings));
    KFE_TRY(kfe_i_tune_candidates(tune));
cleanup:
    return status;
}

static void tune_free(kfe_i_tune *tune)
{
    for (int64_t e = 0; e < tune->entry_count; e++)
        kfe_i_entry_free(tune->ctx, &tune->entries[e]);
    kfe_i_free(tune->ctx, tune->entries);
    kfe_i_strings_free(tune->ctx, tune->chain_count, tune->chains);
    kfe_i_free(tune->ctx, tune->winners);
    kfe_i_free(tune->ctx, tune->fold_begin);
    kfe_i_free(tune->ctx, tune->owner_of);
    kfe_i_cells_free(&tune->honest);
    kfe_i_held_out_free(&tune->held_out_truth);
    kfe_i_held_out_free(&tune->truth);
    kfe_i_splits_free(&tune->outer);
    for (int64_t o = 0; tune->keys && o < tune->searchers; o++)
        kfe_i_free(tune->ctx, tune->keys[o]);
    kfe_i_free(tune->ctx, tune->keys);
}

/* ---- the honest error ---- */

/* Fits the winner of a searcher on the training part of its outer split and measures it on the test part. */
static kfe_status measure_winner(kfe_i_tune *tune, int64_t split)
{
    kfe_status status = KFE_OK;
    const kfe_i_winner *winner = &tune->winners[tune->held_out ? split : split + 1];
    const kfe_i_entry *entry = &tune->entries[winner->entry];
    kfe_i_splits one = {.ctx = tune->ctx, .items = &tune->outer.items[split], .count = 1};
    kfe_i_cells cells = {0};
    unsigned char *wanted = NULL;
    kfe_i_sweep sweep = {.data = tune->data,
                         .grid = &entry->grid,
                         .splits = &one,
                         .metrics = tune->metrics,
                         .metric_count = tune->metric_count,
                         .positive = tune->positive};

    KFE_ALLOC_ZERO(tune->ctx, wanted, entry->grid.count);
    wanted[winner->setting] = 1;
    sweep.wanted = wanted;
    KFE_TRY(kfe_i_sweep_run(tune->ctx, &sweep, &cells));
    kfe_i_cells_copy(&cells, winner->setting, &tune->honest, split);
    tune->fits++;
cleanup:
    kfe_i_cells_free(&cells);
    kfe_i_free(tune->ctx, wanted);
    return status;
}

/* ---- the model ---- */

static kfe_status fit_winner(kfe_i_tune *tune, kfe_model **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_winner *winner = &tune->winners[0];
    kfe_spec *spec = NULL;

    KFE_TRY(kfe_i_grid_spec(tune->ctx, &tune->entries[winner->entry].grid, winner->setting, &spec));
    KFE_TRY(kfe_fit(tune->ctx, spec, tune->data, out));
cleanup:
    kfe_spec_free(spec);
    return status;
}

/* Rough: the first rung, and what halving leaves of it. */
static int64_t expected_fits(const kfe_i_tune *tune)
{
    int64_t settings = 0;

    for (int64_t e = 0; e < tune->entry_count; e++)
        settings += tune->entries[e].grid.count;
    if (tune->trials > 0 && tune->trials < settings)
        settings = tune->trials;
    return tune->searchers * (settings + 2 * settings / 4 + 3 * settings / 16);
}

/* The search, and its error. Warnings are about settings that the user did not choose, so that they only go to a verbose
 * log. */
static kfe_status search_and_measure(kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;
    kfe_i_search search = {0};

    kfe_i_search_begin(tune->ctx, expected_fits(tune), &search);
    search.level = KFE_LOG_INFO;
    KFE_TRY(kfe_i_tune_search(tune));
    for (int64_t s = 0; s < tune->outer.count; s++)
        KFE_TRY(measure_winner(tune, s));
cleanup:
    return kfe_i_search_end(&search, status);
}

static kfe_status run_tune(kfe_i_tune *tune, kfe_model **best, kfe_result **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(search_and_measure(tune));
    if (best)
        KFE_TRY(fit_winner(tune, best));
    if (tune->out_of_time)
        kfe_i_log(
            tune->ctx, KFE_LOG_WARNING,
            "the time ended the search: not everything was tried, and the result depends on the speed of the "
            "machine; raise {time}, or use {trials}");
    KFE_TRY(kfe_i_tuning_result(tune, out));
cleanup:
    return status;
}

kfe_status kfe_tune(kfe_context *ctx, const kfe_data *data, const char *options, kfe_model **best,
                    kfe_result **out)
{
    kfe_status status = KFE_OK;
    tune_settings settings;
    kfe_data own = {0};
    kfe_i_tune tune = {.ctx = ctx, .data = data, .began = kfe_i_clock()};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);
    kfe_i_cluster *cluster = NULL;

    *out = NULL;
    if (best)
        *best = NULL;
    if (data)
        KFE_TRY(kfe_i_check_same_call(ctx, &(kfe_i_call){.name = "tune", .options = options}, data));
    /* processes would not reach a limit of time at the same fit */
    cluster = kfe_i_cluster_pause(ctx);
    KFE_TRY(kfe_i_params_default(ctx, &params, &settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, "tune", &settings, options));
    KFE_TRY(parse_time(ctx, settings.time, &tune.seconds));
    KFE_TRY(kfe_i_metric_names_check(ctx, settings.metrics));
    KFE_TRY(kfe_i_tune_chains(&tune, settings.prepare, settings.grid));
    if (!data)
        goto cleanup;
    KFE_TRY(kfe_i_data_forget_classes(ctx, data, &own, &tune.data));
    tune.trials = settings.trials;
    KFE_TRY(begin(&tune, &settings));
    KFE_TRY(run_tune(&tune, best, out));
cleanup:
    if (status != KFE_OK && best) {
        kfe_model_free(*best);
        *best = NULL;
    }
    tune_free(&tune);
    kfe_i_target_free(&own.target);
    if (cluster)
        kfe_i_cluster_resume(ctx, cluster);
    kfe_i_threads_leave(saved_threads);
    return status;
}
