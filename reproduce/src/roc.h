/* SPDX-License-Identifier: Apache-2.0 */
/* Measure a ROC curve: the true positive rate of a model's scores at given false positive rates. */
#ifndef REP_ROC_H
#define REP_ROC_H

#include <jansson.h>

#include "kfe.h"

/* The curve of the positive class on the test rows, with straight lines between its points: at every false positive
 * rate of `rates` (numbers from 0 to 1, in an array) the largest true positive rate there. KFE_EINPUT if `test` is
 * NULL or there is not one curve. */
kfe_status rep_roc_measure(kfe_context *ctx, const kfe_model *model, const kfe_data *test,
                           const json_t *rates, double *out);

#endif
