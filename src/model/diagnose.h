/* SPDX-License-Identifier: Apache-2.0 */
/* Measure with these functions how far rows lie from the training data of a model: in its features, and off them. */
#ifndef KFE_MODEL_DIAGNOSE_H
#define KFE_MODEL_DIAGNOSE_H

#include "method/shared/spread.h"
#include "model/model.h"

/* "t2", "q", … */
extern const char *const kfe_i_diagnostic_names[KFE_DIAGNOSTICS];

/* One number per row, or NULL: not wanted. */
typedef struct kfe_i_row_distances {
    double *t2;        /* Hotelling's T² */
    double *q;         /* the squared residual of the scaled columns; models that are linear in them only */
    double *residuals; /* those residuals: rows × columns of all views */
} kfe_i_row_distances;

/* The distances of rows with these features (rows × model->dim); `scaled`: one table per view. The model keeps moments with a spread. */
kfe_status kfe_i_measure_rows(kfe_context *ctx, const kfe_model *model, const kfe_i_table *scaled,
                              const double *features, kfe_i_row_distances out);

/* Sets the spread of the model's moments; `features` of the training rows NULL: they are computed. */
kfe_status kfe_i_spread_learn(kfe_context *ctx, kfe_model *model, const kfe_i_table *scaled,
                              const kfe_i_table *features, const kfe_i_target *target);

#endif
