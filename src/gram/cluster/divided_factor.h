/* SPDX-License-Identifier: Apache-2.0 */
/* Factor G + λI together with the other processes of a cluster, in single precision, for use as a preconditioner. */
#ifndef KFE_GRAM_CLUSTER_DIVIDED_FACTOR_H
#define KFE_GRAM_CLUSTER_DIVIDED_FACTOR_H

#include "core/share.h"
#include "gram/solve/cost.h"
#include "gram/solve/precondition.h"

/* LLᵀ ≈ G + (λ + shift)I in single precision; every process has some rows of L. */
typedef struct kfe_i_divided_factor {
    kfe_context *ctx;
    kfe_i_share share;
    int64_t n, own;   /* rows; rows of this process */
    float *values;    /* the rows of this process up to the diagonal, padded to the length of their strip */
    float *corners;   /* the diagonal blocks of all steps, the same in every process */
    float *panel;     /* the columns of a step in all rows below it */
    float *arrived;   /* gathered rows, in the order of processes; also scratch */
    int64_t *bytes;   /* to gather from each process */
    float *block;     /* n × k: right-hand sides and solution */
    float *own_block; /* own × k: the rows of this process */
    double *sums;     /* step × k: products with the rows below a step */
    double *largest;  /* k: the largest entry of each right-hand side */
    double scale;     /* the matrix was multiplied by this, so that its entries are at most 1 */
    double shift;
} kfe_i_divided_factor;

/* *definite is 0, and nothing is left to free, if no small shift makes the matrix positive definite. */
kfe_status kfe_i_divided_factor_new(const kfe_i_gram *gram, double ridge, int64_t k,
                                    kfe_i_divided_factor *out, int *definite);
void kfe_i_divided_factor_free(kfe_i_divided_factor *factor);
/* Its constant c is 1: it is an approximate inverse. All processes apply it together, to the same block. */
kfe_i_preconditioner kfe_i_divided_preconditioner(kfe_i_divided_factor *factor);
/* Bytes that each of `processes` processes needs for k right-hand sides. */
double kfe_i_divided_factor_bytes(int processes, int64_t n, int64_t k);

#endif
