/* SPDX-License-Identifier: Apache-2.0 */
/* Constants and helpers that safetensors.c and safetensors_read.c share. */
#ifndef KFE_MODEL_FILE_SAFETENSORS_INSIDE_H
#define KFE_MODEL_FILE_SAFETENSORS_INSIDE_H

#include "core/sha256.h"
#include "model/file/safetensors.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "model files are little-endian, and are read and written as memory"
#endif

/* The format's own bound on the header. */
#define KFE_SAFETENSORS_HEADER_MAX 100000000
#define KFE_SAFETENSORS_METADATA "__metadata__"
#define KFE_SAFETENSORS_HASH "sha256"
#define KFE_SAFETENSORS_HEADER_HASH "header_sha256"
enum { KFE_SAFETENSORS_PREFIX = 8 };

int64_t kfe_i_dtype_size(kfe_i_dtype dtype);
/* 0 if there is none by that name. */
int kfe_i_dtype_find(const char *name, kfe_i_dtype *out);

/* Append without looking for one of the same name: linear in all, however many a file claims. */
kfe_status kfe_i_safetensors_append(kfe_i_safetensors *file, const char *name, kfe_i_tensor **out);
kfe_status kfe_i_safetensors_append_metadata(kfe_i_safetensors *file, const char *key, const char *value);

/* SHA-256 over what the header says: metadata (the hashes left out), names, types and shapes. */
void kfe_i_safetensors_header_hash(const kfe_i_safetensors *file, char hex[KFE_SHA256_HEX_SIZE]);

#endif
