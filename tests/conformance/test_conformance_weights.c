/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row of weight w counts like w equal rows: every method and learner that takes weights is fitted on a table with weights 1, 2, 3 and
 * 0, and on the table whose rows are repeated so many times, and the features of new points must agree, each up to its sign, or the
 * predictions. Those that take no weights must refuse them and name those that do. With classes the same holds for {class-weight}: a class
 * of weight w counts like one whose rows are repeated w times.
 *
 * Scaling and the width of the kernel are taken from the data too, so that their statistics are weighted as well. Leave-one-out leaves
 * out a row with all its weight, which is another criterion for repeated rows, so that ridges are given.
 */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 48, MOST_ROWS = 3 * ROWS, TEST_ROWS = 10, COLS = 4, CLASSES = 3 };

/* Relative to the largest feature: rounding, times the condition number. A method that ignores weights differs by 1e-2 or more. */
#define TOLERANCE_WEIGHTS 1e-7

typedef enum target_kind { THREE_CLASSES, TWO_CLASSES, ONE_TARGET, TWO_TARGETS, TARGET_KINDS } target_kind;
static const char *const target_names[] = {"three classes", "two classes", "one real target",
                                           "two real targets"};

typedef struct job {
    char name[96];
    int index;
    int is_learner;
    kfe_entry_info entry;
    target_kind kind;
    int decides;  /* the decision values are compared, not the features */
    int by_class; /* the weights are those of the classes, which the spec gives */
} job;

/* ---- settings other than the defaults ---- */

typedef struct exception {
    const char *name;
    const char *three, *two; /* parameters for three classes, and for two classes or real targets */
    double tolerance;        /* 0: TOLERANCE_WEIGHTS */
} exception;

static const exception exceptions[] = {
    {"kfd", "ridge=0.1", "ridge=0.1", 0},
    {"kopls", "ridge=0.1", "ridge=thousandth", 0},
    {"rkopls", "ridge=0.1", "ridge=thousandth", 0},
    {"hsic", "lambda=0.1", "lambda=thousandth", 0},
    {"uhsic", "xi=0.1", "xi=0.1", 0},
    {"kb", NULL, "ridge=0.1,dim=6", 0},
    {"skfe", "max-iter=10,restarts=0", "max-iter=5,criterion=radius-margin", 1e-5},
    {"kcca", "ridge=0.1", "ridge=0.1", 0},
    {"kgcca", "ridge=0.1", "ridge=0.1", 0},
    {"mkl", "svm-C=1,tolerance=1e-10", "svm-C=1,tolerance=1e-10", 1e-4},
    {"svm-joint", "svm-C=1", "svm-C=1", 0},
    {"usvm-joint", "svm-C=1,xi=0.1", "svm-C=1,xi=0.1", 0},
    {"svm-mkl", "svm-C=1,xi=0.1", "svm-C=1,xi=0.1", 0},
    {"skpls", "nu=0.4", "nu=0.3,rule=mi", 0},
    {"skblf", "nu=0.3,rule=mi", "nu=0.4", 0},
    {"slmc", "dim=3,svm-C=1,max-iter=4", "dim=2,svm-C=1,max-iter=4", 0},
    {"lmkl", "max-iter=5", "max-iter=5", 1e-5},
    {"sldr", "max-iter=5", "max-iter=5", 1e-5},
    {"rfm", "held-out=0,iterations=2,ridge=0.1", "held-out=0,iterations=2,ridge=0.1", 0},
    {"gkdr", "ridge=0.1", "ridge=thousandth", 0},
    {"svm", "stop=1e-10", "stop=1e-10", 0},
};

static const exception *exception_of(const char *name)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].name, name) == 0)
            return &exceptions[i];
    return NULL;
}

/* ---- the examples ---- */

typedef struct examples {
    int64_t rows;
    double x[MOST_ROWS * COLS];
    int class_of[MOST_ROWS];
    double targets[MOST_ROWS * 2];
    double weights[MOST_ROWS];
} examples;

static double test_rows[TEST_ROWS * COLS];

/* Every class has rows of every weight; or, by_class, one weight for all of its rows, as CLASS_WEIGHTS says. */
#define CLASS_WEIGHTS "c0:2;c2:3"
static const double class_weights[CLASSES] = {2, 1, 3};

