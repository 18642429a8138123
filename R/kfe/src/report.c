/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report of a model or of a search, and its single figures; called from R/report.R. */
#include <string.h>

#include "rkfe.h"

/* facts: a named character vector. */
static kfe_status add_facts(rkfe_session *s, SEXP facts)
{
    SEXP names = Rf_getAttrib(facts, R_NamesSymbol);
    kfe_status status = KFE_OK;

    for (R_xlen_t k = 0; k < Rf_xlength(facts) && !status; k++)
        status = kfe_report_add_fact(s->ctx, s->report, rkfe_element(names, k), rkfe_element(facts, k));
    return status;
}

/* The page as a file, or the figure (a name and a format) as a file or, without one, as text. */
static kfe_status draw(rkfe_session *s, SEXP figure, const char *path)
{
    kfe_status status;

    if (path && (status = kfe_output_check(s->ctx, path)) != KFE_OK)
        return status;
    if (Rf_isNull(figure))
        status = kfe_report_html(s->ctx, s->report, &s->text);
    else
        status =
            kfe_report_figure(s->ctx, s->report, rkfe_element(figure, 0), rkfe_element(figure, 1), &s->text);
    if (!status && path)
        status = kfe_output_write(s->ctx, path, s->text, strlen(s->text));
    return status;
}

/* `source` is list(handle, results, train, test, facts); each may be NULL. */
SEXP rkfe_report(SEXP settings, SEXP source, SEXP options, SEXP figure, SEXP path)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    SEXP other_holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    rkfe_session *other = rkfe_session_of(other_holder);
    SEXP handle = rkfe_item(source, "handle");
    SEXP results = rkfe_item(source, "results");
    SEXP train = rkfe_item(source, "train");
    const kfe_model *model = Rf_isNull(handle) ? NULL : rkfe_model_of(handle);
    const char *file = rkfe_string(path);
    kfe_status status = s->status;
    SEXP value;

    if (!status && !Rf_isNull(train))
        status = rkfe_make_data(s, train, model);
    if (!status)
        status = rkfe_make_other(s, other, rkfe_item(source, "test"), model);
    if (!status)
        status = kfe_report_new(s->ctx, rkfe_string(options), &s->report);
    if (!status && model)
        status = kfe_report_set_model(s->ctx, s->report, model);
    if (!status)
        status = kfe_report_set_data(s->ctx, s->report, s->data, other->data);
    if (!status && !Rf_isNull(results))
        status = kfe_result_parse(s->ctx, rkfe_string(results), &s->result);
    if (!status && s->result)
        status = kfe_report_set_results(s->ctx, s->report, s->result);
    if (!status)
        status = add_facts(s, rkfe_item(source, "facts"));
    if (!status)
        status = draw(s, figure, file);
    value = status || file ? R_NilValue : rkfe_utf8(s->text);
    UNPROTECT(1);
    return rkfe_close(holder, status, value);
}
