/* SPDX-License-Identifier: Apache-2.0 */
/* Reading data sets: chooses the format of each file, joins views and labels. The public calls are here. */
#include "data/read/read.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/format/format.h"
#include "data/read/foreign.h"
#include "data/read/reader.h"
#include "data/set/views.h"
#include "data/table/columns.h"

#define ROW(kind, field, ...) kind(kfe_i_read_settings, field, __VA_ARGS__)

static const kfe_i_param rows[] = {
    ROW(KFE_TEXT, label, "label", "auto",
        "label column: auto (the last one, in LIBSVM files the first), last, first, none, a name from the "
        "header or a number from 1"),
    ROW(KFE_TEXT, label_file, "label_file", "", "a file of one column that holds the labels"),
    ROW(KFE_TEXT, label_pattern, "label_pattern", "",
        "a regular expression (POSIX extended) that finds the label of a FASTA record in its header: the "
        "label is the first group in parentheses, or the whole match if there is no group"),
    ROW(KFE_TEXT, id, "id", "",
        "the column that names the rows, by name or number; it is not a feature, and outputs begin with it"),
    ROW(KFE_TEXT, groups, "groups", "",
        "a column of numbers or text, by name or number: rows with equal values are a group, which "
        "cross-validation never divides between the training and the test part of a split; the column is "
        "not a feature"),
    ROW(KFE_TEXT, weight, "weight", "",
        "a column of numbers, by name or number, that says how many examples each row counts for: a row of "
        "weight 2 "
        "counts like two equal rows, one of weight 0 is left out; the column is not a feature"),
    ROW(KFE_TEXT, drop, "drop", "",
        "columns to leave out: names, prefixes such as fac_*, numbers from 1 or ranges such "
        "as 2-4, "
        "separated by commas"),
    ROW(KFE_TEXT, select, "select", "", "the only columns to take, besides the label; written as for drop"),
    ROW(KFE_TEXT, encode, "encode", "",
        "columns of a text table that hold categories: auto (all columns that hold text), or a list written "
        "as "
        "for drop; each category becomes a column of zeros and ones, kept in the model"),
    ROW(KFE_TEXT, delimiter, "delimiter", "auto",
        "what separates the fields of a text table: auto, comma, tab, semicolon, space, pipe, or one "
        "character"),
    ROW(KFE_CHOICE, header, "header", "auto", "auto|yes|no", "whether the first line names the columns"),
    ROW(KFE_CHOICE, format, "format", "auto", kfe_i_format_words,
        "format of the input; auto looks at content and extension"),
    ROW(KFE_CHOICE, task, "task", "auto", "auto|classify|regress",
        "what labels are: classes or real values; auto takes text, and whole numbers with at most 20 "
        "different values, as classes, and warns if it takes other whole numbers as real values"),
    ROW(KFE_CHOICE, missing, "missing", "error", KFE_MISSING_WORDS,
        "missing values: refuse them (error), fill in this value of the column in the training rows, which "
        "the model keeps for new data (mean, median, most-frequent), leave them out of the sums of pca, pls, "
        "plsda and opls (nipals), or drop the row (drop)"),
    ROW(KFE_CHOICE, content, "content", "numbers", "numbers|strings",
        "what the examples are: rows of numbers, or one string each"),
    ROW(KFE_TEXT, string_views, "string_views", "",
        "views that hold strings while the others hold numbers, as NAME;NAME"),
    ROW(KFE_TEXT, view_columns, "view_columns", "",
        "views that are columns of one table, as NAME=COLUMNS;NAME=COLUMNS, COLUMNS written as for drop"),
    ROW(KFE_INT, columns, "columns", "0", 0, 2147483647, "expected number of columns; 0: any"),
};

const kfe_i_param_table kfe_i_read_params = KFE_PARAM_TABLE(rows, kfe_i_read_settings);

const kfe_param_info *kfe_read_option(int index)
{
    return kfe_i_param_info(&kfe_i_read_params, index);
}

/* ---- the format ---- */

