/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two interlocking crescents in the plane, as PRTools' gendatb draws them: with radius r = 5,
 *   class 1:  r (sin p, cos p) + noise,                      p uniform in [π/8, 11π/8]
 *   class 2:  r (sin p, cos p) − (3r/4, 3r/4) + noise,       p uniform in [−7π/8, 3π/8]
 * and noise normal with mean 0 and standard deviation `noise` in each coordinate. (The banana set of the
 * IDA benchmark repository is of the same shape, but its generator was never published.)
 */
#include <math.h>

#include "data/generate/generated.h"

#define PI 3.14159265358979323846

enum { CLASSES = 2, COLUMNS = 2 };
static const double radius = 5;
static const double arc = 1.25 * PI;

struct banana_settings {
    int64_t n;
    double noise;
};

static const kfe_i_param banana_params[] = {
    KFE_INT(struct banana_settings, n, "n", "400", CLASSES, KFE_GENERATED_MAX_ROWS, "number of rows"),
    KFE_REAL(struct banana_settings, noise, "noise", "1", 0, 1e6, "standard deviation across the crescents"),
};

static void draw_point(kfe_i_rng *rng, int64_t class_index, double noise, double *row)
{
    double begin = class_index == 0 ? 0.125 * PI : -0.875 * PI;
    double offset = class_index == 0 ? 0 : -0.75 * radius;
    double angle = kfe_i_generated_between(rng, begin, begin + arc);

    row[0] = radius * sin(angle) + offset + noise * kfe_i_rng_normal(rng);
    row[1] = radius * cos(angle) + offset + noise * kfe_i_rng_normal(rng);
}

static kfe_status make_banana(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    kfe_status status = KFE_OK;
    const struct banana_settings *asked = settings;

    KFE_TRY(kfe_i_generated_table(ctx, out, asked->n, COLUMNS));
    for (int64_t i = 0; i < asked->n; i++)
        draw_point(rng, kfe_i_generated_class(i, CLASSES), asked->noise, kfe_i_generated_row(out, i));
    KFE_TRY(kfe_i_generated_classes(ctx, out, CLASSES));
cleanup:
    return status;
}

const kfe_i_generator kfe_i_generator_banana = {
    .name = "banana",
    .summary = "two interlocking crescents in the plane",
    .source = "PRTools, gendatb",
    .params = KFE_PARAM_TABLE(banana_params, struct banana_settings),
    .make = make_banana,
};
