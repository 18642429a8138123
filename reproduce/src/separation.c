/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With class means c_g of n_g rows and the overall mean c,
 *     trace S_b = Σ_g n_g ‖c_g − c‖²,   trace S_w = Σ_i ‖z_i − c_g(i)‖²,
 * both from differences. Memory O(classes × cols) beside the features.
 */
#include "select/separation.h"

#include <math.h>

#include "core/memory.h"

static double squared_distance(int64_t cols, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static int64_t nearest_other(int64_t rows, int64_t cols, int64_t stride, const double *features, int64_t i)
{
    int64_t nearest = -1;
    double smallest = INFINITY;

    for (int64_t j = 0; j < rows; j++) {
        double distance =
            j == i ? INFINITY : squared_distance(cols, features + i * stride, features + j * stride);
        if (distance < smallest) {
            smallest = distance;
            nearest = j;
        }
    }
    return nearest;
}

/* means: classes × cols, then one row for all. */
static void find_means(const kfe_i_target *target, int64_t cols, int64_t stride, const double *features,
                       const int64_t *sizes, double *means)
{
    double *overall = means + target->class_count * cols;

    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double value = features[i * stride + j];
            means[target->codes[i] * cols + j] += value / (double)sizes[target->codes[i]];
            overall[j] += value / (double)target->rows;
        }
}

static double scatter_ratio(const kfe_i_target *target, int64_t cols, int64_t stride, const double *features,
                            const double *means)
{
    const double *overall = means + target->class_count * cols;
    double between = 0;
    double within = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        const double *own = means + target->codes[i] * cols;
        between += squared_distance(cols, own, overall);
        within += squared_distance(cols, features + i * stride, own);
    }
    return within > 0 ? between / within : NAN;
}

kfe_status kfe_i_separation_measure(kfe_context *ctx, const kfe_i_target *target, int64_t cols,
                                    int64_t stride, const double *features, kfe_i_separation *out)
{
    kfe_status status = KFE_OK;
    int64_t *sizes = NULL;
    double *means = NULL;
    int64_t right = 0;

    out->neighbour_accuracy = out->scatter_ratio = NAN;
    KFE_ALLOC(ctx, sizes, target->class_count);
    KFE_ALLOC_ZERO(ctx, means, (target->class_count + 1) * cols);
    kfe_i_target_count(target, sizes);
    find_means(target, cols, stride, features, sizes, means);
    out->scatter_ratio = scatter_ratio(target, cols, stride, features, means);
    for (int64_t i = 0; i < target->rows; i++) {
        int64_t nearest = nearest_other(target->rows, cols, stride, features, i);
        KFE_TRY(kfe_i_checkpoint(ctx, "finding neighbours", i, target->rows));
        right += nearest >= 0 && target->codes[nearest] == target->codes[i];
    }
    if (target->rows > 1)
        out->neighbour_accuracy = (double)right / (double)target->rows;
cleanup:
    kfe_i_free(ctx, sizes);
    kfe_i_free(ctx, means);
    return status;
}
