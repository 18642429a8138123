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
#include "method/method.h"
#include "method/principal/principal.h"
#include "method/shared/range.h"

static const kfe_i_param rows[] = {KFE_PRINCIPAL_ROWS};

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
    int64_t dim = 0;

    KFE_TRY(kfe_i_largest_kernel_value(ctx, "kpca", problem->gram, &largest));
    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, problem->gram, &centred));
    int64_t wanted = kfe_i_principal_wanted(s, n);
    KFE_ALLOC(ctx, values, wanted);
    KFE_ALLOC(ctx, vectors, n * wanted);
    KFE_TRY(kfe_i_gram_eigen(centred ? centred : problem->gram, wanted, s->tolerance, values, vectors));
    KFE_TRY(kfe_i_gram_rounding(problem->gram, &rounding));
    kfe_i_spectrum spectrum = {wanted, values, rounding, kfe_i_gram_rank_tolerance(problem->gram)};
    KFE_TRY(kfe_i_principal_dim(ctx, "kpca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, n, dim, out));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim; j++)
            out->coefficients[i * dim + j] = vectors[i * wanted + j] / sqrt(values[j]);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
    if (centred)
        KFE_TRY(kfe_i_solution_centre(out, centred));
    kfe_i_solution_fix_signs(out);
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_free(ctx, values);
    kfe_i_free(ctx, vectors);
    return status;
}

const kfe_i_method kfe_i_method_kpca = {
    .name = "kpca",
    .summary = "kernel principal component analysis",
    .reference = "Schölkopf, Smola & Müller 1998; Dhanjal et al. 2009, section 3.2.1",
    .flags = KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING,
    .params = KFE_PARAM_TABLE(rows, kfe_i_principal_settings),
    .fit = fit,
};
