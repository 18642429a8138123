/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequential minimal optimisation, for onevsrest.c (methods that learn SVMs with their features) and for the learner
 * svm. With f_t = Σ α_j y_j G_tj and the residual r_t = y_t − f_t, the objective changes at the rate −y_t·r_t in α_t.
 * A pair (i, j) moves along the constraint by a step s ≥ 0,
 *     α_i += y_i·s,   α_j −= y_j·s,
 * where i may go up (y_i·α_i can grow) and j may go down. α is optimal if r_i ≤ r_j for all such pairs; the violation
 * is the largest r_i − r_j. At the optimum offset = −r_t for every free α_t (strictly inside its box).
 *
 * The pair (Fan, Chen & Lin, 2005, "Working set selection using second order information for training support vector
 * machines", WSS 2): i has the largest r among those that may go up; j, among those that may go down, has the largest
 * gain (r_i − r_j)²/c, where c = G_ii + G_jj − 2·G_ij. A curvature c ≤ 0, which equal points and indefinite kernels
 * have, is replaced by a tiny positive one, so that the step ends at a bound.
 *
 * Shrinking (Joachims, 1998): from time to time examples at a bound that cannot be in a violating pair are set aside.
 * Before the end the residuals of all examples are computed from α again, and the iterations go on if they show a
 * violation.
 *
 * Precision: a residual carries a rounding error of about ε·max G_tt·‖α‖. Iterations end when the violation is down to
 * that, even if the tolerance is smaller: with kernel values of 10⁴⁰ no number of iterations would reach it.
 *
 * A warm start that has free coefficients first solves the subproblem of these, by the same iterations on a copy of its
 * part of G (smo_start.c). A start from a neighbouring problem then reads each row that matters a few times instead of
 * in every iteration.
 *
 * Cost: two rows of G and O(n) per iteration; O(n) memory, beside the matrix of operators whose rows are neither in memory nor
 * products of short vectors.
 */
#include "learn/smo/smo.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "learn/smo/smo_internal.h"
#include "learn/svm_dual.h"
#include "learn/svm_offset.h"

/* Replaces a curvature that is not positive; LIBSVM's value. */
#define TINY_CURVATURE 1e-12

enum { PROGRESS_EVERY = 1024, SHRINK_EVERY_AT_MOST = 1000 };
/* Updated residuals collect rounding errors: after this many iterations per example they are computed from scratch
 * before the solver ends on them. */
enum { TRUSTED_ITERATIONS_PER_EXAMPLE = 10 };
/* After this number of pairs per example, Newton steps are made too, even if the caller has not asked for them. */
enum { PAIRS_PER_EXAMPLE = 100 };

void kfe_i_smo_place_arrays(kfe_i_smo_state *s, int64_t count, double *memory)
{
    s->residual = memory;
    s->diagonal = memory + count;
    s->active = (int64_t *)(memory + 2 * count);
    s->moves = (unsigned char *)(memory + 3 * count);
}

void kfe_i_smo_work_free(kfe_context *ctx, kfe_i_smo_work *work)
{
    kfe_i_free(ctx, work->whole);
    kfe_i_free(ctx, work->part);
    kfe_i_free(ctx, work->newton);
    *work = (kfe_i_smo_work){0};
}

/* ---- rows of G ---- */

static double factor_product(const kfe_i_table *x, int64_t row, const double *dense)
{
    double sum = 0;

    if (x->kind == KFE_TABLE_DENSE)
        return cblas_ddot((blasint)x->cols, x->values + row * x->stride, 1, dense, 1);
    for (int64_t e = x->row_start[row]; e < x->row_start[row + 1]; e++)
        sum += x->values[e] * dense[x->columns[e]];
    return sum;
}

static void compute_row(const kfe_i_smo_state *s, int64_t index, double *row)
{
    kfe_i_table_dense_row(s->rows.factor, index, s->rows.factor_row);
    for (int64_t k = 0; k < s->active_count; k++)
        row[s->active[k]] = factor_product(s->rows.factor, s->active[k], s->rows.factor_row);
}

const double *kfe_i_smo_row(kfe_i_smo_state *s, int64_t index, double *buffer)
{
    s->done.row_touches++;
    if (!s->rows.factor)
        return s->rows.matrix + index * s->rows.stride;
    compute_row(s, index, buffer);
    return buffer;
}

static kfe_status open_arrays(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->n;
    int64_t needed = (KFE_SMO_ARRAYS + 2) * n;
    const kfe_i_table *transposed = NULL;

    s->rows.matrix = kfe_i_gram_rows(s->rows.gram, &s->rows.stride);
    s->rows.factor = kfe_i_gram_factor(s->rows.gram, &transposed);
    KFE_GROW(s->ctx, s->work->whole, s->work->whole_count,
             needed + (s->rows.factor ? 2 * n + s->rows.factor->cols : 0));
    kfe_i_smo_place_arrays(s, n, s->work->whole);
    s->weighted = s->work->whole + KFE_SMO_ARRAYS * n;
    s->product = s->weighted + n;
    if (s->rows.factor) {
        s->rows.first = s->product + n;
        s->rows.second = s->rows.first + n;
        s->rows.factor_row = s->rows.second + n;
    } else if (!s->rows.matrix) {
        KFE_TRY(kfe_i_gram_materialise(s->rows.gram, &s->rows.own));
        s->rows.matrix = s->rows.own;
        s->rows.stride = n;
    }
cleanup:
    return status;
}

/* ---- residuals from scratch ---- */

static int64_t count_nonzeros(const kfe_i_smo_state *s)
{
    int64_t count = 0;

    for (int64_t i = 0; i < s->n; i++)
        count += s->alpha[i] != 0;
    return count;
}

static void residuals_by_rows(kfe_i_smo_state *s)
{
    memcpy(s->residual, s->sign, (size_t)s->n * sizeof *s->residual);
    for (int64_t i = 0; i < s->n; i++)
        if (s->alpha[i] != 0)
            cblas_daxpy((blasint)s->n, -s->alpha[i] * s->sign[i], kfe_i_smo_row(s, i, s->rows.first), 1,
                        s->residual, 1);
}

static kfe_status residuals_by_product(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < s->n; i++)
        s->weighted[i] = s->alpha[i] * s->sign[i];
    KFE_TRY(kfe_i_gram_times(s->rows.gram, s->weighted, 1, s->product));
    for (int64_t i = 0; i < s->n; i++)
        s->residual[i] = s->sign[i] - s->product[i];
    s->done.row_touches += count_nonzeros(s);
cleanup:
    return status;
}

