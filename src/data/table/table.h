/* SPDX-License-Identifier: Apache-2.0 */
/* Use one table of examples: dense rows, compressed sparse rows (CSR), or one string per example. */
#ifndef KFE_DATA_TABLE_TABLE_H
#define KFE_DATA_TABLE_TABLE_H

#include "core/context.h"

typedef enum kfe_i_table_kind { KFE_TABLE_DENSE, KFE_TABLE_CSR, KFE_TABLE_TEXT } kfe_i_table_kind;

/* The content of a row as numbers; equal rows have equal keys. */
typedef struct kfe_i_row_key {
    uint64_t order; /* whatever the order of the columns: the same for a given kernel matrix in any order */
    uint64_t same;
} kfe_i_row_key;

typedef struct kfe_i_table {
    kfe_context *ctx; /* frees the arrays if they are owned */
    kfe_i_table_kind kind;
    int owned; /* 0: the arrays are borrowed */
    int64_t rows, cols;
    double *values;     /* dense: rows × stride, NULL if `singles` are; csr: one per entry */
    int64_t stride;     /* dense */
    int64_t *row_start; /* csr: rows + 1 positions in values; text: rows + 1 positions in bytes */
    int32_t *columns;   /* csr: 0-based, increasing within a row */
    char *bytes;        /* text: the strings, one after the other, no terminators */
    /* A dense table may hold single precision. Then value (i, j) is (singles[i·stride + j] − shift[j])·factor[j], so that scaled
     * data needs no copy; shift and factor are borrowed or NULL. Only code that says so takes such tables: others widen them. */
    float *singles;
    const double *shift, *factor;
    /* How many examples each row counts for in statistics of the columns: scaling, fills, widths of kernels. Borrowed; copies and
     * slices have none. NULL: one each. */
    const double *weights;
    /* What the columns of each row contained before scaling, for choices among rows (data/rows/distinct.h). Borrowed; copies and slices have
     * none. NULL: not known. */
    const kfe_i_row_key *keys;
} kfe_i_table;

/* The weight of a row. */
static inline double kfe_i_row_weight(const kfe_i_table *table, int64_t i)
{
    return table->weights ? table->weights[i] : 1;
}

/* Value (i, j) of a dense table in either precision. */
static inline double kfe_i_table_value(const kfe_i_table *table, int64_t i, int64_t j)
{
    if (!table->singles)
        return table->values[i * table->stride + j];
    double value = (double)table->singles[i * table->stride + j];
    if (table->shift)
        value -= table->shift[j];
    return table->factor ? value * table->factor[j] : value;
}

/* Owned tables with uninitialised content (row_start zeroed). `entries`: non-zeros, or bytes of text. */
kfe_status kfe_i_table_new_dense(kfe_context *ctx, int64_t rows, int64_t cols, kfe_i_table *out);
kfe_status kfe_i_table_new_csr(kfe_context *ctx, int64_t rows, int64_t cols, int64_t entries,
                               kfe_i_table *out);
kfe_status kfe_i_table_new_text(kfe_context *ctx, int64_t rows, int64_t bytes, kfe_i_table *out);
/* Frees what is owned and zeroes the struct. */
void kfe_i_table_free(kfe_i_table *table);

/* The number of rows, by weight. */
double kfe_i_table_weight(const kfe_i_table *table);
/* A borrowed view of `count` rows from `first` on; do not free it before its source. */
kfe_i_table kfe_i_table_slice(const kfe_i_table *table, int64_t first, int64_t count);
/* An owned copy of the rows listed, in double precision; index NULL: the first `count`. */
kfe_status kfe_i_table_gather(kfe_context *ctx, const kfe_i_table *table, const int64_t *index, int64_t count,
                              kfe_i_table *out);
/* An owned copy of the columns listed, of a dense or csr table. For a csr table, the list increases. */
kfe_status kfe_i_table_columns(kfe_context *ctx, const kfe_i_table *table, const int64_t *columns,
                               int64_t count, kfe_i_table *out);
kfe_status kfe_i_table_copy(kfe_context *ctx, const kfe_i_table *table, kfe_i_table *out);
/* Makes a table in single precision one of doubles, which it owns. Other tables stay as they are. */
kfe_status kfe_i_table_widen(kfe_context *ctx, kfe_i_table *table);
/* Makes any table of numbers a dense one of doubles, which it owns. */
kfe_status kfe_i_table_make_dense(kfe_context *ctx, kfe_i_table *table);
/* Row i of a dense or csr table, dense, into row[cols]. */
void kfe_i_table_dense_row(const kfe_i_table *table, int64_t i, double *row);
/* Fails with KFE_EINVAL if row positions fall, or columns are out of range or not increasing. */
kfe_status kfe_i_table_check(kfe_context *ctx, const kfe_i_table *table);
/* Finds the first value that is NaN or infinite; returns 0 if there is none. */
int kfe_i_table_find_nonfinite(const kfe_context *ctx, const kfe_i_table *table, int64_t *row, int64_t *col);
/* KFE_EINPUT unless all values are finite; the message calls the table `name`. */
kfe_status kfe_i_table_check_finite(kfe_context *ctx, const kfe_i_table *table, const char *name);
/* The same for a part of a larger table that begins at its row `first`. */
kfe_status kfe_i_table_check_finite_from(kfe_context *ctx, const kfe_i_table *table, const char *name,
                                         int64_t first);
/* Position of the first value that is NaN or of a magnitude beyond `largest`; 0 if there is none. */
int kfe_i_table_find_beyond(const kfe_context *ctx, const kfe_i_table *table, double largest, int64_t *row,
                            int64_t *col);

#endif
