/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits from sums against kfe_fit on all rows, for every method that has them: random divisions and orders of the rows, trees of
 * merges, saving and loading in between, sparse blocks, blocks of one row and of none, classes that appear late, weights of examples
 * and of classes.
 */
#include <math.h>
#include <stdio.h>

#include "method/method.h"
#include "support/fit.h"

enum { ROWS = 150, TEST_ROWS = 8, COLS = 5, CLASSES = 3, TARGETS = 2, PARTS = 7 };

/*
 * Relative to the largest feature. Sums are off by √n·ε, and their factorisation by dε: some 1e-14 of the products. Directions
 * amplify this by the condition of the problem: inverse gaps of eigenvalues up to 1e2, (trace of K)/ridge up to 1e5 where
 * leave-one-out takes the smallest ridge, and iterations of deflation multiply these. The plain fits on rows have errors of the
 * same size.
 */
#define TOLERANCE 1e-7

typedef struct problem {
    double x[ROWS * COLS], y[ROWS * TARGETS], test[TEST_ROWS * COLS];
    double weights[ROWS]; /* zero for a fifth of the rows */
    int class_of[ROWS];
} problem;

/* Columns of different means and spreads; a third of the numbers are zero. The last class has members at the end only. */
static problem make_problem(void)
{
    problem p;
    uint64_t random = 5;

    for (int64_t i = 0; i < ROWS; i++) {
        p.class_of[i] = i >= ROWS - 25 ? 2 : (int)(i % 2);
        for (int64_t j = 0; j < COLS; j++) {
            double value = support_normal(&random) + 1.5 * (p.class_of[i] == j % CLASSES);
            p.x[i * COLS + j] = (i + j) % 3 == 0 ? 0 : (1 + (double)j) * value;
        }
        p.weights[i] = 0.75 * (double)(i * 7 % 5);
        p.y[i * TARGETS] = p.x[i * COLS] + 0.3 * support_normal(&random);
        p.y[i * TARGETS + 1] = sin(p.x[i * COLS + 1]) + 0.1 * support_normal(&random);
    }
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        p.test[i] = support_normal(&random);
    return p;
}

/* What one comparison is about. */
typedef struct job {
    const kfe_i_method *method;
    kfe_task task;
    const char *scale, *learner;
    int sparse;
    uint64_t seed;
    int weighted;             /* the rows have weights */
    const char *class_weight; /* NULL: none */
} job;

static kfe_spec *make_spec(kfe_context *ctx, const job *j)
{
    kfe_spec *spec = NULL;
    int kernel = (j->method->flags & KFE_HAS_KERNELS) != 0 && !kfe_i_method_makes_points(j->method);

    assert_ok(ctx, kfe_spec_parse(ctx, j->method->name, NULL, kernel ? "rbf:gamma=0.1" : NULL, &spec));
    if (kernel)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "landmarks", "20"));
    if (j->class_weight)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "class-weight", j->class_weight));
    if (strstr(j->method->name, "blf"))
        assert_ok(ctx, kfe_spec_set(ctx, spec, "loss", "ls"));
    const kfe_i_param *dim = kfe_i_param_find(&j->method->params, "dim");
    if (dim && dim->chosen) /* only a fit in memory chooses a number */
        assert_ok(ctx, kfe_spec_set(ctx, spec, "dim", kernel ? "10" : "4"));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", j->scale));
    if (j->learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, j->learner, NULL));
    return spec;
}

/* The rows listed as data of their own, dense or sparse. Free the arrays after the data. */
typedef struct block {
    kfe_data *data;
    double *x, *y, *weights;
    double mass; /* the sum of the weights */
    int *class_of;
    support_csr arrays;
} block;

