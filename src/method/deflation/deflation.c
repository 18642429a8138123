/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds, and what they give. Round j: the rule's direction, v_j = Xu_j or Kβ_j; R_ij = q_iᵀv_j by Gram
 * and Schmidt, twice, so that the features are orthogonal to working precision; τ_j = v_j − Σ R_ij q_i, R_jj
 * = ‖τ_j‖, q_j = τ_j/‖τ_j‖; and the residual target loses q_jq_jᵀ times itself. So V = QR, T = Q·diag‖τ‖, and
 * new points are projected by A = B R⁻¹ diag‖τ‖, which is eq. (4), since TᵀT is diagonal and TᵀKB =
 * diag‖τ‖·R.
 *
 * Dhanjal, Gunn & Shawe-Taylor (2009), section 3, algorithms 1 and 2. Time, beside the rule's own and one
 * product with the data per feature: O(nk²). Memory: (n + rows)·k numbers for k features.
 */
#include "method/deflation/deflation.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

/* What targets and gradients keep of the first round's when nothing is left of them but rounding, with room
 * for what rounds add to it. */
#define KFE_SPENT 1e-10

/* ---- rounds ---- */

int kfe_i_deflation_is_spent(kfe_i_deflation *d, double size)
{
    if (d->count == 0)
        d->first_size = size;
    return !(size > KFE_SPENT * d->first_size);
}

static int is_zero(int64_t count, const double *v)
{
    for (int64_t i = 0; i < count; i++)
        if (v[i] != 0)
            return 0;
    return 1;
}

/* v minus its part in the span of the features, and the part's coordinates added to overlap. */
static void orthogonalise(const kfe_i_deflation *d, double *v)
{
    double *part = d->sums;

    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)d->count, (blasint)d->examples, 1, d->basis,
                (blasint)d->examples, v, 1, 0, part, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->count, (blasint)d->examples, -1, d->basis,
                (blasint)d->examples, part, 1, 1, v, 1);
    cblas_daxpy((blasint)d->count, 1, part, 1, d->overlap, 1);
}

/* The residual target loses what the newest feature explains. */
static void deflate_target(const kfe_i_deflation *d, const double *q)
{
    int64_t t = d->targets;

    if (t == 0)
        return;
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->examples, (blasint)t, 1, d->residual, (blasint)t, q, 1,
                0, d->sums, 1);
    cblas_dger(CblasRowMajor, (blasint)d->examples, (blasint)t, -1, q, 1, d->sums, 1, d->residual,
               (blasint)t);
}

/* Makes the feature of the direction and product of this round; 0 if it is none: dependent on those before.
 */
static int add_feature(kfe_i_deflation *d, const kfe_i_rule *rule)
{
    int64_t n = d->examples;
    int64_t j = d->count;
    double *q = d->basis + j * n;
    double before = cblas_dnrm2((blasint)n, d->product, 1);

    memcpy(q, d->product, (size_t)n * sizeof *q);
    memset(d->overlap, 0, (size_t)d->most * sizeof *d->overlap);
    for (int pass = 0; pass < 2 && j > 0; pass++)
        orthogonalise(d, q);
    double length = cblas_dnrm2((blasint)n, q, 1);
    if (!(length > d->dependent * before) || !isfinite(length))
        return 0;
    double scale = rule->unit_features ? 1 / length : 1;
    cblas_dscal((blasint)n, 1 / length, q, 1);
    cblas_dscal((blasint)d->rows, scale, d->directions + j * d->rows, 1);
    for (int64_t i = 0; i < j; i++)
        d->triangle[i * d->most + j] = d->overlap[i] * scale;
    d->lengths[j] = d->triangle[j * d->most + j] = length * scale;
    d->count++;
    deflate_target(d, q);
    return 1;
}

static kfe_status one_round(kfe_i_deflation *d, const kfe_i_rule *rule, void *state)
{
    kfe_status status = KFE_OK;
    double *direction = d->directions + d->count * d->rows;
    int has_product = 0;

    KFE_TRY(kfe_i_checkpoint(d->ctx, "extracting features", d->count, d->most));
    KFE_TRY(rule->choose(d, state, direction, d->product, &has_product));
    if (is_zero(d->rows, direction)) {
        d->ended = "nothing more of the target can be explained";
        goto cleanup;
    }
    if (!has_product)
        KFE_TRY(kfe_i_deflation_times(d, direction, 1, d->product));
    if (!add_feature(d, rule))
        d->ended = "the next one depends on those before";
    else if (rule->after)
        KFE_TRY(rule->after(d, state));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_run(kfe_i_deflation *d, const kfe_i_rule *rule, void *state)
{
    kfe_status status = KFE_OK;

    while (d->count < d->most && !d->ended)
        KFE_TRY(one_round(d, rule, state));
    if (d->count == 0)
        KFE_FAIL(
            d->ctx, KFE_EINPUT,
            "%s: no direction of the data goes with the target: do the examples vary, and is this the right "
            "label?",
            d->method);
    kfe_i_clamp_dim(d->ctx, d->method, d->asked, d->count,
                    d->ended ? d->ended : "there are no more examples or columns");
cleanup:
    return status;
}

/* ---- what they give ---- */

/* A (rows × count) = Bᵀ R⁻¹ diag‖τ‖; uses the directions up. */
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

    if (d->centred)
        KFE_TRY(kfe_i_solution_centre(out, d->centred));
    if (!d->means)
        goto cleanup;
    KFE_ALLOC_ZERO(d->ctx, out->offset, out->dim);
    for (int64_t l = 0; l < d->rows; l++)
        for (int64_t j = 0; j < out->dim; j++)
            out->offset[j] += out->coefficients[l * out->dim + j] * d->means[l];
cleanup:
    return status;
}

