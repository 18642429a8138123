/* SPDX-License-Identifier: Apache-2.0 */
/* Make data of every kind, pick rows of it, and evaluate a spec on a split with the public calls alone. For
 * the tests of searches. */
#ifndef KFE_TESTS_SUPPORT_SELECT_H
#define KFE_TESTS_SUPPORT_SELECT_H

#include "data/data.h"
#include "select/splits.h"
#include "support/fit.h"

typedef enum select_table {
    SELECT_DENSE,
    SELECT_CSR,   /* the same, but a third of the entries is zero */
    SELECT_GIVEN, /* a kernel matrix */
    SELECT_VIEWS, /* the columns in two views */
    SELECT_TEXT   /* strings; each class prefers one letter */
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

/* Clouds of classes at a distance of `apart`; real targets are a smooth function of the points. */
select_sample select_sample_make(kfe_context *ctx, select_table table, int64_t rows, int64_t cols,
                                 int classes, double apart);
void select_sample_free(select_sample *sample);

/* The listed rows. Classes keep their order, and classes without a row are dropped. A given kernel keeps only
 * the columns of the training rows. */
kfe_data *select_pick(const select_sample *sample, const int64_t *rows, int64_t count, const int64_t *train,
                      int64_t train_count);

/* Metrics of predictions for the test rows. For classes: accuracy and, with two classes, the area under the
 * ROC curve of c1. For real targets: root mean squared error and r². */
enum { SELECT_METRICS = 2 };
const char *select_metric_name(const select_sample *sample, int metric);
void select_by_hand(const select_sample *sample, const kfe_spec *spec, const kfe_i_split *split,
                    double values[SELECT_METRICS]);

#endif
