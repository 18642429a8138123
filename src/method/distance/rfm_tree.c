/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rfm on the leaves of a tree, for more examples than one regression can take. A node with more than leaf-size examples fits a regression on
 * a random sample of that many, takes the leading eigenvector v of its average gradient outer product, along which the target varies
 * most, and divides its examples at the median of vᵀx. Every leaf learns a distance of its own (rfm_search.c). New points go to one
 * leaf, or, with a softness, to several by shares that change smoothly across the divisions (method/shared/tree.h). Examples are counted by
 * their weights, and equal rows stay together, so that a row of weight 2 is a row given twice.
 *
 * Beaglehole, Holzmüller, Radhakrishnan & Belkin (2025), "xRFM: accurate, scalable, and interpretable feature learning models for tabular
 * data".
 * Time: n/L times that of rfm on L examples, which grows with L² and more; memory that of one leaf.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "method/distance/rfm.h"

/* A node or a leaf: a range of `order`. */
typedef struct part {
    int64_t first, count;
    double weight;     /* the examples, by weight */
    double *direction; /* NULL: a leaf */
    double threshold, width;
    int64_t below;  /* the part of the smaller projections; the next one is its sibling */
    int64_t number; /* among the nodes, or among the leaves */
} part;

typedef struct placed {
    double projection, weight;
    int64_t row;
} placed;

typedef struct growing {
    kfe_context *ctx;
    kfe_i_arena memory;
    const kfe_i_rfm *s;      /* the whole problem */
    kfe_i_distinct distinct; /* decides which rows of a part are looked at */
    placed *order;           /* all rows; those of a part lie side by side */
    part *parts;             /* parents before children */
    int64_t part_count, part_capacity, node_count;
} growing;

static int is_constant(const kfe_i_rfm_rows *some, int64_t columns)
{
    for (int64_t p = columns; p < some->x.rows * columns; p++)
        if (some->y[p] != some->y[p % columns])
            return 0;
    return 1;
}

/* ---- dividing ---- */

/* How many rows of the part make up leaf-size examples, equal rows taken together. sorted: all, by their content. */
static int64_t sample_size(const growing *g, const kfe_i_sorted *sorted, int64_t count)
{
    double most = (double)g->s->settings->leaf_size;
    double weight = 0;

    for (int64_t i = 0; i < count; i++) {
        if (weight >= most && sorted[i].value < sorted[i - 1].value)
            return i;
        weight += kfe_i_row_weight(g->s->x, sorted[i].index);
    }
    return count;
}

/* A random sample of about leaf-size examples of the part; `memory` as kfe_i_rfm_gather has it. */
static kfe_status draw_sample(growing *g, const part *p, kfe_i_arena *memory, kfe_i_rfm_rows *out)
{
    kfe_status status = KFE_OK;
    int64_t *index;
    kfe_i_sorted *items;

    KFE_TAKE(memory, index, p->count);
    KFE_TAKE(memory, items, p->count);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t row = g->order[p->first + i].row;
        items[i] = (kfe_i_sorted){.index = row, .value = (double)-g->distinct.of[row]};
    }
    kfe_i_sort_falling(items, p->count);
    int64_t count = sample_size(g, items, p->count);
    for (int64_t i = 0; i < count; i++)
        index[i] = items[i].index;
    KFE_TRY(kfe_i_rfm_gather(g->s, memory, index, count, out));
cleanup:
    return status;
}

/* The column that varies most, for parts in which the regression is constant. */
static void widest_column(const kfe_i_table *x, double *row, double *mean, double *direction)
{
    int64_t best = 0;
    double total = kfe_i_table_weight(x);

    memset(mean, 0, (size_t)x->cols * sizeof *mean);
    memset(direction, 0, (size_t)x->cols * sizeof *direction);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < x->rows; i++) {
            double weight = kfe_i_row_weight(x, i);
            kfe_i_table_dense_row(x, i, row);
            for (int64_t j = 0; j < x->cols; j++)
                if (pass == 0)
                    mean[j] += weight * row[j] / total;
                else
                    direction[j] += weight * (row[j] - mean[j]) * (row[j] - mean[j]);
        }
    for (int64_t j = 1; j < x->cols; j++)
        best = direction[j] > direction[best] ? j : best;
    memset(direction, 0, (size_t)x->cols * sizeof *direction);
    direction[best] = 1;
}

