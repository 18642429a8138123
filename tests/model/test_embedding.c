/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for bindings of other languages: models as bytes, the numbers inside a model, names of columns, and
 * scores per class. */
#include "support/fit.h"
#include "support/sample.h"
#include "support/sweep.h"

#include <math.h>

#include <stdio.h>

enum { ROWS = 30, COLS = 3, CLASSES = 3 };

static support_sample make_sample(kfe_context *ctx)
{
    return support_sample_make(
        ctx, &(support_shape){.seed = 7, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 3});
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    size_t count = fread(bytes, 1, size, file);
    assert_int_equal(fclose(file), 0);
    return count;
}

static void test_bytes_are_those_of_the_file(void **state)
{
    static char file[100000];
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "kpca", "dim=2", "rbf:gamma=0.1", s.data);
    kfe_model *loaded = NULL;
    char *bytes = NULL;
    size_t size = 0;

    assert_ok(ctx, kfe_model_save(ctx, model, support_path("m.kfe")));
    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    assert_int_equal(read_file(support_path("m.kfe"), file, sizeof file), size);
    assert_memory_equal(file, bytes, size);
    assert_ok(ctx, kfe_model_load_bytes(ctx, bytes, size, &loaded));
    kfe_matrix expected = support_transform(ctx, model, s.data);
    kfe_matrix got = support_transform(ctx, loaded, s.data);
    assert_memory_equal(got.values, expected.values, (size_t)(got.rows * got.cols) * sizeof(double));
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_string_free(ctx, bytes);
    kfe_model_free(model);
    kfe_model_free(loaded);
    support_sample_free(&s);
}

/* features(x) = Aᵀκ(S, x) − offset, with S taken from the data by the support's index. */
static void test_kernel_projector_can_be_taken_apart(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "sma", "dim=4,center=yes", "rbf:gamma=0.1", s.data);
    kfe_matrix z = support_transform(ctx, model, s.data);
    double *kernel = support_rbf(ROWS, s.x, ROWS, s.x, COLS, 0.1);
    const int64_t *index = kfe_model_support_index(model);
    const double *offset = kfe_model_offset(model);
    int64_t support = -1;
    const double *a = kfe_model_coefficients(model, &support);
    double worst = 0;

    assert_int_equal(support, kfe_model_support_size(model));
    assert_non_null(offset);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < z.cols; j++) {
            double sum = -offset[j];
            for (int64_t p = 0; p < support; p++)
                sum += a[p * z.cols + j] * kernel[index[p] * ROWS + i];
            double error = sum - z.values[i * z.stride + j];
            worst = error * error > worst ? error * error : worst;
        }
    assert_below(worst, 1e-20 * support_largest(z.rows * z.cols, z.values));
    free(kernel);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    support_sample_free(&s);
}

static void test_linear_projectors_and_the_identity(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "pca", "dim=2", NULL, s.data);
    int64_t rows = -1;
    int64_t count = 0;

    assert_non_null(kfe_model_coefficients(model, &rows));
    assert_int_equal(rows, COLS);
    assert_null(kfe_model_support_index(model));
    assert_string_equal(kfe_model_record_name(model, 0), "eigenvalues");
    assert_non_null(kfe_model_record(model, kfe_model_record_name(model, 0), &count));
    assert_null(kfe_model_record_name(model, 1));
    assert_null(kfe_model_record_name(model, -1));
    kfe_model_free(model);
    model = support_fit(ctx, "none", NULL, NULL, s.data);
    assert_null(kfe_model_coefficients(model, &rows));
    assert_int_equal(rows, 0);
    assert_null(kfe_model_offset(model));
    kfe_model_free(model);
    support_sample_free(&s);
}

