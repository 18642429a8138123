/* SPDX-License-Identifier: Apache-2.0 */
/* Features of a projector that is a tree (tree.h), for models of rfm with {leaf-size}. */
#include "method/shared/tree.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/expansion.h"
#include "linalg/linalg.h"

kfe_status kfe_i_tree_new(kfe_context *ctx, int64_t nodes, int64_t cols, int64_t dim, kfe_i_tree **out)
{
    kfe_status status = KFE_OK;
    kfe_i_tree *tree = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, tree, 1);
    *tree = (kfe_i_tree){.ctx = ctx, .cols = cols, .dim = dim, .node_count = nodes};
    KFE_ALLOC_ZERO(ctx, tree->leaves, nodes + 1);
    *out = tree;
    tree = NULL;
cleanup:
    kfe_i_tree_free(tree);
    return status;
}

kfe_status kfe_i_tree_alloc_nodes(kfe_i_tree *tree)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(tree->ctx, tree->directions, tree->node_count * tree->cols);
    KFE_ALLOC(tree->ctx, tree->thresholds, tree->node_count);
    KFE_ALLOC(tree->ctx, tree->widths, tree->node_count);
    KFE_ALLOC(tree->ctx, tree->children, 2 * tree->node_count);
cleanup:
    return status;
}

void kfe_i_tree_free(kfe_i_tree *tree)
{
    if (!tree)
        return;
    for (int64_t l = 0; tree->leaves && l <= tree->node_count; l++) {
        kfe_i_map_free(&tree->leaves[l].map);
        kfe_i_table_free(&tree->leaves[l].support);
        kfe_i_free(tree->ctx, tree->leaves[l].coefficients);
        kfe_i_free(tree->ctx, tree->leaves[l].offset);
    }
    kfe_i_free(tree->ctx, tree->leaves);
    kfe_i_free(tree->ctx, tree->directions);
    kfe_i_free(tree->ctx, tree->thresholds);
    kfe_i_free(tree->ctx, tree->widths);
    kfe_i_free(tree->ctx, tree->children);
    kfe_i_free(tree->ctx, tree);
}

int64_t kfe_i_tree_rows(const kfe_i_tree *tree)
{
    int64_t rows = 0;

    for (int64_t l = 0; l <= tree->node_count; l++)
        rows += tree->leaves[l].support.rows;
    return rows;
}

kfe_status kfe_i_tree_is_sound(const kfe_i_tree *tree, int *out)
{
    kfe_status status = KFE_OK;
    int64_t n = tree->node_count;
    unsigned char *seen = NULL; /* nodes, then leaves */

    *out = 1;
    KFE_ALLOC_ZERO(tree->ctx, seen, 2 * n + 1);
    for (int64_t p = 0; *out && p < 2 * n; p++) {
        int64_t child = tree->children[p];
        *out = child >= -n - 1 && child < n && (child < 0 || child > p / 2);
        unsigned char *place = *out ? &seen[child >= 0 ? child : n - 1 - child] : NULL;
        if (place) {
            *out = !*place;
            *place = 1;
        }
    }
cleanup:
    kfe_i_free(tree->ctx, seen);
    return status;
}

/* ---- shares ---- */

/* The share of the second child. */
static double share_above(double projection, double threshold, double width)
{
    double u = projection - threshold;

    return width > 0 ? 1 / (1 + exp(-u / width)) : u > 0;
}

/* out (rows of x × leaves) = the shares of the leaves. */
static kfe_status leaf_shares(const kfe_i_tree *tree, kfe_context *ctx, const kfe_i_table *x, double *out)
{
    kfe_status status = KFE_OK;
    int64_t n = tree->node_count;
    double *projections = NULL; /* rows × nodes */
    double *directions = NULL;  /* cols × nodes */
    double *reach = NULL;       /* the share of each node at one point */

    KFE_ALLOC(ctx, projections, x->rows * n);
    KFE_ALLOC(ctx, directions, tree->cols * n);
    KFE_ALLOC(ctx, reach, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < tree->cols; j++)
            directions[j * n + i] = tree->directions[i * tree->cols + j];
    KFE_TRY(kfe_i_table_times(ctx, x, directions, n, projections));
    for (int64_t r = 0; r < x->rows; r++) {
        reach[0] = 1;
        for (int64_t i = 0; i < n; i++) {
            double above = share_above(projections[r * n + i], tree->thresholds[i], tree->widths[i]);
            for (int side = 0; side < 2; side++) {
                int64_t child = tree->children[2 * i + side];
                double share = reach[i] * (side ? above : 1 - above);
                if (child >= 0)
                    reach[child] = share;
                else
                    out[r * (n + 1) - 1 - child] = share;
            }
        }
    }
cleanup:
    kfe_i_free(ctx, projections);
    kfe_i_free(ctx, directions);
    kfe_i_free(ctx, reach);
    return status;
}

/* ---- features ---- */

/* What is evaluated, and room for the rows that reach one leaf. */
typedef struct evaluation {
    kfe_context *ctx;
    const kfe_i_tree *tree;
    const kfe_i_kernel_list *kernels;
    const kfe_i_table *x;
    double *shares, *values;
    int64_t *index;
} evaluation;

/* out += the share of leaf l times its features, at the rows that reach it. */
static kfe_status add_leaf(const evaluation *e, int64_t l, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_tree_leaf *leaf = &e->tree->leaves[l];
    int64_t leaves = e->tree->node_count + 1;
    int64_t dim = e->tree->dim;
    int64_t count = 0;
    kfe_i_table rows = {0};
    kfe_i_table mapped = {0};

    for (int64_t r = 0; r < e->x->rows; r++)
        if (e->shares[r * leaves + l] > KFE_TREE_SHARE)
            e->index[count++] = r;
    if (count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_table_gather(e->ctx, e->x, e->index, count, &rows));
    KFE_TRY(kfe_i_map_apply(e->ctx, &leaf->map, &rows, &mapped));
    KFE_TRY(kfe_i_expand(e->ctx, e->kernels, &mapped, &leaf->support, leaf->coefficients, dim, e->values));
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < dim; c++)
            out[e->index[i] * dim + c] +=
                e->shares[e->index[i] * leaves + l] * (e->values[i * dim + c] - leaf->offset[c]);
cleanup:
    kfe_i_table_free(&mapped);
    kfe_i_table_free(&rows);
    return status;
}

kfe_status kfe_i_tree_features(kfe_context *ctx, const kfe_i_tree *tree, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *x, double *out)
{
    kfe_status status = KFE_OK;
    int64_t leaves = tree->node_count + 1;
    evaluation e = {.ctx = ctx, .tree = tree, .kernels = kernels, .x = x};

    memset(out, 0, (size_t)(x->rows * tree->dim) * sizeof *out);
    KFE_ALLOC(ctx, e.shares, x->rows * leaves);
    KFE_ALLOC(ctx, e.values, x->rows * tree->dim);
    KFE_ALLOC(ctx, e.index, x->rows);
    KFE_TRY(leaf_shares(tree, ctx, x, e.shares));
    for (int64_t l = 0; l < leaves; l++)
        KFE_TRY(add_leaf(&e, l, out));
cleanup:
    kfe_i_free(ctx, e.shares);
    kfe_i_free(ctx, e.values);
    kfe_i_free(ctx, e.index);
    return status;
}
