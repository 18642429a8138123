/* SPDX-License-Identifier: Apache-2.0 */
/* The search engine shares distances, kernel matrices and fits among settings and splits. Its results must
 * equal those of the public calls with one setting and one split at a time. */
#include "support/select.h"

#include <math.h>
#include <stdio.h>

#include "select/sweep.h"
#include "support/points.h"

enum { ROWS = 66, COLS = 6, FOLDS = 3, SPLITS = FOLDS + 1 };

/* ---- explicit splits ---- */

typedef struct parts {
    kfe_i_split items[SPLITS];
    int64_t rows[SPLITS][2][ROWS];
} parts;

/* Folds, and one split that leaves out every fifth row altogether. */
static void make_parts(parts *p)
{
    memset(p, 0, sizeof *p);
    for (int f = 0; f < SPLITS; f++) {
        kfe_i_split *split = &p->items[f];
        split->train = p->rows[f][0];
        split->test = p->rows[f][1];
        split->fold = f;
        for (int64_t i = 0; i < ROWS; i++) {
            if (f == FOLDS && i % 5 == 0)
                continue;
            int tests = f < FOLDS ? i % FOLDS == f : i % 4 == 1;
            if (tests)
                split->test[split->test_count++] = i;
            else
                split->train[split->train_count++] = i;
        }
    }
}

/* ---- cases ---- */

typedef struct sweep_case {
    const char *name, *method, *params, *kernels[2], *learner, *learner_params, *grids[3];
    select_table table;
    int classes; /* 0: real targets */
} sweep_case;

#define EXACT "stop=1e-9" /* the two paths to one SVM must not differ by where they stop */

