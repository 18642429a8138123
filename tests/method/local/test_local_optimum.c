/* SPDX-License-Identifier: Apache-2.0 */
/* The quality of the solutions of lmkl and sldr: the duality gap over six decades of C, no descent along any
 * gradient, restarts and their spread, and data in extreme units. */
#include "support/local.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "support/scene.h"

enum { ROWS = 60, COLS = 4, OTHER = 3 };
static const char *const methods[] = {"lmkl", "sldr"};

typedef struct views_of_clouds {
    double *x, *y;
    int *class_of;
    support_views views;
} views_of_clouds;

static void open_views(kfe_context *ctx, const char *kernel, views_of_clouds *s)
{
    int *same = NULL;

    support_clouds(31, ROWS, COLS, 3, 0.7, &s->x, &s->class_of);
    support_clouds(32, ROWS, OTHER, 3, 0.7, &s->y, &same);
    free(same);
    assert_ok(ctx, support_views_begin(ctx, ROWS, s->class_of, &s->views));
    support_views_add(&s->views, "wide", COLS, s->x);
    support_views_add(&s->views, "narrow", OTHER, s->y);
    assert_ok(ctx, support_views_kernel(&s->views, 0, kernel));
    assert_ok(ctx, support_views_kernel(&s->views, 1, "linear"));
}

static void close_views(views_of_clouds *s)
{
    support_views_end(&s->views);
    free(s->x);
    free(s->y);
    free(s->class_of);
}

/* ---- the SVMs ---- */

static void test_the_gap_over_six_decades(void **state)
{
    kfe_context *ctx = *state;

    support_catch_log(ctx);
    for (int e = -3; e <= 3; e++)
        for (int m = 0; m < 2; m++) {
            views_of_clouds s;
            kfe_i_solution solution;
            char params[128];
            int64_t count = 0;
            snprintf(params, sizeof params,
                     "svm-C=1e%d,gate-ridge=0,svm-stop=1e-8,max-iter=20,restarts=1,settled=1e-4", e);
            open_views(ctx, e % 2 ? "linear" : "rbf:gamma=0.3", &s);
            assert_ok(ctx, support_local_fit(&s.views, methods[m], params, &solution));
            support_local_check_gap(&s.views, &solution, s.class_of, pow(10, e), 1e-5);
            assert_below(support_local_record(&solution, "gap", &count)[0], 1e-5);
            kfe_i_solution_free(&solution);
            close_views(&s);
        }
    assert_null(strstr(support_log(), "did not converge"));
}

/* ---- the search ---- */

/* J after a step of this length along the negative gradient of a block, with columns made orthonormal again. */
static double value_along(kfe_i_local_problem *p, kfe_i_local_retraction *r, const double *at,
                          const double *gradient, kfe_i_local_block block, double step)
{
    double *trial = calloc((size_t)p->at.size, sizeof *trial);
    int64_t first = 0;
    int64_t count = 0;
    double value = 0;

    kfe_i_local_block_place(p, block, &first, &count);
    memcpy(trial, at, (size_t)p->at.size * sizeof *trial);
    for (int64_t i = first; i < first + count; i++)
        trial[i] -= step * gradient[i];
    for (int64_t m = 0; block == KFE_LOCAL_PROJECTIONS && m < p->count; m++)
        assert_ok(p->ctx, kfe_i_local_polar(r, p->parts[m].columns.cols, p->parts[m].dim,
                                            trial + p->parts[m].projection_at));
    if (block == KFE_LOCAL_GATE_MAP)
        assert_ok(p->ctx, kfe_i_local_polar(r, p->at.gate_cols, p->at.gate_dim, trial + p->at.gate));
    assert_ok(p->ctx, kfe_i_local_update(p, block, trial));
    assert_ok(p->ctx, kfe_i_local_value(p, trial, &value));
    free(trial);
    return value;
}

static void project_gradient(kfe_i_local_problem *p, kfe_i_local_retraction *r, const double *at,
                             double *gradient, kfe_i_local_block block)
{
    for (int64_t m = 0; block == KFE_LOCAL_PROJECTIONS && m < p->count; m++)
        kfe_i_local_tangent(r, p->parts[m].columns.cols, p->parts[m].dim, at + p->parts[m].projection_at,
                            gradient + p->parts[m].projection_at);
    if (block == KFE_LOCAL_GATE_MAP)
        kfe_i_local_tangent(r, p->at.gate_cols, p->at.gate_dim, at + p->at.gate, gradient + p->at.gate);
}

/* Checks that no step along the gradient of a block, from tiny to large, lowers J by more than the search's
 * stopping tolerance. */
