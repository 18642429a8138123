/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the container. The format allows no holes, so tensors follow each other by falling size of their
 * type: then each lies at a multiple of it, the header being padded to a multiple of eight.
 */
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "model/file/safetensors_inside.h"
#include "model/json/json.h"

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
    kfe_i_json_text(json, "dtype", kfe_i_dtype_name(tensor->dtype));
    kfe_i_json_array(json, "shape");
    for (int d = 0; d < tensor->rank; d++)
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
    kfe_i_safetensors_each(file, hash_tensor, &hash);
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
    kfe_i_safetensors_each(file, describe_tensor, &h);
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
