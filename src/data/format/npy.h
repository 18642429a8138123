/* SPDX-License-Identifier: Apache-2.0 */
/* Read a NumPy array: its header, and its elements as numbers or as words. */
#ifndef KFE_DATA_FORMAT_NPY_H
#define KFE_DATA_FORMAT_NPY_H

#include "data/format/format.h"

enum { KFE_NPY_DIMENSIONS = 8, KFE_NPY_DESCR = 32 };

typedef struct kfe_i_npy {
    char descr[KFE_NPY_DESCR]; /* "<f8" */
    char kind;                 /* f i u b U S */
    int size;                  /* bytes of an element */
    int swapped;               /* the other byte order than this machine's */
    int fortran;
    int dimensions;
    int64_t shape[KFE_NPY_DIMENSIONS];
    int64_t count; /* of elements */
} kfe_i_npy;

#define KFE_NPY_MAGIC "\x93NUMPY"
/* Reads magic, version and header. `what` names the array in messages. */
kfe_status kfe_i_npy_read_header(kfe_i_source *source, const char *what, kfe_i_npy *out);
/* The elements as doubles, row-major; free them with kfe_i_free. */
kfe_status kfe_i_npy_read_numbers(kfe_i_source *source, const char *what, const kfe_i_npy *npy, double **out);
/* The elements of an array of strings, into `labels`. */
kfe_status kfe_i_npy_read_words(kfe_i_source *source, const char *what, const kfe_i_npy *npy,
                                kfe_i_labels *labels);
/* Reads one array as labels, numbers or strings. */
kfe_status kfe_i_npy_read_labels(kfe_i_source *source, const char *what, kfe_i_labels *labels);
/* Reads a matrix into a raw table; with_label: the label may be one of its columns. */
kfe_status kfe_i_npy_read_table(kfe_i_source *source, const char *what, const kfe_i_read_settings *settings,
                                int with_label, kfe_i_raw_table *out);

/* Writing: numbers in little-endian order, headers, and the rows of a table with a target (NULL: none) before or after each. */
void kfe_i_npy_put_whole(kfe_i_sink *sink, uint64_t value, int size);
void kfe_i_npy_put_double(kfe_i_sink *sink, double value);
void kfe_i_npy_put_doubles(kfe_i_sink *sink, const double *values, int64_t count);
void kfe_i_npy_put_header(kfe_i_sink *sink, const char *descr, const char *shape);
void kfe_i_npy_put_matrix_header(kfe_i_sink *sink, int64_t rows, int64_t cols);
void kfe_i_npy_put_vector_header(kfe_i_sink *sink, const char *descr, int64_t count);
kfe_status kfe_i_npy_put_rows(const kfe_i_written *what, kfe_i_sink *sink, const kfe_i_target *target,
                              const double *class_numbers);
/* An archive of such arrays (npz_write.c). */
kfe_status kfe_i_npz_write(const kfe_i_written *what, kfe_i_sink *sink);

#endif
