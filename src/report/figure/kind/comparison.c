/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `comparison`: methods compared on the same splits, by mean and by mean rank. Lines join methods that do not
 * differ (corrected p of at least 0.05 for every pair), as in the diagrams of Demšar (2006).
 */
#include <math.h>

#include "core/memory.h"
#include "report/figure/kind/methods.h"
#include "text/read.h"

enum { MOST_GROUPS = 12 };
#define LEAST_P 0.05

typedef struct group {
    int64_t first, last;
} group;

static int is_alike(const kfe_i_source *source, const kfe_i_methods *methods, int64_t first, int64_t last)
{
    for (int64_t i = first; i <= last; i++)
        for (int64_t j = i + 1; j <= last; j++)
            if (!(kfe_i_difference_p(source->results, methods->items[i].label, methods->items[j].label) >=
                  LEAST_P))
                return 0;
    return 1;
}

/* Runs of methods, in the order of their ranks, that do not differ and are in no longer run. */
static int64_t find_groups(const kfe_i_source *source, const kfe_i_methods *methods, group *groups)
{
    int64_t count = 0;
    int64_t reached = 0;

    for (int64_t i = 0; i < methods->count && count < MOST_GROUPS; i++) {
        int64_t last = i;
        while (last + 1 < methods->count && is_alike(source, methods, i, last + 1))
            last++;
        if (last > i && last > reached) {
            groups[count++] = (group){i, last};
            reached = last;
        }
    }
    return count;
}

static kfe_status add_ranks(const kfe_i_source *source, const kfe_i_methods *methods, const group *groups,
                            kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    double *ranks = NULL;
    double *p = NULL;
    double *group_of = NULL;

    KFE_TRY(kfe_i_figure_numbers(out, "mean rank", NULL, &ranks));
    KFE_TRY(kfe_i_figure_numbers(out, "p against the first (corrected)", NULL, &p));
    KFE_TRY(kfe_i_figure_numbers(out, "group without differences", NULL, &group_of));
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t k = (i - methods->count) / 2;
        ranks[i] = p[i] = group_of[i] = NAN;
        if (i < methods->count) {
            ranks[i] = methods->items[i].rank;
            p[i] = i > 0
                       ? kfe_i_difference_p(source->results, methods->items[0].label, methods->items[i].label)
                       : NAN;
            continue;
        }
        out->columns[0].codes[i] = (int32_t)((i - methods->count) % 2 ? groups[k].last : groups[k].first);
        ranks[i] = 1 - 0.12 * (double)(k + 1) * ((double)methods->count + 4) / 8;
        group_of[i] = (double)k + 1;
    }
cleanup:
    return status;
}

static kfe_status add_panels(const kfe_i_methods *methods, int64_t groups, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int64_t count = methods->count;

    KFE_TRY(kfe_i_figure_panel(out, NULL, "method", methods->metric));
    KFE_TRY(kfe_i_figure_series(
        out, NULL, (kfe_i_series){.mark = KFE_MARK_POINTS, .count = count, .x = 1, .y = 2, .spread = 3}));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "method", "mean rank (1 is best)"));
    KFE_TRY(kfe_i_figure_series(
        out, NULL,
        (kfe_i_series){.mark = KFE_MARK_POINTS, .style = 1, .panel = 1, .count = count, .x = 1, .y = 4}));
    for (int64_t k = 0; k < groups; k++)
        KFE_TRY(kfe_i_figure_series(out, k == 0 ? "no difference" : NULL,
                                    (kfe_i_series){.mark = KFE_MARK_LINE,
                                                   .flags = KFE_SERIES_GREY,
                                                   .panel = 1,
                                                   .first = count + 2 * k,
                                                   .count = 2,
                                                   .x = 1,
                                                   .y = 4}));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_methods methods = {0};
    group groups[MOST_GROUPS] = {{0, 0}};

    KFE_TRY(kfe_i_methods_read(ctx, source, &methods));
    if (methods.count < 2)
        goto cleanup;
    int64_t group_count = find_groups(source, &methods, groups);
    out->rows = methods.count + 2 * group_count;
    KFE_TRY(kfe_i_methods_columns(&methods, out));
    KFE_TRY(add_ranks(source, &methods, groups, out));
    out->across = 1;
    KFE_TRY(add_panels(&methods, group_count, out));
    kfe_i_text_printf(
        &out->caption,
        "Mean %s with its standard error over the splits, and mean rank. Grey lines join methods "
        "whose differences may be chance (every corrected p is at least %.2g).",
        methods.metric, LEAST_P);
cleanup:
    kfe_i_methods_free(&methods);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_comparison = {
    .name = "comparison",
    .title = "Comparison of methods",
    .section = "Quality",
    .summary =
        "methods compared on the same splits, by mean and by mean rank, with groups that do not differ",
    .needs = "the JSON of compare with at least two methods",
    .draw = draw,
};