static kfe_status find_format(kfe_i_source *source, const char *path, int asked, const kfe_i_format **out)
{
    kfe_status status = KFE_OK;
    const char *head = NULL;
    const char *foreign;
    const char *advice = "";
    int64_t length = 0;

    *out = NULL;
    KFE_TRY(kfe_i_source_peek(source, &head, &length));
    if (length == 0)
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                             "the file is empty; it needs at least one row");
    *out = asked > 0 ? kfe_i_format_at(asked - 1) : kfe_i_format_by_magic(head, length);
    foreign = *out ? NULL : kfe_i_foreign_kind(head, length, &advice);
    if (foreign)
        return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0, "this is %s, not a table; %s",
                             foreign, advice);
    *out = *out ? *out : kfe_i_format_guess(path, head, length);
cleanup:
    return status;
}

/* ---- one file ---- */

static int names_columns(const kfe_i_read_settings *settings)
{
    int names_rows = settings->id[0] || settings->groups[0] || settings->weight[0];

    return settings->drop[0] || settings->select[0] || (names_rows && !settings->is_one_of_several);
}

/* Whether columns of this file can be encoded, as the user asks. */
static kfe_status check_encode(kfe_context *ctx, const char *file, const kfe_i_format *format,
                               const kfe_i_read_settings *settings)
{
    if (settings->content == KFE_CONTENT_STRINGS)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "%s: {encode} is for columns of categories, not for examples that are strings; leave "
            "it out, or use a kernel on numbers",
            file);
    if (!format->has_text_columns)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "%s: {encode} is for text tables (CSV, TSV, ARFF); %s files have no columns of text", file,
            format->name);
    if (settings->expected && !settings->expected->encodes)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "%s: the model has learned no categories; fit it with {encode}, or leave {encode} out", file);
    return KFE_OK;
}

kfe_status kfe_i_choose_format(kfe_i_source *source, const char *path, const kfe_i_read_settings *settings,
                               const kfe_i_format **out)
{
    kfe_status status = find_format(source, path, settings->format, out);

    if (status == KFE_OK && settings->encode[0] && settings->content != KFE_CONTENT_LABELS)
        status = check_encode(source->ctx, source->name, *out, settings);
    if (status == KFE_OK && settings->label_pattern[0] && !(*out)->has_headers)
        status =
            kfe_i_fail(source->ctx, KFE_EINVAL,
                       "%s: {label-pattern} is for FASTA files; name the column of the label with {label}",
                       source->name);
    return status;
}

kfe_status kfe_i_check_raw_table(const kfe_i_raw_table *raw, const char *file,
                                 const kfe_i_read_settings *settings)
{
    if (raw->table.kind == KFE_TABLE_CSR && names_columns(settings))
        return kfe_i_fail(
            raw->ctx, KFE_EINVAL,
            "%s: {id}, {drop}, {select}, {groups} and {weight} are for dense tables; sparse rows are matched "
            "with "
            "a model by the numbers of their columns, which must not shift: leave entries out of the file "
            "instead",
            file);
    if (raw->table.rows == 0 && raw->labels.rows == 0)
        return kfe_i_fail(raw->ctx, KFE_EINPUT, "%s: no rows of data; it needs at least one", file);
    return KFE_OK;
}

static kfe_status read_raw_table(kfe_context *ctx, kfe_i_source *source, const char *path,
                                 const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_format *format = NULL;

    kfe_i_raw_table_init(out, ctx);
    KFE_TRY(kfe_i_choose_format(source, path, settings, &format));
    KFE_TRY(kfe_i_format_read(format, source, settings, out));
    KFE_TRY(kfe_i_check_raw_table(out, source->name, settings));
cleanup:
    return status;
}

static kfe_status read_file(kfe_context *ctx, const char *path, const kfe_i_read_settings *settings,
                            kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_source source;

    kfe_i_raw_table_init(out, ctx);
    KFE_TRY(kfe_i_source_open(ctx, path, &source));
    KFE_TRY(read_raw_table(ctx, &source, path, settings, out));
cleanup:
    kfe_i_source_close(&source);
    return status;
}