static examples make_examples(int classes, int by_class)
{
    examples e = {.rows = ROWS};
    uint64_t random = 17;

    for (int64_t i = 0; i < ROWS; i++) {
        e.class_of[i] = (int)(i % classes);
        e.weights[i] = by_class ? class_weights[e.class_of[i]] : (double)((i / classes + 1) % 4);
        for (int64_t j = 0; j < COLS; j++)
            e.x[i * COLS + j] =
                (support_normal(&random) + 1.2 * (double)(e.class_of[i] == j)) * (double)(1 + j);
        e.targets[2 * i] = sin(e.x[i * COLS]) + e.x[i * COLS + 1] + 0.3 * support_normal(&random);
        e.targets[2 * i + 1] = e.x[i * COLS + 2] + e.x[i * COLS + 3] + 0.3 * support_normal(&random);
    }
    for (int64_t i = 0; i < TEST_ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            test_rows[i * COLS + j] = support_normal(&random) * (double)(1 + j);
    return e;
}

static examples repeat(const examples *e)
{
    examples out = {0};

    for (int64_t i = 0; i < e->rows; i++)
        for (int copy = 0; copy < (int)e->weights[i]; copy++) {
            memcpy(out.x + out.rows * COLS, e->x + i * COLS, COLS * sizeof(double));
            memcpy(out.targets + 2 * out.rows, e->targets + 2 * i, 2 * sizeof(double));
            out.class_of[out.rows++] = e->class_of[i];
        }
    return out;
}

static kfe_data *wrap(kfe_context *ctx, const examples *e, target_kind kind, int weighted)
{
    double single[MOST_ROWS];
    kfe_data *data = support_dense(ctx, e->rows, COLS, e->x, kind <= TWO_CLASSES ? e->class_of : NULL);

    for (int64_t i = 0; i < e->rows; i++)
        single[i] = e->targets[2 * i];
    if (kind > TWO_CLASSES)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, kind == ONE_TARGET ? 1 : 2,
                                            kind == ONE_TARGET ? single : e->targets));
    if (weighted)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, e->weights));
    return data;
}

/* ---- fits ---- */

static int is_stop(const char *name)
{
    const char *end = strrchr(name, '-');

    return (end && strcmp(end, "-stop") == 0) || strcmp(name, "settled") == 0;
}

static kfe_spec *make_spec(kfe_context *ctx, const job *task, int by_class)
{
    const exception *known = exception_of(task->entry.name);
    const char *params = !known ? NULL : task->kind == THREE_CLASSES ? known->three : known->two;
    const char *method = task->is_learner ? "none" : task->entry.name;
    const char *kernel = !task->is_learner && task->entry.flags & KFE_HAS_KERNELS ? "rbf:gamma=scale" : NULL;
    const kfe_param_info *row;
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, task->is_learner ? NULL : params, kernel, &spec));
    if (!task->is_learner && task->entry.flags & KFE_HAS_WEIGHTS)
        assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, "linear"));
    if (task->is_learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, task->entry.name, params));
    for (int i = 0; !task->is_learner && (row = kfe_method_param(task->index, i)); i++)
        if (is_stop(row->name))
            assert_ok(ctx, kfe_spec_set(ctx, spec, row->name, "1e-10"));
    /* the centroids of centred data are dependent, and which of them oc leaves out is decided by rounding */
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", strcmp(method, "oc") == 0 ? "none" : "standard"));
    if (by_class)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "class-weight",
                                    task->kind == THREE_CLASSES ? CLASS_WEIGHTS : "c0=2,c1=1"));
    return spec;
}

/* The features of the new points, or the predictor's decision values. */
static kfe_matrix answer_of(kfe_context *ctx, const job *task, const kfe_data *train, int by_class)
{
    kfe_data *test = support_dense(ctx, TEST_ROWS, COLS, test_rows, NULL);
    kfe_spec *spec = make_spec(ctx, task, by_class);
    kfe_model *model = NULL;
    kfe_matrix labels = {0};
    kfe_matrix out = {0};

    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    if (task->decides)
        assert_ok(ctx, kfe_predict(ctx, model, test, &labels, &out));
    else
        out = support_transform(ctx, model, test);
    kfe_matrix_free(&labels);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(test);
    return out;
}

