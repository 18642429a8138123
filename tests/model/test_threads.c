/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts are independent: threads that fit at the same time, each with its own context, get the same bits
 * as alone, and several threads may share one model. */
#include "support/fit.h"

#include <pthread.h>

enum { ROWS = 90, COLS = 5, CLASSES = 3, THREADS = 3, REPEATS = 4 };

/* The input and the result of one thread; a thread cannot fail a test itself. */
typedef struct task {
    const double *x;
    const char *const *labels;
    const kfe_model *shared; /* NULL: the thread fits its own model */
    const char *method, *kernel;
    kfe_status status;
    kfe_matrix features;
    kfe_context *ctx;
} task;

static kfe_status fit_and_transform(task *t)
{
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_status status = kfe_data_wrap_dense(t->ctx, ROWS, COLS, COLS, t->x, &data);

    if (status == KFE_OK)
        status = kfe_data_set_labels(t->ctx, data, t->labels);
    if (status == KFE_OK && !t->shared)
        status = kfe_spec_parse(t->ctx, t->method, NULL, t->kernel, &spec);
    if (status == KFE_OK && !t->shared)
        status = kfe_fit(t->ctx, spec, data, &model);
    for (int i = 0; status == KFE_OK && i < REPEATS; i++) {
        kfe_matrix_free(&t->features);
        status = kfe_transform(t->ctx, t->shared ? t->shared : model, data, &t->features);
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void *run_task(void *argument)
{
    task *t = argument;

    t->status = kfe_context_new(&t->ctx);
    if (t->status == KFE_OK)
        t->status = kfe_context_set_threads(t->ctx, 1);
    if (t->status == KFE_OK)
        t->status = fit_and_transform(t);
    return NULL;
}

static void assert_done(const task *t)
{
    if (t->status != KFE_OK)
        fail_msg("%s: %s", t->method, kfe_error_message(t->ctx));
}

static void end_task(task *t)
{
    kfe_matrix_free(&t->features);
    kfe_context_free(t->ctx);
}

/* Runs all threads at once and compares them with the same task alone. */
static void compare_with_alone(const task *description)
{
    task alone = *description;
    task tasks[THREADS];
    pthread_t threads[THREADS];

    run_task(&alone);
    assert_done(&alone);
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = *description;
        assert_int_equal(pthread_create(&threads[i], NULL, run_task, &tasks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_done(&tasks[i]);
        assert_int_equal(tasks[i].features.cols, alone.features.cols);
        assert_memory_equal(tasks[i].features.values, alone.features.values,
                            (size_t)(ROWS * alone.features.cols) * sizeof(double));
        end_task(&tasks[i]);
    }
    end_task(&alone);
}

typedef struct problem {
    double *x;
    int *class_of;
    const char *labels[ROWS], *two_labels[ROWS]; /* two_labels: for methods that need two classes */
} problem;

static problem make_problem(void)
{
    static const char *const names[] = {"red", "green", "blue"};
    problem p;

    support_clouds(3, ROWS, COLS, CLASSES, 1, &p.x, &p.class_of);
    for (int i = 0; i < ROWS; i++) {
        p.labels[i] = names[p.class_of[i]];
        p.two_labels[i] = names[p.class_of[i] > 0];
    }
    return p;
}

static void test_contexts_are_independent(void **state)
{
    problem p = make_problem();
    const kfe_entry_info *method;

    (void)state;
    for (int m = 0; (method = kfe_method(m)); m++) {
        task description = {.x = p.x, .method = method->name};
        description.labels = method->flags & KFE_HAS_TWO_CLASSES ? p.two_labels : p.labels;
        description.kernel = method->flags & KFE_HAS_KERNELS ? "rbf" : NULL;
        compare_with_alone(&description);
    }
    free(p.x);
    free(p.class_of);
}

static void test_threads_share_a_model(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    kfe_data *data = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    kfe_model *model = support_fit(ctx, "kpca", "dim=4,scale=standard", "rbf", data);

    compare_with_alone(&(task){.x = p.x, .labels = p.labels, .shared = model, .method = "kpca"});
    kfe_model_free(model);
    kfe_data_free(data);
    free(p.x);
    free(p.class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts_are_independent),
        with_context(test_threads_share_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
