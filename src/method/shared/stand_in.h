/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fit a method on sums over rows with the code that fits it on rows: a small table represents all of them.
 *
 * Most linear methods, and kernel methods on the columns F of landmarks, see the centred data X (n × d) and targets Y (n × t)
 * through XᵀX, XᵀY and YᵀY only. With the pivoted Cholesky factor
 *
 *     ( XᵀX  XᵀY )
 *     ( YᵀX  YᵀY ) = (R S)ᵀ(R S)
 *
 * the tables X' = HR and Y' = HS have the same products. H is a reflection that makes the columns sum to zero, as those of
 * centred data do. So the method finds the same directions on d + t + 1 rows at most, and the offset follows from the mean.
 *
 * Without centring, XᵀX is that of the rows themselves.
 */
#ifndef KFE_METHOD_SHARED_STAND_IN_H
#define KFE_METHOD_SHARED_STAND_IN_H

#include "method/method.h"

/* Which columns the targets are. */
typedef enum kfe_i_stand_in_target {
    KFE_STAND_IN_UNSUPERVISED,
    KFE_STAND_IN_CENTRED /* those of method/shared/targets.h */
} kfe_i_stand_in_target;

/* t, and the products with the centred targets: cross = XᵀY (cols × t), covariance = YᵀY (t × t). */
int64_t kfe_i_stand_in_target_columns(const kfe_i_sums *sums, kfe_i_stand_in_target target);
void kfe_i_stand_in_products(const kfe_i_sums *sums, double *cross, double *covariance);

typedef struct kfe_i_stand_in {
    kfe_context *ctx;
    kfe_i_table table;  /* X' */
    int64_t targets;    /* t */
    double *values;     /* Y', table.rows × t */
    double *covariance; /* YᵀY of centred targets, t × t */
} kfe_i_stand_in;

/* Free it also after a failure. */
kfe_status kfe_i_stand_in_make(kfe_context *ctx, const kfe_i_sums *sums, kfe_i_stand_in_target target,
                               int centred, kfe_i_stand_in *out);
void kfe_i_stand_in_free(kfe_i_stand_in *stand_in);

/* Turns a solution on the table, dual or primal, into a primal one on the summed columns. If centred, its features have mean
 * zero over all rows. Records that depend on the number of rows are corrected or, where sums do not determine them, left out. */
kfe_status kfe_i_stand_in_solution(const kfe_i_stand_in *stand_in, const kfe_i_sums *sums, int centred,
                                   kfe_i_solution *solution);

/* A method that sees products only, and its settings. */
typedef struct kfe_i_stand_in_job {
    kfe_status (*fit)(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out); /* kfe_i_method.fit */
    const void *settings;
    int supervised, centred;
} kfe_i_stand_in_job;

/* Runs the method on the stand-in, whose targets are real, and gives the solution on the summed columns. */
kfe_status kfe_i_stand_in_fit(kfe_context *ctx, const kfe_i_sums *sums, const kfe_i_stand_in_job *job,
                              kfe_i_solution *out);

#endif
