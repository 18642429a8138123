/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of classes: from text to one factor per class. Used by fits ({class-weight}) and by the learners svm and linear-svm
 * ({class-weights}). */
#include "data/target/class_weights.h"

#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "core/suggest.h"
#include "data/target/classes.h"

static const char *class_name_at(const void *list, int index)
{
    const kfe_i_target *target = list;
    return index < target->class_count ? target->names[index] : NULL;
}

/* *out: the class of this name; class_count if it has none of these rows, which is an error unless `some_rows`. */
static kfe_status find_class(kfe_context *ctx, const kfe_i_target *target, const char *name, int some_rows,
                             int64_t *out)
{
    char suggestion[96];

    for (*out = 0; *out < target->class_count; (*out)++)
        if (kfe_i_same_class(target->names[*out], name))
            return KFE_OK;
    if (some_rows)
        return KFE_OK;
    kfe_i_suggest(name, class_name_at, target, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "class weights: there is no class '%s'%s", name, suggestion);
}

/* Where the weight of "NAME:WEIGHT" or "NAME=WEIGHT" begins; the last such character counts, since names may contain them and
 * numbers do not. NULL: nowhere. */
static char *find_separator(char *part)
{
    char *colon = strrchr(part, ':');
    char *equals = strrchr(part, '=');

    return !colon || (equals && equals > colon) ? equals : colon;
}

/* Sets the weight of one "NAME:WEIGHT". */
static kfe_status set_weight(kfe_context *ctx, const kfe_i_target *target, char *part, int some_rows,
                             double *out)
{
    kfe_status status = KFE_OK;
    char *separator = find_separator(part);
    int64_t class = 0;
    double weight = 0;

    if (!separator || !kfe_i_parse_number(separator + 1, part + strlen(part), &weight))
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "class weights: '%s' is not NAME=WEIGHT; write none, balanced or NAME=WEIGHT,NAME=WEIGHT (for a "
            "learner NAME:WEIGHT;NAME:WEIGHT)",
            part);
    if (!(weight > 0 && weight <= KFE_REAL_MAX))
        KFE_FAIL(ctx, KFE_EINVAL, "class weights: '%s' is not a weight above 0", separator + 1);
    *separator = '\0';
    KFE_TRY(find_class(ctx, target, part, some_rows, &class));
    if (class < target->class_count)
        out[class] = weight;
cleanup:
    return status;
}

/* A class that is this much heavier than another hides it: sums over rows keep 16 digits, and fits lose some of them. */
#define LARGEST_RATIO 1e12

/* The lightest and the heaviest class; classes of weight zero, which have no rows, are not compared. */
static int are_comparable(int64_t count, const double *weights, int64_t *least, int64_t *largest)
{
    *least = *largest = 0;
    for (int64_t g = 1; g < count; g++) {
        if (weights[g] > 0 && (weights[g] < weights[*least] || !(weights[*least] > 0)))
            *least = g;
        if (weights[g] > weights[*largest])
            *largest = g;
    }
    return count == 0 || weights[*largest] <= LARGEST_RATIO * weights[*least];
}

static kfe_status check_ratio(kfe_context *ctx, int64_t count, const double *weights)
{
    int64_t least;
    int64_t largest;

    if (are_comparable(count, weights, &least, &largest))
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINVAL,
        "class weights: %g and %g are further apart than a factor of %g, and rounding would hide the "
        "lighter class; take weights closer to each other, or leave out the rows of a class that should "
        "not count",
        weights[largest], weights[least], LARGEST_RATIO);
}

kfe_status kfe_i_class_masses_check(kfe_context *ctx, int64_t count, const double *masses, char *const *names)
{
    int64_t least;
    int64_t largest;

    if (are_comparable(count, masses, &least, &largest))
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "the rows of class '%s' weigh %g together and those of class '%s' %g: more than a factor of %g "
        "apart, so that rounding would hide the lighter class; take weights closer to each other, or "
        "leave out the rows of a class that should not count",
        names[largest], masses[largest], names[least], masses[least], LARGEST_RATIO);
}