/* The direction along which a regression on the sample varies most, of length one. */
static kfe_status find_direction(growing *g, const kfe_i_rfm_rows *sample, double *direction)
{
    static const kfe_i_map no_map = {0};
    kfe_status status = KFE_OK;
    int64_t d = sample->x.cols;
    double *gradients = NULL;
    kfe_i_distance_fit fit = {0};
    kfe_i_map leading = {0};

    KFE_ALLOC(g->ctx, gradients, d * d > 2 * d ? d * d : 2 * d);
    if (!is_constant(sample, g->s->target.columns)) {
        KFE_TRY(kfe_i_distance_fit_make(g->ctx, &g->s->problem, &no_map, &sample->x, sample->y, &fit));
        KFE_TRY(kfe_i_distance_gradients(g->ctx, &g->s->problem, &fit, &no_map, 0, d, gradients));
        KFE_TRY(kfe_i_distance_root(g->ctx, d, 0, 0, 1, gradients, &leading));
    }
    if (leading.values)
        memcpy(direction, leading.values, (size_t)d * sizeof *direction);
    else
        widest_column(&sample->x, gradients, gradients + d, direction);
cleanup:
    kfe_i_distance_fit_free(&fit);
    kfe_i_map_free(&leading);
    kfe_i_free(g->ctx, gradients);
    return status;
}

