/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over rows: making, merging, subtracting and mapping them to other columns; sums_add.c adds rows. Used by fits from sums and by
 * cross-validation. */
#include "data/sums/sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_sums_begin_extremes(kfe_i_sums *sums)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(sums->ctx, sums->least, sums->cols);
    KFE_ALLOC(sums->ctx, sums->largest, sums->cols);
    for (int64_t j = 0; j < sums->cols; j++) {
        sums->least[j] = (double)INFINITY;
        sums->largest[j] = -(double)INFINITY;
    }
cleanup:
    return status;
}

kfe_status kfe_i_sums_begin(kfe_context *ctx, int64_t cols, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->cols = cols;
    KFE_ALLOC_ZERO(ctx, out->mean, cols);
    KFE_ALLOC_ZERO(ctx, out->scatter, cols * cols);
    KFE_TRY(kfe_i_sums_begin_extremes(out));
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
    if (s->spectrum) {
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

kfe_status kfe_i_sums_image(const kfe_i_sums *s, const double *v, int64_t k, double **out)
{
    kfe_status status = KFE_OK;
    double *scratch = NULL;

    KFE_ALLOC(s->ctx, *out, s->cols * k);
    KFE_ALLOC(s->ctx, scratch, s->removed_count * k);
    kfe_i_sums_times(s, v, k, scratch, *out);
cleanup:
    kfe_i_free(s->ctx, scratch);
    return status;
}

void kfe_i_sums_diagonal(const kfe_i_sums *s, double *out)
{
    for (int64_t j = 0; j < s->cols; j++)
        out[j] = s->spectrum ? s->spectrum[j] : s->scatter[j * (s->cols + 1)];
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

kfe_status kfe_i_sums_map_by(const kfe_i_sums *s, const double *w, const double *image, int64_t dim,
                             const double *offset, kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t t = s->targets;

    KFE_TRY(kfe_i_sums_begin(s->ctx, dim, out));
    memset(out->least, 0, (size_t)dim * sizeof *out->least);
    memset(out->largest, 0, (size_t)dim * sizeof *out->largest);
    out->rows = s->rows;
    out->task = s->task;
    map_rows(1, s->cols, s->mean, w, dim, offset, out->mean);
    if (s->cols > 0 && dim > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)dim, (blasint)dim, (blasint)s->cols, 1,
                    w, (blasint)dim, image, (blasint)dim, 0, out->scatter, (blasint)dim);
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

kfe_status kfe_i_sums_map(const kfe_i_sums *s, const double *w, int64_t dim, const double *offset,
                          kfe_i_sums *out)
{
    kfe_status status = KFE_OK;
    double *image = NULL;

    KFE_TRY(kfe_i_sums_image(s, w, dim, &image));
    KFE_TRY(kfe_i_sums_map_by(s, w, image, dim, offset, out));
cleanup:
    kfe_i_free(s->ctx, image);
    return status;
}
