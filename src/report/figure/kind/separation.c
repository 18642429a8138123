/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how well each feature tells examples apart: by the share of its variance between classes, or by its correlation with a target. */
#include "report/figure/kind/separation.h"

#include <math.h>

enum { MOST_CLASSES = 1000 };

static double feature_of(const kfe_i_set *set, int64_t row, int64_t j)
{
    return set->features.values[row * set->features.stride + j];
}

static double weight_of(const kfe_i_set *set, int64_t row)
{
    return set->weights ? set->weights[row] : 1;
}

/* The variance between classes over the variance of the feature. */
static double between(const kfe_i_set *set, int64_t j, int64_t classes)
{
    double sums[MOST_CLASSES] = {0};
    double masses[MOST_CLASSES] = {0};
    double sum = 0;
    double mass = 0;
    double squares = 0;
    double parts = 0;

    for (int64_t i = 0; i < set->rows; i++) {
        sum += weight_of(set, i) * feature_of(set, i, j);
        mass += weight_of(set, i);
    }
    double mean = mass > 0 ? sum / mass : 0;
    for (int64_t i = 0; i < set->rows; i++) {
        double left = feature_of(set, i, j) - mean;
        sums[set->truth[i]] += weight_of(set, i) * left;
        masses[set->truth[i]] += weight_of(set, i);
        squares += weight_of(set, i) * left * left;
    }
    for (int64_t g = 0; g < classes; g++)
        parts += masses[g] > 0 ? sums[g] * sums[g] / masses[g] : 0;
    return squares > 0 ? parts / squares : 0;
}

/* The squared correlation with the first target. */
static double correlation(const kfe_i_set *set, const kfe_i_target *target, int64_t j)
{
    double mass = 0;
    double x = 0;
    double y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;

    for (int64_t i = 0; i < set->rows; i++) { /* means and products in one pass (West 1979) */
        double weight = weight_of(set, i);
        double dx = feature_of(set, i, j) - x;
        double dy = target->values[i * target->cols] - y;
        if (weight <= 0)
            continue;
        mass += weight;
        x += dx * weight / mass;
        y += dy * weight / mass;
        xx += weight * dx * (feature_of(set, i, j) - x);
        yy += weight * dy * (target->values[i * target->cols] - y);
        xy += weight * dx * (target->values[i * target->cols] - y);
    }
    return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

void kfe_i_best_pair(const kfe_i_set *set, int64_t features, int64_t classes, int64_t best[2])
{
    const kfe_i_target *target = set->data ? &(set->gathered ? set->gathered : set->data)->target : NULL;
    double sizes[2] = {-1, -1};
    int has_classes = target && set->truth && classes > 1 && classes <= MOST_CLASSES;

    if (features < 3 || !target || !(has_classes || target->task == KFE_TASK_REAL))
        return;
    for (int64_t j = 0; j < features; j++) {
        double size = has_classes ? between(set, j, classes) : correlation(set, target, j);
        int place = size > sizes[0] ? 0 : size > sizes[1] ? 1 : 2;
        if (place == 0) {
            sizes[1] = sizes[0];
            best[1] = best[0];
        }
        if (place < 2) {
            sizes[place] = size;
            best[place] = j + 1;
        }
    }
    if (best[0] > best[1]) {
        int64_t other = best[0];
        best[0] = best[1];
        best[1] = other;
    }
}
