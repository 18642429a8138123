/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep the scaled rows of a stream that this process has read, and evaluate the kernel columns of any row on them, for a pursuit without
 * landmarks. Rows are numbered in the order of the files, over all processes. Dense rows that would take more than half of the
 * memory go to a temporary file, which the system reads again when they are needed.
 */
#ifndef KFE_ACCUMULATE_ROW_STORE_H
#define KFE_ACCUMULATE_ROW_STORE_H

#include "gram/row_part.h"
#include "model/model.h"

/* Neighbouring rows. */
typedef struct kfe_i_row_block {
    kfe_i_table table;
    int file;      /* that they come from */
    int64_t first; /* within the file, later over all files */
    int64_t start; /* among the rows of this process */
} kfe_i_row_block;

typedef struct kfe_i_row_store {
    kfe_context *ctx;
    const kfe_model *map; /* its scaling and kernels; borrowed */
    kfe_i_row_block *blocks;
    int64_t count, capacity;
    int64_t rows;          /* of this process */
    const double *weights; /* of these rows, set before they are numbered; borrowed; NULL: ones */
    int sparse;            /* all rows are in csr tables */
    double in_memory;      /* bytes of rows */
    int file;              /* the temporary one; -1: none */
    int64_t written;       /* bytes in it */
    kfe_i_row_part part;   /* what the method is given; valid after kfe_i_row_store_number */
} kfe_i_row_store;

void kfe_i_row_store_begin(kfe_context *ctx, const kfe_model *map, kfe_i_row_store *out);
void kfe_i_row_store_free(kfe_i_row_store *store);
/* Adds scaled copies of the rows, which stand from row `first` on in file number `file`. */
kfe_status kfe_i_row_store_add(kfe_i_row_store *store, const kfe_data *rows, int file, int64_t first);
/* After the last row: numbers the rows over all processes. rows_of[files]: rows of each file, as far as this process has counted them; 0 for
 * those that others count. */
kfe_status kfe_i_row_store_number(kfe_i_row_store *store, const double *rows_of, int files);
/* After that: the keys of the rows of all processes, as data/rows/distinct.h gives them to a fit on all rows at once. The caller frees them. */
kfe_status kfe_i_row_store_keys(const kfe_i_row_store *store, kfe_i_row_key **out);
/* Copies of the rows listed, from whichever process has them, on every process. */
kfe_status kfe_i_row_store_fetch(const kfe_i_row_store *store, const int64_t *index, int64_t count,
                                 kfe_i_table *out);
/* out (rows of this process × dim) = features of the rows kept, on these support examples. */
kfe_status kfe_i_row_store_features(const kfe_i_row_store *store, const kfe_i_table *support,
                                    const double *coefficients, int64_t dim, double *out);

#endif
