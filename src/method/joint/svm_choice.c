/* SPDX-License-Identifier: Apache-2.0 */
/* The automatic settings of svm-joint, usvm-joint, svm-mkl, mkl and slmc (svm_choice.h). */
#include "method/joint/svm_choice.h"

#include <math.h>

#include "core/memory.h"

/* C·ρ */
#define C_TIMES_RIDGE 4.0

kfe_status kfe_i_class_ridge(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                             const kfe_i_target *target, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;
    int64_t classes = target->class_count;
    kfe_i_gram *weighted = NULL;
    double *indicator = NULL;
    double *roots = NULL;

    KFE_ALLOC_ZERO(ctx, indicator, target->rows * classes);
    KFE_ALLOC(ctx, roots, target->rows);
    for (int64_t i = 0; i < target->rows; i++) {
        roots[i] = sqrt(kfe_i_weight_of(target, i));
        indicator[i * classes + target->codes[i]] = roots[i];
    }
    if (target->weights && !gram->roots)
        KFE_TRY(kfe_i_gram_weighted(ctx, gram, roots, &weighted));
    const kfe_i_loo_problem problem = {.gram = weighted ? weighted : gram,
                                       .centred = 1,
                                       .targets = indicator,
                                       .columns = classes,
                                       .keys = target->keys,
                                       .rule = KFE_LOO_SMALLEST_ERROR};
    KFE_TRY(kfe_i_loo_choose(ctx, &problem, out));
    if (out->rows > 0)
        kfe_i_log(ctx, KFE_LOG_INFO,
                  "%s: ridge %g has the smallest leave-one-out error on %lld of %lld examples", method,
                  out->ridge, (long long)out->rows, (long long)target->rows);
cleanup:
    kfe_i_gram_free(weighted);
    kfe_i_free(ctx, roots);
    kfe_i_free(ctx, indicator);
    return status;
}

double kfe_i_svm_c(const kfe_i_loo_choice *choice)
{
    return choice->rows > 0 ? C_TIMES_RIDGE / choice->ridge : 1;
}

kfe_status kfe_i_svm_c_choose(kfe_context *ctx, const char *method, const kfe_i_gram *gram,
                              const kfe_i_target *target, double *c, kfe_i_loo_choice *out)
{
    kfe_status status = KFE_OK;

    if (*c != KFE_SVM_C_AUTO)
        return KFE_OK;
    KFE_TRY(kfe_i_class_ridge(ctx, method, gram, target, out));
    *c = kfe_i_svm_c(out);
cleanup:
    return status;
}

kfe_status kfe_i_svm_c_record(kfe_i_solution *solution, double c, const kfe_i_loo_choice *choice)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_solution_record(solution, "svm-c", &c, 1));
    KFE_TRY(kfe_i_loo_record(solution, choice));
cleanup:
    return status;
}
