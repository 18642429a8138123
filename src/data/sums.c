/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over rows, added panel by panel: the products of a panel about its own mean are one BLAS call, and a correction of rank
 * one moves them to the mean of all rows. With many rows and few columns every thread has sums of its own, so that a panel stays in
 * its cache from reading to BLAS; otherwise the threads share the work on each panel. Used by fits from sums and by
 * cross-validation.
 *
 * Rounding: an entry of the scatter is off by about √n·ε·√(S_ii·S_jj), whatever the mean. Time O(nd²), memory O(d²) and a
 * panel.
 */
#include "data/sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/rough_sums.h"

/* Rows of a panel that all threads share, and of one that a thread has alone. */
enum { PANEL_ROWS = 1024, OWN_PANEL_ROWS = 256 };
/* Sums of its own pay off for a thread from this many rows on, if those of all threads take a small share of the memory
 * that is left. */
enum { OWN_ROWS = 4096 };
#define OWN_SHARE 0.05

kfe_status kfe_i_sums_begin(kfe_context *ctx, int64_t cols, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->cols = cols;
    KFE_ALLOC_ZERO(ctx, out->mean, cols);
    KFE_ALLOC_ZERO(ctx, out->scatter, cols * cols);
    KFE_ALLOC(ctx, out->least, cols);
    KFE_ALLOC(ctx, out->largest, cols);
    for (int64_t j = 0; j < cols; j++) {
        out->least[j] = (double)INFINITY;
        out->largest[j] = -(double)INFINITY;
    }
cleanup:
    return status;
}

void kfe_i_sums_free(kfe_i_sums *sums)
{
    double *const blocks[] = {sums->mean,       sums->scatter,     sums->least,       sums->largest,
                              sums->class_rows, sums->class_means, sums->target_mean, sums->target_scatter,
                              sums->cross,      sums->spectrum,    sums->removed};

    for (size_t i = 0; sums->ctx && i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(sums->ctx, blocks[i]);
    kfe_i_rough_free(sums->rough);
    memset(sums, 0, sizeof *sums);
}

static kfe_status copy_block(kfe_context *ctx, const double *from, int64_t count, double **to)
{
    kfe_status status = KFE_OK;

    if (!from)
        return KFE_OK;
    KFE_ALLOC(ctx, *to, count);
    memcpy(*to, from, (size_t)count * sizeof **to);
cleanup:
    return status;
}

kfe_status kfe_i_sums_copy_with(kfe_context *ctx, const kfe_i_sums *s, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;

    *out = (kfe_i_sums){.ctx = ctx,
                        .cols = d,
                        .rows = s->rows,
                        .task = s->task,
                        .classes = s->classes,
                        .targets = s->targets};
    KFE_TRY(copy_block(ctx, s->mean, d, &out->mean));
    KFE_TRY(copy_block(ctx, s->scatter, d * d, &out->scatter));
    KFE_TRY(copy_block(ctx, s->least, d, &out->least));
    KFE_TRY(copy_block(ctx, s->largest, d, &out->largest));
    KFE_TRY(copy_block(ctx, s->class_rows, s->classes, &out->class_rows));
    KFE_TRY(copy_block(ctx, s->class_means, s->classes * d, &out->class_means));
    KFE_TRY(copy_block(ctx, s->target_mean, s->targets, &out->target_mean));
    KFE_TRY(copy_block(ctx, s->target_scatter, s->targets * s->targets, &out->target_scatter));
    KFE_TRY(copy_block(ctx, s->cross, d * s->targets, &out->cross));
cleanup:
    return status;
}

kfe_status kfe_i_sums_copy(const kfe_i_sums *s, kfe_i_sums *out)
{
    return kfe_i_sums_copy_with(s->ctx, s, out);
}

/* ---- targets ---- */

kfe_status kfe_i_sums_insert_class(kfe_i_sums *s, int64_t place)
{
    int64_t d = s->cols;
    double *rows = kfe_i_resize(s->ctx, s->class_rows, s->classes + 1, sizeof *rows);

    if (!rows)
        return kfe_i_lack(s->ctx);
    s->class_rows = rows;
    double *means = kfe_i_resize(s->ctx, s->class_means, (s->classes + 1) * d, sizeof *means);
    if (!means)
        return kfe_i_lack(s->ctx);
    s->class_means = means;
    memmove(rows + place + 1, rows + place, (size_t)(s->classes - place) * sizeof *rows);
    memmove(means + (place + 1) * d, means + place * d, (size_t)((s->classes - place) * d) * sizeof *means);
    rows[place] = 0;
    memset(means + place * d, 0, (size_t)d * sizeof *means);
    s->classes++;
    s->task = KFE_TASK_CLASSES;
    return KFE_OK;
}

kfe_status kfe_i_sums_begin_targets(kfe_i_sums *s, int64_t targets)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(s->ctx, s->target_mean, targets);
    KFE_ALLOC_ZERO(s->ctx, s->target_scatter, targets * targets);
    KFE_ALLOC_ZERO(s->ctx, s->cross, s->cols * targets);
    s->targets = targets;
    s->task = KFE_TASK_REAL;
cleanup:
    return status;
}

