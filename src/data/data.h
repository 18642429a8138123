/* SPDX-License-Identifier: Apache-2.0 */
/* A data set: one or several views of the same examples, with or without a target. */
#ifndef KFE_DATA_DATA_H
#define KFE_DATA_DATA_H

#include "data/table.h"
#include "data/target.h"

typedef struct kfe_i_view {
    char *name; /* of the view, for messages: the file it came from, or what the user called it */
    kfe_i_table table;
    char **column_names; /* one per column, or NULL */
} kfe_i_view;

struct kfe_data {
    kfe_context *ctx;
    int view_count;
    kfe_i_view *views;
    kfe_i_target target;
    char *target_name;    /* the header of the label column, or NULL */
    int64_t label_column; /* where it stood in the file, from 1; 0: nowhere */
};

/* An empty data set with `views` zeroed views, for readers and generators to fill. */
kfe_status kfe_i_data_new(kfe_context *ctx, int views, kfe_data **out);

/* The rows listed, in all views, with their targets; classes without a member in them stay in the list. */
kfe_status kfe_i_data_gather(kfe_context *ctx, const kfe_data *data, const int64_t *index, int64_t count,
                             kfe_data **out);

#endif
