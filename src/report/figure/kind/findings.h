/* SPDX-License-Identifier: Apache-2.0 */
/* Read the numbers of a published table or figure beside ours from the result of `reproduce`. */
#ifndef KFE_REPORT_FIGURE_KIND_FINDINGS_H
#define KFE_REPORT_FIGURE_KIND_FINDINGS_H

#include "report/figure/figure.h"

/* Which words of a finding have a list of their own. */
typedef enum kfe_i_finding_name {
    KFE_FINDING_ROW,
    KFE_FINDING_COLUMN,
    KFE_FINDING_METRIC
} kfe_i_finding_name;
enum { KFE_FINDING_NAMES = 3 };

/* One number of a row, a column and a metric; on a curve, at one point. NaN: not available. */
typedef struct kfe_i_finding {
    int32_t name[KFE_FINDING_NAMES]; /* numbers in the lists of names */
    int64_t order;                   /* in the table */
    double point, paper, paper_sd, ours, sd;
} kfe_i_finding;

typedef struct kfe_i_findings {
    kfe_context *ctx;
    const kfe_table *table;
    const char *over; /* the x-axis of a curve; NULL: a table */
    int64_t count;    /* 0: the results are not those of a reproduction */
    kfe_i_finding *items;
    const char **names[KFE_FINDING_NAMES];
    int64_t name_count[KFE_FINDING_NAMES];
} kfe_i_findings;

/* Free also after a failure. */
kfe_status kfe_i_findings_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_findings *out);
void kfe_i_findings_free(kfe_i_findings *findings);

#endif
