/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads a projector that is a tree (rfm with {leaf-size}); called by save.c and load.c. All shapes are checked, so that using it
 * needs no checks. */
#include <stdio.h>

#include "core/memory.h"
#include "model/file/loading.h"
#include "model/file/saving.h"

/* ---- saving ---- */

static kfe_status add_leaf(kfe_i_safetensors *file, const kfe_i_tree *tree, int64_t l)
{
    kfe_status status = KFE_OK;
    const kfe_i_tree_leaf *leaf = &tree->leaves[l];
    char prefix[32];

    snprintf(prefix, sizeof prefix, "leaf%lld", (long long)l);
    if (leaf->map.values)
        KFE_TRY(kfe_i_add_part(file, prefix, "map", KFE_DTYPE_F64, leaf->map.rows,
                               leaf->map.diagonal ? -1 : leaf->map.cols, leaf->map.values));
    KFE_TRY(kfe_i_add_part(file, prefix, "coefficients", KFE_DTYPE_F64, leaf->support.rows, tree->dim,
                           leaf->coefficients));
    KFE_TRY(kfe_i_add_part(file, prefix, "offset", KFE_DTYPE_F64, tree->dim, -1, leaf->offset));
    KFE_TRY(kfe_i_add_support(file, prefix, &leaf->support));
cleanup:
    return status;
}

kfe_status kfe_i_save_tree(kfe_i_safetensors *file, const kfe_i_tree *tree)
{
    kfe_status status = KFE_OK;

    if (!tree)
        return KFE_OK;
    KFE_TRY(kfe_i_add_part(file, "tree", "directions", KFE_DTYPE_F64, tree->node_count, tree->cols,
                           tree->directions));
    KFE_TRY(
        kfe_i_add_part(file, "tree", "thresholds", KFE_DTYPE_F64, tree->node_count, -1, tree->thresholds));
    KFE_TRY(kfe_i_add_part(file, "tree", "widths", KFE_DTYPE_F64, tree->node_count, -1, tree->widths));
    KFE_TRY(kfe_i_add_part(file, "tree", "children", KFE_DTYPE_I64, tree->node_count, 2, tree->children));
    for (int64_t l = 0; l <= tree->node_count; l++)
        KFE_TRY(add_leaf(file, tree, l));
cleanup:
    return status;
}

/* ---- loading ---- */

/* A tensor of two dimensions, neither of them zero; NULL: there is none. */
static const kfe_i_tensor *find_matrix(const kfe_i_loading *job, const char *name)
{
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(&job->file, name);

    return tensor && tensor->rank == 2 && tensor->shape[0] > 0 && tensor->shape[1] > 0 ? tensor : NULL;
}

static kfe_status load_leaf(kfe_i_loading *job, int64_t l)
{
    kfe_status status = KFE_OK;
    kfe_i_tree *tree = job->model->tree;
    kfe_i_tree_leaf *leaf = &tree->leaves[l];
    char prefix[32];
    char name[64];

    snprintf(prefix, sizeof prefix, "leaf%lld", (long long)l);
    snprintf(name, sizeof name, "%s.map", prefix);
    KFE_TRY(kfe_i_take_map(job, name, tree->cols, &leaf->map));
    snprintf(name, sizeof name, "%s.coefficients", prefix);
    const kfe_i_tensor *coefficients = find_matrix(job, name);
    if (!coefficients || coefficients->shape[1] != tree->dim)
        return kfe_i_damaged(job, name);
    KFE_TRY(kfe_i_copy_reals(job, coefficients, &leaf->coefficients));
    snprintf(name, sizeof name, "%s.offset", prefix);
    KFE_TRY(kfe_i_take_reals(job, name, tree->dim, 0, &leaf->offset));
    KFE_TRY(kfe_i_take_support(job, prefix, 0, coefficients->shape[0], kfe_i_map_cols(&leaf->map, tree->cols),
                               &leaf->support));
cleanup:
    return status;
}

static kfe_status load_nodes(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_tree *tree = job->model->tree;
    int sound = 0;
    void *children = NULL;

    KFE_TRY(kfe_i_take_reals(job, "tree.directions", tree->node_count * tree->cols, 0, &tree->directions));
    KFE_TRY(kfe_i_take_reals(job, "tree.thresholds", tree->node_count, 0, &tree->thresholds));
    KFE_TRY(kfe_i_take_reals(job, "tree.widths", tree->node_count, 0, &tree->widths));
    KFE_TRY(kfe_i_take_tensor(job, "tree.children", KFE_DTYPE_I64, 2 * tree->node_count, 0, &children));
    tree->children = children;
    for (int64_t i = 0; i < tree->node_count; i++)
        if (tree->widths[i] < 0)
            KFE_TRY(kfe_i_damaged(job, "tree.widths"));
    KFE_TRY(kfe_i_tree_is_sound(tree, &sound));
    if (!sound)
        status = kfe_i_damaged(job, "tree.children");
cleanup:
    return status;
}

kfe_status kfe_i_load_tree(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    const kfe_i_tensor *directions = find_matrix(job, "tree.directions");
    const kfe_i_tensor *first = find_matrix(job, "leaf0.coefficients");

    if (!directions || !first || model->view_count != 1 ||
        directions->shape[1] != kfe_i_map_cols(&model->views[0].scaler.map, model->views[0].cols))
        return kfe_i_damaged(job, "tree.directions");
    KFE_TRY(
        kfe_i_tree_new(job->ctx, directions->shape[0], directions->shape[1], first->shape[1], &model->tree));
    KFE_TRY(load_nodes(job));
    for (int64_t l = 0; l <= model->tree->node_count; l++)
        KFE_TRY(load_leaf(job, l));
    model->rows = kfe_i_tree_rows(model->tree);
    model->dim = model->tree->dim;
cleanup:
    return status;
}
