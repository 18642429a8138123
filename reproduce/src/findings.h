/* SPDX-License-Identifier: Apache-2.0 */
/* Write a published table or figure and our own numbers next to it, as text, JSON or CSV. */
#ifndef REP_FINDINGS_H
#define REP_FINDINGS_H

#include "reproduce/src/plan.h"

/* One number of a row, a column and a metric; on a curve, at one point. NaN: not available. */
typedef struct rep_finding {
    const char *row, *column, *metric; /* not owned */
    double point;
    rep_published paper;
    double mean, sd;
    int64_t splits;
    double seconds; /* time for the cell */
    char *setting;  /* parameters chosen, or NULL */
    char *failed;   /* how many settings or splits failed, and why; NULL: none */
    char *note;     /* why there is no number, or NULL */
} rep_finding;

typedef struct rep_findings {
    kfe_context *ctx;
    const rep_plan *plan;
    const char *over; /* the x-axis of a curve, not owned; NULL: not a curve */
    int64_t metric_count;
    rep_finding *items;
    int64_t count, capacity;
    json_t *points; /* features and classes of scatter plots, or NULL */
} rep_findings;

/* A new finding, with NaN for numbers. */
kfe_status rep_findings_add(rep_findings *findings, rep_finding **out);
void rep_findings_free(rep_findings *findings);

/*
 * (ours − paper) / √(sd²/splits + paper_sd²/paper_count); the paper's term is skipped unless it is known.
 * NaN if either number is not available or nothing varies.
 */
double rep_finding_difference(const rep_finding *finding);

/* Whether the paper has any of the numbers. */
int rep_findings_are_compared(const rep_findings *findings);

/* The caller frees the string with free(). */
kfe_status rep_findings_json(const rep_findings *findings, char **out);
/* A header and one line for each number. */
void rep_findings_csv(const rep_findings *findings, rep_text *out);

#endif
