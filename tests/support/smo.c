/* SPDX-License-Identifier: Apache-2.0 */
/* SVM duals with known kernels, and checks of optimality, for the tests of the solver. */
#include "support/smo.h"

#include <math.h>

#include "support/fit.h"
#include "support/tolerance.h"

/* ---- problems ---- */

double *smo_zeros(int64_t count)
{
    double *out = calloc((size_t)count, sizeof *out);
    assert_non_null(out);
    return out;
}

smo_problem smo_make_points(uint64_t seed, int64_t n, int64_t cols, double apart)
{
    smo_problem p = {.n = n, .cols = cols};
    int *class_of = NULL;

    support_clouds(seed, n, cols, 2, apart, &p.x, &class_of);
    for (int64_t i = 0; i < n * cols; i++)
        p.x[i] = round(16 * p.x[i]) / 16;
    p.sign = smo_zeros(n);
    p.upper = smo_zeros(n);
    p.alpha = smo_zeros(n);
    for (int64_t i = 0; i < n; i++) {
        p.sign[i] = class_of[i] ? -1 : 1;
        p.upper[i] = 1;
    }
    p.sign[n - 1] = -p.sign[0]; /* both labels occur, however few points there are */
    free(class_of);
    return p;
}

void smo_set_upper(smo_problem *p, double positive, double negative)
{
    for (int64_t i = 0; i < p->n; i++)
        p->upper[i] = p->sign[i] > 0 ? positive : negative;
}

void smo_linear_kernel(smo_problem *p)
{
    double *turned = support_transpose(p->n, p->cols, p->x);

    free(p->kernel);
    p->kernel = support_product(p->n, p->cols, p->n, p->x, turned);
    free(turned);
}

void smo_rbf_kernel(smo_problem *p, double gamma)
{
    free(p->kernel);
    p->kernel = support_rbf(p->n, p->x, p->n, p->x, p->cols, gamma);
}

void smo_round_kernel_to_single(smo_problem *p)
{
    for (int64_t i = 0; i < p->n * p->n; i++)
        p->kernel[i] = (double)(float)p->kernel[i];
}

void smo_free_problem(smo_problem *p)
{
    free(p->x);
    free(p->kernel);
    free(p->sign);
    free(p->upper);
    free(p->alpha);
    memset(p, 0, sizeof *p);
}

/* ---- operators ---- */

kfe_status smo_open_gram(kfe_context *ctx, const smo_problem *p, const char *text, kfe_i_gram_storage storage,
                         smo_opened *out)
{
    kfe_i_kernel kernel = {0};
    int given = strcmp(text, "precomputed") == 0;
    int64_t cols = given ? p->n : p->cols;
    kfe_status status;

    memset(out, 0, sizeof *out);
    out->table = (kfe_i_table){.kind = KFE_TABLE_DENSE,
                               .rows = p->n,
                               .cols = cols,
                               .stride = cols,
                               .values = given ? p->kernel : p->x};
    kfe_i_kernel_list_init(ctx, &out->kernels);
    status = kfe_i_kernel_parse(ctx, text, &kernel);
    if (status == KFE_OK)
        status = kfe_i_kernel_list_add(&out->kernels, &kernel);
    if (status == KFE_OK)
        status = kfe_i_gram_open(ctx, &out->kernels, &out->table, storage, &out->gram);
    return status;
}

void smo_close_gram(smo_opened *o)
{
    kfe_i_gram_free(o->gram);
    kfe_i_kernel_list_free(&o->kernels);
}

kfe_status smo_solve_on(kfe_context *ctx, smo_problem *p, const kfe_i_gram *gram, double tolerance,
                        int shrinking, kfe_i_smo_result *out)
{
    kfe_i_smo_problem smo = {.gram = gram, .sign = p->sign, .upper = p->upper};
    kfe_i_smo_options options = {.tolerance = tolerance, .shrinking = shrinking};
    return kfe_i_smo_solve(ctx, &smo, &options, p->alpha, out);
}

kfe_i_smo_result smo_solve(kfe_context *ctx, smo_problem *p, double tolerance, int shrinking)
{
    kfe_i_smo_result result;
    smo_opened o;

    assert_ok(ctx, smo_open_gram(ctx, p, "precomputed", KFE_GRAM_AUTO, &o));
    assert_ok(ctx, smo_solve_on(ctx, p, o.gram, tolerance, shrinking, &result));
    smo_close_gram(&o);
    return result;
}

/* ---- optimality of given coefficients ---- */

double smo_value_of(const smo_problem *p, const double *alpha, int64_t i)
{
    double sum = 0;

    for (int64_t j = 0; j < p->n; j++)
        sum += alpha[j] * p->sign[j] * p->kernel[i * p->n + j];
    return sum;
}

double smo_objective_of(const smo_problem *p, const double *alpha)
{
    double sum = 0;

    for (int64_t i = 0; i < p->n; i++)
        sum += alpha[i] * (p->sign[i] * smo_value_of(p, alpha, i) / 2 - 1);
    return sum;
}

double smo_violation_of(const smo_problem *p, const double *alpha)
{
    double highest = -INFINITY;
    double lowest = INFINITY;

    for (int64_t i = 0; i < p->n; i++) {
        double slope = p->sign[i] - smo_value_of(p, alpha, i);
        int grows = alpha[i] < p->upper[i];
        int falls = alpha[i] > 0;
        if (p->sign[i] > 0 ? grows : falls)
            highest = fmax(highest, slope);
        if (p->sign[i] > 0 ? falls : grows)
            lowest = fmin(lowest, slope);
    }
    return highest > lowest ? highest - lowest : 0;
}

double smo_total(int64_t n, const double *values)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += fabs(values[i]);
    return sum;
}

double smo_rounding_of(const smo_problem *p)
{
    return tolerance_sum(8 * p->n, smo_total(p->n, p->alpha) * support_largest(p->n * p->n, p->kernel));
}

void smo_assert_feasible(const smo_problem *p, int64_t iterations)
{
    double sum = 0;
    double largest = support_largest(p->n, p->upper);

    for (int64_t i = 0; i < p->n; i++) {
        assert_true(p->alpha[i] >= 0 && p->alpha[i] <= p->upper[i]);
        sum += p->sign[i] * p->alpha[i];
    }
    /* each iteration rounds two coefficients */
    assert_below(fabs(sum), tolerance_sum(p->n, smo_total(p->n, p->alpha)) +
                                sqrt((double)iterations) * DBL_EPSILON * largest);
}

double smo_duality_gap_of(const smo_problem *p, const double *alpha, double offset)
{
    double square = 0;
    double hinge = 0;

    for (int64_t i = 0; i < p->n; i++) {
        double decision = 0;
        for (int64_t j = 0; j < p->n; j++)
            decision += alpha[j] * p->sign[j] * p->kernel[i * p->n + j];
        square += alpha[i] * p->sign[i] * decision;
        hinge += p->upper[i] * fmax(0, 1 - p->sign[i] * (decision - offset));
    }
    return square + hinge - smo_total(p->n, alpha);
}

void smo_assert_solved(const smo_problem *p, const kfe_i_smo_result *result, double tolerance)
{
    double rounding = smo_rounding_of(p);

    assert_int_equal(result->converged, 1);
    smo_assert_feasible(p, result->iterations);
    assert_below(smo_violation_of(p, p->alpha), tolerance + rounding);
    assert_below(fabs(smo_violation_of(p, p->alpha) - result->violation), rounding);
    assert_below(fabs(smo_objective_of(p, p->alpha) - result->objective),
                 rounding * fmax(1, smo_total(p->n, p->alpha)));
}
