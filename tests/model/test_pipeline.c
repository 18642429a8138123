/* SPDX-License-Identifier: Apache-2.0 */
/* Models with a classifier or regressor: files preserve every bit for all kinds of features, and files with
 * an unsuitable classifier or regressor are refused. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>

#include "support/model_file.h"
#include "support/points.h"
#include "support/sweep.h"

enum { ROWS = 30, COLS = 5, TRAIN = 20 };

typedef struct pipeline {
    const char *name, *method, *params, *kernel;
    select_table table;
    int needs_kernels; /* whether the learner needs a kernel */
} pipeline;

static const pipeline pipelines[] = {
    {"koc", "koc", "scale=standard", "rbf:gamma=0.2", SELECT_DENSE, 0},
    {"pca", "pca", "dim=3", NULL, SELECT_DENSE, 0},
    {"kpca", "kpca", "dim=3", "rbf:gamma=scale", SELECT_DENSE, 0},
    {"none", "none", "scale=minmax", NULL, SELECT_DENSE, 0},
    {"none csr", "none", "scale=l2-rows", NULL, SELECT_CSR, 0},
    {"on the kernel", "none", "scale=standard", "rbf:gamma=0.2", SELECT_DENSE, 1},
    {"on strings", "none", NULL, "spectrum:length=2", SELECT_TEXT, 1},
    {"on a given kernel", "none", NULL, "precomputed", SELECT_GIVEN, 1},
};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

/* ---- training and test rows ---- */

typedef struct halves {
    select_sample sample;
    kfe_data *train, *test;
} halves;

static halves make_halves(kfe_context *ctx, select_table table, int classes)
{
    halves h = {.sample = select_sample_make(ctx, table, ROWS, COLS, classes, 3)};
    int64_t rows[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    h.train = select_pick(&h.sample, rows, TRAIN, rows, TRAIN);
    h.test = select_pick(&h.sample, rows + TRAIN, ROWS - TRAIN, rows, TRAIN);
    return h;
}

static void free_halves(halves *h)
{
    kfe_data_free(h->train);
    kfe_data_free(h->test);
    select_sample_free(&h->sample);
}

static kfe_model *fit(kfe_context *ctx, const pipeline *p, const char *learner, const char *learner_params,
                      const kfe_data *train)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, p->method, p->params, p->kernel, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, learner_params));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    return model;
}

/* ---- files preserve every bit ---- */

static void assert_same_bits(const kfe_matrix *a, const kfe_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_memory_equal(a->values, b->values, (size_t)(a->rows * a->cols) * sizeof(double));
}

static void assert_same_description(kfe_context *ctx, const kfe_model *a, const kfe_model *b)
{
    char *texts[2] = {NULL, NULL};

    assert_ok(ctx, kfe_model_describe(ctx, a, KFE_STYLE_JSON, &texts[0]));
    assert_ok(ctx, kfe_model_describe(ctx, b, KFE_STYLE_JSON, &texts[1]));
    assert_string_equal(texts[0], texts[1]);
    kfe_string_free(ctx, texts[0]);
    kfe_string_free(ctx, texts[1]);
}

static void check_file(kfe_context *ctx, const kfe_model *model, const kfe_data *test)
{
    const char *path = support_path("pipeline.kfe");
    kfe_model *loaded = NULL;
    kfe_matrix before[2];
    kfe_matrix after[2];

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    assert_ok(ctx, kfe_model_load(ctx, path, &loaded));
    assert_string_equal(kfe_model_learner(loaded), kfe_model_learner(model));
    assert_int_equal(kfe_model_task(loaded), kfe_model_task(model));
    assert_int_equal(kfe_model_outputs(loaded), kfe_model_outputs(model));
    assert_ok(ctx, kfe_predict(ctx, model, test, &before[0], &before[1]));
    assert_ok(ctx, kfe_predict(ctx, loaded, test, &after[0], &after[1]));
    for (int i = 0; i < 2; i++) {
        assert_same_bits(&before[i], &after[i]);
        kfe_matrix_free(&after[i]);
    }
    assert_ok(ctx, kfe_predict(ctx, loaded, test, &after[0], NULL));
    assert_same_bits(&before[0], &after[0]);
    assert_int_equal(before[1].cols, kfe_model_outputs(model));
    assert_same_description(ctx, model, loaded);
    kfe_matrix_free(&after[0]);
    kfe_matrix_free(&before[0]);
    kfe_matrix_free(&before[1]);
    kfe_model_free(loaded);
}