kfe_status kfe_i_sums_begin_target(kfe_i_sums *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;

    if (target->task == KFE_TASK_REAL)
        KFE_TRY(kfe_i_sums_begin_targets(s, target->cols));
    for (int64_t g = 0; target->task == KFE_TASK_CLASSES && g < target->class_count; g++)
        KFE_TRY(kfe_i_sums_insert_class(s, g));
cleanup:
    return status;
}

kfe_status kfe_i_sums_begin_with(kfe_context *ctx, int64_t cols, const kfe_i_target *target, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_sums_begin(ctx, cols, out));
    KFE_TRY(kfe_i_sums_begin_target(out, target));
cleanup:
    return status;
}

/* ---- adding rows ---- */

typedef struct panel {
    int threads; /* that share it */
    int64_t rows;
    double *x;     /* rows × cols, later less its mean */
    double *y;     /* rows × targets, the same */
    double *delta; /* cols + targets */
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
        double share = 1 / ++s->class_rows[g];
        for (int64_t j = 0; j < s->cols; j++)
            mean[j] += share * (p->x[i * s->cols + j] - mean[j]);
    }
}

/* delta[cols] = the mean of the rows less `base`; the rows lose their mean. Sums of differences from a base near the rows are
 * exact to their spread, and zero for a column that is constant. */
static void centre(int threads, int64_t rows, int64_t cols, const double *restrict base,
                   double *restrict values, double *restrict delta)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < cols; first += BLOCK_COLUMNS) {
        int64_t end = first + BLOCK_COLUMNS < cols ? first + BLOCK_COLUMNS : cols;
        for (int64_t j = first; j < end; j++)
            delta[j] = 0;
        for (int64_t i = 0; i < rows; i++)
#pragma omp simd
            for (int64_t j = first; j < end; j++)
                delta[j] += values[i * cols + j] - base[j];
        for (int64_t j = first; j < end; j++)
            delta[j] /= (double)rows;
        for (int64_t i = 0; i < rows; i++)
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
    double m = (double)p->rows;

    add_extremes(s, p);
    if (n <= 0) { /* any base will do */
        memcpy(s->mean, p->x, (size_t)s->cols * sizeof *s->mean);
        if (s->targets > 0)
            memcpy(s->target_mean, p->y, (size_t)s->targets * sizeof *s->target_mean);
    }
    centre(p->threads, p->rows, s->cols, s->mean, p->x, p->delta);
    centre(p->threads, p->rows, s->targets, s->target_mean, p->y, p->delta + s->cols);
    if (p->rows > 1)
        add_products(s, p);
    shift_means(s, p->delta, m / (n + m), n * m / (n + m));
    s->rows += m;
}

