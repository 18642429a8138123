/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write JSON text with these functions: open an object or an array, add values, end it, take the text.
 * All memory comes from the context, and a failed allocation is remembered until kfe_i_json_finish, so that
 * no call needs checking. Numbers do not depend on the locale.
 */
#ifndef KFE_CORE_JSON_JSON_H
#define KFE_CORE_JSON_JSON_H

#include "core/text.h"

enum { KFE_JSON_MOST_LEVELS = 16 };

typedef struct kfe_i_json {
    kfe_i_text text;
    int indented;                       /* one value per line; else without any blanks */
    int depth;                          /* open objects and arrays */
    char closers[KFE_JSON_MOST_LEVELS]; /* what ends each of them */
    int has_values;                     /* the innermost object or array is not empty */
} kfe_i_json;

void kfe_i_json_init(kfe_i_json *json, kfe_context *ctx, int indented);
/* In an object every value has a key; elsewhere key is NULL. */
void kfe_i_json_object(kfe_i_json *json, const char *key);
void kfe_i_json_array(kfe_i_json *json, const char *key);
/* Ends the innermost object or array. */
void kfe_i_json_end(kfe_i_json *json);
/* Bytes that are not UTF-8 become '?'. */
void kfe_i_json_text(kfe_i_json *json, const char *key, const char *value);
/* An array of texts. */
void kfe_i_json_texts(kfe_i_json *json, const char *key, int64_t count, char *const *values);
void kfe_i_json_integer(kfe_i_json *json, const char *key, int64_t value);
/* Writes null for NaN and infinity, which JSON numbers cannot express. */
void kfe_i_json_real(kfe_i_json *json, const char *key, double value);
void kfe_i_json_boolean(kfe_i_json *json, const char *key, int value);
void kfe_i_json_null(kfe_i_json *json, const char *key);
/* Hands the text over (indented text ends with a newline); freed with kfe_i_free. KFE_ENOMEM: *out is NULL.
 * Every level must have been ended. */
kfe_status kfe_i_json_finish(kfe_i_json *json, char **out);
/* Frees the text of a writer that was not finished; harmless after kfe_i_json_finish. */
void kfe_i_json_free(kfe_i_json *json);

#endif
