/* SPDX-License-Identifier: Apache-2.0 */
/* Views as groups of columns of one table: kfe_data_divide, and what the readers and models use of it. */
#include "data/set/divide.h"

#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/data.h"
#include "data/set/views.h"

void kfe_i_division_free(kfe_i_division *division)
{
    kfe_context *ctx = division->ctx;

    if (ctx) {
        kfe_i_strings_free(ctx, division->cols, division->names);
        kfe_i_free(ctx, division->view_of);
    }
    memset(division, 0, sizeof *division);
}

kfe_status kfe_i_division_copy(kfe_context *ctx, const kfe_i_division *from, kfe_i_division *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (from->cols == 0)
        return KFE_OK;
    *out = (kfe_i_division){.ctx = ctx, .cols = from->cols};
    KFE_ALLOC(ctx, out->view_of, from->cols);
    memcpy(out->view_of, from->view_of, (size_t)from->cols * sizeof *out->view_of);
    KFE_TRY(kfe_i_strings_copy(ctx, from->cols, (const char *const *)from->names, &out->names));
cleanup:
    if (status != KFE_OK)
        kfe_i_division_free(out);
    return status;
}

int64_t kfe_i_division_count(const kfe_i_division *division, int view)
{
    int64_t count = 0;

    for (int64_t j = 0; j < division->cols; j++)
        count += division->view_of[j] == view;
    return count;
}

int64_t kfe_i_division_place(const kfe_i_division *division, int64_t column)
{
    int64_t place = 0;

    for (int64_t j = 0; j < column; j++)
        place += division->view_of[j] == division->view_of[column];
    return place;
}

/* ---- from the lists of the user ---- */

/* Gives the marked columns of the file, as far as they are columns of the table, to a view. */
static kfe_status assign(kfe_context *ctx, const kfe_i_column_list *source, const kfe_i_fields *fields,
                         const kfe_i_view_lists *views, int view, const unsigned char *marks,
                         kfe_i_division *out)
{
    int64_t found = 0;

    for (int64_t j = 0; j < out->cols; j++) {
        if (!marks[fields->from ? fields->from[j] : j])
            continue;
        if (out->view_of[j] >= 0)
            return kfe_i_fail(ctx, KFE_EINVAL,
                              "%s: column %lld is in the views '%s' and '%s'; a column belongs to one view",
                              source->file, (long long)(fields->from ? fields->from[j] : j) + 1,
                              views->names[out->view_of[j]], views->names[view]);
        out->view_of[j] = view;
        found++;
    }
    if (found == 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: view '%s' has no columns; list at least one, besides the label", source->file,
                          views->names[view]);
    return KFE_OK;
}

/* Names of the columns of the file: the names of the table at their places. Free the list, not the names. */
static kfe_status spread_names(kfe_context *ctx, const kfe_i_column_list *source, const kfe_i_fields *fields,
                               char ***out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    if (!source->names)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, *out, fields->count + 1);
    for (int64_t j = 0; j < source->count; j++)
        (*out)[fields->from ? fields->from[j] : j] = source->names[j];
cleanup:
    return status;
}

static kfe_status copy_names(kfe_context *ctx, const kfe_i_column_list *source, kfe_i_division *out)
{
    kfe_status status = KFE_OK;

    if (!source->names)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->names, source->count);
    for (int64_t j = 0; j < source->count; j++) {
        KFE_STRDUP(ctx, out->names[j], source->names[j] ? source->names[j] : "");
        kfe_i_force_utf8(out->names[j]);
    }
cleanup:
    return status;
}

kfe_status kfe_i_division_find(kfe_context *ctx, const kfe_i_column_list *source, const kfe_i_fields *fields,
                               const kfe_i_view_lists *views, kfe_i_division *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_list file = {source->parameter, source->file, fields->count, NULL, source->label};
    unsigned char *marks = NULL;
    char **names = NULL;

    *out = (kfe_i_division){.ctx = ctx, .cols = source->count};
    KFE_ALLOC(ctx, out->view_of, source->count);
    memset(out->view_of, 0xff, (size_t)source->count * sizeof *out->view_of);
    KFE_ALLOC(ctx, marks, fields->count);
    KFE_TRY(spread_names(ctx, source, fields, &names));
    KFE_TRY(copy_names(ctx, source, out));
    file.names = names;
    for (int v = 0; v < views->count; v++) {
        memset(marks, 0, (size_t)fields->count);
        KFE_TRY(kfe_i_columns_mark(ctx, &file, views->lists[v], marks));
        KFE_TRY(assign(ctx, source, fields, views, v, marks, out));
    }
cleanup:
    kfe_i_free(ctx, names);
    kfe_i_free(ctx, marks);
    if (status != KFE_OK)
        kfe_i_division_free(out);
    return status;
}

/* ---- dividing a view ---- */

/* The columns after encoding that belong to one view: which, and how many. */
typedef struct chosen {
    int64_t *columns; /* of the encoded table */
    int64_t count;
} chosen;

static void choose_columns(const kfe_i_division *division, const kfe_i_encoding *encoding, int view,
                           chosen *out)
{
    int64_t from = 0;

    out->count = 0;
    for (int64_t j = 0; j < division->cols; j++) {
        const kfe_i_categories *categories = kfe_i_encoding_find(encoding, j);
        int64_t width = categories ? categories->count : 1;
        for (int64_t k = 0; division->view_of[j] == view && k < width; k++)
            out->columns[out->count++] = from + k;
        from += width;
    }
}

