/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-validation, comparison, tuning, evaluation and explanations; called from R/search.R and R/explain.R. Reports come
 * as text and JSON; R/search.R reads the JSON.
 */
#include <string.h>

#include "rkfe.h"

static SEXP report_and_model(rkfe_session *s, kfe_status status)
{
    SEXP value = PROTECT(status ? R_NilValue : Rf_allocVector(VECSXP, 2));

    if (!status) {
        SET_VECTOR_ELT(value, 0, rkfe_utf8(s->text));
        SET_VECTOR_ELT(value, 1, s->model ? rkfe_new_handle(s) : R_NilValue);
    }
    UNPROTECT(1);
    return value;
}

static kfe_status search(rkfe_session *s, SEXP grids, SEXP options)
{
    kfe_status status;
    int count = (int)Rf_xlength(grids);
    const char *const *texts = rkfe_strings(s, grids, &status);

    if (status)
        return status;
    if (s->spec_count > 1)
        return kfe_compare(s->ctx, s->spec_count, (const kfe_spec *const *)s->specs, count, texts, s->data,
                           rkfe_string(options), KFE_STYLE_BOTH, &s->text);
    return kfe_cross_validate(s->ctx, s->specs[0], count, texts, s->data, rkfe_string(options),
                              KFE_STYLE_BOTH, &s->model, &s->text);
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
    return rkfe_close(holder, status, report_and_model(s, status));
}

/* The text and the JSON are two calls of the library's renderer, so one search is asked for its JSON only. */
SEXP rkfe_tune(SEXP settings, SEXP data, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_tune(s->ctx, NULL, rkfe_string(options), KFE_STYLE_JSON, NULL, &s->text);
    if (!status)
        status = rkfe_make_data(s, data, NULL);
    if (!status)
        status = kfe_tune(s->ctx, s->data, rkfe_string(options), KFE_STYLE_JSON, &s->model, &s->text);
    return rkfe_close(holder, status, report_and_model(s, status));
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
        status = kfe_evaluate(s->ctx, model, s->data, rkfe_string(options), KFE_STYLE_JSON, &s->text);
    return rkfe_close(holder, status, report_and_model(s, status));
}

/* ---- explanations ---- */

static SEXP labels_of(const kfe_explanation *e, int index, int64_t count,
                      const char *(*label)(const kfe_explanation *, int, int64_t))
{
    SEXP labels;

    if (count > 0 && !label(e, index, 0))
        return R_NilValue;
    labels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (int64_t k = 0; k < count; k++) {
        const char *text = label(e, index, k);
        SET_STRING_ELT(labels, (R_xlen_t)k, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return labels;
}

/* One table as a matrix with dimnames and the attribute "about". */
static SEXP table_to_r(const kfe_explanation *e, int index, const kfe_explained *table)
{
    kfe_matrix matrix = {.rows = table->rows, .cols = table->cols, .stride = table->cols, .owner = NULL};
    SEXP values;
    SEXP labels = PROTECT(Rf_allocVector(VECSXP, 2));

    matrix.values = (double *)table->values; /* borrowed, and only read */
    values = PROTECT(rkfe_matrix_to_r(&matrix));
    SET_VECTOR_ELT(labels, 0, labels_of(e, index, table->rows, kfe_explanation_row_label));
    SET_VECTOR_ELT(labels, 1, labels_of(e, index, table->cols, kfe_explanation_col_label));
    Rf_setAttrib(values, R_DimNamesSymbol, labels);
    Rf_setAttrib(values, Rf_install("about"), rkfe_utf8(table->about));
    UNPROTECT(2);
    return values;
}

static SEXP explanation_to_r(const kfe_explanation *e)
{
    kfe_explained table;
    int count = 0;
    SEXP tables;
    SEXP names;

    while (kfe_explanation_table(e, count, &table))
        count++;
    tables = PROTECT(Rf_allocVector(VECSXP, count));
    names = PROTECT(Rf_allocVector(STRSXP, count));
    for (int k = 0; k < count; k++) {
        kfe_explanation_table(e, k, &table);
        SET_STRING_ELT(names, k, Rf_mkCharCE(table.name, CE_UTF8));
        SET_VECTOR_ELT(tables, k, table_to_r(e, k, &table));
    }
    Rf_setAttrib(tables, R_NamesSymbol, names);
    UNPROTECT(2);
    return tables;
}

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
        status =
            kfe_explain_refit(s->ctx, model, other->data, s->data, rkfe_string(options), &s->explanation);
    if (!status)
        status = kfe_explanation_report(s->ctx, s->explanation, KFE_STYLE_TEXT, &s->text);
    value = PROTECT(status ? R_NilValue : Rf_allocVector(VECSXP, 2));
    if (!status) {
        SET_VECTOR_ELT(value, 0, explanation_to_r(s->explanation));
        SET_VECTOR_ELT(value, 1, rkfe_utf8(s->text));
    }
    UNPROTECT(2);
    return rkfe_close(holder, status, value);
}