static void panel_free(kfe_context *ctx, panel *p)
{
    kfe_i_free(ctx, p->x);
    kfe_i_free(ctx, p->y);
    kfe_i_free(ctx, p->delta);
}

static kfe_status panel_new(const kfe_i_sums *s, int64_t rows, int threads, panel *out)
{
    kfe_status status = KFE_OK;

    *out = (panel){.threads = threads};
    KFE_ALLOC(s->ctx, out->x, rows * s->cols);
    KFE_ALLOC(s->ctx, out->y, rows * s->targets);
    KFE_ALLOC(s->ctx, out->delta, s->cols + s->targets);
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

    KFE_TRY(panel_new(s, wide, kfe_context_threads(s->ctx), &p));
    add_range(s, from, 0, from->count, wide, &p);
cleanup:
    panel_free(s->ctx, &p);
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
        KFE_TRY(panel_new(s, OWN_PANEL_ROWS, 1, &own[t].panel));
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
        panel_free(s->ctx, &own[t].panel);
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

/* ---- two sums ---- */

/* S ← S ± S' + weight·δδᵀ and the same for the targets, and means moved by share·δ, δ = the other mean − this mean. */
static void combine(kfe_i_sums *s, const kfe_i_sums *other, double sign, double share, double weight)
{
    int64_t d = s->cols;
    int64_t t = s->targets;

    for (int64_t i = 0; i < d * d; i++)
        s->scatter[i] += sign * other->scatter[i];
    for (int64_t i = 0; i < d * t; i++)
        s->cross[i] += sign * other->cross[i];
    for (int64_t i = 0; i < t * t; i++)
        s->target_scatter[i] += sign * other->target_scatter[i];
    for (int64_t i = 0; i < d; i++) {
        double one = other->mean[i] - s->mean[i];
        for (int64_t j = i; j < d; j++)
            s->scatter[i * d + j] += weight * one * (other->mean[j] - s->mean[j]);
        for (int64_t k = 0; k < t; k++)
            s->cross[i * t + k] += weight * one * (other->target_mean[k] - s->target_mean[k]);
    }
    for (int64_t k = 0; k < t; k++)
        for (int64_t l = 0; l < t; l++)
            s->target_scatter[k * t + l] += weight * (other->target_mean[k] - s->target_mean[k]) *
                                            (other->target_mean[l] - s->target_mean[l]);
    for (int64_t i = 0; i < d; i++)
        s->mean[i] += share * (other->mean[i] - s->mean[i]);
    for (int64_t k = 0; k < t; k++)
        s->target_mean[k] += share * (other->target_mean[k] - s->target_mean[k]);
}

/* The class means, `sign` times the rows of the other sums added. */
static void combine_classes(kfe_i_sums *s, const kfe_i_sums *other, double sign)
{
    for (int64_t g = 0; g < s->classes; g++) {
        double *mean = s->class_means + g * s->cols;
        s->class_rows[g] += sign * other->class_rows[g];
        if (!(s->class_rows[g] > 0))
            continue;
        double share = sign * other->class_rows[g] / s->class_rows[g];
        for (int64_t j = 0; j < s->cols; j++)
            mean[j] += share * (other->class_means[g * s->cols + j] - mean[j]);
    }
}

void kfe_i_sums_merge(kfe_i_sums *s, const kfe_i_sums *other)
{
    double n = s->rows;
    double m = other->rows;

    if (m <= 0)
        return;
    combine(s, other, 1, m / (n + m), n * m / (n + m));
    combine_classes(s, other, 1);
    s->rows = n + m;
    for (int64_t j = 0; j < s->cols; j++) {
        s->least[j] = fmin(s->least[j], other->least[j]);
        s->largest[j] = fmax(s->largest[j], other->largest[j]);
    }
}

/* With n rows of mean μ, of which the m of mean μ' go and k = n − m stay: the mean moves by −(m/k)δ, and
 * S_rest = S − S' − (nm/k)δδᵀ. */
void kfe_i_sums_subtract(kfe_i_sums *s, const kfe_i_sums *part)
{
    double n = s->rows;
    double m = part->rows;
    double k = n - m;

    if (m <= 0)
        return;
    if (!(k > 0)) {
        memset(s->scatter, 0, (size_t)(s->cols * s->cols) * sizeof *s->scatter);
        s->rows = 0;
        return;
    }
    combine(s, part, -1, -m / k, -n * m / k);
    combine_classes(s, part, -1);
    s->rows = k;
}

/* ---- other columns ---- */

static void scale_rows_of(int64_t rows, int64_t cols, const double *factor, double *values)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            values[i * cols + j] *= factor[j];
}

