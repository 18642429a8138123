/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The iterations of the deflation framework and the solution they give, for all methods of this folder.
 *
 * Iteration j takes the rule's direction and its product v_j = Xu_j or Kβ_j. Gram-Schmidt, done twice so that the features are
 * orthogonal to working precision, gives R_ij = q_iᵀv_j, τ_j = v_j − Σ R_ij q_i, R_jj = ‖τ_j‖ and q_j = τ_j/‖τ_j‖; the residual
 * targets lose q_jq_jᵀ times themselves. So V = QR and T = Q·diag‖τ‖, and since TᵀT is diagonal and TᵀKB = diag‖τ‖·R, eq. (4) is
 *   A = B R⁻¹ diag‖τ‖.
 *
 * Dhanjal, Gunn & Shawe-Taylor (2009), section 3, algorithms 1 and 2. Time besides that of the rule and one product with the
 * data per feature: O(nk²). Memory: (n + rows)·k numbers for k features.
 */
#include "method/deflation/deflation.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Targets and gradients below this share of those of the first iteration are rounding error, which iterations add up. */
#define KFE_SPENT 1e-10

/* ---- iterations ---- */

int kfe_i_deflation_is_spent(kfe_i_deflation *d, double size)
{
    if (d->count == 0)
        d->limits.first_size = size;
    return !(size > KFE_SPENT * d->limits.first_size);
}

static int is_zero(int64_t count, const double *v)
{
    for (int64_t i = 0; i < count; i++)
        if (v[i] != 0)
            return 0;
    return 1;
}

/* Subtracts from v its part in the span of the features, and adds the part's coordinates to work.overlap. */
static void orthogonalise(const kfe_i_deflation *d, double *v)
{
    double *part = d->work.sums;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)d->count, (blasint)d->examples, 1, d->basis,
                (blasint)d->examples, v, 1, 0, part, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->count, (blasint)d->examples, -1, d->basis,
                (blasint)d->examples, part, 1, 1, v, 1);
    cblas_daxpy((blasint)d->count, 1, part, 1, d->work.overlap, 1);
}

/* The residual target loses what the newest feature explains. */
static void deflate_target(const kfe_i_deflation *d, const double *q)
{
    int64_t t = d->targets;

    if (t == 0)
        return;
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->examples, (blasint)t, 1, d->residual, (blasint)t, q, 1,
                0, d->work.sums, 1);
    cblas_dger(CblasRowMajor, (blasint)d->examples, (blasint)t, -1, q, 1, d->work.sums, 1, d->residual,
               (blasint)t);
}

/* Makes the feature of this iteration's direction and product; returns 0 if it depends on the features before. */
static int add_feature(kfe_i_deflation *d, const kfe_i_rule *rule)
{
    int64_t n = d->examples;
    int64_t j = d->count;
    double *q = d->basis + j * n;
    double before = cblas_dnrm2((blasint)n, d->work.product, 1);

    memcpy(q, d->work.product, (size_t)n * sizeof *q);
    memset(d->work.overlap, 0, (size_t)d->most * sizeof *d->work.overlap);
    for (int pass = 0; pass < 2 && j > 0; pass++)
        orthogonalise(d, q);
    double length = cblas_dnrm2((blasint)n, q, 1);
    if (!(length > d->limits.dependent * before) || !isfinite(length))
        return 0;
    double scale = rule->unit_features ? 1 / length : 1;
    cblas_dscal((blasint)n, 1 / length, q, 1);
    cblas_dscal((blasint)d->rows, scale, d->directions + j * d->rows, 1);
    for (int64_t i = 0; i < j; i++)
        d->triangle[i * d->most + j] = d->work.overlap[i] * scale;
    d->lengths[j] = d->triangle[j * d->most + j] = length * scale;
    d->count++;
    deflate_target(d, q);
    return 1;
}

kfe_status kfe_i_deflation_add(kfe_i_deflation *d, const double *direction, int *added)
{
    kfe_status status = KFE_OK;
    const kfe_i_rule plain = {0};

    KFE_TRY(kfe_i_deflation_times(d, direction, 1, d->work.product));
    memcpy(d->directions + d->count * d->rows, direction, (size_t)d->rows * sizeof *direction);
    *added = add_feature(d, &plain);
cleanup:
    return status;
}

