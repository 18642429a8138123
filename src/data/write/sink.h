/* SPDX-License-Identifier: Apache-2.0 */
/* Write bytes to a file that appears whole or not at all, compressed if asked. */
#ifndef KFE_DATA_WRITE_SINK_H
#define KFE_DATA_WRITE_SINK_H

#include <zlib.h>

#include "core/file.h"
#include "core/text.h"
#include "data/packing/packing.h"

typedef struct kfe_i_sink {
    kfe_context *ctx;
    kfe_i_outfile file;
    kfe_i_text pending;          /* bytes not yet handed to the file */
    const kfe_i_packing *packed; /* NULL: plain bytes */
    void *packer;                /* the state of the codec */
    unsigned char *packed_bytes;
    int64_t written; /* bytes put so far, before packing */
    uLong crc;       /* of what was put since kfe_i_sink_begin_crc */
    int crc_wanted;
} kfe_i_sink;

/* Commit or abandon the sink, also after a failure. */
kfe_status kfe_i_sink_open(kfe_context *ctx, const char *path, const kfe_i_packing *packed, kfe_i_sink *out);
/* A failure is remembered: kfe_i_sink_flush and kfe_i_sink_commit return it. */
void kfe_i_sink_put(kfe_i_sink *sink, const void *bytes, int64_t size);
void kfe_i_sink_puts(kfe_i_sink *sink, const char *text);
void kfe_i_sink_put_number(kfe_i_sink *sink, double value);
/* CRC-32 of what is put between the two calls. */
void kfe_i_sink_begin_crc(kfe_i_sink *sink);
uint32_t kfe_i_sink_crc(kfe_i_sink *sink);
/* Writes the pending bytes if there are many; call it at the end of a row. */
kfe_status kfe_i_sink_flush(kfe_i_sink *sink);
/* Hands all rows to whoever reads the file, if it is written in place (a pipe, standard output). */
kfe_status kfe_i_sink_deliver(kfe_i_sink *sink);
kfe_status kfe_i_sink_commit(kfe_i_sink *sink);
void kfe_i_sink_abandon(kfe_i_sink *sink);

#endif
