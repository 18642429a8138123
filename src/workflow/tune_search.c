/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Successive halving over the entries of kfe_tune, for all searchers at once, so that each kernel matrix serves all of
 * their settings. Called by tune.c.
 *
 * Inner folds are used in rungs: fold 1; folds 2 and 3; folds 4 and 5. After a rung, each searcher keeps a quarter of its
 * settings by their mean so far; a candidate that ties with the last of them keeps its best one. The first rung trains on
 * half of the rows of its part; settings that reach the last rung are measured on fold 1 again, with all rows, so that
 * means compare. Which rows these are says tune_rows.c. At last, grids whose best
 * value lies at an edge are widened; a quarter of the added settings goes on after fold 1.
 *
 * The budget is checked between sweeps and, through the cancel callback, within them. A sweep that runs out of time is
 * dropped as a whole.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/search.h"
#include "core/sort.h"
#include "system/system.h"
#include "workflow/tune.h"

enum { KEEP_ONE_IN = 4, KEEP_AT_LEAST = 6, MOST_WIDENINGS = 3, WIDEN_BY = 2 };

static const int rung_end[KFE_TUNE_RUNGS + 1] = {0, 1, 3, KFE_TUNE_FOLDS};
/* Shares of the time after which a rung ends. */
static const double rung_share[KFE_TUNE_RUNGS] = {0.55, 0.75, 0.85};
#define WIDENING_SHARE 0.9

/* ---- inner folds ---- */

/* What the pooled errors of all rungs need of the inner folds. */
static kfe_status keep_truth(kfe_i_tune *tune, const kfe_i_splits *inner)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(tune->ctx, tune->owner_of, inner->count);
    for (int64_t o = 0; o < tune->searchers; o++)
        for (int64_t i = tune->fold_begin[o]; i < tune->fold_begin[o + 1]; i++)
            tune->owner_of[i] = o;
    KFE_TRY(kfe_i_held_out_make(tune->ctx, &tune->data->target, inner, &tune->truth));
cleanup:
    return status;
}

/* ---- the budget ---- */

typedef struct deadline {
    kfe_cancel_fn cancel; /* of the user */
    void *user;
    double at; /* 0: never */
    int passed, asked;
} deadline;

static int must_stop(void *user)
{
    deadline *limit = user;

    if (limit->cancel && limit->cancel(limit->user)) {
        limit->asked = 1;
        return 1;
    }
    if (limit->at > 0 && kfe_i_clock() > limit->at)
        limit->passed = 1;
    return limit->passed;
}

static deadline set_deadline(const kfe_i_tune *tune, double share)
{
    deadline limit = {.cancel = tune->ctx->cancel, .user = tune->ctx->cancel_user};

    if (tune->seconds > 0)
        limit.at = tune->began + share * tune->seconds;
    return limit;
}

/* ---- one entry on some folds ---- */

static double *values_of(const kfe_i_tune *tune, const kfe_i_entry *entry, int64_t setting, int64_t searcher)
{
    return entry->values + (setting * tune->searchers + searcher) * KFE_TUNE_FOLDS;
}

static int64_t mark_wanted(const kfe_i_tune *tune, const kfe_i_entry *entry, int first, int end,
                           unsigned char *wanted)
{
    int64_t count = 0;

    for (int64_t o = 0; o < tune->searchers; o++)
        for (int64_t f = first; f < end && f < kfe_i_tune_folds(tune, o); f++)
            for (int64_t c = 0; c < entry->grid.count; c++) {
                int is_alive = entry->alive[c * tune->searchers + o];
                wanted[(tune->fold_begin[o] + f) * entry->grid.count + c] = (unsigned char)is_alive;
                count += is_alive;
            }
    return count;
}

static void keep_residuals(kfe_i_entry *entry, int64_t cell, const kfe_i_cells *cells)
{
    int64_t sums = 2 * cells->targets;

    if (entry->residuals)
        memcpy(entry->residuals + cell * sums, cells->residuals + cell * sums,
               (size_t)sums * sizeof *entry->residuals);
}

static void keep_values(kfe_i_tune *tune, kfe_i_entry *entry, int first, int end, const kfe_i_cells *cells)
{
    for (int64_t o = 0; o < tune->searchers; o++)
        for (int64_t f = first; f < end && f < kfe_i_tune_folds(tune, o); f++)
            for (int64_t c = 0; c < entry->grid.count; c++) {
                int64_t cell = (tune->fold_begin[o] + f) * entry->grid.count + c;
                unsigned char *alive = &entry->alive[c * tune->searchers + o];
                if (!*alive)
                    continue;
                values_of(tune, entry, c, o)[f] = cells->values[cell];
                entry->variances[(c * tune->searchers + o) * KFE_TUNE_FOLDS + f] = cells->variances[cell];
                keep_residuals(entry, cell, cells);
                if (isnan(cells->values[cell])) /* failed */
                    *alive = 0;
                if (!isnan(cells->seconds[cell]))
                    entry->seconds += cells->seconds[cell];
            }
}

