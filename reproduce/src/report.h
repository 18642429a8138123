/* SPDX-License-Identifier: Apache-2.0 */
/* A published table or figure beside our own numbers. */
#ifndef KFE_REPORT_REPRODUCTION_H
#define KFE_REPORT_REPRODUCTION_H

#include <jansson.h>

#include "core/text.h"

/* One number: of a row, a column and a metric, and on a curve of one point. NaN stands for what there is not.
 */
typedef struct kfe_i_finding {
    const char *row, *column, *metric; /* not owned */
    double point;
    double paper, paper_sd;
    double paper_count; /* how many runs the paper's sd is over */
    double mean, sd;
    int64_t count; /* splits */
    char *setting; /* parameters chosen, or NULL */
    char *note;    /* why there is no number, or NULL */
} kfe_i_finding;

typedef struct kfe_i_reproduction {
    kfe_context *ctx;
    const char *name, *title, *paper; /* not owned */
    const json_t *remarks;            /* strings, not owned; NULL: none */
    const json_t *rows;               /* with their notes, not owned */
    const char *over;                 /* what a curve is over, not owned; NULL: no curve */
    int64_t metric_count;
    kfe_i_finding *items;
    int64_t count, capacity;
} kfe_i_reproduction;

/* Of the means, (ours − paper's) / √(sd²/n + paper_sd²/paper_n), the paper's part only where it is given.
 * NaN without both numbers or without a spread. */
double kfe_i_finding_difference(const kfe_i_finding *finding);

kfe_status kfe_i_report_reproduction(const kfe_i_reproduction *found, kfe_style style, char **out);
/* One line for each number, with a header. */
kfe_status kfe_i_reproduction_csv(const kfe_i_reproduction *found, kfe_i_text *out);
void kfe_i_reproduction_free(kfe_i_reproduction *found);

#endif
