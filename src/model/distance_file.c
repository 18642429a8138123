/* SPDX-License-Identifier: Apache-2.0 */
/* Learned distances from files, for {distance=FILE}; used by prepare.c. */
#include "model/distance_file.h"

#include <math.h>
#include <string.h>

#include "core/intern.h"
#include "core/memory.h"
#include "core/text.h"
#include "linalg/linalg.h"
#include "model/chain_views.h"

/* Eigenvalues of a matrix may be negative by rounding, relative to the largest. */
#define KFE_DISTANCE_ROUNDING 1e-10

/* ---- names of columns ---- */

static int is_named(const char *found, const char *name)
{
    return strcmp(found ? found : "", name) == 0;
}

/* The column of the distance that is named as column j of the data: that in the same place, or the first other one; -1: none. */
static int64_t find_name(char *const *names, int64_t count, int64_t j, const char *name)
{
    if (is_named(names[j], name))
        return j;
    for (int64_t k = 0; k < count; k++)
        if (is_named(names[k], name))
            return k;
    return -1;
}

/* from[j]: the column of the distance that is column j of the data. */
static kfe_status match_names(kfe_context *ctx, const char *path, char *const *names, const kfe_i_view *view,
                              int64_t *from)
{
    kfe_status status = KFE_OK;
    int64_t count = view->table.cols;
    char *taken = NULL;

    KFE_ALLOC_ZERO(ctx, taken, count);
    for (int64_t j = 0; j < count; j++) {
        const char *name = view->column_names[j] ? view->column_names[j] : "";
        from[j] = find_name(names, count, j, name);
        if (from[j] < 0 || taken[from[j]])
            KFE_FAIL(ctx, KFE_EINPUT,
                     "%s: {distance} has %s column '%s', which the data has; give both the same names, or "
                     "remove the names of one",
                     path, from[j] < 0 ? "no" : "only one", name);
        taken[from[j]] = 1;
    }
cleanup:
    kfe_i_free(ctx, taken);
    return status;
}

static kfe_status reorder(kfe_context *ctx, const int64_t *from, int64_t rows, int64_t cols, double *values)
{
    kfe_status status = KFE_OK;
    double *before = NULL;

    if (!values)
        return KFE_OK;
    KFE_ALLOC(ctx, before, rows * cols);
    memcpy(before, values, (size_t)(rows * cols) * sizeof *values);
    for (int64_t i = 0; i < rows; i++)
        memcpy(values + i * cols, before + from[i] * cols, (size_t)cols * sizeof *values);
cleanup:
    kfe_i_free(ctx, before);
    return status;
}

/* Two columns of one name may stand in either order. */
static kfe_status refuse_twins(kfe_context *ctx, const char *whose, int64_t count, char *const *names)
{
    int64_t first = 0;
    int64_t second = 0;
    kfe_status status = kfe_i_find_twins(ctx, count, (const char *const *)names, &first, &second);

    if (status == KFE_OK && second > 0)
        status = kfe_i_fail(ctx, KFE_EINPUT,
                            "%s: columns %lld and %lld are both called '%.100s', so {distance} cannot match "
                            "columns by name; rename one of them, or give the distance without names",
                            whose, (long long)first + 1, (long long)second + 1, names[first]);
    return status;
}

/* Puts the columns of the distance into the order of the data, if both have names. */
static kfe_status order_by_names(kfe_context *ctx, const char *path, char *const *names,
                                 const kfe_i_view *view, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_i_map *map = &out->map;
    int64_t count = map->rows;
    int64_t *from = NULL;

    if (!names || !view->column_names || count != view->table.cols)
        return KFE_OK;
    KFE_TRY(refuse_twins(ctx, kfe_i_view_shown(view), count, view->column_names));
    KFE_TRY(refuse_twins(ctx, path, count, names));
    KFE_ALLOC(ctx, from, count);
    KFE_TRY(match_names(ctx, path, names, view, from));
    KFE_TRY(reorder(ctx, from, count, map->diagonal ? 1 : map->cols, map->values));
    KFE_TRY(reorder(ctx, from, count, 1, out->shift));
    KFE_TRY(reorder(ctx, from, count, 1, out->factor));
cleanup:
    kfe_i_free(ctx, from);
    return status;
}

/* ---- from a model ---- */

static kfe_status copy_numbers(kfe_context *ctx, const double *from, int64_t count, double **out)
{
    kfe_status status = KFE_OK;

    if (!from)
        return KFE_OK;
    KFE_ALLOC(ctx, *out, count);
    memcpy(*out, from, (size_t)count * sizeof *from);
cleanup:
    return status;
}

/* rfm keeps its first iteration if no learned distance predicts better: all columns count alike. */
static kfe_status plain_map(kfe_context *ctx, const char *path, int64_t cols, kfe_i_map *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_map_new(ctx, cols, cols, 1, out));
    for (int64_t j = 0; j < cols; j++)
        out->values[j] = 1;
    kfe_i_log(ctx, KFE_LOG_INFO,
              "%s: rfm predicted best without a learned distance (iteration 0): all columns count alike",
              path);
cleanup:
    return status;
}

