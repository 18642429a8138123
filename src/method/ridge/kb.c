/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel boosting, for two classes y = ±1: a kernel Q = Σ ρ_t q_t q_tᵀ that is large for pairs of the same class
 * and negative for other pairs, built from one feature q_t = Φᵀw_t per iteration.
 *
 *     loss(Q) = Σ_ij exp(−y_i y_j Q_ij)  or  Σ_ij ln(1 + exp(−y_i y_j Q_ij))
 *     D_ij    = exp(−y_i y_j Q_ij)       or  1 / (1 + exp(y_i y_j Q_ij)),    M_ij = D_ij y_i y_j
 *     w_t     = leading eigenvector of ΦMΦᵀw = λ (ΦΦᵀ + μI)w, scaled so that |q_ti| ≤ 1
 *     ρ_t     = ½ ln(W₊/W₋),  W₊ and W₋ the sums of D_ij |q_ti q_tj| over the pairs for which the sign of
 *               q_ti q_tj is right and wrong
 *
 * Sums are over all n² pairs, those of an example with itself included. Since exp is convex and
 * |q_ti q_tj| ≤ 1, no iteration raises the loss, and it falls unless W₊ = W₋. Feature t of x is √ρ_t φ(x)ᵀw_t,
 * so that products of features are the boosted kernel.
 *
 * The paper has μ = 0. With a kernel matrix of full rank the first feature then reproduces y, which says nothing
 * about new points and leaves nothing for the next iteration; boosting needs weak features, hence the ridge. In the
 * first iteration M = yyᵀ, and w is the ridge regression of y: unless μ is given, leave-one-out chooses it
 * (leave_one_out.h). W₋ counts as at least W₊/n², so that steps are finite.
 *
 * In the dual, w = Φα. With K = UΛUᵀ (positive λ only) and S = (Λ/(Λ + μ))^½,
 *
 *     α = U(Λ(Λ + μ))^(−1/2)h,     q = USh,     h the leading eigenvector of SUᵀMUS.
 *
 * With weights w of the examples a pair (i, j) counts wᵢwⱼ times. US and M are then in the coordinates of the weighted operator
 * (kfe_i_gram_weighted), and q is divided by the roots.
 *
 * Crammer, Keshet & Singer, "Kernel Design Using Boosting" (2002); Dhanjal, Gunn & Shawe-Taylor (2009), 2.2.
 * Time: O(n³) at first and in each iteration; memory 56n² bytes.
 */
#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "gram/solve/positive.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"

enum { LOSS_EXP, LOSS_LOG };
enum { DEFAULT_ITERATIONS = 3 };

/* exp of a larger number would overflow. */
#define KFE_LARGEST_EXPONENT 700.0

typedef struct kb_settings {
    int64_t dim;
    double ridge;
    int loss, center;
} kb_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(kb_settings, dim, "number of features, one per iteration; auto: 3"),
    KFE_CHOICE(kb_settings, loss, "loss", "exp", "exp|log",
               "loss on pairs of examples: exponential or logistic"),
    KFE_REAL_OR(
        kb_settings, ridge, "ridge", "auto", 0, KFE_REAL_MAX, "auto|mean", "auto=-1|mean=-2",
        "penalty mu on the norm of a direction (mu |w|^2); 0: none; auto: by leave-one-out, in closed form "
        "(on a sample if there are more than 200 examples); mean: the mean diagonal of the kernel matrix"),
    KFE_FLAG(kb_settings, center, "center", "no", "centre the kernel in feature space"),
};

typedef struct boosting {
    kfe_context *ctx;
    kfe_i_arena memory;
    int loss;
    int64_t n, rank, most;
    double ridge;
    kfe_i_loo_choice choice; /* rows 0: the ridge was not chosen by leave-one-out */
    const double *roots;     /* of the weights of the examples, as in kfe_i_gram; NULL: ones */
    double mass;             /* n, or the sum of the weights */
    double *sign;            /* y */
    double *onto;            /* US, n × rank: h to q */
    double *back;            /* U(Λ(Λ + μ))^(−1/2), n × rank: h to α */
    double *margin;          /* y_i y_j Q_ij, n × n */
    double *weighted;        /* M, n × n */
    double *half;            /* MUS, n × rank */
    double *small;           /* SUᵀMUS, rank × rank */
    double *direction;       /* h */
    double *feature;         /* q */
    double *row_sums;        /* 3 × n: sums by example */
    double *alphas;          /* most × n, already times √ρ */
    double *steps;           /* ρ */
    double *losses;          /* the mean loss over pairs after each iteration */
    kfe_i_eigen_work *eigen;
} boosting;

