/* SPDX-License-Identifier: Apache-2.0 */
/* A fit starts its threads once. OpenMP starts some anew for every call of BLAS inside a region of one thread (core/serial.h), which made
 * fits of some shapes three times as slow. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/fit.h"

static atomic_int started;

#if !SUPPORT_SANITIZED
/* Stands in for that of the C library, in all libraries of this program. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&started, 1);
    return real(thread, attributes, run, argument);
}
#endif

static void fit_numbers(kfe_context *ctx, const char *method, const char *kernel, int64_t rows, int64_t cols)
{
    double *x = support_normals(1, rows * cols);
    double *y = support_normals(2, rows);
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, cols, cols, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    assert_ok(ctx, kfe_spec_parse(ctx, method, "dim=10", kernel, &spec));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(x);
    free(y);
}

static void test_threads_are_started_once(void **state)
{
    static const struct {
        const char *method, *kernel;
        int64_t rows, cols;
    } cases[] = {{"pls", NULL, 200, 3000},
                 {"pls", NULL, 3000, 200},
                 {"kpls", "rbf", 200, 3000},
                 {"kpls", "rbf", 900, 20}};
    kfe_context *ctx = *state;

    if (SUPPORT_SANITIZED)
        skip();
    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fit_numbers(ctx, cases[c].method, cases[c].kernel, cases[c].rows, cases[c].cols);
        int before = atomic_load(&started);
        assert_true(before > 0);
        fit_numbers(ctx, cases[c].method, cases[c].kernel, cases[c].rows, cases[c].cols);
        if (atomic_load(&started) > before + 2)
            fail_msg("%s: a second fit started %d threads", cases[c].method, atomic_load(&started) - before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_threads_are_started_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
