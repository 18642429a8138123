/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the rows carries no information, so no method may depend on it: every method is fitted on the
 * same examples in several orders, and the features of new points must agree, each up to its sign.
 *
 * Classes are balanced, which makes some matrices of the papers degenerate (YᵀY has equal eigenvalues).
 * Methods whose defaults draw examples at random are listed by name, with settings that draw none.
 */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 48, TEST_ROWS = 10, COLS = 4, CLASSES = 3, ORDERS = 4 };

/* Relative to the largest feature. Two orders differ by rounding, which the condition number amplifies; a
 * method that depends on the order differs by 1e-3 or more. */
#define TOLERANCE_ORDER 1e-6
/* The same with the default stops of SVMs and searches, which end at a point that depends on the order. */
#define TOLERANCE_DEFAULT 1e-3

typedef enum target_kind { THREE_CLASSES, TWO_CLASSES, ONE_TARGET, TWO_TARGETS, TARGET_KINDS } target_kind;
static const char *const target_names[] = {"three balanced classes", "two balanced classes",
                                           "one real target", "two real targets"};

typedef struct job {
    char name[96];
    int index;
    kfe_entry_info method;
    target_kind kind;
} job;

/* ---- methods that need other settings than their defaults ---- */

typedef struct exception {
    const char *method;
    const char *three, *two; /* parameters for three classes, and for two classes or real targets */
    double tolerance;        /* 0: TOLERANCE_ORDER */
    const char *reason;
} exception;

static const exception exceptions[] = {
    {"rfm", "held-out=0,iterations=2", "held-out=0,iterations=2", 0,
     "the examples that are held out are drawn by number"},
    {"sldr", "max-iter=10", "max-iter=10", 1e-5,
     "the search is not convex and has kinks, where rounding grows from iteration to iteration until two "
     "orders end at different stationary points"},
    {"slmc", "dim=3,max-iter=4", "dim=2,max-iter=4", 0,
     "more points than classes start at clusters of k-means, whose seeds are drawn from the examples by "
     "number"},
};

static const exception *exception_of(const char *method)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].method, method) == 0)
            return &exceptions[i];
    return NULL;
}

/* ---- the examples in some order ---- */

typedef struct examples {
    double x[ROWS * COLS], test[TEST_ROWS * COLS];
    int class_of[ROWS];
    double targets[ROWS * 2];
} examples;

static examples make_examples(int classes)
{
    examples e;
    uint64_t random = 11;

    for (int64_t i = 0; i < ROWS; i++) {
        e.class_of[i] = (int)(i % classes);
        for (int64_t j = 0; j < COLS; j++)
            e.x[i * COLS + j] = support_normal(&random) + 1.2 * (double)(e.class_of[i] == j);
        e.targets[2 * i] = sin(e.x[i * COLS]) + e.x[i * COLS + 1] + 0.3 * support_normal(&random);
        e.targets[2 * i + 1] = e.x[i * COLS + 2] * e.x[i * COLS + 3] + 0.3 * support_normal(&random);
    }
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        e.test[i] = support_normal(&random);
    return e;
}

/* order[i] is the example in row i. */
static void draw_order(uint64_t seed, int64_t *order)
{
    uint64_t random = seed;

    for (int64_t i = 0; i < ROWS; i++)
        order[i] = i;
    for (int64_t i = ROWS - 1; i > 0; i--) {
        int64_t other = (int64_t)(support_uniform(&random) * (double)(i + 1));
        int64_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

static examples reorder(const examples *e, const int64_t *order)
{
    examples out = *e;

    for (int64_t i = 0; i < ROWS; i++) {
        memcpy(out.x + i * COLS, e->x + order[i] * COLS, COLS * sizeof(double));
        memcpy(out.targets + 2 * i, e->targets + 2 * order[i], 2 * sizeof(double));
        out.class_of[i] = e->class_of[order[i]];
    }
    return out;
}

static kfe_data *wrap(kfe_context *ctx, const examples *e, target_kind kind)
{
    double single[ROWS];
    kfe_data *data = support_dense(ctx, ROWS, COLS, e->x, kind <= TWO_CLASSES ? e->class_of : NULL);

    for (int64_t i = 0; i < ROWS; i++)
        single[i] = e->targets[2 * i];
    if (kind > TWO_CLASSES)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, kind == ONE_TARGET ? 1 : 2,
                                            kind == ONE_TARGET ? single : e->targets));
    return data;
}

