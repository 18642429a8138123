/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel principal component analysis: the directions of largest variance in the feature space.
 *
 * G = PKP = VΛVᵀ; the unit directions are ΦPVΛ^(−1/2), so A = VΛ^(−1/2) and the features of the training
 * examples are VΛ^(1/2). Without centring, K takes the place of G.
 *
 * Schölkopf, Smola & Müller (1998); Dhanjal, Gunn & Shawe-Taylor (2009), section 3.2.1.
 * Time: the kernel matrix and about ten products of it with blocks of vectors. Memory: 8n² bytes if they fit in the memory limit, else less.
 */
#include <math.h>

#include "core/memory.h"
#include "gram/solve/positive.h"
#include "method/method.h"
#include "method/principal/principal.h"
#include "method/shared/range.h"
#include "method/shared/stand_in.h"

static const kfe_i_param rows[] = {KFE_PRINCIPAL_ROWS};

static int may_be_indefinite(const kfe_i_problem *problem)
{
    for (int64_t m = 0; problem->kernels && m < problem->kernels->count; m++) {
        const kfe_i_kernel_def *def = problem->kernels->items[m].def;
        if (def->flags & KFE_HAS_INDEFINITE || def->base == KFE_BASE_GIVEN || def->base == KFE_BASE_USER)
            return 1;
    }
    return 0;
}

/* Says so if directions of negative length are left out; *least: the smallest eigenvalue, or 0 if the kernel is positive
 * definite for all data. Fails if no direction is left. */
static kfe_status note_negative(kfe_context *ctx, const kfe_i_problem *problem, double largest,
                                double rounding, double *least)
{
    kfe_status status = KFE_OK;

    *least = 0;
    if (!may_be_indefinite(problem))
        return KFE_OK;
    KFE_TRY(kfe_i_least_eigenvalue(ctx, problem->gram, least));
    if (*least < -rounding && !(largest > rounding))
        KFE_FAIL(ctx, KFE_EINPUT,
                 "kpca: the kernel has no positive eigenvalue on this data; use another kernel");
    kfe_i_warn_if_indefinite(problem->gram, "kpca", fmax(largest, -*least), *least);
cleanup:
    return status;
}

/* A kernel that is far too narrow sees every example alone: K is nearly the identity, and PKP has one eigenvalue. */
static void note_narrow(kfe_context *ctx, int64_t dim, const double *values)
{
    if (dim > 1 && values[dim - 1] > (1 - 1e-6) * values[0])
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "kpca: all directions are equally good, since the kernel sees no example near another; a wider "
            "kernel, such as rbf with gamma=scale, would be better");
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_principal_settings *s = settings;
    int64_t n = problem->gram->size;
    kfe_i_gram *centred = NULL;
    double *values = NULL;
    double *vectors = NULL;
    double rounding = 0;
    double largest = 0;
    double least = 0;
    int64_t dim = 0;

    KFE_TRY(kfe_i_largest_kernel_value(ctx, "kpca", problem->gram, &largest));
    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, problem->gram, &centred));
    int64_t most = kfe_i_gram_rank_bound(problem->gram);
    int64_t wanted = kfe_i_principal_wanted(s, most < n && most > 0 ? most : n);
    KFE_ALLOC(ctx, values, wanted);
    KFE_ALLOC(ctx, vectors, n * wanted);
    KFE_TRY(kfe_i_gram_eigen(centred ? centred : problem->gram, wanted, s->tolerance, values, vectors));
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &rounding));
    KFE_TRY(note_negative(ctx, problem, values[0], rounding, &least));
    kfe_i_spectrum spectrum = {wanted, values, rounding, kfe_i_gram_rank_tolerance(problem->gram)};
    KFE_TRY(kfe_i_principal_dim(ctx, "kpca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, n, dim, out));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            out->coefficients[i * dim + j] = vectors[i * wanted + j] / sqrt(values[j]);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
    if (least < 0)
        KFE_TRY(kfe_i_solution_record(out, "least-eigenvalue", &least, 1));
    note_narrow(ctx, dim, values);
    if (centred)
        KFE_TRY(kfe_i_solution_centre(out, centred));
    kfe_i_solution_fix_signs(out);
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

static kfe_status fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem, const void *settings,
                           kfe_i_solution *out)
{
    const kfe_i_principal_settings *s = settings;
    const kfe_i_stand_in_job job = {.fit = fit, .settings = settings, .supervised = 0, .centred = s->center};

    return kfe_i_stand_in_fit(ctx, problem->sums, &job, out);
}

const kfe_i_method kfe_i_method_kpca = {
    .name = "kpca",
    .summary = "kernel principal component analysis",
    .reference = "Schölkopf, Smola & Müller 1998; Dhanjal et al. 2009, section 3.2.1",
    .flags = KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_principal_settings),
    .fit = fit,
    .fit_sums = fit_sums,
};
