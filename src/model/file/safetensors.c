/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors container: adding and finding tensors and metadata, and writing it. safetensors_read.c reads it. */
#include "model/file/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/json/json.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "model/file/safetensors_inside.h"

static const struct {
    const char *name;
    int64_t size;
} dtypes[] = {[KFE_DTYPE_F64] = {"F64", 8},
              [KFE_DTYPE_I64] = {"I64", 8},
              [KFE_DTYPE_I32] = {"I32", 4},
              [KFE_DTYPE_U8] = {"U8", 1}};

static const char *dtype_name(kfe_i_dtype dtype)
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
    tensor->axes = cols < 0 ? 1 : 2;
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
/* Calls `visit` for every tensor in the order of the file, until one fails. */
static kfe_status for_each(const kfe_i_safetensors *file, kfe_status (*visit)(void *, const kfe_i_tensor *),
                           void *user)
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
    hash_text(user, dtype_name(tensor->dtype));
    for (int d = 0; d < tensor->axes; d++) {
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
    for_each(file, hash_description, &hash);
    kfe_i_sha256_hex(&hash, hex);
}

/* ---- writing ---- */

static size_t tensor_bytes(const kfe_i_tensor *tensor)
{
    return (size_t)(tensor->count * kfe_i_dtype_size(tensor->dtype));
}

static kfe_status hash_tensor(void *user, const kfe_i_tensor *tensor)
{
    kfe_i_sha256_add(user, tensor->data, tensor_bytes(tensor));
    return KFE_OK;
}

/* ---- the header ---- */

typedef struct header_writer {
    kfe_i_json json;
    int64_t offset; /* of the next tensor */
} header_writer;

static kfe_status describe_tensor(void *user, const kfe_i_tensor *tensor)
{
    header_writer *h = user;
    kfe_i_json *json = &h->json;

    kfe_i_json_object(json, tensor->name);
    kfe_i_json_text(json, "dtype", dtype_name(tensor->dtype));
    kfe_i_json_array(json, "shape");
    for (int d = 0; d < tensor->axes; d++)
        kfe_i_json_integer(json, NULL, tensor->shape[d]);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "data_offsets");
    kfe_i_json_integer(json, NULL, h->offset);
    h->offset += (int64_t)tensor_bytes(tensor);
    kfe_i_json_integer(json, NULL, h->offset);
    kfe_i_json_end(json);
    kfe_i_json_end(json);
    return KFE_OK;
}

static void describe_metadata(const kfe_i_safetensors *file, kfe_i_json *json)
{
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];

    kfe_i_json_object(json, KFE_SAFETENSORS_METADATA);
    for (int64_t i = 0; i < file->metadata_count; i++)
        kfe_i_json_text(json, file->metadata[i].key, file->metadata[i].value);
    kfe_i_sha256_init(&hash);
    for_each(file, hash_tensor, &hash);
    kfe_i_sha256_hex(&hash, hex);
    kfe_i_json_text(json, KFE_SAFETENSORS_HASH, hex);
    kfe_i_safetensors_header_hash(file, hex);
    kfe_i_json_text(json, KFE_SAFETENSORS_HEADER_HASH, hex);
    kfe_i_json_end(json);
}

/* The text of the header, padded with blanks to a multiple of eight bytes. */
static kfe_status make_header(const kfe_i_safetensors *file, char **out, size_t *size)
{
    header_writer h = {.offset = 0};
    kfe_i_text *text = &h.json.text;

    kfe_i_json_init(&h.json, file->ctx, 0);
    kfe_i_json_object(&h.json, NULL);
    describe_metadata(file, &h.json);
    for_each(file, describe_tensor, &h);
    kfe_i_json_end(&h.json);
    kfe_i_text_printf(text, "%*s", (int)((8 - text->length % 8) % 8), "");
    if (text->length > KFE_SAFETENSORS_HEADER_MAX) {
        int64_t megabytes = text->length / 1000000;
        kfe_i_json_free(&h.json);
        return kfe_i_fail(file->ctx, KFE_EUNSUPPORTED,
                          "the names and settings of this model take %lld MB; at most 100 fit",
                          (long long)megabytes);
    }
    *size = (size_t)text->length;
    return kfe_i_json_finish(&h.json, out);
}

/* Where the bytes of a container go: a file or, if `memory` is not NULL, there. */
typedef struct sink {
    kfe_i_outfile file;
    char *memory;
} sink;

static kfe_status put(sink *to, const void *bytes, size_t count)
{
    if (!to->memory)
        return kfe_i_outfile_write(&to->file, bytes, count);
    memcpy(to->memory, bytes, count);
    to->memory += count;
    return KFE_OK;
}

static kfe_status put_tensor(void *user, const kfe_i_tensor *tensor)
{
    return tensor->count > 0 ? put(user, tensor->data, tensor_bytes(tensor)) : KFE_OK;
}

static kfe_status put_all(const kfe_i_safetensors *file, const char *header, size_t size, sink *to)
{
    kfe_status status = KFE_OK;
    unsigned char prefix[KFE_SAFETENSORS_PREFIX];

    for (int i = 0; i < KFE_SAFETENSORS_PREFIX; i++)
        prefix[i] = (unsigned char)((uint64_t)size >> (8 * i));
    KFE_TRY(put(to, prefix, sizeof prefix));
    KFE_TRY(put(to, header, size));
    KFE_TRY(for_each(file, put_tensor, to));
cleanup:
    return status;
}

kfe_status kfe_i_safetensors_write(const kfe_i_safetensors *file, const char *path)
{
    kfe_status status = KFE_OK;
    sink to = {0};
    char *header = NULL;
    size_t size = 0;

    KFE_TRY(make_header(file, &header, &size));
    KFE_TRY(kfe_i_outfile_open(file->ctx, path, &to.file));
    KFE_TRY(put_all(file, header, size, &to));
    KFE_TRY(kfe_i_outfile_commit(&to.file));
cleanup:
    kfe_i_outfile_abandon(&to.file);
    kfe_i_free(file->ctx, header);
    return status;
}

kfe_status kfe_i_safetensors_print(const kfe_i_safetensors *file, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    sink to = {0};
    char *header = NULL;
    size_t header_size = 0;

    *out = NULL;
    *size = 0;
    KFE_TRY(make_header(file, &header, &header_size));
    size_t total = KFE_SAFETENSORS_PREFIX + header_size;
    for (int64_t i = 0; i < file->tensor_count; i++)
        total += tensor_bytes(&file->tensors[i]);
    KFE_ALLOC(file->ctx, *out, (int64_t)total);
    to.memory = *out;
    KFE_TRY(put_all(file, header, header_size, &to));
    *size = total;
cleanup:
    kfe_i_free(file->ctx, header);
    return status;
}
