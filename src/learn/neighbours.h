/* SPDX-License-Identifier: Apache-2.0 */
/* The nearest rows of a machine of kind `neighbours`, and their votes. */
#ifndef KFE_LEARN_NEIGHBOURS_H
#define KFE_LEARN_NEIGHBOURS_H

#include "learn/machine.h"

/* out (rows × outputs): the share of votes per class, or the mean of the neighbours' values. */
kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_machine *machine,
                                    const kfe_i_table *features, double *out);

#endif
