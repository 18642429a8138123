/* SPDX-License-Identifier: Apache-2.0 */
/* Multiclass schemes: which two-class problems they solve, and the weights of the two sides. */
#include <math.h>

#include "learn/multiclass.h"
#include "support/learn.h"

/* ---- the two-class problems, written down by hand ---- */

enum { ROWS = 7, CLASSES = 4, MOST = 6 };
static const int class_of[ROWS] = {0, 1, 2, 1, 3, 0, 2};

/* The sign of each row in each problem; 0: the row is left out. */
typedef struct problems {
    int count;
    int sign[MOST][ROWS];
} problems;

static kfe_status write_down(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    problems *all = user;
    (void)ctx;

    assert_int_equal(binary->output, all->count);
    for (int64_t r = 0; r < binary->count; r++) {
        assert_true(r == 0 || binary->rows[r] > binary->rows[r - 1]);
        all->sign[all->count][binary->rows[r]] = (int)binary->sign[r];
    }
    all->count++;
    return KFE_OK;
}

static void check_problems(kfe_context *ctx, kfe_i_multiclass choice, int count,
                           const int expected[][CLASSES])
{
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    problems got = {0};
    kfe_i_decision decision = kfe_i_multiclass_decision(choice, CLASSES);

    assert_ok(ctx, kfe_i_multiclass_each(ctx, &target, decision, NULL, write_down, &got));
    assert_int_equal(got.count, count);
    assert_int_equal(kfe_i_decision_outputs(decision, CLASSES), count);
    for (int p = 0; p < count; p++)
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(got.sign[p][i], expected[p][class_of[i]]);
    kfe_i_target_free(&target);
}

static void test_problems(void **state)
{
    check_problems(
        *state, KFE_MULTICLASS_OVO, 6,
        (const int[][CLASSES]){
            {1, -1, 0, 0}, {1, 0, -1, 0}, {1, 0, 0, -1}, {0, 1, -1, 0}, {0, 1, 0, -1}, {0, 0, 1, -1}});
    check_problems(
        *state, KFE_MULTICLASS_OVR, 4,
        (const int[][CLASSES]){{1, -1, -1, -1}, {-1, 1, -1, -1}, {-1, -1, 1, -1}, {-1, -1, -1, 1}});
    check_problems(*state, KFE_MULTICLASS_CHAIN, 3,
                   (const int[][CLASSES]){{1, -1, -1, -1}, {0, 1, -1, -1}, {0, 0, 1, -1}});
    for (int choice = KFE_MULTICLASS_OVO; choice <= KFE_MULTICLASS_CHAIN; choice++)
        assert_int_equal(kfe_i_multiclass_decision((kfe_i_multiclass)choice, 2), KFE_DECIDE_PAIRS);
}

static kfe_status refuse(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    ++*(int *)user;
    return binary->output == 1 ? kfe_i_fail(ctx, KFE_ENUMERIC, "refused") : KFE_OK;
}

static void test_a_failure_ends_it(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_target target = learn_classes(ctx, ROWS, class_of);
    int calls = 0;

    assert_fails(ctx, KFE_ENUMERIC, "refused",
                 kfe_i_multiclass_each(ctx, &target, KFE_DECIDE_PAIRS, NULL, refuse, &calls));
    assert_int_equal(calls, 2);
    kfe_i_target_free(&target);
}

/* ---- class weights ---- */

static void test_weights_from_text(void **state)
{
    kfe_context *ctx = *state;
    const char *labels[] = {"a", "a", "a", "b:x", "c", "c"};
    kfe_i_target target;
    double w[3];

    assert_ok(ctx, kfe_i_target_from_labels(ctx, 6, labels, &target));
    assert_ok(ctx, kfe_i_class_weights(ctx, "balanced", &target, w));
    assert_true(fabs(w[0] - 6.0 / 9) < 1e-15 && w[1] == 2 && w[2] == 1);
    assert_ok(ctx, kfe_i_class_weights(ctx, "b:x:2.5;a:4;", &target, w));
    assert_true(w[0] == 4 && w[1] == 2.5 && w[2] == 1);
    assert_ok(ctx, kfe_i_class_weights(ctx, "none", &target, w));
    assert_true(w[0] == 1 && w[1] == 1 && w[2] == 1);
    assert_fails(ctx, KFE_EINVAL, "did you mean 'b:x'", kfe_i_class_weights(ctx, "b_x:2", &target, w));
    assert_fails(ctx, KFE_EINVAL, "NAME:WEIGHT", kfe_i_class_weights(ctx, "a", &target, w));
    assert_fails(ctx, KFE_EINVAL, "NAME:WEIGHT", kfe_i_class_weights(ctx, "a:many", &target, w));
    assert_fails(ctx, KFE_EINVAL, "above 0", kfe_i_class_weights(ctx, "a:0", &target, w));
    assert_fails(ctx, KFE_EINVAL, "above 0", kfe_i_class_weights(ctx, "a:nan", &target, w));
    kfe_i_target_free(&target);
}

/* The weight of a side is the sum of its examples' weights. */
static kfe_status sum_weights(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    double *totals = user;
    (void)ctx;

    for (int64_t i = 0; i < binary->count; i++)
        totals[binary->output] += binary->sign[i] > 0 ? binary->positive_weight : binary->negative_weight;
    return KFE_OK;
}

static void test_a_rest_weighs_what_its_classes_weigh(void **state)
{
    kfe_context *ctx = *state;
    int uneven[6] = {0, 1, 1, 2, 2, 2};
    kfe_i_target target = learn_classes(ctx, 6, uneven);
    double weights[3] = {1, 10, 100};
    double totals[3] = {0};

    assert_ok(ctx, kfe_i_multiclass_each(ctx, &target, KFE_DECIDE_LARGEST, weights, sum_weights, totals));
    for (int g = 0; g < 3; g++)
        assert_below(fabs(totals[g] - 321), 1e-12);
    memset(totals, 0, sizeof totals);
    assert_ok(ctx, kfe_i_multiclass_each(ctx, &target, KFE_DECIDE_CHAIN, weights, sum_weights, totals));
    assert_below(fabs(totals[0] - 321) + fabs(totals[1] - 320) + fabs(totals[2]), 1e-12);
    kfe_i_target_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_problems),
        with_context(test_a_failure_ends_it),
        with_context(test_weights_from_text),
        with_context(test_a_rest_weighs_what_its_classes_weigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
