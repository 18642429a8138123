/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scatter of columns as an operator: rows that every product reads, or a matrix in single precision with exact products near some
 * directions (rough_sums.h). Used by pls on a table in memory (pls_rows.c).
 *
 * One pass adds up, about a base near the mean, Σv, Σv², products with the targets and, for the matrix, vvᵀ of the v in single precision;
 * blocks of these are added in double precision. Time O(nd) and, for the matrix, O(nd²) in single precision. rough_products.c multiplies.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "method/deflation/rough_state.h"

/* Rows whose products are added up in single precision. */
enum { PANEL_ROWS = 1024 };
/* Rows between two questions whether to cancel. */
enum { ROWS_AT_A_TIME = 1 << 16 };
/* Rows that the base is the mean of. */
enum { BASE_ROWS = 64 };
/* Tables with fewer numbers (8 MB) are multiplied by one thread. */
enum { LEAST_DIVIDED = 1 << 20 };
/* A mean that is larger than this many standard deviations costs too many digits, because products subtract it at the end. */
#define FARTHEST_MEAN 1e3
/* A diagonal entry of S̃ is off by at most this share of the largest one, unless single precision lacks the range. */
#define ROUGH_DIGITS 1e-5

/* ---- memory ---- */

static void free_part(kfe_context *ctx, kfe_i_rough_part *p)
{
    kfe_i_free(ctx, p->sum);
    kfe_i_free(ctx, p->square);
    kfe_i_free(ctx, p->cross);
    kfe_i_free(ctx, p->classes);
    kfe_i_free(ctx, p->panel);
    kfe_i_free(ctx, p->products);
    kfe_i_free(ctx, p->scatter);
    kfe_i_free(ctx, p->images);
    kfe_i_free(ctx, p->along);
}

void kfe_i_rough_free(kfe_i_rough *r)
{
    if (!r)
        return;
    for (int t = 0; r->parts && t < r->threads; t++)
        free_part(r->ctx, &r->parts[t]);
    void *const blocks[] = {r->parts, r->mean,  r->base, r->squares, r->matrix,       r->basis,
                            r->image, r->share, r->rest, r->single,  r->single_image, r->tiles};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(r->ctx, blocks[i]);
    kfe_i_free(r->ctx, r);
}

static kfe_status new_part(const kfe_i_rough *r, const kfe_i_sums *s, kfe_i_rough_part *p)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;

    KFE_ALLOC_ZERO(r->ctx, p->sum, d);
    KFE_ALLOC_ZERO(r->ctx, p->square, d);
    KFE_ALLOC_ZERO(r->ctx, p->cross, d * s->targets);
    KFE_ALLOC_ZERO(r->ctx, p->classes, d * s->classes);
    KFE_ALLOC(r->ctx, p->images, KFE_ROUGH_BLOCK_ROWS * KFE_ROUGH_TILE);
    KFE_ALLOC(r->ctx, p->along, d * KFE_ROUGH_TOGETHER);
    if (r->form == KFE_ROUGH_MATRIX) {
        KFE_ALLOC(r->ctx, p->panel, d * PANEL_ROWS);
        KFE_ALLOC(r->ctx, p->products, d * d);
        KFE_ALLOC(r->ctx, p->scatter, d * d);
    }
cleanup:
    return status;
}

/* Products read the rows; below LEAST_DIVIDED numbers one thread has read them before others are awake. */
static int threads_for(const kfe_context *ctx, const kfe_i_table *table, kfe_i_rough_form form)
{
    int is_small = form == KFE_ROUGH_ROWS && table->rows * table->cols < LEAST_DIVIDED;

    return is_small ? 1 : kfe_context_threads(ctx);
}

