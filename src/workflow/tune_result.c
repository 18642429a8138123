/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of kfe_tune: the honest error, and the candidates ranked by the error of their best setting on the inner
 * folds. p is that of the corrected paired t-test against the first of the ranking, on the folds
 * that both were measured on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "system/system.h"
#include "text/scores.h"
#include "workflow/tune.h"

typedef struct ranked {
    const kfe_i_candidate *candidate;
    int64_t entry, setting, folds; /* the best setting; folds 0: none was measured */
    kfe_i_estimate estimate;       /* over these folds */
    double p;
    double score; /* higher is better */
    double seconds;
    int64_t fits, settings;
    const char *reason; /* of a candidate without a setting */
} ranked;

typedef struct ranking {
    const kfe_i_tune *tune;
    ranked *items;
    int64_t count;
} ranking;

/* ---- ranking ---- */

static const double *fold_values(const kfe_i_tune *tune, int64_t entry, int64_t setting)
{
    return tune->entries[entry].values + setting * tune->searchers * KFE_TUNE_FOLDS;
}

/* Over the inner folds of all rows that are searched, which have about the same size. */
static kfe_i_estimate fold_estimate(const kfe_i_tune *tune, int64_t entry, int64_t setting)
{
    const kfe_i_split_rows searched = kfe_i_tune_rows(tune, 0);
    int64_t folds = kfe_i_tune_folds(tune, 0);
    const kfe_i_extent extent = {
        .count = folds, .test_share = 1 / ((double)folds - 1), .rows = (double)kfe_i_split_count(&searched)};
    int64_t begin = setting * tune->searchers * KFE_TUNE_FOLDS;

    kfe_i_estimate estimate = kfe_i_estimate_over(&extent, tune->entries[entry].values + begin,
                                                  tune->entries[entry].variances + begin, 1);
    kfe_i_pooled pooled = kfe_i_entry_pooled(tune, &tune->entries[entry], setting, 0, &extent);
    kfe_i_estimate_pool(tune->metrics[0], &pooled, &estimate);
    return estimate;
}

/* Takes the better of two settings: the one on more folds, and of these the one with the better mean. */
static void offer(const kfe_i_tune *tune, ranked *r, int64_t entry, int64_t setting)
{
    int64_t folds = 0;
    double mean = kfe_i_entry_mean(tune, &tune->entries[entry], setting, 0, &folds);

    if (folds == 0 || folds < r->folds ||
        (folds == r->folds && !kfe_i_is_better(tune->metrics[0], mean, r->estimate.mean)))
        return;
    r->entry = entry;
    r->setting = setting;
    r->folds = folds;
    r->estimate = fold_estimate(tune, entry, setting);
    r->score = tune->metrics[0]->larger_is_better ? mean : -mean;
}

static void add_entry(ranking *list, int64_t e)
{
    const kfe_i_entry *entry = &list->tune->entries[e];
    ranked *r = NULL;

    for (int64_t i = 0; i < list->count && !r; i++)
        if (list->items[i].candidate == entry->candidate)
            r = &list->items[i];
    if (!r) {
        r = &list->items[list->count++];
        *r = (ranked){.candidate = entry->candidate, .estimate = {NAN, NAN, NAN}, .p = NAN};
    }
    r->seconds += entry->seconds;
    r->fits += entry->fits;
    r->settings += entry->grid.count;
    if (!r->reason)
        r->reason = entry->reason;
    for (int64_t c = 0; c < entry->grid.count; c++)
        offer(list->tune, r, e, c);
}

/* Orders settings by number of folds, largest first, then by score. */
static int compare_ranked(const void *a, const void *b)
{
    const ranked *first = a;
    const ranked *second = b;

    if (first->folds != second->folds)
        return first->folds < second->folds ? 1 : -1;
    if (first->score != second->score)
        return first->score < second->score ? 1 : -1;
    return first->entry < second->entry ? -1 : first->entry > second->entry;
}

/* The winner stands first, also among equals. */
static void put_winner_first(ranking *list)
{
    const kfe_i_candidate *winner = list->tune->entries[list->tune->winners[0].entry].candidate;

    for (int64_t i = list->count - 1; i > 0; i--)
        if (list->items[i].candidate == winner) {
            ranked swap = list->items[i - 1];
            list->items[i - 1] = list->items[i];
            list->items[i] = swap;
        }
}

static void test_against_first(ranking *list)
{
    const kfe_i_tune *tune = list->tune;
    const kfe_i_tested first = {fold_values(tune, list->items[0].entry, list->items[0].setting), 1};
    double test_share = 1 / ((double)kfe_i_tune_folds(tune, 0) - 1);

    for (int64_t i = 1; i < list->count; i++) {
        const ranked *item = &list->items[i];
        if (item->folds > 0)
            list->items[i].p =
                kfe_i_paired_t(KFE_TUNE_FOLDS,
                               (kfe_i_tested){fold_values(tune, item->entry, item->setting), 1}, first,
                               test_share)
                    .p;
    }
}

static kfe_status rank_candidates(const kfe_i_tune *tune, ranking *list)
{
    kfe_status status = KFE_OK;

    list->tune = tune;
    KFE_ALLOC_ZERO(tune->ctx, list->items, tune->entry_count);
    for (int64_t e = 0; e < tune->entry_count; e++)
        add_entry(list, e);
    qsort(list->items, (size_t)list->count, sizeof *list->items, compare_ranked);
    put_winner_first(list);
    test_against_first(list);
cleanup:
    return status;
}

/* ---- the result ---- */

