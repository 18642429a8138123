/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply a Gram operator with coefficients of which many are zero, as those of SVMs are. */
#ifndef KFE_LEARN_BLOCKS_SUPPORT_H
#define KFE_LEARN_BLOCKS_SUPPORT_H

#include "gram/gram.h"

/* out = Gβ, both n × k, in double precision. A tiled operator is evaluated only in the columns of examples that have a
 * coefficient other than 0. */
kfe_status kfe_i_support_times(const kfe_i_gram *gram, const double *beta, int64_t k, double *out);

#endif
