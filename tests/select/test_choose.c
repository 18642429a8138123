/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that choose the number of features: a planted number, and every failed allocation. Their numbers by hand and by R are in
 * python/tests/test_choose.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fit.h"
#include "support/sweep.h"

enum { ROWS = 60, COLS = 8 };

typedef struct request {
    const char *options;
    int64_t chosen;
} request;

static double x[ROWS * COLS];
static double y[ROWS];

/* Two factors make the columns and the target; the rest is noise. */
static void plant(void)
{
    uint64_t random = 5;

    for (int i = 0; i < ROWS; i++) {
        double a = support_normal(&random);
        double b = support_normal(&random);
        for (int j = 0; j < COLS; j++)
            x[i * COLS + j] = 3 * a + (j % 2 ? b : -b) + 0.3 * support_normal(&random);
        y[i] = a + 2 * b + 0.3 * support_normal(&random);
    }
}

static kfe_status choose(kfe_context *ctx, void *user)
{
    request *r = user;
    const char *const grids[] = {"dim=1,2,3,5,8", NULL};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_result *result = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, x, &data);

    if (status == KFE_OK)
        status = kfe_data_set_targets(ctx, data, 1, y);
    if (status == KFE_OK)
        status = kfe_spec_parse(ctx, "pls", NULL, NULL, &spec);
    if (status == KFE_OK)
        status = kfe_spec_set_learner(ctx, spec, "ls", NULL);
    if (status == KFE_OK)
        status = kfe_cross_validate(ctx, spec, grids, data, r->options, NULL, &result);
    if (status == KFE_OK)
        r->chosen = atoll(kfe_result_text(result, "best/dim"));
    kfe_result_free(result);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static const char *const rules[] = {"choose=one-se", "choose=permutation", "choose=q2"};

static void test_planted_number(void **state)
{
    for (int k = 0; k < 3; k++)
        for (int nested = 0; nested < 2; nested++) {
            char options[80];
            snprintf(options, sizeof options, "%s,folds=5%s", rules[k], nested ? "" : ",inner-folds=0");
            request r = {.options = options};
            assert_ok(*state, choose(*state, &r));
            assert_int_equal(r.chosen, 2);
        }
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        char options[80];
        snprintf(options, sizeof options, "%s,folds=3,inner-folds=2", rules[k]);
        support_sweep_all(rules[k], choose, &(request){.options = options}, 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_planted_number),
        cmocka_unit_test(test_every_allocation_may_fail),
    };

    plant();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
