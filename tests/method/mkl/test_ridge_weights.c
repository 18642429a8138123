/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient solver for weights with reduced models, which need more examples than test_mkl.c has: the
 * model against the function computed with full matrices, and the solver that uses the model. */
#include "support/mkl.h"
#include "support/sample.h"

#include <math.h>

#include "method/mkl/ridge_weights.h"
#include "model/model.h"

enum { ROWS = 130, COLS = 3, CLASSES = 3, KERNELS = 3 };
static const double gammas[KERNELS] = {0.05, 0.5, 4};
#define KERNEL_TEXTS                                                                                         \
    {                                                                                                        \
        "rbf:gamma=0.05", "rbf:gamma=0.5", "rbf:gamma=4"                                                     \
    }
#define XI 0.01

static support_sample make_problem(kfe_context *ctx)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = 11, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1.2});

    support_sample_kernels(&p, KERNELS, gammas);
    support_sample_centre(&p, KERNELS, 1);
    p.label = calloc(ROWS * CLASSES, sizeof *p.label);
    for (int64_t i = 0; i < ROWS; i++)
        p.label[i * CLASSES + p.class_of[i]] = 1;
    return p;
}

/* u = (I + Σ dᵢGᵢ/ξ)⁻¹L; returns tr(Lᵀu). */
static double solve_by_definition(const support_sample *p, const double *d, double **u)
{
    double *m = malloc(ROWS * ROWS * sizeof *m);
    double value = 0;

    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        m[i] = i % (ROWS + 1) == 0;
        for (int k = 0; k < KERNELS; k++)
            m[i] += d[k] * p->k[k][i] / XI;
    }
    *u = support_solve(ROWS, CLASSES, m, p->label);
    for (int64_t i = 0; i < ROWS * CLASSES; i++)
        value += (*u)[i] * p->label[i];
    free(m);
    return value;
}

static double by_definition(const support_sample *p, const double *d)
{
    double *u = NULL;
    double value = solve_by_definition(p, d, &u);

    free(u);
    return value;
}

/* A bound on f(d) minus the optimum: the largest slope minus the mean slope. */
static double gap_by_definition(const support_sample *p, const double *d)
{
    double *u = NULL;
    double largest = 0;
    double mean = 0;

    solve_by_definition(p, d, &u);
    for (int k = 0; k < KERNELS; k++) {
        double *gu = support_product(ROWS, ROWS, CLASSES, p->k[k], u);
        double q = 0;
        for (int64_t i = 0; i < ROWS * CLASSES; i++)
            q += gu[i] * u[i] / XI;
        largest = fmax(largest, q);
        mean += d[k] * q;
        free(gu);
    }
    free(u);
    return largest - mean;
}

/* ---- the reduced model ---- */

typedef struct model {
    kfe_i_kernel_list kernels;
    kfe_i_bank bank;
    kfe_i_ridge_weights full;
    kfe_i_ridge_reduced reduced;
} model;

static void open_model(kfe_context *ctx, const support_sample *p, model *m)
{
    static const char *const texts[] = KERNEL_TEXTS;
    kfe_i_ridge_weights_settings settings = {.xi = XI, .tolerance = 1e-8, .max_iterations = 100};

    kfe_i_kernel_list_init(ctx, &m->kernels);
    for (int k = 0; k < KERNELS; k++) {
        kfe_i_kernel kernel = {0};
        assert_ok(ctx, kfe_i_kernel_parse(ctx, texts[k], &kernel));
        assert_ok(ctx, kfe_i_kernel_list_add(&m->kernels, &kernel));
    }
    kfe_i_fit_source given = {.target = &p->data->target,
                              .kernels = &m->kernels,
                              .views = &p->data->views[0].table,
                              .view_count = 1};
    assert_ok(ctx, kfe_i_bank_open(ctx, "test", &given, NULL, 1, &m->bank));
    assert_ok(ctx, kfe_i_ridge_weights_open(ctx, &m->bank, CLASSES, &m->full));
    kfe_i_ridge_weights_configure(&m->full, "test", &settings);
    memcpy(m->full.labels, p->label, ROWS * CLASSES * sizeof *p->label);
    assert_ok(ctx, kfe_i_ridge_reduced_open(&m->full, &m->reduced));
    kfe_i_ridge_reduced_clear(&m->reduced);
}