static kfe_status begin_rough(kfe_context *ctx, const kfe_i_table *table, kfe_i_rough_form form,
                              const kfe_i_sums *s, kfe_i_rough **out)
{
    kfe_status status = KFE_OK;
    int64_t d = table->cols;
    kfe_i_rough *r = NULL;

    KFE_ALLOC_ZERO(ctx, r, 1);
    *out = r;
    *r = (kfe_i_rough){.ctx = ctx, .table = table, .form = form, .threads = threads_for(ctx, table, form)};
    KFE_ALLOC_ZERO(ctx, r->parts, r->threads);
    KFE_ALLOC(ctx, r->mean, d);
    KFE_ALLOC(ctx, r->base, d);
    KFE_ALLOC(ctx, r->squares, d);
    KFE_ALLOC(ctx, r->rest, d);
    KFE_ALLOC(ctx, r->tiles, d * KFE_ROUGH_TOGETHER);
    if (form == KFE_ROUGH_MATRIX) {
        KFE_ALLOC(ctx, r->matrix, d * d);
        KFE_ALLOC(ctx, r->single, d);
        KFE_ALLOC(ctx, r->single_image, d);
    }
    for (int t = 0; t < r->threads; t++)
        KFE_TRY(new_part(r, s, &r->parts[t]));
cleanup:
    return status;
}

double kfe_i_rough_bytes(const kfe_context *ctx, int64_t cols, int64_t targets, kfe_i_rough_form form)
{
    double d = (double)cols;
    double threads = kfe_context_threads(ctx);
    double vectors = 8 * d * ((double)targets + KFE_ROUGH_TOGETHER + 4);

    if (form == KFE_ROUGH_ROWS)
        return (threads + 5) * vectors;
    return (threads + 7) * vectors + 4 * d * d + threads * d * (4.0 * PANEL_ROWS + 12 * d);
}

/* ---- one pass over the rows ---- */

/* A base for differences, exact for constant columns, and the power of two that brings the largest column of these rows near one. */
static void find_base(kfe_i_rough *r)
{
    const kfe_i_table *x = r->table;
    int64_t count = kfe_i_least(x->rows, BASE_ROWS);
    const double *first = kfe_i_rough_row(x, 0);
    double largest = 0;

    memset(r->base, 0, (size_t)x->cols * sizeof *r->base);
    for (int64_t i = 0; i < count; i++) {
        const double *row = kfe_i_rough_row(x, i * (x->rows / count));
#pragma omp simd reduction(max : largest)
        for (int64_t j = 0; j < x->cols; j++) {
            double difference = row[j] - first[j];
            r->base[j] += difference;
            largest = fabs(difference) > largest ? fabs(difference) : largest;
        }
    }
    for (int64_t j = 0; j < x->cols; j++)
        r->base[j] = first[j] + r->base[j] / (double)count;
    r->unit = largest > 0 ? ldexp(1, ilogb(largest)) : 1;
}

/* Adds a block of rows to the sums, each row to that of its class, and puts them into `singles`, if there is a panel. */
static void add_block(const kfe_i_rough *r, const int32_t *codes, int64_t first, int64_t rows, float *singles,
                      kfe_i_rough_part *p)
{
    int64_t d = r->table->cols;
    int64_t step = codes ? 1 : rows;

    for (int64_t i = 0; i < rows; i += step) {
        kfe_i_row_block block = kfe_i_rough_rows_at(r->table, first + i, step);
        kfe_i_rough_add(&block, r->base, 1 / r->unit, codes ? p->classes + codes[first + i] * d : p->sum,
                        p->square, singles ? singles + i * d : NULL);
    }
}

/* Products of a block of rows with targets, which sum to zero over all rows: the base needs no subtraction. */
static void add_cross(const kfe_i_table *x, const double *y, int64_t t, int64_t first, int64_t rows,
                      kfe_i_rough_part *p)
{
    if (t == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)rows, (blasint)x->cols, 1, kfe_i_rough_row(x, first),
                    (blasint)x->stride, y + first, 1, 1, p->cross, 1);
    else if (t > 1)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)x->cols, (blasint)t, (blasint)rows, 1,
                    kfe_i_rough_row(x, first), (blasint)x->stride, y + first * t, (blasint)t, 1, p->cross,
                    (blasint)t);
}

static void add_products(int64_t d, int64_t rows, kfe_i_rough_part *p)
{
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, (blasint)d, (blasint)rows, 1, p->panel, (blasint)d, 0,
                p->products, (blasint)d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++)
            p->scatter[i * d + j] += (double)p->products[i * d + j];
}

/* Zeros the upper triangle only: the thread that fills it touches the memory first, and the other half is never touched. */
static void begin_scatter(int64_t d, double *scatter)
{
    for (int64_t i = 0; i < d && scatter; i++)
        memset(scatter + i * (d + 1), 0, (size_t)(d - i) * sizeof *scatter);
}

