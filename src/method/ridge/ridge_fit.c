/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of kfd, kopls, hsic and uhsic: the block solve of ridge.h on an operator or on the stand-in of sums, and what to do when the
 * kernel is not positive definite. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/solve/positive.h"
#include "linalg/basis.h"
#include "method/ridge/label_kernel.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"
#include "method/shared/stand_in.h"

typedef struct ridge_state {
    kfe_context *ctx;
    const kfe_i_ridge_problem *problem;
    kfe_i_arena memory;
    kfe_i_label_factor labels; /* L */
    int classes;               /* the labels are classes */
    kfe_i_loo_problem loo;     /* gram NULL: on the operator itself */
    /* from sums */
    const kfe_i_sums *sums; /* NULL: on rows */
    kfe_i_stand_in stand_in;
    kfe_i_gram *made, *sample, *weighted_sample;
    /* the operator */
    const kfe_i_gram *given; /* of the kernel itself */
    kfe_i_kept kept;         /* the same, in memory where that is cheap */
    kfe_i_gram *centred;
    kfe_i_positive positive;
    const kfe_i_gram *gram; /* G: one of these three */
    double ridge, residual;
    kfe_i_loo_choice choice; /* rows 0: the ridge was not chosen by leave-one-out */
    double mass;             /* examples that G stands for, or the sum of their weights */
    double trace;            /* of G */
    double noise;            /* what rounding makes of a zero eigenvalue of the kernel matrix */
    double *b, *image;       /* B and GL or GB, n × m */
    double *small;           /* H, m × m */
} ridge_state;

static void free_state(ridge_state *s)
{
    kfe_i_gram_free(s->centred);
    kfe_i_gram_keep_free(&s->kept);
    if (s->positive.ctx)
        kfe_i_positive_free(&s->positive);
    kfe_i_gram_free(s->weighted_sample);
    kfe_i_gram_free(s->sample);
    kfe_i_gram_free(s->made);
    if (s->stand_in.ctx)
        kfe_i_stand_in_free(&s->stand_in);
    kfe_i_label_factor_free(&s->labels);
    kfe_i_arena_free(&s->memory);
}

/* ---- sums ---- */

/* L at the rows of the sample, with their weights as kfe_i_gram_weighted wants them; not centred, which leave-one-out does itself. */
static kfe_status sample_labels(ridge_state *s, const kfe_i_target *target, const double *scales,
                                double **out)
{
    kfe_status status = KFE_OK;
    int64_t m = s->labels.rank;

    KFE_TAKE(&s->memory, *out, target->rows * m);
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t k = 0; k < m; k++) {
            double y = target->task == KFE_TASK_REAL ? target->values[i * m + k]
                       : m == 1                      ? 2.0 * target->codes[i] - 1
                                                     : target->codes[i] == k;
            (*out)[i * m + k] = y * scales[k] * sqrt(kfe_i_weight_of(target, i));
        }
cleanup:
    return status;
}

static kfe_status open_sample(ridge_state *s, const kfe_i_fit_source *source, const double *scales)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = source->sample_target;
    kfe_i_row_key *keys = NULL;
    double *labels;
    double *roots;

    KFE_TRY(sample_labels(s, target, scales, &labels));
    KFE_TRY(kfe_i_gram_factored(s->ctx, source->sample, &s->sample));
    if (!target->keys) { /* as for a sample from a file of sums */
        status = kfe_i_table_row_keys(s->ctx, source->sample, &keys);
        kfe_i_arena_add(&s->memory, keys);
        KFE_TRY(status);
    }
    if (target->weights) {
        KFE_TAKE(&s->memory, roots, target->rows);
        for (int64_t i = 0; i < target->rows; i++)
            roots[i] = sqrt(target->weights[i]);
        KFE_TRY(kfe_i_gram_weighted(s->ctx, s->sample, roots, &s->weighted_sample));
    }
    s->loo.gram = target->weights ? s->weighted_sample : s->sample;
    s->loo.targets = labels;
    s->loo.keys = keys ? keys : target->keys;
    s->loo.every_row = 1;
cleanup:
    return status;
}

