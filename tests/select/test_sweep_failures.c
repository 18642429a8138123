/* SPDX-License-Identifier: Apache-2.0 */
/* The search engine under failures: unsuitable data, failing allocations, and threads that must not call the
 * user's hooks at the same time. */
#include "support/select.h"
#include "support/sweep.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "select/sweep.h"

enum { ROWS = 24, COLS = 4, FOLDS = 4, MOST_SETTINGS = 8 };

static void wait_microseconds(int64_t count)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * count}, NULL);
}

/* ---- a sweep in one call ---- */

typedef struct folds {
    kfe_i_split items[FOLDS];
    int64_t rows[FOLDS][2][ROWS];
} folds;

static void make_folds(folds *out)
{
    memset(out, 0, sizeof *out);
    for (int f = 0; f < FOLDS; f++) {
        kfe_i_split *split = &out->items[f];
        split->train = out->rows[f][0];
        split->test = out->rows[f][1];
        split->fold = f;
        for (int64_t i = 0; i < ROWS; i++)
            if (i / 2 % FOLDS == f)
                split->test[split->test_count++] = i;
            else
                split->train[split->train_count++] = i;
    }
}

static kfe_status sweep_spec(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data, const char *axis,
                             double *values)
{
    folds parts;
    kfe_i_grid grid = {0};
    kfe_i_splits splits = {.ctx = ctx, .items = parts.items, .count = FOLDS};
    const kfe_i_metric *metric =
        kfe_i_metric_default(kfe_data_task(data) == KFE_TASK_REAL ? KFE_TASK_REAL : KFE_TASK_CLASSES);
    kfe_i_sweep sweep = {.data = data,
                         .grid = &grid,
                         .splits = &splits,
                         .metrics = &metric,
                         .metric_count = 1,
                         .positive = -1};
    kfe_i_cells cells = {0};
    kfe_status status = kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){axis ? 1 : 0, &axis, 0}, NULL, &grid);

    make_folds(&parts);
    if (status == KFE_OK)
        status = kfe_i_sweep_run(ctx, &sweep, &cells);
    if (status == KFE_OK)
        memcpy(values, cells.values, (size_t)(FOLDS * grid.count) * sizeof *values);
    kfe_i_cells_free(&cells);
    kfe_i_grid_free(&grid);
    return status;
}

static kfe_status sweep_text(kfe_context *ctx, const char *method, const char *kernel, const char *learner,
                             const char *axis, const kfe_data *data)
{
    double values[FOLDS * MOST_SETTINGS];
    kfe_spec *spec = NULL;
    kfe_status status = kfe_spec_parse(ctx, method, NULL, kernel, &spec);

    if (status == KFE_OK)
        status = kfe_spec_set_learner(ctx, spec, learner, NULL);
    if (status == KFE_OK)
        status = sweep_spec(ctx, spec, data, axis, values);
    kfe_spec_free(spec);
    return status;
}

/* ---- refused input ---- */

static void test_what_cannot_be_measured_is_refused(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    select_sample real = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 0, 1);
    kfe_data *unlabelled = support_dense(ctx, ROWS, COLS, s.values, NULL);

    assert_fails(ctx, KFE_EINVAL, "learner=knn", sweep_text(ctx, "koc", NULL, NULL, NULL, s.data));
    assert_fails(ctx, KFE_EINPUT, "labels", sweep_text(ctx, "pca", NULL, "knn", NULL, unlabelled));
    assert_fails(ctx, KFE_EINPUT, "class labels", sweep_text(ctx, "koc", NULL, "ls", NULL, real.data));
    assert_fails(ctx, KFE_EINPUT, "class labels", sweep_text(ctx, "pca", NULL, "centroid", NULL, real.data));
    assert_fails(ctx, KFE_EINVAL, "cannot learn from a kernel",
                 sweep_text(ctx, "none", "rbf", "knn", NULL, s.data));
    assert_fails(ctx, KFE_EINVAL, "takes no kernel", sweep_text(ctx, "pca", "rbf", "knn", NULL, s.data));
    kfe_data_free(unlabelled);
    select_sample_free(&s);
    select_sample_free(&real);
}

