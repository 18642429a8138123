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
#include "gram/solve/positive.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"

/* Rows of K_rᵀ that become rows of Z at a time. */
enum { PANEL = 512 };

static const char exhausted[] = "the targets vary in no more directions";

typedef struct rkopls_settings {
    int64_t dim, support;
    double ridge;
    int center;
} rkopls_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(rkopls_settings, dim, "number of features; auto: as many as there are independent targets"),
    KFE_INT(rkopls_settings, support, "support", "100", 1, KFE_INT_MAX,
            "random examples (the support) that span the directions"),
    KFE_CHOSEN_RIDGE_ROW(
        rkopls_settings, ridge, "ridge",
        "penalty mu on the norm of a direction (mu |w|^2); auto: by leave-one-out, in closed form (on a "
        "sample if there are more than 200 examples); thousandth: a thousandth of the mean diagonal of the "
        "kernel matrix, as far as the support spans it"),
    KFE_FLAG(rkopls_settings, center, "center", "yes", "centre the features of the examples"),
};

typedef struct reduction {
    kfe_context *ctx;
    kfe_i_arena memory;
    const kfe_i_gram *gram;
    kfe_i_label_factor labels; /* Y, n × m */
    int64_t n, r, rank, m;
    int64_t *index;              /* S */
    double *z;                   /* K_rᵀ (n × r), later Z (n × rank) */
    double *means;               /* r: the column means that centring subtracts; NULL: not centred */
    double *root;                /* UΛ^(−1/2), r × rank */
    double *scatter;             /* ZᵀZ + μI, rank × rank; overwritten by its factor */
    double *covariance, *solved; /* ZᵀY and (ZᵀZ + μI)⁻¹ZᵀY, rank × m */
    double *correction, *rest;   /* to `solved`, rank × m; Y − Z·solved, n × m */
    double *b, *h;
    double ridge;
    double mass;             /* n, or the sum of the weights */
    kfe_i_loo_choice choice; /* rows 0: the ridge was given */
} reduction;

/* Draws among the distinct examples, since an example that is given twice adds no direction. */
static kfe_status draw_support(reduction *red, const kfe_i_row_key *keys, int64_t support)
{
    kfe_status status = KFE_OK;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_distinct_make(red->ctx, red->n, keys, KFE_STREAM_SUPPORT, &distinct));
    red->r = support < distinct.count ? support : distinct.count;
    KFE_TRY(kfe_i_check_memory(red->ctx, 8.0 * (double)red->n * (double)red->r, "rkopls",
                               "raise {memory} or lower {support}"));
    KFE_TAKE(&red->memory, red->index, red->r);
    KFE_TAKE(&red->memory, red->z, red->n * red->r);
    memcpy(red->index, distinct.first, (size_t)red->r * sizeof *red->index);
    KFE_TRY(kfe_i_gram_columns(red->gram, red->index, red->r, red->z));
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

/* root = UΛ^(−1/2) of K_SS, whose rows are rows of K_rᵀ. Directions of negative length are left out. */
static kfe_status find_root(reduction *red)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = red->ctx};
    int64_t r = red->r;
    double *inner, *values;

    KFE_TAKE(&memory, inner, r * r);
    KFE_TAKE(&memory, values, r);
    KFE_TAKE(&red->memory, red->root, r * r);
    for (int64_t s = 0; s < r; s++)
        memcpy(inner + s * r, red->z + red->index[s] * r, (size_t)r * sizeof *inner);
    KFE_TRY(kfe_i_symmetric_eigen(red->ctx, r, inner, r, values, red->root));
    red->rank = kfe_i_count_above(r, values, fmax(0, kfe_i_gram_rank_tolerance(red->gram) * values[0]));
    if (red->rank == 0)
        KFE_FAIL(red->ctx, KFE_EINPUT,
                 "rkopls: the kernel of the support examples is zero; choose another kernel");
    KFE_TRY(kfe_i_warn_if_indefinite(red->gram, "rkopls", values[0], values[r - 1]));
    kfe_i_copy_block(r, red->rank, red->root, r, red->root, red->rank);
    kfe_i_divide_by_roots(r, red->rank, values, red->root);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* Overwrites K_rᵀ by Z, whose rows are at most as long; centres it first if there are `means`. */
