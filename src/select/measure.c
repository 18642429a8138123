/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measures of `kfe measure` and the moments they are made of; called by workflow/measure.c.
 * K is the kernel matrix, T = YYᵀ the label kernel (measure.h), P = I − eeᵀ/n.
 *
 *     alignment           ⟨K, T⟩ / (‖K‖‖T‖)        Cristianini et al. (2002); Wu & Farquhar (2007), eq. (17)
 *     centred-alignment   ⟨PKP, T⟩ / (‖PKP‖‖PTP‖)  Cortes, Mohri & Rostamizadeh (2012)
 *     hsic                tr(PKPT) / (n − 1)²      Gretton et al. (2005)
 *     effective-rank      (tr PKP)² / ‖PKP‖²       the r for which r equal eigenvalues have this trace and norm
 *
 * With the row means r of K and their mean m, ‖PKP‖² = ‖K‖² − 2n‖r‖² + n²m², so that PKP is never formed.
 */
#include "select/measure.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

static double alignment(const kfe_i_measured *m)
{
    return m->with_target / (sqrt(m->squared_norm) * m->target_norm);
}

static double centred_alignment(const kfe_i_measured *m)
{
    return m->centred_with_target / (sqrt(m->centred_squared_norm) * m->centred_target_norm);
}

static double hsic(const kfe_i_measured *m)
{
    return m->centred_with_target / ((m->n - 1) * (m->n - 1));
}

static double effective_rank(const kfe_i_measured *m)
{
    return m->centred_trace * m->centred_trace / m->centred_squared_norm;
}

static const kfe_i_measure measures[] = {
    {"alignment", "kernel-target alignment", 1, alignment},
    {"centred-alignment", "kernel-target alignment after centring", 1, centred_alignment},
    {"hsic", "Hilbert-Schmidt independence criterion", 1, hsic},
    {"effective-rank",
     "number of directions that matter: squared trace over squared norm of the centred kernel", 0,
     effective_rank},
};

const kfe_i_measure *kfe_i_measure_at(int index)
{
    return index >= 0 && (size_t)index < sizeof measures / sizeof *measures ? &measures[index] : NULL;
}

/* ---- moments ---- */

static int64_t target_columns(const kfe_i_target *target)
{
    if (target->task == KFE_TASK_REAL)
        return target->cols;
    return target->class_count == 2 ? 1 : target->class_count;
}

static void fill_targets(const kfe_i_target *target, int64_t cols, double *y)
{
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            if (target->task == KFE_TASK_REAL)
                y[i * cols + j] = target->values[i * cols + j];
            else if (cols == 1)
                y[i] = target->codes[i] == 0 ? 1 : -1;
            else
                y[i * cols + j] = target->codes[i] == j;
        }
}

static void subtract_means(int64_t n, int64_t k, double *y)
{
    for (int64_t j = 0; j < k; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += y[i * k + j] / (double)n;
        int constant = 1; /* rounding may make the mean of a constant column another number */
        for (int64_t i = 1; i < n; i++)
            constant &= y[i * k + j] == y[j];
        for (int64_t i = 0; i < n; i++)
            y[i * k + j] = constant ? 0 : y[i * k + j] - mean;
    }
}

/* ‖YYᵀ‖ = ‖YᵀY‖ */
static double outer_norm(int64_t n, int64_t k, const double *y)
{
    double sum = 0;

    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++) {
            double product = 0;
            for (int64_t i = 0; i < n; i++)
                product += y[i * k + a] * y[i * k + b];
            sum += product * product;
        }
    return sqrt(sum);
}

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static kfe_status target_moments(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                 kfe_i_measured *out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;
    int64_t k = target_columns(target);
    double *y = NULL;
    double *product = NULL;

    KFE_ALLOC(ctx, y, n * k);
    KFE_ALLOC(ctx, product, n * k);
    fill_targets(target, k, y);
    KFE_TRY(kfe_i_gram_times(gram, y, k, product));
    out->with_target = dot(n * k, y, product);
    out->target_norm = outer_norm(n, k, y);
    subtract_means(n, k, y);
    KFE_TRY(kfe_i_gram_times(gram, y, k, product));
    out->centred_with_target = dot(n * k, y, product);
    out->centred_target_norm = outer_norm(n, k, y);
    out->has_target = 1;
cleanup:
    kfe_i_free(ctx, y);
    kfe_i_free(ctx, product);
    return status;
}

static kfe_status kernel_moments(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_measured *out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *centred = NULL;
    double *diagonal = NULL;
    const double *means = NULL;
    double overall = 0;
    int64_t n = gram->size;

    KFE_TRY(kfe_i_gram_squared_norm(gram, &out->squared_norm));
    KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    KFE_ALLOC(ctx, diagonal, n);
    KFE_TRY(kfe_i_gram_diagonal(centred, diagonal));
    for (int64_t i = 0; i < n; i++)
        out->centred_trace += diagonal[i];
    KFE_TRY(kfe_i_gram_row_means(centred, &means, &overall));
    out->centred_squared_norm =
        out->squared_norm - 2 * (double)n * dot(n, means, means) + (double)n * (double)n * overall * overall;
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_free(ctx, diagonal);
    return status;
}

kfe_status kfe_i_measure_kernel(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                kfe_i_measured *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->n = (double)gram->size;
    KFE_TRY(kernel_moments(ctx, gram, out));
    if (target->task != KFE_TASK_NONE)
        KFE_TRY(target_moments(ctx, gram, target, out));
cleanup:
    return status;
}