static void check_block_is_stationary(kfe_i_local_problem *p, const double *at, kfe_i_local_block block)
{
    kfe_i_local_retraction r;
    double *gradient = calloc((size_t)p->at.size, sizeof *gradient);
    double end = 0;

    assert_ok(p->ctx, kfe_i_local_retraction_open(p, &r));
    assert_ok(p->ctx, kfe_i_local_update(p, block, at));
    assert_ok(p->ctx, kfe_i_local_value(p, at, &end));
    assert_ok(p->ctx, kfe_i_local_gradient(p, block, at, gradient));
    project_gradient(p, &r, at, gradient, block);
    double largest = support_largest(p->at.size, gradient);
    for (double change = 1e-7; change < 2 && largest > 0; change *= 10)
        assert_true(value_along(p, &r, at, gradient, block, change / largest) > (1 - 3e-4) * end);
    assert_ok(p->ctx, kfe_i_local_update(p, block, at));
    kfe_i_local_retraction_free(&r);
    free(gradient);
}

static void test_ends_are_stationary(void **state)
{
    kfe_i_local_settings settings = {.local_dim = 2,
                                     .gate_dim = 2,
                                     .gate = "all",
                                     .c = 1,
                                     .stop = 1e-8,
                                     .ridge = 1e-4,
                                     .settled = 1e-5,
                                     .max_iterations = 2000,
                                     .restarts = 2};
    kfe_context *ctx = *state;

    for (int projects = 0; projects < 2; projects++) {
        views_of_clouds s;
        kfe_i_local_problem p;
        kfe_i_local_path path = {0};
        open_views(ctx, "rbf:gamma=0.3", &s);
        assert_ok(
            ctx, kfe_i_local_problem_open(ctx, methods[projects], &s.views.problem, &settings, projects, &p));
        assert_ok(ctx, kfe_i_local_search(&p, &settings, &path));
        assert_true(path.converged);
        for (int block = projects ? 0 : KFE_LOCAL_GATE_WEIGHTS; block < KFE_LOCAL_BLOCKS; block++)
            check_block_is_stationary(&p, path.parameters, (kfe_i_local_block)block);
        kfe_i_local_path_free(ctx, &path);
        kfe_i_local_problem_free(&p);
        close_views(&s);
    }
}

static void test_a_search_that_does_not_converge_is_reported(void **state)
{
    kfe_context *ctx = *state;
    views_of_clouds s;
    kfe_i_solution solution;

    open_views(ctx, "linear", &s);
    support_catch_log(ctx);
    assert_ok(ctx, support_local_fit(&s.views, "sldr", "max-iter=1,settled=0", &solution));
    assert_non_null(strstr(support_log(), "still falls after 1 iteration"));
    kfe_i_solution_free(&solution);
    close_views(&s);
}

/* ---- restarts ---- */

static void test_restarts_keep_the_best_end(void **state)
{
    kfe_context *ctx = *state;

    for (int m = 0; m < 2; m++) {
        scene s = scene_clouds(ctx, ROWS, 3);
        kfe_model *one = scene_fit(ctx, methods[m], "restarts=1", "linear", NULL, NULL, s.data);
        kfe_model *some = scene_fit(ctx, methods[m], "restarts=5", "linear", NULL, NULL, s.data);
        int64_t count = 0;
        const double *ends = scene_record(some, "restart-objectives", &count);
        double least = ends[0];
        double most = ends[0];
        assert_int_equal(count, 5);
        for (int64_t r = 0; r < count; r++) {
            least = fmin(least, ends[r]);
            most = fmax(most, ends[r]);
        }
        assert_true(ends[0] == scene_last_objective(one));
        assert_true(scene_last_objective(some) == least);
        assert_below(fabs(scene_record(some, "restart-spread", &count)[0] - (most - least) / least), 1e-12);
        assert_null(kfe_model_record(one, "restart-objectives", &count));
        kfe_model_free(one);
        kfe_model_free(some);
        scene_close(&s);
    }
}

static double least_of(const double *values, int64_t count)
{
    double least = values[0];

    for (int64_t i = 1; i < count; i++)
        least = fmin(least, values[i]);
    return least;
}

/* The number of ends of one start: its own, and those from softer gates, up to three, of which only the last may be as high as one before. */
static int64_t ends_of_start(const double *ends, int64_t most)
{
    enum { SOFTENINGS = 3 };
    int64_t count = 1;

    do {
        assert_true(count < most);
        count++;
    } while (count <= SOFTENINGS && ends[count - 1] < least_of(ends, count - 1));
    return count;
}

/* With restarts=auto three starts go on to their ends, and each of them with softer gates while that ends lower. With one view there is no gate, and where iterations run out no gate is softened. */
static void test_automatic_restarts_soften_the_gate(void **state)
{
    static const int only_wide[] = {0};
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, ROWS, 3);
    kfe_data *wide = scene_join(ctx, &s, 1, only_wide);

    for (int m = 0; m < 2; m++) {
        kfe_model *both = scene_fit(ctx, methods[m], NULL, "linear", NULL, NULL, s.data);
        kfe_model *one = scene_fit(ctx, methods[m], NULL, "linear", NULL, NULL, wide);
        kfe_model *few = scene_fit(ctx, methods[m], "max-iter=2", "linear", NULL, NULL, s.data);
        int64_t count = 0;
        const double *ends = scene_record(both, "restart-objectives", &count);
        int64_t seen = 0;
        for (int start = 0; start < 3; start++)
            seen += ends_of_start(ends + seen, count - seen);
        assert_int_equal(seen, count);
        assert_true(scene_last_objective(both) == least_of(ends, count));
        assert_null(kfe_model_record(one, "restart-objectives", &count));
        ends = scene_record(few, "restart-objectives", &count);
        assert_int_equal(count, 3);
        /* the SVMs of a start that goes on are solved anew */
        assert_below(fabs(scene_last_objective(few) / least_of(ends, count) - 1), 1e-3);
        kfe_model_free(both);
        kfe_model_free(one);
        kfe_model_free(few);
    }
    kfe_data_free(wide);
    scene_close(&s);
}

