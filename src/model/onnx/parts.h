/* SPDX-License-Identifier: Apache-2.0 */
/* Write the parts of a model as nodes of an ONNX graph: inputs, kernels, predictors, calibrations, localized projectors and trees. */
#ifndef KFE_MODEL_ONNX_PARTS_H
#define KFE_MODEL_ONNX_PARTS_H

#include "model/model.h"
#include "model/onnx/graph.h"

/* Declares the inputs; x[v] becomes view v before scaling, examples × columns, with text columns encoded. */
kfe_status kfe_i_onnx_inputs(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value *x);

/* Fails with the reason if a kernel of the model cannot be written as standard operations. */
kfe_status kfe_i_onnx_check_kernel(kfe_context *ctx, const kfe_i_kernel *kernel);

/* *x, the rows of a view, becomes what the steps make of them. */
kfe_status kfe_i_onnx_steps(kfe_i_onnx *onnx, const kfe_i_chain *chain, kfe_i_value *x);

/* out (examples × rows of the support) = weight · κ(x, support); x is examples × columns. */
kfe_status kfe_i_onnx_kernel(kfe_i_onnx *onnx, const kfe_i_kernel *kernel, kfe_i_value x,
                             const kfe_i_table *support, kfe_i_value *out);
/* out (examples × rows of the support) = squared distances. */
kfe_status kfe_i_onnx_distances(kfe_i_onnx *onnx, kfe_i_value x, const kfe_i_table *support,
                                kfe_i_value *out);

/* a·values − offset; values is rows × cols, offset NULL: zeros. */
kfe_i_value kfe_i_onnx_affine(kfe_i_onnx *onnx, kfe_i_value a, const double *values, int64_t rows,
                              int64_t cols, const double *offset);

/* The linear map of a learned distance. */
kfe_i_value kfe_i_onnx_mapped(kfe_i_onnx *onnx, const kfe_i_map *map, kfe_i_value x);

/* Decision values of features. */
kfe_status kfe_i_onnx_predictor(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value features,
                                kfe_i_value *out);
/* The number of the class that decision values decide for. */
kfe_i_value kfe_i_onnx_decide(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value outputs);

/* out (examples × classes) = probabilities of decision values, by the calibration of the model. */
kfe_status kfe_i_onnx_probabilities(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value outputs,
                                    kfe_i_value *out);

/* Features and decision values of a localized model; x has one value per view. */
kfe_status kfe_i_onnx_local(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_value *x,
                            kfe_i_value *features, kfe_i_value *outputs);

/* Features of a model whose projector is a tree. */
kfe_status kfe_i_onnx_tree(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value x, kfe_i_value *features);

#endif
