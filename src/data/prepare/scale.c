/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling of columns and rows, which every fit may ask for. */
#include "data/prepare/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/table/row_sample.h"

/* 1 / width; 1 for constant columns and for widths without a finite reciprocal. */
static double factor_for(double width)
{
    double factor = 1 / width;
    return width > 0 && isfinite(factor) ? factor : 1;
}

static double column_width(kfe_i_scale_kind kind, int sparse, double total, const kfe_i_column_facts *column)
{
    if (column->low == column->high)
        return 0;
    switch (kind) {
    case KFE_SCALE_STANDARD:
        return column->reach * (column->spread / sqrt(total));
    case KFE_SCALE_MINMAX:
        return sparse ? fmax(fabs(column->low), fabs(column->high)) : column->high - column->low;
    case KFE_SCALE_UNIT_NORM:
        return column->reach * column->spread;
    case KFE_SCALE_NONE:
    case KFE_SCALE_L2_ROWS:
    case KFE_SCALE_AUTO:
        break;
    }
    return 1;
}

int64_t kfe_i_scaler_prepared(const kfe_i_scaler *scaler)
{
    return scaler->chain.count > 0 ? scaler->chain.made : scaler->cols;
}

int kfe_i_scale_centres(kfe_i_scale_kind kind, int sparse)
{
    return !sparse || kind == KFE_SCALE_STANDARD;
}

kfe_status kfe_i_scaler_from_facts(kfe_context *ctx, const kfe_i_column_facts *columns, double total,
                                   int sparse, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    if (sparse)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "sparse data is scaled without centring, so that its zeros stay zeros");
    int64_t cols = kfe_i_scaler_prepared(out);
    KFE_ALLOC(ctx, out->factor, cols);
    for (int64_t j = 0; j < cols; j++)
        out->factor[j] = factor_for(column_width(out->kind, sparse, total, &columns[j]));
    if (sparse)
        return KFE_OK;
    KFE_ALLOC(ctx, out->shift, cols);
    for (int64_t j = 0; j < cols; j++)
        out->shift[j] = out->kind == KFE_SCALE_MINMAX ? columns[j].low : columns[j].mean;
cleanup:
    return status;
}

static kfe_status learn_columns(kfe_context *ctx, const kfe_i_table *table, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    int sparse = table->kind == KFE_TABLE_CSR;

    KFE_ALLOC_ZERO(ctx, columns, table->cols);
    KFE_TRY(kfe_i_column_facts_find(ctx, table, kfe_i_scale_centres(out->kind, sparse), columns));
    KFE_TRY(kfe_i_scaler_from_facts(ctx, columns, kfe_i_table_weight(table), sparse, out));
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}

/* ---- what `auto` stands for ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double kfe_i_ratio_of_ranges(double *ranges, int64_t count)
{
    qsort(ranges, (size_t)count, sizeof *ranges, compare_numbers);
    return count > 0 ? ranges[count - 1] / ranges[(count - 1) / KFE_SCALE_NARROW_SHARE] : 1;
}

kfe_i_scale_kind kfe_i_scale_by_ranges(const kfe_i_ranges *ranges)
{
    return ranges->ratio > KFE_SCALE_RATIO && !ranges->few_rows ? KFE_SCALE_STANDARD : KFE_SCALE_NONE;
}

kfe_status kfe_i_ranges_find(kfe_context *ctx, const kfe_i_table *table, const int64_t *rows, int64_t count,
                             kfe_i_ranges *out)
{
    kfe_status status = KFE_OK;
    kfe_i_column_facts *columns = NULL;
    double *ranges = NULL;
    int64_t varying = 0;
    int64_t different = 0;

    *out = (kfe_i_ranges){.ratio = 1};
    KFE_ALLOC(ctx, columns, table->cols);
    KFE_ALLOC(ctx, ranges, table->cols);
    kfe_i_column_ranges_find(ctx, table, rows, count, columns);
    for (int64_t j = 0; j < table->cols; j++)
        if (columns[j].low < columns[j].high)
            ranges[varying++] = columns[j].high - columns[j].low;
    out->ratio = kfe_i_ratio_of_ranges(ranges, varying);
    if (out->ratio > KFE_SCALE_RATIO) {
        KFE_TRY(kfe_i_count_different_rows(ctx, table, rows, count, varying, &different));
        out->few_rows = different < varying;
    }
cleanup:
    kfe_i_free(ctx, columns);
    kfe_i_free(ctx, ranges);
    return status;
}

/* Replaces `auto` by what it stands for on this table. */
static kfe_status resolve_auto(kfe_context *ctx, const kfe_i_table *table, kfe_i_scale_kind *kind)
{
    kfe_status status = KFE_OK;
    kfe_i_ranges ranges = {.ratio = 1};

    if (*kind != KFE_SCALE_AUTO)
        return KFE_OK;
    if (table->kind == KFE_TABLE_DENSE)
        KFE_TRY(kfe_i_ranges_find(ctx, table, NULL, table->rows, &ranges));
    *kind = kfe_i_scale_by_ranges(&ranges);
cleanup:
    return status;
}

