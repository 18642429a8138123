/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describe the settings of a method, kernel or command in a table, and get everything else from it: defaults,
 * parsing, validation, flags, help, man pages and model files. A row names a field of the settings struct, with
 * type, default, range and help; the parameter is written down nowhere else.
 *
 * Fields are int64_t (INT), double (REAL), int (CHOICE: index into words; FLAG: 0 or 1) or
 * char[KFE_PARAM_TEXT_SIZE] (TEXT). A number may have names: words "auto=-1|scale=-2" let `auto` stand
 * for the value -1, which lies outside the range on purpose.
 */
#ifndef KFE_CORE_PARAM_H
#define KFE_CORE_PARAM_H

#include "core/context.h"
#include "core/text.h"

enum { KFE_PARAM_TEXT_SIZE = 512 };

typedef struct kfe_i_param {
    kfe_param_info info;
    size_t offset;
    const char *named;  /* numbers: "auto=-1|scale=-2"; choices: other words for some of them, by index */
    const char *former; /* choices: "a|b", words that are gone; a refusal names the default in their place */
    int chosen;         /* numbers: auto is chosen by cross-validation (model/choose_dim.h) */
} kfe_i_param;

typedef struct kfe_i_param_table {
    const kfe_i_param *rows;
    int count;
    size_t size; /* of the settings struct */
} kfe_i_param_table;

/* The row macros end with the help text. KFE_ALIAS may follow it: a former name that is still understood
 * in options, flags and model files, but never shown:
 *
 *     KFE_REAL(settings, c, "svm-C", "1", 0, 10, "price of errors", KFE_ALIAS("machine-C")),
 */
#define KFE_ALIAS(former_name) .alias = (former_name)

#define KFE_I_ROW(struct_type, field, names, ...)                                                            \
    {                                                                                                        \
        .info = {__VA_ARGS__}, .offset = offsetof(struct_type, field), .named = (names)                      \
    }
#define KFE_INT(type, field, name, initial, min, max, ...)                                                   \
    KFE_I_ROW(type, field, NULL, name, KFE_PARAM_INT, initial, min, max, NULL, .help = __VA_ARGS__)
#define KFE_INT_OR(type, field, name, initial, min, max, words, named, ...)                                  \
    KFE_I_ROW(type, field, named, name, KFE_PARAM_INT, initial, min, max, words, .help = __VA_ARGS__)
#define KFE_REAL(type, field, name, initial, min, max, ...)                                                  \
    KFE_I_ROW(type, field, NULL, name, KFE_PARAM_REAL, initial, min, max, NULL, .help = __VA_ARGS__)
#define KFE_REAL_OR(type, field, name, initial, min, max, words, named, ...)                                 \
    KFE_I_ROW(type, field, named, name, KFE_PARAM_REAL, initial, min, max, words, .help = __VA_ARGS__)
#define KFE_CHOICE(type, field, name, initial, words, ...)                                                   \
    KFE_I_ROW(type, field, NULL, name, KFE_PARAM_CHOICE, initial, 0, 0, words, .help = __VA_ARGS__)
#define KFE_CHOICE_OR(type, field, name, initial, words, named, ...)                                         \
    KFE_I_ROW(type, field, named, name, KFE_PARAM_CHOICE, initial, 0, 0, words, .help = __VA_ARGS__)
#define KFE_CHOICE_NOW(type, field, name, initial, words, former_words, ...)                                 \
    {                                                                                                        \
        .info = {name, KFE_PARAM_CHOICE, initial, 0, 0, words, .help = __VA_ARGS__},                         \
        .offset = offsetof(type, field), .former = (former_words)                                            \
    }
#define KFE_FLAG(type, field, name, initial, ...)                                                            \
    KFE_I_ROW(type, field, NULL, name, KFE_PARAM_FLAG, initial, 0, 0, NULL, .help = __VA_ARGS__)
#define KFE_TEXT(type, field, name, initial, ...)                                                            \
    KFE_I_ROW(type, field, NULL, name, KFE_PARAM_TEXT, initial, 0, 0, NULL, .help = __VA_ARGS__)
#define KFE_PARAM_TABLE(rows, type)                                                                          \
    {                                                                                                        \
        rows, (int)(sizeof(rows) / sizeof *(rows)), sizeof(type)                                             \
    }

/* The largest integer that min and max, which are doubles, can hold exactly. */
#define KFE_INT_MAX 9007199254740992.0
/* The smallest positive real: a lower bound that excludes zero. */
#define KFE_REAL_POSITIVE 2.2250738585072014e-308
#define KFE_REAL_MAX 1.7976931348623157e308

kfe_status kfe_i_params_default(kfe_context *ctx, const kfe_i_param_table *table, void *settings);
/* `owner` says in messages whose parameter it is ("method koc", "kernel rbf"); NULL: an option of the call, which the
 * message names as the host does (--folds, folds). */
kfe_status kfe_i_param_set(kfe_context *ctx, const kfe_i_param_table *table, const char *owner,
                           void *settings, const char *name, const char *value);
/* "a=1,b=2"; NULL and "" change nothing. */
kfe_status kfe_i_params_parse(kfe_context *ctx, const kfe_i_param_table *table, const char *owner,
                              void *settings, const char *text);
/* Appends the value of one row as users write it. */
void kfe_i_param_format(const kfe_i_param *row, const void *settings, kfe_i_text *out);
/* Appends "a=1,b=2" with every row. */
void kfe_i_params_format(const kfe_i_param_table *table, const void *settings, kfe_i_text *out);
/* Finds a row by its name or alias; NULL if there is none. */
const kfe_i_param *kfe_i_param_find(const kfe_i_param_table *table, const char *name);
const kfe_param_info *kfe_i_param_info(const kfe_i_param_table *table, int index);

/* Calls `use` for each "key=value" of an option text, escapes removed. */
typedef kfe_status (*kfe_i_option_fn)(kfe_context *ctx, void *user, const char *key, const char *value);
kfe_status kfe_i_options_each(kfe_context *ctx, const char *text, kfe_i_option_fn use, void *user);
/* Appends `value` with commas and backslashes escaped. */
void kfe_i_option_escape(kfe_i_text *out, const char *value);

#endif