/* Ends an entry: nothing of it is left in the race. */
static kfe_status end_entry(const kfe_i_tune *tune, kfe_i_entry *entry, const char *reason)
{
    kfe_status status = KFE_OK;

    memset(entry->alive, 0, (size_t)(entry->grid.count * tune->searchers));
    if (!entry->reason)
        KFE_STRDUP(tune->ctx, entry->reason, reason);
cleanup:
    return status;
}

static kfe_status sweep_entry(kfe_i_tune *tune, kfe_i_entry *entry, const kfe_i_splits *inner, int first,
                              int end)
{
    kfe_status status = KFE_OK;
    unsigned char *wanted = NULL;
    kfe_i_cells cells = {0};
    kfe_i_sweep sweep = {.data = tune->data,
                         .grid = &entry->grid,
                         .splits = inner,
                         .metrics = tune->metrics,
                         .metric_count = 1,
                         .positive = tune->positive};

    KFE_ALLOC_ZERO(tune->ctx, wanted, inner->count * entry->grid.count);
    int64_t fits = mark_wanted(tune, entry, first, end, wanted);
    sweep.wanted = wanted;
    if (fits == 0)
        goto cleanup;
    KFE_TRY(kfe_i_sweep_run(tune->ctx, &sweep, &cells));
    entry->fits += fits;
    tune->fits += fits;
    keep_values(tune, entry, first, end, &cells);
cleanup:
    kfe_i_cells_free(&cells);
    kfe_i_free(tune->ctx, wanted);
    return status;
}

/* All entries from `from` on. What cannot be fitted, or takes too long, ends. */
static kfe_status sweep_entries(kfe_i_tune *tune, int64_t from, const kfe_i_splits *inner, int first, int end,
                                double share)
{
    kfe_status status = KFE_OK;
    deadline limit = set_deadline(tune, share);

    for (int64_t e = from; e < tune->entry_count && status == KFE_OK; e++) {
        kfe_context_on_cancel(tune->ctx, must_stop, &limit);
        status = must_stop(&limit) ? KFE_ECANCEL : sweep_entry(tune, &tune->entries[e], inner, first, end);
        kfe_context_on_cancel(tune->ctx, limit.cancel, limit.user);
        if (status == KFE_ECANCEL && limit.passed && !limit.asked) {
            tune->out_of_time = 1;
            status =
                tune->entries[e].fits == 0 ? end_entry(tune, &tune->entries[e], "no time was left") : KFE_OK;
        } else if (kfe_i_is_failed_cell(status)) {
            status = end_entry(tune, &tune->entries[e], tune->ctx->message);
        }
    }
    return status;
}

/* ---- halving ---- */

double kfe_i_entry_mean(const kfe_i_tune *tune, const kfe_i_entry *entry, int64_t setting, int64_t searcher,
                        int64_t *folds)
{
    double mean = 0;
    double sd = 0;
    const double *values = values_of(tune, entry, setting, searcher);

    *folds = 0;
    for (int f = 0; f < KFE_TUNE_FOLDS; f++)
        *folds += !isnan(values[f]);
    kfe_i_mean_sd(KFE_TUNE_FOLDS, values, 1, &mean, &sd);
    kfe_i_estimate estimate = {mean, NAN, NAN};
    if (tune->metrics[0]->pooled != KFE_POOLED_NOT) {
        kfe_i_pooled pooled = kfe_i_entry_pooled(tune, entry, setting, searcher, NULL);
        kfe_i_estimate_pool(tune->metrics[0], &pooled, &estimate);
    }
    return estimate.mean;
}

kfe_i_pooled kfe_i_entry_pooled(const kfe_i_tune *tune, const kfe_i_entry *entry, int64_t setting,
                                int64_t searcher, const kfe_i_extent *extent)
{
    const kfe_i_cells cells = {
        .settings = entry->grid.count, .targets = tune->truth.cols, .residuals = entry->residuals};

    return kfe_i_pool(&tune->truth, &cells,
                      (kfe_i_pick){.setting = setting, .owner_of = tune->owner_of, .owner = searcher}, extent,
                      -1);
}

typedef struct runner {
    int64_t entry, setting;
    double score; /* higher is better */
} runner;

