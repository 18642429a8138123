/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search keeps its kernel matrix on the device: distances are computed there once for all widths and folds, and little else is
 * moved. The calls of the host plug-in are counted. When the device's memory ends, at whatever call, the search goes on without
 * it and finds the same.
 */
#include "support/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "gram/device/session.h"
#include "select/assess.h"
#include "support/points.h"

enum { ROWS = 60, COLS = 5, FOLDS = 3, WIDTHS = 4, COSTS = 2 };

/* ---- counting ---- */

static struct {
    const kfe_device_table *real;
    int64_t points, blocks, maps, products, uploaded, downloaded;
} calls;

static kfe_device_status count_points(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                      kfe_device_type precision, kfe_device_points **out)
{
    calls.points++;
    return calls.real->points_new(device, rows, base, precision, out);
}

static kfe_device_status count_block(kfe_device *device, const kfe_device_kernel *kernel,
                                     kfe_device_range rows, kfe_device_range cols,
                                     const kfe_device_matrix *out, int how)
{
    calls.blocks++;
    return calls.real->block(device, kernel, rows, cols, out, how);
}

static kfe_device_status count_map(kfe_device *device, const kfe_device_kernel *kernel,
                                   const kfe_device_matrix *base, kfe_device_range rows,
                                   kfe_device_range cols, const kfe_device_matrix *out)
{
    calls.maps++;
    return calls.real->map(device, kernel, base, rows, cols, out);
}

static kfe_device_status count_upload(kfe_device *device, const double *from, int64_t stride,
                                      const kfe_device_matrix *to)
{
    calls.uploaded += to->rows * to->cols;
    return calls.real->upload(device, from, stride, to);
}

static kfe_device_status count_download(kfe_device *device, const kfe_device_matrix *from, double *to,
                                        int64_t stride)
{
    calls.downloaded += from->rows * from->cols;
    return calls.real->download(device, from, to, stride);
}

/* The context's device with a table that counts; the caller keeps the table. */
static void count_calls(kfe_context *ctx, kfe_device_table *table)
{
    assert_ok(ctx, kfe_context_set_device(ctx, "host"));
    memset(&calls, 0, sizeof calls);
    calls.real = ctx->device->table;
    *table = *calls.real;
    table->points_new = count_points;
    table->block = count_block;
    table->map = count_map;
    table->upload = count_upload;
    table->download = count_download;
    ctx->device->table = table;
}

/* ---- a search ---- */

typedef struct question {
    const char *method, *kernels[2], *learner, *grids[2];
} question;

static const question koc = {"koc", {"rbf"}, "ls", {"gamma=0.02,0.1,0.5,2", "l2=0,1"}};
static const question ridge = {
    "kfd", {"rbf", "poly:degree=2,weight=0.1"}, "ls", {"gamma=0.05,0.1,0.5,1", "l2=0,1"}};
static const question principal = {"kpca", {"laplacian"}, "ls", {"gamma=0.05,0.1,0.5,1", "l2=0,1"}};

/* values: the accuracy of each fold with the setting that was best, then the mean over folds of each setting. */
static kfe_status search(kfe_context *ctx, const question *q, const select_sample *sample, double *values)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_i_assess_settings settings;
    kfe_i_assessment assessment = {0};

    KFE_TRY(kfe_spec_parse(ctx, q->method, NULL, q->kernels[0], &spec));
    if (q->kernels[1])
        KFE_TRY(kfe_spec_add_kernel(ctx, spec, q->kernels[1]));
    KFE_TRY(kfe_spec_set_learner(ctx, spec, q->learner, NULL));
    KFE_TRY(kfe_i_assess_settings_parse(ctx, "folds=3,inner-folds=0", &settings));
    KFE_TRY(
        kfe_i_assess(ctx, spec, (kfe_i_grid_texts){2, q->grids, 0}, sample->data, &settings, &assessment));
    for (int f = 0; f < FOLDS; f++)
        values[f] = assessment.values[f * assessment.metric_count];
    for (int s = 0; s < WIDTHS * COSTS; s++)
        values[FOLDS + s] = assessment.tuning[s * assessment.metric_count].mean;
