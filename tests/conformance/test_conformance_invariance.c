/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What carries no information may change nothing: every method with every kernel, and every learner, is fitted on a table and on the
 * same table changed, and the features of new points or the predictions must agree. All choices are left to the defaults (scaling,
 * width, ridge, dimension, settings of learners), since a default that looks at the wrong thing is what these tests are for.
 *
 * The changes are rows of a table (variations): the order of the rows and of the columns; constants added to columns, and their units;
 * names of classes; weights instead of repeated rows; all rows twice. Settings that a method needs here are rows of another (support/invariance.c), with
 * the reason. Methods that take no weights must refuse them and name those that do.
 */
#include "support/invariance.h"

#include <math.h>
#include <stdio.h>

/* ---- variations ---- */

typedef void (*change_fn)(support_examples *e, int step);

typedef struct variation {
    const char *name;
    int (*applies)(const job *task);
    change_fn before; /* of both tables; NULL: none */
    change_fn change; /* of the second table */
    int steps;
    double tolerance;  /* at least; 0: that of the method */
    const char *scale; /* NULL: the default */
    int default_stops; /* as users have them */
    int by_class;      /* the first fit gives the weights by class-weight */
    int up_to_scale;   /* features may be longer, all by the same factor */
    int of_dressed;    /* also of tables with text, gaps or views */
    int kernels_only;  /* the parameters of the kernels are compared, not what they lead to */
    int as_they_are;   /* features of plain tables are compared one by one, with their signs */
} variation;

static const variation variations[] = {
    {.name = "order of the rows", .of_dressed = 1, .change = support_reorder_rows, .steps = 3},
    {.name = "order of the rows, default stops",
     .applies = is_smooth,
     .change = support_reorder_rows,
     .steps = 2,
     .default_stops = 1},
    {.name = "order of the rows, some of them equal",
     .applies = takes_equal_rows,
     .before = support_make_rows_equal,
     .change = support_reorder_rows,
     .steps = 3,
     .tolerance = 1e-5}, /* SVMs amplify rounding where rows of two classes are equal */
    {.name = "order of the columns", .applies = has_points, .change = support_reorder_columns, .steps = 2},
    {.name = "constants", .applies = ignores_constants, .change = support_add_constants, .steps = 2},
    {.name = "constants, scale=standard",
     .applies = has_points,
     .change = support_add_constants,
     .steps = 2,
     .scale = "standard"},
    {.name = "constants, scale=minmax",
     .applies = has_points,
     .change = support_add_constants,
     .steps = 2,
     .scale = "minmax"},
    {.name = "units, scale=standard",
     .applies = has_points,
     .change = support_change_units,
     .steps = 2,
     .scale = "standard"},
    {.name = "units, scale=minmax",
     .applies = has_points,
     .change = support_change_units,
     .steps = 2,
     .scale = "minmax"},
    {.name = "units far apart, scale=auto",
     .applies = has_units,
     .before = support_part_units,
     .change = support_change_units,
     .steps = 1},
    {.name = "names of classes",
     .of_dressed = 1,
     .applies = has_classes,
     .change = support_rename_classes,
     .steps = 1},
    {.name = "weights",
     .of_dressed = 1,
     .applies = counts_weights,
     .before = support_weigh,
     .change = support_repeat,
     .steps = 1,
     .as_they_are = 1},
    {.name = "weights of classes",
     .applies = counts_class_weights,
     .before = support_weigh_by_class,
     .change = support_repeat,
     .steps = 1,
     .by_class = 1},
    {.name = "all rows twice, weight 2",
     .applies = counts_weights,
     .before = support_weigh_twice,
     .change = support_repeat,
     .steps = 1,
     .as_they_are = 1},
    {.name = "all rows twice",
     .of_dressed = 1,
     .applies = ignores_counts,
     .change = support_weigh_twice,
     .steps = 1,
     .up_to_scale = 1},
    {.name = "all rows given twice",
     .applies = ignores_repetition,
     .change = support_give_twice,
     .steps = 1,
     .up_to_scale = 1},
    {.name = "width from all rows twice",
     .applies = has_width,
     .change = support_weigh_twice,
     .steps = 1,
     .kernels_only = 1},
};

/* ---- fits ---- */

static int is_stop(const char *name)
{
    const char *end = strrchr(name, '-');

    return (end && strcmp(end, "-stop") == 0) || strcmp(name, "settled") == 0;
}

/* Solves SVMs and searches as exactly as rounding allows, so that the stopping point does not matter. */
static void tighten(kfe_context *ctx, const job *task, kfe_spec *spec)
{
    const kfe_param_info *row;

    for (int i = 0; !task->is_learner && (row = kfe_method_param(task->index, i)); i++)
        if (is_stop(row->name))
            assert_ok(ctx, kfe_spec_set(ctx, spec, row->name, "1e-10"));
}

