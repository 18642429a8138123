/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generalization bound of sma and smc: theorem 5.5 of Dhanjal, Gunn & Shawe-Taylor (2009). With probability 1 − δ
 * the expected squared covariance of the features, E[y² Σ_j feature_j²], is at least
 *
 *   (1/n)·tr(TᵀỸT) − (2c/n)·√(Σᵢ yᵢ⁴κ(xᵢ,xᵢ)²) − 3cR²·√(ln(2/δ)/(2n)),
 *
 *   T   the features of the n training examples,
 *   Ỹ   diag(yᵢ²); with several targets yᵢ² is the squared norm of row i,
 *   R²  max yᵢ²κ(xᵢ,xᵢ),
 *   c   the Frobenius norm of WWᵀ, equal to that of WᵀW = AᵀK_SS A.
 *
 * The features are nested, so one pass gives the bound for every number of features.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "method/pursuit/pursuit.h"

static double squared_target(const kfe_i_pursuit *p, int64_t i)
{
    double sum = 0;

    for (int64_t t = 0; t < p->targets; t++)
        sum += p->target[i * p->targets + t] * p->target[i * p->targets + t];
    return sum;
}

/* (1/n)·tr(TᵀỸT) for the first 1, 2, … features. */
static void empirical_values(const kfe_i_pursuit *p, double *out)
{
    for (int64_t j = 0; j < p->found.count; j++) {
        double sum = 0;
        for (int64_t i = 0; i < p->n; i++)
            sum += squared_target(p, i) * kfe_i_pursuit_entry(p, j, i) * kfe_i_pursuit_entry(p, j, i);
        out[j] = (j ? out[j - 1] : 0) + p->found.lengths[j] * p->found.lengths[j] * sum / (double)p->n;
    }
}

/* out[k − 1] = the Frobenius norm of the leading k × k block of AᵀK_SS A. */
static kfe_status norms_of_directions(const kfe_i_pursuit *p, const double *a, int64_t support,
                                      const int64_t *index, double *out)
{
    kfe_status status = KFE_OK;
    int64_t k = p->found.count;
    kfe_i_arena memory = {.ctx = p->ctx};
    double *columns, *kernel, *product, *square;

    KFE_TAKE(&memory, columns, p->n);
    KFE_TAKE(&memory, kernel, support * support);
    KFE_TAKE(&memory, product, support * k);
    KFE_TAKE(&memory, square, k * k);
    for (int64_t s = 0; s < support; s++) {
        KFE_TRY(kfe_i_pursuit_columns(p, &index[s], 1, columns));
        for (int64_t r = 0; r < support; r++)
            kernel[r * support + s] = columns[index[r]];
    }
    kfe_i_times(support, support, k, kernel, a, product);
    kfe_i_transpose_times(k, support, k, a, product, square);
    double sum = 0;
    for (int64_t j = 0; j < k; j++) {
        for (int64_t i = 0; i < j; i++)
            sum += 2 * square[i * k + j] * square[i * k + j];
        sum += square[j * k + j] * square[j * k + j];
        out[j] = sqrt(sum);
    }
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_pursuit_bound(const kfe_i_pursuit *p, const double *coefficients, int64_t support,
                               const int64_t *index, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double n = (double)p->n;
    double radius = 0;
    double trace = 0;
    kfe_i_arena memory = {.ctx = p->ctx};
    double *empirical, *bound;
    double recommended = 1;

    KFE_TAKE(&memory, empirical, p->found.count);
    KFE_TAKE(&memory, bound, p->found.count);
    empirical_values(p, empirical);
    KFE_TRY(norms_of_directions(p, coefficients, support, index, bound));
    for (int64_t i = 0; i < p->n; i++) {
        double weighed = squared_target(p, i) * p->diagonal[i];
        radius = fmax(radius, weighed);
        trace += weighed * weighed;
    }
    for (int64_t j = 0; j < p->found.count; j++)
        bound[j] = empirical[j] - bound[j] * (2 / n * sqrt(trace) +
                                              3 * radius * sqrt(log(2 / p->settings->delta) / (2 * n)));
    double cost = p->settings->cost >= 0 ? p->settings->cost : empirical[0] / 2;
    for (int64_t j = 1; j < p->found.count; j++)
        if (bound[j] - cost * (double)(j + 1) > bound[(int64_t)recommended - 1] - cost * recommended)
            recommended = (double)(j + 1);
    KFE_TRY(kfe_i_solution_record(out, "bound", bound, p->found.count));
    KFE_TRY(kfe_i_solution_record(out, "empirical", empirical, p->found.count));
    KFE_TRY(kfe_i_solution_record(out, "bound-cost", &cost, 1));
    KFE_TRY(kfe_i_solution_record(out, "recommended-dim", &recommended, 1));
    kfe_i_log(p->ctx, KFE_LOG_INFO, "%s: the bound recommends %.0f of %lld features", p->method, recommended,
              (long long)p->found.count);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}
