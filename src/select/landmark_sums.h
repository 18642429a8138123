/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Share landmarks among splits. The columns F that landmarks make of the kernel (gram/form/landmarks.h) are computed once for all
 * rows, and so are their sums, from which each split subtracts its test rows.
 *
 * A split must not use landmarks that are among its test rows. Let L be the rows of F at all landmarks, LLᵀ their kernel matrix, and L_J
 * the rows of the landmarks J that the split may use. With orthonormal columns Q that span the rows of L_J, FQ are the columns that J makes of the
 * kernel, up to a rotation: with L_Jᵀ = QR, K[:, J] = FL_Jᵀ = FQR and K[J, J] = RᵀR. So the sums of FQ are those of F times Q on both sides.
 *
 * There are somewhat more landmarks than the spec asks for, and each split takes the first ones in the order of their choice.
 */
#ifndef KFE_SELECT_LANDMARK_SUMS_H
#define KFE_SELECT_LANDMARK_SUMS_H

#include "select/group.h"
#include "select/row_sums.h"

/* Begin with zeros. */
typedef struct kfe_i_landmark_sums {
    kfe_context *ctx;
    /* F; rows of the data that the group does not use are zero. Not yet made: no columns. */
    kfe_i_table factor;
    int64_t *landmarks; /* factor.cols rows of the data, in the order of their choice */
    int64_t asked;
    double *lower;       /* L, one row per landmark */
    kfe_i_row_key *keys; /* of the rows of the data (data/rows/distinct.h) */
    kfe_i_row_sums sums;
} kfe_i_landmark_sums;

/* Builds the sums for the kernels of the spec and the rows of the group, unless the spec has no landmarks, its folds are not fitted from
 * sums, or there is too little memory. */
kfe_status kfe_i_landmark_sums_make(kfe_i_group *group, const kfe_spec *spec, kfe_i_landmark_sums *out);
void kfe_i_landmark_sums_free(kfe_i_landmark_sums *shared);

/* Q (factor.cols × *count, allocated) of the landmarks that the split may use. *count is 0 if they are fewer than the spec asks for
 * and than all. */
kfe_status kfe_i_landmark_sums_basis(kfe_context *ctx, const kfe_i_landmark_sums *shared,
                                     const kfe_i_split *split, double **q, int64_t *count);

#endif
