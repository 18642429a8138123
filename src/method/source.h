/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask for what a fit can use. A source is what a method is fitted on, and offers some of these:
 *
 *     the Gram operator   kfe_i_ask_gram   of the sum of all kernels; for linear methods, of the dot products of rows
 *     rows                source->views    the scaled tables; kfe_i_ask_kernel opens the operator of one kernel on them
 *     sums                source->sums     over rows that are not in memory, or that have been added up already
 *     a part of rows      source->part     the rows of this process, and kernel columns at them
 *
 * Most methods ask for the Gram operator, read source->target, and need to know no more. A method that can be fitted on something else
 * says so by its function `uses` (method.h). It is then offered sums, or a part of rows, in place of the first two:
 *
 *     if (source->sums)
 *         return fit_sums(ctx, source, settings, out);
 *     KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
 *
 * Operators are opened when they are first asked for. If the examples have weights, kfe_i_ask_gram gives the weighted operator, and dual
 * coefficients are multiplied by the roots of the weights after the fit. A method that reads target->weights itself asks by
 * kfe_i_ask_plain_gram, and its coefficients stay as they are.
 */
#ifndef KFE_METHOD_SOURCE_H
#define KFE_METHOD_SOURCE_H

#include "data/sums/sums.h"
#include "data/target/target.h"
#include "gram/landmark/landmark.h"
#include "gram/row_part.h"

/* The form of a distance that methods flagged KFE_HAS_DERIVATIVE learn. */
typedef enum kfe_i_distance_form {
    KFE_DISTANCE_AUTO,
    KFE_DISTANCE_FULL,
    KFE_DISTANCE_DIAGONAL
} kfe_i_distance_form;
#define KFE_DISTANCE_WORDS "auto|full|diagonal"

/* The Gram operator of a source; read it by kfe_i_ask_gram. A caller that has the operator gives it as `gram`, the others give
 * `open`. */
typedef struct kfe_i_operator {
    const kfe_i_gram *gram; /* what kfe_i_ask_gram gives; NULL: not known yet */
    /* Opens the operator of the examples without their weights. It belongs to the caller. */
    kfe_status (*open)(void *state, const kfe_i_gram **out);
    void *state;
    const kfe_i_gram *plain; /* what `open` gave */
    kfe_i_gram *weighted;
    double *roots; /* of the weights; NULL: nobody has asked for them, or there are none */
} kfe_i_operator;

typedef struct kfe_i_fit_source {
    kfe_i_operator *op;
    const kfe_i_target *target;
    /* Rows. `kernels` and `landmarks` are also those of `op`. */
    const kfe_i_table *views;
    const char *const *view_names;
    int view_count;
    const kfe_i_kernel_list *kernels;
    /* NaNs of the one view are missing values, for methods flagged KFE_HAS_MISSING, which fit on observed entries (shared/observed.h). */
    int has_missing;
    /* The table of the one view if it belongs to the fit: with missing values, a method may work in it, and leaves it as it was but for
     * rounding. NULL: it may not. */
    kfe_i_table *own_rows;
    kfe_i_gram_storage storage; /* how the user wants operators stored */
    kfe_i_landmark_plan landmarks;
    kfe_i_distance_form distance;
    /* Sums (data/sums/sums.h) of the columns of the one table or, for kernels, of the columns F of landmarks (gram/form/landmarks.h), whose
     * products are the kernel. The solution is primal, on the summed columns, or dual, on some of the landmarks. */
    const kfe_i_sums *sums;
    /* Some of the rows and their targets, for what sums cannot decide, such as ridge=auto; NULL: none. */
    const kfe_i_table *sample;
    const kfe_i_target *sample_target;
    int rows_at_hand; /* the caller can fit on the rows as well: KFE_EUNSUPPORTED where sums would cost digits */
    kfe_status (*marks)(void *state,
                        const double **out); /* see kfe_i_ask_marks; NULL: there are no landmarks */
    void *marks_state;
    int64_t mark_count;
    /* A part of the rows, with the target of this process's rows; its classes are those of all processes. The solution is dual, on some of
     * all rows. */
    const kfe_i_row_part *part;
    /* The solution wanted is the synthetic points and orthonormal combinations of their images; the rows may be the means of classes. */
    int points_only;
} kfe_i_fit_source;

kfe_status kfe_i_ask_gram(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **out);
/* For linear methods: the operator, and its factor: the rows, times the roots of the operator. *transposed, unless NULL, is the transpose
 * of a sparse factor, else NULL. */
kfe_status kfe_i_ask_factor(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **gram,
                            const kfe_i_table **out, const kfe_i_table **transposed);
/* The operator without the weights of the examples. */
kfe_status kfe_i_ask_plain_gram(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **out);
/* The roots of the weights, for a method that weighs other operators; NULL: all weights are one. Its dual coefficients are multiplied by
 * them after the fit. */
kfe_status kfe_i_ask_roots(kfe_context *ctx, const kfe_i_fit_source *source, const double **out);
/* Opens the operator of one kernel, its weight and landmarks included, without the weights of the examples; freed by the caller. */
kfe_status kfe_i_ask_kernel(kfe_context *ctx, const kfe_i_fit_source *source, int64_t index,
                            kfe_i_gram **out);
/* The summed columns of the landmarks themselves, mark_count × sums->cols. The kernel value of a row with summed columns f and landmark l is
 * f·marks[l]. Computed when they are asked for. */
kfe_status kfe_i_ask_marks(const kfe_i_fit_source *source, const double **out);
/* The view that a parameter names, by its name or its number from 1; −1: there is no such view. */
int kfe_i_find_view(const kfe_i_fit_source *source, const char *text);
/* For the caller of a fit: frees what was made for the method, but not what `open` gave. */
void kfe_i_operator_close(kfe_context *ctx, kfe_i_operator *op);

#endif
