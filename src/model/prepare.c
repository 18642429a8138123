/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and scaling of views, and kernels with all their numbers; used by fit.c and by the search (select/sweep.c). */
#include "model/prepare.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "model/chain_views.h"
#include "model/distance_file.h"

/* Ranges that differ by less need no explanation. */
enum { RATIO_WORTH_SAYING = 3 };

static kfe_status check_magnitude(kfe_context *ctx, const kfe_i_view *view, const kfe_i_table *scaled)
{
    int64_t row = 0;
    int64_t col = 0;

    if (!kfe_i_table_find_beyond(ctx, scaled, KFE_LARGEST_VALUE, &row, &col))
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "%s: row %lld, column %lld is too large to compute with (beyond %g); write the column in "
        "another unit, or remove it",
        kfe_i_view_shown(view), (long long)row + 1, (long long)col + 1, KFE_LARGEST_VALUE);
}

static int depends_on_geometry(const kfe_i_kernel_def *def)
{
    int on_numbers =
        def->base == KFE_BASE_DOT || def->base == KFE_BASE_DISTANCE || def->base == KFE_BASE_COORDINATE;

    return on_numbers && !(def->flags & KFE_HAS_NONNEGATIVE);
}

int kfe_i_auto_scales_view(const kfe_i_kernel_list *kernels, const kfe_data *data, int view)
{
    if (data->views[view].table.kind != KFE_TABLE_DENSE)
        return 0;
    for (int64_t m = 0; m < kernels->count; m++)
        if (kernels->items[m].view == view && !depends_on_geometry(kernels->items[m].def))
            return 0;
    return 1;
}

/* Says what was decided and why; nothing if the ranges are so much alike that nobody asks. */
static void log_ranges(kfe_context *ctx, const kfe_i_view *view, const kfe_i_ranges *ranges)
{
    const char *shown = kfe_i_view_shown(view);

    if (ranges->ratio <= RATIO_WORTH_SAYING)
        return;
    if (kfe_i_scale_by_ranges(ranges) == KFE_SCALE_STANDARD)
        kfe_i_log(
            ctx, KFE_LOG_NOTICE,
            "%s: the ranges of the columns differ by a factor of %.3g, so the columns are standardised; "
            "{scale=none} leaves them as they are",
            shown, ranges->ratio);
    else if (ranges->few_rows)
        kfe_i_log(ctx, KFE_LOG_NOTICE,
                  "%s: the ranges of the columns differ by a factor of %.3g, but there are more columns than "
                  "different rows, as with genes or spectra in one unit, so they are left as they are; "
                  "{scale=standard} standardises them",
                  shown, ranges->ratio);
    else
        kfe_i_log(ctx, KFE_LOG_NOTICE,
                  "%s: the ranges of the columns differ by a factor of %.3g, as within one unit, so they are "
                  "left as they are; {scale=standard} standardises them",
                  shown, ranges->ratio);
}

kfe_status kfe_i_log_auto_scaling(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_data *data,
                                  double *ratios)
{
    kfe_status status = KFE_OK;
    kfe_i_ranges ranges;

    for (int v = 0; v < data->view_count; v++) {
        if (ratios)
            ratios[v] = 0;
        if (!kfe_i_auto_scales_view(kernels, data, v))
            continue;
        kfe_i_table weighted = kfe_i_weighted_rows(&data->views[v].table, &data->target);
        KFE_TRY(kfe_i_ranges_find(ctx, &weighted, NULL, kfe_data_rows(data), &ranges));
        log_ranges(ctx, &data->views[v], &ranges);
        if (ratios)
            ratios[v] = ranges.ratio;
    }
cleanup:
    return status;
}

/* The scaling of one view, where the kind may still be `auto`. */
static kfe_i_scale_kind kind_for_view(int kind, const kfe_i_kernel_list *kernels, const kfe_data *data,
                                      int view)
{
    if (data->views[view].table.kind == KFE_TABLE_TEXT)
        return KFE_SCALE_NONE;
    if (kind == KFE_SCALE_AUTO && !kfe_i_auto_scales_view(kernels, data, view))
        return KFE_SCALE_NONE;
    return (kfe_i_scale_kind)kind;
}

