/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, checks and formats the settings that parameter tables describe. */
#include "core/param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"
#include "core/wording.h"

static void *field(void *settings, const kfe_i_param *row)
{
    return (char *)settings + row->offset;
}

static const void *const_field(const void *settings, const kfe_i_param *row)
{
    return (const char *)settings + row->offset;
}

const kfe_i_param *kfe_i_param_find(const kfe_i_param_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++) {
        const kfe_param_info *info = &table->rows[i].info;
        if (kfe_i_same_name(info->name, name) || (info->alias && kfe_i_same_name(info->alias, name)))
            return &table->rows[i];
    }
    return NULL;
}

const kfe_param_info *kfe_i_param_info(const kfe_i_param_table *table, int index)
{
    return index >= 0 && index < table->count ? &table->rows[index].info : NULL;
}

/* Finds the value of a name, or the name of a value, in "auto=-1|scale=-2". */
static int named_value(const char *named, const char *name, double *out)
{
    char entry[64];
    size_t length = strlen(name);

    for (int i = 0; named && kfe_i_word_at(named, i, entry, sizeof entry); i++)
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            *out = strtod(entry + length + 1, NULL);
            return 1;
        }
    return 0;
}

static int name_of_value(const char *named, double value, char *out, size_t size)
{
    for (int i = 0; named && kfe_i_word_at(named, i, out, size); i++) {
        char *equals = strchr(out, '=');
        if (strtod(equals + 1, NULL) == value) {
            *equals = '\0';
            return 1;
        }
    }
    return 0;
}

/* Whose parameter a message is about: "method koc: dim", or as the host writes it, "--folds". */
static void name_subject(const kfe_context *ctx, const char *owner, const char *name,
                         char out[KFE_WORDING_TEXT])
{
    if (owner)
        snprintf(out, KFE_WORDING_TEXT, "%s: %s", owner, name);
    else
        kfe_i_word_name(ctx, name, out);
}

static kfe_status bad_number(kfe_context *ctx, const kfe_param_info *info, const char *subject,
                             const char *value)
{
    char low[KFE_NUMBER_TEXT];
    char high[KFE_NUMBER_TEXT];
    const char *words = info->words;
    int positive = info->min == KFE_REAL_POSITIVE;
    int unbounded = info->max >= KFE_INT_MAX;

    kfe_i_format_number(info->min, low);
    kfe_i_format_number(info->max, high);
    return kfe_i_fail(ctx, KFE_EINVAL, "%s takes %s %s%s%s%s%s%s, not '%s'", subject,
                      info->type == KFE_PARAM_INT ? "an integer" : "a number", positive ? "above " : "from ",
                      positive ? "0" : low, unbounded ? (positive ? "" : " up") : " to ",
                      unbounded ? "" : high, words ? (strchr(words, '|') ? " or one of " : " or ") : "",
                      words ? words : "", value);
}

static kfe_status bad_value(kfe_context *ctx, const kfe_i_param *row, const char *owner, const char *value)
{
    const kfe_param_info *info = &row->info;
    char subject[KFE_WORDING_TEXT];

    name_subject(ctx, owner, info->name, subject);
    if (info->type == KFE_PARAM_TEXT)
        return kfe_i_fail(ctx, KFE_EINVAL, "the value of %s is longer than %d bytes", subject,
                          KFE_PARAM_TEXT_SIZE - 1);
    if (row->former && kfe_i_word_index(row->former, value) >= 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "%s no longer takes %s; leave it out: %s finds the same solution",
                          subject, value, info->initial);
    if (info->type == KFE_PARAM_CHOICE)
        return kfe_i_fail(ctx, KFE_EINVAL, "%s takes one of %s, not '%s'", subject, info->words, value);
    if (info->type == KFE_PARAM_FLAG)
        return kfe_i_fail(ctx, KFE_EINVAL, "%s takes yes or no, not '%s'", subject, value);
    return bad_number(ctx, info, subject, value);
}

static kfe_status set_number(kfe_context *ctx, const kfe_i_param *row, const char *owner, void *target,
                             const char *value)
{
    double number = 0;

    if (!named_value(row->named, value, &number)) {
        if (!kfe_i_parse_number(value, value + strlen(value), &number) ||
            !(number >= row->info.min && number <= row->info.max))
            return bad_value(ctx, row, owner, value);
        if (row->info.type == KFE_PARAM_INT && number != floor(number))
            return bad_value(ctx, row, owner, value);
    }
    if (row->info.type == KFE_PARAM_INT)
        *(int64_t *)target = (int64_t)number;
    else
        *(double *)target = number;
    return KFE_OK;
}

static kfe_status set_flag(kfe_context *ctx, const kfe_i_param *row, const char *owner, int *target,
                           const char *value)
{
    int word = kfe_i_word_index("no|yes|false|true|0|1", value);
    if (word < 0)
        return bad_value(ctx, row, owner, value);
    *target = word % 2;
    return KFE_OK;
}

