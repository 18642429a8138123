/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds rows to sums (sums.h), for accumulators and folds of a cross-validation.
 *
 * Rows are added panel by panel: the products of a panel about its own mean are one BLAS call, and a correction of rank one moves them
 * to the mean of all rows. With many rows and few columns every thread has sums of its own, so that a panel stays in its cache from
 * reading to BLAS; otherwise the threads share the work on each panel.
 *
 * A row of weight w counts like w equal rows: means are weighted, and centred rows are multiplied by √w before their products.
 *
 * Rounding: an entry of the scatter is off by about √n·ε·√(S_ii·S_jj), whatever the mean. Time O(nd²), memory O(d²) and a
 * panel.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/sums/sums.h"

/* Rows of a panel that all threads share, and of one that a thread has alone. */
enum { PANEL_ROWS = 1024, OWN_PANEL_ROWS = 256 };
/* A thread gets sums of its own from this many rows on, if those of all threads take a small share of the memory
 * that is left. */
enum { OWN_ROWS = 4096 };
#define OWN_SHARE 0.05

typedef struct panel {
    kfe_i_arena memory; /* of the arrays */
    int threads;        /* that share it */
    int64_t rows;
    double *x;       /* rows × cols; centre() subtracts their mean */
    double *y;       /* rows × targets; the same */
    double *delta;   /* cols + targets */
    double *weights; /* of the rows; NULL: ones */
    double mass;     /* the number of rows, or the sum of their weights */
} panel;

static int64_t row_at(const kfe_i_sum_rows *from, int64_t i)
{
    return from->index ? from->index[i] : from->first + i;
}

static void read_panel(const kfe_i_sums *s, const kfe_i_sum_rows *from, int64_t first, panel *p)
{
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < p->rows; i++)
        kfe_i_table_dense_row(from->table, row_at(from, first + i), p->x + i * s->cols);
    for (int64_t i = 0; s->targets > 0 && i < p->rows; i++)
        memcpy(p->y + i * s->targets, from->target->values + row_at(from, first + i) * s->targets,
               (size_t)s->targets * sizeof *p->y);
    p->mass = (double)p->rows;
    if (p->weights) {
        p->mass = 0;
        for (int64_t i = 0; i < p->rows; i++)
            p->mass += p->weights[i] = from->target->weights[row_at(from, first + i)];
    }
}

/* Threads share the columns, in blocks of a cache line or more, so that each column is summed in the order of the rows. */
enum { BLOCK_COLUMNS = 64 };

static void add_extremes(kfe_i_sums *s, const panel *p)
{
    double *restrict least = s->least;
    double *restrict largest = s->largest;

#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t first = 0; first < s->cols; first += BLOCK_COLUMNS) {
        int64_t end = first + BLOCK_COLUMNS < s->cols ? first + BLOCK_COLUMNS : s->cols;
        for (int64_t i = 0; i < p->rows; i++) {
            const double *restrict row = p->x + i * s->cols;
#pragma omp simd
            for (int64_t j = first; j < end; j++) {
                least[j] = row[j] < least[j] ? row[j] : least[j];
                largest[j] = row[j] > largest[j] ? row[j] : largest[j];
            }
        }
    }
}

static void add_to_classes(kfe_i_sums *s, const kfe_i_sum_rows *from, int64_t first, const panel *p)
{
    for (int64_t i = 0; s->classes > 0 && i < p->rows; i++) {
        int32_t g = from->target->codes[row_at(from, first + i)];
        g = from->code ? from->code[g] : g;
        double *mean = s->class_means + g * s->cols;
        double weight = p->weights ? p->weights[i] : 1;
        s->class_rows[g] += weight;
        double share = weight / s->class_rows[g];
        for (int64_t j = 0; j < s->cols; j++)
            mean[j] += share * (p->x[i * s->cols + j] - mean[j]);
    }
}

