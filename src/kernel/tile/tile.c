/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates one tile: base values first, then the kernel's formula.
 *
 * Dot products. Dense × dense: GEMM. Sparse × sparse: sixteen rows of one side are laid side by side, over the
 * columns that they use, and every entry of the other side is one multiplication of sixteen lanes. Otherwise: one row
 * is made dense and multiplied with the sparse rows of the other side.
 *
 * Squared distances. nᵢ + nⱼ − 2⟨x, y⟩ has an absolute error of about ε(nᵢ + nⱼ), so entries that are small against
 * nᵢ + nⱼ have lost digits. They are computed again from differences: few entries in ordinary data, and duplicates
 * (the diagonal among them) become exactly zero. The differences use the points as given, because centring may have
 * rounded away the difference of close points. Sums over coordinates of sparse rows are treated in the same way.
 */
#include "kernel/tile/tile.h"

#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "kernel/tile/panels.h"
#include "kernel/tile/rows.h"

/* A squared distance below this share of nᵢ + nⱼ, or a sum over sparse coordinates below this share of its terms, is
 * computed from differences. The others have a relative error of at most about ε / 1e-5. */
#define KFE_CANCELLATION 1e-5

/* Columns of points in single precision that are converted at once. */
enum { PANEL_COLS = 512 };

/* Sixteen sparse rows side by side, if they have no more entries than this: half a megabyte. */
enum { PANEL_ENTRIES = 4096 };

/* One evaluation, for the helpers below. */
typedef struct tile_job {
    const kfe_i_kernel *kernel;
    const kfe_i_points *a, *b;
    int64_t row, col;
    kfe_i_tile tile;
    double *scratch;
} tile_job;

int64_t kfe_i_tile_scratch(const kfe_i_points *a, const kfe_i_points *b)
{
    int64_t cols = a->table.cols > b->table.cols ? a->table.cols : b->table.cols;
    int64_t panel =
        a->table.kind == KFE_TABLE_CSR && b->table.kind == KFE_TABLE_CSR ? PANEL_ENTRIES * KFE_LANES : 0;
    int64_t narrow = a->narrow ? KFE_TILE_LARGEST * KFE_TILE_LARGEST / 2 : 0;
    int64_t widened = a->table.singles || b->table.singles
                          ? 2 * KFE_TILE_LARGEST * (cols < PANEL_COLS ? cols : PANEL_COLS)
                          : 0;
    return 2 * cols + 2 * KFE_TILE_SIDE + panel + narrow + widened;
}

int kfe_i_tile_threads(const kfe_context *ctx, const kfe_i_kernel *kernel)
{
    return kernel->def->base == KFE_BASE_USER ? 1 : kfe_context_threads(ctx);
}

kfe_status kfe_i_tile_room_new(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_points *points,
                               kfe_i_tile_room *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = points->table.rows, scratch = kfe_i_tile_scratch(points, points);
    int64_t tiles = kfe_i_triangle_tiles(rows, KFE_TILE_LARGEST);
    int threads = kfe_i_tile_threads(ctx, kernel);

    out->threads = tiles < threads ? (int)tiles : threads;
    out->tile = (rows < KFE_TILE_LARGEST ? rows : KFE_TILE_LARGEST) * KFE_LARGEST_STRIDE;
    out->own = out->tile + scratch;
    KFE_ALLOC(ctx, out->work, out->own * out->threads);
    for (int t = 0; t < out->threads; t++)
        memset(out->work + out->own * t + out->tile, 0, (size_t)scratch * sizeof *out->work);
cleanup:
    return status;
}

static int is_dense(const kfe_i_table *table)
{
    return table->kind == KFE_TABLE_DENSE;
}

static const double *dense_row(const kfe_i_table *table, int64_t i)
{
    return table->values + i * table->stride;
}

/* Row i as dense numbers: in the table, or scattered into `scratch`, which must be zero before and is cleared with
 * clear_row afterwards. */
static const double *lay_out_row(const kfe_i_table *table, int64_t i, double *scratch)
{
    if (table->singles) {
        kfe_i_table_dense_row(table, i, scratch);
        return scratch;
    }
    if (is_dense(table))
        return dense_row(table, i);
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
        scratch[table->columns[p]] = table->values[p];
    return scratch;
}