static const sweep_case cases[] = {
    {"oc", "oc", NULL, {NULL}, "knn", NULL, {"dim=1,3,2", "neighbors=1,3"}, SELECT_DENSE, 4},
    {"oc csr", "oc", "scale=l2-rows", {NULL}, "ls", NULL, {"l2=0,1"}, SELECT_CSR, 2},
    {"koc gammas",
     "koc",
     NULL,
     {"rbf"},
     "linear-svm",
     EXACT,
     {"gamma=0.02,0.1,0.5", "C=1,10"},
     SELECT_DENSE,
     4},
    {"koc scale", "koc", NULL, {"rbf:gamma=scale"}, "knn", NULL, {"neighbors=1,5"}, SELECT_CSR, 2},
    {"koc both", "koc", NULL, {"rbf"}, "ls", NULL, {"gamma=scale,0.1,median,0.3"}, SELECT_DENSE, 2},
    {"koc poly", "koc", NULL, {"poly"}, "centroid", NULL, {"degree=1,2,3", "dim=1,2"}, SELECT_DENSE, 4},
    {"koc clusters",
     "koc",
     NULL,
     {"rbf:gamma=0.1"},
     "knn",
     NULL,
     {"clusters-per-class=1,2"},
     SELECT_DENSE,
     2},
    {"koc dims", "koc", NULL, {"rbf:gamma=0.1"}, "ls", NULL, {"dim=auto,1,9"}, SELECT_DENSE, 2},
    {"koc storages", "koc", NULL, {"rbf:gamma=0.1"}, "ls", NULL, {"gram=auto,f64,f32,tiled"}, SELECT_CSR, 2},
    {"kfd laplacian",
     "kfd",
     NULL,
     {"laplacian:gamma=0.2"},
     "svm",
     EXACT,
     {"ridge=0.1,1", "C=1,5"},
     SELECT_DENSE,
     2},
    {"kfd scales",
     "kfd",
     NULL,
     {"rbf:gamma=0.2"},
     "ls",
     NULL,
     {"scale=none,standard,l2-rows,minmax"},
     SELECT_DENSE,
     2},
    {"kfd csr",
     "kfd",
     "scale=standard",
     {"rbf"},
     "ls",
     NULL,
     {"gamma=0.05,0.2", "ridge=0.1,1"},
     SELECT_CSR,
     2},
    {"kfd dims", "kfd", NULL, {"rbf:gamma=0.05"}, "knn", "neighbors=3", {"dim=3,1,2"}, SELECT_DENSE, 4},
    {"kda-qr sum",
     "kda-qr",
     NULL,
     {"rbf:weight=2", "poly:degree=2,weight=0.01"},
     "knn",
     NULL,
     {"gamma=0.05,0.2"},
     SELECT_DENSE,
     4},
    {"akda-qr",
     "akda-qr",
     NULL,
     {"rbf"},
     "knn",
     "neighbors=3",
     {"gamma=0.05,0.2", "dim=1,2"},
     SELECT_DENSE,
     4},
    {"pca values", "pca", "scale=standard", {NULL}, "ls", NULL, {"dim=1,3,5"}, SELECT_DENSE, 0},
    {"pca csr",
     "pca",
     NULL,
     {NULL},
     "knn",
     NULL,
     {"dim=2,4", "neighbors=1,4", "scale=none,l2-rows"},
     SELECT_CSR,
     2},
    {"kpca values", "kpca", NULL, {"rbf"}, "ls", NULL, {"gamma=0.02,0.1", "dim=2,8"}, SELECT_DENSE, 0},
    {"kpca cosine", "kpca", "scale=minmax", {"cosine"}, "ls", NULL, {"dim=2,4"}, SELECT_DENSE, 2},
    {"none",
     "none",
     NULL,
     {NULL},
     "knn",
     NULL,
     {"scale=none,standard", "vote=uniform,distance"},
     SELECT_DENSE,
     4},
    {"none csr", "none", NULL, {NULL}, "linear-svm", EXACT, {"C=0.1,1", "scale=none,l2-rows"}, SELECT_CSR, 2},
    {"none values", "none", "scale=standard", {NULL}, "knn", NULL, {"neighbors=2,5"}, SELECT_DENSE, 0},
    {"none svm",
     "none",
     NULL,
     {NULL},
     "svm",
     EXACT ",learner-kernel=rbf:gamma=scale",
     {"C=1,4"},
     SELECT_DENSE,
     4},
    {"svm on kernel", "none", NULL, {"rbf"}, "svm", EXACT, {"gamma=0.05,0.2", "C=1,10"}, SELECT_DENSE, 2},
    {"svm four",
     "none",
     "scale=standard",
     {"rbf:gamma=scale"},
     "svm",
     EXACT,
     {"multiclass=ovo,ovr,chain"},
     SELECT_CSR,
     4},
    {"svm values",
     "none",
     NULL,
     {"rbf"},
     "svm",
     EXACT ",C=10",
     {"gamma=scale,0.1", "epsilon=0.1,0.5"},
     SELECT_DENSE,
     0},
    {"svm balanced",
     "none",
     NULL,
     {"linear"},
     "svm",
     EXACT,
     {"class-weights=none,balanced"},
     SELECT_DENSE,
     2},
    {"koc kernels",
     "koc",
     NULL,
     {"rbf"},
     "ls",
     NULL,
     {"gamma=0.1,0.3", "kernel=rbf,linear,laplacian"},
     SELECT_DENSE,
     2},
    {"kpca learners",
     "kpca",
     "dim=2",
     {"rbf:gamma=0.1"},
     "knn",
     NULL,
     {"neighbors=1,5", "learner=knn,ls"},
     SELECT_DENSE,
     2},
    {"given koc", "koc", NULL, {"precomputed"}, "ls", NULL, {"l2=0,0.1"}, SELECT_GIVEN, 2},
    {"given kpca",
     "kpca",
     NULL,
     {"precomputed"},
     "ls",
     NULL,
     {"dim=2,5", "gram=auto,tiled"},
     SELECT_GIVEN,
     2},
    {"given svm", "none", NULL, {"precomputed"}, "svm", EXACT, {"C=1,10"}, SELECT_GIVEN, 2},
    {"views one kernel",
     "koc",
     NULL,
     {"rbf"},
     "ls",
     NULL,
     {"gamma=0.1,0.4", "scale=none,standard"},
     SELECT_VIEWS,
     2},
    {"views two kernels",
     "kfd",
     NULL,
     {"rbf:weight=3", "poly:degree=2"},
     "ls",
     NULL,
     {"gamma=0.1,0.4"},
     SELECT_VIEWS,
     2},
    {"views svm", "none", NULL, {"rbf"}, "svm", EXACT, {"gamma=0.1,scale"}, SELECT_VIEWS, 2},
    {"strings", "koc", NULL, {"spectrum"}, "ls", NULL, {"length=1,2,3"}, SELECT_TEXT, 2},
    {"strings svm", "none", NULL, {"spectrum:length=2"}, "svm", EXACT, {"C=0.01,0.1"}, SELECT_TEXT, 2},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- one case, opened ---- */

typedef struct opened {
    kfe_context *ctx;
    const sweep_case *origin;
    select_sample sample;
    parts parts;
    kfe_i_splits splits;
    kfe_i_grid grid;
    const kfe_i_metric *metrics[SELECT_METRICS];
    int64_t metric_count;
} opened;

static kfe_spec *spec_of(kfe_context *ctx, const sweep_case *c)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, c->method, c->params, c->kernels[0], &spec));
    if (c->kernels[1])
        assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, c->kernels[1]));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, c->learner, c->learner_params));
    return spec;
}

