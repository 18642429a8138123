/* SPDX-License-Identifier: Apache-2.0 */
/* After kfe_let_threads_sleep a thread without work uses no processor, also where few threads are allowed. */
#define _DEFAULT_SOURCE /* setrlimit */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/fit.h"
#include "support/points.h"
#include "support/support.h"

enum { TURNS = 200, SOME_USER = 54321 };
static const double BUSY_SECONDS = 1e-3;

static double clock_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void be_busy(void)
{
    double end = clock_of(CLOCK_THREAD_CPUTIME_ID) + BUSY_SECONDS;

    while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

/* One thread works while the others wait for the next region: their share of the processor time. */
static double share_of_waiting_threads(void)
{
    volatile int sum = 0;
    double all = clock_of(CLOCK_PROCESS_CPUTIME_ID), own = clock_of(CLOCK_THREAD_CPUTIME_ID);

    for (int turn = 0; turn < TURNS; turn++) {
#pragma omp parallel num_threads(2)
#pragma omp atomic
        sum += 1;
        be_busy();
    }
    own = clock_of(CLOCK_THREAD_CPUTIME_ID) - own;
    all = clock_of(CLOCK_PROCESS_CPUTIME_ID) - all;
    return (all - own) / all;
}

/* What a user does: a call with several threads. */
static void fit_with_two_threads(kfe_context *ctx)
{
    double *values = support_normals(5, 60 * 4);
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 60, 4, 4, values, &data));
    kfe_model_free(support_fit(ctx, "kpca", "dim=2", "rbf:gamma=0.1", data));
    kfe_data_free(data);
    free(values);
}

static void test_waiting_threads_sleep(void **state)
{
    kfe_context *ctx = *state;

    if (omp_get_num_procs() < 2 || omp_get_thread_limit() < 2)
        skip();
    kfe_let_threads_sleep();
    fit_with_two_threads(ctx);
    assert_true(share_of_waiting_threads() < 0.2);
}

/* OpenMP ends a process that may have no more threads. A user of its own may have few, except for root. */
static void test_few_threads_are_enough(void **state)
{
    kfe_context *ctx = NULL;
    int result = 0;

    (void)state;
    if (geteuid() != 0 || omp_get_thread_limit() < 2)
        skip();
    fflush(NULL);
    pid_t child = fork(); /* before this process has used threads */
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit few = {3, 3};
        if (setgid(SOME_USER) || setuid(SOME_USER) || setrlimit(RLIMIT_NPROC, &few) || kfe_context_new(&ctx))
            _exit(2);
        kfe_let_threads_sleep();
        fit_with_two_threads(ctx);
        kfe_context_free(ctx);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_threads_are_enough),
        with_context(test_waiting_threads_sleep),
    };
    int told = 0;

    (void)argc;
    for (int k = 0; k < 3; k++) {
        told |= getenv(names[k]) != NULL;
        unsetenv(names[k]);
    }
    if (told) /* OpenMP has read them already */
        execv("/proc/self/exe", argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
