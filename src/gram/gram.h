/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use a symmetric n × n kernel matrix that need not exist in memory: the Gram operator. A method sees nothing else
 * of the data. A new form of the operator implements the table of form.h.
 *
 * Blocks of vectors are row-major, n × k.
 */
#ifndef KFE_GRAM_GRAM_H
#define KFE_GRAM_GRAM_H

#include "core/share.h"
#include "kernel/tile/points.h"

typedef struct kfe_i_gram kfe_i_gram;

/* How precise entries are, and what follows from it. */
typedef struct kfe_i_precision {
    int entry_bytes;
    double epsilon; /* relative rounding error of an entry */
    double growth;  /* rounding of n² entries moves an eigenvalue by n to this power times that of one */
    double rank_tolerance; /* directions smaller than this, relative to the largest, are rounding error */
    double dependent;      /* the same of what a vector has left after it was made orthogonal to others */
} kfe_i_precision;
extern const kfe_i_precision kfe_i_double, kfe_i_single;

struct kfe_i_gram {
    kfe_context *ctx;
    const struct kfe_i_gram_form *form; /* form.h */
    int64_t size;
    void *state;
    struct kfe_i_workspace *work; /* for one call at a time */
    int pinned;                   /* the user asked for this form: never replace it */
    const kfe_i_precision *precision;
    const struct kfe_i_way *const *ways; /* to solve systems (solve/ways.h); NULL: those of one process */
    int processes; /* that divide its work, and all call it together; 1: this process needs no other */
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
/* Call this after changing the dense table of a factored operator in place. */
void kfe_i_gram_factored_refresh(const kfe_i_gram *gram);
/* Borrows a matrix that the user computed; fails with KFE_EINPUT and the cell if it is not symmetric. */
kfe_status kfe_i_gram_precomputed(kfe_context *ctx, const kfe_i_table *table, kfe_i_gram **out);
/* Evaluates the lower half of `source` once and keeps it, in double or single precision. */
kfe_status kfe_i_gram_packed(kfe_context *ctx, const kfe_i_gram *source, int single, kfe_i_gram **out);
double kfe_i_gram_packed_bytes(int64_t n, int single);
/* Rows of the largest such matrix in single precision that fits. */
int64_t kfe_i_gram_packed_rows(double bytes);
/* Refuses a stored matrix of this size in bytes if it exceeds the memory limit. */
kfe_status kfe_i_check_stored(kfe_context *ctx, double bytes);
/* Evaluates every entry of `source` once and keeps whole rows in double precision: twice the memory of a packed operator. */
kfe_status kfe_i_gram_stored(kfe_context *ctx, const kfe_i_gram *source, kfe_i_gram **out);
/* Keeps the square of the first `rows` rows and columns of an operator that evaluates tiles, in single precision; the rest is evaluated each
 * time. Borrows `source`. */
kfe_status kfe_i_gram_partial(const kfe_i_gram *source, int64_t rows, kfe_i_gram **out);
/* The rows and columns listed (NULL: all) of a symmetric matrix in memory (all × all); both are borrowed. */
kfe_status kfe_i_gram_subset(kfe_context *ctx, int64_t all, const double *matrix, const int64_t *index,
                             int64_t count, kfe_i_gram **out);
/* For such a subset, or one on a device: out (all × k) = matrix[:, index]·v, also in the rows that are not in the subset. */
kfe_status kfe_i_gram_subset_expand(const kfe_i_gram *subset, const double *v, int64_t k, double *out);
/* Σ weights[m]·terms[m]; owns the terms from now on, also after a failure. */
kfe_status kfe_i_gram_sum(kfe_context *ctx, kfe_i_gram **terms, const double *weights, int64_t count,
                          kfe_i_gram **out);
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
/* The examples on which all coefficients can be expressed, *count of them; NULL: all examples. An approximation has the columns of these
 * examples as they are if its rank bound is their number. */
const int64_t *kfe_i_gram_support(const kfe_i_gram *gram, int64_t *count);
/* The share of the trace of the kernel matrix that an approximation leaves out, 0 … 1. */
double kfe_i_gram_trace_left(const kfe_i_gram *gram);
/* The operator of the same matrix that needs no other process, if there is one; else `gram` itself. */
const kfe_i_gram *kfe_i_gram_alone(const kfe_i_gram *gram);
/* PGP with P = I − eeᵀ/n (weighted: I − ssᵀ/sᵀs), without making the matrix. Borrows `inner`. */
kfe_status kfe_i_gram_centred(kfe_context *ctx, const kfe_i_gram *inner, kfe_i_gram **out);
/* The kernel and points of a tiled operator; 0 for others. */
int kfe_i_gram_tiles(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points);

/* The row means (n) of the operator inside a centred one, and their mean; computed at the first call. Weighted: Gs/sᵀs. */
kfe_status kfe_i_gram_row_means(const kfe_i_gram *centred, const double **means, double *overall);
/* The table X of a factored operator XXᵀ, else NULL. *transposed is Xᵀ if X is sparse, else NULL. */
const kfe_i_table *kfe_i_gram_factor(const kfe_i_gram *gram, const kfe_i_table **transposed);
/* The rows of an operator that has them in memory in double precision, *stride apart, as long as it lives; NULL for others. */
const double *kfe_i_gram_rows(const kfe_i_gram *gram, int64_t *stride);

/* ---- using one ---- */

/* Rows or columns of the matrix: those listed, which may be so twice, or consecutive ones. */
typedef struct kfe_i_places {
    const int64_t *index; /* NULL: first, first + 1, … */
    int64_t first, count;
    const kfe_i_points *prepared; /* by kfe_i_gram_prepare; NULL: not prepared */
} kfe_i_places;

static inline kfe_i_places kfe_i_listed(const int64_t *index, int64_t count)
{
    return (kfe_i_places){.index = index, .count = count};
}

static inline kfe_i_places kfe_i_consecutive(int64_t first, int64_t count)
{
    return (kfe_i_places){.first = first, .count = count};
}

/* The example at place i. */
static inline int64_t kfe_i_place(const kfe_i_places *places, int64_t i)
{
    return places->index ? places->index[i] : places->first + i;
}

/* `count` of the places from the i-th on. */
static inline kfe_i_places kfe_i_places_part(kfe_i_places places, int64_t i, int64_t count)
{
    return places.index ? kfe_i_listed(places.index + i, count) : kfe_i_consecutive(places.first + i, count);
}

/* out[i·stride + j] = the entry of row i of `rows` and column j of `cols` */
kfe_status kfe_i_gram_entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                              int64_t stride);
/* Makes kfe_i_gram_entries cheaper where rows change and the columns stay these: they become `prepared` columns. Leaves *out zero for an
 * operator that gains nothing. */
