/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of delimited text (CSV, TSV) and LIBSVM files. */
#include <stdio.h>
#include <string.h>

#include "data/read/reader.h"
#include "data/write/writer.h"

/* ---- delimited text ---- */

/* Whether the text would be read back as several fields, as a missing value or without its blanks. */
static int needs_quotes(const char *text, int64_t length, char delimiter)
{
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ' || text[0] == '"')
        return 1;
    for (int64_t i = 0; i < length; i++)
        if (text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return 1;
    return kfe_i_is_missing_text(text, text + length);
}

static void put_text(kfe_i_sink *sink, const char *text, int64_t length, char delimiter)
{
    if (!needs_quotes(text, length, delimiter)) {
        kfe_i_sink_put(sink, text, length);
        return;
    }
    kfe_i_sink_put(sink, "\"", 1);
    for (int64_t i = 0; i < length; i++)
        kfe_i_sink_put(sink, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    kfe_i_sink_put(sink, "\"", 1);
}

static void put_name(const kfe_i_written *what, kfe_i_sink *sink, int64_t column, char delimiter)
{
    char made_up[64];
    const char *name = made_up;

    if (what->column_names && what->column_names[column])
        name = what->column_names[column];
    else if (what->table.kind == KFE_TABLE_TEXT)
        name = "text";
    else
        snprintf(made_up, sizeof made_up, "%s%lld", what->name_prefix ? what->name_prefix : "x",
                 (long long)column + 1);
    put_text(sink, name, (int64_t)strlen(name), delimiter);
}

/* A row while it is written: the separator before its next field. */
typedef struct line {
    const kfe_i_written *what;
    kfe_i_sink *sink;
    char delimiter;
    int begun;
} line;

static void next_field(line *out)
{
    if (out->begun)
        kfe_i_sink_put(out->sink, &out->delimiter, 1);
    out->begun = 1;
}

static void put_column_names(line *out)
{
    for (int64_t j = 0; j < out->what->table.cols; j++) {
        next_field(out);
        put_name(out->what, out->sink, j, out->delimiter);
    }
}

static void put_target_names(line *out)
{
    const kfe_i_target *target = out->what->target;
    const char *label = out->what->target_name ? out->what->target_name : "label";
    int64_t targets = !target ? 0 : target->task == KFE_TASK_CLASSES ? 1 : target->cols;
    char number[32] = "";

    for (int64_t k = 0; k < targets; k++) {
        next_field(out);
        put_text(out->sink, label, (int64_t)strlen(label), out->delimiter);
        if (targets > 1)
            snprintf(number, sizeof number, "%lld", (long long)k + 1);
        kfe_i_sink_puts(out->sink, number);
    }
}

static void put_header(const kfe_i_written *what, kfe_i_sink *sink, char delimiter)
{
    line out = {what, sink, delimiter, 0};

    if (what->ids) {
        next_field(&out);
        put_text(sink, what->id_name, (int64_t)strlen(what->id_name), delimiter);
    }
    if (what->target_first)
        put_target_names(&out);
    put_column_names(&out);
    if (!what->target_first)
        put_target_names(&out);
    kfe_i_sink_put(sink, "\n", 1);
}

static void put_target(line *out, int64_t i)
{
    const kfe_i_target *target = out->what->target;

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES) {
        const char *name = target->names[target->codes[i]];
        next_field(out);
        put_text(out->sink, name, (int64_t)strlen(name), out->delimiter);
        return;
    }
    for (int64_t k = 0; k < target->cols; k++) {
        next_field(out);
        kfe_i_put_target_value(out->what, out->sink, target->values[i * target->cols + k]);
    }
}

static void put_values(line *out, int64_t i)
{
    const kfe_i_table *table = &out->what->table;

    if (table->kind == KFE_TABLE_TEXT) {
        next_field(out);
        put_text(out->sink, table->bytes + table->row_start[i], table->row_start[i + 1] - table->row_start[i],
                 out->delimiter);
        return;
    }
    const double *row = kfe_i_written_dense(out->what, i);
    for (int64_t j = 0; j < table->cols; j++) {
        next_field(out);
        if (out->what->value_words) {
            const char *word = out->what->value_words[(int64_t)row[j]];
            put_text(out->sink, word, (int64_t)strlen(word), out->delimiter);
        } else {
            kfe_i_sink_put_number(out->sink, row[j]);
        }
    }
}

static void put_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i, char delimiter)
{
    line out = {what, sink, delimiter, 0};

    if (what->ids) {
        int64_t begin = what->ids->row_start[i];
        next_field(&out);
        put_text(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin, delimiter);
    }
    if (what->target_first)
        put_target(&out, i);
    put_values(&out, i);
    if (!what->target_first)
        put_target(&out, i);
    kfe_i_sink_put(sink, "\n", 1);
}