cleanup:
    kfe_i_assessment_free(&assessment);
    kfe_spec_free(spec);
    return status;
}

enum { VALUES = FOLDS + WIDTHS * COSTS };

static void assert_same(const double *a, const double *b)
{
    for (int i = 0; i < VALUES; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-12))
            fail_msg("value %d: %.17g, on the CPU %.17g", i, a[i], b[i]);
}

static void test_distances_are_computed_once(void **state)
{
    kfe_context *ctx = *state;
    select_sample sample = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.8);
    kfe_device_table table;
    double on_cpu[VALUES];
    double on_device[VALUES];

    assert_ok(ctx, search(ctx, &koc, &sample, on_cpu));
    count_calls(ctx, &table);
    assert_ok(ctx, search(ctx, &koc, &sample, on_device));
    assert_same(on_device, on_cpu);
    assert_int_equal(calls.points, 1);
    assert_int_equal(calls.blocks, 1);
    assert_int_equal(calls.maps, WIDTHS);
    /* per fold and width: indicators of two classes and of none, and coefficients of the training rows go there, … */
    assert_int_equal(calls.uploaded, WIDTHS * FOLDS * 2 * (3 + ROWS * (FOLDS - 1) / FOLDS));
    /* … sums over classes, a diagonal and two features of every row come back */
    assert_int_equal(calls.downloaded, WIDTHS * FOLDS * (4 + ROWS * (FOLDS - 1) / FOLDS + 2 * ROWS));
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    select_sample_free(&sample);
}

/* ---- memory ---- */

static void count_warnings(void *user, kfe_level level, const char *message)
{
    *(int *)user += level == KFE_LOG_WARNING && strstr(message, "is used up") != NULL;
}

/* The k-th allocation of the device fails; the first ones in turn, then some of the later ones. */
static void check_failing_allocations(kfe_context *ctx, const question *q)
{
    enum { MOST = 400 };
    select_sample sample = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.8);
    double on_cpu[VALUES];
    double values[VALUES];
    int warnings = 0;

    assert_ok(ctx, search(ctx, q, &sample, on_cpu));
    kfe_context_on_log(ctx, count_warnings, &warnings);
    for (int64_t k = 1; k <= MOST; k = k < 40 ? k + 1 : k + 37) {
        char text[24];
        (void)snprintf(text, sizeof text, "%lld", (long long)k);
        assert_int_equal(setenv("KFE_DEVICE_FAIL_ALLOCATION", text, 1), 0);
        assert_ok(ctx, kfe_context_set_device(ctx, "host"));
        assert_int_equal(unsetenv("KFE_DEVICE_FAIL_ALLOCATION"), 0);
        assert_ok(ctx, search(ctx, q, &sample, values));
        assert_same(values, on_cpu);
    }
    kfe_context_on_log(ctx, NULL, NULL);
    assert_true(warnings >= 40);
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    select_sample_free(&sample);
}

static void test_a_search_survives_the_end_of_the_memory(void **state)
{
    check_failing_allocations(*state, &koc);
    check_failing_allocations(*state, &ridge);
    check_failing_allocations(*state, &principal);
}

/* Room for one matrix, not for the two that a search keeps: it is in host memory then. */
static void test_a_matrix_that_does_not_fit_is_in_host_memory(void **state)
{
    kfe_context *ctx = *state;
    select_sample sample = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 0.8);
    kfe_device_table table;
    double on_cpu[VALUES];
    double values[VALUES];

    assert_ok(ctx, search(ctx, &koc, &sample, on_cpu));
    assert_int_equal(setenv("KFE_DEVICE_MEMORY", "40000", 1), 0);
    count_calls(ctx, &table);
    assert_int_equal(unsetenv("KFE_DEVICE_MEMORY"), 0);
    assert_ok(ctx, search(ctx, &koc, &sample, values));
    assert_same(values, on_cpu);
    assert_int_equal(calls.maps, 0);
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    select_sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_are_computed_once),
        cmocka_unit_test(test_a_search_survives_the_end_of_the_memory),
        cmocka_unit_test(test_a_matrix_that_does_not_fit_is_in_host_memory),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