/* Predictions are classes, mostly the right ones on the training rows, or values near the targets. */
static void check_answers(kfe_context *ctx, const kfe_model *model, const halves *h)
{
    kfe_matrix answers;
    double right = 0;
    double errors = 0;
    double mean = 0;
    double variation = 0;

    assert_ok(ctx, kfe_predict(ctx, model, h->train, &answers, NULL));
    assert_int_equal(answers.rows, TRAIN);
    assert_int_equal(answers.cols, 1);
    for (int64_t i = 0; i < TRAIN; i++) {
        assert_true(isfinite(answers.values[i]));
        if (h->sample.classes) {
            const char *name = kfe_model_class_name(model, (int64_t)answers.values[i]);
            assert_non_null(name);
            right += atoi(name + 1) == h->sample.class_of[i];
        } else {
            mean += h->sample.targets[i] / TRAIN;
            errors += pow(answers.values[i] - h->sample.targets[i], 2);
        }
    }
    for (int64_t i = 0; !h->sample.classes && i < TRAIN; i++)
        variation += pow(h->sample.targets[i] - mean, 2);
    if (!(h->sample.classes ? right > 0.6 * TRAIN : errors < 0.8 * variation))
        fail_msg("%s %s: %g right, or errors of %g where the targets vary by %g", kfe_model_method(model),
                 kfe_model_learner(model), right, errors, variation);
    kfe_matrix_free(&answers);
}

static void test_every_learner_on_every_pipeline(void **state)
{
    static const int classes[] = {2, 4, 0};
    kfe_context *ctx = *state;
    const kfe_entry_info *learner;

    for (int p = 0; p < PIPELINES; p++)
        for (int c = 0; c < 3; c++) {
            halves h = make_halves(ctx, pipelines[p].table, classes[c]);
            for (int l = 0; (learner = kfe_learner(l)); l++) {
                int takes = classes[c] || learner->flags & KFE_HAS_REGRESSION;
                int supervised = strcmp(pipelines[p].method, "koc") == 0;
                if (!takes || (pipelines[p].needs_kernels && !(learner->flags & KFE_HAS_KERNELS)) ||
                    (supervised && !classes[c]))
                    continue;
                kfe_model *model = fit(ctx, &pipelines[p], learner->name, NULL, h.train);
                check_file(ctx, model, h.test);
                if (pipelines[p].table != SELECT_TEXT || classes[c])
                    check_answers(ctx, model, &h);
                kfe_model_free(model);
            }
            free_halves(&h);
        }
}

static void test_every_kind_of_predictor(void **state)
{
    static const char *const cases[][2] = {{"knn", "neighbors=5,vote=distance"},
                                           {"svm", "multiclass=ovr"},
                                           {"svm", "multiclass=chain"},
                                           {"svm", "learner-kernel=rbf:gamma=scale"},
                                           {"svm", "learner-kernel=poly:degree=2"},
                                           {"linear-svm", "multiclass=chain,bias=no"},
                                           {"linear-svm", "multiclass=ovo,class-weights=balanced"},
                                           {"ls", "l2=0.5"}};
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int p = 0; p < 4; p++) {
            kfe_model *model = fit(ctx, &pipelines[p], cases[c][0], cases[c][1], h.train);
            check_file(ctx, model, h.test);
            check_answers(ctx, model, &h);
            kfe_model_free(model);
        }
    free_halves(&h);
}

/* ---- specifications ---- */

static void test_learner_of_a_specification(void **state)
{
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 2);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix answers;

    assert_ok(ctx, kfe_spec_parse(ctx, "pca", "dim=2", NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "knn", kfe_spec_set_learner(ctx, spec, "kn", NULL));
    assert_fails(ctx, KFE_EINVAL, "neighbors", kfe_spec_set_learner(ctx, spec, "knn", "neighbours=3"));
    assert_fails(ctx, KFE_EINVAL, "neighbors", kfe_spec_set_learner(ctx, spec, "knn", "neighbors=0"));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "svm", NULL));
    assert_fails(ctx, KFE_EINVAL, "C", kfe_spec_set(ctx, spec, "C", "0"));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", "neighbors=3"));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "vote", "distance"));
    assert_fails(ctx, KFE_EINVAL, "C", kfe_spec_set(ctx, spec, "C", "1"));
    assert_ok(ctx, kfe_fit(ctx, spec, h.train, &model));
    assert_string_equal(kfe_model_learner(model), "knn");
    kfe_model_free(model);
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, NULL, NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, h.train, &model));
    assert_null(kfe_model_learner(model));
    assert_int_equal(kfe_model_outputs(model), 0);
    assert_fails(ctx, KFE_EINVAL, "learner=knn", kfe_predict(ctx, model, h.test, &answers, NULL));
    assert_null(answers.values);
    kfe_model_free(model);
    kfe_spec_free(spec);
    free_halves(&h);
}

