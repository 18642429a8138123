/* SPDX-License-Identifier: Apache-2.0 */
/* Call these to give rows to LIBSVM or LIBLINEAR: (index, value) pairs, counted from 1 and ended by index −1. */
#ifndef KFE_LEARN_NODES_H
#define KFE_LEARN_NODES_H

#include "gram/gram.h"

/* Has the layout of svm_node and feature_node, as the files that include their headers assert. */
typedef struct kfe_i_node {
    int index;
    double value;
} kfe_i_node;

typedef struct kfe_i_nodes {
    kfe_context *ctx;
    int64_t count;
    kfe_i_node *nodes;
    kfe_i_node **rows; /* the first node of each row */
} kfe_i_nodes;

/* The nonzero entries; with `bias` one more column of ones after the last. */
kfe_status kfe_i_nodes_from_table(kfe_context *ctx, const kfe_i_table *table, int bias, kfe_i_nodes *out);
/* A Gram operator as LIBSVM's precomputed kernel: row i holds its number i + 1 at index 0, then all of G[i, ·]. */
kfe_status kfe_i_nodes_from_gram(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_nodes *out);
void kfe_i_nodes_free(kfe_i_nodes *nodes);

#endif
