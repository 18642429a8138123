/* SPDX-License-Identifier: Apache-2.0 */
/* Find out what each column of an array becomes (a feature, the label, the name, the group or the weight of the row, nothing), and take them. */
#ifndef KFE_DATA_READ_PICK_H
#define KFE_DATA_READ_PICK_H

#include "data/read/reader.h"

typedef struct kfe_i_picks {
    int64_t count;                    /* of columns */
    unsigned char *removed;           /* one per column: it is not a feature */
    int64_t label, id, group, weight; /* from 0, -1: none */
} kfe_i_picks;

/* What the settings say about the columns of an array, whose names are NULL or end in NULL; with_label: one of them may
 * be the label. */
kfe_status kfe_i_picks_find(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            char *const *names, int with_label, int64_t count, kfe_i_picks *out);
/* Takes label, names, groups and weights out of a table that still has all columns. */
kfe_status kfe_i_picks_take(kfe_context *ctx, const kfe_i_picks *picks, kfe_i_raw_table *raw);
void kfe_i_picks_free(kfe_context *ctx, kfe_i_picks *picks);

/* Where the label stands, after kfe_i_picks_find. */
kfe_i_label_place kfe_i_picks_label_place(const kfe_i_picks *picks);

/* Settles which column is the label, of those that are left. Unless the user says where it is, it is where the model's training
 * file had it, else the last one. There is none if the model needs all that are left as features. `names` may be NULL. */
kfe_status kfe_i_guess_label(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                             int64_t count, char *const *names, const unsigned char *removed, int64_t *label);

/* The steps of kfe_i_picks_find, for readers that choose features in a way of their own. The first finds the columns that name, group and
 * weigh the rows, and refuses one that has two uses; the second marks those, and the columns that the user leaves out. */
kfe_status kfe_i_picks_find_rows(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                                 char *const *names, kfe_i_picks *picks);
kfe_status kfe_i_picks_mark(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                            char *const *names, kfe_i_picks *picks);

#endif