/* Sets "name=value;name=value". */
static void set_option(kfe_context *ctx, const char *option, kfe_spec *spec)
{
    char text[96];

    snprintf(text, sizeof text, "%s", option);
    for (char *next = text; next;) {
        char *name = next;
        next = strchr(name, ';');
        if (next)
            *next++ = 0;
        char *value = strchr(name, '=');
        assert_non_null(value);
        *value++ = 0;
        assert_ok(ctx, kfe_spec_set(ctx, spec, name, value));
    }
}

static kfe_spec *make_spec(kfe_context *ctx, const job *task, const variation *v)
{
    const exception *known = exception_of(task);
    const char *params = known ? known->params : NULL;
    const char *method = task->is_learner ? "none" : task->entry->name;
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, task->is_learner ? NULL : params,
                                  task->kernel->name[0] ? task->kernel->name : NULL, &spec));
    if (!task->is_learner && task->entry->flags & KFE_HAS_WEIGHTS && has_points(task))
        assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, "laplacian"));
    if (task->is_learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, task->entry->name,
                                            strcmp(task->entry->name, "svm") == 0 && !v->default_stops
                                                ? "stop=1e-10"
                                                : params));
    if (!v->default_stops)
        tighten(ctx, task, spec);
    if (v->scale)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", v->scale));
    if (task->dress == EXAMPLE_STEPS)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "prepare", "snv"));
    if (task->option)
        set_option(ctx, task->option, spec);
    return spec;
}

/* The scores in the order of the classes of the examples, which is not that of their names. */
static void sort_by_class(const kfe_model *model, const support_examples *e, kfe_matrix *scores)
{
    double row[EXAMPLE_CLASSES];

    assert_true(scores->cols <= EXAMPLE_CLASSES && scores->cols == kfe_model_classes(model));
    for (int64_t i = 0; i < scores->rows; i++) {
        memcpy(row, scores->values + i * scores->cols, (size_t)scores->cols * sizeof *row);
        for (int64_t g = 0; g < scores->cols; g++)
            for (int64_t c = 0; c < scores->cols; c++)
                if (strcmp(kfe_model_class_name(model, g), e->class_names[c]) == 0)
                    scores->values[i * scores->cols + c] = row[g];
    }
}

static kfe_matrix decisions(kfe_context *ctx, const job *task, const kfe_model *model,
                            const support_examples *e, const kfe_data *test)
{
    kfe_matrix labels = {0};
    kfe_matrix scores = {0};
    kfe_matrix out = {0};

    if (is_calibrated(task)) {
        assert_ok(ctx, kfe_predict_probabilities(ctx, model, test, &labels, &out));
    } else if (has_classes(task)) {
        assert_ok(ctx, kfe_predict(ctx, model, test, &labels, &scores));
        assert_ok(ctx, kfe_class_scores(ctx, model, &scores, &out));
    } else {
        assert_ok(ctx, kfe_predict(ctx, model, test, &out, NULL));
    }
    if (has_classes(task))
        sort_by_class(model, e, &out);
    kfe_matrix_free(&labels);
    kfe_matrix_free(&scores);
    return out;
}

typedef struct answer {
    kfe_status status;
    kfe_matrix values; /* features of the new points, or decision values */
    char *kernels;     /* instead */
    char message[200];
} answer;

static void answer_free(kfe_context *ctx, answer *a)
{
    kfe_matrix_free(&a->values);
    kfe_string_free(ctx, a->kernels);
}

static answer ask(kfe_context *ctx, const job *task, const variation *v, const support_examples *e,
                  int by_class)
{
    answer out = {0};
    kfe_data *train = support_examples_train(ctx, e);
    kfe_data *test = NULL;
    kfe_spec *spec = make_spec(ctx, task, v);
    kfe_model *model = NULL;

    if (by_class)
        assert_ok(ctx,
                  kfe_spec_set(ctx, spec, "class-weight",
                               task->kind == THREE_CLASSES ? EXAMPLE_CLASS_WEIGHTS : EXAMPLE_TWO_WEIGHTS));
    out.status = kfe_fit(ctx, spec, train, &model);
    if (model)
        test = support_examples_test(ctx, e, model);
    if (out.status != KFE_OK)
        snprintf(out.message, sizeof out.message, "%s", kfe_error_message(ctx));
    else if (v->kernels_only && kfe_model_kernels(model) > 0)
        assert_ok(ctx, kfe_model_kernel(ctx, model, 0, &out.kernels));
    else if (task->decides)
        out.values = decisions(ctx, task, model, e, test);
    else
        out.values = support_transform(ctx, model, test);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_data_free(test);
    return out;
}

/* ---- the check ---- */