static void subtract_from_rows(int64_t rows, int64_t cols, const double *shift, double *values)
{
    for (int64_t i = 0; values && i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            values[i * cols + j] -= shift[j];
}

void kfe_i_sums_scale(kfe_i_sums *s, const double *shift, const double *factor)
{
    int64_t d = s->cols;

    if (shift) {
        subtract_from_rows(1, d, shift, s->mean);
        subtract_from_rows(1, d, shift, s->least);
        subtract_from_rows(1, d, shift, s->largest);
        subtract_from_rows(s->classes, d, shift, s->class_means);
    }
    if (!factor)
        return;
    scale_rows_of(1, d, factor, s->mean);
    scale_rows_of(1, d, factor, s->least);
    scale_rows_of(1, d, factor, s->largest);
    scale_rows_of(s->classes, d, factor, s->class_means);
    scale_rows_of(d, d, factor, s->scatter);
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < d; j++)
            s->scatter[i * d + j] *= factor[i];
        for (int64_t k = 0; k < s->targets; k++)
            s->cross[i * s->targets + k] *= factor[i];
    }
}

/* out (rows × dim) = values (rows × cols)·W − offset */
static void map_rows(int64_t rows, int64_t cols, const double *values, const double *w, int64_t dim,
                     const double *offset, double *out)
{
    if (rows == 0 || dim == 0)
        return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)dim, (blasint)cols, 1,
                values, (blasint)cols, w, (blasint)dim, 0, out, (blasint)dim);
    if (offset)
        subtract_from_rows(rows, dim, offset, out);
}

/* out −= Rᵀ(Rv) */
static void subtract_removed(const kfe_i_sums *s, const double *v, int64_t k, double *scratch, double *out)
{
    blasint d = (blasint)s->cols;
    blasint rows = (blasint)s->removed_count;

    if (rows == 0)
        return;
    if (k == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, d, 1, s->removed, d, v, 1, 0, scratch, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, rows, d, -1, s->removed, d, scratch, 1, 1, out, 1);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (blasint)k, d, 1, s->removed, d, v,
                (blasint)k, 0, scratch, (blasint)k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, (blasint)k, rows, -1, s->removed, d, scratch,
                (blasint)k, 1, out, (blasint)k);
}

void kfe_i_sums_times(const kfe_i_sums *s, const double *v, int64_t k, double *scratch, double *out)
{
    int64_t d = s->cols;

    if (d == 0 || k == 0)
        return;
    if (s->rough) {
        kfe_i_rough_times(s->rough, v, k, out);
    } else if (s->spectrum) {
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < k; j++)
                out[i * k + j] = s->spectrum[i] * v[i * k + j];
        subtract_removed(s, v, k, scratch, out);
    } else if (k == 1) {
        cblas_dsymv(CblasRowMajor, CblasUpper, (blasint)d, 1, s->scatter, (blasint)d, v, 1, 0, out, 1);
    } else {
        cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, (blasint)d, (blasint)k, 1, s->scatter, (blasint)d,
                    v, (blasint)k, 0, out, (blasint)k);
    }
}

