/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure `gate-regions`: which part of a localized model has the largest share at each place. Gönen & Alpaydın (2010), figures 1
 * and 3. Examples are drawn over the two columns of the data, if the gate sees no more, or else over two features of the
 * gate, z^G. The logits of the shares are linear in either, so that the border between two parts is a line; it is drawn
 * if the plane is all that the gate sees.
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "explain/gate.h"
#include "model/arrange.h"
#include "model/linear.h"
#include "report/figure/figure.h"

enum { MOST_BORDERS = 12, BORDER_POINTS = 200 };

/* What the gate says about the examples of one set. */
typedef struct regions {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_i_set *set;
    int64_t parts, axes; /* axes: features of the gate */
    double *shares;      /* rows × parts */
    double *places;      /* rows × axes, or × 2 if is_raw */
    int is_raw;          /* the plane is that of the two columns of the data */
    int axis[2];         /* of the plane */
    /* parts × 2: logits = slopes·plane + offsets; NULL: the gate also sees more than the plane. */
    double *slopes;
    double *offsets;
    char **names; /* of the parts */
} regions;

static void regions_free(regions *r)
{
    for (int64_t m = 0; r->names && m < r->parts; m++)
        kfe_i_free(r->ctx, r->names[m]);
    kfe_i_free(r->ctx, r->names);
    kfe_i_free(r->ctx, r->shares);
    kfe_i_free(r->ctx, r->places);
    kfe_i_free(r->ctx, r->slopes);
    kfe_i_free(r->ctx, r->offsets);
}

/* ---- what the gate says ---- */

/* The plane of the data itself is shown if the model has one table of two columns. */
static int sees_two_columns(const kfe_model *model, const kfe_data *data)
{
    return model->view_count == 1 && kfe_i_model_all_cols(model) == 2 && !kfe_i_scaling_not_linear(model) &&
           data->views[0].table.kind == KFE_TABLE_DENSE && !model->local->parts[0].mapped;
}

/* The two features of the gate that vary most. */
static void choose_axes(regions *r)
{
    double most[2] = {-1, -1};

    for (int64_t d = 0; d < r->axes; d++) {
        double sum = 0;
        double squares = 0;
        for (int64_t i = 0; i < r->set->rows; i++) {
            sum += r->places[i * r->axes + d];
            squares += r->places[i * r->axes + d] * r->places[i * r->axes + d];
        }
        double variance = squares / (double)r->set->rows - pow(sum / (double)r->set->rows, 2);
        int k = variance > most[0] ? 0 : variance > most[1] ? 1 : 2;
        if (k == 0) {
            most[1] = most[0];
            r->axis[1] = r->axis[0];
        }
        if (k < 2) {
            most[k] = variance;
            r->axis[k] = (int)d;
        }
    }
    if (r->axis[0] > r->axis[1] && r->axes > 1) {
        int first = r->axis[1];
        r->axis[1] = r->axis[0];
        r->axis[0] = first;
    }
}

/* Borders are drawn if the plane is all that the gate sees. */
static kfe_status find_slopes(regions *r)
{
    kfe_status status = KFE_OK;

    if (!r->is_raw && r->axes != 2)
        return KFE_OK;
    KFE_ALLOC(r->ctx, r->slopes, 2 * r->parts);
    KFE_ALLOC(r->ctx, r->offsets, r->parts);
    KFE_TRY(kfe_i_gate_plane(r->ctx, r->model, r->is_raw, r->slopes, r->offsets));
cleanup:
    return status;
}

static kfe_status ask_gate(regions *r, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &data->views[0].table;

    KFE_ALLOC(r->ctx, r->shares, r->set->rows * r->parts);
    KFE_TRY(kfe_i_gate_shares(r->ctx, r->model, data, r->shares));
    r->is_raw = sees_two_columns(r->model, data);
    KFE_ALLOC(r->ctx, r->places, r->set->rows * (r->axes > 2 ? r->axes : 2));
    if (r->is_raw) {
        for (int64_t i = 0; i < r->set->rows; i++)
            kfe_i_table_dense_row(table, i, r->places + 2 * i);
        r->axis[1] = 1;
    } else {
        KFE_TRY(kfe_i_gate_features(r->ctx, r->model, data, r->places));
        choose_axes(r);
    }
    KFE_TRY(find_slopes(r));
    KFE_ALLOC_ZERO(r->ctx, r->names, r->parts);
    KFE_TRY(kfe_i_name_kernels(r->ctx, r->model, r->names));
cleanup:
    return status;
}

static double place_of(const regions *r, int64_t row, int k)
{
    return r->places[row * (r->is_raw ? 2 : r->axes) + r->axis[k]];
}

