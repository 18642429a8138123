/* SPDX-License-Identifier: Apache-2.0 */
/* Computes auto, scale and median from the training data, for gamma and for sigma. */
#include "kernel/formula/gamma.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/rng.h"

enum { GAMMA_AUTO = -1, GAMMA_SCALE = -2, GAMMA_MEDIAN = -3 };

/* The median is taken over all pairs of at most this many examples, drawn at random. */
#define KFE_MEDIAN_SAMPLE 1000
/* Relative rounding error of a mean: more than a sum of a billion entries loses, less than the spread of real data. */
#define KFE_MEAN_ROUNDING 1e-10

/* Variance over all entries of the table, zeros of sparse rows included. */
static double entry_variance(const kfe_i_table *table)
{
    double count = kfe_i_table_weight(table) * (double)table->cols;
    double mean = 0;
    double sum = 0;
    double present = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < table->rows; i++) {
            int sparse = table->kind == KFE_TABLE_CSR;
            int64_t begin = sparse ? table->row_start[i] : i * table->stride;
            int64_t end = sparse ? table->row_start[i + 1] : begin + table->cols;
            double weight = kfe_i_row_weight(table, i);
            for (int64_t p = begin; p < end; p++) {
                double value = sparse ? table->values[p] : kfe_i_table_value(table, i, p - begin);
                if (pass == 0)
                    mean += weight * value / count;
                else
                    sum += weight * ((value - mean) * (value - mean));
            }
            present += pass ? weight * (double)(end - begin) : 0;
        }
    }
    double variance = (sum + (count - present) * mean * mean) / count;
    /* equal entries have no spread, although rounding of the mean leaves a small variance */
    return variance > KFE_MEAN_ROUNDING * KFE_MEAN_ROUNDING * mean * mean ? variance : 0;
}

static double squared_distance(const double *x, const double *y, int64_t count)
{
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* The distance of a pair of examples, and how many pairs it counts for. */
struct pair {
    double distance, weight;
};

static int compare_pairs(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->distance;
    double y = ((const struct pair *)b)->distance;
    return (x > y) - (x < y);
}

/* The mean of the two distances in the middle, which may be the same. `equal` pairs have distance zero: an example of weight w stands
 * for w(w − 1)/2 of them. */
static double median_pair(const struct pair *sorted, int64_t count, double equal)
{
    double half = equal / 2;
    double before = equal;
    int64_t lower = 0;

    for (int64_t i = 0; i < count; i++)
        half += sorted[i].weight / 2;
    if (count == 0 || before > half)
        return 0;
    if (before == half && equal > 0)
        return sorted[0].distance / 2;
    for (; lower + 1 < count && before + sorted[lower].weight < half; lower++)
        before += sorted[lower].weight;
    int64_t upper = lower + (lower + 1 < count && before + sorted[lower].weight == half);
    return (sorted[lower].distance + sorted[upper].distance) / 2;
}

static kfe_status median_squared_distance(kfe_context *ctx, const kfe_i_table *train, double *out)
{
    kfe_status status = KFE_OK;
    int64_t *index = NULL;
    double *rows = NULL;
    struct pair *distances = NULL;
    int64_t sample = train->rows < KFE_MEDIAN_SAMPLE ? train->rows : KFE_MEDIAN_SAMPLE;
    int64_t pairs = 0;
    double equal = 0;
    kfe_i_rng rng;

    KFE_ALLOC(ctx, index, train->rows);
    KFE_ALLOC(ctx, rows, 2 * train->cols);
    KFE_ALLOC(ctx, distances, sample * (sample - 1) / 2 + 1);
    kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_MEDIAN);
    kfe_i_rng_choose(&rng, train->rows, sample, index);
    for (int64_t i = 0; i < sample; i++) {
        double weight = kfe_i_row_weight(train, index[i]);
        kfe_i_table_dense_row(train, index[i], rows);
        equal += fmax(0, weight * (weight - 1) / 2);
        for (int64_t j = 0; j < i; j++) {
            kfe_i_table_dense_row(train, index[j], rows + train->cols);
            distances[pairs++] = (struct pair){squared_distance(rows, rows + train->cols, train->cols),
                                               weight * kfe_i_row_weight(train, index[j])};
        }
        KFE_TRY(kfe_i_checkpoint(ctx, "measuring distances", i, sample));
    }
    qsort(distances, (size_t)pairs, sizeof *distances, compare_pairs);
    *out = median_pair(distances, pairs, equal);
cleanup:
    kfe_i_free(ctx, index);
    kfe_i_free(ctx, rows);
    kfe_i_free(ctx, distances);
    return status;
}

/* The squared distance that the name stands for on this data: d, d·variance or the median. */
static kfe_status named_squared_distance(kfe_context *ctx, const char *parameter, double name,
                                         const kfe_i_table *train, double *out)
{
    const char *what = "variance";
    kfe_status status = KFE_OK;

    if (name == GAMMA_AUTO) {
        *out = (double)(train->cols > 0 ? train->cols : 1);
        return KFE_OK;
    }
    if (name == GAMMA_SCALE) {
        *out = (double)train->cols * entry_variance(train);
    } else {
        what = "median distance";
        KFE_TRY(median_squared_distance(ctx, train, out));
    }
    if (!(*out > 0) || !isfinite(1 / *out))
        KFE_FAIL(ctx, KFE_EINPUT, "%s cannot be taken from the data: its %s is %g; give %s a number",
                 parameter, what, *out, parameter);
cleanup:
    return status;
}

kfe_status kfe_i_gamma_resolve(kfe_context *ctx, double *gamma, const kfe_i_table *train)
{
    kfe_status status = KFE_OK;
    double squared = 1;
    int is_auto = *gamma == GAMMA_AUTO;

    if (*gamma > 0)
        return KFE_OK;
    KFE_TRY(named_squared_distance(ctx, "gamma", *gamma, train, &squared));
    *gamma = 1 / squared;
    if (!is_auto)
        kfe_i_log(ctx, KFE_LOG_INFO, "gamma = %g", *gamma);
cleanup:
    return status;
}

kfe_status kfe_i_sigma_resolve(kfe_context *ctx, double *sigma, const kfe_i_table *train)
{
    kfe_status status = KFE_OK;
    double squared = 1;
    int is_auto = *sigma == GAMMA_AUTO;

    if (*sigma > 0)
        return KFE_OK;
    KFE_TRY(named_squared_distance(ctx, "sigma", *sigma, train, &squared));
    *sigma = sqrt(squared);
    if (!is_auto)
        kfe_i_log(ctx, KFE_LOG_INFO, "sigma = %g", *sigma);
cleanup:
    return status;
}
