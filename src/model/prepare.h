/* SPDX-License-Identifier: Apache-2.0 */
/* Scale data and resolve kernels on it with these functions, as every fit, search and measure must. */
#ifndef KFE_MODEL_PREPARE_H
#define KFE_MODEL_PREPARE_H

#include "data/data.h"
#include "data/prepare/scale.h"
#include "kernel/kernel.h"
#include "model/spec.h"

/* Kernels square the values: beyond this, overflow would look like data that does not vary. */
#define KFE_LARGEST_VALUE 1e150

/* Whether scale=auto may standardise a view: it is a dense table, and its kernels depend on distances or dot products
 * of rows that may be negative. */
int kfe_i_auto_scales_view(const kfe_i_kernel_list *kernels, const kfe_data *data, int view);
/* Logs what scale=auto decides about each view, and why; `data` is what the scaling is learned on. ratios[view_count] receives the ratios of
 * the ranges (scale.h), 0 where the rule does not ask; it may be NULL. */
kfe_status kfe_i_log_auto_scaling(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_data *data,
                                  double *ratios);

/* View v of the data filled in, prepared and scaled. */
kfe_status kfe_i_view_scale(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_data *data, int v,
                            kfe_i_table *out);

/* Learns what to fill in for missing values, the steps and the scaling of each view on the rows of `train` and applies it to the rows of `data`:
 *   kernels          bound to the views: they decide where `auto` may scale
 *   how              the steps, the scaling, and a learned distance from a file, which is for one view of numbers and becomes the map of its scaler
 *   scalers[views]   what was learned; free each also after a failure; NULL: not wanted, without singles kept
 *   scaled[views]    zeroed before; borrowed from `data` where nothing is scaled
 * Strings are not scaled. Data in single precision becomes double unless `how` keeps it. */
kfe_status kfe_i_scale_views(kfe_context *ctx, kfe_i_scaling how, const kfe_i_kernel_list *kernels,
                             const kfe_data *train, const kfe_data *data, kfe_i_scaler *scalers,
                             kfe_i_table *scaled);

/* Resolves names such as gamma=scale on the scaled training rows. `train` is for messages. */
kfe_status kfe_i_resolve_kernels(kfe_context *ctx, const kfe_data *train, const kfe_i_table *scaled,
                                 kfe_i_kernel_list *kernels);

/* Whether the value of {distance} names a file; else it is one of KFE_DISTANCE_WORDS (method/source.h). */
int kfe_i_distance_is_file(const char *distance);

#endif
