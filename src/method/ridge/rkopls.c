/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduced orthonormalized kernel PLS: kopls with directions w = Σ β_s φ(x_s) on r random examples S,
 * the support,
 *
 *     K_r Y Yᵀ K_rᵀ β = λ (K_r K_rᵀ + μK_SS) β.
 *
 * K_r (r × n) holds the kernel values between S and all examples, centred over the examples (by default), and Y
 * the centred targets. The model needs S only: centring subtracts the mean of a feature and leaves φ(x_s) as it
 * is, which would otherwise depend on all examples. With r = n the features are those of kopls. The paper has
 * μ = 0, which works when r is far below n; a tiny ridge gives that and stays well posed.
 *
 * With the eigenvectors K_SS = UΛUᵀ of positive λ, β = UΛ^(−1/2)v and Z = K_rᵀUΛ^(−1/2), the problem is
 *
 *     ZᵀYYᵀZv = λ(ZᵀZ + μI)v,
 *
 * which is well posed even if support examples are equal. From there as in kopls: one solve with right side ZᵀY.
 *
 * Arenas-García, Petersen & Hansen (2007); Dhanjal, Gunn & Shawe-Taylor (2009), section 2.2.
 * Time: n·r kernel evaluations and O(nr²); memory 8nr bytes.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/solve/positive.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"
#include "method/shared/targets.h"

/* Rows of K_rᵀ that become rows of Z at a time. */
enum { PANEL = 512 };

typedef struct rkopls_settings {
    int64_t dim, support;
    double ridge;
    int center;
} rkopls_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(rkopls_settings, dim, "number of features; auto: as many as there are independent targets"),
    KFE_INT(rkopls_settings, support, "support", "100", 1, KFE_INT_MAX,
            "random examples (the support) that span the directions"),
    KFE_CHOSEN_RIDGE_ROW(rkopls_settings, ridge, "ridge",
                         "penalty mu on the norm of a direction (mu |w|^2); auto: by leave-one-out, in "
                         "closed form (of more than 85 "
                         "examples, on a sample); thousandth: of the mean diagonal of the part of the kernel "
                         "matrix that the support spans"),
    KFE_FLAG(rkopls_settings, center, "center", "yes", "centre the features of the examples"),
};

typedef struct reduction {
    int64_t n, r, rank, columns; /* columns: of the targets */
    int64_t *index;              /* S; has room for n */
    double *z;                   /* K_rᵀ (n × r), later Z (n × rank) */
    double *means;               /* r: the column means that centring subtracts */
    double *root;                /* UΛ^(−1/2), r × rank */
    double *targets;             /* n × columns */
    double *scatter;             /* ZᵀZ + μI, rank × rank; overwritten by its factor */
    double *covariance, *solved; /* ZᵀY and (ZᵀZ + μI)⁻¹ZᵀY, rank × columns */
    double *correction, *rest;   /* to `solved`, rank × columns; Y − Z·solved, n × columns */
    double *b, *h;
    double ridge;
    double mass;             /* n, or the sum of the weights */
    kfe_i_loo_choice choice; /* rows 0: the ridge was given */
} reduction;

static void free_reduction(kfe_context *ctx, reduction *red)
{
    kfe_i_free(ctx, red->index);
    kfe_i_free(ctx, red->z);
    kfe_i_free(ctx, red->means);
    kfe_i_free(ctx, red->root);
    kfe_i_free(ctx, red->targets);
    kfe_i_free(ctx, red->scatter);
    kfe_i_free(ctx, red->covariance);
    kfe_i_free(ctx, red->solved);
    kfe_i_free(ctx, red->correction);
    kfe_i_free(ctx, red->rest);
    kfe_i_free(ctx, red->b);
    kfe_i_free(ctx, red->h);
}

static kfe_status draw_support(kfe_context *ctx, const kfe_i_gram *gram, reduction *red)
{
    kfe_status status = KFE_OK;
    kfe_i_rng rng;

    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)red->n * (double)red->r, "rkopls",
                               "raise {memory} or lower {support}"));
    KFE_ALLOC(ctx, red->index, red->n);
    KFE_ALLOC(ctx, red->z, red->n * red->r);
    kfe_i_rng_init(&rng, ctx->seed, KFE_STREAM_SUPPORT);
    kfe_i_rng_choose(&rng, red->n, red->r, red->index);
    KFE_TRY(kfe_i_gram_columns(gram, red->index, red->r, red->z));
cleanup:
    return status;
}

