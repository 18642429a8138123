/* SPDX-License-Identifier: Apache-2.0 */
/* Make a result from the measures of several kernels on one data set. */
#ifndef KFE_REPORT_MEASURES_H
#define KFE_REPORT_MEASURES_H

#include "result/result.h"
#include "select/measure.h"

/* `names` and `moments` have one entry for each kernel. */
kfe_status kfe_i_measures_result(kfe_context *ctx, int64_t count, char *const *names,
                                 const kfe_i_measured *moments, kfe_result **out);

#endif
