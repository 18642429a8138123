/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of every method with every kernel that it accepts, on every kind of data. Nothing here knows a
 * method by name; a new row of a table is covered without a new line. */
#include "support/subject.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "support/tolerance.h"

static const support_variant plain = {0};
static const support_variant plain_test = {.test = 1};

/* ---- checks ---- */

static int always(const support_subject *s)
{
    (void)s;
    return 1;
}

static void check_model_fits_its_data(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    support_made test = support_make(s, &plain_test);
    kfe_model *model = support_subject_fit(s, NULL, train.data);

    kfe_matrix f = support_transform(s->ctx, model, test.data);
    assert_string_equal(kfe_model_method(model), s->method->name);
    assert_true(f.cols >= 1);
    assert_int_equal(f.rows, SUBJECT_TEST_ROWS);
    assert_int_equal(kfe_model_views(model), 1);
    assert_int_equal(kfe_model_cols(model, 0), kfe_data_cols(train.data, 0));
    assert_int_equal(kfe_model_takes_strings(model, 0), support_subject_takes_strings(s));
    assert_int_equal(kfe_model_classes(model), kfe_data_classes(train.data));
    assert_string_equal(kfe_model_class_name(model, 0), "c0");
    assert_null(kfe_model_class_name(model, kfe_data_classes(train.data)));
    assert_true(kfe_model_support_size(model) <= SUBJECT_ROWS);
    for (int64_t i = 0; i < f.rows * f.cols; i++)
        assert_true(isfinite(f.values[i]));
    assert_true(support_largest(f.rows * f.cols, f.values) > 0);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    support_made_free(&train);
    support_made_free(&test);
}

static void check_one_seed_gives_the_same_bits(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    support_made test = support_make(s, &plain_test);
    kfe_matrix first = support_subject_features(s, NULL, train.data, test.data);
    kfe_model *model = support_subject_fit(s, NULL, train.data);
    kfe_matrix second = support_transform(s->ctx, model, test.data);
    kfe_matrix third = support_transform(s->ctx, model, test.data);

    support_same_bits(&first, &second);
    support_same_bits(&second, &third);
    kfe_matrix_free(&first);
    kfe_matrix_free(&second);
    kfe_matrix_free(&third);
    kfe_model_free(model);
    support_made_free(&train);
    support_made_free(&test);
}

static char *description(const support_subject *s, const kfe_model *model, kfe_style style)
{
    char *text = NULL;

    assert_ok(s->ctx, kfe_model_describe(s->ctx, model, style, &text));
    return text;
}

/* Names of records consist of small letters, digits and dashes. */
static void check_record_names(const kfe_model *model)
{
    const char *name;

    for (int64_t i = 0; (name = kfe_model_record_name(model, i)) != NULL; i++)
        if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
            fail_msg("the record '%s' of %s", name, kfe_model_method(model));
}

static void check_file(const support_subject *s, const char *params, const support_variant *variant)
{
    support_made train = support_make(s, variant);
    support_made test = support_make(s, &plain_test);
    const char *path = support_path("conformance.kfe");
    kfe_model *model = support_subject_fit(s, params, train.data);
    kfe_model *loaded = NULL;

    check_record_names(model);
    assert_ok(s->ctx, kfe_model_save(s->ctx, model, path));
    assert_ok(s->ctx, kfe_model_load(s->ctx, path, &loaded));
    kfe_matrix before = support_transform(s->ctx, model, test.data);
    kfe_matrix after = support_transform(s->ctx, loaded, test.data);
    char *told = description(s, model, KFE_STYLE_JSON);
    char *told_again = description(s, loaded, KFE_STYLE_JSON);
    support_same_bits(&before, &after);
    assert_string_equal(told, told_again);
    kfe_string_free(s->ctx, told);
    kfe_string_free(s->ctx, told_again);
    kfe_matrix_free(&before);
    kfe_matrix_free(&after);
    kfe_model_free(model);
    kfe_model_free(loaded);
    support_made_free(&train);
    support_made_free(&test);
}

