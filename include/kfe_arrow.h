/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Take tables from polars, pandas, pyarrow, DuckDB and other libraries in memory, through the Arrow C data interface.
 *
 * The structs and their guards are those of the specification
 * (https://arrow.apache.org/docs/format/CDataInterface.html), so that several libraries may declare them in one
 * program. Everything else of kfe is in kfe.h.
 */
#ifndef KFE_ARROW_H
#define KFE_ARROW_H

#include <stdint.h>

#include "kfe.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* ---- tables of Arrow, in kfe_arrow.h ---------------------------------------------------------- */

/* Makes data of a table, with these options of kfe_data_read: label, id, drop, select, groups, weight, encode,
 * missing, task, content. Columns hold numbers, booleans, text or dictionaries; nulls are missing values. Everything
 * is copied once. The stream is released even if the call fails. */
KFE_API kfe_status kfe_data_from_arrow_stream(kfe_context *ctx, struct ArrowArrayStream *stream,
                                              const char *options, kfe_data **out);

#ifdef __cplusplus
}
#endif

#endif
