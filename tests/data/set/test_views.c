/* SPDX-License-Identifier: Apache-2.0 */
/* Data of several views: names of views, kernels on single views, new data in another order, views from
 * memory, and errors. */
#include "support/fit.h"
#include "support/result.h"
#include "support/sweep.h"

#include <stdio.h>

#include "data/data.h"
#include "model/model.h"

enum { ROWS = 30 };

typedef struct sample {
    double *x[3]; /* of 2, 2 and 3 columns */
    int *class_of;
    kfe_data *parts[3]; /* the first has labels */
} sample;

static sample make_sample(kfe_context *ctx)
{
    sample s;

    support_clouds(4, ROWS, 2, 2, 1.5, &s.x[0], &s.class_of);
    s.x[1] = support_normals(5, ROWS * 2);
    s.x[2] = support_normals(6, ROWS * 3);
    s.parts[0] = support_dense(ctx, ROWS, 2, s.x[0], s.class_of);
    s.parts[1] = support_dense(ctx, ROWS, 2, s.x[1], NULL);
    s.parts[2] = support_dense(ctx, ROWS, 3, s.x[2], NULL);
    return s;
}

static void free_sample(sample *s)
{
    for (int v = 0; v < 3; v++) {
        kfe_data_free(s->parts[v]);
        free(s->x[v]);
    }
    free(s->class_of);
}

/* Joins the views listed, "012", under the names listed ("abc"; a space: no name). */
static kfe_data *join(kfe_context *ctx, const sample *s, const char *which, const char *called)
{
    const kfe_data *parts[4];
    char letters[4][2] = {{0}};
    const char *names[4];
    kfe_data *data = NULL;
    int count = (int)strlen(which);

    for (int v = 0; v < count; v++) {
        parts[v] = s->parts[which[v] - '0'];
        letters[v][0] = called[v];
        names[v] = called[v] == ' ' ? NULL : letters[v];
    }
    assert_ok(ctx, kfe_data_join_views(ctx, count, parts, names, &data));
    return data;
}

/* ---- names ---- */

static void names_come_from_files(void **state)
{
    static const char *const cases[][2] = {
        {"fac.csv.gz", "fac"},      {"data/mfeat-fou.CSV", "mfeat-fou"},
        {"/a/b.c/zer.npy", "zer"},  {"plain", "plain"},
        {"one.part1", "one.part1"}, {"x.libsvm", "x"},
        {".csv", ".csv"},           {"-", "stdin"},
        {"a.tar.gz", "a.tar"},      {"dir.csv/name", "name"},
    };
    char name[64];
    char cut[4];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kfe_view_name(cases[i][0], name, sizeof name);
        assert_string_equal(name, cases[i][1]);
    }
    kfe_view_name("abcdef.csv", cut, sizeof cut);
    assert_string_equal(cut, "abc");
}

static void a_single_file_has_a_short_name_and_messages_have_its_path(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_text("single.csv", "1,2,a\n3,4,b\n5,7,a\n");
    kfe_data *data = NULL;
    kfe_matrix out;

    assert_ok(ctx, kfe_data_read(ctx, path, NULL, &data));
    assert_string_equal(kfe_data_view_name(data, 0), "single");
    assert_null(kfe_data_view_name(data, 1));
    kfe_model *model = support_fit(ctx, "koc", NULL, NULL, data);
    assert_string_equal(kfe_model_view_name(model, 0), "single");
    assert_null(kfe_model_view_name(model, -1));
    kfe_data_free(data);
    path = support_text("wide.csv", "1,2,3,4\n");
    assert_ok(ctx, kfe_data_read(ctx, path, "label=none", &data));
    assert_fails(ctx, KFE_EINPUT, path, kfe_transform(ctx, model, data, &out));
    kfe_data_free(data);
    kfe_model_free(model);
}

