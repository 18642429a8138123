/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a method once for the columns of a table and for a kernel: it sees points F (n × rank) with FFᵀ = PKP, finds directions w
 * on them, and this header turns Fw into a solution.
 *
 *     linear   F = X − mean, rank = d; the solution is primal
 *              (on a weighted operator, F and everything over examples carries the roots of the weights)
 *     kernel   PKP = UΛUᵀ, F = UΛ^(1/2) of the leading positive eigenvalues; the solution is dual, A = UΛ^(−1/2)w
 */
#ifndef KFE_METHOD_SHARED_FACTOR_H
#define KFE_METHOD_SHARED_FACTOR_H

#include "method/method.h"

typedef struct kfe_i_factor {
    kfe_context *ctx;
    int64_t n, rank;
    double *points; /* F, n × rank */
    double *means;  /* linear: of the columns; else NULL */
    /* kernel */
    kfe_i_gram *centred;
    double *values, *vectors; /* rank; n × rank */
} kfe_i_factor;

/* With a kernel and rank=auto, no more eigenvectors than this. */
enum { KFE_FACTOR_RANK = 500 };
#define KFE_FACTOR_RANK_ROW(type, field)                                                                     \
    KFE_INT_OR(                                                                                              \
        type, field, "rank", "auto", 1, KFE_INT_MAX, "auto", "auto=0",                                       \
        "number of leading eigenvectors of the centred kernel matrix that directions combine; auto: all, "   \
        "but at most 500")

/* Free the factor also after a failure; the problem must outlive it. `method` begins messages. */
kfe_status kfe_i_factor_columns(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_factor *out);
kfe_status kfe_i_factor_kernel(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                               int64_t rank, kfe_i_factor *out);
void kfe_i_factor_free(kfe_i_factor *factor);
/* Features Fw for directions w (rank × dim), centred. */
kfe_status kfe_i_factor_solution(const kfe_i_factor *factor, const double *w, int64_t dim,
                                 kfe_i_solution *out);

#endif
