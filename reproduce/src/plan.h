/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to compute again: the JSON of one table or figure (docs/reproduction.md has the schema). A plan is
 * checked as a whole when it is opened, so that what runs for minutes does not stumble over a misspelt name.
 */
#ifndef KFE_API_PLAN_H
#define KFE_API_PLAN_H

#include <jansson.h>

#include "data/data.h"
#include "select/assess.h"

typedef enum kfe_i_plan_kind {
    KFE_PLAN_TABLE,
    KFE_PLAN_CURVE,
    KFE_PLAN_SCATTER,
    KFE_PLAN_PATH,
    KFE_PLAN_TIME
} kfe_i_plan_kind;

typedef struct kfe_i_plan {
    kfe_context *ctx;
    char *name; /* as it was asked for */
    json_t *root;
    kfe_i_plan_kind kind;
    json_t *rows, *columns; /* inside root */
} kfe_i_plan;

/* How the plan is to be run. */
typedef struct kfe_i_plan_use {
    const char *folder; /* with the data; "": there is none */
    int quick;
} kfe_i_plan_use;

/* `name`: one of those in the library, or with a '/' or ending in ".json" a file. Each leaves a struct that
 * is to be closed, also after a failure. */
kfe_status kfe_i_plan_open(kfe_context *ctx, const char *name, kfe_i_plan *out);
kfe_status kfe_i_plan_parse(kfe_context *ctx, const char *name, const char *text, size_t size,
                            kfe_i_plan *out);
void kfe_i_plan_close(kfe_i_plan *plan);

/* Says which key is wrong, and where; returns KFE_EINPUT. */
kfe_status kfe_i_plan_fail(const kfe_i_plan *plan, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same before a message that is recorded already. Running out of memory stays what it is. */
kfe_status kfe_i_plan_prefix(const kfe_i_plan *plan, const char *where, kfe_status status);

/* Tables and curves: every cell is cross-validated, by metrics that the plan chooses. */
int kfe_i_plan_is_assessed(const kfe_i_plan *plan);
/* The string of a key, or NULL. */
const char *kfe_i_plan_text(const json_t *object, const char *key);
/* The metrics of the plan, in order; NULL past the end. */
const char *kfe_i_plan_metric(const kfe_i_plan *plan, int64_t index);
#define KFE_PLAN_SUPPORT_VECTORS "support-vectors"
enum { KFE_PATH_LONGEST = 1000000 };
#define KFE_PATH_SECONDS "seconds"
/* Points of a curve or path; 1 for other kinds, whose only point is NaN. */
int64_t kfe_i_plan_points(const kfe_i_plan *plan);
double kfe_i_plan_point(const kfe_i_plan *plan, int64_t index);

/* The paper's number, its standard deviation and over how many runs; NaN where there is none. */
void kfe_i_plan_paper(const kfe_i_plan *plan, const json_t *row, const char *column, const char *metric,
                      double *value, double *sd, double *count);

/* ---- one cell: a column in a row (plan_cell.c) ---- */

typedef struct kfe_i_plan_cell {
    kfe_context *ctx;
    json_t *column; /* with what the row changes in it */
    kfe_spec *spec; /* NULL: only the paper has a number here */
    const char **grids;
    int grid_count;
    char *point; /* "gamma=0.2", one of the grids */
    kfe_i_assess_settings settings;
    int divided; /* a protocol was given: a path is then fitted on training parts, else on all rows */
} kfe_i_plan_cell;

kfe_status kfe_i_plan_cell_open(const kfe_i_plan *plan, const json_t *row, const json_t *column, double point,
                                const kfe_i_plan_use *use, kfe_i_plan_cell *out);
void kfe_i_plan_cell_close(kfe_i_plan_cell *cell);

/* ---- data (plan_data.c) ---- */

/* Appends the files of the row that are not in the folder, with commas; nothing if all are there. */
kfe_status kfe_i_plan_missing(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                              kfe_i_text *out);
/* Read or generated, then cut, transformed and scaled as the row says. */
kfe_status kfe_i_plan_data(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                           kfe_data **out);
#define KFE_PLAN_TARGET_SCALES "standard|minmax|unit-norm"
/* W and H of "viola-jones WxH"; 0 if it is something else. */
int kfe_i_plan_image_size(const char *transform, int64_t *width, int64_t *height);
/* Appends "key=value,..." of an object of settings; names of files among them are taken from the folder. */
void kfe_i_plan_options(const json_t *object, const kfe_i_plan_use *use, kfe_i_text *out);

#endif