static void check_file_keeps_every_bit(const support_subject *s)
{
    check_file(s, NULL, &plain);
    if (support_subject_has_points(s)) {
        check_file(s, "scale=minmax", &plain);
        check_file(s, NULL, &(support_variant){.sparse = 1});
    }
}

static void check_sparse_equals_dense(const support_subject *s)
{
    support_made dense = support_make(s, &plain);
    support_made sparse = support_make(s, &(support_variant){.sparse = 1});
    support_made dense_test = support_make(s, &plain_test);
    support_made sparse_test = support_make(s, &(support_variant){.sparse = 1, .test = 1});
    kfe_matrix expected = support_subject_features(s, NULL, dense.data, dense_test.data);
    kfe_matrix both = support_subject_features(s, NULL, sparse.data, sparse_test.data);
    kfe_matrix mixed = support_subject_features(s, NULL, dense.data, sparse_test.data);

    assert_int_equal(both.cols, expected.cols);
    support_same_features(s, &expected, &both, DBL_EPSILON);
    support_same_features(s, &expected, &mixed, DBL_EPSILON);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&both);
    kfe_matrix_free(&mixed);
    support_made_free(&dense);
    support_made_free(&sparse);
    support_made_free(&dense_test);
    support_made_free(&sparse_test);
}

/* Kernel values between new and training examples may be given as compressed sparse rows. */
static void check_sparse_kernel_values_equal_dense(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    support_made sparse_test = support_make(s, &(support_variant){.sparse = 1, .test = 1, .zeros = 1});
    support_made holes = support_make(s, &(support_variant){.test = 1, .zeros = 1});
    kfe_matrix expected = support_subject_features(s, NULL, train.data, holes.data);
    kfe_matrix got = support_subject_features(s, NULL, train.data, sparse_test.data);

    support_same_bits(&expected, &got);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    support_made_free(&train);
    support_made_free(&sparse_test);
    support_made_free(&holes);
}

static void check_threads_change_rounding_only(const support_subject *s)
{
    support_made train = support_make(s, &plain);

    assert_ok(s->ctx, kfe_context_set_threads(s->ctx, 1));
    kfe_matrix one = support_subject_features(s, NULL, train.data, train.data);
    assert_ok(s->ctx, kfe_context_set_threads(s->ctx, 2));
    kfe_matrix two = support_subject_features(s, NULL, train.data, train.data);
    kfe_matrix two_again = support_subject_features(s, NULL, train.data, train.data);
    assert_int_equal(one.cols, two.cols);
    support_same_features(s, &one, &two, DBL_EPSILON);
    support_same_bits(&two, &two_again);
    kfe_matrix_free(&one);
    kfe_matrix_free(&two);
    kfe_matrix_free(&two_again);
    support_made_free(&train);
}

static void check_storage_changes_precision_only(const support_subject *s)
{
    static const char *const storages[] = {"gram=auto", "gram=tiled", "gram=f32"};
    support_made train = support_make(s, &plain);
    kfe_matrix stored = support_subject_features(s, "gram=f64", train.data, train.data);

    for (int i = 0; i < 3; i++) {
        kfe_matrix other = support_subject_features(s, storages[i], train.data, train.data);
        support_same_features(s, &stored, &other, i == 2 ? TOLERANCE_SINGLE : DBL_EPSILON);
        kfe_matrix_free(&other);
    }
    kfe_matrix_free(&stored);
    support_made_free(&train);
}

/* Examples that are held out are drawn by number, so that none may be. */
static const char *draw_none(const support_subject *s)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(s->method_index, i)); i++)
        if (strcmp(row->name, "held-out") == 0)
            return "held-out=0";
    return NULL;
}

