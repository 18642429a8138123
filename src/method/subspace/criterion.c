/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel-target alignment, the margin of held-out examples, and the choice between alignment and the
 * radius-margin bound (radius_margin.c). Used by skfe.c and stopping.c. */
#include "method/subspace/criterion.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"

/* ---- alignment of the examples with their classes ---- */

kfe_status kfe_i_alignment_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most,
                                 kfe_i_alignment *out)
{
    kfe_status status = KFE_OK;
    double *masses = NULL;
    double sum = 0;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = target->rows;
    out->classes = target->class_count;
    out->class_of = target->codes;
    out->weights = target->weights;
    KFE_ALLOC(ctx, masses, target->class_count);
    KFE_ALLOC(ctx, out->sums, target->class_count * most);
    KFE_ALLOC(ctx, out->scatter, most * most);
    kfe_i_target_class_masses(target, masses);
    for (int64_t g = 0; g < target->class_count; g++)
        sum += masses[g] * masses[g];
    out->label_norm = sqrt(sum);
cleanup:
    kfe_i_free(ctx, masses);
    return status;
}

void kfe_i_alignment_free(kfe_i_alignment *alignment)
{
    if (alignment->ctx) {
        kfe_i_free(alignment->ctx, alignment->sums);
        kfe_i_free(alignment->ctx, alignment->scatter);
    }
    memset(alignment, 0, sizeof *alignment);
}

static double root_of(const kfe_i_alignment *alignment, int64_t i)
{
    return alignment->weights ? sqrt(alignment->weights[i]) : 1;
}

/* sums (classes × dim) = YᵀX */
static void sum_classes(kfe_i_alignment *alignment, const double *x, int64_t dim)
{
    double *sums = alignment->sums;

    memset(sums, 0, (size_t)(alignment->classes * dim) * sizeof *sums);
    for (int64_t i = 0; i < alignment->rows; i++)
        cblas_daxpy((blasint)dim, root_of(alignment, i), x + i * dim, 1, sums + alignment->class_of[i] * dim,
                    1);
}

double kfe_i_alignment_of(kfe_i_alignment *alignment, const double *x, int64_t dim, double *gradient)
{
    int64_t n = alignment->rows;

    sum_classes(alignment, x, dim);
    kfe_i_inner_products(n, kfe_i_packed(x, dim), kfe_i_packed(x, dim), alignment->scatter);
    double length = cblas_dnrm2((blasint)(alignment->classes * dim), alignment->sums, 1);
    double norm = cblas_dnrm2((blasint)(dim * dim), alignment->scatter, 1);
    if (norm == 0) {
        if (gradient)
            memset(gradient, 0, (size_t)(n * dim) * sizeof *gradient);
        return 0;
    }
    double value = length / norm * (length / alignment->label_norm);
    if (!gradient)
        return value;
    double factor = 2 / norm / alignment->label_norm;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            gradient[i * dim + j] =
                factor * root_of(alignment, i) * alignment->sums[alignment->class_of[i] * dim + j];
    kfe_i_combine(n, -2 * value / norm / norm, kfe_i_packed(x, dim), kfe_i_packed(alignment->scatter, dim), 1,
                  gradient);
    return value;
}

static kfe_status evaluate_alignment(void *state, const double *x, int64_t dim, double *value,
                                     double *gradient)
{
    *value = kfe_i_alignment_of(state, x, dim, gradient);
    return KFE_OK;
}

/* ---- margin of held-out examples ---- */

static double squared_distance(int64_t dim, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t j = 0; j < dim; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* The margin of one example; NaN if it has no neighbour of one of the two kinds. */
static double margin_of(const double *x, int32_t class_of, const kfe_i_labelled *fitted, int64_t dim)
{
    double same = (double)INFINITY;
    double other = (double)INFINITY;

    for (int64_t i = 0; i < fitted->rows; i++) {
        double *nearest = fitted->class_of[i] == class_of ? &same : &other;
        *nearest = fmin(*nearest, squared_distance(dim, x, fitted->x + i * dim));
    }
    if (isinf(same) || isinf(other))
        return (double)NAN;
    same = sqrt(same);
    other = sqrt(other);
    return same + other > 0 ? (other - same) / (other + same) : 0;
}

void kfe_i_neighbour_margins(const kfe_i_labelled *held, const kfe_i_labelled *fitted, int64_t dim,
                             int64_t stride, double *out)
{
    for (int64_t i = 0; i < held->rows; i++)
        out[i * stride] = margin_of(held->x + i * dim, held->class_of[i], fitted, dim);
}

/* ---- which criterion ---- */

kfe_status kfe_i_skfe_criterion_begin(kfe_context *ctx, kfe_i_criterion_kind kind, double c,
                                      const kfe_i_target *target, int64_t most, kfe_i_skfe_criterion *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (kind == KFE_CRITERION_ALIGNMENT) {
        KFE_TRY(kfe_i_alignment_begin(ctx, target, most, &out->alignment));
        out->criterion = (kfe_i_criterion){evaluate_alignment, &out->alignment};
    } else {
        KFE_TRY(kfe_i_radius_margin_begin(ctx, target, most, c, &out->bound));
        out->criterion = (kfe_i_criterion){kfe_i_radius_margin_of, &out->bound};
    }
cleanup:
    return status;
}

void kfe_i_skfe_criterion_free(kfe_i_skfe_criterion *criterion)
{
    kfe_i_alignment_free(&criterion->alignment);
    kfe_i_radius_margin_free(&criterion->bound);
}