/* root = UΛ^(−1/2) of K_SS, whose rows are rows of K_rᵀ. Directions of negative length are left out. */
static kfe_status find_root(kfe_context *ctx, const kfe_i_gram *gram, reduction *red)
{
    kfe_status status = KFE_OK;
    int64_t r = red->r;
    double *inner = NULL;
    double *values = NULL;
    double *vectors = NULL;

    KFE_ALLOC(ctx, inner, r * r);
    KFE_ALLOC(ctx, values, r);
    KFE_ALLOC(ctx, vectors, r * r);
    KFE_ALLOC(ctx, red->root, r * r);
    for (int64_t s = 0; s < r; s++)
        memcpy(inner + s * r, red->z + red->index[s] * r, (size_t)r * sizeof *inner);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, r, inner, r, values, vectors));
    while (red->rank < r && values[red->rank] > 0 &&
           values[red->rank] > kfe_i_gram_rank_tolerance(gram) * values[0])
        red->rank++;
    if (red->rank == 0)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "rkopls: the kernel of the support examples is zero; choose another kernel");
    kfe_i_warn_if_indefinite(gram, "rkopls", values[0], values[r - 1]);
    for (int64_t s = 0; s < r; s++)
        for (int64_t j = 0; j < red->rank; j++)
            red->root[s * red->rank + j] = vectors[s * r + j] / sqrt(values[j]);
cleanup:
    kfe_i_free(ctx, inner);
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

static kfe_status centre_columns(kfe_context *ctx, const kfe_i_gram *gram, reduction *red)
{
    kfe_status status = KFE_OK;
    const double *roots = gram->roots;

    KFE_ALLOC_ZERO(ctx, red->means, red->r);
    for (int64_t i = 0; i < red->n; i++)
        cblas_daxpy((blasint)red->r, (roots ? roots[i] : 1) / red->mass, red->z + i * red->r, 1, red->means,
                    1);
    for (int64_t i = 0; i < red->n; i++)
        cblas_daxpy((blasint)red->r, roots ? -roots[i] : -1, red->means, 1, red->z + i * red->r, 1);
cleanup:
    return status;
}

/* Overwrites K_rᵀ by Z, whose rows are at most as long. */
static kfe_status whiten(kfe_context *ctx, reduction *red)
{
    kfe_status status = KFE_OK;
    double *panel = NULL;
    int64_t q = red->rank;

    KFE_ALLOC(ctx, panel, PANEL * red->r);
    for (int64_t first = 0; first < red->n; first += PANEL) {
        int64_t count = red->n - first < PANEL ? red->n - first : PANEL;
        memcpy(panel, red->z + first * red->r, (size_t)(count * red->r) * sizeof *panel);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)count, (blasint)q, (blasint)red->r, 1,
                    panel, (blasint)red->r, red->root, (blasint)q, 0, red->z + first * q, (blasint)q);
    }
cleanup:
    kfe_i_free(ctx, panel);
    return status;
}

/* The ridge by leave-one-out on the rows of Z, if it is auto. */
static kfe_status leave_one_out(kfe_context *ctx, const kfe_i_problem *problem, const rkopls_settings *s,
                                reduction *red)
{
    const kfe_i_loo_problem loo = {.gram = problem->gram,
                                   .points = red->z,
                                   .rank = red->rank,
                                   .centred = s->center,
                                   .targets = red->targets,
                                   .columns = red->columns,
                                   .rule = kfe_i_loo_feature_rule(problem->target->task == KFE_TASK_CLASSES)};

    return s->ridge == KFE_RIDGE_AUTO ? kfe_i_loo_choose(ctx, &loo, &red->choice) : KFE_OK;
}

/* tr(ZᵀZ)/n is the mean diagonal of the part of the (centred) kernel matrix that the support examples span. */
static void add_ridge(double asked, reduction *red)
{
    int64_t q = red->rank;
    double trace = 0;

    for (int64_t j = 0; j < q; j++)
        trace += red->scatter[j * q + j];
    red->ridge = red->choice.rows > 0 ? red->choice.ridge : kfe_i_chosen_ridge(asked, trace / red->mass, 1);
    for (int64_t j = 0; j < q; j++)
        red->scatter[j * q + j] += red->ridge;
}

/* One step of iterative refinement. ZᵀZ has the square of Z's condition number, but the residual
 * Zᵀ(Y − Z·solved) does not, so that one step is as accurate as an orthogonal factorisation of Z. */
static void refine(reduction *red)
{
    int64_t q = red->rank;
    int64_t m = red->columns;

    memcpy(red->rest, red->targets, (size_t)(red->n * m) * sizeof *red->rest);
    kfe_i_combine(red->n, -1, kfe_i_packed(red->z, q), kfe_i_packed(red->solved, m), 1, red->rest);
    kfe_i_inner_products(red->n, kfe_i_packed(red->z, q), kfe_i_packed(red->rest, m), red->correction);
    cblas_daxpy((blasint)(q * m), -red->ridge, red->solved, 1, red->correction, 1);
    kfe_i_solve_cholesky(q, red->scatter, m, red->correction);
    cblas_daxpy((blasint)(q * m), 1, red->correction, 1, red->solved, 1);
}