static void check_order_of_examples_does_not_matter(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    support_made reversed = support_make(s, &(support_variant){.reversed = 1});
    kfe_matrix expected = support_subject_features(s, draw_none(s), train.data, train.data);
    kfe_matrix got = support_subject_features(s, draw_none(s), reversed.data, reversed.data);
    kfe_matrix sorted = {got.rows, got.cols, got.cols, calloc((size_t)(got.rows * got.cols), sizeof(double)),
                         NULL};

    for (int64_t i = 0; i < got.rows; i++)
        memcpy(sorted.values + support_reversed_row(i) * got.cols, got.values + i * got.cols,
               (size_t)got.cols * sizeof(double));
    assert_int_equal(expected.cols, got.cols);
    support_same_features(s, &expected, &sorted, DBL_EPSILON);
    free(sorted.values);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    support_made_free(&train);
    support_made_free(&reversed);
}

/* ---- refused input ---- */

static void assert_fit_refused(const support_subject *s, const support_variant *variant, const char *text)
{
    support_made made = support_make(s, variant);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, NULL, support_subject_kernel(s), &spec));
    assert_fails(s->ctx, KFE_EINPUT, text, kfe_fit(s->ctx, spec, made.data, &model));
    assert_null(model);
    kfe_spec_free(spec);
    support_made_free(&made);
}

static void assert_transform_refused(const support_subject *s, const support_variant *variant,
                                     const char *text, const char *more_text)
{
    support_made train = support_make(s, &plain);
    support_made made = support_make(s, variant);
    kfe_model *model = support_subject_fit(s, NULL, train.data);
    kfe_matrix f;

    assert_fails(s->ctx, KFE_EINPUT, text, kfe_transform(s->ctx, model, made.data, &f));
    assert_non_null(strstr(kfe_error_message(s->ctx), more_text));
    assert_null(f.values);
    kfe_model_free(model);
    support_made_free(&train);
    support_made_free(&made);
}

static int on_numbers(const support_subject *s)
{
    return !support_subject_takes_strings(s);
}

static void check_bad_numbers_are_refused(const support_subject *s)
{
    char fitted[32];
    int given = support_subject_is_precomputed(s);

    snprintf(fitted, sizeof fitted, "%d columns", given ? SUBJECT_ROWS : SUBJECT_COLS);
    assert_fit_refused(s, &(support_variant){.first_value = NAN}, "row 1, column 1");
    assert_fit_refused(s, &(support_variant){.first_value = INFINITY}, "row 1, column 1");
    assert_transform_refused(s, &(support_variant){.test = 1, .first_value = NAN}, "row 1, column 1",
                             "not a finite number");
    assert_transform_refused(s, &(support_variant){.test = 1, .cols = 4}, fitted, "has 4");
    if (!given)
        assert_transform_refused(s, &(support_variant){.test = 1, .cols = 9}, fitted, "has 9");
}

static int is_supervised(const support_subject *s)
{
    return (s->method->flags & KFE_HAS_SUPERVISION) != 0;
}

static void check_targets_it_cannot_use_are_refused(const support_subject *s)
{
    assert_fit_refused(s, &(support_variant){.unlabelled = 1}, "needs labels");
    assert_fit_refused(s, &(support_variant){.one_class = 1}, "two classes");
    if (!(s->method->flags & KFE_HAS_REGRESSION))
        assert_fit_refused(s, &(support_variant){.real_targets = 1}, "class labels");
}

static int needs_no_labels(const support_subject *s)
{
    return !is_supervised(s) || s->method->flags & KFE_HAS_REGRESSION;
}

/* kcca and its like need no labels, but take a target in place of a second view. */
static int compares_views(const support_subject *s)
{
    return !is_supervised(s) && s->method->flags & KFE_HAS_REGRESSION && s->method->flags & KFE_HAS_MULTIVIEW;
}

