/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes with a device each: the forms of the Gram operator that is divided over devices, its eigenvectors and systems, against one
 * process on the CPU, with less and less memory on the devices, and with a device that fails in one process. Started by mpirun; every process
 * runs all tests. The device is the host plug-in, or the one that KFE_TEST_DEVICE names.
 */
#include "pair.h"

#include <stdio.h>

#include "core/cluster.h"
#include "gram/cluster/on_devices.h"
#include "gram/device/panels.h"
#include "gram/form.h"
#include "support/device.h"

enum { EIGENVECTORS = 4, RIGHT = 3 };

static void set_number(const char *name, double value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.0f", value);
    assert_int_equal(setenv(name, text, 1), 0);
}

static void open_on_devices(pair *p, int64_t rows, int sparse, const char *kernels)
{
    pair_open(p, rows, sparse, kernels, support_device_name());
    assert_int_equal(kfe_i_gram_alone(p->all) != p->all, kfe_context_processes(p->together) > 1);
}

/* Memory of a device in which its examples, vectors and so many bytes fit; a tenth is left to its libraries. */
static void set_memory(const pair *p, double bytes)
{
    double points = 8.0 * (double)p->table.rows * (4 * PAIR_COLS + 8);

    set_number("KFE_DEVICE_MEMORY", (points + bytes) / 0.93);
}

/* ---- forms ---- */

static void test_divided_over_devices_equals_one(void **state)
{
    static const int64_t sizes[] = {1, 2, 65, 301, 700};
    static const char *const kernels[] = {"rbf:gamma=0.3", "rbf:gamma=0.3 laplacian:gamma=0.2,weight=0.5"};

    (void)state;
    for (int k = 0; k < 2; k++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                pair p;
                kfe_i_gram *kept = NULL;
                open_on_devices(&p, sizes[s], sparse, kernels[k]);
                pair_check_entries(&p);
                pair_check_times(&p, p.all, 0);
                for (int single = 0; single < 2 && kfe_i_gram_alone(p.all) != p.all; single++) {
                    assert_ok(p.together,
                              kfe_i_devices_keep(p.all, single ? KFE_DEVICE_F32 : KFE_DEVICE_F64, 0, &kept));
                    assert_non_null(kept);
                    pair_check_times(&p, kept, single);
                    kfe_i_gram_free(kept);
                }
                pair_close(&p);
            }
}

/* Products in single precision of which some panels are kept and the others computed. */
static void check_panels(const pair *p, int64_t kept)
{
    kfe_i_device_panels *panels = NULL;
    kfe_i_device_panels_shape shape = {kfe_i_own_share(p->together), KFE_DEVICE_F32, kept};
    int64_t size = p->table.rows * PAIR_VECTORS;
    double *v = support_random(3, size);
    double *expected = support_random(1, size);
    double *got = support_random(2, size);

    assert_ok(p->together, kfe_i_device_panels_new(kfe_i_gram_alone(p->all), &shape, &panels));
    assert_non_null(panels);
    assert_ok(p->together, kfe_i_device_panels_times(panels, v, PAIR_VECTORS, got));
    assert_ok(p->together, kfe_i_cluster_sum(p->together, got, size));
    assert_ok(p->alone, kfe_i_gram_times(p->one, v, PAIR_VECTORS, expected));
    pair_assert_same("panels", got, expected, size, pair_slack(p, 1));
    kfe_i_device_panels_free(panels);
    free(v);
    free(expected);
    free(got);
}

/* Two kernels: a device computes the first as fast as it would read it. */
static void test_some_panels_are_kept(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "laplacian:gamma=0.3"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        pair p;
        open_on_devices(&p, 900, 0, kernels[k]);
        int64_t all = kfe_i_device_panels_count(900, kfe_context_processes(p.together));
        for (int64_t kept = 0; kept <= all; kept += 3)
            check_panels(&p, kept);
        pair_close(&p);
    }
}

