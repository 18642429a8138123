/* SPDX-License-Identifier: Apache-2.0 */
/* Build strings in the command line. Running out of memory ends the program, since there is nothing to save. */
#ifndef KFE_CLI_TEXT_H
#define KFE_CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Grows `block` (NULL: a new one) to count × size bytes. */
void *cli_resize(void *block, size_t count, size_t size);

typedef struct cli_text {
    char *bytes; /* NUL-terminated once anything was added; free() it */
    size_t length, capacity;
} cli_text;

void cli_text_add(cli_text *text, const char *string);
void cli_text_printf(cli_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends "key=value" as an option of the library, after a comma unless it is the first. */
void cli_text_option(cli_text *text, const char *key, const char *value);
/* The string; "" if nothing was added. */
const char *cli_text_string(const cli_text *text);

/* The text as it may be shown on a terminal, with control characters escaped (kfe_escape). Valid for the next four
 * calls. */
const char *cli_shown(const char *text);

/* Writes paragraphs, wrapped at the width of the screen; every line but the first is indented. `column` is the
 * position of the cursor. */
void cli_print_wrapped(FILE *out, const char *text, int indent, int column);

/* Keeps the candidate most similar to a misspelt word in `best`; NULL if none is similar enough. */
typedef struct cli_suggestion {
    const char *best;
    int typos;
} cli_suggestion;
void cli_suggest(cli_suggestion *suggestion, const char *word, const char *candidate);

/* Our name of a flag that scikit-learn, or other programs, call `name`, with _ or - in it; `name` if there is none. */
const char *cli_own_name(const char *name);

#endif
