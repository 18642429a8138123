/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of an exported model, for export.c. A table becomes up to two inputs, because a tensor has one type: NAME with its
 * columns of numbers, and NAME_text with the text columns that the model encodes, both in the order of the table. NAME is X, or that
 * of the view if the model takes several tables.
 *
 * A text column of c categories becomes c columns of zeros and ones: its text is replaced by the place of its category, which is
 * compared with 0 … c − 1. An unknown text gives zeros; an empty one gives NaN, as a missing value.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "model/onnx/parts.h"

/* One column of a table that is an input. */
typedef struct column {
    int view;                           /* -1: no view uses it */
    const kfe_i_categories *categories; /* NULL: numbers */
    int64_t place;                      /* among the columns of numbers, or among those of text */
} column;

typedef struct source {
    kfe_i_onnx *onnx;
    int64_t count;
    column *columns;
    kfe_i_value numbers, texts;
} source;

/* ---- names ---- */

static int is_output_name(const char *name)
{
    return strcmp(name, "features") == 0 || strcmp(name, "scores") == 0 || strcmp(name, "label") == 0 ||
           strcmp(name, "prediction") == 0 || strcmp(name, "probabilities") == 0;
}

static int ends_in_text(const char *name)
{
    size_t length = strlen(name);

    return length >= 5 && strcmp(name + length - 5, "_text") == 0;
}

/* The name of a view, or one that cannot be mistaken for an output, a value inside the graph or the input of text columns. */
static void name_view(kfe_i_text *name, const kfe_i_model_view *view, int number)
{
    if (kfe_i_is_utf8(view->name) && *view->name && !is_output_name(view->name) &&
        !ends_in_text(view->name) && strncmp(view->name, "v/", 2) != 0)
        kfe_i_text_puts(name, view->name);
    else
        kfe_i_text_printf(name, "v/view%d", number);
}

/* ---- one table ---- */

static kfe_status describe_view(source *s, const kfe_i_model_view *view, int number)
{
    kfe_status status = KFE_OK;

    s->count = kfe_i_encoding_source_cols(&view->encoding, view->cols);
    KFE_ALLOC(s->onnx->ctx, s->columns, s->count);
    for (int64_t j = 0; j < s->count; j++)
        s->columns[j] = (column){.view = number, .categories = kfe_i_encoding_find(&view->encoding, j)};
cleanup:
    return status;
}

static kfe_status describe_divided(source *s, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const kfe_i_division *division = &model->division;

    s->count = division->cols;
    KFE_ALLOC(s->onnx->ctx, s->columns, s->count);
    for (int64_t j = 0; j < s->count; j++) {
        int view = division->view_of[j];
        const kfe_i_categories *categories = NULL;
        if (view >= 0)
            categories = kfe_i_encoding_find(&model->views[view].encoding, kfe_i_division_place(division, j));
        s->columns[j] = (column){.view = view, .categories = categories};
    }
cleanup:
    return status;
}

static kfe_status declare(source *s, const char *name)
{
    kfe_status status = KFE_OK;
    kfe_i_text text_name;
    int64_t numbers = 0;
    int64_t texts = 0;

    kfe_i_text_init(&text_name, s->onnx->ctx);
    for (int64_t j = 0; j < s->count; j++)
        s->columns[j].place = s->columns[j].categories ? texts++ : numbers++;
    if (numbers > 0)
        s->numbers = kfe_i_onnx_input(s->onnx, name, numbers);
    if (texts > 0) {
        kfe_i_text_printf(&text_name, "%s_text", name);
        KFE_TRY(text_name.status);
        s->texts = kfe_i_onnx_text_input(s->onnx, text_name.bytes, texts);
    }
cleanup:
    kfe_i_text_free(&text_name);
    return status;
}

/* ---- one view ---- */

static kfe_i_value take(kfe_i_onnx *onnx, kfe_i_value table, const int64_t *places, int64_t count)
{
    return kfe_i_onnx_gather(onnx, table, kfe_i_onnx_integers(onnx, places, count), 1);
}

