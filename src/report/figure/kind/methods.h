/* SPDX-License-Identifier: Apache-2.0 */
/* Read the methods of a comparison, with their metric, ranks and times, from the result of `compare`. */
#ifndef KFE_REPORT_FIGURE_KIND_METHODS_H
#define KFE_REPORT_FIGURE_KIND_METHODS_H

#include "report/figure/kind/choice.h"

typedef struct kfe_i_compared_method {
    const char *label;
    double mean, error, rank, seconds; /* rank: its mean over the splits, 1 is best; seconds: of one fit */
    int64_t first_split, splits;
} kfe_i_compared_method;

typedef struct kfe_i_methods {
    kfe_context *ctx;
    int64_t count;
    kfe_i_compared_method *items; /* by rank */
    char path[KFE_METRIC_PATH];   /* "metrics/NAME" */
    const char *metric;
} kfe_i_methods;

/* Count 0: the results are not those of a comparison. Free also after a failure. */
kfe_status kfe_i_methods_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_methods *out);
void kfe_i_methods_free(kfe_i_methods *methods);
/* Adds the column of labels and the columns of mean and standard error, 1 to 3. */
kfe_status kfe_i_methods_columns(const kfe_i_methods *methods, kfe_i_figure *out);

#endif