static kfe_status open_sums(ridge_state *s, const kfe_i_fit_source *source)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->problem;
    double *scales;

    s->sums = source->sums;
    s->mass = s->sums->rows;
    s->classes = s->sums->task == KFE_TASK_CLASSES;
    KFE_TRY(kfe_i_stand_in_make(s->ctx, s->sums, KFE_STAND_IN_CENTRED, p->centred, &s->stand_in));
    int64_t rows = s->stand_in.table.rows;
    int64_t m = s->stand_in.targets;
    KFE_TAKE(&s->memory, scales, m);
    KFE_TRY(kfe_i_label_scales(s->ctx, p->method, s->sums, p->label_kernel, m, scales));
    s->labels.ctx = s->ctx;
    s->labels.rows = rows;
    s->labels.rank = m;
    s->labels.most = s->sums->classes > 0 && s->sums->classes - 1 < m ? s->sums->classes - 1 : m;
    KFE_ALLOC(s->ctx, s->labels.values, rows * m);
    for (int64_t e = 0; e < rows * m; e++)
        s->labels.values[e] = s->stand_in.values[e] * scales[e % m];
    s->labels.norm = cblas_dnrm2((blasint)(rows * m), s->labels.values, 1);
    if (!(s->labels.norm > 0))
        KFE_FAIL(s->ctx, KFE_EINPUT,
                 "%s: the target is the same for every example: there is nothing to explain", p->method);
    KFE_TRY(kfe_i_gram_factored(s->ctx, &s->stand_in.table, &s->made));
    s->given = s->made;
    if (p->ridge == KFE_RIDGE_AUTO && source->sample)
        KFE_TRY(open_sample(s, source, scales));
cleanup:
    return status;
}

/* ---- the operator ---- */

static kfe_status open_rows(ridge_state *s, const kfe_i_fit_source *source)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_ask_gram(s->ctx, source, &s->given));
    s->mass = kfe_i_gram_mass(s->given);
    s->classes = source->target->task == KFE_TASK_CLASSES;
    KFE_TRY(kfe_i_label_factor_make(s->ctx, s->problem->method, source->target, s->problem->label_kernel, 1,
                                    &s->labels));
    s->loo.keys = source->target->keys;
cleanup:
    return status;
}

/* Row means, products and the solver each pass over the operator. If the matrix and the solver's factor of it
 * take at most half of the memory, kernels are evaluated once; otherwise the solver keeps what fits. */
static kfe_status keep_matrix(ridge_state *s)
{
    double n = (double)s->given->size;
    double matrix = kfe_i_gram_packed_bytes(s->given->size, 0);
    double later = 8 * n * n + 80 * n * (double)s->labels.rank;

    s->kept.gram = s->given;
    if (matrix + later > 0.5 * (double)kfe_i_memory_left(s->ctx))
        return KFE_OK;
    return kfe_i_gram_keep(s->given, KFE_KEEP_DOUBLE, later, &s->kept);
}

static kfe_status open_operator(ridge_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(keep_matrix(s));
    s->gram = s->kept.gram;
    if (s->problem->centred) {
        KFE_TRY(kfe_i_gram_centred(s->ctx, s->kept.gram, &s->centred));
        s->gram = s->centred;
    }
    KFE_TRY(kfe_i_gram_rounding(s->given, &s->noise));
cleanup:
    return status;
}

/* ---- the ridge ---- */

/* trace: the mean diagonal of the operator; of a stand-in that is not the mean of the examples that it stands for. */
static kfe_status measure_trace(ridge_state *s, double *mean)
{
    kfe_status status = kfe_i_gram_mean_diagonal(s->gram, mean);

    s->trace = *mean * kfe_i_gram_mass(s->gram);
    return status;
}

static void set_ridge(ridge_state *s)
{
    s->ridge =
        s->choice.rows > 0 ? s->choice.ridge : kfe_i_chosen_ridge(s->problem->ridge, s->trace / s->mass, 1);
}

static kfe_status leave_one_out(ridge_state *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->problem;

    if (p->ridge != KFE_RIDGE_AUTO || (s->sums && !s->loo.gram))
        return KFE_OK;
    if (!s->loo.gram) {
        s->loo.gram = s->kept.gram;
        s->loo.targets = s->labels.values;
    }
    s->loo.centred = p->centred;
    s->loo.columns = s->labels.rank;
    s->loo.rule = p->on_images ? KFE_LOO_SMALLEST_RIDGE : kfe_i_loo_feature_rule(s->classes);
    KFE_TRY(kfe_i_loo_choose(s->ctx, &s->loo, &s->choice));
    if (s->choice.rows > 0)
        kfe_i_log(s->ctx, KFE_LOG_INFO, "%s: ridge %g, chosen by leave-one-out on %lld distinct examples",
                  p->method, s->choice.ridge, (long long)s->choice.rows);
cleanup:
    return status;
}
static kfe_status use_positive_part(ridge_state *s)
{
    kfe_status status = KFE_OK;
    double mean = 0;

    KFE_TRY(kfe_i_positive_part(s->ctx, s->problem->method, s->gram, &s->positive));
    s->gram = s->positive.gram;
    KFE_TRY(measure_trace(s, &mean));
    set_ridge(s);
cleanup:
    return status;
}

