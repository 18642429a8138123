/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of data from files and from memory, and of views. */
#include "header/uses.h"

kfe_status use_files(kfe_context *ctx, void *user)
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
    assert_null(CALL(kfe_data_csr_row_start)(data, 0));
    assert_null(CALL(kfe_data_csr_columns)(data, 0));
    assert_null(CALL(kfe_data_csr_values)(data, 0));
}

static void look_at_data(const kfe_data *data, const kfe_data *real)
{
    int64_t cols = 0;

    assert_int_equal(CALL(kfe_data_cols)(data, 0), COLS);
    assert_int_equal(CALL(kfe_data_is_sparse)(data, 0), 0);
    look_at_rows(data);
    assert_int_equal(CALL(kfe_data_task)(data), KFE_TASK_CLASSES);
    assert_int_equal(CALL(kfe_data_classes)(data), 3);
    assert_string_equal(CALL(kfe_data_class_name)(data, 1), "b");
    assert_int_equal(CALL(kfe_data_class_of)(data, 2), 2);
    assert_string_equal(CALL(kfe_data_column_name)(data, 0, 1), "y");
    assert_non_null(CALL(kfe_data_targets)(real, &cols));
}

kfe_status use_memory(kfe_context *ctx, void *user)
{
    static const char *const names[COLS] = {"x", "y", "z"};
    static const int64_t row_start[] = {0, 1, 2}, rows[] = {5, 0, 5};
    static const int32_t columns[] = {1, 0};
    static const char *const strings[] = {"acgt", "", "tt"};
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_data *sets[6] = {0};
    kfe_data *single = NULL;
    double row[COLS] = {0};

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    assert_int_equal(CALL(kfe_guess_task)(ctx, 1, row, 1), KFE_TASK_REAL);
    TRY(CALL(kfe_data_set_column_names)(ctx, data, 0, names));
    TRY(CALL(kfe_data_set_missing)(ctx, data, "mean"));
    TRY(CALL(kfe_data_wrap_dense_f32)(ctx, 1, 2, 2, (const float[]){1, 2}, &single));
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
    kfe_data_free(single);
    kfe_data_free(data);
    for (int i = 0; i < 6; i++)
        kfe_data_free(sets[i]);
    return status;
}

kfe_status use_views(kfe_context *ctx, void *user)
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