static double root_of(const boosting *b, int64_t i)
{
    return b->roots ? b->roots[i] : 1;
}

/* ---- preparation ---- */

static kfe_status set_signs(const kfe_i_target *target, boosting *b)
{
    kfe_status status = KFE_OK;
    int64_t members = 0;

    KFE_TAKE(&b->memory, b->sign, b->n);
    for (int64_t i = 0; i < b->n; i++) {
        b->sign[i] = target->codes[i] == 0 ? 1 : -1;
        members += target->codes[i] == 0;
    }
    if (members == 0 || members == b->n)
        KFE_FAIL(b->ctx, KFE_EINPUT, "kb needs examples of both classes, but all belong to one class");
cleanup:
    return status;
}

/* Makes `onto` and `back` from the eigenvectors of K. */
static kfe_status scale_basis(boosting *b, const double *values, const double *vectors)
{
    kfe_status status = KFE_OK;

    KFE_TAKE(&b->memory, b->onto, b->n * b->rank);
    KFE_TAKE(&b->memory, b->back, b->n * b->rank);
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j < b->rank; j++) {
            double u = vectors[i * b->n + j];
            b->onto[i * b->rank + j] = u * sqrt(values[j] / (values[j] + b->ridge));
            /* two roots: the product may underflow */
            b->back[i * b->rank + j] = u / sqrt(values[j]) / sqrt(values[j] + b->ridge);
        }
cleanup:
    return status;
}

/* The ridge of the regression of y, whose features are those of the first iteration. */
static kfe_status choose_ridge(boosting *b, const kfe_i_gram *gram, const kfe_i_row_key *keys)
{
    kfe_status status = KFE_OK;
    double *targets;

    KFE_TAKE(&b->memory, targets, b->n);
    for (int64_t i = 0; i < b->n; i++)
        targets[i] = root_of(b, i) * b->sign[i];
    const kfe_i_loo_problem loo = {
        .gram = gram, .keys = keys, .targets = targets, .columns = 1, .rule = KFE_LOO_LARGEST_RIDGE};
    KFE_TRY(kfe_i_loo_choose(b->ctx, &loo, &b->choice));
    if (b->choice.rows > 0)
        b->ridge = b->choice.ridge;
cleanup:
    return status;
}

static kfe_status find_basis(const kfe_i_gram *gram, const kfe_i_row_key *keys, double asked, boosting *b)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = b->ctx};
    double *k = NULL;
    double *values, *vectors;

    b->ridge = asked;
    if (asked < 0)
        KFE_TRY(kfe_i_gram_mean_diagonal(gram, &b->ridge));
    b->ridge = fmax(b->ridge, 0);
    if (asked == KFE_RIDGE_AUTO)
        KFE_TRY(choose_ridge(b, gram, keys));
    KFE_TAKE(&memory, values, b->n);
    KFE_TAKE(&memory, vectors, b->n * b->n);
    KFE_TRY(kfe_i_gram_materialise(gram, &k));
    KFE_TRY(kfe_i_symmetric_eigen(b->ctx, b->n, k, b->n, values, vectors));
    b->rank = kfe_i_count_above(b->n, values, fmax(kfe_i_gram_rank_tolerance(gram) * values[0], 0));
    if (b->rank == 0)
        KFE_FAIL(b->ctx, KFE_EINPUT, "kb: the kernel matrix is zero; choose another kernel");
    KFE_TRY(kfe_i_warn_if_indefinite(gram, "kb", values[0], values[b->n - 1]));
    KFE_TRY(scale_basis(b, values, vectors));
cleanup:
    kfe_i_free(b->ctx, k);
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status make_workspace(boosting *b)
{
    kfe_status status = KFE_OK;

    KFE_TAKE_ZERO(&b->memory, b->margin, b->n * b->n);
    KFE_TAKE(&b->memory, b->weighted, b->n * b->n);
    KFE_TAKE(&b->memory, b->half, b->n * b->rank);
    KFE_TAKE(&b->memory, b->small, b->rank * b->rank);
    KFE_TAKE(&b->memory, b->direction, b->rank);
    KFE_TAKE(&b->memory, b->feature, b->n);
    KFE_TAKE(&b->memory, b->row_sums, 3 * b->n);
    KFE_TAKE(&b->memory, b->alphas, b->most * b->n);
    KFE_TAKE(&b->memory, b->steps, b->most);
    KFE_TAKE(&b->memory, b->losses, b->most);
    KFE_TRY(kfe_i_eigen_work_new(b->ctx, b->rank, &b->eigen));
cleanup:
    return status;
}

