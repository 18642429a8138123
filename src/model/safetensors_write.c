/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the container. The format allows no holes, so tensors follow each other by falling size of their
 * type: then each lies at a multiple of it, the header being padded to a multiple of eight.
 */
#include <jansson.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "model/safetensors_inside.h"

static size_t tensor_bytes(const kfe_i_tensor *tensor)
{
    return (size_t)(tensor->count * kfe_i_dtype_size(tensor->dtype));
}

static kfe_status hash_tensor(void *user, const kfe_i_tensor *tensor)
{
    kfe_i_sha256_add(user, tensor->data, tensor_bytes(tensor));
    return KFE_OK;
}

static kfe_status write_tensor(void *user, const kfe_i_tensor *tensor)
{
    return tensor->count > 0 ? kfe_i_outfile_write(user, tensor->data, tensor_bytes(tensor)) : KFE_OK;
}

/* ---- the header; every json_..._new call takes its value over, also when it fails ---- */

struct header {
    json_t *root;
    json_int_t offset;
    kfe_context *ctx;
};

static json_t *shape_of(const kfe_i_tensor *tensor)
{
    json_t *shape = json_array();

    for (int d = 0; shape && d < tensor->rank; d++)
        if (json_array_append_new(shape, json_integer(tensor->shape[d])) != 0) {
            json_decref(shape);
            shape = NULL;
        }
    return shape;
}

static kfe_status describe_tensor(void *user, const kfe_i_tensor *tensor)
{
    struct header *header = user;
    json_int_t end = header->offset + (json_int_t)tensor_bytes(tensor);
    json_t *entry = json_pack("{s:s, s:o, s:[I,I]}", "dtype", kfe_i_dtype_name(tensor->dtype), "shape",
                              shape_of(tensor), "data_offsets", header->offset, end);

    header->offset = end;
    if (json_object_set_new(header->root, tensor->name, entry) != 0)
        return kfe_i_fail(header->ctx, KFE_ENOMEM, "out of memory");
    return KFE_OK;
}

static json_t *metadata_of(const kfe_i_safetensors *file)
{
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];
    json_t *metadata = json_object();
    int failed = !metadata;

    kfe_i_sha256_init(&hash);
    kfe_i_safetensors_each(file, hash_tensor, &hash);
    kfe_i_sha256_hex(&hash, hex);
    for (int64_t i = 0; !failed && i < file->metadata_count; i++)
        failed = json_object_set_new(metadata, file->metadata[i].key, json_string(file->metadata[i].value));
    if (!failed)
        failed = json_object_set_new(metadata, KFE_SAFETENSORS_HASH, json_string(hex));
    kfe_i_safetensors_header_hash(file, hex);
    if (!failed)
        failed = json_object_set_new(metadata, KFE_SAFETENSORS_HEADER_HASH, json_string(hex));
    if (failed) {
        json_decref(metadata);
        metadata = NULL;
    }
    return metadata;
}

/* The text of the header, blanks and all. */
static kfe_status print_header(kfe_context *ctx, const json_t *root, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    size_t length = json_dumpb(root, NULL, 0, JSON_COMPACT);

    if (length == 0)
        KFE_FAIL(ctx, KFE_ENOMEM, "out of memory");
    if (length > KFE_SAFETENSORS_HEADER_MAX - 8)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "the names and settings of this model take %zu MB; at most 100 fit",
                 length / 1000000);
    *size = (length + 7) / 8 * 8;
    KFE_ALLOC(ctx, *out, (int64_t)*size);
    memset(*out, ' ', *size);
    if (json_dumpb(root, *out, *size, JSON_COMPACT) != length)
        KFE_FAIL(ctx, KFE_ENOMEM, "out of memory");
cleanup:
    return status;
}

static kfe_status make_header(const kfe_i_safetensors *file, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    struct header header = {.root = json_object(), .ctx = file->ctx};

    if (!header.root || json_object_set_new(header.root, KFE_SAFETENSORS_METADATA, metadata_of(file)) != 0)
        KFE_FAIL(file->ctx, KFE_ENOMEM, "out of memory");
    KFE_TRY(kfe_i_safetensors_each(file, describe_tensor, &header));
    KFE_TRY(print_header(file->ctx, header.root, out, size));
cleanup:
    json_decref(header.root);
    return status;
}

static void write_prefix(size_t header_size, unsigned char prefix[KFE_SAFETENSORS_PREFIX])
{
    for (int i = 0; i < KFE_SAFETENSORS_PREFIX; i++)
        prefix[i] = (unsigned char)((uint64_t)header_size >> (8 * i));
}

kfe_status kfe_i_safetensors_write(const kfe_i_safetensors *file, const char *path)
{
    kfe_status status = KFE_OK;
    kfe_i_outfile out = {0};
    char *header = NULL;
    size_t size = 0;
    unsigned char prefix[KFE_SAFETENSORS_PREFIX];

    KFE_TRY(make_header(file, &header, &size));
    write_prefix(size, prefix);
    KFE_TRY(kfe_i_outfile_open(file->ctx, path, &out));
    KFE_TRY(kfe_i_outfile_write(&out, prefix, sizeof prefix));
    KFE_TRY(kfe_i_outfile_write(&out, header, size));
    KFE_TRY(kfe_i_safetensors_each(file, write_tensor, &out));
    KFE_TRY(kfe_i_outfile_commit(&out));
cleanup:
    kfe_i_outfile_abandon(&out);
    kfe_i_free(file->ctx, header);
    return status;
}

static kfe_status copy_tensor(void *user, const kfe_i_tensor *tensor)
{
    char **next = user;

    if (tensor->count > 0)
        memcpy(*next, tensor->data, tensor_bytes(tensor));
    *next += tensor_bytes(tensor);
    return KFE_OK;
}

kfe_status kfe_i_safetensors_print(const kfe_i_safetensors *file, char **out, size_t *size)
{
    kfe_status status = KFE_OK;
    char *header = NULL;
    size_t header_size = 0;
    size_t total = KFE_SAFETENSORS_PREFIX;

    *out = NULL;
    *size = 0;
    KFE_TRY(make_header(file, &header, &header_size));
    total += header_size;
    for (int64_t i = 0; i < file->tensor_count; i++)
        total += tensor_bytes(&file->tensors[i]);
    KFE_ALLOC(file->ctx, *out, (int64_t)total);
    write_prefix(header_size, (unsigned char *)*out);
    memcpy(*out + KFE_SAFETENSORS_PREFIX, header, header_size);
    char *next = *out + KFE_SAFETENSORS_PREFIX + header_size;
    kfe_i_safetensors_each(file, copy_tensor, &next);
    *size = total;
cleanup:
    kfe_i_free(file->ctx, header);
    return status;
}
