/* SPDX-License-Identifier: Apache-2.0 */
/* Use a target, which is what a model predicts: classes (sorted: numbers by value, then text) or real numbers. */
#ifndef KFE_DATA_TARGET_TARGET_H
#define KFE_DATA_TARGET_TARGET_H

#include "core/context.h"
#include "data/table/table.h"

typedef struct kfe_i_target {
    kfe_context *ctx;
    kfe_task task;
    int64_t rows;
    /* classes */
    int32_t *codes; /* one per row, 0 … class_count−1 */
    int64_t class_count;
    char **names;
    /* real */
    int64_t cols;
    double *values; /* rows × cols */
    /* How many examples each row counts for, also of data without a target; not negative, not all zero. NULL: one each. */
    double *weights;
    /* What the columns of each row contain, also of data without a target (data/rows/distinct.h). NULL: not known. */
    kfe_i_row_key *keys;
} kfe_i_target;

/* Where the label stood in the file that the data was read from. */
typedef struct kfe_i_label_place {
    int64_t column;  /* from 1; 0: the label was not a column of a table */
    int64_t before;  /* features to the left of it */
    int64_t columns; /* of the table, features or not; 0: not known */
} kfe_i_label_place;

/* From one string per row; see data/target/classes.h. */
kfe_status kfe_i_target_from_labels(kfe_context *ctx, int64_t rows, const char *const *labels,
                                    kfe_i_target *out);
kfe_status kfe_i_target_from_values(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                                    kfe_i_target *out);
/* From numbers, as classes or as real values. */
kfe_status kfe_i_target_from_numbers(kfe_context *ctx, int64_t rows, const double *values, kfe_task task,
                                     kfe_i_target *out);
/* A copy of the rows listed; index NULL: the first `count`. */
kfe_status kfe_i_target_gather(kfe_context *ctx, const kfe_i_target *target, const int64_t *index,
                               int64_t count, kfe_i_target *out);
/* A target whose real columns are divided by their standard deviations, unless they are constant; everything but out->values, which the
 * caller frees, is borrowed. */
kfe_status kfe_i_target_standardise(kfe_context *ctx, const kfe_i_target *target, kfe_i_target *out);
/* Removes classes without members; old_code[class_count] receives the former number of each that stays. */
void kfe_i_target_compact(kfe_i_target *target, int32_t *old_code);
void kfe_i_target_free(kfe_i_target *target);
/* Members per class into counts[class_count]. */
void kfe_i_target_count(const kfe_i_target *target, int64_t *counts);

/* The weight of a row. */
static inline double kfe_i_weight_of(const kfe_i_target *target, int64_t row)
{
    return target->weights ? target->weights[row] : 1;
}
/* The sum of the weights of the rows. */
double kfe_i_target_mass(const kfe_i_target *target, int64_t rows);
/* The weight of each class into masses[class_count]: with weights of one, the number of its members. */
void kfe_i_target_class_masses(const kfe_i_target *target, double *masses);

/* Fails unless weights are numbers from 0 up, some of them above 0, with a finite sum. */
kfe_status kfe_i_weights_check(kfe_context *ctx, int64_t rows, const double *weights);
/* The error if no row has a weight above zero. */
kfe_status kfe_i_no_weights(kfe_context *ctx);

#endif
