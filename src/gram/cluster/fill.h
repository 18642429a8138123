/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluate the panels of a kernel matrix that this process keeps. */
#ifndef KFE_GRAM_CLUSTER_FILL_H
#define KFE_GRAM_CLUSTER_FILL_H

#include "gram/dense/symmetric.h"
#include "gram/gram.h"

/* The first matrix->n rows and columns of `source`, as far as matrix->share deals them to this process. */
kfe_status kfe_i_dealt_fill(const kfe_i_gram *source, const kfe_i_symmetric *matrix);

#endif
