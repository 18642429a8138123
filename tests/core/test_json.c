/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer and reader against jansson. Models that could not be loaded again are not saved. */
#include "support/fit.h"
#include "support/support.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/json/json_read.h"
#include "core/memory.h"
#include "model/model.h"

/* ---- the writer ---- */

static void write_everything(kfe_i_json *json)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "plain", "a\"b\\c\n\t\001ü");
    kfe_i_json_text(json, "latin", "\xe9t\xe9");
    kfe_i_json_integer(json, "least", INT64_MIN);
    kfe_i_json_array(json, "reals");
    kfe_i_json_real(json, NULL, 0.1);
    kfe_i_json_real(json, NULL, -DBL_MAX);
    kfe_i_json_real(json, NULL, 5e-324);
    kfe_i_json_real(json, NULL, 3);
    kfe_i_json_real(json, NULL, 1e300);
    kfe_i_json_real(json, NULL, (double)NAN);
    kfe_i_json_real(json, NULL, (double)INFINITY);
    kfe_i_json_end(json);
    kfe_i_json_object(json, "empty");
    kfe_i_json_end(json);
    kfe_i_json_array(json, "nothing");
    kfe_i_json_end(json);
    kfe_i_json_boolean(json, "yes", 7);
    kfe_i_json_boolean(json, "no", 0);
    kfe_i_json_null(json, "null");
    kfe_i_json_end(json);
}

static void check_everything(const json_t *root)
{
    static const double reals[] = {0.1, -DBL_MAX, 5e-324, 3, 1e300};
    const json_t *list = json_object_get(root, "reals");

    assert_int_equal(json_object_size(root), 9);
    assert_string_equal(json_string_value(json_object_get(root, "plain")), "a\"b\\c\n\t\001ü");
    assert_string_equal(json_string_value(json_object_get(root, "latin")), "?t?");
    assert_true(json_integer_value(json_object_get(root, "least")) == INT64_MIN);
    assert_int_equal(json_array_size(list), 7);
    for (size_t i = 0; i < 5; i++) {
        assert_true(json_is_real(json_array_get(list, i)));
        assert_true(json_real_value(json_array_get(list, i)) == reals[i]);
    }
    assert_true(json_is_null(json_array_get(list, 5)));
    assert_true(json_is_null(json_array_get(list, 6)));
    assert_true(json_is_object(json_object_get(root, "empty")));
    assert_int_equal(json_array_size(json_object_get(root, "nothing")), 0);
    assert_true(json_is_true(json_object_get(root, "yes")));
    assert_true(json_is_false(json_object_get(root, "no")));
    assert_true(json_is_null(json_object_get(root, "null")));
}

static void test_jansson_reads_what_is_written(void **state)
{
    kfe_context *ctx = *state;

    for (int indented = 0; indented < 2; indented++) {
        kfe_i_json json;
        char *text = NULL;
        json_error_t error;
        kfe_i_json_init(&json, ctx, indented);
        write_everything(&json);
        assert_ok(ctx, kfe_i_json_finish(&json, &text));
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        if (!root)
            fail_msg("%s in %s", error.text, text);
        check_everything(root);
        json_decref(root);
        kfe_string_free(ctx, text);
    }
}

/* ---- the reader ---- */

static void assert_same(const json_t *expected, const kfe_i_json_value *value, const char *text)
{
    static const json_type types[] = {JSON_NULL, JSON_FALSE,  JSON_TRUE,  JSON_INTEGER,
                                      JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT};
    size_t index = 0;

    if (json_typeof(expected) != types[value->type])
        fail_msg("another type in %s", text);
    if (json_is_string(expected))
        assert_string_equal(json_string_value(expected), value->text);
    if (json_is_integer(expected))
        assert_true(json_integer_value(expected) == value->integer);
    if (json_is_real(expected))
        assert_true(json_real_value(expected) == value->real);
    if (json_is_array(expected) || json_is_object(expected))
        assert_true((int64_t)(json_array_size(expected) + json_object_size(expected)) == value->count);
    for (const kfe_i_json_value *member = value->first; member; member = member->next) {
        const json_t *other = json_is_object(expected) ? json_object_get(expected, member->key)
                                                       : json_array_get(expected, index++);
        assert_non_null(other);
        assert_same(other, member, text);
    }
}

/* Reads the text with both readers, which must agree on whether it is JSON and on its content. */
static int read_twice(kfe_context *ctx, const char *text, size_t size)
{
    kfe_i_json_tree tree;
    json_error_t error;
    json_t *expected = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    kfe_status status = kfe_i_json_read(ctx, text, size, &tree);

    if ((status == KFE_OK) != (expected != NULL))
        fail_msg("%.*s\nis %s for kfe (%s), and %s for jansson (%s)", (int)size, text,
                 kfe_status_text(status), tree.reason ? tree.reason : "", expected ? "fine" : "wrong",
                 error.text);
    if (expected)
        assert_same(expected, tree.root, text);
    kfe_i_json_tree_free(&tree);
    json_decref(expected);
    return expected != NULL;
}

