/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PLS on parts of the rows and columns (column_pls.h). With q_1 … q_j the scores so far, orthonormal, direction w is the leading left singular
 * vector of C = XᵀY for the residual targets Y, soft-thresholded if it is to use few columns; its score is what Xw has beside the others,
 * and Y loses q(qᵀY). With XW = QR the coefficients are W R⁻¹ QᵀY. Two passes over the part per feature.
 *
 * de Jong (1993), SIMPLS, gives the same features; Lê Cao et al. (2008) the thresholds.
 */
#include "data/steps/column_pls.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT, LEFT, TURNS = 100, MOST_UNITS = 2000 };
/* A score that keeps less than this share of its length beside the others says nothing new; so does a product of rounding errors. */
#define KFE_SPENT_SCORE 1e-8
#define KFE_SPENT_PRODUCT 1e-10
#define KFE_TURNS_SETTLED 1e-10

/* ---- units ---- */

/* Adds the weights, and makes means of the targets. Equal rows have equal columns. */
static void gather(const kfe_i_table *rows, const kfe_i_step_target *target, kfe_i_step_units *out)
{
    int64_t t = out->targets;

    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t u = target->unit_of[i];
        double weight = kfe_i_row_weight(rows, i);
        if (!(weight > 0) || u >= out->count)
            continue;
        if (out->masses[u] == 0)
            memcpy(out->x + u * out->cols, rows->values + i * rows->stride,
                   (size_t)out->cols * sizeof *out->x);
        out->masses[u] += weight;
        for (int64_t k = 0; k < t; k++)
            out->y[u * t + k] += weight / out->masses[u] * (target->values[i * t + k] - out->y[u * t + k]);
    }
}

/* Units without a weight leave no trace. */
static void drop_empty(kfe_i_step_units *units)
{
    int64_t count = 0;

    for (int64_t u = 0; u < units->count; u++) {
        if (!(units->masses[u] > 0))
            continue;
        memmove(units->x + count * units->cols, units->x + u * units->cols,
                (size_t)units->cols * sizeof *units->x);
        memmove(units->y + count * units->targets, units->y + u * units->targets,
                (size_t)units->targets * sizeof *units->y);
        units->masses[count++] = units->masses[u];
    }
    units->count = count;
}

/* The deviation of a target over the units. */
static double deviation(const kfe_i_step_units *units, int64_t k)
{
    double mass = 0;
    double mean = 0;
    double squares = 0;

    for (int64_t u = 0; u < units->count; u++) {
        double y = units->y[u * units->targets + k];
        double shift = y - mean;
        mass += units->masses[u];
        mean += units->masses[u] / mass * shift;
        squares += units->masses[u] * shift * (y - mean);
    }
    return sqrt(squares / mass);
}

/* Divides real targets by their deviations; returns whether any target varies. */
static int settle_targets(kfe_i_step_units *units, int is_real)
{
    int varies = 0;

    for (int64_t k = 0; k < units->targets; k++) {
        double spread = deviation(units, k);
        varies |= spread > 0;
        for (int64_t u = 0; is_real && spread > 0 && u < units->count; u++)
            units->y[u * units->targets + k] /= spread;
    }
    return varies;
}

kfe_status kfe_i_step_units_make(kfe_context *ctx, const kfe_i_table *rows, const kfe_i_step_target *target,
                                 const char *step, int64_t fewest, kfe_i_step_units *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_step_units){.memory.ctx = ctx, .cols = rows->cols, .targets = target->cols};
    out->count = target->units < MOST_UNITS ? target->units : MOST_UNITS;
    KFE_TAKE(&out->memory, out->x, out->count * out->cols);
    KFE_TAKE_ZERO(&out->memory, out->y, out->count * out->targets);
    KFE_TAKE_ZERO(&out->memory, out->masses, out->count);
    gather(rows, target, out);
    drop_empty(out);
    if (out->count < fewest)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "{prepare}: step %s needs %lld different rows or more to choose columns, but there are %lld",
                 step, (long long)fewest, (long long)out->count);
    if (!settle_targets(out, target->is_real))
        KFE_FAIL(ctx, KFE_EINPUT,
                 "{prepare}: the target does not vary, so that step %s has nothing to choose columns by",
                 step);
