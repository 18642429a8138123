/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one axis of a grid, as a user writes them. Used by grid.c. */
#include "select/axis_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { MOST = 100000 };

static kfe_status add_value(kfe_context *ctx, kfe_i_axis *axis, const char *text, size_t length)
{
    kfe_status status = KFE_OK;

    KFE_GROW(ctx, axis->values, axis->capacity, axis->count + 1);
    KFE_CHECK_ALLOC_BY(ctx, axis->values[axis->count], kfe_i_strndup(ctx, text, length));
    axis->count++;
cleanup:
    return status;
}

/* lo:hi, every whole number between the two. */
static int parse_whole_range(const char *text, double *low, double *high, long *steps)
{
    const char *colon = strchr(text, ':');

    if (!colon || !kfe_i_parse_number(text, colon, low) ||
        !kfe_i_parse_number(colon + 1, text + strlen(text), high))
        return 0;
    if (floor(*low) != *low || floor(*high) != *high || *high < *low || *high - *low >= MOST)
        return 0;
    *steps = (long)(*high - *low) + 1;
    return 1;
}

/* lo:hi:logN or lo:hi:linN; 0 if the text is not of that form. */
static int parse_range(const char *text, double *low, double *high, int *logarithmic, long *steps)
{
    const char *first = strchr(text, ':');
    const char *second = first ? strchr(first + 1, ':') : NULL;
    char *end = NULL;

    if (!second || (strncmp(second + 1, "log", 3) != 0 && strncmp(second + 1, "lin", 3) != 0))
        return 0;
    *logarithmic = second[2] == 'o';
    *steps = strtol(second + 4, &end, 10);
    return end != second + 4 && !*end && kfe_i_parse_number(text, first, low) &&
           kfe_i_parse_number(first + 1, second, high);
}

/* Rounds the values of integer parameters and drops those that become equal. */
static kfe_status add_number(kfe_context *ctx, kfe_i_axis *axis, double value, int integer)
{
    char text[KFE_NUMBER_TEXT];

    /* six digits are enough for a grid and keep tables narrow */
    kfe_i_snprintf(text, sizeof text, integer ? "%.0f" : "%.6g", value);
    if (integer && axis->count > 0 && strcmp(axis->values[axis->count - 1], text) == 0)
        return KFE_OK;
    return add_value(ctx, axis, text, strlen(text));
}

/* A number before a colon looks like a range that is written in another way. */
static int resembles_range(const char *text)
{
    const char *colon = strchr(text, ':');
    double number = 0;

    return colon && kfe_i_parse_number(text, colon, &number);
}

static kfe_status add_range(kfe_context *ctx, kfe_i_axis *axis, double low, double high, int logarithmic,
                            long steps, int integer)
{
    kfe_status status = KFE_OK;

    if (steps < 1 || steps > MOST || (logarithmic && !(low > 0 && high > 0)))
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "{grid}: %s takes lo:hi:logN or lo:hi:linN with N from 1 to %d and, for log, lo and hi above 0",
            axis->name, MOST);
    for (long i = 0; i < steps; i++) {
        double share = steps > 1 ? (double)i / (double)(steps - 1) : 0;
        double value = logarithmic ? low * pow(high / low, share) : low + (high - low) * share;
        KFE_TRY(add_number(ctx, axis, value, integer));
    }
cleanup:
    return status;
}

kfe_status kfe_i_axis_parse(kfe_context *ctx, kfe_i_axis *axis, const char *text, int integer)
{
    kfe_status status = KFE_OK;
    double low = 0;
    double high = 0;
    int logarithmic = 0;
    long steps = 0;

    int is_chain = strcmp(axis->name, "prepare") == 0;
    if (!is_chain && parse_range(text, &low, &high, &logarithmic, &steps))
        return add_range(ctx, axis, low, high, logarithmic, steps, integer);
    if (!is_chain && parse_whole_range(text, &low, &high, &steps))
        return add_range(ctx, axis, low, high, 0, steps, 1);
    if (!is_chain && resembles_range(text))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{grid}: %s takes values as a,b,c, as lo:hi (whole numbers), or N of them as lo:hi:linN or "
                 "lo:hi:logN, not '%s'",
                 axis->name, text);
    for (;;) {
        size_t length = strcspn(text, is_chain ? "|" : ",");
        if (length == 0)
            KFE_FAIL(ctx, KFE_EINVAL, "{grid}: %s has an empty value; write %s=%s", axis->name, axis->name,
                     is_chain ? "none|snv|snv,detrend" : "a,b,c");
        KFE_TRY(add_value(ctx, axis, text, length));
        if (!text[length])
            break;
        text += length + 1;
    }
cleanup:
    return status;
}
