/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Working sets in double precision, with Newton steps, for the problems that blocks.c leaves unsolved. A working set of an SVM on a
 * kernel of d dimensions has room for its d + 1 free variables, which pairs would need millions of steps to balance.
 *
 * Time per working set of m variables: m² kernel values, m³/3 operations for each of its Newton steps, and a product of the
 * operator with the change.
 */
#include "learn/blocks/exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "learn/smo/smo.h"

enum { ITERATIONS_PER_VARIABLE = 1000 };
/* Working sets without progress, after which a violation within rounding is the end. */
enum { MOST_IN_VAIN = 3 };
/* A working set is solved to this share of what is accepted, so that the next one finds other variables. */
#define INNER_SHARE 0.1

typedef struct exact {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    kfe_i_block_problem *p;
    int64_t most;
    int64_t *rows;        /* most: of the working set */
    double *kernel;       /* most × most */
    double *sign, *upper; /* most */
    double *alpha, *residual;
    double *change, *product, *diagonal; /* size of the operator */
    kfe_i_smo_work work;
} exact;

static kfe_status open_exact(exact *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->gram->size;

    KFE_ALLOC(s->ctx, s->rows, s->most);
    KFE_ALLOC(s->ctx, s->kernel, s->most * s->most);
    KFE_ALLOC(s->ctx, s->sign, s->most);
    KFE_ALLOC(s->ctx, s->upper, s->most);
    KFE_ALLOC(s->ctx, s->alpha, s->most);
    KFE_ALLOC(s->ctx, s->residual, s->most);
    KFE_ALLOC(s->ctx, s->change, n);
    KFE_ALLOC(s->ctx, s->product, n);
    KFE_ALLOC(s->ctx, s->diagonal, n);
    KFE_TRY(kfe_i_gram_diagonal(s->gram, s->diagonal));
cleanup:
    return status;
}

static void close_exact(exact *s)
{
    kfe_i_free(s->ctx, s->rows);
    kfe_i_free(s->ctx, s->kernel);
    kfe_i_free(s->ctx, s->sign);
    kfe_i_free(s->ctx, s->upper);
    kfe_i_free(s->ctx, s->alpha);
    kfe_i_free(s->ctx, s->residual);
    kfe_i_free(s->ctx, s->change);
    kfe_i_free(s->ctx, s->product);
    kfe_i_free(s->ctx, s->diagonal);
    kfe_i_smo_work_free(s->ctx, &s->work);
}

/* What rounding may make of a value: residuals below it say nothing. */
static double rounding_of(const exact *s)
{
    double largest = 0;
    double square = 0;

    for (int64_t e = 0; e < s->p->examples; e++)
        largest = fmax(largest, fabs(s->diagonal[kfe_i_row_of(s->p, e)]));
    for (int64_t t = 0; t < s->p->variables; t++)
        square += s->p->beta[t] * s->p->beta[t];
    return DBL_EPSILON * largest * sqrt(square);
}

static void fill(exact *s)
{
    const kfe_i_block_problem *p = s->p;

    for (int64_t a = 0; a < p->set_count; a++) {
        int64_t t = p->set[a];
        double lowest = kfe_i_lowest_of(p, t);
        s->rows[a] = kfe_i_row_of(p, t);
        s->sign[a] = lowest < 0 ? -1 : 1;
        s->upper[a] = lowest < 0 ? -lowest : kfe_i_highest_of(p, t);
        s->alpha[a] = fabs(p->beta[t]);
        s->residual[a] = p->target[t] - p->values[kfe_i_example_of(p, t)];
    }
}

/* Takes the coefficients over and updates all values. */
static kfe_status take(exact *s)
{
    kfe_status status = KFE_OK;
    kfe_i_block_problem *p = s->p;

    memset(s->change, 0, (size_t)s->gram->size * sizeof *s->change);
    for (int64_t a = 0; a < p->set_count; a++) {
        double after = s->sign[a] * s->alpha[a];
        s->change[s->rows[a]] += after - p->beta[p->set[a]];
        kfe_i_block_set(p, p->set[a], after);
    }
    KFE_TRY(kfe_i_gram_times_sparse(s->gram, s->change, 1, s->product));
    for (int64_t e = 0; e < p->examples; e++)
        p->values[e] += s->product[kfe_i_row_of(p, e)];
cleanup:
    return status;
}

kfe_status kfe_i_block_solve_exactly(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_block_problem *p,
                                     const kfe_i_exact_options *options)
{
    kfe_status status = KFE_OK;
    exact s = {.ctx = ctx, .gram = gram, .p = p, .most = options->most};
    kfe_i_smo_options inner = {.tolerance = INNER_SHARE * options->stop,
                               .max_iterations =
                                   kfe_i_least(options->limit, ITERATIONS_PER_VARIABLE * s.most)};
    double best = INFINITY;
    int64_t moved = 1;
    int64_t in_vain = 0;

    KFE_TRY(open_exact(&s));
    for (int64_t done = 0; moved > 0 && done < options->limit; done += moved) {
        double violation = kfe_i_block_violation(p);
        in_vain = violation < best ? 0 : in_vain + 1;
        best = fmin(best, violation);
        if (violation <= options->stop || (in_vain >= MOST_IN_VAIN && violation <= rounding_of(&s)))
            break;
        kfe_i_block_choose(p, s.most);
        fill(&s);
        KFE_TRY(kfe_i_gram_among(gram, s.rows, p->set_count, s.kernel));
        KFE_TRY(kfe_i_smo_solve_block(
            ctx, &(kfe_i_smo_block){p->set_count, s.kernel, s.sign, s.upper, s.alpha, s.residual}, &inner,
            &s.work, &moved));
        KFE_TRY(take(&s));
        p->dual->iterations += moved;
    }
cleanup:
    close_exact(&s);
    return status;
}
