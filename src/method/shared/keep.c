/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of columns and the soft threshold of sparse directions; for spls, splsda and block-splsda. */
#include "method/shared/keep.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"

enum { USUAL_COLUMNS = 50 };

/* ---- the numbers of columns ---- */

static int parse_keep(const char *begin, const char *end, int64_t *out)
{
    double number = 0;

    *out = 0;
    if (end - begin == 3 && strncmp(begin, "all", 3) == 0)
        return 1;
    if (end - begin == 4 && strncmp(begin, KFE_KEEP_AUTO, 4) == 0)
        number = USUAL_COLUMNS;
    else if (!kfe_i_parse_number(begin, end, &number) || !(number >= 1 && number <= KFE_INT_MAX) ||
             number != floor(number))
        return 0;
    *out = (int64_t)number;
    return 1;
}

/* The end of the name of a view before a number; NULL: there is none. */
static const char *name_end(const char *begin, const char *end)
{
    const char *found = NULL;

    for (const char *at = begin; at < end; at++)
        if (*at == ':')
            found = at;
    return found;
}

/* The view that an item names; `current` if it names none. −1: no view, −2: an unknown one. */
static kfe_status find_view(kfe_context *ctx, const kfe_i_fit_source *source, const char *begin,
                            const char *end, int current, int *out)
{
    kfe_status status = KFE_OK;
    char *name = NULL;

    *out = current;
    if (!end)
        return KFE_OK;
    name = kfe_i_strndup(ctx, begin, (size_t)(end - begin));
    if (!name)
        return kfe_i_lack(ctx);
    *out = source ? kfe_i_find_view(source, name) : -1;
    if (*out < 0)
        *out = -2;
    kfe_i_free(ctx, name);
    return status;
}

static kfe_status refuse(kfe_context *ctx, const char *method, const char *text, int by_view)
{
    return kfe_i_fail(ctx, KFE_EINVAL,
                      "%s: '%s' does not say how many columns directions use; give {keep=50}, one number for "
                      "each direction as in {keep=50;20;10}, {keep=all} or {keep=auto}%s",
                      method, text, by_view ? ", or numbers after the name of each view" : "");
}

kfe_status kfe_i_keep_parse(kfe_context *ctx, const char *method, const char *text,
                            const kfe_i_fit_source *source, int view, kfe_i_keep_list *out)
{
    kfe_status status = KFE_OK;
    const char *end = NULL;
    int current = -1;
    int own = 0;

    KFE_ALLOC(ctx, out->items, (int64_t)strlen(text) + 1);
    for (const char *at = text;; at = end + 1) {
        int64_t number = 0;
        end = at + strcspn(at, ",;");
        const char *name = name_end(at, end);
        KFE_TRY(find_view(ctx, source, at, name, current, &current));
        if (current < -1 || !parse_keep(name ? name + 1 : at, end, &number))
            KFE_TRY(refuse(ctx, method, text, source != NULL));
        if (current == view && !own++)
            out->count = 0; /* forgets the numbers of all views */
        if (current == view || (current == -1 && !own))
            out->items[out->count++] = number;
        if (!*end)
            break;
    }
    if (out->count == 0)
        out->items[out->count++] = USUAL_COLUMNS;
cleanup:
    return status;
}

kfe_status kfe_i_keep_values(kfe_context *ctx, const char *method, const char *text, kfe_i_keep_list *out)
{
    kfe_status status = kfe_i_keep_parse(ctx, method, text, NULL, 0, out);
    int64_t count = 0;

    if (status == KFE_EINVAL)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: '%s' are no numbers of columns to try; give {keep-values} such as 5;10;20;50",
                          method, text);
    for (int64_t k = 0; status == KFE_OK && k < out->count; k++) {
        int64_t number = out->items[k];
        int64_t place = count;
        while (place > 0 && out->items[place - 1] > number)
            place--;
        if (number == 0 || (place > 0 && out->items[place - 1] == number))
            continue;
        memmove(out->items + place + 1, out->items + place, (size_t)(count++ - place) * sizeof number);
        out->items[place] = number;
    }
    out->count = count;
    return status;
}

int64_t kfe_i_keep_at(const kfe_i_keep_list *list, int64_t direction)
{
    return list->items[direction < list->count ? direction : list->count - 1];
}

/* ---- the threshold ---- */

/* The value that is at place `place` of the values in falling order (Hoare 1961); rearranges them. */
static double value_at(int64_t count, double *values, int64_t place)
{
    int64_t low = 0;
    int64_t high = count - 1;

    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int64_t a = low;
        int64_t b = high;
        while (a <= b) {
            while (values[a] > pivot)
                a++;
            while (values[b] < pivot)
                b--;
            if (a > b)
                break;
            double kept = values[a];
            values[a++] = values[b];
            values[b--] = kept;
        }
        if (place <= b)
            high = b;
        else if (place >= a)
            low = a;
        else
            break;
    }
    return values[place];
}

double kfe_i_soft_threshold(int64_t count, int64_t keep, double *sizes, double *a)
{
    double limit = 0;
    int64_t left = keep;

    if (keep > 0 && keep < count) {
        for (int64_t j = 0; j < count; j++)
            sizes[j] = fabs(a[j]);
        limit = value_at(count, sizes, keep);
        if (fabs(a[cblas_idamax((blasint)count, a, 1)]) > limit * (1 + 1e-12)) {
            for (int64_t j = 0; j < count; j++)
                a[j] = fabs(a[j]) > limit ? copysign(fabs(a[j]) - limit, a[j]) : 0;
        } else {
            for (int64_t j = 0; j < count; j++)
                a[j] = fabs(a[j]) >= limit * (1 - 1e-12) && left-- > 0 ? a[j] : 0;
        }
    }
    double norm = cblas_dnrm2((blasint)count, a, 1);
    if (norm > 0)
        cblas_dscal((blasint)count, 1 / norm, a, 1);
    return norm;
}
