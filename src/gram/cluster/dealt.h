/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the processes of a cluster: every process has all examples, evaluates or keeps its panels of the matrix,
 * and the results are added or gathered, so that all have the same. gram.c and policy.c use it; methods see the same operator.
 */
#ifndef KFE_GRAM_CLUSTER_DEALT_H
#define KFE_GRAM_CLUSTER_DEALT_H

#include "gram/device.h"
#include "gram/gram.h"

/* If the context has a cluster and the operator evaluates its kernel: *gram becomes an operator that owns the former one and divides
 * its work, on the devices of the processes if all have one. */
kfe_status kfe_i_gram_deal(kfe_context *ctx, kfe_i_gram **gram);

/* The operator inside one that kfe_i_gram_deal made, which works in this process alone; NULL for others. */
const kfe_i_gram *kfe_i_gram_dealt_source(const kfe_i_gram *gram);

/* Whether an operator is divided over the devices of the processes. */
int kfe_i_gram_is_on_devices(const kfe_i_gram *gram);
/* The operator of the whole matrix on the device of this process, which works alone, inside such an operator; others as they are. */
const kfe_i_gram *kfe_i_gram_own_device(const kfe_i_gram *gram);

/* Whether all kernels of that operator are evaluated tile by tile. */
int kfe_i_dealt_is_tiled(const kfe_i_gram *source);

/* Keeps the first `rows` rows and columns (all, or a multiple of 256 of them) of such an operator in the memory of all processes, in
 * double or single precision; the rest is evaluated at every pass. Borrows `gram`. */
kfe_status kfe_i_dealt_keep(const kfe_i_gram *gram, int single, int64_t rows, kfe_i_gram **out);
/* The same for all rows; the result owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_dealt_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out);

/* ---- for operators that are divided over devices ---- */

/* out = G·v, both on the device of each process, packed; the parts pass through host memory. */
kfe_status kfe_i_dealt_times_on_devices(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                        const kfe_device_matrix *out);

/* Keeps an operator that kfe_i_gram_deal made on the devices, each of which has the panels of its process: in double precision, else in single
 * precision, beside `reserve` bytes if that is possible, else some panels, else none, computed in single precision. `type` F64 or F32 allows only
 * that one, 0 any; *out NULL: it does not fit. Borrows `gram`. */
kfe_status kfe_i_dealt_keep_on_devices(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out);
/* Every device keeps the whole matrix in double precision; *out NULL: it does not fit on all of them beside `reserve` bytes. */
kfe_status kfe_i_dealt_keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out);
/* Whether that or kfe_i_dealt_keep_on_devices would use double precision beside the reserve. All processes ask together. */
int kfe_i_dealt_wide_fits_on_devices(const kfe_i_gram *gram, double reserve);

/* ---- for those on the CPU ---- */

/* Bytes of each process for a matrix of n rows. */
double kfe_i_dealt_bytes(int64_t n, int ranks, int single);
/* How many rows of an operator that kfe_i_gram_deal made fit in so many bytes of each process in single precision; 0: too few to be worth
 * it, or its kernels cannot be evaluated in part. */
int64_t kfe_i_dealt_rows(const kfe_i_gram *gram, double bytes);

#endif
