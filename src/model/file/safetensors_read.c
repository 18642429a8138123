/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the container, from a file or from memory. The order of the checks is what makes it safe: the
 * header's length against the size of the file, then the JSON, then every range against the payload, and
 * only then is the payload, whose size is that of the file, given memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json_read.h"
#include "core/memory.h"
#include "model/file/safetensors_inside.h"
#include "system/system.h"

/* Memory of the JSON tree, at worst, per byte of text: "0," becomes one value. */
#define JSON_MEMORY_FACTOR 36.0

struct source {
    kfe_context *ctx;
    const char *name; /* for messages */
    uint64_t size;
    const unsigned char *bytes; /* what is left of it in memory, or NULL: read `descriptor` */
    int descriptor;
};

/* Where a tensor lies in the payload. */
struct range {
    int64_t begin, end, tensor;
};

struct reading {
    struct source *source;
    kfe_i_safetensors *file;
    kfe_i_json_tree header;
    int64_t payload_size;
    struct range *ranges; /* one per tensor */
    int64_t range_count, range_capacity;
};

#define REFUSE(source, ...)                                                                                  \
    do {                                                                                                     \
        status = kfe_i_fail_at((source)->ctx, KFE_EMODEL, (source)->name, 0, 0, __VA_ARGS__);                \
        goto cleanup;                                                                                        \
    } while (0)

static kfe_status read_descriptor(struct source *source, char *out, size_t count)
{
    while (count > 0) {
        int64_t got = kfe_i_input_read(source->descriptor, out, (int64_t)count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0, "cannot read: %s",
                                 got < 0 ? strerror(errno) : "the file became shorter while it was read");
        out += got;
        count -= (size_t)got;
    }
    return KFE_OK;
}

static kfe_status take(struct source *source, void *out, size_t count)
{
    if (!source->bytes)
        return read_descriptor(source, out, count);
    memcpy(out, source->bytes, count);
    source->bytes += count;
    return KFE_OK;
}

/* ---- header ---- */

static kfe_status read_header_length(struct source *source, uint64_t *out)
{
    kfe_status status = KFE_OK;
    unsigned char prefix[KFE_SAFETENSORS_PREFIX];

    *out = 0;
    if (source->size == 0)
        REFUSE(source, "the file is empty; it is not a model");
    if (source->size < sizeof prefix)
        REFUSE(source, "%llu bytes are too few for a model; the file was cut short or is something else",
               (unsigned long long)source->size);
    KFE_TRY(take(source, prefix, sizeof prefix));
    for (int i = 0; i < KFE_SAFETENSORS_PREFIX; i++)
        *out |= (uint64_t)prefix[i] << (8 * i);
    if (*out > KFE_SAFETENSORS_HEADER_MAX)
        REFUSE(source, "not a model file; give one that a fit has saved");
    if (*out > source->size - sizeof prefix)
        REFUSE(source, "the file was cut short within its header, or is not a model; copy it again");
cleanup:
    return status;
}

static kfe_status load_json(struct source *source, const char *text, size_t length, kfe_i_json_tree *out)
{
    kfe_status status = KFE_OK;

    if (length == 0 || text[0] != '{')
        REFUSE(source, "not a model file: its header does not begin with '{'");
    status = kfe_i_json_read(source->ctx, text, length, out);
    if (status == KFE_OK || kfe_i_is_lack(status))
        return status;
    REFUSE(source, "the header cannot be read (%s, at byte %lld); the file is damaged or not a model",
           out->reason, (long long)out->position);
cleanup:
    return status;
}

static kfe_status read_header(struct source *source, kfe_i_json_tree *out, uint64_t *length)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    KFE_TRY(read_header_length(source, length));
    KFE_TRY(kfe_i_check_memory(source->ctx, JSON_MEMORY_FACTOR * (double)*length,
                               "the header of the model file", "raise the limit if you trust the file"));
    KFE_ALLOC(source->ctx, text, (int64_t)*length);
    KFE_TRY(take(source, text, (size_t)*length));
    KFE_TRY(load_json(source, text, (size_t)*length, out));
cleanup:
    kfe_i_free(source->ctx, text);
    return status;
}

static kfe_status read_metadata(struct reading *reading)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *metadata = kfe_i_json_get(reading->header.root, KFE_SAFETENSORS_METADATA);

    if (!kfe_i_json_is(metadata, KFE_JSON_OBJECT))
        REFUSE(reading->source, "it has no metadata, so it was not written by kfe");
    for (const kfe_i_json_value *value = metadata->first; value; value = value->next) {
        if (!value->text)
            REFUSE(reading->source, "the metadata '%s' is not a string; the file is damaged", value->key);
        KFE_TRY(kfe_i_safetensors_append_metadata(reading->file, value->key, value->text));
    }
cleanup:
    return status;
}

/* ---- tensors ---- */

