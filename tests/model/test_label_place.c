/* SPDX-License-Identifier: Apache-2.0 */
/* Where a model looks for the label of new data, also if an older kfe wrote it, which counted the label of a LIBSVM file as
 * column 1. */
#include "support/model_file.h"
#include "support/support.h"

static const char rows_of_csv[] = "1,0.5,a\n2,0.25,a\n4,3.5,b\n5,3,b\n";
static const char label_left[] = "a,1,0.5\nb,4,3.5\n", label_right[] = "1,0.5,a\n4,3.5,b\n";

static model_file fit_file(kfe_context *ctx, const char *name, const char *text, const char *options)
{
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_data_read(ctx, support_text(name, text), options, &data));
    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "linear", &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    const char *path = support_path("model.kfe");
    assert_ok(ctx, kfe_model_save(ctx, model, path));
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return model_file_read(path);
}

/* Takes out what older versions did not write. */
static void make_older(model_file *f, const char *column)
{
    json_t *metadata = model_file_metadata(f);

    json_object_del(metadata, "label_before");
    json_object_del(metadata, "label_columns");
    json_object_set_new(metadata, "label_column", json_string(column));
}

/* Reads `text` for the model: its first value is `first`, or reading fails for the `reason`. */
static void assert_reads(kfe_context *ctx, const model_file *f, const char *text, const char *options,
                         double first, const char *reason)
{
    const char *path = support_text("new.csv", text);
    kfe_model *model = NULL;
    kfe_data *data = NULL;

    assert_ok(ctx, model_file_load(ctx, f, &model));
    kfe_status status = kfe_data_read_for_model(ctx, model, 1, &path, NULL, options, &data);
    if (reason) {
        assert_fails(ctx, KFE_EINPUT, reason, status);
    } else {
        double row[2];
        assert_ok(ctx, status);
        assert_int_equal(kfe_data_cols(data, 0), 2);
        assert_ok(ctx, kfe_data_row(ctx, data, 0, 0, row));
        assert_true(row[0] == first);
        assert_int_equal(kfe_data_task(data), KFE_TASK_CLASSES);
    }
    kfe_data_free(data);
    kfe_model_free(model);
}

static void a_model_of_sparse_rows_knows_no_place(void **state)
{
    kfe_context *ctx = *state;
    model_file f = fit_file(ctx, "t.svm", "a 1:1 2:0.5\na 1:2 2:0.25\nb 1:4 2:3.5\nb 1:5 2:3\n", NULL);

    assert_string_equal(json_string_value(json_object_get(model_file_metadata(&f), "label_column")), "0");
    assert_reads(ctx, &f, label_right, NULL, 1, NULL);
    assert_reads(ctx, &f, label_left, "label=first", 1, NULL);
    make_older(&f, "1");
    assert_reads(ctx, &f, label_right, NULL, 0, "older kfe");
    assert_reads(ctx, &f, label_left, NULL, 0, "label=first");
    assert_reads(ctx, &f, label_right, "label=last", 1, NULL);
    assert_reads(ctx, &f, label_left, "label=first", 1, NULL);
    model_file_free(&f);
}

static void older_models_of_tables_keep_the_place(void **state)
{
    kfe_context *ctx = *state;
    model_file f = fit_file(ctx, "t.csv", rows_of_csv, NULL);

    make_older(&f, "3");
    assert_reads(ctx, &f, label_right, NULL, 1, NULL);
    make_older(&f, "2");
    assert_reads(ctx, &f, "1,a,0.5\n4,b,3.5\n", NULL, 1, NULL);
    make_older(&f, "1");
    json_object_set_new(model_file_metadata(&f), "label_name",
                        json_string("kind")); /* so it was no LIBSVM file */
    assert_reads(ctx, &f, label_left, NULL, 1, NULL);
    model_file_free(&f);
}

static void impossible_places_are_forgotten(void **state)
{
    static const char *const edits[][2] = {{"label_column", "-1"},
                                           {"label_column", "9"},
                                           {"label_before", "5"},
                                           {"label_before", "-2"},
                                           {"label_columns", "2"}};
    kfe_context *ctx = *state;

    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        model_file f = fit_file(ctx, "t.csv", rows_of_csv, NULL);
        json_object_set_new(model_file_metadata(&f), edits[k][0], json_string(edits[k][1]));
        assert_reads(ctx, &f, label_right, NULL, 1, NULL);
        model_file_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(a_model_of_sparse_rows_knows_no_place),
        with_context(older_models_of_tables_keep_the_place),
        with_context(impossible_places_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
