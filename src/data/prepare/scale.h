/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scale columns by what the training data shows, and apply the same scaling to new data:
 *
 *   standard    (x − mean) / sd, by column
 *   minmax      (x − min) / (max − min), by column
 *   unit-norm   (x − mean) / ‖column − mean‖, by column
 *   l2-rows     every row to length 1
 *   auto        standard if the ranges of the columns differ by more than KFE_SCALE_RATIO (kfe_i_ranges_find), else
 *               none; sparse data, strings and columns that a chain of steps prepares: none
 *
 * The order is: fills (fill.h), the chain of steps (data/steps), the scaling, and last the map of a learned distance.
 *
 * A learned distance is a linear map that follows the scaling (map.h).
 *
 * Constant columns keep scale 1. Sparse data is not shifted, so that zeros stay zeros: standard divides by the sd,
 * minmax by the largest magnitude, unit-norm by the norm of the column.
 */
#ifndef KFE_DATA_PREPARE_SCALE_H
#define KFE_DATA_PREPARE_SCALE_H

#include "data/prepare/fill.h"
#include "data/steps/chain.h"
#include "data/table/facts.h"
#include "data/table/map.h"
#include "data/table/table.h"

typedef enum kfe_i_scale_kind {
    KFE_SCALE_NONE,
    KFE_SCALE_STANDARD,
    KFE_SCALE_MINMAX,
    KFE_SCALE_UNIT_NORM,
    KFE_SCALE_L2_ROWS,
    KFE_SCALE_AUTO /* a setting only: what is learned is standard or none */
} kfe_i_scale_kind;
#define KFE_SCALE_WORDS "none|standard|minmax|unit-norm|l2-rows"
#define KFE_SCALE_SETTING_WORDS KFE_SCALE_WORDS "|auto"
#define KFE_SCALE_NAMED "no=0|yes=1"

/* `auto` standardises when the ranges of the columns differ by more than this factor, the narrowest tenth of them left out.
 * docs/defaults-measured.md has the measurements behind the rule. */
#define KFE_SCALE_RATIO 10
#define KFE_SCALE_NARROW_SHARE 10

typedef struct kfe_i_scaler {
    kfe_context *ctx;
    kfe_i_scale_kind kind;
    int64_t cols;      /* of the data */
    kfe_i_chain chain; /* what prepares the rows before the scaling; without steps: nothing */
    /* One per column after the chain: subtracted, and multiplied into it; NULL: nothing (none, l2-rows, sparse) */
    double *shift, *factor;
    int fill_kind; /* kfe_i_fill: what missing values are replaced with before scaling (data/prepare/fill.h) */
    double *fill;  /* one per column; NULL: nothing */
    kfe_i_map map; /* of the scaled columns; without values: none */
} kfe_i_scaler;

/* The columns that are scaled: those after the chain. */
int64_t kfe_i_scaler_prepared(const kfe_i_scaler *scaler);
/* Whether spreads are about the mean; otherwise about zero. */
int kfe_i_scale_centres(kfe_i_scale_kind kind, int sparse);
/* Shifts and factors of `out`, whose context, kind and number of columns are set, from facts about `total` rows. Logs a
 * warning if columns are not centred because the data is sparse. */
kfe_status kfe_i_scaler_from_facts(kfe_context *ctx, const kfe_i_column_facts *columns, double total,
                                   int sparse, kfe_i_scaler *out);
/* What the rule of `auto` sees. */
typedef struct kfe_i_ranges {
    /* The widest range divided by that which a tenth of the columns do not reach; 1: fewer than two columns vary */
    double ratio;
    int few_rows; /* more columns vary than rows differ; only known if the ratio asks for a scaling */
} kfe_i_ranges;

/* The ratio of the ranges of the columns that vary, which are sorted. */
double kfe_i_ratio_of_ranges(double *ranges, int64_t count);
/* The rule: thousands of genes, wavelengths or pixels are measured in one unit, and standardising would raise those that hold nothing
 * but noise, so that more columns than rows are left alone. */
kfe_i_scale_kind kfe_i_scale_by_ranges(const kfe_i_ranges *ranges);

/* Ranges (largest less smallest value) over `count` rows of a dense table (rows NULL: the first ones). Leaving out the narrowest tenth,
 * a few columns that hardly vary, such as the border of an image, do not count as another unit; of up to ten columns all count. Ranges,
 * unlike standard deviations, are the same for pixels that vary often and seldom. Constant columns and rows without a weight do not count,
 * nor do constants added to a column, the order of rows or their repetition. */
kfe_status kfe_i_ranges_find(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                             kfe_i_ranges *out);

/* Logs a warning if columns are not centred because the data is sparse. */
kfe_status kfe_i_scaler_learn(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *table,
                              kfe_i_scaler *out);
void kfe_i_scaler_free(kfe_i_scaler *scaler);
/* A prepared, scaled and mapped copy; with kind none and neither steps nor map, a borrowed view of `table`. Steps, and a scaler that shifts,
 * make sparse data dense. */
kfe_status kfe_i_scaler_apply(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out);
/* Whether a table in single precision can be scaled where its values are used, and such a view of it, which borrows the numbers
 * of the scaler. */
int kfe_i_scaler_keeps_single(const kfe_i_scaler *scaler, const kfe_i_table *table);
void kfe_i_scaler_apply_lazily(const kfe_i_scaler *scaler, const kfe_i_table *table, kfe_i_table *out);
/* Scales the rows of a dense table, which has the scaler's prepared columns, where they are; neither prepares nor maps them. */
void kfe_i_scaler_apply_in_place(const kfe_i_scaler *scaler, kfe_i_table *table);

/* Rows of a view to learn from or to scale. */
typedef struct kfe_i_scale_source {
    const kfe_i_table *table;
    const kfe_i_gaps *gaps;          /* of the table; NULL: NaNs are the gaps */
    char *const *names;              /* of its columns; NULL: none */
    const char *shown;               /* what messages call it */
    const kfe_i_step_target *target; /* what steps that choose columns learn from; NULL: there is none */
    int64_t first_row;               /* of a part of a file: rows before it, for messages */
} kfe_i_scale_source;

/* Learns what to fill in, the steps of `chain`, which moves into the scaler, and the scaling of a view. Frees the chain after a failure.
 * *scaled, unless NULL, receives the rows as kfe_i_fill_scaler_apply makes them, if that takes no work beyond what learning took: if rows were
 * filled in and there are no steps. Zeroed before. */
kfe_status kfe_i_fill_scaler_learn(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_scale_source *source,
                                   kfe_i_chain *chain, kfe_i_scaler *out, kfe_i_table *scaled);
/* Fills in, where the scaler has learned it, prepares and scales. */
kfe_status kfe_i_fill_scaler_apply(kfe_context *ctx, const kfe_i_scaler *scaler,
                                   const kfe_i_scale_source *source, kfe_i_table *out);

#endif
