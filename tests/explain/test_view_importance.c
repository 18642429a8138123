/* SPDX-License-Identifier: Apache-2.0 */
/* Importance of views: what is lost without a view equals a fit of the same spec on the other views, made by hand and
 * judged by counting; planted views are found, and copies of a view can be dropped. */
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "model/model.h"
#include "support/fit.h"

enum { TRAIN = 120, TEST = 300, VIEWS = 4, COLS = 2 };
enum { GOOD, COPY, NOISE, EXTRA };
static const char *const names[VIEWS] = {"good", "copy", "noise", "extra"};

/* Tables of examples whose class depends on the views good and extra; copy is good once more. */
typedef struct planted {
    int64_t rows;
    double *tables[VIEWS];
    int *class_of;
    kfe_data *parts[VIEWS];
    kfe_data *data;
} planted;

static void join(kfe_context *ctx, planted *p)
{
    const kfe_data *parts[VIEWS];

    for (int v = 0; v < VIEWS; v++)
        parts[v] = p->parts[v];
    assert_ok(ctx, kfe_data_join_views(ctx, VIEWS, parts, names, &p->data));
}

static planted plant(kfe_context *ctx, uint64_t seed, int64_t rows)
{
    planted p = {.rows = rows};

    for (int v = 0; v < VIEWS; v++)
        p.tables[v] = support_normals(seed + (uint64_t)v, rows * COLS);
    memcpy(p.tables[COPY], p.tables[GOOD], (size_t)(rows * COLS) * sizeof(double));
    p.class_of = calloc((size_t)rows, sizeof *p.class_of);
    for (int64_t i = 0; i < rows; i++)
        p.class_of[i] = p.tables[GOOD][i * COLS] + 0.8 * p.tables[EXTRA][i * COLS] > 0;
    for (int v = 0; v < VIEWS; v++)
        p.parts[v] = support_dense(ctx, rows, COLS, p.tables[v], p.class_of);
    join(ctx, &p);
    return p;
}

static void planted_free(planted *p)
{
    kfe_data_free(p->data);
    for (int v = 0; v < VIEWS; v++) {
        kfe_data_free(p->parts[v]);
        free(p->tables[v]);
    }
    free(p->class_of);
}

/* The same examples without a view. */
static kfe_data *without(kfe_context *ctx, const planted *p, int view)
{
    const kfe_data *parts[VIEWS];
    const char *kept[VIEWS];
    kfe_data *data = NULL;
    int count = 0;

    for (int v = 0; v < VIEWS; v++)
        if (v != view) {
            kept[count] = names[v];
            parts[count++] = p->parts[v];
        }
    assert_ok(ctx, kfe_data_join_views(ctx, count, parts, kept, &data));
    return data;
}

/* A spec; `noise_kernel`, unless NULL, is the kernel of the view noise alone. */
typedef struct fitted_as {
    const char *method, *params, *kernel, *learner, *noise_kernel;
} fitted_as;

static kfe_model *fit(kfe_context *ctx, const fitted_as *as, const kfe_data *data, int has_noise)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, as->method, as->params, as->kernel, &spec));
    if (as->learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, as->learner, NULL));
    if (as->noise_kernel && has_noise)
        assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "noise", as->noise_kernel));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

static double accuracy(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const int *class_of)
{
    kfe_matrix predictions = {0};
    int64_t right = 0;

    assert_ok(ctx, kfe_predict(ctx, model, data, &predictions, NULL));
    for (int64_t i = 0; i < predictions.rows; i++)
        right += (int)predictions.values[i] == class_of[i];
    double share = (double)right / (double)predictions.rows;
    kfe_matrix_free(&predictions);
    return share;
}

/* What a program finds that saved and loaded the model. */
static kfe_result *explain_saved(kfe_context *ctx, const kfe_model *model, const kfe_data *train,
                                 const kfe_data *test)
{
    kfe_result *e = NULL;
    kfe_model *loaded = NULL;
    char *bytes = NULL;
    size_t size = 0;

    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    assert_ok(ctx, kfe_model_load_bytes(ctx, bytes, size, &loaded));
    assert_ok(ctx, kfe_explain_refit(ctx, loaded, train, test, "parts=views", &e));
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    return e;
}

