/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-validation, comparison, tuning, evaluation and explanations; called from R/search.R and R/explain.R. The tables of
 * a result become data frames.
 */
#include <string.h>

#include "rkfe.h"

/* ---- results ---- */

static SEXP column_to_r(const kfe_column *column, R_xlen_t rows)
{
    static const SEXPTYPE types[] = {REALSXP, INTSXP, LGLSXP, STRSXP};
    SEXP values = PROTECT(Rf_allocVector(types[column->kind], rows));

    for (R_xlen_t k = 0; k < rows; k++) {
        double number = column->numbers ? column->numbers[k] : NA_REAL;
        if (column->kind == KFE_COLUMN_TEXT)
            SET_STRING_ELT(values, k, column->texts[k] ? Rf_mkCharCE(column->texts[k], CE_UTF8) : NA_STRING);
        else if (column->kind == KFE_COLUMN_REAL)
            REAL(values)[k] = number != number ? NA_REAL : number;
        else if (column->kind == KFE_COLUMN_COUNT)
            INTEGER(values)[k] = number != number ? NA_INTEGER : (int)number;
        else
            LOGICAL(values)[k] = number != number ? NA_LOGICAL : number > 0;
    }
    UNPROTECT(1);
    return values;
}

/* The row of the parent that each row belongs to, from 1. */
static SEXP owners_to_r(const kfe_table *table)
{
    SEXP owners = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)table->rows));

    for (int64_t k = 0; k < table->rows; k++)
        INTEGER(owners)[k] = (int)table->parent_row[k] + 1;
    UNPROTECT(1);
    return owners;
}

/* A data frame; rows that belong to those of another table have a column with its name. */
static SEXP table_to_r(const kfe_result *result, const kfe_table *table)
{
    const kfe_column *column;
    R_xlen_t count = table->parent > 0;
    SEXP frame;
    SEXP names;
    SEXP rows;

    for (int64_t c = 0; (column = kfe_table_column(table, c)); c++)
        count += column->kind != KFE_COLUMN_GROUP;
    frame = PROTECT(Rf_allocVector(VECSXP, count));
    names = PROTECT(Rf_allocVector(STRSXP, count));
    count = 0;
    if (table->parent > 0) {
        SET_STRING_ELT(names, 0, Rf_mkCharCE(kfe_result_table(result, table->parent)->name, CE_UTF8));
        SET_VECTOR_ELT(frame, count++, owners_to_r(table));
    }
    for (int64_t c = 0; (column = kfe_table_column(table, c)); c++) {
        if (column->kind == KFE_COLUMN_GROUP)
            continue;
        SET_STRING_ELT(names, count, Rf_mkCharCE(column->name, CE_UTF8));
        SET_VECTOR_ELT(frame, count++, column_to_r(column, (R_xlen_t)table->rows));
    }
    rows = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(rows)[0] = NA_INTEGER; /* how R writes row names from 1 */
    INTEGER(rows)[1] = -(int)table->rows;
    Rf_setAttrib(frame, R_NamesSymbol, names);
    Rf_setAttrib(frame, R_RowNamesSymbol, rows);
    Rf_setAttrib(frame, R_ClassSymbol, Rf_mkString("data.frame"));
    Rf_setAttrib(frame, Rf_install("about"), rkfe_utf8(table->about));
    UNPROTECT(3);
    return frame;
}

static SEXP tables_to_r(const kfe_result *result)
{
    const kfe_table *table;
    int count = 0;
    SEXP tables;
    SEXP names;

    while (kfe_result_table(result, count))
        count++;
    tables = PROTECT(Rf_allocVector(VECSXP, count));
    names = PROTECT(Rf_allocVector(STRSXP, count));
    for (int t = 0; (table = kfe_result_table(result, t)); t++) {
        SET_STRING_ELT(names, t, Rf_mkCharCE(table->name, CE_UTF8));
        SET_VECTOR_ELT(tables, t, table_to_r(result, table));
    }
    Rf_setAttrib(tables, R_NamesSymbol, names);
    UNPROTECT(2);
    return tables;
}

