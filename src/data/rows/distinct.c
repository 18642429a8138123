/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the rows of data sets, and the distinct rows in an order that the keys decide (distinct.h). */
#include "data/rows/distinct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/share.h"
#include "data/prepare/fill.h"

/* ---- keys ---- */

/* One view: its table as a fit sees it, and its place among the views. */
typedef struct keyed_view {
    kfe_i_keyed keyed;
    kfe_i_table filled;
    uint64_t place;
} keyed_view;

/* The place of a view by its name: the order in which views are given does not matter. */
static uint64_t place_of_view(const kfe_data *data, int view)
{
    const char *name = data->views[view].name;
    uint64_t place = 0;

    for (int v = 0; name && v < data->view_count; v++)
        place += data->views[v].name && strcmp(data->views[v].name, name) < 0;
    return name ? place : (uint64_t)view;
}

static kfe_status begin_view(kfe_context *ctx, const kfe_data *data, int view, int standardised,
                             keyed_view *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_view *from = &data->views[view];
    kfe_i_table rows = kfe_i_weighted_rows(&from->table, &data->target);
    double *fill = NULL;
    int refills = from->gaps.fill != KFE_FILL_NONE && !(from->gaps.current && !rows.weights);

    out->place = place_of_view(data, view);
    out->keyed.table = &from->table;
    if (!standardised)
        return KFE_OK;
    if (refills) {
        KFE_ALLOC(ctx, fill, rows.cols);
        KFE_TRY(kfe_i_gaps_refill(ctx, &rows, &from->gaps, fill, &out->filled));
        rows = kfe_i_weighted_rows(&out->filled, &data->target);
    }
    KFE_TRY(kfe_i_keyed_begin(ctx, &rows, &out->keyed));
    out->keyed.table = refills ? &out->filled : &from->table;
cleanup:
    kfe_i_free(ctx, fill);
    return status;
}

static kfe_status find_keys(kfe_context *ctx, const kfe_data *data, int standardised, kfe_i_row_key **out)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    int count = data->view_count;
    keyed_view *views = NULL;

    KFE_ALLOC_ZERO(ctx, views, count);
    for (int v = 0; v < count; v++)
        KFE_TRY(begin_view(ctx, data, v, standardised, &views[v]));
    KFE_ALLOC(ctx, *out, rows);
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        kfe_i_row_key key = {0};
        for (int v = 0; v < count; v++) {
            kfe_i_row_key own = kfe_i_keyed_of_view(&views[v].keyed, i, views[v].place);
            key.order += own.order;
            key.same += own.same;
        }
        (*out)[i] = key;
    }
cleanup:
    for (int v = 0; views && v < count; v++) {
        kfe_i_keyed_free(ctx, &views[v].keyed);
        kfe_i_table_free(&views[v].filled);
    }
    kfe_i_free(ctx, views);
    return status;
}

kfe_status kfe_i_data_row_keys(kfe_context *ctx, const kfe_data *data, kfe_i_row_key **out)
{
    return find_keys(ctx, data, 1, out);
}

kfe_status kfe_i_data_some_row_keys(kfe_context *ctx, const kfe_data *data, const int64_t *rows,
                                    int64_t count, kfe_i_row_key **out)
{
    kfe_status status = KFE_OK;
    kfe_data *some = NULL;
    kfe_i_row_key *keys = NULL;

    if (!rows)
        return kfe_i_data_row_keys(ctx, data, out);
    KFE_TRY(kfe_i_data_gather(ctx, data, rows, count, &some));
    KFE_TRY(kfe_i_data_row_keys(ctx, some, &keys));
    KFE_ALLOC_ZERO(ctx, *out, kfe_data_rows(data));
    for (int64_t k = 0; k < count; k++)
        (*out)[rows[k]] = keys[k];
cleanup:
    kfe_i_free(ctx, keys);
    kfe_data_free(some);
    return status;
}

kfe_status kfe_i_data_plain_keys(kfe_context *ctx, const kfe_data *data, kfe_i_row_key **out)
{
    return find_keys(ctx, data, 0, out);
}

kfe_status kfe_i_data_set_keys(kfe_context *ctx, kfe_data *data)
{
    kfe_i_free(ctx, data->target.keys);
    data->target.keys = NULL;
    data->target.ctx = data->ctx; /* data without a target has keys too */
    return kfe_i_data_row_keys(ctx, data, &data->target.keys);
}

