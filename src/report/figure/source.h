/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draw figures from a source: a model, the features and predictions of training and test examples, and the result of a
 * search. Members that were not given are NULL or empty.
 */
#ifndef KFE_REPORT_FIGURE_SOURCE_H
#define KFE_REPORT_FIGURE_SOURCE_H

#include "model/model.h"
#include "result/result.h"
#include "select/judged.h"

/* The most points of a figure. */
enum { KFE_FIGURE_POINTS = 10000 };
/* The most features of a figure. */
enum { KFE_FIGURE_FEATURES = 16 };

/* Options of figures. */
typedef struct kfe_i_figure_settings {
    int64_t x, y, z;                 /* features of the axes, from 1 */
    char metric[512], positive[512]; /* of the results of a search; the class of the curves */
    char title[512];
    char row[512]; /* the example of contributions */
    int refit;     /* views are also dropped one by one */
} kfe_i_figure_settings;

/* Examples with everything that the model says about them. */
typedef struct kfe_i_set {
    const kfe_data *data;
    kfe_data *gathered; /* of many training examples: the ones that figures show; NULL: all */
    int64_t *origin;  /* their rows in `data`, or of the held-out set in the table held_out; NULL: the same */
    const char *name; /* "training", "test" or "held-out" */
    int64_t rows;
    const double *weights;           /* of the rows, borrowed; NULL: ones */
    double *own_weights, *own_truth; /* those of the held-out set; else NULL */
    kfe_matrix features;
    int64_t dim;                /* the first features, which figures show */
    int32_t *truth, *predicted; /* numbers in the source's classes; NULL: not available */
    double *scores;             /* rows × classes; NULL: the set does not judge */
    double *probabilities;      /* rows × classes, of a calibrated model that judges; else NULL */
    double *values;             /* predicted numbers, rows × outcome.cols */
    kfe_i_outcome outcome;      /* rows 0: there are no predictions, or no truth */
    int64_t *sample;            /* the rows that figures show, in increasing order */
    int64_t sample_count;
} kfe_i_set;

typedef struct kfe_i_source {
    kfe_context *ctx;
    const kfe_model *model;
    kfe_i_set train, test;
    kfe_i_set held_out; /* predictions in the results, without features (held_out.c); rows 0: none */
    kfe_i_class_list classes;
    const kfe_result *results;
    kfe_i_figure_settings settings;
} kfe_i_source;

/* Computes features and predictions of the data that is set, and takes those that the results have. */
kfe_status kfe_i_source_prepare(kfe_context *ctx, kfe_i_source *source);
/* Fills source->held_out from the results, and adds their classes. */
kfe_status kfe_i_source_hold_out(kfe_context *ctx, kfe_i_source *source);
void kfe_i_source_free(kfe_i_source *source);

/* The set that judges predictions: test examples or, without them, held-out rows of the results, or else training examples. NULL: there
 * are no predictions with truth. */
const kfe_i_set *kfe_i_source_judged(const kfe_i_source *source);

#endif
