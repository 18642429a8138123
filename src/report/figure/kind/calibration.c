/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `calibration`, a reliability diagram: examples are put into ten bins by their predicted probability, and the
 * share of them for which it came true is drawn over the mean of the bin; examples count by their weights. Of two classes (or of the class of {positive})
 * the event is that class; of several it is that the most probable class is the true one.
 */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { BINS = 10, CURVES = 2 };

/* Sums over the examples of each bin. */
typedef struct curve {
    const char *name;
    double count[BINS], squares[BINS], predicted[BINS], observed[BINS];
} curve;

static int64_t most_probable(const double *row, int64_t classes)
{
    int64_t best = 0;

    for (int64_t g = 1; g < classes; g++)
        if (row[g] > row[best])
            best = g;
    return best;
}

static void count_examples(const kfe_i_outcome *outcome, const double *probabilities, curve *out)
{
    for (int64_t i = 0; i < outcome->rows; i++) {
        const double *row = probabilities + i * outcome->classes;
        int64_t g = outcome->positive >= 0 ? outcome->positive : most_probable(row, outcome->classes);
        int bin = row[g] >= 1 ? BINS - 1 : row[g] > 0 ? (int)(BINS * row[g]) : 0;
        double weight = kfe_i_outcome_weight(outcome, i);
        out->count[bin] += weight;
        out->squares[bin] += weight * weight;
        out->predicted[bin] += weight * row[g];
        out->observed[bin] += outcome->truth[i] == g ? weight : 0;
    }
}

/* The curve of the model's probabilities and, if they are calibrated, that of the scores they were made from. */
static kfe_status count_curves(kfe_context *ctx, const kfe_i_source *source, const kfe_i_outcome *outcome,
                               curve *curves, int *count)
{
    kfe_status status = KFE_OK;
    double *probabilities = NULL;
    kfe_i_outcome plain = *outcome;

    *count = 0;
    if (outcome->probabilities) {
        int is_platt = source->model->calibration.kind == KFE_CALIBRATION_PLATT;
        curves[0].name = is_platt ? "calibrated (platt)" : "calibrated (isotonic)";
        count_examples(outcome, outcome->probabilities, &curves[(*count)++]);
    }
    plain.probabilities = NULL;
    KFE_ALLOC(ctx, probabilities, outcome->rows * outcome->classes);
    KFE_TRY(kfe_i_outcome_probabilities(ctx, &plain, probabilities));
    curves[*count].name = "uncalibrated";
    count_examples(&plain, probabilities, &curves[(*count)++]);
cleanup:
    kfe_i_free(ctx, probabilities);
    return status;
}

static int64_t filled_bins(const curve *c)
{
    int64_t filled = 0;

    for (int b = 0; b < BINS; b++)
        filled += c->count[b] > 0;
    return filled;
}

/* Columns of the table. */
typedef struct table {
    int bin, predicted, observed, error, examples;
    int32_t *names, *bins;
    double *numbers[4];
} table;

static kfe_status add_columns(const curve *curves, int count, kfe_i_figure *out, table *t)
{
    kfe_status status = KFE_OK;
    char labels[BINS][24];
    const char *bins[BINS];
    const char *names[CURVES];

    for (int b = 0; b < BINS; b++) {
        kfe_i_snprintf(labels[b], sizeof labels[b], "%.1f–%.1f", (double)b / BINS, (double)(b + 1) / BINS);
        bins[b] = labels[b];
    }
    for (int k = 0; k < count; k++)
        names[k] = curves[k].name;
    KFE_TRY(kfe_i_figure_words(out, "probabilities", count, names, NULL, &t->names));
    KFE_TRY(kfe_i_figure_words(out, "bin", BINS, bins, &t->bin, &t->bins));
    KFE_TRY(kfe_i_figure_numbers(out, "mean probability", &t->predicted, &t->numbers[0]));
    KFE_TRY(kfe_i_figure_numbers(out, "observed share", &t->observed, &t->numbers[1]));
    KFE_TRY(kfe_i_figure_numbers(out, "standard error", &t->error, &t->numbers[2]));
    KFE_TRY(kfe_i_figure_numbers(out, "examples", &t->examples, &t->numbers[3]));
cleanup:
    return status;
}