static void close_model(model *m)
{
    kfe_i_ridge_reduced_free(&m->reduced);
    kfe_i_ridge_weights_free(&m->full);
    kfe_i_bank_free(&m->bank);
    kfe_i_kernel_list_free(&m->kernels);
}

/* Adds the span at the point d, from independently computed solutions. */
static void add_point(kfe_context *ctx, const support_sample *p, model *m, const double *d)
{
    double *answers = malloc(ROWS * KERNELS * CLASSES * sizeof *answers);
    double *matrix = malloc(ROWS * ROWS * sizeof *matrix);
    double value = 0;

    assert_ok(ctx, kfe_i_ridge_weights_value(&m->full, d, &value));
    assert_below(fabs(value - by_definition(p, d)), 1e-10 * value);
    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        matrix[i] = i % (ROWS + 1) == 0;
        for (int k = 0; k < KERNELS; k++)
            matrix[i] += d[k] * p->k[k][i] / XI;
    }
    for (int k = 0; k < KERNELS; k++) {
        double *image = support_product(ROWS, ROWS, CLASSES, p->k[k], m->full.at.u);
        double *solved = support_solve(ROWS, CLASSES, matrix, image);
        for (int64_t i = 0; i < ROWS; i++)
            for (int c = 0; c < CLASSES; c++)
                answers[(i * KERNELS + k) * CLASSES + c] = solved[i * CLASSES + c] / XI;
        free(image);
        free(solved);
    }
    assert_ok(ctx, kfe_i_ridge_reduce(&m->reduced, answers, d));
    free(answers);
    free(matrix);
}

static double model_at(kfe_context *ctx, model *m, const double *d)
{
    double value = 0;

    assert_ok(ctx, kfe_i_ridge_weights_value(&m->reduced.small, d, &value));
    return value;
}

static const double start[KERNELS] = {0.3, 0.5, 0.2};

/* The model equals f at the point and lies below f elsewhere. */
static void test_the_model_is_a_lower_bound(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    model m = {0};

    open_model(ctx, &p, &m);
    add_point(ctx, &p, &m, start);
    assert_below(fabs(model_at(ctx, &m, start) - by_definition(&p, start)), 1e-10);
    for (int a = 0; a <= 6; a++)
        for (int b = 0; a + b <= 6; b++) {
            double d[KERNELS] = {a / 6.0, b / 6.0, (6 - a - b) / 6.0};
            double truth = by_definition(&p, d);
            assert_below(model_at(ctx, &m, d), truth * (1 + 1e-10));
            assert_true(model_at(ctx, &m, d) > 0.5 * truth);
        }
    close_model(&m);
    support_sample_free(&p);
}

/* f − f_S is of fourth order in the distance: half the step leaves about a sixteenth. */
static void test_the_model_is_right_to_third_order(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    model m = {0};
    double error[2];

    open_model(ctx, &p, &m);
    add_point(ctx, &p, &m, start);
    for (int h = 0; h < 2; h++) {
        double step = h == 0 ? 0.08 : 0.04;
        double d[KERNELS] = {start[0] - step, start[1] + 0.25 * step, start[2] + 0.75 * step};
        error[h] = by_definition(&p, d) - model_at(ctx, &m, d);
    }
    assert_true(error[1] > 0);
    assert_true(error[0] > 11 * error[1]);
    close_model(&m);
    support_sample_free(&p);
}