/* The encoding of the columns of one view. */
static kfe_status restrict_encoding(kfe_context *ctx, const kfe_i_division *division,
                                    const kfe_i_encoding *encoding, int view, kfe_i_encoding *out)
{
    kfe_status status = kfe_i_encoding_copy(ctx, encoding, out);
    int64_t kept = 0;

    out->learned = encoding->learned;
    for (int64_t e = 0; status == KFE_OK && e < out->count; e++) {
        kfe_i_categories column = out->columns[e];
        if (division->view_of[column.column] != view) {
            kfe_i_categories_free(ctx, &column);
            continue;
        }
        column.column = kfe_i_division_place(division, column.column);
        out->columns[kept++] = column;
    }
    if (status == KFE_OK)
        out->count = kept;
    return status;
}

static kfe_status take_names(kfe_context *ctx, const kfe_i_view *from, const chosen *columns, kfe_i_view *to)
{
    kfe_status status = KFE_OK;

    if (!from->column_names)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, to->column_names, columns->count);
    for (int64_t j = 0; j < columns->count; j++)
        KFE_STRDUP(ctx, to->column_names[j],
                   from->column_names[columns->columns[j]] ? from->column_names[columns->columns[j]] : "");
cleanup:
    return status;
}

/* One view of the table, whose gaps are open. */
static kfe_status take_view(kfe_context *ctx, const kfe_i_view *from, const kfe_i_table *table,
                            const chosen *columns, kfe_i_view *to)
{
    kfe_status status = KFE_OK;

    if (from->path)
        KFE_STRDUP(ctx, to->path, from->path);
    to->named = 1;
    KFE_TRY(kfe_i_table_columns(ctx, table, columns->columns, columns->count, &to->table));
    KFE_TRY(take_names(ctx, from, columns, to));
cleanup:
    return status;
}

static kfe_status check_dividable(kfe_context *ctx, const kfe_data *data, const kfe_i_division *division)
{
    const kfe_i_view *view = &data->views[0];
    int64_t cols = kfe_i_encoding_source_cols(&view->encoding, view->table.cols);

    if (data->view_count != 1 || view->table.kind == KFE_TABLE_TEXT)
        return kfe_i_fail(ctx, KFE_EINVAL, "the columns of one table are divided into views, not %s",
                          data->view_count > 1 ? "several tables" : "strings");
    if (cols != division->cols)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: the model was fitted on a table of %lld columns, but the data has %lld; give the "
            "same columns in the same order (see {label} if one of them is the label)",
            kfe_i_view_shown(view), (long long)division->cols, (long long)cols);
    return KFE_OK;
}

kfe_status kfe_i_data_divide(kfe_context *ctx, kfe_data *data, const kfe_i_division *division, int count,
                             const char *const *names)
{
    kfe_status status = KFE_OK;
    kfe_i_view *source = &data->views[0];
    kfe_data *parts = NULL;
    kfe_i_table open = {0};
    chosen columns = {0};

    KFE_TRY(check_dividable(ctx, data, division));
    KFE_TRY(kfe_i_data_new(ctx, count, &parts));
    KFE_TRY(kfe_i_division_copy(ctx, division, &parts->division));
    KFE_ALLOC(ctx, columns.columns, source->table.cols);
    if (source->gaps.fill != KFE_FILL_NONE)
        KFE_TRY(kfe_i_gaps_open(ctx, &source->table, &source->gaps, &open));
    for (int v = 0; v < count; v++) {
        kfe_i_view *view = &parts->views[v];
        KFE_STRDUP(ctx, view->name, names[v]);
        kfe_i_force_utf8(view->name);
        choose_columns(division, &source->encoding, v, &columns);
        KFE_TRY(take_view(ctx, source, open.ctx ? &open : &source->table, &columns, view));
        KFE_TRY(restrict_encoding(ctx, division, &source->encoding, v, &view->encoding));
        if (source->gaps.fill != KFE_FILL_NONE)
            KFE_TRY(kfe_i_view_set_missing(ctx, source->gaps.fill, view));
    }
    KFE_TRY(kfe_i_views_check_names(ctx, parts->views, count));
    kfe_i_data_swap_views(data, parts);
cleanup:
    kfe_i_table_free(&open);
    kfe_i_free(ctx, columns.columns);
    kfe_data_free(parts);
    return status;
}

kfe_status kfe_data_divide(kfe_context *ctx, kfe_data *data, int count, const char *const *names,
                           const char *const *columns)
{
    kfe_status status = KFE_OK;
    kfe_i_view *view = &data->views[0];
    int64_t cols = kfe_i_encoding_source_cols(&view->encoding, view->table.cols);
    kfe_i_view_lists lists = {count, names, columns};
    kfe_i_fields fields = {cols, NULL};
    kfe_i_column_list source = {"view", kfe_i_view_shown(view), cols, NULL, data->target_name};
    kfe_i_division division = {0};
    char **source_names = NULL;

    if (count < 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "give at least one view");
    if (view->column_names) {
        KFE_ALLOC(ctx, source_names, cols);
        kfe_i_encoding_source_names(&view->encoding, view->column_names, view->table.cols, source_names);
        source.names = source_names;
    }
    KFE_TRY(kfe_i_division_find(ctx, &source, &fields, &lists, &division));
    KFE_TRY(kfe_i_data_divide(ctx, data, &division, count, names));
cleanup:
    kfe_i_division_free(&division);
    kfe_i_free(ctx, source_names);
    return status;
}
