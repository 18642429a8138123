/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the processes of a cluster: every process has all examples, evaluates or keeps its panels of the matrix,
 * and the results are added or gathered, so that all have the same. gram.c and policy.c use it; methods see the same operator.
 */
#ifndef KFE_GRAM_CLUSTER_DEALT_H
#define KFE_GRAM_CLUSTER_DEALT_H

#include "gram/gram.h"

/* If the context has a cluster and the operator evaluates its kernel: *gram becomes an operator that owns the former one and divides
 * its work, on the devices of the processes if all have one (on_devices.h). */
kfe_status kfe_i_gram_deal(kfe_context *ctx, kfe_i_gram **gram);
/* Whether products are divided over the CPUs of processes: an operator that dealt.c made, or one of these inside a centred operator. */
int kfe_i_gram_is_dealt(const kfe_i_gram *gram);

/* The operator inside one that kfe_i_gram_deal made, which works in this process alone; NULL for others. */
const kfe_i_gram *kfe_i_gram_dealt_source(const kfe_i_gram *gram);

/* Whether all kernels of that operator are evaluated tile by tile. */
int kfe_i_dealt_is_tiled(const kfe_i_gram *source);

/* Keeps the first `rows` rows and columns (all, or a multiple of 256 of them) of such an operator in the memory of all processes, in
 * double or single precision; the rest is evaluated at every pass. Borrows `gram`. */
kfe_status kfe_i_dealt_keep(const kfe_i_gram *gram, int single, int64_t rows, kfe_i_gram **out);
/* The same for all rows; the result owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_dealt_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out);
/* Bytes of each process for a matrix of n rows. */
double kfe_i_dealt_bytes(int64_t n, int ranks, int single);
/* How many rows of an operator that kfe_i_gram_deal made fit in so many bytes of each process in single precision; 0: too few to be worth
 * it, or its kernels cannot be evaluated in part. */
int64_t kfe_i_dealt_rows(const kfe_i_gram *gram, double bytes);

#endif
