/* SPDX-License-Identifier: Apache-2.0 */
/* Results: what is put is what is read, groups and lists in JSON, the way back from JSON, and the meaning of every column. */
#include <math.h>
#include <stdio.h>

#include "result/result.h"
#include "support/support.h"

/* Two methods; the second row has a parameter that the first one lacks, and a list. */
static kfe_result *make(kfe_context *ctx)
{
    static const char *const names[] = {"one", "two"};
    kfe_result *result = NULL;

    assert_ok(ctx, kfe_i_result_new(ctx, &result));
    kfe_i_result_table *facts = kfe_i_result_facts(result);
    kfe_i_put_text(facts, NULL, "metric", "accuracy");
    kfe_i_result_table *methods = kfe_i_result_add(facts, NULL, "methods", 0);
    for (int i = 0; i < 2; i++) {
        kfe_i_result_row(methods);
        kfe_i_put_text(methods, NULL, "label", names[i]);
        kfe_i_put_group(methods, NULL, "setting");
        if (i == 1)
            kfe_i_put_text(methods, "setting", "gamma", "0.1");
        kfe_i_put_real(methods, "metrics/accuracy", "mean", 0.5 * i);
        kfe_i_put_real(methods, "metrics/accuracy", "sd", i ? (double)NAN : 0.25);
        kfe_i_result_table *values = kfe_i_result_add(methods, NULL, "values", 1);
        for (int k = 0; k < i; k++) {
            kfe_i_result_row(values);
            kfe_i_put_real(values, NULL, "value", 7);
        }
        kfe_i_put_flag(methods, NULL, "nested", i);
        kfe_i_put_text(methods, NULL, "failed", i ? "because" : NULL);
    }
    kfe_i_put_count(facts, NULL, "fits", 12);
    assert_ok(ctx, kfe_i_result_finish(result, &result));
    return result;
}

static const char expected[] =
    "{\n  \"metric\": \"accuracy\",\n  \"methods\": [\n    {\n      \"label\": \"one\",\n      \"setting\": {},\n"
    "      \"metrics\": {\n        \"accuracy\": {\n          \"mean\": 0.0,\n          \"sd\": 0.25\n        }\n      },\n"
    "      \"values\": [],\n      \"nested\": false,\n      \"failed\": null\n    },\n    {\n      \"label\": \"two\",\n"
    "      \"setting\": {\n        \"gamma\": \"0.1\"\n      },\n      \"metrics\": {\n        \"accuracy\": {\n"
    "          \"mean\": 0.5,\n          \"sd\": null\n        }\n      },\n      \"values\": [\n        7.0\n      ],\n"
    "      \"nested\": true,\n      \"failed\": \"because\"\n    }\n  ],\n  \"fits\": 12\n}\n";

static void test_values_are_read_back(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = make(ctx);
    const kfe_table *methods = kfe_result_find(result, "methods");
    const kfe_table *values = kfe_result_find(result, "values");
    const kfe_column *gamma = kfe_table_find(methods, "setting/gamma");

    assert_true(kfe_result_number(result, "fits") == 12);
    assert_string_equal(kfe_result_text(result, "metric"), "accuracy");
    assert_true(isnan(kfe_result_number(result, "metric")));
    assert_int_equal(methods->rows, 2);
    assert_int_equal(methods->parent, 0);
    assert_int_equal(gamma->given[0], 0);
    assert_int_equal(gamma->given[1], 1);
    assert_null(gamma->texts[0]);
    assert_string_equal(gamma->texts[1], "0.1");
    assert_null(kfe_table_find(methods, "failed")->given); /* every row has it */
    assert_null(kfe_table_find(methods, "failed")->texts[0]);
    assert_true(kfe_table_find(methods, "metrics/accuracy/mean")->numbers[1] == 0.5);
    assert_int_equal(kfe_table_find(methods, "nested")->kind, KFE_COLUMN_FLAG);
    assert_int_equal(values->parent, 1);
    assert_int_equal(values->rows, 1);
    assert_int_equal(values->parent_row[0], 1);
    kfe_result_free(result);
}

static void test_json_is_nested_and_read_back(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = make(ctx);
    kfe_result *read = NULL;
    char *texts[2] = {NULL, NULL};

    assert_ok(ctx, kfe_result_describe(ctx, result, KFE_STYLE_JSON, &texts[0]));
    assert_string_equal(texts[0], expected);
    assert_ok(ctx, kfe_result_parse(ctx, texts[0], &read));
    assert_ok(ctx, kfe_result_describe(ctx, read, KFE_STYLE_JSON, &texts[1]));
    assert_string_equal(texts[1], expected);
    assert_true(kfe_result_number(read, "fits") == 12);
    for (int i = 0; i < 2; i++)
        kfe_string_free(ctx, texts[i]);
    kfe_result_free(read);
    kfe_result_free(result);
}

