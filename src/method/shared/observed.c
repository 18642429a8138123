/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions on observed entries, one pass over the rows each; used by pca, pls and opls. */
#include "method/shared/observed.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/share.h"
#include "method/shared/range.h"

/* Numbers of a block of rows, which a pass reads from the cache the second time. */
enum { BLOCK_NUMBERS = 1 << 15, SMALL_NUMBERS = 1 << 16 };
/* Deviations from the mean below this share of it are rounding. */
#define MEAN_ROUNDING (16 * DBL_EPSILON)

int kfe_i_has_missing(const kfe_i_fit_source *source)
{
    return source->has_missing && source->views != NULL;
}

/* ---- sums over rows, by threads ---- */

typedef void (*rows_fn)(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums);

/* out (count) = the sums of all threads, added in their order. */
static void over_rows(const kfe_i_observed *o, rows_fn add, void *job, int64_t count, double *out)
{
#pragma omp parallel for num_threads(o->threads) schedule(static)
    for (int t = 0; t < o->threads; t++) {
        double *own = o->sums + t * o->width;
        memset(own, 0, (size_t)count * sizeof *own);
        add(o, job, kfe_i_share_begin(o->n, t, o->threads), kfe_i_share_begin(o->n, t + 1, o->threads), own);
    }
    if (out != o->sums)
        memcpy(out, o->sums, (size_t)count * sizeof *out);
    for (int t = 1; t < o->threads; t++)
        cblas_daxpy((blasint)count, 1, o->sums + t * o->width, 1, out, 1);
}

static double root_of(const kfe_i_observed *o, int64_t i)
{
    return o->roots ? o->roots[i] : 1;
}

/* ---- the rows ---- */

/* Counts the missing cells of each row, and finds the largest magnitude of each part of the rows. */
static void inspect_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const kfe_i_table *table = job;

    (void)sums;
    for (int64_t i = first; i < last; i++) {
        const double *row = table->values + i * table->stride;
        double count = 0;
        double largest = 0;
        for (int64_t j = 0; j < o->d; j++) {
            double size = fabs(row[j]);
            count += size >= 0 ? 0 : 1;
            largest = size > largest ? size : largest;
        }
        o->row_start[i + 1] = (int64_t)count;
        o->scores[i] = largest;
    }
}

static void list_columns(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const kfe_i_table *table = job;

    (void)sums;
    for (int64_t i = first; i < last; i++) {
        int64_t placed = o->row_start[i];
        for (int64_t j = 0; placed < o->row_start[i + 1] && j < o->d; j++)
            if (isnan(table->values[i * table->stride + j]))
                o->columns[placed++] = (int32_t)j;
    }
}

/* Lists the missing cells; the largest magnitude decides the unit. */
static kfe_status list_missing(kfe_i_observed *o, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    KFE_TAKE(&o->memory, o->row_start, o->n + 1);
    over_rows(o, inspect_rows, table, 0, o->sums);
    o->row_start[0] = 0;
    for (int64_t i = 0; i < o->n; i++) {
        o->row_start[i + 1] += o->row_start[i];
        largest = fmax(largest, o->scores[i]);
    }
    o->unit = kfe_i_unit_of(largest);
    KFE_TAKE(&o->memory, o->columns, o->row_start[o->n]);
    KFE_TAKE_ZERO(&o->memory, o->hidden, o->row_start[o->n]);
    over_rows(o, list_columns, table, 0, o->sums);
cleanup:
    return status;
}

/* Copies rows, as x − means; observed cells that are missing become zero. */
static void copy_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const kfe_i_table *table = job;

    (void)sums;
    for (int64_t i = first; i < last; i++) {
        const double *from = table->values + i * table->stride;
        double *to = o->x + i * o->d;
        for (int64_t j = 0; j < o->d; j++)
            to[j] = from[j] / o->unit;
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++)
            to[o->columns[e]] = 0;
    }
}

static void add_sums(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    (void)job;
    for (int64_t i = first; i < last; i++)
        cblas_daxpy((blasint)o->d, root_of(o, i) * root_of(o, i), o->x + i * o->d, 1, sums, 1);
}

