/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep one kernel matrix on a device for a whole search: dot products or distances of all pairs are computed once, every kernel of
 * a grid is mapped from them, and the operator of a split is a part of the matrix. select/group.c uses it.
 */
#ifndef KFE_GRAM_DEVICE_SHARED_H
#define KFE_GRAM_DEVICE_SHARED_H

#include "gram/device/form.h"

typedef struct kfe_i_device_shared kfe_i_device_shared;

/* Whether the context has a device that can hold the matrix of these kernels on the tables, beside what each is mapped from. */
kfe_status kfe_i_device_shared_fits(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                    const kfe_i_table *views, int64_t rows, int *fits);
/* Makes *shared the matrix of these kernels; NULL is a new one. What kernels before them were mapped from is used again. The rows
 * of the tables must be the same in all calls. *shared NULL afterwards: the device gave up, and a log line says so. */
kfe_status kfe_i_device_shared_fill(kfe_context *ctx, const kfe_i_kernel_list *kernels,
                                    const kfe_i_table *views, kfe_i_device_shared **shared);
void kfe_i_device_shared_free(kfe_i_device_shared *shared);
/* Whether an operator of a part ran out of the device's memory: its call failed, and the caller may start again without a device. */
int kfe_i_device_shared_gave_up(const kfe_i_device_shared *shared);

/* The operator of the rows and columns listed; both are borrowed. Its products with kfe_i_gram_subset_expand reach all rows. */
kfe_status kfe_i_device_subset(kfe_context *ctx, kfe_i_device_shared *shared, const int64_t *index,
                               int64_t count, kfe_i_gram **out);

#endif
