/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate a projector that is a tree, the model of rfm with {leaf-size}. Node i sends a point x to its first child with the share
 *
 *     1 − σ((v_iᵀx − t_i) / w_i),   σ(u) = 1 / (1 + exp(−u)),
 *
 * and to its second child with the rest; a width w_i of 0 is a hard decision by v_iᵀx > t_i. The share η_l(x) of a leaf is the
 * product of the shares along its path. Every leaf has a distance and a kernel expansion of its own:
 *
 *     features(x) = Σ_l η_l(x) (A_lᵀκ(S_l, T_lᵀx) − offset_l).
 *
 * A point costs the kernel values of the leaves that it reaches, with hard decisions of one.
 */
#ifndef KFE_METHOD_SHARED_TREE_H
#define KFE_METHOD_SHARED_TREE_H

#include "data/table/map.h"
#include "kernel/kernel.h"

/* A leaf with a smaller share of a point is not evaluated there. */
#define KFE_TREE_SHARE 1e-9

typedef struct kfe_i_tree_leaf {
    kfe_i_map map;        /* T, from the columns to the support's; without values: the identity */
    kfe_i_table support;  /* S after the map */
    double *coefficients; /* A, support rows × dim */
    double *offset;       /* dim */
} kfe_i_tree_leaf;

typedef struct kfe_i_tree {
    kfe_context *ctx;
    int64_t cols, dim;
    int64_t node_count;          /* at least 1; there is one leaf more */
    double *directions;          /* v, nodes × cols */
    double *thresholds, *widths; /* t and w, one per node */
    /* nodes × 2: a node, whose number is larger than that of its parent, or −1 − l for leaf l. Node 0 is the root. */
    int64_t *children;
    kfe_i_tree_leaf *leaves;
} kfe_i_tree;

/* A tree of `nodes` nodes, whose arrays are NULL, and zeroed leaves, one more than nodes. */
kfe_status kfe_i_tree_new(kfe_context *ctx, int64_t nodes, int64_t cols, int64_t dim, kfe_i_tree **out);
/* The arrays of the nodes, without values. */
kfe_status kfe_i_tree_alloc_nodes(kfe_i_tree *tree);
void kfe_i_tree_free(kfe_i_tree *tree);
/* The number of support examples of all leaves. */
int64_t kfe_i_tree_rows(const kfe_i_tree *tree);
/* Whether the children name every node but the root, and every leaf, exactly once, parents before children. */
kfe_status kfe_i_tree_is_sound(const kfe_i_tree *tree, int *out);

/* out (rows of x × dim) = the features of the rows of x, after scaling. */
kfe_status kfe_i_tree_features(kfe_context *ctx, const kfe_i_tree *tree, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *x, double *out);

#endif
