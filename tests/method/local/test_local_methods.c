/* SPDX-License-Identifier: Apache-2.0 */
/* lmkl and sldr as methods: special cases that are ordinary SVMs, the duality gap of the projector's outputs,
 * properties of the search, and bad options. */
#include "support/local.h"

#include <math.h>

#include "oracles/libsvm.h"
#include "support/mkl.h"

enum { ROWS = 36, COLS = 4, OTHER = 3 };

typedef struct scene {
    double *x, *y;
    int *class_of;
    int classes;
    support_views views;
} scene;

static void open_scene(kfe_context *ctx, int classes, double apart, scene *s)
{
    int *same = NULL;

    memset(s, 0, sizeof *s);
    s->classes = classes;
    support_clouds(21, ROWS, COLS, classes, apart, &s->x, &s->class_of);
    support_clouds(22, ROWS, OTHER, classes, apart, &s->y, &same);
    free(same);
    assert_ok(ctx, support_views_begin(ctx, ROWS, s->class_of, &s->views));
    support_views_add(&s->views, "wide", COLS, s->x);
    support_views_add(&s->views, "narrow", OTHER, s->y);
}

static void close_scene(scene *s)
{
    support_views_end(&s->views);
    free(s->x);
    free(s->y);
    free(s->class_of);
}

static double *linear_kernel(const double *x, int64_t rows, int64_t cols)
{
    double *turned = support_transpose(rows, cols, x);
    double *k = support_product(rows, cols, rows, x, turned);

    free(turned);
    return k;
}

/* ---- special cases ---- */

static void test_one_view_and_all_its_dimensions_is_the_plain_svm(void **state)
{
    static const char *const kernels[] = {"linear", "rbf:gamma=0.3"};
    kfe_context *ctx = *state;

    for (int classes = 2; classes <= 3; classes++)
        for (int k = 0; k < 2; k++) {
            scene s;
            kfe_i_solution solution;
            open_scene(ctx, classes, 1, &s);
            double *matrix =
                k == 0 ? linear_kernel(s.x, ROWS, COLS) : support_rbf(ROWS, s.x, ROWS, s.x, COLS, 0.3);
            double expected = oracle_svms_optimum(ROWS, matrix, s.class_of, classes, 3, NULL);
            assert_ok(ctx, support_views_kernel(&s.views, 0, kernels[k]));
            assert_ok(ctx,
                      support_local_fit(&s.views, "sldr", "local-dim=4,svm-C=3,svm-stop=1e-8", &solution));
            assert_below(fabs(support_local_objective(&solution) - expected), 1e-6 * expected);
            support_local_check_gap(&s.views, &solution, s.class_of, 3, 1e-4);
            kfe_i_solution_free(&solution);
            assert_ok(ctx, support_local_fit(&s.views, "lmkl", "svm-C=3,svm-stop=1e-8", &solution));
            assert_below(fabs(support_local_objective(&solution) - expected), 1e-6 * expected);
            support_local_check_gap(&s.views, &solution, s.class_of, 3, 1e-4);
            kfe_i_solution_free(&solution);
            free(matrix);
            close_scene(&s);
        }
}

