/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_transfer under failing allocations, and what python/tests/test_transfer.py cannot see: windows wider than rows, ids, projections
 * learned twice. */
#include "support/support.h"
#include "support/sweep.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/steps/chain.h"
#include "data/steps/transfer_settings.h"
#include "model/transfer.h"

enum { ROWS = 8, COLS = 5 };

static void fill(double *master, double *slave)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            master[i * COLS + j] = sin(1.0 + i * (j + 1.3)) + 0.2 * j;
            slave[i * COLS + j] = (1 + 0.1 * j) * master[i * COLS + j] - 0.3 * j;
        }
}

/* A step of a chain whose settings and columns are set; free the chain and step->learned. */
static kfe_i_fitted_step *begin(kfe_context *ctx, const char *text, kfe_i_chain *chain)
{
    assert_ok(ctx, kfe_i_chain_parse(ctx, text, chain));
    assert_ok(ctx, kfe_i_chain_plan(ctx, chain, COLS, NULL));
    kfe_i_fitted_step *step = &chain->steps[0];
    step->learned = kfe_i_alloc(ctx, kfe_i_step_learns(step) * COLS, sizeof *step->learned);
    assert_non_null(step->learned);
    return step;
}

/* The window is wider than the row, and has more columns than there are samples: the samples are met exactly. */
static void test_wide_windows_meet_few_samples(void **state)
{
    double master[ROWS * COLS];
    double slave[ROWS * COLS];
    double out[COLS];
    kfe_i_chain chain = {0};

    fill(master, slave);
    kfe_i_pairs pairs = {.rows = 4, .cols = COLS, .master = master, .slave = slave};
    kfe_i_fitted_step *step = begin(*state, "pds:window=99,dim=99", &chain);
    assert_ok(*state, kfe_i_pds_learn(*state, &pairs, step));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(step->step->apply(step, slave + i * COLS, out, NULL), -1);
        for (int j = 0; j < COLS; j++)
            assert_true(fabs(out[j] - master[i * COLS + j]) < 1e-9);
    }
    kfe_i_chain_free(&chain);
}

/* <apply(x) - apply(0), y> = <x, pull(y)> */
static void assert_pull_is_transposed(const kfe_i_fitted_step *step)
{
    const double x[COLS] = {1, -2, 0.5, 3, 0.1};
    const double y[COLS] = {0.3, 1, -1, 2, 0.7};
    const double zero[COLS] = {0};
    double made[COLS];
    double constant[COLS];
    double back[COLS];
    double left = 0;
    double right = 0;

    step->step->apply(step, x, made, NULL);
    step->step->apply(step, zero, constant, NULL);
    step->step->pull(step, y, back);
    for (int j = 0; j < COLS; j++) {
        left += (made[j] - constant[j]) * y[j];
        right += x[j] * back[j];
    }
    assert_true(fabs(left - right) < 1e-12);
}

static void test_steps_are_affine(void **state)
{
    double master[ROWS * COLS];
    double slave[ROWS * COLS];

    fill(master, slave);
    kfe_i_pairs pairs = {.rows = ROWS, .cols = COLS, .master = master, .slave = slave};
    for (int epo = 0; epo < 2; epo++) {
        kfe_i_chain chain = {0};
        kfe_i_fitted_step *step = begin(*state, epo ? "epo:dim=2" : "pds:window=3,dim=2", &chain);
        assert_ok(*state, (epo ? kfe_i_epo_learn : kfe_i_pds_learn)(*state, &pairs, step));
        assert_pull_is_transposed(step);
        kfe_i_chain_free(&chain);
    }
}

/* ---- failing allocations ---- */

typedef struct request {
    const char *how;
    int has_master, has_train;
} request;

static kfe_status wrap(kfe_context *ctx, const double *values, const double *targets, kfe_data **out)
{
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, values, out);

    return status == KFE_OK ? kfe_data_set_targets(ctx, *out, 1, targets) : status;
}

static kfe_status use(kfe_context *ctx, void *user)
{
    const request *r = user;
    kfe_spec *spec = NULL;
    kfe_data *master = NULL;
    kfe_data *slave = NULL;
    kfe_model *model = NULL;
    kfe_model *transferred = NULL;
    double values[2][ROWS * COLS];
    double targets[ROWS];
    kfe_status status;

    fill(values[0], values[1]);
    for (int i = 0; i < ROWS; i++)
        targets[i] = values[0][i * COLS] + 0.5 * values[0][i * COLS + 2] + 0.01 * i;
    if ((status = wrap(ctx, values[0], targets, &master)) == KFE_OK &&
        (status = wrap(ctx, values[1], targets, &slave)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, "pls", "dim=1,prepare=snv,conformal=split", NULL, &spec)) == KFE_OK &&
        (status = kfe_spec_set_learner(ctx, spec, "ls", NULL)) == KFE_OK &&
        (status = kfe_fit(ctx, spec, master, &model)) == KFE_OK)
        status = kfe_transfer(ctx, model, r->how, r->has_master ? master : NULL, slave,
                              r->has_train ? master : NULL, &transferred);
    assert_true((status == KFE_OK) == (transferred != NULL));
    kfe_model_free(transferred);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(slave);
    kfe_data_free(master);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    request requests[] = {{"pds:window=3,dim=2", 1, 0}, {"epo:dim=1", 1, 1}, {"slope-bias", 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        support_sweep_all(requests[i].how, use, &requests[i], 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_wide_windows_meet_few_samples),
        with_context(test_steps_are_affine),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