static double value_of(const kfe_result *e, int view, const char *word)
{
    const kfe_column *column = kfe_table_find(kfe_result_find(e, "views"), word);

    if (!column)
        fail_msg("there is no column %s", word);
    return column->numbers[view];
}

/* ---- drop equals a fit by hand ---- */

static const fitted_as specs[] = {
    {"kpls", "dim=2", "rbf:gamma=scale", "ls", NULL},
    {"mkl", "svm-C=1,scale=standard", "rbf:gamma=0.3", NULL, "poly:degree=2"},
    {"lmkl", "svm-C=1,restarts=1", NULL, NULL, NULL},
    {"sldr", "svm-C=1,restarts=1,local-dim=1,gate=extra", NULL, NULL, NULL},
    {"none", "landmarks=20", "linear", "ls", NULL},
    {"none", NULL, "linear", "svm", "rbf:gamma=2"},
    {"kpca", "dim=4,calibration=platt,landmarks=30,landmark-by=random", "rbf", "linear-svm", NULL},
};
enum { SPECS = sizeof specs / sizeof *specs };

static void test_drop_equals_a_fit_by_hand(void **state)
{
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted test = plant(ctx, 40, TEST);

    for (int s = 0; s < SPECS; s++) {
        int gate_is_extra = specs[s].params && strstr(specs[s].params, "gate=extra");
        kfe_model *model = fit(ctx, &specs[s], train.data, 1);
        kfe_result *e = explain_saved(ctx, model, train.data, test.data);
        double all = accuracy(ctx, model, test.data, test.class_of);
        for (int v = 0; v < VIEWS; v++) {
            if (v == EXTRA && gate_is_extra) {
                assert_true(isnan(value_of(e, v, "drop")) != 0);
                continue;
            }
            kfe_data *some = without(ctx, &train, v);
            kfe_data *same = without(ctx, &test, v);
            kfe_model *rest = fit(ctx, &specs[s], some, v != NOISE);
            assert_true(fabs(value_of(e, v, "drop") - (all - accuracy(ctx, rest, same, test.class_of))) <
                        1e-12);
            kfe_model_free(rest);
            kfe_data_free(some);
            kfe_data_free(same);
        }
        kfe_result_free(e);
        kfe_model_free(model);
    }
    planted_free(&train);
    planted_free(&test);
}

/* ---- what a view is worth ---- */

static void test_planted_views_are_found(void **state)
{
    static const fitted_as found[] = {{"kpls", "dim=2", "linear", "ls", NULL},
                                      {"lmkl", "svm-C=1,restarts=1", NULL, NULL, NULL}};
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted test = plant(ctx, 40, TEST);

    for (int s = 0; s < 2; s++) {
        kfe_model *model = fit(ctx, &found[s], train.data, 1);
        kfe_result *e = explain_saved(ctx, model, train.data, test.data);
        /* without extra, sign(good) is right with probability 1/2 + atan(1/0.8)/π = 0.785 */
        assert_true(value_of(e, EXTRA, "drop") > 0.1);
        assert_true(value_of(e, EXTRA, "loss") > 0.1);
        assert_true(fabs(value_of(e, NOISE, "drop")) < 0.05);
        assert_true(fabs(value_of(e, NOISE, "loss")) < 0.05);
        for (int v = GOOD; v <= COPY; v++) {
            assert_true(value_of(e, v, "loss") > 0.05);
            assert_true(fabs(value_of(e, v, "drop")) < 0.03);
        }
        kfe_result_free(e);
        kfe_model_free(model);
    }
    planted_free(&train);
    planted_free(&test);
}

