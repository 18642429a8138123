/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three crossing slabs: Park & Park, "Nonlinear feature extraction based on centroids and kernel
 * functions", section 4.1. "Each class consists of 200 data points uniformly distributed in the cubic
 * region with height 1.4, width 4 and length 18.5. The three classes intersect each other."
 *
 * The paper does not say how the slabs lie, only shows them crossing. Our reading: all are centred at the
 * origin, and each is the one before it with the axes turned by one, so that every class is long along
 * another axis. No linear projection separates them, and their centroids coincide.
 */
#include "data/generate/generated.h"

enum { AXES = 3 };
static const double extents[AXES] = {18.5, 4, 1.4};

struct slabs_settings {
    int64_t per_class;
};

static const kfe_i_param slabs_params[] = {
    KFE_INT(struct slabs_settings, per_class, "per-class", "200", 1, KFE_GENERATED_MAX_ROWS,
            "points in each of the three classes"),
};

static kfe_status make_slabs(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    kfe_status status = KFE_OK;
    const struct slabs_settings *asked = settings;
    int64_t rows = AXES * asked->per_class;

    KFE_TRY(kfe_i_generated_table(ctx, out, rows, AXES));
    for (int64_t i = 0; i < rows; i++) {
        int64_t long_axis = kfe_i_generated_class(i, AXES);
        double *row = kfe_i_generated_row(out, i);
        for (int64_t j = 0; j < AXES; j++) {
            double extent = extents[(j - long_axis + AXES) % AXES];
            row[j] = kfe_i_generated_between(rng, -extent / 2, extent / 2);
        }
    }
    KFE_TRY(kfe_i_generated_classes(ctx, out, AXES));
cleanup:
    return status;
}

const kfe_i_generator kfe_i_generator_slabs = {
    .name = "slabs",
    .summary = "three crossing slabs in space, one per class",
    .source = "Park & Park, Nonlinear feature extraction based on centroids and kernel functions, 4.1",
    .params = KFE_PARAM_TABLE(slabs_params, struct slabs_settings),
    .make = make_slabs,
};
