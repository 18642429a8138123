/* SPDX-License-Identifier: Apache-2.0 */
/* Find weights of kernels for given targets by one semidefinite program, solved by CSDP. */
#ifndef KFE_TESTS_ORACLES_SDP_H
#define KFE_TESTS_ORACLES_SDP_H

/* Minimises tr(Lᵀ(I + Σ dᵢGᵢ/ξ)⁻¹L) over d ≥ 0, Σd = 1, for p ≥ 2 matrices G (n × n) and targets L (n × k); writes the weights and
 * returns the minimum. CSDP prints on standard output. */
double oracle_sdp(int n, int k, int p, const double *const *g, const double *targets, double xi, double *d);

#endif
