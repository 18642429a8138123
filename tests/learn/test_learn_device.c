/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learners on a device against the same on the CPU: linear SVMs, whose optimum is one, and nearest neighbours, which are the same to
 * the bit; what a device does not do, and what happens when its memory ends. The device is the host plug-in, or the one that
 * KFE_TEST_DEVICE names.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "learn/linear/linear_svm.h"
#include "support/device.h"
#include "support/learn.h"
#include "support/sweep.h"

enum { ROWS = 3300, COLS = 6, CLASSES = 3, QUERIES = 7000, MANY = 40000 };

static void use_device(kfe_context *ctx)
{
    assert_ok(ctx, kfe_context_set_device(ctx, support_device_name()));
}

static void use_cpu(kfe_context *ctx)
{
    assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
}

static double record_of(const kfe_i_predictor *p, const char *name)
{
    for (int i = 0; i < p->record_count; i++)
        if (strcmp(p->records[i].name, name) == 0)
            return p->records[i].value;
    fail_msg("no record %s", name);
    return 0;
}

/* ---- linear-svm ---- */

static void check_same_predictor(const kfe_i_predictor *a, const kfe_i_predictor *b)
{
    double largest = 0;
    double objective = record_of(a, "objective");

    assert_int_equal(a->outputs, b->outputs);
    for (int64_t i = 0; i < a->rows * a->outputs; i++)
        largest = fmax(largest, fabs(a->weights[i]));
    support_assert_all_near("weights", b->weights, a->weights, a->rows * a->outputs, 1e-9 * largest);
    support_assert_all_near("offset", b->offset, a->offset, a->outputs, 1e-9 * fmax(1, largest));
    support_assert_near("objective", record_of(b, "objective"), objective, 1e-10 * objective);
    assert_below(record_of(b, "gradient"), 1e-9);
}

/* By one setting, as a fit does. */
static void check_fit(kfe_context *ctx, const char *params, const kfe_i_table *table,
                      const kfe_i_target *target)
{
    use_cpu(ctx);
    kfe_i_predictor on_cpu = learn_fit(ctx, "linear-svm", params, table, target);
    use_device(ctx);
    support_catch_log(ctx);
    kfe_i_predictor on_device = learn_fit(ctx, "linear-svm", params, table, target);
    if (!strstr(support_log(), "solved on"))
        fail_msg("%s: not on the device: %s", params, support_log());
    check_same_predictor(&on_cpu, &on_device);
    kfe_i_predictor_free(&on_cpu);
    kfe_i_predictor_free(&on_device);
}

/* Clouds with many rows, so that all problems are for Newton's method; one column is large. */
static learn_clouds many_clouds(kfe_context *ctx, uint64_t seed)
{
    learn_clouds p = learn_clouds_make(ctx, MANY, COLS, seed, CLASSES);

    for (int64_t i = 0; i < MANY; i++)
        p.x[i * COLS + 2] *= 15;
    return p;
}

static void test_classes(void **state)
{
    static const char *const params[] = {
        "C=1",
        "C=30,bias=no",
        "C=0.01,multiclass=ovo",
        "C=2,multiclass=chain",
        "C=1,class-weights=balanced",
        "C=1,class-weights=c0:5;c1:0.5;c2:1",
    };
    learn_clouds p = many_clouds(*state, 3);

    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        check_fit(*state, params[i], &p.table, &p.target);
    learn_clouds_free(&p);
}

static void test_real_targets(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = many_clouds(ctx, 5);
    double *values = support_normals(7, (int64_t)MANY * 4);
    kfe_i_target target;

    for (int64_t i = 0; i < (int64_t)MANY * 4; i++)
        values[i] += p.x[i / 4 * COLS + i % 4] + 2;
    assert_ok(ctx, kfe_i_target_from_values(ctx, MANY, 4, values, &target));
    check_fit(ctx, "C=0.5,epsilon=0.3", &p.table, &target);
    check_fit(ctx, "C=10,epsilon=0,bias=no", &p.table, &target);
    kfe_i_target_free(&target);
    free(values);
    learn_clouds_free(&p);
}

