/* SPDX-License-Identifier: Apache-2.0 */
/* The operator that evaluates its kernel tile by tile at every pass, in O(nd) memory. */
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "gram/form.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/rows.h"
#include "kernel/tile/tile.h"
#include "linalg/basis.h"

typedef struct tiled_state {
    const kfe_i_kernel *kernel;
    kfe_i_points points;
} tiled_state;

static kfe_status entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    kfe_i_points copies[2] = {{0}};
    kfe_i_range left;
    kfe_i_range right;

    KFE_TRY(kfe_i_points_at(&s->points, rows, &copies[0], &left));
    if (kfe_i_places_are_same(gram, rows, cols) && stride == cols.count) {
        KFE_TRY(kfe_i_self_matrix(gram->ctx, s->kernel, left.points, out));
    } else {
        KFE_TRY(kfe_i_points_at(&s->points, cols, &copies[1], &right));
        KFE_TRY(kfe_i_cross_block(gram->ctx, s->kernel, left, right, out, stride));
    }
cleanup:
    kfe_i_points_free(&copies[0]);
    kfe_i_points_free(&copies[1]);
    return status;
}

static kfe_status prepare(const kfe_i_gram *gram, const int64_t *index, int64_t count, kfe_i_points *out)
{
    return kfe_i_points_gather(gram->ctx, &((const tiled_state *)gram->state)->points, index, count, out);
}

/* Diagonals of fewer entries are evaluated by one thread. */
enum { SERIAL_DIAGONAL = 2048 };

/* A tile of one entry. The distance of a point from itself is zero, which needs no product. */
static void diagonal_entry(const tiled_state *s, int64_t i, double *out, double *scratch)
{
    const kfe_i_kernel_def *def = s->kernel->def;
    kfe_i_range one = {&s->points, i, 1};

    if (def->base != KFE_BASE_DISTANCE || !def->map) {
        kfe_i_tile_eval(s->kernel, one, one, out, 1, scratch);
        return;
    }
    *out = 0;
    kfe_i_kernel_finish(s->kernel, &(kfe_i_tile){.values = out,
                                                 .rows = 1,
                                                 .cols = 1,
                                                 .stride = 1,
                                                 .row_norms = s->points.norms + i,
                                                 .col_norms = s->points.norms + i});
}

static kfe_status diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    int threads = gram->size < SERIAL_DIAGONAL ? 1 : kfe_i_tile_threads(gram->ctx, s->kernel);
    int64_t own = kfe_i_tile_scratch(&s->points, &s->points);
    double *scratch = NULL;

    KFE_ALLOC_ZERO(gram->ctx, scratch, own * threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < gram->size; i++)
        diagonal_entry(s, i, out + i, scratch + own * omp_get_thread_num());
cleanup:
    kfe_i_free(gram->ctx, scratch);
    return status;
}

/* ---- products ---- */

/* Vectors are multiplied in groups of this size, so that the sums of the threads stay small beside the data. */
enum { GROUP = 64 };

/* The same for a group of vectors that are not consecutive: `room` has n × 2k numbers. */
static kfe_status add_gathered(const kfe_i_gram *gram, kfe_i_self_product *product, double weight,
                               int64_t stride, double *out, double *room, double *work)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    int64_t k = product->v.k;
    const double *from = product->v.values;
    double *sums = room + n * k;

    kfe_i_copy_block(n, k, from, stride, room, k);
    memset(sums, 0, (size_t)(n * k) * sizeof *sums);
    product->v.values = room;
    KFE_TRY(kfe_i_self_times(gram->ctx, product, weight, sums, work));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++)
            out[i * stride + j] += sums[i * k + j];
cleanup:
    return status;
}

