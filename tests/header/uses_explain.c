/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of explanations, inverse transforms and predictions for every number of features. */
#include "header/uses.h"

static kfe_status use_path(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_matrix features = {0};
    kfe_matrix rows = {0};
    kfe_matrix path = {0};
    kfe_output *output = NULL;

    TRY(kfe_transform(ctx, model, data, &features));
    TRY(CALL(kfe_inverse_transform)(ctx, model, &features, &rows));
    assert_int_equal(rows.cols, COLS);
    TRY(CALL(kfe_predict_path)(ctx, model, data, &path));
    assert_int_equal(path.cols, 2);
    TRY(kfe_output_open(ctx, out_path, &output));
    TRY(CALL(kfe_output_path)(ctx, output, model, data, &path));
    TRY(kfe_output_commit(ctx, output));
cleanup:
    kfe_output_free(output);
    kfe_matrix_free(&features);
    kfe_matrix_free(&rows);
    kfe_matrix_free(&path);
    return status;
}

static kfe_status use_probabilities(kfe_context *ctx, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix probabilities = {0};
    kfe_output *output = NULL;
    char *bytes = NULL;
    size_t size = 0;

    TRY(kfe_spec_parse(ctx, "pls", "dim=1,calibration=isotonic", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    TRY(kfe_model_load_bytes(ctx, bytes, size, &loaded));
    assert_string_equal(CALL(kfe_model_calibration)(loaded), "isotonic");
    TRY(CALL(kfe_predict_probabilities)(ctx, loaded, data, &predictions, &probabilities));
    TRY(kfe_output_open(ctx, predictions_path, &output));
    TRY(CALL(kfe_output_probabilities)(ctx, output, loaded, data, &predictions, &probabilities));
    TRY(kfe_output_commit(ctx, output));
cleanup:
    kfe_output_free(output);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&probabilities);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

static kfe_status use_explanation(kfe_context *ctx, const kfe_result *explanation)
{
    kfe_status status = KFE_OK;
    const kfe_table *table = kfe_result_find(explanation, "coefficients");
    char *texts[2] = {0};

    assert_ptr_equal(kfe_result_table(explanation, 1), table);
    assert_string_equal(kfe_table_column(table, 0)->texts[0], "column 1");
    assert_string_equal(kfe_table_column(table, 3)->name, "c");
    assert_string_equal(kfe_table_column(table, 3)->about, "output");
    assert_null(kfe_result_table(explanation, 1000));
    TRY(kfe_result_describe(ctx, explanation, KFE_STYLE_TEXT, &texts[0]));
    TRY(kfe_result_describe(ctx, explanation, KFE_STYLE_JSON, &texts[1]));
    TRY(kfe_result_write(ctx, explanation, predictions_path));
cleanup:
    kfe_string_free(ctx, texts[0]);
    kfe_string_free(ctx, texts[1]);
    return status;
}

static kfe_status use_intervals(kfe_context *ctx, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix sets = {0};
    kfe_output *output = NULL;
    char *bytes = NULL;
    size_t size = 0;

    TRY(kfe_spec_parse(ctx, "pls", "dim=1,conformal=split", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    TRY(kfe_model_load_bytes(ctx, bytes, size, &loaded));
    assert_string_equal(CALL(kfe_model_conformal)(loaded), "split");
    TRY(CALL(kfe_predict_intervals)(ctx, loaded, data, 0.5, &predictions, &sets));
    assert_int_equal(sets.cols, kfe_model_classes(model));
    TRY(kfe_output_open(ctx, predictions_path, &output));
    TRY(CALL(kfe_output_intervals)(ctx, output, loaded, data, &predictions, &sets));
    TRY(kfe_output_commit(ctx, output));
cleanup:
    kfe_output_free(output);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&sets);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

static kfe_status use_diagnostics(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_matrix rows = {0};
    kfe_matrix predictions = {0};
    kfe_output *output = NULL;
    kfe_result *explanation = NULL;
    double limits[KFE_DIAGNOSTICS];

    TRY(CALL(kfe_diagnose)(ctx, model, data, 0.95, &rows, limits));
    assert_int_equal(rows.rows, kfe_data_rows(data));
    assert_int_equal(rows.cols, KFE_DIAGNOSTICS);
    assert_true(rows.values[KFE_DIAGNOSTIC_T2] > 0 && limits[KFE_DIAGNOSTIC_T2] > 0);
    TRY(kfe_predict(ctx, model, data, &predictions, NULL));
    TRY(kfe_output_open(ctx, predictions_path, &output));
    TRY(CALL(kfe_output_diagnostics)(ctx, output, model, data, &predictions, &rows));
    TRY(kfe_output_commit(ctx, output));
    TRY(kfe_explain_refit(ctx, model, data, NULL, "parts=jackknife,folds=2", &explanation));
    kfe_result_free(explanation);
    explanation = NULL;
    TRY(kfe_explain(ctx, model, data, "examples=yes,parts=diagnostics", &explanation));
    assert_int_equal(kfe_result_find(explanation, "diagnostics")->cols, KFE_DIAGNOSTICS + 1);
cleanup:
    kfe_output_free(output);
    kfe_result_free(explanation);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&rows);
    return status;
}

/* The data is its own slave, so that its spectra stay as they are. */
static kfe_status use_transfer(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_model *transferred = NULL;

    TRY(CALL(kfe_transfer)(ctx, model, "pds:window=3,dim=3", data, data, NULL, &transferred));
    assert_int_equal(kfe_model_dim(transferred), kfe_model_dim(model));
cleanup:
    kfe_model_free(transferred);
    return status;
}

/* Importance, support and pre-images of a kernel model. */
static kfe_status use_kernel(kfe_context *ctx, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_result *explanation = NULL;
    kfe_matrix features = {0};
    kfe_matrix rows = {0};

    TRY(kfe_spec_parse(ctx, "kpca", "dim=2", "rbf", &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(kfe_explain(ctx, model, data, "examples=yes,repeats=1", &explanation));
    TRY(kfe_transform(ctx, model, data, &features));
    features.rows = 2;
    TRY(kfe_inverse_transform(ctx, model, &features, &rows));
cleanup:
    kfe_matrix_free(&features);
    kfe_matrix_free(&rows);
    kfe_result_free(explanation);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

/* Fits without each of two views, of a model that was loaded. */
static kfe_status use_refits(kfe_context *ctx, const kfe_data *data)
{
    static const char *const names[] = {"first", "second"};
    const kfe_data *parts[] = {data, data};
    kfe_status status = KFE_OK;
    kfe_data *both = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_result *explanation = NULL;
    char *bytes = NULL;
    size_t size = 0;

    TRY(kfe_data_join_views(ctx, 2, parts, names, &both));
    TRY(kfe_spec_parse(ctx, "kpls", "dim=1", "rbf:gamma=scale", &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    TRY(kfe_fit(ctx, spec, both, &model));
    TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    TRY(kfe_model_load_bytes(ctx, bytes, size, &loaded));
    TRY(CALL(kfe_explain_refit)(ctx, loaded, both, both, "parts=views,repeats=1", &explanation));
    assert_int_equal(kfe_result_find(explanation, "views")->cols, 4);
cleanup:
    kfe_result_free(explanation);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(both);
    return status;
}

kfe_status use_explanations(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_result *explanation = NULL;
    char *bytes = NULL;
    size_t size = 0;

    (void)user;
    assert_string_equal(CALL(kfe_explain_option)(0)->name, "parts");
    TRY(wrap_labelled(ctx, &data));
    TRY(kfe_spec_parse(ctx, "pls", "dim=2", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    TRY(kfe_model_load_bytes(ctx, bytes, size, &loaded));
    TRY(CALL(kfe_explain)(ctx, loaded, data, "examples=yes,parts=linear", &explanation));
    TRY(use_explanation(ctx, explanation));
    TRY(use_path(ctx, loaded, data));
    TRY(use_diagnostics(ctx, loaded, data));
    TRY(use_transfer(ctx, loaded, data));
    TRY(use_probabilities(ctx, data));
    TRY(use_intervals(ctx, data));
    TRY(use_kernel(ctx, data));
    TRY(use_refits(ctx, data));
cleanup:
    kfe_result_free(explanation);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}