/* The message has the row of the whole data, not of the part in which the number was found. */
static void test_bad_numbers_are_named_by_their_row(void **state)
{
    static const char *const methods[] = {"koc", "pca", "none"};
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);

    s.data->views[0].table.values[19 * COLS + 2] = NAN;
    for (int m = 0; m < 3; m++) {
        assert_fails(ctx, KFE_EINPUT, "row 20, column 3",
                     sweep_text(ctx, methods[m], NULL, "knn", NULL, s.data));
        assert_non_null(strstr(kfe_error_message(ctx), "first"));
    }
    select_sample_free(&s);
}

static void test_tables_that_are_no_kernel_matrix_are_refused(void **state)
{
    static const select_table tables[] = {SELECT_DENSE, SELECT_CSR, SELECT_TEXT, SELECT_VIEWS};
    kfe_context *ctx = *state;

    for (int memory = 0; memory < 2; memory++) {
        assert_ok(ctx, kfe_context_set_memory(ctx, memory ? 9000 : 0));
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
            select_sample s = select_sample_make(ctx, tables[t], ROWS, COLS, 2, 1);
            assert_fails(ctx, KFE_EINPUT, "precomputed",
                         sweep_text(ctx, "koc", "precomputed", "knn", NULL, s.data));
            assert_fails(ctx, KFE_EINPUT,
                         "first: ", sweep_text(ctx, "none", "precomputed", "svm", NULL, s.data));
            select_sample_free(&s);
        }
    }
}

static void test_given_matrix_must_be_symmetric(void **state)
{
    kfe_context *ctx = *state;

    for (int memory = 0; memory < 2; memory++) {
        select_sample s = select_sample_make(ctx, SELECT_GIVEN, ROWS, COLS, 2, 1);
        assert_ok(ctx, kfe_context_set_memory(ctx, memory ? 9000 : 0));
        assert_ok(ctx, sweep_text(ctx, "koc", "precomputed", "knn", NULL, s.data));
        s.data->views[0].table.values[3 * ROWS + 5] += 0.5;
        assert_fails(ctx, KFE_EINPUT, "symmetric",
                     sweep_text(ctx, "koc", "precomputed", "knn", NULL, s.data));
        select_sample_free(&s);
    }
}

/* ---- failed cells ---- */

/* Numbers around 1e5 overflow when raised to the power 100, but not to the power 1. */
static void make_large(select_sample *s)
{
    for (int64_t i = 0; i < ROWS * COLS; i++)
        s->data->views[0].table.values[i] = 1e5 * (2 + s->data->views[0].table.values[i]);
}

static kfe_status sweep_cells(kfe_context *ctx, const char *method, const char *learner, const char *axis,
                              const kfe_data *data, kfe_i_cells *cells)
{
    folds parts;
    kfe_i_grid grid = {0};
    kfe_i_splits splits = {.ctx = ctx, .items = parts.items, .count = FOLDS};
    const kfe_i_metric *metric = kfe_i_metric_default(KFE_TASK_CLASSES);
    kfe_i_sweep sweep = {.data = data,
                         .grid = &grid,
                         .splits = &splits,
                         .metrics = &metric,
                         .metric_count = 1,
                         .positive = -1};
    kfe_spec *spec = NULL;

    make_folds(&parts);
    assert_ok(ctx, kfe_spec_parse(ctx, method, "scale=none", "poly", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    assert_ok(ctx, kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){1, &axis, 0}, NULL, &grid));
    kfe_status status = kfe_i_sweep_run(ctx, &sweep, cells);
    kfe_i_grid_free(&grid);
    kfe_spec_free(spec);
    return status;
}

