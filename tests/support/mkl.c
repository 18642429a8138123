/* SPDX-License-Identifier: Apache-2.0 */
/* Fits with several kernels, for the tests of the mkl and joint methods. */
#include "support/mkl.h"
#include "support/sweep.h"

#include <math.h>

#include "model/model.h"

kfe_status support_request_fit(kfe_context *ctx, const support_request *request, const kfe_data *train,
                               kfe_model **out)
{
    kfe_spec *spec = NULL;
    kfe_status status = kfe_spec_parse(ctx, request->method, request->params, NULL, &spec);

    *out = NULL;
    for (int m = 0; status == KFE_OK && request->kernels[m]; m++)
        status = kfe_spec_add_kernel(ctx, spec, request->kernels[m]);
    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, train, out);
    kfe_spec_free(spec);
    return status;
}

kfe_model *support_request_model(kfe_context *ctx, const support_request *request, const kfe_data *train)
{
    kfe_model *model = NULL;

    assert_ok(ctx, support_request_fit(ctx, request, train, &model));
    return model;
}

const double *support_weights(const kfe_model *model, int64_t expected)
{
    int64_t count = 0;
    const double *weights = kfe_model_record(model, "weights", &count);
    double sum = 0;

    assert_int_equal(count, expected);
    for (int64_t i = 0; i < count; i++) {
        assert_true(weights[i] >= 0);
        sum += weights[i];
    }
    assert_below(fabs(sum - 1), 1e-12);
    return weights;
}

double support_number(const kfe_model *model, const char *name)
{
    int64_t count = 0;
    const double *values = kfe_model_record(model, name, &count);

    assert_int_equal(count, 1);
    return values[0];
}

static void same_bits(const kfe_matrix *a, const kfe_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_memory_equal(a->values, b->values, (size_t)(a->rows * a->cols) * sizeof *a->values);
}

void support_check_predictions_of_a_file(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_model *loaded = NULL;
    kfe_matrix p[2] = {{0}};
    kfe_matrix s[2] = {{0}};

    assert_ok(ctx, kfe_model_save(ctx, model, support_path("own_svms.kfe")));
    assert_ok(ctx, kfe_model_load(ctx, support_path("own_svms.kfe"), &loaded));
    assert_string_equal(kfe_model_learner(loaded), kfe_model_method(model));
    assert_ok(ctx, kfe_predict(ctx, model, data, &p[0], &s[0]));
    assert_ok(ctx, kfe_predict(ctx, loaded, data, &p[1], &s[1]));
    assert_int_equal(p[0].rows, kfe_data_rows(data));
    same_bits(&p[0], &p[1]);
    same_bits(&s[0], &s[1]);
    for (int i = 0; i < 2; i++) {
        kfe_matrix_free(&p[i]);
        kfe_matrix_free(&s[i]);
    }
    kfe_model_free(loaded);
}

typedef struct counted_fit {
    const support_request *request;
    int64_t rows, cols;
    const double *x;
    const int *class_of;
} counted_fit;

static kfe_status fit_once(kfe_context *ctx, void *user)
{
    const counted_fit *one = user;
    const char *labels[64];
    kfe_data *data = NULL;
    kfe_model *model = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, one->rows, one->cols, one->cols, one->x, &data);

    assert_true(one->rows <= 64);
    for (int64_t i = 0; i < one->rows; i++)
        labels[i] = one->class_of[i] == 0 ? "a" : one->class_of[i] == 1 ? "b" : "c";
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, data, labels);
    if (status == KFE_OK)
        status = support_request_fit(ctx, one->request, data, &model);
    kfe_model_free(model);
    kfe_data_free(data);
    return status;
}

void support_check_memory(const support_request *request, int64_t rows, int64_t cols, const double *x,
                          const int *class_of)
{
    support_sweep_all(request->method, fit_once, &(counted_fit){request, rows, cols, x, class_of}, 20);
}

void support_check_memory_of_all(size_t count, const support_request *requests)
{
    enum { ROWS = 15, COLS = 3, CLASSES = 3 };
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(5, ROWS, COLS, CLASSES, 2, &x, &class_of);
    for (size_t i = 0; i < count; i++)
        support_check_memory(&requests[i], ROWS, COLS, x, class_of);
    free(x);
    free(class_of);
}

void support_check_iterations_do_not_allocate(const support_request *few, const char *many, int64_t rows,
                                              int64_t cols, const double *x, const int *class_of)
{
    support_request longer = *few;
    counted_fit cases[] = {{few, rows, cols, x, class_of}, {&longer, rows, cols, x, class_of}};

    longer.params = many;
    assert_int_equal(support_count_allocations(fit_once, &cases[0]),
                     support_count_allocations(fit_once, &cases[1]));
}

double support_svms_cost(kfe_context *ctx, const kfe_model *model, const kfe_data *train, const int *class_of,
                         double c)
{
    const kfe_i_predictor *predictor = &model->predictor;
    kfe_matrix z = support_transform(ctx, model, train);
    double cost = 0;

    assert_int_equal(predictor->kind, KFE_PREDICTOR_LINEAR);
    for (int64_t g = 0; g < predictor->outputs; g++) {
        for (int64_t j = 0; j < z.cols; j++)
            cost += 0.5 * pow(predictor->weights[j * predictor->outputs + g], 2);
        for (int64_t i = 0; i < z.rows; i++) {
            double output = -predictor->offset[g];
            for (int64_t j = 0; j < z.cols; j++)
                output += z.values[i * z.cols + j] * predictor->weights[j * predictor->outputs + g];
            cost += c * fmax(0, 1 - (class_of[i] == g ? output : -output));
        }
    }
    kfe_matrix_free(&z);
    return cost;
}
