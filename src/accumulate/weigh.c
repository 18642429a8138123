/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows that are added to sums, as kfe_fit gives them to rows in memory (model/fit_rows.c). Called by the
 * other files of this folder. */
#include "accumulate/weigh.h"

#include <string.h>

#include "core/memory.h"
#include "data/target/class_weights.h"

int kfe_i_balances_classes(const kfe_spec *spec)
{
    return strcmp(spec->fit.class_weight, KFE_CLASS_WEIGHTS_BALANCED) == 0;
}

kfe_status kfe_i_refuse_balanced(kfe_context *ctx)
{
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                      "{class-weight=balanced} counts the classes of all rows before the first one is added, "
                      "which a fit in blocks or from standard input cannot do; give {class-weight} by name, "
                      "NAME=WEIGHT,NAME=WEIGHT, "
                      "or fit from files");
}

/* ---- classes ---- */

kfe_status kfe_i_count_classes(kfe_context *ctx, const kfe_data *rows, kfe_accumulator **counts)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &rows->target;
    int32_t *code = NULL;

    if (!*counts) {
        KFE_TRY(kfe_i_accumulator_new(ctx, counts));
        KFE_TRY(kfe_i_sums_begin(ctx, 0, &(*counts)->sums));
    }
    if (target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC(ctx, code, target->class_count);
    KFE_TRY(kfe_i_accumulator_classes(*counts, target, code));
    for (int64_t i = 0; i < target->rows; i++) {
        (*counts)->sums.class_rows[code[target->codes[i]]] += kfe_i_weight_of(target, i);
        (*counts)->sums.rows += kfe_i_weight_of(target, i);
    }
cleanup:
    kfe_i_free(ctx, code);
    return status;
}

/* out[class_count]: factors that give all classes the same sum of weights, and do not change the sum over all rows. */
static kfe_status balanced_factors(const kfe_accumulator *a, const kfe_i_target *target, double *out)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *counts = a->counts;
    int32_t *code = NULL;

    if (!counts)
        return kfe_i_refuse_balanced(a->ctx);
    KFE_ALLOC(a->ctx, code, target->class_count);
    KFE_TRY(kfe_i_accumulator_classes(counts, target, code));
    for (int64_t c = 0; c < target->class_count; c++) {
        double members = code[c] >= 0 ? counts->sums.class_rows[code[c]] : 0;
        out[c] = members > 0 ? counts->sums.rows / ((double)counts->sums.classes * members) : 1;
    }
cleanup:
    kfe_i_free(a->ctx, code);
    return status;
}

static kfe_status weigh_classes(const kfe_accumulator *a, const kfe_data *rows, kfe_data *out)
{
    kfe_status status = KFE_OK;
    double *factors = NULL;

    KFE_ALLOC(a->ctx, factors, rows->target.class_count + 1);
    if (kfe_i_balances_classes(a->spec) && rows->target.task == KFE_TASK_CLASSES)
        KFE_TRY(balanced_factors(a, &rows->target, factors));
    else
        KFE_TRY(kfe_i_part_class_weights(a->ctx, a->spec->fit.class_weight, &rows->target, factors));
    KFE_TRY(kfe_i_data_copy_target(a->ctx, rows, out));
    KFE_TRY(kfe_i_target_multiply_weights(factors, &out->target));
cleanup:
    kfe_i_free(a->ctx, factors);
    return status;
}

kfe_status kfe_i_check_weighed_classes(const kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_target all = {
        .ctx = a->ctx, .task = KFE_TASK_CLASSES, .class_count = a->sums.classes, .names = a->class_names};
    double *factors = NULL;

    if (!kfe_i_spec_weighs_classes(a->spec) || kfe_i_balances_classes(a->spec))
        return KFE_OK;
    KFE_ALLOC(a->ctx, factors, a->sums.classes + 1);
    KFE_TRY(kfe_i_class_weights(a->ctx, a->spec->fit.class_weight, &all, factors));
cleanup:
    kfe_i_free(a->ctx, factors);
    return status;
}

/* ---- rows ---- */

int kfe_i_has_weight(const kfe_data *rows)
{
    for (int64_t i = 0; i < kfe_data_rows(rows); i++)
        if (kfe_i_weight_of(&rows->target, i) > 0)
            return 1;
    return 0;
}

kfe_status kfe_i_accumulator_weigh(const kfe_accumulator *a, const kfe_data *rows, kfe_i_weighed_rows *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (!kfe_i_has_weight(rows))
        return KFE_OK;
    if (rows->target.weights)
        KFE_TRY(kfe_i_data_drop_weightless(a->ctx, rows, &out->kept));
    out->rows = out->kept ? out->kept : rows;
    if (kfe_i_spec_weighs_classes(a->spec)) {
        KFE_TRY(weigh_classes(a, out->rows, &out->own));
        out->rows = &out->own;
    }
cleanup:
    return status;
}

void kfe_i_weighed_rows_free(kfe_i_weighed_rows *rows)
{
    kfe_i_target_free(&rows->own.target);
    kfe_data_free(rows->kept);
    memset(rows, 0, sizeof *rows);
}