static kfe_status refuse_text(kfe_context *ctx, const kfe_i_table *table)
{
    if (table->kind != KFE_TABLE_TEXT)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "strings cannot be scaled; use scale=none");
}

kfe_status kfe_i_scaler_learn(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *table,
                              kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    KFE_TRY(resolve_auto(ctx, table, &kind));
    out->ctx = ctx;
    out->kind = kind;
    out->cols = table->cols;
    if (kind == KFE_SCALE_NONE)
        return KFE_OK;
    KFE_TRY(refuse_text(ctx, table));
    if (kind == KFE_SCALE_L2_ROWS)
        return KFE_OK;
    if (table->rows == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "there are no rows to learn a scaling from");
    KFE_TRY(learn_columns(ctx, table, out));
cleanup:
    if (status != KFE_OK)
        kfe_i_scaler_free(out);
    return status;
}

void kfe_i_scaler_free(kfe_i_scaler *scaler)
{
    if (scaler->ctx) {
        kfe_i_free(scaler->ctx, scaler->shift);
        kfe_i_free(scaler->ctx, scaler->factor);
        kfe_i_free(scaler->ctx, scaler->fill);
        if (scaler->chain.ctx)
            kfe_i_chain_free(&scaler->chain);
        if (scaler->map.values)
            kfe_i_map_free(&scaler->map);
    }
    memset(scaler, 0, sizeof *scaler);
}

/* ---- applying ---- */

static void scale_to_unit_length(double *values, int64_t count)
{
    double reach = 0;
    double sum = 0;

    for (int64_t e = 0; e < count; e++)
        reach = fmax(reach, fabs(values[e]));
    if (reach == 0)
        return;
    for (int64_t e = 0; e < count; e++)
        sum += (values[e] / reach) * (values[e] / reach);
    for (int64_t e = 0; e < count; e++)
        values[e] = values[e] / reach / sqrt(sum);
}

static void scale_values(const kfe_i_scaler *scaler, double *values, const int32_t *columns, int64_t count)
{
    if (scaler->kind == KFE_SCALE_L2_ROWS) {
        scale_to_unit_length(values, count);
        return;
    }
    for (int64_t e = 0; e < count; e++) {
        int64_t j = columns ? columns[e] : e;
        values[e] = (values[e] - (scaler->shift ? scaler->shift[j] : 0)) * scaler->factor[j];
    }
}

void kfe_i_scaler_apply_in_place(const kfe_i_scaler *scaler, kfe_i_table *table)
{
    for (int64_t i = 0; scaler->kind != KFE_SCALE_NONE && i < table->rows; i++)
        scale_values(scaler, table->values + i * table->stride, NULL, table->cols);
}

static kfe_status apply_dense(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_check_memory(ctx, (double)table->rows * (double)table->cols * sizeof(double),
                                   "sparse data, centred and therefore dense,",
                                   "fit on sparse data or with scale=none"));
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, table->cols, out));
    for (int64_t i = 0; i < table->rows; i++) {
        double *row = out->values + i * out->stride;
        kfe_i_table_dense_row(table, i, row);
        scale_values(scaler, row, NULL, table->cols);
    }
cleanup:
    return status;
}

static kfe_status apply_sparse(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                               kfe_i_table *out)
{
    kfe_status status = kfe_i_table_copy(ctx, table, out);

    for (int64_t i = 0; status == KFE_OK && i < out->rows; i++) {
        int64_t begin = out->row_start[i];
        scale_values(scaler, out->values + begin, out->columns + begin, out->row_start[i + 1] - begin);
    }
    return status;
}