static void open_case(kfe_context *ctx, const sweep_case *c, opened *o)
{
    kfe_spec *spec = spec_of(ctx, c);
    int grids = 0;

    memset(o, 0, sizeof *o);
    o->ctx = ctx;
    o->origin = c;
    while (grids < 3 && c->grids[grids])
        grids++;
    o->sample = select_sample_make(ctx, c->table, ROWS, COLS, c->classes, 0.8);
    make_parts(&o->parts);
    o->splits = (kfe_i_splits){.ctx = ctx, .items = o->parts.items, .count = SPLITS};
    assert_ok(ctx, kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){grids, c->grids, 0}, NULL, &o->grid));
    o->metric_count = c->classes > 2 ? 1 : 2;
    for (int m = 0; m < o->metric_count; m++)
        assert_ok(ctx, kfe_i_metric_find(ctx, select_metric_name(&o->sample, m),
                                         kfe_data_task(o->sample.data), &o->metrics[m]));
    kfe_spec_free(spec);
}

static void close_case(opened *o)
{
    kfe_i_grid_free(&o->grid);
    select_sample_free(&o->sample);
}

static kfe_status try_sweep(const opened *o, const unsigned char *wanted, double *values, double *vectors)
{
    kfe_i_sweep sweep = {.data = o->sample.data,
                         .grid = &o->grid,
                         .splits = &o->splits,
                         .metrics = o->metrics,
                         .metric_count = o->metric_count,
                         .positive = o->origin->classes == 2 ? 1 : -1,
                         .wanted = wanted};
    kfe_i_cells cells;
    kfe_status status = kfe_i_sweep_run(o->ctx, &sweep, &cells);

    if (status != KFE_OK)
        return status;
    memcpy(values, cells.values,
           (size_t)(o->splits.count * o->grid.count * o->metric_count) * sizeof *values);
    if (vectors)
        memcpy(vectors, cells.support_vectors, (size_t)(o->splits.count * o->grid.count) * sizeof *vectors);
    assert_int_equal(cells.failed, 0);
    kfe_i_cells_free(&cells);
    return KFE_OK;
}

static double *run_sweep(const opened *o, const unsigned char *wanted, double *vectors)
{
    double *values = calloc((size_t)(o->splits.count * o->grid.count * o->metric_count), sizeof *values);

    assert_ok(o->ctx, try_sweep(o, wanted, values, vectors));
    return values;
}

/* ---- the public calls ---- */

/* Predicted classes are equal; continuous values are equal up to the rounding that the methods amplify. */
static void assert_same_value(const opened *o, int64_t split, int64_t setting, int64_t metric, double got,
                              double expected)
{
    double allowed = metric == 0 && o->origin->classes ? 0 : 1e-6 * fmax(1, fabs(expected));

    if (!(fabs(got - expected) <= allowed))
        fail_msg("%s, split %lld, setting %lld, %s: %.17g, by hand %.17g", o->origin->name, (long long)split,
                 (long long)setting, o->metrics[metric]->name, got, expected);
}

static void compare_by_hand(const opened *o, const double *values)
{
    for (int64_t c = 0; c < o->grid.count; c++) {
        kfe_spec *spec = NULL;
        assert_ok(o->ctx, kfe_i_grid_spec(o->ctx, &o->grid, c, &spec));
        for (int64_t s = 0; s < o->splits.count; s++) {
            double expected[SELECT_METRICS];
            select_by_hand(&o->sample, spec, &o->splits.items[s], expected);
            for (int64_t m = 0; m < o->metric_count; m++)
                assert_same_value(o, s, c, m, values[(s * o->grid.count + c) * o->metric_count + m],
                                  expected[m]);
        }
        kfe_spec_free(spec);
    }
}

