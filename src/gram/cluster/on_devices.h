/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the devices of the processes of a cluster, if every process has one. Each device keeps or computes the
 * panels of its process; results are added or gathered, so that all processes have the same. Called by dealt.c, policy.c and the
 * solvers; methods see an operator like any other.
 */
#ifndef KFE_GRAM_CLUSTER_ON_DEVICES_H
#define KFE_GRAM_CLUSTER_ON_DEVICES_H

#include "gram/device.h"
#include "gram/gram.h"

/* If all processes have the operator on a device: *gram becomes one that owns it and divides its work. If only some have: *gram becomes
 * the operator on the CPU in all of them. */
kfe_status kfe_i_devices_deal(kfe_context *ctx, kfe_i_gram **gram);

/* Whether an operator is on the devices of several processes, divided or whole; 0 for a centred operator, whatever is inside. */
int kfe_i_gram_is_on_devices(const kfe_i_gram *gram);
/* The operator inside such a one that has the whole matrix on this process's device and needs no other process; else `gram` itself. */
const kfe_i_gram *kfe_i_gram_own_device(const kfe_i_gram *gram);

/* ---- for operators on the devices of several processes; all processes call together ---- */

/* out = G·v, both on the device of each process, packed; the parts pass through host memory. */
kfe_status kfe_i_devices_times(const kfe_i_gram *gram, const kfe_device_matrix *v,
                               const kfe_device_matrix *out);

/* Stores the matrix of an operator that kfe_i_devices_deal made; every device stores the panels of its process: all in double precision,
 * else all in single precision, else some, else none; those that are not stored are computed in single precision. `type` F64 or F32
 * allows only all panels in that precision, 0 any. *out NULL: it does not fit beside `reserve` bytes. Borrows `gram`. */
kfe_status kfe_i_devices_keep(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out);
/* The same without a reserve; the result, if there is one, owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_devices_keep_owned(kfe_i_gram **gram, int type, kfe_i_gram **out);
/* Every device keeps the whole matrix in double precision; *out NULL: it does not fit on all of them beside `reserve` bytes. */
kfe_status kfe_i_devices_keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out);
/* Whether kfe_i_devices_keep would use double precision. */
int kfe_i_devices_wide_fit(const kfe_i_gram *gram, double reserve);

#endif
