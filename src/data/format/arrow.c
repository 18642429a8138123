/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parquet, Feather and Arrow files, read through the plug-in libkfe_arrow.so. The table becomes CSV text in memory, which the
 * CSV reader reads: so labels, categories, missing values and the columns of a model are treated alike in all tables.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/plugin.h"
#include "data/arrow/arrow.h"
#include "data/format/format.h"
#include "data/read/foreign.h"
#include "plugin/parquet.h"

enum { MESSAGE_SIZE = 512 };

/* ---- the plug-in ---- */

/* `kind` and `advice`: what the file is, and what to do without the plug-in. */
static kfe_status load(kfe_i_source *source, const char *kind, const char *advice,
                       const kfe_arrow_files_table **out)
{
    const kfe_i_plugin plugin = {.file = "libkfe_arrow.so",
                                 .owner = "Parquet and Arrow files",
                                 .interface = "interface for Arrow files",
                                 .advice = advice,
                                 .symbol = KFE_ARROW_FILES_SYMBOL,
                                 .abi = KFE_ARROW_FILES_ABI,
                                 .size = sizeof **out};
    const void *table = NULL;
    kfe_status status = kfe_i_plugin_open(source->ctx, &plugin, &table);
    char reason[MESSAGE_SIZE * 2];

    *out = table;
    if (status != KFE_EUNSUPPORTED)
        return status;
    kfe_i_snprintf(reason, sizeof reason, "%s", kfe_error_message(source->ctx));
    return kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0, "this is %s, and %s", kind, reason);
}

/* ---- the table as text ---- */

static void put_quoted(kfe_i_text *out, const char *text, int64_t length)
{
    kfe_i_text_puts(out, "\"");
    for (int64_t i = 0; i < length; i++) {
        if (text[i] == '"')
            kfe_i_text_puts(out, "\"");
        kfe_i_text_add(out, text + i, 1);
    }
    kfe_i_text_puts(out, "\"");
}

/* Real numbers keep a point, which tells them from whole ones. */
static void put_number(kfe_i_text *out, double number, int is_real)
{
    char text[KFE_NUMBER_TEXT];

    kfe_i_format_number(number, text);
    kfe_i_text_puts(out, text);
    if (is_real && isfinite(number) && !strpbrk(text, ".e"))
        kfe_i_text_puts(out, ".0");
}

static kfe_status put_cell(const kfe_i_arrow *arrow, int64_t chunk, int64_t column, int64_t row,
                           kfe_i_text *out)
{
    kfe_i_arrow_value value;
    kfe_status status = kfe_i_arrow_value_at(arrow, chunk, column, row, &value);

    if (status != KFE_OK || value.missing)
        return status;
    if (arrow->columns[column].kind == KFE_ARROW_TEXT)
        put_quoted(out, value.text, value.length);
    else
        put_number(out, value.number, arrow->columns[column].kind == KFE_ARROW_REAL);
    return out->status;
}

static kfe_status put_rows(const kfe_i_arrow *arrow, kfe_i_text *out)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; k < arrow->chunk_count; k++)
        for (int64_t i = 0; i < arrow->chunks[k].length; i++)
            for (int64_t j = 0; j < arrow->count; j++) {
                KFE_TRY(put_cell(arrow, k, j, i, out));
                kfe_i_text_puts(out, j + 1 < arrow->count ? "," : "\n");
            }
cleanup:
    return status == KFE_OK ? out->status : status;
}

static kfe_status put_table(const kfe_i_arrow *arrow, kfe_i_text *out)
{
    for (int64_t j = 0; j < arrow->count; j++) {
        put_quoted(out, arrow->columns[j].name, (int64_t)strlen(arrow->columns[j].name));
        kfe_i_text_puts(out, j + 1 < arrow->count ? "," : "\n");
    }
    return put_rows(arrow, out);
}

/* ---- reading ---- */

/* The content of the file as CSV text. */
static kfe_status convert(kfe_i_source *source, const kfe_arrow_files_table *files, const char *kind,
                          kfe_i_text *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arrow arrow = {.ctx = source->ctx};
    struct ArrowArrayStream stream = {.release = NULL};
    char message[MESSAGE_SIZE] = "";
    char *bytes = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_source_read_all(source, &bytes, &count));
    if (files->open(bytes, count, &stream, message, sizeof message) != 0)
        KFE_TRY(kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0, "%s that cannot be read: %s", kind,
                              message));
    KFE_TRY(kfe_i_arrow_open(source->ctx, &stream, &arrow));
    if (arrow.count == 0 || arrow.rows == 0)
        KFE_TRY(kfe_i_fail_at(source->ctx, KFE_EINPUT, source->name, 0, 0,
                              "the table is empty; it needs at least one row"));
    KFE_TRY(put_table(&arrow, out));
cleanup:
    kfe_i_arrow_close(&arrow);
    if (stream.release)
        stream.release(&stream);
    kfe_i_free(source->ctx, bytes);
    return status;
}

static kfe_status read_file(kfe_i_source *source, const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
    kfe_i_read_settings own = *settings;
    const kfe_arrow_files_table *files = NULL;
    const char *head = NULL;
    const char *advice = "";
    int64_t length = 0;
    kfe_i_source plain = {.descriptor = -1};
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    KFE_TRY(kfe_i_source_peek(source, &head, &length));
    const char *kind = kfe_i_foreign_kind(head, length, &advice);
    kind = kind ? kind : "a file of another format";
    KFE_TRY(load(source, kind, advice, &files));
    KFE_TRY(convert(source, files, kind, &text));
    own.header = KFE_HEADER_YES;
    memcpy(own.delimiter, "comma", sizeof "comma");
    KFE_TRY(kfe_i_source_open_memory(ctx, source->name, text.bytes, text.length, &plain));
    KFE_TRY(kfe_i_format_read(&kfe_i_format_csv, &plain, &own, out));
cleanup:
    kfe_i_source_close(&plain);
    kfe_i_text_free(&text);
    return status;
}

const kfe_i_format kfe_i_format_arrow = {
    .name = "arrow",
    .extensions = "parquet|pq|feather|arrow|arrows|ipc",
    .magic = "", /* they vary */
    .recognise = kfe_i_is_arrow_file,
    .read = read_file,
    .has_text_columns = 1,
};
