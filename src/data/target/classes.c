/* SPDX-License-Identifier: Apache-2.0 */
/* Classes from labels, sorted and with equal numbers merged; used wherever labels become a target. */
#include "data/target/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* From here on, two different whole numbers may be the same double. */
#define LARGEST_EXACT 9007199254740992.0

/* One word that some row has. */
typedef struct word {
    const char *text;
    double value; /* NaN: not a number */
    int32_t code;
} word;

static double value_of(const char *text)
{
    double value = 0;

    if (!kfe_i_parse_number(text, text + strlen(text), &value) || !isfinite(value))
        return (double)NAN;
    return value;
}

static int equal_values(double a, double b)
{
    return a == b && fabs(a) < LARGEST_EXACT;
}

int kfe_i_same_class(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || equal_values(value_of(a), value_of(b));
}

/* Numbers by value, then text; 0 for equal numbers. */
static int compare_texts(const word *first, const word *second)
{
    int texts = (isnan(first->value) != 0) - (isnan(second->value) != 0);

    if (texts != 0)
        return texts;
    if (isnan(first->value))
        return strcmp(first->text, second->text);
    if (first->value != second->value)
        return first->value < second->value ? -1 : 1;
    return equal_values(first->value, second->value) ? 0 : strcmp(first->text, second->text);
}

int kfe_i_compare_classes(const char *a, const char *b)
{
    word first = {a, value_of(a), 0};
    word second = {b, value_of(b), 0};

    return compare_texts(&first, &second);
}

/* Equal numbers stand in the order of their first appearance. */
static int compare_words(const void *a, const void *b)
{
    const word *first = a;
    const word *second = b;
    int order = compare_texts(first, second);

    return order ? order : first->code < second->code ? -1 : 1;
}

/* The words that rows have, sorted; number[words] is 0 for those and -1 for the others. */
static int64_t list_words(const kfe_i_intern *words, const kfe_i_target *target, int32_t *number, word *list)
{
    int64_t count = 0;

    memset(number, 0xff, (size_t)words->count * sizeof *number);
    for (int64_t i = 0; i < target->rows; i++)
        number[target->codes[i]] = 0;
    for (int64_t k = 0; k < words->count; k++)
        if (number[k] == 0) {
            const char *text = kfe_i_intern_word(words, k);
            list[count++] = (word){text, value_of(text), (int32_t)k};
        }
    qsort(list, (size_t)count, sizeof *list, compare_words);
    return count;
}

kfe_status kfe_i_classes_from_words(const kfe_i_intern *words, int32_t *codes, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = out->ctx;
    int32_t *number = NULL; /* the class of each word */
    word *list = NULL;
    int64_t count;

    out->codes = codes;
    KFE_ALLOC(ctx, number, words->count);
    KFE_ALLOC(ctx, list, words->count);
    count = list_words(words, out, number, list);
    KFE_ALLOC_ZERO(ctx, out->names, count);
    for (int64_t k = 0; k < count; k++) {
        if (k == 0 || !equal_values(list[k].value, list[k - 1].value)) {
            KFE_STRDUP(ctx, out->names[out->class_count], list[k].text);
            out->class_count++;
        }
        number[list[k].code] = (int32_t)(out->class_count - 1);
    }
    for (int64_t i = 0; i < out->rows; i++)
        codes[i] = number[codes[i]];
cleanup:
    kfe_i_free(ctx, number);
    kfe_i_free(ctx, list);
    return status;
}