static kfe_status add_share(const kfe_i_gram *gram, kfe_i_share share, int64_t from, double weight,
                            kfe_i_vectors v, double *out)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    int64_t most = kfe_i_least(v.k, GROUP);
    int64_t engine = kfe_i_self_times_work(gram->ctx, s->kernel, &s->points, most);
    double *work = kfe_i_gram_workspace(gram, engine + (v.k > GROUP ? 2 * gram->size * most : 0));
    kfe_i_self_product product = {s->kernel, &s->points, share, from, v};

    if (!work)
        return kfe_i_lack(gram->ctx);
    if (v.k <= GROUP)
        return kfe_i_self_times(gram->ctx, &product, weight, out, work);
    for (int64_t first = 0; first < v.k; first += GROUP) {
        product.v = (kfe_i_vectors){v.values + first, kfe_i_least(GROUP, v.k - first)};
        KFE_TRY(add_gathered(gram, &product, weight, v.k, out + first, work + engine, work));
    }
cleanup:
    return status;
}

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    memset(out, 0, (size_t)(gram->size * k) * sizeof *out);
    return add_share(gram, (kfe_i_share){0, 1}, 0, 1, (kfe_i_vectors){v, k}, out);
}

/* ---- sums over groups ----
 * With the points sorted by group, a tile consists of a few rectangles, each of one group by another, and adds one
 * number for each. Only tiles on and below the diagonal are evaluated. Every thread sums a fixed choice of tiles,
 * so the result does not depend on which thread is faster. */

typedef struct group_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *points; /* `sorted`, or those of the operator if there is no memory for a copy */
    const int32_t *group;       /* of these points */
    kfe_i_points sorted;
    int32_t *sorted_group;
    int64_t groups;
    double *work; /* per thread: sums (groups × groups), a tile, scratch */
    int64_t own;
} group_job;

/* Without memory for a copy of the points, tiles are summed in the order of the examples: rectangles become short rows. */
static void use_given_order(const kfe_i_gram *gram, const int32_t *group, group_job *job)
{
    const tiled_state *s = gram->state;

    job->points = &s->points;
    job->group = group;
    kfe_i_log(gram->ctx, KFE_LOG_INFO,
              "sums over classes: no memory to sort the examples by class; this takes a little longer");
}

static kfe_status sort_by_group(const kfe_i_gram *gram, const int32_t *group, int64_t groups, group_job *job)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    kfe_context *ctx = gram->ctx;
    int64_t *order = NULL;
    int64_t *next = NULL;

    job->points = &job->sorted;
    KFE_ALLOC(ctx, job->sorted_group, gram->size);
    job->group = job->sorted_group;
    KFE_ALLOC(ctx, order, gram->size);
    KFE_ALLOC_ZERO(ctx, next, groups + 1);
    for (int64_t i = 0; i < gram->size; i++)
        next[group[i] + 1]++;
    for (int64_t g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (int64_t i = 0; i < gram->size; i++) {
        job->sorted_group[next[group[i]]] = group[i];
        order[next[group[i]]++] = i;
    }
    KFE_TRY(kfe_i_points_gather(ctx, &s->points, order, gram->size, &job->sorted));
cleanup:
    kfe_i_free(ctx, order);
    kfe_i_free(ctx, next);
    return status;
}

/* Adds one tile; a tile below the diagonal also stands for its transpose. */
static void add_tile(const group_job *job, const double *tile, kfe_i_range rows, kfe_i_range cols,
                     double *sums)
{
    const int32_t *column_group = job->group + cols.first;

    for (int64_t i = 0; i < rows.count; i++) {
        int64_t g = job->group[rows.first + i];
        for (int64_t j = 0; j < cols.count;) {
            int64_t h = column_group[j];
            int64_t end = j + 1;
            while (end < cols.count && column_group[end] == h)
                end++;
            double part = kfe_i_row_sum(tile + i * KFE_TILE_STRIDE + j, end - j);
            sums[g * job->groups + h] += part;
            if (cols.first < rows.first)
                sums[h * job->groups + g] += part;
            j = end;
        }
    }
}