/* `scratch` has room for one number per category. */
static kfe_i_value encoded(source *s, const column *c, int64_t *scratch)
{
    kfe_i_onnx *onnx = s->onnx;
    const kfe_i_categories *categories = c->categories;
    const int64_t missing = KFE_ONNX_MISSING;
    kfe_i_value text = take(onnx, s->texts, &c->place, 1);
    kfe_i_value place = kfe_i_onnx_places(onnx, text, categories->words, categories->count);

    for (int64_t k = 0; k < categories->count; k++)
        scratch[k] = k;
    kfe_i_value all = kfe_i_onnx_integers(onnx, scratch, categories->count);
    kfe_i_value ones = kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Equal", place, all));
    kfe_i_value absent = kfe_i_onnx_2(onnx, "Equal", place, kfe_i_onnx_integers(onnx, &missing, 1));
    return kfe_i_onnx_3(onnx, "Where", absent, kfe_i_onnx_number(onnx, (double)NAN), ones);
}

/* Room for the places of all columns, or for those of the categories of any column. */
static int64_t most_places(const source *s)
{
    int64_t most = s->count;

    for (int64_t j = 0; j < s->count; j++)
        if (s->columns[j].categories && s->columns[j].categories->count > most)
            most = s->columns[j].categories->count;
    return most;
}

/* The columns of a view, in order: neighbouring columns of numbers are taken together. */
static kfe_status gather_view(source *s, int view, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->onnx->ctx;
    kfe_i_value *pieces = NULL;
    int64_t *run = NULL;
    int64_t count = 0;
    int64_t length = 0;

    KFE_ALLOC(ctx, pieces, s->count + 1);
    KFE_ALLOC(ctx, run, most_places(s));
    for (int64_t j = 0; j <= s->count; j++) {
        const column *c = &s->columns[j];
        int is_end = j == s->count;
        if (!is_end && c->view != view)
            continue;
        if ((is_end || c->categories) && length > 0) {
            pieces[count++] = take(s->onnx, s->numbers, run, length);
            length = 0;
        }
        if (!is_end && c->categories)
            pieces[count++] = encoded(s, c, run);
        else if (!is_end)
            run[length++] = c->place;
    }
    *out = count == 1 ? pieces[0] : kfe_i_onnx_concat(s->onnx, pieces, count, 1);
cleanup:
    kfe_i_free(ctx, run);
    kfe_i_free(ctx, pieces);
    return status;
}

/* ---- all inputs ---- */

static kfe_status divided_inputs(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value *x)
{
    kfe_status status = KFE_OK;
    source s = {.onnx = onnx};

    KFE_TRY(describe_divided(&s, model));
    KFE_TRY(declare(&s, "X"));
    for (int v = 0; v < model->view_count; v++)
        KFE_TRY(gather_view(&s, v, &x[v]));
cleanup:
    kfe_i_free(onnx->ctx, s.columns);
    return status;
}

static kfe_status view_inputs(kfe_i_onnx *onnx, const kfe_i_model_view *view, int number, const char *name,
                              kfe_i_value *x)
{
    kfe_status status = KFE_OK;
    source s = {.onnx = onnx};

    KFE_TRY(describe_view(&s, view, number));
    KFE_TRY(declare(&s, name));
    if (view->encoding.count == 0)
        *x = s.numbers;
    else
        KFE_TRY(gather_view(&s, number, x));
cleanup:
    kfe_i_free(onnx->ctx, s.columns);
    return status;
}

kfe_status kfe_i_onnx_inputs(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value *x)
{
    kfe_status status = KFE_OK;
    kfe_i_text name;

    kfe_i_text_init(&name, onnx->ctx);
    if (model->division.cols > 0)
        return divided_inputs(onnx, model, x);
    for (int v = 0; v < model->view_count; v++) {
        kfe_i_text_free(&name);
        kfe_i_text_init(&name, onnx->ctx);
        if (model->view_count == 1)
            kfe_i_text_puts(&name, "X");
        else
            name_view(&name, &model->views[v], v + 1);
        KFE_TRY(name.status);
        KFE_TRY(view_inputs(onnx, &model->views[v], v, name.bytes, &x[v]));
    }
cleanup:
    kfe_i_text_free(&name);
    return status;
}