/* Texts such as "rbf:gamma=0.2", whose numbers are equal up to rounding. */
static int same_kernels(const char *a, const char *b)
{
    while (a && b && *a && *a == *b) {
        char *after_a;
        char *after_b;
        double x = strtod(++a, &after_a);
        double y = strtod(++b, &after_b);
        if (after_a > a && after_b > b && fabs(x - y) > TOLERANCE * fabs(x))
            return 0;
        a = after_a;
        b = after_b;
    }
    return !a || !b ? a == b : *a == *b;
}

/* Makes the root of the sum of squares 1. */
static void normalise(kfe_matrix *m)
{
    double sum = 0;

    for (int64_t i = 0; i < m->rows * m->cols; i++)
        sum += m->values[i] * m->values[i];
    for (int64_t i = 0; sum > 0 && i < m->rows * m->cols; i++)
        m->values[i] /= sqrt(sum);
}

static double distance(const job *task, const variation *v, answer *a, answer *b)
{
    kfe_matrix *x = &a->values;
    kfe_matrix *y = &b->values;

    if (a->status != b->status)
        return INFINITY;
    if (a->status != KFE_OK) /* the method refuses the kernel */
        return 0;
    if (v->kernels_only)
        return same_kernels(a->kernels, b->kernels) ? 0 : INFINITY;
    if (v->up_to_scale) {
        normalise(x);
        normalise(y);
    }
    if (task->decides || (v->as_they_are && !task->dress && !may_notice(task, SIGNS)))
        return x->cols == y->cols ? support_distance(x->rows * x->cols, x->values, y->values) : INFINITY;
    return support_distance_up_to_rotation(x->rows, x->cols, x->values, y->cols, y->values);
}

static int check(kfe_context *ctx, const job *task, const variation *v)
{
    const exception *known = exception_of(task);
    double tight = known && known->tolerance > 0 ? known->tolerance : TOLERANCE;
    double tolerance = v->default_stops ? TOLERANCE_DEFAULT : fmax(tight, v->tolerance);
    support_example_form form = has_points(task)                        ? EXAMPLE_POINTS
                                : task->kernel->flags & KFE_HAS_STRINGS ? EXAMPLE_STRINGS
                                                                        : EXAMPLE_GIVEN;
    support_examples first =
        support_examples_make(task->kind, form, task->kernel->flags & KFE_HAS_NONNEGATIVE);
    int failures = 0;

    support_examples_wear(&first, task->dress);
    if (v->before)
        v->before(&first, 0);
    answer expected = ask(ctx, task, v, &first, v->by_class);
    for (int step = 0; step < v->steps; step++) {
        support_examples second = first;
        v->change(&second, step);
        answer got = ask(ctx, task, v, &second, 0);
        double apart = distance(task, v, &expected, &got);
        if (!(apart <= tolerance)) {
            print_error("%s: %s (%d): %.3g apart, more than %.3g%s%s%s%s\n", task->name, v->name, step, apart,
                        tolerance, expected.message, got.message, expected.kernels ? expected.kernels : "",
                        got.kernels ? got.kernels : "");
            failures++;
        }
        answer_free(ctx, &got);
    }
    answer_free(ctx, &expected);
    return failures;
}

/* The message names a method or learner that takes weights. */
static void check_refused(kfe_context *ctx, const job *task)
{
    support_examples e = support_examples_make(task->kind, EXAMPLE_POINTS, 0);
    kfe_spec *spec = make_spec(ctx, task, &variations[0]);
    kfe_model *model = NULL;

    support_weigh(&e, 0);
    kfe_data *train = support_examples_train(ctx, &e);
    assert_fails(ctx, KFE_EUNSUPPORTED,
                 "takes no weights of examples; these do: ", kfe_fit(ctx, spec, train, &model));
    assert_non_null(strstr(kfe_error_message(ctx), task->is_learner ? "centroid" : "koc"));
    assert_null(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
}

static void run_job(void **state)
{
    const job *task = *state;
    kfe_context *ctx = NULL;
    int failures = 0;

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++)
        if ((!task->dress || variations[i].of_dressed) &&
            (!variations[i].applies || variations[i].applies(task)))
            failures += check(ctx, task, &variations[i]);
    if (!takes_weights(task) && has_points(task) && !task->dress)
        check_refused(ctx, task);
    kfe_context_free(ctx);
    assert_int_equal(failures, 0);
}

/* ---- one test for each method with a kernel, or learner, and kind of target ---- */

static int takes(const kfe_entry_info *entry, support_target_kind kind)
{
    if (kind == THREE_CLASSES)
        return !(entry->flags & KFE_HAS_TWO_CLASSES);
    return kind == TWO_CLASSES || entry->flags & KFE_HAS_REGRESSION;
}

enum { MOST = 4000 };
static job jobs[MOST];
static struct CMUnitTest tests[MOST];
static size_t count;