kfe_status kfe_i_gram_prepare(const kfe_i_gram *gram, const int64_t *index, int64_t count, kfe_i_points *out);
/* Consecutive rows and columns. */
kfe_status kfe_i_gram_block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                            double *out, int64_t stride);
/* out (n × count) = the columns listed. */
kfe_status kfe_i_gram_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
/* out (count × count) = the entries among the examples listed. */
kfe_status kfe_i_gram_among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out);
kfe_status kfe_i_gram_diagonal(const kfe_i_gram *gram, double *out);
/* Seconds to evaluate a column; 0: entries are in memory. */
kfe_status kfe_i_gram_column_seconds(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_gram_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
/* The same in single precision where the operator can do that faster, else in double precision. */
kfe_status kfe_i_gram_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
/* The same for v of which many rows are zero, such as the coefficients of an SVM. */
kfe_status kfe_i_gram_times_sparse(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
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
/* The smallest eigenvalue of PGP. */
kfe_status kfe_i_gram_least_eigenvalue(const kfe_i_gram *gram, double *out);
#define KFE_TOLERANCE 1e-10
/* Directions smaller than this, relative to the largest, are rounding error of the operator. */
double kfe_i_gram_rank_tolerance(const kfe_i_gram *gram);
/* No more eigenvalues than this can be positive. */
int64_t kfe_i_gram_rank_bound(const kfe_i_gram *gram);
/* The largest entry of the matrix whose rounding errors the entries have, without its sign. */
kfe_status kfe_i_gram_largest(const kfe_i_gram *gram, double *out);
/* The size that rounding of the entries may give an eigenvalue that is zero. */
kfe_status kfe_i_gram_rounding(const kfe_i_gram *gram, double *out);
/* Eigenvalues from this (negative) number on may be zeros with rounding errors; `largest` is the largest eigenvalue. The errors are
 * those of the entries of `gram`, which may be much larger than the eigenvalues of PGP: 1 for a wide Gaussian. */
kfe_status kfe_i_gram_rounded_zero(const kfe_i_gram *gram, double largest, double *out);
/* The mean of the diagonal entries. */
kfe_status kfe_i_gram_mean_diagonal(const kfe_i_gram *gram, double *out);
/* Σ G[i, j]², in one pass. */
kfe_status kfe_i_gram_squared_norm(const kfe_i_gram *gram, double *out);

/* ---- keeping a copy ---- */

/* An operator in a good form for many passes. */
typedef struct kfe_i_kept {
    const kfe_i_gram *gram;  /* use this one */
    const kfe_i_gram *exact; /* the same; the original, if `gram` has lost digits to single precision */
    /* Whole rows of the matrix, `stride` apart, if the caller asked for them and they are in memory. */
    const double *rows;
    int64_t stride;
    kfe_i_gram *stored; /* the copy; NULL: `gram` is the original */
} kfe_i_kept;

typedef enum kfe_i_keep_how {
    KFE_KEEP_ANY,    /* in double precision, else in single precision, else only some rows */
    KFE_KEEP_DOUBLE, /* in double precision or not at all */
    KFE_KEEP_ROWS /* as ANY, but in host memory and, if these fit, in whole rows, also where a pass is cheap */
} kfe_i_keep_how;

/*
 * For loops of many passes. Makes a copy in memory that fits beside `reserve` bytes of the caller, unless a pass is cheap or the user
 * asked for the form that the operator has. Centring stays implicit. The choice is logged. Free the result also after a failure.
 */
kfe_status kfe_i_gram_keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out);
void kfe_i_gram_keep_free(kfe_i_kept *kept);

#endif
