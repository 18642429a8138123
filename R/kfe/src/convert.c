/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between R's values and those of C: items of lists, strings, matrices. Used by all other files. */
#include <string.h>

#include "rkfe.h"

SEXP rkfe_item(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);

    for (R_xlen_t k = 0; k < Rf_xlength(names); k++)
        if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0)
            return VECTOR_ELT(list, k);
    return R_NilValue;
}

const char *rkfe_element(SEXP texts, R_xlen_t index)
{
    SEXP text = STRING_ELT(texts, index);

    return text == NA_STRING ? NULL : Rf_translateCharUTF8(text);
}

const char *rkfe_string(SEXP text)
{
    return TYPEOF(text) == STRSXP && Rf_xlength(text) > 0 ? rkfe_element(text, 0) : NULL;
}

SEXP rkfe_utf8(const char *text)
{
    SEXP string = PROTECT(Rf_mkCharCE(text ? text : "", CE_UTF8));
    SEXP vector = Rf_ScalarString(text ? string : NA_STRING);

    UNPROTECT(1);
    return vector;
}

const char *const *rkfe_strings(rkfe_session *s, SEXP texts, kfe_status *status)
{
    R_xlen_t count = Rf_xlength(texts);
    const char **strings = rkfe_keep(s, sizeof *strings * ((size_t)count + 1));

    *status = strings ? KFE_OK : rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (R_xlen_t k = 0; strings && k < count; k++)
        strings[k] = rkfe_element(texts, k);
    if (strings)
        strings[count] = NULL;
    return strings;
}

SEXP rkfe_matrix_to_r(const kfe_matrix *matrix)
{
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)matrix->rows, (int)matrix->cols));
    double *out = REAL(result);

    for (int64_t i = 0; i < matrix->rows; i++)
        for (int64_t j = 0; j < matrix->cols; j++)
            out[i + j * matrix->rows] = matrix->values[i * matrix->stride + j];
    UNPROTECT(1);
    return result;
}
