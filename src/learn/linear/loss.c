/* SPDX-License-Identifier: Apache-2.0 */
/* Squared losses of outputs outside of intervals, compiled for each instruction set (loss.h). */
#include "learn/linear/loss.h"

#include "core/instructions.h"

KFE_LOOP double outside(const kfe_i_losses *losses, int64_t i, double output)
{
    double inside = output > losses->low[i] ? output : losses->low[i];

    inside = inside < losses->high[i] ? inside : losses->high[i];
    return output - inside;
}

KFE_LOOP kfe_i_loss_sums move_along(const kfe_i_losses *losses, const double *output, const double *moved,
                                    double step, double *restrict slope)
{
    double sum = 0;
    double first = 0;
    double second = 0;
    int64_t active = 0;

#pragma omp simd reduction(+ : sum, first, second, active)
    for (int64_t i = 0; i < losses->count; i++) {
        double e = outside(losses, i, output[i] + step * moved[i]);
        double c = 2 * losses->cost[i];
        slope[i] = c * e;
        sum += slope[i] * e;
        first += slope[i] * moved[i];
        second += e != 0 ? c * moved[i] * moved[i] : 0;
        active += e != 0;
    }
    return (kfe_i_loss_sums){sum / 2, first, second, active};
}

enum { BLOCK = 128 };

KFE_LOOP int differs(double a, double b)
{
    return ((a > 0) != (b > 0)) | ((a < 0) != (b < 0));
}

/* Most blocks have no change after the first steps. */
KFE_LOOP int64_t list_changes(const double *slope, const double *before, int64_t count, int32_t *list)
{
    int64_t changes = 0;

    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t last = first + BLOCK < count ? first + BLOCK : count;
        int found = 0;
#pragma omp simd reduction(| : found)
        for (int64_t i = first; i < last; i++)
            found |= differs(slope[i], before[i]);
        for (int64_t i = first; found && i < last; i++) {
            list[changes] = (int32_t)i;
            changes += differs(slope[i], before[i]);
        }
    }
    return changes;
}

KFE_CHOOSE_LOOP(kfe_i_loss_sums, return, kfe_i_loss_along, move_along,
                (const kfe_i_losses *losses, const double *output, const double *moved, double step,
                 double *slope),
                (losses, output, moved, step, slope))
KFE_CHOOSE_LOOP(int64_t, return, kfe_i_loss_list_changes, list_changes,
                (const double *slope, const double *before, int64_t count, int32_t *list),
                (slope, before, count, list))
