/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get the sums over the training rows of a split from those over all rows: they are the total's less the test rows'. So the folds
 * of a cross-validation together take little more than one pass over products of columns. For linear methods that are fitted from
 * sums (kfe_i_fit_source.sums).
 *
 * If test parts are small, as in leave-one-out, a fold does not even copy the scatter S = VΛVᵀ. In the coordinates of V the sums without
 * the test rows Z, less the mean of all rows, are
 *
 *     Λ − ZᵀZ − (m²/k)·z̄z̄ᵀ
 *
 * with m test rows of mean z̄ and k training rows: Λ and m + 1 rows, in time O(dm).
 */
#ifndef KFE_SELECT_ROW_SUMS_H
#define KFE_SELECT_ROW_SUMS_H

#include "data/data.h"
#include "data/prepare/scale.h"
#include "data/sums/sums.h"
#include "method/method.h"
#include "select/splits.h"

/* Splits whose test parts may make up the rows, as the folds of a cross-validation do. Their sums then make up the total, and each is kept
 * for its split. */
typedef struct kfe_i_row_parts {
    const kfe_i_splits *splits; /* must outlive the sums */
    const int64_t *members;
    int64_t count;
} kfe_i_row_parts;

/* Over some rows of a data set. Begin with zeros. */
typedef struct kfe_i_row_sums {
    kfe_context *ctx;
    const kfe_data *data;
    const kfe_i_table *table; /* the columns: that of the data, or another with the same rows */
    int64_t *rows, count;     /* the rows; count 0: there are no sums */
    kfe_i_sums total;
    kfe_i_sums *parts;         /* part_count: of test parts that make up the rows; NULL: not kept */
    const int64_t **part_rows; /* the `test` of their splits */
    int64_t part_count;
    /* coordinates by eigenvectors, if they are made (kfe_i_row_sums_rotate) */
    double *spectrum;    /* Λ, cols; NULL: not made */
    double *coordinates; /* count × cols: the rows less their mean, times V */
    kfe_i_sums rotated;  /* the total in them, whose scatter is Λ: `scatter` is NULL */
} kfe_i_row_sums;

/* Whether folds of this method may be fitted from sums. */
int kfe_i_row_sums_serve(const kfe_i_method *method);
/* Builds the sums of these rows from the one table of the data, unless they exist already, the data is sparse, has gaps or several views,
 * or there are too few rows or too little memory for that to pay off: then `count` is 0. `parts` may be NULL. */
kfe_status kfe_i_row_sums_make(kfe_context *ctx, const kfe_data *data, const int64_t *rows, int64_t count,
                               const kfe_i_row_parts *parts, kfe_i_row_sums *sums);
/* Builds the sums from another table with the rows of the data; borrows both. */
kfe_status kfe_i_row_sums_over(kfe_context *ctx, const kfe_data *data, const kfe_i_table *table,
                               const int64_t *rows, int64_t count, const kfe_i_row_parts *parts,
                               kfe_i_row_sums *sums);
void kfe_i_row_sums_free(kfe_i_row_sums *sums);

/* The sums over the training rows, scaled; classes without members are left out. *known is 0, and `out` empty, where the total cannot give
 * them: it does not cover the split, or the test rows hold so much of it that the difference would lose digits. Free
 * them also after a failure. */
kfe_status kfe_i_row_sums_train(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                                const kfe_i_scaler *scaler, kfe_i_sums *out, int *known);

/* Makes the coordinates by eigenvectors, unless they are made or do not fit in memory. */
kfe_status kfe_i_row_sums_rotate(kfe_context *ctx, kfe_i_row_sums *sums);
/* Test parts of at most this many rows are faster with these coordinates. */
int64_t kfe_i_row_sums_few(const kfe_i_row_sums *sums);
/* As kfe_i_row_sums_train, in these coordinates and with a spectrum, without scaling; *known is also 0 if a class loses its last
 * example. `test` gets the coordinates of the test rows (allocated, test_count × cols). */
kfe_status kfe_i_row_sums_train_rotated(kfe_context *ctx, const kfe_i_row_sums *sums,
                                        const kfe_i_split *split, kfe_i_sums *out, double **test, int *known);

#endif