/* Refuses data to which a learned distance cannot be applied. */
static kfe_status check_distance(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_data *data,
                                 const kfe_i_map *map)
{
    const kfe_i_table *table = &data->views[0].table;

    if (data->view_count != 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "{distance} is for one table, but %d were given",
                          data->view_count);
    if (table->kind == KFE_TABLE_TEXT || kfe_i_kernel_list_given(kernels, 0) > 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{distance} is for columns of numbers, not for strings or kernel matrices");
    if (table->cols != map->rows)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: the data has %lld columns, but {distance} is for %lld",
                          kfe_i_view_shown(&data->views[0]), (long long)table->cols, (long long)map->rows);
    return KFE_OK;
}

/* Gives the scaler the map, and the scaling that the map was learned on. */
static void take_distance(kfe_i_scaler *distance, kfe_i_scaler *scaler)
{
    kfe_context *ctx = scaler->ctx;

    if (distance->cols > 0) {
        kfe_i_free(ctx, scaler->shift);
        kfe_i_free(ctx, scaler->factor);
        scaler->kind = distance->kind;
        scaler->shift = distance->shift;
        scaler->factor = distance->factor;
        distance->shift = distance->factor = NULL;
    }
    scaler->map = distance->map;
    memset(&distance->map, 0, sizeof distance->map);
}

/* What steps that choose columns learn from, and what it borrows. */
typedef struct choosing {
    kfe_i_step_target target;
    const kfe_i_step_target *given; /* NULL: no step needs it, or there is none */
    kfe_i_distinct distinct;
    kfe_i_row_key *keys;
    double *indicators;
} choosing;

static kfe_status take_values(kfe_context *ctx, const kfe_i_target *target, choosing *out)
{
    kfe_status status = KFE_OK;

    out->target.cols = target->cols;
    out->target.values = target->values;
    out->target.is_real = target->task == KFE_TASK_REAL;
    if (out->target.is_real)
        return KFE_OK;
    out->target.cols = target->class_count;
    KFE_ALLOC_ZERO(ctx, out->indicators, target->rows * target->class_count);
    for (int64_t i = 0; i < target->rows; i++)
        out->indicators[i * target->class_count + target->codes[i]] = 1;
    out->target.values = out->indicators;
cleanup:
    return status;
}

static kfe_status begin_choosing(kfe_context *ctx, const char *prepare, const kfe_data *train, choosing *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &train->target;
    int needed = 0;

    if (prepare)
        KFE_TRY(kfe_i_chain_needs_target(ctx, prepare, &needed));
    if (!needed || target->task == KFE_TASK_NONE)
        return KFE_OK;
    if (!target->keys)
        KFE_TRY(kfe_i_data_row_keys(ctx, train, &out->keys));
    KFE_TRY(kfe_i_distinct_make(ctx, target->rows, out->keys ? out->keys : target->keys, KFE_STREAM_STEPS,
                                &out->distinct));
    KFE_TRY(take_values(ctx, target, out));
    out->target.units = out->distinct.count;
    out->target.unit_of = out->distinct.of;
    out->given = &out->target;
cleanup:
    return status;
}

static void end_choosing(kfe_context *ctx, choosing *c)
{
    kfe_i_distinct_free(&c->distinct);
    kfe_i_free(ctx, c->keys);
    kfe_i_free(ctx, c->indicators);
}

