/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuum regression: the unit direction u that maximises (uᵀXᵀy)²(uᵀSu)^(γ−1), S = XᵀX, γ = α/(1−α), on the deflated data of
 * each iteration.
 *   α = 0   ordinary least squares, S⁺Xᵀy, which leaves nothing for a second feature
 *   α = ½   partial least squares, Xᵀy
 *   α = 1   principal components
 *
 * Between these, with b = Xᵀy, a vanishing gradient means b ∝ (γI + (1−γ)S/s)u with s = uᵀSu, so that
 *   γ < 1: u ∝ (S + δI)⁻¹b,  δ = γs/(1−γ),
 *   γ > 1: u ∝ (δI − S)⁻¹b,  δ = γs/(γ−1) above the largest eigenvalue of S.
 * As s lies between the smallest and the largest eigenvalue, δ lies in a known interval. It is scanned at logarithmic steps in
 * the eigenbasis of S, and the best place is refined by golden sections.
 *
 * For several targets, u and the unit combination c of targets are improved in turn, c ∝ YᵀXu, until the criterion stops rising.
 * As it may have several maxima, this starts from the combinations that are best at α = 0, ½ and 1 (the leading eigenvectors of
 * YᵀXS⁺XᵀY and YᵀXXᵀY, and that of the first principal component), and the best result is kept.
 *
 * All computations are in the r ≤ min(n, d) principal coordinates of the data, where each iteration subtracts ppᵀ from S,
 * p = Xᵀq.
 *
 * Stone & Brooks (1990); Sundberg (1993) for the ridge path; Dhanjal, Gunn & Shawe-Taylor (2009), section 2.2. Time: the scatter
 * (or dot products) and its decomposition, and O(r³) per feature.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/deflation/deflation.h"
#include "method/shared/scatter.h"
#include "method/shared/stand_in.h"

enum { SCAN = 100, SECTIONS = 60, MOST_ALTERNATIONS = 500 };
/* A smaller rise of the logarithm of the criterion ends the alternation. */
#define KFE_SMALL_RISE 1e-13
/* Where the scan for δ begins, as a share of the upper end of its interval. */
#define KFE_SCAN_DEPTH 1e-14

typedef struct cr_settings {
    int64_t dim;
    int center;
    double alpha;
} cr_settings;

static const kfe_i_param rows[] = {
    KFE_DEFLATION_ROWS(cr_settings, "yes"),
    KFE_REAL(cr_settings, alpha, "alpha", "0.5", 0, 1,
             "0: ordinary least squares, 0.5: partial least squares, 1: principal components"),
};

typedef struct cr_state {
    double alpha;
    int wide;                     /* more columns than examples: vectors are n × rank, otherwise d × rank */
    int64_t rank;                 /* r */
    double *vectors;              /* principal coordinates */
    double *roots;                /* r: singular values of the data */
    double *scatter;              /* r × r: S of the deflated data */
    double *copy, *axes, *values; /* its eigenvectors and eigenvalues, and a copy to compute them from */
    double *pulled;               /* r × targets: Xᵀ(residual) */
    double *along;                /* r: the pulled combination in the eigenbasis of S */
    double *chosen, *turned;      /* r: the direction in principal coordinates, and in the eigenbasis */
    double *best;                 /* r: the best direction so far */
    double *lifted;               /* max(n, d) × targets */
    kfe_i_eigen_work *work;
} cr_state;

/* ---- principal coordinates ---- */

static kfe_status decompose(kfe_i_deflation *d, const kfe_i_gram *gram, int64_t order, cr_state *s,
                            double **matrix)
{
    kfe_status status = KFE_OK;
    double *zeros = NULL;

    if (s->wide) {
        kfe_i_gram *centred = NULL;
        if (d->data.means)
            KFE_TRY(kfe_i_gram_centred(d->ctx, gram, &centred));
        status = kfe_i_gram_materialise(centred ? centred : gram, matrix);
        kfe_i_gram_free(centred);
        KFE_TRY(status);
    } else {
        KFE_ALLOC_ZERO(d->ctx, zeros, order);
        KFE_ALLOC(d->ctx, *matrix, order * order);
        KFE_TRY(
            kfe_i_scatter(d->ctx, d->data.table, d->roots, d->data.means ? d->data.means : zeros, *matrix));
    }
    KFE_TRY(kfe_i_symmetric_eigen(d->ctx, order, *matrix, order, s->roots, s->vectors));
cleanup:
    kfe_i_free(d->ctx, zeros);
    return status;
}