cleanup:
    return status;
}

void kfe_i_step_units_free(kfe_i_step_units *units)
{
    kfe_i_arena_free(&units->memory);
}

/* ---- a part of the units and columns ---- */

kfe_status kfe_i_column_pls_new(kfe_context *ctx, const kfe_i_step_units *units, int64_t most,
                                kfe_i_column_pls *out)
{
    kfe_status status = KFE_OK;
    int64_t d = units->cols;
    int64_t t = units->targets;
    int64_t longest = d > units->count ? d : units->count;

    *out = (kfe_i_column_pls){.memory.ctx = ctx, .units = units, .most = most};
    for (int part = 0; part < 2; part++) {
        KFE_TAKE(&out->memory, out->x[part], units->count * d);
        KFE_TAKE(&out->memory, out->y[part], units->count * t);
        KFE_TAKE(&out->memory, out->scores[part], most * units->count);
    }
    KFE_TAKE(&out->memory, out->weights, most * d);
    KFE_TAKE(&out->memory, out->triangle, most * most);
    KFE_TAKE(&out->memory, out->slopes, most * t);
    KFE_TAKE(&out->memory, out->image, longest * t);
    KFE_TAKE(&out->memory, out->means, longest > t ? longest : t);
    KFE_TAKE(&out->memory, out->sizes, d);
    KFE_TAKE(&out->memory, out->before, d);
    KFE_TAKE(&out->memory, out->v, 2 * t + most);
cleanup:
    return status;
}

void kfe_i_column_pls_free(kfe_i_column_pls *pls)
{
    kfe_i_arena_free(&pls->memory);
}

/* Means of some columns of `from` (stride numbers per unit) over the units kept; columns NULL: the first ones. */
static void mean_of(const kfe_i_column_pls *pls, const double *from, int64_t stride, const int64_t *columns,
                    int64_t count, double *means)
{
    double mass = 0;

    memset(means, 0, (size_t)count * sizeof *means);
    for (int64_t i = 0; i < pls->kept.count; i++) {
        int64_t u = pls->kept.items[i];
        mass += pls->units->masses[u];
        for (int64_t j = 0; j < count; j++)
            means[j] +=
                pls->units->masses[u] / mass * (from[u * stride + (columns ? columns[j] : j)] - means[j]);
    }
}

/* Copies these columns of the units of both parts, less the means. */
static void take(kfe_i_column_pls *pls, const double *from, int64_t stride, kfe_i_step_list columns,
                 double *const to[2])
{
    mean_of(pls, from, stride, columns.items, columns.count, pls->means);
    for (int part = 0; part < 2; part++) {
        kfe_i_step_list units = part == KEPT ? pls->kept : pls->left;
        for (int64_t i = 0; i < units.count; i++) {
            int64_t u = units.items[i];
            double root = part == KEPT ? sqrt(pls->units->masses[u]) : 1;
            for (int64_t j = 0; j < columns.count; j++)
                to[part][i * columns.count + j] =
                    root * (from[u * stride + (columns.items ? columns.items[j] : j)] - pls->means[j]);
        }
    }
}

void kfe_i_column_pls_load(kfe_i_column_pls *pls, kfe_i_step_list kept, kfe_i_step_list left,
                           kfe_i_step_list columns)
{
    const kfe_i_step_units *units = pls->units;

    pls->kept = kept;
    pls->left = left;
    pls->columns = columns;
    pls->made = 0;
    take(pls, units->x, units->cols, columns, pls->x);
    take(pls, units->y, units->targets, (kfe_i_step_list){NULL, units->targets}, pls->y);
}

/* ---- directions ---- */