static kfe_status one_iteration(kfe_i_deflation *d, const kfe_i_rule *rule, void *state)
{
    kfe_status status = KFE_OK;
    double *direction = d->directions + d->count * d->rows;
    int has_product = 0;

    KFE_TRY(kfe_i_progress(d->ctx, "extracting features", d->count, d->most));
    KFE_TRY(rule->choose(d, state, direction, d->work.product, &has_product));
    if (is_zero(d->rows, direction)) {
        d->ended = "nothing more of the target can be explained";
        goto cleanup;
    }
    if (!has_product)
        KFE_TRY(kfe_i_deflation_times(d, direction, 1, d->work.product));
    if (!add_feature(d, rule))
        d->ended = "the next one depends on the others";
    else if (rule->after)
        KFE_TRY(rule->after(d, state));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_run(kfe_i_deflation *d, const kfe_i_rule *rule, void *state)
{
    kfe_status status = KFE_OK;

    while (d->count < d->most && !d->ended)
        KFE_TRY(one_iteration(d, rule, state));
    if (d->count == 0)
        KFE_FAIL(
            d->ctx, KFE_EINPUT,
            "%s: no direction of the data covaries with the target; check that the examples vary and that "
            "the right column is the label",
            d->setup.method);
    kfe_i_clamp_dim(d->ctx, d->setup.method, d->setup.dim, d->count,
                    d->ended ? d->ended : "there are no more examples or columns");
cleanup:
    return status;
}

/* ---- the solution ---- */

/* A (rows × count) = B R⁻¹ diag‖τ‖; overwrites the directions. */
static void make_coefficients(kfe_i_deflation *d, double *coefficients)
{
    int64_t k = d->count;

    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (blasint)k, (blasint)d->rows,
                1, d->triangle, (blasint)d->most, d->directions, (blasint)d->rows);
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < k; j++)
            coefficients[i * k + j] = d->directions[j * d->rows + i] * d->lengths[j];
}

static kfe_status centre_solution(const kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    if (d->data.centred)
        KFE_TRY(kfe_i_solution_centre(out, d->data.centred));
    if (!d->data.means)
        goto cleanup;
    KFE_ALLOC_ZERO(d->ctx, out->offset, out->dim);
    for (int64_t l = 0; l < d->rows; l++)
        for (int64_t j = 0; j < out->dim; j++)
            out->offset[j] += out->coefficients[l * out->dim + j] * d->data.means[l];
cleanup:
    return status;
}

/* B(S), D(S) and the regression all follow from yᵀq of each target and feature: (yᵀτ)² = ‖τ‖²(yᵀq)². */
static kfe_status record_quality(const kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = d->count;
    int64_t t = d->targets;
    double n = d->mass;
    double total = pow(cblas_dnrm2((blasint)(d->examples * t), d->target, 1), 2);
    double *regression = NULL;
    double *quality = NULL;

    KFE_ALLOC_ZERO(d->ctx, regression, t * k);
    KFE_ALLOC_ZERO(d->ctx, quality, 2 * k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, (blasint)t, (blasint)k, (blasint)d->examples, 1,
                d->target, (blasint)t, d->basis, (blasint)d->examples, 0, regression, (blasint)k);
    for (int64_t j = 0; j < k; j++) {
        double squares = 0;
        for (int64_t y = 0; y < t; y++) {
            squares += regression[y * k + j] * regression[y * k + j];
            regression[y * k + j] *= d->unit * d->signs[j] / d->lengths[j];
        }
        double scale = d->unit * d->lengths[j] / n;
        quality[j] = (j > 0 ? quality[j - 1] : 0) + squares * scale * scale;
        quality[k + j] = (j > 0 ? quality[k + j - 1] : 0) + squares / total;
    }
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_SQUARED_MEANS, "covariance", quality, k));
    KFE_TRY(kfe_i_solution_record(out, "alignment", quality + k, k));
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_SIGNED, "regression", regression, t * k));
cleanup:
    kfe_i_free(d->ctx, regression);
    kfe_i_free(d->ctx, quality);
    return status;
}

static kfe_status record_evaluations(kfe_i_solution *out)
{
    double evaluations = 0;

    for (int64_t i = 0; i < out->rows; i++)
        evaluations += !is_zero(out->dim, out->coefficients + i * out->dim);
    return kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "kernel-evaluations", &evaluations, 1);
}