static int compare_runners(const void *a, const void *b)
{
    const runner *first = a;
    const runner *second = b;

    if (first->score != second->score)
        return first->score < second->score ? 1 : -1;
    if (first->entry != second->entry)
        return first->entry < second->entry ? -1 : 1;
    return (first->setting > second->setting) - (first->setting < second->setting);
}

/* Those of the entries from `from` on. */
static int64_t list_runners(const kfe_i_tune *tune, int64_t from, int64_t searcher, runner *out)
{
    int64_t count = 0;
    int64_t folds = 0;

    for (int64_t e = from; e < tune->entry_count; e++)
        for (int64_t c = 0; c < tune->entries[e].grid.count; c++) {
            if (!tune->entries[e].alive[c * tune->searchers + searcher])
                continue;
            double mean = kfe_i_entry_mean(tune, &tune->entries[e], c, searcher, &folds);
            if (folds > 0)
                out[count++] = (runner){e, c, tune->metrics[0]->larger_is_better ? mean : -mean};
        }
    return count;
}

/* Whether the best setting of an entry stays although it is not among the best of all. */
static int stays(const kfe_i_tune *tune, int64_t entry, int rung)
{
    return rung == 0 || tune->entries[entry].candidate->flags & KFE_TUNE_BASELINE;
}

static kfe_status halve(kfe_i_tune *tune, int64_t from, int64_t searcher, int rung)
{
    kfe_status status = KFE_OK;
    runner *runners = NULL;
    unsigned char *seen = NULL;
    int64_t settings = 0;

    for (int64_t e = from; e < tune->entry_count; e++)
        settings += tune->entries[e].grid.count;
    KFE_ALLOC(tune->ctx, runners, settings);
    KFE_ALLOC_ZERO(tune->ctx, seen, tune->entry_count);
    int64_t count = list_runners(tune, from, searcher, runners);
    int64_t kept = (count + KEEP_ONE_IN - 1) / KEEP_ONE_IN;
    kept = kept < KEEP_AT_LEAST ? KEEP_AT_LEAST : kept;
    if (count > 1)
        qsort(runners, (size_t)count, sizeof *runners, compare_runners);
    for (int64_t i = 0; i < count; i++) {
        int is_best = !seen[runners[i].entry];
        int is_tied = i >= kept && runners[i].score == runners[kept - 1].score;
        seen[runners[i].entry] = 1;
        if (i >= kept && !(is_best && (is_tied || stays(tune, runners[i].entry, rung))))
            tune->entries[runners[i].entry].alive[runners[i].setting * tune->searchers + searcher] = 0;
    }
cleanup:
    kfe_i_free(tune->ctx, runners);
    kfe_i_free(tune->ctx, seen);
    return status;
}

/* The best mean among the settings that were measured on most folds; of equals, the first. */
static kfe_i_winner find_winner(const kfe_i_tune *tune, int64_t searcher)
{
    kfe_i_winner best = {.entry = -1, .mean = NAN};
    int64_t folds = 0;

    for (int64_t e = 0; e < tune->entry_count; e++)
        for (int64_t c = 0; c < tune->entries[e].grid.count; c++) {
            if (!tune->entries[e].alive[c * tune->searchers + searcher])
                continue;
            double mean = kfe_i_entry_mean(tune, &tune->entries[e], c, searcher, &folds);
            if (folds > best.folds ||
                (folds == best.folds && folds > 0 && kfe_i_is_better(tune->metrics[0], mean, best.mean)))
                best = (kfe_i_winner){.entry = e, .setting = c, .folds = folds, .mean = mean};
        }
    return best;
}

static void find_winners(kfe_i_tune *tune)
{
    for (int64_t o = 0; o < tune->searchers; o++)
        tune->winners[o] = find_winner(tune, o);
}

/* ---- wider grids ---- */

/* "gamma=8,16" beyond the edge; nothing if the axis has too few numbers. */
static void put_wider(const kfe_i_axis *axis, int side, kfe_i_text *out)
{
    const char *a = axis->values[side < 0 ? 0 : axis->count - 1];
    const char *b = axis->values[side < 0 ? 1 : axis->count - 2];
    int whole = strcmp(axis->name, "dim") == 0 || strcmp(axis->name, "neighbors") == 0;
    double edge = 0;
    double next = 0;

    if (!kfe_i_parse_number(a, a + strlen(a), &edge) || !kfe_i_parse_number(b, b + strlen(b), &next) ||
        next == 0)
        return;
    for (int i = 1; i <= WIDEN_BY; i++) {
        double value = edge * pow(edge / next, i);
        if (whole && value < 1)
            break;
        if (i == 1)
            kfe_i_text_printf(out, "%s=", axis->name);
        kfe_i_text_printf(out, whole ? "%s%.0f" : "%s%.4g", i == 1 ? "" : ",", value);
    }
}

