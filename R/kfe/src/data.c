/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of R as data of the library; used by every call that takes examples. R/data.R prepares a list:
 *
 *     views      a list of views, each a list of
 *                  kind     "dense", "frame", "sparse" or "text"
 *                  value    a numeric matrix; a list of numeric columns (NULL: encoded); a dgCMatrix; strings
 *                  rows     the number of rows
 *                  names    names of the columns, or NULL
 *                  encoded  numbers from 0 of the columns of categories, or NULL
 *                  texts    a list of their strings
 *     names      names of the views, or NULL
 *     division   NULL, or views as columns of one table: list(names =, columns =)
 *     missing    how a fit fills missing values, or NULL
 *     labels     strings, or NULL
 *     targets    a numeric matrix, or NULL
 *     groups     numbers, or NULL
 *     weights    how many examples each row counts for, or NULL
 *
 * R's matrices are column-major and the library's row-major, so dense values are copied once. The library frees nothing
 * of R, and keeps nothing of it beyond the call.
 */
#include <string.h>

#include "rkfe.h"

enum { STRIP = 32 }; /* rows that are written together, so that both sides stay in the cache */

/* ---- dense values ---- */

/* One column of R as column j of row-major values. NA becomes NaN. */
static void put_column(SEXP column, const char *from, int64_t rows, int64_t cols, int64_t j, double *out)
{
    const double *reals = TYPEOF(column) == REALSXP ? (const double *)(const void *)from : NULL;
    const int *integers = reals ? NULL : (const int *)(const void *)from;

    for (int64_t i = 0; i < rows; i++)
        out[i * cols + j] = reals ? reals[i] : integers[i] == NA_INTEGER ? NA_REAL : (double)integers[i];
}

static const char *address(SEXP values)
{
    if (TYPEOF(values) == REALSXP)
        return (const char *)REAL_RO(values);
    return (const char *)(TYPEOF(values) == INTSXP ? INTEGER_RO(values) : LOGICAL_RO(values));
}

static size_t item_size(SEXP values)
{
    return TYPEOF(values) == REALSXP ? sizeof(double) : sizeof(int);
}

static void transpose(SEXP matrix, int64_t rows, int64_t cols, double *out)
{
    const char *from = address(matrix);
    size_t size = item_size(matrix);

    for (int64_t start = 0; start < rows; start += STRIP) {
        int64_t count = rows - start < STRIP ? rows - start : STRIP;
        for (int64_t j = 0; j < cols; j++)
            put_column(matrix, from + size * (size_t)(start + j * rows), count, cols, j, out + start * cols);
    }
}

static void gather_columns(SEXP columns, int64_t rows, int64_t cols, double *out)
{
    for (int64_t start = 0; start < rows; start += STRIP) {
        int64_t count = rows - start < STRIP ? rows - start : STRIP;
        for (int64_t j = 0; j < cols; j++) {
            SEXP column = VECTOR_ELT(columns, j);
            if (Rf_isNull(column))
                for (int64_t i = 0; i < count; i++)
                    out[(start + i) * cols + j] = 0;
            else
                put_column(column, address(column) + item_size(column) * (size_t)start, count, cols, j,
                           out + start * cols);
        }
    }
}

static kfe_status wrap_dense(rkfe_session *s, SEXP value, int64_t rows, kfe_data **out)
{
    int is_frame = TYPEOF(value) == VECSXP;
    int64_t cols = is_frame ? (int64_t)Rf_xlength(value) : (int64_t)Rf_ncols(value);
    double *values = rkfe_keep(s, sizeof *values * (size_t)rows * (size_t)cols);

    if (!values)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory: x needs a copy of %.3g MB",
                         8e-6 * (double)(rows * cols));
    if (is_frame)
        gather_columns(value, rows, cols, values);
    else
        transpose(value, rows, cols, values);
    return kfe_data_wrap_dense(s->ctx, rows, cols, cols, values, out);
}

/* ---- sparse values ---- */

/* Counts the entries of each row into start[1 ...] and adds them up. */
static void find_row_starts(const int *row_of, int64_t entries, int64_t rows, int64_t *start)
{
    memset(start, 0, sizeof *start * (size_t)(rows + 1));
    for (int64_t e = 0; e < entries; e++)
        start[row_of[e] + 1]++;
    for (int64_t i = 0; i < rows; i++)
        start[i + 1] += start[i];
}