static void clear_row(const kfe_i_table *table, int64_t i, double *scratch)
{
    if (table->singles)
        memset(scratch, 0, (size_t)table->cols * sizeof *scratch);
    if (is_dense(table))
        return;
    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
        scratch[table->columns[p]] = 0;
}

/* ---- dot products ---- */

static double sparse_dot(const double *x, const kfe_i_table *y, int64_t j)
{
    double sum = 0;

    for (int64_t p = y->row_start[j]; p < y->row_start[j + 1]; p++)
        sum += x[y->columns[p]] * y->values[p];
    return sum;
}

/* One side is sparse (`thin`); the rows of the other (`wide`) are made dense one by one. */
static void dot_sparse(tile_job *job)
{
    int a_is_thin = is_dense(&job->b->table); /* then b is laid out, in place */
    const kfe_i_table *wide = a_is_thin ? &job->b->table : &job->a->table;
    const kfe_i_table *thin = a_is_thin ? &job->a->table : &job->b->table;
    int64_t wide_first = a_is_thin ? job->col : job->row;
    int64_t thin_first = a_is_thin ? job->row : job->col;
    int64_t wide_count = a_is_thin ? job->tile.cols : job->tile.rows;
    int64_t thin_count = a_is_thin ? job->tile.rows : job->tile.cols;
    int64_t wide_step = a_is_thin ? 1 : job->tile.stride;
    int64_t thin_step = a_is_thin ? job->tile.stride : 1;

    for (int64_t i = 0; i < wide_count; i++) {
        const double *x = lay_out_row(wide, wide_first + i, job->scratch);
        for (int64_t j = 0; j < thin_count; j++)
            job->tile.values[i * wide_step + j * thin_step] = sparse_dot(x, thin, thin_first + j);
        clear_row(wide, wide_first + i, job->scratch);
    }
}

/* Dot products in single precision, by a GEMM that is twice as fast; the map is in double precision. */
static void dot_narrow(tile_job *job)
{
    const kfe_i_tile *tile = &job->tile;
    blasint d = (blasint)job->a->table.cols;
    float *products = (float *)(job->scratch + 2 * (job->a->table.cols + KFE_TILE_SIDE));

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)tile->rows, (blasint)tile->cols, d, 1,
                job->a->narrow + job->row * d, d, job->b->narrow + job->col * d, d, 0, products,
                (blasint)tile->cols);
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j++)
            tile->values[i * tile->stride + j] = (double)products[i * tile->cols + j];
}

/* Lays up to KFE_LANES rows of b, from `first` on, side by side. Every column that one of them uses becomes a row of
 * the panel; place[column] is its number, from 1. */
static void fill_panel(const kfe_i_table *b, int64_t first, int64_t lanes, int32_t *place, double *panel)
{
    int32_t used = 0;

    for (int64_t l = 0; l < lanes; l++)
        for (int64_t p = b->row_start[first + l]; p < b->row_start[first + l + 1]; p++) {
            int32_t *mine = &place[b->columns[p]];
            if (*mine == 0) {
                *mine = ++used;
                memset(panel + (*mine - 1) * KFE_LANES, 0, KFE_LANES * sizeof *panel);
            }
            panel[(*mine - 1) * KFE_LANES + l] = b->values[p];
        }
}

/* Fills columns first … first + lanes − 1 of a sparse × sparse tile by a panel; returns 0 if their rows have too many
 * entries for one. */
static int dot_panel(tile_job *job, int64_t first, int64_t lanes)
{
    const kfe_i_table *a = &job->a->table;
    const kfe_i_table *b = &job->b->table;
    int64_t row = job->col + first;
    int32_t *place = (int32_t *)(job->scratch + a->cols); /* zeros, as all of the scratch */
    double *panel = job->scratch + 2 * (a->cols + KFE_TILE_SIDE);

    if (b->row_start[row + lanes] - b->row_start[row] > PANEL_ENTRIES)
        return 0;
    fill_panel(b, row, lanes, place, panel);
    for (int64_t i = 0; i < job->tile.rows; i++) {
        double sums[KFE_LANES] = {0};
        int64_t begin = a->row_start[job->row + i];
        int64_t end = a->row_start[job->row + i + 1];
        if (end > begin) /* a table without entries has no arrays */
            kfe_i_row_times_panel(a->columns + begin, a->values + begin, end - begin, place, panel, sums);
        memcpy(job->tile.values + i * job->tile.stride + first, sums, (size_t)lanes * sizeof *sums);
    }
    for (int64_t p = b->row_start[row]; p < b->row_start[row + lanes]; p++)
        place[b->columns[p]] = 0;
    return 1;
}

