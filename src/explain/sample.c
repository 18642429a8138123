/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random sample of the examples of an explanation, as tables that may be changed; permuting.c, views.c and sensitivity.c use it.
 *
 * The content of the examples decides which are drawn and in which order they stand, not their places, and a weight of 2 counts as two
 * equal examples: examples of equal content and target are one of the sum of their weights w. Content number g of n in random order has
 * the priority w / u, u = (g + 1/2) / n; those of largest priority are drawn, and stand for max(w, τ) examples, τ the largest priority
 * of the others (Duffield, Lund & Thorup 2007).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "explain/explain.h"

typedef struct candidate {
    int64_t number; /* of its content, in random order */
    uint64_t target;
    int64_t row;
    double weight, priority;
} candidate;

typedef struct sampling {
    const kfe_i_explaining *job;
    candidate *items;
    int64_t count, contents;
    int64_t rows; /* with a weight above zero */
} sampling;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static uint64_t target_of(const kfe_i_target *target, int64_t row)
{
    uint64_t sum = 0;

    if (target->task == KFE_TASK_CLASSES)
        return (uint64_t)target->codes[row];
    for (int64_t k = 0; target->task == KFE_TASK_REAL && k < target->cols; k++) {
        uint64_t bits;
        memcpy(&bits, &target->values[row * target->cols + k], sizeof bits);
        sum = kfe_i_scramble(sum + bits);
    }
    return sum;
}

/* Numbers the contents of rows with a weight from 0 on. */
static void number_contents(sampling *s)
{
    int64_t before = -1;

    for (int64_t i = 0; i < s->count; i++) {
        s->contents += s->items[i].number != before;
        before = s->items[i].number;
        s->items[i].number = s->contents - 1;
    }
}

static kfe_status list_candidates(sampling *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->job->ctx;
    const kfe_data *data = s->job->data;
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_data_row_keys(ctx, data, &keys));
    KFE_TRY(kfe_i_distinct_make(ctx, kfe_data_rows(data), keys, KFE_STREAM_SAMPLE, &distinct));
    KFE_ALLOC(ctx, s->items, kfe_data_rows(data));
    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        double weight = kfe_i_weight_of(&data->target, i);
        if (weight > 0)
            s->items[s->count++] = (candidate){distinct.of[i], target_of(&data->target, i), i, weight, 0};
    }
    s->rows = s->count;
    qsort(s->items, (size_t)s->count, sizeof *s->items, compare_candidates);
    number_contents(s);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    return status;
}

/* Makes one candidate of equal ones. */
static void join_equals(sampling *s)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < s->count; i++) {
        candidate *last = kept > 0 ? &s->items[kept - 1] : NULL;
        if (last && last->number == s->items[i].number && last->target == s->items[i].target)
            last->weight += s->items[i].weight;
        else
            s->items[kept++] = s->items[i];
    }
    s->count = kept;
}

/* Keeps the `most` candidates of largest priority, in their order. */
static kfe_status draw(sampling *s, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_sorted *order = NULL;
    int64_t kept = 0;

    KFE_ALLOC(s->job->ctx, order, s->count);
    for (int64_t i = 0; i < s->count; i++) {
        double u = ((double)s->items[i].number + 0.5) / (double)s->contents;
        s->items[i].priority = s->items[i].weight / u;
        order[i] = (kfe_i_sorted){.value = s->items[i].priority, .index = i};
    }
    kfe_i_sort_falling(order, s->count);
    double others = order[most].value;
    for (int64_t i = most; i < s->count; i++)
        s->items[order[i].index].row = -1;
    for (int64_t i = 0; i < s->count; i++)
        if (s->items[i].row >= 0) {
            s->items[kept] = s->items[i];
            s->items[kept].weight = fmax(s->items[kept].weight, others);
            kept++;
        }
    s->count = kept;
cleanup:
    kfe_i_free(s->job->ctx, order);
    return status;
}