static void names_and_rows_must_fit(void **state)
{
    kfe_context *ctx = *state;
    const char *const paths[] = {support_text("left.csv", "1,2\n3,4\n"), support_text("right.csv", "5\n6\n")};
    const char *const twice[] = {paths[0], paths[0]};
    const char *const named[] = {"a", NULL};
    const char *const equal[] = {"left", "left"};
    kfe_data *data = NULL;
    char options[128];

    assert_fails(ctx, KFE_EINVAL, "both named 'left'", kfe_data_read_views(ctx, 2, twice, NULL, NULL, &data));
    assert_fails(ctx, KFE_EINVAL, "'left'", kfe_data_read_views(ctx, 2, paths, equal, NULL, &data));
    assert_ok(ctx, kfe_data_read_views(ctx, 2, twice, named, "label=none", &data));
    assert_string_equal(kfe_data_view_name(data, 0), "a");
    assert_string_equal(kfe_data_view_name(data, 1), "left");
    kfe_data_free(data);
    snprintf(options, sizeof options, "label_file=%s", support_text("labels.txt", "x\ny\nx\ny\n"));
    assert_fails(ctx, KFE_EINPUT, "labels.txt has 4",
                 kfe_data_read_views(ctx, 2, paths, NULL, options, &data));
    snprintf(options, sizeof options, "label_file=%s", support_text("labels.txt", "x\ny\n"));
    assert_ok(ctx, kfe_data_read_views(ctx, 2, paths, NULL, options, &data));
    assert_int_equal(kfe_data_cols(data, 0) + kfe_data_cols(data, 1), 3); /* no view contains the label */
    kfe_data_free(data);
}

static void views_of_strings_and_of_numbers(void **state)
{
    kfe_context *ctx = *state;
    const char *const paths[] = {support_text("word.csv", "abab\nbaba\n"),
                                 support_text("number.csv", "5\n6\n")};
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_read_views(ctx, 2, paths, NULL, "label=none,string_views=word", &data));
    assert_int_equal(data->views[0].table.kind, KFE_TABLE_TEXT);
    assert_int_equal(data->views[1].table.kind, KFE_TABLE_DENSE);
    kfe_data_free(data);
}

/* ---- joining ---- */

static void joining_borrows_tables_and_copies_labels(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *data = join(ctx, &s, "201", "abc");

    assert_int_equal(kfe_data_views(data), 3);
    assert_true(data->views[0].table.values == s.x[2]);
    assert_int_equal(kfe_data_cols(data, 0), 3);
    assert_string_equal(kfe_data_view_name(data, 2), "c");
    for (int64_t i = 0; i < ROWS; i++)
        assert_int_equal(kfe_data_class_of(data, i), kfe_data_class_of(s.parts[0], i));
    kfe_data_free(data);
    assert_true(kfe_data_rows(s.parts[2]) == ROWS); /* joining does not change the parts */
    free_sample(&s);
}

static void joining_refuses(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *few = support_dense(ctx, ROWS - 1, 2, s.x[1], NULL);
    kfe_data *two = join(ctx, &s, "01", "ab");
    const kfe_data *uneven[] = {s.parts[0], few};
    const kfe_data *nested[] = {s.parts[0], two};
    const kfe_data *parts[] = {s.parts[0], s.parts[1]};
    const char *const names[] = {"first", "second"};
    const char *const equal[] = {"same", "same"};
    kfe_data *data = NULL;

    assert_fails(ctx, KFE_EINPUT, "'first' has 30 rows, but view 'second' has 29",
                 kfe_data_join_views(ctx, 2, uneven, names, &data));
    assert_null(data);
    assert_fails(ctx, KFE_EINVAL, "one view", kfe_data_join_views(ctx, 2, nested, names, &data));
    assert_fails(ctx, KFE_EINVAL, "'same'", kfe_data_join_views(ctx, 2, parts, equal, &data));
    assert_fails(ctx, KFE_EINVAL, "'data'", kfe_data_join_views(ctx, 2, parts, NULL, &data));
    assert_fails(ctx, KFE_EINVAL, "at least one", kfe_data_join_views(ctx, 0, parts, names, &data));
    kfe_data_free(two);
    kfe_data_free(few);
    free_sample(&s);
}

/* ---- kernels of views ---- */

static kfe_status fit_with(kfe_context *ctx, const kfe_data *data, const char *kernel,
                           const char *const (*view_kernels)[2], kfe_model **out)
{
    kfe_spec *spec = NULL;
    kfe_status status = kfe_spec_parse(ctx, "koc", NULL, kernel, &spec);

    *out = NULL;
    for (int i = 0; status == KFE_OK && view_kernels && view_kernels[i][0]; i++)
        status = kfe_spec_set_view_kernel(ctx, spec, view_kernels[i][0], view_kernels[i][1]);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, out);
    kfe_spec_free(spec);
    return status;
}

