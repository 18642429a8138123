/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of specs, fits, models and predictions. */
#include "header/uses.h"

/* On a copy, whose columns have no names yet. */
static kfe_status use_column_names(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    const char *names[COLS] = {"first", "second"};
    kfe_model *copy = NULL;
    char *bytes = NULL;
    size_t size = 0;

    TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    TRY(kfe_model_load_bytes(ctx, bytes, size, &copy));
    TRY(CALL(kfe_model_set_column_names)(ctx, copy, 0, names));
    assert_string_equal(kfe_model_column_name(copy, 0, 1), "second");
    assert_int_equal(kfe_model_set_column_names(ctx, copy, 0, names), KFE_EINVAL);
    assert_int_equal(kfe_model_set_column_names(ctx, copy, 1, names), KFE_EINVAL);
cleanup:
    kfe_string_free(ctx, bytes);
    kfe_model_free(copy);
    return status;
}

static double dot_product(void *user, const double *x, const double *y, int64_t cols)
{
    double sum = 0;

    (void)user;
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    return sum;
}

static void look_at_model(const kfe_model *model)
{
    int64_t count = 0;

    assert_string_equal(CALL(kfe_model_method)(model), "koc");
    assert_string_equal(CALL(kfe_model_learner)(model), "knn");
    assert_null(CALL(kfe_model_plain_learner)(model));
    assert_int_equal(CALL(kfe_model_task)(model), KFE_TASK_CLASSES);
    assert_int_equal(CALL(kfe_model_outputs)(model), 3);
    assert_true(CALL(kfe_model_dim)(model) > 0);
    assert_true(CALL(kfe_model_support_size)(model) > 0);
    assert_int_equal(CALL(kfe_model_views)(model), 1);
    assert_int_equal(CALL(kfe_model_cols)(model, 0), COLS);
    CALL(kfe_model_label_column)(model);
    assert_int_equal(CALL(kfe_model_kernels)(model), 1);
    assert_int_equal(CALL(kfe_model_prepared_cols)(model, 0), COLS);
    assert_null(CALL(kfe_model_prepared_name)(model, 0, 0));
    CALL(kfe_model_shift)(model, 0);
    CALL(kfe_model_factor)(model, 0);
    assert_null(kfe_model_shift(model, 1));
    assert_null(kfe_model_factor(model, 1));
    assert_int_equal(CALL(kfe_model_takes_strings)(model, 0), 0);
    assert_int_equal(CALL(kfe_model_classes)(model), 3);
    assert_string_equal(CALL(kfe_model_class_name)(model, 0), "a");
    assert_null(CALL(kfe_model_column_name)(model, 0, 0));
    assert_non_null(CALL(kfe_model_coefficients)(model, &count));
    CALL(kfe_model_offset)(model);
    CALL(kfe_model_support_index)(model);
    assert_null(CALL(kfe_model_part)(model, 0));
    assert_null(CALL(kfe_model_gate_weights)(model, &count));
    assert_int_equal(count, 0);
    assert_null(CALL(kfe_model_gate_offset)(model));
    assert_non_null(CALL(kfe_model_record)(model, CALL(kfe_model_record_name)(model, 0), &count));
}

static kfe_status use_predictions(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_result *found[2] = {NULL, NULL};
    kfe_matrix features = {0};
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    char *texts[6] = {0};
    double zeros[COLS] = {0};
    double into[8];
    kfe_rows rows = {zeros, KFE_F64, 1, COLS, COLS};

    TRY(CALL(kfe_transform)(ctx, model, data, &features));
    TRY(CALL(kfe_predict)(ctx, model, data, &predictions, &outputs));
    TRY(CALL(kfe_transform_into)(ctx, model, &rows, into));
    TRY(CALL(kfe_predict_into)(ctx, model, &rows, into, NULL));
    TRY(CALL(kfe_class_scores)(ctx, model, &outputs, &scores));
    TRY(CALL(kfe_evaluate)(ctx, model, data, NULL, &found[0]));
    TRY(CALL(kfe_evaluate)(ctx, model, data, "metrics=auc;f1,positive=b,curves=yes", &found[1]));
    for (int i = 0; i < 2; i++)
        TRY(use_result(ctx, found[i]));
    TRY(CALL(kfe_model_describe)(ctx, model, KFE_STYLE_TEXT, &texts[2]));
    TRY(CALL(kfe_model_describe)(ctx, model, KFE_STYLE_JSON, &texts[3]));
    TRY(CALL(kfe_model_kernel)(ctx, model, 0, &texts[4]));
    TRY(CALL(kfe_model_prepare)(ctx, model, 0, &texts[5]));
    assert_true(strlen(texts[4]) > 0);
    TRY(CALL(kfe_predictions_write)(ctx, model, NULL, &predictions, &scores, predictions_path));
cleanup:
    for (int i = 0; i < 2; i++)
        kfe_result_free(found[i]);
    for (int i = 0; i < 6; i++)
        kfe_string_free(ctx, texts[i]);
    kfe_matrix_free(&features);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&outputs);
    kfe_matrix_free(&scores);
    return status;
}

