/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of the optimum for kfd, kopls, hsic and uhsic, with the ridge over six decades and without an
 * eigenvalue solver. With the features z = Gα of the training examples and the recorded criterion λ,
 *
 *     G LLᵀz = λ(Gz + ρz)        kfd, kopls, uhsic
 *     G G LLᵀz = λ(Gz + ρz)      hsic
 *
 * say that every feature is a stationary point, and that the criteria add up to the trace of LᵀG(G + ρI)⁻¹L, or of
 * LᵀG(G + ρI)⁻¹GL, says that no larger one was missed.
 */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 36, COLS = 4, CLASSES = 3 };

typedef struct ridge_case {
    const char *method, *parameter;
    int by_size;   /* L: indicators divided by the root of the class size, or else by their common norm */
    int on_images; /* hsic: the second equation */
} ridge_case;

/* L, centred, ROWS × CLASSES. */
static void fill_targets(const int *class_of, int by_size, double *l)
{
    double sizes[CLASSES] = {0};
    double norm = 0;

    for (int i = 0; i < ROWS; i++)
        sizes[class_of[i]] += 1;
    for (int i = 0; i < ROWS; i++)
        for (int g = 0; g < CLASSES; g++) {
            double *value = &l[i * CLASSES + g];
            *value = (class_of[i] == g) - sizes[g] / ROWS;
            if (by_size)
                *value /= sqrt(sizes[g]);
            norm += *value * *value;
        }
    for (int i = 0; i < ROWS * CLASSES && !by_size; i++)
        l[i] /= sqrt(norm);
}

/* ‖left − λ(Gz + ρz)‖ relative to ‖left‖ for the column j of z. */
static double residual(const double *g, const double *l, const kfe_matrix *z, int64_t j, double lambda,
                       double ridge, int on_images)
{
    double *lt = support_transpose(ROWS, CLASSES, l);
    double column[ROWS];
    double difference = 0;
    double size = 0;

    for (int i = 0; i < ROWS; i++)
        column[i] = z->values[i * z->cols + j];
    double *along = support_product(CLASSES, ROWS, 1, lt, column);
    double *back = support_product(ROWS, CLASSES, 1, l, along);
    double *left = support_product(ROWS, ROWS, 1, g, back);
    if (on_images) {
        double *once = left;
        left = support_product(ROWS, ROWS, 1, g, once);
        free(once);
    }
    double *image = support_product(ROWS, ROWS, 1, g, column);
    for (int i = 0; i < ROWS; i++) {
        difference += pow(left[i] - lambda * (image[i] + ridge * column[i]), 2);
        size += left[i] * left[i];
    }
    free(lt);
    free(along);
    free(back);
    free(left);
    free(image);
    return sqrt(difference / size);
}

/* tr(LᵀG(G + ρI)⁻¹L), or with GL instead of the last L. */
static double whole_trace(const double *g, const double *l, double ridge, int on_images)
{
    double shifted[ROWS * ROWS];
    double trace = 0;

    for (int i = 0; i < ROWS * ROWS; i++)
        shifted[i] = g[i] + (i % (ROWS + 1) == 0 ? ridge : 0);
    double *image = support_product(ROWS, ROWS, CLASSES, g, l);
    double *solved = support_solve(ROWS, CLASSES, shifted, on_images ? image : l);
    for (int i = 0; i < ROWS * CLASSES; i++)
        trace += image[i] * solved[i];
    free(image);
    free(solved);
    return trace;
}

static void check(kfe_context *ctx, const ridge_case *one, const kfe_data *data, const int *class_of,
                  const double *g, double ridge)
{
    double l[ROWS * CLASSES];
    char params[64];
    int64_t count = 0;
    double sum = 0;

    fill_targets(class_of, one->by_size, l);
    snprintf(params, sizeof params, "%s=%.17g", one->parameter, ridge);
    kfe_model *model = support_fit(ctx, one->method, params, "rbf:gamma=0.2", data);
    kfe_matrix z = support_transform(ctx, model, data);
    const double *criterion = kfe_model_record(model, "criterion", &count);
    assert_int_equal(count, CLASSES - 1);
    for (int64_t j = 0; j < count; j++) {
        assert_below(residual(g, l, &z, j, criterion[j], ridge, one->on_images), 1e-9);
        sum += criterion[j];
    }
    double trace = whole_trace(g, l, ridge, one->on_images);
    assert_below(fabs(sum - trace) / trace, 1e-9);
    assert_below(kfe_model_record(model, "residual", &count)[0], 1e-8);
    kfe_matrix_free(&z);
    kfe_model_free(model);
}

static void test_ridge_over_six_decades(void **state)
{
    static const ridge_case cases[] = {
        {"kfd", "ridge", 1, 0}, {"kopls", "ridge", 0, 0}, {"uhsic", "xi", 1, 0}, {"hsic", "lambda", 1, 1}};
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(31, ROWS, COLS, CLASSES, 1.2, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    double *g = support_rbf(ROWS, x, ROWS, x, COLS, 0.2);
    support_centre_kernel(ROWS, g);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (double ridge = 1e-4; ridge < 200; ridge *= 10)
            check(ctx, &cases[c], data, class_of, g, ridge);
    free(g);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

/* With every example a landmark, rkopls is kopls, whose optimum is certified above. */
static void test_landmarks_over_six_decades(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    char params[64];

    support_clouds(31, ROWS, COLS, CLASSES, 1.2, &x, &class_of);
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    for (double ridge = 1e-4; ridge < 200; ridge *= 10) {
        snprintf(params, sizeof params, "ridge=%g", ridge);
        kfe_matrix expected = support_features(ctx, "kopls", params, "rbf:gamma=0.2", data, data);
        snprintf(params, sizeof params, "landmarks=%d,ridge=%g", ROWS, ridge);
        kfe_matrix z = support_features(ctx, "rkopls", params, "rbf:gamma=0.2", data, data);
        assert_int_equal(z.cols, expected.cols);
        assert_below(support_distance_up_to_sign(ROWS, z.cols, expected.values, z.values), 1e-6);
        kfe_matrix_free(&expected);
        kfe_matrix_free(&z);
    }
    kfe_data_free(data);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {with_context(test_ridge_over_six_decades),
                                       with_context(test_landmarks_over_six_decades)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
