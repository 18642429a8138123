/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L-BFGS directions by the two loops of Nocedal (1980), for slmc, which combines them with line_search.h.
 *
 * liblbfgs is not used. It allocates by itself, beyond the context's hook and memory limit; its evaluation
 * callback cannot fail, so that running out of memory or a cancelled fit would have to pass through it as a value
 * that is not a number; and it asks for a gradient at every trial step, where slmc needs one per iteration. What
 * would be left to it are the two loops below.
 *
 * Nocedal & Wright, "Numerical optimization", algorithm 7.4. Cost: 4·pairs·size.
 */
#include "method/joint/lbfgs.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_lbfgs_open(kfe_context *ctx, int64_t size, kfe_i_lbfgs *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_lbfgs){.ctx = ctx, .size = size, .newest = KFE_LBFGS_PAIRS - 1};
    KFE_ALLOC(ctx, out->steps, KFE_LBFGS_PAIRS * size);
    KFE_ALLOC(ctx, out->changes, KFE_LBFGS_PAIRS * size);
cleanup:
    return status;
}

void kfe_i_lbfgs_free(kfe_i_lbfgs *s)
{
    if (!s->ctx)
        return;
    kfe_i_free(s->ctx, s->steps);
    kfe_i_free(s->ctx, s->changes);
    memset(s, 0, sizeof *s);
}

void kfe_i_lbfgs_clear(kfe_i_lbfgs *s)
{
    s->kept = 0;
}

static double dot(const kfe_i_lbfgs *s, const double *a, const double *b)
{
    return cblas_ddot((blasint)s->size, a, 1, b, 1);
}

static void add(const kfe_i_lbfgs *s, double factor, const double *from, double *to)
{
    cblas_daxpy((blasint)s->size, factor, from, 1, to, 1);
}

/* The place of the pair that is `age` younger pairs old. */
static int64_t place(const kfe_i_lbfgs *s, int64_t age)
{
    return (s->newest - age + KFE_LBFGS_PAIRS) % KFE_LBFGS_PAIRS;
}

void kfe_i_lbfgs_direction(kfe_i_lbfgs *s, const double *gradient, double *direction)
{
    for (int64_t i = 0; i < s->size; i++)
        direction[i] = -gradient[i];
    for (int64_t age = 0; age < s->kept; age++) {
        int64_t at = place(s, age);
        s->share[at] = s->inverse[at] * dot(s, s->steps + at * s->size, direction);
        add(s, -s->share[at], s->changes + at * s->size, direction);
    }
    if (s->kept > 0) {
        const double *change = s->changes + s->newest * s->size;
        cblas_dscal((blasint)s->size, 1 / (s->inverse[s->newest] * dot(s, change, change)), direction, 1);
    }
    for (int64_t age = s->kept - 1; age >= 0; age--) {
        int64_t at = place(s, age);
        double share = s->share[at] - s->inverse[at] * dot(s, s->changes + at * s->size, direction);
        add(s, share, s->steps + at * s->size, direction);
    }
}

void kfe_i_lbfgs_add(kfe_i_lbfgs *s, const double *from, const double *to, const double *gradient_from,
                     const double *gradient_to)
{
    int64_t at = (s->newest + 1) % KFE_LBFGS_PAIRS;
    double *step = s->steps + at * s->size;
    double *change = s->changes + at * s->size;

    for (int64_t i = 0; i < s->size; i++) {
        step[i] = to[i] - from[i];
        change[i] = gradient_to[i] - gradient_from[i];
    }
    double curvature = dot(s, step, change);
    if (!(curvature > 1e-12 * dot(s, change, change)))
        return;
    s->inverse[at] = 1 / curvature;
    s->newest = at;
    s->kept += s->kept < KFE_LBFGS_PAIRS;
}