/* The form that is kept for many passes with less and less memory on each device. */
static void test_memory_is_that_of_each_device(void **state)
{
    enum { ROWS = 1500 };
    pair p;

    (void)state;
    open_on_devices(&p, ROWS, 0, "laplacian:gamma=0.3");
    int processes = kfe_context_processes(p.together);
    int64_t all = kfe_i_device_panels_count(ROWS, processes);
    const struct {
        double bytes;
        const char *form;
        int single;
    } cases[] = {{3 * 8.0 * ROWS * ROWS, "stored in double precision, whole on the device", 0},
                 {kfe_i_device_panels_bytes(ROWS, processes, KFE_DEVICE_F64, all),
                  "stored in double precision, divided", 0},
                 {kfe_i_device_panels_bytes(ROWS, processes, KFE_DEVICE_F32, all),
                  "stored in single precision, divided", 1},
                 {kfe_i_device_panels_bytes(ROWS, processes, KFE_DEVICE_F32, all / 2), "partly stored", 1},
                 {0.6 * kfe_i_device_panels_bytes(ROWS, processes, KFE_DEVICE_F32, 0),
                  "computed in single precision", 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases && processes > 1; c++) {
        kfe_i_kept kept;
        pair limited;
        set_memory(&p, cases[c].bytes);
        open_on_devices(&limited, ROWS, 0, "laplacian:gamma=0.3");
        assert_ok(limited.together, kfe_i_gram_keep(limited.all, KFE_KEEP_ANY, 0, &kept));
        if (!strstr(kept.gram->form->name, cases[c].form))
            fail_msg("%s instead of %s", kept.gram->form->name, cases[c].form);
        pair_check_times(&limited, kept.gram, cases[c].single);
        kfe_i_gram_keep_free(&kept);
        pair_close(&limited);
    }
    assert_int_equal(unsetenv("KFE_DEVICE_MEMORY"), 0);
    pair_close(&p);
}

/* The product of a process whose device has no memory left, but not the others'. */
static void test_a_process_goes_on_without_its_device(void **state)
{
    (void)state;
    for (int k = 1; k <= 12; k++) {
        pair p;
        kfe_i_kept kept;
        kfe_context *ctx = NULL;
        assert_int_equal(kfe_context_new(&ctx), KFE_OK);
        assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
        if (kfe_context_process(ctx) == kfe_context_processes(ctx) - 1)
            set_number("KFE_DEVICE_FAIL_ALLOCATION", k);
        kfe_context_free(ctx);
        pair_open(&p, 301, 0, k % 2 ? "rbf:gamma=0.3" : "laplacian:gamma=0.3", support_device_name());
        double *got = support_random(1, p.table.rows * PAIR_VECTORS);
        pair_check_product(&p, p.all, 0, got);
        assert_ok(p.together, kfe_i_gram_keep(p.all, KFE_KEEP_ANY, 0, &kept));
        if (kfe_i_gram_alone(kept.gram) != kept.gram) /* else there is one process */
            pair_check_product(&p, kept.gram, kept.gram->precision == &kfe_i_single, got);
        pair_check_entries(&p);
        free(got);
        kfe_i_gram_keep_free(&kept);
        pair_close(&p);
        assert_int_equal(unsetenv("KFE_DEVICE_FAIL_ALLOCATION"), 0);
    }
}

/* ---- eigenvectors and systems ---- */

/* ‖Gv − λv‖ ≤ KFE_TOLERANCE·‖G‖ with the operator of one process; the norm is at most the largest sum of a row, n. */
static void check_eigenvectors(const pair *p, int centred)
{
    int64_t n = p->table.rows;
    kfe_i_gram *one = NULL;
    kfe_i_gram *all = NULL;
    double values[EIGENVECTORS];
    double expected[EIGENVECTORS];
    double *vectors = support_random(4, n * EIGENVECTORS);
    double *product = support_random(5, n * EIGENVECTORS);

    assert_ok(p->alone, kfe_i_gram_centred(p->alone, p->one, &one));
    assert_ok(p->together, kfe_i_gram_centred(p->together, p->all, &all));
    assert_ok(p->alone,
              kfe_i_gram_eigen(centred ? one : p->one, EIGENVECTORS, KFE_TOLERANCE, expected, vectors));
    assert_ok(p->together,
              kfe_i_gram_eigen(centred ? all : p->all, EIGENVECTORS, KFE_TOLERANCE, values, vectors));
    pair_assert_same("eigenvalues", values, expected, EIGENVECTORS, KFE_TOLERANCE * (double)n);
    pair_assert_everywhere(p, "eigenvectors", vectors, n * EIGENVECTORS);
    assert_ok(p->alone, kfe_i_gram_times(centred ? one : p->one, vectors, EIGENVECTORS, product));
    for (int64_t i = 0; i < n * EIGENVECTORS; i++)
        vectors[i] *= values[i % EIGENVECTORS];
    pair_assert_same("eigenvectors", vectors, product, n * EIGENVECTORS, KFE_TOLERANCE * (double)n);
    kfe_i_gram_free(one);
    kfe_i_gram_free(all);
    free(vectors);
    free(product);
}

/* The residual by the operator of one process: KFE_TOLERANCE of the right-hand side's length, which is at most √n. */
static void check_solution(const pair *p, int centred)
{
    int64_t n = p->table.rows;
    const double ridge = 0.5;
    kfe_i_gram *one = NULL;
    kfe_i_gram *all = NULL;
    double *right = support_random(4, n * RIGHT);
    double *x = support_random(4, n * RIGHT);
    double *product = support_random(5, n * RIGHT);

    assert_ok(p->alone, kfe_i_gram_centred(p->alone, p->one, &one));
    assert_ok(p->together, kfe_i_gram_centred(p->together, p->all, &all));
    assert_ok(p->together,
              kfe_i_gram_solve(centred ? all : p->all, ridge, right, RIGHT, KFE_TOLERANCE, x, NULL));
    pair_assert_everywhere(p, "solution", x, n * RIGHT);
    assert_ok(p->alone, kfe_i_gram_times(centred ? one : p->one, x, RIGHT, product));
    for (int64_t i = 0; i < n * RIGHT; i++)
        product[i] += ridge * x[i];
    pair_assert_same("solution", product, right, n * RIGHT,
                     2 * KFE_TOLERANCE * sqrt((double)n) + tolerance_sum(n, 2 * (double)n));
    kfe_i_gram_free(one);
    kfe_i_gram_free(all);
    free(right);
    free(x);
    free(product);
}

/* With memory for three times the matrix every device has all of it: all eigenvectors of a small one, a Krylov space of a large one. With
 * less it is divided: memory for three fourths of a large one has room for the vectors too, memory for a tenth not even for its panels. */
static void test_eigenvectors_and_systems(void **state)
{
    static const struct {
        int64_t rows;
        double share; /* of the matrix in double precision */
    } cases[] = {{200, 3}, {200, 0.6}, {1100, 3}, {2000, 0.75}, {1100, 0.6}, {1100, 0.12}};

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double n = (double)cases[c].rows;
        pair p;
        set_number("KFE_DEVICE_MEMORY", cases[c].share * 8 * n * n + 8 * n * 200);
        pair_open(&p, cases[c].rows, 0, c % 2 ? "laplacian:gamma=0.3" : "rbf:gamma=0.3",
                  support_device_name());
        for (int centred = 0; centred < 2; centred++) {
            check_eigenvectors(&p, centred);
            check_solution(&p, centred);
        }
        pair_close(&p);
    }
    assert_int_equal(unsetenv("KFE_DEVICE_MEMORY"), 0);
}