/* x −= shift on observed entries. */
static void shift_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const double *shift = job;

    (void)sums;
    for (int64_t i = first; i < last; i++) {
        double *row = o->x + i * o->d;
        for (int64_t j = 0; j < o->d; j++)
            row[j] -= shift[j];
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++)
            row[o->columns[e]] = 0;
    }
}

/* Multiplies the rows by the roots of their weights, and adds their squares up. */
static void weigh_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    (void)job;
    for (int64_t i = first; i < last; i++) {
        double *row = o->x + i * o->d;
        double root = root_of(o, i);
        for (int64_t j = 0; j < o->d; j++) {
            row[j] *= root;
            sums[j] += row[j] * row[j];
        }
    }
}

static void find_masses(kfe_i_observed *o)
{
    o->mass = 0;
    for (int64_t i = 0; i < o->n; i++)
        o->mass += root_of(o, i) * root_of(o, i);
    for (int64_t j = 0; j < o->d; j++)
        o->column_mass[j] = o->mass;
    for (int64_t i = 0; i < o->n; i++)
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++)
            o->column_mass[o->columns[e]] -= root_of(o, i) * root_of(o, i);
}

/* Subtracts the means, twice: the second pass removes what rounding left of the first. */
static void centre(kfe_i_observed *o)
{
    double *mean = o->along;

    for (int pass = 0; pass < 2; pass++) {
        over_rows(o, add_sums, NULL, o->d, mean);
        for (int64_t j = 0; j < o->d; j++) {
            mean[j] = o->column_mass[j] > 0 ? mean[j] / o->column_mass[j] : 0;
            o->means[j] += mean[j];
        }
        over_rows(o, shift_rows, mean, 0, o->sums);
    }
}

/* Columns that vary only by rounding become zero: a constant is not a direction. */
static void drop_constants(kfe_i_observed *o)
{
    for (int64_t j = 0; j < o->d; j++) {
        double rounding = MEAN_ROUNDING * o->means[j];
        if (o->squares[j] > rounding * rounding * o->column_mass[j])
            continue;
        for (int64_t i = 0; i < o->n; i++)
            o->x[i * o->d + j] = 0;
        o->squares[j] = 0;
    }
}

/* x back to what the table held. */
static void restore_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    (void)job;
    (void)sums;
    for (int64_t i = first; i < last; i++) {
        double *row = o->x + i * o->d;
        for (int64_t j = 0; j < o->d; j++)
            row[j] += o->means[j];
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++)
            row[o->columns[e]] = (double)NAN;
    }
}

void kfe_i_observed_free(kfe_i_observed *o)
{
    if (o->works_in_source)
        over_rows(o, restore_rows, NULL, 0, o->sums);
    o->works_in_source = 0;
    kfe_i_arena_free(&o->memory);
}

/* Rows that belong to the fit are worked in where they are, unless they would not come back: a copy takes longer than many a pass. */
static kfe_status take_rows(kfe_i_observed *o, const kfe_i_fit_source *source, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    kfe_i_table *own = source->own_rows;

    if (own && own->values == table->values && table->stride == o->d && !o->roots && o->unit == 1) {
        o->x = own->values;
        o->works_in_source = 1;
    } else {
        KFE_TAKE(&o->memory, o->x, o->n * o->d);
    }
    over_rows(o, copy_rows, table, 0, o->sums);
cleanup:
    return status;
}

static kfe_status take_roots(kfe_i_observed *o, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *roots = NULL;

    if (!target || !target->weights)
        return KFE_OK;
    KFE_TAKE(&o->memory, roots, o->n);
    for (int64_t i = 0; i < o->n; i++)
        roots[i] = sqrt(target->weights[i]);
    o->roots = roots;
cleanup:
    return status;
}

