/* SPDX-License-Identifier: Apache-2.0 */
/* Splits fitted from sums alone, against fits and predictions by the public calls on the training rows; leave-one-out too. */
#include "support/select.h"

#include <math.h>

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "select/sum_fold.h"
#include "select/sweep.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 240, COLS = 32 };

/* The split that tests rows first, first + step, … */
typedef struct part {
    kfe_i_split split;
    int64_t train[ROWS], test[ROWS], all[ROWS];
} part;

static void make_part(part *p, int64_t first, int64_t step)
{
    memset(p, 0, sizeof *p);
    p->split.train = p->train;
    p->split.test = p->test;
    for (int64_t i = 0; i < ROWS; i++) {
        p->all[i] = i;
        if (i >= first && (i - first) % step == 0)
            p->test[p->split.test_count++] = i;
        else
            p->train[p->split.train_count++] = i;
    }
}

static kfe_spec *make_spec(kfe_context *ctx, const char *method, const char *dim, const char *scale,
                           const char *learner, const char *params)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, dim, NULL, &spec));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", scale));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, params));
    return spec;
}

/* How a split was fitted. */
typedef enum way { BY_ROWS, BY_SUMS } way;

/* The features of the test rows equal those of a fit on the training rows, up to the sign of each. */
static void compare_features(const select_sample *s, const kfe_spec *spec, const kfe_i_split *split,
                             const kfe_i_fold *fold, double tolerance)
{
    kfe_context *ctx = s->ctx;
    kfe_i_fold plain = {0};

    assert_ok(ctx, kfe_i_fold_extract(ctx, ctx, s->data, split, spec, &(kfe_i_shared){0}, &plain));
    assert_int_equal(fold->dim, plain.dim);
    for (int64_t j = 0; j < plain.dim; j++) {
        double same = 0;
        double opposite = 0;
        double size = 0;
        for (int64_t i = 0; i < split->test_count; i++) {
            double a = fold->test.values[i * fold->test.stride + j];
            double b = plain.test.values[i * plain.test.stride + j];
            same = fmax(same, fabs(a - b));
            opposite = fmax(opposite, fabs(a + b));
            size = fmax(size, fabs(b));
        }
        assert_below(fmin(same, opposite), tolerance * (1 + size));
    }
    kfe_i_fold_free(&plain);
}

/* Measures the split from sums alone if that is possible, and compares the metrics with those of the public calls. */
static way check_split(const select_sample *s, const kfe_spec *spec, const kfe_i_split *split,
                       kfe_i_row_sums *sums, double tolerance)
{
    kfe_context *ctx = s->ctx;
    const kfe_i_metric *metrics[SELECT_METRICS];
    double expected[SELECT_METRICS];
    double got[SELECT_METRICS];
    kfe_spec *learners[] = {(kfe_spec *)(uintptr_t)spec};
    kfe_i_sum_plan plan = {0};
    kfe_i_fold fold = {0};
    int done = 0;

    assert_ok(ctx, kfe_i_sum_plan_make(ctx, spec, learners, 1, s->data, &plan));
    assert_ok(ctx, kfe_i_sum_fold_extract(ctx, ctx, &(kfe_i_sum_source){.sums = sums}, split, spec, &plan,
                                          &fold, &done));
    if (!done)
        return BY_ROWS;
    compare_features(s, spec, split, &fold, tolerance);
    int count = split->test_count > 1 && (s->classes == 0 || s->classes == 2) ? SELECT_METRICS : 1;
    for (int m = 0; m < count; m++)
        assert_ok(ctx, kfe_i_metric_find(ctx, select_metric_name(s, m), s->data->target.task, &metrics[m]));
    const kfe_i_trial trial = {.data = s->data,
                               .split = split,
                               .learner = spec->learner,
                               .settings = spec->learner_settings,
                               .positive = s->classes == 2 ? 1 : -1,
                               .metrics = metrics,
                               .metric_count = count};
    assert_ok(ctx, kfe_i_fold_measure(ctx, &fold, &trial, &(kfe_i_measured_fold){.values = got}));
    select_by_hand(s, spec, split, expected);
    for (int m = 0; m < count; m++)
        assert_true(fabs(got[m] - expected[m]) <= tolerance * (1 + fabs(expected[m])) ||
                    (isnan(got[m]) && isnan(expected[m])));
    kfe_i_fold_free(&fold);
    return BY_SUMS;
}