/* A gate on columns of zeros gives every part the same weight everywhere. */
static void test_constant_gate_is_the_sum_of_kernels(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    kfe_i_solution solution;
    double *zeros = calloc(ROWS, sizeof *zeros);

    open_scene(ctx, 3, 1, &s);
    support_views_add(&s.views, "nothing", 1, zeros);
    assert_ok(ctx, support_views_kernel(&s.views, 0, "linear:weight=2"));
    assert_ok(ctx, support_views_kernel(&s.views, 1, "rbf:gamma=0.4"));
    assert_ok(ctx, support_views_kernel(&s.views, 2, "linear"));
    double *sum = linear_kernel(s.x, ROWS, COLS);
    double *rbf = support_rbf(ROWS, s.y, ROWS, s.y, OTHER, 0.4);
    for (int i = 0; i < ROWS * ROWS; i++)
        sum[i] = (2 * sum[i] + rbf[i]) / 9;
    double expected = oracle_svms_optimum(ROWS, sum, s.class_of, 3, 1, NULL);
    assert_ok(ctx, support_local_fit(&s.views, "lmkl", "gate=nothing,max-iter=0,svm-stop=1e-8", &solution));
    assert_below(fabs(support_local_objective(&solution) - expected), 1e-6 * expected);
    support_local_check_gap(&s.views, &solution, s.class_of, 1, 1e-4);
    for (int64_t i = 0; i < solution.local->rows * 3; i++)
        assert_below(fabs(solution.local->shares[i] - 1.0 / 3), 1e-15);
    kfe_i_solution_free(&solution);
    free(sum);
    free(rbf);
    free(zeros);
    close_scene(&s);
}

/* ---- kernels that are replaced by columns ---- */

/* A given matrix of dot products is equivalent to the columns themselves. The gate sees other columns, the
 * same for both. */
static void test_given_dot_products_are_as_good_as_columns(void **state)
{
    enum { NEW = 5 };
    static const char *const methods[] = {"lmkl", "sldr"};
    static const char *const params[] = {"gate=narrow,svm-stop=1e-10,gate-ridge=0",
                                         "gate=narrow,svm-stop=1e-10,gate-ridge=0,local-dim=4,max-iter=0"};
    kfe_context *ctx = *state;

    for (int method = 0; method < 2; method++) {
        double *outputs[2];
        for (int given = 0; given < 2; given++) {
            scene s;
            kfe_i_solution solution;
            support_views fresh;
            double *cross = NULL;
            open_scene(ctx, 2, 1, &s);
            double *k = linear_kernel(s.x, ROWS, COLS);
            if (given) {
                s.views.views[0].cols = s.views.views[0].stride = ROWS;
                s.views.views[0].values = k;
            }
            assert_ok(ctx, support_views_kernel(&s.views, 0, given ? "precomputed" : "linear"));
            assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
            assert_ok(ctx, support_local_fit(&s.views, methods[method], params[method], &solution));
            assert_int_equal(solution.local->parts[0].mapped, given);
            support_local_check_gap(&s.views, &solution, s.class_of, 1, 1e-4);
            /* new examples: midpoints of neighbours */
            double *x = malloc(NEW * COLS * sizeof *x);
            double *y = malloc(NEW * OTHER * sizeof *y);
            for (int i = 0; i < NEW * COLS; i++)
                x[i] = (s.x[i] + s.x[i + COLS]) / 2;
            for (int i = 0; i < NEW * OTHER; i++)
                y[i] = (s.y[i] + s.y[i + OTHER]) / 2;
            double *turned = support_transpose(ROWS, COLS, s.x);
            cross = support_product(NEW, COLS, ROWS, x, turned);
            assert_ok(ctx, support_views_begin(ctx, NEW, s.class_of, &fresh));
            support_views_add(&fresh, "wide", given ? ROWS : COLS, given ? cross : x);
            support_views_add(&fresh, "narrow", OTHER, y);
            outputs[given] = support_local_outputs(&s.views, &solution, &fresh);
            support_views_end(&fresh);
            kfe_i_solution_free(&solution);
            free(x);
            free(y);
            free(turned);
            free(cross);
            free(k);
            close_scene(&s);
        }
        /* the starts of sldr differ, because W of the given view has 4 rotated columns; that must not matter */
        if (method == 0)
            assert_below(support_distance(NEW, outputs[0], outputs[1]), 2e-3);
        free(outputs[0]);
        free(outputs[1]);
    }
}

