/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the rows that the processes of a stream keep (data/table/keys.h), so that a pursuit draws its candidates by their content; pursue.c
 * asks for them. Means and spreads of columns are those of the rows of all processes. */
#include <math.h>
#include <string.h>

#include "accumulate/row_store.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "data/table/keys.h"
#include "model/chain_views.h"

/* Halves of the two numbers of a key, which doubles hold exactly, so that keys can be summed over processes. */
enum { HALVES = 4 };

/* What the rows of all processes show of the columns. */
typedef struct column_sums {
    const kfe_i_row_store *store;
    int64_t cols;
    double *mean;     /* cols, and the weight of all rows behind them */
    double *squares;  /* Σ (x − mean)² by weight */
    double *extremes; /* processes × 2 cols: the smallest values, and the largest ones with the other sign */
    double *low, *high_down; /* those of this process */
    kfe_i_column_facts *facts;
} column_sums;

static void free_sums(column_sums *c)
{
    kfe_i_free(c->store->ctx, c->mean);
    kfe_i_free(c->store->ctx, c->squares);
    kfe_i_free(c->store->ctx, c->extremes);
    kfe_i_free(c->store->ctx, c->facts);
}

static kfe_status begin_sums(column_sums *c)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = c->store->ctx;
    int64_t entries = 2 * c->cols * kfe_i_processes(ctx);

    KFE_ALLOC_ZERO(ctx, c->mean, c->cols + 1);
    KFE_ALLOC_ZERO(ctx, c->squares, c->cols);
    KFE_ALLOC(ctx, c->extremes, entries);
    KFE_ALLOC(ctx, c->facts, c->cols);
    for (int64_t i = 0; i < entries; i++)
        c->extremes[i] = (double)INFINITY;
    c->low = c->extremes + 2 * c->cols * kfe_i_process(ctx);
    c->high_down = c->low + c->cols;
cleanup:
    return status;
}

static kfe_status find_facts(column_sums *c, const kfe_i_row_block *block, double *mass)
{
    kfe_i_table table = block->table;

    table.weights = c->store->weights ? c->store->weights + block->start : NULL;
    *mass = kfe_i_table_weight(&table);
    memset(c->facts, 0, (size_t)c->cols * sizeof *c->facts);
    return kfe_i_column_facts_find(c->store->ctx, &table, 1, c->facts);
}

static kfe_status sum_means(column_sums *c)
{
    kfe_status status = KFE_OK;
    double mass = 0;

    for (int64_t b = 0; b < c->store->count; b++) {
        KFE_TRY(find_facts(c, &c->store->blocks[b], &mass));
        c->mean[c->cols] += mass;
        for (int64_t j = 0; j < c->cols; j++) {
            c->mean[j] += mass * c->facts[j].mean;
            c->low[j] = fmin(c->low[j], c->facts[j].low);
            c->high_down[j] = fmin(c->high_down[j], -c->facts[j].high);
        }
    }
    KFE_TRY(kfe_i_cluster_sum(c->store->ctx, c->mean, c->cols + 1));
    for (int64_t j = 0; j < c->cols; j++)
        c->mean[j] /= c->mean[c->cols];
cleanup:
    return status;
}

static kfe_status sum_squares(column_sums *c)
{
    kfe_status status = KFE_OK;
    double mass = 0;

    for (int64_t b = 0; b < c->store->count; b++) {
        KFE_TRY(find_facts(c, &c->store->blocks[b], &mass));
        for (int64_t j = 0; j < c->cols; j++) {
            double length = c->facts[j].spread * c->facts[j].reach;
            double away = c->facts[j].mean - c->mean[j];
            c->squares[j] += length * length + mass * away * away;
        }
    }
    KFE_TRY(kfe_i_cluster_sum(c->store->ctx, c->squares, c->cols));
cleanup:
    return status;
}

static kfe_status gather_extremes(column_sums *c)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = c->store->ctx;
    int processes = kfe_i_processes(ctx);
    int64_t *bytes = NULL;

    KFE_ALLOC(ctx, bytes, processes);
    for (int r = 0; r < processes; r++)
        bytes[r] = 2 * c->cols * (int64_t)sizeof *c->extremes;
    KFE_TRY(kfe_i_cluster_gather(ctx, c->extremes, bytes));
    for (int r = 1; r < processes; r++)
        for (int64_t j = 0; j < 2 * c->cols; j++)
            c->extremes[j] = fmin(c->extremes[j], c->extremes[2 * c->cols * r + j]);
cleanup:
    kfe_i_free(ctx, bytes);
    return status;
}

/* c->facts become those of all rows. */
static kfe_status find_columns(column_sums *c)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_sums(c));
    KFE_TRY(sum_means(c));
    KFE_TRY(sum_squares(c));
    KFE_TRY(gather_extremes(c));
    for (int64_t j = 0; j < c->cols; j++)
        c->facts[j] = (kfe_i_column_facts){.low = c->extremes[j],
                                           .high = -c->extremes[c->cols + j],
                                           .mean = c->mean[j],
                                           .reach = 1,
                                           .spread = sqrt(c->squares[j])};
cleanup:
    return status;
}

static void put_keys(const kfe_i_row_block *block, kfe_i_keyed *keyed, double *halves)
{
    keyed->table = &block->table;
    for (int64_t i = 0; i < block->table.rows; i++) {
        kfe_i_row_key key = kfe_i_keyed_of_view(keyed, i, 0);
        double *out = halves + HALVES * (block->first + i);
        out[0] = (double)(key.order >> 32);
        out[1] = (double)(key.order & UINT32_MAX);
        out[2] = (double)(key.same >> 32);
        out[3] = (double)(key.same & UINT32_MAX);
    }
}

static uint64_t joined(const double *halves)
{
    return (uint64_t)halves[0] << 32 | (uint64_t)halves[1];
}

kfe_status kfe_i_row_store_keys(const kfe_i_row_store *s, kfe_i_row_key **out)
{
    kfe_status status = KFE_OK;
    column_sums c = {.store = s, .cols = kfe_i_view_prepared_cols(&s->map->views[0])};
    kfe_i_keyed keyed = {0};
    double *halves = NULL;
    int64_t total = s->part.total;

    KFE_TRY(find_columns(&c));
    KFE_TRY(kfe_i_keyed_from_facts(s->ctx, c.cols, c.facts, c.mean[c.cols], &keyed));
    KFE_ALLOC_ZERO(s->ctx, halves, HALVES * total);
    for (int64_t b = 0; b < s->count; b++)
        put_keys(&s->blocks[b], &keyed, halves);
    KFE_TRY(kfe_i_cluster_sum(s->ctx, halves, HALVES * total));
    KFE_ALLOC(s->ctx, *out, total);
    for (int64_t i = 0; i < total; i++)
        (*out)[i] =
            (kfe_i_row_key){.order = joined(halves + HALVES * i), .same = joined(halves + HALVES * i + 2)};
cleanup:
    kfe_i_free(s->ctx, halves);
    kfe_i_keyed_free(s->ctx, &keyed);
    free_sums(&c);
    return status;
}
