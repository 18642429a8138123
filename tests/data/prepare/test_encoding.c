/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of categories: which columns, what they become, what new data gets, what a model file may say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "support/fit.h"
#include "support/model_file.h"
#include "support/read.h"
#include "support/sweep.h"

static const char colors[] = "x,color,kind\n1,red,a\n2,blue,b\n0,red,a\n4,green,b\n1,blue,a\n3,red,b\n";

static void assert_names(const kfe_data *data, const char *expected)
{
    char names[256] = "";

    for (int64_t j = 0; j < kfe_data_cols(data, 0); j++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", j ? " " : "",
                 kfe_data_column_name(data, 0, j));
    assert_string_equal(names, expected);
}

static void categories_become_sorted_columns(void **state)
{
    static const char *const row[] = {"red", "blue", "red", "green", "blue", "red"};
    static const char *const sorted[] = {"blue", "green", "red"};
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, colors, "encode=auto");

    assert_names(data, "x color=blue color=green color=red");
    for (int64_t i = 0; i < 6; i++)
        for (int64_t k = 0; k < 3; k++)
            assert_true(support_value_at(data, i, 1 + k) == (strcmp(row[i], sorted[k]) == 0));
    assert_true(support_value_at(data, 3, 0) == 4);
    kfe_data_free(data);
}

static void columns_are_listed_by_name_and_number(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, "k,x,kind\n10,1,a\n9,2,b\n10.0,3,a\n", "encode=1");
    kfe_data *refused = NULL;

    assert_names(data, "k=9 k=10 x"); /* equal numbers are one category, sorted by value */
    assert_true(support_value_at(data, 0, 1) == 1 && support_value_at(data, 1, 0) == 1 &&
                support_value_at(data, 2, 1) == 1);
    kfe_data_free(data);
    data = support_read_text(ctx, colors, "encode=col*");
    assert_names(data, "x color=blue color=green color=red");
    kfe_data_free(data);
    assert_fails(ctx, KFE_EINPUT,
                 "encode names the column 'colour', which is not there (did you mean 'color'?)",
                 kfe_data_read(ctx, support_text("t.csv", colors), "encode=colour", &refused));
    assert_fails(ctx, KFE_EINVAL, "encode names column 3, which is the label",
                 kfe_data_read(ctx, support_text("t.csv", colors), "encode=kind", &refused));
    assert_fails(ctx, KFE_EINVAL, "encode names column 1, which is left out",
                 kfe_data_read(ctx, support_text("t.csv", colors), "encode=1,drop=x", &refused));
    assert_fails(ctx, KFE_EINPUT, "encode the column as categories (encode)",
                 kfe_data_read(ctx, support_text("t.csv", colors), NULL, &refused));
}

static void a_file_without_header_needs_none(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, strchr(colors, '\n') + 1, "encode=auto");

    assert_int_equal(kfe_data_rows(data), 6);
    assert_int_equal(kfe_data_cols(data, 0), 4);
    assert_null(kfe_data_column_name(data, 0, 0));
    kfe_data_free(data);
}

static void missing_categories_follow_missing(void **state)
{
    static const char gaps[] = "color,x,kind\nred,1,a\n,2,b\nblue,3,a\nred,NA,b\n\"NA\",1,a\n";
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_fails(ctx, KFE_EINPUT, "t.csv:3:1: field 1 ('color') is missing",
                 kfe_data_read(ctx, support_text("t.csv", gaps), "encode=color", &data));
    data = support_read_text(ctx, gaps, "encode=color,missing=drop");
    assert_int_equal(kfe_data_rows(data), 3);
    assert_names(data, "color=NA color=blue color=red x"); /* what is quoted is a text */
    kfe_data_free(data);
    data = support_read_text(ctx, gaps, "encode=color,missing=mean"); /* the shares of the categories */
    assert_true(support_value_at(data, 1, 0) == 0.25 && support_value_at(data, 1, 1) == 0.25 &&
                support_value_at(data, 1, 2) == 0.5);
    kfe_data_free(data);
    for (int k = 0; k < 2;
         k++) { /* the most frequent category, although none has more than half of the rows */
        data = support_read_text(ctx, gaps,
                                 k ? "encode=color,missing=median" : "encode=color,missing=most-frequent");
        assert_true(support_value_at(data, 1, 0) == 0 && support_value_at(data, 1, 1) == 0 &&
                    support_value_at(data, 1, 2) == 1);
        kfe_data_free(data);
    }
}

