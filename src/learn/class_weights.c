/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter class-weights of the learners svm and linear-svm: from text to one factor per class. */
#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "core/suggest.h"
#include "data/classes.h"
#include "learn/multiclass.h"

static const char *class_name_at(const void *list, int index)
{
    const kfe_i_target *target = list;
    return index < target->class_count ? target->names[index] : NULL;
}

static kfe_status find_class(kfe_context *ctx, const kfe_i_target *target, const char *name, int64_t *out)
{
    char suggestion[96];

    for (*out = 0; *out < target->class_count; (*out)++)
        if (kfe_i_same_class(target->names[*out], name))
            return KFE_OK;
    kfe_i_suggest(name, class_name_at, target, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "{class-weights}: there is no class '%s'%s", name, suggestion);
}

/* Sets the weight of one "NAME:WEIGHT". The last colon separates them: names may contain colons, numbers do not. */
static kfe_status set_weight(kfe_context *ctx, const kfe_i_target *target, char *part, double *out)
{
    kfe_status status = KFE_OK;
    char *colon = strrchr(part, ':');
    int64_t class = 0;
    double weight = 0;

    if (!colon || !kfe_i_parse_number(colon + 1, part + strlen(part), &weight))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{class-weights}: '%s' is not NAME:WEIGHT; write none, balanced or NAME:WEIGHT;NAME:WEIGHT",
                 part);
    if (!(weight > 0 && weight <= KFE_REAL_MAX))
        KFE_FAIL(ctx, KFE_EINVAL, "{class-weights}: '%s' is not a weight above 0", colon + 1);
    *colon = '\0';
    KFE_TRY(find_class(ctx, target, part, &class));
    out[class] = weight;
cleanup:
    return status;
}

static kfe_status set_named(kfe_context *ctx, const char *text, const kfe_i_target *target, double *out)
{
    kfe_status status = KFE_OK;
    char *copy = NULL;

    KFE_STRDUP(ctx, copy, text);
    for (char *part = copy; part;) {
        char *end = strchr(part, ';');
        if (end)
            *end++ = '\0';
        if (*part)
            KFE_TRY(set_weight(ctx, target, part, out));
        part = end;
    }
cleanup:
    kfe_i_free(ctx, copy);
    return status;
}

static kfe_status set_balanced(kfe_context *ctx, const kfe_i_target *target, double *out)
{
    kfe_status status = KFE_OK;
    double mass = kfe_i_target_mass(target, target->rows);
    double *masses = NULL;

    KFE_ALLOC(ctx, masses, target->class_count);
    kfe_i_target_class_masses(target, masses);
    for (int64_t g = 0; g < target->class_count; g++)
        out[g] = mass / ((double)target->class_count * masses[g]);
cleanup:
    kfe_i_free(ctx, masses);
    return status;
}

kfe_status kfe_i_class_weights(kfe_context *ctx, const char *text, const kfe_i_target *target, double *out)
{
    int none = strcmp(text, "none") == 0;

    if (target->task != KFE_TASK_CLASSES)
        return none ? KFE_OK
                    : kfe_i_fail(ctx, KFE_EINVAL, "{class-weights} is for classes, but the target is real");
    for (int64_t g = 0; g < target->class_count; g++)
        out[g] = 1;
    if (none)
        return KFE_OK;
    if (strcmp(text, "balanced") == 0)
        return set_balanced(ctx, target, out);
    return set_named(ctx, text, target, out);
}
