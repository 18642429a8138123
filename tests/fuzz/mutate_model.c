/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mutator of model files for fuzz_use.c, and of saved accumulators for fuzz_sums.c. It takes a file apart, changes metadata, tensors or shapes, and writes it again
 * with the right checksums. So the fuzzer tests the loader's checks of content, and the inputs it finds also load in an ordinary
 * build.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "kfe.h"
#include "model/file/safetensors.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % below : 0;
}

static const char *const words[] = {"",
                                    "0",
                                    "-1",
                                    "1",
                                    "2",
                                    "3",
                                    "99999999999",
                                    "1e308",
                                    "nan",
                                    "[]",
                                    "{}",
                                    "null",
                                    "yes",
                                    "no",
                                    "none",
                                    "classes",
                                    "real",
                                    "kernel",
                                    "linear",
                                    "identity",
                                    "local",
                                    "direct",
                                    "value",
                                    "largest",
                                    "nearest",
                                    "[\"a\"]",
                                    "[\"a\",\"b\",\"c\"]",
                                    "[\"a\",\"a\"]",
                                    "knn",
                                    "ls",
                                    "svm",
                                    "centroid",
                                    "koc",
                                    "pca",
                                    "precomputed",
                                    "[{\"kernel\":\"linear\",\"view\":0}]",
                                    "[{\"kernel\":\"precomputed\",\"view\":0}]",
                                    "[{\"kernel\":\"spectrum:length=2\",\"view\":0}]",
                                    "lfda",
                                    "kpls",
                                    "kfe-accumulator",
                                    "scale=standard,landmarks=2",
                                    "ridge=auto",
                                    "tree",
                                    "platt"};
static const double reals[] = {0,      -0.0,   1,        -1,        0.5, 1e308, -1e308,
                               1e-308, 5e-324, INFINITY, -INFINITY, NAN, 1e155, 2147483648.0};
static const int64_t whole[] = {0, 1, -1, 2, 3, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20};
#define PICK(state, array) (array)[draw(state, sizeof(array) / sizeof *(array))]

/* Replaces a text by one of the words, by another entry's value, or by random changes of its bytes. */
static void change_text(kfe_i_safetensors *file, unsigned *state)
{
    if (!file->metadata_count)
        return;
    kfe_i_metadata *entry = &file->metadata[draw(state, (unsigned)file->metadata_count)];
    size_t length = strlen(entry->value);
    char *fresh = kfe_i_alloc(file->ctx, (int64_t)length + 4096, 1);

    if (!fresh)
        return;
    memcpy(fresh, entry->value, length + 1);
    if (draw(state, 3) == 0) {
        size_t size = LLVMFuzzerMutate((uint8_t *)fresh, length, length + 64);
        fresh[size] = '\0';
        for (size_t i = 0; i < size; i++)
            fresh[i] = fresh[i] > 0 && fresh[i] < 127 ? fresh[i] : 'x';
    } else if (draw(state, 4) == 0) {
        snprintf(fresh, 4096, "%s", file->metadata[draw(state, (unsigned)file->metadata_count)].value);
    } else {
        snprintf(fresh, 4096, "%s", PICK(state, words));
    }
    kfe_i_free(file->ctx, entry->value);
    entry->value = fresh;
}

/* Replaces the first number in a value. */
static void change_number(kfe_i_safetensors *file, unsigned *state)
{
    char text[8192];

    if (!file->metadata_count)
        return;
    kfe_i_metadata *entry = &file->metadata[draw(state, (unsigned)file->metadata_count)];
    size_t before = strcspn(entry->value, "0123456789");
    for (unsigned skip = draw(state, 4); skip && entry->value[before]; skip--)
        before += strspn(entry->value + before, "0123456789.") +
                  strcspn(entry->value + before + strspn(entry->value + before, "0123456789."), "0123456789");
    size_t digits = strspn(entry->value + before, "0123456789.e");
    if (snprintf(text, sizeof text, "%.*s%lld%s", (int)before, entry->value, (long long)PICK(state, whole),
                 entry->value + before + digits) >= (int)sizeof text)
        return;
    kfe_i_safetensors_set(file, entry->key, text);
}