/* v = the leading eigenvector of CᵀC for C = image (columns × targets), by powers from the target that covaries most. */
static void leading_target(kfe_i_column_pls *pls)
{
    int64_t t = pls->units->targets;
    int64_t p = pls->columns.count;
    double *next = pls->v + t;
    int64_t first = 0;

    for (int64_t k = 0; k < t; k++) {
        pls->v[k] = cblas_dnrm2((blasint)p, pls->image + k, (blasint)t);
        first = pls->v[k] > pls->v[first] ? k : first;
    }
    memset(pls->v, 0, (size_t)t * sizeof *pls->v);
    pls->v[first] = 1;
    for (int turn = 0; t > 1 && turn < TURNS; turn++) {
        double change = 0;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)p, (blasint)t, 1, pls->image, (blasint)t, pls->v, 1,
                    0, pls->before, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)p, (blasint)t, 1, pls->image, (blasint)t, pls->before,
                    1, 0, next, 1);
        double length = cblas_dnrm2((blasint)t, next, 1);
        for (int64_t k = 0; length > 0 && k < t; k++) {
            change = fmax(change, fabs(next[k] / length - pls->v[k]));
            pls->v[k] = next[k] / length;
        }
        if (change < KFE_TURNS_SETTLED)
            break;
    }
}

static int is_larger(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Soft-thresholds a so that `keep` entries stay at most, and makes its length 1; returns the length. Where the largest entries are equal, all
 * of them stay. */
static double shrink(kfe_i_column_pls *pls, int64_t keep, double *a)
{
    int64_t p = pls->columns.count;

    if (keep > 0 && keep < p) {
        for (int64_t j = 0; j < p; j++)
            pls->sizes[j] = fabs(a[j]);
        qsort(pls->sizes, (size_t)p, sizeof *pls->sizes, is_larger);
        double limit = pls->sizes[keep];
        for (int64_t j = 0; pls->sizes[0] > limit && j < p; j++)
            a[j] = fabs(a[j]) > limit ? copysign(fabs(a[j]) - limit, a[j]) : 0;
    }
    double length = cblas_dnrm2((blasint)p, a, 1);
    if (length > 0)
        cblas_dscal((blasint)p, 1 / length, a, 1);
    return length;
}

/* w = Cv, shrunk; with several targets, w and v in turn until they settle. Returns its length before. */
static double find_direction(kfe_i_column_pls *pls, int64_t keep, double *w)
{
    blasint p = (blasint)pls->columns.count;
    blasint t = (blasint)pls->units->targets;
    double length = 0;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, p, t, (blasint)pls->kept.count, 1, pls->x[KEPT], p,
                pls->y[KEPT], t, 0, pls->image, t);
    leading_target(pls);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn > 0) {
            memcpy(pls->before, w, (size_t)p * sizeof *w);
            cblas_dgemv(CblasRowMajor, CblasTrans, p, t, 1, pls->image, t, w, 1, 0, pls->v, 1);
        }
        cblas_dgemv(CblasRowMajor, CblasNoTrans, p, t, 1, pls->image, t, pls->v, 1, 0, w, 1);
        double now = shrink(pls, keep, w);
        length = turn == 0 ? now : length;
        if (keep == 0 || keep >= p || t == 1 || now == 0)
            break;
        cblas_daxpy(p, -1, w, 1, pls->before, 1);
        if (turn > 0 && cblas_dnrm2(p, pls->before, 1) < KFE_TURNS_SETTLED)
            break;
    }
    return length;
}

/* ---- features ---- */

