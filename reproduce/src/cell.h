/* SPDX-License-Identifier: Apache-2.0 */
/* Open a cell of a plan, one column in one row, to get the spec, the grids and the protocol to run. */
#ifndef REP_CELL_H
#define REP_CELL_H

#include "reproduce/src/plan.h"

typedef struct rep_cell {
    kfe_context *ctx;
    json_t *column; /* with the row's changes */
    kfe_spec *spec; /* NULL: only the paper has a number here */
    const char **grids;
    int grid_count;
    char *point;          /* "gamma=0.2", one of the grids */
    char *options;        /* options of kfe_cross_validate */
    const json_t *points; /* of a ROC curve: false positive rates, not owned; NULL otherwise */
    int divided; /* a protocol was given: a path is fitted on training parts, otherwise on all rows */
} rep_cell;

/* Where a cell is in its plan. */
typedef struct rep_place {
    const rep_plan *plan;
    const json_t *row, *column;
    double point; /* of a curve; NaN otherwise */
} rep_place;

/* Close the cell also after a failure. */
kfe_status rep_cell_open(const rep_place *place, const rep_use *use, rep_cell *out);
void rep_cell_close(rep_cell *cell);
/* Writes "row R, column C", for messages. */
enum { REP_WHERE_SIZE = 320 };
void rep_place_name(const rep_place *place, char out[REP_WHERE_SIZE]);

#endif
