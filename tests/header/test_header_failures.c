/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of include/kfe.h under failing allocations: the uses below call all of them, the sweep fails each
 * allocation in turn, and the last test reads the header and fails for a function that no use calls.
 *
 * A new public function is called in one of the uses, as CALL(kfe_new_function)(ctx, ...).
 */
#include "support/sweep.h"

#include <ctype.h>
#include <stdio.h>

#include "support/fit.h"

enum { ROWS = 12, COLS = 3, MOST_FUNCTIONS = 400 };

/* ---- which functions were called ---- */

static const char *called[MOST_FUNCTIONS];
static int called_count;

static int was_called(const char *name)
{
    for (int i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return 1;
    return 0;
}

static void note_call(const char *name)
{
    if (was_called(name))
        return;
    assert_true(called_count < MOST_FUNCTIONS);
    called[called_count++] = name;
}

#define CALL(function) (note_call(#function), function)
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        if ((status = (call)) != KFE_OK)                                                                     \
            goto cleanup;                                                                                    \
    } while (0)

/* ---- data that the uses share ---- */

static const char *const labels[ROWS] = {"a", "b", "c", "a", "b", "c", "a", "b", "c", "a", "b", "c"};
static const char *const names[COLS] = {"x", "y", "z"};
static double values[ROWS * COLS];
static char csv_path[512], npy_path[512], model_path[512], out_path[512], predictions_path[512];

static int make_files(void **state)
{
    uint64_t random = 3;
    char text[2048] = "";

    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            values[i * COLS + j] = support_normal(&random) + 3 * (i % 3 == j);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%.6f,", values[i * COLS + j]);
            if (j == COLS - 1)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", labels[i]);
        }
    snprintf(csv_path, sizeof csv_path, "%s", support_text("table.csv", text));
    snprintf(npy_path, sizeof npy_path, "%s", support_path("view.npy"));
    snprintf(model_path, sizeof model_path, "%s", support_path("model.kfe"));
    snprintf(out_path, sizeof out_path, "%s", support_path("out.npz"));
    snprintf(predictions_path, sizeof predictions_path, "%s", support_path("predictions.csv"));
    return 0;
}

static kfe_status wrap_labelled(kfe_context *ctx, kfe_data **out)
{
    kfe_status status = CALL(kfe_data_wrap_dense)(ctx, ROWS, COLS, COLS, values, out);
    return status == KFE_OK ? CALL(kfe_data_set_labels)(ctx, *out, labels) : status;
}

/* ---- the context ---- */

static void ignore_log(void *user, kfe_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static void ignore_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
}

static int never_stop(void *user)
{
    (void)user;
    return 0;
}

static kfe_status use_context(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_context *other = NULL;

    (void)user;
    note_call("kfe_context_new_with"); /* the sweep itself */
    TRY(CALL(kfe_context_new)(&other));
    TRY(CALL(kfe_context_set_threads)(ctx, 1));
    TRY(CALL(kfe_context_set_memory)(ctx, 1 << 30));
    TRY(CALL(kfe_context_set_wording)(ctx, KFE_WORDING_C));
    CALL(kfe_context_set_seed)(ctx, 1);
    CALL(kfe_context_on_log)(ctx, ignore_log, NULL);
    CALL(kfe_context_on_progress)(ctx, ignore_progress, NULL);
    CALL(kfe_context_on_cancel)(ctx, never_stop, NULL);
    assert_int_equal(CALL(kfe_context_seed)(ctx), 1);
    assert_int_equal(CALL(kfe_context_memory)(ctx), 1 << 30);
    assert_int_equal(CALL(kfe_context_threads)(ctx), 1);
    assert_string_not_equal(CALL(kfe_version)(), "");
    assert_string_not_equal(CALL(kfe_status_text)(KFE_EINVAL), "");
    TRY(CALL(kfe_checkpoint)(ctx, "testing", 1, 2));
    assert_int_equal(CALL(kfe_fail)(ctx, KFE_EINPUT, "a reason"), KFE_EINPUT);
    assert_string_equal(CALL(kfe_error_message)(ctx), "a reason");
    assert_int_equal(CALL(kfe_error_line)(ctx), 0);
    assert_int_equal(CALL(kfe_error_column)(ctx), 0);
cleanup:
    CALL(kfe_context_free)(other);
    return status;
}

