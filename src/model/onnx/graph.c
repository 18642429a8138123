/* SPDX-License-Identifier: Apache-2.0 */
/* The ONNX file as it grows: fields of protocol buffers, tensors and nodes. The numbers of fields are those of onnx.proto. */
#include "model/onnx/graph.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The oldest versions that have every operation used here. */
enum { IR_VERSION = 7, OPSET_VERSION = 13, ML_OPSET_VERSION = 2 };
#define ML_DOMAIN "ai.onnx.ml"
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum { ATTRIBUTE_INT = 2, ATTRIBUTE_INTS = 7, ATTRIBUTE_STRINGS = 8 };
/* A length takes five bytes of seven bits, which are reserved before it is known. */
enum { LENGTH_BYTES = 5, NAME_SIZE = 32 };

/* ---- protocol buffers ---- */

static void put_varint(kfe_i_onnx *onnx, uint64_t value)
{
    char bytes[10];
    int count = 0;

    do {
        bytes[count] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
        count++;
    } while (value > 0);
    kfe_i_text_add(&onnx->bytes, bytes, count);
}

static void put_key(kfe_i_onnx *onnx, int field, int wire)
{
    put_varint(onnx, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_int(kfe_i_onnx *onnx, int field, int64_t value)
{
    put_key(onnx, field, WIRE_VARINT);
    put_varint(onnx, (uint64_t)value);
}

static void put_text(kfe_i_onnx *onnx, int field, const char *text)
{
    size_t length = strlen(text);

    put_key(onnx, field, WIRE_BYTES);
    put_varint(onnx, length);
    kfe_i_text_add(&onnx->bytes, text, (int64_t)length);
}

/* Begins a nested message; returns where its length goes. */
static int64_t open_message(kfe_i_onnx *onnx, int field)
{
    static const char room[LENGTH_BYTES];

    put_key(onnx, field, WIRE_BYTES);
    kfe_i_text_add(&onnx->bytes, room, LENGTH_BYTES);
    return onnx->bytes.length - LENGTH_BYTES;
}

static void close_message(kfe_i_onnx *onnx, int64_t at)
{
    uint64_t length = (uint64_t)(onnx->bytes.length - at - LENGTH_BYTES);

    if (onnx->bytes.status != KFE_OK)
        return;
    for (int i = 0; i < LENGTH_BYTES; i++)
        onnx->bytes.bytes[at + i] = (char)((length >> (7 * i) & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

/* ---- the model ---- */

static void put_opset(kfe_i_onnx *onnx, const char *domain, int version)
{
    int64_t at = open_message(onnx, 8);

    put_text(onnx, 1, domain);
    put_int(onnx, 2, version);
    close_message(onnx, at);
}

void kfe_i_onnx_begin(kfe_context *ctx, kfe_i_onnx_type type, kfe_i_onnx *onnx)
{
    *onnx = (kfe_i_onnx){.ctx = ctx, .type = type};
    kfe_i_text_init(&onnx->bytes, ctx);
    put_int(onnx, 1, IR_VERSION);
    put_text(onnx, 2, "kfe");
    put_text(onnx, 3, kfe_version());
    put_opset(onnx, "", OPSET_VERSION);
    onnx->message = open_message(onnx, 7);
    put_text(onnx, 2, "kfe");
}

void kfe_i_onnx_end(kfe_i_onnx *onnx)
{
    close_message(onnx, onnx->message);
    if (onnx->uses_ml)
        put_opset(onnx, ML_DOMAIN, ML_OPSET_VERSION);
}

void kfe_i_onnx_metadata(kfe_i_onnx *onnx, const char *key, const char *value)
{
    int64_t at = open_message(onnx, 14);

    put_text(onnx, 1, key);
    put_text(onnx, 2, value);
    close_message(onnx, at);
}

/* ---- values ---- */

static void name_of(kfe_i_value value, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "v/%lld", (long long)value);
}

static void put_value(kfe_i_onnx *onnx, int field, kfe_i_value value)
{
    char name[NAME_SIZE];

    name_of(value, name);
    put_text(onnx, field, name);
}

static void put_dimension(kfe_i_onnx *onnx, int64_t length)
{
    int64_t at = open_message(onnx, 1);

    if (length > 0)
        put_int(onnx, 1, length);
    else
        put_text(onnx, 2, "examples");
    close_message(onnx, at);
}

/* Name, type and shape of an input or output: examples × cols, or examples alone. */
static void put_info(kfe_i_onnx *onnx, int field, const char *name, kfe_i_onnx_type type, int64_t cols)
{
    int64_t info = open_message(onnx, field);
    put_text(onnx, 1, name);
    int64_t kind = open_message(onnx, 2);
    int64_t tensor = open_message(onnx, 1);
    put_int(onnx, 1, type);
    int64_t shape = open_message(onnx, 2);
    put_dimension(onnx, 0);
    if (cols > 0)
        put_dimension(onnx, cols);
    close_message(onnx, shape);
    close_message(onnx, tensor);
    close_message(onnx, kind);
    close_message(onnx, info);
}

/* ---- nodes ---- */

/* What a node reads, and its attributes up to one without a name. */
typedef struct inputs {
    const kfe_i_value *values;
    int64_t count;
} inputs;

typedef struct attribute {
    const char *name;
    int64_t value;
} attribute;

#define INPUTS(...)                                                                                          \
    (inputs)                                                                                                 \
    {                                                                                                        \
        (const kfe_i_value[]){__VA_ARGS__}, sizeof((const kfe_i_value[]){__VA_ARGS__}) / sizeof(kfe_i_value) \
    }
#define ATTRIBUTES(...)                                                                                      \
    (const attribute[])                                                                                      \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            NULL, 0                                                                                          \
        }                                                                                                    \
    }

/* A node is open until its outputs are written. */
static int64_t open_node(kfe_i_onnx *onnx, const char *operation, inputs in, const attribute *attributes)
{
    int64_t at = open_message(onnx, 1);

    put_text(onnx, 4, operation);
    for (int64_t i = 0; i < in.count; i++)
        put_value(onnx, 1, in.values[i]);
    for (; attributes && attributes->name; attributes++) {
        int64_t one = open_message(onnx, 5);
        put_text(onnx, 1, attributes->name);
        put_int(onnx, 3, attributes->value);
        put_int(onnx, 20, ATTRIBUTE_INT);
        close_message(onnx, one);
    }
    return at;
}

static kfe_i_value close_node(kfe_i_onnx *onnx, int64_t at)
{
    kfe_i_value out = onnx->next++;

    put_value(onnx, 2, out);
    close_message(onnx, at);
    return out;
}

static kfe_i_value put_node(kfe_i_onnx *onnx, const char *operation, inputs in, const attribute *attributes)
{
    return close_node(onnx, open_node(onnx, operation, in, attributes));
}

kfe_i_value kfe_i_onnx_1(kfe_i_onnx *onnx, const char *operation, kfe_i_value a)
{
    return put_node(onnx, operation, INPUTS(a), NULL);
}

kfe_i_value kfe_i_onnx_2(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b)
{
    return put_node(onnx, operation, INPUTS(a, b), NULL);
}

kfe_i_value kfe_i_onnx_3(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b, kfe_i_value c)
{
    return put_node(onnx, operation, INPUTS(a, b, c), NULL);
}

kfe_i_value kfe_i_onnx_sum(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis, int keep)
{
    kfe_i_value axes = kfe_i_onnx_integers(onnx, &axis, 1);

    return put_node(onnx, "ReduceSum", INPUTS(a, axes), ATTRIBUTES({"keepdims", keep}));
}

/* The k largest or smallest entries of each row; their places follow as the next value. */
static kfe_i_value top(kfe_i_onnx *onnx, kfe_i_value a, int64_t k, int largest)
{
    kfe_i_value count = kfe_i_onnx_integers(onnx, &k, 1);
    int64_t node = open_node(onnx, "TopK", INPUTS(a, count), ATTRIBUTES({"axis", 1}, {"largest", largest}));
    kfe_i_value values = onnx->next++;

    put_value(onnx, 2, values);
    close_node(onnx, node);
    return values;
}

/* By TopK: the axes of ReduceMax are an attribute in some versions and an input in others. */
kfe_i_value kfe_i_onnx_row_reach(kfe_i_onnx *onnx, kfe_i_value a)
{
    return top(onnx, kfe_i_onnx_1(onnx, "Abs", a), 1, 1);
}

void kfe_i_onnx_smallest(kfe_i_onnx *onnx, kfe_i_value a, int64_t k, kfe_i_value *values, kfe_i_value *index)
{
    *values = top(onnx, a, k, 0);
    *index = *values + 1;
}

kfe_i_value kfe_i_onnx_unsqueeze(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis)
{
    return kfe_i_onnx_2(onnx, "Unsqueeze", a, kfe_i_onnx_integers(onnx, &axis, 1));
}

kfe_i_value kfe_i_onnx_gather(kfe_i_onnx *onnx, kfe_i_value a, kfe_i_value index, int64_t axis)
{
    return put_node(onnx, "Gather", INPUTS(a, index), ATTRIBUTES({"axis", axis}));
}

kfe_i_value kfe_i_onnx_concat(kfe_i_onnx *onnx, const kfe_i_value *values, int64_t count, int64_t axis)
{
    return put_node(onnx, "Concat", (inputs){values, count}, ATTRIBUTES({"axis", axis}));
}

kfe_i_value kfe_i_onnx_softmax(kfe_i_onnx *onnx, kfe_i_value a)
{
    return put_node(onnx, "Softmax", INPUTS(a), ATTRIBUTES({"axis", 1}));
}

kfe_i_value kfe_i_onnx_cast(kfe_i_onnx *onnx, kfe_i_value a)
{
    return put_node(onnx, "Cast", INPUTS(a), ATTRIBUTES({"to", onnx->type}));
}

kfe_i_value kfe_i_onnx_argmax(kfe_i_onnx *onnx, kfe_i_value a)
{
    return put_node(onnx, "ArgMax", INPUTS(a), ATTRIBUTES({"axis", 1}, {"keepdims", 0}));
}

kfe_i_value kfe_i_onnx_places(kfe_i_onnx *onnx, kfe_i_value texts, char *const *words, int64_t count)
{
    int64_t node =
        open_node(onnx, "LabelEncoder", INPUTS(texts), ATTRIBUTES({"default_int64", KFE_ONNX_UNKNOWN}));

    put_text(onnx, 7, ML_DOMAIN);
    onnx->uses_ml = 1;
    int64_t keys = open_message(onnx, 5);
    put_text(onnx, 1, "keys_strings");
    for (int64_t i = 0; i < count; i++)
        put_text(onnx, 9, words[i]);
    put_text(onnx, 9, "");
    put_int(onnx, 20, ATTRIBUTE_STRINGS);
    close_message(onnx, keys);
    int64_t values = open_message(onnx, 5);
    put_text(onnx, 1, "values_int64s");
    for (int64_t i = 0; i < count; i++)
        put_int(onnx, 8, i);
    put_int(onnx, 8, KFE_ONNX_MISSING);
    put_int(onnx, 20, ATTRIBUTE_INTS);
    close_message(onnx, values);
    return close_node(onnx, node);
}

/* ---- inputs and outputs ---- */

static kfe_i_value put_input(kfe_i_onnx *onnx, const char *name, kfe_i_onnx_type type, int64_t cols)
{
    put_info(onnx, 11, name, type, cols);
    int64_t node = open_node(onnx, "Identity", (inputs){NULL, 0}, NULL);
    put_text(onnx, 1, name);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_input(kfe_i_onnx *onnx, const char *name, int64_t cols)
{
    return put_input(onnx, name, onnx->type, cols);
}

kfe_i_value kfe_i_onnx_text_input(kfe_i_onnx *onnx, const char *name, int64_t cols)
{
    return put_input(onnx, name, KFE_ONNX_STRING, cols);
}

void kfe_i_onnx_output(kfe_i_onnx *onnx, const char *name, kfe_i_value value, kfe_i_onnx_type type,
                       int64_t cols)
{
    int64_t node = open_node(onnx, "Identity", INPUTS(value), NULL);

    put_text(onnx, 2, name);
    close_message(onnx, node);
    put_info(onnx, 12, name, type, cols);
}

/* ---- constants ---- */

/* Begins a tensor; its dimensions are the positive ones. */
static int64_t open_tensor(kfe_i_onnx *onnx, kfe_i_onnx_type type, int64_t rows, int64_t cols)
{
    int64_t at = open_message(onnx, 5);

    if (rows > 0)
        put_int(onnx, 1, rows);
    if (cols > 0)
        put_int(onnx, 1, cols);
    put_int(onnx, 2, type);
    put_value(onnx, 8, onnx->next);
    return at;
}

static kfe_i_value close_tensor(kfe_i_onnx *onnx, int64_t at)
{
    close_message(onnx, at);
    return onnx->next++;
}

static void refuse_number(kfe_i_onnx *onnx, double value)
{
    if (onnx->bytes.status == KFE_OK)
        onnx->bytes.status = kfe_i_fail(onnx->ctx, KFE_EINPUT,
                                        "the model has the number %g, which single precision cannot hold; "
                                        "export it with {precision=double}",
                                        value);
}

/* Little-endian, as the format wants it and as every machine that we build for has it. */
static void put_numbers(kfe_i_onnx *onnx, const double *values, int64_t count)
{
    int64_t at = open_message(onnx, 9);

    if (onnx->type == KFE_ONNX_DOUBLE)
        kfe_i_text_add(&onnx->bytes, (const char *)values, count * (int64_t)sizeof *values);
    for (int64_t i = 0; onnx->type == KFE_ONNX_FLOAT && i < count; i++) {
        float value = (float)values[i];
        if (isfinite(values[i]) && !isfinite(value))
            refuse_number(onnx, values[i]);
        kfe_i_text_add(&onnx->bytes, (const char *)&value, sizeof value);
    }
    close_message(onnx, at);
}

static kfe_i_value put_matrix(kfe_i_onnx *onnx, const double *values, int64_t rows, int64_t cols)
{
    int64_t at = open_tensor(onnx, onnx->type, rows, cols);

    put_numbers(onnx, values, (rows ? rows : 1) * (cols ? cols : 1));
    return close_tensor(onnx, at);
}

kfe_i_value kfe_i_onnx_number(kfe_i_onnx *onnx, double value)
{
    if (onnx->type == KFE_ONNX_FLOAT && value != 0 && fabs(value) < (double)FLT_MIN)
        refuse_number(onnx, value);
    return put_matrix(onnx, &value, 0, 0);
}

kfe_i_value kfe_i_onnx_guard(kfe_i_onnx *onnx, kfe_i_value a, int keep)
{
    return kfe_i_onnx_sum(onnx, kfe_i_onnx_2(onnx, "Sub", a, a), 1, keep);
}

kfe_i_value kfe_i_onnx_row(kfe_i_onnx *onnx, const double *values, int64_t count)
{
    return put_matrix(onnx, values, 1, count);
}

kfe_i_value kfe_i_onnx_matrix(kfe_i_onnx *onnx, const double *values, int64_t rows, int64_t cols)
{
    return put_matrix(onnx, values, rows, cols);
}

kfe_i_value kfe_i_onnx_integers(kfe_i_onnx *onnx, const int64_t *values, int64_t count)
{
    int64_t at = open_tensor(onnx, KFE_ONNX_INT64, count, 0);
    int64_t raw = open_message(onnx, 9);

    kfe_i_text_add(&onnx->bytes, (const char *)values, count * (int64_t)sizeof *values);
    close_message(onnx, raw);
    return close_tensor(onnx, at);
}

kfe_i_value kfe_i_onnx_strings(kfe_i_onnx *onnx, char *const *values, int64_t count)
{
    int64_t at = open_tensor(onnx, KFE_ONNX_STRING, count, 0);

    for (int64_t i = 0; i < count; i++)
        put_text(onnx, 6, values[i]);
    return close_tensor(onnx, at);
}
