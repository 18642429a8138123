/* SPDX-License-Identifier: Apache-2.0 */
/* Expands "rbf:gamma=0.001..10/8" into eight kernels. */
#include "kernel/family.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

enum { MOST_MEMBERS = 1000 };

/* One range: text[begin … end) reads "low..high/count". */
typedef struct range {
    size_t begin, end;
    double low, high;
    int64_t count;
} range;

static kfe_status refuse(kfe_context *ctx, const char *text, const char *why)
{
    return kfe_i_fail(ctx, KFE_EINVAL,
                      "kernel '%s': %s; a family is written as in rbf:gamma=0.001..10/8, eight widths from "
                      "0.001 to 10",
                      text, why);
}

/* Reads the range around the two dots at `dots`. */
static kfe_status read_range(kfe_context *ctx, const char *text, const char *dots, range *out)
{
    const char *begin = dots;
    const char *end = dots + strcspn(dots, ",");
    const char *slash = memchr(dots, '/', (size_t)(end - dots));
    double count = 0;

    while (begin > text && begin[-1] != '=')
        begin--;
    if (begin == text || !slash)
        return refuse(ctx, text, "'..' is for ranges, and this is not one");
    if (!kfe_i_parse_number(begin, dots, &out->low) || !kfe_i_parse_number(dots + 2, slash, &out->high) ||
        !kfe_i_parse_number(slash + 1, end, &count))
        return refuse(ctx, text, "a range has three numbers");
    if (!(out->low > 0 && out->high > 0) || isinf(out->low) || isinf(out->high))
        return refuse(ctx, text, "the ends of a range are above zero and finite");
    if (!(count >= 1 && count <= MOST_MEMBERS) || count != floor(count))
        return refuse(ctx, text, "a range has from 1 to 1000 members");
    out->count = (int64_t)count;
    out->begin = (size_t)(begin - text);
    out->end = (size_t)(end - text);
    return KFE_OK;
}

/* Both ends are exact. */
static double member(const range *r, int64_t index)
{
    if (index == 0)
        return r->low;
    if (index == r->count - 1)
        return r->high;
    double share = (double)index / (double)(r->count - 1);
    return exp((1 - share) * log(r->low) + share * log(r->high));
}

static kfe_status add_one(kfe_context *ctx, const char *text, kfe_i_kernel_list *list)
{
    kfe_i_kernel kernel = {0};
    kfe_status status = kfe_i_kernel_parse(ctx, text, &kernel);

    return status == KFE_OK ? kfe_i_kernel_list_add(list, &kernel) : status;
}

static kfe_status add_member(kfe_context *ctx, const char *text, const range *r, int64_t index,
                             kfe_i_kernel_list *list)
{
    kfe_status status = KFE_OK;
    kfe_i_text written;
    char number[KFE_NUMBER_TEXT];
    char *whole = NULL;

    kfe_i_format_number(member(r, index), number);
    kfe_i_text_init(&written, ctx);
    kfe_i_text_add(&written, text, (int64_t)r->begin);
    kfe_i_text_puts(&written, number);
    kfe_i_text_puts(&written, text + r->end);
    KFE_TRY(kfe_i_text_take(&written, &whole));
    KFE_TRY(add_one(ctx, whole, list));
cleanup:
    kfe_i_free(ctx, whole);
    return status;
}

kfe_status kfe_i_kernel_list_add_family(kfe_context *ctx, const char *text, kfe_i_kernel_list *list)
{
    kfe_status status = KFE_OK;
    int64_t before = list->count;
    const char *dots = strncmp(text, "user:", 5) == 0 ? NULL : strstr(text, "..");
    range r = {0};

    if (!dots)
        return add_one(ctx, text, list);
    KFE_TRY(read_range(ctx, text, dots, &r));
    if (strstr(text + r.end, ".."))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "kernel '%s': a family has one range; give a kernel for each value of the other", text);
    for (int64_t i = 0; i < r.count; i++)
        KFE_TRY(add_member(ctx, text, &r, i, list));
cleanup:
    while (status != KFE_OK && list->count > before)
        kfe_i_kernel_free(&list->items[--list->count]);
    return status;
}