/* Streams and outputs take the context that they were made with. */
static void refuse_other_context(kfe_data_stream *stream, kfe_output *output, const kfe_model *model,
                                 const kfe_matrix *features, const kfe_data *rows)
{
    kfe_context *other = NULL;
    kfe_data *part = NULL;

    assert_int_equal(kfe_context_new(&other), KFE_OK);
    assert_int_equal(kfe_data_stream_next(other, stream, &part), KFE_EINVAL);
    assert_int_equal(kfe_output_features(other, output, model, features, rows), KFE_EINVAL);
    assert_int_equal(kfe_output_commit(other, output), KFE_EINVAL);
    kfe_context_free(other);
}

static kfe_status use_feature_name(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    char *name = NULL;

    TRY(CALL(kfe_model_feature_name)(ctx, model, 0, &name));
    assert_string_equal(name, "koc1");
    assert_int_equal(kfe_model_feature_name(ctx, model, -1, &(char *){NULL}), KFE_EINVAL);
cleanup:
    kfe_string_free(ctx, name);
    return status;
}

/* Rows that are read, answered and written in parts. */
static kfe_status use_parts(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_data_stream *stream = NULL;
    kfe_data *part = NULL;
    kfe_output *outputs[2] = {0};
    kfe_matrix features = {0};
    kfe_matrix predictions = {0};

    TRY(CALL(kfe_data_stream_open)(ctx, model, 1, (const char *const[]){csv_path}, NULL, NULL, &stream));
    TRY(CALL(kfe_data_stream_next)(ctx, stream, &part));
    assert_int_equal(kfe_data_rows(part), ROWS);
    TRY(CALL(kfe_output_open)(ctx, predictions_path, &outputs[0]));
    assert_true(CALL(kfe_output_takes_parts)(outputs[0]));
    TRY(kfe_transform(ctx, model, part, &features));
    TRY(CALL(kfe_output_features)(ctx, outputs[0], model, &features, part));
    TRY(CALL(kfe_features_write)(ctx, model, &features, part, out_path));
    features.cols--;
    assert_int_equal(kfe_output_features(ctx, outputs[0], model, &features, part), KFE_EINVAL);
    features.cols++;
    TRY(use_feature_name(ctx, model));
    TRY(kfe_output_features(ctx, outputs[0], model, &features, part));
    refuse_other_context(stream, outputs[0], model, &features, part);
    TRY(CALL(kfe_output_commit)(ctx, outputs[0]));
    TRY(kfe_output_open(ctx, out_path, &outputs[1]));
    TRY(kfe_predict(ctx, model, part, &predictions, NULL));
    TRY(CALL(kfe_output_predictions)(ctx, outputs[1], model, part, &predictions, NULL));
    kfe_data_free(part);
    part = NULL;
    TRY(kfe_data_stream_next(ctx, stream, &part));
    assert_null(part);
cleanup:
    for (int i = 0; i < 2; i++)
        CALL(kfe_output_free)(outputs[i]);
    kfe_matrix_free(&features);
    kfe_matrix_free(&predictions);
    kfe_data_free(part);
    CALL(kfe_data_stream_close)(stream);
    return status;
}

