/* SPDX-License-Identifier: Apache-2.0 */
/* Loads what a model knows about columns before they are encoded and divided into views, for load.c, and checks that it fits the
 * views. */
#include <string.h>

#include "core/memory.h"
#include "data/classes.h"
#include "model/file/loading.h"

/* Categories are looked up by bisection, so they must increase. */
static kfe_status load_words(const kfe_i_loading *job, const kfe_i_json_value *list, kfe_i_categories *out)
{
    kfe_status status = KFE_OK;

    if (!list || !kfe_i_json_is(list, KFE_JSON_ARRAY) || list->count < 1 || list->count > KFE_MOST_CATEGORIES)
        return kfe_i_damaged(job, "categories");
    KFE_ALLOC_ZERO(job->ctx, out->words, list->count);
    for (const kfe_i_json_value *word = list->first; word; word = word->next) {
        if (!word->text)
            return kfe_i_damaged(job, "categories");
        KFE_STRDUP(job->ctx, out->words[out->count], word->text);
        out->count++;
        if (out->count > 1 &&
            kfe_i_compare_classes(out->words[out->count - 2], out->words[out->count - 1]) >= 0)
            return kfe_i_damaged(job, "categories");
    }
cleanup:
    return status;
}

static kfe_status load_column(const kfe_i_loading *job, const kfe_i_json_value *entry,
                              const kfe_i_model_view *view, kfe_i_categories *out)
{
    kfe_status status = KFE_OK;
    int64_t column = kfe_i_json_get_integer(entry, "column");
    const char *name = kfe_i_json_get_text(entry, "name");

    if (column < 1 || column > view->cols || (name != NULL) != (view->column_names != NULL))
        return kfe_i_damaged(job, "encoded columns");
    out->column = column - 1;
    if (name)
        KFE_STRDUP(job->ctx, out->name, name);
    KFE_TRY(load_words(job, kfe_i_json_get(entry, "categories"), out));
cleanup:
    return status;
}

/* Columns increase, and there is room for each of them. */
static kfe_status check_columns(const kfe_i_loading *job, const kfe_i_model_view *view)
{
    const kfe_i_encoding *encoding = &view->encoding;
    int64_t source = kfe_i_encoding_source_cols(encoding, view->cols);
    int64_t last = -1;

    for (int64_t e = 0; e < encoding->count; last = encoding->columns[e++].column)
        if (encoding->columns[e].column <= last || encoding->columns[e].column >= source)
            return kfe_i_damaged(job, "encoded columns");
    return source < encoding->count || view->strings ? kfe_i_damaged(job, "encoded columns") : KFE_OK;
}

kfe_status kfe_i_load_encoding(const kfe_i_loading *job, const kfe_i_json_value *list, kfe_i_model_view *view)
{
    kfe_status status = KFE_OK;

    if (!list)
        return KFE_OK;
    if (!kfe_i_json_is(list, KFE_JSON_ARRAY) || list->count < 1 || list->count > view->cols)
        return kfe_i_damaged(job, "encoded columns");
    view->encoding.ctx = job->ctx;
    KFE_ALLOC_ZERO(job->ctx, view->encoding.columns, list->count);
    for (const kfe_i_json_value *entry = list->first; entry; entry = entry->next)
        KFE_TRY(load_column(job, entry, view, &view->encoding.columns[view->encoding.count++]));
    KFE_TRY(check_columns(job, view));
cleanup:
    return status;
}

/* ---- views of one table ---- */

static kfe_status load_view_numbers(const kfe_i_loading *job, const kfe_i_json_value *list,
                                    kfe_i_division *out)
{
    kfe_status status = KFE_OK;

    if (!list || !kfe_i_json_is(list, KFE_JSON_ARRAY) || list->count < 1 || list->count > INT32_MAX)
        return kfe_i_damaged(job, "division");
    KFE_ALLOC(job->ctx, out->view_of, list->count);
    for (const kfe_i_json_value *entry = list->first; entry; entry = entry->next) {
        int64_t view = kfe_i_json_is(entry, KFE_JSON_INTEGER) ? entry->integer : -1;
        if (view < 0 || view > job->model->view_count)
            return kfe_i_damaged(job, "division");
        out->view_of[out->cols++] = (int32_t)view - 1;
    }
cleanup:
    return status;
}

static kfe_status load_table_names(const kfe_i_loading *job, const kfe_i_json_value *list,
                                   kfe_i_division *out)
{
    kfe_status status = KFE_OK;
    int64_t column = 0;

    if ((list != NULL) != (job->model->views[0].column_names != NULL))
        return kfe_i_damaged(job, "division");
    if (!list)
        return KFE_OK;
    if (!kfe_i_json_is(list, KFE_JSON_ARRAY) || list->count != out->cols)
        return kfe_i_damaged(job, "division");
    KFE_ALLOC_ZERO(job->ctx, out->names, out->cols);
    for (const kfe_i_json_value *name = list->first; name; name = name->next) {
        if (!name->text)
            return kfe_i_damaged(job, "division");
        KFE_STRDUP(job->ctx, out->names[column], name->text);
        column++;
    }
cleanup:
    return status;
}

kfe_status kfe_i_load_division(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_division *out = &job->model->division;
    kfe_i_json_tree tree = {0};

    if (!kfe_i_safetensors_get(&job->file, "division"))
        return KFE_OK;
    out->ctx = job->ctx;
    KFE_TRY(kfe_i_take_json(job, "division", KFE_JSON_OBJECT, &tree));
    KFE_TRY(load_view_numbers(job, kfe_i_json_get(tree.root, "views"), out));
    KFE_TRY(load_table_names(job, kfe_i_json_get(tree.root, "column_names"), out));
    for (int v = 0; v < job->model->view_count; v++) {
        const kfe_i_model_view *view = &job->model->views[v];
        if (view->strings || (view->column_names != NULL) != (out->names != NULL) ||
            kfe_i_encoding_source_cols(&view->encoding, view->cols) != kfe_i_division_count(out, v)) {
            status = kfe_i_damaged(job, "division");
            goto cleanup;
        }
    }
cleanup:
    kfe_i_json_tree_free(&tree);
    return status;
}