static int compare_placed(const void *a, const void *b)
{
    const placed *p = a;
    const placed *q = b;

    if (p->projection != q->projection)
        return p->projection < q->projection ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Sorts the rows of the part along the direction. row: room for one. */
static void sort_rows(growing *g, const part *p, const double *direction, double *row)
{
    int64_t d = g->s->x->cols;

    for (int64_t i = p->first; i < p->first + p->count; i++) {
        kfe_i_table_dense_row(g->s->x, g->order[i].row, row);
        g->order[i].projection = 0;
        for (int64_t j = 0; j < d; j++)
            g->order[i].projection += row[j] * direction[j];
    }
    qsort(g->order + p->first, (size_t)p->count, sizeof *g->order, compare_placed);
}

/* How many of the sorted rows lie below the division: those with half of the weight, or as near to it as equal projections allow; 0: all
 * are equal. */
static int64_t find_cut(const placed *sorted, const part *p)
{
    double below = 0;
    double least = INFINITY;
    int64_t best = 0;

    for (int64_t cut = 1; cut < p->count; cut++) {
        below += sorted[cut - 1].weight;
        double away = fabs(below - p->weight / 2);
        if (away < least && sorted[cut - 1].projection < sorted[cut].projection) {
            least = away;
            best = cut;
        }
    }
    return best;
}

static double deviation(const placed *sorted, const part *p)
{
    double mean = 0;
    double square = 0;

    for (int64_t i = 0; i < p->count; i++)
        mean += sorted[i].weight * sorted[i].projection / p->weight;
    for (int64_t i = 0; i < p->count; i++)
        square += sorted[i].weight * pow(sorted[i].projection - mean, 2) / p->weight;
    return sqrt(square);
}

static void add_part(growing *g, int64_t first, int64_t count)
{
    part *p = &g->parts[g->part_count++];

    *p = (part){.first = first, .count = count};
    for (int64_t i = first; i < first + count; i++)
        p->weight += g->order[i].weight;
}

/* Divides part number `at` in two, which are appended; a part whose rows are all alike stays a leaf. */
static kfe_status divide(growing *g, int64_t at)
{
    kfe_status status = KFE_OK;
    part p = g->parts[at];
    kfe_i_arena memory = {.ctx = g->ctx};
    kfe_i_rfm_rows sample = {0};
    double *direction, *row;

    KFE_TAKE(&g->memory, direction, g->s->x->cols);
    KFE_TAKE(&memory, row, g->s->x->cols);
    KFE_TRY(draw_sample(g, &p, &memory, &sample));
    KFE_TRY(find_direction(g, &sample, direction));
    sort_rows(g, &p, direction, row);
    const placed *sorted = g->order + p.first;
    int64_t cut = find_cut(sorted, &p);
    if (cut == 0)
        goto cleanup;
    KFE_GROW(g->ctx, g->parts, g->part_capacity, g->part_count + 2);
    double middle = sorted[cut - 1].projection / 2 + sorted[cut].projection / 2;
    p.threshold = middle < sorted[cut].projection ? middle : sorted[cut - 1].projection;
    p.width = g->s->settings->softness * deviation(sorted, &p);
    p.below = g->part_count;
    p.direction = direction;
    g->parts[at] = p;
    add_part(g, p.first, cut);
    add_part(g, p.first + cut, p.count - cut);
cleanup:
    kfe_i_table_free(&sample.x);
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status grow(growing *g)
{
    kfe_status status = KFE_OK;
    int64_t n = g->s->x->rows;
    int64_t leaves = 0;

    KFE_TRY(kfe_i_distinct_make(g->ctx, n, g->s->x->keys, KFE_STREAM_TREE, &g->distinct));
    KFE_TAKE(&g->memory, g->order, n);
    for (int64_t i = 0; i < n; i++)
        g->order[i] = (placed){.weight = kfe_i_row_weight(g->s->x, i), .row = i};
    KFE_GROW(g->ctx, g->parts, g->part_capacity, 1);
    add_part(g, 0, n);
    for (int64_t at = 0; at < g->part_count; at++) {
        KFE_TRY(kfe_i_progress(g->ctx, "dividing the examples", at, g->part_count));
        if (g->parts[at].weight > (double)g->s->settings->leaf_size)
            KFE_TRY(divide(g, at));
        g->parts[at].number = g->parts[at].direction ? g->node_count++ : leaves++;
    }
cleanup:
    return status;
}

static void growing_free(growing *g)
{
    kfe_i_free(g->ctx, g->parts);
    kfe_i_distinct_free(&g->distinct);
    kfe_i_arena_free(&g->memory);
}

/* ---- leaves ---- */

/* What the leaves tell about themselves. */
typedef struct leaf_records {
    double *sizes, *iterations, *ridges; /* one per leaf */
    double *importance;                  /* one per column */
} leaf_records;

/* Adds the diagonal of M, sum 1, times `share`. own: room for it. */
static void add_importance(const kfe_i_map *map, int64_t d, double share, double *own, double *importance)
{
    kfe_i_map_diagonal(map, d, own);
    double total = cblas_dasum((blasint)d, own, 1);
    cblas_daxpy((blasint)d, total > 0 ? share / total : 0, own, 1, importance, 1);
}

/* Takes the last regression of the leaf, in the units of the target. */
static kfe_status take_leaf(const growing *g, const kfe_i_distance_fit *fit, kfe_i_tree_leaf *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_distance_target *target = &g->s->target;
    int64_t k = target->columns;

    KFE_TRY(kfe_i_table_copy(g->ctx, &fit->support, &out->support));
    KFE_ALLOC(g->ctx, out->coefficients, fit->support.rows * k);
    KFE_ALLOC(g->ctx, out->offset, k);
    for (int64_t c = 0; c < k; c++) {
        out->offset[c] = -(fit->mean[c] * target->scale[c] + target->shift[c]);
        for (int64_t i = 0; i < fit->support.rows; i++)
            out->coefficients[i * k + c] = target->scale[c] * fit->coefficients[i * k + c];
    }
cleanup:
    return status;
}

/* A leaf in which the target is constant: one support example without weight. */
static kfe_status take_constant(const growing *g, const kfe_i_rfm_rows *some, kfe_i_tree_leaf *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_distance_target *target = &g->s->target;
    int64_t k = target->columns;
    int64_t first = 0;

    KFE_TRY(kfe_i_table_gather(g->ctx, &some->x, &first, 1, &out->support));
    KFE_ALLOC_ZERO(g->ctx, out->coefficients, k);
    KFE_ALLOC(g->ctx, out->offset, k);
    for (int64_t c = 0; c < k; c++)
        out->offset[c] = -(some->y[c] * target->scale[c] + target->shift[c]);
cleanup:
    return status;
}

/* Learns a distance on the examples of a leaf, and fits them. */
static kfe_status learn_leaf(const growing *g, const kfe_i_rfm_rows *some, kfe_i_tree_leaf *out,
                             double *iteration, double *ridge)
{
    kfe_status status = KFE_OK;
    kfe_i_distance_fit fit = {0};
    kfe_i_rfm own = {.ctx = g->ctx,
                     .memory = {.ctx = g->ctx},
                     .settings = g->s->settings,
                     .given = g->s->given,
                     .problem = g->s->problem,
                     .x = &some->x};

    own.target.columns = g->s->target.columns;
    own.target.values = some->y; /* borrowed: the target has no context */
    KFE_TRY(kfe_i_rfm_hold_out(&own));
    KFE_TRY(kfe_i_rfm_search(&own));
    KFE_TRY(kfe_i_rfm_last_fit(&own, &own.best.map, &fit));
    KFE_TRY(take_leaf(g, &fit, out));
    out->map = own.best.map;
    memset(&own.best.map, 0, sizeof own.best.map);
    *iteration = (double)own.best.iteration;
    *ridge = fit.ridge;
cleanup:
    kfe_i_distance_fit_free(&fit);
    kfe_i_rfm_free(&own);
    return status;
}

static kfe_status fit_leaf(const growing *g, const part *p, kfe_i_tree_leaf *out, leaf_records *records)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = g->ctx};
    int64_t d = g->s->x->cols;
    int64_t *index;
    double *own;
    kfe_i_rfm_rows some = {0};

    KFE_TAKE(&memory, index, p->count);
    KFE_TAKE(&memory, own, d);
    for (int64_t i = 0; i < p->count; i++)
        index[i] = g->order[p->first + i].row;
    KFE_TRY(kfe_i_rfm_gather(g->s, &memory, index, p->count, &some));
    if (is_constant(&some, g->s->target.columns))
        KFE_TRY(take_constant(g, &some, out));
    else
        KFE_TRY(learn_leaf(g, &some, out, &records->iterations[p->number], &records->ridges[p->number]));
    records->sizes[p->number] = p->weight;
    add_importance(&out->map, d, p->weight / kfe_i_table_weight(g->s->x), own, records->importance);
cleanup:
    kfe_i_table_free(&some.x);
    kfe_i_arena_free(&memory);
    return status;
}