/* Compressed columns become compressed rows: columns are visited in order, so that those of a row increase. */
static kfe_status wrap_sparse(rkfe_session *s, SEXP matrix, kfe_data **out)
{
    SEXP dims = PROTECT(R_do_slot(matrix, Rf_install("Dim")));
    const int *row_of = INTEGER_RO(PROTECT(R_do_slot(matrix, Rf_install("i"))));
    const int *column_start = INTEGER_RO(PROTECT(R_do_slot(matrix, Rf_install("p"))));
    const double *x = REAL_RO(PROTECT(R_do_slot(matrix, Rf_install("x"))));
    int64_t rows = INTEGER_RO(dims)[0];
    int64_t cols = INTEGER_RO(dims)[1];
    int64_t entries = column_start[cols];
    int64_t *start = rkfe_keep(s, sizeof *start * (size_t)(rows + 1));
    int64_t *next = rkfe_keep(s, sizeof *next * (size_t)(rows + 1));
    int32_t *columns = rkfe_keep(s, sizeof *columns * (size_t)entries);
    double *values = rkfe_keep(s, sizeof *values * (size_t)entries);

    UNPROTECT(4); /* the matrix, which R protects, holds them */
    if (!start || !next || !columns || !values)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory: x needs a copy of its %lld entries",
                         (long long)entries);
    find_row_starts(row_of, entries, rows, start);
    memcpy(next, start, sizeof *next * (size_t)(rows + 1));
    for (int64_t j = 0; j < cols; j++)
        for (int64_t e = column_start[j]; e < column_start[j + 1]; e++) {
            int64_t place = next[row_of[e]]++;
            columns[place] = (int32_t)j;
            values[place] = x[e];
        }
    return kfe_data_wrap_csr(s->ctx, rows, cols, start, columns, values, out);
}

/* ---- one view ---- */

static kfe_status wrap_text(rkfe_session *s, SEXP texts, kfe_data **out)
{
    kfe_status status;
    const char *const *strings = rkfe_strings(s, texts, &status);

    return status ? status : kfe_data_from_text(s->ctx, (int64_t)Rf_xlength(texts), strings, out);
}

static kfe_status wrap_view(rkfe_session *s, SEXP view, kfe_data **out)
{
    const char *kind = rkfe_string(rkfe_item(view, "kind"));
    SEXP value = rkfe_item(view, "value");

    if (strcmp(kind, "text") == 0)
        return wrap_text(s, value, out);
    if (strcmp(kind, "sparse") == 0)
        return wrap_sparse(s, value, out);
    return wrap_dense(s, value, (int64_t)Rf_asReal(rkfe_item(view, "rows")), out);
}

static kfe_status encode(rkfe_session *s, SEXP view, const kfe_model *model, kfe_data *data)
{
    SEXP numbers = rkfe_item(view, "encoded");
    SEXP texts = rkfe_item(view, "texts");
    int64_t count = (int64_t)Rf_xlength(numbers);
    int64_t rows = kfe_data_rows(data);
    int64_t *columns = rkfe_keep(s, sizeof *columns * (size_t)count);
    const char **words = rkfe_keep(s, sizeof *words * (size_t)count * (size_t)rows);

    if (!columns || !words)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (int64_t k = 0; k < count; k++) {
        columns[k] = INTEGER_RO(numbers)[k];
        for (int64_t i = 0; i < rows; i++)
            words[k * rows + i] = rkfe_element(VECTOR_ELT(texts, k), i);
    }
    return model ? kfe_data_encode_for_model(s->ctx, model, data, count, columns, words)
                 : kfe_data_encode(s->ctx, data, count, columns, words);
}

static kfe_status make_view(rkfe_session *s, SEXP view, const kfe_model *model, kfe_data **out)
{
    SEXP names = rkfe_item(view, "names");
    kfe_status status = wrap_view(s, view, out);

    if (!status && !Rf_isNull(names)) {
        const char *const *strings = rkfe_strings(s, names, &status);
        status = status ? status : kfe_data_set_column_names(s->ctx, *out, 0, strings);
    }
    if (!status && Rf_xlength(rkfe_item(view, "encoded")) > 0)
        status = encode(s, view, model, *out);
    return status;
}