kfe_status kfe_i_deflation_solution(kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int primal = d->setup.side == KFE_SIDE_PRIMAL;

    KFE_TRY(kfe_i_solution_begin(d->ctx, primal ? KFE_SOLUTION_PRIMAL : KFE_SOLUTION_DUAL, d->rows, d->count,
                                 out));
    make_coefficients(d, out->coefficients);
    KFE_TRY(centre_solution(d, out));
    KFE_TRY(kfe_i_solution_take_signs(out, d->signs));
    if (d->targets > 0)
        KFE_TRY(record_quality(d, out));
    if (!primal)
        KFE_TRY(record_evaluations(out));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                               const kfe_i_deflation_setup *setup, const kfe_i_rule *rule, void *state,
                               kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation deflation = {0};

    KFE_TRY(kfe_i_deflation_begin(ctx, source, setup, &deflation));
    KFE_TRY(kfe_i_deflation_run(&deflation, rule, state));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
cleanup:
    kfe_i_deflation_free(&deflation);
    return status;
}

/* ---- covariance ---- */

kfe_status kfe_i_deflation_leading(kfe_i_deflation *d, double *small, double *value)
{
    if (d->targets == 1) {
        *value = small[0];
        d->work.leading[0] = 1;
        return KFE_OK;
    }
    return kfe_i_symmetric_eigen_with(d->ctx, d->targets, small, 1, value, d->work.leading, d->work.eigen);
}

void kfe_i_deflation_combine(const kfe_i_deflation *d, int64_t rows, const double *a, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)rows, (blasint)d->targets, 1, a, (blasint)d->targets,
                d->work.leading, 1, 0, out, 1);
}

void kfe_i_deflation_inner(const kfe_i_deflation *d, int64_t rows, const double *a, const double *b)
{
    blasint t = (blasint)d->targets;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t, t, (blasint)rows, 1, a, t, b, t, 0, d->work.inner,
                t);
}

static kfe_status covariant_primal(kfe_i_deflation *d, const double *w, double *direction)
{
    kfe_status status = KFE_OK;
    double square = 0;
    double norm = cblas_dnrm2((blasint)(d->examples * d->targets), w, 1);

    KFE_TRY(kfe_i_deflation_pull(d, w, d->targets, d->work.image));
    kfe_i_deflation_inner(d, d->rows, d->work.image, d->work.image);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &square));
    kfe_i_deflation_combine(d, d->rows, d->work.image, direction);
    double length = cblas_dnrm2((blasint)d->rows, direction, 1);
    if (length * length <= d->limits.rounding * norm * norm || kfe_i_deflation_is_spent(d, length))
        memset(direction, 0, (size_t)d->rows * sizeof *direction);
    else
        cblas_dscal((blasint)d->rows, 1 / length, direction, 1);
cleanup:
    return status;
}

/* β = wc with c the leading eigenvector of wᵀKw: the eigenvector of wwᵀK. */
static kfe_status covariant_dual(kfe_i_deflation *d, const double *w, double *direction, double *product)
{
    kfe_status status = KFE_OK;
    double square = 0;

    KFE_TRY(kfe_i_deflation_times(d, w, d->targets, d->work.image));
    kfe_i_deflation_inner(d, d->examples, w, d->work.image);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &square));
    kfe_i_deflation_combine(d, d->examples, w, direction);
    kfe_i_deflation_combine(d, d->examples, d->work.image, product);
    /* relative to all of w: wc alone may be almost zero */
    double allowed = d->limits.rounding * pow(cblas_dnrm2((blasint)(d->examples * d->targets), w, 1), 2);
    if (d->count == 0 && square < -allowed)
        KFE_FAIL(d->ctx, KFE_ENUMERIC,
                 "%s: the kernel is not positive definite on this data; change its parameters or use another "
                 "kernel",
                 d->setup.method);
    if (square <= allowed || kfe_i_deflation_is_spent(d, sqrt(square))) {
        memset(direction, 0, (size_t)d->rows * sizeof *direction);
        goto cleanup;
    }
    cblas_dscal((blasint)d->examples, 1 / sqrt(square), direction, 1);
    cblas_dscal((blasint)d->examples, 1 / sqrt(square), product, 1);
cleanup:
    return status;
}

kfe_status kfe_i_covariant_direction(kfe_i_deflation *d, const double *w, double *direction, double *product,
                                     int *has_product)
{
    *has_product = d->setup.side != KFE_SIDE_PRIMAL;
    return *has_product ? covariant_dual(d, w, direction, product) : covariant_primal(d, w, direction);
}

static kfe_status choose_covariant(kfe_i_deflation *deflation, void *state, double *direction,
                                   double *product, int *has_product)
{
    (void)state;
    return kfe_i_covariant_direction(deflation, deflation->residual, direction, product, has_product);
}

const kfe_i_rule kfe_i_covariance_rule = {.choose = choose_covariant};