/* Scaling only, without the linear map. */
static kfe_status scale_table(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    if (scaler->kind == KFE_SCALE_NONE) {
        *out = kfe_i_table_slice(table, 0, table->rows);
        return kfe_i_table_widen(ctx, out);
    }
    KFE_TRY(refuse_text(ctx, table));
    if (table->cols != kfe_i_scaler_prepared(scaler))
        KFE_FAIL(ctx, KFE_EINPUT, "the data has %lld columns, but the scaling was learned on %lld",
                 (long long)table->cols, (long long)kfe_i_scaler_prepared(scaler));
    if (table->kind == KFE_TABLE_CSR && !scaler->shift)
        status = apply_sparse(ctx, scaler, table, out);
    else
        status = apply_dense(ctx, scaler, table, out);
cleanup:
    return status;
}

int kfe_i_scaler_keeps_single(const kfe_i_scaler *scaler, const kfe_i_table *table)
{
    return table->singles && !table->shift && !table->factor && !scaler->fill && !scaler->map.values &&
           scaler->chain.count == 0 && scaler->kind != KFE_SCALE_L2_ROWS && table->cols == scaler->cols;
}

void kfe_i_scaler_apply_lazily(const kfe_i_scaler *scaler, const kfe_i_table *table, kfe_i_table *out)
{
    *out = kfe_i_table_slice(table, 0, table->rows);
    if (scaler->kind == KFE_SCALE_NONE)
        return;
    out->shift = scaler->shift;
    out->factor = scaler->factor;
}

/* Scaling and map, without the chain. */
static kfe_status scale_and_map(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                                kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table scaled = {0};

    if (!scaler->map.values)
        return scale_table(ctx, scaler, table, out);
    memset(out, 0, sizeof *out);
    KFE_TRY(scale_table(ctx, scaler, table, &scaled));
    KFE_TRY(kfe_i_map_apply(ctx, &scaler->map, &scaled, out));
cleanup:
    kfe_i_table_free(&scaled);
    return status;
}

/* Rows that the chain has prepared are ours, so they are scaled where they are. `source` is for messages. */
static kfe_status prepare_and_scale(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                                    const kfe_i_scale_source *source, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table prepared = {0};

    if (scaler->chain.count == 0)
        return scale_and_map(ctx, scaler, table, out);
    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_chain_apply(ctx, &scaler->chain, table, source->shown, source->first_row, &prepared));
    kfe_i_scaler_apply_in_place(scaler, &prepared);
    if (scaler->map.values) {
        KFE_TRY(kfe_i_map_apply(ctx, &scaler->map, &prepared, out));
        goto cleanup;
    }
    *out = prepared;
    memset(&prepared, 0, sizeof prepared);
cleanup:
    kfe_i_table_free(&prepared);
    return status;
}

kfe_status kfe_i_scaler_apply(kfe_context *ctx, const kfe_i_scaler *scaler, const kfe_i_table *table,
                              kfe_i_table *out)
{
    const kfe_i_scale_source source = {.table = table, .shown = "the data"};

    return prepare_and_scale(ctx, scaler, table, &source, out);
}

/* ---- with gaps ---- */

/* Whether the scaling depends on the values of the columns. */
static int reads_columns(kfe_i_scale_kind kind)
{
    return kind != KFE_SCALE_NONE && kind != KFE_SCALE_L2_ROWS;
}

/* The scaling of what the chain, which is learned, makes of the rows. */
static kfe_status learn_after_chain(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *rows,
                                    const char *shown, const kfe_i_chain *chain, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table prepared = {0};

    if (!reads_columns(kind)) {
        *out = (kfe_i_scaler){.ctx = ctx, .kind = kind};
        return KFE_OK;
    }
    KFE_TRY(kfe_i_chain_apply(ctx, chain, rows, shown, 0, &prepared));
    prepared.weights = rows->weights;
    prepared.keys = rows->keys;
    KFE_TRY(kfe_i_scaler_learn(ctx, kind, &prepared, out));
cleanup:
    kfe_i_table_free(&prepared);
    return status;
}

