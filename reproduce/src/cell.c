/* SPDX-License-Identifier: Apache-2.0 */
/* One cell of a plan: its specification, its grids and its protocol. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/plan.h"
#include "core/memory.h"

static const json_t *as_list(const json_t *value, size_t index)
{
    if (json_is_array(value))
        return json_array_get(value, index);
    return index == 0 ? value : NULL;
}

/* ---- the specification ---- */

static kfe_status read_kernels(kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;
    const json_t *kernels = json_object_get(cell->column, "kernel");
    const json_t *kernel;

    for (size_t i = 0; (kernel = as_list(kernels, i)); i++)
        KFE_TRY(kfe_spec_add_kernel(cell->ctx, cell->spec, json_string_value(kernel)));
cleanup:
    return status;
}

static kfe_status read_learner(kfe_i_plan_cell *cell, const kfe_i_plan_use *use)
{
    kfe_status status = KFE_OK;
    const char *learner = kfe_i_plan_text(cell->column, "learner");
    kfe_i_text params;

    kfe_i_text_init(&params, cell->ctx);
    kfe_i_plan_options(json_object_get(cell->column, "learner-params"), use, &params);
    KFE_TRY(params.status);
    if (learner)
        KFE_TRY(kfe_spec_set_learner(cell->ctx, cell->spec, learner, params.bytes));
cleanup:
    kfe_i_text_free(&params);
    return status;
}

static kfe_status read_spec(kfe_i_plan_cell *cell, const kfe_i_plan_use *use)
{
    kfe_status status = KFE_OK;
    const char *method = kfe_i_plan_text(cell->column, "method");
    const char *scale = kfe_i_plan_text(cell->column, "scale");
    kfe_i_text params;

    kfe_i_text_init(&params, cell->ctx);
    kfe_i_plan_options(json_object_get(cell->column, "params"), use, &params);
    KFE_TRY(params.status);
    KFE_TRY(kfe_spec_parse(cell->ctx, method, params.bytes, NULL, &cell->spec));
    if (scale)
        KFE_TRY(kfe_spec_set(cell->ctx, cell->spec, "scale", scale));
    KFE_TRY(read_kernels(cell));
    KFE_TRY(read_learner(cell, use));
cleanup:
    kfe_i_text_free(&params);
    return status;
}

/* ---- grids ---- */

/* A point of a curve is a grid of one value. */
static kfe_status read_point(const kfe_i_plan *plan, kfe_i_plan_cell *cell, double point)
{
    kfe_status status = KFE_OK;
    const json_t *over = json_object_get(plan->root, "over");
    char number[KFE_NUMBER_TEXT];
    kfe_i_text text;

    kfe_i_text_init(&text, cell->ctx);
    kfe_i_format_number(json_is_true(json_object_get(over, "reciprocal")) ? 1 / point : point, number);
    kfe_i_text_printf(&text, "%s=%s", kfe_i_plan_text(over, "parameter"), number);
    KFE_TRY(kfe_i_text_take(&text, &cell->point));
    cell->grids[cell->grid_count++] = cell->point;
cleanup:
    return status;
}

static kfe_status read_grids(const kfe_i_plan *plan, kfe_i_plan_cell *cell, double point)
{
    kfe_status status = KFE_OK;
    const json_t *grids = json_object_get(cell->column, "grid");

    KFE_ALLOC(cell->ctx, cell->grids, (int64_t)json_array_size(grids) + 1);
    for (size_t i = 0; i < json_array_size(grids); i++)
        cell->grids[cell->grid_count++] = json_string_value(json_array_get(grids, i));
    if (plan->kind == KFE_PLAN_CURVE)
        KFE_TRY(read_point(plan, cell, point));
cleanup:
    return status;
}

/* ---- the protocol ---- */

/* Later settings replace earlier ones; what is quick replaces all. */
static kfe_status read_protocol(const kfe_i_plan *plan, const json_t *row, const kfe_i_plan_use *use,
                                kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;
    const json_t *const layers[] = {json_object_get(plan->root, "protocol"), json_object_get(row, "protocol"),
                                    json_object_get(cell->column, "protocol"),
                                    use->quick ? json_object_get(plan->root, "quick") : NULL};
    const char *metric;
    kfe_i_text options;

    kfe_i_text_init(&options, cell->ctx);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        kfe_i_plan_options(layers[i], use, &options);
    cell->divided = layers[0] || layers[1] || layers[2];
    kfe_i_text_printf(&options, "%smetrics=", options.length > 0 ? "," : "");
    for (int64_t m = 0; (metric = kfe_i_plan_metric(plan, m)); m++)
        if (strcmp(metric, KFE_PLAN_SUPPORT_VECTORS) != 0)
            kfe_i_text_printf(&options, "%s;", metric);
    KFE_TRY(options.status);
    KFE_TRY(kfe_i_assess_settings_parse(cell->ctx, options.bytes, &cell->settings));
cleanup:
    kfe_i_text_free(&options);
    return status;
}

/* ---- both ends ---- */

static json_t *merged_column(const json_t *row, const json_t *column)
{
    const json_t *changes = json_object_get(json_object_get(row, "columns"), kfe_i_plan_text(column, "name"));
    json_t *merged = json_copy((json_t *)(uintptr_t)column);

    if (json_is_null(changes))
        json_object_del(merged, "method");
    else if (changes)
        json_object_update(merged, (json_t *)(uintptr_t)changes);
    return merged;
}

static kfe_status read_cell(const kfe_i_plan *plan, const json_t *row, double point,
                            const kfe_i_plan_use *use, kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;

    if (!kfe_i_plan_text(cell->column, "method"))
        return KFE_OK;
    KFE_TRY(read_spec(cell, use));
    KFE_TRY(read_grids(plan, cell, point));
    KFE_TRY(read_protocol(plan, row, use, cell));
cleanup:
    return status;
}

kfe_status kfe_i_plan_cell_open(const kfe_i_plan *plan, const json_t *row, const json_t *column, double point,
                                const kfe_i_plan_use *use, kfe_i_plan_cell *out)
{
    char where[320];

    memset(out, 0, sizeof *out);
    out->ctx = plan->ctx;
    out->column = merged_column(row, column);
    if (!out->column)
        return kfe_i_fail(plan->ctx, KFE_ENOMEM, "out of memory: could not read %s", plan->name);
    snprintf(where, sizeof where, "row %s, column %s", kfe_i_plan_text(row, "name"),
             kfe_i_plan_text(column, "name"));
    return kfe_i_plan_prefix(plan, where, read_cell(plan, row, point, use, out));
}

void kfe_i_plan_cell_close(kfe_i_plan_cell *cell)
{
    if (!cell->ctx)
        return;
    json_decref(cell->column);
    kfe_spec_free(cell->spec);
    kfe_i_free(cell->ctx, cell->grids);
    kfe_i_free(cell->ctx, cell->point);
    memset(cell, 0, sizeof *cell);
}