/* The axes of a grid follow an order of their own: finds the text by its name. */
static int text_of(const kfe_i_entry *entry, const char *name)
{
    for (int i = 0; i < entry->grid_count; i++)
        if (strncmp(entry->grids[i], name, strlen(name)) == 0 && entry->grids[i][strlen(name)] == '=')
            return i;
    return -1;
}

/* Whether entries differ in their grids only. */
static int is_alike(const kfe_i_entry *a, const kfe_i_entry *b)
{
    return a->candidate == b->candidate && strcmp(a->chain, b->chain) == 0;
}

/* Lets a searcher take part in a wider grid that another one asked for; 0 if there is none. */
static int join(const kfe_i_tune *tune, const kfe_i_entry *like, const char *wider, int64_t searcher)
{
    for (int64_t e = 0; e < tune->entry_count; e++) {
        const kfe_i_entry *entry = &tune->entries[e];
        int found = 0;
        for (int i = 0; i < entry->grid_count; i++)
            found |= strcmp(entry->grids[i], wider) == 0;
        if (!entry->widened || !is_alike(entry, like) || !found || entry->fits > 0)
            continue;
        for (int64_t c = 0; c < entry->grid.count; c++)
            entry->alive[c * tune->searchers + searcher] = 1;
        return 1;
    }
    return 0;
}

static void start_widened(const kfe_i_tune *tune, kfe_i_entry *entry, int64_t searcher)
{
    entry->widened = 1;
    memset(entry->alive, 0, (size_t)(entry->grid.count * tune->searchers));
    for (int64_t c = 0; c < entry->grid.count; c++)
        entry->alive[c * tune->searchers + searcher] = 1;
}

/* Adds an entry with the grid of the winner beyond one edge, for this searcher. */
static kfe_status widen(kfe_i_tune *tune, int64_t searcher, int64_t axis, int side)
{
    kfe_status status = KFE_OK;
    const kfe_i_winner *winner = &tune->winners[searcher];
    const kfe_i_entry *entry = &tune->entries[winner->entry];
    const char *grids[KFE_TUNE_AXES];
    char *wider = NULL;
    kfe_i_text text;
    int at = text_of(entry, entry->grid.axes[axis].name);

    kfe_i_text_init(&text, tune->ctx);
    put_wider(&entry->grid.axes[axis], side, &text);
    if (at < 0 || text.length == 0)
        goto cleanup;
    KFE_TRY(kfe_i_text_take(&text, &wider));
    for (int i = 0; i < entry->grid_count; i++)
        grids[i] = i == at ? wider : entry->grids[i];
    if (join(tune, entry, wider, searcher))
        goto cleanup;
    status = kfe_i_tune_add(tune, entry->candidate, entry->chain, entry->grid_count, grids);
    if (status == KFE_EINVAL) { /* the parameter takes no value beyond */
        kfe_i_entry_free(tune->ctx, &tune->entries[--tune->entry_count]);
        status = KFE_OK;
    } else if (status == KFE_OK) {
        start_widened(tune, &tune->entries[tune->entry_count - 1], searcher);
    }
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(tune->ctx, wider);
    return status;
}

/* Whether a grid of the same candidate and chain has a value beyond this one. */
static int is_beyond_tried(const kfe_i_tune *tune, const kfe_i_entry *like, const char *name, double value,
                           int side)
{
    for (int64_t e = 0; e < tune->entry_count; e++) {
        const kfe_i_grid *grid = &tune->entries[e].grid;
        if (!is_alike(&tune->entries[e], like))
            continue;
        for (int64_t i = 0; i < grid->axis_count; i++)
            for (int64_t v = 0; strcmp(grid->axes[i].name, name) == 0 && v < grid->axes[i].count; v++)
                if (side * (atof(grid->axes[i].values[v]) - value) > 0)
                    return 1;
    }
    return 0;
}

int kfe_i_tune_edge(const kfe_i_tune *tune, int64_t entry, int64_t setting, int64_t axis)
{
    const kfe_i_grid *grid = &tune->entries[entry].grid;
    int side = kfe_i_grid_edge(grid, setting, axis);

    if (side != 0 && is_beyond_tried(tune, &tune->entries[entry], grid->axes[axis].name,
                                     atof(kfe_i_grid_value(grid, setting, axis)), side))
        return 0;
    return side;
}

