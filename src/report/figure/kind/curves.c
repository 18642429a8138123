/* SPDX-License-Identifier: Apache-2.0 */
/* Curves over all thresholds on the scores of a class; used by roc.c and precision_recall.c. */
#include "report/figure/kind/curves.h"

#include <math.h>

#include "core/memory.h"

enum { MOST_CLASSES = 10, MOST_POINTS = 300 };

/* The curves of all classes, one after the other, as columns to be. */
typedef struct job {
    kfe_context *ctx;
    const kfe_i_curve_kind *kind;
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
    int column = 0;

    kfe_i_figure_rows(out, work->count);
    KFE_TRY(
        kfe_i_figure_words(out, "class", source->classes.count, source->classes.names, &column, &classes));
    for (int k = 0; k < 3; k++)
        KFE_TRY(kfe_i_figure_numbers(out, names[k], &column, &columns[k]));
    for (int64_t i = 0; i < work->count; i++) {
        classes[i] = (int32_t)work->values[4 * i];
        for (int k = 0; k < 3; k++)
            columns[k][i] = work->values[4 * i + 1 + k];
    }
cleanup:
    return status;
}

kfe_status kfe_i_draw_curves(kfe_context *ctx, const kfe_i_source *source, const kfe_i_curve_kind *kind,
                             kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_set *set = kfe_i_source_judged(source);
    job work = {.ctx = ctx, .kind = kind};

    if (!set || set->outcome.task != KFE_TASK_CLASSES)
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
