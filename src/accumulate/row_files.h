/* SPDX-License-Identifier: Apache-2.0 */
/* Read files of rows, one below the other, in parts. */
#ifndef KFE_ACCUMULATE_ROW_FILES_H
#define KFE_ACCUMULATE_ROW_FILES_H

#include "core/share.h"
#include "data/data.h"
#include "data/target/task.h"

struct kfe_i_data_stream;

/* Rows of a part. */
enum { KFE_PART_ROWS = 8192 };

typedef struct kfe_i_row_files {
    kfe_context *ctx;
    int count, at;
    const char *const *paths;
    const char *options;
    struct kfe_i_data_stream *open;
    kfe_task task;          /* of the first part; KFE_TASK_NONE: not known yet, or no labels */
    kfe_i_task_guess guess; /* what the labels so far would be taken as in one file */
    int64_t cols;           /* of the first part; 0: not known yet */
    int64_t rows;           /* read so far, without those of weight zero */
    int weighted;           /* the rows have weights */
    int64_t in_file;        /* of these, in the file at hand */
    int64_t parts;          /* read so far */
    int marks_parts;        /* keep `mark` */
    uint64_t mark;          /* a number made of the values of all parts read so far */
    kfe_i_share share;      /* of the files that this process reads, if there are enough; parts 1: all */
} kfe_i_row_files;

/* *out is NULL after the last row of the last file. */
kfe_status kfe_i_row_files_next(kfe_i_row_files *files, kfe_data **out);
void kfe_i_row_files_rewind(kfe_i_row_files *files);
/* Not with standard input. */
int kfe_i_row_files_can_rewind(const kfe_i_row_files *files);
void kfe_i_row_files_close(kfe_i_row_files *files);

#endif