static kfe_status make_workspace(kfe_context *ctx, reduction *red)
{
    kfe_status status = KFE_OK;
    int64_t q = red->rank;
    int64_t m = red->columns;

    KFE_ALLOC(ctx, red->scatter, q * q);
    KFE_ALLOC(ctx, red->covariance, q * m);
    KFE_ALLOC(ctx, red->solved, q * m);
    KFE_ALLOC(ctx, red->correction, q * m);
    KFE_ALLOC(ctx, red->rest, red->n * m);
    KFE_ALLOC(ctx, red->b, red->r * m);
    KFE_ALLOC(ctx, red->h, m * m);
cleanup:
    return status;
}

/* solved = (ZᵀZ + μI)⁻¹ZᵀY, b = root·solved, h = (ZᵀY)ᵀsolved. */
static kfe_status solve(kfe_context *ctx, double asked, reduction *red)
{
    kfe_status status = KFE_OK;
    int64_t q = red->rank;
    int64_t m = red->columns;

    KFE_TRY(make_workspace(ctx, red));
    kfe_i_inner_products(red->n, kfe_i_packed(red->z, q), kfe_i_packed(red->z, q), red->scatter);
    add_ridge(asked, red);
    kfe_i_inner_products(red->n, kfe_i_packed(red->z, q), kfe_i_packed(red->targets, m), red->covariance);
    memcpy(red->solved, red->covariance, (size_t)(q * m) * sizeof *red->solved);
    KFE_TRY(kfe_i_cholesky(ctx, q, red->scatter, "the scatter of the features plus the ridge"));
    kfe_i_solve_cholesky(q, red->scatter, m, red->solved);
    refine(red);
    kfe_i_combine(red->r, 1, kfe_i_packed(red->root, q), kfe_i_packed(red->solved, m), 0, red->b);
    kfe_i_inner_products(q, kfe_i_packed(red->covariance, m), kfe_i_packed(red->solved, m), red->h);
cleanup:
    return status;
}

/* Gives the features mean zero: offset_j = Σ_s β_sj means_s. */
static kfe_status set_offset(const reduction *red, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(out->ctx, out->offset, out->dim);
    for (int64_t s = 0; s < red->r; s++)
        cblas_daxpy((blasint)out->dim, red->means[s], out->coefficients + red->index[s] * out->dim, 1,
                    out->offset, 1);
cleanup:
    return status;
}

static kfe_status reduce(kfe_context *ctx, const kfe_i_problem *problem, const rkopls_settings *s,
                         reduction *red)
{
    kfe_status status = KFE_OK;

    red->n = problem->gram->size;
    red->mass = kfe_i_gram_mass(problem->gram);
    red->r = s->support < red->n ? s->support : red->n;
    KFE_TRY(kfe_i_unit_targets(ctx, "rkopls", problem->target, &red->targets, &red->columns));
    KFE_TRY(draw_support(ctx, problem->gram, red));
    KFE_TRY(find_root(ctx, problem->gram, red));
    KFE_TRY(kfe_i_checkpoint(ctx, "rkopls", 1, 2));
    if (s->center)
        KFE_TRY(centre_columns(ctx, problem->gram, red));
    KFE_TRY(whiten(ctx, red));
    KFE_TRY(leave_one_out(ctx, problem, s, red));
    KFE_TRY(solve(ctx, s->ridge, red));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const rkopls_settings *s = settings;
    reduction red = {0};

    KFE_TRY(reduce(ctx, problem, s, &red));
    const kfe_i_candidates candidates = {
        .method = "rkopls",
        .rows = red.r,
        .count = red.columns,
        .b = red.b,
        .h = red.h,
        .rounding = kfe_i_gram_rank_tolerance(problem->gram),
        .most = kfe_i_most_directions(problem->target, red.columns),
        .exhausted = "the targets vary in no more directions",
        .none = "the data does not depend on the targets: their covariance is zero up to rounding",
        .place = red.index,
    };
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, red.n, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &red.ridge, 1));
    KFE_TRY(kfe_i_loo_record(out, &red.choice));
    if (s->center)
        KFE_TRY(set_offset(&red, out));
    kfe_i_solution_fix_signs(out);
cleanup:
    free_reduction(ctx, &red);
    return status;
}

/* With landmarks in place of the random support this is kopls on them. */
static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    const rkopls_settings *s = settings;
    const kfe_i_kopls_settings on_landmarks = {.dim = s->dim, .ridge = s->ridge, .center = s->center};

    return kfe_i_kopls_fit_sums(ctx, "rkopls", problem, &on_landmarks, out);
}

static int64_t columns(const void *settings, int64_t examples)
{
    const rkopls_settings *s = settings;

    return s->support < examples ? s->support : examples;
}

const kfe_i_method kfe_i_method_rkopls = {
    .name = "rkopls",
    .summary = "reduced orthonormalized kernel PLS: kopls on a few random examples, for many rows",
    .reference = "Arenas-García, Petersen & Hansen 2007; Dhanjal, Gunn & Shawe-Taylor 2009, section 2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, rkopls_settings),
    .columns = columns,
    .fit = fit,
    .fit_sums = fit_sums,
};