static void test_every_value_is_that_of_fitting_by_hand(void **state)
{
    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(*state, &cases[i], &o);
        double *values = run_sweep(&o, NULL, NULL);
        compare_by_hand(&o, values);
        free(values);
        close_case(&o);
    }
}

/* If all values were equal, the comparison would prove nothing. */
static void test_the_values_differ(void **state)
{
    int differing = 0;

    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(*state, &cases[i], &o);
        double *values = run_sweep(&o, NULL, NULL);
        int64_t last = o.metric_count - 1;
        for (int64_t c = 1; c < o.grid.count; c++)
            differing += values[c * o.metric_count + last] != values[last];
        free(values);
        close_case(&o);
    }
    assert_true(differing > CASES);
}

static void compare_runs(const opened *o, const double *a, const double *b)
{
    for (int64_t i = 0; i < o->splits.count * o->grid.count * o->metric_count; i++)
        assert_same_value(o, i / o->metric_count / o->grid.count, i / o->metric_count % o->grid.count,
                          i % o->metric_count, a[i], b[i]);
}

/* A matrix that is never stored cannot be shared, but gives the same values. */
static void test_without_sharing_it_is_the_same(void **state)
{
    kfe_context *ctx = *state;

    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(ctx, &cases[i], &o);
        double *values = run_sweep(&o, NULL, NULL);
        assert_ok(ctx, kfe_spec_set(ctx, o.grid.base, "gram", "tiled"));
        double *alone = run_sweep(&o, NULL, NULL);
        compare_runs(&o, values, alone);
        free(values);
        free(alone);
        close_case(&o);
    }
}

/* The matrix is on the device where its kernels have formulas; two threads then learn from its features. */
static void test_a_device_changes_rounding_only(void **state)
{
    kfe_context *ctx = *state;

    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(ctx, &cases[i], &o);
        double *values = run_sweep(&o, NULL, NULL);
        assert_ok(ctx, kfe_context_set_device(ctx, "host"));
        assert_ok(ctx, kfe_context_set_threads(ctx, 2));
        double *on_device = run_sweep(&o, NULL, NULL);
        assert_ok(ctx, kfe_context_set_threads(ctx, 1));
        assert_ok(ctx, kfe_context_set_device(ctx, "cpu"));
        compare_runs(&o, values, on_device);
        free(values);
        free(on_device);
        close_case(&o);
    }
}

static void test_threads_change_nothing(void **state)
{
    kfe_context *ctx = *state;

    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(ctx, &cases[i], &o);
        size_t size = (size_t)(o.splits.count * o.grid.count * o.metric_count) * sizeof(double);
        double *one = run_sweep(&o, NULL, NULL);
        assert_ok(ctx, kfe_context_set_threads(ctx, 2));
        double *two = run_sweep(&o, NULL, NULL);
        double *again = run_sweep(&o, NULL, NULL);
        assert_ok(ctx, kfe_context_set_threads(ctx, 1));
        compare_runs(&o, one, two);
        assert_memory_equal(two, again, size);
        free(one);
        free(two);
        free(again);
        close_case(&o);
    }
}

/* ---- subsets of settings and splits ---- */

static void check_wanted(const opened *o, uint64_t seed)
{
    int64_t cells = o->splits.count * o->grid.count;
    unsigned char *wanted = calloc((size_t)cells, 1);
    double *vectors = calloc((size_t)cells, sizeof *vectors);

    for (int64_t i = 0; i < cells; i++)
        wanted[i] = support_uniform(&seed) < 0.3;
    double *all = run_sweep(o, NULL, NULL);
    double *some = run_sweep(o, wanted, vectors);
    for (int64_t i = 0; i < cells * o->metric_count; i++) {
        int64_t cell = i / o->metric_count;
        if (!wanted[cell]) {
            assert_true(isnan(some[i]) && isnan(vectors[cell]));
            continue;
        }
        assert_same_value(o, cell / o->grid.count, cell % o->grid.count, i % o->metric_count, some[i],
                          all[i]);
    }
    free(wanted);
    free(vectors);
    free(all);
    free(some);
}

static void test_only_what_is_wanted(void **state)
{
    for (int i = 0; i < CASES; i++) {
        opened o;
        open_case(*state, &cases[i], &o);
        check_wanted(&o, (uint64_t)i);
        close_case(&o);
    }
}

