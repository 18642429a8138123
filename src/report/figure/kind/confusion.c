/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `confusion`: how often each class was predicted as which. Only pairs that occur have a row in its table, so
 * that thousands of classes do no harm. */
#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_CELLS = 60 }; /* more classes than these are drawn as points */

typedef struct cells {
    int truth, predicted, count;
    int32_t *truths, *predictions;
    double *counts, *shares;
} cells;

static kfe_status add_columns(kfe_i_figure *out, const kfe_i_source *source, cells *c)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_figure_words(out, "true class", source->classes.count, source->classes.names, &c->truth,
                               &c->truths));
    KFE_TRY(kfe_i_figure_words(out, "predicted class", source->classes.count, source->classes.names,
                               &c->predicted, &c->predictions));
    KFE_TRY(kfe_i_figure_numbers(out, "count", &c->count, &c->counts));
    KFE_TRY(kfe_i_figure_numbers(out, "share of the true class", NULL, &c->shares));
cleanup:
    return status;
}

static kfe_status fill(kfe_context *ctx, const kfe_i_outcome *outcome, const kfe_i_confused *pairs,
                       int64_t count, const cells *c)
{
    kfe_status status = KFE_OK;
    double *members = NULL;

    KFE_ALLOC_ZERO(ctx, members, outcome->classes);
    for (int64_t k = 0; k < count; k++) {
        c->truths[k] = pairs[k].truth;
        c->predictions[k] = pairs[k].predicted;
        c->counts[k] = (double)pairs[k].count;
        members[pairs[k].truth] += c->counts[k];
    }
    for (int64_t k = 0; k < count; k++)
        c->shares[k] = c->counts[k] / members[c->truths[k]];
cleanup:
    kfe_i_free(ctx, members);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    kfe_i_confused *pairs = NULL;
    int64_t distinct = 0;
    cells c = {0};

    if (!set || set->outcome.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_TRY(kfe_i_confusion(ctx, &set->outcome, &pairs, &distinct));
    out->rows = distinct;
    KFE_TRY(add_columns(out, source, &c));
    KFE_TRY(fill(ctx, &set->outcome, pairs, distinct, &c));
    out->flags = KFE_FIGURE_SQUARE | KFE_FIGURE_COUNTS | KFE_FIGURE_REVERSED;
    KFE_TRY(kfe_i_figure_panel(out, NULL, "predicted class", "true class"));
    kfe_i_series series = {.mark = source->classes.count <= MOST_CELLS ? KFE_MARK_HEAT : KFE_MARK_POINTS,
                           .count = distinct,
                           .x = c.predicted,
                           .y = c.truth,
                           .z = c.count};
    if (series.mark == KFE_MARK_POINTS) {
        series.z = 0;
        series.shade = c.count;
    }
    KFE_TRY(kfe_i_figure_series(out, NULL, series));
    kfe_i_text_printf(
        &out->caption,
        "Rows are true classes, columns predicted ones; the diagonal is correct. %lld %s examples.",
        (long long)set->rows, set->name);
cleanup:
    kfe_i_free(ctx, pairs);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_confusion = {
    .name = "confusion",
    .title = "Confusion matrix",
    .section = "Quality",
    .summary = "how often each class was predicted as which",
    .needs =
        "a model that predicts classes, and labelled data; or results with held-out predictions of classes",
    .draw = draw,
};
