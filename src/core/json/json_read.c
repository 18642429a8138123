/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader of model files (RFC 8259); used by safetensors_read.c and load*.c. Time and memory are
 * linear in the text, up to sorting the keys of an object. */
#include "core/json/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/utf8.h"

enum { CHUNK_VALUES = 64 };

typedef struct kfe_i_json_chunk {
    struct kfe_i_json_chunk *before;
    int used;
    kfe_i_json_value values[CHUNK_VALUES];
} kfe_i_json_chunk;

typedef struct parser {
    kfe_i_json_tree *tree;
    char *at, *end;
    int depth;
} parser;

static kfe_status refuse(parser *p, const char *reason)
{
    p->tree->reason = reason;
    p->tree->position = p->at - p->tree->bytes;
    return kfe_i_fail(p->tree->ctx, KFE_EINPUT, "%s, at byte %lld", reason, (long long)p->tree->position);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static int accept(parser *p, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return 0;
    p->at += length;
    return 1;
}

static kfe_status new_value(parser *p, kfe_i_json_value **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json_chunk *chunk = p->tree->chunks;

    if (!chunk || chunk->used == CHUNK_VALUES) {
        KFE_ALLOC_ZERO(p->tree->ctx, chunk, 1);
        chunk->before = p->tree->chunks;
        p->tree->chunks = chunk;
    }
    *out = &chunk->values[chunk->used++];
cleanup:
    return status;
}

/* ---- strings ---- */

static int parse_hex(const char *digits, const char *end, unsigned *out)
{
    *out = 0;
    if (end - digits < 4)
        return 0;
    for (int i = 0; i < 4; i++) {
        const char *hex = "0123456789abcdef";
        char digit = digits[i] >= 'A' && digits[i] <= 'F' ? (char)(digits[i] + 32) : digits[i];
        const char *found = digit ? strchr(hex, digit) : NULL;
        if (!found)
            return 0;
        *out = 16 * *out + (unsigned)(found - hex);
    }
    return 1;
}

/* \uXXXX, or a surrogate pair of them. */
static kfe_status parse_unicode(parser *p, char **out)
{
    unsigned character = 0;
    unsigned low = 0;

    if (!parse_hex(p->at, p->end, &character) || character == 0)
        return refuse(p, "an invalid \\u escape");
    p->at += 4;
    if (character >= 0xD800 && character < 0xDC00) {
        if (!accept(p, "\\u") || !parse_hex(p->at, p->end, &low) || low < 0xDC00 || low > 0xDFFF)
            return refuse(p, "half of a surrogate pair");
        p->at += 4;
        character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
    } else if (character >= 0xDC00 && character < 0xE000) {
        return refuse(p, "half of a surrogate pair");
    }
    *out += kfe_i_utf8_encode(character, *out);
    return KFE_OK;
}

static kfe_status parse_escape(parser *p, char **out)
{
    const char *letters = "\"\\/bfnrt";
    const char *meanings = "\"\\/\b\f\n\r\t";
    const char *found;

    if (p->at == p->end)
        return refuse(p, "a string without an end");
    if (accept(p, "u"))
        return parse_unicode(p, out);
    found = *p->at ? strchr(letters, *p->at) : NULL;
    if (!found)
        return refuse(p, "an invalid escape");
    p->at++;
    *(*out)++ = meanings[found - letters];
    return KFE_OK;
}

/* Decodes in place: no string grows. */
static kfe_status parse_string(parser *p, const char **out)
{
    kfe_status status = KFE_OK;
    char *begin = p->at + 1;
    char *written = begin;

    if (p->at == p->end || *p->at != '"')
        return refuse(p, "a string was expected");
    p->at++;
    while (p->at < p->end && *p->at != '"') {
        if ((unsigned char)*p->at < 0x20)
            return refuse(p, "a control character in a string");
        if (*p->at != '\\') {
            *written++ = *p->at++;
            continue;
        }
        p->at++;
        KFE_TRY(parse_escape(p, &written));
    }
    if (p->at == p->end)
        return refuse(p, "a string without an end");
    p->at++;
    *written = '\0';
    if (!kfe_i_is_utf8(begin))
        return refuse(p, "a string that is not UTF-8");
    *out = begin;
cleanup:
    return status;
}

/* ---- numbers ---- */

static int skip_digits(parser *p)
{
    char *begin = p->at;

    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > begin;
}

static int parse_integer(const char *begin, const char *end, int64_t *out)
{
    int negative = *begin == '-';

    *out = 0;
    for (const char *c = begin + negative; c < end; c++) {
        int digit = negative ? '0' - *c : *c - '0';
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, digit, out))
            return 0;
    }
    return 1;
}

static kfe_status parse_number(parser *p, kfe_i_json_value *value)
{
    char *begin = p->at;
    int whole = 1;

    accept(p, "-");
    if (!accept(p, "0") && !skip_digits(p))
        return refuse(p, "a value was expected");
    if (accept(p, ".")) {
        whole = 0;
        if (!skip_digits(p))
            return refuse(p, "digits were expected");
    }
    if (accept(p, "e") || accept(p, "E")) {
        whole = 0;
        (void)(accept(p, "+") || accept(p, "-"));
        if (!skip_digits(p))
            return refuse(p, "digits were expected");
    }
    value->type = whole ? KFE_JSON_INTEGER : KFE_JSON_REAL;
    if (whole ? !parse_integer(begin, p->at, &value->integer)
              : !kfe_i_parse_number(begin, p->at, &value->real) || !isfinite(value->real))
        return refuse(p, "a number that is too large");
    return KFE_OK;
}