static const struct {
    const char *method, *l2;
} pairs[] = {{"pls", "l2=0"}, {"pls", "l2=0.5"}, {"pca", "l2=0"}, {"pca", "l2=3"}, {"cr", "l2=0"}};

/* All kinds of targets and scalings; the columns are far from zero. */
static void check_parts(kfe_context *ctx, int64_t step, int rotate)
{
    static const char *const scales[] = {"none", "standard", "unit-norm", "auto"};

    for (int classes = 0; classes <= 3; classes++) {
        if (classes == 1)
            continue;
        select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS / 4, classes, 1);
        kfe_i_row_sums sums = {0};
        part p;
        make_part(&p, 3, step);
        assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
        assert_int_equal(sums.count, ROWS);
        if (rotate)
            assert_ok(ctx, kfe_i_row_sums_rotate(ctx, &sums));
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++)
            for (size_t m = 0; m < sizeof pairs / sizeof *pairs; m++) {
                kfe_spec *spec = make_spec(ctx, pairs[m].method, "dim=4", scales[k], "ls", pairs[m].l2);
                assert_int_equal(check_split(&s, spec, &p.split, &sums, 1e-9), BY_SUMS);
                kfe_spec_free(spec);
            }
        kfe_i_row_sums_free(&sums);
        select_sample_free(&s);
    }
}

static void test_folds_equal_fits(void **state)
{
    check_parts(*state, 4, 0);
    check_parts(*state, 4, 1);
}

/* Coordinates by eigenvectors: one test row, and two. */
static void test_few_rows(void **state)
{
    kfe_context *ctx = *state;

    for (int classes = 0; classes <= 3; classes++)
        for (int64_t step = 100; step <= ROWS; step += 140) {
            if (classes == 1)
                continue;
            select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, classes, 1);
            kfe_spec *spec = make_spec(ctx, "pls", "dim=7", "none", "ls", NULL);
            for (int64_t first = 10; first < 60; first += 7) {
                kfe_i_row_sums sums = {0};
                kfe_i_sums train = {0};
                double *test = NULL;
                int known = 0;
                part p;
                make_part(&p, first, step);
                if (p.split.test_count > COLS / 16)
                    continue;
                assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
                assert_ok(ctx, kfe_i_row_sums_rotate(ctx, &sums));
                assert_ok(ctx, kfe_i_row_sums_train_rotated(ctx, &sums, &p.split, &train, &test, &known));
                assert_true(known);
                assert_int_equal(check_split(&s, spec, &p.split, &sums, 1e-9), BY_SUMS);
                kfe_i_free(ctx, test);
                kfe_i_sums_free(&train);
                kfe_i_row_sums_free(&sums);
            }
            kfe_spec_free(spec);
            select_sample_free(&s);
        }
}

/* Where digits or a class would be lost, the rows are fitted. */
static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS / 4, 3, 1);
    kfe_spec *spec = make_spec(ctx, "pls", "dim=4", "none", "ls", NULL);
    kfe_spec *minmax = make_spec(ctx, "pls", "dim=4", "minmax", "ls", NULL);
    kfe_spec *knn = make_spec(ctx, "pls", "dim=4", "none", "knn", NULL);
    kfe_i_row_sums sums = {0};
    part p;

    make_part(&p, 3, 4);
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
    assert_int_equal(check_split(&s, minmax, &p.split, &sums, 1e-9), BY_ROWS);
    assert_int_equal(check_split(&s, knn, &p.split, &sums, 1e-9), BY_ROWS);
    kfe_i_row_sums_free(&sums);
    s.data->views[0].table.values[p.test[2] * s.data->views[0].table.stride] = 1e8;
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
    assert_int_equal(check_split(&s, spec, &p.split, &sums, 1e-9), BY_ROWS);
    kfe_i_row_sums_free(&sums);
    kfe_spec_free(spec);
    kfe_spec_free(minmax);
    kfe_spec_free(knn);
    select_sample_free(&s);
}

