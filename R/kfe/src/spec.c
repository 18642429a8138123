/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specs from the lists that R/spec.R makes; used by fits and searches:
 *
 *     method          the name of the method
 *     params          its parameters and the options of the fit: named strings
 *     kernels         strings; their names, if any, are those of views
 *     learner         the name of the classifier or regressor, or NULL
 *     learner_params  its parameters: named strings
 */
#include "rkfe.h"

static kfe_status set_params(rkfe_session *s, kfe_spec *spec, SEXP params)
{
    SEXP names = Rf_getAttrib(params, R_NamesSymbol);
    kfe_status status = KFE_OK;

    for (R_xlen_t k = 0; k < Rf_xlength(params) && !status; k++)
        status = kfe_spec_set(s->ctx, spec, rkfe_element(names, k), rkfe_element(params, k));
    return status;
}

static kfe_status add_kernels(rkfe_session *s, kfe_spec *spec, SEXP kernels)
{
    SEXP views = Rf_getAttrib(kernels, R_NamesSymbol);
    kfe_status status = KFE_OK;

    for (R_xlen_t k = 0; k < Rf_xlength(kernels) && !status; k++) {
        const char *kernel = rkfe_element(kernels, k);
        if (Rf_isNull(views))
            status = kfe_spec_add_kernel(s->ctx, spec, kernel);
        else
            status = kfe_spec_set_view_kernel(s->ctx, spec, rkfe_element(views, k), kernel);
    }
    return status;
}

static kfe_status fill_spec(rkfe_session *s, kfe_spec *spec, SEXP description)
{
    const char *learner = rkfe_string(rkfe_item(description, "learner"));
    const char *learner_params = rkfe_string(rkfe_item(description, "learner_params"));
    kfe_status status = set_params(s, spec, rkfe_item(description, "params"));

    if (!status)
        status = add_kernels(s, spec, rkfe_item(description, "kernels"));
    if (!status && learner)
        status = kfe_spec_set_learner(s->ctx, spec, learner, learner_params);
    return status;
}

kfe_status rkfe_make_spec(rkfe_session *s, SEXP description)
{
    kfe_spec **specs = rkfe_keep(s, sizeof *specs * (size_t)(s->spec_count + 1));
    kfe_status status;

    if (!specs)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (int k = 0; k < s->spec_count; k++)
        specs[k] = s->specs[k];
    specs[s->spec_count] = NULL;
    s->specs = specs;
    s->spec_count++;
    status = kfe_spec_parse(s->ctx, rkfe_string(rkfe_item(description, "method")), NULL, NULL,
                            &specs[s->spec_count - 1]);
    return status ? status : fill_spec(s, specs[s->spec_count - 1], description);
}