static void test_a_failed_setting_is_a_failed_cell(void **state)
{
    static const struct {
        const char *method, *learner;
    } cases[] = {{"koc", "knn"}, {"kpca", "ls"}, {"none", "svm"}};
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    kfe_i_cells cells;
    kfe_i_cells alone;

    make_large(&s);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int threads = 1; threads <= 2; threads++) {
            assert_ok(ctx, kfe_context_set_threads(ctx, threads));
            assert_ok(ctx,
                      sweep_cells(ctx, cases[c].method, cases[c].learner, "degree=1,100,2", s.data, &cells));
            assert_ok(ctx, sweep_cells(ctx, cases[c].method, cases[c].learner, "degree=1,2", s.data, &alone));
            assert_int_equal(cells.failed, FOLDS);
            for (int64_t f = 0; f < FOLDS; f++) {
                assert_true(cells.values[3 * f] == alone.values[2 * f]);
                assert_true(cells.values[3 * f + 2] == alone.values[2 * f + 1]);
                assert_true(isnan(cells.values[3 * f + 1]));
                assert_null(kfe_i_cells_reason(&cells, f, 0));
                assert_non_null(kfe_i_cells_reason(&cells, f, 1));
                assert_true(strlen(kfe_i_cells_reason(&cells, f, 1)) > 10);
            }
            kfe_i_cells_free(&cells);
            kfe_i_cells_free(&alone);
        }
    select_sample_free(&s);
}

static void test_all_settings_failing_is_an_error_with_the_first_reason(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    kfe_i_cells cells;
    char reason[512];

    make_large(&s);
    assert_ok(ctx, sweep_cells(ctx, "koc", "knn", "degree=1,100", s.data, &cells));
    snprintf(reason, sizeof reason, "%s", cells.failures[0].reason);
    kfe_status expected = cells.failures[0].status;
    kfe_i_cells_free(&cells);
    assert_fails(ctx, expected, reason, sweep_cells(ctx, "koc", "knn", "degree=100,90", s.data, &cells));
    select_sample_free(&s);
}

/* ---- one thread at a time in the user's hooks ---- */

typedef struct door {
    support_allocator allocator;
    atomic_int inside, clashes, calls;
} door;

static void enter(door *d)
{
    atomic_fetch_add(&d->calls, 1);
    if (atomic_fetch_add(&d->inside, 1) != 0)
        atomic_fetch_add(&d->clashes, 1);
}

static double slow_dot_product(void *user, const double *x, const double *y, int64_t cols)
{
    door *d = user;
    double sum = 0;

    enter(d);
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    if (atomic_load(&d->calls) % 100 == 0)
        wait_microseconds(10);
    atomic_fetch_sub(&d->inside, 1);
    return sum;
}

static void test_user_kernels_are_called_by_one_thread(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
    door d = {.calls = 0};
    double values[FOLDS];
    kfe_spec *spec = NULL;
    folds parts;

    make_folds(&parts);
    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_add_user_kernel(ctx, spec, "dot", slow_dot_product, &d));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, sweep_spec(ctx, spec, s.data, NULL, values));
    assert_true(atomic_load(&d.calls) > ROWS * ROWS);
    assert_int_equal(atomic_load(&d.clashes), 0);
    for (int f = 0; f < FOLDS; f++) {
        double expected[SELECT_METRICS];
        select_by_hand(&s, spec, &parts.items[f], expected);
        assert_true(values[f] == expected[0]);
    }
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void *watched_reallocate(void *user, void *block, size_t size)
{
    door *d = user;

    enter(d);
    wait_microseconds(20);
    void *result = support_reallocate(&d->allocator, block, size);
    atomic_fetch_sub(&d->inside, 1);
    return result;
}

