/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a form of the Gram operator: one file that fills this table, and a place in open.c or policy.c that chooses it. A form says how the
 * matrix is kept, and answers what it knows better than code that works for every form. Other code calls gram.h, and never asks which
 * form an operator has.
 *
 * n is the order of the matrix, k a number of vectors.
 */
#ifndef KFE_GRAM_FORM_H
#define KFE_GRAM_FORM_H

#include "gram/gram.h"
#include "kernel/tile/cross.h"
#include "linalg/symmetric.h"

struct kfe_i_solve_effort;

/* A linear system: (G + ridge·I)·out = right, for k right-hand sides. */
typedef struct kfe_i_system {
    const kfe_i_gram *gram;
    double ridge, tolerance;
    const double *right; /* n × k */
    int64_t k;
    double *out;
} kfe_i_system;

typedef struct kfe_i_gram_form {
    const char *name;

    /* ---- entries ---- */

    /* out[i·stride + j] = the entry of row i of `rows` and column j of `cols`; there is at least one of both. */
    kfe_status (*entries)(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                          int64_t stride);
    kfe_status (*diagonal)(const kfe_i_gram *gram, double *out);
    /* Makes repeated `entries` with the same columns cheaper. NULL: cannot. */
    kfe_status (*prepare)(const kfe_i_gram *gram, const int64_t *index, int64_t count, kfe_i_points *out);
    /* The largest entry, without its sign, of the matrix whose rounding errors G has. NULL: on the diagonal of G. */
    kfe_status (*largest)(const kfe_i_gram *gram, double *out);
    /* What a column costs: seconds to evaluate it. NULL: nothing, since entries are in memory. */
    kfe_status (*column_seconds)(const kfe_i_gram *gram, double *out);
    /* All rows in memory in double precision, *stride apart. NULL: they are not there. */
    const double *(*rows)(const kfe_i_gram *gram, int64_t *stride);
    /* The kernel and the points of an operator that evaluates tiles. NULL: it does not. */
    void (*tiles)(const kfe_i_gram *gram, const kfe_i_kernel **kernel, const kfe_i_points **points);
    /* X, where G is XXᵀ, at no cost; *transposed is Xᵀ if X is sparse, else NULL. NULL: X is not known. */
    const kfe_i_table *(*factor)(const kfe_i_gram *gram, const kfe_i_table **transposed);

    /* ---- products ---- */

    /* out = G v. Uses the operator's workspace, so that iterations do not allocate. Costs a pass over the entries, or O(nk·rank). */
    kfe_status (*times)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    /* The same in single precision, if that is faster, with a relative error of about 1e-7. NULL: `times`. */
    kfe_status (*times_single)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    /* The same faster where many rows of v are zero. NULL: `times`. */
    kfe_status (*times_sparse)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
    /* out[g·groups + h] = Σ G[i, j] over group(i) = g, group(j) = h; of the panels that the share deals to this process. NULL: by `times`,
     * all by the first process. */
    kfe_status (*group_sums)(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group, int64_t groups,
                             double *out);
    /* out += weight·G'v, G' being this process's share of G without the square of its first `from` rows and columns. NULL: the first
     * process has all of it, and `from` is 0. */
    kfe_status (*add_share)(const kfe_i_gram *gram, kfe_i_share share, int64_t from, double weight,
                            kfe_i_vectors v, double *out);
    /* Evaluates the panels that matrix->share deals to this process, of the first matrix->n rows and columns. NULL: from blocks. */
    kfe_status (*fill)(const kfe_i_gram *gram, const kfe_i_symmetric *matrix);
    /* Of a part of a matrix: out (rows of the whole matrix × k) = matrix[:, part]·v. NULL: G is not a part. */
    kfe_status (*expand)(const kfe_i_gram *gram, const double *v, int64_t k, double *out);

    /* ---- whole problems ---- */

    /* Solves a system. *effort, unless NULL, receives what it took. NULL: in the fastest way of solve/solve.c, at most n³/3 operations. */
    kfe_status (*solve)(const kfe_i_system *system, struct kfe_i_solve_effort *effort);
    /* The k largest eigenvalues and their eigenvectors (n × k). NULL: solve/eigen.c, some tens of products with a few more than k vectors,
     * or 4n³/3 operations. */
    kfe_status (*eigen)(const kfe_i_gram *gram, int64_t k, double tolerance, double *values, double *vectors);
    /* The smallest eigenvalue of PGP. NULL: by `eigen`. */
    kfe_status (*least_eigenvalue)(const kfe_i_gram *gram, double *out);
    /* Σ G[i, j]². NULL: from blocks. */
    kfe_status (*squared_norm)(const kfe_i_gram *gram, double *out);
    /* The most eigenvalues that can be positive. NULL: n. */
    int64_t (*rank_bound)(const kfe_i_gram *gram);

    /* ---- other operators, made from this one; they borrow it ---- */

    /* PGP. NULL: form/centred.c, which corrects entries and vectors. */
    kfe_status (*centre)(const kfe_i_gram *gram, kfe_i_gram **out);
    /* diag(s)·G·diag(s). NULL: form/weighted.c, which multiplies entries and vectors. */
    kfe_status (*weigh)(const kfe_i_gram *gram, const double *roots, kfe_i_gram **out);
    /* A copy for many passes, if one is worth having and fits beside `reserve` bytes; kfe_i_kept_take makes it part of *out. NULL: a pass is
     * cheap already. */
    kfe_status (*keep)(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out);

    /* The examples on which all coefficients can be expressed. NULL: all examples. */
    const int64_t *(*support)(const kfe_i_gram *gram, int64_t *count);
    /* The share of the trace of the matrix that it approximates and leaves out. NULL: 0. */
    double (*trace_left)(const kfe_i_gram *gram);
    /* The operator of the same matrix that needs no other process, where every process has all of it. NULL: this one. */
    const kfe_i_gram *(*alone)(const kfe_i_gram *gram);
    /* The operator that evaluates any rows in this process alone, where processes can divide the rows; NULL: they cannot. */
    const kfe_i_gram *(*row_source)(const kfe_i_gram *gram);
    /* What it does on a device (device/form.h). NULL: it is not on one. */
    const struct kfe_i_device_calls *device;

    void (*release)(kfe_i_gram *gram);
} kfe_i_gram_form;