static void check_it_works_without_classes(const support_subject *s)
{
    const support_variant variants[] = {{.unlabelled = 1}, {.real_targets = 1}, {.one_class = 1}};
    int needs_target = is_supervised(s) || compares_views(s);

    if (compares_views(s))
        assert_fit_refused(s, &variants[0], "there is one and no target");
    for (int v = needs_target; v < (needs_target ? 2 : 3); v++) {
        support_made train = support_make(s, &variants[v]);
        kfe_matrix f = support_subject_features(s, NULL, train.data, train.data);
        assert_true(f.cols >= 1);
        kfe_matrix_free(&f);
        support_made_free(&train);
    }
}

/* ---- parameters ---- */

static int has_dim(const support_subject *s)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(s->method_index, i)); i++)
        if (strcmp(row->name, "dim") == 0)
            return 1;
    return 0;
}

static void check_more_features_than_there_are(const support_subject *s)
{
    support_made train = support_make(s, &plain);

    support_catch_log(s->ctx);
    kfe_matrix f = support_subject_features(s, "dim=4321", train.data, train.data);
    const char *log = support_log();
    assert_true(f.cols >= 1 && f.cols <= SUBJECT_ROWS);
    assert_non_null(strstr(log, "4321 features were asked for"));
    for (int64_t i = 0; i < f.rows * f.cols; i++)
        assert_true(isfinite(f.values[i]));
    kfe_matrix one = support_subject_features(s, "dim=1", train.data, train.data);
    assert_int_equal(one.cols, 1);
    kfe_matrix_free(&f);
    kfe_matrix_free(&one);
    support_made_free(&train);
}

static void check_every_parameter_is_described(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    const kfe_param_info *row;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, NULL, support_subject_kernel(s), &spec));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train.data, &model));
    kfe_matrix expected = support_transform(s->ctx, model, train.data);
    kfe_model_free(model);
    model = NULL;
    for (int i = 0; (row = kfe_method_param(s->method_index, i)); i++)
        assert_ok(s->ctx, kfe_spec_set(s->ctx, spec, row->name, row->initial));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train.data, &model));
    kfe_matrix got = support_transform(s->ctx, model, train.data);
    support_same_bits(&expected, &got);

    char *text = description(s, model, KFE_STYLE_TEXT);
    char *json_text = description(s, model, KFE_STYLE_JSON);
    json_t *json = json_loads(json_text, 0, NULL);
    assert_non_null(strstr(text, s->method->name));
    if (kfe_model_kernels(model) > 0) /* gkdr uses a kernel to find linear directions */
        assert_non_null(strstr(text, s->kernel->name));
    assert_string_equal(json_string_value(json_object_get(json, "method")), s->method->name);
    assert_int_equal(json_integer_value(json_object_get(json, "features")), got.cols);
    for (int i = 0; (row = kfe_method_param(s->method_index, i)); i++) {
        const json_t *value = json_object_get(json_object_get(json, "parameters"), row->name);
        assert_non_null(strstr(text, row->name));
        assert_non_null(value);
        assert_string_equal(json_string_value(value), row->initial);
    }
    assert_fails(s->ctx, KFE_EINVAL, "no-such-key", kfe_spec_set(s->ctx, spec, "no-such-key", "1"));
    json_decref(json);
    kfe_string_free(s->ctx, text);
    kfe_string_free(s->ctx, json_text);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    kfe_spec_free(spec);
    support_made_free(&train);
}

/* ---- cancellation ---- */

/* Cancels a fit at its question number `left` (from 0). */
typedef struct patience {
    int64_t left, asked;
} patience;

static int stop_when_asked(void *user)
{
    patience *p = user;
    return p->asked++ >= p->left;
}

static kfe_status fit_patiently(const support_subject *s, const kfe_data *train, patience *p)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, NULL, support_subject_kernel(s), &spec));
    kfe_context_on_cancel(s->ctx, stop_when_asked, p);
    kfe_status status = kfe_fit(s->ctx, spec, train, &model);
    kfe_context_on_cancel(s->ctx, NULL, NULL);
    assert_int_equal(model == NULL, status != KFE_OK);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

