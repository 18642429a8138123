/* SPDX-License-Identifier: Apache-2.0 */
/* Computes auto, scale and median from the training data, for gamma and for sigma. */
#include "kernel/formula/gamma.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/prepare/scale.h"
#include "data/table/row_sample.h"

enum { GAMMA_AUTO = -1, GAMMA_SCALE = -2, GAMMA_MEDIAN = -3 };

/* The median is taken over all pairs of at most this many examples, drawn by their values. */
#define KFE_MEDIAN_SAMPLE 1000
/* Sums of the weights of pairs that differ by less are equal. */
#define KFE_SUM_ROUNDING 1e-12
static double squared_distance(const double *x, const double *y, int64_t count)
{
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* The same of two rows of a csr table. */
static double sparse_squared_distance(const kfe_i_table *table, int64_t row, int64_t other)
{
    int64_t e = table->row_start[row];
    int64_t f = table->row_start[other];
    int64_t last_e = table->row_start[row + 1];
    int64_t last_f = table->row_start[other + 1];
    double sum = 0;

    while (e < last_e || f < last_f) {
        int takes_e = f == last_f || (e < last_e && table->columns[e] <= table->columns[f]);
        int takes_f = e == last_e || (f < last_f && table->columns[f] <= table->columns[e]);
        double difference = (takes_e ? table->values[e] : 0) - (takes_f ? table->values[f] : 0);
        sum += difference * difference;
        e += takes_e;
        f += takes_f;
    }
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

/* The mean of the two distances in the middle, which may be the same. Sums of weights are compared up to rounding. */
static double median_pair(const struct pair *sorted, int64_t count)
{
    double half = 0;
    double before = 0;
    int64_t lower = 0;

    for (int64_t i = 0; i < count; i++)
        half += sorted[i].weight / 2;
    for (; lower + 1 < count && before + sorted[lower].weight < half * (1 - KFE_SUM_ROUNDING); lower++)
        before += sorted[lower].weight;
    int64_t upper =
        lower + (lower + 1 < count && before + sorted[lower].weight <= half * (1 + KFE_SUM_ROUNDING));
    return count > 0 ? sorted[lower].distance / 2 + sorted[upper].distance / 2 : 0;
}

/* Appends the distances of row i of the sample from the rows before it. Equal examples have none: a repeated row, which is one row of
 * weight 2, changes nothing then. `rows` is the sample, dense, or NULL for csr. */
static int64_t add_distances(const kfe_i_table *train, const kfe_i_row_sample *sample, int64_t i,
                             const double *rows, struct pair *pairs, int64_t count)
{
    for (int64_t j = 0; j < i; j++) {
        double distance = rows ? squared_distance(rows + i * train->cols, rows + j * train->cols, train->cols)
                               : sparse_squared_distance(train, sample->index[i], sample->index[j]);
        if (distance > 0)
            pairs[count++] = (struct pair){distance, sample->weights[i] * sample->weights[j]};
    }
    return count;
}

static kfe_status median_squared_distance(kfe_context *ctx, const kfe_i_table *train, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_row_sample sample = {0};
    double *rows = NULL;
    struct pair *pairs = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_row_sample_draw(ctx, train, KFE_MEDIAN_SAMPLE, KFE_STREAM_MEDIAN, &sample));
    KFE_ALLOC(ctx, pairs, sample.count * (sample.count - 1) / 2 + 1);
    if (train->kind == KFE_TABLE_DENSE)
        KFE_ALLOC(ctx, rows, sample.count * train->cols);
    for (int64_t i = 0; rows && i < sample.count; i++)
        kfe_i_table_dense_row(train, sample.index[i], rows + i * train->cols);
    for (int64_t i = 0; i < sample.count; i++) {
        count = add_distances(train, &sample, i, rows, pairs, count);
        KFE_TRY(kfe_i_progress(ctx, "measuring distances", i, sample.count));
    }
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    *out = median_pair(pairs, count);
cleanup:
    kfe_i_row_sample_free(&sample);
    kfe_i_free(ctx, rows);
    kfe_i_free(ctx, pairs);
    return status;
}

/* The squared distance that the name stands for on this data: d, the sum of the variances of the columns, or the median. */
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
        KFE_TRY(kfe_i_total_variance(ctx, train, out));
    } else {
        what = "median distance";
        KFE_TRY(median_squared_distance(ctx, train, out));
    }
    if (!(*out > 0) || !isfinite(*out) || !isfinite(1 / *out))
        KFE_FAIL(ctx, KFE_EINPUT, "%s cannot be taken from the data: its %s is %g; give %s a number",
                 parameter, what, *out, parameter);
cleanup:
    return status;
}

/* A number takes the place of a name: the inverse of the squared distance, or its root. */
static kfe_status resolve(kfe_context *ctx, const char *parameter, int is_inverse, const kfe_i_table *train,
                          double *value)
{
    kfe_status status = KFE_OK;
    double squared = 1;
    int is_auto = *value == GAMMA_AUTO;

    if (*value > 0)
        return KFE_OK;
    KFE_TRY(named_squared_distance(ctx, parameter, *value, train, &squared));
    *value = is_inverse ? 1 / squared : sqrt(squared);
    if (!is_auto)
        kfe_i_log(ctx, KFE_LOG_INFO, "%s = %g", parameter, *value);
cleanup:
    return status;
}

kfe_status kfe_i_gamma_resolve(kfe_context *ctx, double *gamma, const kfe_i_table *train)
{
    return resolve(ctx, "gamma", 1, train, gamma);
}

kfe_status kfe_i_sigma_resolve(kfe_context *ctx, double *sigma, const kfe_i_table *train)
{
    return resolve(ctx, "sigma", 0, train, sigma);
}