static void test_other_kernels_become_columns(void **state)
{
    static const char *const params[] = {"gate-ridge=0,svm-stop=1e-6,svm-C=2",
                                         "gate-ridge=0,svm-stop=1e-6,svm-C=2,kernel-map=empirical"};
    kfe_context *ctx = *state;

    for (int map = 0; map < 2; map++)
        for (int method = 0; method < 2; method++) {
            scene s;
            kfe_i_solution solution;
            open_scene(ctx, 3, 1, &s);
            assert_ok(ctx, support_views_kernel(&s.views, 0, "laplacian:gamma=0.2,weight=1.5"));
            assert_ok(ctx, support_views_kernel(&s.views, 1, "poly:degree=2,gamma=0.3"));
            assert_ok(ctx, support_local_fit(&s.views, method ? "sldr" : "lmkl", params[map], &solution));
            assert_int_equal(solution.local->parts[0].mapped, 1);
            assert_int_equal(solution.local->parts[0].cols, ROWS);
            support_local_check_gap(&s.views, &solution, s.class_of, 2, 1e-4);
            kfe_i_solution_free(&solution);
            close_scene(&s);
        }
}

static void test_indefinite_matrices_keep_the_positive_part(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    kfe_i_solution solution;
    double *k = calloc(ROWS * ROWS, sizeof *k);

    open_scene(ctx, 2, 1, &s);
    for (int i = 0; i < ROWS; i++)
        k[i * ROWS + i] = i < 5 ? -1 : 1 + 0.01 * i;
    s.views.views[0] = (kfe_i_table){
        .ctx = ctx, .kind = KFE_TABLE_DENSE, .rows = ROWS, .cols = ROWS, .stride = ROWS, .values = k};
    assert_ok(ctx, support_views_kernel(&s.views, 0, "precomputed"));
    assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
    support_catch_log(ctx);
    assert_ok(ctx, support_local_fit(&s.views, "lmkl", "max-iter=2", &solution));
    assert_non_null(strstr(support_log(), "not positive definite"));
    assert_int_equal(solution.local->parts[0].dim, ROWS - 5);
    kfe_i_solution_free(&solution);
    for (int i = 0; i < ROWS; i++)
        k[i * ROWS + i] = -1;
    assert_fails(ctx, KFE_EINPUT, "no positive eigenvalue",
                 support_local_fit(&s.views, "lmkl", "", &solution));
    kfe_i_solution_free(&solution);
    free(k);
    close_scene(&s);
}

/* ---- the search ---- */

static void check_path(const kfe_i_solution *solution, int parts)
{
    int64_t count = 0;
    const double *values = support_local_record(solution, "objective", &count);
    int64_t one = 0;
    const double *iterations = support_local_record(solution, "iterations", &one);
    double sums[2] = {0, 0};

    assert_true(one == 1 && iterations[0] == (double)(count - 1));
    for (int64_t i = 1; i < count; i++)
        assert_true(values[i] <= values[i - 1]);
    for (int r = 0; r < 2; r++) {
        const double *shares = support_local_record(solution, r ? "gate-share" : "gate-mean", &one);
        assert_int_equal(one, parts);
        for (int m = 0; m < parts; m++)
            sums[r] += shares[m];
        assert_below(fabs(sums[r] - 1), 1e-12);
    }
    const double *support = support_local_record(solution, "support-share", &one);
    assert_below(fabs(support[0] * ROWS - (double)solution->local->rows), 1e-9);
    assert_int_equal(solution->predictor.support_vectors, solution->local->rows);
}

static void test_the_search_goes_downhill(void **state)
{
    static const char *const kernels[] = {"linear", "poly:degree=2,gamma=0.3", "rbf:gamma=0.3"};
    static const char *const params[] = {"gate-ridge=0", "gate-ridge=0,step=constant",
                                         "gate-ridge=0,step=constant,step-size=0.001,settled=0,max-iter=5"};
    kfe_context *ctx = *state;

    for (int classes = 2; classes <= 3; classes++)
        for (int k = 0; k < 3; k++)
            for (int method = 0; method < 2; method++)
                for (int r = 0; r < 3; r++) {
                    scene s;
                    kfe_i_solution solution;
                    open_scene(ctx, classes, 0.7, &s);
                    assert_ok(ctx, support_views_kernel(&s.views, 0, kernels[k]));
                    assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
                    assert_ok(ctx,
                              support_local_fit(&s.views, method ? "sldr" : "lmkl", params[r], &solution));
                    check_path(&solution, 2);
                    support_local_check_gap(&s.views, &solution, s.class_of, 1, 1e-4);
                    int64_t count = 0;
                    const double *values = support_local_record(&solution, "objective", &count);
                    if (r == 0)
                        assert_true(values[count - 1] < 0.9 * values[0]);
                    kfe_i_solution_free(&solution);
                    close_scene(&s);
                }
}