/* ---- examples ---- */

typedef struct winner {
    int64_t part, row;
} winner;

static int compare_winners(const void *a, const void *b)
{
    const winner *p = a;
    const winner *q = b;

    if (p->part != q->part)
        return p->part < q->part ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static kfe_status find_winners(const regions *r, winner **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(r->ctx, *out, r->set->sample_count);
    for (int64_t k = 0; k < r->set->sample_count; k++) {
        const double *shares = r->shares + r->set->sample[k] * r->parts;
        (*out)[k] = (winner){0, r->set->sample[k]};
        for (int64_t m = 1; m < r->parts; m++)
            if (shares[m] > shares[(*out)[k].part])
                (*out)[k].part = m;
    }
    qsort(*out, (size_t)r->set->sample_count, sizeof **out, compare_winners);
cleanup:
    return status;
}

/* Columns of the table, in their order; a border has no row, share or class. */
typedef struct table {
    double *rows, *shares, *places[2];
    int32_t *parts, *classes;
    int x, y;
} table;

static void name_axis(const regions *r, int k, char *out, size_t size)
{
    const kfe_i_model_view *view = &r->model->views[0];

    if (r->is_raw && view->column_names && *view->column_names[k])
        kfe_i_snprintf(out, size, "%s", view->column_names[k]);
    else
        kfe_i_snprintf(out, size, "%s %d", r->is_raw ? "column" : "gate feature", r->axis[k] + 1);
}

static kfe_status add_columns(const kfe_i_source *source, const regions *r, kfe_i_figure *out, table *t)
{
    kfe_status status = KFE_OK;
    char name[256];

    KFE_TRY(kfe_i_figure_numbers(out, "row", NULL, &t->rows));
    KFE_TRY(kfe_i_figure_words(out, "part", r->parts, (const char *const *)r->names, NULL, &t->parts));
    KFE_TRY(kfe_i_figure_numbers(out, "share", NULL, &t->shares));
    name_axis(r, 0, name, sizeof name);
    KFE_TRY(kfe_i_figure_numbers(out, name, &t->x, &t->places[0]));
    name_axis(r, 1, name, sizeof name);
    KFE_TRY(kfe_i_figure_numbers(out, name, &t->y, &t->places[1]));
    if (r->set->truth)
        KFE_TRY(kfe_i_figure_words(out, "class", source->classes.count, source->classes.names, NULL,
                                   &t->classes));
cleanup:
    return status;
}

static kfe_status add_examples(const regions *r, const winner *winners, kfe_i_figure *out, const table *t)
{
    kfe_status status = KFE_OK;
    int64_t count = r->set->sample_count;

    for (int64_t k = 0, first = 0; k < count; k++) {
        int64_t row = winners[k].row;
        t->rows[k] = (double)(r->set->origin ? r->set->origin[row] : row) + 1;
        t->parts[k] = (int32_t)winners[k].part;
        t->shares[k] = r->shares[row * r->parts + winners[k].part];
        t->places[0][k] = place_of(r, row, 0);
        t->places[1][k] = place_of(r, row, r->axes > 1 || r->is_raw ? 1 : 0);
        if (t->classes)
            t->classes[k] = r->set->truth[row];
        if (k + 1 < count && winners[k + 1].part == winners[k].part)
            continue;
        KFE_TRY(kfe_i_figure_series(out, r->names[winners[k].part],
                                    (kfe_i_series){.mark = KFE_MARK_POINTS,
                                                   .style = (int)winners[k].part,
                                                   .first = first,
                                                   .count = k + 1 - first,
                                                   .x = t->x,
                                                   .y = t->y}));
        first = k + 1;
    }
cleanup:
    return status;
}

/* ---- borders ---- */

static int64_t border_count(const regions *r)
{
    int64_t pairs = r->slopes ? r->parts * (r->parts - 1) / 2 : 0;

    return pairs < MOST_BORDERS ? pairs : MOST_BORDERS;
}

static double logit_at(const regions *r, int64_t m, double x, double y)
{
    return r->slopes[2 * m] * x + r->slopes[2 * m + 1] * y + r->offsets[m];
}

/* Whether parts a and b share the largest logit at a point of their border. */
static int is_border(const regions *r, int64_t a, double x, double y)
{
    double best = logit_at(r, a, x, y);

    for (int64_t m = 0; m < r->parts; m++)
        if (logit_at(r, m, x, y) > best + 1e-9 * (1 + fabs(best)))
            return 0;
    return 1;
}

/* Points of the line on which the logits of a and b are equal, within the box low … high. */
static void trace_border(const regions *r, int64_t a, int64_t b, const double box[4], const table *t,
                         int64_t first)
{
    double u = r->slopes[2 * a] - r->slopes[2 * b];
    double v = r->slopes[2 * a + 1] - r->slopes[2 * b + 1];
    double c = r->offsets[a] - r->offsets[b];
    int steep = fabs(u) * (box[1] - box[0]) > fabs(v) * (box[3] - box[2]);

    for (int64_t k = 0; k < BORDER_POINTS; k++) {
        double share = (double)k / (BORDER_POINTS - 1);
        double x = box[0] + share * (box[1] - box[0]);
        double y = box[2] + share * (box[3] - box[2]);
        if (steep)
            x = -(v * y + c) / u;
        else
            y = -(u * x + c) / v;
        int inside = x >= box[0] && x <= box[1] && y >= box[2] && y <= box[3] && is_border(r, a, x, y);
        t->rows[first + k] = NAN;
        t->shares[first + k] = NAN;
        t->parts[first + k] = -1;
        t->places[0][first + k] = inside ? x : NAN;
        t->places[1][first + k] = inside ? y : NAN;
        if (t->classes)
            t->classes[first + k] = -1;
    }
}

static void find_box(const regions *r, double box[4])
{
    for (int k = 0; k < 2; k++) {
        box[2 * k] = INFINITY;
        box[2 * k + 1] = -INFINITY;
        for (int64_t i = 0; i < r->set->rows; i++) {
            box[2 * k] = fmin(box[2 * k], place_of(r, i, k));
            box[2 * k + 1] = fmax(box[2 * k + 1], place_of(r, i, k));
        }
    }
}

static kfe_status add_borders(const regions *r, kfe_i_figure *out, const table *t)
{
    kfe_status status = KFE_OK;
    int64_t left = border_count(r);
    int64_t first = r->set->sample_count;
    double box[4];

    find_box(r, box);
    for (int64_t a = 0; a < r->parts; a++)
        for (int64_t b = a + 1; b < r->parts && left > 0; b++, left--) {
            trace_border(r, a, b, box, t, first);
            KFE_TRY(kfe_i_figure_series(out, NULL,
                                        (kfe_i_series){.mark = KFE_MARK_LINE,
                                                       .flags = KFE_SERIES_GREY,
                                                       .first = first,
                                                       .count = BORDER_POINTS,
                                                       .x = t->x,
                                                       .y = t->y}));
            first += BORDER_POINTS;
        }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status fill(const kfe_i_source *source, const regions *r, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    winner *winners = NULL;
    table t = {0};

    KFE_TRY(find_winners(r, &winners));
    out->rows = r->set->sample_count + border_count(r) * BORDER_POINTS;
    KFE_TRY(add_columns(source, r, out, &t));
    KFE_TRY(kfe_i_figure_panel(out, NULL, out->columns[t.x - 1].name, out->columns[t.y - 1].name));
    KFE_TRY(add_examples(r, winners, out, &t));
    if (r->slopes)
        KFE_TRY(add_borders(r, out, &t));
    kfe_i_text_printf(
        &out->caption,
        "%lld of %lld %s examples by %s; colour and marker are the part with the largest share.",
        (long long)r->set->sample_count, (long long)kfe_data_rows(r->set->data), r->set->name,
        r->is_raw ? "their two columns" : "the features of the gate that vary most");
    if (r->slopes)
        kfe_i_text_puts(&out->caption, " Grey lines are the borders at which two parts have the same share.");
cleanup:
    kfe_i_free(r->ctx, winners);
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    kfe_data arranged = {0};
    regions r = {.ctx = ctx,
                 .model = source->model,
                 .set = source->test.data    ? &source->test
                        : source->train.data ? &source->train
                                             : NULL};

    if (!r.model || !r.model->local || !r.set || r.model->local->part_count < 2)
        return KFE_OK;
    r.parts = r.model->local->part_count;
    r.axes = r.model->local->gate_dim;
    KFE_TRY(kfe_i_arrange(ctx, r.model, r.set->gathered ? r.set->gathered : r.set->data, &arranged));
    KFE_TRY(ask_gate(&r, &arranged));
    KFE_TRY(fill(source, &r, out));
cleanup:
    kfe_i_arrange_free(&arranged);
    regions_free(&r);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_gate_regions = {
    .name = "gate-regions",
    .title = "Regions of the gate",
    .section = "How it was learned",
    .summary = "which part of a localized model has the largest share at each place",
    .needs = "a model with a gate over several parts, of lmkl or sldr, and data",
    .draw = draw,
};
