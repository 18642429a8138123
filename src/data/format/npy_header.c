/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the header of a .npy file, for npy.c: magic, version, length, and a Python dictionary such as
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * with exactly these three keys.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "data/format/npy.h"

enum { MAGIC_SIZE = sizeof KFE_NPY_MAGIC - 1, LARGEST_HEADER = 1 << 20 };

static kfe_status bad(kfe_i_source *source, const char *what, const char *reason)
{
    char worded[KFE_WORDING_TEXT];

    kfe_i_word_format(source->ctx, reason, worded);
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0, "%s: %s", what, worded);
}

static kfe_status read_exactly(kfe_i_source *source, const char *what, void *buffer, int64_t size)
{
    int64_t got = 0;
    kfe_status status = kfe_i_source_read(source, buffer, size, &got);

    if (status == KFE_OK && got < size)
        status = bad(source, what, "the header ends too early: the file is truncated");
    return status;
}

/* ---- the dictionary ---- */

static const char *skip(const char *c)
{
    while (*c == ' ' || *c == '\n' || *c == '\t')
        c++;
    return c;
}

/* The place after the expected character, or NULL if another one stands there. */
static const char *expect(const char *c, char wanted)
{
    c = c ? skip(c) : NULL;
    return c && *c == wanted ? c + 1 : NULL;
}

static const char *parse_string(const char *c, char *out, size_t size)
{
    size_t length = 0;
    char quote;

    c = skip(c);
    quote = *c++;
    if (quote != '\'' && quote != '"')
        return NULL;
    for (; *c && *c != quote; c++)
        if (length + 1 < size)
            out[length++] = *c;
    out[length] = '\0';
    return *c ? c + 1 : NULL;
}

static const char *parse_bool(const char *c, int *out)
{
    c = skip(c);
    *out = strncmp(c, "True", 4) == 0;
    if (*out)
        return c + 4;
    return strncmp(c, "False", 5) == 0 ? c + 5 : NULL;
}

static const char *parse_shape(const char *c, kfe_i_npy *out)
{
    c = expect(c, '(');
    out->dimensions = 0;
    while (c && *(c = skip(c)) != ')') {
        int64_t length = 0;
        const char *first = c;
        for (; *c >= '0' && *c <= '9'; c++)
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, *c - '0', &length))
                return NULL;
        if (c == first || out->dimensions == KFE_NPY_DIMENSIONS)
            return NULL;
        out->shape[out->dimensions++] = length;
        c += *c == 'L'; /* Python 2 wrote long integers with an L */
        c = skip(c);
        if (*c == ',')
            c++;
        else if (*c != ')')
            return NULL;
    }
    return c ? c + 1 : NULL;
}

/* One "key: value,"; `seen` collects which keys there were. */
static const char *parse_item(const char *c, kfe_i_npy *out, int *seen)
{
    char key[32];

    c = parse_string(c, key, sizeof key);
    c = expect(c, ':');
    if (!c)
        return NULL;
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        if (*skip(c) == '[') { /* a record of several fields, which is refused: its end does not matter */
            strcpy(out->descr, "|V");
            c = strstr(c, "],");
            c = c ? c + 1 : NULL;
        } else {
            c = parse_string(c, out->descr, sizeof out->descr);
        }
    } else if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        c = parse_bool(c, &out->fortran);
    } else if (strcmp(key, "shape") == 0) {
        *seen |= 4;
        c = parse_shape(c, out);
    } else {
        return NULL;
    }
    if (c && *(c = skip(c)) == ',')
        c++;
    return c;
}

static int parse_dictionary(const char *c, kfe_i_npy *out)
{
    int seen = 0;

    c = expect(c, '{');
    while (c && *(c = skip(c)) != '}')
        c = parse_item(c, out, &seen);
    return c && seen == 7;
}

/* ---- the type ---- */

static int machine_order(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe ? '<' : '>';
}

