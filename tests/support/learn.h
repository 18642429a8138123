/* SPDX-License-Identifier: Apache-2.0 */
/* Make tables and targets in memory, and fit and predict in one call. For the tests of classifiers and
 * regressors. */
#ifndef KFE_TESTS_SUPPORT_LEARN_H
#define KFE_TESTS_SUPPORT_LEARN_H

#include "learn/learner.h"
#include "support/fit.h"

/* Borrows the values. */
kfe_i_table learn_dense(int64_t rows, int64_t cols, const double *values);
/* The same table as compressed sparse rows without the zeros; free it with kfe_i_table_free. */
kfe_i_table learn_sparse(kfe_context *ctx, int64_t rows, int64_t cols, const double *values);
/* Class g is named "cg". */
kfe_i_target learn_classes(kfe_context *ctx, int64_t rows, const int *class_of);

/* Clouds of points (support_clouds) as a table with a target; every fifth number is zero. */
typedef struct learn_clouds {
    double *x;
    int *class_of;
    kfe_i_table table; /* borrows x */
    kfe_i_target target;
} learn_clouds;
learn_clouds learn_clouds_make(kfe_context *ctx, int64_t rows, int64_t cols, uint64_t seed, int classes);
void learn_clouds_free(learn_clouds *clouds);

/* Takes the default settings, changes them by `params`, checks them and fits. */
kfe_status learn_try(kfe_context *ctx, const char *learner, const char *params, const kfe_i_table *features,
                     const kfe_i_target *target, kfe_i_predictor *out);
kfe_status learn_try_gram(kfe_context *ctx, const char *learner, const char *params, const kfe_i_gram *gram,
                          const kfe_i_target *target, kfe_i_predictor *out);
/* The same, but a failure fails the test. */
kfe_i_predictor learn_fit(kfe_context *ctx, const char *learner, const char *params,
                          const kfe_i_table *features, const kfe_i_target *target);
double *learn_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                      const kfe_i_table *features); /* the caller frees it */
/* Fits, predicts and frees the predictor. */
double *learn_fit_outputs(kfe_context *ctx, const char *learner, const char *params,
                          const kfe_i_table *features, const kfe_i_target *target,
                          const kfe_i_table *queries);

#endif
