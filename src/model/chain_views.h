/* SPDX-License-Identifier: Apache-2.0 */
/* Which chain of steps (data/steps/chain.h) prepares which view of a fit, and what a model says about the columns that it makes. */
#ifndef KFE_MODEL_CHAIN_VIEWS_H
#define KFE_MODEL_CHAIN_VIEWS_H

#include "data/data.h"
#include "kernel/kernel.h"
#include "model/model.h"

/* The chain of view v. Views of strings and given kernel matrices have none, and are refused one that names them. */
kfe_status kfe_i_chain_of_view(kfe_context *ctx, const char *prepare, const kfe_i_kernel_list *kernels,
                               const kfe_data *data, int v, kfe_i_chain *out);
/* Fails if the text names a view that there is not, or steps that do not suit the columns. */
kfe_status kfe_i_chains_check(kfe_context *ctx, const char *prepare, const kfe_i_kernel_list *kernels,
                              const kfe_data *data);

/* Whether all steps of the model are affine; else *which, unless NULL, is the name of one that is not. */
int kfe_i_model_prepares_linearly(const kfe_model *model, const char **which);
/* The columns of a view, or of all views, after the steps. */
int64_t kfe_i_view_prepared_cols(const kfe_i_model_view *view);
int64_t kfe_i_model_prepared_cols(const kfe_model *model);
/* The name of such a column; NULL: it has none. */
const char *kfe_i_view_prepared_name(const kfe_i_model_view *view, int64_t j);

#endif