/* delta[first to end − 1] += the sums of the rows less `base`. */
static void add_differences(const panel *p, int64_t cols, int64_t first, int64_t end,
                            const double *restrict base, const double *restrict values,
                            double *restrict delta)
{
    for (int64_t i = 0; p->weights && i < p->rows; i++)
#pragma omp simd
        for (int64_t j = first; j < end; j++)
            delta[j] += p->weights[i] * (values[i * cols + j] - base[j]);
    for (int64_t i = 0; !p->weights && i < p->rows; i++)
#pragma omp simd
        for (int64_t j = first; j < end; j++)
            delta[j] += values[i * cols + j] - base[j];
}

/* delta[cols] = the mean of the rows less `base`; the rows lose their mean. Sums of differences from a base near the rows are
 * exact to their spread, and zero for a column that is constant. */
static void centre(const panel *p, int64_t cols, const double *restrict base, double *restrict values,
                   double *restrict delta)
{
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t first = 0; first < cols; first += BLOCK_COLUMNS) {
        int64_t end = first + BLOCK_COLUMNS < cols ? first + BLOCK_COLUMNS : cols;
        for (int64_t j = first; j < end; j++)
            delta[j] = 0;
        add_differences(p, cols, first, end, base, values, delta);
        for (int64_t j = first; j < end; j++)
            delta[j] /= p->mass;
        for (int64_t i = 0; i < p->rows; i++)
#pragma omp simd
            for (int64_t j = first; j < end; j++)
                values[i * cols + j] -= base[j] + delta[j];
    }
}

/* Moves the means by share·δ, and adds weight·δδᵀ to the products; δ: cols, then targets. */
static void shift_means(kfe_i_sums *s, const double *delta, double share, double weight)
{
    int64_t d = s->cols;
    int64_t t = s->targets;
    const double *other = delta + d;

    if (d > 0)
        cblas_dsyr(CblasRowMajor, CblasUpper, (blasint)d, weight, delta, 1, s->scatter, (blasint)d);
    for (int64_t j = 0; j < d; j++) {
        s->mean[j] += share * delta[j];
        for (int64_t k = 0; k < t; k++)
            s->cross[j * t + k] += weight * delta[j] * other[k];
    }
    for (int64_t k = 0; k < t; k++) {
        s->target_mean[k] += share * other[k];
        for (int64_t l = 0; l < t; l++)
            s->target_scatter[k * t + l] += weight * other[k] * other[l];
    }
}

/* Multiplies every row by the root of its weight, so that products of columns are weighted. */
static void weigh_rows(const panel *p, int64_t cols, double *values)
{
    for (int64_t i = 0; i < p->rows; i++)
        cblas_dscal((blasint)cols, sqrt(p->weights[i]), values + i * cols, 1);
}

/* The products of a centred panel. */
static void add_products(kfe_i_sums *s, const panel *p)
{
    blasint d = (blasint)s->cols;
    blasint t = (blasint)s->targets;
    blasint rows = (blasint)p->rows;

    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, d, rows, 1, p->x, d, 1, s->scatter, d);
    if (t == 0)
        return;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, t, rows, 1, p->x, d, p->y, t, 1, s->cross, t);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t, t, rows, 1, p->y, t, p->y, t, 1,
                s->target_scatter, t);
}

static void add_panel(kfe_i_sums *s, const panel *p)
{
    double n = s->rows;
    double m = p->mass;

    add_extremes(s, p);
    if (n <= 0) { /* any base will do */
        memcpy(s->mean, p->x, (size_t)s->cols * sizeof *s->mean);
        if (s->targets > 0)
            memcpy(s->target_mean, p->y, (size_t)s->targets * sizeof *s->target_mean);
    }
    centre(p, s->cols, s->mean, p->x, p->delta);
    centre(p, s->targets, s->target_mean, p->y, p->delta + s->cols);
    if (p->weights) {
        weigh_rows(p, s->cols, p->x);
        weigh_rows(p, s->targets, p->y);
    }
    if (p->rows > 1)
        add_products(s, p);
    shift_means(s, p->delta, m / (n + m), n * m / (n + m));
    s->rows += m;
}