/* Keeps the first `rank` columns of the vectors (order × order), stored without gaps. */
static void keep_columns(int64_t order, int64_t rank, double *vectors)
{
    for (int64_t i = 0; i < order; i++)
        memmove(vectors + i * rank, vectors + i * order, (size_t)rank * sizeof *vectors);
}

static kfe_status find_coordinates(kfe_i_deflation *d, const kfe_i_gram *gram, cr_state *s)
{
    kfe_status status = KFE_OK;
    int64_t order = d->rows < d->examples ? d->rows : d->examples;
    double *matrix = NULL;
    double rounding = d->limits.rounding;

    s->wide = d->rows > d->examples;
    KFE_TRY(kfe_i_check_memory(d->ctx, 40.0 * (double)order * (double)order, "continuum regression",
                               "raise {memory}, or use {alpha=0.5}, which needs no decomposition"));
    KFE_ALLOC(d->ctx, s->roots, order);
    KFE_ALLOC(d->ctx, s->vectors, order * order);
    KFE_TRY(decompose(d, gram, order, s, &matrix));
    if (s->wide) /* centring subtracts from the entries, which are rounded */
        KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    while (s->rank < order && s->roots[s->rank] > fmax(KFE_RANK_TOLERANCE * s->roots[0], rounding))
        s->rank++;
    keep_columns(order, s->rank, s->vectors);
    for (int64_t i = 0; i < s->rank; i++)
        s->roots[i] = sqrt(s->roots[i]);
cleanup:
    kfe_i_free(d->ctx, matrix);
    return status;
}

static kfe_status begin(kfe_i_deflation *d, const kfe_i_gram *gram, cr_state *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = d->ctx;

    KFE_TRY(find_coordinates(d, gram, s));
    int64_t r = s->rank;
    if (r == 0)
        goto cleanup;
    KFE_ALLOC_ZERO(ctx, s->scatter, r * r);
    KFE_ALLOC(ctx, s->copy, r * r);
    KFE_ALLOC(ctx, s->axes, r * r);
    KFE_ALLOC(ctx, s->values, r);
    KFE_ALLOC(ctx, s->pulled, r * d->targets);
    KFE_ALLOC(ctx, s->along, r);
    KFE_ALLOC(ctx, s->chosen, r);
    KFE_ALLOC(ctx, s->turned, r);
    KFE_ALLOC(ctx, s->best, r);
    KFE_ALLOC(ctx, s->lifted, (d->rows > d->examples ? d->rows : d->examples) * d->targets);
    KFE_TRY(kfe_i_eigen_work_new(ctx, r, &s->work));
    for (int64_t i = 0; i < r; i++)
        s->scatter[i * r + i] = s->roots[i] * s->roots[i];
cleanup:
    return status;
}

static void end(kfe_context *ctx, cr_state *s)
{
    double *const blocks[] = {s->vectors, s->roots, s->scatter, s->copy,   s->axes,   s->values,
                              s->pulled,  s->along, s->chosen,  s->turned, s->lifted, s->best};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(ctx, blocks[i]);
    kfe_i_eigen_work_free(s->work);
}

/* out (r × k) = principal coordinates of Xᵀw, w (n × k). */
static kfe_status pull(const kfe_i_deflation *d, cr_state *s, const double *w, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t order = s->wide ? d->examples : d->rows;
    const double *source = w;

    if (!s->wide) {
        KFE_TRY(kfe_i_deflation_pull(d, w, k, s->lifted));
        source = s->lifted;
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)s->rank, (blasint)k, (blasint)order, 1,
                s->vectors, (blasint)s->rank, source, (blasint)k, 0, out, (blasint)k);
    for (int64_t i = 0; s->wide && i < s->rank; i++)
        cblas_dscal((blasint)k, s->roots[i], out + i * k, 1);
