/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build a result (kfe_result) with these functions, row by row: add a table, begin a row, put its values. A column appears when the
 * first row has it. A failed allocation is remembered until kfe_i_result_finish, so that no call needs checking.
 */
#ifndef KFE_RESULT_RESULT_H
#define KFE_RESULT_RESULT_H

#include <string.h>

#include "core/text.h"

typedef struct kfe_i_result_cell {
    double number;
    char *text;
    unsigned char given;
} kfe_i_result_cell;

typedef struct kfe_i_result_column {
    kfe_column shown;
    int has_kind;
    kfe_i_result_cell *cells; /* of the first rows, until kfe_i_result_finish */
    int64_t count, capacity;
    double *numbers;
    char **texts;
    unsigned char *given;
} kfe_i_result_column;

typedef struct kfe_i_result_table {
    kfe_table shown;
    kfe_result *result;
    int64_t before; /* JSON writes the table before this column of its parent */
    int64_t *parent_row;
    kfe_i_result_column *columns;
    int64_t column_capacity, row_capacity;
    int64_t cursor;  /* the column after the one that was put last */
    int is_numbered; /* the columns of a matrix are numbers from 1 */
    double *block;   /* numbers row by row, until kfe_i_result_finish; NULL: none */
} kfe_i_result_table;

/* How the text of a comparison marks the best of a column. */
typedef enum kfe_i_bold { KFE_BOLD_NONE, KFE_BOLD_STARS, KFE_BOLD_ANSI } kfe_i_bold;

struct kfe_result {
    kfe_context *ctx;
    kfe_i_result_table **tables;
    int64_t table_count, table_capacity;
    kfe_status status; /* the first failure */
    int has_matrices;  /* an explanation: a column of labels, then numbers of one meaning */
    kfe_i_bold bold;
};

/* Makes a result whose table of facts has its row. */
kfe_status kfe_i_result_new(kfe_context *ctx, kfe_result **out);
/* Hands the result over, or frees it after a failure. */
kfe_status kfe_i_result_finish(kfe_result *result, kfe_result **out);

/* The table of facts. */
kfe_i_result_table *kfe_i_result_facts(kfe_result *result);
/* The table of that name that belongs to rows of `parent`, made at the first call. `group` and `name` make its name, as in the
 * kfe_i_put functions. NULL after a failure, which all functions accept. */
kfe_i_result_table *kfe_i_result_add(kfe_i_result_table *parent, const char *group, const char *name,
                                     int is_list);
/* Begins a row, which belongs to the newest row of the parent. */
void kfe_i_result_row(kfe_i_result_table *table);

/* Puts a value into the newest row. The column is called "group/name", or "name" if `group` is NULL. NaN and NULL: the row
 * has the column, but the value is not available; KFE_COLUMN_NONE says so of any kind. */
enum { KFE_COLUMN_NONE = -1 };
void kfe_i_put(kfe_i_result_table *table, const char *group, const char *name, int kind, double number,
               const char *text);
static inline void kfe_i_put_real(kfe_i_result_table *table, const char *group, const char *name,
                                  double value)
{
    kfe_i_put(table, group, name, KFE_COLUMN_REAL, value, NULL);
}
static inline void kfe_i_put_count(kfe_i_result_table *table, const char *group, const char *name,
                                   int64_t value)
{
    kfe_i_put(table, group, name, KFE_COLUMN_COUNT, (double)value, NULL);
}
static inline void kfe_i_put_flag(kfe_i_result_table *table, const char *group, const char *name, int value)
{
    kfe_i_put(table, group, name, KFE_COLUMN_FLAG, value != 0, NULL);
}
static inline void kfe_i_put_text(kfe_i_result_table *table, const char *group, const char *name,
                                  const char *value)
{
    kfe_i_put(table, group, name, KFE_COLUMN_TEXT, 0, value);
}
/* The row has this group, which may stay empty. */
static inline void kfe_i_put_group(kfe_i_result_table *table, const char *group, const char *name)
{
    kfe_i_put(table, group, name, KFE_COLUMN_GROUP, 0, NULL);
}
/* Says what the column that was put last means, unless that is known; copied. */
void kfe_i_put_about(kfe_i_result_table *table, const char *about);

/* Adds a table whose first column labels the rows, and whose other columns hold numbers. *values is zeroed memory for the
 * numbers, row by row, until kfe_i_result_finish. */
typedef struct kfe_i_labels {
    const char *name; /* what is labelled */
    int64_t count;
    char **labels; /* NULL: numbers from 1 */
} kfe_i_labels;
kfe_status kfe_i_result_matrix(kfe_result *result, const char *name, const char *about,
                               const kfe_i_labels *rows, const kfe_i_labels *cols, double **values);

/* Whether the columns of a matrix have no labels. */
int kfe_i_result_is_numbered(const kfe_table *table);

/* "accuracy" of "metrics/accuracy". */
static inline const char *kfe_i_last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* What a column or a table means, by the last part of its name, and its unit; "" if that is not known. */
const char *kfe_i_meaning(const char *name, const char **unit);

kfe_status kfe_i_result_json(kfe_context *ctx, const kfe_result *result, char **out);

/* The result as JSON. */
kfe_status kfe_i_result_json(kfe_context *ctx, const kfe_result *result, char **out);

/* Number `row` of a column; NaN if the table, the column or the number is missing. */
double kfe_i_result_at(const kfe_table *table, const char *column, int64_t row);
/* The same of text; NULL. */
const char *kfe_i_result_word(const kfe_table *table, const char *column, int64_t row);
/* The first row that belongs to row `owner` of the parent; *count is how many do, one after the other. 0 without a table. */
int64_t kfe_i_result_first(const kfe_table *table, int64_t owner, int64_t *count);
/* Appends the columns of a group that the row has, as "gamma=0.1 C=10" with a blank for the separator. */
void kfe_i_result_put_group(const kfe_table *table, const char *group, int64_t row, const char *separator,
                            kfe_i_text *out);

#endif
