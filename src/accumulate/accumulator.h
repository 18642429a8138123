/* SPDX-License-Identifier: Apache-2.0 */
/* Work on an accumulator of kfe.h from within this folder. */
#ifndef KFE_ACCUMULATE_ACCUMULATOR_H
#define KFE_ACCUMULATE_ACCUMULATOR_H

#include "data/sums/sums.h"
#include "model/model.h"
#include "model/spec.h"

struct kfe_accumulator {
    kfe_context *ctx;
    kfe_spec *spec;
    kfe_model *map; /* its features are the columns that are summed; NULL: not started */
    kfe_i_sums sums;
    double count;       /* rows that were added: sums.rows, unless they have weights */
    int weighted;       /* some rows had weights */
    int sparse;         /* all rows so far were in csr tables */
    char **class_names; /* one for each of sums.classes, in the order of data/target/classes.h */
    kfe_i_table sample; /* summed columns of some rows of the start, for ridge=auto; no rows: none */
    /* Before the first sum: rows from which a method makes synthetic points; NULL: the rows of the start. */
    const kfe_data *centres;
    int keeps_rows; /* the rows are kept too (pursue.h), and the examples that the method picks replace the landmarks of the map */
    /* At the end: the features of the map are those of this solution; NULL: the method is run. */
    const kfe_i_solution *solved;
    kfe_i_target sample_target; /* its classes are those of the sums; without names */
    kfe_accumulator *counts; /* class-weight=balanced: the classes of all rows (weigh.h); NULL: not known */
};

/* Whether the spec works on a kernel, by landmarks. */
int kfe_i_accumulator_has_kernel(const kfe_spec *spec);
/* KFE_EUNSUPPORTED, with a message, for specs that cannot be fitted from sums. With `keeps_rows` landmarks are not needed. */
kfe_status kfe_i_accumulator_check(kfe_context *ctx, const kfe_spec *spec, int keeps_rows);
/* kfe_accumulator_new, for rows that are kept or not. */
kfe_status kfe_i_accumulator_open(kfe_context *ctx, const kfe_spec *spec, int keeps_rows,
                                  kfe_accumulator **out);
/* Fails for rows that cannot be added to these. */
kfe_status kfe_i_accumulator_check_rows(const kfe_accumulator *sums, const kfe_data *rows);
/* Fails if there is one class where two are needed, or if rounding hides a class of little weight. */
kfe_status kfe_i_accumulator_check_classes(const kfe_accumulator *sums);
/* Replaces support and coefficients of the map: one table per view, rows × dim coefficients. Takes both over. */
void kfe_i_accumulator_replace_support(kfe_model *map, kfe_i_table *support, int64_t rows,
                                       double *coefficients, int64_t dim);
/* Sums over no rows, of the columns that the map has now; the classes stay. */
kfe_status kfe_i_accumulator_sum_again(kfe_accumulator *sums);
/* Makes the map and the sample from these rows, and begins the sums. */
kfe_status kfe_i_accumulator_start(kfe_accumulator *sums, const kfe_data *rows);
/* The name of a part that no valid accumulator has; NULL: all parts are valid. */
const char *kfe_i_accumulator_fault(const kfe_accumulator *sums);
/* KFE_EINPUT, with a message that begins with `what`, if the sums have overflowed. */
kfe_status kfe_i_accumulator_check_sums(kfe_context *ctx, const kfe_accumulator *sums, const char *what);
/* An accumulator without spec and sums. */
kfe_status kfe_i_accumulator_new(kfe_context *ctx, kfe_accumulator **out);
/* code[c] is the class of the sums that class c of the target is (-1: it has no members). New classes are inserted. */
kfe_status kfe_i_accumulator_classes(kfe_accumulator *sums, const kfe_i_target *target, int32_t *code);

/* The columns to sum of these rows; freed by the caller, before the rows. */
kfe_status kfe_i_accumulator_columns(const kfe_accumulator *sums, const kfe_data *rows, kfe_i_table *out);

/* Learns the scaling that the spec asks for from sums of the raw columns. */
kfe_status kfe_i_scaler_from_sums(kfe_context *ctx, kfe_i_scale_kind kind, int sparse, const kfe_i_sums *sums,
                                  kfe_i_scaler *out);

/* In a cluster: *sums becomes the merged accumulator of all processes, the same in each. Every process calls it. */
kfe_status kfe_i_accumulator_reduce(kfe_accumulator **sums);

#endif