/* ---- data ---- */

static kfe_status use_files(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    const char *const paths[] = {npy_path, csv_path};
    kfe_data *read = NULL;
    kfe_data *views = NULL;
    char name[20];

    (void)user;
    TRY(CALL(kfe_matrix_write)(ctx, &(kfe_matrix){ROWS, COLS, COLS, values, NULL}, npy_path));
    TRY(CALL(kfe_data_read)(ctx, csv_path, "label=last", &read));
    TRY(CALL(kfe_data_read_views)(ctx, 2, paths, NULL, NULL, &views));
    TRY(CALL(kfe_features_write)(ctx, &(kfe_matrix){ROWS, COLS, COLS, values, NULL}, read, npy_path));
    TRY(CALL(kfe_data_write)(ctx, read, out_path));
    TRY(CALL(kfe_output_check)(ctx, out_path));
    TRY(CALL(kfe_output_write)(ctx, out_path, "text", 4));
    assert_int_equal(CALL(kfe_escape)("a", name, sizeof name), 1);
    CALL(kfe_view_name)(csv_path, name, sizeof name);
    assert_string_equal(name, "table");
    assert_int_equal(CALL(kfe_count_typos)("tabel", name), 1);
    assert_string_equal(CALL(kfe_data_view_name)(views, 1), "table");
    assert_int_equal(CALL(kfe_data_rows)(read), ROWS);
    assert_int_equal(CALL(kfe_data_views)(views), 2);
    assert_non_null(CALL(kfe_read_option)(0));
cleanup:
    CALL(kfe_data_free)(read);
    kfe_data_free(views);
    return status;
}

/* Dense rows are not compressed. */
static void look_at_rows(const kfe_data *data)
{
    const int64_t *starts = &(int64_t){1};
    const int32_t *columns = &(int32_t){1};
    const double *entries = &(double){1};

    assert_int_equal(CALL(kfe_data_csr)(data, 0, &starts, &columns, &entries), 0);
    assert_null(starts);
    assert_null(columns);
    assert_null(entries);
}

static void look_at_data(const kfe_data *data, const kfe_data *real)
{
    int64_t cols = 0;

    assert_int_equal(CALL(kfe_data_cols)(data, 0), COLS);
    assert_int_equal(CALL(kfe_data_is_sparse)(data, 0), 0);
    look_at_rows(data);
    assert_int_equal(CALL(kfe_data_task)(data), KFE_TASK_CLASSES);
    assert_int_equal(CALL(kfe_data_class_count)(data), 3);
    assert_string_equal(CALL(kfe_data_class_name)(data, 1), "b");
    assert_int_equal(CALL(kfe_data_class_of)(data, 2), 2);
    assert_string_equal(CALL(kfe_data_column_name)(data, 0, 1), "y");
    assert_non_null(CALL(kfe_data_targets)(real, &cols));
}

