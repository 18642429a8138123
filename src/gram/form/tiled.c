/* SPDX-License-Identifier: Apache-2.0 */
/* The operator that evaluates its kernel tile by tile at every pass, in O(nd) memory. */
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/gram.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/rows.h"
#include "kernel/tile/tile.h"

typedef struct tiled_state {
    const kfe_i_kernel *kernel;
    kfe_i_points points;
} tiled_state;

static kfe_status block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride)
{
    const tiled_state *s = gram->state;
    if (rows == gram->size && cols == gram->size && stride == gram->size)
        return kfe_i_self_matrix(gram->ctx, s->kernel, &s->points, out, NULL);
    return kfe_i_cross_block(gram->ctx, s->kernel, (kfe_i_range){&s->points, row, rows},
                             (kfe_i_range){&s->points, col, cols}, out, stride);
}

static kfe_status columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    kfe_i_points chosen = {0};

    KFE_TRY(kfe_i_points_gather(gram->ctx, &s->points, index, count, &chosen));
    KFE_TRY(kfe_i_cross_block(gram->ctx, s->kernel, (kfe_i_range){&s->points, 0, gram->size},
                              (kfe_i_range){&chosen, 0, count}, out, count));
cleanup:
    kfe_i_points_free(&chosen);
    return status;
}

static kfe_status among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const tiled_state *s = gram->state;
    kfe_i_points chosen = {0};

    KFE_TRY(kfe_i_points_gather(gram->ctx, &s->points, index, count, &chosen));
    KFE_TRY(kfe_i_self_matrix(gram->ctx, s->kernel, &chosen, out, NULL));
cleanup:
    kfe_i_points_free(&chosen);
    return status;
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
    def->map(s->kernel->settings, &(kfe_i_tile){.values = out,
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

/* Vectors are multiplied in groups of this size, so that the sums of the threads stay small beside the data. */
enum { GROUP = 64 };

static kfe_status times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    const tiled_state *s = gram->state;
    int64_t n = gram->size;
    int64_t most = k < GROUP ? k : GROUP;
    int64_t engine = kfe_i_self_times_work(gram->ctx, s->kernel, &s->points, 0, most);
    double *work = kfe_i_gram_workspace(gram, engine + (k > GROUP ? 2 * n * most : 0));

    if (!work)
        return kfe_i_lack(gram->ctx);
    memset(out, 0, (size_t)(n * k) * sizeof *out);
    if (k <= GROUP)
        return kfe_i_self_times(gram->ctx, s->kernel, &s->points, 0, (kfe_i_vectors){v, k}, out, work);
    for (int64_t first = 0; first < k; first += GROUP) {
        int64_t count = k - first < GROUP ? k - first : GROUP;
        double *part = work + engine;
        double *product = part + n * most;
        for (int64_t i = 0; i < n; i++)
            memcpy(part + i * count, v + i * k + first, (size_t)count * sizeof *part);
        memset(product, 0, (size_t)(n * count) * sizeof *product);
        kfe_status status = kfe_i_self_times(gram->ctx, s->kernel, &s->points, 0,
                                             (kfe_i_vectors){part, count}, product, work);
        if (status != KFE_OK)
            return status;
        for (int64_t i = 0; i < n; i++)
            memcpy(out + i * k + first, product + i * count, (size_t)count * sizeof *out);
    }
    return KFE_OK;
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

kfe_status kfe_i_gram_tiled_group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group,
                                       int64_t groups, double *out)
{
    kfe_status status = KFE_OK;
    group_job job = {.kernel = ((const tiled_state *)gram->state)->kernel, .groups = groups};

    status = sort_by_group(gram, group, groups, &job);
    if (status == KFE_ELIMIT && share.ranks == 1) /* processes must take the same order */
        use_given_order(gram, group, &job);
    else
        KFE_TRY(status);
    KFE_TRY(run_group_job(gram->ctx, &job, share, out));
cleanup:
    kfe_i_points_free(&job.sorted);
    kfe_i_free(gram->ctx, job.sorted_group);
    return status;
}

static kfe_status group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    return kfe_i_gram_tiled_group_sums(gram, (kfe_i_share){0, 1}, group, groups, out);
}

static void release(kfe_i_gram *gram)
{
    kfe_i_points_free(&((tiled_state *)gram->state)->points);
}

static const kfe_i_gram_form form = {
    .name = "computed tile by tile, not stored",
    .block = block,
    .columns = columns,
    .among = among,
    .diagonal = diagonal,
    .times = times,
    .group_sums = group_sums,
    .release = release,
    .evaluates = 1,
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

int kfe_i_gram_tiles(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points)
{
    const kfe_i_gram *inside = kfe_i_gram_dealt_source(gram);
    const tiled_state *s = inside ? inside->state : gram->state;

    if ((inside ? inside : gram)->form != &form)
        return 0;
    *kernel = s->kernel;
    *points = &s->points;
    return 1;
}
