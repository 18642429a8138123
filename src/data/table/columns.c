/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of columns, as users write them for the readers (drop, select, id, encode) and for views of one table. */
#include "data/table/columns.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"
#include "core/wording.h"

/* Marks a number or a range; returns 0 if the item is neither. */
static int mark_range(const kfe_i_column_list *columns, const char *item, unsigned char *marks)
{
    long long first = 0;
    long long last = 0;
    int used = 0;

    if (sscanf(item, "%9lld-%9lld%n", &first, &last, &used) == 2 && item[used] == '\0')
        ;
    else if (sscanf(item, "%9lld%n", &first, &used) == 1 && item[used] == '\0')
        last = first;
    else
        return 0;
    if (first < 1 || last < first || last > columns->count)
        return 0;
    memset(marks + first - 1, 1, (size_t)(last - first + 1));
    return 1;
}

static const char *name_of(const kfe_i_column_list *columns, int64_t j)
{
    return columns->names && columns->names[j] ? columns->names[j] : "";
}

/* Marks the columns of that prefix, such as fac_*; returns 0 if there is none. */
static int mark_prefix(const kfe_i_column_list *columns, const char *item, unsigned char *marks)
{
    size_t length = strlen(item);
    int found = 0;

    if (length < 2 || item[length - 1] != '*')
        return 0;
    for (int64_t j = 0; columns->names && j < columns->count; j++)
        if (strncmp(name_of(columns, j), item, length - 1) == 0)
            found = marks[j] = 1;
    return found;
}

/* Marks the column of that name. *found becomes 0 if there is none; two of them are refused. */
static kfe_status mark_name(kfe_context *ctx, const kfe_i_column_list *columns, const char *item,
                            unsigned char *marks, int *found)
{
    int64_t first = -1;
    char parameter[KFE_WORDING_TEXT];

    for (int64_t j = 0; columns->names && j < columns->count; j++) {
        if (strcmp(name_of(columns, j), item) != 0)
            continue;
        if (first >= 0) {
            kfe_i_word_name(ctx, columns->parameter, parameter);
            return kfe_i_fail_at(ctx, KFE_EINPUT, columns->file, 0, 0,
                                 "%s names '%.100s', but two columns are named so: %lld and %lld; give the "
                                 "number instead of the name",
                                 parameter, item, (long long)first + 1, (long long)j + 1);
        }
        first = j;
        marks[j] = 1;
    }
    *found = first >= 0;
    return KFE_OK;
}

static const char *name_at(const void *list, int index)
{
    const kfe_i_column_list *columns = list;
    return index < columns->count ? columns->names[index] : NULL;
}

static kfe_status refuse_item(kfe_context *ctx, const kfe_i_column_list *columns, const char *item)
{
    char suggestion[128] = "";
    char parameter[KFE_WORDING_TEXT];

    if (columns->names)
        kfe_i_suggest(item, name_at, columns, suggestion, sizeof suggestion);
    kfe_i_word_name(ctx, columns->parameter, parameter);
    if (columns->label && strcmp(item, columns->label) == 0)
        return kfe_i_fail_at(ctx, KFE_EINPUT, columns->file, 0, 0,
                             "%s names '%.100s', which is the label column; labels cannot be in a view: list "
                             "other columns, or choose another label with {label}",
                             parameter, item);
    return kfe_i_fail_at(
        ctx, KFE_EINPUT, columns->file, 0, 0,
        "%s names the column '%.100s', which is not there%s; give names from the header%s, prefixes such as "
        "fac_*, numbers from 1 to %lld or ranges such as 2-4, separated by commas",
        parameter, item, suggestion, columns->names ? "" : " (this table has none)",
        (long long)columns->count);
}

/* Takes the next item off the list: *item, for kfe_i_free. A backslash keeps the next character as it is. */
static kfe_status next_item(kfe_context *ctx, const char **list, char **item)
{
    const char *c = *list;
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_add(&text, "", 0);
    for (; *c && *c != ','; c++) {
        c += *c == '\\' && c[1];
        kfe_i_text_add(&text, c, 1);
    }
    *list = c + (*c == ',');
    return kfe_i_text_take(&text, item);
}

int kfe_i_columns_is_number(const char *item)
{
    return *item && strspn(item, "0123456789") == strlen(item);
}

/* Names that no column has are passed over if `may_lack`. */
static kfe_status mark_items(kfe_context *ctx, const kfe_i_column_list *columns, const char *list,
                             int may_lack, unsigned char *marks)
{
    kfe_status status = KFE_OK;
    char *item = NULL;
    int found = 0;

    while (*list) {
        KFE_TRY(next_item(ctx, &list, &item));
        KFE_TRY(mark_name(ctx, columns, item, marks, &found));
        found = found || mark_prefix(columns, item, marks) || mark_range(columns, item, marks);
        if (!found && !(may_lack && !kfe_i_columns_is_number(item)))
            KFE_TRY(refuse_item(ctx, columns, item));
        kfe_i_free(ctx, item);
        item = NULL;
    }
cleanup:
    kfe_i_free(ctx, item);
    return status;
}

kfe_status kfe_i_columns_mark(kfe_context *ctx, const kfe_i_column_list *columns, const char *list,
                              unsigned char *marks)
{
    return mark_items(ctx, columns, list, 0, marks);
}

kfe_status kfe_i_columns_find(kfe_context *ctx, const kfe_i_column_list *columns, const char *item,
                              int may_lack, int64_t *out)
{
    kfe_status status = KFE_OK;
    char parameter[KFE_WORDING_TEXT];
    unsigned char *marks = NULL;

    *out = -1;
    KFE_ALLOC_ZERO(ctx, marks, columns->count);
    KFE_TRY(mark_items(ctx, columns, item, may_lack, marks));
    for (int64_t j = 0; j < columns->count; j++) {
        if (marks[j] && *out >= 0) {
            kfe_i_word_name(ctx, columns->parameter, parameter);
            KFE_FAIL(ctx, KFE_EINPUT, "%s: %s takes one column, but '%.100s' names several", columns->file,
                     parameter, item);
        }
        if (marks[j])
            *out = j;
    }
cleanup:
    kfe_i_free(ctx, marks);
    return status;
}
