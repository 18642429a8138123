/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `classes`: precision, recall and F1 of each class. */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_BARS = 40 };

typedef struct counts {
    double *right, *truth, *predicted;
} counts;

static double ratio(double above, double below)
{
    return below > 0 ? above / below : NAN;
}

static kfe_status count(kfe_context *ctx, const kfe_i_outcome *outcome, counts *c)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, c->right, outcome->classes);
    KFE_ALLOC_ZERO(ctx, c->truth, outcome->classes);
    KFE_ALLOC_ZERO(ctx, c->predicted, outcome->classes);
    for (int64_t i = 0; i < outcome->rows; i++) {
        double weight = kfe_i_outcome_weight(outcome, i);
        c->truth[outcome->truth[i]] += weight;
        c->predicted[outcome->predicted[i]] += weight;
        c->right[outcome->truth[i]] += outcome->truth[i] == outcome->predicted[i] ? weight : 0;
    }
cleanup:
    return status;
}

static kfe_status add_table(const kfe_i_source *source, const counts *c, kfe_i_figure *out)
{
    static const char *const names[] = {"examples", "precision", "recall", "F1"};
    kfe_status status = KFE_OK;
    double *columns[4] = {NULL};

    KFE_TRY(kfe_i_figure_labels(out, "class", source->classes.names));
    for (int k = 0; k < 4; k++)
        KFE_TRY(kfe_i_figure_numbers(out, names[k], NULL, &columns[k]));
    for (int64_t g = 0; g < source->classes.count; g++) {
        columns[0][g] = c->truth[g];
        columns[1][g] = ratio(c->right[g], c->predicted[g]);
        columns[2][g] = ratio(c->right[g], c->truth[g]);
        columns[3][g] = ratio(2 * c->right[g], c->predicted[g] + c->truth[g]);
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    counts c = {0};

    if (!set || set->outcome.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_TRY(count(ctx, &set->outcome, &c));
    out->rows = source->classes.count;
    KFE_TRY(add_table(source, &c, out));
    kfe_i_text_printf(&out->caption, "Of the %s examples%s, by class.", set->name,
                      set->weights ? ", counted by their weights" : "");
    if (source->classes.count > MOST_BARS)
        goto cleanup; /* a table only */
    KFE_TRY(kfe_i_figure_panel(out, NULL, "class", ""));
    kfe_i_axis_range(&out->panels[0].y, 0, 1.02);
    for (int k = 3; k <= 4; k++)
        KFE_TRY(kfe_i_figure_series(
            out, out->columns[k - 1].name,
            (kfe_i_series){.mark = KFE_MARK_BARS, .style = k - 3, .count = out->rows, .x = 1, .y = k}));
cleanup:
    kfe_i_free(ctx, c.right);
    kfe_i_free(ctx, c.truth);
    kfe_i_free(ctx, c.predicted);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_classes = {
    .name = "classes",
    .title = "Quality by class",
    .section = "Quality",
    .summary = "precision, recall and F1 of each class",
    .needs =
        "a model that predicts classes, and labelled data; or results with held-out predictions of classes",
    .draw = draw,
};
