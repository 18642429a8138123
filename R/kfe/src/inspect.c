/* SPDX-License-Identifier: Apache-2.0 */
/* What a model contains, as a list; called once after a fit or a load (R/model.R) and by coef and summary. */
#include "rkfe.h"

static SEXP list_of_names(const kfe_model *model, int64_t count,
                          const char *(*name)(const kfe_model *, int64_t))
{
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));

    for (int64_t k = 0; k < count; k++) {
        const char *text = name(model, k);
        SET_STRING_ELT(names, (R_xlen_t)k, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return names;
}

static SEXP numbers(const double *values, int64_t count)
{
    SEXP vector;

    if (!values)
        return R_NilValue;
    vector = Rf_allocVector(REALSXP, (R_xlen_t)count);
    for (int64_t k = 0; k < count; k++)
        REAL(vector)[k] = values[k];
    return vector;
}

static SEXP categories_of(const kfe_model *model, int view)
{
    int64_t cols = kfe_model_source_cols(model, view);
    SEXP all = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)cols));

    for (int64_t j = 0; j < cols; j++) {
        int64_t count;
        const char *const *words = kfe_model_categories(model, view, j, &count);
        SEXP own = PROTECT(count ? Rf_allocVector(STRSXP, (R_xlen_t)count) : R_NilValue);
        for (int64_t k = 0; k < count; k++)
            SET_STRING_ELT(own, (R_xlen_t)k, Rf_mkCharCE(words[k], CE_UTF8));
        SET_VECTOR_ELT(all, (R_xlen_t)j, own);
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return all;
}

static SEXP column_names(const kfe_model *model, int view)
{
    int64_t cols = kfe_model_cols(model, view);
    SEXP names;

    for (int64_t j = 0; j < cols; j++)
        if (!kfe_model_column_name(model, view, j))
            return R_NilValue;
    names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)cols));
    for (int64_t j = 0; j < cols; j++)
        SET_STRING_ELT(names, (R_xlen_t)j, Rf_mkCharCE(kfe_model_column_name(model, view, j), CE_UTF8));
    UNPROTECT(1);
    return names;
}

static SEXP view_of(const kfe_model *model, int view)
{
    static const char *const names[] = {"name",       "cols",  "source_cols", "strings", "names",
                                        "categories", "shift", "factor",      ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    int64_t cols = kfe_model_cols(model, view);

    SET_VECTOR_ELT(list, 0, rkfe_utf8(kfe_model_view_name(model, view)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal((double)cols));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal((double)kfe_model_source_cols(model, view)));
    SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(kfe_model_takes_strings(model, view)));
    SET_VECTOR_ELT(list, 4, column_names(model, view));
    SET_VECTOR_ELT(list, 5, categories_of(model, view));
    SET_VECTOR_ELT(list, 6, numbers(kfe_model_shift(model, view), kfe_model_prepared_cols(model, view)));
    SET_VECTOR_ELT(list, 7, numbers(kfe_model_factor(model, view), kfe_model_prepared_cols(model, view)));
    UNPROTECT(1);
    return list;
}

static SEXP views_of(const kfe_model *model)
{
    int count = kfe_model_views(model);
    SEXP views = PROTECT(Rf_allocVector(VECSXP, count));

    for (int v = 0; v < count; v++)
        SET_VECTOR_ELT(views, v, view_of(model, v));
    UNPROTECT(1);
    return views;
}

static SEXP records_of(const kfe_model *model)
{
    int64_t count = 0;
    int64_t length = 0;
    SEXP names;
    SEXP records;

    while (kfe_model_record_name(model, count))
        count++;
    names = PROTECT(list_of_names(model, count, kfe_model_record_name));
    records = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count));
    for (int64_t k = 0; k < count; k++) {
        const double *values = kfe_model_record(model, kfe_model_record_name(model, k), &length);
        SET_VECTOR_ELT(records, (R_xlen_t)k, numbers(values, length));
    }
    Rf_setAttrib(records, R_NamesSymbol, names);
    UNPROTECT(2);
    return records;
}

static SEXP coefficients_of(const kfe_model *model)
{
    kfe_matrix matrix = {0};
    int64_t rows = 0;
    const double *values = kfe_model_coefficients(model, &rows);

    if (!values)
        return R_NilValue;
    matrix.rows = rows;
    matrix.cols = matrix.stride = kfe_model_dim(model);
    matrix.values = (double *)values; /* borrowed, and only read */
    return rkfe_matrix_to_r(&matrix);
}

