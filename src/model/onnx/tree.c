/* SPDX-License-Identifier: Apache-2.0 */
/* A projector that is a tree, as ONNX nodes (method/shared/tree.h has the formulas). Every leaf is evaluated at every example. */
#include "core/memory.h"
#include "model/onnx/parts.h"

/* v_iᵀx − t_i of every node, examples × nodes. */
static kfe_status projections(kfe_i_onnx *onnx, const kfe_i_tree *tree, kfe_i_value x, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    int64_t n = tree->node_count;
    double *directions = NULL; /* cols × nodes */

    KFE_ALLOC(onnx->ctx, directions, tree->cols * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < tree->cols; j++)
            directions[j * n + i] = tree->directions[i * tree->cols + j];
    *out = kfe_i_onnx_affine(onnx, x, directions, tree->cols, n, tree->thresholds);
cleanup:
    kfe_i_free(onnx->ctx, directions);
    return status;
}

/* The share of the second child of node i, examples × 1. */
static kfe_i_value share_above(kfe_i_onnx *onnx, const kfe_i_tree *tree, kfe_i_value projected, int64_t i)
{
    kfe_i_value u = kfe_i_onnx_gather(onnx, projected, kfe_i_onnx_integers(onnx, &i, 1), 1);
    kfe_i_value one = kfe_i_onnx_number(onnx, 1);

    if (tree->widths[i] <= 0)
        return kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Greater", u, kfe_i_onnx_number(onnx, 0)));
    kfe_i_value falling = kfe_i_onnx_2(onnx, "Div", u, kfe_i_onnx_number(onnx, -tree->widths[i]));
    kfe_i_value total = kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_1(onnx, "Exp", falling), one);
    return kfe_i_onnx_2(onnx, "Div", one, total);
}

/* The shares of the leaves, examples × 1 each; tiny ones are zero, as in the library. */
static kfe_status shares_of_leaves(kfe_i_onnx *onnx, const kfe_i_tree *tree, kfe_i_value x, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value *reach = NULL; /* the share of each node but the root, whose share is 1 */
    kfe_i_value projected = 0;

    KFE_ALLOC_ZERO(onnx->ctx, reach, tree->node_count);
    KFE_TRY(projections(onnx, tree, x, &projected));
    for (int64_t i = 0; i < tree->node_count; i++) {
        kfe_i_value above = share_above(onnx, tree, projected, i);
        for (int side = 0; side < 2; side++) {
            int64_t child = tree->children[2 * i + side];
            kfe_i_value share = side ? above : kfe_i_onnx_2(onnx, "Sub", kfe_i_onnx_number(onnx, 1), above);
            if (i > 0)
                share = kfe_i_onnx_2(onnx, "Mul", reach[i], share);
            if (child >= 0)
                reach[child] = share;
            else
                out[-1 - child] = kfe_i_onnx_3(
                    onnx, "Where",
                    kfe_i_onnx_2(onnx, "Greater", share, kfe_i_onnx_number(onnx, KFE_TREE_SHARE)), share,
                    kfe_i_onnx_number(onnx, 0));
        }
    }
cleanup:
    kfe_i_free(onnx->ctx, reach);
    return status;
}

/* A_lᵀκ(S_l, T_lᵀx) − offset_l */
static kfe_status leaf_features(kfe_i_onnx *onnx, const kfe_model *model, const kfe_i_tree_leaf *leaf,
                                kfe_i_value x, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value at = kfe_i_onnx_mapped(onnx, &leaf->map, x);
    kfe_i_value sum = 0;

    for (int64_t m = 0; m < model->kernels.count; m++) {
        kfe_i_value values;
        KFE_TRY(kfe_i_onnx_kernel(onnx, &model->kernels.items[m], at, &leaf->support, &values));
        sum = m ? kfe_i_onnx_2(onnx, "Add", sum, values) : values;
    }
    *out =
        kfe_i_onnx_affine(onnx, sum, leaf->coefficients, leaf->support.rows, model->tree->dim, leaf->offset);
cleanup:
    return status;
}

kfe_status kfe_i_onnx_tree(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value x, kfe_i_value *features)
{
    kfe_status status = KFE_OK;
    const kfe_i_tree *tree = model->tree;
    kfe_i_value *shares = NULL;
    kfe_i_value sum = 0;

    KFE_ALLOC_ZERO(onnx->ctx, shares, tree->node_count + 1);
    KFE_TRY(shares_of_leaves(onnx, tree, x, shares));
    for (int64_t l = 0; l <= tree->node_count; l++) {
        kfe_i_value leaf = 0;
        KFE_TRY(leaf_features(onnx, model, &tree->leaves[l], x, &leaf));
        leaf = kfe_i_onnx_2(onnx, "Mul", leaf, shares[l]);
        sum = l ? kfe_i_onnx_2(onnx, "Add", sum, leaf) : leaf;
    }
    *features = sum;
cleanup:
    kfe_i_free(onnx->ctx, shares);
    return status;
}
