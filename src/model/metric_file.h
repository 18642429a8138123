/* SPDX-License-Identifier: Apache-2.0 */
/* Read a metric from a file, to fit any method with it: a model whose metric was learned, a linear model, or a matrix. */
#ifndef KFE_MODEL_METRIC_FILE_H
#define KFE_MODEL_METRIC_FILE_H

#include "data/scale.h"
#include "method/method.h"

/* Whether the value of {metric} names a file; else it is one of KFE_METRIC_WORDS (method/method.h). */
int kfe_i_metric_is_file(const char *metric);

/* out->map is the metric. From a model it comes with the scaling that it was learned on, and out->cols is the number of columns;
 * from a matrix it has no scaling, and out->cols is 0. Free it also after a failure. */
kfe_status kfe_i_metric_read(kfe_context *ctx, const char *path, kfe_i_scaler *out);

#endif
