/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use a symmetric n × n kernel matrix that need not exist in memory: the Gram operator. A method sees nothing else
 * of the data. A new form of the operator implements kfe_i_gram_form.
 *
 * Blocks of vectors are row-major, n × k.
 */
#ifndef KFE_GRAM_GRAM_H
#define KFE_GRAM_GRAM_H

#include "core/share.h"
#include "kernel/tile/points.h"

typedef struct kfe_i_gram kfe_i_gram;

typedef struct kfe_i_gram_form {
    const char *name;
    /* out[i·stride + j] = G[row + i, col + j] */
    kfe_status (*block)(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                        double *out, int64_t stride);
    /* out (n × count) = the columns listed */
    kfe_status (*columns)(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
    kfe_status (*diagonal)(const kfe_i_gram *gram, double *out);
    /* out (count × count) = the entries among the examples listed; NULL: read from `columns`. */
    kfe_status (*among)(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
    /* out = G v. Uses the operator's workspace, so that iterations do not allocate. */
    kfe_status (*times)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    /* The same in single precision, if that is faster, with a relative error of about 1e-7; NULL: it is not. */
    kfe_status (*times_single)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    /* out[g·groups + h] = Σ G[i, j] over group(i) = g, group(j) = h; NULL: computed by `times`. */
    kfe_status (*group_sums)(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out);
    /* Of a part of a matrix: out (rows of the whole matrix × k) = matrix[:, part]·v. NULL: not a part. */
    kfe_status (*expand)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    void (*release)(kfe_i_gram *gram);
    int evaluates; /* every pass evaluates the kernel again */
    int single;    /* entries are in single precision */
} kfe_i_gram_form;

/* Memory that an operator keeps between calls. */
typedef struct kfe_i_workspace {
    double *values;
    int64_t count;
} kfe_i_workspace;

struct kfe_i_gram {
    kfe_context *ctx;
    const kfe_i_gram_form *form;
    int64_t size;
    void *state;
    kfe_i_workspace *work; /* for one call at a time */
    int pinned;            /* the user asked for this form: never replace it */
    /* Square roots s of the weights of the examples: the operator is diag(s)·K·diag(s), and s takes the place of the vector of ones
     * in means, centring and sums over groups (kfe_i_gram_weighted). Borrowed. NULL: ones. */
    const double *roots;
};

/* ---- making one ---- */

typedef enum kfe_i_gram_storage {
    KFE_GRAM_AUTO,
    KFE_GRAM_F64,
    KFE_GRAM_F32,
    KFE_GRAM_TILED
} kfe_i_gram_storage;
#define KFE_GRAM_STORAGE_WORDS "auto|f64|f32|tiled"

/* The operator of Σ weight·κ over the kernels, each on the table of its view. Kernels and tables must
 * outlive it. */
kfe_status kfe_i_gram_open(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                           kfe_i_gram_storage storage, kfe_i_gram **out);
void kfe_i_gram_free(kfe_i_gram *gram);

/* The forms themselves. */
kfe_status kfe_i_gram_tiled(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                            kfe_i_gram **out);
kfe_status kfe_i_gram_factored(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out);
/* The same, but takes the table over; it is zeroed, except after a failure. */
kfe_status kfe_i_gram_factored_owned(kfe_context *ctx, kfe_i_table *table, kfe_i_gram **out);
/* Call this after changing the dense table of a factored operator in place. */
void kfe_i_gram_factored_refresh(const kfe_i_gram *gram);
/* Borrows a matrix that the user computed; fails with KFE_EINPUT and the cell if it is not symmetric. */
kfe_status kfe_i_gram_precomputed(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out);
/* Evaluates the lower half of `source` once and keeps it, in double or single precision. */
kfe_status kfe_i_gram_packed(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out);
double kfe_i_gram_packed_bytes(int64_t n, int single);
/* Refuses a stored matrix of so many bytes if it is beyond the memory limit. */
kfe_status kfe_i_check_stored(kfe_context *ctx, double bytes);
/* Evaluates every entry of `source` once and keeps it, in double or single precision. Takes twice the memory of a packed
 * operator; for callers of kfe_i_gram_row. */
kfe_status kfe_i_gram_stored(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out);
/* Keeps the first `rows` rows of a tiled operator in single precision and evaluates the rest each time. Since
 * the matrix is symmetric, that covers 1 − (1 − rows/n)² of it. Borrows `source`. */
kfe_status kfe_i_gram_partial(kfe_context *ctx, const kfe_i_gram *source, int64_t rows, kfe_i_gram **out);
/* The rows and columns listed of a symmetric matrix in memory (all × all); both are borrowed. */
kfe_status kfe_i_gram_subset(kfe_context *ctx, int64_t all, const double *matrix, const int64_t *index,
                             int64_t count, kfe_i_gram **out);
/* For such a subset, or one on a device: out (all × k) = matrix[:, index]·v, also in the rows that are not in the subset. */
kfe_status kfe_i_gram_subset_expand(const kfe_i_gram *subset, const double *v, int64_t k, double *out);
/* Σ weights[m]·terms[m]; owns the terms from now on, also after a failure. */
kfe_status kfe_i_gram_sum(kfe_context *ctx, kfe_i_gram **terms, const double *weights, int64_t count,
                          kfe_i_gram **out);
/* The terms and weights of such a sum, and how many there are; 0 for other operators. */
int64_t kfe_i_gram_sum_terms(const kfe_i_gram *gram, kfe_i_gram *const **terms, const double **weights);
/*
 * diag(s)·G·diag(s) for roots s of weights w of the examples; both are borrowed. A linear operator becomes that of the table with
 * rows times s.
 *
 * It stands for the operator of the data in which example i is repeated wᵢ times: with E the rows of the identity so repeated, v ↦
 * EW^(−1/2)v keeps lengths and angles, and turns this operator into EGEᵀ, the vector s into the vector of ones, and diag(s)Y into EY.
 * A method that sees the data through products, means and targets runs on it unchanged; its coefficients times s are those on the
 * examples.
 */
kfe_status kfe_i_gram_weighted(kfe_context *ctx, const kfe_i_gram *inner, const double *roots,
                               kfe_i_gram **out);
/* The number of examples, or the sum of their weights. */
double kfe_i_gram_mass(const kfe_i_gram *gram);
/* PGP with P = I − eeᵀ/n (weighted: I − ssᵀ/sᵀs): an implicit correction of rank two. Borrows `inner`. */
kfe_status kfe_i_gram_centred(kfe_context *ctx, const kfe_i_gram *inner, kfe_i_gram **out);
/* The operator inside a centred one; NULL for others. */
const kfe_i_gram *kfe_i_gram_centred_inner(const kfe_i_gram *gram);
/* Whether the entries, or those of the operator inside a centred one, are in single precision. */
int kfe_i_gram_is_single(const kfe_i_gram *gram);
/* The kernel and points of a tiled operator, also of one that is divided over processes; 0 for others. */
int kfe_i_gram_tiles(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points);

/* What the panels of one process add to the sums over groups of a tiled operator. */
kfe_status kfe_i_gram_tiled_group_sums(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group,
                                       int64_t groups, double *out);

/* The row means (n) of the operator inside a centred one, and their mean; computed at the first call. Weighted: Gs/sᵀs. */
kfe_status kfe_i_gram_row_means(const kfe_i_gram *centred, const double **means, double *overall);
/* Copies the row means of `from` to `to`, a centred operator over the same matrix, which saves it a pass. */
kfe_status kfe_i_gram_share_means(const kfe_i_gram *from, const kfe_i_gram *to);
/* The table X of a factored operator XXᵀ, else NULL. */
const kfe_i_table *kfe_i_gram_factor(const kfe_i_gram *gram);
/* Its transpose, if it is sparse, else NULL. */
const kfe_i_table *kfe_i_gram_factor_transposed(const kfe_i_gram *gram);
/* Row `index` of an operator that has it in memory in double precision, n numbers that live as long as the
 * operator; NULL for others. */
const double *kfe_i_gram_row(const kfe_i_gram *gram, int64_t index);

/* ---- using one ---- */

kfe_status kfe_i_gram_block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                            double *out, int64_t stride);
kfe_status kfe_i_gram_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
/* out (count × count) = the entries among the examples listed, which may be listed twice. */
kfe_status kfe_i_gram_among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
kfe_status kfe_i_gram_diagonal(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_gram_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
/* The same in single precision where the operator can do that faster, else in double precision. */
kfe_status kfe_i_gram_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
kfe_status kfe_i_gram_group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out);
/* The whole matrix, n × n, freed by the caller. */
kfe_status kfe_i_gram_materialise(const kfe_i_gram *gram, double **out);
/* (G + ridge·I) out = right, for k right-hand sides, to a relative residual of `tolerance` in each, in the way that is
 * predicted to be fastest (solve/solve.h).
 * *residual, unless NULL, receives the relative residual that was reached. Fails with KFE_ENUMERIC if it is above
 * both the tolerance and what rounding explains. */
kfe_status kfe_i_gram_solve(const kfe_i_gram *gram, double ridge, const double *right, int64_t k,
                            double tolerance, double *out, double *residual);
/* The k largest eigenvalues in falling order, and unit eigenvectors as the columns of vectors (n × k), with
 * residuals ‖Gv − λv‖ ≤ tolerance·‖G‖ (eigen.c). Logs a warning if the tolerance is not reached. */
kfe_status kfe_i_gram_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                            double *vectors);
#define KFE_TOLERANCE 1e-10
/* Directions smaller than this, relative to the largest, are rounding error of the operator. */
double kfe_i_gram_rank_tolerance(const kfe_i_gram *gram);
/* No more eigenvalues than this can be positive. */
int64_t kfe_i_gram_rank_bound(const kfe_i_gram *gram);
/* The size that rounding of the entries may give an eigenvalue that is zero. */
kfe_status kfe_i_gram_rounding(const kfe_i_gram *gram, double *out);
/* The mean of the diagonal entries. */
kfe_status kfe_i_gram_mean_diagonal(const kfe_i_gram *gram, double *out);
/* Σ G[i, j]², in one pass. */
kfe_status kfe_i_gram_squared_norm(const kfe_i_gram *gram, double *out);

