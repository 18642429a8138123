/* SPDX-License-Identifier: Apache-2.0 */
/* Reproduce a published table or figure. The command `kfe reproduce` calls this. */
#ifndef REP_REPRODUCE_H
#define REP_REPRODUCE_H

#include "kfe.h"

/* The embedded tables and figures. Returns 0 past the end. */
typedef struct rep_entry {
    const char *name, *title, *paper;
} rep_entry;
int rep_entry_at(int index, rep_entry *out);

/* NULL or "": not given. */
typedef struct rep_settings {
    const char *data;   /* folder with the data sets */
    const char *output; /* folder for CSV files of the numbers and of scatter plots; created if needed */
    const char *row;    /* only this row */
    const char *column; /* only this column */
    int quick;          /* fewer splits, for a first look */
    int points;         /* the JSON has the points of scatter plots, for figures */
} rep_settings;

/* `name`: an embedded table or figure, or the path of a specification (docs/reproduction.md). The caller frees
 * the findings, as text and as JSON, with free(); a NULL pointer: not wanted. */
kfe_status rep_run(kfe_context *ctx, const char *name, const rep_settings *settings, char **text,
                   char **json);

#endif
