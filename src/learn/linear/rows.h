/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep the examples of linear SVMs as Newton's method reads them, and multiply with them. The column of the bias, if there is one, is
 * the last and holds ones.
 */
#ifndef KFE_LEARN_LINEAR_ROWS_H
#define KFE_LEARN_LINEAR_ROWS_H

#include "core/memory.h"
#include "data/table/table.h"

typedef enum kfe_i_linear_layout {
    KFE_LINEAR_ROWS,    /* dense, read where the table has them */
    KFE_LINEAR_COLUMNS, /* dense, a copy with one column after the other */
    KFE_LINEAR_SPARSE   /* a copy without the columns that no row uses */
} kfe_i_linear_layout;

/* How Newton's systems are solved (newton.h). */
typedef enum kfe_i_linear_way {
    KFE_LINEAR_BY_COLUMNS,  /* by factors of the order of the columns */
    KFE_LINEAR_BY_KERNEL,   /* by factors of the order of the rows with a loss */
    KFE_LINEAR_BY_GRADIENTS /* by conjugate gradients */
} kfe_i_linear_way;

typedef struct kfe_i_linear_rows {
    kfe_context *ctx;
    kfe_i_arena arena; /* of all arrays */
    const kfe_i_table *table;
    kfe_i_linear_layout layout;
    kfe_i_linear_way way;
    int64_t count, cols; /* cols: with that of the bias */
    int bias;
    double entries; /* numbers that a pass reads */
    int threads;    /* of a pass */
    double *sums;   /* threads × cols, for sums over rows */
    double *values; /* columns: cols × count; sparse: of the entries */
    int64_t *start; /* sparse: count + 1 */
    int32_t *columns;
    int64_t *used;  /* sparse: the table's column of each column */
    double *kernel; /* count × count: products of all pairs of rows; NULL: not made */
} kfe_i_linear_rows;

/* Makes rows for this number of problems on all rows. Borrows the table. Free the rows also after a failure. */
kfe_status kfe_i_linear_rows_open(kfe_context *ctx, const kfe_i_table *table, int bias, int64_t problems,
                                  kfe_i_linear_rows *out);
void kfe_i_linear_rows_free(kfe_i_linear_rows *rows);

/* out[i] = wᵀx_i */
void kfe_i_linear_rows_outputs(const kfe_i_linear_rows *rows, const double *w, double *out);
/* sum[cols] += Σ factor_i·x_i over `count` rows: those listed, or the first ones if `list` is NULL. */
void kfe_i_linear_rows_add(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                           const double *factor, double *sum);
/* sum[cols] += Σ factor_i·(vᵀx_i)·x_i */
void kfe_i_linear_rows_add_products(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                                    const double *factor, const double *v, double *sum);
/* sum[cols] += Σ factor_i·x_i² */
void kfe_i_linear_rows_add_squares(const kfe_i_linear_rows *rows, const int32_t *list, int64_t count,
                                   const double *factor, double *sum);
/* The weights w[cols] for the columns of the table, and that of the bias after them if there is one. */
void kfe_i_linear_rows_expand(const kfe_i_linear_rows *rows, const double *w, double *out);

#endif
