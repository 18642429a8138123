/* SPDX-License-Identifier: Apache-2.0 */
/* The ridge engine from sums over rows: the targets L = PYM of the stand-in, and a ridge chosen from sums or on a sample. Used by
 * kfd, kopls, hsic and uhsic. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/ridge/leave_one_out.h"
#include "method/ridge/ridge.h"
#include "method/shared/stand_in.h"

typedef struct sums_state {
    kfe_context *ctx;
    const kfe_i_sum_problem *problem;
    const kfe_i_ridge_problem *ridge;
    const kfe_i_ridge_sums *targets;
    kfe_i_stand_in stand_in;
    kfe_i_gram *gram;
    double *l; /* L of the stand-in, rows × columns */
    kfe_i_gram *sample_gram;
    kfe_i_gram *weighted_sample; /* the same under the roots of the sample's weights; NULL: no weights */
    double *sample_roots;
    double *sample_l;
    kfe_i_loo_choice choice;
} sums_state;

static void free_state(sums_state *s)
{
    kfe_i_gram_free(s->gram);
    kfe_i_gram_free(s->weighted_sample);
    kfe_i_gram_free(s->sample_gram);
    kfe_i_free(s->ctx, s->sample_roots);
    kfe_i_stand_in_free(&s->stand_in);
    kfe_i_free(s->ctx, s->l);
    kfe_i_free(s->ctx, s->sample_l);
}

kfe_status kfe_i_inverse_class_roots(kfe_context *ctx, const kfe_i_sums *sums, double **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(ctx, *out, sums->classes * sums->classes);
    for (int64_t g = 0; g < sums->classes; g++)
        (*out)[g * (sums->classes + 1)] = 1 / sqrt(sums->class_rows[g]);
cleanup:
    return status;
}

/* out (rows × columns, allocated) = YM for Y (rows × t) */
static kfe_status map_targets(const sums_state *s, int64_t rows, const double *y, double **out)
{
    kfe_status status = KFE_OK;
    int64_t t = s->stand_in.targets;
    int64_t m = s->targets->columns;

    KFE_ALLOC(s->ctx, *out, rows * m);
    if (s->targets->map)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)m, (blasint)t, 1, y,
                    (blasint)t, s->targets->map, (blasint)m, 0, *out, (blasint)m);
    else
        memcpy(*out, y, (size_t)(rows * m) * sizeof **out);
cleanup:
    return status;
}

/* ---- the ridge ---- */

/* Column k of Y at a row of the sample. */
static double sample_value(const sums_state *s, int64_t i, int64_t k)
{
    const kfe_i_target *target = s->problem->sample_target;

    if (target->task == KFE_TASK_REAL)
        return target->values[i * target->cols + k];
    if (s->targets->pairs && target->class_count == 2)
        return 2.0 * target->codes[i] - 1;
    return target->codes[i] == k;
}

static kfe_status sample_targets(sums_state *s)
{
    kfe_status status = KFE_OK;
    int64_t t = s->stand_in.targets;
    int64_t rows = s->problem->sample->rows;
    double *y = NULL;

    KFE_ALLOC(s->ctx, y, rows * t);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < t; k++)
            y[i * t + k] = sample_value(s, i, k);
    KFE_TRY(map_targets(s, rows, y, &s->sample_l));
cleanup:
    kfe_i_free(s->ctx, y);
    return status;
}

/* As kfe_fit gives weights to a method: roots on the operator and on the targets. */
static kfe_status weigh_sample(sums_state *s)
{
    kfe_status status = KFE_OK;
    const double *weights = s->problem->sample_target->weights;
    int64_t rows = s->problem->sample->rows;
    int64_t m = s->targets->columns;

    if (!weights)
        return KFE_OK;
    KFE_ALLOC(s->ctx, s->sample_roots, rows);
    for (int64_t i = 0; i < rows; i++) {
        s->sample_roots[i] = sqrt(weights[i]);
        cblas_dscal((blasint)m, s->sample_roots[i], s->sample_l + i * m, 1);
    }
    KFE_TRY(kfe_i_gram_weighted(s->ctx, s->sample_gram, s->sample_roots, &s->weighted_sample));
cleanup:
    return status;
}

