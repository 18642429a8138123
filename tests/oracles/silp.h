/* SPDX-License-Identifier: Apache-2.0 */
/* Minimise a convex function on the simplex by a semi-infinite linear program, solved by Clp. */
#ifndef KFE_TESTS_ORACLES_SILP_H
#define KFE_TESTS_ORACLES_SILP_H

/* Returns f(d) and writes its negative slopes, −∂f/∂dᵢ (p of them). */
typedef double (*oracle_convex)(void *user, const double *d, double *slopes);

/* Minimises f ≥ 0 over d ≥ 0, Σd = 1 (p weights) to a relative gap of `tolerance`, writes the weights to d and returns f(d).
 * The test fails after 2,000 linear programs. */
double oracle_silp(int p, oracle_convex f, void *user, double tolerance, double *d);

#endif