static block make_block(kfe_context *ctx, const problem *p, const job *j, const int64_t *rows, int64_t count)
{
    block b = {0};

    b.x = malloc((size_t)(count * COLS + 1) * sizeof *b.x);
    b.y = malloc((size_t)(count * TARGETS + 1) * sizeof *b.y);
    b.weights = malloc((size_t)(count + 1) * sizeof *b.weights);
    b.class_of = malloc((size_t)(count + 1) * sizeof *b.class_of);
    for (int64_t i = 0; i < count; i++) {
        memcpy(b.x + i * COLS, p->x + rows[i] * COLS, COLS * sizeof *b.x);
        memcpy(b.y + i * TARGETS, p->y + rows[i] * TARGETS, TARGETS * sizeof *b.y);
        b.class_of[i] = p->class_of[rows[i]];
        b.mass += b.weights[i] = j->weighted ? p->weights[rows[i]] : 1;
    }
    const int *labels = j->task == KFE_TASK_CLASSES ? b.class_of : NULL;
    b.data = j->sparse ? support_sparse(ctx, count, COLS, b.x, labels, &b.arrays)
                       : support_dense(ctx, count, COLS, b.x, labels);
    if (j->task == KFE_TASK_REAL)
        assert_ok(ctx, kfe_data_set_targets(ctx, b.data, TARGETS, b.y));
    if (j->weighted && b.mass > 0)
        assert_ok(ctx, kfe_data_set_weights(ctx, b.data, b.weights));
    return b;
}

static void free_block(block *b)
{
    kfe_data_free(b->data);
    if (b->arrays.row_start)
        support_csr_free(&b->arrays);
    free(b->x);
    free(b->y);
    free(b->weights);
    free(b->class_of);
}

static block all_rows(kfe_context *ctx, const problem *p, const job *j)
{
    int64_t rows[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    return make_block(ctx, p, j, rows, ROWS);
}

static void shuffle(uint64_t *random, int64_t *rows)
{
    for (int64_t i = ROWS - 1; i > 0; i--) {
        int64_t other = (int64_t)(support_uniform(random) * (double)(i + 1));
        int64_t kept = rows[i];
        rows[i] = rows[other];
        rows[other] = kept;
    }
}

static kfe_accumulator *copy(kfe_context *ctx, const kfe_accumulator *sums)
{
    kfe_accumulator *out = NULL;
    char *bytes = NULL;
    size_t size = 0;

    assert_ok(ctx, kfe_accumulator_save_bytes(ctx, sums, &bytes, &size));
    assert_ok(ctx, kfe_accumulator_load_bytes(ctx, bytes, size, &out));
    kfe_string_free(ctx, bytes);
    return out;
}

static kfe_accumulator *reload(kfe_context *ctx, kfe_accumulator *sums)
{
    kfe_accumulator *out = copy(ctx, sums);

    kfe_accumulator_free(sums);
    return out;
}

/* An accumulator that has started but holds no rows. */
static kfe_accumulator *begin(kfe_context *ctx, const kfe_spec *spec, const kfe_data *all)
{
    kfe_accumulator *sums = NULL;

    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    assert_ok(ctx, kfe_accumulator_start(ctx, sums, all));
    return sums;
}

static void add_rows(kfe_context *ctx, const problem *p, const job *j, kfe_accumulator *sums,
                     const int64_t *rows, int64_t count)
{
    block b = make_block(ctx, p, j, rows, count);

    if (!j->weighted || b.mass > 0) /* hosts refuse weights that are all zero */
        assert_ok(ctx, kfe_accumulator_add(ctx, sums, b.data));
    free_block(&b);
}

/* The rows that count. */
static int64_t rows_with_weight(const problem *p, const job *j)
{
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++)
        count += !j->weighted || p->weights[i] > 0;
    return count;
}

