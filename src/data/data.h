/* SPDX-License-Identifier: Apache-2.0 */
/* Use a data set: one or several views of the same examples, with or without a target. */
#ifndef KFE_DATA_DATA_H
#define KFE_DATA_DATA_H

#include "data/prepare/fill.h"
#include "data/set/divide.h"
#include "data/table/table.h"
#include "data/target/target.h"

typedef struct kfe_i_view {
    char *name; /* what the user called it, or the name of its file without folder and extension */
    int named;  /* by the user */
    char *path; /* the file it came from, for messages; NULL: none */
    kfe_i_table table;
    char **column_names; /* one per column, or NULL */
    /* Of rows gathered from another data set: the names there, which outlive them; NULL: none */
    char *const *lent_names;
    kfe_i_encoding encoding; /* of text columns, which a dense table holds as zeros and ones */
    kfe_i_gaps gaps;         /* of a dense table */
} kfe_i_view;

/* A split that the user gives: row numbers. */
typedef struct kfe_i_given_split {
    int64_t *train, *test;
    int64_t train_count, test_count;
} kfe_i_given_split;

struct kfe_data {
    kfe_context *ctx;
    int view_count;
    kfe_i_view *views;
    kfe_i_division division; /* of the one table that the views are columns of; no columns: none */
    kfe_data *divided;       /* of arranged data (model/arrange.h): owns the views; NULL: nothing */
    kfe_i_target target;
    char *target_name;   /* the header of the label column, or NULL */
    kfe_i_table ids;     /* strings that name the rows in outputs; no rows: none */
    char *id_name;       /* the header of that column */
    int ids_are_numbers; /* of the rows in the file, for want of names */
    /* where the user gave each row, from 0, and last how many there were, if some were left out; NULL: all are there */
    int64_t *row_numbers;
    int64_t first_row; /* of a part of a file: rows before it, for messages */
    kfe_i_label_place label_place;
    int64_t *groups;           /* of each row: splits keep the rows of a group together; NULL: none */
    kfe_i_given_split *splits; /* given by the user, instead of the splits that a protocol makes */
    int64_t split_count, split_capacity;
};

/* An empty data set with `views` zeroed views, for readers and generators to fill. */
kfe_status kfe_i_data_new(kfe_context *ctx, int views, kfe_data **out);

/* Makes all views in single precision double, for what changes values in place. */
kfe_status kfe_i_data_widen(kfe_context *ctx, kfe_data *data);

/* Finds a column of the first view, a dense table, by name or by number from 1, and removes it. Messages begin with `parameter`. */
kfe_status kfe_i_data_find_column(kfe_context *ctx, const kfe_data *data, const char *parameter,
                                  const char *column, int64_t *out);
kfe_status kfe_i_data_remove_column(kfe_context *ctx, kfe_data *data, const char *parameter, int64_t column);

/* A copy without rows of weight zero, and without classes whose members all weigh zero; *out is NULL if no row weighs zero. */
kfe_status kfe_i_data_drop_weightless(kfe_context *ctx, const kfe_data *data, kfe_data **out);

/* A borrowed view of the table, whose rows have the weights and the keys of the target. */
kfe_i_table kfe_i_weighted_rows(const kfe_i_table *table, const kfe_i_target *target);

/* *out: the data with a copy of its target, which the caller frees; all else is borrowed. */
kfe_status kfe_i_data_copy_target(kfe_context *ctx, const kfe_data *data, kfe_data *out);

/* *counted: the data, or *own if some classes have rows of weight 0 only: a borrowed copy that does not know these classes. The caller
 * frees own->target, also after a failure. */
kfe_status kfe_i_data_forget_classes(kfe_context *ctx, const kfe_data *data, kfe_data *own,
                                     const kfe_data **counted);

/* Groups of rows with equal numbers: the group is the first such row. The caller frees *out, also after a failure. */
kfe_status kfe_i_number_groups(kfe_context *ctx, const double *values, int64_t stride, int64_t rows,
                               int64_t **out);

/* The names of its columns, its own or those that it was lent; NULL: none. */
char *const *kfe_i_view_names(const kfe_i_view *view);
/* The name of a view in messages: its file, if it has one. */
const char *kfe_i_view_shown(const kfe_i_view *view);
/* Gives `to` the name and path of `from`. */
kfe_status kfe_i_view_copy_name(kfe_context *ctx, const kfe_i_view *from, kfe_i_view *to);

/* Takes the NaNs of a dense view for gaps and fills them in, as kfe_data_set_missing does. */
kfe_status kfe_i_view_set_missing(kfe_context *ctx, kfe_i_fill kind, kfe_i_view *view);
/* Exchanges the views and the division of two data sets. */
void kfe_i_data_swap_views(kfe_data *a, kfe_data *b);
/* Gives `to`, whose table has as many columns, the names of the columns of `from` and their encoding. */
kfe_status kfe_i_view_copy_columns(kfe_context *ctx, const kfe_i_view *from, kfe_i_view *to);

/* Copies the rows listed, of all views and the target; classes that lose all members stay in the list. */
kfe_status kfe_i_data_gather(kfe_context *ctx, const kfe_data *data, const int64_t *index, int64_t count,
                             kfe_data **out);
/* Notes in `to` where the label of `from` stood in its file: its column and its header. */
kfe_status kfe_i_data_copy_label_place(kfe_context *ctx, const kfe_data *from, kfe_data *to);

#endif
