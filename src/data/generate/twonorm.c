/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twonorm: two normal clouds in 20 dimensions with unit covariance and means (a, …, a) and (−a, …, −a),
 * a = 2/√20. The best possible error is Φ(−2) = 2.3 %, reached by a hyperplane.
 */
#include <math.h>

#include "data/generate/generated.h"

enum { CLASSES = 2, COLUMNS = 20 };

struct twonorm_settings {
    int64_t n;
};

static const kfe_i_param twonorm_params[] = {
    KFE_INT(struct twonorm_settings, n, "n", "300", CLASSES, KFE_GENERATED_MAX_ROWS, "number of rows"),
};

static kfe_status make_twonorm(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    const struct twonorm_settings *asked = settings;
    const double mean[CLASSES] = {2 / sqrt(COLUMNS), -2 / sqrt(COLUMNS)};
    const double deviation[CLASSES] = {1, 1};

    return kfe_i_generated_clouds(ctx, rng, asked->n, COLUMNS, mean, deviation, out);
}

const kfe_i_generator kfe_i_generator_twonorm = {
    .name = "twonorm",
    .summary = "two normal clouds in 20 dimensions, side by side",
    .source = "Breiman, Bias, variance, and arcing classifiers, 1996",
    .params = KFE_PARAM_TABLE(twonorm_params, struct twonorm_settings),
    .make = make_twonorm,
};