/* Reads the labels from a file of their own, which has one column. */
static kfe_status attach_label_file(kfe_context *ctx, const kfe_i_read_settings *settings, const char *file,
                                    kfe_i_raw_table *raw)
{
    kfe_status status = KFE_OK;
    kfe_i_read_settings own = *settings;
    kfe_i_raw_table labels;
    int64_t rows_found = raw->table.rows;

    memcpy(own.label, "last", sizeof "last");
    own.label_file[0] = own.label_pattern[0] = '\0';
    own.format = 0;
    own.columns = 0;
    own.content = KFE_CONTENT_LABELS;
    own.id[0] = own.drop[0] = own.select[0] = own.encode[0] = own.groups[0] = own.weight[0] = '\0';
    own.expected_index = -1;
    KFE_TRY(read_file(ctx, settings->label_file, &own, &labels));
    if (!labels.labels.present)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: a label file has one column of labels", settings->label_file);
    if (labels.labels.rows == rows_found + 1 && settings->header == KFE_HEADER_AUTO)
        KFE_TRY(kfe_i_labels_drop_header_row(&labels.labels));
    if (labels.labels.rows != rows_found)
        KFE_FAIL(ctx, KFE_EINPUT, "%s has %lld rows, but %s has %lld labels; they must match", file,
                 (long long)rows_found, settings->label_file, (long long)labels.labels.rows);
    kfe_i_labels_free(&raw->labels);
    raw->labels = labels.labels;
    kfe_i_labels_init(&labels.labels, ctx);
    raw->has_missing |= labels.has_missing;
cleanup:
    kfe_i_raw_table_free(&labels);
    return status;
}

/* ---- from raw tables to a data set ---- */

static void describe_target(const kfe_data *data, const kfe_i_read_settings *settings, char *out, size_t size)
{
    const kfe_i_target *target = &data->target;
    const char *file = settings->label_file;
    const char *name = file[0] ? file : data->target_name;
    const char *from = !name ? "" : file[0] ? " from " : " from column '";
    const char *end = name && !file[0] ? "'" : "";

    name = name ? name : "";
    if (target->task == KFE_TASK_NONE)
        snprintf(out, size, "no labels");
    else if (target->task == KFE_TASK_CLASSES)
        snprintf(out, size, "%lld class%s%s%.200s%s", (long long)target->class_count,
                 target->class_count == 1 ? "" : "es", from, name, end);
    else
        snprintf(out, size, "a real target%s%.200s%s", from, name, end);
}

static void log_summary(const kfe_data *data, const char *file, const kfe_i_read_settings *settings)
{
    char target[320];
    const kfe_i_table *table = &data->views[data->view_count - 1].table;

    if (!data->ctx->log)
        return;
    describe_target(data, settings, target, sizeof target);
    if (table->kind == KFE_TABLE_TEXT)
        kfe_i_log(data->ctx, KFE_LOG_INFO, "%s: %lld strings, %s", file, (long long)table->rows, target);
    else
        kfe_i_log(data->ctx, KFE_LOG_INFO, "%s: %lld rows, %lld columns%s, %s", file, (long long)table->rows,
                  (long long)table->cols, table->kind == KFE_TABLE_CSR ? " (sparse)" : "", target);
}

/* Names a view; if `name` is NULL, after its file. */
static kfe_status name_view(kfe_context *ctx, const char *name, const char *path, kfe_i_view *view)
{
    kfe_status status = KFE_OK;
    char own[KFE_VIEW_NAME_SIZE];

    kfe_view_name(path, own, sizeof own);
    KFE_STRDUP(ctx, view->name, name ? name : own);
    kfe_i_force_utf8(view->name); /* file names may be any bytes */
    KFE_STRDUP(ctx, view->path, kfe_i_shown_path(path));
    view->named = name != NULL;
cleanup:
    return status;
}

static void move_table(kfe_i_raw_table *raw, kfe_i_view *view)
{
    view->table = raw->table;
    view->column_names = raw->column_names;
    view->encoding = raw->encoding;
    view->gaps = raw->gaps;
    memset(&raw->encoding, 0, sizeof raw->encoding);
    memset(&raw->gaps, 0, sizeof raw->gaps);
    memset(&raw->table, 0, sizeof raw->table);
    raw->column_names = NULL;
}

static kfe_status move_target(kfe_i_raw_table *raw, const char *file, const kfe_i_read_settings *settings,
                              const double *weights, kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (!raw->labels.present)
        return KFE_OK;
    KFE_TRY(kfe_i_labels_to_target(&raw->labels, settings->label_file[0] ? settings->label_file : file,
                                   settings, weights, &data->target));
    if (!settings->label_file[0])
        data->label_place = raw->labels.place;
    data->target_name = raw->labels.name;
    raw->labels.name = NULL;
cleanup:
    return status;
}

