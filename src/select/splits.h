/* SPDX-License-Identifier: Apache-2.0 */
/* Divide rows into training and test parts with these functions. */
#ifndef KFE_SELECT_SPLITS_H
#define KFE_SELECT_SPLITS_H

#include "core/param.h"
#include "core/rng.h"
#include "data/data.h"

typedef struct kfe_i_split {
    int64_t *train, *test; /* row numbers, increasing */
    int64_t *validation;   /* rows to compare settings on; NULL: the protocol sets none apart */
    int64_t train_count, test_count, validation_count;
    int64_t repeat, fold; /* 0-based */
} kfe_i_split;

typedef struct kfe_i_splits {
    kfe_context *ctx;
    kfe_i_split *items;
    int64_t count, capacity;
} kfe_i_splits;

typedef enum kfe_i_split_kind {
    KFE_SPLIT_FOLDS,
    KFE_SPLIT_RANDOM,
    KFE_SPLIT_FILE,
    KFE_SPLIT_HELD_OUT,
    KFE_SPLIT_LEAVE_GROUP_OUT,
    KFE_SPLIT_KENNARD_STONE,
    KFE_SPLIT_SPXY
} kfe_i_split_kind;

/* How the data is divided: rows of the parameter table that `cv`, `compare` and reproductions share. */
typedef struct kfe_i_protocol {
    int kind;        /* kfe_i_split_kind; "split" */
    int64_t folds;   /* "folds", from 2: of kinds folds and held-out */
    int64_t repeats; /* "repeats", from 1: of all kinds but file */
    double
        train_size; /* "train-size": of all kinds but folds and file (held-out: what is not held out); below 1 a share
                          of the rows, from 1 a number of them */
    int stratified; /* "stratified": classes in the same proportions everywhere; real targets: not used */
    char file[KFE_PARAM_TEXT_SIZE]; /* "split-file" */
} kfe_i_protocol;

/* The rows for KFE_PARAM tables of structs that begin with a kfe_i_protocol. */
extern const kfe_i_param_table kfe_i_protocol_params;

/* What is divided: all rows of the data, or some of them. */
typedef struct kfe_i_split_rows {
    int64_t rows;               /* of the data */
    const kfe_i_target *target; /* its classes, for stratified splits; NULL: none */
    const int64_t *subset;      /* row numbers; NULL: all rows */
    int64_t subset_count;
    const kfe_data *data;           /* its columns, for splits by distances; NULL: not known */
    const int64_t *groups;          /* of each row of the data; NULL: none */
    const kfe_i_given_split *given; /* splits of the user, for all rows; NULL: none */
    int64_t given_count;
    const int64_t *row_numbers; /* of the data, for rows that a file of splits names; NULL: all are there */
    /* Of the rows: folds go by their content (content_splits.c); NULL: by their places */
    const kfe_i_row_key *keys;
    int or_fewer; /* with fewer rows or groups than folds, make as many folds as these instead of failing */
} kfe_i_split_rows;

/* All rows of the data, with its target, groups and given splits. */
kfe_i_split_rows kfe_i_split_all(const kfe_data *data);
/* Some of its rows. */
kfe_i_split_rows kfe_i_split_some(const kfe_data *data, const int64_t *rows, int64_t count);

/* How many of these rows are divided: those with a weight above zero. */
int64_t kfe_i_split_count(const kfe_i_split_rows *from);

/* The number of the random stream of a repeat, and the stream. */
uint64_t kfe_i_split_stream(uint64_t purpose, int64_t repeat);
void kfe_i_split_rng(const kfe_context *ctx, uint64_t purpose, int64_t repeat, kfe_i_rng *rng);

/* Makes all splits of the protocol. `purpose` separates random streams: the same seed, protocol and purpose give
 * the same splits everywhere. Warns once about classes with fewer members than folds. KFE_EINPUT if there are
 * fewer rows than folds. */
kfe_status kfe_i_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol, const kfe_i_split_rows *from,
                             uint64_t purpose, kfe_i_splits *out);
void kfe_i_splits_free(kfe_i_splits *splits);

/* Appends a split with copies of these rows, which are sorted. */
kfe_status kfe_i_splits_add(kfe_i_splits *splits, const int64_t *train, int64_t train_count,
                            const int64_t *test, int64_t test_count);
/* Rows, increasing, and the part of each. */
typedef struct kfe_i_parts {
    int64_t count;
    const int64_t *rows, *part;
} kfe_i_parts;
/* Appends a split: rows of `test_part` are for testing, all others for training. */
kfe_status kfe_i_splits_add_part(kfe_i_splits *splits, const kfe_i_parts *parts, int64_t test_part,
                                 int64_t repeat, int64_t fold);
/* The same for rows with groups (group_splits.c); kfe_i_splits_make calls it. */
kfe_status kfe_i_group_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                   const kfe_i_split_rows *from, uint64_t purpose, kfe_i_splits *out);

/* Training rows by their distances (space_splits.c); kfe_i_splits_make calls it. */
kfe_status kfe_i_space_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                   const kfe_i_split_rows *from, kfe_i_splits *out);
/* How many of `count` rows are for training, as train-size says. */
kfe_status kfe_i_split_train_rows(kfe_context *ctx, const kfe_i_protocol *protocol, int64_t count,
                                  int64_t *out);

/* Warns of classes with fewer rows than folds; those of class g are start[g] … start[g + 1] − 1. */
void kfe_i_warn_of_small_classes(kfe_context *ctx, const kfe_i_target *target, int64_t folds,
                                 const int64_t *start);
/* Folds by the content of rows that have no groups (content_splits.c); kfe_i_splits_make calls it. */
kfe_status kfe_i_content_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol,
                                     const kfe_i_split_rows *from, uint64_t purpose, kfe_i_splits *out);

#endif