static void test_data_that_does_not_fit_is_refused(void **state)
{
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 2);
    halves real = make_halves(ctx, SELECT_DENSE, 0);
    double *x = support_normals(1, 3 * (COLS + 1));
    kfe_data *wide = support_dense(ctx, 3, COLS + 1, x, NULL);
    kfe_spec *spec = NULL;
    kfe_model *none = NULL;
    kfe_matrix answers;

    for (int p = 0; p < 4; p++) {
        kfe_model *model = fit(ctx, &pipelines[p], "knn", NULL, h.train);
        assert_fails(ctx, KFE_EINPUT, "5 columns", kfe_predict(ctx, model, wide, &answers, NULL));
        kfe_model_free(model);
    }
    assert_ok(ctx, kfe_spec_parse(ctx, "pca", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "centroid", NULL));
    assert_fails(ctx, KFE_EINPUT, "needs labels", kfe_fit(ctx, spec, wide, &none));
    assert_fails(ctx, KFE_EINPUT, "class labels", kfe_fit(ctx, spec, real.train, &none));
    assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, "rbf"));
    assert_fails(ctx, KFE_EINVAL, "takes no kernel", kfe_fit(ctx, spec, h.train, &none));
    assert_null(none);
    kfe_spec_free(spec);
    kfe_data_free(wide);
    free(x);
    free_halves(&h);
    free_halves(&real);
}

/* ---- files with wrong content ---- */

static model_file saved(kfe_context *ctx, const pipeline *p, const char *learner, const kfe_data *train)
{
    const char *path = support_path("damage.kfe");
    kfe_model *model = fit(ctx, p, learner, NULL, train);

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    kfe_model_free(model);
    return model_file_read(path);
}

/* Changes one key in the file's description of its learner; NULL deletes the key. */
static void describe_otherwise(model_file *f, const char *key, const char *value)
{
    json_t *metadata = model_file_metadata(f);
    json_t *entry = json_loads(json_string_value(json_object_get(metadata, "learner")), 0, NULL);

    assert_non_null(json_object_get(entry, key));
    if (value)
        json_object_set_new(entry, key, json_loads(value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(entry, key);
    char *text = json_dumps(entry, JSON_COMPACT);
    json_object_set_new(metadata, "learner", json_string(text));
    free(text);
    json_decref(entry);
}

/* learner, key, value */
static const char *const descriptions[][3] = {
    {"knn", "name", NULL},
    {"knn", "name", "7"},
    {"knn", "parameters", NULL},
    {"knn", "predictor", "\"oracle\""},
    {"knn", "predictor", "\"linear\""},
    {"knn", "predictor", "\"expansion\""},
    {"knn", "predictor", "\"direct\""},
    {"knn", "predictor", NULL},
    {"knn", "decision", "\"pairs\""},
    {"knn", "decision", "\"value\""},
    {"knn", "decision", "\"chance\""},
    {"knn", "outputs", "3"},
    {"knn", "outputs", "5"},
    {"knn", "outputs", "0"},
    {"knn", "outputs", "-4"},
    {"knn", "outputs", "\"4\""},
    {"knn", "outputs", "4611686018427387904"},
    {"knn", "rows", "19"},
    {"knn", "rows", "21"},
    {"knn", "rows", "0"},
    {"knn", "rows", "-20"},
    {"knn", "rows", "4611686018427387904"},
    {"knn", "neighbours", "0"},
    {"knn", "neighbours", "-1"},
    {"knn", "neighbours", "21"},
    {"ls", "outputs", "3"},
    {"ls", "rows", "2"},
    {"ls", "rows", "5"},
    {"ls", "predictor", "\"neighbours\""},
    {"ls", "decision", "\"chain\""},
    {"ls", "decision", "\"pairs\""},
    {"svm-rbf", "kernel", "\"rfb\""},
    {"svm-rbf", "kernel", "\"rbf:gamma=scale\""},
    {"svm-rbf", "kernel", "\"rbf:gamma=-1\""},
    {"svm-rbf", "kernel", "\"precomputed\""},
    {"svm-rbf", "kernel", "\"spectrum:length=2\""},
    {"svm-rbf", "kernel", "\"user:mine\""},
    {"svm-rbf", "kernel", NULL},
    {"svm-rbf", "rows", "1"},
    {"svm-rbf", "outputs", "4"},
    {"svm-rbf", "decision", "\"largest\""},
};

static void test_wrong_descriptions_are_refused(void **state)
{
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);

    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++) {
        int expansion = strcmp(descriptions[i][0], "svm-rbf") == 0;
        kfe_model *model = fit(ctx, &pipelines[1], expansion ? "svm" : descriptions[i][0],
                               expansion ? "learner-kernel=rbf:gamma=0.5" : NULL, h.train);
        char what[128];
        assert_ok(ctx, kfe_model_save(ctx, model, support_path("edit.kfe")));
        kfe_model_free(model);
        model_file f = model_file_read(support_path("edit.kfe"));
        describe_otherwise(&f, descriptions[i][1], descriptions[i][2]);
        snprintf(what, sizeof what, "%s: %s = %s", descriptions[i][0], descriptions[i][1],
                 descriptions[i][2]);
        model_file_assert_refused(ctx, &f, what, "");
        model_file_free(&f);
    }
    free_halves(&h);
}

