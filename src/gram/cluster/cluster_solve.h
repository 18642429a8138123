/* SPDX-License-Identifier: Apache-2.0 */
/* Solve (G + λI) B = R by a Cholesky factorisation that is divided over the processes of a cluster. */
#ifndef KFE_GRAM_CLUSTER_CLUSTER_SOLVE_H
#define KFE_GRAM_CLUSTER_CLUSTER_SOLVE_H

#include "gram/gram.h"

/* Whether the context has a cluster whose plug-in can factor. */
int kfe_i_cluster_solves(const kfe_context *ctx);
/* Bytes that it needs in each process. */
double kfe_i_cluster_solve_bytes(const kfe_context *ctx, int64_t n, int64_t k);
/* `solution` holds the right-hand sides (n × k, the same in every process) and becomes the solution. KFE_ENUMERIC: not positive definite. */
kfe_status kfe_i_cluster_solve(const kfe_i_gram *gram, double ridge, int64_t k, double *solution);

#endif