void kfe_i_smo_activate_all(kfe_i_smo_state *s)
{
    s->active_count = s->n;
    for (int64_t i = 0; i < s->n; i++)
        s->active[i] = i;
    s->done.until_shrinking = s->n < SHRINK_EVERY_AT_MOST ? s->n : SHRINK_EVERY_AT_MOST;
}

/* One product with a factored operator costs less than its rows one by one. */
static kfe_status compute_residuals(kfe_i_smo_state *s)
{
    kfe_i_smo_activate_all(s);
    s->done.since_exact = 0;
    if (s->rows.factor)
        return residuals_by_product(s);
    residuals_by_rows(s);
    return KFE_OK;
}

/* ---- iterations ---- */

void kfe_i_smo_update_moves(kfe_i_smo_state *s, int64_t i)
{
    int can_grow = s->alpha[i] < s->upper[i];
    int can_fall = s->alpha[i] > 0;
    int up = s->sign[i] > 0 ? can_grow : can_fall;
    int down = s->sign[i] > 0 ? can_fall : can_grow;

    s->moves[i] = (unsigned char)((up ? MAY_GO_UP : 0) | (down ? MAY_GO_DOWN : 0));
}

double kfe_i_smo_violation(kfe_i_smo_state *s)
{
    s->highest_up = -INFINITY;
    s->lowest_down = INFINITY;
    for (int64_t k = 0; k < s->active_count; k++) {
        int64_t t = s->active[k];
        double residual = s->residual[t];
        if ((s->moves[t] & MAY_GO_UP) && residual > s->highest_up) {
            s->highest_up = residual;
            s->up = t;
        }
        if ((s->moves[t] & MAY_GO_DOWN) && residual < s->lowest_down)
            s->lowest_down = residual;
    }
    return fmax(0, s->highest_up - s->lowest_down);
}

