/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concentric rings in the plane: class c = 1, 2, … lies at distance c + noise from the origin, noise normal
 * with mean 0 and standard deviation `noise`, at an angle that is uniform. All centroids are the origin.
 */
#include <math.h>

#include "data/generate/generated.h"

#define PI 3.14159265358979323846

enum { COLUMNS = 2 };

struct rings_settings {
    int64_t n, classes;
    double noise;
};

static const kfe_i_param rings_params[] = {
    KFE_INT(struct rings_settings, n, "n", "300", 1, KFE_GENERATED_MAX_ROWS, "number of rows"),
    KFE_INT(struct rings_settings, classes, "classes", "3", 1, KFE_GENERATED_MAX_CLASSES, "number of rings"),
    KFE_REAL(struct rings_settings, noise, "noise", "0.1", 0, 1e6, "standard deviation of the radius"),
};

static kfe_status make_rings(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    kfe_status status = KFE_OK;
    const struct rings_settings *asked = settings;

    KFE_TRY(kfe_i_generated_table(ctx, out, asked->n, COLUMNS));
    for (int64_t i = 0; i < asked->n; i++) {
        double *row = kfe_i_generated_row(out, i);
        double angle = kfe_i_generated_between(rng, 0, 2 * PI);
        double distance = (double)kfe_i_generated_class(i, asked->classes) + 1;
        distance += asked->noise * kfe_i_rng_normal(rng);
        row[0] = distance * cos(angle);
        row[1] = distance * sin(angle);
    }
    KFE_TRY(kfe_i_generated_classes(ctx, out, asked->classes));
cleanup:
    return status;
}

const kfe_i_generator kfe_i_generator_rings = {
    .name = "rings",
    .summary = "concentric rings in the plane, one per class",
    .source = "a customary test of kernel methods",
    .params = KFE_PARAM_TABLE(rings_params, struct rings_settings),
    .make = make_rings,
};
