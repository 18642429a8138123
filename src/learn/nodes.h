/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as LIBSVM and LIBLINEAR want them: (index, value) pairs from 1 on, ended by index −1. */
#ifndef KFE_LEARN_NODES_H
#define KFE_LEARN_NODES_H

#include "gram/gram.h"

/* Laid out like svm_node and feature_node; the files that include their headers assert it. */
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

/* The entries that are not zero; with `bias` one more column, after the last, that holds 1. */
kfe_status kfe_i_nodes_from_table(kfe_context *ctx, const kfe_i_table *table, int bias, kfe_i_nodes *out);
/* LIBSVM's form of a given kernel: row i holds its number i + 1 at index 0, and then all of G[i, ·]. */
kfe_status kfe_i_nodes_from_gram(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_nodes *out);
void kfe_i_nodes_free(kfe_i_nodes *nodes);

#endif