/* Columns that nearly depend on each other: products of columns have lost what distinguishes them. */
static void test_dependent_columns(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS / 4, 0, 1);
    kfe_i_table *table = &s.data->views[0].table;
    kfe_spec *spec = make_spec(ctx, "pls", "dim=8", "none", "ls", NULL);
    kfe_i_row_sums sums = {0};
    part p;

    for (int64_t i = 0; i < ROWS; i++)
        table->values[i * table->stride + 1] =
            table->values[i * table->stride] + 1e-9 * table->values[i * table->stride + 1];
    make_part(&p, 3, 4);
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
    assert_int_equal(check_split(&s, spec, &p.split, &sums, 1e-9), BY_ROWS);
    kfe_i_row_sums_free(&sums);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- shared landmarks ---- */

enum { FOLDS = 10, LANDMARKS = 20, COLUMNS = 6 };
#define GAMMA 0.05

typedef struct fold_set {
    part parts[FOLDS];
    kfe_i_split items[FOLDS];
    kfe_i_splits splits;
    kfe_i_group group;
} fold_set;

static void make_folds(const select_sample *s, fold_set *f)
{
    memset(f, 0, sizeof *f);
    for (int k = 0; k < FOLDS; k++) {
        make_part(&f->parts[k], k, FOLDS);
        f->items[k] = f->parts[k].split;
    }
    f->splits = (kfe_i_splits){.items = f->items, .count = FOLDS};
    assert_ok(s->ctx, kfe_i_group_init(s->ctx, s->data, &f->splits, &f->group));
    assert_ok(s->ctx, kfe_i_group_set(&f->group, 0, FOLDS));
}

static kfe_spec *landmark_spec(kfe_context *ctx, const char *method, const char *dim, const char *learner)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, dim, "rbf:gamma=0.05", &spec));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", "none"));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "landmarks", "20"));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    return spec;
}

static double kernel_value(const select_sample *s, int64_t i, int64_t j)
{
    double square = 0;

    for (int k = 0; k < COLUMNS; k++) {
        double difference = s->values[i * COLUMNS + k] - s->values[j * COLUMNS + k];
        square += difference * difference;
    }
    return exp(-GAMMA * square);
}

/* The columns K[:, J]L⁻ᵀ, LLᵀ = K[J, J], of the first landmarks J among the training rows, one kernel value at a time. */
static void columns_by_hand(const select_sample *s, const kfe_i_landmark_sums *shared, int fold, double *out)
{
    int64_t chosen[LANDMARKS];
    int64_t count = 0;

    for (int64_t j = 0; j < shared->factor.cols && count < LANDMARKS; j++)
        if (shared->landmarks[j] % FOLDS != fold)
            chosen[count++] = shared->landmarks[j];
    assert_int_equal(count, LANDMARKS);
    for (int64_t i = 0; i < ROWS;
         i++) /* rows of the landmarks come first, so that L is there when it is needed */
        for (int64_t j = 0; j < LANDMARKS; j++)
            out[i * LANDMARKS + j] = kernel_value(s, i, chosen[j]);
    for (int64_t j = 0; j < LANDMARKS; j++) {
        const double *pivot = out + chosen[j] * LANDMARKS;
        double root = sqrt(pivot[j]);
        for (int64_t i = 0; i < ROWS; i++)
            out[i * LANDMARKS + j] /= i == chosen[j] ? 1 : root;
        out[chosen[j] * LANDMARKS + j] = root;
        for (int64_t l = j + 1; l < LANDMARKS; l++) {
            double at = out[chosen[l] * LANDMARKS + j];
            for (int64_t i = 0; i < ROWS; i++)
                out[i * LANDMARKS + l] -= out[i * LANDMARKS + j] * at;
        }
    }
}

/* The data with these columns and the targets of the sample. */
static select_sample with_columns(const select_sample *s, const double *columns)
{
    select_sample other = select_sample_make(s->ctx, SELECT_DENSE, ROWS, LANDMARKS, s->classes, 1);
    kfe_i_target *target = &other.data->target;
    kfe_i_table *table = &other.data->views[0].table;

    assert_ok(s->ctx, kfe_i_data_row_keys(s->ctx, s->data,
                                          &target->keys)); /* so that the same rows choose the ridge */
    for (int64_t i = 0; i < ROWS; i++) {
        memcpy(table->values + i * table->stride, columns + i * LANDMARKS, LANDMARKS * sizeof *columns);
        if (target->codes)
            target->codes[i] = s->data->target.codes[i];
        if (target->values)
            target->values[i] = s->data->target.values[i];
    }
    return other;
}