/* yᵀq per target and feature gives them all: (yᵀτ)² = ‖τ‖²(yᵀq)². */
static kfe_status record_quality(const kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = d->count;
    int64_t t = d->targets;
    double n = (double)d->examples;
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
            regression[y * k + j] *= d->signs[j] / d->lengths[j];
        }
        quality[j] = (j > 0 ? quality[j - 1] : 0) + squares * d->lengths[j] * d->lengths[j] / (n * n);
        quality[k + j] = (j > 0 ? quality[k + j - 1] : 0) + squares / total;
    }
    KFE_TRY(kfe_i_solution_record(out, "covariance", quality, k));
    KFE_TRY(kfe_i_solution_record(out, "alignment", quality + k, k));
    KFE_TRY(kfe_i_solution_record(out, "regression", regression, t * k));
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
    return kfe_i_solution_record(out, "kernel_evaluations", &evaluations, 1);
}

kfe_status kfe_i_deflation_solution(kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int primal = d->side == KFE_SIDE_PRIMAL;

    KFE_TRY(kfe_i_solution_begin(d->ctx, primal ? KFE_SOLUTION_PRIMAL : KFE_SOLUTION_DUAL, d->rows, d->count,
                                 out));
    make_coefficients(d, out->coefficients);
    KFE_TRY(centre_solution(d, out));
    kfe_i_solution_take_signs(out, d->signs);
    if (d->targets > 0)
        KFE_TRY(record_quality(d, out));
    if (!primal)
        KFE_TRY(record_evaluations(out));
cleanup:
    return status;
}

kfe_status kfe_i_deflation_fit(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                               kfe_i_side side, int center, int64_t asked, const kfe_i_rule *rule,
                               void *state, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation deflation;

    KFE_TRY(kfe_i_deflation_begin(ctx, method, problem, side, center, asked, &deflation));
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
        d->leading[0] = 1;
        return KFE_OK;
    }
    return kfe_i_symmetric_eigen_with(d->ctx, d->targets, small, 1, value, d->leading, d->eigen);
}

/* out (rows) = a·leading for a (rows × targets). */
static void combine(const kfe_i_deflation *d, int64_t rows, const double *a, double *out)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)rows, (blasint)d->targets, 1, a, (blasint)d->targets,
                d->leading, 1, 0, out, 1);
}

/* inner (targets × targets) = aᵀb for a, b (rows × targets). */
static void inner_products(const kfe_i_deflation *d, int64_t rows, const double *a, const double *b)
{
    blasint t = (blasint)d->targets;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t, t, (blasint)rows, 1, a, t, b, t, 0, d->inner, t);
}

static kfe_status covariant_primal(kfe_i_deflation *d, const double *w, double *direction)
{
    kfe_status status = KFE_OK;
    double square = 0;
    double norm = cblas_dnrm2((blasint)(d->examples * d->targets), w, 1);

    KFE_TRY(kfe_i_deflation_pull(d, w, d->targets, d->image));
    inner_products(d, d->rows, d->image, d->image);
    KFE_TRY(kfe_i_deflation_leading(d, d->inner, &square));
    combine(d, d->rows, d->image, direction);
    double length = cblas_dnrm2((blasint)d->rows, direction, 1);
    if (length * length <= d->rounding * norm * norm || kfe_i_deflation_is_spent(d, length))
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

    KFE_TRY(kfe_i_deflation_times(d, w, d->targets, d->image));
    inner_products(d, d->examples, w, d->image);
    KFE_TRY(kfe_i_deflation_leading(d, d->inner, &square));
    combine(d, d->examples, w, direction);
    combine(d, d->examples, d->image, product);
    /* of all of w, not of wc alone, which may be next to nothing */
    double allowed = d->rounding * pow(cblas_dnrm2((blasint)(d->examples * d->targets), w, 1), 2);
    if (d->count == 0 && square < -allowed)
        KFE_FAIL(
            d->ctx, KFE_ENUMERIC,
            "%s: the kernel is not positive definite on this data; change its parameters or take another",
            d->method);
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
    *has_product = d->side != KFE_SIDE_PRIMAL;
    return *has_product ? covariant_dual(d, w, direction, product) : covariant_primal(d, w, direction);
}

static kfe_status choose_covariant(kfe_i_deflation *deflation, void *state, double *direction,
                                   double *product, int *has_product)
{
    (void)state;
    return kfe_i_covariant_direction(deflation, deflation->residual, direction, product, has_product);
}

const kfe_i_rule kfe_i_covariance_rule = {.choose = choose_covariant};
