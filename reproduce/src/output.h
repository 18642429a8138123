/* SPDX-License-Identifier: Apache-2.0 */
/* Write the files of a reproduction into the user's folder. An empty folder name means: write no files. */
#ifndef REP_OUTPUT_H
#define REP_OUTPUT_H

#include "reproduce/src/cell.h"
#include "reproduce/src/findings.h"

/* Makes the folder, unless it exists, and fails if FOLDER/PLAN.csv could not be written at the end. */
kfe_status rep_output_make(const rep_plan *plan, const char *folder);
/* FOLDER/PLAN-ROW-COLUMN.csv, for the points of a scatter plot. The caller frees the path with free(). */
kfe_status rep_output_path(const rep_place *place, const char *folder, char **out);
/* Writes FOLDER/PLAN.csv, whole or not at all. */
kfe_status rep_output_findings(const rep_findings *findings, const char *folder);

#endif