/* Checks the kernels and their views, written as "name@view name@view". */
static void check_kernels(const kfe_model *model, const char *expected)
{
    char got[256] = "";

    for (int64_t m = 0; m < model->kernels.count; m++) {
        const kfe_i_kernel *kernel = &model->kernels.items[m];
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s@%s", m ? " " : "", kernel->def->name,
                 model->views[kernel->view].name);
    }
    assert_string_equal(got, expected);
}

static void kernels_go_to_their_views(void **state)
{
    static const char *const one[][2] = {{"b", "linear"}, {NULL, NULL}};
    static const char *const several[][2] = {
        {"b", "linear"}, {"a", "poly"}, {"b", "laplacian"}, {NULL, NULL}};
    static const char *const family[][2] = {{"c", "rbf:gamma=0.1..10/3"}, {NULL, NULL}};
    static const struct {
        const char *kernel;
        const char *const (*own)[2];
        const char *expected;
    } cases[] = {
        {NULL, NULL, "rbf@a rbf@b rbf@c"},
        {"linear", NULL, "linear@a linear@b linear@c"},
        {NULL, one, "rbf@a linear@b rbf@c"},
        {"poly", one, "poly@a linear@b poly@c"},
        {NULL, several, "poly@a linear@b laplacian@b rbf@c"},
        {"linear", several, "poly@a linear@b laplacian@b linear@c"},
        {"linear", family, "linear@a linear@b rbf@c rbf@c rbf@c"},
    };
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *data = join(ctx, &s, "012", "abc");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kfe_model *model = NULL;
        assert_ok(ctx, fit_with(ctx, data, cases[i].kernel, cases[i].own, &model));
        check_kernels(model, cases[i].expected);
        kfe_model_free(model);
    }
    kfe_data_free(data);
    free_sample(&s);
}

static void kernels_of_views_are_refused(void **state)
{
    static const char *const unknown[][2] = {{"first", "linear"}, {NULL, NULL}};
    static const char *const all[][2] = {{"one", "linear"}, {"two", "linear"}, {NULL, NULL}};
    static const char *const nameless[][2] = {{"", "linear"}, {NULL, NULL}};
    static const char *const wrong[][2] = {{"one", "lineal"}, {NULL, NULL}};
    static const char *const names[] = {"one", "two"};
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    const kfe_data *parts[] = {s.parts[0], s.parts[1]};
    kfe_data *data = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_data_join_views(ctx, 2, parts, names, &data));
    assert_fails(ctx, KFE_EINVAL, "no view 'first'", fit_with(ctx, data, NULL, unknown, &model));
    assert_non_null(strstr(kfe_error_message(ctx), "one, two"));
    assert_fails(ctx, KFE_EINVAL, "leave out kernel", fit_with(ctx, data, "rbf", all, &model));
    assert_fails(ctx, KFE_EINVAL, "name the view", fit_with(ctx, data, NULL, nameless, &model));
    assert_fails(ctx, KFE_EINVAL, "did you mean 'linear'", fit_with(ctx, data, NULL, wrong, &model));
    kfe_data_free(data);
    free_sample(&s);
}

/* A search assigns kernels to views as a fit does: with the default kernel, with gamma=scale, or with all
 * kernels given. */
static void searches_know_the_kernels_of_views(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *data = join(ctx, &s, "01", "ab");
    kfe_spec *spec = NULL;
    const char *const grids[] = {"gamma=0.1,1"};
    char *text = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "a", "rbf:gamma=0.5"));
    assert_ok(ctx, write_cross_validate(ctx, spec, 1, grids, data, "folds=3", KFE_STYLE_TEXT, NULL, &text));
    kfe_string_free(ctx, text);
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "b", "linear"));
    assert_ok(ctx, write_cross_validate(ctx, spec, 1, grids, data, "folds=3", KFE_STYLE_TEXT, NULL, &text));
    kfe_string_free(ctx, text);
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "c", "linear"));
    assert_fails(ctx, KFE_EINVAL, "no view 'c'",
                 write_cross_validate(ctx, spec, 1, grids, data, "folds=3", KFE_STYLE_TEXT, NULL, &text));
    kfe_spec_free(spec);
    kfe_data_free(data);
    free_sample(&s);
}