static kfe_status learn_scaler(kfe_context *ctx, kfe_i_scaling how, const kfe_i_kernel_list *kernels,
                               const kfe_data *train, int v, const kfe_i_step_target *target,
                               kfe_i_scaler *out, kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;
    const kfe_i_view *view = &train->views[v];
    kfe_i_table weighted = kfe_i_weighted_rows(&view->table, &train->target);
    kfe_i_scale_source source = {.table = &weighted,
                                 .gaps = &view->gaps,
                                 .names = kfe_i_view_names(view),
                                 .shown = kfe_i_view_shown(view),
                                 .target = target};
    kfe_i_chain chain = {0};

    if (how.prepare)
        KFE_TRY(kfe_i_chain_of_view(ctx, how.prepare, kernels, train, v, &chain));
    KFE_TRY(kfe_i_fill_scaler_learn(ctx, kind_for_view(how.kind, kernels, train, v), &source, &chain, out,
                                    scaled));
cleanup:
    return status;
}

kfe_status kfe_i_view_scale(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_data *data, int v,
                            kfe_i_table *out)
{
    const kfe_i_view *view = &data->views[v];
    const kfe_i_scale_source source = {.table = &view->table,
                                       .gaps = &view->gaps,
                                       .names = kfe_i_view_names(view),
                                       .shown = kfe_i_view_shown(view),
                                       .first_row = data->first_row};

    return kfe_i_fill_scaler_apply(ctx, scaler, &source, out);
}

kfe_status kfe_i_scale_views(kfe_context *ctx, kfe_i_scaling how, const kfe_i_kernel_list *kernels,
                             const kfe_data *train, const kfe_data *data, kfe_i_scaler *scalers,
                             kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;
    kfe_i_scaler distance = {0};
    kfe_i_scaler *own = NULL;
    choosing columns = {0};

    KFE_TRY(begin_choosing(ctx, how.prepare, train, &columns));
    if (!scalers) {
        KFE_ALLOC_ZERO(ctx, own, data->view_count);
        scalers = own;
    }
    if (kfe_i_distance_is_file(how.distance)) {
        KFE_TRY(kfe_i_distance_read(ctx, how.distance, &train->views[0], &distance));
        KFE_TRY(check_distance(ctx, kernels, train, &distance.map));
    }
    for (int v = 0; v < data->view_count; v++) {
        const kfe_i_table *table = &data->views[v].table;
        int takes_rows = train == data && !distance.map.values; /* as they come from learning */
        KFE_TRY(learn_scaler(ctx, how, kernels, train, v, columns.given, &scalers[v],
                             takes_rows ? &scaled[v] : NULL));
        if (distance.map.values)
            take_distance(&distance, &scalers[v]);
        if (how.keeps_singles && kfe_i_scaler_keeps_single(&scalers[v], table))
            kfe_i_scaler_apply_lazily(&scalers[v], table, &scaled[v]);
        else if (!scaled[v].values)
            KFE_TRY(kfe_i_view_scale(ctx, &scalers[v], data, v, &scaled[v]));
        int keeps_nans = scalers[v].fill_kind == KFE_FILL_NIPALS; /* the data itself has none */
        if (!how.within || scaled[v].values != table->values)
            KFE_TRY(check_magnitude(ctx, &data->views[v], keeps_nans ? table : &scaled[v]));
    }
cleanup:
    for (int v = 0; own && v < data->view_count; v++)
        kfe_i_scaler_free(&own[v]);
    kfe_i_free(ctx, own);
    kfe_i_scaler_free(&distance);
    end_choosing(ctx, &columns);
    return status;
}

kfe_status kfe_i_resolve_kernels(kfe_context *ctx, const kfe_data *train, const kfe_i_table *scaled,
                                 kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        kfe_i_kernel *kernel = &kernels->items[m];
        kfe_i_table weighted = kfe_i_weighted_rows(&scaled[kernel->view], &train->target);
        kfe_status status = kfe_i_kernel_prepare(ctx, kernel, &weighted);
        if (status != KFE_OK)
            return kfe_i_fail_prefix(ctx, status, kfe_i_view_shown(&train->views[kernel->view]));
    }
    return KFE_OK;
}

int kfe_i_distance_is_file(const char *distance)
{
    return kfe_i_word_index(KFE_DISTANCE_WORDS, distance) < 0;
}