static void check_repeated(kfe_context *ctx, const job *task)
{
    const exception *known = exception_of(task->entry.name);
    double tolerance = known && known->tolerance > 0 ? known->tolerance : TOLERANCE_WEIGHTS;
    examples e = make_examples(task->kind == TWO_CLASSES ? 2 : CLASSES, task->by_class);
    examples copies = repeat(&e);
    kfe_data *weighted = wrap(ctx, &e, task->kind, !task->by_class);
    kfe_data *repeated = wrap(ctx, &copies, task->kind, 0);
    kfe_matrix expected = answer_of(ctx, task, repeated, 0);
    kfe_matrix got = answer_of(ctx, task, weighted, task->by_class);

    assert_int_equal(got.cols, expected.cols);
    double apart = task->decides
                       ? support_distance(got.rows * got.cols, expected.values, got.values)
                       : support_distance_up_to_sign(got.rows, got.cols, expected.values, got.values);
    if (!(apart <= tolerance))
        fail_msg("%s: weights and repeated rows are %.3g apart, more than %.3g", task->name, apart,
                 tolerance);
    kfe_matrix_free(&got);
    kfe_matrix_free(&expected);
    kfe_data_free(weighted);
    kfe_data_free(repeated);
}

/* The message names a method or learner that takes weights. */
static void check_refused(kfe_context *ctx, const job *task)
{
    examples e = make_examples(task->kind == TWO_CLASSES ? 2 : CLASSES, task->by_class);
    kfe_data *weighted = wrap(ctx, &e, task->kind, !task->by_class);
    kfe_spec *spec = make_spec(ctx, task, task->by_class);
    kfe_model *model = NULL;

    assert_fails(ctx, KFE_EUNSUPPORTED,
                 "takes no weights of examples; these do: ", kfe_fit(ctx, spec, weighted, &model));
    assert_non_null(strstr(kfe_error_message(ctx), task->is_learner ? "centroid" : "koc"));
    assert_null(model);
    kfe_spec_free(spec);
    kfe_data_free(weighted);
}

static void run_job(void **state)
{
    const job *task = *state;
    kfe_context *ctx = NULL;

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    if (task->entry.flags & KFE_HAS_SAMPLE_WEIGHTS)
        check_repeated(ctx, task);
    else
        check_refused(ctx, task);
    kfe_context_free(ctx);
}

/* ---- one test for each method or learner and kind of target ---- */

static int takes(const kfe_entry_info *entry, target_kind kind)
{
    if (kind == THREE_CLASSES)
        return !(entry->flags & KFE_HAS_TWO_CLASSES);
    return kind == TWO_CLASSES || entry->flags & KFE_HAS_REGRESSION;
}

enum { MOST = 400 };
static job jobs[MOST];
static struct CMUnitTest tests[MOST];
static size_t count;

static void add_job(job task)
{
    if (!takes(&task.entry, task.kind) || count == MOST)
        return;
    snprintf(task.name, sizeof task.name, "%s: %s%s%s", task.entry.name, target_names[task.kind],
             task.by_class ? ", weights of classes" : "",
             task.decides && !task.is_learner ? ", its own predictor" : "");
    jobs[count] = task;
    tests[count] = (struct CMUnitTest){jobs[count].name, run_job, NULL, NULL, &jobs[count]};
    count++;
}

static void add_jobs(int index, const kfe_entry_info *entry, int is_learner)
{
    job task = {.index = index, .is_learner = is_learner, .decides = is_learner, .entry = *entry};

    for (int kind = 0; kind < TARGET_KINDS; kind++) {
        task.kind = (target_kind)kind;
        for (task.by_class = 0; task.by_class <= (kind <= TWO_CLASSES); task.by_class++)
            add_job(task);
    }
}

int main(void)
{
    kfe_entry_info entry;

    for (int m = 0; kfe_method(m, &entry); m++)
        if (strcmp(entry.name, "none") != 0)
            add_jobs(m, &entry, 0);
    for (int m = 0; kfe_method(m, &entry); m++)
        for (int kind = 0; entry.flags & KFE_HAS_PREDICTOR && kind < TARGET_KINDS; kind++)
            add_job((job){.index = m, .decides = 1, .entry = entry, .kind = (target_kind)kind});
    for (int l = 0; kfe_learner(l, &entry); l++)
        add_jobs(l, &entry, 1);
    assert_true(count < MOST);
    return _cmocka_run_group_tests("weights of examples", tests, count, NULL, NULL);
}