/* Predictors with support vectors report how many; others report -1. */
static void test_support_vectors_are_counted(void **state)
{
    for (int i = 0; i < CASES; i++) {
        opened o;
        double vectors[SPLITS * 16];
        open_case(*state, &cases[i], &o);
        assert_true(o.grid.count <= 16);
        free(run_sweep(&o, NULL, vectors));
        for (int64_t s = 0; s < SPLITS * o.grid.count; s++) {
            if (strcmp(cases[i].learner, "svm") == 0)
                assert_true(vectors[s] >= 2 && vectors[s] <= ROWS);
            else if (strcmp(cases[i].learner, "ls") == 0 || strcmp(cases[i].learner, "centroid") == 0)
                assert_true(isnan(vectors[s]));
        }
        close_case(&o);
    }
}

/* ---- classes that are missing from a training part ---- */

static void only_in_tests(opened *o, int class, int64_t split)
{
    kfe_i_split *s = &o->parts.items[split];
    int64_t kept = 0;

    for (int64_t i = 0; i < s->train_count; i++)
        if (o->sample.class_of[s->train[i]] != class)
            s->train[kept++] = s->train[i];
    s->train_count = kept;
}

static void test_class_missing_from_a_training_part(void **state)
{
    static const char *const which[] = {"koc gammas", "kfd dims", "akda-qr", "none", "svm four", "koc poly"};

    for (int i = 0; i < CASES; i++)
        for (size_t w = 0; w < sizeof which / sizeof *which; w++) {
            opened o;
            if (strcmp(cases[i].name, which[w]) != 0)
                continue;
            open_case(*state, &cases[i], &o);
            only_in_tests(&o, 0, 0);
            only_in_tests(&o, 2, 1);
            double *values = run_sweep(&o, NULL, NULL);
            compare_by_hand(&o, values);
            free(values);
            close_case(&o);
        }
}

static void test_training_part_of_one_class_is_refused(void **state)
{
    kfe_context *ctx = *state;
    double values[256];

    for (int i = 0; i < CASES; i++) {
        opened o;
        if (cases[i].classes != 2)
            continue;
        open_case(ctx, &cases[i], &o);
        only_in_tests(&o, 1, 2);
        assert_fails(ctx, KFE_EINPUT, "fold 3", try_sweep(&o, NULL, values, NULL));
        assert_non_null(strstr(kfe_error_message(ctx), "'c0'"));
        close_case(&o);
    }
}

/* A linear kernel has no gamma, and least squares have no neighbours: the second value costs no fit. */
static void test_settings_that_are_the_same_are_fitted_once(void **state)
{
    int checked = 0;

    for (int i = 0; i < CASES; i++) {
        opened o;
        kfe_i_cells cells = {0};
        open_case(*state, &cases[i], &o);
        const kfe_i_sweep sweep = {.data = o.sample.data,
                                   .grid = &o.grid,
                                   .splits = &o.splits,
                                   .metrics = o.metrics,
                                   .metric_count = o.metric_count,
                                   .positive = cases[i].classes == 2 ? 1 : -1};
        assert_ok(o.ctx, kfe_i_sweep_run(o.ctx, &sweep, &cells));
        for (int64_t c = 0; c < o.grid.count; c++) {
            int is_first = kfe_i_grid_first_alike(&o.grid, c) == c;
            checked += !is_first;
            for (int64_t s = 0; s < o.splits.count; s++)
                assert_int_equal(is_first, cells.seconds[s * o.grid.count + c] > 0);
        }
        kfe_i_cells_free(&cells);
        close_case(&o);
    }
    assert_int_equal(checked, 2); /* "koc kernels" and "kpca learners" */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_is_that_of_fitting_by_hand),
        cmocka_unit_test(test_the_values_differ),
        cmocka_unit_test(test_without_sharing_it_is_the_same),
        cmocka_unit_test(test_a_device_changes_rounding_only),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_only_what_is_wanted),
        cmocka_unit_test(test_settings_that_are_the_same_are_fitted_once),
        cmocka_unit_test(test_support_vectors_are_counted),
        cmocka_unit_test(test_class_missing_from_a_training_part),
        cmocka_unit_test(test_training_part_of_one_class_is_refused),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