static kfe_status read_dtype(struct source *source, const kfe_i_json_value *entry, kfe_i_tensor *tensor)
{
    kfe_status status = KFE_OK;
    const char *dtype = kfe_i_json_get_text(entry, "dtype");

    if (!dtype)
        REFUSE(source, "tensor '%s' has no dtype", tensor->name);
    if (!kfe_i_dtype_find(dtype, &tensor->dtype))
        REFUSE(source, "tensor '%s' is of type %s; models have F64, I64, I32 and U8", tensor->name, dtype);
cleanup:
    return status;
}

static kfe_status read_shape(struct source *source, const kfe_i_json_value *entry, kfe_i_tensor *tensor)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *shape = kfe_i_json_get(entry, "shape");
    const kfe_i_json_value *extent;
    int64_t bytes = 0;

    if (!kfe_i_json_is(shape, KFE_JSON_ARRAY) || shape->count > KFE_TENSOR_MAX_AXES)
        REFUSE(source, "tensor '%s' has no shape of at most %d dimensions", tensor->name,
               KFE_TENSOR_MAX_AXES);
    tensor->axes = (int)shape->count;
    tensor->count = 1;
    extent = shape->first;
    for (int d = 0; d < tensor->axes; d++, extent = extent->next) {
        if (!kfe_i_json_is(extent, KFE_JSON_INTEGER) || extent->integer < 0)
            REFUSE(source, "dimension %d of tensor '%s' is not a count", d + 1, tensor->name);
        tensor->shape[d] = extent->integer;
        if (__builtin_mul_overflow(tensor->count, tensor->shape[d], &tensor->count))
            REFUSE(source, "the size of tensor '%s' overflows", tensor->name);
    }
    if (__builtin_mul_overflow(tensor->count, kfe_i_dtype_size(tensor->dtype), &bytes))
        REFUSE(source, "the size of tensor '%s' overflows", tensor->name);
cleanup:
    return status;
}

static kfe_status read_range(struct reading *reading, const kfe_i_json_value *entry,
                             const kfe_i_tensor *tensor, struct range *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *offsets = kfe_i_json_get(entry, "data_offsets");
    const kfe_i_json_value *begin = offsets ? offsets->first : NULL;
    const kfe_i_json_value *end = begin ? begin->next : NULL;

    if (!kfe_i_json_is(offsets, KFE_JSON_ARRAY) || offsets->count != 2 ||
        !kfe_i_json_is(begin, KFE_JSON_INTEGER) || !kfe_i_json_is(end, KFE_JSON_INTEGER))
        REFUSE(reading->source, "tensor '%s' has no pair of data_offsets", tensor->name);
    out->begin = begin->integer;
    out->end = end->integer;
    if (out->begin < 0 || out->end < out->begin)
        REFUSE(reading->source, "the data_offsets of tensor '%s' are not a range", tensor->name);
    if (out->end > reading->payload_size)
        REFUSE(reading->source,
               "tensor '%s' ends past the end of the file, which was cut short; copy it again", tensor->name);
    if (out->end - out->begin != tensor->count * kfe_i_dtype_size(tensor->dtype))
        REFUSE(reading->source, "tensor '%s' has %lld bytes, but its shape needs %lld", tensor->name,
               (long long)(out->end - out->begin),
               (long long)(tensor->count * kfe_i_dtype_size(tensor->dtype)));
    if (out->begin % kfe_i_dtype_size(tensor->dtype) != 0)
        REFUSE(reading->source, "tensor '%s' does not lie at a multiple of its element's size", tensor->name);
cleanup:
    return status;
}

static kfe_status read_tensor(struct reading *reading, const kfe_i_json_value *entry)
{
    kfe_status status = KFE_OK;
    kfe_i_tensor *tensor = NULL;
    struct range range = {.tensor = reading->range_count};

    if (!kfe_i_json_is(entry, KFE_JSON_OBJECT))
        REFUSE(reading->source, "the header's entry '%s' does not describe a tensor", entry->key);
    KFE_TRY(kfe_i_safetensors_append(reading->file, entry->key, &tensor));
    KFE_TRY(read_dtype(reading->source, entry, tensor));
    KFE_TRY(read_shape(reading->source, entry, tensor));
    KFE_TRY(read_range(reading, entry, tensor, &range));
    KFE_GROW(reading->source->ctx, reading->ranges, reading->range_capacity, reading->range_count + 1);
    reading->ranges[reading->range_count++] = range;
cleanup:
    return status;
}