/* The map of the model, then the directions of a linear one. */
static kfe_status map_of_model(kfe_context *ctx, const char *path, const kfe_model *model, kfe_i_map *out)
{
    const kfe_i_map *map = &model->views[0].scaler.map;
    const kfe_i_map directions = {
        .ctx = ctx, .rows = model->rows, .cols = model->dim, .values = model->coefficients};

    if (model->view_count != 1)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: the model has %d views, but {distance} is for one table",
                          path, model->view_count);
    if (model->projector == KFE_PROJECT_LINEAR)
        return kfe_i_map_compose(ctx, map, &directions, out);
    if (model->tree)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: every leaf of the model's tree has learned its own distance; fit rfm without "
                          "{leaf-size}",
                          path);
    if (!map->values && strcmp(model->method, "rfm") == 0)
        return plain_map(ctx, path, model->views[0].cols, out);
    if (!map->values)
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: the model learned no distance; fit one with method rfm, or give a linear model", path);
    return kfe_i_map_copy(ctx, map, out);
}

static kfe_status read_model(kfe_context *ctx, const char *path, const kfe_i_view *view, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;

    KFE_TRY(kfe_model_load(ctx, path, &model));
    if (kfe_i_model_prepares(model))
        KFE_FAIL(ctx, KFE_EINPUT,
                 "%s: the distance is for columns that steps of {prepare} make; fit it without steps", path);
    KFE_TRY(map_of_model(ctx, path, model, &out->map));
    const kfe_i_scaler *scaler = &model->views[0].scaler;
    out->kind = scaler->kind;
    out->cols = model->views[0].cols;
    KFE_TRY(copy_numbers(ctx, scaler->shift, out->cols, &out->shift));
    KFE_TRY(copy_numbers(ctx, scaler->factor, out->cols, &out->factor));
    KFE_TRY(order_by_names(ctx, path, model->views[0].column_names, view, out));
cleanup:
    kfe_model_free(model);
    return status;
}

/* ---- from a matrix ---- */

static kfe_status read_weights(kfe_context *ctx, const char *path, const kfe_i_table *table, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t count = table->rows == 1 ? table->cols : table->rows;

    KFE_TRY(kfe_i_map_new(ctx, count, count, 1, out));
    for (int64_t j = 0; j < count; j++) {
        double weight = table->values[table->rows == 1 ? j : j * table->stride];
        if (!(weight >= 0))
            KFE_FAIL(ctx, KFE_EINPUT, "%s: weight %lld is %g, but weights of columns are not negative", path,
                     (long long)j + 1, weight);
        out->values[j] = sqrt(weight);
    }
cleanup:
    return status;
}

static kfe_status check_symmetric(kfe_context *ctx, const char *path, const kfe_i_table *table)
{
    double largest = 0;

    for (int64_t i = 0; i < table->rows * table->cols; i++)
        largest = fmax(largest, fabs(table->values[i / table->cols * table->stride + i % table->cols]));
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < i; j++)
            if (fabs(table->values[i * table->stride + j] - table->values[j * table->stride + i]) >
                1e-8 * largest)
                return kfe_i_fail(ctx, KFE_EINPUT, "%s: the matrix is not symmetric in row %lld, column %lld",
                                  path, (long long)i + 1, (long long)j + 1);
    return KFE_OK;
}

/* T = VΛ^(1/2) of the positive eigenvalues. */
static kfe_status read_matrix(kfe_context *ctx, const char *path, const kfe_i_table *table, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    int64_t d = table->cols;
    int64_t rank = 0;
    double *a = NULL;
    double *values = NULL;
    double *vectors = NULL;

    KFE_TRY(check_symmetric(ctx, path, table));
    KFE_TAKE(&memory, a, d * d);
    KFE_TAKE(&memory, values, d);
    KFE_TAKE(&memory, vectors, d * d);
    for (int64_t i = 0; i < d; i++)
        kfe_i_table_dense_row(table, i, a + i * d);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, d, a, d, values, vectors));
    while (rank < d && values[rank] > KFE_DISTANCE_ROUNDING * values[0])
        rank++;
    if (rank == 0 || values[d - 1] < -KFE_DISTANCE_ROUNDING * values[0])
        KFE_FAIL(ctx, KFE_EINPUT,
                 "%s: {distance} needs a matrix without negative eigenvalues that is not zero; one is %g",
                 path, values[d - 1]);
    KFE_TRY(kfe_i_map_new(ctx, d, rank, 0, out));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < rank; j++)
            out->values[i * rank + j] = vectors[i * d + j] * sqrt(values[j]);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status read_table(kfe_context *ctx, const char *path, const kfe_i_view *view, kfe_i_scaler *out)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;

    KFE_TRY(kfe_data_read(ctx, path, "label=none", &data));
    KFE_TRY(kfe_i_data_widen(ctx, data));
    const kfe_i_table *table = &data->views[0].table;
    if (table->kind != KFE_TABLE_DENSE)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: {distance} needs a dense table of numbers", path);
    KFE_TRY(kfe_i_table_check_finite(ctx, table, path));
    if (table->rows == 1 || table->cols == 1)
        KFE_TRY(read_weights(ctx, path, table, &out->map));
    else if (table->rows == table->cols)
        KFE_TRY(read_matrix(ctx, path, table, &out->map));
    else
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "%s: {distance} needs a square matrix, or one row or column of weights, not %lld × %lld numbers",
            path, (long long)table->rows, (long long)table->cols);
    if (table->cols > 1) /* a column of weights has one name, which is not that of a column of the data */
        KFE_TRY(order_by_names(ctx, path, data->views[0].column_names, view, out));
cleanup:
    kfe_data_free(data);
    return status;
}

static int is_model(const char *path)
{
    size_t length = strlen(path);

    return length >= 4 && strcmp(path + length - 4, ".kfe") == 0;
}

kfe_status kfe_i_distance_read(kfe_context *ctx, const char *path, const kfe_i_view *view, kfe_i_scaler *out)
{
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    return is_model(path) ? read_model(ctx, path, view, out) : read_table(ctx, path, view, out);
}