static kfe_status widen_edges(kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;

    for (int64_t o = 0; o < tune->searchers; o++) {
        const kfe_i_winner winner = tune->winners[o];
        for (int64_t i = 0; winner.entry >= 0 && i < tune->entries[winner.entry].grid.axis_count; i++) {
            int side = kfe_i_tune_edge(tune, winner.entry, winner.setting, i);
            if (side != 0)
                KFE_TRY(widen(tune, o, i, side));
        }
    }
cleanup:
    return status;
}

/* ---- trials ---- */

/* With a limit of settings: gives every entry the same number, spread evenly over its grid. */
static void limit_trials(kfe_i_tune *tune)
{
    int64_t quota = tune->trials / tune->entry_count;

    for (int64_t e = 0; tune->trials > 0 && e < tune->entry_count; e++) {
        kfe_i_entry *entry = &tune->entries[e];
        int64_t own = quota + (e < tune->trials % tune->entry_count);
        if (own >= entry->grid.count)
            continue;
        memset(entry->alive, 0, (size_t)(entry->grid.count * tune->searchers));
        for (int64_t i = 0; i < own; i++) {
            int64_t c = (2 * i + 1) * entry->grid.count / (2 * own);
            memset(entry->alive + c * tune->searchers, 1, (size_t)tune->searchers);
        }
    }
}

/* ---- all together ---- */

static kfe_status run_rung(kfe_i_tune *tune, int rung)
{
    kfe_status status = KFE_OK;
    kfe_i_splits inner = {0};

    KFE_TRY(kfe_i_tune_inner(tune, rung, &inner));
    if (rung == 0)
        KFE_TRY(keep_truth(tune, &inner));
    KFE_TRY(sweep_entries(tune, 0, &inner, rung_end[rung], rung_end[rung + 1], rung_share[rung]));
    if (rung == KFE_TUNE_RUNGS - 1) /* the first rung had half of the rows */
        KFE_TRY(sweep_entries(tune, 0, &inner, 0, rung_end[1], rung_share[rung]));
    for (int64_t o = 0; o < tune->searchers && rung + 1 < KFE_TUNE_RUNGS; o++)
        KFE_TRY(halve(tune, 0, o, rung));
cleanup:
    kfe_i_splits_free(&inner);
    return status;
}

static kfe_status run_widening(kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;
    kfe_i_splits inner = {0};

    KFE_TRY(kfe_i_tune_inner(tune, KFE_TUNE_RUNGS - 1, &inner));
    for (int i = 0; i < MOST_WIDENINGS && !tune->out_of_time && tune->trials == 0; i++) {
        int64_t before = tune->entry_count;
        KFE_TRY(widen_edges(tune));
        if (tune->entry_count == before)
            break;
        KFE_TRY(sweep_entries(tune, before, &inner, 0, rung_end[1], WIDENING_SHARE));
        for (int64_t o = 0; o < tune->searchers; o++)
            KFE_TRY(halve(tune, before, o, 0));
        KFE_TRY(sweep_entries(tune, before, &inner, rung_end[1], KFE_TUNE_FOLDS, WIDENING_SHARE));
        find_winners(tune);
    }
cleanup:
    kfe_i_splits_free(&inner);
    return status;
}

/* The number of rows of the searcher that has the fewest. */
static int64_t fewest_rows(const kfe_i_tune *tune)
{
    int64_t fewest = INT64_MAX;

    for (int64_t o = 0; o < tune->searchers; o++) {
        kfe_i_split_rows rows = kfe_i_tune_rows(tune, o);
        int64_t count = kfe_i_split_count(&rows);
        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

static kfe_status check_winners(const kfe_i_tune *tune)
{
    for (int64_t o = 0; o < tune->searchers; o++) {
        if (tune->winners[o].entry >= 0)
            continue;
        if (tune->out_of_time)
            return kfe_i_fail(tune->ctx, KFE_EINVAL,
                              "no candidate could be fitted in the time given; raise {time}");
        return kfe_i_fail(tune->ctx, KFE_EINPUT,
                          "no candidate could be fitted: settings are compared on inner folds of training "
                          "parts, of which the smallest has %lld rows; give more rows, of every class",
                          (long long)fewest_rows(tune));
    }
    return KFE_OK;
}

kfe_status kfe_i_tune_search(kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;

    limit_trials(tune);
    for (int rung = 0; rung < KFE_TUNE_RUNGS; rung++)
        KFE_TRY(run_rung(tune, rung));
    find_winners(tune);
    KFE_TRY(check_winners(tune));
    KFE_TRY(run_widening(tune));
cleanup:
    return status;
}
