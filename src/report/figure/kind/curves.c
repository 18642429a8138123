/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures `roc` and `precision-recall`: curves over all thresholds on the scores of a class, with the area under each. They differ
 * only in what their axes are.
 */
#include <math.h>

#include "core/memory.h"
#include "report/figure/figure.h"

enum { MOST_CLASSES = 10, MOST_POINTS = 300 };

typedef struct curve_kind {
    const char *x, *y; /* titles of the axes */
    const char *area;  /* the area under the curve: "AUC" */
    /* Both axes from the counts at one threshold. */
    void (*place)(double right, double wrong, double positives, double negatives, double *x, double *y);
    /* The area between the previous point and this one. */
    double (*step)(double from_x, double from_y, double x, double y);
    double start_x, start_y;
    kfe_i_reference reference;
} curve_kind;

/* The curves of all classes, one after the other, as columns to be. */
typedef struct job {
    kfe_context *ctx;
    const curve_kind *kind;
    const kfe_i_outcome *outcome;
    int64_t count, capacity;
    double *values; /* count × 4: class, threshold, x, y */
    double area;    /* of the class that was added last */
} job;

static kfe_status append(job *work, int64_t class_index, double threshold, double x, double y)
{
    kfe_status status = KFE_OK;
    int64_t at = 4 * work->count;

    KFE_GROW(work->ctx, work->values, work->capacity, at + 4);
    work->values[at] = (double)class_index;
    work->values[at + 1] = threshold;
    work->values[at + 2] = x;
    work->values[at + 3] = y;
    work->count++;
cleanup:
    return status;
}

/* Points closer than this to the one before are left out; the area is computed from all. */
static int is_far(double x, double y, double last_x, double last_y)
{
    return fabs(x - last_x) + fabs(y - last_y) >= 2.0 / MOST_POINTS;
}

static kfe_status add_class(job *work, int64_t g)
{
    kfe_status status = KFE_OK;
    kfe_i_curve_point *points = NULL;
    int64_t count = 0;
    double positives = 0;
    double all = kfe_i_outcome_mass(work->outcome);
    double last_x = work->kind->start_x;
    double last_y = work->kind->start_y;
    double x = last_x;
    double y = last_y;

    work->area = NAN;
    KFE_TRY(kfe_i_curve(work->ctx, work->outcome, g, &points, &count, &positives));
    if (positives == 0 || positives == all)
        goto cleanup;
    work->area = 0;
    KFE_TRY(append(work, g, INFINITY, x, y));
    for (int64_t i = 0; i < count; i++) {
        double from_x = x;
        double from_y = y;
        work->kind->place(points[i].true_positives, points[i].false_positives, positives, all - positives, &x,
                          &y);
        work->area += work->kind->step(from_x, from_y, x, y);
        if (i + 1 < count && !is_far(x, y, last_x, last_y))
            continue;
        KFE_TRY(append(work, g, points[i].threshold, x, y));
        last_x = x;
        last_y = y;
    }
cleanup:
    kfe_i_free(work->ctx, points);
    return status;
}

static kfe_status add_series(job *work, const kfe_i_source *source, int64_t g, int64_t first,
                             kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_i_text name;
    kfe_i_series series = {.mark = KFE_MARK_LINE,
                           .style = (int)out->series_count,
                           .first = first,
                           .count = work->count - first,
                           .x = 3,
                           .y = 4};

    kfe_i_text_init(&name, work->ctx);
    kfe_i_text_printf(&name, "%s %.3f ", work->kind->area, work->area);
    kfe_i_text_puts(&name, source->classes.names[g]);
    KFE_TRY(name.status);
    KFE_TRY(kfe_i_figure_series(out, name.bytes, series));
cleanup:
    kfe_i_text_free(&name);
    return status;
}

