/* SPDX-License-Identifier: Apache-2.0 */
/* What a model knows about the columns of its views: scaling, fills, categories, and which columns of one table they are. */
#include "core/memory.h"
#include "data/target/classes.h"
#include "model/file/parts.h"

/* ---- categories ---- */

/* Categories are looked up by bisection, so they must increase. */
static int are_sorted(const kfe_i_categories *c)
{
    for (int64_t w = 1; w < c->count; w++)
        if (kfe_i_compare_classes(c->words[w - 1], c->words[w]) >= 0)
            return 0;
    return c->count >= 1 && c->count <= KFE_MOST_CATEGORIES;
}

/* Columns count from 1, before encoding. */
static kfe_status exchange_categories(kfe_i_document *d, const kfe_i_model_view *view, kfe_i_categories *c)
{
    kfe_status status = KFE_OK;
    int64_t column = c->column + 1;

    KFE_TRY(kfe_i_document_enter(d, NULL, KFE_JSON_OBJECT));
    KFE_TRY(kfe_i_document_integer(d, "column", &column));
    KFE_TRY(kfe_i_document_text(d, "name", 1, &c->name));
    KFE_TRY(kfe_i_document_names(d, "categories", &c->count, &c->words));
    kfe_i_document_leave(d);
    KFE_TRY(kfe_i_check_sound(d->x, are_sorted(c), "categories"));
    KFE_TRY(kfe_i_check_sound(
        d->x, column >= 1 && column <= view->cols && (c->name != NULL) == (view->column_names != NULL),
        "encoded columns"));
    c->column = column - 1;
cleanup:
    return status;
}

/* Columns increase, and there is room for each of them. */
static int has_right_columns(const kfe_i_model_view *view)
{
    const kfe_i_encoding *encoding = &view->encoding;
    int64_t source = kfe_i_encoding_source_cols(encoding, view->cols);
    int64_t last = -1;

    for (int64_t e = 0; e < encoding->count; last = encoding->columns[e++].column)
        if (encoding->columns[e].column <= last || encoding->columns[e].column >= source)
            return 0;
    return source >= encoding->count && !view->strings;
}

static kfe_status exchange_encoding(kfe_i_document *d, kfe_i_model_view *view)
{
    kfe_status status = KFE_OK;
    kfe_i_encoding *encoding = &view->encoding;
    int64_t count = encoding->count;

    if (!kfe_i_document_has(d, "encoded", count > 0))
        return KFE_OK;
    KFE_TRY(kfe_i_document_enter(d, "encoded", KFE_JSON_ARRAY));
    kfe_i_document_count(d, &count);
    KFE_TRY(kfe_i_check_sound(d->x, count >= 1 && count <= view->cols, "encoded columns"));
    if (!d->x->saves) {
        encoding->ctx = d->x->ctx;
        KFE_ALLOC_ZERO(d->x->ctx, encoding->columns, count);
        encoding->count = count;
    }
    for (int64_t e = 0; e < count; e++)
        KFE_TRY(exchange_categories(d, view, &encoding->columns[e]));
    kfe_i_document_leave(d);
    KFE_TRY(kfe_i_check_sound(d->x, has_right_columns(view), "encoded columns"));
cleanup:
    return status;
}

/* ---- one view ---- */

static kfe_status exchange_scaler(kfe_i_exchange *x, int v, kfe_i_scaler *scaler)
{
    kfe_status status = KFE_OK;
    int kind = (int)scaler->kind;
    int64_t given = x->model->views[v].cols;
    int64_t cols = kfe_i_scaler_prepared(scaler);

    KFE_TRY(
        kfe_i_exchange_reals(x, kfe_i_part_name(x, "view", v, "scale.shift"), cols, -1, 1, &scaler->shift));
    KFE_TRY(
        kfe_i_exchange_reals(x, kfe_i_part_name(x, "view", v, "scale.factor"), cols, -1, 1, &scaler->factor));
    if (kind == KFE_SCALE_STANDARD || kind == KFE_SCALE_MINMAX || kind == KFE_SCALE_UNIT_NORM)
        KFE_TRY(kfe_i_check_sound(x, scaler->factor != NULL, x->part));
    KFE_TRY(kfe_i_exchange_reals(x, kfe_i_part_name(x, "view", v, "fill"), given, -1, 1, &scaler->fill));
    KFE_TRY(kfe_i_exchange_map(x, kfe_i_part_name(x, "view", v, "map"), cols, &scaler->map));
    KFE_TRY(kfe_i_check_sound(x, !x->model->views[v].strings || !scaler->map.values, x->part));
cleanup:
    return status;
}

/* What missing values are filled with; models of programs that did not know it have no such entry. */
static kfe_status exchange_fill_kind(kfe_i_document *d, kfe_i_scaler *scaler)
{
    kfe_status status = KFE_OK;

    if (!d->x->saves)
        scaler->fill_kind = KFE_FILL_NONE;
    if (kfe_i_document_has(d, "missing", scaler->fill != NULL))
        KFE_TRY(kfe_i_document_word(d, "missing", KFE_FILL_WORDS, &scaler->fill_kind));
    if (!d->x->saves)
        KFE_TRY(
            kfe_i_check_sound(d->x, (scaler->fill_kind != KFE_FILL_NONE) == (scaler->fill != NULL), "views"));
cleanup:
    return status;
}