/* Divides the one table, as the user or the model says; `raw` still knows where its columns stood in the file. */
static kfe_status divide(kfe_context *ctx, const kfe_i_read_settings *settings, const kfe_i_raw_table *raw,
                         kfe_data *data)
{
    const kfe_i_expected *expected = settings->expected;

    if (expected && expected->division && data->view_count == 1)
        return kfe_i_data_divide(ctx, data, expected->division, expected->view_count, expected->view_names);
    if (!settings->view_columns[0])
        return KFE_OK;
    return kfe_i_divide_as_listed(ctx, settings->view_columns, raw, data);
}

kfe_status kfe_i_data_from_raw(kfe_context *ctx, kfe_i_raw_table *raw, const char *path, const char *name,
                               const kfe_i_read_settings *settings, kfe_data **out)
{
    kfe_status status = KFE_OK;
    const char *file = kfe_i_shown_path(path);
    kfe_data *data = NULL;

    if (settings->label_file[0])
        KFE_TRY(attach_label_file(ctx, settings, file, raw));
    KFE_TRY(kfe_i_handle_missing_values(ctx, raw, 1, &file, settings));
    KFE_TRY(kfe_i_data_new(ctx, 1, &data));
    KFE_TRY(name_view(ctx, name, path, &data->views[0]));
    data->first_row = raw->first_row;
    move_table(raw, &data->views[0]);
    KFE_TRY(move_target(raw, file, settings, raw->weights, data));
    KFE_TRY(kfe_i_take_row_columns(raw, 1, &path, data));
    KFE_TRY(divide(ctx, settings, raw, data));
    *out = data;
    data = NULL;
cleanup:
    kfe_data_free(data);
    return status;
}

kfe_status kfe_i_data_read_source(kfe_context *ctx, kfe_i_source *source, const char *path,
                                  const kfe_i_read_settings *settings, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_raw_table raw;

    *out = NULL;
    KFE_TRY(read_raw_table(ctx, source, path, settings, &raw));
    KFE_TRY(kfe_i_data_from_raw(ctx, &raw, path, NULL, settings, out));
    log_summary(*out, kfe_i_shown_path(path), settings);
cleanup:
    kfe_i_raw_table_free(&raw);
    return status;
}

kfe_status kfe_i_read_settings_parse(kfe_context *ctx, const char *options, const kfe_i_expected *expected,
                                     kfe_i_read_settings *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_params_default(ctx, &kfe_i_read_params, out));
    KFE_TRY(kfe_i_params_parse(ctx, &kfe_i_read_params, NULL, out, options));
    if (out->label_file[0] && strcmp(out->label, "auto") != 0 && strcmp(out->label, "none") != 0)
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "{label=%s} and {label-file} both say where the labels are; give one of them. With {label-file} "
            "every column is data",
            out->label);
    if (out->label_pattern[0] && (out->label_file[0] || strcmp(out->label, "auto") != 0))
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{label-pattern} says where the labels are; leave {label} and {label-file} out");
    out->expected = expected;
    if (expected && out->columns == 0)
        out->columns = expected->columns;
    out->label_is_given = strcmp(out->label, "auto") != 0;
    if (expected && expected->keeps_missing)
        out->missing = KFE_MISSING_KEEP;
cleanup:
    return status;
}

/* ---- one view or several ---- */

static kfe_status check_row_counts(kfe_context *ctx, int count, const char *const *paths,
                                   const kfe_i_raw_table *raws)
{
    for (int v = 1; v < count; v++)
        if (raws[v].table.rows != raws[0].table.rows)
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "%s has %lld rows, but %s has %lld; views must describe the same examples in "
                              "the same order",
                              kfe_i_shown_path(paths[0]), (long long)raws[0].table.rows,
                              kfe_i_shown_path(paths[v]), (long long)raws[v].table.rows);
    return KFE_OK;
}

static void forget_number(char *item)
{
    if (kfe_i_columns_is_number(item))
        *item = '\0';
}

