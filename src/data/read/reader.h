/* SPDX-License-Identifier: Apache-2.0 */
/* Read a format: fill a kfe_i_raw_table from a source with these helpers; read.c makes a data set of it. */
#ifndef KFE_DATA_READ_READER_H
#define KFE_DATA_READ_READER_H

#include "data/read/labels.h"
#include "data/read/read.h"
#include "data/read/source.h"

/* In addition to the contents that users can ask for: a file with one column of labels. */
enum { KFE_CONTENT_LABELS = KFE_CONTENT_STRINGS + 1 };

/* One table as a file has it. Missing values are NaN; nothing is infinite. */
typedef struct kfe_i_raw_table {
    kfe_context *ctx;
    kfe_i_table table;
    char **column_names; /* one per column of the table, or NULL */
    kfe_i_labels labels;
    int64_t *fields;     /* the column of the file, from 0, of each column before encoding; NULL: the same */
    int64_t field_count; /* columns of the file; 0: those of the table */
    kfe_i_encoding encoding; /* of text columns, which the table holds as zeros and ones */
    kfe_i_gaps gaps;         /* of values that were filled in */
    kfe_i_table ids;         /* strings that name the rows; no rows: none */
    char *id_name;           /* the header of that column, or "row" */
    int ids_are_numbers;     /* of the rows in the file */
    int64_t *row_numbers;    /* of the rows that are left in the file, from 0; NULL: all are */
    int64_t *groups;         /* of the rows, NULL: none */
    double *weights;         /* of the rows, NULL: none */
    int has_missing;         /* some value of the table or some label is missing */
    int is_part;             /* of a file that is read in parts */
    int64_t first_row;       /* rows of the file before those of a part, for messages */
} kfe_i_raw_table;

void kfe_i_raw_table_init(kfe_i_raw_table *raw, kfe_context *ctx);
void kfe_i_raw_table_free(kfe_i_raw_table *raw);
/* Whether some row has neither a missing value nor a missing label. */
int kfe_i_has_complete_row(const kfe_i_raw_table *raw);
/* Fills missing values, drops their rows or fails, as the settings say. The raw tables are views of the
 * same examples: a row is dropped from all of them. */
kfe_status kfe_i_handle_missing_values(kfe_context *ctx, kfe_i_raw_table *raws, int count,
                                       const char *const *paths, const kfe_i_read_settings *settings);

/* Divides data of one table by a list "NAME=COLUMNS;NAME=COLUMNS"; `raw` is the table that it was read as. */
kfe_status kfe_i_divide_as_listed(kfe_context *ctx, const char *list, const kfe_i_raw_table *raw,
                                  kfe_data *data);

/* Which column of `count` holds the label: 0-based, or -1 for none. `names` may be NULL. */
kfe_status kfe_i_label_column(kfe_context *ctx, const char *file, const kfe_i_read_settings *settings,
                              int64_t count, char *const *names, int64_t *column);
/* Whether the field means a missing value: empty, NA, N/A, nan, null or ? */
int kfe_i_is_missing_text(const char *begin, const char *end);

/* The settings that the options of a call and a model (`expected`, or NULL) give. */
kfe_status kfe_i_read_settings_parse(kfe_context *ctx, const char *options, const kfe_i_expected *expected,
                                     kfe_i_read_settings *out);
/* The settings for file `index` of `count`, which becomes the view `name`: only the last one may hold the label. */
kfe_i_read_settings kfe_i_read_settings_of(const kfe_i_read_settings *all, const char *name, int index,
                                           int count);
/* The format for the content and the name of a source, which must support the settings. */
struct kfe_i_format;
kfe_status kfe_i_choose_format(kfe_i_source *source, const char *path, const kfe_i_read_settings *settings,
                               const struct kfe_i_format **out);
/* Fails if the settings ask for something that this table cannot provide. */
kfe_status kfe_i_check_raw_table(const kfe_i_raw_table *raw, const char *file,
                                 const kfe_i_read_settings *settings);
/* Fails unless each column that {id}, {groups} and {weight} name is in exactly one of the tables of several views. */
kfe_status kfe_i_check_row_columns(kfe_context *ctx, kfe_i_raw_table *raws, int count,
                                   const char *const *paths, const kfe_i_read_settings *settings);
/* The weights of the rows, from the table that has them; NULL: none. */
const double *kfe_i_row_weights(kfe_i_raw_table *raws, int count);
/* Moves names, groups and weights of the rows from the table that has them to the data. */
kfe_status kfe_i_take_row_columns(kfe_i_raw_table *raws, int count, const char *const *paths, kfe_data *data);
/* Handles missing values and makes a data set of one view, called `name` (NULL: after its file). */
kfe_status kfe_i_data_from_raw(kfe_context *ctx, kfe_i_raw_table *raw, const char *path, const char *name,
                               const kfe_i_read_settings *settings, kfe_data **out);

/* Reads from an open source, the format chosen by its content and by `path`. */
kfe_status kfe_i_data_read_source(kfe_context *ctx, kfe_i_source *source, const char *path,
                                  const kfe_i_read_settings *settings, kfe_data **out);

#endif