static kfe_status learn_all(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_table *rows,
                            const kfe_i_scale_source *source, kfe_i_chain *chain, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;

    if (chain->count == 0)
        return kfe_i_scaler_learn(ctx, kind, rows, out);
    if (kind == KFE_SCALE_AUTO)
        kind = KFE_SCALE_NONE;
    KFE_TRY(kfe_i_chain_learn(ctx, chain, rows, source->target, source->names, source->shown));
    KFE_TRY(learn_after_chain(ctx, kind, rows, source->shown, chain, out));
    out->cols = chain->cols;
    out->chain = *chain;
    memset(chain, 0, sizeof *chain);
cleanup:
    return status;
}

/* The standard deviations are those of tables whose gaps hold the mean; over observed entries alone, they are larger. */
static kfe_status take_observed_deviations(kfe_context *ctx, const kfe_i_table *table, const kfe_i_gaps *gaps,
                                           double *factor)
{
    kfe_status status = KFE_OK;
    double total = kfe_i_table_weight(table);
    double *missing = NULL;

    KFE_ALLOC_ZERO(ctx, missing, table->cols);
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t p = gaps->row_start[i]; p < gaps->row_start[i + 1]; p++)
            missing[gaps->columns[p]] += kfe_i_row_weight(table, i);
    for (int64_t j = 0; j < table->cols; j++)
        if (missing[j] < total)
            factor[j] *= sqrt(1 - missing[j] / total);
cleanup:
    kfe_i_free(ctx, missing);
    return status;
}

/* Scales the filled rows where they are, and takes values out again that nothing is filled in for. */
static void finish_rows(const kfe_i_scaler *scaler, const kfe_i_gaps *gaps, kfe_i_table *filled,
                        kfe_i_table *scaled)
{
    kfe_i_scaler_apply_in_place(scaler, filled);
    if (scaler->fill_kind == KFE_FILL_NIPALS)
        kfe_i_gaps_reopen(gaps, filled);
    filled->weights = NULL;
    *scaled = *filled;
    memset(filled, 0, sizeof *filled);
}

kfe_status kfe_i_fill_scaler_learn(kfe_context *ctx, kfe_i_scale_kind kind, const kfe_i_scale_source *source,
                                   kfe_i_chain *chain, kfe_i_scaler *out, kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;
    kfe_i_table filled = {0};
    double *fill = NULL;

    memset(out, 0, sizeof *out);
    if (!source->gaps || source->gaps->fill == KFE_FILL_NONE) {
        KFE_TRY(learn_all(ctx, kind, source->table, source, chain, out));
        goto cleanup;
    }
    KFE_ALLOC(ctx, fill, source->table->cols);
    KFE_TRY(kfe_i_gaps_refill(ctx, source->table, source->gaps, fill, &filled));
    KFE_TRY(learn_all(ctx, kind, &filled, source, chain, out));
    out->fill = fill;
    out->fill_kind = (int)source->gaps->fill;
    fill = NULL;
    if (out->fill_kind == KFE_FILL_NIPALS && out->kind == KFE_SCALE_STANDARD)
        KFE_TRY(take_observed_deviations(ctx, source->table, source->gaps, out->factor));
    if (scaled && out->chain.count == 0)
        finish_rows(out, source->gaps, &filled, scaled);
cleanup:
    kfe_i_free(ctx, fill);
    kfe_i_table_free(&filled);
    if (chain->ctx)
        kfe_i_chain_free(chain);
    return status;
}

kfe_status kfe_i_fill_scaler_apply(kfe_context *ctx, const kfe_i_scaler *scaler,
                                   const kfe_i_scale_source *source, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = source->table;
    kfe_i_table filled = {0};

    memset(out, 0, sizeof *out);
    if (!scaler->fill || table->kind != KFE_TABLE_DENSE)
        return prepare_and_scale(ctx, scaler, table, source, out);
    if (table->cols != scaler->cols)
        KFE_FAIL(ctx, KFE_EINPUT, "the data has %lld columns, but what to fill in was learned on %lld",
                 (long long)table->cols, (long long)scaler->cols);
    KFE_TRY(kfe_i_gaps_open(ctx, table, source->gaps, &filled));
    if (scaler->fill_kind != KFE_FILL_NIPALS)
        kfe_i_fill_nans(scaler->fill, &filled);
    KFE_TRY(prepare_and_scale(ctx, scaler, &filled, source, out));
    if (!out->owned) { /* nothing is scaled: the copy is the result */
        *out = filled;
        memset(&filled, 0, sizeof filled);
    }
cleanup:
    kfe_i_table_free(&filled);
    return status;
}
