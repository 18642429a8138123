/* SPDX-License-Identifier: Apache-2.0 */
/* Tell fits apart: by a text with all that decides the result. kfe_fit uses it for checkpoints. */
#ifndef KFE_MODEL_IDENTITY_H
#define KFE_MODEL_IDENTITY_H

#include "model/spec.h"

/* "method: settings, kernels, …, seed" on the first line, the fingerprint of the data on the second. Freed by the caller. */
kfe_status kfe_i_fit_identity(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, char **out);

/* The same for data that is known by a text. */
kfe_status kfe_i_fit_identity_of(kfe_context *ctx, const kfe_spec *spec, const char *data, char **out);

#endif