/* Other training data: both fits are made on it. */
static void test_other_training_data(void **state)
{
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted other = plant(ctx, 70, TRAIN);
    planted test = plant(ctx, 40, TEST);
    kfe_model *model = fit(ctx, &specs[0], train.data, 1);
    kfe_model *all = fit(ctx, &specs[0], other.data, 1);
    kfe_result *e = explain_saved(ctx, model, other.data, test.data);
    kfe_data *some = without(ctx, &other, GOOD);
    kfe_data *same = without(ctx, &test, GOOD);
    kfe_model *rest = fit(ctx, &specs[0], some, 1);

    assert_true(fabs(value_of(e, GOOD, "drop") - accuracy(ctx, all, test.data, test.class_of) +
                     accuracy(ctx, rest, same, test.class_of)) < 1e-12);
    kfe_result_free(e);
    support_catch_log(ctx);
    e = explain_saved(ctx, model, train.data, train.data);
    assert_non_null(strstr(support_log(), "views are dropped on the training data itself"));
    kfe_result_free(e);
    kfe_model_free(rest);
    kfe_model_free(all);
    kfe_model_free(model);
    kfe_data_free(some);
    kfe_data_free(same);
    planted_free(&train);
    planted_free(&other);
    planted_free(&test);
}

/* A gate that is given by number still sees the same view when an earlier one is dropped. */
static void test_gate_by_number(void **state)
{
    static const fitted_as by_number = {"lmkl", "svm-C=1,restarts=1,gate=4", NULL, NULL, NULL};
    static const fitted_as by_name = {"lmkl", "svm-C=1,restarts=1,gate=extra", NULL, NULL, NULL};
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted test = plant(ctx, 40, TEST);
    kfe_model *a = fit(ctx, &by_number, train.data, 1);
    kfe_model *b = fit(ctx, &by_name, train.data, 1);
    kfe_result *e = explain_saved(ctx, a, train.data, test.data);
    kfe_result *f = explain_saved(ctx, b, train.data, test.data);

    support_catch_log(ctx);
    for (int v = 0; v < EXTRA; v++)
        assert_true(value_of(e, v, "drop") == value_of(f, v, "drop"));
    assert_true(isnan(value_of(e, EXTRA, "drop")) != 0);
    kfe_result_free(e);
    kfe_result_free(f);
    kfe_model_free(a);
    kfe_model_free(b);
    planted_free(&train);
    planted_free(&test);
}

/* ---- other kinds of views ---- */

/* Strings that tell the class, and kernel matrices: views are permuted and dropped whatever they hold. */
static void test_strings_and_matrices(void **state)
{
    kfe_context *ctx = *state;
    enum { ROWS = 40 };
    double *x = support_normals(9, ROWS);
    double matrix[ROWS * ROWS];
    const char *texts[ROWS];
    int class_of[ROWS];
    kfe_data *parts[2] = {NULL};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    for (int i = 0; i < ROWS; i++) {
        class_of[i] = i % 2;
        texts[i] = i % 2 ? "abababa" : "ccdccdc";
        for (int j = 0; j < ROWS; j++)
            matrix[i * ROWS + j] = exp(-(x[i] - x[j]) * (x[i] - x[j]));
    }
    assert_ok(ctx, kfe_data_from_text(ctx, ROWS, texts, &parts[0]));
    support_label(ctx, parts[0], ROWS, class_of);
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, ROWS, ROWS, matrix, &parts[1]));
    const char *const called[2] = {"text", "matrix"};
    assert_ok(ctx, kfe_data_join_views(ctx, 2, (const kfe_data *const *)parts, called, &data));
    assert_ok(ctx, kfe_spec_parse(ctx, "kpls", "dim=2", NULL, &spec));
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "text", "spectrum"));
    assert_ok(ctx, kfe_spec_set_view_kernel(ctx, spec, "matrix", "precomputed"));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_result *e = explain_saved(ctx, model, data, data);
    assert_true(value_of(e, 0, "loss") > 0.2);
    assert_true(value_of(e, 0, "drop") > 0.1); /* a matrix of noise alone */
    assert_true(fabs(value_of(e, 1, "drop")) < 1e-12);
    kfe_result_free(e);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_data_free(parts[0]);
    kfe_data_free(parts[1]);
    free(x);
}

