/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tails and limits of Student's t, Fisher's F and χ²; significance tests and diagnostics of rows call them.
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
 *
 * F has the tail P(F ≥ f) = I_x(d₂/2, d₁/2) at x = d₂/(d₂ + d₁f). χ² has the tail Γ(a, x)/Γ(a) at a = ν/2 and half the value: a power
 * series below a + 1, and Legendre's continued fraction above. A limit is found by bisection, as tails fall.
 */
#include "core/distribution.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define SQRT_PI 1.7724538509055160273
#define SQRT_HALF 0.70710678118654752440

/* For more degrees of freedom the normal distribution is used: the relative difference is (t² + 1)²/4ν. */
#define MOST_DEGREES 1e30
/* At most about 65 steps were needed for 0.01 to 1e12 degrees of freedom. */
enum { MOST_STEPS = 1000 };
/* The fraction and the series of χ² need about √ν steps near the mean. */
enum { MOST_GAMMA_STEPS = 1000000 };

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

/* ---- F ---- */

/* ln Γ(a) by Stirling's series, whose first omitted term is below rounding for a ≥ 15. */
static double log_gamma(double a)
{
    double moved = 0;

    while (a < 15) {
        moved -= log(a);
        a++;
    }
    double u = 1 / (a * a);
    double series =
        (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u * (1.0 / 1188 - u / 360))))) / a;
    return moved + (a - 0.5) * log(a) - a + 0.5 * log(2 * SQRT_PI * SQRT_PI) + series;
}

double kfe_i_f_above(double f, double numerator, double denominator)
{
    double a = denominator / 2;
    double b = numerator / 2;

    if (isnan(f) || !(a > 0) || !(b > 0))
        return (double)NAN;
    if (f <= 0)
        return 1;
    double x = 1 / (1 + b / a * f);
    double y = 1 / (1 + a / (b * f)); /* 1 − x, without cancellation */
    double front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) - a * log1p(b / a * f) - b * log1p(a / (b * f)));
    double lambda = (a + b) * y - b;
    if (x < (a + 1) / (a + b + 2))
        return front / beta_fraction(a, b, x, y, lambda);
    return 1 - front / beta_fraction(b, a, y, x, -lambda);
}

/* ---- χ² ---- */

/* Σ xⁿ/((a + 1)…(a + n)) */
static double gamma_series(double a, double x)
{
    double term = 1;
    double sum = 1;

    for (int step = 1; step <= MOST_GAMMA_STEPS && term > DBL_EPSILON * sum; step++)
        sum += term *= x / (a + step);
    return sum;
}

/* 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − …)), by Lentz's method */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a;
    double c = 1 / DBL_MIN;
    double d = 1 / nonzero(b);
    double value = d;
    double change = 0;

    for (int step = 1; step <= MOST_GAMMA_STEPS && fabs(change - 1) >= DBL_EPSILON; step++) {
        double alpha = -step * (step - a);
        b += 2;
        d = 1 / nonzero(b + alpha * d);
        c = nonzero(b + alpha / c);
        change = c * d;
        value *= change;
    }
    return value;
}

double kfe_i_chi_square_above(double value, double degrees)
{
    double a = degrees / 2;
    double x = value / 2;

    if (isnan(value) || !(degrees > 0))
        return (double)NAN;
    if (value <= 0)
        return 1;
    double front = exp(a * log(x) - x - log_gamma(a)); /* x^a e^(−x)/Γ(a) */
    if (x < a + 1)
        return 1 - front * gamma_series(a, x) / a;
    return front * gamma_fraction(a, x);
}

/* ---- limits ---- */

/* A tail that falls from 1 at 0 to 0, with its degrees of freedom. */
typedef double (*tail_fn)(double value, double first, double second);

static double chi_square_tail(double value, double degrees, double unused)
{
    (void)unused;
    return kfe_i_chi_square_above(value, degrees);
}

static double student_tail(double value, double degrees, double unused)
{
    (void)unused;
    return kfe_i_student_two_sided(value, degrees);
}

/* The value whose tail is 1 − level. The ends are halved as powers of two, so that limits near 0 keep their digits. */
static double limit_of(tail_fn tail, double level, double first, double second)
{
    double low = -1000;
    double high = 1000;

    if (!(level > 0) || !(level < 1) || !(first > 0) || !(second > 0))
        return (double)NAN;
    for (int step = 0; step < 70; step++) {
        double middle = (low + high) / 2;
        if (tail(exp2(middle), first, second) > 1 - level)
            low = middle;
        else
            high = middle;
    }
    return exp2((low + high) / 2);
}

double kfe_i_f_limit(double level, double numerator, double denominator)
{
    return limit_of(kfe_i_f_above, level, numerator, denominator);
}

double kfe_i_chi_square_limit(double level, double degrees)
{
    return limit_of(chi_square_tail, level, degrees, 1);
}

double kfe_i_student_limit(double level, double degrees)
{
    return limit_of(student_tail, level, degrees, 1);
}
