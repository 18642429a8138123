/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assess how well a specification does on unseen data, including the choice of its parameters. Outer splits assess; the
 * settings of the grid are compared on inner folds of outer training parts only, so that the choice does not
 * see what it is assessed on. A setting that cannot be fitted everywhere is chosen only if no other can.
 */
#ifndef KFE_SELECT_ASSESS_H
#define KFE_SELECT_ASSESS_H

#include "select/choose.h"
#include "select/estimate.h"
#include "select/pool.h"
#include "select/sweep.h"

/* Whether the predictions of held-out rows are kept; auto: up to KFE_HELD_OUT_ROWS of them. */
#define KFE_HELD_OUT_WORDS "auto|yes|no"
typedef enum kfe_i_keep_held_out { KFE_HELD_OUT_AUTO, KFE_HELD_OUT_YES, KFE_HELD_OUT_NO } kfe_i_keep_held_out;
enum { KFE_HELD_OUT_ROWS = 2000 };

/* Begins with the protocol, so that its table serves. */
typedef struct kfe_i_assess_settings {
    kfe_i_protocol protocol;
    int64_t inner_folds; /* 0: settings are compared on the outer splits themselves, as a plain grid search */
    int64_t tuning_splits; /* 0: every outer split chooses for itself; N: one choice, on the first N training
                              parts */
    int choose;            /* kfe_i_choose_rule */
    int held_out;          /* a word of KFE_HELD_OUT_WORDS */
    int64_t permutations;  /* repeats with permuted targets; 0: none, -1: this is one of them */
    char metrics[KFE_PARAM_TEXT_SIZE];  /* "accuracy;auc"; the first decides */
    char positive[KFE_PARAM_TEXT_SIZE]; /* name of the class looked for */
} kfe_i_assess_settings;

/* NULL past the end. */
const kfe_param_info *kfe_i_assess_param(int index);
/* "key=value,..." on top of the defaults. */
kfe_status kfe_i_assess_settings_parse(kfe_context *ctx, const char *options, kfe_i_assess_settings *out);

enum { KFE_MOST_METRICS = 16 };

typedef struct kfe_i_assessment {
    kfe_context *ctx;
    kfe_i_grid grid;
    kfe_i_splits splits; /* outer */
    const kfe_i_metric *metrics[KFE_MOST_METRICS];
    int64_t metric_count;
    int64_t positive;
    int nested;             /* the settings were compared on inner folds */
    int64_t *chosen;        /* setting of each outer split */
    double *values;         /* outer splits × metrics, of the setting chosen */
    double *variances;      /* the same of what one row contributes, see kfe_i_metric_measure */
    kfe_i_extent extent;    /* of the outer splits */
    int keeps_losses;       /* the rule needs the predictions of all settings */
    const kfe_data *data;   /* borrowed, as long as held-out predictions are kept; else NULL */
    kfe_i_cells outer;      /* the settings that were fitted on the outer splits */
    kfe_i_cells inner;      /* all settings on the inner folds; empty unless nested */
    kfe_i_estimate *tuning; /* settings × metrics, over the splits that settings were compared on */
    int64_t tuning_splits;  /* the number of these splits; 0: there was nothing to choose */
    int64_t best;           /* the setting best on average over all of these */
    int64_t fits;           /* settings × splits, all told */
    double seconds;
    double *permuted; /* mean of the first metric with permuted targets */
    int64_t permuted_count;
    double permutation_p;
    kfe_i_held_out held_out; /* sums of the targets of the outer splits */
    /* settings: on the outer splits or, if not all were fitted there, where they were compared; NULL: nothing was chosen, or no real
     * targets */
    kfe_i_pooled *pooled;
} kfe_i_assessment;

/* What an assessment is asked for. */
typedef struct kfe_i_request {
    const kfe_spec *spec;
    kfe_i_grid_texts grids;
    const kfe_i_assess_settings *settings;
} kfe_i_request;

/* Assesses the request once more for each permutation of the targets and sets the p-value (permutation.c). */
kfe_status kfe_i_permutation_test(kfe_i_assessment *a, const kfe_i_request *request, const kfe_data *data);

kfe_status kfe_i_assess(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids, const kfe_data *data,
                        const kfe_i_assess_settings *settings, kfe_i_assessment *out);
/* How many fits kfe_i_assess will make. */
kfe_status kfe_i_assess_count(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids,
                              const kfe_data *data, const kfe_i_assess_settings *settings, int64_t *out);
void kfe_i_assessment_free(kfe_i_assessment *assessment);
/* Why the chosen setting of an outer split failed there; NULL: it did not. */
const char *kfe_i_assessment_reason(const kfe_i_assessment *a, int64_t split);
/* The number of splits on which this setting failed during the comparison, and the first reason. */
int64_t kfe_i_assessment_failures(const kfe_i_assessment *a, int64_t setting, const char **reason);

/* The class that is looked for: the one with this name; without a name, the larger number or the later name of two classes, and -1 with more classes. */
kfe_status kfe_i_find_positive(kfe_context *ctx, int64_t classes, char *const *names, const char *name,
                               int64_t *out);

/* Of a metric over the outer splits; rmse and r2 are pooled over their rows. */
kfe_i_estimate kfe_i_assessment_estimate(const kfe_i_assessment *a, int64_t metric);
/* The held-out predictions of the outer splits, of one target column or all (-1). */
kfe_i_pooled kfe_i_assessment_pooled(const kfe_i_assessment *a, int64_t column);

#endif
