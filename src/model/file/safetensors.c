/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors container in memory: adding and finding tensors and metadata, and the hash of the header.
 * Used by save*.c and load*.c; safetensors_write.c and safetensors_read.c move it to and from files. */
#include "model/file/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/utf8.h"
#include "model/file/safetensors_inside.h"

static const struct {
    const char *name;
    int64_t size;
} dtypes[] = {[KFE_DTYPE_F64] = {"F64", 8},
              [KFE_DTYPE_I64] = {"I64", 8},
              [KFE_DTYPE_I32] = {"I32", 4},
              [KFE_DTYPE_U8] = {"U8", 1}};

const char *kfe_i_dtype_name(kfe_i_dtype dtype)
{
    return dtypes[dtype].name;
}

int64_t kfe_i_dtype_size(kfe_i_dtype dtype)
{
    return dtypes[dtype].size;
}

int kfe_i_dtype_find(const char *name, kfe_i_dtype *out)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *out = (kfe_i_dtype)i;
            return 1;
        }
    return 0;
}

void kfe_i_safetensors_init(kfe_context *ctx, kfe_i_safetensors *file)
{
    memset(file, 0, sizeof *file);
    file->ctx = ctx;
}

void kfe_i_safetensors_free(kfe_i_safetensors *file)
{
    kfe_context *ctx = file->ctx;

    if (!ctx)
        return;
    for (int64_t i = 0; i < file->tensor_count; i++)
        kfe_i_free(ctx, file->tensors[i].name);
    for (int64_t i = 0; i < file->metadata_count; i++) {
        kfe_i_free(ctx, file->metadata[i].key);
        kfe_i_free(ctx, file->metadata[i].value);
    }
    kfe_i_free(ctx, file->tensors);
    kfe_i_free(ctx, file->metadata);
    kfe_i_free(ctx, file->payload);
    memset(file, 0, sizeof *file);
}

/* JSON is UTF-8. */
static kfe_status check_utf8(kfe_context *ctx, const char *text)
{
    if (kfe_i_is_utf8(text))
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINVAL,
                      "'%s' is not UTF-8, so it cannot be kept in a model; convert the data first, for "
                      "example with iconv",
                      text);
}

kfe_status kfe_i_safetensors_append(kfe_i_safetensors *file, const char *name, kfe_i_tensor **out)
{
    kfe_status status = KFE_OK;
    kfe_i_tensor *tensor;

    *out = NULL;
    KFE_GROW(file->ctx, file->tensors, file->tensor_capacity, file->tensor_count + 1);
    tensor = &file->tensors[file->tensor_count];
    memset(tensor, 0, sizeof *tensor);
    KFE_STRDUP(file->ctx, tensor->name, name);
    file->tensor_count++;
    *out = tensor;
cleanup:
    return status;
}

kfe_status kfe_i_safetensors_append_metadata(kfe_i_safetensors *file, const char *key, const char *value)
{
    kfe_status status = KFE_OK;
    kfe_i_metadata *entry;

    KFE_GROW(file->ctx, file->metadata, file->metadata_capacity, file->metadata_count + 1);
    entry = &file->metadata[file->metadata_count++];
    memset(entry, 0, sizeof *entry);
    KFE_STRDUP(file->ctx, entry->key, key);
    KFE_STRDUP(file->ctx, entry->value, value);
cleanup:
    return status;
}

static kfe_status check_new_name(const kfe_i_safetensors *file, const char *name)
{
    if (strcmp(name, KFE_SAFETENSORS_METADATA) == 0)
        return kfe_i_fail(file->ctx, KFE_EINVAL, "no tensor can be called '%s'", name);
    if (kfe_i_safetensors_find(file, name))
        return kfe_i_fail(file->ctx, KFE_EINVAL, "there are two tensors called '%s'", name);
    return check_utf8(file->ctx, name);
}

