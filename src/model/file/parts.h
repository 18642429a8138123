/* SPDX-License-Identifier: Apache-2.0 */
/* Save or load the parts of a model with these functions; model_file.c calls them in the order in which the checks build on each other. */
#ifndef KFE_MODEL_FILE_PARTS_H
#define KFE_MODEL_FILE_PARTS_H

#include "model/file/exchange.h"

/* The views with scaling, encoding and the division of one table into them; on loading, makes the model. */
kfe_status kfe_i_exchange_views(kfe_i_exchange *x);
/* The steps that prepare the rows of view v, in the document of that view, which has some. */
kfe_status kfe_i_exchange_steps(kfe_i_exchange *x, kfe_i_document *d, int v);
/* Coefficients, support examples, localized parts and trees. */
kfe_status kfe_i_exchange_projector(kfe_i_exchange *x);
/* The classifier or regressor, and its calibration. */
kfe_status kfe_i_exchange_predictor(kfe_i_exchange *x);
/* Scores of left-out rows and the models of the folds, for intervals, of a model that has them. */
kfe_status kfe_i_exchange_conformal(kfe_i_exchange *x);
/* Loads the model of a fold; `name`: of the whole file. */
kfe_status kfe_i_load_fold_model(kfe_context *ctx, const char *name, const kfe_i_fold_model *file,
                                 kfe_model **out);
/* The moments of the training data of x->model. */
kfe_status kfe_i_exchange_moments(const kfe_i_exchange *x, kfe_i_moments *moments);

#endif
