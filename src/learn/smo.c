/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequential minimal optimisation. With f_t = Σ α_j y_j G_tj and the residual r_t = y_t − f_t, the objective
 * changes at the rate −y_t·r_t in α_t. A pair (i, j) moves along the constraint by a step s ≥ 0,
 *   α_i += y_i·s,  α_j −= y_j·s,
 * where i may go up (y_i·α_i can grow) and j may go down. α is optimal if r_i ≤ r_j for all such pairs; the
 * gap is the largest r_i − r_j. Then offset = −r_t for every α_t strictly inside its box.
 *
 * The pair (Fan, Chen & Lin, 2005, "Working set selection using second order information for training support
 * vector machines", WSS 2): i has the largest r among those that may go up; j is the one that may go down
 * with the largest gain (r_i − r_j)²/c, where c = G_ii + G_jj − 2·G_ij. A curvature c ≤ 0, which equal points
 * and indefinite kernels have, is replaced by a tiny positive one, so that the step ends at a bound.
 *
 * Shrinking (Joachims, 1998): now and then examples at a bound that cannot be in a violating pair are set
 * aside. The residuals of all examples are computed afresh from α before the end, and the work goes on if
 * that shows a violation.
 *
 * From a start that has coefficients inside their boxes, the subproblem of these is solved first, by the same
 * iterations on a copy of its part of G (smo_start.c): a start from a neighbouring problem then reads each
 * row that matters a few times instead of in every iteration.
 *
 * Cost: two rows of G and O(n) per iteration; O(n) memory, beside a cache of columns for operators whose
 * rows are neither in memory nor products of short vectors.
 */
#include "learn/smo.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/smo_inside.h"

/* In place of a curvature that is not positive; LIBSVM's value. */
#define TINY_CURVATURE 1e-12

enum { CHECKPOINT_EVERY = 1024, SHRINK_EVERY_AT_MOST = 1000 };
/* Rounding adds up in residuals that are updated; after this many iterations per example they are not trusted
 * to end on. */
enum { TRUSTED_ITERATIONS_PER_EXAMPLE = 10 };
/* Of --memory, the share that the cache of columns may take: the caller has plans of its own. */
#define CACHE_SHARE 0.5

void kfe_i_smo_lay_out(kfe_i_smo_state *s, int64_t count, double *memory)
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
    kfe_i_free(ctx, work->jump);
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
    kfe_i_table_dense_row(s->factor, index, s->factor_row);
    for (int64_t k = 0; k < s->active_count; k++)
        row[s->active[k]] = factor_product(s->factor, s->active[k], s->factor_row);
}

kfe_status kfe_i_smo_read_row(kfe_i_smo_state *s, int64_t index, double *buffer, const double **row)
{
    s->row_touches++;
    if (s->block) {
        *row = s->block + index * s->stride;
        return KFE_OK;
    }
    if (s->cache)
        return kfe_i_column_cache_get(s->cache, index, row);
    if (s->factor) {
        compute_row(s, index, buffer);
        *row = buffer;
    } else {
        *row = kfe_i_gram_row(s->gram, index);
    }
    return KFE_OK;
}

/* Two columns are in use at a time. */
static kfe_status open_cache(kfe_i_smo_state *s)
{
    double bytes_per_column = 16.0 * (double)s->n;
    double columns = fmax(2, CACHE_SHARE * (double)kfe_context_memory(s->ctx) / bytes_per_column);

    return kfe_i_column_cache_new(s->gram, columns < (double)s->n ? (int64_t)columns : s->n, &s->cache);
}

static kfe_status open_arrays(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->n;
    int64_t needed = (KFE_SMO_ARRAYS + 2) * n;

    s->factor = kfe_i_gram_row(s->gram, 0) ? NULL : kfe_i_gram_factor(s->gram);
    KFE_GROW(s->ctx, s->work->whole, s->work->whole_count,
             needed + (s->factor ? 2 * n + s->factor->cols : 0));
    kfe_i_smo_lay_out(s, n, s->work->whole);
    s->weighted = s->work->whole + KFE_SMO_ARRAYS * n;
    s->product = s->weighted + n;
    if (s->factor) {
        s->row_of_i = s->product + n;
        s->row_of_j = s->row_of_i + n;
        s->factor_row = s->row_of_j + n;
    } else if (!kfe_i_gram_row(s->gram, 0)) {
        KFE_TRY(open_cache(s));
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

static kfe_status residuals_by_rows(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;
    const double *row = NULL;

    memcpy(s->residual, s->sign, (size_t)s->n * sizeof *s->residual);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->alpha[i] == 0)
            continue;
        KFE_TRY(kfe_i_smo_read_row(s, i, s->row_of_i, &row));
        cblas_daxpy((blasint)s->n, -s->alpha[i] * s->sign[i], row, 1, s->residual, 1);
    }
cleanup:
    return status;
}

