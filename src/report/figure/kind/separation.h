/* SPDX-License-Identifier: Apache-2.0 */
/* Find the two features that tell examples apart best. */
#ifndef KFE_REPORT_FIGURE_KIND_SEPARATION_H
#define KFE_REPORT_FIGURE_KIND_SEPARATION_H

#include "report/figure/figure.h"

/* best[2] = the features, from 1, in their order, with the largest share of variance between classes or, of the first real target, the
 * largest correlation; the same if the set has no data or no target. Examples count by their weights. */
void kfe_i_best_pair(const kfe_i_set *set, int64_t features, int64_t classes, int64_t best[2]);

#endif
