/* SPDX-License-Identifier: Apache-2.0 */
/* The SVMs of methods that learn features or a kernel together with them; the families joint, mkl and local use
 * it. */
#include "method/shared/onevsrest.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/multiclass.h"
#include "linalg/linalg.h"

/* Up to STORED_ROWS examples the SVMs work on the stored matrix, if it takes at most this share of the memory. */
enum { STORED_ROWS = 4000 };
#define STORED_SHARE 0.25
/* The least `stop`: decision values are about one. */
#define LEAST_STOP 1e-10

/* ---- the state ---- */

static kfe_status open_features(kfe_i_onevsrest *s, int64_t most)
{
    kfe_status status = KFE_OK;
    kfe_i_feature_gram *f = &s->features;
    double n = (double)s->n;

    f->most = most;
    if (most == 0)
        return KFE_OK;
    f->is_stored = s->n <= STORED_ROWS && 8 * n * n <= STORED_SHARE * (double)kfe_i_memory_left(s->ctx);
    KFE_TRY(kfe_i_table_new_dense(s->ctx, s->n, f->is_stored ? s->n : most, &f->table));
    memset(f->table.values, 0, (size_t)(s->n * f->table.stride) * sizeof *f->table.values);
    if (f->is_stored)
        KFE_TRY(kfe_i_gram_precomputed(s->ctx, &f->table, &f->gram));
    else
        KFE_TRY(kfe_i_gram_factored(s->ctx, &f->table, &f->gram));
cleanup:
    return status;
}

kfe_status kfe_i_onevsrest_open(kfe_context *ctx, const kfe_i_target *target, int64_t most, double c,
                                double stop, kfe_i_onevsrest *out)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;

    *out = (kfe_i_onevsrest){.ctx = ctx, .target = target, .n = n, .stop = stop};
    out->decision = kfe_i_multiclass_decision(KFE_MULTICLASS_OVR, target->class_count);
    out->count = kfe_i_decision_outputs(out->decision, target->class_count);
    KFE_TRY(open_features(out, most));
    KFE_ALLOC(ctx, out->sign, out->count * n);
    KFE_ALLOC(ctx, out->upper, n);
    KFE_ALLOC_ZERO(ctx, out->alpha, out->count * n);
    KFE_ALLOC_ZERO(ctx, out->weights, out->count * n);
    KFE_ALLOC_ZERO(ctx, out->offset, out->count);
    for (int64_t i = 0; i < n; i++) {
        out->upper[i] = c * kfe_i_weight_of(target, i);
        for (int64_t m = 0; m < out->count; m++)
            out->sign[m * n + i] = target->codes[i] == m ? 1 : -1;
    }
cleanup:
    return status;
}

kfe_status kfe_i_onevsrest_carry(kfe_i_onevsrest *svms, const double *roots)
{
    kfe_status status = KFE_OK;

    if (!roots)
        return KFE_OK;
    KFE_ALLOC(svms->ctx, svms->inverse, svms->n);
    for (int64_t i = 0; i < svms->n; i++)
        svms->inverse[i] = 1 / roots[i];
    svms->roots = roots;
cleanup:
    return status;
}

void kfe_i_onevsrest_free(kfe_i_onevsrest *svms)
{
    if (!svms->ctx)
        return;
    kfe_i_free(svms->ctx, svms->inverse);
    kfe_i_free(svms->ctx, svms->sign);
    kfe_i_free(svms->ctx, svms->upper);
    kfe_i_free(svms->ctx, svms->alpha);
    kfe_i_free(svms->ctx, svms->weights);
    kfe_i_free(svms->ctx, svms->offset);
    kfe_i_smo_work_free(svms->ctx, &svms->work);
    kfe_i_gram_free(svms->features.gram);
    kfe_i_table_free(&svms->features.table);
    memset(svms, 0, sizeof *svms);
}

/* ---- solving ---- */

const kfe_i_gram *kfe_i_onevsrest_gram(kfe_i_onevsrest *s, int64_t dim, const double *features)
{
    kfe_i_feature_gram *f = &s->features;
    blasint n = (blasint)s->n;

    if (f->is_stored) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, (blasint)dim, 1, features, (blasint)dim, 0,
                    f->table.values, n);
        kfe_i_mirror(s->n, f->table.values);
        return f->gram;
    }
    for (int64_t i = 0; i < s->n; i++) {
        double *row = f->table.values + i * f->table.stride;
        memcpy(row, features + i * dim, (size_t)dim * sizeof *row);
        memset(row + dim, 0, (size_t)(f->most - dim) * sizeof *row);
    }
    kfe_i_gram_factored_refresh(f->gram);
    return f->gram;
}