cleanup:
    return status;
}

/* direction (d) from s->chosen, scaled to length one. */
static kfe_status lift(const kfe_i_deflation *d, cr_state *s, double *direction)
{
    kfe_status status = KFE_OK;
    int64_t order = s->wide ? d->examples : d->rows;

    for (int64_t i = 0; s->wide && i < s->rank; i++)
        s->chosen[i] /= s->roots[i];
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)order, (blasint)s->rank, 1, s->vectors,
                (blasint)s->rank, s->chosen, 1, 0, s->wide ? s->lifted : direction, 1);
    if (s->wide)
        KFE_TRY(kfe_i_deflation_pull(d, s->lifted, 1, direction));
    double length = cblas_dnrm2((blasint)d->rows, direction, 1);
    cblas_dscal((blasint)d->rows, length > 0 ? 1 / length : 0, direction, 1);
cleanup:
    return status;
}

/* ---- the search for δ ---- */

typedef struct ridge_path {
    double gamma;
    int64_t count;        /* eigenvalues that are not zero */
    const double *values; /* falling */
    const double *along;
    double largest; /* the largest magnitude of `along` */
} ridge_path;

/* The factor of the i-th coordinate of b. */
static double path_weight(const ridge_path *p, int64_t i, double delta)
{
    return 1 / (p->gamma < 1 ? p->values[i] + delta : p->values[0] - p->values[i] + delta);
}

/* The logarithm of the criterion for u of any length, up to a constant: eigenvalues and coordinates are relative to the largest, so
 * that no square overflows. */
static double path_criterion(const ridge_path *p, double delta)
{
    double covariance = 0;
    double variance = 0;
    double square = 0;

    for (int64_t i = 0; i < p->count; i++) {
        double weight = path_weight(p, i, delta) * p->values[0];
        double squared = pow(p->along[i] / p->largest, 2);
        covariance += squared * weight;
        variance += squared * weight * weight * (p->values[i] / p->values[0]);
        square += squared * weight * weight;
    }
    return 2 * log(covariance) + (p->gamma - 1) * log(variance) - p->gamma * log(square);
}

/* Golden sections of log δ between `low` and `high`. */
static double refine(const ridge_path *p, double low, double high)
{
    const double golden = 0.6180339887498949;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double at_left = path_criterion(p, exp(left));
    double at_right = path_criterion(p, exp(right));

    for (int i = 0; i < SECTIONS; i++) {
        if (at_left >= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = path_criterion(p, exp(left));
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = path_criterion(p, exp(right));
        }
    }
    return exp((low + high) / 2);
}

static double best_delta(const ridge_path *p)
{
    double share = p->gamma < 1 ? p->gamma / (1 - p->gamma) : 1 / (p->gamma - 1);
    double high = log(share * p->values[0]);
    double low = p->gamma < 1 ? log(share * p->values[p->count - 1]) : high + log(KFE_SCAN_DEPTH);
    double width = (high - low) / SCAN;
    int best = 0;
    double best_value = -INFINITY;

    for (int i = 0; i <= SCAN; i++) {
        double value = path_criterion(p, exp(low + i * width));
        if (value > best_value) {
            best_value = value;
            best = i;
        }
    }
    return refine(p, low + (best - 1) * width, low + (best + 1) * width);
}

/* ---- the rule ---- */

/* Fills s->chosen for the combination of targets in work.leading. */
static void follow_path(const kfe_i_deflation *d, cr_state *s, int64_t count)
{
    int64_t r = s->rank;
    ridge_path path = {s->alpha / (1 - s->alpha), count, s->values, s->along, 0};

    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)r, (blasint)d->targets, 1, s->pulled,
                (blasint)d->targets, d->work.leading, 1, 0, s->chosen, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)r, (blasint)r, 1, s->axes, (blasint)r, s->chosen, 1, 0,
                s->along, 1);
    path.largest = fabs(s->along[cblas_idamax((blasint)count, s->along, 1)]);
    double delta = s->alpha > 0 && path.largest > 0 ? best_delta(&path) : 0;
    for (int64_t i = 0; i < r; i++)
        s->turned[i] = i < count ? s->along[i] * path_weight(&path, i, delta) * s->values[0] : 0;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)r, (blasint)r, 1, s->axes, (blasint)r, s->turned, 1, 0,
                s->chosen, 1);
}

