/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validate a cell of a table or curve. */
#ifndef REP_ASSESS_H
#define REP_ASSESS_H

#include "reproduce/src/cell.h"

/* The caller frees the result. */
kfe_status rep_assess(const rep_cell *cell, const kfe_data *data, kfe_result **out);

/* Mean and standard deviation over the splits of a metric or of the number of support vectors; returns the number
 * of splits that have one. */
int64_t rep_assessed_metric(const kfe_result *assessment, const char *metric, double *mean, double *sd);
/* Appends how many splits and settings could not be computed and the first reason, as in "1 of 8 settings failed:
 * …"; nothing if all could. */
void rep_assessed_failures(const kfe_result *assessment, rep_text *out);
/* Appends the chosen setting, as in "gamma=0.1 C=1"; nothing if there was no choice. */
void rep_assessed_setting(const kfe_result *assessment, rep_text *out);

#endif