static double off_orthonormal(int64_t rows, int64_t k, const double *a)
{
    double most = 0;

    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0;
            for (int64_t l = 0; l < rows; l++)
                sum += a[l * k + i] * a[l * k + j];
            most = fmax(most, fabs(sum - (i == j)));
        }
    return most;
}

typedef struct watched {
    int64_t values;
    double most;
} watched;

static void watch(void *user, const kfe_i_local_problem *p, const double *parameters)
{
    watched *w = user;

    w->values++;
    for (int64_t m = 0; m < p->count; m++)
        w->most = fmax(w->most, off_orthonormal(p->parts[m].columns.cols, p->parts[m].dim,
                                                parameters + p->parts[m].projection_at));
    w->most = fmax(w->most, off_orthonormal(p->at.gate_cols, p->at.gate_dim, parameters + p->at.gate));
}

static void test_projections_stay_orthonormal_at_every_step(void **state)
{
    const kfe_i_local_settings settings = {.local_dim = 2,
                                           .gate_dim = 3,
                                           .gate = "all",
                                           .c = 10,
                                           .stop = 1e-4,
                                           .ridge = 1e-4,
                                           .settled = 1e-7,
                                           .max_iterations = 100,
                                           .restarts = 2};
    kfe_context *ctx = *state;
    scene s;
    kfe_i_local_problem p;
    kfe_i_local_path path = {0};
    watched w = {0};

    open_scene(ctx, 3, 0.5, &s);
    assert_ok(ctx, support_views_kernel(&s.views, 0, "rbf:gamma=0.2"));
    assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
    assert_ok(ctx, kfe_i_local_problem_open(ctx, "test", &s.views.problem, &settings, 1, &p));
    p.watch.call = watch;
    p.watch.user = &w;
    assert_ok(ctx, kfe_i_local_search(&p, &settings, &path));
    assert_true(w.values > 50);
    assert_below(w.most, 1e-13);
    kfe_i_local_path_free(ctx, &path);
    kfe_i_local_problem_free(&p);
    close_scene(&s);
}

static void test_seeds_and_restarts(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    kfe_i_solution first;
    kfe_i_solution second;
    int64_t count = 0;

    open_scene(ctx, 2, 0.5, &s);
    assert_ok(ctx, support_views_kernel(&s.views, 0, "linear"));
    assert_ok(ctx, support_views_kernel(&s.views, 1, "rbf:gamma=0.5"));
    assert_ok(ctx, support_local_fit(&s.views, "sldr", "restarts=3", &first));
    assert_ok(ctx, support_local_fit(&s.views, "sldr", "restarts=3", &second));
    assert_int_equal(first.local->rows, second.local->rows);
    assert_memory_equal(first.local->weights, second.local->weights,
                        (size_t)first.local->rows * sizeof *first.local->weights);
    const double *ends = support_local_record(&first, "restart-objectives", &count);
    assert_int_equal(count, 3);
    assert_true(ends[0] != ends[1] && ends[1] != ends[2]);
    assert_true(support_local_objective(&first) == fmin(ends[0], fmin(ends[1], ends[2])));
    kfe_i_solution_free(&second);
    kfe_context_set_seed(ctx, kfe_context_seed(ctx) + 1);
    assert_ok(ctx, support_local_fit(&s.views, "sldr", "restarts=3", &second));
    assert_true(support_local_objective(&first) != support_local_objective(&second));
    kfe_i_solution_free(&first);
    kfe_i_solution_free(&second);
    close_scene(&s);
}