/* Any allocation fails in one process, but not in the others. Nine megabytes hold half of the larger matrix, and its vectors. */
static void test_one_failing_device_does_not_stop_the_others(void **state)
{
    (void)state;
    for (int k = 1; k <= 41; k += k < 16 ? 1 : 5) {
        pair p;
        kfe_context *ctx = NULL;
        assert_int_equal(kfe_context_new(&ctx), KFE_OK);
        assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
        if (kfe_context_process(ctx) == k % kfe_context_processes(ctx))
            set_number("KFE_DEVICE_FAIL_ALLOCATION", k);
        kfe_context_free(ctx);
        set_number("KFE_DEVICE_MEMORY", 9e6);
        pair_open(&p, k % 3 == 0 ? 1050 : 150, 0, "rbf:gamma=0.3", support_device_name());
        check_eigenvectors(&p, k % 2);
        check_solution(&p, k % 2);
        pair_close(&p);
        assert_int_equal(unsetenv("KFE_DEVICE_FAIL_ALLOCATION"), 0);
        assert_int_equal(unsetenv("KFE_DEVICE_MEMORY"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divided_over_devices_equals_one),
        cmocka_unit_test(test_some_panels_are_kept),
        cmocka_unit_test(test_memory_is_that_of_each_device),
        cmocka_unit_test(test_a_process_goes_on_without_its_device),
        cmocka_unit_test(test_eigenvectors_and_systems),
        cmocka_unit_test(test_one_failing_device_does_not_stop_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