static kfe_status residuals_by_product(kfe_i_smo_state *s, int64_t nonzeros)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < s->n; i++)
        s->weighted[i] = s->alpha[i] * s->sign[i];
    KFE_TRY(kfe_i_gram_times(s->gram, s->weighted, 1, s->product));
    for (int64_t i = 0; i < s->n; i++)
        s->residual[i] = s->sign[i] - s->product[i];
    s->row_touches += nonzeros;
cleanup:
    return status;
}

void kfe_i_smo_activate_all(kfe_i_smo_state *s)
{
    s->active_count = s->n;
    for (int64_t i = 0; i < s->n; i++)
        s->active[i] = i;
    s->until_shrinking = s->n < SHRINK_EVERY_AT_MOST ? s->n : SHRINK_EVERY_AT_MOST;
}

/* A product with a factored operator costs less than one row by one; a tiled operator evaluates half of the
 * matrix for a product, and the columns evaluated instead stay in the cache. */
static kfe_status compute_residuals(kfe_i_smo_state *s)
{
    int64_t nonzeros = count_nonzeros(s);

    kfe_i_smo_activate_all(s);
    s->since_exact = 0;
    if (s->factor || (s->cache && 2 * nonzeros > s->n))
        return residuals_by_product(s, nonzeros);
    return residuals_by_rows(s);
}

/* ---- iterations ---- */

void kfe_i_smo_note_moves(kfe_i_smo_state *s, int64_t i)
{
    int can_grow = s->alpha[i] < s->upper[i];
    int can_fall = s->alpha[i] > 0;
    int up = s->sign[i] > 0 ? can_grow : can_fall;
    int down = s->sign[i] > 0 ? can_fall : can_grow;

    s->moves[i] = (unsigned char)((up ? MAY_GO_UP : 0) | (down ? MAY_GO_DOWN : 0));
}

double kfe_i_smo_gap(kfe_i_smo_state *s)
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

/* Returns by how much y_i·α_i changed. A step that takes all the room ends exactly at the bound. */
static double move(kfe_i_smo_state *s, int64_t i, double direction, double step)
{
    double before = s->alpha[i];
    double bound = direction > 0 ? s->upper[i] : 0;

    s->alpha[i] =
        step >= room(s, i, direction) ? bound : kfe_i_smo_clip(before + direction * step, s->upper[i]);
    kfe_i_smo_note_moves(s, i);
    return s->sign[i] * (s->alpha[i] - before);
}

/* *moved is 0 if the step is below rounding, and so would be all the following ones. */
static kfe_status improve_pair(kfe_i_smo_state *s, int *moved)
{
    kfe_status status = KFE_OK;
    const double *row_i = NULL;
    const double *row_j = NULL;
    int64_t i = s->up;

    KFE_TRY(kfe_i_smo_read_row(s, i, s->row_of_i, &row_i));
    int64_t j = choose_partner(s, row_i);
    *moved = 0;
    if (j < 0)
        goto cleanup;
    KFE_TRY(kfe_i_smo_read_row(s, j, s->row_of_j, &row_j));
    double step = (s->residual[i] - s->residual[j]) / curvature(s, row_i, i, j);
    step = fmin(step, fmin(room(s, i, s->sign[i]), room(s, j, -s->sign[j])));
    double change_i = move(s, i, s->sign[i], step);
    double change_j = move(s, j, -s->sign[j], step);
    for (int64_t k = 0; k < s->active_count; k++) {
        int64_t t = s->active[k];
        s->residual[t] -= change_i * row_i[t] + change_j * row_j[t];
    }
    *moved = change_i != 0 || change_j != 0;
    s->iterations++;
    s->since_exact++;
    s->until_shrinking--;
cleanup:
    return status;
}

/* With one way to go, an example is in no violating pair while its residual is on the right side of all that
 * go the other way. */
static int is_settled(const kfe_i_smo_state *s, int64_t t)
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
        if (!is_settled(s, s->active[k]))
            s->active[kept++] = s->active[k];
    s->active_count = kept;
    s->until_shrinking = s->n < SHRINK_EVERY_AT_MOST ? s->n : SHRINK_EVERY_AT_MOST;
}

static int residuals_are_trusted(const kfe_i_smo_state *s)
{
    return s->block || (s->active_count == s->n && s->since_exact <= TRUSTED_ITERATIONS_PER_EXAMPLE * s->n);
}