/* A user's function cannot be exported; a kernel of the library can. */
static kfe_status use_export(kfe_context *ctx, const kfe_data *data, const kfe_model *refused)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    char *bytes = NULL;
    size_t size = 0;

    TRY(kfe_spec_parse(ctx, "koc", "dim=2", NULL, &spec));
    TRY(kfe_fit(ctx, spec, data, &model));
    TRY(CALL(kfe_model_export_onnx)(ctx, model, "precision=double", model_path));
    TRY(CALL(kfe_model_export_onnx_bytes)(ctx, model, NULL, &bytes, &size));
    assert_true(size > 100);
    assert_int_equal(kfe_model_export_onnx(ctx, refused, NULL, model_path), KFE_EINPUT);
cleanup:
    kfe_string_free(ctx, bytes);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

kfe_status use_model(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *models[3] = {0};
    kfe_data *read = NULL;
    char *bytes = NULL;
    size_t size = 0;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    TRY(kfe_spec_parse(ctx, "koc", "dim=2", NULL, &spec));
    TRY(CALL(kfe_spec_add_user_kernel)(ctx, spec, "dot", dot_product, NULL));
    TRY(CALL(kfe_spec_set_learner)(ctx, spec, "knn", NULL));
    TRY(CALL(kfe_spec_set)(ctx, spec, "neighbors", "3"));
    TRY(kfe_fit(ctx, spec, data, &models[0]));
    TRY(CALL(kfe_model_save_bytes)(ctx, models[0], &bytes, &size));
    TRY(CALL(kfe_model_load_bytes)(ctx, bytes, size, &models[1]));
    TRY(CALL(kfe_model_bind_kernel)(ctx, models[1], "dot", dot_product, NULL));
    TRY(use_column_names(ctx, models[1]));
    TRY(use_predictions(ctx, models[1], data));
    TRY(CALL(kfe_model_save)(ctx, models[0], model_path));
    TRY(CALL(kfe_model_load)(ctx, model_path, &models[2]));
    look_at_model(models[2]);
    TRY(CALL(kfe_data_read_for_model)(ctx, models[2], 1, (const char *const[]){csv_path}, NULL, NULL, &read));
    assert_int_equal(kfe_data_cols(read, 0), COLS);
    TRY(CALL(kfe_model_bind_kernel)(ctx, models[2], "dot", dot_product, NULL));
    TRY(use_parts(ctx, models[2]));
    TRY(use_export(ctx, data, models[2]));
cleanup:
    kfe_data_free(read);
    kfe_string_free(ctx, bytes);
    for (int i = 0; i < 3; i++)
        kfe_model_free(models[i]);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

/* The direction of the first target's residual. */
static kfe_status follow_residual(void *user, const kfe_deflation_state *state, double *direction)
{
    (void)user;
    for (int64_t i = 0; i < state->examples; i++)
        direction[i] = state->residual[i * state->targets];
    return KFE_OK;
}

kfe_status use_rule(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    TRY(CALL(kfe_spec_new_rule)(ctx, "mine", follow_residual, NULL, "dim=2", "rbf:gamma=1", &spec));
    TRY(kfe_fit(ctx, spec, data, &model));
cleanup:
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

/* The labels as a column of categories, and two views of one table, in training and in new data. */
kfe_status use_categories(kfe_context *ctx, void *user)
{
    static const int64_t column = 1;
    static const char *const views[] = {"left", "right"};
    static const char *const columns[] = {"1-2", "3"};
    kfe_matrix features = {0};
    kfe_status status = KFE_OK;
    int64_t count = 0;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    (void)user;
    TRY(wrap_labelled(ctx, &train));
    TRY(wrap_labelled(ctx, &test));
    TRY(CALL(kfe_data_encode)(ctx, train, 1, &column, labels));
    TRY(CALL(kfe_data_divide)(ctx, train, 2, views, columns));
    TRY(kfe_spec_parse(ctx, "kpca", NULL, "linear", &spec));
    TRY(kfe_fit(ctx, spec, train, &model));
    assert_int_equal(CALL(kfe_model_division)(model, &count)[2], 1);
    assert_int_equal(count, COLS);
    TRY(CALL(kfe_data_encode_for_model)(ctx, model, test, 1, &column, labels));
    TRY(kfe_transform(ctx, model, test, &features));
    assert_int_equal(CALL(kfe_model_source_cols)(model, 0), 2);
    assert_string_equal(CALL(kfe_model_categories)(model, 0, column, &count)[2], "c");
    assert_int_equal(count, 3);
cleanup:
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(test);
    kfe_data_free(train);
    return status;
}