/* Several settings at once: those alike share a call, and each is what it would be alone. */
static void test_settings_at_once(void **state)
{
    kfe_context *ctx = *state;
    enum { SETTINGS = 5 };
    learn_clouds p = many_clouds(ctx, 9);
    kfe_i_linear_settings settings[SETTINGS];
    const void *pointers[SETTINGS];
    kfe_i_predictor out[SETTINGS];

    for (int s = 0; s < SETTINGS; s++) {
        settings[s] = (kfe_i_linear_settings){.c = pow(10, s - 2),
                                              .epsilon = 0.1,
                                              .stop = 1e-3,
                                              .class_weights = "none",
                                              .multiclass = KFE_MULTICLASS_OVR,
                                              .bias = s != 3};
        pointers[s] = &settings[s];
    }
    use_device(ctx);
    assert_ok(ctx, kfe_i_linear_fit_on_device(ctx, &p.table, &p.target, pointers, SETTINGS, out));
    for (int s = 0; s < SETTINGS; s++) {
        char text[64];
        (void)snprintf(text, sizeof text, "C=%g,bias=%s", settings[s].c, settings[s].bias ? "yes" : "no");
        use_cpu(ctx);
        kfe_i_predictor alone = learn_fit(ctx, "linear-svm", text, &p.table, &p.target);
        check_same_predictor(&alone, &out[s]);
        kfe_i_predictor_free(&alone);
        kfe_i_predictor_free(&out[s]);
    }
    learn_clouds_free(&p);
}

/* Few rows and features that are too large stay on the CPU. */
static void test_what_stays_on_the_cpu(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds few = learn_clouds_make(ctx, 900, COLS, 3, CLASSES);
    kfe_i_linear_settings settings = {
        .c = 1, .stop = 1e-3, .class_weights = "none", .multiclass = KFE_MULTICLASS_OVR, .bias = 1};
    const void *pointer = &settings;
    kfe_i_predictor out;

    use_device(ctx);
    assert_ok(ctx, kfe_i_linear_fit_on_device(ctx, &few.table, &few.target, &pointer, 1, &out));
    assert_int_equal(out.outputs, 0);
    learn_clouds_free(&few);
    learn_clouds huge = many_clouds(ctx, 3);
    huge.x[5] = 1e20;
    assert_ok(ctx, kfe_i_linear_fit_on_device(ctx, &huge.table, &huge.target, &pointer, 1, &out));
    assert_int_equal(out.outputs, 0);
    learn_clouds_free(&huge);
}

/* ---- knn ---- */

static void check_knn(kfe_context *ctx, const char *params, const kfe_i_table *table,
                      const kfe_i_target *target, const kfe_i_table *queries)
{
    use_cpu(ctx);
    double *expected = learn_fit_outputs(ctx, "knn", params, table, target, queries);
    use_device(ctx);
    support_catch_log(ctx);
    kfe_i_predictor predictor = learn_fit(ctx, "knn", params, table, target);
    double *got = learn_outputs(ctx, &predictor, queries);
    if (!strstr(support_log(), "rows were found on"))
        fail_msg("%s: not on the device: %s", params, support_log());
    assert_memory_equal(got, expected, (size_t)(queries->rows * predictor.outputs) * sizeof *got);
    kfe_i_predictor_free(&predictor);
    free(expected);
    free(got);
}

/* Coordinates on a coarse grid, so that many distances are equal; rows far from the origin. */
static void test_neighbours(void **state)
{
    learn_clouds p = learn_clouds_make(*state, ROWS, COLS, 4, CLASSES);
    learn_clouds q = learn_clouds_make(*state, QUERIES, COLS, 6, CLASSES);

    check_knn(*state, "neighbors=5", &p.table, &p.target, &q.table);
    for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++)
        p.x[i] = 1e5 + floor(2 * p.x[i]);
    for (int64_t i = 0; i < (int64_t)QUERIES * COLS; i++)
        q.x[i] = 1e5 + floor(2 * q.x[i]);
    check_knn(*state, "neighbors=9,vote=distance", &p.table, &p.target, &q.table);
    check_knn(*state, "neighbors=70", &p.table, &p.target, &q.table);
    learn_clouds_free(&p);
    learn_clouds_free(&q);
}

/* The number of neighbours is chosen by leave-one-out on 2,000 rows. */
static void test_choice_of_neighbours(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, 4 * ROWS, COLS, 8, CLASSES);

    use_cpu(ctx);
    kfe_i_predictor on_cpu = learn_fit(ctx, "knn", "", &p.table, &p.target);
    use_device(ctx);
    support_catch_log(ctx);
    kfe_i_predictor on_device = learn_fit(ctx, "knn", "", &p.table, &p.target);
    assert_non_null(strstr(support_log(), "2000 rows were found on"));
    assert_true(record_of(&on_cpu, "neighbors") == record_of(&on_device, "neighbors"));
    assert_true(record_of(&on_cpu, "loo-error-rate") == record_of(&on_device, "loo-error-rate"));
    kfe_i_predictor_free(&on_cpu);
    kfe_i_predictor_free(&on_device);
    learn_clouds_free(&p);
}