/* Training data with NaNs, as a file is read for the model, gives the fits that data with gaps gives. */
static void test_missing_values(void **state)
{
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted raw = plant(ctx, 3, TRAIN);
    planted test = plant(ctx, 40, TEST);

    for (int64_t i = 0; i < TRAIN; i += 5)
        train.tables[EXTRA][i * COLS] = raw.tables[EXTRA][i * COLS] = (double)NAN;
    assert_ok(ctx, kfe_data_set_missing(ctx, train.data, "median"));
    kfe_model *model = fit(ctx, &specs[0], train.data, 1);
    kfe_result *e = explain_saved(ctx, model, train.data, test.data);
    kfe_result *f = explain_saved(ctx, model, raw.data, test.data);
    for (int v = 0; v < VIEWS; v++) {
        assert_true(isfinite(value_of(e, v, "drop")));
        assert_true(value_of(e, v, "drop") == value_of(f, v, "drop"));
    }
    kfe_result_free(e);
    kfe_result_free(f);
    kfe_model_free(model);
    planted_free(&train);
    planted_free(&raw);
    planted_free(&test);
}

static double product(void *user, const double *x, const double *y, int64_t cols)
{
    double sum = 0;

    (void)user;
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    return sum;
}

/* A function of the user takes part in the refits, and equals the kernel of the library. */
static void test_user_kernel(void **state)
{
    static const fitted_as linear = {"kpls", "dim=2", "linear", "ls", NULL};
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    planted test = plant(ctx, 40, TEST);
    kfe_spec *spec = NULL;
    kfe_model *own = NULL;
    kfe_result *e = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kpls", "dim=2", NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, kfe_spec_add_user_kernel(ctx, spec, "product", product, NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, train.data, &own));
    kfe_model *model = fit(ctx, &linear, train.data, 1);
    assert_ok(ctx, kfe_explain_refit(ctx, own, train.data, test.data, "parts=views", &e));
    kfe_result *f = explain_saved(ctx, model, train.data, test.data);
    for (int v = 0; v < VIEWS; v++)
        assert_true(fabs(value_of(e, v, "drop") - value_of(f, v, "drop")) < 1e-12);
    kfe_result_free(e);
    kfe_result_free(f);
    kfe_model_free(model);
    kfe_model_free(own);
    kfe_spec_free(spec);
    planted_free(&train);
    planted_free(&test);
}

/* ---- what does not apply ---- */

static void test_what_does_not_apply(void **state)
{
    static const fitted_as one_view = {"kpls", "dim=2", "linear", "ls", NULL};
    static const fitted_as no_learner = {"kpls", "dim=2", "linear", NULL, NULL};
    kfe_context *ctx = *state;
    planted train = plant(ctx, 3, TRAIN);
    kfe_result *e = NULL;
    kfe_model *one = fit(ctx, &one_view, train.parts[GOOD], 0);
    kfe_model *features = fit(ctx, &no_learner, train.data, 1);
    kfe_model *old = fit(ctx, &specs[0], train.data, 1);

    assert_fails(ctx, KFE_EUNSUPPORTED, "needs several of them",
                 kfe_explain_refit(ctx, one, train.parts[GOOD], train.parts[GOOD], NULL, &e));
    assert_fails(ctx, KFE_EUNSUPPORTED, "features only",
                 kfe_explain_refit(ctx, features, train.data, train.data, NULL, &e));
    assert_fails(ctx, KFE_EUNSUPPORTED, "needs data with labels",
                 kfe_explain_refit(ctx, old, train.data, NULL, NULL, &e));
    assert_fails(ctx, KFE_EINVAL, "parts",
                 kfe_explain_refit(ctx, old, train.data, train.data, "parts=support", &e));
    kfe_i_free(ctx, old->given.options); /* as loaded from a file without a spec */
    old->given.options = NULL;
    assert_fails(ctx, KFE_EUNSUPPORTED, "does not say how the model was fitted",
                 kfe_explain_refit(ctx, old, train.data, train.data, NULL, &e));
    kfe_model_free(one);
    kfe_model_free(features);
    kfe_model_free(old);
    planted_free(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_drop_equals_a_fit_by_hand),
        with_context(test_planted_views_are_found),
        with_context(test_other_training_data),
        with_context(test_gate_by_number),
        with_context(test_strings_and_matrices),
        with_context(test_missing_values),
        with_context(test_user_kernel),
        with_context(test_what_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
