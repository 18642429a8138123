/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up rows: their number, means and products of columns, and the same with their targets. Sums of two sets of rows can be
 * merged and, where one contains the other, subtracted. Rows count by the weights of their target. Fits from sums (accumulate/), and
 * folds of a cross-validation (select/row_sums.h), are made of them.
 *
 * Products are kept about the mean. With n rows of mean m and m' more of mean μ (Chan, Golub & LeVeque 1983),
 *
 *     S ← S + S' + δδᵀ·nn'/(n + n'),   δ = μ' − μ,
 *
 * so that columns with a mean far from zero keep their digits.
 *
 * In coordinates in which the scatter of all rows is diagonal, the scatter of all rows but a few is diag(spectrum) − RᵀR, where R has few rows
 * (select/row_sums.h): products with it take time O(d), not O(d²).
 */
#ifndef KFE_DATA_SUMS_SUMS_H
#define KFE_DATA_SUMS_SUMS_H

#include "data/table/table.h"
#include "data/target/target.h"

typedef struct kfe_i_sums {
    kfe_context *ctx;
    int64_t cols;
    double rows;             /* their number, or the sum of their weights */
    double *mean;            /* cols */
    double *scatter;         /* cols × cols, the upper triangle: Σ (x − mean)(x − mean)ᵀ */
    double *least, *largest; /* cols */
    kfe_task task;
    int64_t classes;
    double *class_rows;     /* classes: rows, by weight */
    double *class_means;    /* classes × cols */
    int64_t targets;        /* real targets */
    double *target_mean;    /* targets */
    double *target_scatter; /* targets × targets, full */
    double *cross;          /* cols × targets: Σ (x − mean)(y − target_mean)ᵀ */
    /* the scatter in another form, in which case `scatter`, `least` and `largest` are NULL: diag(spectrum) − RᵀR */
    double *spectrum; /* cols; NULL: `scatter` it is */
    double *removed;  /* R, removed_count × cols */
    int64_t removed_count;
} kfe_i_sums;

/* Sums over no rows, of this many columns. Free them also after a failure. */
kfe_status kfe_i_sums_begin(kfe_context *ctx, int64_t cols, kfe_i_sums *out);
/* Allocates `least` and `largest` of `cols` columns, as those of no rows: ∞ and −∞. */
kfe_status kfe_i_sums_begin_extremes(kfe_i_sums *sums);
void kfe_i_sums_free(kfe_i_sums *sums);
kfe_status kfe_i_sums_copy(const kfe_i_sums *sums, kfe_i_sums *out);
/* The same with the memory of another context. */
kfe_status kfe_i_sums_copy_with(kfe_context *ctx, const kfe_i_sums *sums, kfe_i_sums *out);
/* Makes room for a class without rows at this place; classes from there on move up. */
kfe_status kfe_i_sums_insert_class(kfe_i_sums *sums, int64_t place);
/* Begins sums of real targets; only for sums over no rows. */
kfe_status kfe_i_sums_begin_targets(kfe_i_sums *sums, int64_t targets);
/* Begins sums of the classes or real targets of `target`; only for sums over no rows. */
kfe_status kfe_i_sums_begin_target(kfe_i_sums *sums, const kfe_i_target *target);
/* Sums over no rows, of this many columns and the classes or real targets of `target`. Free them also after a failure. */
kfe_status kfe_i_sums_begin_with(kfe_context *ctx, int64_t cols, const kfe_i_target *target, kfe_i_sums *out);

/* Rows to add: `count` rows of a dense or csr table, listed or (NULL) those from `first` on. The target is that of the table's rows,
 * with weights above zero if it has any; NULL: none. code[c] is the class of the sums that class c of the target is; NULL: the same. */
typedef struct kfe_i_sum_rows {
    const kfe_i_table *table;
    const int64_t *index;
    int64_t first, count;
    const kfe_i_target *target;
    const int32_t *code;
} kfe_i_sum_rows;

/* Fails only for lack of memory, before anything is added. Threads add up rows of their own, and their sums are merged in
 * order. */
kfe_status kfe_i_sums_add(kfe_i_sums *sums, const kfe_i_sum_rows *rows);
/* The classes and targets of both agree. */
void kfe_i_sums_merge(kfe_i_sums *sums, const kfe_i_sums *other);
/* Takes away rows that were added: the extremes stay as they are. */
void kfe_i_sums_subtract(kfe_i_sums *sums, const kfe_i_sums *part);
/* Turns the sums into those of columns (x − shift)·factor; NULL: zeros, ones. */
void kfe_i_sums_scale(kfe_i_sums *sums, const double *shift, const double *factor);
/* out (cols × k) = the scatter times v (cols × k), in both forms. `scratch` of removed_count·k numbers; NULL without a spectrum. */
void kfe_i_sums_times(const kfe_i_sums *sums, const double *v, int64_t k, double *scratch, double *out);
/* The same, allocated; freed by the caller. */
kfe_status kfe_i_sums_image(const kfe_i_sums *sums, const double *v, int64_t k, double **out);
/* The diagonal of the scatter, in both forms: out[cols]. */
void kfe_i_sums_diagonal(const kfe_i_sums *sums, double *out);
/* The sums of the first `cols` columns, with the memory of a context. Not with a spectrum. */
kfe_status kfe_i_sums_leading(kfe_context *ctx, const kfe_i_sums *sums, int64_t cols, kfe_i_sums *out);
/* The sums of the features Wᵀx − offset, W of cols × dim; offset NULL: zeros. The extremes are not known: zeros. */
kfe_status kfe_i_sums_map(const kfe_i_sums *sums, const double *w, int64_t dim, const double *offset,
                          kfe_i_sums *out);
/* The same if the scatter times W is known: image, cols × dim. The sums may be without a scatter. */
kfe_status kfe_i_sums_map_by(const kfe_i_sums *sums, const double *w, const double *image, int64_t dim,
                             const double *offset, kfe_i_sums *out);

#endif
