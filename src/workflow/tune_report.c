/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of kfe_tune as text and JSON: the honest error, and the candidates ranked by the error of their best
 * setting on the inner folds. p is that of the corrected paired t-test against the first of the ranking, on the folds
 * that both were measured on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/memory.h"
#include "report/scores.h"
#include "system/system.h"
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

/* Over the inner folds of all rows that are searched; their sizes differ by one row at most. */
static kfe_i_estimate fold_estimate(const kfe_i_tune *tune, int64_t entry, int64_t setting)
{
    const kfe_i_split_rows searched = kfe_i_tune_rows(tune, 0);
    int64_t folds = kfe_i_tune_folds(tune, 0);
    const kfe_i_extent extent = {
        .count = folds, .test_share = 1 / ((double)folds - 1), .rows = (double)kfe_i_split_count(&searched)};
    int64_t begin = setting * tune->searchers * KFE_TUNE_FOLDS;

    return kfe_i_estimate_over(&extent, tune->entries[entry].values + begin,
                               tune->entries[entry].variances + begin, 1);
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
    const double *first = fold_values(tune, list->items[0].entry, list->items[0].setting);
    double test_share = 1 / ((double)kfe_i_tune_folds(tune, 0) - 1);

    for (int64_t i = 1; i < list->count; i++) {
        double a[KFE_TUNE_FOLDS];
        double b[KFE_TUNE_FOLDS];
        int64_t pairs = 0;
        const double *values = fold_values(tune, list->items[i].entry, list->items[i].setting);
        for (int f = 0; list->items[i].folds > 0 && f < KFE_TUNE_FOLDS; f++)
            if (!isnan(first[f]) && !isnan(values[f])) {
                a[pairs] = values[f];
                b[pairs++] = first[f];
            }
        list->items[i].p = pairs > 1 ? kfe_i_corrected_t(pairs, a, b, test_share).p : NAN;
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

/* ---- the honest error ---- */

static kfe_i_estimate honest(const kfe_i_tune *tune, int64_t metric)
{
    return kfe_i_estimate_over(&tune->extent, tune->honest + metric, tune->honest_variances + metric,
                               tune->metric_count);
}

static void add_honest(const kfe_i_tune *tune, kfe_i_text *text)
{
    for (int64_t m = 0; m < tune->metric_count; m++) {
        kfe_i_estimate estimate = honest(tune, m);
        kfe_i_text_printf(text, "%s ", tune->metrics[m]->name);
        kfe_i_put_estimate(text, estimate);
        kfe_i_put_meaning(text, estimate, tune->outer.count);
        if (tune->held_out)
            kfe_i_text_printf(text, " on %lld examples held out, which took no part in choosing\n",
                              (long long)tune->outer.items[0].test_count);
        else
            kfe_i_text_printf(text, " on %lld outer folds, which took no part in choosing\n",
                              (long long)tune->outer.count);
    }
}

/* ---- text ---- */

static void put_setting(const kfe_i_tune *tune, int64_t entry, int64_t setting, kfe_i_text *text)
{
    kfe_i_grid_describe(&tune->entries[entry].grid, setting, text);
}

/* Width of the column of names. */
static int name_width(const ranking *list)
{
    size_t width = 22;

    for (int64_t i = 0; i < list->count; i++)
        if (strlen(list->items[i].candidate->name) > width)
            width = strlen(list->items[i].candidate->name);
    return (int)width + 2;
}

static void add_row(const ranking *list, int64_t i, kfe_i_text *text)
{
    const ranked *r = &list->items[i];
    kfe_i_text cell;

    kfe_i_text_printf(text, "%4lld  %-*s", (long long)i + 1, name_width(list), r->candidate->name);
    if (r->folds == 0) {
        kfe_i_text_printf(text, "  %s\n", r->reason ? r->reason : "not tried");
        return;
    }
    kfe_i_text_init(&cell, list->tune->ctx);
    kfe_i_put_estimate(&cell, r->estimate);
    if (cell.status != KFE_OK)
        text->status = cell.status;
    else /* ± has two bytes */
        kfe_i_text_printf(text, "%*s", strstr(cell.bytes, "±") ? 19 : 18, cell.bytes);
    kfe_i_text_free(&cell);
    if (isnan(r->p))
        kfe_i_text_printf(text, "%8s", "-");
    else
        kfe_i_text_printf(text, "%8.2g", r->p);
    kfe_i_text_printf(text, "%7lld%9.2g   ", (long long)r->folds, r->seconds);
    put_setting(list->tune, r->entry, r->setting, text);
    kfe_i_text_puts(text, "\n");
}

static void add_edges(const kfe_i_tune *tune, kfe_i_text *text)
{
    const kfe_i_winner *winner = &tune->winners[0];
    const kfe_i_grid *grid = &tune->entries[winner->entry].grid;

    for (int64_t i = 0; i < grid->axis_count; i++) {
        int side = kfe_i_tune_edge(tune, winner->entry, winner->setting, i);
        if (side != 0)
            kfe_i_text_printf(text, "best value at the edge of the grid: %s=%s is the %s that was tried\n",
                              grid->axes[i].label, kfe_i_grid_value(grid, winner->setting, i),
                              side < 0 ? "smallest" : "largest");
    }
}

static kfe_status put_command(const kfe_i_tune *tune, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    const kfe_i_winner *winner = &tune->winners[0];

    KFE_TRY(kfe_i_grid_spec(tune->ctx, &tune->entries[winner->entry].grid, winner->setting, &spec));
    kfe_i_spec_long_label(spec, text);
cleanup:
    kfe_spec_free(spec);
    return status;
}

static kfe_status as_text(const ranking *list, char **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_tune *tune = list->tune;
    kfe_i_text text;

    kfe_i_text_init(&text, tune->ctx);
    kfe_i_text_printf(&text, "rank  %-*s%18s%8s%7s%9s   %s\n", name_width(list), "candidate",
                      tune->metrics[0]->name, "p", "folds", "seconds", "best setting");
    for (int64_t i = 0; i < list->count; i++)
        add_row(list, i, &text);
    kfe_i_text_puts(&text, "± is the standard error of the mean over the folds\nbest: ");
    KFE_TRY(put_command(tune, &text));
    kfe_i_text_puts(&text, "\n");
    add_edges(tune, &text);
    add_honest(tune, &text);
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    return status;
}

/* ---- JSON ---- */

static void write_setting(kfe_i_json *json, const char *key, const kfe_i_grid *grid, int64_t setting)
{
    kfe_i_json_object(json, key);
    for (int64_t i = 0; i < grid->axis_count; i++)
        kfe_i_json_text(json, grid->axes[i].label, kfe_i_grid_value(grid, setting, i));
    kfe_i_json_end(json);
}

static void write_names(kfe_i_json *json, const kfe_i_candidate *candidate)
{
    kfe_i_json_text(json, "candidate", candidate->name);
    kfe_i_json_text(json, "method", candidate->method);
    if (candidate->kernel)
        kfe_i_json_text(json, "kernel", candidate->kernel);
    else
        kfe_i_json_null(json, "kernel");
    if (candidate->learner)
        kfe_i_json_text(json, "learner", candidate->learner);
    else
        kfe_i_json_null(json, "learner");
}

static void write_ranked(kfe_i_json *json, const ranking *list, const ranked *r)
{
    kfe_i_json_object(json, NULL);
    write_names(json, r->candidate);
    kfe_i_json_boolean(json, "baseline", (r->candidate->flags & KFE_TUNE_BASELINE) != 0);
    kfe_i_json_integer(json, "settings", r->settings);
    kfe_i_json_integer(json, "fits", r->fits);
    kfe_i_json_real(json, "seconds", r->seconds);
    kfe_i_json_integer(json, "folds", r->folds);
    if (r->folds > 0) {
        kfe_i_json_real(json, "mean", r->estimate.mean);
        kfe_i_json_real(json, "standard_error", r->estimate.error);
        kfe_i_json_real(json, "sd", r->estimate.sd);
        kfe_i_json_real(json, "p", r->p);
        write_setting(json, "setting", &list->tune->entries[r->entry].grid, r->setting);
    }
    if (r->reason)
        kfe_i_json_text(json, "reason", r->reason);
    else
        kfe_i_json_null(json, "reason");
    kfe_i_json_end(json);
}

static void write_honest(kfe_i_json *json, const kfe_i_tune *tune)
{
    kfe_i_json_object(json, "honest");
    kfe_i_json_text(json, "measured_on", tune->held_out ? "held-out" : "folds");
    kfe_i_json_object(json, "metrics");
    for (int64_t m = 0; m < tune->metric_count; m++)
        kfe_i_estimate_json(json, tune->metrics[m]->name, honest(tune, m));
    kfe_i_json_end(json);
    kfe_i_json_array(json, "splits");
    for (int64_t s = 0; s < tune->outer.count; s++) {
        const kfe_i_winner *winner = &tune->winners[tune->held_out ? s : s + 1];
        const kfe_i_entry *entry = &tune->entries[winner->entry];
        kfe_i_json_object(json, NULL);
        kfe_i_json_integer(json, "test_rows", tune->outer.items[s].test_count);
        write_names(json, entry->candidate);
        write_setting(json, "setting", &entry->grid, winner->setting);
        kfe_i_json_object(json, "metrics");
        for (int64_t m = 0; m < tune->metric_count; m++)
            kfe_i_json_real(json, tune->metrics[m]->name, tune->honest[s * tune->metric_count + m]);
        kfe_i_json_end(json);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}

static void write_best(kfe_i_json *json, const kfe_i_tune *tune)
{
    const kfe_i_winner *winner = &tune->winners[0];
    const kfe_i_entry *entry = &tune->entries[winner->entry];

    kfe_i_json_object(json, "best");
    write_names(json, entry->candidate);
    write_setting(json, "setting", &entry->grid, winner->setting);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "edges");
    for (int64_t i = 0; i < entry->grid.axis_count; i++) {
        int side = kfe_i_tune_edge(tune, winner->entry, winner->setting, i);
        if (side == 0)
            continue;
        kfe_i_json_object(json, NULL);
        kfe_i_json_text(json, "parameter", entry->grid.axes[i].label);
        kfe_i_json_text(json, "value", kfe_i_grid_value(&entry->grid, winner->setting, i));
        kfe_i_json_text(json, "side", side < 0 ? "lower" : "upper");
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
}

static kfe_status as_json(const ranking *list, char **out)
{
    const kfe_i_tune *tune = list->tune;
    kfe_i_json json;

    kfe_i_json_init(&json, tune->ctx, 1);
    kfe_i_json_object(&json, NULL);
    kfe_i_json_text(&json, "metric", tune->metrics[0]->name);
    write_best(&json, tune);
    write_honest(&json, tune);
    kfe_i_json_array(&json, "ranking");
    for (int64_t i = 0; i < list->count; i++)
        write_ranked(&json, list, &list->items[i]);
    kfe_i_json_end(&json);
    kfe_i_json_integer(&json, "fits", tune->fits);
    kfe_i_json_boolean(&json, "out_of_time", tune->out_of_time);
    kfe_i_json_real(&json, "seconds", kfe_i_clock() - tune->began);
    kfe_i_json_end(&json);
    return kfe_i_json_finish(&json, out);
}

kfe_status kfe_i_report_tuning(const kfe_i_tune *tune, kfe_style style, char **out)
{
    kfe_status status = KFE_OK;
    ranking list = {0};

    KFE_TRY(rank_candidates(tune, &list));
    KFE_TRY(style == KFE_STYLE_JSON ? as_json(&list, out) : as_text(&list, out));
cleanup:
    kfe_i_free(tune->ctx, list.items);
    return status;
}
