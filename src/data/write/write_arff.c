/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of ARFF files: numbers or one string per row, the target last, classes as a nominal attribute; sparse rows in braces. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/write/writer.h"

/* Text in quotes unless it is a plain word. */
static void put_text(kfe_i_sink *sink, const char *text, int64_t length)
{
    static const char special[] = " \t\r\n,{}'\"\\%";
    int plain = length > 0 && !(length == 1 && text[0] == '?') && text[0] != '@';

    for (int64_t i = 0; i < length && plain; i++)
        plain = !memchr(special, text[i], sizeof special - 1);
    if (plain) {
        kfe_i_sink_put(sink, text, length);
        return;
    }
    kfe_i_sink_put(sink, "'", 1);
    for (int64_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            kfe_i_sink_put(sink, "\\", 1);
        kfe_i_sink_put(sink, text[i] == '\n' || text[i] == '\r' ? " " : text + i, 1);
    }
    kfe_i_sink_put(sink, "'", 1);
}

static void put_number(kfe_i_sink *sink, double value)
{
    if (isnan(value))
        kfe_i_sink_put(sink, "?", 1);
    else
        kfe_i_sink_put_number(sink, value);
}

/* ---- attributes ---- */

static void put_attribute(kfe_i_sink *sink, const char *name, const char *type)
{
    kfe_i_sink_puts(sink, "@attribute ");
    put_text(sink, name, (int64_t)strlen(name));
    kfe_i_sink_puts(sink, type);
}

static void put_columns(const kfe_i_written *what, kfe_i_sink *sink)
{
    int text = what->table.kind == KFE_TABLE_TEXT;
    char made_up[64];

    for (int64_t j = 0; j < what->table.cols; j++) {
        const char *name = what->column_names ? what->column_names[j] : NULL;
        snprintf(made_up, sizeof made_up, "%s%lld", what->name_prefix ? what->name_prefix : "x",
                 (long long)j + 1);
        name = name ? name : text ? "text" : made_up;
        put_attribute(sink, name, text ? " string\n" : " numeric\n");
    }
}

static void put_target_attributes(const kfe_i_written *what, kfe_i_sink *sink)
{
    const kfe_i_target *target = what->target;
    const char *label = what->target_name ? what->target_name : "label";
    char name[320];

    if (!target)
        return;
    if (target->task == KFE_TASK_CLASSES) {
        put_attribute(sink, label, " {");
        for (int64_t k = 0; k < target->class_count; k++) {
            kfe_i_sink_puts(sink, k > 0 ? "," : "");
            put_text(sink, target->names[k], (int64_t)strlen(target->names[k]));
        }
        kfe_i_sink_puts(sink, "}\n");
        return;
    }
    for (int64_t k = 0; k < target->cols; k++) {
        if (target->cols > 1)
            snprintf(name, sizeof name, "%.250s%lld", label, (long long)k + 1);
        put_attribute(sink, target->cols > 1 ? name : label, " numeric\n");
    }
}

/* ---- rows ---- */

static void put_id(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    int64_t begin = what->ids ? what->ids->row_start[i] : 0;

    if (!what->ids)
        return;
    put_text(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin);
    kfe_i_sink_put(sink, ",", 1);
}

static void put_target(const kfe_i_written *what, kfe_i_sink *sink, int64_t i, int64_t k)
{
    const kfe_i_target *target = what->target;

    if (target->task == KFE_TASK_CLASSES)
        put_text(sink, target->names[target->codes[i]], (int64_t)strlen(target->names[target->codes[i]]));
    else
        kfe_i_put_target_value(what, sink, target->values[i * target->cols + k]);
}

static int64_t target_count(const kfe_i_written *what)
{
    return !what->target ? 0 : what->target->task == KFE_TASK_CLASSES ? 1 : what->target->cols;
}

static void put_dense_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_table *table = &what->table;

    put_id(what, sink, i);
    if (table->kind == KFE_TABLE_TEXT) {
        put_text(sink, table->bytes + table->row_start[i], table->row_start[i + 1] - table->row_start[i]);
    } else {
        const double *row = kfe_i_written_dense(what, i);
        for (int64_t j = 0; j < table->cols; j++) {
            kfe_i_sink_puts(sink, j > 0 ? "," : "");
            put_number(sink, row[j]);
        }
    }
    for (int64_t k = 0; k < target_count(what); k++) {
        kfe_i_sink_puts(sink, table->cols > 0 || k > 0 ? "," : "");
        put_target(what, sink, i, k);
    }
}

/* "{index value, …}"; the label is always written, since a nominal one that is left out means the first class. */
static void put_sparse_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_table *table = &what->table;
    char index[32];
    const char *separator = "{";

    for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p++, separator = ", ") {
        snprintf(index, sizeof index, "%s%d ", separator, table->columns[p]);
        kfe_i_sink_puts(sink, index);
        put_number(sink, table->values[p]);
    }
    for (int64_t k = 0; k < target_count(what); k++, separator = ", ") {
        snprintf(index, sizeof index, "%s%lld ", separator, (long long)(table->cols + k));
        kfe_i_sink_puts(sink, index);
        put_target(what, sink, i, k);
    }
    kfe_i_sink_puts(sink, separator[0] == '{' ? "{}" : "}");
}

static kfe_status write_arff(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    int sparse = what->table.kind == KFE_TABLE_CSR;

    if (sparse && what->ids)
        return kfe_i_fail(what->ctx, KFE_EINVAL,
                          "%s: sparse ARFF files have no place for the names of the rows; write .npz",
                          what->path);
    kfe_i_sink_puts(sink, "@relation kfe\n\n");
    if (what->ids)
        put_attribute(sink, what->id_name, " string\n");
    put_columns(what, sink);
    put_target_attributes(what, sink);
    kfe_i_sink_puts(sink, "\n@data\n");
    for (int64_t i = 0; i < what->table.rows; i++) {
        if (sparse)
            put_sparse_row(what, sink, i);
        else
            put_dense_row(what, sink, i);
        kfe_i_sink_put(sink, "\n", 1);
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_writer kfe_i_arff_writer = {
    "arff", write_arff, .packable = 1, .holds_strings = 1, .holds_sparse = 1, .holds_ids = 1};