static kfe_status use_memory(kfe_context *ctx, void *user)
{
    static const int64_t row_start[] = {0, 1, 2}, rows[] = {5, 0, 5};
    static const int32_t columns[] = {1, 0};
    static const char *const strings[] = {"acgt", "", "tt"};
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_data *sets[6] = {0};
    double row[COLS] = {0};

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    assert_int_equal(CALL(kfe_guess_task)(ctx, 1, row, 1), KFE_TASK_REAL);
    TRY(CALL(kfe_data_set_column_names)(ctx, data, 0, names));
    TRY(CALL(kfe_data_set_missing)(ctx, data, "mean"));
    TRY(CALL(kfe_data_wrap_csr)(ctx, 2, 2, row_start, columns, values, &sets[0]));
    TRY(CALL(kfe_data_from_text)(ctx, 3, strings, &sets[1]));
    TRY(CALL(kfe_data_viola_jones)(ctx, data, 3, 1, &sets[2]));
    TRY(CALL(kfe_data_generate)(ctx, "slabs", "per-class=2", &sets[3]));
    TRY(CALL(kfe_data_take)(ctx, data, 3, rows, &sets[4]));
    TRY(kfe_data_wrap_dense(ctx, ROWS, 1, COLS, values, &sets[5]));
    TRY(CALL(kfe_data_copy_target)(ctx, data, sets[5]));
    TRY(CALL(kfe_data_set_targets)(ctx, sets[5], 1, values));
    TRY(CALL(kfe_data_row)(ctx, data, 0, 1, row));
    look_at_data(data, sets[5]);
cleanup:
    kfe_data_free(data);
    for (int i = 0; i < 6; i++)
        kfe_data_free(sets[i]);
    return status;
}

static kfe_status use_views(kfe_context *ctx, void *user)
{
    static const char *const called_views[] = {"left", "right"};
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_data *joined = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix kernel = {0};
    kfe_misfit misfit;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    TRY(CALL(kfe_data_join_views)(ctx, 2, (const kfe_data *const[]){data, data}, called_views, &joined));
    TRY(CALL(kfe_kernel_matrix)(ctx, "rbf:gamma=scale", data, NULL, &kernel));
    TRY(CALL(kfe_spec_parse)(ctx, "koc", NULL, NULL, &spec));
    TRY(CALL(kfe_spec_set_view_kernel)(ctx, spec, "left", "linear"));
    TRY(CALL(kfe_spec_add_kernel)(ctx, spec, "rbf:gamma=0.1..1/2"));
    TRY(CALL(kfe_spec_check)(ctx, spec, joined, &misfit));
    assert_string_not_equal(CALL(kfe_misfit_text)(KFE_MISFIT_LABELS), "");
    assert_string_equal(CALL(kfe_spec_method)(spec), "koc");
    assert_int_equal(CALL(kfe_spec_predicts)(spec), 0);
    TRY(CALL(kfe_fit)(ctx, spec, joined, &model));
    assert_string_equal(CALL(kfe_model_view_name)(model, 0), "left");
cleanup:
    CALL(kfe_matrix_free)(&kernel);
    CALL(kfe_model_free)(model);
    CALL(kfe_spec_free)(spec);
    kfe_data_free(joined);
    kfe_data_free(data);
    return status;
}

/* ---- tables ---- */

static kfe_status use_tables(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_entry_info entry;
    kfe_guide_row row;
    char *texts[5] = {0};

    (void)user;
    TRY(CALL(kfe_list_generators)(ctx, NULL, &texts[0]));
    TRY(CALL(kfe_list_kernels)(ctx, "rbf", &texts[1]));
    TRY(CALL(kfe_list_methods)(ctx, "koc", &texts[2]));
    TRY(CALL(kfe_list_learners)(ctx, NULL, &texts[3]));
    assert_true(CALL(kfe_generator)(0, &entry) && CALL(kfe_kernel)(0, &entry) &&
                CALL(kfe_method)(1, &entry) && CALL(kfe_learner)(0, &entry) && CALL(kfe_metric)(0, &entry));
    assert_int_equal(CALL(kfe_guide)(0, &row), 1);
    assert_non_null(CALL(kfe_generator_param)(0, 0));
    assert_non_null(CALL(kfe_kernel_param)(1, 0));
    assert_non_null(CALL(kfe_method_param)(1, 0));
    assert_non_null(CALL(kfe_learner_param)(0, 0));
    assert_non_null(CALL(kfe_fit_option)(0));
    assert_non_null(CALL(kfe_evaluate_option)(0));
    assert_non_null(CALL(kfe_cv_option)(0));
    assert_non_null(CALL(kfe_compare_option)(0));
cleanup:
    for (int i = 0; i < 4; i++)
        CALL(kfe_string_free)(ctx, texts[i]);
    return status;
}