/* The scores of a direction in both parts, beside those before; returns the length that is left, and the length before. */
static double orthogonalise(kfe_i_column_pls *pls, const double *w, double *before)
{
    blasint p = (blasint)pls->columns.count;
    blasint n[2] = {(blasint)pls->kept.count, (blasint)pls->left.count};
    double *own[2];

    for (int part = 0; part < 2; part++) {
        own[part] = pls->scores[part] + pls->made * pls->units->count;
        if (n[part] > 0)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, n[part], p, 1, pls->x[part], p, w, 1, 0, own[part], 1);
    }
    *before = cblas_dnrm2(n[KEPT], own[KEPT], 1);
    for (int64_t j = 0; j < pls->made; j++)
        pls->triangle[j * pls->most + pls->made] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < pls->made; j++) {
            int64_t at = j * pls->units->count;
            double overlap = cblas_ddot(n[KEPT], pls->scores[KEPT] + at, 1, own[KEPT], 1);
            pls->triangle[j * pls->most + pls->made] += overlap;
            for (int part = 0; part < 2; part++)
                cblas_daxpy(n[part], -overlap, pls->scores[part] + at, 1, own[part], 1);
        }
    return cblas_dnrm2(n[KEPT], own[KEPT], 1);
}

/* Y −= q(qᵀY) in both parts, with the slopes qᵀY of the units kept. */
static void explain_targets(kfe_i_column_pls *pls, double length)
{
    blasint t = (blasint)pls->units->targets;
    double *slopes = pls->slopes + pls->made * t;

    for (int part = 0; part < 2; part++) {
        blasint n = (blasint)(part == KEPT ? pls->kept.count : pls->left.count);
        double *own = pls->scores[part] + pls->made * pls->units->count;
        if (n == 0)
            continue;
        cblas_dscal(n, 1 / length, own, 1);
        if (part == KEPT)
            cblas_dgemv(CblasRowMajor, CblasTrans, n, t, 1, pls->y[part], t, own, 1, 0, slopes, 1);
        cblas_dger(CblasRowMajor, n, t, -1, own, 1, slopes, 1, pls->y[part], t);
    }
}

int kfe_i_column_pls_add(kfe_i_column_pls *pls, int64_t keep)
{
    double *w = pls->weights + pls->made * pls->columns.count;
    double before = 0;
    blasint numbers = (blasint)(pls->kept.count * pls->columns.count);
    double sizes = cblas_dnrm2(numbers, pls->x[KEPT], 1) *
                   cblas_dnrm2((blasint)(pls->kept.count * pls->units->targets), pls->y[KEPT], 1);

    if (pls->made == pls->most || !(find_direction(pls, keep, w) > KFE_SPENT_PRODUCT * sizes))
        return 0;
    double length = orthogonalise(pls, w, &before);
    if (!(length > KFE_SPENT_SCORE * before))
        return 0;
    pls->triangle[pls->made * pls->most + pls->made] = length;
    explain_targets(pls, length);
    pls->made++;
    return 1;
}

void kfe_i_column_pls_sizes(kfe_i_column_pls *pls, double *sizes)
{
    int64_t p = pls->columns.count;
    double *z = pls->v + 2 * pls->units->targets;

    memset(sizes, 0, (size_t)p * sizeof *sizes);
    for (int64_t k = 0; k < pls->units->targets; k++) {
        memset(pls->before, 0, (size_t)p * sizeof *pls->before);
        for (int64_t j = pls->made; j-- > 0;) { /* triangle·z = slopes */
            z[j] = pls->slopes[j * pls->units->targets + k];
            for (int64_t l = j + 1; l < pls->made; l++)
                z[j] -= pls->triangle[j * pls->most + l] * z[l];
            z[j] /= pls->triangle[j * pls->most + j];
            cblas_daxpy((blasint)p, z[j], pls->weights + j * p, 1, pls->before, 1);
        }
        for (int64_t j = 0; j < p; j++)
            sizes[j] += pls->before[j] * pls->before[j];
    }
    for (int64_t j = 0; j < p; j++)
        sizes[j] = sqrt(sizes[j]);
}

double kfe_i_column_pls_error(const kfe_i_column_pls *pls)
{
    int64_t t = pls->units->targets;
    double sum = 0;

    for (int64_t i = 0; i < pls->left.count; i++)
        for (int64_t k = 0; k < t; k++)
            sum += pls->units->masses[pls->left.items[i]] * pls->y[LEFT][i * t + k] * pls->y[LEFT][i * t + k];
    return sum;
}
