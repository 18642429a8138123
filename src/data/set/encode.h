/* SPDX-License-Identifier: Apache-2.0 */
/* Encode text columns of data in memory. */
#ifndef KFE_DATA_SET_ENCODE_H
#define KFE_DATA_SET_ENCODE_H

#include "data/data.h"

/* Texts of some columns: texts[k * rows + i] is that of columns[k] in row i, NULL where it is missing. */
typedef struct kfe_i_given_texts {
    int64_t count;
    const int64_t *columns; /* from 0, increasing */
    const char *const *texts;
} kfe_i_given_texts;

/* kfe_data_encode with categories that are learned (`known` NULL) or given. */
kfe_status kfe_i_data_encode(kfe_context *ctx, kfe_data *data, const kfe_i_given_texts *given,
                             const kfe_i_encoding *known);

/* Removes the columns of categories that only rows of weight 0 have, as such rows are left out. Nothing without weights, or if the
 * categories are those of a model. */
kfe_status kfe_i_data_drop_weightless_categories(kfe_context *ctx, kfe_data *data);

#endif
