/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one cell of a plan: its specification, its grids and its protocol. Called by rules.c and reproduce.c. */
#include "reproduce/src/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/data.h"

static const json_t *item_of(const json_t *one_or_list, size_t index)
{
    if (json_is_array(one_or_list))
        return json_array_get(one_or_list, index);
    return index == 0 ? one_or_list : NULL;
}

/* ---- the specification ---- */

static kfe_status read_kernels(rep_cell *cell)
{
    kfe_status status = KFE_OK;
    const json_t *kernels = json_object_get(cell->column, "kernel");
    const json_t *kernel;

    for (size_t i = 0; (kernel = item_of(kernels, i)); i++)
        REP_TRY(kfe_spec_add_kernel(cell->ctx, cell->spec, json_string_value(kernel)));
cleanup:
    return status;
}

static kfe_status read_learner(rep_cell *cell, const rep_use *use)
{
    kfe_status status = KFE_OK;
    const char *learner = rep_string(cell->column, "learner");
    rep_text params = {0};

    rep_put_options(json_object_get(cell->column, "learner-params"), use, &params);
    REP_TRY(rep_text_check(cell->ctx, &params));
    if (learner)
        REP_TRY(kfe_spec_set_learner(cell->ctx, cell->spec, learner, rep_text_string(&params)));
cleanup:
    rep_text_free(&params);
    return status;
}

static kfe_status read_spec(rep_cell *cell, const rep_use *use)
{
    kfe_status status = KFE_OK;
    const char *method = rep_string(cell->column, "method");
    const char *scale = rep_string(cell->column, "scale");
    rep_text params = {0};

    rep_put_options(json_object_get(cell->column, "params"), use, &params);
    REP_TRY(rep_text_check(cell->ctx, &params));
    REP_TRY(kfe_spec_parse(cell->ctx, method, rep_text_string(&params), NULL, &cell->spec));
    /* the papers' tables use unscaled columns unless a plan says otherwise */
    REP_TRY(kfe_spec_set(cell->ctx, cell->spec, "scale", scale ? scale : "none"));
    REP_TRY(read_kernels(cell));
    REP_TRY(read_learner(cell, use));
cleanup:
    rep_text_free(&params);
    return status;
}

/* ---- grids ---- */

/* A point of a curve is a grid of one value. */
static kfe_status read_point(const rep_place *place, rep_cell *cell)
{
    kfe_status status = KFE_OK;
    const json_t *over = json_object_get(place->plan->root, "over");
    int reciprocal = json_is_true(json_object_get(over, "reciprocal"));
    rep_text text = {0};

    rep_text_printf(&text, "%s=", rep_string(over, "parameter"));
    rep_text_number(&text, reciprocal ? 1 / place->point : place->point);
    REP_TRY(rep_text_take(cell->ctx, &text, &cell->point));
    cell->grids[cell->grid_count++] = cell->point;
cleanup:
    return status;
}

static kfe_status read_grids(const rep_place *place, rep_cell *cell)
{
    kfe_status status = KFE_OK;
    const json_t *grids = json_object_get(cell->column, "grid");
    void *memory = NULL;

    REP_TRY(rep_allocate(cell->ctx, json_array_size(grids) + 2, sizeof *cell->grids, &memory));
    cell->grids = memory;
    for (size_t i = 0; i < json_array_size(grids); i++)
        cell->grids[cell->grid_count++] = json_string_value(json_array_get(grids, i));
    if (place->plan->kind == REP_CURVE)
        REP_TRY(read_point(place, cell));
    if (place->plan->kind == REP_ROC)
        cell->points = json_object_get(json_object_get(place->plan->root, "over"), "values");
cleanup:
    return status;
}

/* ---- the protocol ---- */

/* A later layer replaces settings of earlier ones; the quick protocol comes last. */
static kfe_status read_protocol(const rep_place *place, const rep_use *use, rep_cell *cell)
{
    const rep_plan *plan = place->plan;
    const json_t *const layers[] = {
        json_object_get(plan->root, "protocol"), json_object_get(place->row, "protocol"),
        json_object_get(cell->column, "protocol"), use->quick ? json_object_get(plan->root, "quick") : NULL};
    rep_text options = {0};
    const char *metric;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        rep_put_options(layers[i], use, &options);
    cell->divided = layers[0] || layers[1] || layers[2];
    if (rep_plan_is_assessed(plan))
        rep_text_printf(&options, "%smetrics=", options.length > 0 ? "," : "");
    for (int64_t m = 0; rep_plan_is_assessed(plan) && (metric = rep_plan_metric(plan, m)); m++)
        if (strcmp(metric, REP_SUPPORT_VECTORS) != 0)
            rep_text_printf(&options, "%s;", metric);
    return rep_text_take(cell->ctx, &options, &cell->options);
}

/* ---- opening and closing ---- */

static json_t *merged_column(const json_t *row, const json_t *column)
{
    const json_t *changes = json_object_get(json_object_get(row, "columns"), rep_string(column, "name"));
    json_t *merged = json_copy((json_t *)(uintptr_t)column);

    if (json_is_null(changes))
        json_object_del(merged, "method");
    else if (changes && json_object_update(merged, (json_t *)(uintptr_t)changes) != 0) {
        json_decref(merged);
        return NULL;
    }
    return merged;
}

static kfe_status read_cell(const rep_place *place, const rep_use *use, rep_cell *cell)
{
    kfe_status status = KFE_OK;

    if (!rep_string(cell->column, "method"))
        return KFE_OK;
    REP_TRY(read_spec(cell, use));
    REP_TRY(read_grids(place, cell));
    REP_TRY(read_protocol(place, use, cell));
cleanup:
    return status;
}

void rep_place_name(const rep_place *place, char out[REP_WHERE_SIZE])
{
    snprintf(out, REP_WHERE_SIZE, "row %s, column %s", rep_string(place->row, "name"),
             rep_string(place->column, "name"));
}

kfe_status rep_cell_open(const rep_place *place, const rep_use *use, rep_cell *out)
{
    char where[REP_WHERE_SIZE];

    memset(out, 0, sizeof *out);
    out->ctx = place->plan->ctx;
    out->column = merged_column(place->row, place->column);
    if (!out->column)
        return rep_out_of_memory(out->ctx);
    rep_place_name(place, where);
    return rep_plan_prefix(place->plan, where, read_cell(place, use, out));
}

void rep_cell_close(rep_cell *cell)
{
    json_decref(cell->column);
    kfe_spec_free(cell->spec);
    free(cell->grids);
    free(cell->point);
    free(cell->options);
    memset(cell, 0, sizeof *cell);
}