static void what_cannot_be_encoded_is_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    char many[32 * 1024] = "name,x,kind\n";

    for (int i = 0; i < 1001; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "n%d,%d,%c\n", i, i % 7, "ab"[i % 2]);
    assert_fails(ctx, KFE_EINPUT, "column 1 ('name') has 1001 different texts, but at most 1000",
                 kfe_data_read(ctx, support_text("t.csv", many), "encode=auto", &data));
    assert_fails(ctx, KFE_EINVAL, "libsvm files have no columns of text",
                 kfe_data_read(ctx, support_text("t.svm", "1 1:2\n2 1:3\n"), "encode=auto", &data));
    assert_fails(
        ctx, KFE_EINVAL, "not for examples that are strings",
        kfe_data_read(ctx, support_text("t.csv", "abc,1\nabd,2\n"), "encode=auto,content=strings", &data));
    assert_fails(ctx, KFE_EINPUT, "column 1 ('c') has no value in any row, so there is nothing to encode",
                 kfe_data_read(ctx, support_text("t.csv", "c,x,kind\n,1,a\n,2,b\n"),
                               "encode=c,missing=mean,header=yes", &data));
}

/* A model of the colours, for new data. */
static kfe_model *fit_colors(kfe_context *ctx, const char *options)
{
    kfe_data *data = support_read_text(ctx, colors, options);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    kfe_data_free(data);
    return model;
}

static void assert_features(kfe_context *ctx, const kfe_model *model, const char *text,
                            const double *expected, int64_t rows)
{
    kfe_data *data = NULL;
    kfe_matrix features = {0};
    const char *path = support_text("new.csv", text);

    assert_ok(ctx, kfe_data_read_for_model(ctx, model, 1, &path, NULL, NULL, &data));
    assert_ok(ctx, kfe_transform(ctx, model, data, &features));
    assert_int_equal(features.rows, rows);
    for (int64_t i = 0; i < rows * features.cols; i++)
        assert_true(features.values[i] == expected[i]);
    kfe_matrix_free(&features);
    kfe_data_free(data);
}

static void new_data_gets_the_categories_of_the_model(void **state)
{
    static const double known[] = {7, 1, 0, 0, 8, 0, 0, 1};
    static const double unseen[] = {7, 0, 0, 0, 8, 0, 1, 0, 9, 0, 0, 0};
    kfe_context *ctx = *state;
    kfe_model *model = fit_colors(ctx, "encode=auto");

    support_catch_log(ctx);
    assert_features(ctx, model, "color,x\nblue,7\nred,8\n", known, 2);
    assert_null(strstr(support_log(), "category"));
    assert_features(ctx, model, "color,other,x\npink,1,7\ngreen,2,8\nteal,3,9\n", unseen, 3);
    assert_non_null(strstr(support_log(),
                           "2 cells hold a category that the training data did not have, the first "
                           "'pink' in column 2 ('color'); encoded as zeros"));
    kfe_model_free(model);
}

