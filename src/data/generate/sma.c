/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two synthetic regression sets of Dhanjal, Gunn & Shawe-Taylor, "Efficient sparse kernel feature
 * extraction based on partial least squares": 100 examples (section 4.3, the cost of sparsity) and 2000
 * examples (section 4.4, how many kernel columns are enough) of 1000 features, "with labels computed using
 * a linear combination of 50 of the features plus a small uniform noise component. The data is first
 * centered and normalized so that each feature has unit norm."
 *
 * What the paper leaves open, and what is done here: features are independent standard normals; the 50 are
 * chosen at random, their weights standard normal; the noise is uniform within ± `noise` times the standard
 * deviation of the labels without it. Labels come from the features as drawn, before these are centred and
 * normalised, and are themselves left as they are.
 */
#include <math.h>

#include "core/memory.h"
#include "data/generate/generated.h"
#include "data/prepare/scale.h"

struct sma_settings {
    int64_t n, features, relevant;
    double noise;
};

#define SMA_PARAMS(rows)                                                                                     \
    {                                                                                                        \
        KFE_INT(struct sma_settings, n, "n", rows, 2, KFE_GENERATED_MAX_ROWS, "number of rows"),             \
            KFE_INT(struct sma_settings, features, "features", "1000", 1, 1e9, "number of columns"),         \
            KFE_INT(struct sma_settings, relevant, "relevant", "50", 1, 1e9,                                 \
                    "columns that the labels depend on"),                                                    \
            KFE_REAL(struct sma_settings, noise, "noise", "0.1", 0, 1e6,                                     \
                     "half width of the noise, in standard deviations of the labels"),                       \
    }

static const kfe_i_param cost_params[] = SMA_PARAMS("100");
static const kfe_i_param columns_params[] = SMA_PARAMS("2000");

static void draw_features(kfe_i_rng *rng, kfe_i_table *table)
{
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < table->cols; j++)
            table->values[i * table->stride + j] = kfe_i_rng_normal(rng);
}

static void add_relevant_columns(kfe_i_rng *rng, const kfe_i_table *table, const int64_t *relevant,
                                 int64_t count, double *labels)
{
    for (int64_t r = 0; r < count; r++) {
        double weight = kfe_i_rng_normal(rng);
        for (int64_t i = 0; i < table->rows; i++)
            labels[i] += weight * table->values[i * table->stride + relevant[r]];
    }
}

static double standard_deviation(const double *values, int64_t count)
{
    double mean = 0;
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (int64_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)count);
}

static kfe_status draw_labels(kfe_context *ctx, const struct sma_settings *asked, kfe_i_rng *rng,
                              kfe_data *out)
{
    kfe_status status = KFE_OK;
    int64_t *relevant = NULL;
    double *labels = NULL;

    KFE_ALLOC(ctx, relevant, asked->features);
    KFE_ALLOC_ZERO(ctx, labels, asked->n);
    kfe_i_rng_choose(rng, asked->features, asked->relevant, relevant);
    add_relevant_columns(rng, &out->views[0].table, relevant, asked->relevant, labels);
    double half_width = asked->noise * standard_deviation(labels, asked->n);
    for (int64_t i = 0; i < asked->n; i++)
        labels[i] += kfe_i_generated_between(rng, -half_width, half_width);
    KFE_TRY(kfe_data_set_targets(ctx, out, 1, labels));
    KFE_STRDUP(ctx, out->target_name, "y");
cleanup:
    kfe_i_free(ctx, relevant);
    kfe_i_free(ctx, labels);
    return status;
}

static kfe_status normalise_features(kfe_context *ctx, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    kfe_i_scaler scaler = {0};
    kfe_i_table scaled = {0};

    KFE_TRY(kfe_i_scaler_learn(ctx, KFE_SCALE_UNIT_NORM, table, &scaler));
    KFE_TRY(kfe_i_scaler_apply(ctx, &scaler, table, &scaled));
    kfe_i_table_free(table);
    *table = scaled;
cleanup:
    kfe_i_scaler_free(&scaler);
    return status;
}

static kfe_status make_sma(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    kfe_status status = KFE_OK;
    const struct sma_settings *asked = settings;

    if (asked->relevant > asked->features)
        KFE_FAIL(ctx, KFE_EINVAL, "relevant=%lld is more than features=%lld", (long long)asked->relevant,
                 (long long)asked->features);
    KFE_TRY(kfe_i_generated_table(ctx, out, asked->n, asked->features));
    draw_features(rng, &out->views[0].table);
    KFE_TRY(draw_labels(ctx, asked, rng, out));
    KFE_TRY(normalise_features(ctx, &out->views[0].table));
cleanup:
    return status;
}

const kfe_i_generator kfe_i_generator_sma_cost = {
    .name = "sma-cost",
    .summary = "regression, 100 rows with 1000 features, 50 of which matter",
    .source = "Dhanjal, Gunn & Shawe-Taylor, Efficient sparse kernel feature extraction, 4.3",
    .params = KFE_PARAM_TABLE(cost_params, struct sma_settings),
    .make = make_sma,
};

const kfe_i_generator kfe_i_generator_sma_columns = {
    .name = "sma-columns",
    .summary = "regression, 2000 rows with 1000 features, 50 of which matter",
    .source = "Dhanjal, Gunn & Shawe-Taylor, Efficient sparse kernel feature extraction, 4.4",
    .params = KFE_PARAM_TABLE(columns_params, struct sma_settings),
    .make = make_sma,
};
