/* SPDX-License-Identifier: Apache-2.0 */
/* What to fit: a method with its parameters, options that no method owns, kernels. */
#ifndef KFE_API_SPEC_H
#define KFE_API_SPEC_H

#include "data/scale.h"
#include "method/method.h"

typedef struct kfe_i_fit_settings {
    int scale; /* kfe_i_scale_kind */
    int gram;  /* kfe_i_gram_storage */
} kfe_i_fit_settings;

struct kfe_spec {
    kfe_context *ctx;
    const kfe_i_method *method;
    void *settings; /* as method->params says */
    kfe_i_fit_settings fit;
    kfe_i_kernel_list kernels; /* empty: the default kernel of the method */
};

/* The options that no method owns, from "key=value,..." (NULL: defaults). */
kfe_status kfe_i_fit_settings_parse(kfe_context *ctx, const char *options, kfe_i_fit_settings *out);

#endif
