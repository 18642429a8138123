/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training rows that cover the space of the data evenly; all others are for testing. kfe_i_splits_make calls it.
 *
 *     kennard-stone   d(i, j) = ‖xᵢ − xⱼ‖
 *     spxy            d(i, j) = ‖xᵢ − xⱼ‖ / max ‖x − x′‖ + ‖yᵢ − yⱼ‖ / max ‖y − y′‖
 *
 * The two rows that are farthest apart come first. Then, again and again, the row that is farthest from the nearest of those that were
 * chosen. Of equally far rows, the one with the smaller numbers: the order of the rows does not matter. Distances are those of the columns as
 * they are; views stand side by side.
 *
 * Kennard & Stone (1969), Computer aided design of experiments; Galvão et al. (2005), A method for calibration and validation subset
 * partitioning. Time O(n²d), memory O(nd).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "select/splits.h"

typedef struct space {
    kfe_context *ctx;
    int64_t rows, cols, targets; /* targets 0: they have no part in it */
    double *x;                   /* rows × cols */
    double *y;                   /* rows × targets */
    double x_unit, y_unit;       /* what distances are divided by */
} space;

static double distance(const double *a, const double *b, int64_t count)
{
    double sum = 0;

    for (int64_t j = 0; j < count; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

static double apart(const space *s, int64_t i, int64_t j)
{
    double d = distance(s->x + i * s->cols, s->x + j * s->cols, s->cols) / s->x_unit;

    if (s->targets > 0)
        d += distance(s->y + i * s->targets, s->y + j * s->targets, s->targets) / s->y_unit;
    return d;
}

static int compare(const double *a, const double *b, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        if (a[j] != b[j])
            return a[j] < b[j] ? -1 : 1;
    return 0;
}

/* Whether row i, at distance d, is to be chosen rather than row j at distance e. */
static int is_better(const space *s, int64_t i, double d, int64_t j, double e)
{
    int order = 0;

    if (j < 0 || d != e)
        return j < 0 || d > e;
    order = compare(s->x + i * s->cols, s->x + j * s->cols, s->cols);
    return order == 0 && s->targets > 0
               ? compare(s->y + i * s->targets, s->y + j * s->targets, s->targets) < 0
               : order < 0;
}

/* far[i]: the distance of row i from the row that is farthest from it. With only the targets or only the columns, for the units. */
static void find_far(const space *s, double *far)
{
#pragma omp parallel for num_threads(kfe_context_threads(s->ctx)) schedule(static)
    for (int64_t i = 0; i < s->rows; i++) {
        far[i] = 0;
        for (int64_t j = 0; j < s->rows; j++)
            far[i] = fmax(far[i], apart(s, i, j));
    }
}

/* The unit of the columns or of the targets: their largest distance, or 1. */
static double find_unit(const space *s, int64_t cols, double *x, double *far)
{
    space alone = {.ctx = s->ctx, .rows = s->rows, .cols = cols, .x = x, .x_unit = 1};
    double unit = 0;

    find_far(&alone, far);
    for (int64_t i = 0; i < s->rows; i++)
        unit = fmax(unit, far[i]);
    return unit > 0 ? unit : 1;
}

static int64_t find_best(const space *s, const double *far, const int64_t *part)
{
    int64_t best = -1;

    for (int64_t i = 0; i < s->rows; i++)
        if (part[i] && is_better(s, i, far[i], best, best < 0 ? 0 : far[best]))
            best = i;
    return best;
}

/* Sets part[row] to 0 for `count` rows; the others keep their 1. */
static kfe_status choose(const space *s, int64_t count, int64_t *part, double *near)
{
    kfe_status status = KFE_OK;

    find_far(s, near);
    for (int64_t k = 0; k < count; k++) {
        int64_t best = find_best(s, near, part);
        if (k % 256 == 0)
            KFE_TRY(kfe_i_progress(s->ctx, "choosing training rows", k, count));
        part[best] = 0;
#pragma omp parallel for num_threads(kfe_context_threads(s->ctx)) schedule(static)
        for (int64_t i = 0; i < s->rows; i++)
            if (part[i])
                near[i] = k == 0 ? apart(s, i, best) : fmin(near[i], apart(s, i, best));
    }
cleanup:
    return status;
}

static kfe_status take_numbers(const kfe_data *data, const int64_t *rows, space *s)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < data->view_count; v++) {
        if (data->views[v].table.kind == KFE_TABLE_TEXT)
            KFE_FAIL(s->ctx, KFE_EUNSUPPORTED, "strings have no distances; use {split=random}");
        s->cols += data->views[v].table.cols;
    }
    KFE_ALLOC(s->ctx, s->x, s->rows * s->cols);
    for (int64_t i = 0; i < s->rows; i++) {
        double *row = s->x + i * s->cols;
        for (int v = 0; v < data->view_count; row += data->views[v++].table.cols)
            kfe_i_table_dense_row(&data->views[v].table, rows[i], row);
    }
    for (int64_t i = 0; i < s->rows * s->cols; i++)
        if (!isfinite(s->x[i]))
            KFE_FAIL(s->ctx, KFE_EINPUT,
                     "distances need all numbers; fill missing values in the data, or use {split=random}");
    if (s->targets > 0)
        KFE_ALLOC(s->ctx, s->y, s->rows * s->targets);
    for (int64_t i = 0; i < s->rows && s->targets > 0; i++)
        memcpy(s->y + i * s->targets, data->target.values + rows[i] * s->targets,
               (size_t)s->targets * sizeof *s->y);
cleanup:
    return status;
}

