/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a step of a chain (chain.h) as one file that ends in one const kfe_i_row_step, and one line in steps.def. A step turns a row of
 * `cols` numbers into a row of `made` numbers.
 */
#ifndef KFE_DATA_STEPS_STEP_H
#define KFE_DATA_STEPS_STEP_H

#include "core/entry.h"
#include "core/param.h"
#include "data/table/table.h"

struct kfe_i_row_step;

/* A step with its settings, for tables of a number of columns. */
typedef struct kfe_i_fitted_step {
    kfe_context *ctx;
    const struct kfe_i_row_step *step;
    void *settings;     /* as step->params says */
    int64_t cols, made; /* columns before and after */
    double *learned;    /* step->learns numbers for each column, from the training rows; NULL: none */
    double *plan;       /* numbers that follow from the settings and the columns; NULL: none */
    int64_t *kept;      /* the columns that are left, in order; NULL: not a choice of columns */
} kfe_i_fitted_step;

/* What steps that choose columns learn from besides the columns. Rows of the same content are one unit; units are numbered in a random order
 * that their content decides (data/rows/distinct.h). */
typedef struct kfe_i_step_target {
    int64_t units, cols;
    const int64_t *unit_of; /* one per row */
    const double *values;   /* rows × cols: real targets, or indicators of classes */
    int is_real;
} kfe_i_step_target;

/* Writes a step as operations of a graph, each on all rows at once. Values are numbered. The names of operations are ONNX's. */
typedef struct kfe_i_step_graph {
    void *state;
    int64_t (*number)(void *state, double value);
    /* 1 × count, rows × cols */
    int64_t (*row)(void *state, const double *values, int64_t count);
    int64_t (*matrix)(void *state, const double *values, int64_t rows, int64_t cols);
    int64_t (*one)(void *state, const char *operation, int64_t a);
    int64_t (*two)(void *state, const char *operation, int64_t a, int64_t b);
    /* `a` where the condition holds, else `b` */
    int64_t (*where)(void *state, int64_t condition, int64_t a, int64_t b);
    int64_t (*sum)(void *state, int64_t a); /* of each row */
    int64_t (*columns)(void *state, int64_t a, const int64_t *columns, int64_t count);
    int64_t (*range)(void *state, int64_t a, int64_t first, int64_t count); /* neighbouring columns */
    int64_t (*join)(void *state, const int64_t *parts, int64_t count);      /* side by side */
} kfe_i_step_graph;

typedef struct kfe_i_row_step {
    KFE_I_ENTRY(formula);
    kfe_i_param_table params;
    int learns; /* numbers per column that it learns from the training rows; 0: it treats every row by itself */
    int work;   /* numbers of working memory per column */
    /* How many numbers per column these settings learn; NULL: `learns`. */
    int64_t (*numbers)(const kfe_i_fitted_step *fit);
    /* Learned from pairs of rows by kfe_transfer (model/transfer.c), so that a fit refuses the step; `learn` is NULL. */
    int is_transfer;
    /* Checks the settings against the columns, sets `made` and what applying needs. `names` of the columns, NULL: none. A NULL function
     * leaves made = cols. */
    kfe_status (*plan)(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit);
    /* Fills `learned` from the rows of a dense table, which may have weights. */
    kfe_status (*learn)(kfe_context *ctx, const kfe_i_table *rows, kfe_i_fitted_step *fit);
    /* In place of learn: chooses columns by how they predict the target (chosen_columns.h). */
    kfe_status (*choose)(kfe_context *ctx, const kfe_i_table *rows, const kfe_i_step_target *target,
                         kfe_i_fitted_step *fit);
    /* Returns -1, or the number of a column whose value the step cannot take. */
    int64_t (*apply)(const kfe_i_fitted_step *fit, const double *row, double *out, double *work);
    const char *takes; /* which values apply takes, for messages; NULL: all */
    /* Of a step that is affine, out = Ax + b: in[cols] = Aᵀ·out[made]; NULL: it is not. */
    void (*pull)(const kfe_i_fitted_step *fit, const double *out, double *in);
    /* The name of column j after a step that makes other columns; NULL: names stay. */
    void (*name_of)(const kfe_i_fitted_step *fit, char *const *names, int64_t j, kfe_i_text *out);
    /* The step applied to value x; NULL: it has no standard operations. */
    int64_t (*graph)(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x);
} kfe_i_row_step;

/* NULL past the end. */
const kfe_i_row_step *kfe_i_step_at(int index);
kfe_status kfe_i_step_find(kfe_context *ctx, const char *name, const kfe_i_row_step **out);

/* Numbers per column that the step learns with these settings. */
static inline int64_t kfe_i_step_learns(const kfe_i_fitted_step *fit)
{
    return fit->step->numbers ? fit->step->numbers(fit) : fit->step->learns;
}

/* ---- graphs that several steps use ---- */

/* The mean of each row of `cols` columns, and the row less its mean. */
int64_t kfe_i_graph_mean(const kfe_i_step_graph *g, int64_t x, int64_t cols);
/* x / by, but `otherwise` in rows where `by` is 0; `by` has one column. */
int64_t kfe_i_graph_divide(const kfe_i_step_graph *g, int64_t x, int64_t by, int64_t otherwise);

#endif