static kfe_status read_tensors(struct reading *reading)
{
    kfe_status status = KFE_OK;

    for (const kfe_i_json_value *entry = reading->header.root->first; entry; entry = entry->next)
        if (strcmp(entry->key, KFE_SAFETENSORS_METADATA) != 0)
            KFE_TRY(read_tensor(reading, entry));
cleanup:
    return status;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left;
    const struct range *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Every byte of the payload belongs to exactly one tensor: nothing is read twice, nothing is smuggled. */
static kfe_status check_coverage(struct reading *reading)
{
    kfe_status status = KFE_OK;
    int64_t covered = 0;

    if (reading->range_count > 0)
        qsort(reading->ranges, (size_t)reading->range_count, sizeof *reading->ranges, compare_ranges);
    for (int64_t i = 0; i < reading->range_count; i++) {
        const struct range *range = &reading->ranges[i];
        const char *name = reading->file->tensors[range->tensor].name;
        if (range->begin < covered)
            REFUSE(reading->source, "tensor '%s' overlaps another one; the header is damaged", name);
        if (range->begin > covered)
            REFUSE(reading->source, "there is a hole before tensor '%s'; the header is damaged", name);
        covered = range->end;
    }
    if (covered != reading->payload_size)
        REFUSE(reading->source, "%lld bytes at the end belong to no tensor; the file is damaged",
               (long long)(reading->payload_size - covered));
cleanup:
    return status;
}

/* ---- payload ---- */

static kfe_status compare_hash(struct reading *reading, const char *key, const char *found)
{
    kfe_status status = KFE_OK;
    const char *expected = kfe_i_safetensors_get(reading->file, key);

    if (!expected)
        REFUSE(reading->source, "it has no %s, so it was not written by kfe", key);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* a fuzzer cannot guess hashes */
    if (strcmp(found, expected) != 0)
        REFUSE(reading->source, "the file was altered or damaged after it was written (its SHA-256 differs); "
                                "copy it again or fit anew");
#else
    (void)found;
#endif
cleanup:
    return status;
}

static kfe_status check_hashes(struct reading *reading)
{
    kfe_status status = KFE_OK;
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];

    kfe_i_sha256_init(&hash);
    kfe_i_sha256_add(&hash, reading->file->payload, (size_t)reading->payload_size);
    kfe_i_sha256_hex(&hash, hex);
    KFE_TRY(compare_hash(reading, KFE_SAFETENSORS_HASH, hex));
    kfe_i_safetensors_header_hash(reading->file, hex);
    KFE_TRY(compare_hash(reading, KFE_SAFETENSORS_HEADER_HASH, hex));
cleanup:
    return status;
}

static kfe_status read_payload(struct reading *reading)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors *file = reading->file;
    char *payload = NULL;

    KFE_TRY(kfe_i_check_memory(file->ctx, (double)reading->payload_size, "the model", "raise the limit"));
    KFE_ALLOC(file->ctx, payload, reading->payload_size);
    file->payload = payload;
    KFE_TRY(take(reading->source, payload, (size_t)reading->payload_size));
    for (int64_t i = 0; i < reading->range_count; i++)
        file->tensors[reading->ranges[i].tensor].data = payload + reading->ranges[i].begin;
    KFE_TRY(check_hashes(reading));
cleanup:
    return status;
}

static kfe_status read_source(struct source *source, kfe_i_safetensors *out)
{
    kfe_status status = KFE_OK;
    struct reading reading = {.source = source, .file = out};
    uint64_t header_length = 0;

    kfe_i_safetensors_init(source->ctx, out);
    KFE_TRY(read_header(source, &reading.header, &header_length));
    reading.payload_size = (int64_t)(source->size - KFE_SAFETENSORS_PREFIX - header_length);
    KFE_TRY(read_metadata(&reading));
    KFE_TRY(read_tensors(&reading));
    KFE_TRY(check_coverage(&reading));
    KFE_TRY(read_payload(&reading));
cleanup:
    kfe_i_json_tree_free(&reading.header);
    kfe_i_free(source->ctx, reading.ranges);
    if (status != KFE_OK)
        kfe_i_safetensors_free(out);
    return status;
}

kfe_status kfe_i_safetensors_parse(kfe_context *ctx, const char *name, const void *bytes, size_t size,
                                   kfe_i_safetensors *out)
{
    struct source source = {.ctx = ctx, .name = name, .size = size, .descriptor = -1};

    source.bytes = bytes;
    return read_source(&source, out);
}

static kfe_status open_source(struct source *source)
{
    int64_t size = 0;
    kfe_i_path_kind kind = kfe_i_path_look(source->name, NULL); /* opening a pipe would wait */

    if (strcmp(source->name, "-") == 0)
        return kfe_i_fail(
            source->ctx, KFE_EIO,
            "models are read from plain files only, not from standard input; save it to one first");
    if (kind == KFE_PATH_FOLDER)
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0,
                             "it is a directory; name a model file");
    if (kind == KFE_PATH_OTHER)
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0,
                             "models are read from plain files only; save it to one first");
    source->descriptor = kfe_i_input_open(source->name);
    if (source->descriptor < 0)
        return kfe_i_fail_at(source->ctx, KFE_EIO, source->name, 0, 0, "cannot open: %s; check the name",
                             strerror(errno));
    (void)kfe_i_input_look(source->descriptor, &size);
    source->size = (uint64_t)size;
    return KFE_OK;
}

kfe_status kfe_i_safetensors_read(kfe_context *ctx, const char *path, kfe_i_safetensors *out)
{
    kfe_status status = KFE_OK;
    struct source source = {.ctx = ctx, .name = path, .descriptor = -1};

    memset(out, 0, sizeof *out);
    KFE_TRY(open_source(&source));
    KFE_TRY(read_source(&source, out));
cleanup:
    if (source.descriptor >= 0)
        kfe_i_input_close(source.descriptor);
    return status;
}
