/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuum regression against an exhaustive search. With three columns every unit direction is a point of
 * the sphere, and a grid over the sphere, refined around its best point, finds the global maximum of
 *   ‖YᵀXu‖²(uᵀXᵀXu)^(γ−1)
 * The search runs for the first feature and, on the deflated data, for the second; for γ over six decades;
 * for one target and for several. (The best unit combination c of several targets has (cᵀYᵀXu)² = ‖YᵀXu‖².)
 */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = DEFLATION_ROWS, COLS = 3, GRID = 120 };

static const double pi = 3.14159265358979323846;

/* The matrices of the criterion: S = XᵀX and B = XᵀY. */
typedef struct problem {
    double gamma;
    int64_t targets;
    double *s, *b; /* COLS × COLS; COLS × targets */
} problem;

static problem make_problem(const double *x, const double *y, int64_t targets, double gamma)
{
    double *turned = support_transpose(ROWS, COLS, x);
    problem p = {gamma, targets, support_product(COLS, ROWS, COLS, turned, x),
                 support_product(COLS, ROWS, targets, turned, y)};

    free(turned);
    return p;
}

/* The logarithm of the criterion at the direction with these angles. */
static double criterion(const problem *p, const double *angles)
{
    const double u[COLS] = {cos(angles[0]) * cos(angles[1]), cos(angles[0]) * sin(angles[1]), sin(angles[0])};
    double covariance = 0;
    double variance = 0;

    for (int64_t i = 0; i < COLS; i++)
        for (int64_t j = 0; j < COLS; j++)
            variance += u[i] * p->s[i * COLS + j] * u[j];
    for (int64_t t = 0; t < p->targets; t++) {
        double sum = 0;
        for (int64_t i = 0; i < COLS; i++)
            sum += u[i] * p->b[i * p->targets + t];
        covariance += sum * sum;
    }
    return log(covariance) + (p->gamma - 1) * log(variance);
}

/* Climbs by steps of decreasing size in the four directions of the angles. */
static double climb(const problem *p, double *angles, double best)
{
    for (double step = pi / GRID; step > 1e-12; step /= 2)
        for (int moved = 1; moved;) {
            moved = 0;
            for (int way = 0; way < 4; way++) {
                double other[2] = {angles[0], angles[1]};
                other[way / 2] += way % 2 ? step : -step;
                double value = criterion(p, other);
                if (value > best) {
                    best = value;
                    memcpy(angles, other, sizeof other);
                    moved = 1;
                }
            }
        }
    return best;
}

static double search_sphere(const problem *p)
{
    double best = -INFINITY;
    double at[2] = {0, 0};

    for (int a = 0; a <= GRID; a++)
        for (int b = 0; b < GRID; b++) {
            const double angles[2] = {pi * a / GRID - pi / 2, pi * b / GRID};
            double value = criterion(p, angles);
            if (value > best) {
                best = value;
                memcpy(at, angles, sizeof at);
            }
        }
    return climb(p, at, best);
}

/* The criterion of a feature. cr scales directions to norm one, so feature j is Xu on the data for which it
 * was chosen. */
static double reached(const kfe_matrix *f, int64_t j, const deflation_problem *p, double gamma)
{
    double covariance = 0;
    double variance = 0;

    for (int64_t i = 0; i < ROWS; i++)
        variance += pow(f->values[i * f->cols + j], 2);
    for (int64_t t = 0; t < p->targets; t++) {
        double sum = 0;
        for (int64_t i = 0; i < ROWS; i++)
            sum += f->values[i * f->cols + j] * p->centred[i * p->targets + t];
        covariance += sum * sum;
    }
    return log(covariance) + (gamma - 1) * log(variance);
}

static void check_features(kfe_context *ctx, uint64_t seed, int64_t targets, double gamma)
{
    deflation_problem p = deflation_make(ctx, seed, COLS, targets);
    double *x = malloc(ROWS * COLS * sizeof *x);
    double tau[ROWS];
    char params[64];

    memcpy(x, p.x, ROWS * COLS * sizeof *x);
    free(support_centre_columns(ROWS, COLS, x));
    snprintf(params, sizeof params, "dim=2,alpha=%.17g", gamma / (1 + gamma));
    kfe_matrix f = support_features(ctx, "cr", params, NULL, p.data, p.data);
    for (int64_t j = 0; j < f.cols; j++) {
        problem on = make_problem(x, p.centred, targets, gamma);
        double found = reached(&f, j, &p, gamma);
        double best = search_sphere(&on);
        if (!(best - found <= 1e-7 * (1 + gamma)))
            fail_msg(
                "seed %d, %d targets, gamma %g, feature %d: the criterion is %.9g, but %.9g can be reached",
                (int)seed, (int)targets, gamma, (int)j + 1, found, best);
        for (int64_t i = 0; i < ROWS; i++)
            tau[i] = f.values[i * f.cols + j];
        deflation_remove(ROWS, COLS, tau, x);
        free(on.s);
        free(on.b);
    }
    free(x);
    kfe_matrix_free(&f);
    deflation_free(&p);
}

static void test_features_are_the_best_of_the_sphere(void **state)
{
    for (uint64_t seed = 71; seed < 75; seed++)
        for (int64_t targets = 1; targets <= 3; targets++)
            for (double gamma = 1.001e-3; gamma < 2e3; gamma *= 10) /* γ = 1 has a branch of its own */
                check_features(*state, seed, targets, gamma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_features_are_the_best_of_the_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
