/* SPDX-License-Identifier: Apache-2.0 */
/* Find leading eigenpairs of any operator, from its products or entries; kfe_i_gram_eigen comes here unless the operator knows better. */
#ifndef KFE_GRAM_SOLVE_EIGEN_H
#define KFE_GRAM_SOLVE_EIGEN_H

#include "gram/solve/space.h"

kfe_status kfe_i_find_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *values,
                            double *vectors);

/* Where eigenvectors are found, if not by the CPU. */
typedef struct kfe_i_eigen_place {
    const void *user;   /* passed to the calls */
    double basis_bytes; /* that a large basis may take */
    /* Finds the k leading eigenpairs from all of them. *done 0: it cannot, and the CPU does it. */
    kfe_status (*dense)(const void *user, int64_t k, double *values, double *vectors, int *done);
    /* As kfe_i_space_open. */
    kfe_status (*open_space)(const void *user, const kfe_i_gram *gram, const kfe_i_gram *exact, int64_t small,
                             int64_t most, kfe_i_space *out);
} kfe_i_eigen_place;
kfe_status kfe_i_find_eigen_in(const kfe_i_eigen_place *place, const kfe_i_gram *gram, int64_t k,
                               double tolerance, double *values, double *vectors);

#endif