kfe_status kfe_i_safetensors_add(kfe_i_safetensors *file, const char *name, kfe_i_dtype dtype, int64_t rows,
                                 int64_t cols, const void *data)
{
    kfe_status status = KFE_OK;
    kfe_i_tensor *tensor = NULL;
    int64_t count = rows;
    int64_t bytes = 0;

    KFE_TRY(check_new_name(file, name));
    if (rows < 0 || (cols >= 0 && __builtin_mul_overflow(rows, cols, &count)) ||
        __builtin_mul_overflow(count, kfe_i_dtype_size(dtype), &bytes))
        KFE_FAIL(file->ctx, KFE_EINVAL, "tensor '%s' cannot be %lld × %lld", name, (long long)rows,
                 (long long)cols);
    KFE_TRY(kfe_i_safetensors_append(file, name, &tensor));
    tensor->dtype = dtype;
    tensor->rank = cols < 0 ? 1 : 2;
    tensor->shape[0] = rows;
    tensor->shape[1] = cols < 0 ? 0 : cols;
    tensor->count = count;
    tensor->data = data;
cleanup:
    return status;
}

static kfe_i_metadata *find_metadata(const kfe_i_safetensors *file, const char *key)
{
    for (int64_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return &file->metadata[i];
    return NULL;
}

kfe_status kfe_i_safetensors_set(kfe_i_safetensors *file, const char *key, const char *value)
{
    kfe_status status = KFE_OK;
    kfe_i_metadata *entry = find_metadata(file, key);
    char *copy = NULL;

    KFE_TRY(check_utf8(file->ctx, key));
    KFE_TRY(check_utf8(file->ctx, value));
    if (!entry)
        return kfe_i_safetensors_append_metadata(file, key, value);
    KFE_STRDUP(file->ctx, copy, value);
    kfe_i_free(file->ctx, entry->value);
    entry->value = copy;
cleanup:
    return status;
}

const kfe_i_tensor *kfe_i_safetensors_find(const kfe_i_safetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->tensor_count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *kfe_i_safetensors_get(const kfe_i_safetensors *file, const char *key)
{
    const kfe_i_metadata *entry = find_metadata(file, key);
    return entry ? entry->value : NULL;
}

/* The format allows no holes, so tensors lie by falling size of their type. */
kfe_status kfe_i_safetensors_each(const kfe_i_safetensors *file, kfe_i_tensor_fn visit, void *user)
{
    static const int64_t sizes[] = {8, 4, 1};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int64_t i = 0; i < file->tensor_count; i++) {
            const kfe_i_tensor *tensor = &file->tensors[i];
            kfe_status status = KFE_OK;
            if (kfe_i_dtype_size(tensor->dtype) == sizes[s])
                status = visit(user, tensor);
            if (status != KFE_OK)
                return status;
        }
    return KFE_OK;
}

/* With the terminator, so that no two lists of strings look the same. */
static void hash_text(kfe_i_sha256 *hash, const char *text)
{
    kfe_i_sha256_add(hash, text, strlen(text) + 1);
}

static kfe_status hash_description(void *user, const kfe_i_tensor *tensor)
{
    char number[32];

    hash_text(user, tensor->name);
    hash_text(user, kfe_i_dtype_name(tensor->dtype));
    for (int d = 0; d < tensor->rank; d++) {
        snprintf(number, sizeof number, "%lld", (long long)tensor->shape[d]);
        hash_text(user, number);
    }
    return KFE_OK;
}

void kfe_i_safetensors_header_hash(const kfe_i_safetensors *file, char hex[KFE_SHA256_HEX_SIZE])
{
    kfe_i_sha256 hash;

    kfe_i_sha256_init(&hash);
    for (int64_t i = 0; i < file->metadata_count; i++) {
        const kfe_i_metadata *entry = &file->metadata[i];
        if (strcmp(entry->key, KFE_SAFETENSORS_HASH) == 0 ||
            strcmp(entry->key, KFE_SAFETENSORS_HEADER_HASH) == 0)
            continue;
        hash_text(&hash, entry->key);
        hash_text(&hash, entry->value);
    }
    kfe_i_safetensors_each(file, hash_description, &hash);
    kfe_i_sha256_hex(&hash, hex);
}