/* ---- models ---- */

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
    const double *weights = NULL;
    const double *shift = NULL;
    const double *factor = NULL;
    kfe_part_info part;

    assert_string_equal(CALL(kfe_model_method)(model), "koc");
    assert_string_equal(CALL(kfe_model_learner)(model), "knn");
    assert_int_equal(CALL(kfe_model_task)(model), KFE_TASK_CLASSES);
    assert_int_equal(CALL(kfe_model_outputs)(model), 3);
    assert_true(CALL(kfe_model_dim)(model) > 0);
    assert_true(CALL(kfe_model_support_size)(model) > 0);
    assert_int_equal(CALL(kfe_model_views)(model), 1);
    assert_int_equal(CALL(kfe_model_cols)(model, 0), COLS);
    CALL(kfe_model_label_column)(model);
    assert_int_equal(CALL(kfe_model_kernels)(model), 1);
    assert_int_equal(CALL(kfe_model_scaling)(model, 0, &shift, &factor), 1);
    assert_int_equal(kfe_model_scaling(model, 1, &shift, &factor), 0);
    assert_null(shift);
    assert_int_equal(CALL(kfe_model_takes_strings)(model, 0), 0);
    assert_int_equal(CALL(kfe_model_class_count)(model), 3);
    assert_string_equal(CALL(kfe_model_class_name)(model, 0), "a");
    assert_null(CALL(kfe_model_column_name)(model, 0, 0));
    assert_non_null(CALL(kfe_model_coefficients)(model, &count));
    CALL(kfe_model_offset)(model);
    CALL(kfe_model_support_index)(model);
    assert_int_equal(CALL(kfe_model_part)(model, 0, &part), 0);
    assert_int_equal(CALL(kfe_model_gate)(model, &weights, &weights), 0);
    assert_non_null(CALL(kfe_model_record)(model, CALL(kfe_model_record_name)(model, 0), &count));
}

static kfe_status use_predictions(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_matrix features = {0};
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    char *texts[5] = {0};
    double zeros[COLS] = {0};
    double into[8];
    kfe_rows rows = {zeros, KFE_F64, 1, COLS, COLS};

    TRY(CALL(kfe_transform)(ctx, model, data, &features));
    TRY(CALL(kfe_predict)(ctx, model, data, &predictions, &outputs));
    TRY(CALL(kfe_transform_into)(ctx, model, &rows, into));
    TRY(CALL(kfe_predict_into)(ctx, model, &rows, into, NULL));
    TRY(CALL(kfe_class_scores)(ctx, model, &outputs, &scores));
    TRY(CALL(kfe_evaluate)(ctx, model, data, NULL, KFE_STYLE_TEXT, &texts[0]));
    TRY(CALL(kfe_evaluate)(ctx, model, data, "metrics=auc;f1,positive=b", KFE_STYLE_JSON, &texts[1]));
    TRY(CALL(kfe_model_describe)(ctx, model, KFE_STYLE_TEXT, &texts[2]));
    TRY(CALL(kfe_model_describe)(ctx, model, KFE_STYLE_JSON, &texts[3]));
    TRY(CALL(kfe_model_kernel)(ctx, model, 0, &texts[4]));
    assert_true(strlen(texts[4]) > 0);
    TRY(CALL(kfe_predictions_write)(ctx, model, NULL, &predictions, &scores, predictions_path));
cleanup:
    for (int i = 0; i < 5; i++)
        kfe_string_free(ctx, texts[i]);
    kfe_matrix_free(&features);
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&outputs);
    kfe_matrix_free(&scores);
    return status;
}