/* Shuffled rows, divided at random into parts, each with an accumulator of its own; merged as a tree. */
static kfe_accumulator *divide_and_merge(kfe_context *ctx, const problem *p, const job *j,
                                         const kfe_spec *spec, const kfe_data *all)
{
    kfe_accumulator *parts[PARTS];
    kfe_accumulator *started = begin(ctx, spec, all);
    int64_t rows[ROWS];
    int64_t first = 0;
    uint64_t random = j->seed;

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    if (j->seed % 2 == 0) /* else the last class is in the last parts only */
        shuffle(&random, rows);
    for (int k = 0; k < PARTS; k++) {
        int64_t left = ROWS - first;
        int64_t count = k == 2   ? 1
                        : k == 4 ? 0
                                 : (int64_t)(support_uniform(&random) * 2 * (double)left / (PARTS - k));
        count = k == PARTS - 1 || count > left ? left : count;
        parts[k] = copy(ctx, started);
        add_rows(ctx, p, j, parts[k], rows + first, count / 2);
        parts[k] = reload(ctx, parts[k]);
        add_rows(ctx, p, j, parts[k], rows + first + count / 2, count - count / 2);
        first += count;
    }
    for (int step = 1; step < PARTS; step *= 2)
        for (int k = 0; k + step < PARTS; k += 2 * step)
            assert_ok(ctx, kfe_accumulator_merge(ctx, parts[k], parts[k + step]));
    for (int k = 1; k < PARTS; k++)
        kfe_accumulator_free(parts[k]);
    kfe_accumulator_free(started);
    assert_int_equal(kfe_accumulator_rows(parts[0]), rows_with_weight(p, j));
    return parts[0];
}

static void compare_models(kfe_context *ctx, const problem *p, const job *j, const kfe_model *expected,
                           const kfe_model *found)
{
    kfe_data *test = support_dense(ctx, TEST_ROWS, COLS, p->test, NULL);
    kfe_matrix a = support_transform(ctx, expected, test);
    kfe_matrix b = support_transform(ctx, found, test);
    kfe_matrix pa = {0};
    kfe_matrix pb = {0};
    kfe_matrix sa = {0};
    kfe_matrix sb = {0};

    if (a.cols != b.cols)
        fail_msg("%s: %lld features, expected %lld", j->method->name, (long long)b.cols, (long long)a.cols);
    double distance = support_distance_up_to_sign(TEST_ROWS, a.cols, a.values, b.values);
    if (!(distance <= TOLERANCE))
        fail_msg("%s, scale %s, seed %d: features differ by %g", j->method->name, j->scale, (int)j->seed,
                 distance);
    assert_int_equal(kfe_model_classes(expected), kfe_model_classes(found));
    if (j->learner) {
        assert_ok(ctx, kfe_predict(ctx, expected, test, &pa, &sa));
        assert_ok(ctx, kfe_predict(ctx, found, test, &pb, &sb));
        distance = support_distance(TEST_ROWS * sa.cols, sa.values, sb.values);
        if (!(distance <= TOLERANCE))
            fail_msg("%s + %s: scores differ by %g", j->method->name, j->learner, distance);
        assert_int_equal(pa.cols, pb.cols);
        distance = support_distance(TEST_ROWS * pa.cols, pa.values, pb.values);
        if (!(distance <= TOLERANCE))
            fail_msg("%s + %s: predictions differ by %g", j->method->name, j->learner, distance);
    }
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_matrix_free(&pa);
    kfe_matrix_free(&pb);
    kfe_matrix_free(&sa);
    kfe_matrix_free(&sb);
    kfe_data_free(test);
}

static void compare(kfe_context *ctx, const problem *p, const job *j)
{
    kfe_spec *spec = make_spec(ctx, j);
    block all = all_rows(ctx, p, j);
    kfe_model *expected = NULL;
    kfe_model *found = NULL;

    assert_ok(ctx, kfe_fit(ctx, spec, all.data, &expected));
    kfe_accumulator *sums = divide_and_merge(ctx, p, j, spec, all.data);
    assert_ok(ctx, kfe_accumulator_finish(ctx, sums, &found));
    compare_models(ctx, p, j, expected, found);
    kfe_model_free(expected);
    kfe_model_free(found);
    kfe_accumulator_free(sums);
    free_block(&all);
    kfe_spec_free(spec);
}

static int takes(const kfe_i_method *method, kfe_task task)
{
    return task == KFE_TASK_CLASSES || !(method->flags & KFE_HAS_SUPERVISION) ||
           method->flags & KFE_HAS_REGRESSION;
}