/* restarts=auto tries the starts that restarts=12 has, for eight iterations, and goes on from the lowest. */
static void test_automatic_restarts_try_a_dozen(void **state)
{
    kfe_context *ctx = *state;
    scene s = scene_clouds(ctx, ROWS, 3);

    for (int m = 0; m < 2; m++) {
        kfe_model *best = scene_fit(ctx, methods[m], NULL, "linear", NULL, NULL, s.data);
        kfe_model *tried = scene_fit(ctx, methods[m], "restarts=12,max-iter=8", "linear", NULL, NULL, s.data);
        kfe_model *first = scene_fit(ctx, methods[m], "restarts=1,max-iter=8", "linear", NULL, NULL, s.data);
        assert_true(scene_last_objective(tried) < 0.99 * scene_last_objective(first));
        assert_true(scene_last_objective(best) <= (1 + 1e-6) * scene_last_objective(tried));
        kfe_model_free(best);
        kfe_model_free(tried);
        kfe_model_free(first);
    }
    scene_close(&s);
}

/* ---- units ---- */

/* Clouds in another unit. */
static scene scaled_clouds(kfe_context *ctx, double unit)
{
    scene s = {.rows = ROWS};
    double *x = NULL;
    double *y = NULL;
    int *same = NULL;

    support_clouds(31, ROWS, COLS, 2, 0.7, &x, &s.class_of);
    support_clouds(32, ROWS, OTHER, 2, 0.7, &y, &same);
    free(same);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        x[i] *= unit;
    for (int64_t i = 0; i < ROWS * OTHER; i++)
        y[i] *= unit;
    scene_add(&s, "wide", COLS, x);
    scene_add(&s, "narrow", OTHER, y);
    scene_finish(ctx, &s);
    return s;
}

/* With the data times u and C divided by u², the optimum is divided by u² and the decisions do not change. */
static void test_units_and_c_balance(void **state)
{
    kfe_context *ctx = *state;

    for (int m = 0; m < 2; m++) {
        scene plain = scaled_clouds(ctx, 1);
        kfe_model *model =
            scene_fit(ctx, methods[m], "svm-C=1,restarts=1,svm-stop=1e-8", "linear", NULL, NULL, plain.data);
        double expected = scene_last_objective(model);
        for (int e = -20; e <= 20; e += 10) {
            char params[128];
            scene s = scaled_clouds(ctx, pow(10, e));
            snprintf(params, sizeof params, "svm-C=1e%d,restarts=1,svm-stop=1e-8", -2 * e);
            kfe_model *scaled = scene_fit(ctx, methods[m], params, "linear", NULL, NULL, s.data);
            assert_below(fabs(scene_last_objective(scaled) * pow(10, 2 * e) / expected - 1), 1e-4);
            kfe_model_free(scaled);
            scene_close(&s);
        }
        kfe_model_free(model);
        scene_close(&plain);
    }
}

/* In huge units the same C exceeds double precision, and the fit fails at once with a message. In tiny units
 * it is a small C. */
static void test_extreme_units_end(void **state)
{
    kfe_context *ctx = *state;

    for (int m = 0; m < 2; m++) {
        scene huge = scaled_clouds(ctx, 1e20);
        scene tiny = scaled_clouds(ctx, 1e-20);
        assert_fails(ctx, KFE_ENUMERIC, "scale", scene_try_fit(ctx, methods[m], NULL, huge.data));
        assert_ok(ctx, scene_try_fit(ctx, methods[m], NULL, tiny.data));
        scene_close(&huge);
        scene_close(&tiny);
    }
}

static int cancel_always(void *user)
{
    (void)user;
    return 1;
}

static void test_extreme_units_can_be_cancelled(void **state)
{
    kfe_context *ctx = *state;
    scene s = scaled_clouds(ctx, 1e20);

    kfe_context_on_cancel(ctx, cancel_always, NULL);
    for (int m = 0; m < 2; m++)
        assert_int_equal(scene_try_fit(ctx, methods[m], NULL, s.data), KFE_ECANCEL);
    kfe_context_on_cancel(ctx, NULL, NULL);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_gap_over_six_decades),
        with_context(test_ends_are_stationary),
        with_context(test_a_search_that_does_not_converge_is_reported),
        with_context(test_restarts_keep_the_best_end),
        with_context(test_automatic_restarts_soften_the_gate),
        with_context(test_automatic_restarts_try_a_dozen),
        with_context(test_units_and_c_balance),
        with_context(test_extreme_units_end),
        with_context(test_extreme_units_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
