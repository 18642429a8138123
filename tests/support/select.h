/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of searches share: data of every kind, rows of it picked by hand, and what a specification
 * gets on a split when it is fitted and asked by the public calls alone. */
#ifndef KFE_TESTS_SUPPORT_SELECT_H
#define KFE_TESTS_SUPPORT_SELECT_H

#include "data/data.h"
#include "select/splits.h"
#include "support/fit.h"

typedef enum select_table {
    SELECT_DENSE,
    SELECT_CSR,   /* the same with a third of the entries zero */
    SELECT_GIVEN, /* a kernel matrix */
    SELECT_VIEWS, /* the columns in two halves */
    SELECT_TEXT   /* strings, each class with a favourite letter */
} select_table;

enum { SELECT_STRING = 24 };

typedef struct select_sample {
    kfe_context *ctx;
    select_table table;
    int64_t rows, cols;
    int classes;    /* 0: real targets */
    double *values; /* rows × cols; SELECT_GIVEN: rows × rows */
    char (*strings)[SELECT_STRING];
    int *class_of;
    double *targets;
    kfe_data *data; /* all rows */
} select_sample;

/* Clouds of classes `apart` from each other; real targets are a smooth function of the points. */
select_sample select_sample_make(kfe_context *ctx, select_table table, int64_t rows, int64_t cols,
                                 int classes, double apart);
void select_sample_free(select_sample *sample);

/* The rows listed, with classes in their usual order and those left out that have no row; for a given kernel
 * the columns of the training rows. */
kfe_data *select_pick(const select_sample *sample, const int64_t *rows, int64_t count, const int64_t *train,
                      int64_t train_count);

/* Measures of predictions of the test rows: accuracy and (of two classes, c1 being looked for) area under the
 * ROC curve, or root mean squared error and r². */
enum { SELECT_METRICS = 2 };
const char *select_metric_name(const select_sample *sample, int metric);
void select_by_hand(const select_sample *sample, const kfe_spec *spec, const kfe_i_split *split,
                    double values[SELECT_METRICS]);

#endif