/* A second point makes the model exact there too; adding a point twice changes nothing. */
static void test_points_add_up(void **state)
{
    static const double other[KERNELS] = {0, 0.1, 0.9};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    model m = {0};

    open_model(ctx, &p, &m);
    add_point(ctx, &p, &m, start);
    double before = by_definition(&p, other) - model_at(ctx, &m, other);
    add_point(ctx, &p, &m, other);
    assert_true(before > 1e-6);
    for (int again = 0; again < 4; again++) { /* more points than there is room for: the oldest are dropped */
        assert_below(fabs(model_at(ctx, &m, other) - by_definition(&p, other)), 1e-9);
        if (again == 0)
            assert_below(fabs(model_at(ctx, &m, start) - by_definition(&p, start)), 1e-9);
        add_point(ctx, &p, &m, other);
    }
    close_model(&m);
    support_sample_free(&p);
}

/* ---- the solver ---- */

static const double *weights_of(const kfe_model *fitted)
{
    int64_t count = 0;

    return kfe_model_record(fitted, "weights", &count);
}

static void test_the_solver_finds_the_optimum_in_few_iterations(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request request = {"hsic-mkl", "xi=0.01,label-kernel=h1", KERNEL_TEXTS};
    kfe_model *fast = support_request_model(ctx, &request, p.data);
    double objective = support_number(fast, "objective");

    assert_below(fabs(by_definition(&p, weights_of(fast)) - objective), 1e-9 * objective);
    assert_below(gap_by_definition(&p, weights_of(fast)), 1e-5 * objective);
    assert_below(support_number(fast, "gap"), 1e-8);
    assert_below(support_number(fast, "iterations"), 4);
    kfe_model_free(fast);
    support_sample_free(&p);
}

static void test_a_kernel_given_twice_changes_nothing(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request once = {"hsic-mkl", "tolerance=1e-11", {"rbf:gamma=0.05", "rbf:gamma=4"}};
    support_request twice = {
        "hsic-mkl", "tolerance=1e-11", {"rbf:gamma=0.05", "rbf:gamma=4", "rbf:gamma=0.05"}};
    kfe_model *a = support_request_model(ctx, &once, p.data);
    kfe_model *b = support_request_model(ctx, &twice, p.data);

    assert_below(fabs(support_number(a, "objective") - support_number(b, "objective")), 1e-9);
    assert_below(fabs(weights_of(a)[0] - weights_of(b)[0] - weights_of(b)[2]), 1e-4);
    kfe_model_free(a);
    kfe_model_free(b);
    support_sample_free(&p);
}

static void test_an_indefinite_kernel_raises_xi(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request request = {"hsic-mkl", "xi=1e-4", {"sigmoid:gamma=2,coef0=-1", "rbf:gamma=0.5"}};

    support_catch_log(ctx);
    kfe_model *fitted = support_request_model(ctx, &request, p.data);
    assert_non_null(strstr(support_log(), "xi was raised"));
    kfe_matrix z = support_transform(ctx, fitted, p.data);
    for (int64_t i = 0; i < z.rows * z.cols; i++)
        assert_true(isfinite(z.values[i]));
    kfe_matrix_free(&z);
    kfe_model_free(fitted);
    support_sample_free(&p);
}

static void test_memory(void **state)
{
    static const support_request requests[] = {
        {"hsic-mkl", "max-iter=2", {"rbf:gamma=0.1", "linear"}},
        {"svm-mkl", "max-iter=2,step=plain", {"rbf:gamma=0.1", "linear"}}};
    enum { FEW = 60 };
    double *x = NULL;
    int *class_of = NULL;

    (void)state;
    support_clouds(5, FEW, 3, 2, 1, &x, &class_of);
    for (int i = 0; i < 2; i++)
        support_check_memory(&requests[i], FEW, 3, x, class_of);
    support_check_iterations_do_not_allocate(&requests[0], "max-iter=50,tolerance=1e-12", FEW, 3, x,
                                             class_of);
    support_check_iterations_do_not_allocate(&requests[1], "max-iter=20,settled=0,step=plain", FEW, 3, x,
                                             class_of);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_model_is_a_lower_bound),
        with_context(test_the_model_is_right_to_third_order),
        with_context(test_points_add_up),
        with_context(test_the_solver_finds_the_optimum_in_few_iterations),
        with_context(test_a_kernel_given_twice_changes_nothing),
        with_context(test_an_indefinite_kernel_raises_xi),
        with_context(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
