/* SPDX-License-Identifier: Apache-2.0 */
/* Get the data of a row of a plan: read from files of one folder, or generated, then cut and scaled. */
#ifndef REP_DATA_H
#define REP_DATA_H

#include "reproduce/src/plan.h"

/* Appends the names of the row's files that are not in the folder, with commas between them. */
kfe_status rep_missing_files(const rep_plan *plan, const json_t *row, const rep_use *use, rep_text *out);
/* The caller frees the data. */
kfe_status rep_row_data(const rep_plan *plan, const json_t *row, const rep_use *use, kfe_data **out);

#define REP_TARGET_SCALES "standard|minmax|unit-norm"
/* Width and height of "viola-jones WxH"; returns 0 for any other transform. */
int rep_image_size(const char *transform, int64_t *width, int64_t *height);

/* Appends "key=value,..." of an object of settings. Names of files in it are taken from the folder. */
void rep_put_options(const json_t *object, const rep_use *use, rep_text *out);

#endif