static void drop_text(kfe_i_safetensors *file, unsigned *state)
{
    if (!file->metadata_count)
        return;
    kfe_i_metadata *entry = &file->metadata[draw(state, (unsigned)file->metadata_count)];
    kfe_i_free(file->ctx, entry->key);
    kfe_i_free(file->ctx, entry->value);
    *entry = file->metadata[--file->metadata_count];
}

static void change_entry(kfe_i_safetensors *file, unsigned *state)
{
    if (!file->tensor_count)
        return;
    kfe_i_tensor *tensor = &file->tensors[draw(state, (unsigned)file->tensor_count)];
    if (tensor->count < 1)
        return;
    int64_t at = draw(state, (unsigned)(tensor->count < 4096 ? tensor->count : 4096));
    if (tensor->dtype == KFE_DTYPE_F64)
        ((double *)(uintptr_t)tensor->data)[at] = PICK(state, reals);
    else if (tensor->dtype == KFE_DTYPE_I64)
        ((int64_t *)(uintptr_t)tensor->data)[at] = PICK(state, whole);
    else if (tensor->dtype == KFE_DTYPE_I32)
        ((int32_t *)(uintptr_t)tensor->data)[at] = (int32_t)PICK(state, whole);
    else
        ((uint8_t *)(uintptr_t)tensor->data)[at] = (uint8_t)draw(state, 256);
}

/* Never makes a tensor larger than its data. */
static void change_shape(kfe_i_safetensors *file, unsigned *state)
{
    if (!file->tensor_count)
        return;
    kfe_i_tensor *tensor = &file->tensors[draw(state, (unsigned)file->tensor_count)];
    int64_t count = 1;
    kfe_i_tensor changed = *tensor;
    if (draw(state, 2) && changed.axes == 2) {
        changed.shape[0] = tensor->shape[1];
        changed.shape[1] = tensor->shape[0];
    } else if (changed.axes > 0) {
        int64_t *side = &changed.shape[draw(state, (unsigned)changed.axes)];
        *side = *side > 0 ? (int64_t)draw(state, (unsigned)(*side < 1000 ? *side : 1000)) : 0;
    }
    for (int r = 0; r < changed.axes; r++)
        count *= changed.shape[r];
    changed.count = count;
    if (count <= tensor->count)
        *tensor = changed;
}

static void drop_tensor(kfe_i_safetensors *file, unsigned *state)
{
    if (!file->tensor_count)
        return;
    kfe_i_tensor *tensor = &file->tensors[draw(state, (unsigned)file->tensor_count)];
    kfe_i_free(file->ctx, tensor->name);
    *tensor = file->tensors[--file->tensor_count];
}

static void swap_tensors(kfe_i_safetensors *file, unsigned *state)
{
    if (file->tensor_count < 2)
        return;
    kfe_i_tensor *a = &file->tensors[draw(state, (unsigned)file->tensor_count)];
    kfe_i_tensor *b = &file->tensors[draw(state, (unsigned)file->tensor_count)];
    char *name = a->name;
    a->name = b->name;
    b->name = name;
}

typedef void (*change)(kfe_i_safetensors *file, unsigned *state);
static const change changes[] = {change_text,  change_text,  change_number, change_number, drop_text,
                                 change_entry, change_entry, change_shape,  drop_tensor,   swap_tensors};

/* Writes the signed file if there is room; otherwise returns 0. */
static size_t print(kfe_i_safetensors *file, uint8_t *out, size_t most)
{
    char *text = NULL;
    size_t size = 0;

    if (kfe_i_safetensors_print(file, &text, &size) != KFE_OK || size > most)
        size = 0;
    if (size)
        memcpy(out, text, size);
    kfe_i_free(file->ctx, text);
    return size;
}

