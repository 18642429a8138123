/* SPDX-License-Identifier: Apache-2.0 */
/* Read the methods of a comparison, with their metric, ranks and times, from the JSON of `compare`. */
#ifndef KFE_REPORT_FIGURE_KIND_METHODS_H
#define KFE_REPORT_FIGURE_KIND_METHODS_H

#include "report/figure/figure.h"

typedef struct kfe_i_compared_method {
    const char *label;
    double mean, error, rank, seconds; /* rank: its mean over the splits, 1 is best; seconds: of one fit */
    const kfe_i_json_value *splits;
} kfe_i_compared_method;

typedef struct kfe_i_methods {
    kfe_context *ctx;
    int64_t count;
    kfe_i_compared_method *items; /* by rank */
    const char *metric;
} kfe_i_methods;

/* Count 0: the results are not those of a comparison. Free also after a failure. */
kfe_status kfe_i_methods_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_methods *out);
void kfe_i_methods_free(kfe_i_methods *methods);
/* The corrected p-value of the difference of two methods; NaN: not available. */
double kfe_i_methods_p(const kfe_i_source *source, const char *a, const char *b);
/* Adds the column of labels and the columns of mean and standard error, 1 to 3. */
kfe_status kfe_i_methods_columns(const kfe_i_methods *methods, kfe_i_figure *out);

#endif
