/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the devices of the processes of a cluster, if every process has one: each keeps or computes its panels
 * there, and the results are added or gathered, so that all have the same. dealt.c, policy.c and the solvers use it; methods see the same
 * operator.
 */
#ifndef KFE_GRAM_CLUSTER_ON_DEVICES_H
#define KFE_GRAM_CLUSTER_ON_DEVICES_H

#include "gram/device.h"
#include "gram/gram.h"

/* If all processes have the operator on a device: *gram becomes one that owns it and divides its work. If only some have, they go on
 * without: *gram becomes the one on the CPU. */
kfe_status kfe_i_devices_deal(kfe_context *ctx, kfe_i_gram **gram);

/* Whether an operator is on the devices of several processes, divided or whole; centred ones are not looked into. */
int kfe_i_gram_is_on_devices(const kfe_i_gram *gram);
/* The operator of the whole matrix on the device of this process, which works alone, inside such an operator; others as they are. */
const kfe_i_gram *kfe_i_gram_own_device(const kfe_i_gram *gram);

/* ---- for operators on the devices of several processes; all processes call together ---- */

/* out = G·v, both on the device of each process, packed; the parts pass through host memory. */
kfe_status kfe_i_devices_times(const kfe_i_gram *gram, const kfe_device_matrix *v,
                               const kfe_device_matrix *out);

/* Keeps an operator that kfe_i_devices_deal made, each device the panels of its process: in double precision, else in single precision, else
 * some panels, else none, computed in single precision. `type` F64 or F32 allows only that one, 0 any; *out NULL: it does not fit.
 * Borrows `gram`. */
kfe_status kfe_i_devices_keep(const kfe_i_gram *gram, int type, kfe_i_gram **out);
/* The same; the result, if there is one, owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_devices_keep_owned(kfe_i_gram **gram, int type, kfe_i_gram **out);
/* Every device keeps the whole matrix in double precision; *out NULL: it does not fit on all of them beside `reserve` bytes. */
kfe_status kfe_i_devices_keep_whole(const kfe_i_gram *gram, double reserve, kfe_i_gram **out);
/* Whether kfe_i_devices_keep would use double precision. */
int kfe_i_devices_wide_fit(const kfe_i_gram *gram);

#endif
