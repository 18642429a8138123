/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parse JSON text into a tree of values with these functions. All memory comes from the context: jansson's
 * lexer ignores failed allocations and then reads wrong text, so model files are not read with it. The reader
 * is strict: UTF-8 without zero bytes, no duplicate keys, at most KFE_JSON_MOST_LEVELS levels.
 */
#ifndef KFE_CORE_JSON_JSON_READ_H
#define KFE_CORE_JSON_JSON_READ_H

#include "core/context.h"

typedef enum kfe_i_json_type {
    KFE_JSON_NULL,
    KFE_JSON_FALSE,
    KFE_JSON_TRUE,
    KFE_JSON_INTEGER,
    KFE_JSON_REAL,
    KFE_JSON_TEXT,
    KFE_JSON_ARRAY,
    KFE_JSON_OBJECT
} kfe_i_json_type;

typedef struct kfe_i_json_value {
    kfe_i_json_type type;
    const char *key;                       /* of a member of an object; else NULL */
    const char *text;                      /* KFE_JSON_TEXT */
    int64_t integer;                       /* KFE_JSON_INTEGER */
    double real;                           /* KFE_JSON_REAL */
    int64_t count;                         /* values of an array or object, … */
    struct kfe_i_json_value *first, *next; /* … which form a list */
} kfe_i_json_value;

typedef struct kfe_i_json_tree {
    kfe_context *ctx;
    const kfe_i_json_value *root;
    char *bytes;                     /* the text, strings decoded in place */
    struct kfe_i_json_chunk *chunks; /* of values */
    const char *reason;              /* why the text is not JSON; static storage */
    int64_t position;                /* byte at which it is not */
} kfe_i_json_tree;

/* KFE_ENOMEM, or KFE_EINPUT with `reason` and `position` set. Free the tree in any case. */
kfe_status kfe_i_json_read(kfe_context *ctx, const char *text, size_t size, kfe_i_json_tree *out);
void kfe_i_json_tree_free(kfe_i_json_tree *tree);

/* These accept NULL and values of other types. */

/* The member of an object; NULL if there is none. */
const kfe_i_json_value *kfe_i_json_get(const kfe_i_json_value *object, const char *key);
/* The text of a member; NULL if there is none. */
const char *kfe_i_json_get_text(const kfe_i_json_value *object, const char *key);
int kfe_i_json_is(const kfe_i_json_value *value, kfe_i_json_type type);

#endif