/* ---- arrays and objects ---- */

static int compare_keys(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;

    return strcmp(*a, *b);
}

static kfe_status check_keys(parser *p, const kfe_i_json_value *object)
{
    kfe_status status = KFE_OK;
    const char **keys = NULL;
    int64_t count = 0;

    KFE_ALLOC(p->tree->ctx, keys, object->count);
    for (const kfe_i_json_value *value = object->first; value; value = value->next)
        keys[count++] = value->key;
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int64_t i = 1; status == KFE_OK && i < count; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = refuse(p, "a duplicate key");
cleanup:
    kfe_i_free(p->tree->ctx, keys);
    return status;
}

static kfe_status parse_value(parser *p, kfe_i_json_value **out);

static kfe_status parse_member(parser *p, int has_key, kfe_i_json_value **out)
{
    kfe_status status = KFE_OK;
    const char *key = NULL;

    skip_blanks(p);
    if (has_key) {
        KFE_TRY(parse_string(p, &key));
        skip_blanks(p);
        if (!accept(p, ":"))
            return refuse(p, "':' was expected");
    }
    KFE_TRY(parse_value(p, out));
    (*out)->key = key;
    skip_blanks(p);
cleanup:
    return status;
}

static kfe_status parse_members(parser *p, kfe_i_json_value *parent, const char *closer)
{
    kfe_status status = KFE_OK;
    kfe_i_json_value **place = &parent->first;

    skip_blanks(p);
    if (accept(p, closer))
        return KFE_OK;
    do {
        KFE_TRY(parse_member(p, parent->type == KFE_JSON_OBJECT, place));
        place = &(*place)->next;
        parent->count++;
    } while (accept(p, ","));
    if (!accept(p, closer))
        return refuse(p, "',' or the end of an array or object was expected");
    if (parent->type == KFE_JSON_OBJECT)
        KFE_TRY(check_keys(p, parent));
cleanup:
    return status;
}

static kfe_status parse_value(parser *p, kfe_i_json_value **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json_value *value = NULL;

    KFE_TRY(new_value(p, &value));
    *out = value;
    skip_blanks(p);
    if (++p->depth > KFE_JSON_MOST_LEVELS)
        return refuse(p, "too many levels");
    if (accept(p, "{")) {
        value->type = KFE_JSON_OBJECT;
        KFE_TRY(parse_members(p, value, "}"));
    } else if (accept(p, "[")) {
        value->type = KFE_JSON_ARRAY;
        KFE_TRY(parse_members(p, value, "]"));
    } else if (p->at < p->end && *p->at == '"') {
        value->type = KFE_JSON_TEXT;
        KFE_TRY(parse_string(p, &value->text));
    } else if (accept(p, "true")) {
        value->type = KFE_JSON_TRUE;
    } else if (accept(p, "false")) {
        value->type = KFE_JSON_FALSE;
    } else if (!accept(p, "null")) {
        KFE_TRY(parse_number(p, value));
    }
    p->depth--;
cleanup:
    return status;
}

kfe_status kfe_i_json_read(kfe_context *ctx, const char *text, size_t size, kfe_i_json_tree *out)
{
    kfe_status status = KFE_OK;
    kfe_i_json_value *root = NULL;
    parser p = {.tree = out};

    *out = (kfe_i_json_tree){.ctx = ctx};
    KFE_ALLOC(ctx, out->bytes, (int64_t)size + 1);
    memcpy(out->bytes, text, size);
    out->bytes[size] = '\0';
    p.at = out->bytes;
    p.end = out->bytes + size;
    KFE_TRY(parse_value(&p, &root));
    skip_blanks(&p);
    if (p.at != p.end)
        return refuse(&p, "text after the end");
    out->root = root;
cleanup:
    return status;
}

void kfe_i_json_tree_free(kfe_i_json_tree *tree)
{
    kfe_i_json_chunk *chunk = tree->chunks;

    if (!tree->ctx)
        return;
    while (chunk) {
        kfe_i_json_chunk *before = chunk->before;
        kfe_i_free(tree->ctx, chunk);
        chunk = before;
    }
    kfe_i_free(tree->ctx, tree->bytes);
    *tree = (kfe_i_json_tree){0};
}

int kfe_i_json_is(const kfe_i_json_value *value, kfe_i_json_type type)
{
    return value && value->type == type;
}

const kfe_i_json_value *kfe_i_json_get(const kfe_i_json_value *object, const char *key)
{
    const kfe_i_json_value *value = kfe_i_json_is(object, KFE_JSON_OBJECT) ? object->first : NULL;

    while (value && strcmp(value->key, key) != 0)
        value = value->next;
    return value;
}

const char *kfe_i_json_get_text(const kfe_i_json_value *object, const char *key)
{
    const kfe_i_json_value *value = kfe_i_json_get(object, key);
    return value ? value->text : NULL;
}