/* Training rows from 1, as R counts. */
static SEXP support_of(const kfe_model *model)
{
    const int64_t *rows = kfe_model_support_index(model);
    int64_t count = kfe_model_support_size(model);
    SEXP support;

    if (!rows)
        return R_NilValue;
    support = Rf_allocVector(REALSXP, (R_xlen_t)count);
    for (int64_t k = 0; k < count; k++)
        REAL(support)[k] = (double)(rows[k] + 1);
    return support;
}

static kfe_status kernels_of(rkfe_session *s, const kfe_model *model, SEXP kernels)
{
    kfe_status status = KFE_OK;

    for (R_xlen_t k = 0; k < Rf_xlength(kernels) && !status; k++) {
        status = kfe_model_kernel(s->ctx, model, (int64_t)k, &s->text);
        if (status)
            break;
        SET_STRING_ELT(kernels, k, Rf_mkCharCE(s->text, CE_UTF8));
        kfe_string_free(s->ctx, s->text);
        s->text = NULL;
    }
    return status;
}

static kfe_status features_of(rkfe_session *s, const kfe_model *model, SEXP features)
{
    kfe_status status = KFE_OK;

    for (R_xlen_t k = 0; k < Rf_xlength(features) && !status; k++) {
        status = kfe_model_feature_name(s->ctx, model, (int64_t)k, &s->text);
        if (status)
            break;
        SET_STRING_ELT(features, k, Rf_mkCharCE(s->text, CE_UTF8));
        kfe_string_free(s->ctx, s->text);
        s->text = NULL;
    }
    return status;
}

static SEXP facts_of(const kfe_model *model, SEXP kernels, SEXP features)
{
    static const char *const names[] = {
        "method",       "learner", "calibration", "outputs",  "task",    "dim",
        "support_size", "kernels", "classes",     "views",    "records", "coefficients",
        "offset",       "support", "plain",       "features", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    int64_t classes = kfe_model_classes(model);
    int64_t dim = kfe_model_dim(model);

    SET_VECTOR_ELT(list, 0, rkfe_utf8(kfe_model_method(model)));
    SET_VECTOR_ELT(list, 1, kfe_model_learner(model) ? rkfe_utf8(kfe_model_learner(model)) : R_NilValue);
    SET_VECTOR_ELT(list, 2,
                   kfe_model_calibration(model) ? rkfe_utf8(kfe_model_calibration(model)) : R_NilValue);
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)kfe_model_outputs(model)));
    SET_VECTOR_ELT(list, 4, Rf_ScalarInteger((int)kfe_model_task(model)));
    SET_VECTOR_ELT(list, 5, Rf_ScalarReal((double)dim));
    SET_VECTOR_ELT(list, 6, Rf_ScalarReal((double)kfe_model_support_size(model)));
    SET_VECTOR_ELT(list, 7, kernels);
    SET_VECTOR_ELT(list, 8, list_of_names(model, classes, kfe_model_class_name));
    SET_VECTOR_ELT(list, 9, views_of(model));
    SET_VECTOR_ELT(list, 10, records_of(model));
    SET_VECTOR_ELT(list, 11, coefficients_of(model));
    SET_VECTOR_ELT(list, 12, numbers(kfe_model_offset(model), dim));
    SET_VECTOR_ELT(list, 13, support_of(model));
    SET_VECTOR_ELT(list, 14,
                   kfe_model_plain_learner(model) ? rkfe_utf8(kfe_model_plain_learner(model)) : R_NilValue);
    SET_VECTOR_ELT(list, 15, features);
    UNPROTECT(1);
    return list;
}

SEXP rkfe_inspect(SEXP settings, SEXP handle)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    const kfe_model *model = rkfe_model_of(handle);
    SEXP kernels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)kfe_model_kernels(model)));
    SEXP features = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)kfe_model_dim(model)));
    kfe_status status = s->status;
    SEXP facts;

    if (!status)
        status = kernels_of(s, model, kernels);
    if (!status)
        status = features_of(s, model, features);
    facts = status ? R_NilValue : facts_of(model, kernels, features);
    UNPROTECT(2);
    return rkfe_close(holder, status, facts);
}