/* c ← YᵀXu scaled to length one; returns ‖YᵀXu‖ for u = s->chosen. */
static double improve_combination(const kfe_i_deflation *d, const cr_state *s)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)s->rank, (blasint)d->targets, 1, s->pulled,
                (blasint)d->targets, s->chosen, 1, 0, d->work.leading, 1);
    double length = cblas_dnrm2((blasint)d->targets, d->work.leading, 1);
    cblas_dscal((blasint)d->targets, length > 0 ? 1 / length : 0, d->work.leading, 1);
    return length;
}

/* Improves direction and combination in turn; returns the logarithm of the criterion up to a constant. */
static double alternate(const kfe_i_deflation *d, cr_state *s, int64_t count)
{
    double gamma = s->alpha / (1 - s->alpha);
    double size = cblas_dnrm2((blasint)(s->rank * d->targets), s->pulled, 1);
    double value = -INFINITY;

    for (int step = 0; step < MOST_ALTERNATIONS; step++) {
        double variance = 0;
        follow_path(d, s, count);
        double length = cblas_dnrm2((blasint)count, s->turned, 1);
        for (int64_t i = 0; i < count; i++)
            variance += s->values[i] / s->values[0] * pow(s->turned[i] / length, 2);
        double next = 2 * log(improve_combination(d, s) / length / size) + (gamma - 1) * log(variance);
        if (!(next > value + KFE_SMALL_RISE))
            break;
        value = next;
    }
    return value;
}

/* work.leading = the combination that is best at α = 0, ½ or 1 (start 0, 1, 2). */
static kfe_status start_combination(kfe_i_deflation *d, cr_state *s, int64_t count, int start)
{
    kfe_status status = KFE_OK;
    int64_t r = s->rank;
    int64_t t = d->targets;
    double ignored = 0;

    if (start == 2) {
        for (int64_t i = 0; i < r; i++)
            s->chosen[i] = s->axes[i * r];
        improve_combination(d, s);
        return KFE_OK;
    }
    /* YᵀX·VΛ⁻¹Vᵀ·XᵀY or YᵀX·XᵀY, with VᵀXᵀY in s->lifted */
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)r, (blasint)t, (blasint)r, 1, s->axes,
                (blasint)r, s->pulled, (blasint)t, 0, s->lifted, (blasint)t);
    for (int64_t i = 0; i < r; i++)
        cblas_dscal((blasint)t,
                    i >= count   ? 0
                    : start == 0 ? sqrt(s->values[0] / s->values[i])
                                 : 1,
                    s->lifted + i * t, 1);
    kfe_i_deflation_inner(d, r, s->lifted, s->lifted);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &ignored));
cleanup:
    return status;
}

/* s->chosen for several targets: the best result of three alternations. */
static kfe_status search_combinations(kfe_i_deflation *d, cr_state *s, int64_t count)
{
    kfe_status status = KFE_OK;
    double best = -INFINITY;

    for (int start = 0; start < 3; start++) {
        KFE_TRY(start_combination(d, s, count, start));
        double value = alternate(d, s, count);
        if (start > 0 && !(value > best + KFE_SMALL_RISE))
            continue;
        best = value;
        memcpy(s->best, s->chosen, (size_t)s->rank * sizeof *s->best);
    }
    memcpy(s->chosen, s->best, (size_t)s->rank * sizeof *s->best);
cleanup:
    return status;
}

static kfe_status decompose_scatter(const kfe_i_deflation *d, cr_state *s, int64_t wanted)
{
    memcpy(s->copy, s->scatter, (size_t)(s->rank * s->rank) * sizeof *s->copy);
    return kfe_i_symmetric_eigen_with(d->ctx, s->rank, s->copy, wanted, s->values, s->axes, s->work);
}