/* Adds rows `first` to `end` − 1; y: the centred targets. */
static void add_range(const kfe_i_rough *r, const kfe_i_sums *s, const int32_t *codes, const double *y,
                      int64_t first, int64_t end, kfe_i_rough_part *p)
{
    int64_t d = s->cols;
    int64_t block = kfe_i_rough_block_rows(d);
    int64_t filled = 0; /* rows of the panel */

    for (; first < end; first += block) {
        int64_t rows = kfe_i_least(block, end - first);
        if (p->panel && filled + rows > PANEL_ROWS) {
            add_products(d, filled, p);
            filled = 0;
        }
        add_block(r, codes, first, rows, p->panel ? p->panel + filled * d : NULL, p);
        add_cross(r->table, y, s->targets, first, rows, p);
        filled += rows;
    }
    if (p->panel && filled > 0)
        add_products(d, filled, p);
}

static kfe_status add_rows(kfe_i_rough *r, const kfe_i_sums *s, const kfe_i_target *target, const double *y)
{
    kfe_status status = KFE_OK;
    int64_t n = r->table->rows;
    const int32_t *codes = s->classes > 0 ? target->codes : NULL;
    int saved = kfe_i_enter_order(0);

    for (int64_t first = 0; first < n; first += ROWS_AT_A_TIME) {
        int64_t count = kfe_i_least(ROWS_AT_A_TIME, n - first);
        KFE_TRY(kfe_i_progress(r->ctx, "multiplying the columns", first, n));
#pragma omp parallel for num_threads(r->threads) schedule(static, 1)
        for (int t = 0; t < r->threads; t++) {
            if (first == 0)
                begin_scatter(s->cols, r->parts[t].scatter);
            add_range(r, s, codes, y, first + count * t / r->threads, first + count * (t + 1) / r->threads,
                      &r->parts[t]);
        }
    }
cleanup:
    kfe_i_leave_order(saved);
    return status;
}

/* ---- the sums ---- */

/* Real targets less their means, and the sums that are theirs alone; y (rows × targets) is allocated. */
static kfe_status centre_targets(kfe_context *ctx, const kfe_i_target *target, kfe_i_sums *s, double **y)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;
    int64_t t = s->targets;

    KFE_ALLOC(ctx, *y, n * t);
    for (int64_t k = 0; k < t; k++)
        for (int pass = 0; pass < 2; pass++) { /* the second removes what rounding left */
            const double *from = pass ? *y : target->values;
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += from[i * t + k];
            for (int64_t i = 0; i < n; i++)
                (*y)[i * t + k] = from[i * t + k] - sum / (double)n;
            s->target_mean[k] += sum / (double)n;
        }
    if (t > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)t, (blasint)t, (blasint)n, 1, *y,
                    (blasint)t, *y, (blasint)t, 0, s->target_scatter, (blasint)t);
cleanup:
    return status;
}

/* Adds the parts of all threads, in their order, to that of the first. */
static void merge_parts(const kfe_i_rough *r, const kfe_i_sums *s)
{
    int64_t d = s->cols;
    kfe_i_rough_part *all = &r->parts[0];

    for (int t = 1; t < r->threads; t++) {
        const kfe_i_rough_part *p = &r->parts[t];
        cblas_daxpy((blasint)d, 1, p->sum, 1, all->sum, 1);
        cblas_daxpy((blasint)d, 1, p->square, 1, all->square, 1);
        for (int64_t i = 0; i < d * s->targets; i++)
            all->cross[i] += p->cross[i];
        for (int64_t i = 0; i < d * s->classes; i++)
            all->classes[i] += p->classes[i];
    }
    for (int t = 1; t < r->threads && all->scatter; t++) {
        const double *from = r->parts[t].scatter;
#pragma omp parallel for num_threads(r->threads) schedule(static, 8)
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = i; j < d; j++)
                all->scatter[i * d + j] += from[i * d + j];
    }
    for (int64_t g = 0; g < s->classes; g++)
        cblas_daxpy((blasint)d, 1, all->classes + g * d, 1, all->sum, 1);
}