static void dot_both_sparse(tile_job *job)
{
    for (int64_t first = 0; first < job->tile.cols; first += KFE_LANES) {
        int64_t left = job->tile.cols - first;
        int64_t lanes = left < KFE_LANES ? left : KFE_LANES;
        if (dot_panel(job, first, lanes))
            continue;
        tile_job part = *job;
        part.col += first;
        part.tile.values += first;
        part.tile.cols = lanes;
        dot_sparse(&part);
    }
}

/* Rows of points as an operand of GEMM: where they are, or converted into `room`. */
static const double *operand(const kfe_i_points *points, int64_t first, int64_t count, int64_t col,
                             int64_t cols, double *room, blasint *stride)
{
    *stride = (blasint)(points->table.singles ? cols : points->table.stride);
    if (!points->table.singles)
        return dense_row(&points->table, first) + col;
    kfe_i_points_panel(points, first, count, col, cols, room);
    return room;
}

/* Dense points of which one side or both are in single precision: panels of their columns are converted. */
static void dot_widened(tile_job *job)
{
    const kfe_i_tile *tile = &job->tile;
    int64_t d = job->a->table.cols;
    double *room = job->scratch + 2 * (d + KFE_TILE_SIDE) +
                   (job->a->narrow ? KFE_TILE_LARGEST * KFE_TILE_LARGEST / 2 : 0);

    for (int64_t col = 0; col < d; col += PANEL_COLS) {
        int64_t cols = d - col < PANEL_COLS ? d - col : PANEL_COLS;
        blasint a_stride;
        blasint b_stride;
        const double *a = operand(job->a, job->row, tile->rows, col, cols, room, &a_stride);
        const double *b =
            operand(job->b, job->col, tile->cols, col, cols, room + KFE_TILE_LARGEST * cols, &b_stride);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)tile->rows, (blasint)tile->cols,
                    (blasint)cols, 1, a, a_stride, b, b_stride, col > 0, tile->values, (blasint)tile->stride);
    }
}

static void dot_tile(tile_job *job)
{
    const kfe_i_tile *tile = &job->tile;
    const kfe_i_table *a = &job->a->table;
    const kfe_i_table *b = &job->b->table;

    if (job->a->narrow && job->b->narrow) {
        dot_narrow(job);
        return;
    }
    if (!is_dense(a) && !is_dense(b)) {
        dot_both_sparse(job);
        return;
    }
    if (!is_dense(a) || !is_dense(b)) {
        dot_sparse(job);
        return;
    }
    if (a->singles || b->singles) {
        dot_widened(job);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)tile->rows, (blasint)tile->cols,
                (blasint)a->cols, 1, dense_row(a, job->row), (blasint)a->stride, dense_row(b, job->col),
                (blasint)b->stride, 0, tile->values, (blasint)tile->stride);
}

/* ---- squared distances ---- */

