/* SPDX-License-Identifier: Apache-2.0 */
/* Reads new data for a model, whole (kfe_data_read_for_model) or in parts (kfe_data_stream_open), which every host calls for
 * files to transform, predict or evaluate. The model tells the reader which views hold strings, how many columns the last file has (one
 * more is the label) and where the label stood in the training file. */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/param.h"
#include "data/read/read.h"
#include "data/read/source.h"
#include "data/set/encode.h"
#include "data/set/views.h"
#include "data/target/classes.h"
#include "model/arrange.h"

/* One file and the name of its view. */
typedef struct file {
    const char *path;
    const char *given;             /* name, or NULL: by the file */
    char name[KFE_VIEW_NAME_SIZE]; /* given or not */
} file;

typedef struct reading {
    kfe_context *ctx;
    const kfe_model *model;
    file *files;
    int count;
    int missing; /* what the caller says about missing values; KFE_MISSING_KEEP: nothing */
    /* what the model expects, and what that points at */
    kfe_i_expected expected;
    kfe_i_expected_view *views;
    const char **view_names;
    kfe_i_encoding whole;
    const char **paths, **names; /* of the files, in their order */
} reading;

/* Whether names decide which file is which view; else the files are in the model's order. */
static int names_decide(const reading *r)
{
    for (int i = 0; r->count > 1 && i < r->count; i++)
        if (kfe_i_model_find_view(r->model, r->files[i].name) >= 0)
            return 1;
    return 0;
}

/* The reader looks for the label in the last file: that is the file of the model's last view. */
static void move_labelled_file_last(reading *r)
{
    for (int i = 0; i + 1 < r->count; i++) {
        file moved = r->files[i];
        if (kfe_i_model_find_view(r->model, moved.name) != r->model->view_count - 1)
            continue;
        r->files[i] = r->files[r->count - 1];
        r->files[r->count - 1] = moved;
        return;
    }
}

/* Whether the views of the model are columns of the one file. */
static int reads_one_table(const reading *r)
{
    return r->count == 1 && r->model->view_count >= 1 && r->model->division.cols > 0;
}

/* The features that the file with the label should have before encoding; 0: not known. */
static int64_t features_of_last(const reading *r)
{
    const kfe_i_model_view *last = &r->model->views[r->model->view_count - 1];

    if (reads_one_table(r))
        return r->model->division.cols;
    if (r->count != r->model->view_count)
        return 0;
    return last->strings ? 1 : kfe_i_encoding_source_cols(&last->encoding, last->cols);
}

/* Where tables without names have the label. Older files say where it stood only, and count the label of a LIBSVM file as
 * column 1: without names that may have been such a file. */
static kfe_i_label_place label_place(const reading *r)
{
    kfe_i_label_place place = r->model->origin.label_place;
    int64_t features = features_of_last(r);
    int has_names = r->model->origin.label_name != NULL;

    if (features == 0)
        return (kfe_i_label_place){0};
    if (place.columns == 0 && place.column > 0)
        place.before = place.column > features         ? features
                       : place.column > 1 || has_names ? place.column - 1
                                                       : -1;
    return place;
}

static kfe_status note_missing(kfe_context *ctx, void *user, const char *key, const char *value)
{
    reading *r = user;

    (void)ctx;
    if (kfe_i_same_name(key, "missing"))
        r->missing = kfe_i_word_index(KFE_MISSING_WORDS, value);
    return KFE_OK;
}

static int model_fills(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.fill)
            return 1;
    return 0;
}

static int model_encodes(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].encoding.count > 0)
            return 1;
    return 0;
}

/* The columns that file `index` should have before encoding; no names if the training file had none. The caller frees the
 * list of names, not the names. */
static kfe_status expected_columns(const reading *r, int index, kfe_i_expected_view *out)
{
    kfe_status status = KFE_OK;
    int view = names_decide(r) ? kfe_i_model_find_view(r->model, r->files[index].name) : index;
    const kfe_i_model_view *found = view >= 0 && view < r->model->view_count ? &r->model->views[view] : NULL;
    char **names = NULL;

    if (!found)
        return KFE_OK;
    out->count = kfe_i_encoding_source_cols(&found->encoding, found->cols);
    out->encoding = &found->encoding;
    out->strings = found->strings;
    if (!found->column_names)
        return KFE_OK;
    KFE_ALLOC(r->ctx, names, out->count);
    kfe_i_encoding_source_names(&found->encoding, found->column_names, found->cols, names);
    out->names = names;
cleanup:
    return status;
}

static kfe_status list_views(const reading *r, const char ***out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(r->ctx, *out, r->model->view_count);
    for (int v = 0; v < r->model->view_count; v++)
        (*out)[v] = r->model->views[v].name;
cleanup:
    return status;
}

