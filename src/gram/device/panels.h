/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiply with the part of a kernel matrix that one process of a cluster has on its device; the parts of all processes add up to the
 * matrix. gram/cluster/on_devices.c makes an operator of it.
 *
 * The lower triangle is cut into panels of up to 512 rows, which are dealt over the processes (core/share.h). The first panels are kept
 * in the device's memory; the others are computed there at every product.
 */
#ifndef KFE_GRAM_DEVICE_PANELS_H
#define KFE_GRAM_DEVICE_PANELS_H

#include "core/share.h"
#include "gram/device/form.h"

typedef struct kfe_i_device_panels kfe_i_device_panels;

typedef struct kfe_i_device_panels_shape {
    kfe_i_share share;
    kfe_device_type type; /* of entries, kept or computed */
    int64_t kept;         /* panels of all processes that are kept */
} kfe_i_device_panels_shape;

/* Panels of all processes for a matrix of n rows. */
int64_t kfe_i_device_panels_count(int64_t n, int processes);
/* Bytes of the device that has the most, with `kept` panels and room for a product. */
double kfe_i_device_panels_bytes(int64_t n, int processes, kfe_device_type type, int64_t kept);
/* How many panels in single precision fit in this number of bytes per device; 0: too few to be useful, or computing them is as fast. */
int64_t kfe_i_device_panels_that_fit(const kfe_i_gram *source, int processes, double bytes);

/* `source` computes on a device (fused.c) and is borrowed. *out NULL: the device has no room for the panels that are kept. */
kfe_status kfe_i_device_panels_new(const kfe_i_gram *source, const kfe_i_device_panels_shape *shape,
                                   kfe_i_device_panels **out);
void kfe_i_device_panels_free(kfe_i_device_panels *panels);
/* out (n × k) = this process's part of G·v. The CPU computes it if the device gives up, so that the parts still add up. */
kfe_status kfe_i_device_panels_times(kfe_i_device_panels *panels, const double *v, int64_t k, double *out);
/* The same for packed vectors on the device; `room`, on the device, is scratch of the same size. `out` is in host memory. */
kfe_status kfe_i_device_panels_times_there(kfe_i_device_panels *panels, const kfe_device_matrix *v,
                                           const kfe_device_matrix *room, double *out);

#endif
