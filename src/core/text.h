/* SPDX-License-Identifier: Apache-2.0 */
/* Build strings, and convert numbers to and from text in the same way in every locale. */
#ifndef KFE_CORE_TEXT_H
#define KFE_CORE_TEXT_H

#include "core/context.h"

typedef struct kfe_i_text {
    kfe_context *ctx;
    char *bytes; /* NUL-terminated once anything was added */
    int64_t length, capacity;
    kfe_status status; /* the first failure; check it once, at the end */
} kfe_i_text;

void kfe_i_text_init(kfe_i_text *text, kfe_context *ctx);
void kfe_i_text_free(kfe_i_text *text);
void kfe_i_text_add(kfe_i_text *text, const char *bytes, int64_t length);
void kfe_i_text_puts(kfe_i_text *text, const char *string);
void kfe_i_text_printf(kfe_i_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a name for people to read: control characters, ends of lines included, are escaped (escape.h). */
void kfe_i_text_add_shown(kfe_i_text *text, const char *name);
/* The same in a column of a table: right-aligned in `width` characters, and cut to `most` characters, the last of them an
 * ellipsis. kfe_i_shown_width says how many characters that takes without alignment. */
void kfe_i_text_add_cell(kfe_i_text *text, const char *name, int width, int most);
int kfe_i_shown_width(const char *name, int most);
/* Appends a cell of CSV, quoted where that is needed. A word that a spreadsheet would evaluate as a formula gets a quote in front. */
void kfe_i_text_add_csv(kfe_i_text *text, const char *cell);
/* Gives the string to the caller, who frees it with kfe_i_free; NULL if something failed. */
kfe_status kfe_i_text_take(kfe_i_text *text, char **out);

/* snprintf with a decimal point in every locale. The library formats numbers only through this and kfe_i_vsnprintf. */
int kfe_i_snprintf(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The shortest text that reads back as the same double ("nan", "inf", "-inf" for those). */
enum { KFE_NUMBER_TEXT = 32 };
void kfe_i_format_number(double value, char out[KFE_NUMBER_TEXT]);
/* "1.5 GB" */
void kfe_i_format_bytes(double bytes, char *out, size_t size);

/* Reads the number in [begin, end), with blanks around it or not; nan and inf are numbers. Correctly rounded, with a
 * decimal point in every locale. Returns 1, or 0 if it is not a number. */
int kfe_i_parse_number(const char *begin, const char *end, double *out);

/* Whether a text begins with this word, or is this word, in small or capital letters. The word has small letters. */
int kfe_i_begins_with(const char *begin, const char *end, const char *word);
int kfe_i_is_word(const char *begin, const char *end, const char *word);
/* Whether two names are the same if dashes and underscores are: label_file is label-file. */
int kfe_i_same_name(const char *a, const char *b);
/* The index of `word` in a list "a|b|c", or -1. */
int kfe_i_word_index(const char *words, const char *word);
/* Copies entry `index` of a word list. Returns 0 past the end. */
int kfe_i_word_at(const char *words, int index, char *out, size_t size);

#endif