/* What a terminal would obey is written as escapes, which every reader turns back. */
static void test_controls_are_written_as_escapes(void **state)
{
    kfe_context *ctx = *state;
    const char *words = "a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c \xc3\xbc\xf0\x9f\x98\x80";
    kfe_i_json json;
    char *text = NULL;

    kfe_i_json_init(&json, ctx, 0);
    kfe_i_json_array(&json, NULL);
    kfe_i_json_text(&json, NULL, words);
    kfe_i_json_end(&json);
    assert_ok(ctx, kfe_i_json_finish(&json, &text));
    assert_non_null(strstr(text, "\"a\\u001b[2J\\u007f\\u009b\\u202e\\u061c \xc3\xbc\xf0\x9f\x98\x80\""));
    assert_true(read_twice(ctx, text, strlen(text)));
    kfe_string_free(ctx, text);
}

static void test_reader_agrees_with_jansson(void **state)
{
    static const char *const texts[] = {
        "{\"a\":[1,-2,0.5,1e-3,-0,2E+5,true,false,null,\"\\u00fc\\ud83d\\ude00\\n\\/ü\"],\"b\":{}}",
        " [ { \"x\" : [ ] , \"y\" : \"\\\\ \\\" \" } , 9223372036854775807, -9223372036854775808 ] ",
        "[9223372036854775808]",
        "[1e999]",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[-]",
        "[1e]",
        "{\"a\":1,\"a\":2}",
        "[\"\\u0000\"]",
        "[\"\\ud800\"]",
        "[\"\\udc00\"]",
        "[\"\xff\"]",
        "[\"\n\"]",
        "[1,]",
        "{\"a\"}",
        "[",
        "",
        "nul",
        "\"abc",
        "[1] x",
        "[]]"};
    static const char replacements[] = "{}[],:\"\\0123456789eE+-.tfnu \n\x80\xc3x";
    enum { MUTATIONS = 60000 };
    kfe_context *ctx = *state;
    uint64_t random = 5;
    int fine = 0;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        read_twice(ctx, texts[i], strlen(texts[i]));
    for (int i = 0; i < MUTATIONS; i++) {
        char text[256];
        size_t size = strlen(texts[i % 2]);
        memcpy(text, texts[i % 2], size);
        for (int edits = 1 + i % 3; edits > 0; edits--)
            text[(size_t)(support_uniform(&random) * (double)size)] =
                replacements[(size_t)(support_uniform(&random) * (sizeof replacements - 1))];
        fine += read_twice(ctx, text, size);
    }
    assert_true(fine > MUTATIONS / 100);
}

static void test_deep_text_is_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_json_tree tree;
    char text[100000];

    memset(text, '[', sizeof text);
    assert_fails(ctx, KFE_EINPUT, "levels", kfe_i_json_read(ctx, text, sizeof text, &tree));
    kfe_i_json_tree_free(&tree);
}

static void test_reader_survives_failing_allocations(void **state)
{
    support_allocator allocator = {0};
    char text[1024] = "[";
    int64_t needed = 0;

    (void)state;
    for (int i = 0; i < 100; i++) /* longer than one chunk */
        strcat(text, "{\"a\":0},");
    strcat(text, "[]]");
    for (int64_t k = 0; k <= needed; k++) {
        kfe_context *ctx = NULL;
        kfe_i_json_tree tree;
        allocator = (support_allocator){0};
        assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_OK);
        int64_t before = allocator.calls;
        allocator.fail_at = k ? before + k : 0;
        assert_int_equal(kfe_i_json_read(ctx, text, strlen(text), &tree), k ? KFE_ENOMEM : KFE_OK);
        needed = k ? needed : allocator.calls - before;
        kfe_i_json_tree_free(&tree);
        kfe_context_free(ctx);
        assert_int_equal(allocator.live, 0);
    }
    assert_true(needed > 100);
}

/* After a failed allocation jansson's lexer continues with wrong text, so models must not depend on it. */
static void *refusing_malloc(size_t size)
{
    (void)size;
    return NULL;
}

enum { ROWS = 12, COLS = 3 };

static void test_models_do_not_need_jansson(void **state)
{
    static const char *const fits[][3] = {
        {"koc", "rbf:gamma=0.5", "svm"}, {"pca", NULL, "knn"}, {"lmkl", "rbf:gamma=0.5", NULL}};
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(7, ROWS, COLS, 2, 2, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    json_set_alloc_funcs(refusing_malloc, free);
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        kfe_model *again = NULL;
        char *bytes[2] = {NULL, NULL};
        size_t size[2] = {0, 0};
        assert_ok(ctx, kfe_spec_parse(ctx, fits[i][0], NULL, fits[i][1], &spec));
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, fits[i][2], NULL));
        assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
        assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes[0], &size[0]));
        assert_ok(ctx, kfe_model_load_bytes(ctx, bytes[0], size[0], &again));
        assert_ok(ctx, kfe_model_save_bytes(ctx, again, &bytes[1], &size[1]));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        for (int b = 0; b < 2; b++)
            kfe_string_free(ctx, bytes[b]);
        assert_ok(ctx, kfe_model_describe(ctx, again, KFE_STYLE_JSON, &bytes[0]));
        kfe_string_free(ctx, bytes[0]);
        kfe_model_free(model);
        kfe_model_free(again);
        kfe_spec_free(spec);
    }
    json_set_alloc_funcs(malloc, free);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* ---- models that could not be loaded are not saved ---- */