/* `like`, for every method and task. */
static void compare_every_method(kfe_context *ctx, const job *like)
{
    problem p = make_problem();
    const kfe_i_method *method = NULL;
    int count = 0;

    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    for (int i = 0; (method = kfe_i_method_at(i)) != NULL; i++)
        for (int real = 0; kfe_i_method_use(method, NULL, KFE_OFFER_SUMS, NULL) && real < 2; real++) {
            kfe_task task = real ? KFE_TASK_REAL : KFE_TASK_CLASSES;
            if (!takes(method, task) ||
                method->columns) /* methods that choose examples: test_pursuit_sums.c */
                continue;
            for (uint64_t seed = 1; seed <= 2; seed++) {
                job j = *like;
                j.method = method;
                j.task = task;
                j.seed = seed;
                if (!j.class_weight || !real)
                    compare(ctx, &p, &j);
            }
            count++;
        }
    assert_true(count >= 24);
}

static void test_every_method_equals_its_fit(void **state)
{
    compare_every_method(*state, &(job){.scale = "standard", .learner = "ls"});
}

static void test_weights_of_examples(void **state)
{
    compare_every_method(*state, &(job){.scale = "standard", .learner = "ls", .weighted = 1});
}

/* The parts lack classes that the weights name. */
static void test_weights_of_classes(void **state)
{
    compare_every_method(*state,
                         &(job){.scale = "auto", .learner = "centroid", .class_weight = "c0:2;c2:0.5"});
    compare_every_method(*state,
                         &(job){.scale = "auto", .learner = "ls", .weighted = 1, .class_weight = "c1:3"});
}

static void test_weights_that_are_refused(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    job j = {.task = KFE_TASK_CLASSES, .scale = "none", .class_weight = "c0:2;nowhere:3", .weighted = 1};
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_i_method_find(ctx, "oc", &j.method));
    kfe_spec *spec = make_spec(ctx, &j);
    block all = all_rows(ctx, &p, &j);
    kfe_accumulator *sums = begin(ctx, spec, all.data);
    assert_ok(ctx, kfe_accumulator_add(ctx, sums, all.data));
    assert_fails(ctx, KFE_EINVAL, "there is no class 'nowhere'", kfe_accumulator_finish(ctx, sums, &model));
    kfe_accumulator_free(sums);
    sums = NULL;
    assert_ok(ctx, kfe_spec_set(ctx, spec, "class-weight", "balanced"));
    assert_int_equal(kfe_spec_accumulates(spec), 0);
    assert_fails(ctx, KFE_EUNSUPPORTED, "by name", kfe_accumulator_new(ctx, spec, &sums));
    free_block(&all);
    kfe_spec_free(spec);
}

static void test_scalings(void **state)
{
    static const char *const scales[] = {"none", "auto", "minmax", "unit-norm", "l2-rows"};
    static const char *const methods[] = {"pca", "kpls"};
    kfe_context *ctx = *state;
    problem p = make_problem();

    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    for (size_t m = 0; m < 2; m++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
            for (int sparse = 0; sparse < 2; sparse++) {
                job j = {.task = KFE_TASK_CLASSES,
                         .scale = scales[s],
                         .learner = "centroid",
                         .sparse = sparse,
                         .seed = 4};
                assert_ok(ctx, kfe_i_method_find(ctx, methods[m], &j.method));
                compare(ctx, &p, &j);
                j.weighted = 1;
                compare(ctx, &p, &j);
            }
}

/* ---- digits ---- */

/* Columns of mean 1e6 and spread 1 have the variances of the same columns about zero, up to ε·1e6. */
static void test_far_means_keep_digits(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    double *far = malloc(sizeof p.x);
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS * COLS; i++)
        far[i] = p.x[i] + 1e6;
    kfe_data *near_data = support_dense(ctx, ROWS, COLS, p.x, NULL);
    kfe_model *near_model = support_fit(ctx, "pca", "scale=none", NULL, near_data);
    kfe_spec *spec = NULL;
    kfe_accumulator *sums = NULL;
    kfe_model *model = NULL;
    assert_ok(ctx, kfe_spec_parse(ctx, "pca", "scale=none", NULL, &spec));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    for (int64_t i = 0; i < ROWS; i++) {
        kfe_data *row = support_dense(ctx, 1, COLS, far + i * COLS, NULL);
        assert_ok(ctx, kfe_accumulator_add(ctx, sums, row));
        kfe_data_free(row);
    }
    assert_ok(ctx, kfe_accumulator_finish(ctx, sums, &model));
    const double *expected = kfe_model_record(near_model, "eigenvalues", &count);
    const double *found = kfe_model_record(model, "eigenvalues", &count);
    assert_int_equal(count, COLS);
    for (int64_t k = 0; k < count; k++) /* each entry of far is off by 1e6·ε = 1e-10 */
        assert_below(fabs(found[k] - expected[k]), 1e-8 * expected[0]);
    kfe_model_free(model);
    kfe_model_free(near_model);
    kfe_accumulator_free(sums);
    kfe_spec_free(spec);
    kfe_data_free(near_data);
    free(far);
}

