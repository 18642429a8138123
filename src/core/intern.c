/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers distinct strings with a hash table; labels are stored this way. */
#include "core/intern.h"

#include <string.h>

#include "core/memory.h"

void kfe_i_intern_init(kfe_i_intern *intern, kfe_context *ctx)
{
    memset(intern, 0, sizeof *intern);
    intern->ctx = ctx;
    kfe_i_text_init(&intern->bytes, ctx);
}

void kfe_i_intern_free(kfe_i_intern *intern)
{
    if (!intern->ctx)
        return;
    kfe_i_text_free(&intern->bytes);
    kfe_i_free(intern->ctx, intern->starts);
    kfe_i_free(intern->ctx, intern->slots);
    memset(intern, 0, sizeof *intern);
}

const char *kfe_i_intern_word(const kfe_i_intern *intern, int64_t number)
{
    return intern->bytes.bytes + intern->starts[number];
}

int64_t kfe_i_intern_length(const kfe_i_intern *intern, int64_t number)
{
    int64_t end = number + 1 < intern->count ? intern->starts[number + 1] : intern->bytes.length;
    return end - intern->starts[number] - 1;
}

/* FNV-1a; the high bits are mixed into the low ones, which choose the slot. */
static uint64_t hash_of(const char *word, int64_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (int64_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * UINT64_C(1099511628211);
    return hash ^ (hash >> 32);
}

/* The slot of this word, or the empty slot where it would be added. */
static int32_t *find_slot(const kfe_i_intern *intern, const char *word, int64_t length)
{
    uint64_t mask = (uint64_t)intern->slot_count - 1;
    uint64_t slot = hash_of(word, length) & mask;

    for (;; slot = (slot + 1) & mask) {
        int32_t number = intern->slots[slot];
        if (number < 0)
            break;
        if (kfe_i_intern_length(intern, number) == length &&
            memcmp(kfe_i_intern_word(intern, number), word, (size_t)length) == 0)
            break;
    }
    return &intern->slots[slot];
}

static kfe_status grow_slots(kfe_i_intern *intern)
{
    int64_t wider = intern->slot_count ? 2 * intern->slot_count : 64;
    int32_t *slots = kfe_i_alloc(intern->ctx, wider, sizeof *slots);

    if (!slots)
        return kfe_i_lack(intern->ctx);
    memset(slots, 0xff, (size_t)wider * sizeof *slots);
    kfe_i_free(intern->ctx, intern->slots);
    intern->slots = slots;
    intern->slot_count = wider;
    for (int64_t k = 0; k < intern->count; k++)
        *find_slot(intern, kfe_i_intern_word(intern, k), kfe_i_intern_length(intern, k)) = (int32_t)k;
    return KFE_OK;
}

static kfe_status append_word(kfe_i_intern *intern, const char *word, int64_t length)
{
    kfe_status status = KFE_OK;
    int64_t start = intern->bytes.length;

    if (intern->count >= INT32_MAX)
        KFE_FAIL(intern->ctx, KFE_EINPUT, "more than %d distinct labels", INT32_MAX);
    KFE_GROW(intern->ctx, intern->starts, intern->capacity, intern->count + 1);
    kfe_i_text_add(&intern->bytes, word, length);
    kfe_i_text_add(&intern->bytes, "", 1);
    KFE_TRY(intern->bytes.status);
    intern->starts[intern->count++] = start;
cleanup:
    return status;
}

kfe_status kfe_i_intern_add(kfe_i_intern *intern, const char *word, int64_t length, int32_t *number)
{
    kfe_status status = KFE_OK;
    int32_t *slot;

    if (2 * intern->count >= intern->slot_count)
        KFE_TRY(grow_slots(intern));
    slot = find_slot(intern, word, length);
    if (*slot < 0) {
        KFE_TRY(append_word(intern, word, length));
        *slot = (int32_t)(intern->count - 1);
    }
    *number = *slot;
cleanup:
    return status;
}

kfe_status kfe_i_find_twins(kfe_context *ctx, int64_t count, const char *const *names, int64_t *first,
                            int64_t *second)
{
    kfe_status status = KFE_OK;
    kfe_i_intern words;
    int64_t *place = NULL; /* of the first column of each name */

    *first = *second = 0;
    if (!names)
        return KFE_OK;
    kfe_i_intern_init(&words, ctx);
    KFE_ALLOC(ctx, place, count);
    for (int64_t j = 0; j < count && *second == 0; j++) {
        int64_t before = words.count;
        int32_t number = 0;
        if (!names[j] || !names[j][0])
            continue;
        KFE_TRY(kfe_i_intern_add(&words, names[j], (int64_t)strlen(names[j]), &number));
        if (number == before) {
            place[number] = j;
        } else {
            *first = place[number];
            *second = j;
        }
    }
cleanup:
    kfe_i_free(ctx, place);
    kfe_i_intern_free(&words);
    return status;
}