static void assert_saves_or_says_why(kfe_context *ctx, const kfe_model *model, const char *what)
{
    kfe_model *again = NULL;
    char *bytes = NULL;
    size_t size = 0;
    const char *path = support_path("extreme.kfe");
    kfe_status status = kfe_model_save_bytes(ctx, model, &bytes, &size);

    if (status == KFE_OK) {
        kfe_status loaded = kfe_model_load_bytes(ctx, bytes, size, &again);
        if (loaded != KFE_OK)
            fail_msg("%s was saved, but does not load: %s", what, kfe_error_message(ctx));
    } else {
        assert_fails(ctx, KFE_EMODEL, "cannot be saved", kfe_model_save(ctx, model, path));
        assert_int_equal(access(path, F_OK), -1);
    }
    kfe_model_free(again);
    kfe_string_free(ctx, bytes);
}

/* Fits every method that accepts real targets; returns the number of models that were refused. */
static int fit_extremes(kfe_context *ctx, double unit, double target_unit)
{
    const kfe_entry_info *method;
    int refused = 0;
    double *x = support_normals(11, (int64_t)ROWS * COLS);
    double *y = support_normals(12, ROWS);

    for (int i = 0; i < ROWS * COLS; i++)
        x[i] *= unit;
    for (int i = 0; i < ROWS; i++)
        y[i] *= target_unit;
    for (int m = 0; (method = kfe_method(m)); m++) {
        kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
        kfe_spec *spec = NULL;
        kfe_model *model = NULL;
        char what[128];
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
        assert_ok(ctx, kfe_spec_parse(ctx, method->name, NULL, NULL, &spec));
        snprintf(what, sizeof what, "%s on data of size %g and targets of size %g", method->name, unit,
                 target_unit);
        if (method->flags & KFE_HAS_REGRESSION && kfe_fit(ctx, spec, data, &model) == KFE_OK) {
            char *bytes = NULL;
            size_t size = 0;
            refused += kfe_model_save_bytes(ctx, model, &bytes, &size) != KFE_OK;
            kfe_string_free(ctx, bytes);
            assert_saves_or_says_why(ctx, model, what);
        }
        kfe_model_free(model);
        kfe_spec_free(spec);
        kfe_data_free(data);
    }
    free(x);
    free(y);
    return refused;
}

/* The message names the number that is not finite, wherever it is. */
static void test_numbers_that_are_not_finite_are_not_saved(void **state)
{
    kfe_context *ctx = *state;
    double *x = support_normals(11, (int64_t)ROWS * COLS);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, NULL);
    kfe_model *model = support_fit(ctx, "kpca", "dim=2", "rbf:gamma=0.5", data);
    double *places[] = {&model->coefficients[1], &model->offset[1], &model->views[0].support.values[2],
                        &model->records[0].values[0]};
    const char *names[] = {"coefficients", "offset", "view0.support", "record."};
    char *bytes = NULL;
    size_t size = 0;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double kept = *places[i];
        *places[i] = i % 2 ? (double)NAN : (double)INFINITY;
        assert_fails(ctx, KFE_EMODEL, "cannot be saved", kfe_model_save(ctx, model, support_path("bad.kfe")));
        assert_non_null(strstr(kfe_error_message(ctx), names[i]));
        assert_int_equal(access(support_path("bad.kfe"), F_OK), -1);
        *places[i] = kept;
    }
    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    kfe_string_free(ctx, bytes);
    kfe_model_free(model);
    kfe_data_free(data);
    free(x);
}

static void test_models_that_do_not_load_are_not_saved(void **state)
{
    static const double units[][2] = {{1e-155, 1}, {1, 1e155}, {1, 1e200}, {1e-155, 1e155}};
    kfe_context *ctx = *state;

    assert_int_equal(fit_extremes(ctx, 1, 1), 0);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        fit_extremes(ctx, units[i][0], units[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_jansson_reads_what_is_written),
        with_context(test_controls_are_written_as_escapes),
        with_context(test_reader_agrees_with_jansson),
        with_context(test_deep_text_is_refused),
        with_context(test_reader_survives_failing_allocations),
        with_context(test_models_do_not_need_jansson),
        with_context(test_numbers_that_are_not_finite_are_not_saved),
        with_context(test_models_that_do_not_load_are_not_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