static void measures_are_of_single_views_too(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *data = join(ctx, &s, "01", "ab");
    kfe_data *alone = join(ctx, &s, "0", "a");
    const char *const on_view[] = {"a=rbf:gamma=0.5"};
    const char *const plain[] = {"rbf:gamma=0.5"};
    const char *const unknown[] = {"x=rbf"};
    char *got = NULL;
    char *expected = NULL;

    assert_ok(ctx, write_measure(ctx, data, 1, on_view, NULL, KFE_STYLE_JSON, &got));
    assert_ok(ctx, write_measure(ctx, alone, 1, plain, NULL, KFE_STYLE_JSON, &expected));
    assert_non_null(strstr(got, "a=rbf:gamma=0.5"));
    /* the same numbers, after names that differ by "a=" */
    assert_string_equal(strstr(got, "0.5\"") ? strstr(got, "0.5\"") : "", strstr(expected, "0.5\""));
    kfe_string_free(ctx, got);
    assert_fails(ctx, KFE_EINVAL, "no view 'x'",
                 write_measure(ctx, data, 1, unknown, NULL, KFE_STYLE_JSON, &got));
    kfe_string_free(ctx, expected);
    kfe_data_free(data);
    kfe_data_free(alone);
    free_sample(&s);
}

/* ---- new data ---- */

/* Checks that the features are the same, or that the expected failure occurs ("": none). */
static void check_transform(kfe_context *ctx, const sample *s, const kfe_model *model,
                            const kfe_matrix *expected, const char *which, const char *called,
                            const char *problem)
{
    kfe_data *data = join(ctx, s, which, called);
    kfe_matrix got = {0};

    if (*problem) {
        assert_fails(ctx, KFE_EINPUT, problem, kfe_transform(ctx, model, data, &got));
    } else {
        assert_ok(ctx, kfe_transform(ctx, model, data, &got));
        assert_memory_equal(got.values, expected->values, (size_t)(got.rows * got.cols) * sizeof *got.values);
    }
    kfe_matrix_free(&got);
    kfe_data_free(data);
}

static void new_data_is_arranged_by_name(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *train = join(ctx, &s, "012", "abc");
    kfe_model *model = support_fit(ctx, "koc", NULL, "rbf:gamma=0.4", train);
    kfe_matrix expected = support_transform(ctx, model, train);

    check_transform(ctx, &s, model, &expected, "012", "abc", "");
    check_transform(ctx, &s, model, &expected, "201", "cab", "");
    check_transform(ctx, &s, model, &expected, "102", "bac", "");
    check_transform(ctx, &s, model, &expected, "01", "ab", "lacks the model's view 'c'");
    assert_non_null(strstr(kfe_error_message(ctx), "a, b, c"));
    check_transform(ctx, &s, model, &expected, "012", "abx", "no view 'x'");
    check_transform(ctx, &s, model, &expected, "0120", "abcd", "no view 'd'");
    /* the user chose the names, so they must match */
    check_transform(ctx, &s, model, &expected, "012", "xyz", "no view 'x'");
    check_transform(ctx, &s, model, &expected, "210", "abc", "2 columns, but the data has 3");
    kfe_matrix_free(&expected);
    kfe_model_free(model);
    kfe_data_free(train);
    free_sample(&s);
}

