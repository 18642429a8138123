/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers of the formats share. */
#ifndef KFE_DATA_WRITE_WRITER_H
#define KFE_DATA_WRITE_WRITER_H

#include "data/data.h"
#include "data/write/sink.h"

/* What is to be written: a table, perhaps with a target. */
typedef struct kfe_i_written {
    kfe_context *ctx;
    const char *path;
    kfe_i_table table;
    char *const *column_names; /* or NULL */
    const char *name_prefix;   /* of the names x1, x2, … made up for a header; NULL: then no header */
    const kfe_i_target *target;
    const char *target_name; /* or NULL */
    int target_first;        /* rows begin with the target, where the format leaves a choice */
    char stage[256];         /* "writing PATH" */
    double *row;             /* one dense row */
} kfe_i_written;

typedef struct kfe_i_writer {
    const char *extensions;
    kfe_status (*write)(const kfe_i_written *what, kfe_i_sink *sink);
    int packable; /* may be gzipped */
} kfe_i_writer;

extern const kfe_i_writer kfe_i_csv_writer, kfe_i_tsv_writer, kfe_i_libsvm_writer, kfe_i_npy_writer,
    kfe_i_npz_writer;

/* Writes it in the format that the extension of its path names ("-": CSV on standard output), whole or not at
 * all. A table without columns is not written where the target stands apart. */
kfe_status kfe_i_write(kfe_i_written *what);

/* Flushes now and then, tells of progress, and asks whether to go on; at the end of row i. */
kfe_status kfe_i_written_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i);
/* Row i, dense: into what->row unless it lies ready in the table. */
const double *kfe_i_written_dense(const kfe_i_written *what, int64_t i);
/* The number that each class name is, if all of them are numbers that are written as we write them: then
 * for kfe_i_free; otherwise *numbers is NULL. */
kfe_status kfe_i_class_numbers(kfe_context *ctx, const kfe_i_target *target, double **numbers);

#endif
