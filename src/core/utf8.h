/* SPDX-License-Identifier: Apache-2.0 */
/* Take text that somebody else wrote (names, cells, file names): check that it is UTF-8, which the JSON of model files and results
 * requires, and show it without letting a terminal obey it. */
#ifndef KFE_CORE_UTF8_H
#define KFE_CORE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Reads one character: its length, or 0 if the bytes are not UTF-8 (overlong forms and surrogates included). */
size_t kfe_i_utf8_decode(const char *text, size_t length, uint32_t *code);
/* Writes one character, and returns its length. */
size_t kfe_i_utf8_encode(uint32_t code, char out[4]);
int kfe_i_is_utf8(const char *text);
/* Replaces every byte beyond ASCII by '?' if the text is not UTF-8; other text stays as it is. */
void kfe_i_force_utf8(char *text);

/* The most bytes that one byte of text becomes: \x1b. */
enum { KFE_ESCAPE_GROWTH = 4 };

/* Writes [text, text + length) to `out`, which has room for KFE_ESCAPE_GROWTH × length bytes, and returns the number of
 * bytes written. Printable UTF-8 and the characters in `kept` stay as they are. Each byte of a control character, of a
 * mark that changes the direction of writing, and of invalid UTF-8 becomes \xNN. */
size_t kfe_i_escape(const char *text, size_t length, const char *kept, char *out);

/* The length of the control character or mark of direction beyond ASCII that `text` (UTF-8) begins with, and its number;
 * 0: it begins with something else. */
size_t kfe_i_control_beyond_ascii(const char *text, uint32_t *code);

/* The same for a string in a buffer of its own: escaped in place, cut at a whole character where it no longer fits. */
void kfe_i_escape_in_place(char *text, size_t size);

#endif