/* An operator in the best form for many passes. */
typedef struct kfe_i_kept {
    const kfe_i_gram *gram;       /* use this one */
    kfe_i_gram *stored, *centred; /* its parts, unless it is the original */
} kfe_i_kept;

/*
 * For loops of many passes. Returns `gram` itself if a pass is cheap or the user asked for tiles, otherwise a copy
 * in memory that fits beside `reserve` bytes of the caller: in double precision, else in single precision, else
 * only some rows. Centring stays implicit. The choice is logged. Free the result also after a failure.
 */
kfe_status kfe_i_gram_keep(const kfe_i_gram *gram, double reserve, kfe_i_kept *out);
void kfe_i_gram_keep_free(kfe_i_kept *kept);
/* The same; in double precision the copy has whole rows for kfe_i_gram_row, if these fit. */
kfe_status kfe_i_gram_keep_rows(const kfe_i_gram *gram, double reserve, kfe_i_kept *out);
/* Whether kfe_i_gram_keep would make a copy in double precision. */
int kfe_i_gram_wide_fits(const kfe_i_gram *gram, double reserve);

/* For form files: a zeroed operator with `state_size` bytes of state. */
kfe_status kfe_i_gram_new(kfe_context *ctx, const kfe_i_gram_form *form, int64_t size, int64_t state_size,
                          kfe_i_gram **out);

/* At least `count` doubles that last until the next call for more; NULL when memory is out. */
double *kfe_i_gram_workspace(const kfe_i_gram *gram, int64_t count);

#endif
