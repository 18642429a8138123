/* SPDX-License-Identifier: Apache-2.0 */
/* Read an Arrow stream: its columns, and one value at a time. */
#ifndef KFE_DATA_ARROW_ARROW_H
#define KFE_DATA_ARROW_ARROW_H

#include "core/text.h"
#include "kfe_arrow.h"

typedef enum kfe_i_arrow_kind {
    KFE_ARROW_WHOLE,   /* whole numbers */
    KFE_ARROW_REAL,    /* floating point */
    KFE_ARROW_BOOLEAN, /* "false", "true"; 0 and 1 as numbers */
    KFE_ARROW_TEXT,
    KFE_ARROW_NOTHING /* every value is missing */
} kfe_i_arrow_kind;

typedef struct kfe_i_arrow_column {
    const char *name;
    const char *format; /* of the values: of the dictionary if there is one */
    const char *index;  /* format of the numbers of a dictionary; NULL: none */
    kfe_i_arrow_kind kind;
} kfe_i_arrow_column;

/* A stream that was read: all of its chunks are held until kfe_i_arrow_close. */
typedef struct kfe_i_arrow {
    kfe_context *ctx;
    struct ArrowSchema schema;
    struct ArrowArray *chunks;
    int64_t chunk_count, chunk_capacity;
    int64_t count; /* of columns */
    kfe_i_arrow_column *columns;
    int64_t rows;
} kfe_i_arrow;

/* One value: number or text, as the kind of its column says. */
typedef struct kfe_i_arrow_value {
    int missing;
    double number;
    const char *text; /* not NUL-terminated */
    int64_t length;
} kfe_i_arrow_value;

/* Reads all chunks. Close `out` also after a failure; the stream itself stays with the caller. */
kfe_status kfe_i_arrow_open(kfe_context *ctx, struct ArrowArrayStream *stream, kfe_i_arrow *out);
void kfe_i_arrow_close(kfe_i_arrow *arrow);
/* Value `row` of a column in one chunk. Fails if a dictionary or a text has no such place. */
kfe_status kfe_i_arrow_value_at(const kfe_i_arrow *arrow, int64_t chunk, int64_t column, int64_t row,
                                kfe_i_arrow_value *out);

#endif
