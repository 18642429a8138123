/* SPDX-License-Identifier: Apache-2.0 */
/* Writes data sets and matrices, whole or in parts: chooses the format by the extension. The public calls are here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/format/format.h"

enum { ROWS_BETWEEN_POLLS = 4096 };

/* ".csv, .tsv, … or .fasta", the extensions that can be written. */
static kfe_status refuse_extension(kfe_context *ctx, const char *path)
{
    const kfe_i_format *format;
    kfe_status status = KFE_OK;
    kfe_i_text list;

    kfe_i_text_init(&list, ctx);
    for (int k = 0; (format = kfe_i_format_at(k)) != NULL; k++)
        if (format->write)
            kfe_i_text_printf(&list, "%s.%.*s", k > 0 ? ", " : "", (int)strcspn(format->extensions, "|"),
                              format->extensions);
    KFE_TRY(list.status);
    status =
        kfe_i_fail(ctx, KFE_EINVAL,
                   "%s: the extension names no format that can be written; use one of %s, all but .npz also "
                   "with .gz, .xz or .zst",
                   path, list.bytes);
cleanup:
    kfe_i_text_free(&list);
    return status;
}

/* Chooses the format by the extension; standard output is CSV. */
static kfe_status choose_format(kfe_context *ctx, const char *path, const kfe_i_format **out,
                                const kfe_i_packing **packed)
{
    char extension[16] = "csv";

    *packed = NULL;
    if (strcmp(path, "-") != 0)
        *packed = kfe_i_path_extension(path, extension, sizeof extension);
    *out = kfe_i_format_of_extension(extension);
    if (!*out || !(*out)->write)
        return refuse_extension(ctx, path);
    if (*packed && (*out)->packs_itself)
        return kfe_i_fail(ctx, KFE_EINVAL, "%s: .npz files cannot be compressed again; leave .%s out", path,
                          (*packed)->extension);
    if (*packed && !(*packed)->begin)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: this build of kfe does not write %s; use .gz, or build kfe with %s installed",
                          path, (*packed)->name, (*packed)->package);
    return KFE_OK;
}

kfe_status kfe_i_written_row(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    kfe_status status = kfe_i_sink_flush(sink);

    if (status == KFE_OK && i % ROWS_BETWEEN_POLLS == 0)
        status = kfe_i_progress(what->ctx, what->stage, i, what->table.rows);
    return status;
}

const double *kfe_i_written_dense(const kfe_i_written *what, int64_t i)
{
    if (what->table.kind == KFE_TABLE_DENSE && !what->table.singles)
        return what->table.values + i * what->table.stride;
    kfe_i_table_dense_row(&what->table, i, what->row);
    return what->row;
}

/* Whether the name is a number in its shortest form. "1.0" and "01" are not: they would be read back as "1". */
static int number_of_name(const char *name, double *number)
{
    char text[KFE_NUMBER_TEXT];

    if (!kfe_i_parse_number(name, name + strlen(name), number))
        return 0;
    kfe_i_format_number(*number, text);
    return strcmp(text, name) == 0 && *number - *number == 0;
}

kfe_status kfe_i_class_numbers(kfe_context *ctx, const kfe_i_target *target, double **numbers)
{
    kfe_status status = KFE_OK;
    double *found = NULL;

    *numbers = NULL;
    KFE_ALLOC(ctx, found, target->class_count);
    for (int64_t k = 0; k < target->class_count; k++)
        if (!number_of_name(target->names[k], &found[k]))
            goto cleanup;
    *numbers = found;
    found = NULL;
cleanup:
    kfe_i_free(ctx, found);
    return status;
}

static int is_whole_target(const kfe_i_target *target)
{
    if (!target || target->task != KFE_TASK_REAL)
        return 0;
    for (int64_t i = 0; i < target->rows * target->cols; i++)
        if (target->values[i] != floor(target->values[i]))
            return 0;
    return 1;
}

void kfe_i_put_target_value(const kfe_i_written *what, kfe_i_sink *sink, double value)
{
    char text[KFE_NUMBER_TEXT];

    kfe_i_format_number(value, text);
    kfe_i_sink_puts(sink, text);
    if (what->mark_whole && !strpbrk(text, ".en"))
        kfe_i_sink_puts(sink, ".0");
}

/* ---- an output that takes rows ---- */

struct kfe_output {
    kfe_context *ctx;
    char *path;
    const kfe_i_format *format;
    const kfe_i_packing *packed; /* NULL: none */
    kfe_i_sink sink;             /* opened with the first rows */
    int begun;
};

static kfe_status check_written(const kfe_output *output, const kfe_i_written *what)
{
    const kfe_i_format *format = output->format;

    if (output->begun && !format->in_parts)
        return kfe_i_fail(what->ctx, KFE_EUNSUPPORTED,
                          "%s: this format is written as a whole; write parts as .csv, .tsv or .svm",
                          what->path);
    if (what->table.kind == KFE_TABLE_TEXT && !format->holds_strings)
        return kfe_i_fail(what->ctx, KFE_EINVAL,
                          "%s: strings can be written as .csv, .tsv, .arff or .fasta only", what->path);
    if (what->value_words && !output->begun && !format->has_words)
        kfe_i_log(what->ctx, KFE_LOG_WARNING,
                  "the labels are not numbers, so the columns of %s have the numbers of the classes, from 0; "
                  "write .csv "
                  "or .tsv for the labels",
                  what->path);
    if (what->ids && !output->begun && !format->holds_ids)
        kfe_i_log(what->ctx, KFE_LOG_WARNING,
                  "%s: this format has no place for the names of the rows ('%s'); write .csv or .npz",
                  what->path, what->id_name);
    return KFE_OK;
}