static kfe_status use_model(kfe_context *ctx, void *user)
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
    TRY(use_predictions(ctx, models[1], data));
    TRY(CALL(kfe_model_save)(ctx, models[0], model_path));
    TRY(CALL(kfe_model_load)(ctx, model_path, &models[2]));
    look_at_model(models[2]);
    TRY(CALL(kfe_data_read_for_model)(ctx, models[2], 1, (const char *const[]){csv_path}, NULL, NULL, &read));
    assert_int_equal(kfe_data_cols(read, 0), COLS);
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

static kfe_status use_rule(kfe_context *ctx, void *user)
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

/* ---- comparing ---- */

static kfe_status use_metrics(kfe_context *ctx, void *user)
{
    static const int32_t truth[] = {0, 1, 2, 0, 1, 2};
    static const double scores[] = {3, 1, 2, 1, 2, 2, 1, 1, 0, 4, 4, 4, 0, 9, 0, 3, 2, 1};
    kfe_status status = KFE_OK;
    double out = 0;
    double p = 0;

    (void)user;
    TRY(CALL(kfe_metric_classes)(ctx, "auc", 6, 3, 0, truth, truth, scores, &out));
    TRY(CALL(kfe_metric_values)(ctx, "r2", 3, 2, scores, scores + 6, &out));
    TRY(CALL(kfe_paired_test)(ctx, 6, scores, scores + 6, 0.1, &out, &p));
cleanup:
    return status;
}

static void look_at_splits(const kfe_splits *splits)
{
    int64_t train = 0;
    int64_t test = 0;

    assert_int_equal(CALL(kfe_splits_count)(splits), 2);
    assert_non_null(CALL(kfe_splits_train)(splits, 0, &train));
    assert_non_null(CALL(kfe_splits_test)(splits, 0, &test));
    assert_int_equal(train + test, ROWS);
}

/* Groups by hand and from a column, and splits of the user. */
static kfe_status use_groups(kfe_context *ctx, const kfe_splits *splits)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_splits *grouped = NULL;
    int64_t groups[ROWS];
    int64_t train = 0;
    int64_t test = 0;
    const int64_t *train_rows = kfe_splits_train(splits, 0, &train);
    const int64_t *test_rows = kfe_splits_test(splits, 0, &test);

    for (int i = 0; i < ROWS; i++)
        groups[i] = i / 2;
    TRY(wrap_labelled(ctx, &data));
    TRY(CALL(kfe_data_set_groups)(ctx, data, groups));
    TRY(kfe_splits_make(ctx, data, "folds=2", &grouped));
    TRY(CALL(kfe_data_take_groups)(ctx, data, "1"));
    TRY(CALL(kfe_data_add_split)(ctx, data, train, train_rows, test, test_rows));
cleanup:
    kfe_splits_free(grouped);
    kfe_data_free(data);
    return status;
}

