/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use the whole matrix of an operator on a device, centred or not: for the direct solvers of this folder. If the operator is divided
 * over the devices of several processes, every device has the whole matrix, and the processes agree on what they do.
 */
#ifndef KFE_GRAM_DEVICE_WHOLE_H
#define KFE_GRAM_DEVICE_WHOLE_H

#include "gram/device/form.h"
#include "gram/solve/refine.h"

typedef struct kfe_i_device_whole {
    kfe_context *ctx;
    const kfe_i_gram *gram;    /* not centred; computes in this process alone */
    const kfe_i_gram *centred; /* the operator that was asked for, if it is centred */
    kfe_i_device *device;      /* NULL: not on a device, or not in all processes */
    int together;              /* all processes do the same */
} kfe_i_device_whole;

/* Of `gram`, which is `inside` itself or centres it. */
kfe_status kfe_i_device_whole_open(const kfe_i_gram *gram, const kfe_i_gram *inside, kfe_i_device_whole *out);
/* Computes row means, which must be done before the matrix takes the memory. */
kfe_status kfe_i_device_whole_means(const kfe_i_device_whole *w);
/* out (n × n, on the device) = scale·G, or at least its lower triangle. `filled`: it has the entries before centring already. */
kfe_status kfe_i_device_whole_fill(const kfe_i_device_whole *w, double scale, int filled,
                                   const kfe_device_matrix *out, kfe_device_status *result);

/* How a step went, the worst first. */
typedef enum kfe_i_outcome {
    KFE_OUTCOME_UNSUPPORTED,
    KFE_OUTCOME_NO_ROOM,
    KFE_OUTCOME_INDEFINITE,
    KFE_OUTCOME_GOOD
} kfe_i_outcome;
/* For processes that work together, the worst outcome counts. */
kfe_status kfe_i_device_whole_agree(const kfe_i_device_whole *w, kfe_i_outcome *how);
/* All processes take the numbers of process 0. */
kfe_status kfe_i_device_whole_share(const kfe_i_device_whole *w, double *values, int64_t count);

/* What kfe_i_device_eigen finds, for an operator that is `inside` itself or centres it. */
kfe_status kfe_i_device_eigen_of(const kfe_i_gram *gram, const kfe_i_gram *inside, int64_t k,
                                 double tolerance, double *values, double *vectors);

#endif
