/* SPDX-License-Identifier: Apache-2.0 */
/* Read a learned distance from a file, for fits of any method: from a model of rfm or gkdr, a linear model, or a matrix. */
#ifndef KFE_MODEL_DISTANCE_FILE_H
#define KFE_MODEL_DISTANCE_FILE_H

#include "data/data.h"
#include "data/prepare/scale.h"
#include "method/method.h"

/* out->map is the map of the distance, for the columns of this view: they are matched by name if both have names. From a model it comes with the scaling that it was learned on, and out->cols is the number of columns;
 * from a matrix it has no scaling, and out->cols is 0. Free it also after a failure. */
kfe_status kfe_i_distance_read(kfe_context *ctx, const char *path, const kfe_i_view *view, kfe_i_scaler *out);

#endif
