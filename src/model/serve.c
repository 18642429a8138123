/* SPDX-License-Identifier: Apache-2.0 */
/* Answers requests from the caller's memory into the caller's memory: kfe_transform_into and kfe_predict_into. What a
 * block of rows needs on the way lies in the context's scratch memory, so small requests allocate nothing. */
#include <string.h>

#include "core/memory.h"
#include "data/prepare/fill.h"
#include "kernel/few.h"
#include "model/model.h"

/* Rows of a block when there are more than a few: enough that preparing the support for each block costs little. */
enum { BLOCK_ROWS = 1024 };

typedef struct request {
    kfe_context *ctx;
    const kfe_model *model;
    const kfe_rows *views;
    int64_t rows;
    double *features;             /* transform: the caller's; NULL: predict */
    double *predictions, *scores; /* predict: the caller's; scores may be NULL */
    kfe_i_ready ready;            /* all that follows is scratch, for one block */
    /* values: of all views, before and after their steps and maps */
    double *values, *own_features, *own_scores;
    double *step_room; /* of one row */
} request;

/* ---- checks ---- */

static kfe_status check_rows(const request *r, int v)
{
    const kfe_i_model_view *expected = &r->model->views[v];
    const kfe_rows *given = &r->views[v];

    if (expected->strings)
        return kfe_i_fail(
            r->ctx, KFE_EUNSUPPORTED,
            "the model works on strings, which are not rows of numbers; use kfe_data_from_text");
    if (given->cols != expected->cols)
        return kfe_i_fail(r->ctx, KFE_EINPUT,
                          "%s: the model was fitted on %lld columns, but the rows have %lld", expected->name,
                          (long long)expected->cols, (long long)given->cols);
    if (given->rows < 0 || given->rows != r->views[0].rows)
        return kfe_i_fail(r->ctx, KFE_EINVAL, "%s: has %lld rows, but the first view has %lld",
                          expected->name, (long long)given->rows, (long long)r->views[0].rows);
    if (given->rows > 1 && given->stride < given->cols)
        return kfe_i_fail(r->ctx, KFE_EINVAL, "%s: rows of %lld columns cannot lie %lld numbers apart",
                          expected->name, (long long)given->cols, (long long)given->stride);
    if (given->type != KFE_F64 && given->type != KFE_F32)
        return kfe_i_fail(r->ctx, KFE_EINVAL, "%s: the type of the numbers is KFE_F64 or KFE_F32, not %d",
                          expected->name, (int)given->type);
    return KFE_OK;
}

static kfe_status check(const request *r)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < r->model->view_count; v++)
        KFE_TRY(check_rows(r, v));
    KFE_TRY(kfe_i_model_check_kernels(r->ctx, r->model));
cleanup:
    return status;
}

/* ---- scratch ---- */

/* Numbers of one row of a view: as given and, if the model has steps or a map, after each. */
static int64_t columns_of(const kfe_i_model_view *view)
{
    return view->cols + (view->scaler.chain.count > 0 ? view->scaler.chain.made : 0) +
           (view->scaler.map.values ? view->scaler.map.cols : 0);
}

/* What the steps of a view need for one row at a time. */
static int64_t room_of(const kfe_model *model)
{
    int64_t most = 0;

    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.chain.count > 0 && kfe_i_chain_room(&model->views[v].scaler.chain) > most)
            most = kfe_i_chain_room(&model->views[v].scaler.chain);
    return most;
}

/* Divides the scratch memory: tables of both kinds, values, features and scores of a block. */
static kfe_status begin(request *r, int64_t block)
{
    int64_t views = r->model->view_count;
    int64_t cols = 0;
    int64_t outputs = r->features ? 0 : r->model->predictor.outputs;

    for (int v = 0; v < views; v++)
        cols += columns_of(&r->model->views[v]);
    int64_t tables = 2 * views * (int64_t)sizeof(kfe_i_table);
    int64_t numbers =
        (block * (cols + r->model->dim + outputs) + room_of(r->model)) * (int64_t)sizeof(double);
    kfe_i_table *memory = kfe_i_scratch(r->ctx, tables + numbers);
    if (!memory)
        return kfe_i_lack(r->ctx);
    memset(memory, 0, (size_t)tables);
    r->ready = (kfe_i_ready){.model = r->model, .scaled = memory, .supports = memory + views};
    kfe_i_ready_supports(&r->ready);
    r->values = (double *)(memory + 2 * views);
    r->own_features = r->values + block * cols;
    r->own_scores = r->own_features + block * r->model->dim;
    r->step_room = r->own_scores + block * outputs;
    return KFE_OK;
}

/* ---- one block ---- */

