/* SPDX-License-Identifier: Apache-2.0 */
/* Data of the library as a list of R's: what kfe_generate returns. */
#include "rkfe.h"

static SEXP values_of(rkfe_session *s)
{
    int64_t rows = kfe_data_rows(s->data);
    int64_t cols = kfe_data_cols(s->data, 0);
    SEXP x = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)cols));
    double *row = (double *)R_alloc((size_t)(cols > 0 ? cols : 1), sizeof *row);

    for (int64_t i = 0; i < rows; i++) {
        if (kfe_data_row(s->ctx, s->data, 0, i, row))
            Rf_error("%s", kfe_error_message(s->ctx)); /* the session's finalizer frees the data */
        for (int64_t j = 0; j < cols; j++)
            REAL(x)[i + j * rows] = row[j];
    }
    UNPROTECT(1);
    return x;
}

static SEXP labels_of(const kfe_data *data)
{
    int64_t rows = kfe_data_rows(data);
    SEXP labels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)rows));

    for (int64_t i = 0; i < rows; i++) {
        const char *name = kfe_data_class_name(data, kfe_data_class_of(data, i));
        SET_STRING_ELT(labels, (R_xlen_t)i, name ? Rf_mkCharCE(name, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return labels;
}

static SEXP target_of(const kfe_data *data)
{
    kfe_matrix matrix = {0};
    int64_t cols = 0;
    const double *targets = kfe_data_targets(data, &cols);

    if (kfe_data_task(data) == KFE_TASK_CLASSES)
        return labels_of(data);
    if (!targets)
        return R_NilValue;
    matrix.rows = kfe_data_rows(data);
    matrix.cols = matrix.stride = cols;
    matrix.values = (double *)targets; /* borrowed, and only read */
    return rkfe_matrix_to_r(&matrix);
}

static SEXP names_of(const kfe_data *data)
{
    int64_t cols = kfe_data_cols(data, 0);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)cols));

    for (int64_t j = 0; j < cols; j++) {
        const char *name = kfe_data_column_name(data, 0, j);
        SET_STRING_ELT(names, (R_xlen_t)j, name ? Rf_mkCharCE(name, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return names;
}

static SEXP classes_of(const kfe_data *data)
{
    int64_t count = kfe_data_classes(data);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));

    for (int64_t k = 0; k < count; k++)
        SET_STRING_ELT(names, (R_xlen_t)k, Rf_mkCharCE(kfe_data_class_name(data, k), CE_UTF8));
    UNPROTECT(1);
    return names;
}

SEXP rkfe_data_to_r(rkfe_session *s)
{
    static const char *const names[] = {"x", "y", "names", "classes", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));

    SET_VECTOR_ELT(list, 0, values_of(s));
    SET_VECTOR_ELT(list, 1, target_of(s->data));
    SET_VECTOR_ELT(list, 2, names_of(s->data));
    SET_VECTOR_ELT(list, 3, classes_of(s->data));
    UNPROTECT(1);
    return list;
}