static kfe_status write_delimited(const kfe_i_written *what, kfe_i_sink *sink, char delimiter)
{
    kfe_status status = KFE_OK;

    if (!what->continued && (what->column_names || what->name_prefix || what->table.kind == KFE_TABLE_TEXT))
        put_header(what, sink, delimiter);
    for (int64_t i = 0; i < what->table.rows; i++) {
        put_row(what, sink, i, delimiter);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

static kfe_status write_csv(const kfe_i_written *what, kfe_i_sink *sink)
{
    return write_delimited(what, sink, ',');
}

static kfe_status write_tsv(const kfe_i_written *what, kfe_i_sink *sink)
{
    return write_delimited(what, sink, '\t');
}

const kfe_i_writer kfe_i_csv_writer = {
    "csv", write_csv, .packable = 1, .in_parts = 1, .holds_strings = 1, .holds_ids = 1, .has_words = 1};
const kfe_i_writer kfe_i_tsv_writer = {"tsv|tab",          write_tsv,      .packable = 1, .in_parts = 1,
                                       .holds_strings = 1, .holds_ids = 1, .has_words = 1};

/* ---- LIBSVM ---- */

static kfe_status check_label_names(const kfe_i_written *what)
{
    const kfe_i_target *target = what->target;

    if (target && target->task == KFE_TASK_REAL && target->cols > 1)
        return kfe_i_fail(what->ctx, KFE_EINVAL, "%s: LIBSVM files have room for one target, not %lld",
                          what->path, (long long)target->cols);
    for (int64_t k = 0; target && k < target->class_count; k++)
        if (!target->names[k][0] || strpbrk(target->names[k], " \t\r\n\f\v:#,"))
            return kfe_i_fail(what->ctx, KFE_EINVAL,
                              "%s: the label '%s' does not fit into a LIBSVM file; write .csv or .npz, or "
                              "rename the class",
                              what->path, target->names[k]);
    return KFE_OK;
}

/* A row while it is written; `begun`: it has a label or an entry. */
typedef struct sparse_row {
    kfe_i_sink *sink;
    int begun;
} sparse_row;

static void put_entry(sparse_row *row, int64_t column, double value, int even_zero)
{
    char index[32];

    if (value == 0 && !even_zero)
        return;
    snprintf(index, sizeof index, "%s%lld:", row->begun ? " " : "", (long long)column + 1);
    kfe_i_sink_puts(row->sink, index);
    kfe_i_sink_put_number(row->sink, value);
    row->begun = 1;
}

static void put_entries(const kfe_i_table *table, int64_t i, sparse_row *row)
{
    if (table->kind == KFE_TABLE_CSR)
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++)
            put_entry(row, table->columns[p], table->values[p], 0);
    else
        for (int64_t j = 0; j < table->cols; j++)
            put_entry(row, j, kfe_i_table_value(table, i, j), 0);
    if (!row->begun) /* a blank line would be no row */
        put_entry(row, 0, 0, 1);
}

static void put_label(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_target *target = what->target;

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES)
        kfe_i_sink_puts(sink, target->names[target->codes[i]]);
    else
        kfe_i_put_target_value(what, sink, target->values[i]);
}

static kfe_status write_libsvm(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;

    KFE_TRY(check_label_names(what));
    for (int64_t i = 0; i < table->rows; i++) {
        sparse_row row = {sink, what->target != NULL};
        put_label(what, sink, i);
        put_entries(table, i, &row);
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_writer kfe_i_libsvm_writer = {"svm|libsvm|svmlight", write_libsvm, .packable = 1, .in_parts = 1,
                                          .holds_sparse = 1};
