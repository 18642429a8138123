/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step cut: keeps or drops columns by ranges of their positions (positions.h). Both ends of a range belong to it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/kept_columns.h"
#include "data/steps/positions.h"

typedef struct cut_settings {
    char keep[KFE_PARAM_TEXT_SIZE], drop[KFE_PARAM_TEXT_SIZE];
} cut_settings;

static const kfe_i_param rows[] = {
    KFE_TEXT(
        cut_settings, keep, "keep", "",
        "ranges of columns to keep, as 900..1200+1300..1700, by the numbers in their names, else by their "
        "places from 1; empty: all"),
    KFE_TEXT(cut_settings, drop, "drop", "", "ranges of columns to leave out, such as 4.5..5.0"),
};

enum { MOST_RANGES = 64 };

typedef struct ranges {
    int count;
    double low[MOST_RANGES], high[MOST_RANGES];
} ranges;

/* One "900..1200", "900.." or "..1200". */
static int parse_range(const char *begin, const char *end, double *low, double *high)
{
    const char *dots = begin;

    while (dots < end && strncmp(dots, "..", 2) != 0)
        dots++;
    if (end - dots < 2)
        return 0;
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    if (dots == begin && dots + 2 == end)
        return 0;
    return (dots == begin || kfe_i_parse_number(begin, dots, low)) &&
           (dots + 2 == end || kfe_i_parse_number(dots + 2, end, high)) && *low <= *high;
}

static kfe_status parse_ranges(kfe_context *ctx, const char *text, ranges *out)
{
    out->count = 0;
    while (*text) {
        const char *end = text + strcspn(text, "+");
        while (*end == '+' && end > text && (end[-1] == 'e' || end[-1] == '.')) /* 1e+3, ..+5 */
            end += 1 + strcspn(end + 1, "+");
        if (out->count == MOST_RANGES ||
            !parse_range(text, end, &out->low[out->count], &out->high[out->count]))
            return kfe_i_fail(
                ctx, KFE_EINVAL,
                "{prepare}: step cut takes ranges such as 900..1200 or 900..1200+1300..1700, not '%s'", text);
        out->count++;
        text = *end ? end + 1 : end;
    }
    return KFE_OK;
}

static int is_in(const ranges *list, double position)
{
    for (int i = 0; i < list->count; i++)
        if (position >= list->low[i] && position <= list->high[i])
            return 1;
    return 0;
}

/* What the columns of the data reach from and to, for the message. */
static kfe_status refuse_all(kfe_context *ctx, const kfe_i_positions *positions, const char *const *names,
                             int64_t cols)
{
    double low = (double)INFINITY;
    double high = -(double)INFINITY;

    for (int64_t j = 0; j < cols; j++) {
        low = fmin(low, kfe_i_position_at(positions, names, j));
        high = fmax(high, kfe_i_position_at(positions, names, j));
    }
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "{prepare}: step cut leaves no column; %s of the columns are from %g to %g",
                      positions->are_known ? "the numbers in the names" : "the places", low, high);
}

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    const cut_settings *s = fit->settings;
    const char *const *words = (const char *const *)names;
    kfe_i_positions positions = kfe_i_positions_of(words, fit->cols);
    ranges keep;
    ranges drop;

    KFE_TRY(parse_ranges(ctx, s->keep, &keep));
    KFE_TRY(parse_ranges(ctx, s->drop, &drop));
    KFE_ALLOC(ctx, fit->kept, fit->cols);
    fit->made = 0;
    for (int64_t j = 0; j < fit->cols; j++) {
        double position = kfe_i_position_at(&positions, words, j);
        if ((keep.count == 0 || is_in(&keep, position)) && !is_in(&drop, position))
            fit->kept[fit->made++] = j;
    }
    if (fit->made == 0)
        status = refuse_all(ctx, &positions, words, fit->cols);
cleanup:
    return status;
}

const kfe_i_row_step kfe_i_step_cut = {
    .name = "cut",
    .summary = "keep or drop ranges of columns",
    .formula = "the columns whose position is in keep and not in drop",
    .params = KFE_PARAM_TABLE(rows, cut_settings),
    .plan = plan,
    .apply = kfe_i_kept_apply,
    .pull = kfe_i_kept_pull,
    .name_of = kfe_i_kept_name,
    .graph = kfe_i_kept_graph,
};