static kfe_status use_search(kfe_context *ctx, void *user)
{
    static const char *const grids[] = {"neighbors=1,3"};
    static const char *const kernels[] = {"linear", "rbf"};
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *best = NULL;
    kfe_splits *splits = NULL;
    char *texts[3] = {0};
    int64_t settings = 0;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    TRY(kfe_spec_parse(ctx, "koc", "dim=1", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "knn", NULL));
    TRY(CALL(kfe_spec_check)(ctx, spec, data, NULL));
    assert_string_equal(CALL(kfe_misfit_text)(KFE_MISFIT_VIEWS), "takes one view");
    assert_string_equal(CALL(kfe_spec_method)(spec), "koc");
    assert_true(CALL(kfe_spec_predicts)(spec));
    TRY(CALL(kfe_grids_check)(ctx, 1, (const kfe_spec *const[]){spec}, 1, grids));
    TRY(CALL(kfe_cv_check)(ctx, spec, 1, grids, "folds=2", &settings));
    TRY(CALL(kfe_grids_check)(ctx, 1, (const kfe_spec *const[]){spec}, 1, grids));
    TRY(CALL(kfe_splits_make)(ctx, data, "folds=2", &splits));
    look_at_splits(splits);
    TRY(use_groups(ctx, splits));
    TRY(CALL(kfe_measure)(ctx, data, 2, kernels, NULL, KFE_STYLE_JSON, &texts[0]));
    TRY(CALL(kfe_cross_validate)(ctx, spec, 1, grids, data, "folds=2,inner-folds=2", KFE_STYLE_JSON, &best,
                                 &texts[1]));
    TRY(CALL(kfe_compare)(ctx, 2, (const kfe_spec *const[]){spec, spec}, 0, NULL, data, "folds=2",
                          KFE_STYLE_TEXT, &texts[2]));
cleanup:
    for (int i = 0; i < 3; i++)
        kfe_string_free(ctx, texts[i]);
    CALL(kfe_splits_free)(splits);
    kfe_model_free(best);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static kfe_status use_tune(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_model *best = NULL;
    char *text = NULL;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    assert_string_equal(CALL(kfe_tune_option)(0)->name, "time");
    TRY(CALL(kfe_tune)(ctx, data, "time=none,trials=1,folds=2", KFE_STYLE_JSON, &best, &text));
cleanup:
    kfe_string_free(ctx, text);
    kfe_model_free(best);
    kfe_data_free(data);
    return status;
}

/* ---- the sweeps ---- */

typedef struct header_use {
    const char *name;
    support_use use;
    int64_t harmless; /* allocations that the library gets along without */
    int64_t step;     /* fail every step-th allocation only; 0: each */
} header_use;

static header_use uses[] = {
    {"context", use_context, 0, 0}, {"files", use_files, 2, 0},     {"memory", use_memory, 0, 0},
    {"views", use_views, 0, 0},     {"tables", use_tables, 0, 0},   {"model", use_model, 1, 0},
    {"rule", use_rule, 0, 0},       {"metrics", use_metrics, 0, 0}, {"search", use_search, 0, 0},
    {"tune", use_tune, 0, 23},
};

static void test_use(void **state)
{
    const header_use *one = *state;

    support_sweep_run(
        &(support_sweep){.name = one->name, .use = one->use, .harmless = one->harmless, .step = one->step});
}

/* ---- nothing is left out ---- */

static char *read_header(void)
{
    FILE *file = fopen(KFE_HEADER, "r");
    char *text = calloc(1 << 20, 1);

    if (!file || fread(text, 1, (1 << 20) - 1, file) == 0)
        fail_msg("cannot read %s", KFE_HEADER);
    fclose(file);
    return text;
}

/* The function that the declaration beginning here declares: the word before its first parenthesis. */
static void declared_name(const char *declaration, char *name, size_t size)
{
    const char *end = strchr(declaration, '(');
    const char *begin = end;

    assert_non_null(end);
    while (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')
        begin--;
    snprintf(name, size, "%.*s", (int)(end - begin), begin);
}

static void test_every_function_is_called(void **state)
{
    char *text = read_header();
    char missing[4096] = "";
    int functions = 0;

    (void)state;
    for (char *at = text; (at = strstr(at, "\nKFE_API ")); at++) {
        char name[100];
        declared_name(at, name, sizeof name);
        functions++;
        if (!was_called(name))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", name);
    }
    free(text);
    print_message("%d public functions, %d called\n", functions, called_count);
    assert_true(functions > 100);
    if (missing[0])
        fail_msg("functions of kfe.h that no sweep calls:%s", missing);
}

int main(void)
{
    enum { USES = sizeof uses / sizeof *uses };
    struct CMUnitTest tests[USES + 1];

    for (size_t i = 0; i < USES; i++)
        tests[i] = (struct CMUnitTest){uses[i].name, test_use, NULL, NULL, &uses[i]};
    tests[USES] = (struct CMUnitTest)cmocka_unit_test(test_every_function_is_called);
    return _cmocka_run_group_tests("header", tests, USES + 1, make_files, NULL);
}
