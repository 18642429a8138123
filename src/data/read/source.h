/* SPDX-License-Identifier: Apache-2.0 */
/* Read bytes from a file, standard input or memory, decompressed on the way. */
#ifndef KFE_DATA_READ_SOURCE_H
#define KFE_DATA_READ_SOURCE_H

#include "data/packing/packing.h"

typedef struct kfe_i_source {
    kfe_context *ctx;
    char *name;     /* for messages */
    char *stage;    /* "reading NAME", for progress */
    int descriptor; /* -1: memory */
    const unsigned char *memory;
    int64_t memory_size;
    int64_t taken;               /* bytes taken from the file or memory so far */
    int64_t total;               /* bytes that the file or memory has; 0 if not known */
    const kfe_i_packing *packed; /* NULL: plain bytes */
    int64_t unpacked;            /* of a deflate stream: bytes that are still to come, as its opener said */
    int ended;                   /* nothing more to come from the decoder */
    int holds_output;            /* the decoder filled its last buffer and may hold more */
    int in_parts;                /* peeking waits for the first line only, not for 64 kB */
    void *unpacker;              /* the state of the codec */
    unsigned char *input;        /* raw bytes: what the decoder reads from, and what was looked at ahead */
    int64_t input_begin, input_end;
    char *head; /* plain bytes that were peeked at and not yet read */
    int64_t head_begin, head_end;
} kfe_i_source;

/* Close the source after each of these, also after a failure. */
kfe_status kfe_i_source_open(kfe_context *ctx, const char *path, kfe_i_source *out);
/* Memory that stays where it is; unpacked if it is a compressed file. */
kfe_status kfe_i_source_open_memory(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                                    kfe_i_source *out);
/* A raw deflate stream in memory, as zip files have; it unpacks to `unpacked` bytes. */
kfe_status kfe_i_source_open_deflated(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                                      int64_t unpacked, kfe_i_source *out);
void kfe_i_source_close(kfe_i_source *source);

/* Reads up to `size` bytes; fewer only at the end. */
kfe_status kfe_i_source_read(kfe_i_source *source, void *buffer, int64_t size, int64_t *got);
/* Reads up to `size` bytes that are at hand, without waiting for more. If `wait` is set, waits for the first one.
 * *ended is set at the end of the source. */
kfe_status kfe_i_source_read_at_hand(kfe_i_source *source, void *buffer, int64_t size, int wait, int64_t *got,
                                     int *ended);
/* The first bytes, up to 64 kB, without taking them. A source that is read in parts waits only until these hold a
 * line that is not blank. */
kfe_status kfe_i_source_peek(kfe_i_source *source, const char **bytes, int64_t *count);
/* Everything that is left, in memory for kfe_i_free. */
kfe_status kfe_i_source_read_all(kfe_i_source *source, char **bytes, int64_t *count);
/* The number of bytes left, or -1 if it is not known in advance. */
int64_t kfe_i_source_remaining(const kfe_i_source *source);
/* Reports progress and asks whether to go on. */
kfe_status kfe_i_source_progress(kfe_i_source *source);

/* The name of a path in messages: "standard input" for "-". */
const char *kfe_i_shown_path(const char *path);
/* The extension of a path without its dot and without that of a compression (".gz"), in lower case; "" if there is
 * none. Returns the compression, or NULL. */
const kfe_i_packing *kfe_i_path_extension(const char *path, char *out, size_t size);

#endif