static kfe_status panel_new(const kfe_i_sums *s, const kfe_i_sum_rows *from, int64_t rows, int threads,
                            panel *out)
{
    kfe_status status = KFE_OK;

    *out = (panel){.memory.ctx = s->ctx, .threads = threads};
    KFE_TAKE(&out->memory, out->x, rows * s->cols);
    KFE_TAKE(&out->memory, out->y, rows * s->targets);
    KFE_TAKE(&out->memory, out->delta, s->cols + s->targets);
    if (from->target && from->target->weights)
        KFE_TAKE(&out->memory, out->weights, rows);
cleanup:
    return status;
}

/* Adds rows `first` to `end` − 1, `most` at a time. */
static void add_range(kfe_i_sums *s, const kfe_i_sum_rows *from, int64_t first, int64_t end, int64_t most,
                      panel *p)
{
    for (; first < end; first += most) {
        p->rows = end - first < most ? end - first : most;
        read_panel(s, from, first, p);
        add_to_classes(s, from, first, p);
        add_panel(s, p);
    }
}

static kfe_status add_together(kfe_i_sums *s, const kfe_i_sum_rows *from)
{
    kfe_status status = KFE_OK;
    int64_t wide = from->count < PANEL_ROWS ? from->count : PANEL_ROWS;
    panel p = {0};

    KFE_TRY(panel_new(s, from, wide, kfe_context_threads(s->ctx), &p));
    add_range(s, from, 0, from->count, wide, &p);
cleanup:
    kfe_i_arena_free(&p.memory);
    return status;
}

/* The sums of one thread. */
typedef struct own_sums {
    kfe_i_sums sums;
    panel panel;
} own_sums;

/* Sums over no rows, of the same columns, classes and targets. */
static kfe_status begin_alike(const kfe_i_sums *s, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_sums_begin(s->ctx, s->cols, out));
    if (s->targets > 0)
        KFE_TRY(kfe_i_sums_begin_targets(out, s->targets));
    for (int64_t g = 0; g < s->classes; g++)
        KFE_TRY(kfe_i_sums_insert_class(out, g));
cleanup:
    return status;
}

static kfe_status add_apart(kfe_i_sums *s, const kfe_i_sum_rows *from, int threads)
{
    kfe_status status = KFE_OK;
    own_sums *own = NULL;

    KFE_ALLOC_ZERO(s->ctx, own, threads);
    for (int t = 0; t < threads; t++) {
        KFE_TRY(begin_alike(s, &own[t].sums));
        KFE_TRY(panel_new(s, from, OWN_PANEL_ROWS, 1, &own[t].panel));
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++)
        add_range(&own[t].sums, from, from->count * t / threads, from->count * (t + 1) / threads,
                  OWN_PANEL_ROWS, &own[t].panel);
    for (int t = 0; t < threads; t++)
        kfe_i_sums_merge(s, &own[t].sums);
cleanup:
    for (int t = 0; own && t < threads; t++) {
        kfe_i_sums_free(&own[t].sums);
        kfe_i_arena_free(&own[t].panel.memory);
    }
    kfe_i_free(s->ctx, own);
    return status;
}

kfe_status kfe_i_sums_add(kfe_i_sums *s, const kfe_i_sum_rows *from)
{
    int threads = kfe_context_threads(s->ctx);
    double d = (double)s->cols;
    double bytes = 8 * threads * d * (d + (double)(s->targets + s->classes) + OWN_PANEL_ROWS);

    if (threads > 1 && from->count >= (int64_t)threads * OWN_ROWS &&
        bytes < OWN_SHARE * (double)kfe_i_memory_left(s->ctx))
        return add_apart(s, from, threads);
    return add_together(s, from);
}