static double curvature(const kfe_i_smo_state *s, const double *row, int64_t i, int64_t j)
{
    double value = s->diagonal[i] + s->diagonal[j] - 2 * row[j];
    return value > 0 ? value : TINY_CURVATURE;
}

static int64_t choose_partner(const kfe_i_smo_state *s, const double *row_of_up)
{
    double best = -1;
    int64_t partner = -1;

    for (int64_t k = 0; k < s->active_count; k++) {
        int64_t t = s->active[k];
        double violation = s->highest_up - s->residual[t];
        if (!(s->moves[t] & MAY_GO_DOWN) || violation <= 0)
            continue;
        double gain = violation * violation / curvature(s, row_of_up, s->up, t);
        if (gain > best) {
            best = gain;
            partner = t;
        }
    }
    return partner;
}

static double room(const kfe_i_smo_state *s, int64_t i, double direction)
{
    return direction > 0 ? s->upper[i] - s->alpha[i] : s->alpha[i];
}

/* Moves α_i and returns the change of y_i·α_i. A step that takes all the room ends exactly at the bound. */
static double move(kfe_i_smo_state *s, int64_t i, double direction, double step)
{
    double before = s->alpha[i];
    double bound = direction > 0 ? s->upper[i] : 0;

    s->alpha[i] =
        step >= room(s, i, direction) ? bound : kfe_i_smo_clip(before + direction * step, s->upper[i]);
    kfe_i_smo_update_moves(s, i);
    return s->sign[i] * (s->alpha[i] - before);
}

/* Returns 0 if the step is below rounding; then all following ones would be too. */
static int improve_pair(kfe_i_smo_state *s)
{
    int64_t i = s->up;
    const double *row_i = kfe_i_smo_row(s, i, s->rows.first);
    int64_t j = choose_partner(s, row_i);

    if (j < 0)
        return 0;
    const double *row_j = kfe_i_smo_row(s, j, s->rows.second);
    double step = (s->residual[i] - s->residual[j]) / curvature(s, row_i, i, j);
    step = fmin(step, fmin(room(s, i, s->sign[i]), room(s, j, -s->sign[j])));
    double change_i = move(s, i, s->sign[i], step);
    double change_j = move(s, j, -s->sign[j], step);
    for (int64_t k = 0; k < s->active_count; k++) {
        int64_t t = s->active[k];
        s->residual[t] -= change_i * row_i[t] + change_j * row_j[t];
    }
    s->done.iterations++;
    s->done.since_exact++;
    s->done.until_shrinking--;
    return change_i != 0 || change_j != 0;
}

/* An example at a bound is in no violating pair while its residual is on the right side of all examples that may move
 * the other way. */
static int can_be_set_aside(const kfe_i_smo_state *s, int64_t t)
{
    if (s->moves[t] == MAY_GO_UP)
        return s->residual[t] < s->lowest_down;
    if (s->moves[t] == MAY_GO_DOWN)
        return s->residual[t] > s->highest_up;
    return 0;
}

static void shrink(kfe_i_smo_state *s)
{
    int64_t kept = 0;

    for (int64_t k = 0; k < s->active_count; k++)
        if (!can_be_set_aside(s, s->active[k]))
            s->active[kept++] = s->active[k];
    s->active_count = kept;
    s->done.until_shrinking = s->n < SHRINK_EVERY_AT_MOST ? s->n : SHRINK_EVERY_AT_MOST;
}

static int residuals_are_trusted(const kfe_i_smo_state *s)
{
    return s->rows.is_block ||
           (s->active_count == s->n && s->done.since_exact <= TRUSTED_ITERATIONS_PER_EXAMPLE * s->n);
}