static kfe_status limit(sampling *s)
{
    int64_t most = s->job->settings.rows;

    if (s->rows <= most)
        return KFE_OK;
    join_equals(s);
    if (s->count <= most)
        return KFE_OK;
    kfe_i_log(s->job->ctx, KFE_LOG_NOTICE, "importance is measured on %lld of %lld examples; see {rows}",
              (long long)most, (long long)s->rows);
    return draw(s, most);
}

/* Gives the sample the weights of the candidates; equal ones count like none. */
static kfe_status put_weights(const sampling *s, kfe_data *sample)
{
    kfe_status status = KFE_OK;
    int differ = 0;

    for (int64_t i = 1; i < s->count; i++)
        differ |= s->items[i].weight != s->items[0].weight;
    if (!differ) {
        kfe_i_free(s->job->ctx, sample->target.weights);
        sample->target.weights = NULL;
        return KFE_OK;
    }
    if (!sample->target.weights)
        KFE_ALLOC(s->job->ctx, sample->target.weights, s->count);
    sample->target.ctx = s->job->ctx;
    for (int64_t i = 0; i < s->count; i++)
        sample->target.weights[i] = s->items[i].weight;
cleanup:
    return status;
}

static kfe_status make_dense(kfe_context *ctx, kfe_data *data)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < data->view_count; v++)
        if (data->views[v].table.kind == KFE_TABLE_CSR)
            KFE_TRY(kfe_i_table_make_dense(ctx, &data->views[v].table));
cleanup:
    return status;
}

static kfe_status open_gaps(const kfe_i_explaining *job, int v, kfe_i_view *view)
{
    kfe_status status = KFE_OK;
    kfe_i_table opened = {0};

    if (view->gaps.fill == KFE_FILL_NONE || !job->model->views[v].scaler.fill)
        return KFE_OK;
    KFE_TRY(kfe_i_gaps_open(job->ctx, &view->table, &view->gaps, &opened));
    kfe_i_gaps_free(&view->gaps);
    kfe_i_table_free(&view->table);
    view->table = opened;
cleanup:
    return status;
}

kfe_status kfe_i_sample_open_gaps(const kfe_i_explaining *job, kfe_data *sample)
{
    kfe_status status = KFE_OK;

    for (int v = 0; status == KFE_OK && v < sample->view_count; v++)
        status = open_gaps(job, v, &sample->views[v]);
    return status;
}

kfe_status kfe_i_sample_data(const kfe_i_explaining *job, int dense, kfe_data **out)
{
    kfe_status status = KFE_OK;
    sampling s = {.job = job};
    int64_t *rows = NULL;

    KFE_TRY(list_candidates(&s));
    KFE_TRY(limit(&s));
    KFE_ALLOC(job->ctx, rows, s.count);
    for (int64_t i = 0; i < s.count; i++)
        rows[i] = s.items[i].row;
    KFE_TRY(kfe_i_data_gather(job->ctx, job->data, rows, s.count, out));
    KFE_TRY(put_weights(&s, *out));
    KFE_TRY(dense ? make_dense(job->ctx, *out) : KFE_OK);
cleanup:
    kfe_i_free(job->ctx, s.items);
    kfe_i_free(job->ctx, rows);
    return status;
}

kfe_status kfe_i_sample_name_row(const kfe_i_explaining *job, kfe_status status)
{
    double *features = NULL;

    if (status != KFE_EINPUT)
        return status;
    KFE_ALLOC(job->ctx, features, kfe_data_rows(job->data) * job->model->dim);
    kfe_status again = kfe_i_model_project(job->ctx, job->model, job->data, features);
    if (again != KFE_OK)
        status = again;
cleanup:
    kfe_i_free(job->ctx, features);
    return status;
}

kfe_status kfe_i_every_example(const kfe_i_explaining *job, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int64_t count = kfe_data_rows(job->data);
    int64_t *rows = NULL;

    KFE_ALLOC(job->ctx, rows, count);
    for (int64_t i = 0; i < count; i++)
        rows[i] = i;
    KFE_TRY(kfe_i_data_gather(job->ctx, job->data, rows, count, out));
    KFE_TRY(make_dense(job->ctx, *out));
cleanup:
    kfe_i_free(job->ctx, rows);
    return status;
}
