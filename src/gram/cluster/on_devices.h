/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide a Gram operator over the devices of the processes of a cluster, if every process has one. Each device keeps or computes the
 * panels of its process; results are added or gathered, so that all processes have the same. Called by open.c; methods see an operator
 * like any other.
 */
#ifndef KFE_GRAM_CLUSTER_ON_DEVICES_H
#define KFE_GRAM_CLUSTER_ON_DEVICES_H

#include "gram/gram.h"
#include "plugin/device.h"

/* *on_devices: the operator computes on the device of this process; afterwards, that all processes have it on a device. If they have, *gram
 * becomes one that owns it and divides its work; if only some have, it becomes the operator on the CPU in all of them. */
kfe_status kfe_i_devices_deal(kfe_context *ctx, kfe_i_gram **gram, int *on_devices);

/* ---- for operators that kfe_i_devices_deal made; all processes call together ---- */

/* Stores the matrix; every device stores the panels of its process: all in double precision, else all in single precision, else some, else
 * none; those that are not stored are computed in single precision. `type` F64 or F32 allows only all panels in that precision, 0 any.
 * *out NULL: it does not fit beside `reserve` bytes. Borrows `gram`. */
kfe_status kfe_i_devices_keep(const kfe_i_gram *gram, int type, double reserve, kfe_i_gram **out);
/* The same in one precision, without a reserve; the result, if there is one, owns the operator, and *gram becomes NULL. */
kfe_status kfe_i_devices_keep_owned(kfe_i_gram **gram, int single, kfe_i_gram **out);

#endif
