/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make an approximate inverse of G + λI that conjugate gradients can use: from a Cholesky factor in single precision, or
 * from a low-rank factor of G.
 */
#ifndef KFE_GRAM_SOLVE_PRECONDITION_H
#define KFE_GRAM_SOLVE_PRECONDITION_H

#include "core/share.h"
#include "gram/landmark/rpcholesky.h"

/* z = c·M⁻¹x for n × k blocks, c > 0 any constant, k at most the number it was made for. Does not allocate; fails only if other
 * processes or a device do. */
typedef struct kfe_i_preconditioner {
    kfe_status (*apply)(void *state, int64_t k, const double *x, double *z);
    void *state;
} kfe_i_preconditioner;

/*
 * LLᵀ ≈ G + (λ + shift)I in single precision, in LAPACK's rectangular full packed form: 2n² bytes, and as fast as a full
 * matrix in single precision.
 */
typedef struct kfe_i_single_factor {
    kfe_context *ctx;
    int64_t n;
    float *values; /* the lower triangle, packed: n(n + 1)/2 */
    float *block;  /* n × k, one column after the other */
    double scale;  /* the matrix was multiplied by this, so that its entries are at most 1 */
    double shift;
} kfe_i_single_factor;

/* For factors in single precision: the scale that makes all entries of G + λI at most 1, and the size of the rounding errors of a factor. */
kfe_status kfe_i_single_scale(const kfe_i_gram *gram, double ridge, double *scale, double *rounding);
/* A factorisation that fails is tried again with the next shift; this many tries in all. */
enum { KFE_SHIFT_TRIES = 4 };
double kfe_i_next_shift(double shift, double rounding);

/* *definite is 0, and nothing is left to free, if no small shift makes the matrix positive definite. */
kfe_status kfe_i_single_factor_new(const kfe_i_gram *gram, double ridge, int64_t k, kfe_i_single_factor *out,
                                   int *definite);
void kfe_i_single_factor_free(kfe_i_single_factor *factor);
/* Its constant c is 1: it is an approximate inverse. */
kfe_i_preconditioner kfe_i_single_preconditioner(kfe_i_single_factor *factor);
/* Bytes that such a factor needs for k right-hand sides. */
double kfe_i_single_factor_bytes(int64_t n, int64_t k);

/* FFᵀ + λI with F of few columns, by Woodbury: (FFᵀ + λI)⁻¹x = (x − F(FᵀF + λI)⁻¹Fᵀx)/λ. */
typedef struct kfe_i_woodbury {
    kfe_context *ctx;
    const kfe_i_rpcholesky *low_rank; /* borrowed */
    double *core;                     /* Cholesky factor of FᵀF + λI */
    double *small;                    /* rank × k */
    int64_t first, own;               /* the rows that this process multiplies */
} kfe_i_woodbury;

/* `share`: of the processes that make and apply it together, each with the whole of F. */
kfe_status kfe_i_woodbury_new(const kfe_i_rpcholesky *low_rank, double ridge, int64_t k, kfe_i_share share,
                              kfe_i_woodbury *out);
void kfe_i_woodbury_free(kfe_i_woodbury *woodbury);
kfe_i_preconditioner kfe_i_woodbury_preconditioner(kfe_i_woodbury *woodbury);

#endif
