/* SPDX-License-Identifier: Apache-2.0 */
/* LIBSVM and LIBLINEAR end when the cancel callback says so, and the next call works. The leak
 * sanitizer sees that LIBLINEAR frees what it holds. */
#include "support/support.h"

#include "support/learn.h"
#include "support/points.h"

enum { ROWS = 600, COLS = 3 };

typedef struct patience {
    int64_t asked, most; /* stops at this question */
} patience;

static int is_at_end(void *user)
{
    patience *p = user;
    return ++p->asked >= p->most;
}

/* Fits on classes or numbers that cannot be learned, stopping at question `most`; returns how many questions there were. */
static int64_t fit(kfe_context *ctx, const char *learner, int numbers, int64_t most, kfe_status expected)
{
    const char *params = strcmp(learner, "svm") == 0
                             ? "C=100,learner-kernel=rbf:gamma=1,svm-cache=1,svm-solver=libsvm"
                             : "C=1000,stop=1e-9";
    double *x = support_random(3, (int64_t)ROWS * COLS), *noise = support_random(4, ROWS);
    int classes[ROWS];
    patience p = {.most = most};
    kfe_i_predictor predictor = {0};

    for (int i = 0; i < ROWS; i++)
        classes[i] = noise[i] > 0;
    kfe_i_table table = learn_dense(ROWS, COLS, x);
    kfe_i_target target = {0};
    if (numbers)
        assert_ok(ctx, kfe_i_target_from_values(ctx, ROWS, 1, noise, &target));
    else
        target = learn_classes(ctx, ROWS, classes);
    kfe_context_on_cancel(ctx, is_at_end, &p);
    kfe_status status = learn_try(ctx, learner, params, &table, &target, &predictor);
    kfe_context_on_cancel(ctx, NULL, NULL);
    if (status != expected)
        fail_msg("%s: %s: %s", learner, kfe_status_text(status), kfe_error_message(ctx));
    if (status == KFE_OK)
        kfe_i_predictor_free(&predictor);
    kfe_i_target_free(&target);
    free(x);
    free(noise);
    return p.asked;
}

/* Twice, so that the second fit shows that the first one left nothing behind. */
static void stops_at_each_question(kfe_context *ctx, const char *learner, int numbers, int64_t least)
{
    int64_t questions = fit(ctx, learner, numbers, INT64_MAX, KFE_OK);

    assert_true(questions >= least);
    for (int64_t most = 1; most <= questions; most += 1 + questions / 6)
        assert_int_equal(fit(ctx, learner, numbers, most, KFE_ECANCEL), most);
    assert_int_equal(fit(ctx, learner, numbers, INT64_MAX, KFE_OK), questions);
}

static void test_libsvm(void **state)
{
    stops_at_each_question(*state, "svm", 0, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_libsvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