/* ---- all views, and the target ---- */

static kfe_status make_views(rkfe_session *s, SEXP description, const kfe_model *model)
{
    SEXP views = rkfe_item(description, "views");
    SEXP names = rkfe_item(description, "names");
    int count = (int)Rf_xlength(views);
    const char *const *strings;
    kfe_status status = KFE_OK;

    s->parts = rkfe_keep(s, sizeof *s->parts * (size_t)count);
    if (!s->parts)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (int k = 0; k < count && !status; k++) {
        s->parts[k] = NULL;
        s->part_count = k + 1;
        status = make_view(s, VECTOR_ELT(views, k), model, &s->parts[k]);
    }
    if (status)
        return status;
    if (Rf_isNull(names)) {
        s->data = s->parts[0];
        return KFE_OK;
    }
    strings = rkfe_strings(s, names, &status);
    return status ? status
                  : kfe_data_join_views(s->ctx, count, (const kfe_data *const *)s->parts, strings, &s->data);
}

static kfe_status divide(rkfe_session *s, SEXP division)
{
    SEXP names = rkfe_item(division, "names");
    kfe_status status;
    const char *const *names_of_views = rkfe_strings(s, names, &status);
    const char *const *columns = status ? NULL : rkfe_strings(s, rkfe_item(division, "columns"), &status);

    return status ? status
                  : kfe_data_divide(s->ctx, s->data, (int)Rf_xlength(names), names_of_views, columns);
}

static kfe_status set_target(rkfe_session *s, SEXP description)
{
    SEXP labels = rkfe_item(description, "labels");
    SEXP targets = rkfe_item(description, "targets");
    kfe_status status = KFE_OK;

    if (!Rf_isNull(labels)) {
        const char *const *strings = rkfe_strings(s, labels, &status);
        return status ? status : kfe_data_set_labels(s->ctx, s->data, strings);
    }
    if (!Rf_isNull(targets)) {
        int64_t rows = Rf_nrows(targets);
        int64_t cols = Rf_ncols(targets);
        double *values = rkfe_keep(s, sizeof *values * (size_t)rows * (size_t)cols);
        if (!values)
            return rkfe_fail(s, KFE_ENOMEM, "out of memory");
        transpose(targets, rows, cols, values);
        return kfe_data_set_targets(s->ctx, s->data, cols, values);
    }
    return KFE_OK;
}

static kfe_status set_groups(rkfe_session *s, SEXP groups)
{
    R_xlen_t count = Rf_xlength(groups);
    int64_t *numbers = rkfe_keep(s, sizeof *numbers * (size_t)count);

    if (!numbers)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (R_xlen_t i = 0; i < count; i++)
        numbers[i] = INTEGER_RO(groups)[i];
    return kfe_data_set_groups(s->ctx, s->data, numbers);
}

kfe_status rkfe_make_data(rkfe_session *s, SEXP description, const kfe_model *model)
{
    SEXP division = rkfe_item(description, "division");
    SEXP missing = rkfe_item(description, "missing");
    SEXP groups = rkfe_item(description, "groups");
    SEXP weights = rkfe_item(description, "weights");
    kfe_status status = make_views(s, description, model);

    if (!status && !Rf_isNull(division))
        status = divide(s, division);
    if (!status && !Rf_isNull(missing))
        status = kfe_data_set_missing(s->ctx, s->data, rkfe_string(missing));
    if (!status)
        status = set_target(s, description);
    if (!status && !Rf_isNull(groups))
        status = set_groups(s, groups);
    if (!status && !Rf_isNull(weights))
        status = kfe_data_set_weights(s->ctx, s->data, REAL_RO(weights));
    return status;
}

kfe_status rkfe_make_other(rkfe_session *s, rkfe_session *other, SEXP description, const kfe_model *model)
{
    kfe_status status = other->status;

    if (!status && !Rf_isNull(description))
        status = rkfe_make_data(other, description, model);
    if (!status)
        return KFE_OK;
    return rkfe_fail(s, status, "%s", other->failure[0] ? other->failure : kfe_error_message(other->ctx));
}