double kfe_i_key_normal(const kfe_i_row_key *key, uint64_t salt)
{
    uint64_t first = kfe_i_scramble(key->order ^ salt);
    uint64_t second = kfe_i_scramble(first + 1);
    double u = ((double)(first >> 11) + 0.5) * 0x1p-53;
    double v = (double)(second >> 11) * 0x1p-53;

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- distinct rows ---- */

typedef struct keyed_row {
    uint64_t place, same; /* place: a random number that the content decides */
    int64_t row;
} keyed_row;

static int compare_keyed(const void *a, const void *b)
{
    const keyed_row *x = a;
    const keyed_row *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->same != y->same)
        return x->same < y->same ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static kfe_status number_by_keys(const kfe_i_row_key *keys, uint64_t stream, kfe_i_distinct *out)
{
    kfe_status status = KFE_OK;
    keyed_row *items = NULL;
    kfe_i_rng rng;

    KFE_ALLOC(out->ctx, items, out->rows);
    kfe_i_rng_init(&rng, kfe_context_seed(out->ctx), stream);
    uint64_t salt = kfe_i_rng_bits(&rng);
    for (int64_t i = 0; i < out->rows; i++)
        items[i] = (keyed_row){kfe_i_scramble(keys[i].order ^ salt), keys[i].same, i};
    qsort(items, (size_t)out->rows, sizeof *items, compare_keyed);
    for (int64_t p = 0; p < out->rows; p++) {
        if (p == 0 || items[p].place != items[p - 1].place || items[p].same != items[p - 1].same)
            out->first[out->count++] = items[p].row;
        out->of[items[p].row] = out->count - 1;
    }
cleanup:
    kfe_i_free(out->ctx, items);
    return status;
}

static void number_by_place(uint64_t stream, kfe_i_distinct *out)
{
    kfe_i_rng rng;

    kfe_i_rng_init(&rng, kfe_context_seed(out->ctx), stream);
    kfe_i_rng_choose(&rng, out->rows, out->rows, out->first);
    out->count = out->rows;
    for (int64_t g = 0; g < out->count; g++)
        out->of[out->first[g]] = g;
}

kfe_status kfe_i_distinct_make(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, uint64_t stream,
                               kfe_i_distinct *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_distinct){.ctx = ctx, .rows = rows};
    KFE_ALLOC(ctx, out->of, rows);
    KFE_ALLOC(ctx, out->first, rows);
    if (keys)
        KFE_TRY(number_by_keys(keys, stream, out));
    else
        number_by_place(stream, out);
cleanup:
    return status;
}

void kfe_i_distinct_free(kfe_i_distinct *distinct)
{
    if (distinct->ctx) {
        kfe_i_free(distinct->ctx, distinct->of);
        kfe_i_free(distinct->ctx, distinct->first);
    }
    *distinct = (kfe_i_distinct){0};
}

kfe_status kfe_i_distinct_order(const kfe_i_distinct *distinct, int64_t *index)
{
    kfe_status status = KFE_OK;
    int64_t *next = NULL;

    KFE_ALLOC_ZERO(distinct->ctx, next, distinct->count + 1);
    for (int64_t i = 0; i < distinct->rows; i++)
        next[distinct->of[i] + 1]++;
    for (int64_t g = 0; g < distinct->count; g++)
        next[g + 1] += next[g];
    for (int64_t i = 0; i < distinct->rows; i++)
        index[next[distinct->of[i]]++] = i;
cleanup:
    kfe_i_free(distinct->ctx, next);
    return status;
}

/* ---- samples ---- */

enum { ALL_ROWS = 200, FEW_ROWS = 60, FEW_TENTHS = 3, SOME_ROWS = 400, MANY_SHARE = 8, MOST_ROWS = 1000 };

int64_t kfe_i_sample_size(int64_t n)
{
    int64_t few = kfe_i_least(FEW_ROWS + n * FEW_TENTHS / 10, SOME_ROWS);
    int64_t many = kfe_i_least(n / MANY_SHARE, MOST_ROWS);
    int64_t size = few > many ? few : many;

    return kfe_i_least(n, size > ALL_ROWS ? size : ALL_ROWS);
}

kfe_status kfe_i_sample_draw(kfe_context *ctx, int64_t rows, const kfe_i_row_key *keys, int64_t **index,
                             int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};

    *count = 0;
    KFE_ALLOC(ctx, *index, rows);
    KFE_TRY(kfe_i_distinct_make(ctx, rows, keys, KFE_STREAM_LOO, &distinct));
    int64_t size = kfe_i_sample_size(distinct.count);
    for (int64_t i = 0; i < rows; i++)
        if (distinct.of[i] < size)
            (*index)[(*count)++] = i;
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}