/* Writes the setting {distance} under its former name, {metric}. */
static void use_former_setting(model_file *f)
{
    char text[2048];
    const char *spec = json_string_value(json_object_get(model_file_metadata(f), "spec"));
    const char *now = strstr(spec, "distance=");

    assert_non_null(now);
    snprintf(text, sizeof text, "%.*smetric=%s", (int)(now - spec), spec, now + strlen("distance="));
    json_object_set_new(model_file_metadata(f), "spec", json_string(text));
}

/* Files from before kfe 0.2 store the kind of predictor under the key "machine". */
static void test_files_of_former_versions_are_read(void **state)
{
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);
    model_file f = saved(ctx, &pipelines[1], "knn", h.train);
    json_t *entry =
        json_loads(json_string_value(json_object_get(model_file_metadata(&f), "learner")), 0, NULL);
    char *text;
    kfe_model *model = NULL;

    assert_int_equal(json_object_set(entry, "machine", json_object_get(entry, "predictor")), 0);
    assert_int_equal(json_object_del(entry, "predictor"), 0);
    text = json_dumps(entry, JSON_COMPACT);
    json_object_set_new(model_file_metadata(&f), "learner", json_string(text));
    use_former_setting(&f);
    assert_ok(ctx, model_file_load(ctx, &f, &model));
    check_answers(ctx, model, &h);
    kfe_model_free(model);
    free(text);
    json_decref(entry);
    model_file_free(&f);
    free_halves(&h);
}

static void test_wrong_numbers_are_refused(void **state)
{
    static const struct {
        const char *learner, *tensor;
        double value;
    } edits[] = {
        {"knn", "learner.answers", 4},        {"knn", "learner.answers", -1},
        {"knn", "learner.answers", 0.5},      {"knn", "learner.answers", 1e300},
        {"knn", "learner.answers", NAN},      {"knn", "learner.support", NAN},
        {"ls", "learner.weights", NAN},       {"ls", "learner.weights", INFINITY},
        {"ls", "learner.offset", NAN},        {"linear-svm", "learner.weights", -INFINITY},
        {"centroid", "learner.weights", NAN},
    };
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);

    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        model_file f = saved(ctx, &pipelines[1], edits[i].learner, h.train);
        model_file_put(&f, edits[i].tensor, 1, edits[i].value);
        model_file_assert_refused(ctx, &f, edits[i].tensor, "damaged");
        model_file_free(&f);
    }
    free_halves(&h);
}

static void test_wrong_tensors_are_refused(void **state)
{
    static const char *const edits[][3] = {{"knn", "learner.answers", "learner.anwsers"},
                                           {"knn", "learner.support", "learner.suport"},
                                           {"ls", "learner.weights", "learner.weight"},
                                           {"centroid", "learner.weights", "learner.w"}};
    static const char *const texts[] = {"[]", "{", "7", "{}", ""};
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);

    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        model_file f = saved(ctx, &pipelines[1], edits[i][0], h.train);
        model_file_rename(&f, edits[i][1], edits[i][2]);
        model_file_assert_refused(ctx, &f, edits[i][1], "learner");
        model_file_free(&f);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        model_file f = saved(ctx, &pipelines[1], "ls", h.train);
        json_object_set_new(model_file_metadata(&f), "learner", json_string(texts[i]));
        model_file_assert_refused(ctx, &f, texts[i], "learner");
        model_file_free(&f);
    }
    free_halves(&h);
}