/* Semicolons separate the classes; commas do where there are no semicolons. */
static kfe_status set_named(kfe_context *ctx, const char *text, const kfe_i_target *target, int some_rows,
                            double *out)
{
    kfe_status status = KFE_OK;
    char between = strchr(text, ';') ? ';' : ',';
    char *copy = NULL;

    KFE_STRDUP(ctx, copy, text);
    for (char *part = copy; part;) {
        char *end = strchr(part, between);
        if (end)
            *end++ = '\0';
        if (*part)
            KFE_TRY(set_weight(ctx, target, part, some_rows, out));
        part = end;
    }
    KFE_TRY(check_ratio(ctx, target->class_count, out));
cleanup:
    kfe_i_free(ctx, copy);
    return status;
}

/* Every class has the same sum of weights then, and all rows together weigh what they did. A class without rows keeps 1. */
static kfe_status set_balanced(kfe_context *ctx, const kfe_i_target *target, double *out)
{
    kfe_status status = KFE_OK;
    double mass = kfe_i_target_mass(target, target->rows);
    double *masses = NULL;
    int64_t present = 0;

    KFE_ALLOC(ctx, masses, target->class_count);
    kfe_i_target_class_masses(target, masses);
    for (int64_t g = 0; g < target->class_count; g++)
        present += masses[g] > 0;
    for (int64_t g = 0; g < target->class_count; g++)
        out[g] = masses[g] > 0 ? mass / ((double)present * masses[g]) : 1;
cleanup:
    kfe_i_free(ctx, masses);
    return status;
}

/* `some_rows`: the target has only some of the rows, and other rows may have the other classes that `text` names. */
static kfe_status set_weights(kfe_context *ctx, const char *text, const kfe_i_target *target, int some_rows,
                              double *out)
{
    int none = strcmp(text, KFE_CLASS_WEIGHTS_NONE) == 0;

    if (target->task != KFE_TASK_CLASSES)
        return none ? KFE_OK
                    : kfe_i_fail(ctx, KFE_EINVAL, "class weights are for classes, but %s",
                                 target->task == KFE_TASK_REAL ? "the target is real"
                                                               : "the data has no labels");
    for (int64_t g = 0; g < target->class_count; g++)
        out[g] = 1;
    if (none)
        return KFE_OK;
    if (strcmp(text, KFE_CLASS_WEIGHTS_BALANCED) == 0)
        return set_balanced(ctx, target, out);
    return set_named(ctx, text, target, some_rows, out);
}

kfe_status kfe_i_class_weights(kfe_context *ctx, const char *text, const kfe_i_target *target, double *out)
{
    return set_weights(ctx, text, target, 0, out);
}

kfe_status kfe_i_part_class_weights(kfe_context *ctx, const char *text, const kfe_i_target *target,
                                    double *out)
{
    return set_weights(ctx, text, target, 1, out);
}

kfe_status kfe_i_target_multiply_weights(const double *factors, kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *weights = NULL;

    KFE_ALLOC(target->ctx, weights, target->rows);
    for (int64_t i = 0; i < target->rows; i++)
        weights[i] = kfe_i_weight_of(target, i) * factors[target->codes[i]];
    kfe_i_free(target->ctx, target->weights);
    target->weights = weights;
cleanup:
    return status;
}

kfe_status kfe_i_target_masses_check(kfe_context *ctx, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *masses = NULL;

    if (target->task != KFE_TASK_CLASSES || !target->weights)
        return KFE_OK;
    KFE_ALLOC(ctx, masses, target->class_count);
    kfe_i_target_class_masses(target, masses);
    KFE_TRY(kfe_i_class_masses_check(ctx, target->class_count, masses, target->names));
cleanup:
    kfe_i_free(ctx, masses);
    return status;
}

kfe_status kfe_i_target_weigh_classes(kfe_context *ctx, const char *text, kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *factors = NULL;

    if (strcmp(text, KFE_CLASS_WEIGHTS_NONE) == 0)
        return KFE_OK;
    KFE_ALLOC(ctx, factors, target->class_count + 1);
    KFE_TRY(kfe_i_class_weights(ctx, text, target, factors));
    KFE_TRY(kfe_i_target_multiply_weights(factors, target));
    KFE_TRY(kfe_i_weights_check(ctx, target->rows, target->weights)); /* rows may have weights too */
cleanup:
    kfe_i_free(ctx, factors);
    return status;
}