/* ---- all together ---- */

static void copy_node(const growing *g, const part *p, kfe_i_tree *tree)
{
    memcpy(tree->directions + p->number * tree->cols, p->direction, (size_t)tree->cols * sizeof(double));
    tree->thresholds[p->number] = p->threshold;
    tree->widths[p->number] = p->width;
    for (int side = 0; side < 2; side++) {
        const part *child = &g->parts[p->below + side];
        tree->children[2 * p->number + side] = child->direction ? child->number : -1 - child->number;
    }
}

static kfe_status record_leaves(const leaf_records *r, int64_t leaves, int64_t cols, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_solution_record(out, "importance", r->importance, cols));
    KFE_TRY(kfe_i_solution_record(out, "leaf-sizes", r->sizes, leaves));
    KFE_TRY(kfe_i_solution_record(out, "leaf-iterations", r->iterations, leaves));
    KFE_TRY(kfe_i_solution_record(out, "leaf-ridges", r->ridges, leaves));
cleanup:
    return status;
}

static kfe_status fit_parts(const growing *g, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t leaves = g->node_count + 1;
    int64_t cols = g->s->x->cols;
    leaf_records records = {0};
    kfe_i_arena memory = {.ctx = g->ctx};

    KFE_TAKE_ZERO(&memory, records.sizes, leaves);
    KFE_TAKE_ZERO(&memory, records.iterations, leaves);
    KFE_TAKE_ZERO(&memory, records.ridges, leaves);
    KFE_TAKE_ZERO(&memory, records.importance, cols);
    KFE_TRY(kfe_i_tree_new(g->ctx, g->node_count, cols, g->s->target.columns, &out->tree));
    KFE_TRY(kfe_i_tree_alloc_nodes(out->tree));
    for (int64_t i = 0; i < g->part_count; i++) {
        const part *p = &g->parts[i];
        if (p->direction) {
            copy_node(g, p, out->tree);
            continue;
        }
        KFE_TRY(kfe_i_progress(g->ctx, "fitting leaves", p->number, leaves));
        KFE_TRY(fit_leaf(g, p, &out->tree->leaves[p->number], &records));
    }
    out->rows = kfe_i_tree_rows(out->tree);
    KFE_TRY(record_leaves(&records, leaves, cols, out));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_rfm_fit_tree(const kfe_i_rfm *s, int *divided, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    growing g = {.ctx = s->ctx, .memory = {.ctx = s->ctx}, .s = s};

    KFE_TRY(grow(&g));
    *divided = g.node_count > 0;
    if (!*divided)
        goto cleanup;
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_TREE, 0, s->target.columns, out));
    KFE_TRY(fit_parts(&g, out));
    kfe_i_log(s->ctx, KFE_LOG_INFO, "rfm: %lld leaves of at most %lld examples", (long long)g.node_count + 1,
              (long long)s->settings->leaf_size);
cleanup:
    growing_free(&g);
    return status;
}
