/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data in single precision, for every method with every kernel: the same numbers in double precision give the same model, bit by
 * bit, and the same features and predictions. Rows lie apart in memory, so that strides are seen.
 */
#include <math.h>
#include <stdlib.h>

#include "support/subject.h"

enum { GAP = 3 };

/* Rounds the values of `made` to single precision, and wraps them as such. */
static kfe_data *wrap_singles(const support_subject *s, const support_made *made, float **memory)
{
    int64_t rows = kfe_data_rows(made->data);
    int64_t cols = kfe_data_cols(made->data, 0);
    kfe_data *data = NULL;

    *memory = malloc((size_t)(rows * (cols + GAP)) * sizeof **memory);
    for (int64_t i = 0; i < rows * (cols + GAP); i++)
        (*memory)[i] = NAN;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            float rounded = (float)made->values[i * cols + j];
            (*memory)[i * (cols + GAP) + j] = rounded;
            made->values[i * cols + j] = (double)rounded;
        }
    assert_ok(s->ctx, kfe_data_wrap_dense_f32(s->ctx, rows, cols, cols + GAP, *memory, &data));
    if (kfe_data_task(made->data) != KFE_TASK_NONE)
        assert_ok(s->ctx, kfe_data_copy_target(s->ctx, made->data, data));
    return data;
}

static void same_model(const support_subject *s, const kfe_model *a, const kfe_model *b)
{
    char *bytes[2] = {0};
    size_t sizes[2] = {0};

    assert_ok(s->ctx, kfe_model_save_bytes(s->ctx, a, &bytes[0], &sizes[0]));
    assert_ok(s->ctx, kfe_model_save_bytes(s->ctx, b, &bytes[1], &sizes[1]));
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    kfe_string_free(s->ctx, bytes[0]);
    kfe_string_free(s->ctx, bytes[1]);
}

static void same_answers(const support_subject *s, const kfe_model *model, const kfe_data *a,
                         const kfe_data *b)
{
    kfe_matrix expected = support_transform(s->ctx, model, a);
    kfe_matrix got = support_transform(s->ctx, model, b);
    kfe_matrix predicted[2] = {0};

    support_same_bits(&expected, &got);
    if (kfe_model_learner(model)) {
        assert_ok(s->ctx, kfe_predict(s->ctx, model, a, &predicted[0], NULL));
        assert_ok(s->ctx, kfe_predict(s->ctx, model, b, &predicted[1], NULL));
        support_same_bits(&predicted[0], &predicted[1]);
    }
    for (int i = 0; i < 2; i++)
        kfe_matrix_free(&predicted[i]);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
}

static int takes_numbers(const support_subject *s)
{
    return !support_subject_takes_strings(s);
}

static void check(const support_subject *s, const char *params)
{
    support_made train = support_make(s, &(support_variant){0});
    support_made test = support_make(s, &(support_variant){.test = 1});
    float *memory[2] = {0};
    kfe_data *single = wrap_singles(s, &train, &memory[0]);
    kfe_data *single_test = wrap_singles(s, &test, &memory[1]);
    kfe_model *wide_model = support_subject_fit(s, params, train.data);
    kfe_model *single_model = support_subject_fit(s, params, single);

    assert_true((wide_model == NULL) == (single_model == NULL));
    if (wide_model) {
        same_model(s, wide_model, single_model);
        same_answers(s, wide_model, test.data, single_test);
        same_answers(s, wide_model, train.data, single);
    }
    kfe_model_free(wide_model);
    kfe_model_free(single_model);
    kfe_data_free(single);
    kfe_data_free(single_test);
    support_made_free(&train);
    support_made_free(&test);
    free(memory[0]);
    free(memory[1]);
}

static void check_as_given(const support_subject *s)
{
    check(s, NULL);
}

static void check_scaled(const support_subject *s)
{
    check(s, "scale=standard");
}

static int can_be_scaled(const support_subject *s)
{
    return takes_numbers(s) && !support_subject_is_precomputed(s) &&
           !(s->kernel->flags & KFE_HAS_NONNEGATIVE);
}

/* lmkl and sldr compare columns of their views and take no landmarks. */
static int takes_landmarks(const support_subject *s)
{
    return can_be_scaled(s) && support_subject_kernel(s) && strcmp(s->method->name, "lmkl") != 0 &&
           strcmp(s->method->name, "sldr") != 0;
}

static void check_landmarks(const support_subject *s)
{
    check(s, "landmarks=12,scale=minmax");
}

static kfe_model *fit_learner(const support_subject *s, const char *learner, const char *landmarks,
                              const kfe_data *train)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, "none", NULL, s->kernel->name, &spec));
    assert_ok(s->ctx, kfe_spec_set_learner(s->ctx, spec, learner, NULL));
    assert_ok(s->ctx, kfe_spec_set(s->ctx, spec, "landmarks", landmarks));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train, &model));
    kfe_spec_free(spec);
    return model;
}

/* A learner on the kernel itself, without a method. */
static void check_learners(const support_subject *s)
{
    static const char *const ways[][2] = {{"svm", "none"}, {"svm", "12"}, {"knn", "12"}};
    support_made train = support_make(s, &(support_variant){0});
    float *memory = NULL;
    kfe_data *single = wrap_singles(s, &train, &memory);

    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        kfe_model *a = fit_learner(s, ways[k][0], ways[k][1], train.data);
        kfe_model *b = fit_learner(s, ways[k][0], ways[k][1], single);
        same_model(s, a, b);
        kfe_model_free(a);
        kfe_model_free(b);
    }
    kfe_data_free(single);
    support_made_free(&train);
    free(memory);
}

static int is_first_with_kernel(const support_subject *s)
{
    return takes_landmarks(s) && strcmp(s->method->name, "kpca") == 0 &&
           !(s->kernel->flags & KFE_HAS_INDEFINITE);
}

int main(void)
{
    static const support_check checks[] = {
        {"single precision is double", check_as_given, takes_numbers, 0},
        {"scaled single precision is double", check_scaled, can_be_scaled, 0},
        {"landmarks of single precision", check_landmarks, takes_landmarks, 0},
        {"learners on kernels of single precision", check_learners, is_first_with_kernel, 0},
    };

    return support_run_checks("single precision", sizeof checks / sizeof *checks, checks);
}
