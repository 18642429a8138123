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

/* A node is open until its attributes are written. */
static int64_t open_node(kfe_i_onnx *onnx, const char *operation)
{
    int64_t at = open_message(onnx, 1);

    put_text(onnx, 4, operation);
    return at;
}

static void put_attribute(kfe_i_onnx *onnx, const char *name, int64_t value)
{
    int64_t at = open_message(onnx, 5);

    put_text(onnx, 1, name);
    put_int(onnx, 3, value);
    put_int(onnx, 20, ATTRIBUTE_INT);
    close_message(onnx, at);
}

static kfe_i_value close_node(kfe_i_onnx *onnx, int64_t at)
{
    kfe_i_value out = onnx->next++;

    put_value(onnx, 2, out);
    close_message(onnx, at);
    return out;
}

kfe_i_value kfe_i_onnx_1(kfe_i_onnx *onnx, const char *operation, kfe_i_value a)
{
    int64_t node = open_node(onnx, operation);

    put_value(onnx, 1, a);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_2(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b)
{
    int64_t node = open_node(onnx, operation);

    put_value(onnx, 1, a);
    put_value(onnx, 1, b);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_3(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b, kfe_i_value c)
{
    int64_t node = open_node(onnx, operation);

    put_value(onnx, 1, a);
    put_value(onnx, 1, b);
    put_value(onnx, 1, c);
    return close_node(onnx, node);
}

/* A node with one attribute. */
static kfe_i_value node_with(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, const char *attribute,
                             int64_t value)
{
    int64_t node = open_node(onnx, operation);

    put_value(onnx, 1, a);
    put_attribute(onnx, attribute, value);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_sum(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis, int keep)
{
    kfe_i_value axes = kfe_i_onnx_integers(onnx, &axis, 1);
    int64_t node = open_node(onnx, "ReduceSum");

    put_value(onnx, 1, a);
    put_value(onnx, 1, axes);
    put_attribute(onnx, "keepdims", keep);
    return close_node(onnx, node);
}

/* By TopK: the axes of ReduceMax are an attribute in some versions and an input in others. */
kfe_i_value kfe_i_onnx_row_reach(kfe_i_onnx *onnx, kfe_i_value a)
{
    kfe_i_value magnitudes = kfe_i_onnx_1(onnx, "Abs", a);
    const int64_t one = 1;
    kfe_i_value count = kfe_i_onnx_integers(onnx, &one, 1);
    int64_t node = open_node(onnx, "TopK");

    put_value(onnx, 1, magnitudes);
    put_value(onnx, 1, count);
    put_attribute(onnx, "axis", 1);
    kfe_i_value reach = onnx->next++;
    put_value(onnx, 2, reach);
    close_node(onnx, node);
    return reach;
}

kfe_i_value kfe_i_onnx_unsqueeze(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis)
{
    return kfe_i_onnx_2(onnx, "Unsqueeze", a, kfe_i_onnx_integers(onnx, &axis, 1));
}

kfe_i_value kfe_i_onnx_gather(kfe_i_onnx *onnx, kfe_i_value a, kfe_i_value index, int64_t axis)
{
    int64_t node = open_node(onnx, "Gather");

    put_value(onnx, 1, a);
    put_value(onnx, 1, index);
    put_attribute(onnx, "axis", axis);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_concat(kfe_i_onnx *onnx, const kfe_i_value *values, int64_t count, int64_t axis)
{
    int64_t node = open_node(onnx, "Concat");

    for (int64_t i = 0; i < count; i++)
        put_value(onnx, 1, values[i]);
    put_attribute(onnx, "axis", axis);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_softmax(kfe_i_onnx *onnx, kfe_i_value a)
{
    return node_with(onnx, "Softmax", a, "axis", 1);
}

kfe_i_value kfe_i_onnx_places(kfe_i_onnx *onnx, kfe_i_value texts, char *const *words, int64_t count)
{
    int64_t node = open_node(onnx, "LabelEncoder");

    put_value(onnx, 1, texts);
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
    put_attribute(onnx, "default_int64", KFE_ONNX_UNKNOWN);
    return close_node(onnx, node);
}

kfe_i_value kfe_i_onnx_cast(kfe_i_onnx *onnx, kfe_i_value a)
{
    return node_with(onnx, "Cast", a, "to", onnx->type);
}

kfe_i_value kfe_i_onnx_argmax(kfe_i_onnx *onnx, kfe_i_value a)
{
    int64_t node = open_node(onnx, "ArgMax");

    put_value(onnx, 1, a);
    put_attribute(onnx, "axis", 1);
    put_attribute(onnx, "keepdims", 0);
    return close_node(onnx, node);
}

void kfe_i_onnx_smallest(kfe_i_onnx *onnx, kfe_i_value a, int64_t k, kfe_i_value *values, kfe_i_value *index)
{
    kfe_i_value count = kfe_i_onnx_integers(onnx, &k, 1);
    int64_t node = open_node(onnx, "TopK");

    put_value(onnx, 1, a);
    put_value(onnx, 1, count);
    put_attribute(onnx, "axis", 1);
    put_attribute(onnx, "largest", 0);
    *values = onnx->next++;
    put_value(onnx, 2, *values);
    *index = close_node(onnx, node);
}

/* ---- inputs and outputs ---- */

static kfe_i_value put_input(kfe_i_onnx *onnx, const char *name, kfe_i_onnx_type type, int64_t cols)
{
    put_info(onnx, 11, name, type, cols);
    int64_t node = open_node(onnx, "Identity");
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
    int64_t node = open_node(onnx, "Identity");

    put_value(onnx, 1, value);
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