static int is_stop(const char *name)
{
    const char *end = strrchr(name, '-');

    return (end && strcmp(end, "-stop") == 0) || strcmp(name, "settled") == 0;
}

static int has_stops(int method)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(method, i)); i++)
        if (is_stop(row->name))
            return 1;
    return 0;
}

/* Solves SVMs and searches as exactly as rounding allows, so that the stopping point does not matter. */
static void tighten(kfe_context *ctx, int method, kfe_spec *spec)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(method, i)); i++)
        if (is_stop(row->name))
            assert_ok(ctx, kfe_spec_set(ctx, spec, row->name, "1e-10"));
}

/* The features of the new points by the method fitted on the examples in this order. */
static kfe_matrix features_of(kfe_context *ctx, const job *task, const char *params, int is_tight,
                              const examples *e)
{
    kfe_data *train = wrap(ctx, e, task->kind);
    kfe_data *test = support_dense(ctx, TEST_ROWS, COLS, e->test, NULL);
    const char *kernel = task->method.flags & KFE_HAS_KERNELS ? "rbf:gamma=0.2" : NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, task->method.name, params, kernel, &spec));
    if (is_tight)
        tighten(ctx, task->index, spec);
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    kfe_matrix f = support_transform(ctx, model, test);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_data_free(test);
    return f;
}

/* ---- the check ---- */

static void check_orders(kfe_context *ctx, const job *task, int is_tight)
{
    const exception *known = exception_of(task->method.name);
    const char *params = !known ? NULL : task->kind == THREE_CLASSES ? known->three : known->two;
    examples e = make_examples(task->kind == TWO_CLASSES ? 2 : CLASSES);
    int64_t order[ROWS];
    double tight = known && known->tolerance > 0 ? known->tolerance : TOLERANCE_ORDER;
    double tolerance = is_tight ? tight : TOLERANCE_DEFAULT;
    kfe_matrix expected = features_of(ctx, task, params, is_tight, &e);

    for (uint64_t seed = 1; seed <= (is_tight ? ORDERS : 2); seed++) {
        draw_order(seed, order);
        examples other = reorder(&e, order);
        kfe_matrix got = features_of(ctx, task, params, is_tight, &other);
        assert_int_equal(got.cols, expected.cols);
        double apart = support_distance_up_to_sign(got.rows, got.cols, expected.values, got.values);
        if (!(apart <= tolerance))
            fail_msg("%s, %s, %s stops: another order of the rows moves the features by %.3g, more than %.3g",
                     task->method.name, target_names[task->kind], is_tight ? "tight" : "default", apart,
                     tolerance);
        kfe_matrix_free(&got);
    }
    kfe_matrix_free(&expected);
}

static int takes(const kfe_entry_info *method, target_kind kind)
{
    if (kind == THREE_CLASSES)
        return !(method->flags & KFE_HAS_TWO_CLASSES);
    return kind == TWO_CLASSES || method->flags & KFE_HAS_REGRESSION;
}

static void run_job(void **state)
{
    const job *task = *state;
    kfe_context *ctx = NULL;

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    check_orders(ctx, task, 1);
    if (has_stops(task->index))
        check_orders(ctx, task, 0);
    kfe_context_free(ctx);
}

int main(void)
{
    enum { MOST = 400 };
    static job jobs[MOST];
    static struct CMUnitTest tests[MOST];
    kfe_entry_info method;
    size_t count = 0;

    for (int m = 0; kfe_method(m, &method); m++)
        for (int kind = 0; kind < TARGET_KINDS; kind++) {
            if (!takes(&method, (target_kind)kind) || count == MOST)
                continue;
            job *task = &jobs[count];
            *task = (job){.index = m, .method = method, .kind = (target_kind)kind};
            snprintf(task->name, sizeof task->name, "%s: %s", method.name, target_names[kind]);
            tests[count++] = (struct CMUnitTest){task->name, run_job, NULL, NULL, task};
        }
    assert_true(count < MOST);
    return _cmocka_run_group_tests("order of the rows", tests, count, NULL, NULL);
}