static void copy_rows(const kfe_rows *from, int64_t first, kfe_i_table *to)
{
    for (int64_t i = 0; i < to->rows; i++) {
        double *row = to->values + i * to->stride;
        int64_t at = (first + i) * from->stride;
        if (from->type == KFE_F64)
            memcpy(row, (const double *)from->values + at, (size_t)to->cols * sizeof *row);
        else
            for (int64_t j = 0; j < to->cols; j++)
                row[j] = (double)((const float *)from->values)[at + j];
    }
}

/* The rows after the steps, in the room behind them. */
static kfe_status step_block(const request *r, const kfe_i_model_view *view, int64_t first,
                             kfe_i_table *table)
{
    const kfe_i_chain *chain = &view->scaler.chain;
    double *made = table->values + table->rows * table->cols;
    int at = 0;

    for (int64_t i = 0; i < table->rows; i++) {
        int64_t col = kfe_i_chain_row(chain, table->values + i * table->stride, r->step_room,
                                      made + i * chain->made, &at);
        if (col >= 0)
            return kfe_i_chain_refuse(r->ctx, chain, at, view->name, first + i, col);
    }
    table->values = made;
    table->cols = table->stride = chain->made;
    return KFE_OK;
}

/* The rows after the map, in the room behind them. */
static void map_block(const kfe_i_map *map, kfe_i_table *table)
{
    double *mapped = table->values + table->rows * table->cols;

    kfe_i_map_rows(map, table, mapped);
    table->values = mapped;
    table->cols = table->stride = map->cols;
}

/* The rows of every view, filled in and scaled as the training data was. */
static kfe_status scale_block(request *r, int64_t first, int64_t count)
{
    kfe_status status = KFE_OK;
    double *values = r->values;

    r->ready.first_row = first;
    for (int v = 0; v < r->model->view_count; v++) {
        const kfe_i_model_view *view = &r->model->views[v];
        kfe_i_table *table = &r->ready.scaled[v];
        *table = (kfe_i_table){.kind = KFE_TABLE_DENSE, .rows = count, .cols = view->cols, .values = values};
        table->stride = view->cols;
        copy_rows(&r->views[v], first, table);
        if (view->scaler.fill && view->scaler.fill_kind != KFE_FILL_NIPALS)
            kfe_i_fill_nans(view->scaler.fill, table);
        if (view->scaler.fill_kind !=
            KFE_FILL_NIPALS) /* else NaNs stay, and features of infinite values are refused */
            KFE_TRY(kfe_i_table_check_finite_from(r->ctx, table, view->name, first));
        if (view->scaler.chain.count > 0)
            KFE_TRY(step_block(r, view, first, table));
        kfe_i_scaler_apply_in_place(&view->scaler, table);
        if (view->scaler.map.values)
            map_block(&view->scaler.map, table);
        values += count * columns_of(view);
    }
cleanup:
    return status;
}

static kfe_status transform_block(request *r, int64_t first, int64_t count)
{
    kfe_status status = KFE_OK;
    double *out = r->features + first * r->model->dim;

    KFE_TRY(scale_block(r, first, count));
    KFE_TRY(kfe_i_ready_features(r->ctx, &r->ready, out));
cleanup:
    return status;
}

static kfe_status predict_block(request *r, int64_t first, int64_t count)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &r->model->predictor;
    int64_t outputs = predictor->outputs;
    double *scores = r->scores ? r->scores + first * outputs : r->own_scores;

    KFE_TRY(scale_block(r, first, count));
    KFE_TRY(kfe_i_ready_outputs(r->ctx, &r->ready, r->own_features, scores));
    kfe_i_predictor_answers(predictor, scores, count,
                            r->predictions + first * (predictor->classes ? 1 : outputs));
cleanup:
    return status;
}

static kfe_status answer(request *r)
{
    kfe_status status = KFE_OK;
    int64_t block = 0;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(r->ctx);

    KFE_TRY(check(r));
    r->rows = r->views[0].rows;
    block = r->rows <= KFE_FEW_ROWS ? KFE_FEW_ROWS : BLOCK_ROWS;
    KFE_TRY(begin(r, block));
    for (int64_t first = 0; first < r->rows; first += block) {
        int64_t count = r->rows - first < block ? r->rows - first : block;
        KFE_TRY(r->features ? transform_block(r, first, count) : predict_block(r, first, count));
    }
cleanup:
    kfe_i_threads_leave(saved_threads);
    return status;
}

/* ---- the public calls ---- */

kfe_status kfe_transform_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                              double *features)
{
    return answer(&(request){.ctx = ctx, .model = model, .views = views, .features = features});
}

kfe_status kfe_predict_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                            double *predictions, double *scores)
{
    kfe_status status = kfe_i_model_check_learner(ctx, model);

    if (status != KFE_OK)
        return status;
    return answer(
        &(request){.ctx = ctx, .model = model, .views = views, .predictions = predictions, .scores = scores});
}