static kfe_status whiten(reduction *red)
{
    kfe_status status = KFE_OK;
    double *panel = NULL;
    int64_t q = red->rank;

    if (red->means) {
        kfe_i_mean_row(red->n, red->r, red->z, red->gram->roots, red->mass, red->means);
        kfe_i_subtract_row(red->n, red->r, red->means, red->gram->roots, red->z);
    }
    KFE_ALLOC(red->ctx, panel, PANEL * red->r);
    for (int64_t first = 0; first < red->n; first += PANEL) {
        int64_t count = red->n - first < PANEL ? red->n - first : PANEL;
        memcpy(panel, red->z + first * red->r, (size_t)(count * red->r) * sizeof *panel);
        kfe_i_times(count, red->r, q, panel, red->root, red->z + first * q);
    }
cleanup:
    kfe_i_free(red->ctx, panel);
    return status;
}

/* tr(ZᵀZ)/n is the mean diagonal of the part of the (centred) kernel matrix that the support examples span. */
static kfe_status choose_ridge(reduction *red, const kfe_i_target *target, double asked)
{
    kfe_status status = KFE_OK;
    const kfe_i_loo_problem loo = {.gram = red->gram,
                                   .points = red->z,
                                   .rank = red->rank,
                                   .keys = target->keys,
                                   .centred = red->means != NULL,
                                   .targets = red->labels.values,
                                   .columns = red->m,
                                   .rule = kfe_i_loo_feature_rule(target->task == KFE_TASK_CLASSES)};

    if (asked == KFE_RIDGE_AUTO)
        KFE_TRY(kfe_i_loo_choose(red->ctx, &loo, &red->choice));
    red->ridge = red->choice.rows > 0
                     ? red->choice.ridge
                     : kfe_i_chosen_ridge(asked, kfe_i_trace(red->rank, red->scatter) / red->mass, 1);
    kfe_i_add_to_diagonal(red->rank, red->ridge, red->scatter);
cleanup:
    return status;
}

/* One step of iterative refinement. ZᵀZ has the square of Z's condition number, but the residual
 * Zᵀ(Y − Z·solved) does not, so that one step is as accurate as an orthogonal factorisation of Z. */
static void refine(reduction *red)
{
    int64_t q = red->rank;
    int64_t m = red->m;

    memcpy(red->rest, red->labels.values, (size_t)(red->n * m) * sizeof *red->rest);
    kfe_i_combine(red->n, -1, kfe_i_packed(red->z, q), kfe_i_packed(red->solved, m), 1, red->rest);
    kfe_i_transpose_times(q, red->n, m, red->z, red->rest, red->correction);
    cblas_daxpy((blasint)(q * m), -red->ridge, red->solved, 1, red->correction, 1);
    kfe_i_solve_cholesky(q, red->scatter, m, red->correction);
    cblas_daxpy((blasint)(q * m), 1, red->correction, 1, red->solved, 1);
}