static int is_known_type(const kfe_i_npy *npy)
{
    int power = npy->size == 1 || npy->size == 2 || npy->size == 4 || npy->size == 8;

    switch (npy->kind) {
    case 'f':
        return npy->size == 4 || npy->size == 8;
    case 'i':
    case 'u':
        return power;
    case 'b':
        return npy->size == 1;
    case 'U':
    case 'S':
        return 1;
    default:
        return 0;
    }
}

static kfe_status understand_type(kfe_i_source *source, const char *what, kfe_i_npy *out)
{
    const char *descr = out->descr;
    int ordered = *descr == '<' || *descr == '>' || *descr == '|' || *descr == '=';
    long size;

    out->swapped = (*descr == '<' || *descr == '>') && *descr != machine_order();
    descr += ordered;
    out->kind = *descr;
    size = *descr ? strtol(descr + 1, NULL, 10) : 0;
    if (out->kind == 'O')
        return bad(source, what,
                   "an array of Python objects cannot be read; convert it in Python, with "
                   "X.astype(float) or y.astype(str), and save it again");
    if (size < 0 || size > LARGEST_HEADER)
        return bad(source, what, "the header gives an impossible element size");
    out->size = (int)size;
    if (!is_known_type(out))
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "%s: elements of type '%s' cannot be read; convert the array with "
                             "X.astype('float64') and save it again",
                             what, out->descr);
    out->size *= out->kind == 'U' ? 4 : 1;
    return KFE_OK;
}

static kfe_status understand_shape(kfe_i_source *source, const char *what, kfe_i_npy *out)
{
    int64_t bytes = 0;
    int64_t remaining = kfe_i_source_remaining(source);

    out->count = 1;
    for (int k = 0; k < out->dimensions; k++)
        if (__builtin_mul_overflow(out->count, out->shape[k], &out->count))
            return bad(source, what, "the header gives an impossible shape");
    if (__builtin_mul_overflow(out->count, (int64_t)out->size, &bytes))
        return bad(source, what, "the header gives an impossible shape");
    if (remaining >= 0 && bytes > remaining)
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "%s: the header promises %lld bytes of data, but there are %lld: the file is "
                             "truncated or damaged",
                             what, (long long)bytes, (long long)remaining);
    return KFE_OK;
}

/* ---- the whole header ---- */

static kfe_status read_length(kfe_i_source *source, const char *what, int64_t *length)
{
    kfe_status status = KFE_OK;
    unsigned char start[MAGIC_SIZE + 2];
    unsigned char bytes[4] = {0};

    KFE_TRY(read_exactly(source, what, start, sizeof start));
    if (memcmp(start, KFE_NPY_MAGIC, MAGIC_SIZE) != 0)
        return bad(source, what,
                   "this is not a NumPy array (wrong magic bytes); name the right format with {format}");
    if (start[6] < 1 || start[6] > 3)
        return bad(source, what, "a version of the .npy format that is not known; save it with numpy.save");
    KFE_TRY(read_exactly(source, what, bytes, start[6] == 1 ? 2 : 4));
    *length = (int64_t)bytes[0] | (int64_t)bytes[1] << 8 | (int64_t)bytes[2] << 16 | (int64_t)bytes[3] << 24;
    if (*length > LARGEST_HEADER)
        return bad(source, what, "the header is larger than 1 MB: the file is damaged");
cleanup:
    return status;
}

kfe_status kfe_i_npy_read_header(kfe_i_source *source, const char *what, kfe_i_npy *out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;
    int64_t length = 0;

    memset(out, 0, sizeof *out);
    KFE_TRY(read_length(source, what, &length));
    KFE_ALLOC_ZERO(source->ctx, text, length + 1);
    KFE_TRY(read_exactly(source, what, text, length));
    if (!parse_dictionary(text, out)) {
        status = bad(source, what, "the header is damaged; save the array again with numpy.save");
        goto cleanup;
    }
    KFE_TRY(understand_type(source, what, out));
    KFE_TRY(understand_shape(source, what, out));
cleanup:
    kfe_i_free(source->ctx, text);
    return status;
}
