/* SPDX-License-Identifier: Apache-2.0 */
/* Read delimited text: what the dialect (csv_dialect.c), the parser of a block (csv_block.c) and the reader (csv.c)
 * share. */
#ifndef KFE_DATA_FORMAT_CSV_H
#define KFE_DATA_FORMAT_CSV_H

#include "data/read/block.h"
#include "data/read/pick.h"
#include "data/read/reader.h"
#include "data/table/text_rows.h"

/* One field. `begin` … `end` is its content: without the quotes or, if it is not quoted, without blanks around. */
typedef struct kfe_i_field {
    const char *begin, *end;
    const char *next; /* the delimiter or line end after it */
    int quoted;
} kfe_i_field;

/* Where a field of a row lies in the block. */
typedef struct kfe_i_span {
    uint32_t begin, length;
} kfe_i_span;

typedef enum kfe_i_csv_fault_kind {
    KFE_CSV_FAULT_NONE,
    KFE_CSV_FAULT_RAGGED,
    KFE_CSV_FAULT_TEXT,
    KFE_CSV_FAULT_MISSING,
    KFE_CSV_FAULT_INFINITE,
    KFE_CSV_FAULT_LABEL_MISSING,
    KFE_CSV_FAULT_GROUP_MISSING,
    KFE_CSV_FAULT_WEIGHT,
    KFE_CSV_FAULT_AFTER_QUOTE
} kfe_i_csv_fault_kind;

/* A field that cannot be read. */
typedef struct kfe_i_csv_fault {
    kfe_i_csv_fault_kind kind;
    int64_t field; /* 0-based; of ragged rows: how many fields there are */
    kfe_i_field at;
} kfe_i_csv_fault;

/* How the file is laid out; csv_dialect.c finds it out from the first lines. */
typedef struct kfe_i_dialect {
    char delimiter; /* a blank stands for any number of blanks */
    int64_t fields; /* per row */
    /* Fields that are the label, or name, group or weigh the rows; `removed` without a model */
    kfe_i_picks picks;
    int64_t *place; /* the column of the table that each field becomes, -1: none */
    /* Which of the text columns (csv_encode.c) each field is, -1: none; NULL: there are none */
    int64_t *text;
    int64_t string; /* 0-based field of the string, -1: the columns are numbers */
    char **names;   /* header, one per field and NULL, or NULL */
    int64_t first_line;
} kfe_i_dialect;

typedef struct kfe_i_csv {
    kfe_context *ctx;
    const kfe_i_read_settings *settings;
    kfe_i_block block;
    kfe_i_dialect dialect;
    int64_t part_rows;   /* rows of a part; 0: the file is read whole */
    int64_t rows_before; /* that earlier parts had */
    int has_missing;
    /* what was read */
    int64_t rows, cols, capacity;
    double *values;
    kfe_i_text_rows strings;
    kfe_i_labels *labels;
    kfe_i_text_rows ids;
    kfe_i_intern group_words;
    int32_t *groups; /* the word of each row */
    int64_t group_capacity;
    double *weights; /* of the rows */
    int64_t weight_capacity;
    int64_t text_count; /* columns of text that are encoded, in the order of the table */
    kfe_i_text_column *texts;
    /* of the rows of the block at hand */
    kfe_i_span *label_spans, *string_spans, *id_spans;
    kfe_i_span *group_spans;
    kfe_i_span *text_spans; /* rows × text_count */
    int64_t span_capacity;
} kfe_i_csv;

/* Scans the field at c; the block ends in a line end. Returns 0 if a quote is never closed. */
int kfe_i_csv_field(char delimiter, const char *c, const char *block_end, kfe_i_field *out);
/* The line end of the record at c, or NULL if it is not in the block. */
const char *kfe_i_csv_record_end(char delimiter, const char *c, const char *block_end, int quotes);
/* Whether the line at c, which ends in the block, has nothing in it. */
int kfe_i_csv_is_blank(char delimiter, const char *c);
/* Skips the blanks before the first field where blanks are the delimiter. */
const char *kfe_i_csv_row_begin(char delimiter, const char *c);
/* The beginning of the next field, or NULL at the end of the row. */
const char *kfe_i_csv_next_field(char delimiter, const kfe_i_field *field);
/* Whether a field of the block at hand is quoted. */
int kfe_i_csv_span_is_quoted(const kfe_i_csv *csv, kfe_i_span span);
/* Appends the content of a quoted field; doubled quotes become single ones. */
void kfe_i_csv_unquote(kfe_i_text *out, const char *begin, const char *end);

/* Finds delimiter, header, label and string column from the first lines, and moves past the header. */
kfe_status kfe_i_csv_choose_dialect(kfe_i_csv *csv);

/* Finds out what each field becomes: all of the dialect from label on except its names, and csv->cols. */
kfe_status kfe_i_csv_choose_columns(kfe_i_csv *csv);

/* What a model says about the columns of this file; NULL: nothing. */
const kfe_i_expected_view *kfe_i_csv_expected(const kfe_i_csv *csv);
/* What it says about its text columns; NULL: it has none. */
const kfe_i_encoding *kfe_i_csv_expected_encoding(const kfe_i_csv *csv);
/* Whether some text columns are to be encoded. */
int kfe_i_csv_encodes(const kfe_i_csv *csv);
/* Marks the fields of the block that hold a text, neither a number nor a missing value, in a record from c on. */
void kfe_i_csv_mark_texts(const kfe_i_csv *csv, const char *c, unsigned char *marks);
/* Finds out which fields are text columns to be encoded, where some are: csv->texts and dialect.text. */
kfe_status kfe_i_csv_choose_texts(kfe_i_csv *csv);
/* Puts the number of each text of the block at hand into the table, NaN where it is missing. */
kfe_status kfe_i_csv_number_texts(kfe_i_csv *csv, int64_t rows);
/* Notes the groups of rows of the block at hand; takes the groups of all rows. */
kfe_status kfe_i_csv_add_groups(kfe_i_csv *csv, int64_t rows);
kfe_status kfe_i_csv_take_groups(kfe_i_csv *csv, kfe_i_raw_table *out);
/* Encodes the text columns of the whole table. */
kfe_status kfe_i_csv_encode(kfe_i_csv *csv, kfe_i_raw_table *out);

/* Parses all whole records in the block, or those of one part; *used receives their length in bytes. A part ends before
 * a record with an error, which is reported when it comes first. */
kfe_status kfe_i_csv_parse_block(kfe_i_csv *csv, int64_t *used);

/* Fails with a message about the field (csv_fault.c). */
kfe_status kfe_i_csv_raise(kfe_i_csv *csv, const kfe_i_csv_fault *found);

#endif
