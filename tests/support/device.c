/* SPDX-License-Identifier: Apache-2.0 */
/* The same operator on the CPU and on a device, for the tests of devices. */
#include "support/device.h"

#include <stdio.h>

#include "support/tolerance.h"

const char *support_device_name(void)
{
    const char *name = getenv("KFE_TEST_DEVICE");
    return name && *name ? name : "host";
}

void support_assert_near(const char *what, double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.17g instead of %.17g, off by %.3g, allowed %.3g", what, got, expected,
                 fabs(got - expected), tolerance);
}

void support_pair_open(kfe_context *ctx, const char *kernels, const support_points *points, int sparse,
                       kfe_i_gram_storage storage, support_pair *out)
{
    char text[256];

    *out = (support_pair){.ctx = ctx, .table = support_points_table(points, sparse)};
    kfe_i_kernel_list_init(ctx, &out->kernels);
    (void)snprintf(text, sizeof text, "%s", kernels);
    for (char *one = strtok(text, " "); one; one = strtok(NULL, " ")) {
        kfe_i_kernel kernel = {0};
        assert_ok(ctx, kfe_i_kernel_parse(ctx, one, &kernel));
        assert_ok(ctx, kfe_i_kernel_list_add(&out->kernels, &kernel));
    }
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
    assert_ok(ctx, kfe_i_gram_open(ctx, &out->kernels, &out->table, KFE_GRAM_AUTO, &out->cpu));
    assert_ok(ctx, kfe_context_set_device(ctx, support_device_name()));
    assert_ok(ctx, kfe_i_gram_open(ctx, &out->kernels, &out->table, storage, &out->device));
    double *diagonal = calloc((size_t)out->cpu->size, sizeof *diagonal);
    assert_ok(ctx, kfe_i_gram_diagonal(out->cpu, diagonal));
    for (int64_t i = 0; i < out->cpu->size; i++)
        out->largest = fmax(out->largest, fabs(diagonal[i]));
    free(diagonal);
}

void support_pair_close(support_pair *p)
{
    kfe_i_gram_free(p->cpu);
    kfe_i_gram_free(p->device);
    kfe_i_kernel_list_free(&p->kernels);
}

void support_assert_all_near(const char *what, const double *got, const double *expected, int64_t count,
                             double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        support_assert_near(what, got[i], expected[i], tolerance);
}

support_results support_results_make(int64_t count)
{
    return (support_results){calloc((size_t)count, sizeof(double)), calloc((size_t)count, sizeof(double))};
}

void support_results_check(const char *what, support_results r, int64_t count, double tolerance)
{
    support_assert_all_near(what, r.device, r.cpu, count, tolerance);
    free(r.cpu);
    free(r.device);
}

double support_pair_slack(const support_pair *p, int single)
{
    return p->largest * (single ? 8 * TOLERANCE_SINGLE : tolerance_distance_relative(p->table.cols));
}
