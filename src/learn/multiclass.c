/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of two classes out of several classes, for the learners svm and linear-svm (multiclass.h). */
#include "learn/multiclass.h"

#include "core/invariant.h"
#include "core/memory.h"

kfe_i_decision kfe_i_multiclass_decision(kfe_i_multiclass choice, int64_t classes)
{
    if (classes == 2 || choice == KFE_MULTICLASS_OVO)
        return KFE_DECIDE_PAIRS;
    return choice == KFE_MULTICLASS_OVR ? KFE_DECIDE_LARGEST : KFE_DECIDE_CHAIN;
}

/* The sides of a problem: class `first` is +1; −1 is class `second`, or, if that is −1, all from `others_from` on. */
typedef struct sides {
    int64_t first, second, others_from;
} sides;

static int sign_of(const sides *s, int64_t class)
{
    if (class == s->first)
        return 1;
    if (s->second >= 0)
        return class == s->second ? -1 : 0;
    return class >= s->others_from ? -1 : 0;
}

/* Moves on to the next problem in the order of outputs. */
static void next_sides(kfe_i_decision decision, int64_t classes, sides *s)
{
    if (decision == KFE_DECIDE_PAIRS) {
        s->second++;
        if (s->second == classes) {
            s->first++;
            s->second = s->first + 1;
        }
        return;
    }
    s->first++;
    if (decision == KFE_DECIDE_CHAIN)
        s->others_from++;
}

static sides first_sides(kfe_i_decision decision)
{
    sides pairs = {0, 1, 0};
    sides rest = {0, -1, 0};
    return decision == KFE_DECIDE_PAIRS ? pairs : rest;
}

static double mean(double sum, int64_t count)
{
    return count > 0 ? sum / (double)count : 1;
}

static void choose_rows(const kfe_i_target *target, const sides *s, const double *class_weights,
                        int64_t *rows, double *sign, kfe_i_binary *out)
{
    double weight[2] = {0, 0};
    int64_t members[2] = {0, 0};
    int64_t count = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        int side = sign_of(s, target->codes[i]);
        if (side == 0)
            continue;
        rows[count] = i;
        sign[count++] = side;
        members[side < 0]++;
        weight[side < 0] += class_weights ? class_weights[target->codes[i]] : 1;
    }
    out->count = count;
    out->rows = rows;
    out->sign = sign;
    out->positive_weight = mean(weight[0], members[0]);
    out->negative_weight = mean(weight[1], members[1]);
}

kfe_status kfe_i_multiclass_each(kfe_context *ctx, const kfe_i_target *target, kfe_i_decision decision,
                                 const double *class_weights, kfe_i_binary_fn train, void *user)
{
    kfe_status status = KFE_OK;
    int64_t outputs = kfe_i_decision_outputs(decision, target->class_count);
    sides s = first_sides(decision);
    int64_t *rows = NULL;
    double *sign = NULL;

    assert(kfe_i_codes_below(target->codes, target->rows, target->class_count));
    KFE_ALLOC(ctx, rows, target->rows);
    KFE_ALLOC(ctx, sign, target->rows);
    for (int64_t output = 0; output < outputs; output++) {
        kfe_i_binary binary = {.output = output};
        KFE_TRY(kfe_i_progress(ctx, "learning", output, outputs));
        choose_rows(target, &s, class_weights, rows, sign, &binary);
        KFE_TRY(train(ctx, user, &binary));
        next_sides(decision, target->class_count, &s);
    }
cleanup:
    kfe_i_free(ctx, rows);
    kfe_i_free(ctx, sign);
    return status;
}

void kfe_i_multiclass_signs(kfe_i_decision decision, int64_t classes, signed char *signs)
{
    int64_t outputs = kfe_i_decision_outputs(decision, classes);
    sides s = first_sides(decision);

    for (int64_t output = 0; output < outputs; output++) {
        for (int64_t g = 0; g < classes; g++)
            signs[output * classes + g] = (signed char)sign_of(&s, g);
        next_sides(decision, classes, &s);
    }
}