static kfe_status add_columns(const job *work, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    int32_t *classes = NULL;
    double *columns[3] = {NULL};
    const char *names[3] = {"threshold", work->kind->x, work->kind->y};

    out->rows = work->count;
    KFE_TRY(kfe_i_figure_words(out, "class", source->classes.count, source->classes.names, NULL, &classes));
    for (int k = 0; k < 3; k++)
        KFE_TRY(kfe_i_figure_numbers(out, names[k], NULL, &columns[k]));
    for (int64_t i = 0; i < work->count; i++) {
        classes[i] = (int32_t)work->values[4 * i];
        for (int k = 0; k < 3; k++)
            columns[k][i] = work->values[4 * i + 1 + k];
    }
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const curve_kind *kind = out->kind->what;
    const kfe_i_set *set = kfe_i_source_judged(source);
    job work = {.ctx = ctx, .kind = kind};

    if (!set || set->outcome.task != KFE_TASK_CLASSES || !set->outcome.scores)
        return KFE_OK;
    work.outcome = &set->outcome;
    for (int64_t g = 0; g < source->model->target.class_count && out->series_count < MOST_CLASSES; g++) {
        int64_t first = work.count;
        if (work.outcome->positive >= 0 && g != work.outcome->positive)
            continue;
        KFE_TRY(add_class(&work, g));
        if (work.count > first)
            KFE_TRY(add_series(&work, source, g, first, out));
    }
    if (work.count == 0)
        goto cleanup;
    KFE_TRY(add_columns(&work, source, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, kind->x, kind->y));
    out->flags = KFE_FIGURE_SQUARE;
    kfe_i_axis_range(&out->panels[0].x, 0, 1);
    kfe_i_axis_range(&out->panels[0].y, 0, 1.01);
    out->panels[0].reference = kind->reference;
    kfe_i_text_printf(&out->caption, "Over all thresholds on the score, %s; %lld %s examples.",
                      work.outcome->positive >= 0 ? "for the positive class"
                                                  : "for each class against the others",
                      (long long)set->rows, set->name);
    if (work.outcome->positive < 0 && source->model->target.class_count > MOST_CLASSES)
        kfe_i_text_printf(&out->caption, " The first %d of %lld classes.", MOST_CLASSES,
                          (long long)source->model->target.class_count);
cleanup:
    kfe_i_free(ctx, work.values);
    return status;
}

/* ---- the two figures ---- */

static void place_roc(double right, double wrong, double positives, double negatives, double *x, double *y)
{
    *x = wrong / negatives;
    *y = right / positives;
}

/* A trapezium: examples of equal scores are caught together. */
static double step_roc(double from_x, double from_y, double x, double y)
{
    return (x - from_x) * (y + from_y) / 2;
}

const kfe_i_figure_kind kfe_i_figure_roc = {
    .name = "roc",
    .title = "ROC curves",
    .section = "Quality",
    .summary = "true positives against false positives over all thresholds, with AUC",
    .needs = "a model that predicts classes, and labelled data",
    .draw = draw,
    .what = &(const curve_kind){.x = "false positive rate",
                                .y = "true positive rate",
                                .area = "AUC",
                                .place = place_roc,
                                .step = step_roc,
                                .reference = KFE_REFERENCE_DIAGONAL},
};

static void place_precision(double right, double wrong, double positives, double negatives, double *x,
                            double *y)
{
    (void)negatives;
    *x = right / positives;
    *y = right / (right + wrong);
}

/* Average precision: the precision reached times the recall gained, without interpolation. */
static double step_precision(double from_x, double from_y, double x, double y)
{
    (void)from_y;
    return (x - from_x) * y;
}

const kfe_i_figure_kind kfe_i_figure_precision_recall = {
    .name = "precision-recall",
    .title = "Precision and recall",
    .section = "Quality",
    .summary = "precision against recall over all thresholds, with average precision",
    .needs = "a model that predicts classes, and labelled data",
    .draw = draw,
    .what = &(const curve_kind){.x = "recall",
                                .y = "precision",
                                .area = "AP",
                                .place = place_precision,
                                .step = step_precision,
                                .start_y = 1},
};
