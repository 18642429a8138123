/* SPDX-License-Identifier: Apache-2.0 */
/* Number distinct strings in the order of their first appearance. */
#ifndef KFE_CORE_INTERN_H
#define KFE_CORE_INTERN_H

#include "core/text.h"

typedef struct kfe_i_intern {
    kfe_context *ctx;
    kfe_i_text bytes; /* the words one after the other, each ended by NUL */
    int64_t *starts;  /* of each word in bytes */
    int64_t count, capacity;
    int32_t *slots; /* hash table: number of the word, or -1 */
    int64_t slot_count;
} kfe_i_intern;

void kfe_i_intern_init(kfe_i_intern *intern, kfe_context *ctx);
void kfe_i_intern_free(kfe_i_intern *intern);
/* The number of this word. A new word gets the next number, the count so far. */
kfe_status kfe_i_intern_add(kfe_i_intern *intern, const char *word, int64_t length, int32_t *number);
const char *kfe_i_intern_word(const kfe_i_intern *intern, int64_t number);
int64_t kfe_i_intern_length(const kfe_i_intern *intern, int64_t number);

/* The first two of `count` names that are equal, other than ""; *second is 0 if there are none. names may be NULL, and so may
 * each of them. */
kfe_status kfe_i_find_twins(kfe_context *ctx, int64_t count, const char *const *names, int64_t *first,
                            int64_t *second);

#endif