static void take_means(kfe_i_rough *r, const kfe_i_target *target, kfe_i_sums *s)
{
    const kfe_i_rough_part *all = &r->parts[0];
    int64_t d = s->cols;

    s->rows = (double)r->table->rows;
    for (int64_t j = 0; j < d; j++) {
        double shift = all->sum[j] / s->rows;
        s->mean[j] = r->mean[j] = r->base[j] + shift;
        r->squares[j] = fmax(0, all->square[j] - s->rows * shift * shift);
    }
    for (int64_t i = 0; i < d * s->targets; i++)
        s->cross[i] = all->cross[i];
    for (int64_t i = 0; s->classes > 0 && i < r->table->rows; i++)
        s->class_rows[target->codes[i]]++;
    for (int64_t g = 0; g < s->classes; g++)
        for (int64_t j = 0; j < d; j++)
            s->class_means[g * d + j] =
                r->base[j] + (s->class_rows[g] > 0 ? all->classes[g * d + j] / s->class_rows[g] : 0);
}

/* S̃ = Σvvᵀ − n(mean − base)(mean − base)ᵀ in units, both triangles. */
static void take_matrix(kfe_i_rough *r, const kfe_i_sums *s)
{
    int64_t d = s->cols;
    const kfe_i_rough_part *all = &r->parts[0];
    double weight = 1 / s->rows / r->unit / r->unit;

#pragma omp parallel for num_threads(r->threads) schedule(static, 8)
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++) {
            float entry = (float)(all->scatter[i * d + j] - weight * all->sum[i] * all->sum[j]);
            r->matrix[i * d + j] = entry;
            r->matrix[j * d + i] = entry;
        }
}

static int is_usable(const kfe_i_rough *r, const kfe_i_sums *s)
{
    double largest = 0;

    for (int64_t j = 0; j < s->cols; j++) {
        double spread = sqrt(r->squares[j] / s->rows);
        if (!isfinite(r->squares[j]) || fabs(r->mean[j] - r->base[j]) > FARTHEST_MEAN * spread ||
            (spread > 0 && fabs(r->mean[j]) > FARTHEST_MEAN * spread))
            return 0;
        largest = fmax(largest, r->squares[j]);
    }
    for (int64_t j = 0; j < s->cols && r->matrix; j++) {
        double rough = (double)r->matrix[j * (s->cols + 1)] * r->unit * r->unit;
        if (!(fabs(rough - r->squares[j]) <= ROUGH_DIGITS * largest))
            return 0;
    }
    return largest > 0;
}

/* The panels and triangles of the threads are not needed any more. */
static void free_panels(kfe_i_rough *r)
{
    for (int t = 0; t < r->threads; t++) {
        kfe_i_rough_part *p = &r->parts[t];
        kfe_i_free(r->ctx, p->panel);
        kfe_i_free(r->ctx, p->products);
        kfe_i_free(r->ctx, p->scatter);
        p->panel = p->products = NULL;
        p->scatter = NULL;
    }
}

/* Sums over no rows without a scatter. */
static kfe_status begin_sums(kfe_context *ctx, int64_t cols, const kfe_i_target *target, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_sums){.ctx = ctx, .cols = cols};
    KFE_ALLOC_ZERO(ctx, out->mean, cols);
    KFE_TRY(kfe_i_sums_begin_target(out, target));
cleanup:
    return status;
}

kfe_status kfe_i_rough_new(kfe_context *ctx, const kfe_i_table *table, const kfe_i_target *target,
                           kfe_i_rough_form form, kfe_i_rough **out, kfe_i_sums *sums, int *usable)
{
    kfe_status status = KFE_OK;
    double *y = NULL;

    *usable = 0;
    KFE_TRY(begin_sums(ctx, table->cols, target, sums));
    KFE_TRY(begin_rough(ctx, table, form, sums, out));
    KFE_TRY(centre_targets(ctx, target, sums, &y));
    kfe_i_rough *r = *out;
    find_base(r);
    KFE_TRY(add_rows(r, sums, target, y));
    merge_parts(r, sums);
    take_means(r, target, sums);
    if (form == KFE_ROUGH_MATRIX)
        take_matrix(r, sums);
    free_panels(r);
    *usable = is_usable(r, sums);
cleanup:
    kfe_i_free(ctx, y);
    return status;
}
