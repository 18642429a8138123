/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well features separate the classes. Called by reproduce.c for scatter plots.
 *
 * With class means c_g, the overall mean c and g(i) the class of row i,
 *     trace S_b = Σ_i ‖c_g(i) − c‖²,
 *     trace S_w = Σ_i ‖z_i − c_g(i)‖².
 * Memory: O(classes · columns) beside the features.
 */
#include "reproduce/src/separation.h"

#include <math.h>
#include <stdlib.h>

#include "reproduce/src/text.h"

static double squared_distance(int64_t cols, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t j = 0; j < cols; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* -1 if there is no other row. */
static int64_t nearest_other(const kfe_matrix *features, int64_t i)
{
    const double *own = features->values + i * features->stride;
    double smallest = INFINITY;
    int64_t nearest = -1;

    for (int64_t j = 0; j < features->rows; j++) {
        double distance = squared_distance(features->cols, own, features->values + j * features->stride);
        if (j != i && distance < smallest) {
            smallest = distance;
            nearest = j;
        }
    }
    return nearest;
}

/* Fills classes × columns means, then the overall mean. */
static void find_means(const kfe_data *data, const kfe_matrix *features, const int64_t *sizes, double *means)
{
    int64_t cols = features->cols;
    double *overall = means + kfe_data_classes(data) * cols;

    for (int64_t i = 0; i < features->rows; i++) {
        int64_t g = kfe_data_class_of(data, i);
        for (int64_t j = 0; j < cols; j++) {
            double value = features->values[i * features->stride + j];
            means[g * cols + j] += value / (double)sizes[g];
            overall[j] += value / (double)features->rows;
        }
    }
}

static double scatter_ratio(const kfe_data *data, const kfe_matrix *features, const double *means)
{
    int64_t cols = features->cols;
    const double *overall = means + kfe_data_classes(data) * cols;
    double between = 0;
    double within = 0;

    for (int64_t i = 0; i < features->rows; i++) {
        const double *own = means + kfe_data_class_of(data, i) * cols;
        between += squared_distance(cols, own, overall);
        within += squared_distance(cols, features->values + i * features->stride, own);
    }
    return within > 0 ? between / within : NAN;
}

static kfe_status neighbour_accuracy(kfe_context *ctx, const kfe_data *data, const kfe_matrix *features,
                                     double *out)
{
    kfe_status status = KFE_OK;
    int64_t right = 0;

    for (int64_t i = 0; i < features->rows; i++) {
        int64_t nearest = nearest_other(features, i);
        REP_TRY(kfe_progress(ctx, "finding neighbours", i, features->rows));
        right += nearest >= 0 && kfe_data_class_of(data, nearest) == kfe_data_class_of(data, i);
    }
    *out = features->rows > 1 ? (double)right / (double)features->rows : NAN;
cleanup:
    return status;
}

kfe_status rep_separation_measure(kfe_context *ctx, const kfe_data *data, const kfe_matrix *features,
                                  rep_separation *out)
{
    kfe_status status = KFE_OK;
    size_t classes = (size_t)kfe_data_classes(data);
    void *sizes = NULL;
    void *means = NULL;

    *out = (rep_separation){NAN, NAN};
    REP_TRY(rep_allocate(ctx, classes, sizeof(int64_t), &sizes));
    REP_TRY(rep_allocate(ctx, (classes + 1) * (size_t)features->cols, sizeof(double), &means));
    for (int64_t i = 0; i < features->rows; i++)
        ((int64_t *)sizes)[kfe_data_class_of(data, i)]++;
    find_means(data, features, sizes, means);
    out->scatter_ratio = scatter_ratio(data, features, means);
    REP_TRY(neighbour_accuracy(ctx, data, features, &out->neighbour_accuracy));
cleanup:
    free(sizes);
    free(means);
    return status;
}