/* solved = (ZᵀZ + μI)⁻¹ZᵀY, b = root·solved, h = (ZᵀY)ᵀsolved. */
static kfe_status solve(reduction *red, const kfe_i_target *target, double asked)
{
    kfe_status status = KFE_OK;
    int64_t q = red->rank;
    int64_t m = red->m;

    KFE_TAKE(&red->memory, red->scatter, q * q);
    KFE_TAKE(&red->memory, red->covariance, q * m);
    KFE_TAKE(&red->memory, red->solved, q * m);
    KFE_TAKE(&red->memory, red->correction, q * m);
    KFE_TAKE(&red->memory, red->rest, red->n * m);
    KFE_TAKE(&red->memory, red->b, red->r * m);
    KFE_TAKE(&red->memory, red->h, m * m);
    kfe_i_transpose_times(q, red->n, q, red->z, red->z, red->scatter);
    KFE_TRY(choose_ridge(red, target, asked));
    kfe_i_transpose_times(q, red->n, m, red->z, red->labels.values, red->covariance);
    memcpy(red->solved, red->covariance, (size_t)(q * m) * sizeof *red->solved);
    KFE_TRY(kfe_i_cholesky(red->ctx, q, red->scatter, "the scatter of the features plus the ridge"));
    kfe_i_solve_cholesky(q, red->scatter, m, red->solved);
    refine(red);
    kfe_i_times(red->r, q, m, red->root, red->solved, red->b);
    kfe_i_transpose_times(m, q, m, red->covariance, red->solved, red->h);
cleanup:
    return status;
}

static kfe_status reduce(reduction *red, const kfe_i_fit_source *source, const rkopls_settings *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_ask_gram(red->ctx, source, &red->gram));
    red->n = red->gram->size;
    red->mass = kfe_i_gram_mass(red->gram);
    KFE_TRY(kfe_i_label_factor_make(red->ctx, "rkopls", source->target, "linear", 1, &red->labels));
    red->m = red->labels.rank;
    cblas_dscal((blasint)(red->n * red->m), 1 / red->labels.norm, red->labels.values, 1);
    KFE_TRY(draw_support(red, source->target->keys, s->support));
    KFE_TRY(find_root(red));
    KFE_TRY(kfe_i_progress(red->ctx, "rkopls", 1, 2));
    if (s->center)
        KFE_TAKE(&red->memory, red->means, red->r);
    KFE_TRY(whiten(red));
    KFE_TRY(solve(red, source->target, s->ridge));
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

static kfe_status fit_gram(kfe_context *ctx, const kfe_i_fit_source *source, const rkopls_settings *s,
                           kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    reduction red = {.ctx = ctx, .memory = {.ctx = ctx}};

    KFE_TRY(reduce(&red, source, s));
    const kfe_i_candidates candidates = {
        .method = "rkopls",
        .rows = red.r,
        .count = red.m,
        .b = red.b,
        .h = red.h,
        .rounding = kfe_i_gram_rank_tolerance(red.gram),
        .most = red.labels.most,
        .exhausted = exhausted,
        .none = KFE_NO_COVARIANCE,
        .place = red.index,
    };
    KFE_TRY(kfe_i_best_directions(ctx, &candidates, red.n, s->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &red.ridge, 1));
    KFE_TRY(kfe_i_loo_record(out, &red.choice));
    if (red.means)
        KFE_TRY(set_offset(&red, out));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    kfe_i_label_factor_free(&red.labels);
    kfe_i_arena_free(&red.memory);
    return status;
}

static int64_t columns(const void *settings, int64_t examples)
{
    const rkopls_settings *s = settings;

    return s->support < examples ? s->support : examples;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const rkopls_settings *s = settings;
    const kfe_i_ridge_problem on_landmarks = {
        .method = "rkopls",
        .centred = s->center,
        .label_kernel = "linear",
        .scaled = 1,
        .ridge = s->ridge,
        .dim = s->dim,
        .exhausted = exhausted,
        .none = KFE_NO_COVARIANCE,
    };

    /* with landmarks in place of the random support, rkopls is kopls on them */
    return source->sums ? kfe_i_ridge_fit(ctx, source, &on_landmarks, out) : fit_gram(ctx, source, s, out);
}

const kfe_i_method kfe_i_method_rkopls = {
    .name = "rkopls",
    .summary = "reduced orthonormalized kernel PLS: kopls on a few random examples, for many rows",
    .reference = "Arenas-García, Petersen & Hansen 2007; Dhanjal, Gunn & Shawe-Taylor 2009, section 2.2",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE |
             KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, rkopls_settings),
    .columns = columns,
    .uses = kfe_i_use_sums,
    .fit = fit,
};