/* The encoding of the whole table, put together from those of its views. */
static kfe_status whole_encoding(const reading *r, kfe_i_encoding *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_division *division = &r->model->division;

    *out = (kfe_i_encoding){.ctx = r->ctx};
    KFE_ALLOC_ZERO(r->ctx, out->columns, division->cols);
    for (int64_t j = 0; j < division->cols; j++) {
        int32_t view = division->view_of[j];
        const kfe_i_categories *found = view < 0 ? NULL
                                                 : kfe_i_encoding_find(&r->model->views[view].encoding,
                                                                       kfe_i_division_place(division, j));
        if (!found)
            continue;
        KFE_TRY(kfe_i_categories_copy(r->ctx, found, &out->columns[out->count++]));
        out->columns[out->count - 1].column = j;
    }
cleanup:
    return status;
}

/* The columns of the one table that the views of the model are columns of. */
static kfe_status expected_table(const reading *r, const kfe_i_encoding *whole, kfe_i_expected_view *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_division *division = &r->model->division;
    char **names = NULL;

    out->count = division->cols;
    out->encoding = whole;
    if (!division->names)
        return KFE_OK;
    KFE_ALLOC(r->ctx, names, division->cols);
    memcpy(names, division->names, (size_t)division->cols * sizeof *names);
    out->names = names;
cleanup:
    return status;
}

/* Fills r->expected and what it points at, and lists paths and names. */
static kfe_status expect(reading *r)
{
    kfe_status status = KFE_OK;
    int fills = model_fills(r->model);

    r->expected = (kfe_i_expected){.label_name = r->model->origin.label_name,
                                   .id_name = r->model->origin.id_name,
                                   .keeps_missing = fills && r->missing != KFE_MISSING_ERROR &&
                                                    r->missing != KFE_MISSING_DROP,
                                   .encodes = model_encodes(r->model),
                                   .columns = features_of_last(r),
                                   .label_place = label_place(r),
                                   .task = r->model->target.task};
    if (!fills && r->missing >= KFE_MISSING_MEAN && r->missing <= KFE_MISSING_NIPALS)
        KFE_FAIL(r->ctx, KFE_EINVAL,
                 "the model has not learned what to fill in for missing values; fit it with {missing=mean}, "
                 "or leave their rows out with {missing=drop}");
    KFE_ALLOC(r->ctx, r->paths, r->count);
    KFE_ALLOC(r->ctx, r->names, r->count);
    KFE_ALLOC_ZERO(r->ctx, r->views, r->count);
    r->expected.views = r->views;
    if (reads_one_table(r)) {
        KFE_TRY(list_views(r, &r->view_names));
        KFE_TRY(whole_encoding(r, &r->whole));
        r->expected.division = &r->model->division;
        r->expected.view_names = r->view_names;
        r->expected.view_count = r->model->view_count;
    }
    for (int i = 0; i < r->count; i++) {
        KFE_TRY(reads_one_table(r) ? expected_table(r, &r->whole, &r->views[i])
                                   : expected_columns(r, i, &r->views[i]));
        r->paths[i] = r->files[i].path;
        r->names[i] = r->files[i].given;
    }
cleanup:
    return status;
}

/* Finds out how the files are to be read. Call end_reading also after a failure. */
static kfe_status begin_reading(reading *r, const char *const *paths, const char *const *names,
                                const char *options)
{
    kfe_status status = KFE_OK;

    r->missing = KFE_MISSING_KEEP;
    if (r->count < 1)
        KFE_FAIL(r->ctx, KFE_EINVAL, "there is no file to read");
    KFE_ALLOC_ZERO(r->ctx, r->files, r->count);
    for (int i = 0; i < r->count; i++) {
        r->files[i] = (file){.path = paths[i], .given = names ? names[i] : NULL};
        if (r->files[i].given)
            snprintf(r->files[i].name, sizeof r->files[i].name, "%s", r->files[i].given);
        else
            kfe_view_name(paths[i], r->files[i].name, sizeof r->files[i].name);
    }
    KFE_TRY(kfe_i_options_each(r->ctx, options, note_missing, r));
    if (names_decide(r))
        move_labelled_file_last(r);
    KFE_TRY(expect(r));
cleanup:
    return status;
}

static void end_reading(reading *r)
{
    for (int i = 0; r->views && i < r->count; i++)
        kfe_i_free(r->ctx, (void *)(uintptr_t)r->views[i].names);
    kfe_i_free(r->ctx, r->views);
    kfe_i_encoding_free(&r->whole);
    kfe_i_free(r->ctx, r->view_names);
    kfe_i_free(r->ctx, r->paths);
    kfe_i_free(r->ctx, r->names);
    kfe_i_free(r->ctx, r->files);
}

static int is_class_of(const kfe_model *model, const char *name)
{
    for (int64_t g = 0; g < model->target.class_count; g++)
        if (kfe_i_same_class(model->target.class_names[g], name))
            return 1;
    return 0;
}