static void estimate_rounding(kfe_i_smo_state *s)
{
    double largest = 0;

    for (int64_t i = 0; i < s->n; i++)
        largest = fmax(largest, fabs(s->diagonal[i]));
    s->rounding = DBL_EPSILON * largest * cblas_dnrm2((blasint)s->n, s->alpha, 1);
}

static kfe_status check_in(kfe_i_smo_state *s)
{
    if (s->done.iterations % PROGRESS_EVERY != 0)
        return KFE_OK;
    estimate_rounding(s);
    return kfe_i_progress(s->ctx, "training an SVM", s->done.iterations, 0);
}

kfe_status kfe_i_smo_iterate(kfe_i_smo_state *s, const kfe_i_smo_options *options, int64_t limit,
                             double *violation)
{
    kfe_status status = KFE_OK;
    int moved = 1;

    for (;;) {
        KFE_TRY(check_in(s));
        s->newton.steps |= s->newton.index && s->done.iterations > PAIRS_PER_EXAMPLE * s->n;
        *violation = kfe_i_smo_violation(s);
        int at_end =
            *violation <= fmax(options->tolerance, s->rounding) || !moved || s->done.iterations >= limit;
        if (at_end && residuals_are_trusted(s))
            break;
        if (at_end) {
            KFE_TRY(compute_residuals(s));
            moved = 1;
            continue;
        }
        if (options->shrinking && s->done.until_shrinking <= 0)
            shrink(s);
        if (s->newton.steps && s->newton.pairs_left-- <= 0) {
            kfe_i_smo_newton(s);
            continue;
        }
        moved = improve_pair(s);
    }
cleanup:
    return status;
}

/* ---- the answer ---- */

static double dual_objective(const kfe_i_smo_state *s)
{
    double sum = 0;

    for (int64_t i = 0; i < s->n; i++)
        sum -= s->alpha[i] * (1 + s->sign[i] * s->residual[i]) / 2;
    return sum;
}

double kfe_i_smo_offset(const kfe_i_smo_state *s)
{
    kfe_i_svm_offset offset = kfe_i_svm_offset_begin();

    for (int64_t i = 0; i < s->n; i++)
        if (s->sign[i] > 0)
            kfe_i_svm_offset_add(&offset, s->residual[i], s->alpha[i], 0, s->upper[i]);
        else
            kfe_i_svm_offset_add(&offset, s->residual[i], -s->alpha[i], -s->upper[i], 0);
    return kfe_i_svm_offset_end(&offset);
}

/* Primal minus dual: Σ αᵢ(yᵢfᵢ − 1) + Σ upperᵢ·max(0, 1 − yᵢ(fᵢ − offset)), with yᵢfᵢ = 1 − yᵢrᵢ. */
static double duality_gap(const kfe_i_smo_state *s, double offset)
{
    double gap = 0;

    for (int64_t i = 0; i < s->n; i++) {
        double slack = fmax(0, s->sign[i] * (s->residual[i] + offset));
        gap += s->upper[i] * slack - s->alpha[i] * s->sign[i] * s->residual[i];
    }
    return fmax(0, gap);
}

static void warn_of_violation(const kfe_i_smo_state *s, const kfe_i_smo_options *options, double violation)
{
    char where[96];

    snprintf(where, sizeof where, "a violation of %.3g (accepted: %.3g) after %lld iterations", violation,
             options->tolerance, (long long)s->done.iterations);
    kfe_i_svm_warn(s->ctx, options->who, where);
}

static kfe_status finish(const kfe_i_smo_state *s, const kfe_i_smo_options *options, double violation,
                         kfe_i_smo_result *out)
{
    double objective = dual_objective(s);
    double offset = kfe_i_smo_offset(s);

    if (!isfinite(objective) || !isfinite(offset))
        return kfe_i_fail(
            s->ctx, KFE_ENUMERIC,
            "the SVM is given kernel values that are too large or not numbers; scale the data or "
            "choose other kernel parameters");
    *out = (kfe_i_smo_result){.objective = objective,
                              .offset = offset,
                              .violation = violation,
                              .gap = duality_gap(s, offset),
                              .iterations = s->done.iterations,
                              .row_touches = s->done.row_touches,
                              .converged = violation <= options->tolerance};
    if (!out->converged && options->who)
        warn_of_violation(s, options, violation);
    return KFE_OK;
}

