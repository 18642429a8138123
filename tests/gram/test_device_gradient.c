/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients on a device against those of the CPU. */
#include "support/device.h"

#include <stdio.h>

#include "gram/place.h"

typedef struct shape {
    int64_t rows, support, cols, outputs, memory; /* memory of the device; 0: all */
    int weighted;
} shape;

/* Of the host's little memory, some rows and some outputs are computed at a time. */
static const shape shapes[] = {{83, 83, 7, 1, 0, 0}, {300, 40, 7, 3, 0, 1}, {300, 300, 7, 25, 600000, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void limit_memory(int64_t bytes)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%lld", (long long)bytes);
    assert_int_equal(bytes ? setenv("KFE_DEVICE_MEMORY", text, 1) : unsetenv("KFE_DEVICE_MEMORY"), 0);
}

static void check_kernel(kfe_context *ctx, const char *kernel, const shape *s, int diagonal)
{
    support_points points;
    support_points support;
    support_pair p;
    int64_t count = diagonal ? s->cols : s->cols * s->cols;
    double *a = support_random(13, s->support * s->outputs);
    double *weights = support_random(14, s->rows);
    support_results agop = support_results_make(count);
    double largest = 0;

    support_points_make(&points, 11, s->rows, s->cols, 1);
    support_points_make(&support, 12, s->support, s->cols, 1);
    support_pair_open(ctx, kernel, &points, 0, KFE_GRAM_AUTO, &p);
    kfe_i_table landmarks = support_points_table(&support, 0);
    kfe_i_table rows = p.table;
    for (int64_t i = 0; i < s->rows; i++)
        weights[i] = fabs(weights[i]);
    rows.weights = s->weighted ? weights : NULL;
    kfe_i_expansion_sum f = {&p.kernels, &landmarks, a, s->outputs};
    assert_ok(ctx, kfe_i_agop(ctx, &f, &rows, diagonal, agop.cpu));
    support_catch_log(ctx);
    assert_ok(ctx, kfe_i_agop_anywhere(ctx, &f, &rows, diagonal, agop.device));
    if (!strstr(support_log(), "gradients at"))
        fail_msg("%s: gradients were not computed on the device: %s", kernel, support_log());
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(agop.cpu[i]));
    support_results_check(kernel, agop, count, 1e-11 * largest);
    support_pair_close(&p);
    support_points_free(&points);
    support_points_free(&support);
    free(a);
    free(weights);
}

static void test_gradients_equal_those_of_the_cpu(void **state)
{
    static const char *const kernels[] = {
        "rbf:gamma=0.3",
        "exp:sigma=2",
        "exp:sigma=2,power=1.5",
        "matern:sigma=2,nu=2.5,weight=0.3",
        "poly:degree=3,gamma=0.5",
        "linear:weight=2",
        "rbf:gamma=0.3 exp:sigma=2,weight=0.5",
    };

    for (int s = 0; s < SHAPES; s++) {
        if (shapes[s].memory > 0 && strcmp(support_device_name(), "host") != 0)
            continue; /* other devices need more for themselves */
        limit_memory(shapes[s].memory);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            for (int diagonal = 0; diagonal < 2; diagonal++)
                check_kernel(*state, kernels[i], &shapes[s], diagonal);
        limit_memory(0);
    }
}

/* The result is that of the CPU all the same. */
static void test_a_full_device_leaves_it_to_the_cpu(void **state)
{
    kfe_context *ctx = *state;
    support_points points;
    support_pair p;
    double *a = support_random(13, 50);
    double agop[3] = {0};

    if (strcmp(support_device_name(), "host") != 0)
        skip();
    support_points_make(&points, 11, 50, 3, 0);
    limit_memory(3000);
    support_pair_open(ctx, "rbf:gamma=0.3", &points, 0, KFE_GRAM_AUTO, &p);
    support_catch_log(ctx);
    assert_ok(
        ctx, kfe_i_agop_anywhere(ctx, &(kfe_i_expansion_sum){&p.kernels, &p.table, a, 1}, &p.table, 1, agop));
    assert_non_null(strstr(support_log(), "gradients: the memory of"));
    assert_true(agop[0] > 0);
    limit_memory(0);
    support_pair_close(&p);
    support_points_free(&points);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_gradients_equal_those_of_the_cpu),
        with_context(test_a_full_device_leaves_it_to_the_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
