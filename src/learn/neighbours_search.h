/* SPDX-License-Identifier: Apache-2.0 */
/* Call kfe_i_neighbours_search to find the nearest rows of a table for each query. The votes of knn use it. */
#ifndef KFE_LEARN_NEIGHBOURS_SEARCH_H
#define KFE_LEARN_NEIGHBOURS_SEARCH_H

#include "data/table/table.h"

typedef struct kfe_i_neighbour {
    double distance; /* squared */
    int64_t row;
} kfe_i_neighbour;

/* Turns the k nearest rows of a query, nearest first, into its row of the output. Threads call it at once. */
typedef void (*kfe_i_neighbour_answer)(const void *user, int64_t query, const kfe_i_neighbour *found,
                                       double *out);

typedef struct kfe_i_neighbour_search {
    const kfe_i_table *support;
    int64_t k; /* at most the rows of the support */
    kfe_i_neighbour_answer answer;
    const void *user;
    int64_t width; /* numbers per query in the output */
} kfe_i_neighbour_search;

/* out: rows of the queries × width. Of rows at equal distances the lower one is nearer. */
kfe_status kfe_i_neighbours_search(kfe_context *ctx, const kfe_i_neighbour_search *asked,
                                   const kfe_i_table *queries, double *out);
/* The squared distance of two rows, from differences: 0 if they are equal, whatever the forms of the tables. */
double kfe_i_neighbour_distance(const kfe_i_table *a, int64_t i, const kfe_i_table *b, int64_t j);

#endif
