/* SPDX-License-Identifier: Apache-2.0 */
/* Test statistics with these tails, and find the limits that a share of rows exceeds by chance. */
#ifndef KFE_CORE_DISTRIBUTION_H
#define KFE_CORE_DISTRIBUTION_H

/* P(|T| ≥ |t|) for Student's t with this many degrees of freedom. */
double kfe_i_student_two_sided(double t, double degrees);
/* P(F ≥ f) for Fisher's F, and P(X ≥ value) for χ². */
double kfe_i_f_above(double f, double numerator, double denominator);
double kfe_i_chi_square_above(double value, double degrees);

/* The value that is exceeded with probability 1 − level; Student's t by its size. NaN unless 0 < level < 1 and the degrees of freedom are
 * above 0. */
double kfe_i_student_limit(double level, double degrees);
double kfe_i_f_limit(double level, double numerator, double denominator);
double kfe_i_chi_square_limit(double level, double degrees);

#endif