static kfe_status solve_one(kfe_i_onevsrest *s, const kfe_i_gram *gram, int64_t m)
{
    kfe_status status = KFE_OK;
    double *alpha = s->alpha + m * s->n;
    kfe_i_smo_problem problem = {
        .gram = gram, .sign = s->sign + m * s->n, .upper = s->upper, .work = &s->work};
    /* far fewer than LIBSVM's limit: an SVM that is not done goes on in the next call */
    int64_t most = 100 * s->n > 200000 ? 100 * s->n : 200000;
    kfe_i_smo_options options = {
        .tolerance = s->stop, .max_iterations = most, .shrinking = 1, .newton = s->newton, .who = s->who};
    kfe_i_smo_result result = {0};

    KFE_TRY(kfe_i_smo_solve(s->ctx, &problem, &options, alpha, &result));
    s->offset[m] = result.offset;
    s->objective -= result.objective;
    s->gap += result.gap;
    for (int64_t i = 0; i < s->n; i++) {
        s->alpha_sum += alpha[i];
        s->weights[i * s->count + m] = alpha[i] * problem.sign[i] * (s->inverse ? s->inverse[i] : 1);
    }
cleanup:
    return status;
}

kfe_status kfe_i_onevsrest_solve_on(kfe_i_onevsrest *s, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *plain = NULL;

    if (s->inverse)
        KFE_TRY(kfe_i_gram_weighted(s->ctx, gram, s->inverse, &plain));
    s->objective = s->alpha_sum = s->gap = 0;
    for (int64_t m = 0; m < s->count; m++)
        KFE_TRY(solve_one(s, plain ? plain : gram, m));
cleanup:
    kfe_i_gram_free(plain);
    return status;
}

kfe_status kfe_i_onevsrest_solve(kfe_i_onevsrest *s, int64_t dim, const double *features)
{
    return kfe_i_onevsrest_solve_on(s, kfe_i_onevsrest_gram(s, dim, features));
}

/* ---- accuracy ---- */

int kfe_i_onevsrest_refine(kfe_i_onevsrest *s)
{
    if (s->stop <= LEAST_STOP)
        return 0;
    s->stop = fmax(s->stop / 10, LEAST_STOP);
    return 1;
}

kfe_status kfe_i_onevsrest_solve_until(kfe_i_onevsrest *s, const kfe_i_gram *gram, double tolerance)
{
    kfe_status status = KFE_OK;
    double before = HUGE_VAL;

    KFE_TRY(kfe_i_onevsrest_solve_on(s, gram));
    /* with an indefinite kernel or at the limit of rounding, a smaller `stop` does not help */
    while (s->gap > tolerance * (s->objective + s->gap) && s->gap < 0.5 * before &&
           kfe_i_onevsrest_refine(s)) {
        before = s->gap;
        KFE_TRY(kfe_i_onevsrest_solve_on(s, gram));
    }
cleanup:
    return status;
}

/* ---- the answer ---- */

void kfe_i_onevsrest_list_state(kfe_i_onevsrest *svms, kfe_i_loop *loop)
{
    KFE_LOOP_ARRAY(loop, svms->alpha, svms->n * svms->count);
    KFE_LOOP_ARRAY(loop, svms->weights, svms->n * svms->count);
    KFE_LOOP_ARRAY(loop, svms->offset, svms->count);
    KFE_LOOP_VALUE(loop, svms->stop);
    KFE_LOOP_VALUE(loop, svms->alpha_sum);
    KFE_LOOP_VALUE(loop, svms->objective);
    KFE_LOOP_VALUE(loop, svms->gap);
}

int64_t kfe_i_onevsrest_support_vectors(const kfe_i_onevsrest *s)
{
    int64_t found = 0;

    for (int64_t i = 0; i < s->n; i++) {
        int used = 0;
        for (int64_t m = 0; m < s->count; m++)
            used |= s->weights[i * s->count + m] != 0;
        found += used;
    }
    return found;
}

kfe_status kfe_i_onevsrest_predictor(const kfe_i_onevsrest *s, int64_t dim, const double *features,
                                     kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_predictor_begin(s->ctx, KFE_PREDICTOR_LINEAR, s->decision, dim, s->count, dim, out));
    out->classes = s->target->class_count;
    out->support_vectors = kfe_i_onevsrest_support_vectors(s);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)dim, (blasint)s->count, (blasint)s->n, 1,
                features, (blasint)dim, s->weights, (blasint)s->count, 0, out->weights, (blasint)s->count);
    memcpy(out->offset, s->offset, (size_t)s->count * sizeof *out->offset);
cleanup:
    return status;
}
