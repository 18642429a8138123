/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that grow, and failures with a formatted reason. Used by every file of this folder. */
#ifndef REP_TEXT_H
#define REP_TEXT_H

#include <stddef.h>

#include "kfe.h"

/* In functions with `kfe_status status` and a `cleanup:` label. */
#define REP_TRY(call)                                                                                        \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != KFE_OK)                                                                                \
            goto cleanup;                                                                                    \
    } while (0)

/* Records the reason and returns `status`. */
kfe_status rep_fail(kfe_context *ctx, kfe_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kfe_status rep_out_of_memory(kfe_context *ctx);
/* A zeroed array that the caller frees with free(). */
kfe_status rep_allocate(kfe_context *ctx, size_t count, size_t size, void **out);
/* A copy that the caller frees with free(). */
kfe_status rep_copy(kfe_context *ctx, const char *string, char **out);

/* Begin with {0}. Once memory runs out, nothing more is added and `failed` stays set. */
typedef struct rep_text {
    char *bytes; /* NUL-terminated once something was added */
    size_t length, capacity;
    int failed;
} rep_text;

void rep_text_add(rep_text *text, const char *bytes, size_t count);
void rep_text_puts(rep_text *text, const char *string);
void rep_text_printf(rep_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shortest number that reads back as `value`. */
void rep_text_number(rep_text *text, double value);
/* The text so far; "" if nothing was added. */
const char *rep_text_string(const rep_text *text);
/* KFE_ENOMEM if the text is not complete. */
kfe_status rep_text_check(kfe_context *ctx, const rep_text *text);
/* Hands the string to the caller, who frees it with free(). */
kfe_status rep_text_take(kfe_context *ctx, rep_text *text, char **out);
void rep_text_free(rep_text *text);

/* The position of `word` in "a|b|c"; -1 if it is not there. */
int rep_word_index(const char *words, const char *word);

#endif