/* Sparse and dense tables with the same numbers. */
static void test_sparse_views_give_the_same(void **state)
{
    kfe_context *ctx = *state;

    for (int method = 0; method < 2; method++) {
        double objectives[2];
        for (int sparse = 0; sparse < 2; sparse++) {
            scene s;
            kfe_i_solution solution;
            kfe_i_table csr = {0};
            open_scene(ctx, 3, 1, &s);
            if (sparse) {
                assert_ok(ctx, kfe_i_table_new_csr(ctx, ROWS, COLS, ROWS * COLS, &csr));
                for (int64_t i = 0; i < ROWS * COLS; i++) {
                    csr.values[i] = s.x[i];
                    csr.columns[i] = (int32_t)(i % COLS);
                }
                for (int64_t i = 0; i <= ROWS; i++)
                    csr.row_start[i] = i * COLS;
                s.views.views[0] = csr;
            }
            assert_ok(ctx, support_views_kernel(&s.views, 0, "poly:degree=2,gamma=0.2"));
            assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
            assert_ok(ctx, support_local_fit(&s.views, method ? "sldr" : "lmkl",
                                             "gate-ridge=0,max-iter=4,svm-stop=1e-10", &solution));
            objectives[sparse] = support_local_objective(&solution);
            support_local_check_gap(&s.views, &solution, s.class_of, 1, 1e-4);
            kfe_i_solution_free(&solution);
            kfe_i_table_free(&csr);
            close_scene(&s);
        }
        assert_below(fabs(objectives[1] - objectives[0]), 1e-4 * objectives[0]);
    }
}

/* ---- bad input ---- */

static void test_bad_options(void **state)
{
    kfe_context *ctx = *state;
    scene s;
    kfe_i_solution solution;

    open_scene(ctx, 2, 1, &s);
    assert_ok(ctx, support_views_kernel(&s.views, 0, "linear"));
    assert_ok(ctx, support_views_kernel(&s.views, 1, "linear"));
    assert_fails(ctx, KFE_EINVAL, "no view", support_local_fit(&s.views, "sldr", "gate=wider", &solution));
    assert_fails(ctx, KFE_EINVAL, "1 to 2", support_local_fit(&s.views, "lmkl", "gate=3", &solution));
    assert_fails(ctx, KFE_EINVAL, "no view", support_local_fit(&s.views, "lmkl", "gate=", &solution));
    support_catch_log(ctx);
    assert_ok(ctx,
              support_local_fit(&s.views, "sldr", "local-dim=4,gate-dim=9,gate=2,max-iter=1", &solution));
    const char *log = support_log();
    assert_non_null(strstr(log, "view narrow has only 3 dimensions"));
    assert_non_null(strstr(log, "the gate sees only 3 columns"));
    assert_int_equal(solution.local->parts[0].dim, 4);
    assert_int_equal(solution.local->parts[1].dim, 3);
    assert_null(solution.local->parts[0].gating);
    assert_int_equal(solution.local->gate_dim, 3);
    kfe_i_solution_free(&solution);
    assert_ok(ctx, kfe_context_set_memory(ctx, 1000));
    assert_fails(ctx, KFE_ELIMIT, "localized kernel", support_local_fit(&s.views, "sldr", "", &solution));
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_one_view_and_all_its_dimensions_is_the_plain_svm),
        with_context(test_constant_gate_is_the_sum_of_kernels),
        with_context(test_given_dot_products_are_as_good_as_columns),
        with_context(test_other_kernels_become_columns),
        with_context(test_indefinite_matrices_keep_the_positive_part),
        with_context(test_the_search_goes_downhill),
        with_context(test_projections_stay_orthonormal_at_every_step),
        with_context(test_seeds_and_restarts),
        with_context(test_sparse_views_give_the_same),
        with_context(test_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