static void put_names(kfe_i_result_table *table, const char *group, const kfe_i_candidate *candidate)
{
    kfe_i_put_text(table, group, "candidate", candidate->name);
    kfe_i_put_text(table, group, "method", candidate->method);
    kfe_i_put_text(table, group, "kernel", candidate->kernel);
    kfe_i_put_text(table, group, "learner", candidate->learner);
}

static void put_ranked(kfe_i_result_table *table, const kfe_i_tune *tune, const ranked *r)
{
    kfe_i_result_row(table);
    put_names(table, NULL, r->candidate);
    kfe_i_put_flag(table, NULL, "baseline", (r->candidate->flags & KFE_TUNE_BASELINE) != 0);
    kfe_i_put_count(table, NULL, "settings", r->settings);
    kfe_i_put_count(table, NULL, "fits", r->fits);
    kfe_i_put_real(table, NULL, "seconds", r->seconds);
    kfe_i_put_count(table, NULL, "folds", r->folds);
    if (r->folds > 0) {
        kfe_i_put_real(table, NULL, "mean", r->estimate.mean);
        kfe_i_put_real(table, NULL, "standard_error", r->estimate.error);
        kfe_i_put_real(table, NULL, "sd", r->estimate.sd);
        kfe_i_put_real(table, NULL, "p", r->p);
        kfe_i_add_setting(table, "setting", &tune->entries[r->entry].grid, r->setting);
    }
    kfe_i_put_text(table, NULL, "reason", r->reason);
}

static void put_honest_split(kfe_i_result_table *table, const kfe_i_tune *tune, int64_t s)
{
    const kfe_i_winner *winner = &tune->winners[tune->held_out ? s : s + 1];
    const kfe_i_entry *entry = &tune->entries[winner->entry];

    kfe_i_result_row(table);
    kfe_i_put_count(table, NULL, "test_rows", tune->outer.items[s].test_count);
    put_names(table, NULL, entry->candidate);
    kfe_i_add_setting(table, "setting", &entry->grid, winner->setting);
    for (int64_t m = 0; m < tune->metric_count; m++) {
        kfe_i_put_real(table, "metrics", tune->metrics[m]->name,
                       tune->honest.values[s * tune->metric_count + m]);
        kfe_i_put_about(table, tune->metrics[m]->summary);
    }
}

static void put_honest(kfe_i_result_table *facts, const kfe_i_tune *tune)
{
    kfe_i_pooled pooled =
        kfe_i_pool(&tune->held_out_truth, &tune->honest, (kfe_i_pick){.setting = 0}, &tune->extent, -1);

    kfe_i_put_text(facts, "honest", "measured_on", tune->held_out ? "held-out" : "folds");
    for (int64_t m = 0; m < tune->metric_count; m++) {
        kfe_i_estimate estimate = kfe_i_estimate_over(&tune->extent, tune->honest.values + m,
                                                      tune->honest.variances + m, tune->metric_count);
        kfe_i_estimate_pool(tune->metrics[m], &pooled, &estimate);
        kfe_i_add_estimate(facts, "honest/metrics", tune->metrics[m]->name, estimate);
    }
    if (tune->held_out_truth.cols > 0)
        kfe_i_put_pooled_errors(facts, "honest/pooled", &pooled);
    kfe_i_result_table *splits = kfe_i_result_add(facts, "honest", "splits", 0);
    for (int64_t s = 0; s < tune->outer.count; s++)
        put_honest_split(splits, tune, s);
}

static kfe_status put_best(kfe_i_result_table *facts, const kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;
    const kfe_i_winner *winner = &tune->winners[0];
    const kfe_i_entry *entry = &tune->entries[winner->entry];
    kfe_spec *spec = NULL;
    kfe_i_text text;

    kfe_i_text_init(&text, tune->ctx);
    KFE_TRY(kfe_i_grid_spec(tune->ctx, &entry->grid, winner->setting, &spec));
    kfe_i_spec_long_label(spec, &text);
    KFE_TRY(text.status);
    put_names(facts, "best", entry->candidate);
    kfe_i_add_setting(facts, "best/setting", &entry->grid, winner->setting);
    kfe_i_put_text(facts, "best", "spec", text.bytes);
    kfe_i_result_table *edges = kfe_i_result_add(facts, NULL, "edges", 0);
    for (int64_t i = 0; i < entry->grid.axis_count; i++)
        kfe_i_add_edge(edges, &entry->grid, winner->setting, i,
                       kfe_i_tune_edge(tune, winner->entry, winner->setting, i));
cleanup:
    kfe_i_text_free(&text);
    kfe_spec_free(spec);
    return status;
}

kfe_status kfe_i_tuning_result(const kfe_i_tune *tune, kfe_result **out)
{
    kfe_status status = KFE_OK;
    ranking list = {0};
    kfe_result *result = NULL;

    *out = NULL;
    KFE_TRY(rank_candidates(tune, &list));
    KFE_TRY(kfe_i_result_new(tune->ctx, &result));
    kfe_i_result_table *facts = kfe_i_result_facts(result);
    kfe_i_put_text(facts, NULL, "metric", tune->metrics[0]->name);
    KFE_TRY(put_best(facts, tune));
    put_honest(facts, tune);
    kfe_i_result_table *table = kfe_i_result_add(facts, NULL, "ranking", 0);
    for (int64_t i = 0; i < list.count; i++)
        put_ranked(table, tune, &list.items[i]);
    kfe_i_put_count(facts, NULL, "fits", tune->fits);
    kfe_i_put_flag(facts, NULL, "out_of_time", tune->out_of_time);
    kfe_i_put_real(facts, NULL, "seconds", kfe_i_clock() - tune->began);
    status = kfe_i_result_finish(result, out);
    result = NULL;
cleanup:
    kfe_result_free(result);
    kfe_i_free(tune->ctx, list.items);
    return status;
}