static double exact_distance(const double *x, const double *y, int64_t count)
{
    double sum = 0;

    for (int64_t j = 0; j < count; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* Two sparse rows: a walk along both. */
static double merged_distance(const kfe_i_table *a, int64_t i, const kfe_i_table *b, int64_t j)
{
    int64_t p = a->row_start[i];
    int64_t q = b->row_start[j];
    double sum = 0;

    while (p < a->row_start[i + 1] || q < b->row_start[j + 1]) {
        int32_t left = p < a->row_start[i + 1] ? a->columns[p] : INT32_MAX;
        int32_t right = q < b->row_start[j + 1] ? b->columns[q] : INT32_MAX;
        double difference = (left <= right ? a->values[p] : 0) - (right <= left ? b->values[q] : 0);
        sum += difference * difference;
        p += left <= right;
        q += right <= left;
    }
    return sum;
}

static double distance_from_differences(tile_job *job, int64_t i, int64_t j)
{
    const kfe_i_table *a = &job->a->source;
    const kfe_i_table *b = &job->b->source;
    const double *x;
    const double *y;
    double result;

    if (!is_dense(a) && !is_dense(b))
        return merged_distance(a, i, b, j);
    x = lay_out_row(a, i, job->scratch);
    y = lay_out_row(b, j, job->scratch + a->cols);
    result = exact_distance(x, y, a->cols);
    clear_row(a, i, job->scratch);
    clear_row(b, j, job->scratch + a->cols);
    return result;
}

/* The negated comparison also catches NaN: norms that overflow give NaN, and differences may still be finite. */
static void recompute_close(tile_job *job, int64_t i)
{
    double *row = job->tile.values + i * job->tile.stride;

    for (int64_t j = 0; j < job->tile.cols; j++)
        if (!(row[j] >= KFE_CANCELLATION * (job->tile.row_norms[i] + job->tile.col_norms[j])))
            row[j] = distance_from_differences(job, job->row + i, job->col + j);
}

static void distance_tile(tile_job *job)
{
    const kfe_i_tile *tile = &job->tile;

    dot_tile(job);
    for (int64_t i = 0; i < tile->rows; i++)
        if (kfe_i_row_distances(tile->values + i * tile->stride, tile->cols, tile->row_norms[i],
                                tile->col_norms, KFE_CANCELLATION))
            recompute_close(job, i);
}

/* ---- sums over coordinates ---- */

/* x is dense, y sparse. Coordinates where y is zero contribute f(x, 0), whose sum over all coordinates is `alone`. */
static double sparse_pair_sum(tile_job *job, const double *x, double alone, int64_t j)
{
    const kfe_i_table *y = &job->b->table;
    double (*pair_sum)(const double *, const double *, int64_t) = job->kernel->def->pair_sum;
    double *dense_y = job->scratch + y->cols;
    double *gathered = dense_y + y->cols;
    double sum = alone;

    for (int64_t p = y->row_start[j]; p < y->row_start[j + 1]; p += KFE_TILE_SIDE) {
        int64_t left = y->row_start[j + 1] - p;
        int64_t count = left < KFE_TILE_SIDE ? left : KFE_TILE_SIDE;
        for (int64_t q = 0; q < count; q++)
            gathered[q] = x[y->columns[p + q]];
        sum += pair_sum(gathered, y->values + p, count) - pair_sum(gathered, NULL, count);
    }
    if (!(sum >= KFE_CANCELLATION * alone)) {
        sum = pair_sum(x, lay_out_row(y, j, dense_y), y->cols);
        clear_row(y, j, dense_y);
    }
    return sum;
}

static void coordinate_tile(tile_job *job)
{
    const kfe_i_table *a = &job->a->table;
    const kfe_i_table *b = &job->b->table;
    double (*pair_sum)(const double *, const double *, int64_t) = job->kernel->def->pair_sum;

    for (int64_t i = 0; i < job->tile.rows; i++) {
        double *row = job->tile.values + i * job->tile.stride;
        const double *x = lay_out_row(a, job->row + i, job->scratch);
        double alone = is_dense(b) ? 0 : pair_sum(x, NULL, a->cols);
        for (int64_t j = 0; j < job->tile.cols; j++)
            row[j] = is_dense(b) ? pair_sum(x, dense_row(b, job->col + j), a->cols)
                                 : sparse_pair_sum(job, x, alone, job->col + j);
        clear_row(a, job->row + i, job->scratch);
    }
}

/* ---- strings, given matrices, user functions ---- */

static double common_substrings(const kfe_i_points *a, int64_t i, const kfe_i_points *b, int64_t j)
{
    int64_t p = a->code_start[i];
    int64_t q = b->code_start[j];
    double sum = 0;

    while (p < a->code_start[i + 1] && q < b->code_start[j + 1]) {
        if (a->codes[p] == b->codes[q])
            sum += a->counts[p] * b->counts[q];
        uint64_t x = a->codes[p];
        p += x <= b->codes[q];
        q += b->codes[q] <= x;
    }
    return sum;
}

static void string_tile(tile_job *job)
{
    for (int64_t i = 0; i < job->tile.rows; i++)
        for (int64_t j = 0; j < job->tile.cols; j++)
            job->tile.values[i * job->tile.stride + j] =
                common_substrings(job->a, job->row + i, job->b, job->col + j);
}

/* One entry of compressed rows, whose columns increase within a row. */
static double sparse_entry(const kfe_i_table *table, int64_t row, int64_t col)
{
    int64_t low = table->row_start[row];
    int64_t high = table->row_start[row + 1];

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (table->columns[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->row_start[row + 1] && table->columns[low] == col ? table->values[low] : 0;
}

/* The rows hold kernel values, dense or sparse; the columns are named by their numbers. */
static void given_tile(tile_job *job)
{
    const kfe_i_table *given = &job->a->table;

    for (int64_t i = 0; i < job->tile.rows; i++)
        for (int64_t j = 0; j < job->tile.cols; j++) {
            int64_t col = (int64_t)*dense_row(&job->b->table, job->col + j);
            job->tile.values[i * job->tile.stride + j] = given->kind == KFE_TABLE_CSR
                                                             ? sparse_entry(given, job->row + i, col)
                                                             : dense_row(given, job->row + i)[col];
        }
}

static void user_tile(tile_job *job)
{
    const kfe_i_kernel *kernel = job->kernel;
    int64_t cols = job->a->table.cols;

    for (int64_t i = 0; i < job->tile.rows; i++) {
        kfe_i_table_dense_row(&job->a->table, job->row + i, job->scratch);
        for (int64_t j = 0; j < job->tile.cols; j++) {
            kfe_i_table_dense_row(&job->b->table, job->col + j, job->scratch + cols);
            job->tile.values[i * job->tile.stride + j] =
                kernel->user_function(kernel->user_data, job->scratch, job->scratch + cols, cols);
        }
    }
}

/* ---- the one entry ---- */

void kfe_i_tile_eval(const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols, double *out,
                     int64_t stride, double *scratch)
{
    assert(kfe_i_range_within(rows.first, rows.count, rows.points->table.rows));
    assert(kfe_i_range_within(cols.first, cols.count, cols.points->table.rows));
    assert(stride >= cols.count);
    static void (*const fill[])(tile_job *) = {
        [KFE_BASE_DOT] = dot_tile,
        [KFE_BASE_DISTANCE] = distance_tile,
        [KFE_BASE_COORDINATE] = coordinate_tile,
        [KFE_BASE_STRING] = string_tile,
        [KFE_BASE_GIVEN] = given_tile,
        [KFE_BASE_USER] = user_tile,
    };
    const double *row_norms = rows.points->norms;
    const double *col_norms = cols.points->norms;
    tile_job job = {.kernel = kernel,
                    .a = rows.points,
                    .b = cols.points,
                    .row = rows.first,
                    .col = cols.first,
                    .tile = {.values = out, .rows = rows.count, .cols = cols.count, .stride = stride},
                    .scratch = scratch};

    job.tile.row_norms = row_norms ? row_norms + rows.first : NULL;
    job.tile.col_norms = col_norms ? col_norms + cols.first : NULL;
    fill[kernel->def->base](&job);
    kfe_i_kernel_finish(kernel, &job.tile);
}

/* Rows of a tile on the diagonal that are evaluated at once, up to the diagonal entry of the last. */
enum { DIAGONAL_ROWS = 128 };

void kfe_i_triangle_tile_eval(const kfe_i_kernel *kernel, kfe_i_range rows, kfe_i_range cols, double *tile,
                              double *scratch)
{
    assert(rows.first >= cols.first);
    if (rows.first > cols.first) {
        kfe_i_tile_eval(kernel, rows, cols, tile, KFE_LARGEST_STRIDE, scratch);
        return;
    }
    for (int64_t i = 0; i < rows.count; i += DIAGONAL_ROWS) {
        int64_t count = rows.count - i < DIAGONAL_ROWS ? rows.count - i : DIAGONAL_ROWS;
        kfe_i_tile_eval(kernel, (kfe_i_range){rows.points, rows.first + i, count},
                        (kfe_i_range){cols.points, cols.first, i + count}, tile + i * KFE_LARGEST_STRIDE,
                        KFE_LARGEST_STRIDE, scratch);
    }
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t j = 0; j < i; j++)
            tile[j * KFE_LARGEST_STRIDE + i] = tile[i * KFE_LARGEST_STRIDE + j];
}
