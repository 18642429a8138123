/* SPDX-License-Identifier: Apache-2.0 */
/* Data in parts: kfe_i_data_stream, with which inputs of any length are read in bounded memory: rows to
 * answer (model/read_for_model.c) and rows to fit on (accumulate/stream.c). */
#include <string.h>

#include "core/memory.h"
#include "data/format/format.h"
#include "data/set/views.h"

struct kfe_i_data_stream {
    kfe_context *ctx;
    char *path, *name; /* name NULL: after the file */
    kfe_i_read_settings settings;
    kfe_i_source source;
    const kfe_i_format *format;
    void *parts; /* the state of the format; NULL: reading has not begun */
    int64_t rows;
    kfe_data *whole; /* what cannot be read in parts, until it is taken */
    int ended;
};

static int must_read_whole(int count, const kfe_i_read_settings *settings)
{
    /* with missing=drop, whether the outputs of a model number their rows is known only after the last one */
    int drops = settings->missing == KFE_MISSING_DROP && settings->expected;

    return count != 1 || settings->label_file[0] || drops || settings->view_columns[0];
}

static kfe_status open_parts(kfe_i_data_stream *stream, const char *path, const char *name)
{
    kfe_status status = KFE_OK;
    char view[KFE_VIEW_NAME_SIZE];

    KFE_STRDUP(stream->ctx, stream->path, path);
    if (name)
        KFE_STRDUP(stream->ctx, stream->name, name);
    kfe_view_name(path, view, sizeof view);
    stream->settings = kfe_i_read_settings_of(&stream->settings, name ? name : view, 0, 1);
    KFE_TRY(kfe_i_source_open(stream->ctx, path, &stream->source));
    stream->source.in_parts = 1;
    stream->settings.in_parts_to_fit = !stream->settings.expected;
    KFE_TRY(kfe_i_choose_format(&stream->source, path, &stream->settings, &stream->format));
cleanup:
    return status;
}

kfe_status kfe_i_data_stream_open(kfe_context *ctx, int count, const char *const *paths,
                                  const char *const *names, const char *options,
                                  const kfe_i_expected *expected, kfe_i_data_stream **out)
{
    kfe_status status = KFE_OK;
    kfe_i_data_stream *stream = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, stream, 1);
    stream->ctx = ctx;
    stream->source.descriptor = -1;
    KFE_TRY(kfe_i_read_settings_parse(ctx, options, expected, &stream->settings));
    if (must_read_whole(count, &stream->settings))
        KFE_TRY(kfe_i_data_read_files(ctx, count, paths, names, options, expected, &stream->whole));
    else
        KFE_TRY(open_parts(stream, paths[0], names ? names[0] : NULL));
    *out = stream;
    stream = NULL;
cleanup:
    kfe_i_data_stream_close(stream);
    return status;
}

static kfe_status read_raw_part(kfe_i_data_stream *stream, int64_t part_rows, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_format *format = stream->format;

    if (format->read) {
        stream->ended = 1;
        return format->read(&stream->source, &stream->settings, out);
    }
    if (!stream->parts)
        KFE_TRY(format->open(&stream->source, &stream->settings, part_rows, &stream->parts));
    KFE_TRY(format->next(stream->parts, out));
cleanup:
    return status;
}

/* Reads the next part. Parts that would lose all of their rows to missing=drop are passed over. A part without rows is the end. */
static kfe_status next_raw(kfe_i_data_stream *stream, int64_t part_rows, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;

    for (;;) {
        kfe_i_raw_table_init(out, stream->ctx);
        out->is_part = 1;
        out->first_row = stream->rows;
        KFE_TRY(read_raw_part(stream, part_rows, out));
        stream->ended |= out->table.rows == 0;
        if (stream->ended || stream->settings.missing != KFE_MISSING_DROP || kfe_i_has_complete_row(out))
            return KFE_OK;
        stream->rows += out->table.rows;
        kfe_i_raw_table_free(out);
    }
cleanup:
    return status;
}

kfe_status kfe_i_data_stream_next(kfe_i_data_stream *stream, int64_t part_rows, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = stream->ctx;
    kfe_i_raw_table raw;

    *out = stream->whole;
    stream->whole = NULL;
    if (*out || !stream->format || stream->ended)
        return KFE_OK;
    KFE_TRY(next_raw(stream, part_rows, &raw));
    if (raw.table.rows == 0 && stream->rows > 0) {
        kfe_i_log(ctx, KFE_LOG_INFO, "%s: %lld rows", stream->source.name, (long long)stream->rows);
        goto cleanup;
    }
    KFE_TRY(kfe_i_check_raw_table(&raw, stream->source.name, &stream->settings));
    stream->rows += raw.table.rows;
    KFE_TRY(kfe_i_data_from_raw(ctx, &raw, stream->path, stream->name, &stream->settings, out));
cleanup:
    kfe_i_raw_table_free(&raw);
    return status;
}

void kfe_i_data_stream_set_task(kfe_i_data_stream *stream, kfe_task task, kfe_i_task_guess *guess)
{
    stream->settings.guess = guess;
    if (task != KFE_TASK_NONE)
        stream->settings.task = task == KFE_TASK_CLASSES ? KFE_TASK_OPTION_CLASSIFY : KFE_TASK_OPTION_REGRESS;
}

void kfe_i_data_stream_close(kfe_i_data_stream *stream)
{
    kfe_context *ctx = stream ? stream->ctx : NULL;

    if (!stream)
        return;
    if (stream->parts)
        stream->format->close(ctx, stream->parts);
    kfe_i_source_close(&stream->source);
    kfe_data_free(stream->whole);
    kfe_i_free(ctx, stream->path);
    kfe_i_free(ctx, stream->name);
    kfe_i_free(ctx, stream);
}
