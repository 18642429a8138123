/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the processes of a cluster: every process has all examples, evaluates or keeps its panels of the matrix,
 * and the results are added or gathered, so that all have the same. open.c uses it; methods see the same operator.
 */
#ifndef KFE_GRAM_CLUSTER_DEALT_H
#define KFE_GRAM_CLUSTER_DEALT_H

#include "gram/gram.h"

/* For an operator that evaluates its kernels, if the context has a cluster: *gram becomes an operator that owns the former one and divides
 * its work. `tiled`: all of its kernels are evaluated tile by tile. */
kfe_status kfe_i_gram_deal(kfe_i_gram **gram, int tiled);

/* Keeps the first `rows` rows and columns (all, or a multiple of 256 of them) of such an operator in the memory of all processes, in
 * double or single precision; the rest is evaluated at every pass. Borrows `gram`. */
kfe_status kfe_i_dealt_keep(const kfe_i_gram *gram, int single, int64_t rows, kfe_i_gram **out);
/* The same for all rows; the result owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_dealt_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out);
/* Bytes of each process for a matrix of n rows. */
double kfe_i_dealt_bytes(int64_t n, int processes, int single);

/* Entries of an operator that works in this process alone, in consecutive rows: the processes evaluate a share each and gather them. */
kfe_status kfe_i_gram_divided_entries(const kfe_i_gram *source, kfe_i_share share, kfe_i_places rows,
                                      kfe_i_places cols, double *out, int64_t stride);

#endif
