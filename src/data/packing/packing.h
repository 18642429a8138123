/* SPDX-License-Identifier: Apache-2.0 */
/* Recognise compressed files, and pack or unpack them. To add a compression, write a file that ends in a kfe_i_packing and list it in
 * packings.def. */
#ifndef KFE_DATA_PACKING_PACKING_H
#define KFE_DATA_PACKING_PACKING_H

#include "core/context.h"

typedef enum kfe_i_codec_result {
    KFE_CODEC_GOES_ON,
    KFE_CODEC_ENDED,     /* the stream is complete */
    KFE_CODEC_DAMAGED,   /* the bytes are not such a stream */
    KFE_CODEC_NO_MEMORY, /* the context has refused an allocation */
    KFE_CODEC_TOO_LARGE  /* the stream asks for a larger window than the library allows */
} kfe_i_codec_result;

typedef enum kfe_i_codec_action { KFE_CODEC_RUN, KFE_CODEC_FLUSH, KFE_CODEC_FINISH } kfe_i_codec_action;

/* What a step of a codec may read and write. The step moves both pointers past the bytes that it used. */
typedef struct kfe_i_codec_io {
    const unsigned char *in;
    int64_t in_size;
    unsigned char *out;
    int64_t out_size;
} kfe_i_codec_io;

typedef struct kfe_i_packing {
    const char *name;      /* "xz" */
    const char *extension; /* "xz", without the dot */
    const char *magic;     /* the first bytes of a file */
    int64_t magic_length;
    const char *unpacker; /* the command that unpacks such a file */
    const char *package;  /* what a build needs; NULL: nothing */

    /* Begins to pack or to unpack. NULL where the build lacks the library; then so are the others. End it also after a failure. */
    kfe_i_codec_result (*begin)(kfe_context *ctx, int packs, void **state);
    /* Goes on as far as input and room allow. KFE_CODEC_ENDED: the stream or a flush is complete. Unpacking always runs. */
    kfe_i_codec_result (*run)(void *state, kfe_i_codec_io *io, kfe_i_codec_action action);
    /* Prepares to unpack the next stream of the same file. */
    kfe_i_codec_result (*next)(void *state);
    void (*end)(void *state);
} kfe_i_packing;

/* NULL past the end. */
const kfe_i_packing *kfe_i_packing_at(int index);
/* What the first bytes of a file say; NULL: it is not compressed. *unsure: with more bytes the answer might change. */
const kfe_i_packing *kfe_i_packing_recognise(const unsigned char *bytes, int64_t count, int *unsure);
/* The compression that the extension of a path names, or NULL; *length is that of the extension with its dot, or 0. */
const kfe_i_packing *kfe_i_packing_of_path(const char *path, size_t *length);

extern const kfe_i_packing kfe_i_packing_gzip;
/* A raw stream inside a zip archive, never a whole file. */
extern const kfe_i_packing kfe_i_packing_deflate;

#endif
