/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build an ONNX graph: constants, nodes, inputs and outputs, one call each. A value is a number that names what a node computed.
 * Failures are remembered; check `bytes.status` once, at the end.
 *
 * The file is protocol buffers, written as it grows: fields of a message may come in any order, and the length of a nested
 * message is filled in when it ends.
 */
#ifndef KFE_MODEL_ONNX_GRAPH_H
#define KFE_MODEL_ONNX_GRAPH_H

#include "core/text.h"
#include "data/table/table.h"

/* ONNX's numbers for the types of tensors. */
typedef enum kfe_i_onnx_type {
    KFE_ONNX_FLOAT = 1,
    KFE_ONNX_INT64 = 7,
    KFE_ONNX_STRING = 8,
    KFE_ONNX_DOUBLE = 11
} kfe_i_onnx_type;

typedef int64_t kfe_i_value;

typedef struct kfe_i_onnx {
    kfe_context *ctx;
    kfe_i_text bytes;
    kfe_i_onnx_type type; /* of all numbers: KFE_ONNX_FLOAT or KFE_ONNX_DOUBLE */
    kfe_i_value next;
    int64_t message; /* where the length of the graph is, while it is open */
    int uses_ml;     /* there is a node of the domain ai.onnx.ml */
} kfe_i_onnx;

/* A model with an open graph; `onnx->type` is set. Free `bytes` afterwards, also after a failure. */
void kfe_i_onnx_begin(kfe_context *ctx, kfe_i_onnx_type type, kfe_i_onnx *onnx);
/* Closes the graph. The caller may then add metadata. */
void kfe_i_onnx_end(kfe_i_onnx *onnx);
void kfe_i_onnx_metadata(kfe_i_onnx *onnx, const char *key, const char *value);

/* Declares an input, examples × cols numbers, or strings. */
kfe_i_value kfe_i_onnx_input(kfe_i_onnx *onnx, const char *name, int64_t cols);
kfe_i_value kfe_i_onnx_text_input(kfe_i_onnx *onnx, const char *name, int64_t cols);
/* Declares an output that is the value; cols 0: one entry per example. */
void kfe_i_onnx_output(kfe_i_onnx *onnx, const char *name, kfe_i_value value, kfe_i_onnx_type type,
                       int64_t cols);

/* ---- constants ---- */

kfe_i_value kfe_i_onnx_number(kfe_i_onnx *onnx, double value);
/* 1 × count */
kfe_i_value kfe_i_onnx_row(kfe_i_onnx *onnx, const double *values, int64_t count);
/* rows × cols */
kfe_i_value kfe_i_onnx_matrix(kfe_i_onnx *onnx, const double *values, int64_t rows, int64_t cols);
kfe_i_value kfe_i_onnx_integers(kfe_i_onnx *onnx, const int64_t *values, int64_t count);
kfe_i_value kfe_i_onnx_strings(kfe_i_onnx *onnx, char *const *values, int64_t count);

/* ---- nodes ---- */

kfe_i_value kfe_i_onnx_1(kfe_i_onnx *onnx, const char *operation, kfe_i_value a);
kfe_i_value kfe_i_onnx_2(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b);
kfe_i_value kfe_i_onnx_3(kfe_i_onnx *onnx, const char *operation, kfe_i_value a, kfe_i_value b,
                         kfe_i_value c);
/* Sums over one axis; the axis keeps length 1 if `keep`. */
kfe_i_value kfe_i_onnx_sum(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis, int keep);
/* For each row 0, or NaN if one of its entries is not finite; rows × 1 if `keep`. */
kfe_i_value kfe_i_onnx_guard(kfe_i_onnx *onnx, kfe_i_value a, int keep);
/* The largest magnitude of each row, rows × 1. */
kfe_i_value kfe_i_onnx_row_reach(kfe_i_onnx *onnx, kfe_i_value a);
kfe_i_value kfe_i_onnx_unsqueeze(kfe_i_onnx *onnx, kfe_i_value a, int64_t axis);
/* Entries `index` of an axis. */
kfe_i_value kfe_i_onnx_gather(kfe_i_onnx *onnx, kfe_i_value a, kfe_i_value index, int64_t axis);
kfe_i_value kfe_i_onnx_concat(kfe_i_onnx *onnx, const kfe_i_value *values, int64_t count, int64_t axis);
kfe_i_value kfe_i_onnx_softmax(kfe_i_onnx *onnx, kfe_i_value a);
/* The place of each string among the words; KFE_ONNX_UNKNOWN: it is none of them, KFE_ONNX_MISSING: it is empty. */
enum { KFE_ONNX_UNKNOWN = -1, KFE_ONNX_MISSING = -2 };
kfe_i_value kfe_i_onnx_places(kfe_i_onnx *onnx, kfe_i_value texts, char *const *words, int64_t count);
/* Numbers from truth values. */
kfe_i_value kfe_i_onnx_cast(kfe_i_onnx *onnx, kfe_i_value a);
/* The number of the largest entry of each row, the first of equals. */
kfe_i_value kfe_i_onnx_argmax(kfe_i_onnx *onnx, kfe_i_value a);
/* The k smallest entries of each row in rising order, and their places; of equals the first. */
void kfe_i_onnx_smallest(kfe_i_onnx *onnx, kfe_i_value a, int64_t k, kfe_i_value *values, kfe_i_value *index);

#endif