/* Features overflow in every fold, so all threads clean up at once. */
static void test_one_thread_allocates_at_a_time_also_when_folds_fail(void **state)
{
    static const char *const methods[] = {"koc", "pca"};

    (void)state;
    for (int m = 0; m < 2; m++)
        for (int fails = 0; fails < 2; fails++) {
            door d = {.calls = 0};
            kfe_context *ctx = NULL;
            assert_int_equal(kfe_context_new_with(watched_reallocate, &d, &ctx), KFE_OK);
            assert_ok(ctx, kfe_context_set_threads(ctx, 2));
            select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);
            for (int64_t i = 0; fails && i < ROWS * COLS; i++)
                s.data->views[0].table.values[i] *= 1e200;
            kfe_status status = sweep_text(ctx, methods[m], "linear", "knn", NULL, s.data);
            assert_int_equal(status, fails ? KFE_EINPUT : KFE_OK);
            select_sample_free(&s);
            kfe_context_free(ctx);
            assert_int_equal(atomic_load(&d.clashes), 0);
            assert_int_equal(d.allocator.live, 0);
        }
}

/* ---- stopping ---- */

typedef struct patience {
    int left, told;
} patience;

static int stop_later(void *user)
{
    patience *p = user;

    p->told |= p->left-- <= 0;
    return p->told;
}

static void test_cancelling_stops(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 2, 1);

    for (int threads = 1; threads <= 2; threads++)
        for (int left = 0; left < 20; left++) {
            patience p = {.left = left};
            assert_ok(ctx, kfe_context_set_threads(ctx, threads));
            kfe_context_on_cancel(ctx, stop_later, &p);
            kfe_status status = sweep_text(ctx, "koc", "rbf:gamma=1", "knn", "gamma=1,2,3", s.data);
            kfe_context_on_cancel(ctx, NULL, NULL);
            assert_int_equal(status, p.told ? KFE_ECANCEL : KFE_OK);
            assert_true(p.told || left > 0);
        }
    select_sample_free(&s);
}

/* ---- failing allocations ---- */

typedef struct walk_request {
    const char *method, *params, *kernel, *learner, *axis;
    const double *x;
} walk_request;

static kfe_status walk(kfe_context *ctx, void *user)
{
    const walk_request *r = user;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    const char *labels[ROWS];
    double values[FOLDS * MOST_SETTINGS];
    kfe_status status;

    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 2 ? "b" : "a";
    if ((status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, r->x, &data)) == KFE_OK &&
        (status = kfe_data_set_labels(ctx, data, labels)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, r->method, r->params, r->kernel, &spec)) == KFE_OK &&
        (status = kfe_spec_set_learner(ctx, spec, r->learner, NULL)) == KFE_OK)
        status = sweep_spec(ctx, spec, data, r->axis, values);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    static const walk_request requests[] = {
        {"koc", NULL, "rbf", "knn", "gamma=scale,1", NULL},
        {"kfd", "scale=standard", "rbf:gamma=1", "ls", "dim=1,2", NULL},
        {"pca", NULL, NULL, "centroid", "dim=1,2", NULL},
        {"none", NULL, "rbf", "svm", "gamma=1,2", NULL},
        {"none", "scale=standard", NULL, "knn", "neighbors=1,2", NULL},
    };
    double *x = support_normals(3, ROWS * COLS);

    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        walk_request one = requests[i];
        support_sweep sweep = {.name = one.method, .use = walk, .user = &one, .at_least = 100};
        one.x = x;
        support_sweep_run(&sweep);
        sweep.threads = 2;
        sweep.step = 29;
        support_sweep_run(&sweep);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_what_cannot_be_measured_is_refused),
        with_context(test_bad_numbers_are_named_by_their_row),
        with_context(test_tables_that_are_no_kernel_matrix_are_refused),
        with_context(test_given_matrix_must_be_symmetric),
        with_context(test_a_failed_setting_is_a_failed_cell),
        with_context(test_all_settings_failing_is_an_error_with_the_first_reason),
        with_context(test_user_kernels_are_called_by_one_thread),
        cmocka_unit_test(test_one_thread_allocates_at_a_time_also_when_folds_fail),
        with_context(test_cancelling_stops),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