static kfe_status prepare(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                          const kb_settings *s, boosting *b)
{
    kfe_status status = KFE_OK;
    double n = (double)gram->size;
    int64_t asked = s->dim;

    b->loss = s->loss;
    b->n = gram->size;
    b->roots = gram->roots;
    b->mass = kfe_i_gram_mass(gram);
    if (asked == 0)
        asked = b->n < DEFAULT_ITERATIONS ? b->n : DEFAULT_ITERATIONS;
    b->most = kfe_i_clamp_dim(ctx, "kb", asked, b->n, "there are no more examples");
    KFE_TRY(set_signs(source->target, b));
    KFE_TRY(kfe_i_check_memory(ctx, 56 * n * n, "kb", "raise {memory} or use fewer examples"));
    KFE_TRY(find_basis(gram, source->target->keys, s->ridge, b));
    KFE_TRY(make_workspace(b));
cleanup:
    return status;
}

/* ---- one iteration ---- */

static double weight_of(int loss, double margin)
{
    return loss == LOSS_EXP ? exp(fmin(-margin, KFE_LARGEST_EXPONENT))
                            : 1 / (1 + exp(fmin(margin, KFE_LARGEST_EXPONENT)));
}

static double loss_of(int loss, double margin)
{
    if (loss == LOSS_EXP)
        return exp(fmin(-margin, KFE_LARGEST_EXPONENT));
    return fmax(-margin, 0) + log1p(exp(-fabs(margin)));
}

static double sum(int64_t n, const double *values)
{
    double total = 0;

    for (int64_t i = 0; i < n; i++)
        total += values[i];
    return total;
}

/* h and q = USh, scaled to |q_i| ≤ 1. */
static kfe_status choose_feature(boosting *b)
{
    kfe_status status = KFE_OK;
    blasint n = (blasint)b->n;
    blasint q = (blasint)b->rank;
    double largest_eigenvalue = 0;

#pragma omp parallel for num_threads(kfe_context_threads(b->ctx)) schedule(static)
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = 0; j < b->n; j++)
            b->weighted[i * b->n + j] = weight_of(b->loss, b->margin[i * b->n + j]) * b->sign[i] *
                                        b->sign[j] * root_of(b, i) * root_of(b, j);
    kfe_i_times(b->n, b->n, b->rank, b->weighted, b->onto, b->half);
    kfe_i_transpose_times(b->rank, b->n, b->rank, b->onto, b->half, b->small);
    KFE_TRY(kfe_i_symmetric_eigen_with(b->ctx, b->rank, b->small, 1, &largest_eigenvalue, b->direction,
                                       b->eigen));
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, q, 1, b->onto, q, b->direction, 1, 0, b->feature, 1);
    for (int64_t i = 0; i < b->n; i++)
        b->feature[i] /= root_of(b, i);
    double largest = fabs(b->feature[cblas_idamax(n, b->feature, 1)]);
    double scale = largest > 0 ? 1 / largest : 0;
    cblas_dscal(n, scale, b->feature, 1);
    cblas_dscal(q, scale, b->direction, 1);
cleanup:
    return status;
}

/* Row i of the sums: weights of the pairs that q qᵀ gets right, of those that it gets wrong, and of all. */
static void weigh_row(boosting *b, int64_t i)
{
    double right = 0;
    double wrong = 0;
    double all = 0;

    for (int64_t j = 0; j < b->n; j++) {
        double weight = b->weighted[i * b->n + j] * root_of(b, i) * root_of(b, j);
        double agreement = weight * b->feature[i] * b->feature[j];
        right += fmax(agreement, 0);
        wrong += fmax(-agreement, 0);
        all += fabs(weight);
    }
    b->row_sums[i] = right;
    b->row_sums[b->n + i] = wrong;
    b->row_sums[2 * b->n + i] = all;
}

/* The step. *perfect: the feature equals the class, up to less than the share of one example. */
static double choose_step(boosting *b, int *perfect)
{
    double longest = log(b->mass); /* the step for W₋ = W₊/n² */

#pragma omp parallel for num_threads(kfe_context_threads(b->ctx)) schedule(static)
    for (int64_t i = 0; i < b->n; i++)
        weigh_row(b, i);
    double right = sum(b->n, b->row_sums);
    double wrong = sum(b->n, b->row_sums + b->n);
    double all = sum(b->n, b->row_sums + 2 * b->n);
    *perfect = all - right < all / b->mass;
    if (right <= 0)
        return 0;
    return wrong > 0 ? fmin(log(right / wrong) / 2, longest) : longest;
}

