/* SPDX-License-Identifier: Apache-2.0 */
/* Model files that are taken apart, altered and signed again, for the tests of the loader. */
#include "support/model_file.h"

#include <stdio.h>

#include "core/sha256.h"

model_file model_file_read(const char *path)
{
    model_file f = {0};
    unsigned char bytes[65536];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    size_t length = 0;

    fclose(file);
    assert_true(size > 8 && size < sizeof bytes);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | bytes[i];
    f.header = json_loadb((char *)bytes + 8, length, 0, NULL);
    f.payload_size = size - 8 - length;
    f.payload = malloc(f.payload_size);
    memcpy(f.payload, bytes + 8 + length, f.payload_size);
    return f;
}

json_t *model_file_metadata(const model_file *f)
{
    return json_object_get(f->header, "__metadata__");
}

static void hash_text(kfe_i_sha256 *hash, const char *text)
{
    kfe_i_sha256_add(hash, text, strlen(text) + 1);
}

static void hash_tensors(kfe_i_sha256 *hash, const json_t *header, int wide)
{
    const char *name;
    const json_t *entry;
    char number[32];

    json_object_foreach((json_t *)header, name, entry)
    {
        const char *dtype = json_string_value(json_object_get(entry, "dtype"));
        const json_t *shape = json_object_get(entry, "shape");
        if (!dtype || (strstr(dtype, "64") != NULL) != wide)
            continue;
        hash_text(hash, name);
        hash_text(hash, dtype);
        for (size_t d = 0; d < json_array_size(shape); d++) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(json_array_get(shape, d)));
            hash_text(hash, number);
        }
    }
}

/* Computes both checksums again, so that only the content is wrong. */
static void sign(const model_file *f)
{
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];
    const char *key;
    json_t *value;

    json_object_del(model_file_metadata(f), "sha256");
    json_object_del(model_file_metadata(f), "header_sha256");
    kfe_i_sha256_init(&hash);
    json_object_foreach(model_file_metadata(f), key, value)
    {
        hash_text(&hash, key);
        hash_text(&hash, json_string_value(value));
    }
    hash_tensors(&hash, f->header, 1);
    hash_tensors(&hash, f->header, 0);
    kfe_i_sha256_hex(&hash, hex);
    json_object_set_new(model_file_metadata(f), "header_sha256", json_string(hex));
    kfe_i_sha256_init(&hash);
    kfe_i_sha256_add(&hash, f->payload, f->payload_size);
    kfe_i_sha256_hex(&hash, hex);
    json_object_set_new(model_file_metadata(f), "sha256", json_string(hex));
}

/* The bytes of the file. The caller frees them. */
static unsigned char *assemble(const model_file *f, size_t *size)
{
    sign(f);
    char *text = json_dumps(f->header, JSON_COMPACT);
    size_t length = (strlen(text) + 7) / 8 * 8;
    *size = 8 + length + f->payload_size;
    unsigned char *bytes = malloc(*size);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    memset(bytes + 8, ' ', length);
    memcpy(bytes + 8, text, strlen(text));
    memcpy(bytes + 8 + length, f->payload, f->payload_size);
    free(text);
    return bytes;
}

kfe_status model_file_load(kfe_context *ctx, const model_file *f, kfe_model **out)
{
    size_t size = 0;
    unsigned char *bytes = assemble(f, &size);
    kfe_status status = kfe_model_load_bytes(ctx, bytes, size, out);

    free(bytes);
    return status;
}

void model_file_free(model_file *f)
{
    json_decref(f->header);
    free(f->payload);
}

void model_file_assert_refused(kfe_context *ctx, const model_file *f, const char *what, const char *reason)
{
    kfe_model *model = NULL;
    kfe_status status = model_file_load(ctx, f, &model);

    if (status != KFE_EMODEL || !strstr(kfe_error_message(ctx), reason))
        fail_msg("%s: expected '%s', got %s: %s", what, reason, kfe_status_text(status),
                 kfe_error_message(ctx));
    assert_null(model);
}

void model_file_rename(model_file *f, const char *from, const char *to)
{
    json_t *tensor = json_object_get(f->header, from);

    assert_non_null(tensor);
    json_incref(tensor);
    json_object_del(f->header, from);
    json_object_set_new(f->header, to, tensor);
}

void model_file_put(model_file *f, const char *tensor, size_t at, double value)
{
    const json_t *offsets = json_object_get(json_object_get(f->header, tensor), "data_offsets");

    assert_non_null(offsets);
    size_t begin = (size_t)json_integer_value(json_array_get(offsets, 0));
    memcpy(f->payload + begin + at * sizeof value, &value, sizeof value);
}