void kfe_i_sums_diagonal(const kfe_i_sums *s, double *out)
{
    for (int64_t j = 0; j < s->cols; j++)
        out[j] = s->rough      ? kfe_i_rough_square(s->rough, j)
                 : s->spectrum ? s->spectrum[j]
                               : s->scatter[j * (s->cols + 1)];
    for (int64_t i = 0; i < s->removed_count; i++)
        for (int64_t j = 0; j < s->cols; j++)
            out[j] -= s->removed[i * s->cols + j] * s->removed[i * s->cols + j];
}

/* out (rows × dim) = the first columns of values (rows × cols) */
static void copy_columns(int64_t rows, int64_t cols, const double *values, int64_t dim, double *out)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * dim, values + i * cols, (size_t)dim * sizeof *out);
}

kfe_status kfe_i_sums_leading(kfe_context *ctx, const kfe_i_sums *s, int64_t cols, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t t = s->targets;

    KFE_TRY(kfe_i_sums_begin(ctx, cols, out));
    out->rows = s->rows;
    out->task = s->task;
    copy_columns(1, s->cols, s->mean, cols, out->mean);
    copy_columns(1, s->cols, s->least, cols, out->least);
    copy_columns(1, s->cols, s->largest, cols, out->largest);
    copy_columns(cols, s->cols, s->scatter, cols, out->scatter);
    KFE_TRY(copy_block(ctx, s->class_rows, s->classes, &out->class_rows));
    KFE_ALLOC(ctx, out->class_means, s->classes * cols);
    copy_columns(s->classes, s->cols, s->class_means, cols, out->class_means);
    out->classes = s->classes;
    KFE_TRY(copy_block(ctx, s->target_mean, t, &out->target_mean));
    KFE_TRY(copy_block(ctx, s->target_scatter, t * t, &out->target_scatter));
    KFE_TRY(copy_block(ctx, s->cross, cols * t, &out->cross));
    out->targets = t;
cleanup:
    return status;
}

/* WᵀSW */
static kfe_status map_scatter(const kfe_i_sums *s, const double *w, int64_t dim, double *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->cols;
    double *image = NULL;
    double *scratch = NULL;

    KFE_ALLOC(s->ctx, image, d * dim);
    KFE_ALLOC(s->ctx, scratch, s->removed_count * dim);
    if (d == 0 || dim == 0)
        goto cleanup;
    kfe_i_sums_times(s, w, dim, scratch, image);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)dim, (blasint)dim, (blasint)d, 1, w,
                (blasint)dim, image, (blasint)dim, 0, out, (blasint)dim);
cleanup:
    kfe_i_free(s->ctx, image);
    kfe_i_free(s->ctx, scratch);
    return status;
}

kfe_status kfe_i_sums_map(const kfe_i_sums *s, const double *w, int64_t dim, const double *offset,
                          kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t t = s->targets;

    KFE_TRY(kfe_i_sums_begin(s->ctx, dim, out));
    memset(out->least, 0, (size_t)dim * sizeof *out->least);
    memset(out->largest, 0, (size_t)dim * sizeof *out->largest);
    out->rows = s->rows;
    out->task = s->task;
    map_rows(1, s->cols, s->mean, w, dim, offset, out->mean);
    KFE_TRY(map_scatter(s, w, dim, out->scatter));
    out->classes = s->classes;
    KFE_TRY(copy_block(s->ctx, s->class_rows, s->classes, &out->class_rows));
    KFE_ALLOC(s->ctx, out->class_means, s->classes * dim);
    map_rows(s->classes, s->cols, s->class_means, w, dim, offset, out->class_means);
    out->targets = t;
    KFE_TRY(copy_block(s->ctx, s->target_mean, t, &out->target_mean));
    KFE_TRY(copy_block(s->ctx, s->target_scatter, t * t, &out->target_scatter));
    KFE_ALLOC(s->ctx, out->cross, dim * t);
    if (t > 0 && dim > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)dim, (blasint)t, (blasint)s->cols, 1, w,
                    (blasint)dim, s->cross, (blasint)t, 0, out->cross, (blasint)t);
cleanup:
    return status;
}
