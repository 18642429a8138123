/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paired t-tests, for comparisons and kfe_paired_test. For differences dᵢ = aᵢ − bᵢ with mean m and
 * variance s² (divided by n − 1),
 *
 *   t = m / √(s²·c) has n − 1 degrees of freedom, with
 *   c = 1/n                     for independent pairs,
 *   c = 1/n + n_test/n_train    for repeated splits of the same rows
 *
 * (Nadeau & Bengio, "Inference for the generalization error", 2003).
 */
#include "select/significance.h"

#include <math.h>

#include "core/distribution.h"

/* ---- tests ---- */

/* Numbers that differ by rounding only are equal: sums of the same terms in another order are not evidence. */
#define ROUNDING 1e-12

/* NaN: one of the two is missing. */
static double difference(kfe_i_tested a, kfe_i_tested b, int64_t i)
{
    double x = a.values[i * a.stride];
    double y = b.values[i * b.stride];

    return fabs(x - y) <= ROUNDING * fmax(fabs(x), fabs(y)) ? 0 : x - y;
}

static double variance_about(int64_t count, kfe_i_tested a, kfe_i_tested b, double mean)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++) {
        double away = difference(a, b, i) - mean;
        sum += isnan(away) ? 0 : away * away;
    }
    return sum;
}

/* Up to rounding, too: 0.95 - 0.9 and 1 - 0.95 are not the same double. */
static int differ_alike(kfe_i_tested a, kfe_i_tested b, int64_t i, int64_t j)
{
    double size = fmax(fmax(fabs(a.values[i * a.stride]), fabs(b.values[i * b.stride])),
                       fmax(fabs(a.values[j * a.stride]), fabs(b.values[j * b.stride])));

    return fabs(difference(a, b, i) - difference(a, b, j)) <= ROUNDING * size;
}

kfe_i_test_result kfe_i_paired_t(int64_t count, kfe_i_tested a, kfe_i_tested b, double test_share)
{
    kfe_i_test_result result = {.statistic = NAN, .p = NAN};
    double pairs = 0;
    int64_t first = -1; /* of the pairs */
    int alike = 1;      /* all differences are the same */

    for (int64_t i = 0; i < count; i++) {
        double d = difference(a, b, i);
        if (isnan(d))
            continue;
        first = first < 0 ? i : first;
        alike &= differ_alike(a, b, i, first);
        result.mean_difference += d;
        pairs++;
    }
    result.mean_difference /= fmax(pairs, 1);
    if (pairs < 2)
        return result;
    result.degrees = pairs - 1;
    if (alike) {
        result.mean_difference = difference(a, b, first);
        result.statistic =
            result.mean_difference == 0 ? 0 : copysign((double)INFINITY, result.mean_difference);
        result.p = result.mean_difference == 0 ? 1 : (double)NAN;
        return result;
    }
    double variance = variance_about(count, a, b, result.mean_difference) / (pairs - 1);
    result.statistic = result.mean_difference / sqrt(variance * (1 / pairs + test_share));
    result.p = kfe_i_student_two_sided(result.statistic, result.degrees);
    return result;
}
