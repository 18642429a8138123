/* SPDX-License-Identifier: Apache-2.0 */
/* Read ARFF files: the attributes that a file declares, and one value at a time. */
#ifndef KFE_DATA_FORMAT_ARFF_H
#define KFE_DATA_FORMAT_ARFF_H

#include "data/read/block.h"
#include "data/read/reader.h"

enum { KFE_ARFF_NUMERIC, KFE_ARFF_NOMINAL, KFE_ARFF_TEXT };

typedef struct kfe_i_arff_attribute {
    char *name;
    int kind;
    int64_t declared;    /* values of a nominal attribute */
    kfe_i_intern values; /* those, then any that rows have besides */
} kfe_i_arff_attribute;

typedef struct kfe_i_arff {
    kfe_context *ctx;
    const char *file;
    const kfe_i_read_settings *settings;
    kfe_i_lines lines;
    int64_t count, capacity;
    kfe_i_arff_attribute *attributes;
    kfe_i_text value; /* the last value that was scanned */
    int quoted;       /* it was in quotes */
} kfe_i_arff;

/* Scans the value at *c, in quotes or up to a comma, a character of `ends` or the end of the line, into arff->value, and moves past
 * it. */
kfe_status kfe_i_arff_scan(kfe_i_arff *arff, const char **c, const char *ends);
/* Whether arff->value is '?', the one word for a missing value. */
int kfe_i_arff_is_missing(const kfe_i_arff *arff);
/* Fails unless arff->value is one that the nominal attribute declares. */
kfe_status kfe_i_arff_check_nominal(kfe_i_arff *arff, kfe_i_arff_attribute *attribute);
/* Fails at the current line. */
kfe_status kfe_i_arff_fail(const kfe_i_arff *arff, const char *reason);
const char *kfe_i_arff_skip_blanks(const kfe_i_arff *arff, const char *c);
/* The next line that is neither blank nor a comment, from its first character; *c is NULL at the end. */
kfe_status kfe_i_arff_next_line(kfe_i_arff *arff, const char **c);

/* Reads rows {index value, …}, from the current line on, into a sparse table. */
kfe_status kfe_i_arff_read_sparse(kfe_i_arff *arff, const char *first, kfe_i_raw_table *out);

#endif
