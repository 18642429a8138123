/* SPDX-License-Identifier: Apache-2.0 */
/* lmkl and sldr on data with a planted solution, on noise, and under failing allocations. */
#include "support/local.h"
#include "support/sweep.h"

#include <math.h>

/* ---- planted data ---- */

enum { PLANTED = 160, SIDE = 4 };

/* Column 0 of both views is noise. Column 1 of the first view tells which view is informative: where it is
 * positive, column 2 of the first view determines the class, elsewhere column 2 of the second. */
typedef struct planted {
    double a[PLANTED * SIDE], b[PLANTED * SIDE];
    int class_of[PLANTED];
    support_views views;
} planted;

static void plant(kfe_context *ctx, uint64_t seed, planted *p)
{
    for (int i = 0; i < PLANTED; i++) {
        for (int j = 0; j < SIDE; j++) {
            p->a[i * SIDE + j] = support_normal(&seed);
            p->b[i * SIDE + j] = support_normal(&seed);
        }
        double *where = &p->a[i * SIDE + 1];
        *where += *where > 0 ? 1 : -1;
        double *decisive = *where > 0 ? &p->a[i * SIDE + 2] : &p->b[i * SIDE + 2];
        *decisive += *decisive > 0 ? 0.5 : -0.5;
        p->class_of[i] = *decisive > 0;
    }
    assert_ok(ctx, support_views_begin(ctx, PLANTED, p->class_of, &p->views));
    support_views_add(&p->views, "a", SIDE, p->a);
    support_views_add(&p->views, "b", SIDE, p->b);
}

static double planted_accuracy(kfe_context *ctx, const char *method, const char *params, int views)
{
    static planted train;
    static planted test;
    kfe_i_solution solution;

    plant(ctx, 5, &train);
    plant(ctx, 6, &test);
    for (int v = 0; v < 2; v++)
        if (views & 1 << v)
            assert_ok(ctx, support_views_kernel(&train.views, v, "linear"));
    assert_ok(ctx, support_local_fit(&train.views, method, params, &solution));
    double accuracy = support_local_accuracy(&train.views, &solution, &test.views, test.class_of);
    if (views == 3) { /* the gate lies on the right side of the planted boundary */
        kfe_i_local_data data = {.kernels = &train.views.kernels, .views = test.views.views};
        kfe_i_local_places places = {0};
        int right = 0;
        assert_ok(ctx, kfe_i_local_place(ctx, solution.local, &data, &places));
        for (int i = 0; i < PLANTED; i++)
            right += (places.shares[2 * i] > 0.5) == (test.a[i * SIDE + 1] > 0);
        assert_true(right > 0.9 * PLANTED);
        kfe_i_local_places_free(&places);
    }
    kfe_i_solution_free(&solution);
    support_views_end(&train.views);
    support_views_end(&test.views);
    return accuracy;
}

static void test_planted_halves_are_found(void **state)
{
    kfe_context *ctx = *state;
    double single[2];

    for (int v = 0; v < 2; v++)
        single[v] = planted_accuracy(ctx, "lmkl", "svm-C=10", 1 << v);
    double lmkl = planted_accuracy(ctx, "lmkl", "svm-C=10,restarts=3", 3);
    double sldr = planted_accuracy(ctx, "sldr", "svm-C=10,local-dim=1,gate-dim=1,restarts=3", 3);
    for (int v = 0; v < 2; v++)
        assert_true(single[v] < 0.85);
    assert_true(lmkl > 0.93);
    assert_true(sldr > 0.93);
}

/* Data of equal examples, and views of zeros. */
static void test_uninformative_data_is_harmless(void **state)
{
    kfe_context *ctx = *state;
    double x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    double zeros[16] = {0};
    int class_of[8] = {0, 1, 0, 1, 0, 1, 0, 1};

    for (int method = 0; method < 2; method++) {
        support_views views;
        kfe_i_solution solution;
        assert_ok(ctx, support_views_begin(ctx, 8, class_of, &views));
        support_views_add(&views, "ones", 1, x);
        support_views_add(&views, "zeros", 2, zeros);
        assert_ok(ctx, support_views_kernel(&views, 0, "linear"));
        assert_ok(ctx, support_views_kernel(&views, 1, "rbf:gamma=1"));
        assert_ok(
            ctx, support_local_fit(&views, method ? "sldr" : "lmkl", method ? "local-dim=1" : "", &solution));
        double *outputs = support_local_outputs(&views, &solution, &views);
        for (int i = 0; i < 8; i++)
            assert_true(isfinite(outputs[i]));
        free(outputs);
        kfe_i_solution_free(&solution);
        support_views_end(&views);
    }
}

/* ---- failing allocations ---- */

typedef struct small_fit {
    const char *method, *kernel;
} small_fit;

static kfe_status fit_small(kfe_context *ctx, void *user)
{
    enum { FEW = 10 };
    const small_fit *one = user;
    support_views views = {0};
    kfe_i_solution solution = {0};
    double *x = support_normals(3, FEW * 3);
    int class_of[FEW];

    for (int i = 0; i < FEW; i++)
        class_of[i] = i % 3;
    kfe_status status = support_views_begin(ctx, FEW, class_of, &views);
    if (status == KFE_OK) {
        support_views_add(&views, "x", 3, x);
        status = support_views_kernel(&views, 0, one->kernel);
    }
    if (status == KFE_OK)
        status = support_views_kernel(&views, 0, "linear");
    if (status == KFE_OK)
        status = support_local_fit(&views, one->method, "max-iter=2,restarts=2", &solution);
    kfe_i_solution_free(&solution);
    support_views_end(&views);
    free(x);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    static const char *const kernels[] = {"rbf:gamma=0.3", "laplacian:gamma=0.3"};

    (void)state;
    for (int method = 0; method < 2; method++)
        for (int kernel = 0; kernel < 2; kernel++) {
            small_fit one = {method ? "sldr" : "lmkl", kernels[kernel]};
            support_sweep_all(one.method, fit_small, &one, 60);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_planted_halves_are_found),
        with_context(test_uninformative_data_is_harmless),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