/* Views from files whose names match no view of the model are taken in order; if one name matches, all must. */
static void files_of_other_names_are_taken_in_order(void **state)
{
    kfe_context *ctx = *state;
    const char *const train[] = {support_text("ta.csv", "1,2\n3,1\n4,4\n0,2\n"),
                                 support_text("tb.csv", "5,a\n6,b\n7,a\n2,b\n")};
    kfe_data *data = NULL;
    kfe_matrix expected;
    kfe_matrix got = {0};

    assert_ok(ctx, kfe_data_read_views(ctx, 2, train, NULL, NULL, &data));
    kfe_model *model = support_fit(ctx, "koc", NULL, "rbf:gamma=0.4", data);
    expected = support_transform(ctx, model, data);
    kfe_data_free(data);
    const char *const fresh[] = {support_text("na.csv", "1,2\n3,1\n4,4\n0,2\n"),
                                 support_text("nb.csv", "5\n6\n7\n2\n")};
    assert_ok(ctx, kfe_data_read_views(ctx, 2, fresh, NULL, "label=none", &data));
    assert_ok(ctx, kfe_transform(ctx, model, data, &got));
    assert_memory_equal(got.values, expected.values, (size_t)(got.rows * got.cols) * sizeof *got.values);
    kfe_data_free(data);
    kfe_matrix_free(&got);
    const char *const mixed[] = {support_text("tb.csv", "5\n6\n"), support_text("nb.csv", "5\n6\n")};
    assert_ok(ctx, kfe_data_read_views(ctx, 2, mixed, NULL, "label=none", &data));
    assert_fails(ctx, KFE_EINPUT, "no view 'nb'", kfe_transform(ctx, model, data, &got));
    kfe_data_free(data);
    kfe_matrix_free(&expected);
    kfe_model_free(model);
}

/* Features of new data overflow: the message names the view, the row and the column, in any order of the views. */
static void overflow_names_the_view(void **state)
{
    kfe_context *ctx = *state;
    sample s = make_sample(ctx);
    kfe_data *train = join(ctx, &s, "012", "abc");
    kfe_model *model = support_fit(ctx, "koc", NULL, "poly:degree=3", train);

    s.x[2][4 * 3 + 1] = -1e150;
    s.x[2][4 * 3 + 2] = 1e149;
    check_transform(ctx, &s, model, NULL, "012", "abc", "c: row 5, column 2 is too large");
    check_transform(ctx, &s, model, NULL, "210", "cba", "c: row 5, column 2 is too large");
    kfe_model_free(model);
    kfe_data_free(train);
    free_sample(&s);
}

/* ---- memory ---- */

static kfe_status join_fit_and_transform(kfe_context *ctx, void *user)
{
    const sample *s = user;
    static const char *const names[2][2] = {{"a", "b"}, {"b", "a"}};
    static const char *const own[][2] = {{"b", "linear"}, {NULL, NULL}};
    const char *labels[ROWS];
    kfe_data *parts[2] = {NULL, NULL};
    kfe_data *joined[2] = {NULL, NULL};
    kfe_model *model = NULL;
    kfe_matrix out = {0};
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, 2, 2, s->x[0], &parts[0]);

    for (int i = 0; i < ROWS; i++)
        labels[i] = s->class_of[i] ? "yes" : "no";
    if (status == KFE_OK)
        status = kfe_data_wrap_dense(ctx, ROWS, 2, 2, s->x[1], &parts[1]);
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, parts[0], labels);
    for (int o = 0; status == KFE_OK && o < 2; o++) {
        const kfe_data *order[] = {parts[o], parts[!o]};
        status = kfe_data_join_views(ctx, 2, order, names[o], &joined[o]);
    }
    if (status == KFE_OK)
        status = fit_with(ctx, joined[0], NULL, own, &model);
    if (status == KFE_OK)
        status = kfe_transform(ctx, model, joined[1], &out);
    kfe_matrix_free(&out);
    kfe_model_free(model);
    for (int i = 0; i < 2; i++)
        kfe_data_free(joined[i]);
    for (int i = 0; i < 2; i++)
        kfe_data_free(parts[i]);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    sample s = make_sample(*state);

    support_sweep_all("two views", join_fit_and_transform, &s, 30);
    free_sample(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(names_come_from_files),
        with_context(a_single_file_has_a_short_name_and_messages_have_its_path),
        with_context(names_and_rows_must_fit),
        with_context(views_of_strings_and_of_numbers),
        with_context(joining_borrows_tables_and_copies_labels),
        with_context(joining_refuses),
        with_context(kernels_go_to_their_views),
        with_context(kernels_of_views_are_refused),
        with_context(searches_know_the_kernels_of_views),
        with_context(measures_are_of_single_views_too),
        with_context(new_data_is_arranged_by_name),
        with_context(files_of_other_names_are_taken_in_order),
        with_context(overflow_names_the_view),
        with_context(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