static void measure(const select_sample *s, const kfe_i_fold *fold, const kfe_spec *spec,
                    const kfe_i_split *split, double *value)
{
    const kfe_i_metric *metric = NULL;

    assert_ok(s->ctx, kfe_i_metric_find(s->ctx, select_metric_name(s, 0), s->data->target.task, &metric));
    const kfe_i_trial trial = {.data = s->data,
                               .split = split,
                               .learner = spec->learner,
                               .settings = spec->learner_settings,
                               .positive = -1,
                               .metrics = &metric,
                               .metric_count = 1};
    assert_ok(s->ctx, kfe_i_fold_measure(s->ctx, fold, &trial, &(kfe_i_measured_fold){.values = value}));
}

/* A linear kernel on columns by hand, fitted on the training rows, predicts as the fit from shared sums does. */
static void check_landmark_fold(const select_sample *s, const char *method, const char *learner,
                                const kfe_i_landmark_sums *shared, const kfe_i_split *split, int number)
{
    kfe_context *ctx = s->ctx;
    static double columns[ROWS * LANDMARKS];
    const char *dim = strcmp(method, "kfd") == 0 && s->classes == 2 ? "" : "dim=2";
    kfe_spec *spec = landmark_spec(ctx, method, dim, learner);
    kfe_spec *learners[] = {spec};
    kfe_spec *plain = NULL;
    kfe_i_sum_plan plan = {0};
    kfe_i_fold got = {0};
    kfe_i_fold expected = {0};
    double values[2];
    int done = 0;

    assert_ok(ctx, kfe_i_landmark_plan_make(ctx, spec, learners, 1, s->data, &plan));
    assert_int_equal(plan.needs_features, strcmp(learner, "knn") == 0);
    assert_ok(ctx, kfe_i_sum_fold_extract(ctx, ctx, &(kfe_i_sum_source){.landmarks = shared}, split, spec,
                                          &plan, &got, &done));
    assert_true(done);
    columns_by_hand(s, shared, number, columns);
    select_sample other = with_columns(s, columns);
    assert_ok(ctx, kfe_spec_parse(ctx, method, dim, "linear", &plain));
    assert_ok(ctx, kfe_spec_set(ctx, plain, "scale", "none"));
    assert_ok(ctx, kfe_i_fold_extract(ctx, ctx, other.data, split, plain, &(kfe_i_shared){0}, &expected));
    measure(s, &got, spec, split, &values[0]);
    measure(&other, &expected, spec, split, &values[1]);
    assert_int_equal(got.dim, expected.dim);
    assert_below(fabs(values[0] - values[1]), 1e-7 * (1 + fabs(values[1])));
    kfe_i_fold_free(&got);
    kfe_i_fold_free(&expected);
    kfe_spec_free(spec);
    kfe_spec_free(plain);
    select_sample_free(&other);
}

static void test_landmarks(void **state)
{
    static const char *const methods[] = {"kfd", "hsic", "kpls", "kpca", "kopls"};
    kfe_context *ctx = *state;

    for (int classes = 0; classes <= 3; classes++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            if (classes == 1 || (classes == 0 && strcmp(methods[m], "kfd") == 0))
                continue;
            select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLUMNS, classes, 1);
            kfe_spec *spec = landmark_spec(ctx, methods[m], "", "ls");
            kfe_i_landmark_sums shared = {0};
            fold_set folds;
            make_folds(&s, &folds);
            assert_ok(ctx, kfe_i_landmark_sums_make(&folds.group, spec, &shared));
            assert_true(shared.factor.cols >= LANDMARKS);
            for (int k = 0; k < FOLDS; k += 3) {
                check_landmark_fold(&s, methods[m], "ls", &shared, &folds.items[k], k);
                if (classes > 0)
                    check_landmark_fold(&s, methods[m], "knn", &shared, &folds.items[k], k);
            }
            kfe_i_landmark_sums_free(&shared);
            kfe_i_group_free(&folds.group);
            kfe_spec_free(spec);
            select_sample_free(&s);
        }
}

