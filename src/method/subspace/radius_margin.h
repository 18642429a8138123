/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate the radius-margin bound R²‖w‖² of an SVM on features X (n × f), as a criterion on subspace kernels
 * (criterion.h); smaller is better. With K̃ = XXᵀ + I/C (soft margin with squared slacks),
 *
 *     ‖w‖² = 2 max_α Σαᵢ − ½(yα)ᵀK̃(yα)   over α ≥ 0, yᵀα = 0
 *     R²   = max_β Σβᵢ K̃_ii − βᵀK̃β      over the simplex
 *
 * and, since both are maxima, with a = yα,
 *
 *     ∂‖w‖²/∂X = −2aaᵀX,    ∂R²/∂X = 2(diag β − ββᵀ)X.
 *
 * More than two classes: ‖w‖² is summed over one SVM per class against the rest. The criterion is
 * −log(R² Σ‖w‖²), so that multiplying the kernel by a constant matters only through C.
 *
 * With weights w, X are the rows of a weighted operator, √wᵢ·xᵢ. Example i stands for wᵢ equal ones, whose slacks are their own: on the xᵢ,
 * the diagonal of K̃ gets 1/(C·wᵢ), and K̃_ii of R² is ‖xᵢ‖² + 1/C.
 *
 * Chapelle, Vapnik, Bousquet & Mukherjee (2002), sections 3 and 5; Wu & Farquhar (2007), section 4.
 * Time: O(n²f) for K̃ and the solvers, which start from their last answers; memory 8n² bytes.
 */
#ifndef KFE_METHOD_SUBSPACE_RADIUS_MARGIN_H
#define KFE_METHOD_SUBSPACE_RADIUS_MARGIN_H

#include "data/target/target.h"
#include "gram/gram.h"

typedef struct kfe_i_radius_margin {
    kfe_context *ctx;
    int64_t rows, svms;
    double inverse_c;
    double *matrix; /* K̃ */
    int64_t *index;
    kfe_i_gram *gram;              /* of the matrix */
    double *sign, *upper, *alpha;  /* svms × rows; rows; svms × rows */
    double *weights, *beta, *work; /* rows: yα, β, room for the ball */
    double *along;                 /* most: aᵀX */
    const double *example_weights; /* NULL: ones, and there are no */
    double *plain, *lengths;       /* rows × most: xᵢ; rows: ‖xᵢ‖² + 1/C */
    int warned;                    /* that a ball is inexact */
} kfe_i_radius_margin;

/* For features of up to `most` dimensions. Free it also after a failure. */
kfe_status kfe_i_radius_margin_begin(kfe_context *ctx, const kfe_i_target *target, int64_t most, double c,
                                     kfe_i_radius_margin *out);
void kfe_i_radius_margin_free(kfe_i_radius_margin *bound);
/* A kfe_i_criterion's evaluate; state is a kfe_i_radius_margin. */
kfe_status kfe_i_radius_margin_of(void *state, const double *x, int64_t dim, double *value, double *gradient);

#endif
