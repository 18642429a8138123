/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's tables of methods, kernels, learners, steps, metrics, generators and options as lists, so that new rows need no
 * R code; kernel matrices and generated data. Called from R/tables.R and R/data.R.
 */
#include <string.h>

#include "rkfe.h"

typedef const kfe_entry_info *(*entry_fn)(int index);
typedef const kfe_param_info *(*param_fn)(int entry, int index);
typedef const kfe_param_info *(*option_fn)(int index);

typedef struct table_row {
    const char *name;
    entry_fn entry; /* NULL: options, which belong to no entry */
    param_fn param;
    option_fn option;
} table_row;

static const table_row tables[] = {
    {"method", kfe_method, kfe_method_param, NULL},
    {"kernel", kfe_kernel, kfe_kernel_param, NULL},
    {"learner", kfe_learner, kfe_learner_param, NULL},
    {"step", kfe_step, kfe_step_param, NULL},
    {"generator", kfe_generator, kfe_generator_param, NULL},
    {"metric", kfe_metric, NULL, NULL},
    {"figure", kfe_figure, NULL, NULL},
    {"fit", NULL, NULL, kfe_fit_option},
    {"cv", NULL, NULL, kfe_cv_option},
    {"compare", NULL, NULL, kfe_compare_option},
    {"tune", NULL, NULL, kfe_tune_option},
    {"evaluate", NULL, NULL, kfe_evaluate_option},
    {"explain", NULL, NULL, kfe_explain_option},
    {"report", NULL, NULL, kfe_report_option},
};

static const table_row *find_table(SEXP name)
{
    const char *wanted = rkfe_string(name);

    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (wanted && strcmp(tables[k].name, wanted) == 0)
            return &tables[k];
    Rf_error("there is no table '%s'", wanted ? wanted : "");
}

static void set_text(SEXP column, R_xlen_t row, const char *text)
{
    SET_STRING_ELT(column, row, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
}

/* The entries of a table: list(name, summary, formula, flags, kernel, alias). */
SEXP rkfe_entries(SEXP table)
{
    static const char *const names[] = {"name", "summary", "formula", "kernel", "alias", "flags", ""};
    const table_row *row = find_table(table);
    const kfe_entry_info *info;
    int count = 0;
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));

    while (row->entry && row->entry(count))
        count++;
    for (int column = 0; column < 6; column++)
        SET_VECTOR_ELT(list, column, Rf_allocVector(column == 5 ? INTSXP : STRSXP, count));
    for (int k = 0; k < count; k++) {
        info = row->entry(k);
        set_text(VECTOR_ELT(list, 0), k, info->name);
        set_text(VECTOR_ELT(list, 1), k, info->summary);
        set_text(VECTOR_ELT(list, 2), k, info->formula);
        set_text(VECTOR_ELT(list, 3), k, row->entry == kfe_method ? kfe_method_kernel(k) : NULL);
        set_text(VECTOR_ELT(list, 4), k, info->alias);
        INTEGER(VECTOR_ELT(list, 5))[k] = (int)info->flags;
    }
    UNPROTECT(1);
    return list;
}

static const kfe_param_info *param_of(const table_row *row, int entry, int index)
{
    return row->option ? row->option(index) : row->param ? row->param(entry, index) : NULL;
}

/* The parameters of an entry, numbered from 0, or the options of a table without entries. */
SEXP rkfe_params(SEXP table, SEXP index)
{
    static const char *const kinds[] = {"integer", "real", "choice", "flag", "text"};
    static const char *const names[] = {"name",  "type", "default", "words", "help",
                                        "alias", "min",  "max",     ""};
    const table_row *row = find_table(table);
    int entry = Rf_asInteger(index);
    int count = 0;
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));

    while (param_of(row, entry, count))
        count++;
    for (int column = 0; column < 8; column++)
        SET_VECTOR_ELT(list, column, Rf_allocVector(column > 5 ? REALSXP : STRSXP, count));
    for (int k = 0; k < count; k++) {
        const kfe_param_info *info = param_of(row, entry, k);
        int is_number = info->type == KFE_PARAM_INT || info->type == KFE_PARAM_REAL;
        set_text(VECTOR_ELT(list, 0), k, info->name);
        set_text(VECTOR_ELT(list, 1), k, kinds[info->type]);
        set_text(VECTOR_ELT(list, 2), k, info->initial);
        set_text(VECTOR_ELT(list, 3), k, info->words);
        set_text(VECTOR_ELT(list, 4), k, info->help);
        set_text(VECTOR_ELT(list, 5), k, info->alias);
        REAL(VECTOR_ELT(list, 6))[k] = is_number ? info->min : NA_REAL;
        REAL(VECTOR_ELT(list, 7))[k] = is_number ? info->max : NA_REAL;
    }
    UNPROTECT(1);
    return list;
}

SEXP rkfe_version(void)
{
    return rkfe_utf8(kfe_version());
}

/* ---- small calls ---- */

SEXP rkfe_let_threads_sleep(void)
{
    kfe_let_threads_sleep();
    return R_NilValue;
}

SEXP rkfe_blas_advice(void)
{
    return rkfe_utf8(kfe_blas_advice());
}

/* Names as they may be printed: a terminal would obey the control characters of a file. */
SEXP rkfe_shown(SEXP names)
{
    R_xlen_t count = Rf_xlength(names);
    SEXP shown = PROTECT(Rf_allocVector(STRSXP, count));

    for (R_xlen_t k = 0; k < count; k++) {
        const char *name = Rf_translateCharUTF8(STRING_ELT(names, k));
        size_t size = kfe_escape(name, NULL, 0) + 1;
        char *text = R_alloc(size, 1);
        kfe_escape(name, text, size);
        SET_STRING_ELT(shown, k, Rf_mkCharCE(text, CE_UTF8));
    }
    UNPROTECT(1);
    return shown;
}

/* Whether numbers are classes (TRUE) or real values, as the command line decides. */
SEXP rkfe_guess(SEXP settings, SEXP values)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    SEXP numbers = PROTECT(Rf_coerceVector(values, REALSXP));
    int floating = TYPEOF(values) == REALSXP;
    int classes = 0;

    if (!s->status)
        classes = kfe_guess_task(s->ctx, (int64_t)Rf_xlength(numbers), REAL_RO(numbers), floating) ==
                  KFE_TASK_CLASSES;
    UNPROTECT(1);
    return rkfe_close(holder, s->status, Rf_ScalarLogical(classes));
}

/* `rows` and `columns` (NULL: the same) are descriptions of data as in data.c. */
SEXP rkfe_kernel_matrix(SEXP settings, SEXP kernel, SEXP rows, SEXP columns)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    SEXP other_holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    rkfe_session *other = rkfe_session_of(other_holder);
    kfe_status status = s->status;
    SEXP reply;

    if (!status)
        status = rkfe_make_data(s, rows, NULL);
    if (!status && !Rf_isNull(columns) && rkfe_make_data(other, columns, NULL))
        status = rkfe_fail(s, KFE_EINPUT, "%s",
                           other->failure[0] ? other->failure : kfe_error_message(other->ctx));
    if (!status)
        status = kfe_kernel_matrix(s->ctx, rkfe_string(kernel), s->data, other->data, &s->first);
    reply = status ? R_NilValue : rkfe_matrix_to_r(&s->first);
    UNPROTECT(1);
    return rkfe_close(holder, status, reply);
}

/* Generated data as list(x, y, names). */
SEXP rkfe_generate(SEXP settings, SEXP name, SEXP options)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_data_generate(s->ctx, rkfe_string(name), rkfe_string(options), &s->data);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_data_to_r(s));
}