kfe_status kfe_i_smo_iterate(kfe_i_smo_state *s, const kfe_i_smo_options *options, int64_t limit, double *gap)
{
    kfe_status status = KFE_OK;
    int moved = 1;

    for (;;) {
        if (s->iterations % CHECKPOINT_EVERY == 0)
            KFE_TRY(kfe_i_checkpoint(s->ctx, "training a support vector machine", s->iterations, 0));
        *gap = kfe_i_smo_gap(s);
        int at_end = *gap <= options->tolerance || !moved || s->iterations >= limit;
        if (at_end && residuals_are_trusted(s))
            break;
        if (at_end) {
            KFE_TRY(compute_residuals(s));
            moved = 1;
            continue;
        }
        if (options->shrinking && s->until_shrinking <= 0)
            shrink(s);
        if (s->jump_index && s->until_jump-- <= 0) {
            KFE_TRY(kfe_i_smo_jump(s));
            continue;
        }
        KFE_TRY(improve_pair(s, &moved));
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

/* The mean over α strictly inside the box; without any, the middle of what the others allow. With one sign
 * only one side bounds it, and there the margin is 1. */
double kfe_i_smo_offset(const kfe_i_smo_state *s)
{
    double sum = 0;
    int64_t inside = 0;

    for (int64_t i = 0; i < s->n; i++)
        if (s->moves[i] == (MAY_GO_UP | MAY_GO_DOWN)) {
            sum -= s->residual[i];
            inside++;
        }
    if (inside > 0)
        return sum / (double)inside;
    if (isinf(s->highest_up))
        return -s->lowest_down;
    return isinf(s->lowest_down) ? -s->highest_up : -(s->highest_up / 2 + s->lowest_down / 2);
}

static kfe_status report(const kfe_i_smo_state *s, const kfe_i_smo_options *options, double gap,
                         kfe_i_smo_result *out)
{
    double objective = dual_objective(s);
    double offset = kfe_i_smo_offset(s);

    if (!isfinite(objective) || !isfinite(offset))
        return kfe_i_fail(s->ctx, KFE_ENUMERIC,
                          "the support vector machine meets kernel values that are too large or not numbers; "
                          "scale the data or choose other kernel parameters");
    *out = (kfe_i_smo_result){.objective = objective,
                              .offset = offset,
                              .gap = gap,
                              .iterations = s->iterations,
                              .row_touches = s->row_touches,
                              .converged = gap <= options->tolerance};
    if (!out->converged)
        kfe_i_log(
            s->ctx, KFE_LOG_WARNING,
            "the support vector machine stopped after %lld iterations at a violation of %.3g, above the "
            "tolerance of %.3g; scale the data, lower C or raise the tolerance",
            (long long)s->iterations, gap, options->tolerance);
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
        return kfe_i_fail(ctx, KFE_EINPUT, "a support vector machine needs at least one example");
    if (!(options->tolerance > 0) || isinf(options->tolerance))
        return kfe_i_fail(ctx, KFE_EINVAL, "the tolerance is %g; it must be above 0 and finite",
                          options->tolerance);
    if (options->max_iterations < 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "the limit of iterations is %lld; 0 stands for the usual one",
                          (long long)options->max_iterations);
    return check_numbers(ctx, problem, alpha);
}

static kfe_status begin(kfe_i_smo_state *s)
{
    kfe_status status = KFE_OK;

    KFE_TRY(open_arrays(s));
    KFE_TRY(kfe_i_gram_diagonal(s->gram, s->diagonal));
    kfe_i_smo_make_feasible(s);
    for (int64_t i = 0; i < s->n; i++)
        kfe_i_smo_note_moves(s, i);
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
    double gap = 0;
    kfe_i_smo_work own = {0};
    kfe_i_smo_state s = {.ctx = ctx,
                         .work = problem->work ? problem->work : &own,
                         .gram = problem->gram,
                         .n = n,
                         .sign = problem->sign,
                         .upper = problem->upper,
                         .alpha = alpha};

    memset(out, 0, sizeof *out);
    KFE_TRY(check(ctx, problem, options, alpha));
    KFE_TRY(begin(&s));
    if (options->jumps)
        KFE_TRY(kfe_i_smo_jump_open(&s));
    if (!options->jumps || !kfe_i_smo_can_jump(&s))
        KFE_TRY(kfe_i_smo_settle(&s, options, limit));
    KFE_TRY(kfe_i_smo_iterate(&s, options, limit, &gap));
    KFE_TRY(report(&s, options, gap, out));
cleanup:
    kfe_i_column_cache_free(s.cache);
    kfe_i_smo_work_free(ctx, &own);
    return status;
}