/* Columns of a group stay together, also those that a later row adds, so that an object has each key once. */
static void test_late_columns_join_their_group(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = NULL;
    char *text = NULL;

    assert_ok(ctx, kfe_result_parse(ctx,
                                    "{\"ranking\": [{\"setting\": {\"k\": \"1\"}, \"p\": 1.5}, "
                                    "{\"setting\": {\"C\": \"2\"}, \"p\": null}, {\"p\": \"text\"}]}",
                                    &result));
    const kfe_table *ranking = kfe_result_find(result, "ranking");
    assert_string_equal(kfe_table_column(ranking, 1)->name, "setting/C");
    assert_string_equal(kfe_table_column(ranking, 2)->name, "setting/k");
    assert_true(isnan(kfe_table_find(ranking, "p")->numbers[2])); /* not a number, as in the first row */
    assert_ok(ctx, kfe_result_describe(ctx, result, KFE_STYLE_JSON, &text));
    assert_non_null(strstr(text, "\"setting\": {\n        \"C\": \"2\"\n      },\n      \"p\": null"));
    kfe_string_free(ctx, text);
    kfe_result_free(result);
}

static void test_lists_and_mistakes_in_json(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = NULL;

    assert_ok(ctx, kfe_result_parse(ctx, "{\"roc\": [[0, 0.5, null], [1, 1.0, 2]]}", &result));
    const kfe_table *roc = kfe_result_find(result, "roc");
    assert_true(roc->is_list);
    assert_int_equal(roc->cols, 3);
    assert_true(kfe_table_column(roc, 1)->numbers[0] == 0.5);
    assert_true(isnan(kfe_table_column(roc, 2)->numbers[0]));
    kfe_result_free(result);
    assert_fails(ctx, KFE_EINPUT, "not JSON", kfe_result_parse(ctx, "{\"a\": ", &result));
    assert_null(result);
    /* a row with too many names */
    size_t size = 32 * 5000;
    char *many = malloc(size);
    size_t length = (size_t)snprintf(many, size, "{\"a\": 1");
    for (int i = 0; i < 5000; i++)
        length += (size_t)snprintf(many + length, size - length, ", \"n%d\": 1", i);
    snprintf(many + length, size - length, "}");
    assert_fails(ctx, KFE_EINPUT, "more than", kfe_result_parse(ctx, many, &result));
    assert_null(result);
    free(many);
}

/* Integers that no double holds are numbers like any other. */
static void test_huge_counts_are_reals(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = NULL;
    char *text = NULL;

    assert_ok(ctx,
              kfe_result_parse(
                  ctx, "{\"a\": 9007199254740992, \"b\": 9223372036854775807, \"c\": -9223372036854775807}",
                  &result));
    const kfe_table *facts = kfe_result_table(result, 0);
    assert_int_equal(kfe_table_find(facts, "a")->kind, KFE_COLUMN_COUNT);
    assert_int_equal(kfe_table_find(facts, "b")->kind, KFE_COLUMN_REAL);
    assert_ok(ctx, kfe_result_describe(ctx, result, KFE_STYLE_JSON, &text));
    assert_non_null(strstr(text, "\"a\": 9007199254740992"));
    assert_non_null(strstr(text, "\"b\": 9.22337203685477"));
    assert_non_null(strstr(text, "\"c\": -9.22337203685477"));
    kfe_string_free(ctx, text);
    kfe_result_free(result);
}

/* Confusions of results that lack the number of rows, or have numbers that are no counts. */
static void test_confusions_need_no_number_of_rows(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = NULL;
    char *text = NULL;

    assert_ok(ctx, kfe_result_parse(
                       ctx,
                       "{\"metrics\": {\"accuracy\": 1}, \"confusion\": {\"classes\": [\"left\", \"right\"], "
                       "\"pairs\": [[0, 1, 4], [0, 1e300, 2.5]]}}",
                       &result));
    assert_ok(ctx, kfe_result_describe(ctx, result, KFE_STYLE_TEXT, &text));
    assert_non_null(strstr(text, "right       4\n"));
    kfe_string_free(ctx, text);
    kfe_result_free(result);
}

/* A slash separates groups in the names of columns, so that a name full of slashes would be more groups than JSON may have. */
static void test_names_with_slashes_are_refused(void **state)
{
    static const char *const slashes[] = {"{\"a\": {\"b\": 1}, \"a/b\": [2]}",
                                          "[{\"//////////////////a\": 1}]", "{\"/\": {\"b\": 1}}"};
    kfe_context *ctx = *state;
    kfe_result *result = NULL;

    for (size_t i = 0; i < sizeof slashes / sizeof *slashes; i++)
        assert_fails(ctx, KFE_EINPUT, "slash", kfe_result_parse(ctx, slashes[i], &result));
}