static kfe_status check(kfe_context *ctx, const kfe_i_protocol *protocol, const kfe_i_split_rows *from)
{
    if (!from->data)
        return kfe_i_fail(ctx, KFE_EINVAL, "these splits need the columns of the data");
    if (from->groups)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{split} chooses single rows by their distances; leave out {groups}, or use "
                          "{split=leave-group-out}");
    if (protocol->repeats > 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "{repeats}: there is only one split by distances; leave it out");
    if (protocol->kind == KFE_SPLIT_SPXY && from->data->target.task != KFE_TASK_REAL)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{split=spxy} needs targets that are numbers; use {split=kennard-stone}");
    return KFE_OK;
}

kfe_status kfe_i_space_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                   const kfe_i_split_rows *from, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    int64_t *rows = NULL;
    int64_t *part = NULL;
    double *near = NULL;
    int64_t count = 0;
    space s = {.ctx = ctx, .rows = from->subset ? from->subset_count : from->rows, .x_unit = 1, .y_unit = 1};

    KFE_TRY(check(ctx, protocol, from));
    KFE_TRY(kfe_i_split_train_rows(ctx, protocol, s.rows, &count));
    KFE_ALLOC(ctx, rows, s.rows);
    KFE_ALLOC(ctx, part, s.rows);
    KFE_ALLOC(ctx, near, s.rows);
    for (int64_t i = 0; i < s.rows; i++) {
        rows[i] = from->subset ? from->subset[i] : i;
        part[i] = 1;
    }
    kfe_i_sort_rows(rows, s.rows);
    s.targets = protocol->kind == KFE_SPLIT_SPXY ? from->data->target.cols : 0;
    KFE_TRY(take_numbers(from->data, rows, &s));
    if (s.targets > 0) {
        s.x_unit = find_unit(&s, s.cols, s.x, near);
        s.y_unit = find_unit(&s, s.targets, s.y, near);
    }
    KFE_TRY(choose(&s, count, part, near));
    const kfe_i_parts parts = {s.rows, rows, part};
    KFE_TRY(kfe_i_splits_add_part(out, &parts, 1, 0, 0));
cleanup:
    kfe_i_free(ctx, rows);
    kfe_i_free(ctx, part);
    kfe_i_free(ctx, near);
    kfe_i_free(ctx, s.x);
    kfe_i_free(ctx, s.y);
    return status;
}
