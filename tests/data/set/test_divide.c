/* SPDX-License-Identifier: Apache-2.0 */
/* Views as columns of one table: which columns, what is refused, and that new data is divided in the same way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "support/model_file.h"
#include "support/support.h"

static const char table[] =
    "label,left_a,left_b,color,right\n"
    "x,1,2,red,3\ny,4,5,blue,6\nx,7,8,red,9\ny,2,1,green,3\nx,5,3,red,1\ny,1,9,blue,2\n";

static kfe_data *read_text(kfe_context *ctx, const char *options)
{
    kfe_data *data = NULL;
    assert_ok(ctx, kfe_data_read(ctx, support_text("t.csv", table), options, &data));
    return data;
}

static void refuse(kfe_context *ctx, kfe_status code, const char *message, const char *options)
{
    kfe_data *data = NULL;
    assert_fails(ctx, code, message, kfe_data_read(ctx, support_text("t.csv", table), options, &data));
    assert_null(data);
}

static void assert_view(const kfe_data *data, int view, const char *name, const char *columns)
{
    char names[256] = "";

    for (int64_t j = 0; j < kfe_data_cols(data, view); j++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", j ? " " : "",
                 kfe_data_column_name(data, view, j));
    assert_string_equal(kfe_data_view_name(data, view), name);
    assert_string_equal(names, columns);
}

static void columns_by_number_name_range_and_prefix(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = read_text(ctx, "label=1,encode=auto,view_columns=L=left_*;R=right\\,color");
    double row[4];

    assert_int_equal(kfe_data_views(data), 2);
    assert_view(data, 0, "L", "left_a left_b");
    assert_view(data, 1, "R", "color=blue color=green color=red right");
    assert_ok(ctx, kfe_data_row(ctx, data, 1, 1, row));
    assert_true(row[0] == 1 && row[1] == 0 && row[2] == 0 && row[3] == 6);
    kfe_data_free(data);
    data = read_text(ctx, "label=1,drop=color,view_columns=a=2;b=5"); /* numbers are those of the file */
    assert_view(data, 0, "a", "left_a");
    assert_view(data, 1, "b", "right");
    kfe_data_free(data);
}

static void what_is_refused(void **state)
{
    kfe_context *ctx = *state;

    refuse(ctx, KFE_EINVAL, "column 3 is in the views 'a' and 'b'",
           "label=1,drop=color,view_columns=a=2-3;b=3-5");
    refuse(ctx, KFE_EINPUT, "view names the column 'middle', which is not there",
           "label=1,drop=color,view_columns=a=middle");
    refuse(ctx, KFE_EINVAL, "view 'a' has no columns", "label=1,drop=color,view_columns=a=1");
    refuse(ctx, KFE_EINVAL, "takes NAME=COLUMNS", "label=1,drop=color,view_columns=2-3");
    refuse(ctx, KFE_EINVAL, "both named 'a'", "label=1,drop=color,view_columns=a=2;a=3");
}

static kfe_model *fit_divided(kfe_context *ctx)
{
    kfe_data *data = read_text(ctx, "label=1,encode=auto,view_columns=L=left_*;R=color\\,right");
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kpca", "dim=2", "linear", &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    kfe_data_free(data);
    return model;
}

static kfe_matrix features_of(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_matrix features = {0};
    assert_ok(ctx, kfe_transform(ctx, model, data, &features));
    return features;
}

static void new_data_is_one_table(void **state)
{
    static const double values[] = {1, 2, 0, 3, 4, 5, 0, 6};
    static const char *const texts[] = {"red", "blue"};
    static const int64_t color = 2;
    kfe_context *ctx = *state;
    kfe_model *model = fit_divided(ctx);
    const char *same = support_text("new.csv", "right,color,left_b,left_a\n3,red,2,1\n6,blue,5,4\n");
    kfe_data *file = NULL;
    kfe_data *memory = NULL;

    assert_ok(ctx, kfe_data_read_for_model(ctx, model, 1, &same, NULL, NULL, &file));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 2, 4, 4, values, &memory));
    assert_ok(ctx, kfe_data_encode_for_model(ctx, model, memory, 1, &color, texts));
    kfe_data *train = read_text(ctx, "label=1,encode=auto,view_columns=L=left_*;R=color\\,right");
    kfe_matrix expected = features_of(ctx, model, train);
    kfe_matrix from_file = features_of(ctx, model, file);
    kfe_matrix from_memory = features_of(ctx, model, memory);
    assert_memory_equal(from_file.values, from_memory.values, 4 * sizeof(double));
    for (int i = 0; i < 4; i++)
        assert_true(fabs(from_file.values[i] - expected.values[i]) < 1e-12);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&from_file);
    kfe_matrix_free(&from_memory);
    kfe_data_free(train);
    kfe_data_free(file);
    kfe_data_free(memory);
    kfe_model_free(model);
}

static void sparse_columns_are_divided(void **state)
{
    static const int64_t starts[] = {0, 2, 3};
    static const int32_t columns[] = {0, 2, 1};
    static const double values[] = {1, 2, 3};
    static const char *const names[] = {"outer", "inner"};
    static const char *const lists[] = {"1,3", "2"};
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    double row[2];

    assert_ok(ctx, kfe_data_wrap_csr(ctx, 2, 3, starts, columns, values, &data));
    assert_ok(ctx, kfe_data_divide(ctx, data, 2, names, lists));
    assert_ok(ctx, kfe_data_row(ctx, data, 0, 0, row));
    assert_true(row[0] == 1 && row[1] == 2);
    assert_ok(ctx, kfe_data_row(ctx, data, 1, 1, row));
    assert_true(row[0] == 3);
    kfe_data_free(data);
}

static void hostile_divisions_are_refused(void **state)
{
    static const char *const divisions[] = {
        "{\"views\":[1,1,2],\"column_names\":[\"a\",\"b\",\"c\"]}",         /* too few */
        "{\"views\":[1,1,2,3],\"column_names\":[\"a\",\"b\",\"c\",\"d\"]}", /* no such view */
        "{\"views\":[1,1,2,-1],\"column_names\":[\"a\",\"b\",\"c\",\"d\"]}",
        "{\"views\":[1,1,2,2]}", /* without names, which the views have */
        "{\"views\":[1,1,2,2],\"column_names\":[\"a\",\"b\",\"c\"]}",
        "{\"views\":[1,1,2,2.5],\"column_names\":[\"a\",\"b\",\"c\",\"d\"]}",
        "{\"views\":{},\"column_names\":[]}",
        "[]",
    };
    kfe_context *ctx = *state;
    kfe_model *model = fit_divided(ctx);
    const char *path = support_path("divided.kfe");

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    for (size_t k = 0; k < sizeof divisions / sizeof *divisions; k++) {
        model_file file = model_file_read(path);
        json_object_set_new(model_file_metadata(&file), "division", json_string(divisions[k]));
        model_file_assert_refused(ctx, &file, divisions[k], "division");
        model_file_free(&file);
    }
    kfe_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(columns_by_number_name_range_and_prefix),
        with_context(what_is_refused),
        with_context(new_data_is_one_table),
        with_context(sparse_columns_are_divided),
        with_context(hostile_divisions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
