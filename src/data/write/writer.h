/* SPDX-License-Identifier: Apache-2.0 */
/* Write a format: what it is given, and helpers for rows and class numbers. */
#ifndef KFE_DATA_WRITE_WRITER_H
#define KFE_DATA_WRITE_WRITER_H

#include "data/data.h"
#include "data/write/sink.h"

/* What is written: a table, with or without a target. */
typedef struct kfe_i_written {
    kfe_context *ctx;
    const char *path;
    kfe_i_table table;
    char *const *column_names; /* or NULL */
    /* Text has these words in place of the table's numbers 0, 1, …; or NULL */
    const char *const *value_words;
    const char *name_prefix; /* for generated names x1, x2, … of a header; NULL: no header */
    const kfe_i_table *ids;  /* strings that name the rows, or NULL */
    const char *id_name;
    const kfe_i_target *target;
    const char *target_name; /* or NULL */
    int mark_whole;          /* text has whole real targets as 1.0, to be read back as real ones */
    int continued;           /* rows were written before these: there is no header */
    int target_first;        /* rows begin with the target, where the format leaves a choice */
    char stage[256];         /* "writing PATH" */
    double *row;             /* one dense row */
} kfe_i_written;

/* Writes into an output that takes more rows. A table without columns is left out of formats that store the target separately. `what`
 * receives its path. */
kfe_status kfe_i_output_put(kfe_output *output, kfe_i_written *what);

/* Fails if the output was made with another context. */
kfe_status kfe_i_output_check(kfe_context *ctx, const kfe_output *output);

/* Whether rows of this format begin with the label, as in LIBSVM files. */
int kfe_i_output_begins_with_labels(const kfe_output *output);

/* Has the numbers of a matrix written, which the table borrows. */
void kfe_i_written_set_matrix(kfe_i_written *what, const kfe_matrix *matrix);
/* Has the names of the rows of `data` (NULL: none) written, if it has some. */
void kfe_i_written_set_ids(kfe_i_written *what, const kfe_data *data);

/* Call this at the end of row i: it flushes, reports progress and asks whether to go on. */
kfe_status kfe_i_written_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i);
/* Row i as dense numbers: in the table, or copied into what->row. */
const double *kfe_i_written_dense(const kfe_i_written *what, int64_t i);
/* Writes one real target as text. */
void kfe_i_put_target_value(const kfe_i_written *what, kfe_i_sink *sink, double value);
/* If all class names are numbers in their shortest form, *numbers holds them (free it with kfe_i_free); otherwise it
 * is NULL. */
kfe_status kfe_i_class_numbers(kfe_context *ctx, const kfe_i_target *target, double **numbers);

#endif
