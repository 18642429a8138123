/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of the methods that learn a distance, as columns of numbers of comparable size. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/distance/distance.h"

/* Mean 0 and standard deviation 1; the largest magnitude is divided out first, so that squares stay finite. Returns 0 for
 * a constant column. */
static int standardise(kfe_i_distance_target *t, const kfe_i_target *target, int64_t c)
{
    double reach = 0;
    double mean = 0;
    double variance = 0;
    double mass = kfe_i_target_mass(target, t->rows);

    for (int64_t i = 0; i < t->rows; i++)
        reach = fmax(reach, fabs(target->values[i * target->cols + c]));
    reach = reach > 0 ? reach : 1;
    for (int64_t i = 0; i < t->rows; i++)
        mean += kfe_i_weight_of(target, i) * target->values[i * target->cols + c] / reach / mass;
    for (int64_t i = 0; i < t->rows; i++) {
        double v = target->values[i * target->cols + c] / reach - mean;
        t->values[i * t->columns + c] = v;
        variance += kfe_i_weight_of(target, i) * v * v / mass;
    }
    int varies = variance > 1e-28;
    double sd = varies ? sqrt(variance) : 1;
    for (int64_t i = 0; i < t->rows; i++)
        t->values[i * t->columns + c] = varies ? t->values[i * t->columns + c] / sd : 0;
    t->shift[c] = mean * reach;
    t->scale[c] = sd * reach;
    return varies;
}

static void indicate(kfe_i_distance_target *t, const kfe_i_target *target)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t c = 0; c < t->columns; c++)
            t->values[i * t->columns + c] =
                t->columns == 1 ? (target->codes[i] == 0 ? -1 : 1) : (target->codes[i] == c);
}

kfe_status kfe_i_distance_target_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                      kfe_i_distance_target *out)
{
    kfe_status status = KFE_OK;
    int classes = target->task == KFE_TASK_CLASSES;
    int varies = classes;

    *out = (kfe_i_distance_target){.ctx = ctx, .rows = target->rows};
    out->columns = !classes ? target->cols : target->class_count == 2 ? 1 : target->class_count;
    KFE_ALLOC(ctx, out->values, out->rows * out->columns);
    KFE_ALLOC_ZERO(ctx, out->shift, out->columns);
    KFE_ALLOC(ctx, out->scale, out->columns);
    for (int64_t c = 0; c < out->columns; c++)
        out->scale[c] = 1;
    if (classes)
        indicate(out, target);
    for (int64_t c = 0; !classes && c < out->columns; c++)
        varies |= standardise(out, target, c);
    if (!varies)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: the target is the same for every example; there is nothing to learn",
                 method);
cleanup:
    return status;
}

void kfe_i_distance_target_free(kfe_i_distance_target *target)
{
    if (target->ctx) {
        kfe_i_free(target->ctx, target->values);
        kfe_i_free(target->ctx, target->shift);
        kfe_i_free(target->ctx, target->scale);
    }
    memset(target, 0, sizeof *target);
}