static void fill_rows(const curve *c, int which, int64_t row, const table *t)
{
    for (int b = 0; b < BINS; b++) {
        if (c->count[b] <= 0)
            continue;
        double share = c->observed[b] / c->count[b];
        t->names[row] = which;
        t->bins[row] = b;
        t->numbers[0][row] = c->predicted[b] / c->count[b];
        t->numbers[1][row] = share;
        t->numbers[2][row] = sqrt(share * (1 - share) * c->squares[b]) / c->count[b];
        t->numbers[3][row++] = c->count[b];
    }
}

static kfe_status add_panels(const kfe_i_outcome *outcome, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_figure_panel(out, NULL, "predicted probability",
                               outcome->positive >= 0 ? "share of the class" : "share that is right"));
    out->panels[0].reference = KFE_REFERENCE_DIAGONAL;
    kfe_i_axis_range(&out->panels[0].x, 0, 1);
    kfe_i_axis_range(&out->panels[0].y, 0, 1.02);
    KFE_TRY(kfe_i_figure_panel(out, NULL, "predicted probability", "examples"));
    out->across = 2;
cleanup:
    return status;
}

static kfe_status add_series(const curve *curves, int count, kfe_i_figure *out, const table *t)
{
    kfe_status status = KFE_OK;
    int64_t row = 0;

    for (int k = 0; k < count; k++) {
        kfe_i_series line = {.mark = KFE_MARK_LINE,
                             .flags = KFE_SERIES_DOTTED | (k > 0 ? KFE_SERIES_DASHED : 0u),
                             .style = k,
                             .first = row,
                             .count = filled_bins(&curves[k]),
                             .x = t->predicted,
                             .y = t->observed,
                             .spread = t->error};
        fill_rows(&curves[k], k, row, t);
        KFE_TRY(kfe_i_figure_series(out, curves[k].name, line));
        kfe_i_series bars = line;
        bars.mark = KFE_MARK_BARS;
        bars.flags = 0;
        bars.panel = 1;
        bars.x = t->bin;
        bars.y = t->examples;
        bars.spread = 0;
        KFE_TRY(kfe_i_figure_series(out, NULL, bars));
        row += line.count;
    }
cleanup:
    return status;
}

static void write_caption(const kfe_i_source *source, const kfe_i_set *set, const curve *curves, int count,
                          kfe_i_figure *out)
{
    if (set->outcome.positive >= 0)
        kfe_i_text_printf(&out->caption, "Probability of the class %s",
                          source->classes.names[set->outcome.positive]);
    else
        kfe_i_text_puts(&out->caption, "Probability of the most probable class");
    kfe_i_text_printf(
        &out->caption,
        " and how often it came true, for %lld %s examples in ten bins; bands are one standard error, and "
        "good probabilities lie on the dashed line.",
        (long long)set->rows, set->name);
    for (int k = 0; k < count; k++) {
        double gap = 0;
        double mass = kfe_i_outcome_mass(&set->outcome);
        for (int b = 0; b < BINS; b++)
            gap += fabs(curves[k].predicted[b] - curves[k].observed[b]) / mass;
        kfe_i_text_printf(&out->caption, " Mean distance from it (expected calibration error), %s: %.3f.",
                          curves[k].name, gap);
    }
    if (!set->outcome.probabilities)
        kfe_i_text_puts(&out->caption,
                        " The model has no calibration: these are its scores, made to sum to one.");
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    curve curves[CURVES] = {{0}};
    table t = {0};
    int count = 0;

    if (!set || set->outcome.task != KFE_TASK_CLASSES || !set->outcome.scores)
        return KFE_OK;
    KFE_TRY(count_curves(ctx, source, &set->outcome, curves, &count));
    out->rows = filled_bins(&curves[0]) + filled_bins(&curves[1]);
    KFE_TRY(add_columns(curves, count, out, &t));
    KFE_TRY(add_panels(&set->outcome, out));
    KFE_TRY(add_series(curves, count, out, &t));
    write_caption(source, set, curves, count, out);
cleanup:
    return status;
}

const kfe_i_figure_kind kfe_i_figure_calibration = {
    .name = "calibration",
    .title = "Calibration of probabilities",
    .section = "Quality",
    .summary = "how often predictions of each probability come true (reliability diagram)",
    .needs = "a model that predicts classes, and labelled data",
    .draw = draw,
};
