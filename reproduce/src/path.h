/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: a number against how many features a model has, or how many rounds its fit went. One fit gives all
 * of them, because such models record what each further feature or round adds. And, as a path of length one,
 * how long a fit takes.
 */
#ifndef KFE_API_PLAN_PATH_H
#define KFE_API_PLAN_PATH_H

#include "api/plan.h"

typedef struct kfe_i_path {
    kfe_context *ctx;
    int tried; /* values are NULL then: it failed */
    int64_t splits, length;
    double *values; /* splits × length, for 1, 2, … features or rounds; NaN: there are fewer */
} kfe_i_path;

/*
 * The cell's "record": a name, "A / B" or "A - B"; without one, seconds. A name is that of a record of the
 * model (one number stands for as many lengths as there are features), or features   1, 2, … cost features
 * times the record bound_cost test       the mean of y²·Σ feature² over the test rows, y less its mean over
 * the training rows; with several targets y² is the squared length seconds    what the fit took, kernels and
 * (if there is one) learner included With a protocol, models are of training parts, else there is one, of all
 * rows. `out` is to be freed, also after a failure.
 */
kfe_status kfe_i_path_measure(kfe_context *ctx, const kfe_i_plan_cell *cell, const kfe_data *data,
                              int64_t length, kfe_i_path *out);
/* Over the splits; NaN where there is nothing. */
void kfe_i_path_at(const kfe_i_path *path, int64_t features, double *mean, double *sd);
void kfe_i_path_free(kfe_i_path *path);

#endif