/* Memory that an operator keeps between calls. */
typedef struct kfe_i_workspace {
    double *values;
    int64_t count;
} kfe_i_workspace;

/* A zeroed operator with `state_size` bytes of state. */
kfe_status kfe_i_gram_new(kfe_context *ctx, const kfe_i_gram_form *form, int64_t size, int64_t state_size,
                          kfe_i_gram **out);
/* Returns the status; after a failure, *gram is freed first and becomes NULL. */
kfe_status kfe_i_gram_made(kfe_status status, kfe_i_gram **gram);
/* Gives an operator that is made from `inner` what both have in common: the roots of weights, and the precision. */
void kfe_i_gram_inherit(kfe_i_gram *gram, const kfe_i_gram *inner);

/* The points of some rows or columns: a range of all, or copies of those listed, which the caller frees. */
kfe_status kfe_i_points_at(const kfe_i_points *points, kfe_i_places places, kfe_i_points *copies,
                           kfe_i_range *out);
/* Whether rows and columns are the same part of the matrix, all of it or listed, so that `entries` is symmetric. */
int kfe_i_places_are_same(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols);

/* The calls of the same names, of all forms. */
kfe_status kfe_i_gram_group_share(const kfe_i_gram *gram, kfe_i_share share, const int32_t *group,
                                  int64_t groups, double *out);
kfe_status kfe_i_gram_add_share(const kfe_i_gram *gram, kfe_i_share share, int64_t from, double weight,
                                kfe_i_vectors v, double *out);

/* The call `times_sparse` of operators that evaluate tiles (form/tiled_sparse.c). */
kfe_status kfe_i_tiled_times_sparse(const kfe_i_gram *gram, const double *v, int64_t k, double *out);

/* At least `count` doubles that last until the next call for more; NULL when memory is out. */
double *kfe_i_gram_workspace(const kfe_i_gram *gram, int64_t count);

/* ---- for `keep` (policy.c) ---- */

/* The call `fill` of all forms, and that of operators that evaluate tiles (form/packed.c). */
kfe_status kfe_i_gram_fill(const kfe_i_gram *gram, const kfe_i_symmetric *matrix);
kfe_status kfe_i_fill_from_tiles(const kfe_i_kernel *kernel, const kfe_i_points *points,
                                 const kfe_i_symmetric *matrix);
/* Makes `stored`, a copy of out->gram, the operator to use. */
void kfe_i_kept_take(kfe_i_kept *out, kfe_i_gram *stored);
/* Bytes that a copy may take. */
double kfe_i_keep_budget(const kfe_i_gram *gram, double reserve);
/* Keeps what `how` allows of the matrix in host memory. `partial` keeps the first rows of a matrix that does not fit; NULL: nothing
 * can. */
typedef kfe_status kfe_i_keep_part(const kfe_i_gram *gram, int64_t rows, kfe_i_gram **out);
kfe_status kfe_i_keep_in_memory(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve,
                                kfe_i_keep_part *partial, kfe_i_kept *out);
/* Logs the form in which the matrix is kept. */
void kfe_i_log_kept(const kfe_i_gram *gram);

/* ---- for `column_seconds`, `least_eigenvalue` ---- */

/* Measures the time of some columns. */
kfe_status kfe_i_gram_time_columns(const kfe_i_gram *gram, double *out);
/* Of FFᵀ: 0. */
kfe_status kfe_i_gram_no_negative(const kfe_i_gram *gram, double *out);

#endif