/* One name per column, or none at all. What is freed later is freed by the number of columns, so a list of another length is refused
 * before its names are read. */
static kfe_status exchange_column_names(kfe_i_document *d, int64_t cols, char ***names, const char *part)
{
    kfe_status status = KFE_OK;
    int64_t count = cols;

    if (!kfe_i_document_has(d, "column_names", *names != NULL))
        return KFE_OK;
    KFE_TRY(kfe_i_document_enter(d, "column_names", KFE_JSON_ARRAY));
    kfe_i_document_count(d, &count);
    KFE_TRY(kfe_i_check_sound(d->x, count == cols, part));
    KFE_TRY(kfe_i_document_items(d, &count, names));
    kfe_i_document_leave(d);
cleanup:
    return status;
}

static kfe_status exchange_view(kfe_i_exchange *x, kfe_i_document *d, int v)
{
    kfe_status status = KFE_OK;
    kfe_i_model_view *view = &x->model->views[v];
    int kind = (int)view->scaler.kind;

    KFE_TRY(kfe_i_document_enter(d, NULL, KFE_JSON_OBJECT));
    KFE_TRY(kfe_i_document_text(d, "name", 0, &view->name));
    KFE_TRY(kfe_i_document_integer(d, "columns", &view->cols));
    KFE_TRY(kfe_i_check_sound(x, view->cols >= 1 && view->cols <= INT32_MAX, "views"));
    kfe_i_document_flag(d, "strings", &view->strings);
    KFE_TRY(kfe_i_document_word(d, "scale", KFE_SCALE_WORDS, &kind));
    if (!x->saves)
        view->scaler = (kfe_i_scaler){.ctx = x->ctx, .kind = (kfe_i_scale_kind)kind, .cols = view->cols};
    KFE_TRY(exchange_column_names(d, view->cols, &view->column_names, "views"));
    if (kfe_i_document_has(d, "steps", view->scaler.chain.count > 0))
        KFE_TRY(kfe_i_exchange_steps(x, d, v));
    KFE_TRY(exchange_scaler(x, v, &view->scaler));
    KFE_TRY(exchange_fill_kind(d, &view->scaler));
    KFE_TRY(exchange_encoding(d, view));
    kfe_i_document_leave(d);
cleanup:
    return status;
}

/* ---- views of one table ---- */

/* The view of each column, from 1; 0: none. */
static kfe_status exchange_view_numbers(kfe_i_document *d, kfe_i_division *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = out->cols;

    KFE_TRY(kfe_i_document_enter(d, "views", KFE_JSON_ARRAY));
    kfe_i_document_count(d, &cols);
    KFE_TRY(kfe_i_check_sound(d->x, cols >= 1 && cols <= INT32_MAX, "division"));
    if (!d->x->saves) {
        KFE_ALLOC(d->x->ctx, out->view_of, cols);
        out->cols = cols;
    }
    for (int64_t j = 0; j < cols; j++) {
        int64_t view = d->x->saves ? out->view_of[j] + 1 : 0;
        KFE_TRY(kfe_i_document_integer(d, NULL, &view));
        KFE_TRY(kfe_i_check_sound(d->x, view >= 0 && view <= d->x->model->view_count, "division"));
        if (!d->x->saves)
            out->view_of[j] = (int32_t)view - 1;
    }
    kfe_i_document_leave(d);
cleanup:
    return status;
}

static int fits_views(const kfe_model *model, const kfe_i_division *division)
{
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_model_view *view = &model->views[v];
        if (view->strings || (view->column_names != NULL) != (division->names != NULL) ||
            kfe_i_encoding_source_cols(&view->encoding, view->cols) != kfe_i_division_count(division, v))
            return 0;
    }
    return 1;
}

static kfe_status exchange_division(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_i_division *division = &x->model->division;
    kfe_i_document d = {0};

    if (x->saves ? division->cols == 0 : !kfe_i_safetensors_get(x->file, "division"))
        return KFE_OK;
    KFE_TRY(kfe_i_document_open(x, "division", KFE_JSON_OBJECT, &d));
    if (!x->saves)
        division->ctx = x->ctx;
    KFE_TRY(exchange_view_numbers(&d, division));
    KFE_TRY(exchange_column_names(&d, division->cols, &division->names, "division"));
    KFE_TRY(kfe_i_check_sound(x, fits_views(x->model, division), "division"));
cleanup:
    return kfe_i_document_close(&d, status);
}

kfe_status kfe_i_exchange_views(kfe_i_exchange *x)
{
    kfe_i_document d = {0};
    int64_t count = x->saves ? x->model->view_count : 0;
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_document_open(x, "views", KFE_JSON_ARRAY, &d));
    kfe_i_document_count(&d, &count);
    KFE_TRY(kfe_i_check_sound(x, count >= 1 && count <= 10000, "views"));
    if (!x->saves)
        KFE_TRY(kfe_i_model_new(x->ctx, (int)count, &x->model));
    for (int v = 0; v < count; v++)
        KFE_TRY(exchange_view(x, &d, v));
cleanup:
    status = kfe_i_document_close(&d, status);
    return status == KFE_OK ? exchange_division(x) : status;
}
