/* SPDX-License-Identifier: Apache-2.0 */
/* Find a generator by name. To add one, write a file that ends in a kfe_i_generator and list it in generators.def. */
#ifndef KFE_DATA_GENERATE_GENERATE_H
#define KFE_DATA_GENERATE_GENERATE_H

#include "core/entry.h"
#include "core/param.h"
#include "core/rng.h"
#include "data/data.h"

typedef struct kfe_i_generator {
    KFE_I_ENTRY(source); /* where it is defined: a paper's section or a name */
    kfe_i_param_table params;
    kfe_status (*make)(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out);
} kfe_i_generator;

/* NULL past the end. */
const kfe_i_generator *kfe_i_generator_at(int index);

#endif
