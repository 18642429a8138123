/* SPDX-License-Identifier: Apache-2.0 */
/* Read the settings that a search tried, with their metrics, from the result of `cv` or `compare`. */
#ifndef KFE_REPORT_FIGURE_KIND_CHOICE_H
#define KFE_REPORT_FIGURE_KIND_CHOICE_H

#include "report/figure/figure.h"

enum { KFE_CHOICE_AXES = 6, KFE_METRIC_PATH = 128 };

/* A parameter of the grid. */
typedef struct kfe_i_choice_axis {
    const char *name;
    const char **words; /* the values tried, in the order of the grid */
    double *numbers;    /* the same as numbers; NaN: not a number */
    int64_t count;
    const kfe_column *column;
    int is_number, is_log; /* all values are numbers; they span decades */
} kfe_i_choice_axis;

typedef struct kfe_i_choice {
    kfe_context *ctx;
    const kfe_table *settings; /* of which these are `count` rows from `first` on */
    int64_t first, count;      /* count 0: nothing was chosen */
    int axis_count;
    kfe_i_choice_axis axes[KFE_CHOICE_AXES];
    int32_t *codes;             /* count × axis_count: the value of each setting on each axis */
    char path[KFE_METRIC_PATH]; /* "metrics/NAME" */
    const char *metric;
} kfe_i_choice;

/* `figure` settings choose the metric; the first one unless given. Free also after a failure. */
kfe_status kfe_i_choice_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_choice *out);
void kfe_i_choice_free(kfe_i_choice *choice);

/* Finds the metric that the settings name, or the first one, among the means of a table: `path` is "metrics/NAME". Returns 0 if
 * there is none. */
int kfe_i_choice_metric(const kfe_i_source *source, const kfe_table *table, char path[KFE_METRIC_PATH]);
/* Whether every setting has RMSECV and Q², and the metric is their error. */
int kfe_i_choice_has_q2(const kfe_i_choice *choice);
/* The place of a setting among the settings of the choice, for the table of a figure. */
typedef struct kfe_i_choice_place {
    int64_t setting;
    int64_t line; /* of a curve, and where on it */
    double x;
} kfe_i_choice_place;
/* Adds a row for each place: a column for each axis, numbers on axis `numeric` if all values are numbers, else words; then the mean of the
 * metric and its standard error, and RMSECV, Q² and the standard error of RMSECV if there are any. */
kfe_status kfe_i_choice_columns(const kfe_i_choice *choice, const kfe_i_choice_place *places, int numeric,
                                kfe_i_figure *out);

#endif