/* The number `columns` is about the last file. Numbers of columns that describe rows are about the first, names about any. */
kfe_i_read_settings kfe_i_read_settings_of(const kfe_i_read_settings *all, const char *name, int index,
                                           int count)
{
    kfe_i_read_settings own = *all;
    int is_last = index + 1 == count;

    own.expected_index = index;
    own.may_have_label = is_last && !all->label_file[0];
    own.is_one_of_several = count > 1;
    if (index > 0) {
        forget_number(own.id);
        forget_number(own.groups);
        forget_number(own.weight);
    }
    if (!is_last) {
        memcpy(own.label, "none", sizeof "none");
        own.columns = 0;
    }
    if (all->string_views[0] ? kfe_i_view_is_listed(all->string_views, name)
                             : all->expected && all->expected->views[index].strings)
        own.content = KFE_CONTENT_STRINGS;
    return own;
}

static kfe_status read_raw_tables(kfe_context *ctx, int count, const char *const *paths,
                                  const kfe_i_read_settings *settings, const kfe_i_view *views,
                                  kfe_i_raw_table *raws)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < count; v++) {
        kfe_i_read_settings own = kfe_i_read_settings_of(settings, views[v].name, v, count);
        KFE_TRY(read_file(ctx, paths[v], &own, &raws[v]));
    }
    KFE_TRY(check_row_counts(ctx, count, paths, raws));
    KFE_TRY(kfe_i_check_row_columns(ctx, raws, count, paths, settings));
    if (settings->label_file[0])
        KFE_TRY(attach_label_file(ctx, settings, kfe_i_shown_path(paths[count - 1]), &raws[count - 1]));
    KFE_TRY(kfe_i_handle_missing_values(ctx, raws, count, paths, settings));
cleanup:
    return status;
}

static kfe_status refuse_repeated_input(kfe_context *ctx, int count, const char *const *paths,
                                        const char *label_file)
{
    int uses = strcmp(label_file, "-") == 0;

    if (count < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "name at least one file to read");
    for (int v = 0; v < count; v++)
        uses += strcmp(paths[v], "-") == 0;
    return uses > 1 ? kfe_i_fail(ctx, KFE_EINVAL, "standard input can be read only once") : KFE_OK;
}

kfe_status kfe_i_data_read_files(kfe_context *ctx, int count, const char *const *paths,
                                 const char *const *names, const char *options,
                                 const kfe_i_expected *expected, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_read_settings settings;
    kfe_i_raw_table *raws = NULL;
    kfe_data *data = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_read_settings_parse(ctx, options, expected, &settings));
    KFE_TRY(refuse_repeated_input(ctx, count, paths, settings.label_file));
    KFE_ALLOC_ZERO(ctx, raws, count);
    KFE_TRY(kfe_i_data_new(ctx, count, &data));
    for (int v = 0; v < count; v++)
        KFE_TRY(name_view(ctx, names ? names[v] : NULL, paths[v], &data->views[v]));
    if (count > 1)
        KFE_TRY(kfe_i_views_check_names(ctx, data->views, count));
    KFE_TRY(read_raw_tables(ctx, count, paths, &settings, data->views, raws));
    for (int v = 0; v < count; v++)
        move_table(&raws[v], &data->views[v]);
    KFE_TRY(move_target(&raws[count - 1], kfe_i_shown_path(paths[count - 1]), &settings,
                        kfe_i_row_weights(raws, count), data));
    KFE_TRY(kfe_i_take_row_columns(raws, count, paths, data));
    log_summary(data, kfe_i_shown_path(paths[count - 1]), &settings);
    KFE_TRY(divide(ctx, &settings, &raws[0], data));
    *out = data;
    data = NULL;
cleanup:
    for (int v = 0; raws && v < count; v++)
        kfe_i_raw_table_free(&raws[v]);
    kfe_i_free(ctx, raws);
    kfe_data_free(data);
    return status;
}

kfe_status kfe_data_read(kfe_context *ctx, const char *path, const char *options, kfe_data **out)
{
    return kfe_i_data_read_files(ctx, 1, &path, NULL, options, NULL, out);
}

kfe_status kfe_data_read_views(kfe_context *ctx, int count, const char *const *paths,
                               const char *const *names, const char *options, kfe_data **out)
{
    return kfe_i_data_read_files(ctx, count, paths, names, options, NULL, out);
}