kfe_status kfe_i_output_put(kfe_output *output, kfe_i_written *what)
{
    kfe_status status = KFE_OK;
    const kfe_i_format *format = output->format;

    what->path = output->path;
    what->mark_whole |= is_whole_target(what->target);
    snprintf(what->stage, sizeof what->stage, "writing %s", what->path);
    KFE_TRY(check_written(output, what));
    if (what->table.kind == KFE_TABLE_CSR && !format->holds_sparse) {
        KFE_TRY(kfe_i_check_memory(what->ctx, 8.0 * (double)what->table.cols, "one dense row",
                                   "write .svm, .mtx, .arff or .npz, which keep sparse data sparse"));
        KFE_ALLOC(what->ctx, what->row, what->table.cols);
    }
    if (what->table.singles)
        KFE_ALLOC(what->ctx, what->row, what->table.cols);
    what->continued = output->begun;
    if (!output->begun)
        KFE_TRY(kfe_i_sink_open(output->ctx, output->path, output->packed, &output->sink));
    output->begun = 1;
    KFE_TRY(format->write(what, &output->sink));
    if (format->in_parts)
        KFE_TRY(kfe_i_sink_deliver(&output->sink));
cleanup:
    kfe_i_free(what->ctx, what->row);
    what->row = NULL;
    return status;
}

kfe_status kfe_output_open(kfe_context *ctx, const char *path, kfe_output **out)
{
    kfe_status status = KFE_OK;
    kfe_output *output = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, output, 1);
    output->ctx = ctx;
    KFE_STRDUP(ctx, output->path, path);
    KFE_TRY(choose_format(ctx, path, &output->format, &output->packed));
    *out = output;
    output = NULL;
cleanup:
    kfe_output_free(output);
    return status;
}

kfe_status kfe_i_output_check(kfe_context *ctx, const kfe_output *output)
{
    return kfe_i_check_owner(ctx, output->ctx, "output");
}

int kfe_output_takes_parts(const kfe_output *output)
{
    return output->format->in_parts;
}

kfe_status kfe_output_commit(kfe_context *ctx, kfe_output *output)
{
    kfe_status status = kfe_i_output_check(ctx, output);

    return status == KFE_OK && output->begun ? kfe_i_sink_commit(&output->sink) : status;
}

void kfe_output_free(kfe_output *output)
{
    if (!output)
        return;
    kfe_i_sink_abandon(&output->sink);
    kfe_i_free(output->ctx, output->path);
    kfe_i_free(output->ctx, output);
}

/* Writes the whole file: it appears whole or not at all. */
static kfe_status write_file(kfe_i_written *what)
{
    kfe_status status = KFE_OK;
    kfe_output *output = NULL;

    KFE_TRY(kfe_output_open(what->ctx, what->path, &output));
    KFE_TRY(kfe_i_output_put(output, what));
    KFE_TRY(kfe_output_commit(what->ctx, output));
cleanup:
    kfe_output_free(output);
    return status;
}

/* ---- data sets and matrices ---- */

void kfe_i_written_set_matrix(kfe_i_written *what, const kfe_matrix *matrix)
{
    what->table = (kfe_i_table){.kind = KFE_TABLE_DENSE, .rows = matrix->rows, .cols = matrix->cols};
    what->table.stride = matrix->stride;
    what->table.values = matrix->values;
}

int kfe_i_output_begins_with_labels(const kfe_output *output)
{
    return output->format->begins_with_labels;
}

void kfe_i_written_set_ids(kfe_i_written *what, const kfe_data *data)
{
    if (!data || data->ids.rows == 0)
        return;
    what->ids = &data->ids;
    what->id_name = data->id_name ? data->id_name : "id";
}

kfe_status kfe_data_write(kfe_context *ctx, const kfe_data *data, const char *path)
{
    kfe_i_written what = {.ctx = ctx, .path = path};

    if (data->view_count != 1)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "%s: data of %d views cannot be written to one file; write each view on its own",
                          path, data->view_count);
    what.table = data->views[0].table;
    what.column_names = data->views[0].column_names;
    what.target = data->target.task == KFE_TASK_NONE ? NULL : &data->target;
    what.target_name = data->target_name;
    kfe_i_written_set_ids(&what, data);
    return write_file(&what);
}

kfe_status kfe_matrix_write(kfe_context *ctx, const kfe_matrix *matrix, const char *path)
{
    kfe_i_written what = {.ctx = ctx, .path = path, .name_prefix = "z"};

    kfe_i_written_set_matrix(&what, matrix);
    return write_file(&what);
}