static kfe_status choose_principal(kfe_i_deflation *d, cr_state *s, double *direction)
{
    kfe_status status = KFE_OK;

    KFE_TRY(decompose_scatter(d, s, 1));
    if (s->values[0] > KFE_RANK_TOLERANCE * s->roots[0] * s->roots[0]) {
        memcpy(s->chosen, s->axes, (size_t)s->rank * sizeof *s->chosen);
        KFE_TRY(lift(d, s, direction));
    }
cleanup:
    return status;
}

static kfe_status choose_between(kfe_i_deflation *d, cr_state *s, double *direction)
{
    kfe_status status = KFE_OK;
    blasint t = (blasint)d->targets;
    double square = 0;
    int64_t count = 0;

    KFE_TRY(pull(d, s, d->residual, d->targets, s->pulled));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, t, t, (blasint)s->rank, 1, s->pulled, t, s->pulled,
                t, 0, d->work.inner, t);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &square));
    if (kfe_i_deflation_is_spent(d, sqrt(fmax(square, 0))))
        goto cleanup;
    KFE_TRY(decompose_scatter(d, s, s->rank));
    while (count < s->rank && s->values[count] > KFE_RANK_TOLERANCE * s->roots[0] * s->roots[0])
        count++;
    if (count == 0)
        goto cleanup;
    if (t > 1)
        KFE_TRY(search_combinations(d, s, count));
    else
        follow_path(d, s, count);
    KFE_TRY(lift(d, s, direction));
cleanup:
    return status;
}

static kfe_status choose(kfe_i_deflation *d, void *state, double *direction, double *product,
                         int *has_product)
{
    cr_state *s = state;

    if (s->alpha == 0.5)
        return kfe_i_covariant_direction(d, d->residual, direction, product, has_product);
    *has_product = 0;
    memset(direction, 0, (size_t)d->rows * sizeof *direction);
    if (s->rank == 0)
        return KFE_OK;
    return s->alpha == 1 ? choose_principal(d, s, direction) : choose_between(d, s, direction);
}

/* S ← S − ppᵀ */
static kfe_status after(kfe_i_deflation *d, void *state)
{
    kfe_status status = KFE_OK;
    cr_state *s = state;

    if (s->alpha == 0.5)
        return KFE_OK;
    KFE_TRY(pull(d, s, d->basis + (d->count - 1) * d->examples, 1, s->along));
    cblas_dger(CblasRowMajor, (blasint)s->rank, (blasint)s->rank, -1, s->along, 1, s->along, 1, s->scatter,
               (blasint)s->rank);
cleanup:
    return status;
}

static const kfe_i_rule rule = {.choose = choose, .after = after};

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const cr_settings *given = settings;
    kfe_i_deflation_setup setup = {
        .method = "cr", .side = KFE_SIDE_PRIMAL, .center = given->center, .dim = given->dim};
    const kfe_i_gram *gram = NULL;
    kfe_i_deflation deflation = {0};
    cr_state s = {.alpha = given->alpha};

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums,
            &(kfe_i_stand_in_job){
                .fit = fit, .settings = settings, .supervised = 1, .centred = given->center},
            out);
    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    KFE_TRY(kfe_i_deflation_begin(ctx, source, &setup, &deflation));
    if (s.alpha != 0.5)
        KFE_TRY(begin(&deflation, gram, &s));
    KFE_TRY(kfe_i_deflation_run(&deflation, &rule, &s));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
cleanup:
    end(ctx, &s);
    kfe_i_deflation_free(&deflation);
    return status;
}

const kfe_i_method kfe_i_method_cr = {
    .name = "cr",
    .summary = "continuum regression, from least squares to partial least squares to principal components",
    .reference = "Stone & Brooks 1990; Dhanjal et al. 2009, section 2.2",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, cr_settings),
    .uses = kfe_i_prefer_sums,
    .fit = fit,
};