/* ---- failures ---- */

/* Without memory on the device the CPU does the work, with a line in the log. */
static void test_no_memory(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = many_clouds(ctx, 3);
    learn_clouds q = learn_clouds_make(ctx, QUERIES, COLS, 6, CLASSES);

    use_cpu(ctx);
    kfe_i_predictor expected = learn_fit(ctx, "linear-svm", "C=1", &p.table, &p.target);
    double *voted = learn_fit_outputs(ctx, "knn", "neighbors=5", &p.table, &p.target, &q.table);
    for (int failing = 1; failing < 4; failing++) {
        char number[8];
        (void)snprintf(number, sizeof number, "%d", failing + (strcmp(support_device_name(), "host") != 0));
        setenv("KFE_DEVICE_FAIL_ALLOCATION", number, 1);
        use_device(ctx);
        support_catch_log(ctx);
        kfe_i_predictor got = learn_fit(ctx, "linear-svm", "C=1", &p.table, &p.target);
        if (failing == 1)
            assert_non_null(strstr(support_log(), "linear-svm: the memory of"));
        check_same_predictor(&expected, &got);
        kfe_i_predictor_free(&got);
        use_device(ctx); /* counts its allocations anew */
        double *again = learn_fit_outputs(ctx, "knn", "neighbors=5", &p.table, &p.target, &q.table);
        if (failing == 1)
            assert_non_null(strstr(support_log(), "knn: the memory of"));
        assert_memory_equal(again, voted, (size_t)(QUERIES * CLASSES) * sizeof *again);
        free(again);
    }
    unsetenv("KFE_DEVICE_FAIL_ALLOCATION");
    kfe_i_predictor_free(&expected);
    free(voted);
    learn_clouds_free(&p);
    learn_clouds_free(&q);
}

enum { FEW = 1000, MANY_SETTINGS = 100 };

/* Many settings of few rows: enough work for a device. */
static kfe_status learn_once(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    const learn_clouds *p = user;
    kfe_i_linear_settings settings[MANY_SETTINGS];
    const void *pointers[MANY_SETTINGS];
    kfe_i_predictor out[MANY_SETTINGS] = {0};

    for (int s = 0; s < MANY_SETTINGS; s++) {
        settings[s] = (kfe_i_linear_settings){.c = 1 + s / 10,
                                              .stop = 1e-3,
                                              .class_weights = "none",
                                              .multiclass = KFE_MULTICLASS_OVR,
                                              .bias = s > 49};
        pointers[s] = &settings[s];
    }
    KFE_TRY(kfe_context_set_device(ctx, support_device_name()));
    KFE_TRY(kfe_i_linear_fit_on_device(ctx, &p->table, &p->target, pointers, MANY_SETTINGS, out));
    for (int s = 0; s < MANY_SETTINGS; s++)
        assert_int_equal(out[s].outputs, CLASSES);
cleanup:
    for (int s = 0; s < MANY_SETTINGS; s++)
        kfe_i_predictor_free(&out[s]);
    return status;
}

typedef struct voting {
    const learn_clouds *rows, *queries;
} voting;

static kfe_status vote_once(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    const voting *v = user;
    kfe_i_predictor predictor = {0};
    double *out = calloc((size_t)(v->queries->table.rows * CLASSES), sizeof *out);

    KFE_TRY(kfe_context_set_device(ctx, support_device_name()));
    KFE_TRY(learn_try(ctx, "knn", "neighbors=3", &v->rows->table, &v->rows->target, &predictor));
    KFE_TRY(kfe_i_predictor_outputs(ctx, &predictor, &v->queries->table, out));
cleanup:
    kfe_i_predictor_free(&predictor);
    free(out);
    return status;
}

static void test_failing_allocations(void **state)
{
    kfe_context *ctx = *state;
    learn_clouds p = learn_clouds_make(ctx, FEW, COLS, 3, CLASSES);
    learn_clouds q = learn_clouds_make(ctx, 21 * FEW, COLS, 6, CLASSES);

    support_sweep_run(
        &(support_sweep){.name = "linear-svm", .use = learn_once, .user = &p, .at_least = 100, .step = 9});
    support_sweep_run(
        &(support_sweep){.name = "knn", .use = vote_once, .user = &(voting){&p, &q}, .at_least = 8});
    learn_clouds_free(&p);
    learn_clouds_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_classes),          with_context(test_real_targets),
        with_context(test_settings_at_once), with_context(test_what_stays_on_the_cpu),
        with_context(test_neighbours),       with_context(test_choice_of_neighbours),
        with_context(test_no_memory),        with_context(test_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
