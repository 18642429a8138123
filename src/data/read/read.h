/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of reading, which every reader receives: where the label is, which format, what to do about missing
 * values. read.c fills them from options.
 */
#ifndef KFE_DATA_READ_READ_H
#define KFE_DATA_READ_READ_H

#include "core/param.h"
#include "data/data.h"
#include "data/target/task.h"

enum {
    KFE_MISSING_ERROR,
    KFE_MISSING_MEAN, /* as in kfe_i_fill */
    KFE_MISSING_MEDIAN,
    KFE_MISSING_MOST_FREQUENT,
    KFE_MISSING_NIPALS,
    KFE_MISSING_DROP,
    KFE_MISSING_KEEP /* not a word: only for models, which fill in what they have learned */
};
enum { KFE_TASK_OPTION_AUTO, KFE_TASK_OPTION_CLASSIFY, KFE_TASK_OPTION_REGRESS };
enum { KFE_HEADER_AUTO, KFE_HEADER_YES, KFE_HEADER_NO };
enum { KFE_CONTENT_NUMBERS, KFE_CONTENT_STRINGS };

#define KFE_MISSING_WORDS "error|mean|median|most-frequent|nipals|drop"

/* The columns of one file that is read for a model. */
typedef struct kfe_i_expected_view {
    int64_t count;
    char *const *names;             /* NULL: not known */
    const kfe_i_encoding *encoding; /* of text columns; NULL: none is encoded */
    int strings;                    /* its examples are strings, unless the options name such views */
} kfe_i_expected_view;

/* What a model says about new data that is read for it. */
typedef struct kfe_i_expected {
    const kfe_i_expected_view *views; /* one per file, or NULL */
    const kfe_i_division *division;   /* of the one file into the views of the model; NULL: none */
    const char *const *view_names;    /* of the model; with a division */
    int view_count;
    int64_t columns;        /* features of the file with the label, unless the options say; 0: not known */
    const char *label_name; /* the header of the label in training, or NULL */
    const char *id_name;    /* the header of the column that named the rows in training, or NULL */
    kfe_i_label_place label_place; /* in training; `before` is -1 if an older file does not tell */
    int keeps_missing;             /* the model fills in missing values */
    int encodes;                   /* the model has learned categories */
    /* Of the model; KFE_TASK_NONE: it predicts nothing, so labels are kept as they are written */
    kfe_task task;
} kfe_i_expected;

/* Filled from the table kfe_i_read_params, except the last fields. */
typedef struct kfe_i_read_settings {
    char label[KFE_PARAM_TEXT_SIZE];         /* auto, last, first, none, a column's name or 1-based number */
    char label_file[KFE_PARAM_TEXT_SIZE];    /* "" : none */
    char label_pattern[KFE_PARAM_TEXT_SIZE]; /* finds the label in the header of a FASTA record; "": none */
    char id[KFE_PARAM_TEXT_SIZE];            /* the column that names the rows; "": none */
    char drop[KFE_PARAM_TEXT_SIZE], select[KFE_PARAM_TEXT_SIZE]; /* lists of columns; "": none, all */
    char groups[KFE_PARAM_TEXT_SIZE];                            /* the column of groups of rows; "": none */
    char weight[KFE_PARAM_TEXT_SIZE];                            /* the column of weights of rows; "": none */
    char encode[KFE_PARAM_TEXT_SIZE];                            /* auto, or a list of columns; "": none */
    char delimiter[KFE_PARAM_TEXT_SIZE]; /* auto, comma, tab, semicolon, space, pipe, or one character */
    int header;
    int format; /* index into the words of the parameter: auto, then those of the readers */
    int task;
    int missing;
    int content;
    /* Names, "a;b": those that hold strings whatever `content` says */
    char string_views[KFE_PARAM_TEXT_SIZE];
    char view_columns[KFE_PARAM_TEXT_SIZE]; /* "NAME=COLUMNS;NAME=COLUMNS": views of one table; "": none */
    int64_t columns;                        /* expected number of features: pads libsvm files; 0: as found */
    int label_is_given, may_have_label, expected_index; /* of one file: see read.c */
    int is_one_of_several; /* of a file among those of several views: {id}, {groups}, {weight} may be in another */
    int in_parts_to_fit;     /* missing values cannot be filled in: no part knows the mean of all rows */
    kfe_i_task_guess *guess; /* of rows that come in parts; NULL: these are all rows */
    const kfe_i_expected *expected; /* NULL: the data is not for a model */
} kfe_i_read_settings;

extern const kfe_i_param_table kfe_i_read_params;

/* kfe_data_read_views for a model (`expected`) or not (NULL). */
kfe_status kfe_i_data_read_files(kfe_context *ctx, int count, const char *const *paths,
                                 const char *const *names, const char *options,
                                 const kfe_i_expected *expected, kfe_data **out);

/* The same data in parts, which need memory for one part only. Several files, files of labels, missing=drop, views of one
 * table and .npz files are read whole. */
typedef struct kfe_i_data_stream kfe_i_data_stream;
/* What `expected` points at must outlive the stream; strings are copied. */
kfe_status kfe_i_data_stream_open(kfe_context *ctx, int count, const char *const *paths,
                                  const char *const *names, const char *options,
                                  const kfe_i_expected *expected, kfe_i_data_stream **out);
/* Reads up to `part_rows` rows, the same in all calls, or those that are at hand. *out is NULL at the end. */
kfe_status kfe_i_data_stream_next(kfe_i_data_stream *stream, int64_t part_rows, kfe_data **out);
/* Reads the labels of all parts to come as classes or as numbers, so that no part decides for itself; KFE_TASK_NONE: no change. `guess`
 * notes what they would be taken as if they were in one file, and must outlive the stream. */
void kfe_i_data_stream_set_task(kfe_i_data_stream *stream, kfe_task task, kfe_i_task_guess *guess);
void kfe_i_data_stream_close(kfe_i_data_stream *stream);

#endif
