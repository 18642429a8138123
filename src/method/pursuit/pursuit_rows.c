/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pursuit on rows that are divided over processes, or kept in parts, for sma, smc and skfa: kfe_fit_stream without landmarks. All rows
 * are candidates, in the same random order as in one process that has them all, so that the same examples are picked. With weights,
 * row i of a column is multiplied by the root of its weight, but not by that of the candidate, by which all three criteria divide. A process needs
 * 8 bytes for the diagonal, 8 for the order and 1 for the state of every candidate, also for those of the others.
 */
#include "method/pursuit/pursuit.h"

#include "core/memory.h"
#include "method/shared/range.h"
#include "method/shared/targets.h"

static kfe_status begin_kernel(kfe_i_pursuit *p)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    KFE_ALLOC(p->ctx, p->diagonal, p->candidates);
    KFE_TRY(p->part->diagonal(p->part, p->diagonal));
    KFE_TRY(kfe_i_largest_of_diagonal(p->ctx, p->method, p->diagonal, p->candidates, &largest));
    p->kernel_unit = kfe_i_unit_of(largest);
    for (int64_t i = 0; i < p->candidates; i++)
        p->diagonal[i] /= p->kernel_unit;
cleanup:
    return status;
}

kfe_status kfe_i_pursuit_fit_rows(kfe_context *ctx, const char *method, kfe_i_pursuit_aim aim,
                                  const kfe_i_row_problem *problem, const kfe_i_pursuit_settings *settings,
                                  kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_part *part = problem->part;
    kfe_i_pursuit p = {.ctx = ctx,
                       .method = method,
                       .aim = aim,
                       .settings = settings,
                       .sparsity = settings->sparsity > 0 ? settings->sparsity : 1,
                       .part = part,
                       .n = part->rows,
                       .candidates = part->total,
                       .kernel_unit = 1,
                       .unit = 1,
                       .mass = kfe_i_target_mass(problem->target, problem->target->rows)};
    int64_t classes = problem->target->task == KFE_TASK_CLASSES ? problem->target->class_count : 0;

    KFE_TRY(kfe_i_pursuit_sum(&p, &p.mass, 1));
    if (aim != KFE_AIM_VARIANCE)
        KFE_TRY(kfe_i_divided_targets(ctx, problem->target, p.mass, &p.target, &p.targets, &p.unit));
    KFE_TRY(begin_kernel(&p));
    KFE_TRY(kfe_i_pursuit_run(&p, classes, out));
    KFE_TRY(kfe_i_pursuit_record_regression(&p, out));
cleanup:
    kfe_i_pursuit_free(&p);
    return status;
}