/* ---- going on, and errors ---- */

static void test_goes_on_after_a_model(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    job j = {.task = KFE_TASK_CLASSES, .scale = "standard", .learner = "ls"};
    int64_t rows[ROWS];
    kfe_model *half = NULL;
    kfe_model *whole = NULL;
    kfe_model *expected = NULL;
    kfe_accumulator *sums = NULL;

    assert_ok(ctx, kfe_i_method_find(ctx, "oc", &j.method));
    kfe_spec *spec = make_spec(ctx, &j);
    block all = all_rows(ctx, &p, &j);
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    add_rows(ctx, &p, &j, sums, rows, ROWS / 2);
    assert_ok(ctx, kfe_accumulator_finish(ctx, sums, &half));
    assert_int_equal(kfe_model_classes(half), 2); /* the third comes later */
    assert_ok(ctx, kfe_accumulator_save(ctx, sums, support_path("half.sums")));
    kfe_accumulator_free(sums);
    assert_ok(ctx, kfe_accumulator_load(ctx, support_path("half.sums"), &sums));
    add_rows(ctx, &p, &j, sums, rows + ROWS / 2, ROWS - ROWS / 2);
    assert_ok(ctx, kfe_accumulator_finish(ctx, sums, &whole));
    assert_ok(ctx, kfe_fit(ctx, spec, all.data, &expected));
    compare_models(ctx, &p, &j, expected, whole);
    kfe_model_free(half);
    kfe_model_free(whole);
    kfe_model_free(expected);
    kfe_accumulator_free(sums);
    kfe_spec_free(spec);
    free_block(&all);
}

static void refuse_spec(kfe_context *ctx, const char *method, const char *params, const char *learner,
                        const char *text)
{
    kfe_spec *spec = NULL;
    kfe_accumulator *sums = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, NULL, &spec));
    if (learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    assert_int_equal(kfe_spec_accumulates(spec), 0);
    assert_fails(ctx, KFE_EUNSUPPORTED, text, kfe_accumulator_new(ctx, spec, &sums));
    assert_null(sums);
    kfe_spec_free(spec);
}

static void test_refusals_name_what_can(void **state)
{
    kfe_context *ctx = *state;

    refuse_spec(ctx, "svm-joint", NULL, NULL, "oc, ");
    refuse_spec(ctx, "svm-joint", NULL, NULL, "kfd");
    refuse_spec(ctx, "akda-qr", "landmarks=20", NULL, "leave out landmarks");
    refuse_spec(ctx, "akda-qr", "scale=l2-rows", NULL, "scale=l2-rows");
    refuse_spec(ctx, "kfd", NULL, NULL, "landmarks");
    refuse_spec(ctx, "pca", NULL, "knn", "ls and centroid");
    refuse_spec(ctx, "pca", "calibration=platt", "ls", "calibration");
}