/* The model's classes and task must agree with the predictor's. */
static void test_targets_must_fit_the_predictor(void **state)
{
    kfe_context *ctx = *state;
    halves h = make_halves(ctx, SELECT_DENSE, 4);
    halves real = make_halves(ctx, SELECT_DENSE, 0);

    for (int p = 1; p < 6; p += 4) {
        const char *learner = p == 1 ? "knn" : "svm";
        static const char *const keys[][2] = {
            {"classes", "[\"a\",\"b\"]"}, {"task", "real"}, {"task", "none"}};
        for (int e = 0; e < 3; e++) {
            model_file f = saved(ctx, &pipelines[p], learner, h.train);
            json_object_set_new(model_file_metadata(&f), keys[e][0], json_string(keys[e][1]));
            model_file_assert_refused(ctx, &f, keys[e][1], "");
            model_file_free(&f);
        }
        model_file f = saved(ctx, &pipelines[p], learner, real.train);
        json_object_set_new(model_file_metadata(&f), "task", json_string("classes"));
        json_object_set_new(model_file_metadata(&f), "classes", json_string("[\"a\",\"b\"]"));
        model_file_assert_refused(ctx, &f, "values as classes", "");
        model_file_free(&f);
    }
    free_halves(&h);
    free_halves(&real);
}

/* ---- failing allocations ---- */

typedef struct walk_request {
    const char *method, *kernel, *learner;
    int real, first; /* first: save the model that later uses load */
    const double *x;
    char saved[512], aside[512];
} walk_request;

static kfe_status walk(kfe_context *ctx, void *user)
{
    const walk_request *r = user;
    const char *labels[TRAIN];
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix answers = {0};
    kfe_matrix scores = {0};
    kfe_status status;

    for (int i = 0; i < TRAIN; i++)
        labels[i] = i % 2 ? "b" : "a";
    if ((status = kfe_data_wrap_dense(ctx, TRAIN, COLS, COLS, r->x, &data)) == KFE_OK &&
        (status = r->real ? kfe_data_set_targets(ctx, data, 2, r->x)
                          : kfe_data_set_labels(ctx, data, labels)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, r->method, NULL, r->kernel, &spec)) == KFE_OK &&
        (status = kfe_spec_set_learner(ctx, spec, r->learner, NULL)) == KFE_OK &&
        (status = kfe_fit(ctx, spec, data, &model)) == KFE_OK &&
        (status = r->first ? kfe_model_save(ctx, model, r->saved) : KFE_OK) == KFE_OK &&
        (status = kfe_model_load(ctx, r->saved, &loaded)) == KFE_OK &&
        (status = kfe_predict(ctx, loaded, data, &answers, &scores)) == KFE_OK)
        status = kfe_model_save(ctx, model, r->aside); /* last, because syncing a file is slow */
    kfe_matrix_free(&answers);
    kfe_matrix_free(&scores);
    kfe_model_free(model);
    kfe_model_free(loaded);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    walk_request requests[] = {{.method = "koc", .kernel = "rbf", .learner = "knn"},
                               {.method = "pca", .learner = "ls"},
                               {.method = "none", .learner = "knn", .real = 1},
                               {.method = "none", .learner = "ls", .real = 1},
                               {.method = "kfd", .kernel = "rbf", .learner = "centroid"}};
    double *x = support_normals(5, TRAIN * COLS);

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        walk_request *r = &requests[i];
        snprintf(r->saved, sizeof r->saved, "%s", support_path("saved.kfe"));
        snprintf(r->aside, sizeof r->aside, "%s", support_path("aside.kfe"));
        r->x = x;
        r->first = 1;
        assert_ok(*state, walk(*state, r));
        r->first = 0;
        support_sweep_all(r->method, walk, r, 60);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_learner_on_every_pipeline),
        cmocka_unit_test(test_every_kind_of_predictor),
        cmocka_unit_test(test_learner_of_a_specification),
        cmocka_unit_test(test_data_that_does_not_fit_is_refused),
        cmocka_unit_test(test_wrong_descriptions_are_refused),
        cmocka_unit_test(test_files_of_former_versions_are_read),
        cmocka_unit_test(test_wrong_numbers_are_refused),
        cmocka_unit_test(test_wrong_tensors_are_refused),
        cmocka_unit_test(test_targets_must_fit_the_predictor),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
