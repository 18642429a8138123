/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply with the factor F of a landmark operator, however it is kept. Only the files landmarks*.c use this. */
#ifndef KFE_GRAM_FORM_LANDMARKS_FACTOR_H
#define KFE_GRAM_FORM_LANDMARKS_FACTOR_H

#include "gram/form.h"
#include "gram/form/landmarks.h"

/* F = CT of n × rank. One of `wide`, `narrow` and `source` is set: F is in double or single precision, or C is evaluated
 * again at every pass. */
struct kfe_i_landmark_factor {
    kfe_context *ctx;
    int64_t rows, rank;
    int64_t count;  /* of landmarks */
    int64_t *index; /* count */
    double *lower;  /* L, rank × rank: T = L⁻ᵀ; NULL: `spread` is T */
    double *spread; /* T, count × rank */
    double *wide;   /* rows × rank */
    float *narrow;  /* rows × rank */
    kfe_i_gram *source;
    kfe_i_points chosen; /* the landmarks as columns of the exact operator (kfe_i_gram_prepare) */
    double *products;    /* FᵀF, rank × rank, and */
    double *sums;        /* Fᵀe: NULL until they are needed */
    double left;         /* share of the trace of G that FFᵀ leaves */
};

void kfe_i_landmark_factor_free(kfe_i_landmark_factor *f);

/* Rows of C from the exact operator: out (rows × count). */
kfe_status kfe_i_landmark_kernel_rows(const kfe_i_landmark_factor *f, const kfe_i_gram *source, int64_t first,
                                      int64_t rows, double *out);
/* Rows of F: out (rows × rank). `scratch` has rows × count doubles. */
kfe_status kfe_i_factor_rows(const kfe_i_landmark_factor *f, int64_t first, int64_t rows, double *out,
                             double *scratch);
/* Replaces rows of C (rows × count) in `panel` by rows of F (rows × rank). `scratch` as above. */
void kfe_i_factor_from_kernel(const kfe_i_landmark_factor *f, int64_t rows, double *panel, double *scratch);
/* out (rank × k) = Fᵀv and out (rows × k) = Fz. */
kfe_status kfe_i_factor_project(const kfe_i_landmark_factor *f, const double *v, int64_t k, double *out);
kfe_status kfe_i_factor_expand(const kfe_i_landmark_factor *f, const double *z, int64_t k, double *out);
/* out (count × k) = Tz */
kfe_status kfe_i_factor_map(const kfe_i_landmark_factor *f, const double *z, int64_t k, double *out);
/* *out: whether sums over the rows of F may be made from those of C, with enough digits; 0 if F is stored. Only this function decides it. */
kfe_status kfe_i_factor_takes_kernel_sums(const kfe_i_landmark_factor *f, int *out);
/* Makes FᵀF and Fᵀe available in the factor, in one pass at the first call. */
kfe_status kfe_i_factor_products(kfe_i_landmark_factor *f);
/* out[i] = ‖F[i, :]‖² */
kfe_status kfe_i_factor_squared_rows(const kfe_i_landmark_factor *f, double *out);
/* out[i] = ‖row i of the matrix (rows × rank)‖² */
void kfe_i_square_rows(kfe_context *ctx, int64_t rows, int64_t rank, const double *matrix, double *out);

/* What a factor leaves of the diagonal of G, row by row. */
typedef struct kfe_i_landmark_rest {
    double trace, rest, largest;
    double negative; /* the most negative diagonal entry of G − FFᵀ */
} kfe_i_landmark_rest;
void kfe_i_add_rest(int64_t rows, const double *exact, const double *kept, kfe_i_landmark_rest *rest);
/* The share of the trace of G that is left, and the most negative entry relative to the largest of G. */
void kfe_i_share_of_rest(const kfe_i_landmark_rest *rest, double *left, double *negative);

/* What share of the trace of G the factor leaves, and the most negative diagonal entry of G − FFᵀ, relative to the largest
 * of G. */
kfe_status kfe_i_factor_left(kfe_i_landmark_factor *f, const kfe_i_gram *source, double *left,
                             double *negative);

/* More negative relative diagonal entries of G − FFᵀ are not rounding: the kernel is not positive definite. */
#define KFE_NEGATIVE_BEYOND_ROUNDING (-10 * KFE_RANK_TOLERANCE)
/* Says how many landmarks there are, and what they leave. */
void kfe_i_landmarks_log(const kfe_i_landmark_factor *f);

/* The factor of an operator that kfe_i_gram_landmarks made. */
kfe_i_landmark_factor *kfe_i_landmark_factor_of(const kfe_i_gram *gram);

/* ---- entries of its table, from r × r matrices (landmarks_solve.c) ---- */

kfe_status kfe_i_landmark_solve(const kfe_i_system *system, struct kfe_i_solve_effort *effort);
kfe_status kfe_i_landmark_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                                double *vectors);
kfe_status kfe_i_landmark_squared_norm(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_landmark_centre(const kfe_i_gram *gram, kfe_i_gram **out);

#endif
