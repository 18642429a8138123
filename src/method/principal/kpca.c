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
#include "linalg/basis.h"
#include "method/method.h"
#include "method/principal/principal.h"
#include "method/shared/range.h"
#include "method/shared/stand_in.h"

static const kfe_i_param rows[] = {KFE_PRINCIPAL_ROWS};

/* Says so if directions of negative length are left out; *least: the smallest eigenvalue, or 0 if the kernel is positive
 * definite for all data. Fails if no direction is left. */
static kfe_status note_negative(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                double largest, double rounding, double *least)
{
    kfe_status status = KFE_OK;

    *least = 0;
    if (!kfe_i_kernel_list_may_be_indefinite(source->kernels))
        return KFE_OK;
    KFE_TRY(kfe_i_gram_least_eigenvalue(gram, least));
    if (*least < -rounding && !(largest > rounding))
        KFE_FAIL(ctx, KFE_EINPUT,
                 "kpca: the kernel has no positive eigenvalue on this data; use another kernel");
    KFE_TRY(kfe_i_warn_if_indefinite(gram, "kpca", fmax(largest, -*least), *least));
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

/* The sum of all eigenvalues, of which each feature's share is the variance that it explains. Without a meaning for indefinite kernels. */
static kfe_status record_total(const kfe_i_gram *gram, double least, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double total = 0;

    if (least < 0)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_mean_diagonal(gram, &total));
    total *= kfe_i_gram_mass(gram);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalue-sum", &total, 1));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_principal_settings *s = settings;
    const kfe_i_gram *gram = NULL;
    kfe_i_gram *centred = NULL;
    kfe_i_arena memory = {.ctx = ctx};
    double *values, *vectors;
    double rounding = 0;
    double largest = 0;
    double least = 0;
    int64_t dim = 0;

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums, &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .centred = s->center},
            out);
    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    int64_t n = gram->size;
    KFE_TRY(kfe_i_largest_kernel_value(ctx, "kpca", gram, &largest));
    if (s->center)
        KFE_TRY(kfe_i_gram_centred(ctx, gram, &centred));
    int64_t most = kfe_i_gram_rank_bound(gram);
    int64_t wanted = kfe_i_principal_wanted(s, most < n && most > 0 ? most : n);
    KFE_TAKE(&memory, values, wanted);
    KFE_TAKE(&memory, vectors, n * wanted);
    KFE_TRY(kfe_i_gram_eigen(centred ? centred : gram, wanted, s->tolerance, values, vectors));
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    KFE_TRY(note_negative(ctx, source, gram, values[0], rounding, &least));
    kfe_i_spectrum spectrum = {wanted, values, rounding, kfe_i_gram_rank_tolerance(gram)};
    KFE_TRY(kfe_i_principal_dim(ctx, "kpca", s, &spectrum, &dim));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_DUAL, n, dim, out));
    kfe_i_copy_block(n, dim, vectors, wanted, out->coefficients, dim);
    kfe_i_divide_by_roots(n, dim, values, out->coefficients);
    KFE_TRY(kfe_i_solution_record(out, "eigenvalues", values, dim));
    if (source->target && source->target->weights && s->center)
        KFE_TRY(kfe_i_solution_record(out, "example-weights", source->target->weights, n));
    KFE_TRY(record_total(centred ? centred : gram, least, out));
    if (least < 0)
        KFE_TRY(kfe_i_solution_record(out, "least-eigenvalue", &least, 1));
    note_narrow(ctx, dim, values);
    if (centred)
        KFE_TRY(kfe_i_solution_centre(out, centred));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    kfe_i_gram_free(centred);
    kfe_i_arena_free(&memory);
    return status;
}

const kfe_i_method kfe_i_method_kpca = {
    .name = "kpca",
    .summary = "kernel principal component analysis",
    .reference = "Schölkopf, Smola & Müller 1998; Dhanjal et al. 2009, section 3.2.1",
    .flags = KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .feature = "PC",
    .params = KFE_PARAM_TABLE(rows, kfe_i_principal_settings),
    .uses = kfe_i_use_sums,
    .fit = fit,
};