/* `none` copies columns. */
static int computes_features(const support_subject *s)
{
    return strcmp(s->method->name, "none") != 0;
}

/* Every fit asks at least once whether to continue, and stops whenever it is told to: at the first question,
 * at the last one, and in between. */
static void check_cancelling_leaves_nothing(const support_subject *s)
{
    support_made train = support_make(s, &plain);
    patience whole = {.left = INT64_MAX};

    assert_int_equal(fit_patiently(s, train.data, &whole), KFE_OK);
    if (whole.asked == 0)
        fail_msg("%s %s never asks whether it was cancelled", s->method->name, s->kernel->name);
    for (int64_t left = 0; left < whole.asked; left += 1 + whole.asked / 3) {
        patience p = {.left = left};
        assert_int_equal(fit_patiently(s, train.data, &p), KFE_ECANCEL);
        assert_int_equal(p.asked, left + 1);
    }
    patience last = {.left = whole.asked - 1};
    assert_int_equal(fit_patiently(s, train.data, &last), KFE_ECANCEL);
    support_made_free(&train);
}

/* ---- methods with a predictor of their own ---- */

static int learns_svms(const support_subject *s)
{
    return (s->method->flags & KFE_HAS_PREDICTOR) != 0;
}

static kfe_matrix own_predictions(const support_subject *s, const char *params, const kfe_data *train,
                                  const kfe_data *test)
{
    kfe_model *model = support_subject_fit(s, params, train);
    kfe_matrix predictions = {0};

    assert_string_equal(kfe_model_learner(model), s->method->name);
    assert_ok(s->ctx, kfe_predict(s->ctx, model, test, &predictions, NULL));
    kfe_model_free(model);
    return predictions;
}

static void check_predictions_survive_rounding(const support_subject *s)
{
    static const char *const storage[] = {"gram=tiled", "gram=f64"};
    support_made train = support_make(s, &plain);
    kfe_matrix expected = own_predictions(s, NULL, train.data, train.data);

    for (int i = 0; i < 2; i++) {
        kfe_matrix got = own_predictions(s, storage[i], train.data, train.data);
        int same = 0;
        for (int64_t r = 0; r < SUBJECT_ROWS; r++)
            same += got.values[r] == expected.values[r];
        assert_int_equal(same, SUBJECT_ROWS);
        kfe_matrix_free(&got);
    }
    kfe_matrix_free(&expected);
    support_made_free(&train);
}

/* ---- all of them ---- */

static const support_check checks[] = {
    {"the model fits its data", check_model_fits_its_data, always, 0},
    {"one seed gives the same bits", check_one_seed_gives_the_same_bits, always, 0},
    {"the file keeps every bit", check_file_keeps_every_bit, always, 0},
    {"sparse equals dense", check_sparse_equals_dense, support_subject_has_points, 1},
    {"sparse kernel values equal dense", check_sparse_kernel_values_equal_dense,
     support_subject_is_precomputed, 0},
    {"threads change rounding only", check_threads_change_rounding_only, always, 1},
    {"storage changes precision only", check_storage_changes_precision_only, always, 1},
    {"the order of examples does not matter", check_order_of_examples_does_not_matter, always, 1},
    {"bad numbers are refused", check_bad_numbers_are_refused, on_numbers, 0},
    {"targets it cannot use are refused", check_targets_it_cannot_use_are_refused, is_supervised, 0},
    {"it works without classes", check_it_works_without_classes, needs_no_labels, 0},
    {"more features than there are", check_more_features_than_there_are, has_dim, 0},
    {"every parameter is described", check_every_parameter_is_described, always, 0},
    {"predictions survive rounding", check_predictions_survive_rounding, learns_svms, 0},
    {"cancelling leaves nothing", check_cancelling_leaves_nothing, computes_features, 0},
};

int main(void)
{
    return support_run_checks("conformance", sizeof checks / sizeof *checks, checks);
}