/* The columns of the sorted matrix up to the diagonal, for one panel of rows. */
static void add_panel(const void *user, int64_t row, int thread)
{
    const group_job *job = user;
    double *sums = job->work + job->own * thread;
    double *tile = sums + job->groups * job->groups;
    int64_t n = job->points->table.rows;
    kfe_i_range rows = {job->points, row, n - row < KFE_TILE_SIDE ? n - row : KFE_TILE_SIDE};

    for (int64_t col = 0; col <= row; col += KFE_TILE_SIDE) {
        kfe_i_range cols = {job->points, col, n - col < KFE_TILE_SIDE ? n - col : KFE_TILE_SIDE};
        kfe_i_tile_eval(job->kernel, rows, cols, tile, KFE_TILE_STRIDE, tile + KFE_TILE_SIZE);
        add_tile(job, tile, rows, cols, sums);
    }
}

static kfe_status run_group_job(kfe_context *ctx, group_job *job, kfe_i_share share, double *out)
{
    kfe_status status = KFE_OK;
    int threads = kfe_i_tile_threads(ctx, job->kernel);
    int64_t cells = job->groups * job->groups;

    job->own = cells + KFE_TILE_SIZE + kfe_i_tile_scratch(job->points, job->points);
    KFE_ALLOC_ZERO(ctx, job->work, job->own * threads);
    KFE_TRY(kfe_i_each_dealt_panel(ctx,
                                   &(kfe_i_panels){"summing the kernel over classes", threads,
                                                   job->points->table.rows, KFE_TILE_SIDE, KFE_SHARE_FIXED},
                                   share, add_panel, job));
    memset(out, 0, (size_t)cells * sizeof *out);
    for (int t = 0; t < threads; t++)
        for (int64_t c = 0; c < cells; c++)
            out[c] += job->work[job->own * t + c];
cleanup:
    kfe_i_free(ctx, job->work);
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out)
{
    kfe_status status = KFE_OK;
    group_job job = {.kernel = ((const tiled_state *)gram->state)->kernel, .groups = groups};

    status = sort_by_group(gram, group, groups, &job);
    if (status == KFE_ELIMIT && share.parts == 1) /* processes must take the same order */
        use_given_order(gram, group, &job);
    else
        KFE_TRY(status);
    KFE_TRY(run_group_job(gram->ctx, &job, share, out));
cleanup:
    kfe_i_points_free(&job.sorted);
    kfe_i_free(gram->ctx, job.sorted_group);
    return status;
}

static kfe_status fill(const kfe_i_gram *gram, const kfe_i_symmetric *matrix)
{
    const tiled_state *s = gram->state;

    return kfe_i_fill_from_tiles(s->kernel, &s->points, matrix);
}

static kfe_status keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    return kfe_i_keep_in_memory(gram, how, reserve, kfe_i_gram_partial, out);
}

static void tiles(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points)
{
    const tiled_state *s = gram->state;

    *kernel = s->kernel;
    *points = &s->points;
}

static void release(kfe_i_gram *gram)
{
    kfe_i_points_free(&((tiled_state *)gram->state)->points);
}

static const kfe_i_gram_form form = {
    .name = "computed tile by tile, not stored",
    .entries = entries,
    .diagonal = diagonal,
    .prepare = prepare,
    .times = times,
    .times_sparse = kfe_i_tiled_times_sparse,
    .column_seconds = kfe_i_gram_time_columns,
    .group_sums = group_sums,
    .add_share = add_share,
    .fill = fill,
    .keep = keep,
    .tiles = tiles,
    .release = release,
};

kfe_status kfe_i_gram_tiled(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                            kfe_i_gram **out)
{
    kfe_status status = kfe_i_gram_new(ctx, &form, table->rows, sizeof(tiled_state), out);

    if (status != KFE_OK)
        return status;
    tiled_state *s = (*out)->state;
    s->kernel = kernel;
    status = kfe_i_points_prepare(ctx, kernel, table, NULL, &s->points);
    if (status != KFE_OK) {
        kfe_i_gram_free(*out);
        *out = NULL;
    }
    return status;
}
