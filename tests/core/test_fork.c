/* SPDX-License-Identifier: Apache-2.0 */
/* A program forks after a call with several threads: the child's fit ends with the same features. */
#include "support/support.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fit.h"
#include "support/points.h"

enum { ROWS = 600, COLS = 5, SECONDS = 100 };

static double first_feature(kfe_context *ctx, const double *values)
{
    kfe_data *data = NULL;
    double sum = 0;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, values, &data));
    kfe_model *model = support_fit(ctx, "kpca", "dim=2", "rbf:gamma=0.1", data);
    kfe_matrix features = support_transform(ctx, model, data);
    for (int64_t i = 0; i < features.rows; i++)
        sum += fabs(features.values[i * features.stride]);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_data_free(data);
    return sum;
}

static void test_child_of_a_threaded_program(void **state)
{
    kfe_context *ctx = *state;
    double *values = support_normals(5, (int64_t)ROWS * COLS);
    int result = 0;

    if (omp_get_thread_limit() < 2) {
        print_message("OpenMP may use one thread only\n");
        free(values);
        skip();
    }
    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    double expected = first_feature(ctx, values);
    assert_int_equal(kfe_context_threads(ctx), 2);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kfe_context *own = NULL;
        alarm(SECONDS); /* ends a child that waits for threads that do not exist */
        if (kfe_context_new(&own) != KFE_OK || kfe_context_set_threads(own, 2) != KFE_OK)
            _exit(2);
        if (kfe_context_threads(own) != 1 || kfe_context_threads(ctx) != 1)
            _exit(3);
        _exit(fabs(first_feature(own, values) - expected) <= 1e-6 * expected ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(kfe_context_threads(ctx), 2); /* the parent keeps its threads */
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {with_context(test_child_of_a_threaded_program)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