static void memory_is_encoded_as_files_are(void **state)
{
    static const double values[] = {1, 0, 2, 0, 0, 0, 4, 0, 1, 0, 3, 0};
    static const char *const texts[] = {"red", "blue", "red", "green", "blue", "red"};
    static const int64_t column = 1;
    static const int64_t wrong = 2;
    static const char *const names[] = {"x", "color"};
    kfe_context *ctx = *state;
    kfe_model *model = fit_colors(ctx, "encode=auto");
    kfe_data *file = support_read_text(ctx, colors, "encode=auto");
    kfe_data *data = NULL;
    kfe_data *other = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, 6, 2, 2, values, &data));
    assert_ok(ctx, kfe_data_set_column_names(ctx, data, 0, names));
    assert_fails(ctx, KFE_EINVAL, "encode: columns are numbers from 0 to 1",
                 kfe_data_encode(ctx, data, 1, &wrong, texts));
    assert_ok(ctx, kfe_data_encode(ctx, data, 1, &column, texts));
    assert_names(data, "x color=blue color=green color=red");
    assert_memory_equal(data->views[0].table.values, file->views[0].table.values, 24 * sizeof(double));
    assert_fails(ctx, KFE_EINVAL, "already encoded", kfe_data_encode(ctx, data, 1, &column, texts));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 6, 2, 2, values, &other));
    assert_fails(ctx, KFE_EINPUT, "give the same columns",
                 kfe_data_encode_for_model(ctx, model, other, 0, NULL, NULL));
    assert_ok(ctx, kfe_data_encode_for_model(ctx, model, other, 1, &column, texts));
    assert_memory_equal(other->views[0].table.values, file->views[0].table.values, 24 * sizeof(double));
    kfe_data_free(other);
    kfe_data_free(data);
    kfe_data_free(file);
    kfe_model_free(model);
}

/* Rows of weight 0 come first and last; the middle rows alone must give the same table, names and gaps. */
static void rows_of_weight_zero_make_no_category(void **state)
{
    static const double values[] = {1, 0, 5, 0, 2, 0, 0, 0, 4, 0, 1, 0, 3, 0, 9, 0};
    static const char *const texts[] = {"teal", NULL, "red", NULL, "blue", "green", "red", "mauve"};
    static const double weights[] = {0, 0, 2, 1, 1, 3, 1, 0};
    static const int64_t column = 1;
    static const char *const names[] = {"x", "color"};
    kfe_context *ctx = *state;

    for (int order = 0; order < 2; order++) {
        kfe_data *whole = NULL;
        kfe_data *middle = NULL;
        assert_ok(ctx, kfe_data_wrap_dense(ctx, 8, 2, 2, values, &whole));
        assert_ok(ctx, kfe_data_wrap_dense(ctx, 5, 2, 2, values + 4, &middle));
        assert_ok(ctx, kfe_data_set_column_names(ctx, whole, 0, names));
        assert_ok(ctx, kfe_data_set_column_names(ctx, middle, 0, names));
        if (order == 1)
            assert_ok(ctx, kfe_data_set_weights(ctx, whole, weights));
        assert_ok(ctx, kfe_data_encode(ctx, whole, 1, &column, texts));
        assert_ok(ctx, kfe_data_encode(ctx, middle, 1, &column, texts + 2));
        assert_ok(ctx, kfe_data_set_missing(ctx, whole, "most-frequent"));
        assert_ok(ctx, kfe_data_set_missing(ctx, middle, "most-frequent"));
        if (order == 0)
            assert_ok(ctx, kfe_data_set_weights(ctx, whole, weights));
        assert_names(whole, "x color=blue color=green color=red");
        assert_int_equal(whole->views[0].encoding.columns[0].count, 3);
        const kfe_i_view *a = &whole->views[0];
        const kfe_i_view *b = &middle->views[0];
        for (int64_t i = 0; i < 5; i++)
            for (int64_t j = 0; j < 4; j++)
                if (i != 1 || j == 0) /* what fills the gap until a fit does it may differ */
                    assert_true(kfe_i_table_value(&a->table, i + 2, j) == kfe_i_table_value(&b->table, i, j));
        assert_int_equal(a->gaps.row_start[4] - a->gaps.row_start[3], 3);
        assert_memory_equal(a->gaps.columns + a->gaps.row_start[3], b->gaps.columns + b->gaps.row_start[1],
                            3 * sizeof *a->gaps.columns);
        assert_memory_equal(a->gaps.blocks, b->gaps.blocks, 2 * sizeof *a->gaps.blocks);
        kfe_data_free(middle);
        kfe_data_free(whole);
    }
}

/* ---- files ---- */