static kfe_status take_memory(kfe_i_observed *o)
{
    kfe_status status = KFE_OK;
    int64_t most = o->setup.most;
    int64_t targets = o->setup.targets > 1 ? o->setup.targets : 1;

    o->width = 2 * o->d * targets;
    KFE_TRY(kfe_i_check_memory(o->ctx, 8.0 * (double)o->n * (double)(o->d + most),
                               "a copy of the data, whose missing values are left out", "raise {memory}"));
    KFE_TAKE_ZERO(&o->memory, o->means, o->d);
    KFE_TAKE(&o->memory, o->column_mass, o->d);
    KFE_TAKE(&o->memory, o->squares, o->d);
    KFE_TAKE(&o->memory, o->image, o->d);
    KFE_TAKE(&o->memory, o->scores, most * o->n);
    KFE_TAKE(&o->memory, o->weights, most * o->d);
    KFE_TAKE(&o->memory, o->loadings, most * o->d);
    KFE_TAKE(&o->memory, o->patterns, most * o->d);
    KFE_TAKE(&o->memory, o->sums, o->threads * o->width);
    KFE_TAKE(&o->memory, o->along, 2 * o->d + most * targets);
    KFE_TAKE(&o->memory, o->weight_squares, o->d);
cleanup:
    return status;
}

kfe_status kfe_i_observed_begin(kfe_context *ctx, const kfe_i_fit_source *source,
                                const kfe_i_observed_setup *setup, kfe_i_observed *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = source->views[0];
    kfe_i_observed *o = out;

    *o = (kfe_i_observed){.ctx = ctx, .memory.ctx = ctx, .setup = *setup, .n = table.rows, .d = table.cols};
    o->threads = o->n * o->d < SMALL_NUMBERS ? 1 : kfe_context_threads(ctx);
    KFE_TRY(take_memory(o));
    KFE_TRY(take_roots(o, source->target));
    KFE_TRY(list_missing(o, &table));
    find_masses(o);
    KFE_TRY(take_rows(o, source, &table));
    if (setup->center)
        centre(o);
    over_rows(o, weigh_rows, NULL, o->d, o->squares);
    drop_constants(o);
cleanup:
    return status;
}

/* ---- one component ---- */

typedef struct regression {
    const double *w, *squares; /* w and w² */
    double square;             /* Σw² */
    const double *along;       /* Pw */
    double *t;
} regression;

/* The score of row i from the product of the row with w. */
static void finish_score(const kfe_i_observed *o, const regression *r, int64_t i)
{
    double left = r->square;
    double product = r->t[i];

    for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++) {
        left -= r->squares[o->columns[e]];
        product += o->hidden[e] * r->w[o->columns[e]];
    }
    r->t[i] = left > KFE_LEAST_OBSERVED * r->square ? product / left : 0;
}

/* Scores of a block of rows and, while it is in the cache, its share of Xᵀt; sums + d: Σt² over the rows that miss each column. */
static void regress_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const regression *r = job;
    blasint d = (blasint)o->d;
    int64_t most = BLOCK_NUMBERS / o->d + 1;

    for (int64_t at = first; at < last; at += most) {
        int64_t count = last - at < most ? last - at : most;
        const double *x = o->x + at * o->d;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)count, d, 1, x, d, r->w, 1, 0, r->t + at, 1);
        for (int64_t a = 0; a < o->count; a++)
            cblas_daxpy((blasint)count, -r->along[a], o->scores + a * o->n + at, 1, r->t + at, 1);
        for (int64_t i = at; i < at + count; i++)
            finish_score(o, r, i);
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)count, d, 1, x, d, r->t + at, 1, 1, sums, 1);
        for (int64_t i = at; i < at + count; i++)
            for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++) {
                sums[o->columns[e]] += o->hidden[e] * r->t[i];
                sums[o->d + o->columns[e]] += r->t[i] * r->t[i];
            }
    }
}

void kfe_i_observed_regress(kfe_i_observed *o, const double *w, double *t, double *p)
{
    double *both = o->along + o->setup.most; /* Xᵀt, and what rows that miss a column have of tᵀt */
    regression r = {.w = w, .squares = o->weight_squares, .along = o->along, .t = t};

    for (int64_t j = 0; j < o->d; j++) {
        o->weight_squares[j] = w[j] * w[j];
        r.square += w[j] * w[j];
    }
    for (int64_t a = 0; a < o->count; a++)
        o->along[a] = cblas_ddot((blasint)o->d, o->loadings + a * o->d, 1, w, 1);
    over_rows(o, regress_rows, &r, 2 * o->d, both);
    double square = cblas_ddot((blasint)o->n, t, 1, t, 1);
    for (int64_t a = 0; a < o->count; a++)
        cblas_daxpy((blasint)o->d, -cblas_ddot((blasint)o->n, o->scores + a * o->n, 1, t, 1),
                    o->loadings + a * o->d, 1, both, 1);
    for (int64_t j = 0; j < o->d; j++) {
        double left = square - both[o->d + j];
        p[j] = left > KFE_LEAST_OBSERVED * square ? both[j] / left : 0;
        o->image[j] = p[j] * left;
    }
}