/* Leave-one-out comes after the check: it would take the rounding errors of equal examples for a kernel. */
static kfe_status choose_ridge(ridge_state *s)
{
    kfe_status status = KFE_OK;
    double squared_norm = 0;
    double mean = 0;

    KFE_TRY(measure_trace(s, &mean));
    int no_diagonal = !(mean > s->noise);
    if (no_diagonal) /* equal examples, unless the kernel is not positive definite */
        KFE_TRY(kfe_i_gram_squared_norm(s->gram, &squared_norm));
    if (no_diagonal && !(sqrt(squared_norm) > (double)s->gram->size * s->noise))
        KFE_FAIL(s->ctx, KFE_EINPUT, "%s: all examples are the same to the kernel; there is nothing to learn",
                 s->problem->method);
    KFE_TRY(leave_one_out(s));
    set_ridge(s);
    if (s->choice.indefinite || no_diagonal)
        KFE_TRY(use_positive_part(s));
cleanup:
    return status;
}

/* ---- the solution ---- */

/* B and H. */
static kfe_status solve(ridge_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->gram->size;
    int64_t m = s->labels.rank;
    const double *l = s->labels.values;

    if (s->problem->on_images) {
        KFE_TRY(kfe_i_gram_times(s->gram, l, m, s->image));
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, s->image, m, KFE_TOLERANCE, s->b, &s->residual));
        kfe_i_transpose_times(m, n, m, s->image, s->b, s->small);
    } else {
        KFE_TRY(kfe_i_gram_solve(s->gram, s->ridge, l, m, KFE_TOLERANCE, s->b, &s->residual));
        KFE_TRY(kfe_i_gram_times(s->gram, s->b, m, s->image));
        kfe_i_transpose_times(m, n, m, l, s->image, s->small);
    }
cleanup:
    return status;
}

/* KFE_ENUMERIC means that G + ρI is not positive definite: solve again on the positive part of G. */
static kfe_status solve_or_use_positive_part(ridge_state *s)
{
    kfe_status status = solve(s);

    if (status == KFE_ENUMERIC && !s->positive.gram) {
        KFE_TRY(use_positive_part(s));
        status = solve(s);
    }
    if (status == KFE_OK && s->positive.gram)
        KFE_TRY(kfe_i_positive_project(&s->positive, s->b, s->labels.rank));
cleanup:
    return status;
}

/*
 * Criteria are compared with rounding after division by their upper bound:
 *     L:   G(G + ρI)⁻¹ ≼ I,        so λ ≤ ‖L‖²
 *     GL:  G(G + ρI)⁻¹G ≼ tr(G)·I,  so λ ≤ ‖L‖² tr(G)
 */
static kfe_status make_solution(ridge_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->problem;
    int64_t n = s->gram->size;
    int64_t m = s->labels.rank;
    kfe_i_candidates candidates = {
        .method = p->method,
        .rows = n,
        .count = m,
        .b = s->b,
        .h = s->small,
        .scale = s->labels.norm * s->labels.norm * (p->on_images ? s->trace : 1),
        .rounding =
            p->on_images ? s->noise * (s->noise / (s->noise + s->ridge)) / s->trace : s->noise / s->ridge,
        .most = s->labels.most,
        .exhausted = p->exhausted,
        .none = p->none,
    };

    cblas_dscal((blasint)(m * m), 1 / candidates.scale, s->small, 1);
    KFE_TRY(kfe_i_best_directions(s->ctx, &candidates, n, p->dim, out));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &s->ridge, 1));
    KFE_TRY(kfe_i_solution_record(out, "residual", &s->residual, 1));
    KFE_TRY(kfe_i_loo_record(out, &s->choice));
    if (s->centred)
        KFE_TRY(kfe_i_solution_centre(out, s->centred));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    return status;
}

static kfe_status prepare(ridge_state *s, const kfe_i_fit_source *source)
{
    kfe_status status = source->sums ? open_sums(s, source) : open_rows(s, source);

    KFE_TRY(status);
    if (s->problem->scaled) {
        cblas_dscal((blasint)(s->labels.rows * s->labels.rank), 1 / s->labels.norm, s->labels.values, 1);
        s->labels.norm = 1;
    }
    KFE_TRY(open_operator(s));
    KFE_TRY(choose_ridge(s));
    KFE_TAKE(&s->memory, s->b, s->labels.rows * s->labels.rank);
    KFE_TAKE(&s->memory, s->image, s->labels.rows * s->labels.rank);
    KFE_TAKE(&s->memory, s->small, s->labels.rank * s->labels.rank);
cleanup:
    return status;
}

kfe_status kfe_i_ridge_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                           const kfe_i_ridge_problem *problem, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    ridge_state s = {.ctx = ctx, .problem = problem, .memory = {.ctx = ctx}};

    KFE_TRY(prepare(&s, source));
    KFE_TRY(solve_or_use_positive_part(&s));
    KFE_TRY(make_solution(&s, out));
    if (s.sums)
        KFE_TRY(kfe_i_stand_in_solution(&s.stand_in, s.sums, problem->centred, out));
cleanup:
    free_state(&s);
    return status;
}