/* A split whose training rows have too few of the landmarks is fitted by itself, and so are specs that sums do not serve. */
static void test_landmark_refusals(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLUMNS, 2, 1);
    kfe_spec *spec = landmark_spec(ctx, "kfd", "", "ls");
    kfe_i_landmark_sums shared = {0};
    fold_set folds;
    double *q = NULL;
    int64_t count = -1;

    make_folds(&s, &folds);
    assert_ok(ctx, kfe_i_landmark_sums_make(&folds.group, spec, &shared));
    kfe_i_split all_landmarks = folds.items[0];
    int64_t sorted[ROWS];
    all_landmarks.test = sorted;
    all_landmarks.test_count = 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < LANDMARKS; j++)
            if (shared.landmarks[j] == i)
                sorted[all_landmarks.test_count++] = i;
    assert_ok(ctx, kfe_i_landmark_sums_basis(ctx, &shared, &all_landmarks, &q, &count));
    assert_int_equal(count, 0);
    assert_null(q);
    assert_ok(ctx, kfe_spec_set(ctx, spec, "landmarks", "200")); /* too many for so few rows */
    assert_ok(ctx, kfe_i_landmark_sums_make(&folds.group, spec, &shared));
    assert_int_equal(shared.factor.cols, 0);
    kfe_i_landmark_sums_free(&shared);
    kfe_i_group_free(&folds.group);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

/* ---- failing allocations ---- */

static kfe_status share_and_fit(kfe_context *ctx, void *user)
{
    const kfe_spec *spec = user;
    kfe_context *own = NULL;
    select_sample s;
    kfe_i_landmark_sums shared = {0};
    kfe_i_sum_plan plan = {.usable = 1, .needs_features = 1};
    kfe_i_fold fold = {0};
    fold_set folds;
    int done = 0;

    assert_int_equal(kfe_context_new(&own), KFE_OK);
    s = select_sample_make(own, SELECT_DENSE, ROWS, COLUMNS, 2, 1);
    make_folds(&s, &folds);
    kfe_i_group_free(&folds.group);
    kfe_status status = kfe_i_group_init(ctx, s.data, &folds.splits, &folds.group);
    if (status == KFE_OK)
        status = kfe_i_group_set(&folds.group, 0, FOLDS);
    if (status == KFE_OK)
        status = kfe_i_landmark_sums_make(&folds.group, spec, &shared);
    if (status == KFE_OK)
        status = kfe_i_sum_fold_extract(ctx, ctx, &(kfe_i_sum_source){.landmarks = &shared}, &folds.items[1],
                                        spec, &plan, &fold, &done);
    kfe_i_fold_free(&fold);
    kfe_i_landmark_sums_free(&shared);
    kfe_i_group_free(&folds.group);
    select_sample_free(&s);
    kfe_context_free(own);
    return status;
}

typedef struct use {
    const select_sample *sample;
    const kfe_spec *spec;
    const part *part;
} use;

static kfe_status rotate_and_fit(kfe_context *ctx, void *user)
{
    const use *u = user;
    kfe_i_row_sums sums = {0};
    kfe_i_sum_plan plan = {.usable = 1, .kind = KFE_SCALE_NONE};
    kfe_i_fold fold = {0};
    int done = 0;
    kfe_status status = kfe_i_row_sums_make(ctx, u->sample->data, u->part->all, ROWS, NULL, &sums);

    if (status == KFE_OK)
        status = kfe_i_row_sums_rotate(ctx, &sums);
    if (status == KFE_OK)
        status = kfe_i_sum_fold_extract(ctx, ctx, &(kfe_i_sum_source){.sums = &sums}, &u->part->split,
                                        u->spec, &plan, &fold, &done);
    kfe_i_fold_free(&fold);
    kfe_i_row_sums_free(&sums);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, 0, 1);
    kfe_spec *spec = make_spec(ctx, "pls", "dim=4", "none", "ls", NULL);
    part one;
    part many;

    make_part(&one, 10, ROWS);
    make_part(&many, 3, 4);
    support_sweep_all("one test row", rotate_and_fit, &(use){&s, spec, &one}, 20);
    support_sweep_all("many test rows", rotate_and_fit, &(use){&s, spec, &many}, 20);
    kfe_spec_free(spec);
    select_sample_free(&s);
    spec = landmark_spec(ctx, "kpls", "dim=2", "knn");
    support_sweep_all("landmarks", share_and_fit, spec, 40);
    kfe_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_folds_equal_fits),
        with_context(test_few_rows),
        with_context(test_refusals),
        with_context(test_dependent_columns),
        with_context(test_landmarks),
        with_context(test_landmark_refusals),
        with_context(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
