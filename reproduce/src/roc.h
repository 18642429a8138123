/* SPDX-License-Identifier: Apache-2.0 */
/* Measure a ROC curve: the true positive rate of a model's scores at given false positive rates. */
#ifndef REP_ROC_H
#define REP_ROC_H

#include <jansson.h>

#include "kfe.h"

/* The true positive rates of the positive class on the test rows, with straight lines between the points of
 * the curve: for every false positive rate of `rates` (an array of numbers from 0 to 1) the largest true
 * positive rate. KFE_EINPUT if `test` is NULL or the data does not have exactly one curve. */
kfe_status rep_roc_measure(kfe_context *ctx, const kfe_model *model, const kfe_data *test,
                           const json_t *rates, double *out);

#endif
