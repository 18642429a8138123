/* SPDX-License-Identifier: Apache-2.0 */
/* Read and write files of one format. To add a format, write a file that ends in a kfe_i_format and list it in formats.def. */
#ifndef KFE_DATA_FORMAT_FORMAT_H
#define KFE_DATA_FORMAT_FORMAT_H

#include "data/read/reader.h"
#include "data/write/writer.h"

typedef struct kfe_i_format {
    const char *name;
    const char *extensions; /* "svm|libsvm", the customary one first */
    /* What every such file begins with, whatever its extension is. NULL: the extension decides. */
    const char *magic;
    /* Whether the first bytes of a file, which begin with the magic, say that it is this format. NULL: the magic is enough. */
    int (*recognise)(const char *head, int64_t length);

    /* Reading, either whole or in parts. `open` finds out what the columns are; source and settings must outlive the state.
     * `next` reads up to `part_rows` rows (0: all), fewer if more would have to be waited for, and none at the end. Call
     * `close` also after a failure. */
    kfe_status (*read)(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out);
    kfe_status (*open)(kfe_i_source *source, const kfe_i_read_settings *settings, int64_t part_rows,
                       void **state);
    kfe_status (*next)(void *state, kfe_i_raw_table *out);
    void (*close)(kfe_context *ctx, void *state);
    int has_text_columns; /* columns may hold text, which {encode} turns into numbers */
    int has_headers; /* examples have a line of description, from which {label-pattern} takes the label */

    /* Writing; NULL: the format is only read. */
    kfe_status (*write)(const kfe_i_written *what, kfe_i_sink *sink);
    int packs_itself;       /* the file cannot be compressed again */
    int in_parts;           /* rows may be written in several calls */
    int holds_strings;      /* examples may be strings */
    int holds_sparse;       /* sparse rows stay sparse */
    int holds_ids;          /* has a place for the names of the rows */
    int has_words;          /* writes value_words */
    int begins_with_labels; /* every row does, also a row of features */
} kfe_i_format;

extern const kfe_i_format kfe_i_format_csv; /* other formats turn their text columns into its text */

/* "auto|csv|tsv|…": the words of {format}. */
extern const char kfe_i_format_words[];
/* NULL past the end. */
const kfe_i_format *kfe_i_format_at(int index);
/* The format that has this extension, as kfe_i_path_extension gives it; NULL: none. */
const kfe_i_format *kfe_i_format_of_extension(const char *extension);
/* The format whose magic bytes these are; NULL: none. */
const kfe_i_format *kfe_i_format_by_magic(const char *head, int64_t length);
/* The format that the path of a file or else the form of its text suggest; never NULL. */
const kfe_i_format *kfe_i_format_guess(const char *path, const char *head, int64_t length);
/* Reads the whole file. */
kfe_status kfe_i_format_read(const kfe_i_format *format, kfe_i_source *source,
                             const kfe_i_read_settings *settings, kfe_i_raw_table *out);

#endif