static kfe_status leave_one_out(sums_state *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_ridge_problem *p = s->ridge;

    KFE_TRY(sample_targets(s));
    KFE_TRY(kfe_i_gram_factored(s->ctx, s->problem->sample, &s->sample_gram));
    KFE_TRY(weigh_sample(s));
    const kfe_i_loo_problem problem = {.gram = s->weighted_sample ? s->weighted_sample : s->sample_gram,
                                       .every_row = 1,
                                       .centred = p->centred,
                                       .targets = s->sample_l,
                                       .columns = s->targets->columns,
                                       .rule = p->on_images ? KFE_LOO_SMALLEST_RIDGE
                                                            : kfe_i_loo_feature_rule(p->classes)};
    KFE_TRY(kfe_i_loo_choose(s->ctx, &problem, &s->choice));
    if (s->choice.rows > 0)
        kfe_i_log(s->ctx, KFE_LOG_INFO, "%s: ridge %g, chosen by leave-one-out on %lld examples", p->method,
                  s->choice.ridge, (long long)s->choice.rows);
cleanup:
    return status;
}

/* The ridge of n examples: a share of the mean diagonal tr(G)/n, where n counts all rows, not those of the stand-in. */
static double chosen_ridge(const sums_state *s)
{
    const kfe_i_sums *sums = s->problem->sums;
    double trace = 0;

    if (s->choice.rows > 0)
        return s->choice.ridge;
    for (int64_t j = 0; j < sums->cols; j++) {
        trace += sums->scatter[j * (sums->cols + 1)];
        trace += s->ridge->centred ? 0 : sums->rows * sums->mean[j] * sums->mean[j];
    }
    return kfe_i_chosen_ridge(s->ridge->ridge, trace / sums->rows, 1);
}

/* ---- the fit ---- */

static double squared_norm(const sums_state *s, int64_t rows)
{
    int64_t count = rows * s->targets->columns;

    return cblas_ddot((blasint)count, s->l, 1, s->l, 1);
}

static kfe_status prepare(sums_state *s)
{
    kfe_status status = KFE_OK;
    kfe_i_stand_in_target kind = s->targets->pairs ? KFE_STAND_IN_CENTRED : KFE_STAND_IN_INDICATORS;

    KFE_TRY(kfe_i_stand_in_make(s->ctx, s->problem->sums, kind, s->ridge->centred, &s->stand_in));
    KFE_TRY(map_targets(s, s->stand_in.table.rows, s->stand_in.values, &s->l));
    if (!(squared_norm(s, s->stand_in.table.rows) > 0))
        KFE_FAIL(s->ctx, KFE_EINPUT,
                 "%s: the target is the same for all examples; there is nothing to explain",
                 s->ridge->method);
    KFE_TRY(kfe_i_gram_factored(s->ctx, &s->stand_in.table, &s->gram));
    if (s->ridge->ridge == KFE_RIDGE_AUTO && s->problem->sample)
        KFE_TRY(leave_one_out(s));
cleanup:
    return status;
}

kfe_status kfe_i_ridge_fit_sums(kfe_context *ctx, const kfe_i_sum_problem *problem,
                                const kfe_i_ridge_problem *ridge, const kfe_i_ridge_sums *targets,
                                kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    sums_state s = {.ctx = ctx, .problem = problem, .ridge = ridge, .targets = targets};

    KFE_TRY(prepare(&s));
    kfe_i_ridge_problem on_stand_in = *ridge;
    on_stand_in.gram = s.gram;
    on_stand_in.targets = s.l;
    on_stand_in.columns = targets->columns;
    on_stand_in.ridge = chosen_ridge(&s);
    if (!(on_stand_in.squared_norm > 0))
        on_stand_in.squared_norm = squared_norm(&s, s.stand_in.table.rows);
    KFE_TRY(kfe_i_ridge_fit(ctx, &on_stand_in, out));
    KFE_TRY(kfe_i_loo_record(out, &s.choice));
    KFE_TRY(kfe_i_stand_in_solution(&s.stand_in, problem->sums, ridge->centred, out));
cleanup:
    free_state(&s);
    return status;
}