/* Adds one term to the margins; returns the mean loss over pairs. */
static double take_step(boosting *b, double step)
{
#pragma omp parallel for num_threads(kfe_context_threads(b->ctx)) schedule(static)
    for (int64_t i = 0; i < b->n; i++) {
        double total = 0;
        for (int64_t j = 0; j < b->n; j++) {
            double *margin = &b->margin[i * b->n + j];
            *margin += step * b->feature[i] * b->feature[j] * b->sign[i] * b->sign[j];
            total += root_of(b, j) * root_of(b, j) * loss_of(b->loss, *margin);
        }
        b->row_sums[2 * b->n + i] = root_of(b, i) * root_of(b, i) * total;
    }
    return sum(b->n, b->row_sums + 2 * b->n) / (b->mass * b->mass);
}

/* Whether a step is above rounding: W₊ and W₋ are sums of n² terms. */
static int is_positive(const boosting *b, double step)
{
    return step > KFE_RANK_TOLERANCE * sqrt((double)b->n);
}

static void keep_feature(boosting *b, int64_t index, double step)
{
    b->losses[index] = take_step(b, step);
    b->steps[index] = step;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)b->n, (blasint)b->rank, sqrt(step), b->back,
                (blasint)b->rank, b->direction, 1, 0, b->alphas + index * b->n, 1);
}

static void warn_if_stopped(const boosting *b, int64_t done, int perfect)
{
    if (done == b->most)
        return;
    if (perfect)
        kfe_i_log(b->ctx, KFE_LOG_WARNING,
                  "kb: stopped after %lld of %lld iterations: the last feature equals the class; a larger "
                  "{ridge} makes weaker features",
                  (long long)done, (long long)b->most);
    else
        kfe_i_log(b->ctx, KFE_LOG_WARNING,
                  "kb: stopped after %lld of %lld iterations: no feature has a positive step any more",
                  (long long)done, (long long)b->most);
}

static kfe_status run_iterations(boosting *b, int64_t *done)
{
    kfe_status status = KFE_OK;
    int perfect = 0;

    while (!perfect && *done < b->most) {
        KFE_TRY(kfe_i_progress(b->ctx, "boosting", *done, b->most));
        KFE_TRY(choose_feature(b));
        double step = choose_step(b, &perfect);
        if (!is_positive(b, step)) {
            perfect = 0;
            break;
        }
        keep_feature(b, (*done)++, step);
    }
    if (*done == 0)
        KFE_FAIL(
            b->ctx, KFE_EINPUT,
            "kb: no feature of this kernel tells pairs of the same class from other pairs; choose another "
            "kernel");
    warn_if_stopped(b, *done, perfect);
cleanup:
    return status;
}

/* Coefficients are of the size of 1/√(λ(λ + μ)), which overflows for kernel values near the smallest double. */
static kfe_status check_finite(const kfe_i_solution *solution)
{
    for (int64_t i = 0; i < solution->rows * solution->dim; i++)
        if (!isfinite(solution->coefficients[i]))
            return kfe_i_fail(
                solution->ctx, KFE_ENUMERIC,
                "kb: the kernel values are too small for double precision; try {scale=standard}");
    return KFE_OK;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kb_settings *s = settings;
    const kfe_i_gram *gram = NULL;
    kfe_i_gram *centred = NULL;
    boosting b = {.ctx = ctx, .memory = {.ctx = ctx}};
    int64_t dim = 0;

    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    KFE_TRY(prepare(ctx, source, centred ? centred : gram, s, &b));
    KFE_TRY(run_iterations(&b, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, b.n, dim, out));
    for (int64_t t = 0; t < dim; t++)
        cblas_dcopy((blasint)b.n, b.alphas + t * b.n, 1, out->coefficients + t, (blasint)dim);
    KFE_TRY(kfe_i_solution_record(out, "steps", b.steps, dim));
    KFE_TRY(kfe_i_solution_record(out, "losses", b.losses, dim));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &b.ridge, 1));
    KFE_TRY(kfe_i_loo_record(out, &b.choice));
    KFE_TRY(check_finite(out));
    if (centred)
        KFE_TRY(kfe_i_solution_centre(out, centred));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_eigen_work_free(b.eigen);
    kfe_i_arena_free(&b.memory);
    return status;
}

const kfe_i_method kfe_i_method_kb = {
    .name = "kb",
    .summary = "kernel boosting: features whose products tell pairs of the same class from other pairs",
    .reference = "Crammer, Keshet & Singer 2002; Dhanjal, Gunn & Shawe-Taylor 2009, section 2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING |
             KFE_HAS_TWO_CLASSES | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kb_settings),
    .fit = fit,
};
