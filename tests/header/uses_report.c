/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of figures and reports. */
#include <stdlib.h>
#include <string.h>

#include "header/uses.h"

static const char results[] = "{\"splits\": [], \"settings\": ["
                              "{\"setting\": {\"C\": \"1\", \"dim\": \"1\"}, \"metrics\": {\"accuracy\": "
                              "{\"mean\": 0.5, \"sd\": 0.1}}},"
                              "{\"setting\": {\"C\": \"1\", \"dim\": \"2\"}, \"metrics\": {\"accuracy\": "
                              "{\"mean\": 0.7, \"sd\": 0.1}}}]}";

static kfe_status draw(kfe_context *ctx, kfe_report *report, const char *figure, const char *format)
{
    char *text = NULL;
    kfe_status status = CALL(kfe_report_figure)(ctx, report, figure, format, &text);

    kfe_string_free(ctx, text);
    return status;
}

static void look_at_tables(void)
{
    assert_non_null(CALL(kfe_figure)(0)->formula);
    assert_non_null(CALL(kfe_report_option)(0));
}

kfe_status use_report(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_report *report = NULL;
    kfe_result *parsed = NULL;
    char *page = NULL;

    (void)user;
    setenv("KFE_CHARTS", "", 1); /* a page of this sweep needs no charts */
    look_at_tables();
    TRY(wrap_labelled(ctx, &data));
    TRY(kfe_spec_parse(ctx, "pca", "dim=3", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "centroid", NULL));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(CALL(kfe_report_new)(ctx, "x=1,y=2", &report));
    TRY(CALL(kfe_report_set_model)(ctx, report, model));
    TRY(CALL(kfe_report_set_data)(ctx, report, data, data));
    TRY(kfe_result_parse(ctx, results, &parsed));
    TRY(CALL(kfe_report_set_results)(ctx, report, parsed));
    TRY(draw(ctx, report, "scatter", "svg"));
    TRY(draw(ctx, report, "confusion", "csv"));
    TRY(draw(ctx, report, "roc", "json"));
    TRY(draw(ctx, report, "cv-curve", "svg"));
    TRY(CALL(kfe_report_add_fact)(ctx, report, "seed", "0"));
    TRY(CALL(kfe_report_add_warning)(ctx, report, "<look out>"));
    TRY(CALL(kfe_report_html)(ctx, report, &page));
    assert_non_null(strstr(page, "&lt;look out&gt;"));
cleanup:
    kfe_result_free(parsed);
    kfe_string_free(ctx, page);
    CALL(kfe_report_free)(report);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}