/* Sanitizers are slow, and test_conformance.c shows them all kernels. */
static int is_left_out(const job *task)
{
    return SUPPORT_SANITIZED && task->kernel->name[0] && strcmp(task->kernel->name, "rbf") != 0;
}

static const char *const dresses[EXAMPLE_DRESSES] = {"", ", texts", ", gaps", ", views", ", prepare=snv"};

static void add_job(job task)
{
    if (is_left_out(&task) || !support_is_in_turn(task.entry, task.kernel))
        return;
    for (int kind = 0; kind < TARGET_KINDS && !may_notice(&task, EVERYTHING); kind++) {
        task.kind = (support_target_kind)kind;
        if (!takes(task.entry, task.kind) || (task.option && !has_classes(&task)) || count == MOST)
            continue;
        snprintf(task.name, sizeof task.name, "%s%s%s%s%s%s: %s%s", task.entry->name,
                 task.kernel->name[0] ? ", " : "", task.kernel->name, task.option ? ", " : "",
                 task.option ? task.option : "", dresses[task.dress], support_target_names[kind],
                 task.decides && !task.is_learner ? ", its own predictor" : "");
        jobs[count] = task;
        tests[count] = (struct CMUnitTest){jobs[count].name, run_job, NULL, NULL, &jobs[count]};
        count++;
    }
}

static void add_learner(int index, const kfe_entry_info *entry)
{
    job task = {.index = index, .is_learner = 1, .decides = 1, .entry = entry, .kernel = &support_no_kernel};

    add_job(task);
    for (int c = 0; c < 2; c++) {
        task.option = c == 0 ? "calibration=platt" : "calibration=isotonic";
        add_job(task);
    }
    task.option = NULL;
    for (int k = 0; entry->flags & KFE_HAS_KERNELS && (task.kernel = kfe_kernel(k)); k++)
        add_job(task);
}

/* Tables with more than numbers, for one kernel: in short runs every second one. */
static void add_dressed(job task)
{
    static int64_t turn;
    int all = getenv("KFE_TEST_ALL") != NULL;

    if (!has_points(&task) || (task.kernel->name[0] && strcmp(task.kernel->name, "rbf") != 0))
        return;
    for (task.dress = EXAMPLE_TEXTS; task.dress < EXAMPLE_DRESSES; task.dress++)
        if ((task.dress != EXAMPLE_VIEWS || task.entry->flags & KFE_HAS_MULTIVIEW) &&
            (turn++ % 2 == 0 || all))
            add_job(task);
}

/* Examples that a fit picks by itself: landmarks, and those that some methods draw. */
static void add_choices(job task)
{
    static const char *const landmarks[] = {"landmarks=15;landmark-by=rpcholesky",
                                            "landmarks=15;landmark-by=random", "landmarks=15;landmark-by=sma",
                                            "landmarks=15;landmark-by=kmeans"};
    static const struct {
        const char *name, *option;
    } draws[] = {{"sma", "columns=15;refresh=3"},  {"smc", "columns=15;refresh=3"},
                 {"skfa", "columns=15;refresh=3"}, {"skpls", "nu=0.2;cache=12"},
                 {"skpls", "rule=mi;cache=15"},    {"skblf", "rule=mi;cache=15"},
                 {"slmc", "init=random"},          {"rkopls", "support=20"},
                 {"rfm", "leaf-size=20"},          {"rfm", "leaf-size=20;softness=0.1"}};

    int all = getenv("KFE_TEST_ALL") || getenv("KFE_TEST_FILTER"); /* else one way for each method */
    if (strcmp(task.kernel->name, "rbf") != 0)
        return;
    for (size_t i = 0; i < sizeof landmarks / sizeof *landmarks; i++) {
        task.option = landmarks[i];
        if (all || (size_t)task.index % (sizeof landmarks / sizeof *landmarks) == i)
            add_job(task);
    }
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++)
        if (strcmp(task.entry->name, draws[i].name) == 0) {
            task.option = draws[i].option;
            add_job(task);
        }
}

int main(void)
{
    int subjects = 0;
    support_subject *list = support_subjects(&subjects);
    const kfe_entry_info *entry;

    for (int s = 0; s < subjects; s++) {
        job task = {.index = list[s].method_index, .entry = list[s].method, .kernel = list[s].kernel};
        add_job(task);
        add_choices(task);
        add_dressed(task);
        task.decides = 1;
        if (task.entry->flags & KFE_HAS_PREDICTOR)
            add_job(task);
    }
    for (int l = 0; (entry = kfe_learner(l)); l++)
        add_learner(l, entry);
    free(list);
    assert_true(count < MOST);
    cmocka_set_test_filter(getenv("KFE_TEST_FILTER"));
    return _cmocka_run_group_tests("invariances", tests, count, NULL, NULL);
}
