/* SPDX-License-Identifier: Apache-2.0 */
/* Collect a label column while reading, before it is known whether it holds classes or numbers. */
#ifndef KFE_DATA_READ_LABELS_H
#define KFE_DATA_READ_LABELS_H

#include "core/intern.h"
#include "data/target/target.h"

typedef struct kfe_i_labels {
    kfe_context *ctx;
    int present;
    char *name;     /* the header of the column, or NULL */
    int64_t column; /* 1-based in the file, 0 if it has no columns; for messages */
    kfe_i_label_place place;
    int64_t rows, capacity;
    int32_t *codes;  /* of text: number of the word, -1 where it is missing; NULL: see numbers */
    double *numbers; /* of binary formats, NaN where it is missing */
    int floating;    /* the numbers are of a floating-point type */
    int nominal;     /* the file declares that they are classes */
    kfe_i_intern words;
    int64_t *first_line; /* of each word, for messages */
    int64_t line_capacity;
} kfe_i_labels;

void kfe_i_labels_init(kfe_i_labels *labels, kfe_context *ctx);
void kfe_i_labels_free(kfe_i_labels *labels);
/* Makes room for `rows` labels in total. */
kfe_status kfe_i_labels_reserve(kfe_i_labels *labels, int64_t rows);
/* Returns the line number of a place in the file; called only for new words. */
typedef int64_t (*kfe_i_line_fn)(void *user, const char *place);
kfe_status kfe_i_labels_add(kfe_i_labels *labels, const char *word, int64_t length, kfe_i_line_fn line,
                            void *user, const char *place);
kfe_status kfe_i_labels_add_missing(kfe_i_labels *labels);
/* Removes the first label and makes it the name of the column. */
kfe_status kfe_i_labels_drop_header_row(kfe_i_labels *labels);
/* The row of the first missing label, or -1. */
int64_t kfe_i_labels_find_missing(const kfe_i_labels *labels);
/* Keeps the rows listed (increasing). */
void kfe_i_labels_keep_rows(kfe_i_labels *labels, const int64_t *index, int64_t count);
/* Makes classes or real targets of the column, as the settings say: their task or, if that is auto, what the model
 * expects or else the rule of data/target/task.h. No label may be missing. */
struct kfe_i_read_settings;
/* weights: of the rows, NULL: one each; the rule asks the rows of weight above 0, unless there are none. */
kfe_status kfe_i_labels_to_target(kfe_i_labels *labels, const char *file,
                                  const struct kfe_i_read_settings *settings, const double *weights,
                                  kfe_i_target *out);

#endif
