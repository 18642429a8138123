/* SPDX-License-Identifier: Apache-2.0 */
/* The sample problem that the tests of methods and models share. */
#include "support/sample.h"

support_sample support_sample_make(kfe_context *ctx, const support_shape *shape)
{
    support_sample s = {
        .rows = shape->rows, .cols = shape->cols, .test_rows = shape->test_rows, .classes = shape->classes};

    support_clouds(shape->seed, s.rows, s.cols, s.classes, shape->apart, &s.x, &s.class_of);
    s.data = support_dense(ctx, s.rows, s.cols, s.x, s.class_of);
    if (s.test_rows) {
        s.test = support_normals(shape->test_seed, s.test_rows * s.cols);
        s.test_data = support_dense(ctx, s.test_rows, s.cols, s.test, NULL);
    }
    return s;
}

void support_sample_set_targets(kfe_context *ctx, support_sample *s, int64_t targets, double *y)
{
    s->targets = targets;
    s->y = y;
    s->real = support_dense(ctx, s->rows, s->cols, s->x, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, s->real, targets, y));
}

void support_sample_kernels(support_sample *s, int count, const double *gammas)
{
    for (int m = 0; m < count; m++)
        s->k[m] = support_rbf(s->rows, s->x, s->rows, s->x, s->cols, gammas[m]);
}

void support_sample_centre(support_sample *s, int count, int trace_one)
{
    for (int m = 0; m < count; m++) {
        double trace = 0;
        support_centre_kernel(s->rows, s->k[m]);
        for (int64_t i = 0; i < s->rows; i++)
            trace += s->k[m][i * s->rows + i];
        for (int64_t i = 0; trace_one && i < s->rows * s->rows; i++)
            s->k[m][i] /= trace;
    }
}

void support_sample_free(support_sample *s)
{
    kfe_data_free(s->data);
    kfe_data_free(s->test_data);
    kfe_data_free(s->real);
    free(s->x);
    free(s->class_of);
    free(s->test);
    free(s->y);
    for (int m = 0; m < SAMPLE_KERNELS; m++)
        free(s->k[m]);
    free(s->label);
    memset(s, 0, sizeof *s);
}
