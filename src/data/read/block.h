/* SPDX-License-Identifier: Apache-2.0 */
/* Scan text in blocks of whole lines, as the readers of CSV and LIBSVM files do, or line by line. */
#ifndef KFE_DATA_READ_BLOCK_H
#define KFE_DATA_READ_BLOCK_H

#include "data/read/source.h"

typedef struct kfe_i_block {
    kfe_i_source *source;
    char *bytes;
    int64_t length, capacity;
    int64_t line; /* 1-based number of the line that bytes[0] is in */
    int finished; /* the source has ended; then the last byte is a line end */
    int begun;
    int lone_returns; /* lines end in CR alone, as on old Macs */
} kfe_i_block;

kfe_status kfe_i_block_open(kfe_i_source *source, kfe_i_block *out);
void kfe_i_block_close(kfe_i_block *block);
/* Reads until the buffer is full or the source ends. A byte order mark is skipped, binary data refused. */
kfe_status kfe_i_block_fill(kfe_i_block *block);
/* Makes the buffer larger, for a line that does not fit, and fills it. */
kfe_status kfe_i_block_widen(kfe_i_block *block);
/* Takes what is at hand, without waiting for more; if `wait` is set, waits for at least one byte. A full buffer is made
 * larger if `wait` is set. */
kfe_status kfe_i_block_fill_at_hand(kfe_i_block *block, int wait);
/* Removes the first `count` bytes and counts their lines. */
void kfe_i_block_consume(kfe_i_block *block, int64_t count);
/* The end of the last whole line; the byte before it is a line end. */
const char *kfe_i_block_lines_end(const kfe_i_block *block);
/* The same, but at most `most` lines. */
const char *kfe_i_block_some_lines_end(const kfe_i_block *block, int64_t most);
/* Number of the line that a place in the buffer is in. */
int64_t kfe_i_block_line(const kfe_i_block *block, const char *place);

/* Reads the source block by block and gives each to `take`, which sets *used to the bytes of the lines that it took: none if it needs more
 * of the text first. Ends with the source; a part, whose rows so far are *rows (NULL: all is read), ends as soon as it has rows. */
typedef kfe_status (*kfe_i_block_fn)(void *reader, int64_t *used);
kfe_status kfe_i_block_each(kfe_i_block *block, const int64_t *rows, kfe_i_block_fn take, void *reader);

/* Walk through a text line by line, for formats that need no speed. */
typedef struct kfe_i_lines {
    kfe_i_block block;
    int64_t taken;           /* bytes of the block that were walked through */
    int64_t number;          /* of the current line, from 1 */
    const char *begin, *end; /* the current line without its end; valid until the next call */
} kfe_i_lines;

kfe_status kfe_i_lines_open(kfe_i_source *source, kfe_i_lines *out);
void kfe_i_lines_close(kfe_i_lines *lines);
/* Moves to the next line; *found is 0 at the end of the source. */
kfe_status kfe_i_lines_next(kfe_i_lines *lines, int *found);
/* Moves to the next line that is not blank and whose first character is not `comment`; *c is that character, NULL at the end
 * of the source. */
kfe_status kfe_i_lines_next_content(kfe_i_lines *lines, char comment, const char **c);

/* The number of line ends in [begin, end). */
int64_t kfe_i_count_lines(const char *begin, const char *end);

#endif
