/* SPDX-License-Identifier: Apache-2.0 */
/* Tell fits apart: by a text with all that decides the result. Checkpoints use it, and the calls that processes share. */
#ifndef KFE_MODEL_IDENTITY_H
#define KFE_MODEL_IDENTITY_H

#include "model/spec.h"

/* "method: settings, kernels, …, seed" on the first line, the fingerprint of the data on the second. Freed by the caller. */
kfe_status kfe_i_fit_identity(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, char **out);

/* The same for data that is known by a text. */
kfe_status kfe_i_fit_identity_of(kfe_context *ctx, const kfe_spec *spec, const char *data, char **out);

/* What a call is asked for, for kfe_i_check_same_call. */
typedef struct kfe_i_call {
    const char *name; /* "fit" */
    int spec_count;
    const kfe_spec *const *specs;
    const char *options; /* what else the user set; NULL: nothing */
    int text_count;
    const char *const *texts; /* the same, such as grids */
} kfe_i_call;

/* Fails on every process of a cluster unless all were asked for the same, on the same data (NULL: each process has rows of its own). Each
 * call that processes share begins with it: else they would wait for each other forever, or mix two results. Without a cluster it does
 * nothing. */
kfe_status kfe_i_check_same_call(kfe_context *ctx, const kfe_i_call *call, const kfe_data *data);

#endif