/* Deletes the checksums; the writer computes new ones. */
static void drop_checksums(kfe_i_safetensors *file)
{
    for (int64_t i = file->metadata_count - 1; i >= 0; i--)
        if (strstr(file->metadata[i].key, "sha256")) {
            kfe_i_free(file->ctx, file->metadata[i].key);
            kfe_i_free(file->ctx, file->metadata[i].value);
            for (int64_t j = i; j + 1 < file->metadata_count; j++)
                file->metadata[j] = file->metadata[j + 1];
            file->metadata_count--;
        }
}

/* Changes a file some times and signs it again. Returns its size; 0: it is no such file, or there is no room. */
static size_t mutate(kfe_context *ctx, uint8_t *bytes, size_t size, size_t most, unsigned *state)
{
    kfe_i_safetensors file = {0};
    size_t written = 0;

    if (kfe_i_safetensors_parse(ctx, "model", bytes, size, &file) == KFE_OK) {
        drop_checksums(&file);
        for (unsigned count = 1 + draw(state, 3); count; count--)
            PICK(state, changes)(&file, state);
        written = print(&file, bytes, most);
    }
    kfe_i_safetensors_free(&file);
    return written;
}

/* Changes the model file inside a saved accumulator. Returns 0 if the file has none. */
static size_t mutate_map(kfe_context *ctx, uint8_t *bytes, size_t size, size_t most, unsigned *state)
{
    static _Alignas(8) uint8_t inner[1 << 16];
    kfe_i_safetensors file = {0};
    size_t written = 0;

    if (kfe_i_safetensors_parse(ctx, "sums", bytes, size, &file) == KFE_OK) {
        kfe_i_tensor *map = NULL;
        for (int64_t i = 0; i < file.tensor_count; i++)
            if (strcmp(file.tensors[i].name, "map") == 0 && file.tensors[i].count < (int64_t)sizeof inner)
                map = &file.tensors[i];
        if (map && map->dtype == KFE_DTYPE_U8 && map->axes == 1) {
            memcpy(inner, map->data, (size_t)map->count);
            map->count = (int64_t)mutate(ctx, inner, (size_t)map->count, sizeof inner, state);
            map->shape[0] = map->count;
            map->data = inner;
            drop_checksums(&file);
            written = map->count ? print(&file, bytes, most) : 0;
        }
    }
    kfe_i_safetensors_free(&file);
    return written;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    kfe_context *ctx = NULL;
    unsigned state = seed;
    size_t written = 0;

    if (draw(&state, 20) == 0 || kfe_context_new(&ctx) != KFE_OK)
        return LLVMFuzzerMutate(bytes, size, most);
    if (draw(&state, 3) == 0)
        written = mutate_map(ctx, bytes, size, most, &state);
    if (!written)
        written = mutate(ctx, bytes, size, most, &state);
    kfe_context_free(ctx);
    return written ? written : LLVMFuzzerMutate(bytes, size, most);
}

/* Combines the first file with some metadata and tensors of the second. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    kfe_context *ctx = NULL;
    kfe_i_safetensors first = {0};
    kfe_i_safetensors second = {0};
    unsigned state = seed;
    size_t written = 0;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    if (kfe_i_safetensors_parse(ctx, "a", a, a_size, &first) == KFE_OK &&
        kfe_i_safetensors_parse(ctx, "b", b, b_size, &second) == KFE_OK) {
        drop_checksums(&first);
        for (int64_t i = 0; i < second.metadata_count; i++)
            if (draw(&state, 3) == 0 && !strstr(second.metadata[i].key, "sha256"))
                kfe_i_safetensors_set(&first, second.metadata[i].key, second.metadata[i].value);
        for (int64_t i = 0; i < first.tensor_count; i++)
            for (int64_t j = 0; j < second.tensor_count; j++)
                if (draw(&state, 2) == 0 && strcmp(first.tensors[i].name, second.tensors[j].name) == 0) {
                    char *name = first.tensors[i].name;
                    first.tensors[i] = second.tensors[j];
                    first.tensors[i].name = name;
                }
        written = print(&first, out, most);
    }
    kfe_i_safetensors_free(&first);
    kfe_i_safetensors_free(&second);
    kfe_context_free(ctx);
    return written;
}
