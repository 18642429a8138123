/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of examples by class, for the centroid methods, kfd and slmc. */
#include "method/shared/groups.h"

#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"

static kfe_status count_members(kfe_i_groups *groups)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(groups->ctx, groups->sizes, groups->count);
    for (int64_t i = 0; i < groups->rows; i++)
        groups->sizes[groups->of[i]] += groups->weights ? groups->weights[i] : 1;
cleanup:
    return status;
}

kfe_status kfe_i_groups_from_classes(kfe_context *ctx, const kfe_i_target *target, kfe_i_groups *out)
{
    kfe_status status = KFE_OK;

    assert(target->task == KFE_TASK_CLASSES);
    assert(kfe_i_codes_below(target->codes, target->rows, target->class_count));
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = target->rows;
    out->count = target->class_count;
    out->weights = target->weights;
    KFE_ALLOC(ctx, out->of, target->rows);
    memcpy(out->of, target->codes, (size_t)target->rows * sizeof *out->of);
    KFE_TRY(count_members(out));
cleanup:
    return status;
}

double kfe_i_groups_mass(const kfe_i_groups *groups)
{
    double sum = 0;

    if (!groups->weights)
        return (double)groups->rows;
    for (int64_t i = 0; i < groups->rows; i++)
        sum += groups->weights[i];
    return sum;
}

void kfe_i_groups_free(kfe_i_groups *groups)
{
    if (groups->ctx) {
        kfe_i_free(groups->ctx, groups->of);
        kfe_i_free(groups->ctx, groups->sizes);
    }
    memset(groups, 0, sizeof *groups);
}