static kfe_status set_row(kfe_context *ctx, const kfe_i_param *row, const char *owner, void *target,
                          const char *value)
{
    switch (row->info.type) {
    case KFE_PARAM_INT:
    case KFE_PARAM_REAL:
        return set_number(ctx, row, owner, target, value);
    case KFE_PARAM_FLAG:
        return set_flag(ctx, row, owner, target, value);
    case KFE_PARAM_CHOICE: {
        double other = 0;
        int word = kfe_i_word_index(row->info.words, value);
        if (word < 0 && named_value(row->named, value, &other))
            word = (int)other;
        if (word < 0)
            return bad_value(ctx, row, owner, value);
        *(int *)target = word;
        return KFE_OK;
    }
    case KFE_PARAM_TEXT:
        if (strlen(value) >= KFE_PARAM_TEXT_SIZE)
            return bad_value(ctx, row, owner, value);
        memset(target, 0, KFE_PARAM_TEXT_SIZE);
        memcpy(target, value, strlen(value));
        return KFE_OK;
    }
    return KFE_EINVAL;
}

kfe_status kfe_i_params_default(kfe_context *ctx, const kfe_i_param_table *table, void *settings)
{
    for (int i = 0; i < table->count; i++) {
        const kfe_i_param *row = &table->rows[i];
        kfe_status status = set_row(ctx, row, NULL, field(settings, row), row->info.initial);
        if (status != KFE_OK)
            return status;
    }
    return KFE_OK;
}

static const char *param_name_at(const void *list, int index)
{
    const kfe_i_param_table *table = list;
    return index < table->count ? table->rows[index].info.name : NULL;
}

kfe_status kfe_i_param_set(kfe_context *ctx, const kfe_i_param_table *table, const char *owner,
                           void *settings, const char *name, const char *value)
{
    char suggestion[96];
    const kfe_i_param *row = kfe_i_param_find(table, name);

    if (row)
        return set_row(ctx, row, owner, field(settings, row), value);
    kfe_i_suggest(name, param_name_at, table, suggestion, sizeof suggestion);
    if (!owner)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no parameter '%s'%s", name, suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "%s has no parameter '%s'%s", owner, name, suggestion);
}

void kfe_i_param_format(const kfe_i_param *row, const void *settings, kfe_i_text *out)
{
    const void *source = const_field(settings, row);
    char word[64];
    double number;

    switch (row->info.type) {
    case KFE_PARAM_INT:
    case KFE_PARAM_REAL:
        number = row->info.type == KFE_PARAM_INT ? (double)*(const int64_t *)source : *(const double *)source;
        if (!name_of_value(row->named, number, word, sizeof word))
            kfe_i_format_number(number, word);
        kfe_i_text_puts(out, word);
        return;
    case KFE_PARAM_FLAG:
        kfe_i_text_puts(out, *(const int *)source ? "yes" : "no");
        return;
    case KFE_PARAM_CHOICE:
        if (kfe_i_word_at(row->info.words, *(const int *)source, word, sizeof word))
            kfe_i_text_puts(out, word);
        return;
    case KFE_PARAM_TEXT:
        kfe_i_text_puts(out, source);
        return;
    }
}

void kfe_i_params_format(const kfe_i_param_table *table, const void *settings, kfe_i_text *out)
{
    for (int i = 0; i < table->count; i++) {
        const kfe_i_param *row = &table->rows[i];
        kfe_i_text_printf(out, "%s%s=", i ? "," : "", row->info.name);
        if (row->info.type == KFE_PARAM_TEXT)
            kfe_i_option_escape(out, const_field(settings, row));
        else
            kfe_i_param_format(row, settings, out);
    }
}

/* ---- option texts ---- */

void kfe_i_option_escape(kfe_i_text *out, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            kfe_i_text_add(out, "\\", 1);
        kfe_i_text_add(out, value, 1);
    }
}

/* Copies the first option of *text, unescaped, into `option`, and moves *text past it. */
static void next_option(const char **text, char *option)
{
    const char *c = *text;
    size_t length = 0;

    for (; *c && *c != ','; c++) {
        if (*c == '\\' && c[1])
            c++;
        option[length++] = *c;
    }
    option[length] = '\0';
    *text = *c ? c + 1 : c;
}

kfe_status kfe_i_options_each(kfe_context *ctx, const char *text, kfe_i_option_fn use, void *user)
{
    kfe_status status = KFE_OK;
    char *option = NULL;

    if (!text || !*text)
        return KFE_OK;
    KFE_ALLOC(ctx, option, (int64_t)strlen(text) + 1);
    while (*text) {
        next_option(&text, option);
        char *equals = strchr(option, '=');
        if (!equals || equals == option)
            KFE_FAIL(ctx, KFE_EINVAL, "'%s' is not of the form key=value", option);
        *equals = '\0';
        KFE_TRY(use(ctx, user, option, equals + 1));
    }
cleanup:
    kfe_i_free(ctx, option);
    return status;
}

struct parse_target {
    const kfe_i_param_table *table;
    const char *owner;
    void *settings;
};

static kfe_status set_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    struct parse_target *target = user;
    return kfe_i_param_set(ctx, target->table, target->owner, target->settings, key, value);
}

kfe_status kfe_i_params_parse(kfe_context *ctx, const kfe_i_param_table *table, const char *owner,
                              void *settings, const char *text)
{
    struct parse_target target = {table, owner, settings};
    return kfe_i_options_each(ctx, text, set_option, &target);
}
