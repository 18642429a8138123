/* SPDX-License-Identifier: Apache-2.0 */
#include "method/onevsrest.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "learn/multiclass.h"
#include "learn/smo.h"

/* Up to so many examples the machines work on the stored matrix. */
enum { STORED_ROWS = 4000 };

kfe_status kfe_i_onevsrest_open(kfe_context *ctx, const kfe_i_target *target, double c, double stop,
                                kfe_i_onevsrest *out)
{
    kfe_status status = KFE_OK;
    int64_t n = target->rows;

    *out = (kfe_i_onevsrest){.ctx = ctx, .target = target, .n = n, .stop = stop};
    out->decision = kfe_i_multiclass_decision(KFE_MULTICLASS_OVR, target->class_count);
    out->count = kfe_i_decision_outputs(out->decision, target->class_count);
    KFE_ALLOC(ctx, out->sign, out->count * n);
    KFE_ALLOC(ctx, out->upper, n);
    KFE_ALLOC_ZERO(ctx, out->alpha, out->count * n);
    KFE_ALLOC_ZERO(ctx, out->weights, out->count * n);
    KFE_ALLOC_ZERO(ctx, out->offset, out->count);
    for (int64_t i = 0; i < n; i++) {
        out->upper[i] = c;
        for (int64_t m = 0; m < out->count; m++)
            out->sign[m * n + i] = target->codes[i] == m ? 1 : -1;
    }
cleanup:
    return status;
}

void kfe_i_onevsrest_free(kfe_i_onevsrest *machines)
{
    if (!machines->ctx)
        return;
    kfe_i_free(machines->ctx, machines->sign);
    kfe_i_free(machines->ctx, machines->upper);
    kfe_i_free(machines->ctx, machines->alpha);
    kfe_i_free(machines->ctx, machines->weights);
    kfe_i_free(machines->ctx, machines->offset);
    memset(machines, 0, sizeof *machines);
}

static kfe_status solve_one(kfe_i_onevsrest *s, const kfe_i_gram *gram, int64_t m)
{
    kfe_status status = KFE_OK;
    double *alpha = s->alpha + m * s->n;
    kfe_i_smo_problem problem = {.gram = gram, .sign = s->sign + m * s->n, .upper = s->upper};
    /* far fewer than LIBSVM's rule: what is short of the tolerance goes on in the next round */
    int64_t most = 100 * s->n > 200000 ? 100 * s->n : 200000;
    kfe_i_smo_options options = {.tolerance = s->stop, .max_iterations = most, .shrinking = 1};
    kfe_i_smo_result result = {0};

    KFE_TRY(kfe_i_smo_solve(s->ctx, &problem, &options, alpha, &result));
    s->offset[m] = result.offset;
    s->objective -= result.objective;
    for (int64_t i = 0; i < s->n; i++) {
        s->alpha_sum += alpha[i];
        s->weights[i * s->count + m] = alpha[i] * problem.sign[i];
    }
cleanup:
    return status;
}

kfe_status kfe_i_onevsrest_solve_on(kfe_i_onevsrest *s, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;

    s->objective = s->alpha_sum = 0;
    for (int64_t m = 0; m < s->count; m++)
        KFE_TRY(solve_one(s, gram, m));
cleanup:
    return status;
}

kfe_status kfe_i_onevsrest_solve(kfe_i_onevsrest *s, int64_t dim, const double *features)
{
    kfe_status status = KFE_OK;
    /* the operator only reads */
    kfe_i_table table = {.ctx = s->ctx,
                         .kind = KFE_TABLE_DENSE,
                         .rows = s->n,
                         .cols = dim,
                         .stride = dim,
                         .values = (double *)(uintptr_t)features};
    kfe_i_gram *factored = NULL;
    kfe_i_gram *stored = NULL;

    KFE_TRY(kfe_i_gram_factored(s->ctx, &table, &factored));
    if (s->n <= STORED_ROWS)
        KFE_TRY(kfe_i_gram_stored(s->ctx, factored, 0, &stored));
    KFE_TRY(kfe_i_onevsrest_solve_on(s, stored ? stored : factored));
cleanup:
    kfe_i_gram_free(stored);
    kfe_i_gram_free(factored);
    return status;
}

int64_t kfe_i_onevsrest_support_vectors(const kfe_i_onevsrest *s)
{
    int64_t found = 0;

    for (int64_t i = 0; i < s->n; i++) {
        int used = 0;
        for (int64_t m = 0; m < s->count; m++)
            used |= s->alpha[m * s->n + i] > 0;
        found += used;
    }
    return found;
}

kfe_status kfe_i_onevsrest_machine(const kfe_i_onevsrest *s, int64_t dim, const double *features,
                                   kfe_i_machine *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_machine_begin(s->ctx, KFE_MACHINE_LINEAR, s->decision, dim, s->count, dim, out));
    out->classes = s->target->class_count;
    out->support_vectors = kfe_i_onevsrest_support_vectors(s);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)dim, (blasint)s->count, (blasint)s->n, 1,
                features, (blasint)dim, s->weights, (blasint)s->count, 0, out->weights, (blasint)s->count);
    memcpy(out->offset, s->offset, (size_t)s->count * sizeof *out->offset);
cleanup:
    return status;
}