/* Labels of which none is a class of the model are probably another column. */
static void warn_of_strange_labels(const reading *r, const kfe_data *data)
{
    const kfe_i_target *target = &data->target;
    const char *shown = target->class_count > 0 ? target->names[0] : "";

    if (target->task != KFE_TASK_CLASSES || r->model->target.task != KFE_TASK_CLASSES ||
        data->label_place.column == 0)
        return;
    for (int64_t g = 0; g < target->class_count; g++)
        if (is_class_of(r->model, target->names[g]))
            return;
    kfe_i_log(
        r->ctx, KFE_LOG_WARNING,
        "%s: column %lld is taken as the label, but none of its values, such as '%.40s', is a class of the "
        "model; use {label} if another column is the label, {label=none} if none is",
        kfe_i_shown_path(r->paths[r->count - 1]), (long long)data->label_place.column, shown);
}

kfe_status kfe_data_read_for_model(kfe_context *ctx, const kfe_model *model, int count,
                                   const char *const *paths, const char *const *names, const char *options,
                                   kfe_data **out)
{
    kfe_status status = KFE_OK;
    reading r = {.ctx = ctx, .model = model, .count = count};

    *out = NULL;
    KFE_TRY(begin_reading(&r, paths, names, options));
    KFE_TRY(kfe_i_data_read_files(ctx, count, r.paths, r.names, options, &r.expected, out));
    warn_of_strange_labels(&r, *out);
cleanup:
    end_reading(&r);
    return status;
}

/* ---- in parts ---- */

struct kfe_data_stream {
    reading reading;
    kfe_i_data_stream *rows;
    int64_t part_rows;
    int has_begun;
};

/* Rows of a part: what is computed for them takes a few megabytes, and preparing the support for each part costs little. */
static int64_t rows_of_part(const kfe_model *model)
{
    enum { NUMBERS = 1 << 20, FEWEST = 256, MOST = 16384 };
    int64_t cols = 1 + model->dim + (model->learner ? model->predictor.outputs : 0);

    for (int v = 0; v < model->view_count; v++)
        cols += model->views[v].strings ? 0 : model->views[v].cols;
    return NUMBERS / cols < FEWEST ? FEWEST : NUMBERS / cols < MOST ? NUMBERS / cols : MOST;
}

kfe_status kfe_data_stream_open(kfe_context *ctx, const kfe_model *model, int count, const char *const *paths,
                                const char *const *names, const char *options, kfe_data_stream **out)
{
    kfe_status status = KFE_OK;
    kfe_data_stream *stream = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, stream, 1);
    stream->reading = (reading){.ctx = ctx, .model = model, .count = count};
    stream->part_rows = rows_of_part(model);
    reading *r = &stream->reading;
    KFE_TRY(begin_reading(r, paths, names, options));
    KFE_TRY(kfe_i_data_stream_open(ctx, count, r->paths, r->names, options, &r->expected, &stream->rows));
    *out = stream;
    stream = NULL;
cleanup:
    kfe_data_stream_close(stream);
    return status;
}

kfe_status kfe_data_stream_next(kfe_context *ctx, kfe_data_stream *stream, kfe_data **out)
{
    kfe_status status = kfe_i_check_owner(ctx, stream->reading.ctx, "stream");

    *out = NULL;
    if (status == KFE_OK)
        status = kfe_i_data_stream_next(stream->rows, stream->part_rows, out);
    if (status == KFE_OK && *out && !stream->has_begun)
        warn_of_strange_labels(&stream->reading, *out);
    stream->has_begun = 1;
    return status;
}

void kfe_data_stream_close(kfe_data_stream *stream)
{
    if (!stream)
        return;
    kfe_i_data_stream_close(stream->rows);
    end_reading(&stream->reading);
    kfe_i_free(stream->reading.ctx, stream);
}

kfe_status kfe_data_encode_for_model(kfe_context *ctx, const kfe_model *model, kfe_data *data, int64_t count,
                                     const int64_t *columns, const char *const *texts)
{
    kfe_status status = KFE_OK;
    reading r = {.ctx = ctx, .model = model, .count = 1};
    int divided = reads_one_table(&r);
    kfe_i_encoding known = {0};
    kfe_i_given_texts given = {count, columns, texts};
    int64_t cols = kfe_data_cols(data, 0);
    int64_t expected = divided ? model->division.cols : kfe_model_source_cols(model, 0);
    int same;

    KFE_TRY(divided ? whole_encoding(&r, &known)
                    : kfe_i_encoding_copy(ctx, &model->views[0].encoding, &known));
    same = count == known.count && cols == expected;
    for (int64_t e = 0; same && e < count; e++)
        same = columns[e] == known.columns[e].column;
    if (!same)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "the data has %lld columns, %lld of them text, but the model was fitted on %lld columns, "
                 "%lld of them text; give the same columns",
                 (long long)cols, (long long)count, (long long)expected, (long long)known.count);
    KFE_TRY(kfe_i_data_encode(ctx, data, &given, &known));
cleanup:
    kfe_i_encoding_free(&known);
    return status;
}