/* With one part the features are its projections, because the gate has no choice. */
static void test_localized_projector_can_be_taken_apart(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "sldr", "local-dim=2", "linear", s.data);
    kfe_matrix z = support_transform(ctx, model, s.data);
    int64_t rows = -1;
    int64_t dim = -1;

    assert_null(kfe_model_part(model, 1));
    assert_null(kfe_model_part(model, -1));
    const kfe_part_info *part = kfe_model_part(model, 0);
    assert_int_equal(part->view, 0);
    assert_int_equal(part->cols, COLS);
    assert_int_equal(part->dim, 2);
    assert_int_equal(part->mapped, 0);
    assert_non_null(kfe_model_gate_weights(model, &dim));
    assert_int_equal(dim, 2);
    assert_non_null(kfe_model_gate_offset(model));
    assert_non_null(part->gating);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < 2; j++) {
            double sum = 0;
            for (int64_t k = 0; k < COLS; k++)
                sum += s.x[i * COLS + k] * part->projection[k * 2 + j];
            assert_below(fabs(z.values[i * z.stride + j] - sum), 1e-12);
        }
    assert_null(kfe_model_coefficients(model, &rows));
    assert_non_null(kfe_model_support_index(model));
    kfe_matrix_free(&z);
    kfe_model_free(model);
    model = support_fit(ctx, "pca", NULL, NULL, s.data);
    assert_null(kfe_model_part(model, 0));
    assert_null(kfe_model_gate_weights(model, &dim));
    assert_int_equal(dim, 0);
    assert_null(kfe_model_gate_offset(model));
    kfe_model_free(model);
    support_sample_free(&s);
}

static void test_names_of_columns(void **state)
{
    static const char *const names[] = {"länge", "width", "height"};
    static const char *const others[] = {"länge", "height", "width"};
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_matrix z = {0};

    assert_ok(ctx, kfe_data_set_column_names(ctx, s.data, 0, others));
    assert_ok(ctx, kfe_data_set_column_names(ctx, s.data, 0, names));
    assert_string_equal(kfe_data_column_name(s.data, 0, 1), "width");
    kfe_model *model = support_fit(ctx, "koc", NULL, "linear", s.data);
    assert_string_equal(kfe_model_column_name(model, 0, 0), "länge");
    assert_string_equal(kfe_model_column_name(model, 0, 2), "height");
    assert_null(kfe_model_column_name(model, 0, 3));
    assert_null(kfe_model_column_name(model, 1, 0));
    assert_ok(ctx, kfe_data_set_column_names(ctx, s.data, 0, others));
    assert_fails(ctx, KFE_EINPUT, "width", kfe_transform(ctx, model, s.data, &z));
    assert_fails(ctx, KFE_EINVAL, "no view 1", kfe_data_set_column_names(ctx, s.data, 1, names));
    kfe_model_free(model);
    support_sample_free(&s);
}

static void test_targets(void **state)
{
    const double targets[] = {1, 2.5, 3, 4, 5, 6};
    double x[] = {1, 2, 3};
    kfe_context *ctx = *state;
    kfe_data *data = support_dense(ctx, 3, 1, x, NULL);
    int64_t cols = -1;

    assert_null(kfe_data_targets(data, &cols));
    assert_int_equal(cols, 0);
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 2, targets));
    assert_memory_equal(kfe_data_targets(data, &cols), targets, sizeof targets);
    assert_int_equal(cols, 2);
    kfe_data_free(data);
}

/* ---- scores per class ---- */