/* ---- the call ---- */

static kfe_status check_numbers(kfe_context *ctx, const kfe_i_smo_problem *problem, const double *alpha)
{
    for (int64_t i = 0; i < problem->gram->size; i++) {
        if (fabs(problem->sign[i]) != 1)
            return kfe_i_fail(ctx, KFE_EINVAL, "the sign of example %lld is %g; it must be 1 or -1",
                              (long long)i + 1, problem->sign[i]);
        if (!(problem->upper[i] > 0) || isinf(problem->upper[i]))
            return kfe_i_fail(ctx, KFE_EINVAL, "the C of example %lld is %g; it must be above 0 and finite",
                              (long long)i + 1, problem->upper[i]);
        if (!isfinite(alpha[i]))
            return kfe_i_fail(ctx, KFE_EINVAL, "coefficient %lld to start from is %g; start from zeros",
                              (long long)i + 1, alpha[i]);
    }
    return KFE_OK;
}

static kfe_status check(kfe_context *ctx, const kfe_i_smo_problem *problem, const kfe_i_smo_options *options,
                        const double *alpha)
{
    if (problem->gram->size < 1)
        return kfe_i_fail(ctx, KFE_EINPUT, "an SVM needs at least one example");
    if (!(options->tolerance > 0) || isinf(options->tolerance))
        return kfe_i_fail(ctx, KFE_EINVAL, "the tolerance is %g; it must be above 0 and finite",
                          options->tolerance);
    if (options->max_iterations < 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "the limit of iterations is %lld; it must be 0 (automatic) or more",
                          (long long)options->max_iterations);
    return check_numbers(ctx, problem, alpha);
}

static kfe_status begin(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(open_arrays(s));
    KFE_TRY(kfe_i_gram_diagonal(s->rows.gram, s->diagonal));
    kfe_i_smo_make_feasible(s);
    for (int64_t i = 0; i < s->n; i++)
        kfe_i_smo_update_moves(s, i);
    KFE_TRY(compute_residuals(s));
cleanup:
    return status;
}

kfe_status kfe_i_smo_solve(kfe_context *ctx, const kfe_i_smo_problem *problem,
                           const kfe_i_smo_options *options, double *alpha, kfe_i_smo_result *out)
{
    kfe_status status = KFE_OK;
    int64_t n = problem->gram->size;
    int64_t limit = options->max_iterations ? options->max_iterations : n > 100000 ? 100 * n : 10000000;
    double violation = 0;
    kfe_i_smo_work own = {0};
    kfe_i_smo_state s = {.ctx = ctx,
                         .work = problem->work ? problem->work : &own,
                         .rows = {.gram = problem->gram},
                         .n = n,
                         .sign = problem->sign,
                         .upper = problem->upper,
                         .alpha = alpha};

    memset(out, 0, sizeof *out);
    KFE_TRY(check(ctx, problem, options, alpha));
    KFE_TRY(begin(&s));
    KFE_TRY(kfe_i_smo_newton_open(&s, kfe_i_least(n, KFE_SMO_FEW_FREE), options->newton));
    if (!options->newton || !kfe_i_smo_newton_applies(&s))
        KFE_TRY(kfe_i_smo_solve_free(&s, options, kfe_i_least(limit, PAIRS_PER_EXAMPLE * n)));
    KFE_TRY(kfe_i_smo_iterate(&s, options, limit, &violation));
    KFE_TRY(finish(&s, options, violation, out));
cleanup:
    kfe_i_free(ctx, s.rows.own);
    kfe_i_smo_work_free(ctx, &own);
    return status;
}