/* list(tables, handle, text, json); the handle is that of the session's model. */
static SEXP result_and_model(rkfe_session *s, kfe_status status)
{
    static const char *const names[] = {"tables", "handle", "text", "json", ""};
    SEXP value = PROTECT(status ? R_NilValue : Rf_mkNamed(VECSXP, (const char **)names));

    if (!status) {
        SET_VECTOR_ELT(value, 0, tables_to_r(s->result));
        SET_VECTOR_ELT(value, 1, s->model ? rkfe_new_handle(s) : R_NilValue);
        SET_VECTOR_ELT(value, 2, s->text ? rkfe_utf8(s->text) : R_NilValue);
        SET_VECTOR_ELT(value, 3, s->json ? rkfe_utf8(s->json) : R_NilValue);
    }
    UNPROTECT(1);
    return value;
}

/* ---- searches ---- */

/* The text, which is printed, and the JSON, from which reports are made in another session of R. */
static kfe_status write_texts(rkfe_session *s)
{
    kfe_status status = kfe_result_describe(s->ctx, s->result, KFE_STYLE_TEXT, &s->text);

    return status ? status : kfe_result_describe(s->ctx, s->result, KFE_STYLE_JSON, &s->json);
}

static kfe_status search(rkfe_session *s, SEXP grids, SEXP options)
{
    kfe_status status;
    const char *const *texts = rkfe_strings(s, grids, &status);

    if (status)
        return status;
    if (s->spec_count > 1)
        status = kfe_compare(s->ctx, s->spec_count, (const kfe_spec *const *)s->specs, texts, s->data,
                             rkfe_string(options), &s->result);
    else
        status = kfe_cross_validate(s->ctx, s->specs[0], texts, s->data, rkfe_string(options), &s->model,
                                    &s->result);
    return status ? status : write_texts(s);
}

/* Cross-validates one spec, and fits the best setting; or compares several. */
SEXP rkfe_search(SEXP settings, SEXP specs, SEXP grids, SEXP data, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    for (R_xlen_t k = 0; k < Rf_xlength(specs) && !status; k++)
        status = rkfe_make_spec(s, VECTOR_ELT(specs, k));
    if (!status)
        status = rkfe_make_data(s, data, NULL);
    if (!status)
        status = search(s, grids, options);
    return rkfe_close(holder, status, result_and_model(s, status));
}

SEXP rkfe_tune(SEXP settings, SEXP data, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_tune(s->ctx, NULL, rkfe_string(options), NULL, &s->result);
    if (!status)
        status = rkfe_make_data(s, data, NULL);
    if (!status)
        status = kfe_tune(s->ctx, s->data, rkfe_string(options), &s->model, &s->result);
    return rkfe_close(holder, status, result_and_model(s, status));
}

SEXP rkfe_evaluate(SEXP settings, SEXP handle, SEXP data, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    const kfe_model *model = rkfe_model_of(handle);
    kfe_status status = s->status;

    if (!status)
        status = rkfe_make_data(s, data, model);
    if (!status)
        status = kfe_evaluate(s->ctx, model, s->data, rkfe_string(options), &s->result);
    return rkfe_close(holder, status, result_and_model(s, status));
}

/* ---- explanations ---- */

SEXP rkfe_explain(SEXP settings, SEXP handle, SEXP data, SEXP train, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    SEXP other_holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    rkfe_session *other = rkfe_session_of(other_holder);
    const kfe_model *model = rkfe_model_of(handle);
    kfe_status status = s->status;
    SEXP value;

    if (!status && !Rf_isNull(data))
        status = rkfe_make_data(s, data, model);
    if (!status)
        status = rkfe_make_other(s, other, train, model);
    if (!status)
        status = kfe_explain_refit(s->ctx, model, other->data, s->data, rkfe_string(options), &s->result);
    if (!status)
        status = kfe_result_describe(s->ctx, s->result, KFE_STYLE_TEXT, &s->text);
    value = PROTECT(result_and_model(s, status));
    UNPROTECT(2);
    return rkfe_close(holder, status, value);
}