static kfe_model *fit_learner(kfe_context *ctx, const char *learner, const char *params, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf:gamma=0.1", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, params));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

static int64_t largest_of(const kfe_matrix *m, int64_t row)
{
    int64_t best = 0;

    for (int64_t j = 1; j < m->cols; j++)
        if (m->values[row * m->stride + j] > m->values[row * m->stride + best])
            best = j;
    return best;
}

/* The class with the largest score is the predicted one, in every multiclass scheme. */
static void test_class_scores_agree_with_predictions(void **state)
{
    static const char *const learners[][2] = {{"svm", "multiclass=ovo"},
                                              {"svm", "multiclass=ovr"},
                                              {"knn", NULL},
                                              {"ls", NULL},
                                              {"centroid", NULL}};
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);

    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++) {
        kfe_model *model = fit_learner(ctx, learners[l][0], learners[l][1], s.data);
        kfe_matrix answers = {0};
        kfe_matrix outputs = {0};
        kfe_matrix scores = {0};
        assert_ok(ctx, kfe_predict(ctx, model, s.data, &answers, &outputs));
        assert_ok(ctx, kfe_class_scores(ctx, model, &outputs, &scores));
        assert_int_equal(scores.cols, CLASSES);
        for (int64_t i = 0; i < ROWS; i++)
            assert_int_equal(largest_of(&scores, i), (int64_t)answers.values[i]);
        kfe_matrix_free(&scores);
        answers.cols = CLASSES + 4;
        assert_fails(ctx, KFE_EINVAL, "7 columns", kfe_class_scores(ctx, model, &answers, &scores));
        kfe_matrix_free(&answers);
        kfe_matrix_free(&outputs);
        kfe_model_free(model);
    }
    support_sample_free(&s);
}

static void test_class_scores_where_there_are_none(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    kfe_model *model = support_fit(ctx, "koc", NULL, NULL, s.data);

    assert_fails(ctx, KFE_EINVAL, "features only", kfe_class_scores(ctx, model, &outputs, &scores));
    kfe_model_free(model);
    assert_ok(ctx, kfe_data_set_targets(ctx, s.data, 1, s.x));
    kfe_spec *spec = NULL;
    assert_ok(ctx, kfe_spec_parse(ctx, "kpca", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, s.data, &model));
    assert_fails(ctx, KFE_EINVAL, "numbers", kfe_class_scores(ctx, model, &outputs, &scores));
    kfe_spec_free(spec);
    kfe_model_free(model);
    support_sample_free(&s);
}

/* ---- failing allocations ---- */

static kfe_status walk(kfe_context *ctx, void *user)
{
    const double *x = user;
    static const char *const names[] = {"a", "b", "c"};
    static const char *const labels[] = {"u", "v", "w", "u", "v", "w", "u", "v", "w"};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_matrix answers = {0};
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    char *bytes = NULL;
    size_t size = 0;
    kfe_status status;

    if ((status = kfe_data_wrap_dense(ctx, 9, COLS, COLS, x, &data)) == KFE_OK &&
        (status = kfe_data_set_labels(ctx, data, labels)) == KFE_OK &&
        (status = kfe_data_set_column_names(ctx, data, 0, names)) == KFE_OK &&
        (status = kfe_data_set_column_names(ctx, data, 0, names)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, "oc", NULL, NULL, &spec)) == KFE_OK &&
        (status = kfe_spec_set_learner(ctx, spec, "ls", NULL)) == KFE_OK &&
        (status = kfe_fit(ctx, spec, data, &model)) == KFE_OK &&
        (status = kfe_predict(ctx, model, data, &answers, &outputs)) == KFE_OK &&
        (status = kfe_class_scores(ctx, model, &outputs, &scores)) == KFE_OK)
        status = kfe_model_save_bytes(ctx, model, &bytes, &size);
    kfe_string_free(ctx, bytes);
    kfe_matrix_free(&scores);
    kfe_matrix_free(&outputs);
    kfe_matrix_free(&answers);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    double *x = support_normals(3, 9 * COLS);
    (void)state;

    support_sweep_all("oc and ls", walk, x, 30);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_bytes_are_those_of_the_file),
        with_context(test_kernel_projector_can_be_taken_apart),
        with_context(test_linear_projectors_and_the_identity),
        with_context(test_localized_projector_can_be_taken_apart),
        with_context(test_names_of_columns),
        with_context(test_targets),
        with_context(test_class_scores_agree_with_predictions),
        with_context(test_class_scores_where_there_are_none),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
