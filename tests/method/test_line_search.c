/* SPDX-License-Identifier: Apache-2.0 */
/* The line search on functions with known derivatives: the strong Wolfe conditions, sufficient decrease,
 * limited steps, values that cannot decrease, and failures of the callback. */
#include "support/support.h"

#include <float.h>
#include <math.h>

#include "method/shared/line_search.h"

typedef struct curve {
    double (*f)(double t);
    double (*df)(double t);
    int calls, slopes, fails_at;
    double last;
} curve;

static double parabola(double t)
{
    return (t - 3) * (t - 3) + 1;
}
static double parabola_slope(double t)
{
    return 2 * (t - 3);
}
static double quartic(double t)
{
    return pow(t - 1e-3, 4) - 1e-3 * t;
}
static double quartic_slope(double t)
{
    return 4 * pow(t - 1e-3, 3) - 1e-3;
}
/* A difficult function in the sense of Nocedal & Wright: steep at 0, flat for a long distance, with a minimum
 * far away. */
static double far(double t)
{
    return -t / (t * t + 2);
}
static double far_slope(double t)
{
    return (t * t - 2) / ((t * t + 2) * (t * t + 2));
}
static double wavy(double t)
{
    return 0.01 * t * t - 0.1 * sin(10 * t) - 0.2 * t;
}
static double wavy_slope(double t)
{
    return 0.02 * t - cos(10 * t) - 0.2;
}

static const curve curves[] = {{.f = parabola, .df = parabola_slope},
                               {.f = quartic, .df = quartic_slope},
                               {.f = far, .df = far_slope},
                               {.f = wavy, .df = wavy_slope}};

static kfe_status at(void *state, double step, double *value, double *slope)
{
    curve *c = state;

    if (++c->calls == c->fails_at)
        return KFE_ENOMEM;
    c->last = step;
    *value = c->f(step);
    if (slope) {
        *slope = c->df(step);
        c->slopes++;
    }
    return KFE_OK;
}

static kfe_i_line line_of(curve *c, double first, double curvature)
{
    return (kfe_i_line){.value = c->f(0),
                        .slope = c->df(0),
                        .first = first,
                        .longest = 1e6,
                        .curvature = curvature,
                        .at = at,
                        .state = c};
}

static void test_steps_satisfy_the_conditions(void **state)
{
    static const double firsts[] = {1e-8, 1e-3, 1, 50, 1e5};

    (void)state;
    for (size_t k = 0; k < sizeof curves / sizeof *curves; k++)
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
            for (int strong = 0; strong < 2; strong++) {
                curve c = curves[k];
                kfe_i_line line = line_of(&c, firsts[i], strong ? 0.1 : 0);
                kfe_i_step step = {0};
                assert_int_equal(kfe_i_line_search(&line, &step), KFE_OK);
                assert_true(step.step > 0);
                assert_true(step.step == c.last && step.trials == c.calls);
                assert_true(c.f(step.step) <= c.f(0) + 1e-4 * step.step * c.df(0));
                assert_int_equal(c.slopes, strong ? c.calls : 0);
                if (strong)
                    assert_true(fabs(c.df(step.step)) <= 0.1 * fabs(c.df(0)));
            }
}

/* The parabola through f(0), f'(0) and one more value of a parabola is that parabola: two trials suffice. */
static void test_backtracking_interpolates(void **state)
{
    curve c = curves[0];
    kfe_i_line line = line_of(&c, 7, 0);
    kfe_i_step step = {0};

    (void)state;
    assert_int_equal(kfe_i_line_search(&line, &step), KFE_OK);
    assert_int_equal(step.trials, 2);
    assert_true(fabs(step.step - 3) < 1e-12);
}

static void test_no_step_exceeds_the_longest(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        curve c = curves[0];
        kfe_i_line line = line_of(&c, 10, strong ? 0.1 : 0);
        kfe_i_step step = {0};
        line.longest = 0.5;
        assert_int_equal(kfe_i_line_search(&line, &step), KFE_OK);
        assert_true(step.step == 0.5);
    }
}

static double rising(double t)
{
    return t;
}
static double wrong_slope(double t)
{
    return -1 - t;
}

static void test_no_decrease_is_no_step(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        curve c = {.f = rising, .df = wrong_slope};
        kfe_i_line line = line_of(&c, 1, strong ? 0.1 : 0);
        kfe_i_step step = {.step = 9};
        line.max_trials = 12;
        assert_int_equal(kfe_i_line_search(&line, &step), KFE_OK);
        assert_true(step.step == 0);
        assert_int_equal(step.trials, 12);
    }
}

static kfe_status accept_short(void *state, double step, double value, int *accepted)
{
    (void)state;
    (void)value;
    *accepted = step < 0.01;
    return KFE_OK;
}

static void test_the_caller_may_accept(void **state)
{
    curve c = {.f = rising, .df = wrong_slope};
    kfe_i_line line = line_of(&c, 1, 0);
    kfe_i_step step = {0};

    (void)state;
    line.accept = accept_short;
    assert_int_equal(kfe_i_line_search(&line, &step), KFE_OK);
    assert_true(step.step > 0 && step.step < 0.01);
}

static void test_failures_are_passed_on(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        curve c = curves[3];
        kfe_i_line line = line_of(&c, 1e5, strong ? 0.1 : 0);
        kfe_i_step step = {0};
        c.fails_at = 2;
        assert_int_equal(kfe_i_line_search(&line, &step), KFE_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_satisfy_the_conditions), cmocka_unit_test(test_backtracking_interpolates),
        cmocka_unit_test(test_no_step_exceeds_the_longest),  cmocka_unit_test(test_no_decrease_is_no_step),
        cmocka_unit_test(test_the_caller_may_accept),        cmocka_unit_test(test_failures_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
