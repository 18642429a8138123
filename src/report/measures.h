/* SPDX-License-Identifier: Apache-2.0 */
/* Print the measures of several kernels on one data set, as a text table or as JSON. */
#ifndef KFE_REPORT_MEASURES_H
#define KFE_REPORT_MEASURES_H

#include "select/measure.h"

/* `names` and `moments` have one entry for each kernel. */
kfe_status kfe_i_report_measures(kfe_context *ctx, int64_t count, char *const *names,
                                 const kfe_i_measured *moments, kfe_style style, char **out);

#endif
