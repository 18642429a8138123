/* SPDX-License-Identifier: Apache-2.0 */
/* SMO with Newton steps (smo.c, smo_newton.c) on a few variables whose kernel values are at hand: a working set of a larger
 * problem, the other variables being fixed. */
#include "core/memory.h"
#include "learn/smo/smo_internal.h"

kfe_status kfe_i_smo_solve_block(kfe_context *ctx, const kfe_i_smo_block *block,
                                 const kfe_i_smo_options *options, kfe_i_smo_work *work, int64_t *iterations)
{
    kfe_status status = KFE_OK;
    double violation = 0;
    kfe_i_smo_state s = {.ctx = ctx,
                         .work = work,
                         .rows = {.is_block = 1, .matrix = block->kernel, .stride = block->count},
                         .n = block->count,
                         .sign = block->sign,
                         .upper = block->upper,
                         .alpha = block->alpha};

    KFE_GROW(ctx, work->whole, work->whole_count, KFE_SMO_ARRAYS * s.n);
    kfe_i_smo_place_arrays(&s, s.n, work->whole);
    s.residual = block->residual;
    for (int64_t i = 0; i < s.n; i++) {
        s.diagonal[i] = block->kernel[i * (s.n + 1)];
        kfe_i_smo_update_moves(&s, i);
    }
    kfe_i_smo_activate_all(&s);
    KFE_TRY(kfe_i_smo_newton_open(&s, s.n, 1));
    KFE_TRY(kfe_i_smo_iterate(&s, options, options->max_iterations, &violation));
    *iterations = s.done.iterations;
cleanup:
    return status;
}