/* hidden += sign·t_i p_j */
static void hide(kfe_i_observed *o, double sign, const double *t, const double *p)
{
#pragma omp parallel for num_threads(o->threads) schedule(static)
    for (int64_t i = 0; i < o->n; i++)
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++)
            o->hidden[e] += sign * t[i] * p[o->columns[e]];
}

void kfe_i_observed_take(kfe_i_observed *o, const double *w, const double *t, const double *p,
                         const double *pattern)
{
    size_t size = (size_t)o->d * sizeof *w;

    hide(o, 1, t, p);
    memcpy(o->scores + o->count * o->n, t, (size_t)o->n * sizeof *t);
    memcpy(o->weights + o->count * o->d, w, size);
    memcpy(o->loadings + o->count * o->d, p, size);
    memcpy(o->patterns + o->count * o->d, pattern ? pattern : p, size);
    o->count++;
}

void kfe_i_observed_drop(kfe_i_observed *o)
{
    o->count--;
    hide(o, -1, o->scores + o->count * o->n, o->loadings + o->count * o->d);
}

/* ---- several columns ---- */

typedef struct products {
    int64_t k;
    const double *u, *t;
} products;

static void cross_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const products *p = job;
    blasint k = (blasint)p->k;

    if (last > first)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)o->d, k, (blasint)(last - first), 1,
                    o->x + first * o->d, (blasint)o->d, p->u + first * p->k, k, 0, sums, k);
    for (int64_t i = first; i < last; i++)
        for (int64_t e = o->row_start[i]; o->count > 0 && e < o->row_start[i + 1]; e++)
            for (int64_t m = 0; m < p->k; m++)
                sums[o->columns[e] * p->k + m] += o->hidden[e] * p->u[i * p->k + m];
}

void kfe_i_observed_cross(kfe_i_observed *o, int64_t k, const double *u, double *out)
{
    products job = {.k = k, .u = u};

    over_rows(o, cross_rows, &job, o->d * k, out);
    for (int64_t a = 0; a < o->count; a++) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)o->n, (blasint)k, 1, u, (blasint)k,
                    o->scores + a * o->n, 1, 0, o->along, 1);
        cblas_dger(CblasRowMajor, (blasint)o->d, (blasint)k, -1, o->loadings + a * o->d, 1, o->along, 1, out,
                   (blasint)k);
    }
}

static void gone_rows(const kfe_i_observed *o, void *job, int64_t first, int64_t last, double *sums)
{
    const products *p = job;
    double *along = sums + o->d * p->k;

    for (int64_t i = first; i < last; i++) {
        const double *u = p->u + i * p->k;
        for (int64_t e = o->row_start[i]; e < o->row_start[i + 1]; e++) {
            int64_t at = o->columns[e] * p->k;
            for (int64_t m = 0; m < p->k; m++) {
                sums[at + m] += u[m] * u[m];
                along[at + m] += p->t[i] * u[m];
            }
        }
    }
}

void kfe_i_observed_gone(kfe_i_observed *o, int64_t k, const double *u, const double *t, double *gone,
                         double *product)
{
    products job = {.k = k, .u = u, .t = t};
    int64_t size = o->d * k;

    over_rows(o, gone_rows, &job, 2 * size, o->sums);
    memcpy(gone, o->sums, (size_t)size * sizeof *gone);
    memcpy(product, o->sums + size, (size_t)size * sizeof *product);
}

void kfe_i_observed_slopes(const kfe_i_observed *o, int64_t k, const double *u, const double *gone,
                           const double *cross, double *out)
{
    for (int64_t m = 0; m < k; m++) {
        double square = pow(cblas_dnrm2((blasint)o->n, u + m, (blasint)k), 2);
        for (int64_t j = 0; j < o->d; j++) {
            double left = square - gone[j * k + m];
            out[j * k + m] = left > KFE_LEAST_OBSERVED * square ? square / left * cross[j * k + m] : 0;
        }
    }
}
