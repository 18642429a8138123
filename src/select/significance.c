/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paired t-tests, for the comparison report and kfe_paired_test. For differences dᵢ = aᵢ − bᵢ with mean m and
 * variance s² (divided by n − 1),
 *
 *   t = m / √(s²·c) has n − 1 degrees of freedom, with
 *   c = 1/n                     for independent pairs,
 *   c = 1/n + n_test/n_train    for repeated splits of the same rows
 *
 * (Nadeau & Bengio, "Inference for the generalization error", 2003).
 *
 * Student's tail is P(|T| ≥ |t|) = I_x(ν/2, 1/2) at x = ν/(ν + t²), where I is the regularised incomplete beta
 * function:
 *
 *   I_x(a, b) = x^a y^b / B(a, b) · 1/(β₀ + α₁/(β₁ + α₂/(β₂ + …))),
 *   y = 1 − x,  λ = (a + b)y − b = a − (a + b)x,
 *   αₙ = (a + n − 1)(a + b + n − 1)n(b − n)x² / (a + 2n − 1)²,
 *   βₙ = n + n(b − n)x/(a + 2n − 1) + (a + n)/(a + 2n + 1) · (λ + 1 + n(1 + y))
 *
 * (Didonato & Morris, "Algorithm 708", 1992, eq. (9)). The fraction stays precise for tiny x or y if λ is computed
 * from the tiny one. Lentz's method evaluates it where it converges fast, which is for x < (a + 1)/(a + b + 2);
 * elsewhere I_x(a, b) = 1 − I_{1−x}(b, a) is used. Both need fewer than a hundred steps.
 *
 * 1/B(a, 1/2) = Γ(a + 1/2)/Γ(a)/√π is computed as a ratio: for large ν the logarithms of the two Γ would cancel to a
 * few digits.
 */
#include "select/significance.h"

#include <float.h>
#include <math.h>

#define SQRT_PI 1.7724538509055160273
#define SQRT_HALF 0.70710678118654752440

/* For more degrees of freedom the normal distribution is used: the relative difference is (t² + 1)²/4ν. */
#define MOST_DEGREES 1e30
/* At most about 65 steps were needed for 0.01 to 1e12 degrees of freedom. */
enum { MOST_STEPS = 1000 };

/* Γ(a + 1/2)/Γ(a). For a ≥ 40 the asymptotic series (Tricomi & Erdélyi, 1951), whose first omitted term is below
 * rounding there; a smaller a is raised by Γ(a + 1) = aΓ(a). */
static double gamma_ratio(double a)
{
    static const double highest_first[] = {
        39325.0 / 33554432, 869.0 / 4194304, -399.0 / 262144, -21.0 / 32768,
        5.0 / 1024,         1.0 / 128,       -1.0 / 8,        1};
    double moved = 1;

    while (a < 40) {
        moved *= a / (a + 0.5);
        a++;
    }
    double u = 1 / a;
    double series = 0;
    for (size_t k = 0; k < sizeof highest_first / sizeof *highest_first; k++)
        series = highest_first[k] + u * series;
    return moved * sqrt(a) * series;
}

/* Keeps a denominator of Lentz's method away from zero. */
static double nonzero(double x)
{
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* β₀ + α₁/(β₁ + α₂/(β₂ + …)) */
static double beta_fraction(double a, double b, double x, double y, double lambda)
{
    double value = nonzero(a / (a + 1) * (lambda + 1));
    double c = value;
    double d = 0;
    double change = 0;

    for (int step = 1; step <= MOST_STEPS && fabs(change - 1) >= DBL_EPSILON; step++) {
        double n = step;
        double odd = a + 2 * n - 1;
        double alpha = (a + n - 1) / odd * ((a + b + n - 1) / odd) * n * (b - n) * x * x;
        double beta = n + n * (b - n) * x / odd + (a + n) / (odd + 2) * (lambda + 1 + n * (1 + y));
        d = 1 / nonzero(beta + alpha * d);
        c = nonzero(beta + alpha / c);
        change = c * d;
        value *= change;
    }
    return value;
}

double kfe_i_student_two_sided(double t, double degrees)
{
    double a = degrees / 2;
    double ratio = fabs(t) / sqrt(degrees);

    if (isnan(t) || !(degrees > 0))
        return (double)NAN;
    if (degrees > MOST_DEGREES)
        return erfc(fabs(t) * SQRT_HALF);
    double x = 1 / (1 + ratio * ratio);
    double rest = 1 / (1 + 1 / (ratio * ratio)); /* 1 − x, without cancellation */
    double minus_log_x = ratio > 1e100 ? 2 * log(ratio) : log1p(ratio * ratio);
    double front = exp(-a * minus_log_x) * sqrt(rest) * gamma_ratio(a) / SQRT_PI; /* x^a (1−x)^½ / B(a, ½) */
    double lambda = (a + 0.5) * rest - 0.5;
    if (rest > 1.5 / (a + 2.5))
        return front / beta_fraction(a, 0.5, x, rest, lambda);
    return 1 - front / beta_fraction(0.5, a, rest, x, -lambda);
}

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