/* Files that are JSON but not the results of anything are written or refused, in every style, and drawn or refused. */
static void test_strange_results_do_no_harm(void **state)
{
    static const char *const strange[] = {
        "{}",
        "[]",
        "[1, {\"kernel\": 2}]",
        "null",
        "{\"splits\": []}",
        "{\"methods\": [], \"splits\": []}",
        "{\"methods\": [{}, {\"label\": 3}], \"best\": 1, \"splits\": [{\"metrics\": {\"accuracy\": \"x\"}}]}",
        "{\"splits\": [{\"metrics\": {\"rmse\": 1}}], \"settings\": [{\"is_best\": true}, {\"setting\": {\"dim\": null}}], "
        "\"edges\": [{}], \"permutations\": {\"values\": [\"x\"]}}",
        "{\"ranking\": [{\"folds\": 3}, {\"folds\": \"x\", \"setting\": 5}], \"honest\": {\"splits\": [{\"metrics\": {\"a\": 1}}]}}",
        "{\"rows\": 2, \"metrics\": {\"f1\": \"x\"}, \"confusion\": {\"classes\": [\"a\", 3], \"matrix\": [[], [1, 2]]}}",
        "{\"rows\": 2, \"confusion\": {\"classes\": [\"a\"], \"pairs\": [[9, -1, 4], [0]]}}",
        "{\"results\": [{\"row\": \"r\", \"column\": \"c\", \"metric\": \"m\", \"points\": {\"x\": [1], \"y\": [\"b\"], "
        "\"classes\": []}}], \"over\": 3}",
        "{\"\": {\"\": [[[1]], {}]}}",
    };
    kfe_context *ctx = *state;

    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        kfe_result *result = NULL;
        kfe_report *report = NULL;
        assert_ok(ctx, kfe_result_parse(ctx, strange[i], &result));
        assert_ok(ctx, kfe_report_new(ctx, NULL, &report));
        for (int style = 0; style < 2; style++) {
            char *text = NULL;
            kfe_status status = kfe_result_describe(ctx, result, (kfe_style)style, &text);
            assert_true(status == KFE_OK || status == KFE_EINPUT);
            assert_int_equal(text == NULL, status != KFE_OK);
            kfe_string_free(ctx, text);
        }
        assert_ok(ctx, kfe_result_write(ctx, result, support_path("strange.csv")));
        int is_search = kfe_report_set_results(ctx, report, result) == KFE_OK;
        for (int f = 0; is_search && kfe_figure(f); f++) {
            char *text = NULL;
            kfe_status status = kfe_report_figure(ctx, report, kfe_figure(f)->name, "svg", &text);
            assert_true(status == KFE_OK || status == KFE_EINVAL);
            kfe_string_free(ctx, text);
        }
        kfe_report_free(report);
        kfe_result_free(result);
    }
}

static void test_csv_has_every_value(void **state)
{
    kfe_context *ctx = *state;
    kfe_result *result = make(ctx);
    const char *path = support_path("result.csv");
    char text[2048] = {0};

    assert_ok(ctx, kfe_result_write(ctx, result, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_memory_equal(text, "table,row,column,value\nfacts,1,metric,accuracy\nfacts,1,fits,12\n", 60);
    assert_null(strstr(text, "methods,1,setting/gamma"));
    assert_non_null(strstr(text, "methods,2,setting/gamma,0.1\n"));
    assert_non_null(strstr(text, "methods,2,metrics/accuracy/sd,nan\n"));
    kfe_result_free(result);
}

/* Every column of a search says what it means. */
static void test_columns_are_explained(void **state)
{
    static const char *const grids[] = {"gamma=0.1,1", NULL};
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_result *found[5] = {NULL};
    const kfe_table *table;
    const kfe_column *column;

    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &data));
    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, kfe_cross_validate(ctx, spec, grids, data, "folds=2,permutations=3", &model, &found[0]));
    assert_ok(ctx,
              kfe_compare(ctx, 2, (const kfe_spec *const[]){spec, spec}, NULL, data, "folds=2", &found[1]));
    assert_ok(ctx, kfe_evaluate(ctx, model, data, "curves=yes", &found[2]));
    assert_ok(ctx, kfe_tune(ctx, data, "time=none,trials=4,folds=2", NULL, &found[3]));
    assert_ok(ctx, kfe_measure(ctx, data, 1, (const char *const[]){"rbf"}, NULL, &found[4]));
    for (int r = 0; r < 5; r++) {
        for (int t = 0; (table = kfe_result_table(found[r], t)); t++) {
            if (!table->about[0])
                fail_msg("the table %s of result %d is not explained", table->name, r);
            for (int64_t c = 0; (column = kfe_table_column(table, c)); c++)
                if (!column->about[0] && column->kind != KFE_COLUMN_GROUP)
                    fail_msg("the column %s of %s is not explained", column->name, table->name);
        }
        kfe_result_free(found[r]);
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_values_are_read_back),
        with_context(test_json_is_nested_and_read_back),
        with_context(test_late_columns_join_their_group),
        with_context(test_lists_and_mistakes_in_json),
        with_context(test_csv_has_every_value),
        with_context(test_huge_counts_are_reals),
        with_context(test_confusions_need_no_number_of_rows),
        with_context(test_names_with_slashes_are_refused),
        with_context(test_strange_results_do_no_harm),
        with_context(test_columns_are_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