static void a_model_without_categories_says_nothing_of_them(void **state)
{
    kfe_context *ctx = *state;
    kfe_model *model = fit_colors(ctx, "drop=color");
    char *bytes = NULL;
    size_t size = 0;

    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    for (size_t i = 0; i + 7 <= size; i++)
        assert_true(memcmp(bytes + i, "encoded", 7) != 0);
    kfe_string_free(ctx, bytes);
    kfe_model_free(model);
}

/* The text with one part replaced, for free(). */
static char *changed_text(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t before;
    char *out;

    assert_non_null(at);
    before = (size_t)(at - text);
    out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    memcpy(out, text, before);
    strcpy(out + before, to);
    strcat(out, at + strlen(from));
    return out;
}

static void hostile_categories_are_refused(void **state)
{
    static const char *const changes[][2] = {
        {"\"column\":2", "\"column\":9"}, /* beyond the table */
        {"\"column\":2", "\"column\":0"},
        {"\"column\":2", "\"column\":\"2\""},
        {"\"green\",\"red\"", "\"red\",\"green\""},           /* not sorted */
        {"\"green\",\"red\"", "\"blue\",\"red\""},            /* twice */
        {"\"green\",\"red\"", "\"green\",7"},                 /* no text */
        {"\"green\",\"red\"", "\"green\",\"r\",\"s\",\"t\""}, /* more than there are columns */
        {"[\"blue\",\"green\",\"red\"]", "[]"},
        {"[\"blue\",\"green\",\"red\"]", "{}"},
        {"\"categories\":", "\"other\":"},
        {"\"name\":\"color\",", ""},
        {"\"encoded\":[{", "\"encoded\":[{},{"},
        {"\"encoded\":[", "\"encoded\":[3,"},
    };
    kfe_context *ctx = *state;
    kfe_model *model = fit_colors(ctx, "encode=auto");
    const char *path = support_path("hostile.kfe");
    model_file file;

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        file = model_file_read(path);
        const char *views = json_string_value(json_object_get(model_file_metadata(&file), "views"));
        char *changed = changed_text(views, changes[k][0], changes[k][1]);
        json_object_set_new(model_file_metadata(&file), "views", json_string(changed));
        model_file_assert_refused(ctx, &file, changed, "damaged");
        free(changed);
        model_file_free(&file);
    }
    kfe_model_free(model);
}

/* ---- memory ---- */

static kfe_status read_and_fit(kfe_context *ctx, void *user)
{
    kfe_status status;
    kfe_data *data = NULL;
    kfe_data *new_data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    char *bytes = NULL;
    size_t size = 0;
    const char *path = user;

    status = kfe_data_read(ctx, path, "encode=auto,missing=most-frequent,weight=n", &data);
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, "none", NULL, NULL, &spec);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    if (status == KFE_OK)
        status = kfe_model_save_bytes(ctx, model, &bytes, &size);
    if (status == KFE_OK)
        status = kfe_model_load_bytes(ctx, bytes, size, &loaded);
    if (status == KFE_OK)
        status = kfe_data_read_for_model(ctx, loaded, 1, &path, NULL, NULL, &new_data);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(new_data);
    kfe_data_free(data);
    return status;
}

static void failing_allocations(void **state)
{
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s",
             support_text("sweep.csv", "x,color,n,kind\n1,red,1,a\n2,,1,b\n0,blue,2,a\n0,teal,0,a\n"));
    support_sweep_run(&(support_sweep){.name = "encode",
                                       .use = read_and_fit,
                                       .user = path,
                                       .at_least = 50,
                                       .harmless = 2}); /* the table is not made smaller */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(categories_become_sorted_columns),
        with_context(columns_are_listed_by_name_and_number),
        with_context(a_file_without_header_needs_none),
        with_context(missing_categories_follow_missing),
        with_context(what_cannot_be_encoded_is_refused),
        with_context(new_data_gets_the_categories_of_the_model),
        with_context(memory_is_encoded_as_files_are),
        with_context(rows_of_weight_zero_make_no_category),
        with_context(a_model_without_categories_says_nothing_of_them),
        with_context(hostile_categories_are_refused),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