/* The calls that change sums, or finish them, take the context that made them. */
static void check_owner(kfe_accumulator *sums, const kfe_data *rows)
{
    kfe_context *other = NULL;
    kfe_model *model = NULL;

    assert_int_equal(kfe_context_new(&other), KFE_OK);
    assert_fails(other, KFE_EINVAL, "another context", kfe_accumulator_start(other, sums, rows));
    assert_fails(other, KFE_EINVAL, "another context", kfe_accumulator_add(other, sums, rows));
    assert_fails(other, KFE_EINVAL, "another context", kfe_accumulator_merge(other, sums, sums));
    assert_fails(other, KFE_EINVAL, "another context", kfe_accumulator_finish(other, sums, &model));
    assert_null(model);
    kfe_context_free(other);
}

static void test_wrong_blocks_change_nothing(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    kfe_spec *spec = NULL;
    kfe_accumulator *sums = NULL;
    kfe_model *model = NULL;
    double bad[COLS] = {1, 2, NAN, 4, 5};
    int one_class[10] = {0};

    assert_ok(ctx, kfe_spec_parse(ctx, "oc", NULL, NULL, &spec));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    assert_fails(ctx, KFE_EINPUT, "no rows were added", kfe_accumulator_finish(ctx, sums, &model));
    kfe_data *good = support_dense(ctx, 10, COLS, p.x, one_class);
    check_owner(sums, good);
    assert_ok(ctx, kfe_accumulator_add(ctx, sums, good));
    assert_fails(ctx, KFE_EINPUT, "two classes", kfe_accumulator_finish(ctx, sums, &model));
    kfe_data *narrow = support_dense(ctx, 10, COLS - 1, p.x, one_class);
    assert_fails(ctx, KFE_EINPUT, "5 columns", kfe_accumulator_add(ctx, sums, narrow));
    kfe_data *unlabelled = support_dense(ctx, 10, COLS, p.x, NULL);
    assert_fails(ctx, KFE_EINPUT, "labels", kfe_accumulator_add(ctx, sums, unlabelled));
    assert_ok(ctx, kfe_data_set_targets(ctx, unlabelled, 1, p.y));
    assert_fails(ctx, KFE_EINPUT, "real numbers", kfe_accumulator_add(ctx, sums, unlabelled));
    kfe_data *broken = support_dense(ctx, 1, COLS, bad, one_class);
    assert_fails(ctx, KFE_EINPUT, "finite", kfe_accumulator_add(ctx, sums, broken));
    assert_int_equal(kfe_accumulator_rows(sums), 10);
    kfe_data_free(good);
    kfe_data_free(narrow);
    kfe_data_free(unlabelled);
    kfe_data_free(broken);
    kfe_accumulator_free(sums);
    kfe_spec_free(spec);
}

static void test_merge_needs_equal_starts(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    job j = {.task = KFE_TASK_CLASSES, .scale = "standard"};
    int64_t rows[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
    assert_ok(ctx, kfe_i_method_find(ctx, "kfd", &j.method));
    kfe_spec *spec = make_spec(ctx, &j);
    kfe_accumulator *a = NULL;
    kfe_accumulator *b = NULL;
    kfe_accumulator *empty = NULL;
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &a));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &b));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &empty));
    add_rows(ctx, &p, &j, a, rows, ROWS / 2);
    add_rows(ctx, &p, &j, b, rows + ROWS / 2, ROWS / 2);
    assert_fails(ctx, KFE_EINVAL, "different landmarks", kfe_accumulator_merge(ctx, a, b));
    assert_ok(ctx, kfe_accumulator_merge(ctx, a, empty));
    assert_ok(ctx, kfe_accumulator_merge(ctx, empty, a)); /* takes its start over */
    assert_int_equal(kfe_accumulator_rows(empty), ROWS / 2);
    kfe_accumulator_free(a);
    kfe_accumulator_free(b);
    kfe_accumulator_free(empty);
    kfe_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_every_method_equals_its_fit), with_context(test_scalings),
        with_context(test_weights_of_examples),         with_context(test_weights_of_classes),
        with_context(test_weights_that_are_refused),    with_context(test_far_means_keep_digits),
        with_context(test_goes_on_after_a_model),       with_context(test_refusals_name_what_can),
        with_context(test_wrong_blocks_change_nothing), with_context(test_merge_needs_equal_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
