/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of model files: safetensors. Eight bytes of header length, a JSON header that maps tensor
 * names to type, shape and byte range and `__metadata__` to strings, then the bytes. Nothing here knows
 * what a model is. See https://github.com/huggingface/safetensors for the format.
 *
 * Reading trusts nothing: header length, UTF-8 and JSON, types, shapes (overflow), ranges (inside the
 * file, no overlap, no holes, size = product of the shape × size of the type) are checked before anything
 * of the size they claim is allocated. The SHA-256 of the payload and of what the header says are kept in the
 * metadata under "sha256" and "header_sha256".
 */
#ifndef KFE_MODEL_FILE_SAFETENSORS_H
#define KFE_MODEL_FILE_SAFETENSORS_H

#include "core/context.h"

typedef enum kfe_i_dtype { KFE_DTYPE_F64, KFE_DTYPE_I64, KFE_DTYPE_I32, KFE_DTYPE_U8 } kfe_i_dtype;

enum { KFE_TENSOR_MAX_AXES = 4 };

typedef struct kfe_i_tensor {
    char *name;
    kfe_i_dtype dtype;
    int axes;
    int64_t shape[KFE_TENSOR_MAX_AXES];
    int64_t count;    /* product of the shape */
    const void *data; /* aligned to the size of its type */
} kfe_i_tensor;

typedef struct kfe_i_metadata {
    char *key, *value;
} kfe_i_metadata;

typedef struct kfe_i_safetensors {
    kfe_context *ctx;
    kfe_i_tensor *tensors;
    int64_t tensor_count, tensor_capacity;
    kfe_i_metadata *metadata;
    int64_t metadata_count, metadata_capacity;
    void *payload; /* owned by a file that was read; NULL while a file is written */
} kfe_i_safetensors;

void kfe_i_safetensors_init(kfe_context *ctx, kfe_i_safetensors *file);
void kfe_i_safetensors_free(kfe_i_safetensors *file);

/* The data is borrowed until the file is written. One axis if cols < 0, else two. */
kfe_status kfe_i_safetensors_add(kfe_i_safetensors *file, const char *name, kfe_i_dtype dtype, int64_t rows,
                                 int64_t cols, const void *data);
kfe_status kfe_i_safetensors_set(kfe_i_safetensors *file, const char *key, const char *value);
/* Tensors aligned to the size of their type, header padded with blanks; the file appears whole or not at all.
 */
kfe_status kfe_i_safetensors_write(const kfe_i_safetensors *file, const char *path);

/* The same into memory, which the caller frees. */
kfe_status kfe_i_safetensors_print(const kfe_i_safetensors *file, char **out, size_t *size);

/* `name` stands in messages. KFE_EMODEL with the reason for anything that is not sound. */
kfe_status kfe_i_safetensors_parse(kfe_context *ctx, const char *name, const void *bytes, size_t size,
                                   kfe_i_safetensors *out);
kfe_status kfe_i_safetensors_read(kfe_context *ctx, const char *path, kfe_i_safetensors *out);

/* NULL if there is none by that name. */
const kfe_i_tensor *kfe_i_safetensors_find(const kfe_i_safetensors *file, const char *name);
const char *kfe_i_safetensors_get(const kfe_i_safetensors *file, const char *key);

#endif
