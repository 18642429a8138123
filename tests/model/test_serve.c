/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in the caller's memory: every method answers them as it answers data; small ones allocate nothing. */
#include "support/subject.h"

#include <math.h>
#include <stdio.h>

/* ---- every method and kernel ---- */

/* Rounding of kernel values, amplified by the coefficients that they are multiplied with. */
static double allowed(const kfe_model *model, const kfe_matrix *expected)
{
    int64_t rows = 0;
    const double *coefficients = kfe_model_coefficients(model, &rows);
    double size = coefficients ? support_largest(rows * expected->cols, coefficients) : 0;

    return 1e-12 *
           ((double)rows * size * 100 + support_largest(expected->rows * expected->cols, expected->values));
}

static void assert_close(const double *got, const kfe_matrix *expected, double tolerance)
{
    for (int64_t p = 0; p < expected->rows * expected->cols; p++)
        if (!(fabs(got[p] - expected->values[p]) <= tolerance))
            fail_msg("row %d: %.17g, not %.17g (%.3g is allowed)", (int)(p / expected->cols), got[p],
                     expected->values[p], tolerance);
}

static int has_numbers(const support_subject *s)
{
    return !support_subject_takes_strings(s);
}

/* All rows at once go the way of data; one at a time, a few and many rows must give the same. */
static void check_rows_are_answered_as_data(const support_subject *s)
{
    support_made train = support_make(s, &(support_variant){0});
    support_made test = support_make(s, &(support_variant){.test = 1});
    kfe_model *model = support_subject_fit(s, NULL, train.data);
    kfe_matrix expected = support_transform(s->ctx, model, test.data);
    int64_t cols = kfe_model_cols(model, 0);
    double *got = calloc((size_t)(expected.rows * expected.cols), sizeof *got);
    static const int64_t steps[] = {1, 3, 8, SUBJECT_TEST_ROWS};

    for (int k = 0; k < 4; k++) {
        memset(got, 0, (size_t)(expected.rows * expected.cols) * sizeof *got);
        for (int64_t i = 0; i < expected.rows; i += steps[k]) {
            int64_t count = expected.rows - i < steps[k] ? expected.rows - i : steps[k];
            kfe_rows rows = {test.values + i * cols, KFE_F64, count, cols, cols};
            assert_ok(s->ctx, kfe_transform_into(s->ctx, model, &rows, got + i * expected.cols));
        }
        assert_close(got, &expected, allowed(model, &expected));
    }
    free(got);
    kfe_matrix_free(&expected);
    kfe_model_free(model);
    support_made_free(&train);
    support_made_free(&test);
}

/* ---- one problem in detail ---- */

enum { ROWS = 40, COLS = 5 };

typedef struct fixture {
    support_allocator allocator;
    kfe_context *ctx;
    double *x;
    int *class_of;
    kfe_data *data;
    kfe_model *model;
} fixture;

static fixture begin(const char *method, const char *params, const char *kernel, const char *learner)
{
    fixture f = {0};
    kfe_spec *spec = NULL;

    support_clouds(7, ROWS, COLS, 3, 2, &f.x, &f.class_of);
    f.ctx = NULL;
    assert_int_equal(kfe_context_new(&f.ctx), KFE_OK);
    f.data = support_dense(f.ctx, ROWS, COLS, f.x, f.class_of);
    assert_ok(f.ctx, kfe_spec_parse(f.ctx, method, params, kernel, &spec));
    if (learner)
        assert_ok(f.ctx, kfe_spec_set_learner(f.ctx, spec, learner, NULL));
    assert_ok(f.ctx, kfe_fit(f.ctx, spec, f.data, &f.model));
    kfe_spec_free(spec);
    return f;
}

static void end(fixture *f)
{
    kfe_model_free(f->model);
    kfe_data_free(f->data);
    kfe_context_free(f->ctx);
    free(f->x);
    free(f->class_of);
}

static kfe_rows rows_of(const fixture *f, int64_t first, int64_t count)
{
    return (kfe_rows){f->x + first * COLS, KFE_F64, count, COLS, COLS};
}

static void assert_predicts_as_data(const char *method, const char *kernel, const char *learner)
{
    fixture f = begin(method, "scale=standard", kernel, learner);
    kfe_matrix predictions;
    kfe_matrix scores;

    assert_ok(f.ctx, kfe_predict(f.ctx, f.model, f.data, &predictions, &scores));
    for (int64_t i = 0; i < ROWS; i++) {
        double answer = -1;
        double own[16];
        kfe_rows row = rows_of(&f, i, 1);
        assert_ok(f.ctx, kfe_predict_into(f.ctx, f.model, &row, &answer, own));
        assert_int_equal((int)answer, (int)predictions.values[i]);
        for (int64_t j = 0; j < scores.cols; j++)
            assert_below(fabs(own[j] - scores.values[i * scores.cols + j]), 1e-9);
    }
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&scores);
    end(&f);
}

static void test_predictions(void **state)
{
    (void)state;
    assert_predicts_as_data("koc", "rbf:gamma=0.1", "knn");
    assert_predicts_as_data("koc", "rbf:gamma=0.1", "svm");
    assert_predicts_as_data("kpca", "poly:degree=2", "ls");
    assert_predicts_as_data("pls", NULL, "linear-svm");
    assert_predicts_as_data("none", "rbf", "svm");
    assert_predicts_as_data("none", NULL, "ls");
    assert_predicts_as_data("svm-joint", "rbf", NULL);
    assert_predicts_as_data("lmkl", "rbf", NULL);
}

/* After the first call, which makes the scratch memory, an allocator that always fails is not noticed. */
static void assert_allocates_nothing(const char *method, const char *kernel, const char *learner)
{
    fixture f = begin(method, "scale=standard", kernel, learner);
    support_allocator allocator = {0};
    kfe_context *ctx = NULL;
    double out[COLS * 16];
    kfe_rows rows = rows_of(&f, 0, 2);

    assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_OK);
    assert_ok(ctx, kfe_transform_into(ctx, f.model, &rows, out));
    if (learner)
        assert_ok(ctx, kfe_predict_into(ctx, f.model, &rows, out, NULL));
    int64_t before = allocator.calls;
    assert_ok(ctx, kfe_transform_into(ctx, f.model, &rows, out));
    if (learner)
        assert_ok(ctx, kfe_predict_into(ctx, f.model, &rows, out, NULL));
    assert_int_equal(allocator.calls, before);
    kfe_context_free(ctx);
    assert_int_equal(allocator.live, 0);
    end(&f);
}

static void test_small_requests_allocate_nothing(void **state)
{
    (void)state;
    assert_allocates_nothing("koc", "rbf:gamma=0.1", "svm");
    assert_allocates_nothing("kpca", "laplacian", "ls");
    assert_allocates_nothing("kpca", "cosine", NULL);
    assert_allocates_nothing("pls", NULL, "linear-svm");
    assert_allocates_nothing("none", "rbf", "svm");
}

/* Numbers that single precision holds exactly give the same bits. */
static void test_single_precision(void **state)
{
    fixture f = begin("kpca", "dim=3", "rbf:gamma=0.1", NULL);
    float narrow[ROWS * (COLS + 1)];
    double wide[ROWS * (COLS + 1)];
    double expected[ROWS * 3];
    double got[ROWS * 3];

    (void)state;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            wide[i * (COLS + 1) + j] = (double)(narrow[i * (COLS + 1) + j] = (float)f.x[i * COLS + j]);
    for (int64_t count = 1; count <= ROWS; count += ROWS - 1) {
        kfe_rows rows = {narrow, KFE_F32, count, COLS, COLS + 1};
        assert_ok(f.ctx, kfe_transform_into(f.ctx, f.model, &rows, got));
        rows = (kfe_rows){wide, KFE_F64, count, COLS, COLS + 1};
        assert_ok(f.ctx, kfe_transform_into(f.ctx, f.model, &rows, expected));
        assert_memory_equal(got, expected, (size_t)(count * 3) * sizeof *got);
    }
    end(&f);
}

/* More rows than a block: the numbers of rows in messages, and the results, go on. */
static void test_many_rows(void **state)
{
    enum { MANY = 2500 };
    fixture f = begin("kpca", "dim=2", "rbf:gamma=0.1", NULL);
    double *x = malloc(sizeof *x * MANY * COLS);
    double *got = malloc(sizeof *got * MANY * 2);
    kfe_rows rows = {x, KFE_F64, MANY, COLS, COLS};
    kfe_data *data = NULL;

    (void)state;
    for (int64_t i = 0; i < MANY; i++)
        memcpy(x + i * COLS, f.x + i % ROWS * COLS, COLS * sizeof *x);
    assert_ok(f.ctx, kfe_transform_into(f.ctx, f.model, &rows, got));
    assert_ok(f.ctx, kfe_data_wrap_dense(f.ctx, MANY, COLS, COLS, x, &data));
    kfe_matrix expected = support_transform(f.ctx, f.model, data);
    assert_close(got, &expected, 1e-10);
    x[2222 * COLS + 3] = NAN;
    assert_fails(f.ctx, KFE_EINPUT, "row 2223, column 4", kfe_transform_into(f.ctx, f.model, &rows, got));
    kfe_matrix_free(&expected);
    kfe_data_free(data);
    free(x);
    free(got);
    end(&f);
}

/* The support is long enough for two threads, several features have sums of their own. */
static void test_threads(void **state)
{
    enum { LONG = 6000, WIDE = 400 };
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    support_clouds(3, LONG, WIDE, 4, 1, &x, &class_of);
    kfe_data *data = support_dense(ctx, LONG, WIDE, x, class_of);
    kfe_rows rows = {x + 5 * WIDE, KFE_F64, 2, WIDE, WIDE};
    double one[6];
    double two[6];
    double again[6];

    assert_ok(ctx, kfe_context_set_threads(ctx, 2));
    kfe_model *model = support_fit(ctx, "koc", "dim=3", "rbf:gamma=0.005,weight=0.5", data);
    assert_int_equal(kfe_model_dim(model), 3);
    assert_ok(ctx, kfe_transform_into(ctx, model, &rows, two));
    assert_ok(ctx, kfe_transform_into(ctx, model, &rows, again));
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    assert_ok(ctx, kfe_transform_into(ctx, model, &rows, one));
    assert_memory_equal(two, again, sizeof two);
    assert_below(support_distance(6, one, two), 1e-12);
    kfe_model_free(model);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

static void test_missing_values(void **state)
{
    fixture f = begin("pls", "dim=2", NULL, NULL);
    kfe_model *filling = NULL;
    kfe_spec *spec = NULL;
    double row[COLS] = {1, (double)NAN, 0, 1, 2};
    double filled[COLS] = {1, 0, 0, 1, 2};
    double got[2];
    double expected[2];
    kfe_rows rows = {row, KFE_F64, 1, COLS, COLS};

    (void)state;
    assert_fails(f.ctx, KFE_EINPUT, "row 1, column 2", kfe_transform_into(f.ctx, f.model, &rows, got));
    assert_ok(f.ctx, kfe_data_set_missing(f.ctx, f.data, "mean"));
    assert_ok(f.ctx, kfe_spec_parse(f.ctx, "pls", "dim=2", NULL, &spec));
    assert_ok(f.ctx, kfe_fit(f.ctx, spec, f.data, &filling));
    assert_ok(f.ctx, kfe_transform_into(f.ctx, filling, &rows, got));
    for (int64_t i = 0; i < ROWS; i++)
        filled[1] += f.x[i * COLS + 1] / ROWS;
    rows.values = filled;
    assert_ok(f.ctx, kfe_transform_into(f.ctx, filling, &rows, expected));
    assert_below(support_distance(2, expected, got), 1e-12);
    kfe_spec_free(spec);
    kfe_model_free(filling);
    end(&f);
}

static void test_wrong_requests(void **state)
{
    fixture f = begin("koc", "scale=minmax", "chi2", NULL);
    double out[16];
    kfe_rows rows = rows_of(&f, 0, 2);
    double negative[COLS] = {1, -1e3, 1, 1, 1};
    double huge[COLS] = {1, 1e300, 1, 1, 1};

    (void)state;
    assert_fails(f.ctx, KFE_EINVAL, "cannot predict", kfe_predict_into(f.ctx, f.model, &rows, out, NULL));
    rows.cols = 4;
    assert_fails(f.ctx, KFE_EINPUT, "5 columns, but the rows have 4",
                 kfe_transform_into(f.ctx, f.model, &rows, out));
    rows = rows_of(&f, 0, 2);
    rows.stride = 2;
    assert_fails(f.ctx, KFE_EINVAL, "2 numbers apart", kfe_transform_into(f.ctx, f.model, &rows, out));
    rows = rows_of(&f, 0, -1);
    assert_fails(f.ctx, KFE_EINVAL, "-1 rows", kfe_transform_into(f.ctx, f.model, &rows, out));
    rows = (kfe_rows){negative, KFE_F64, 1, COLS, COLS};
    assert_fails(f.ctx, KFE_EINPUT, "row 1, column 2 is -", kfe_transform_into(f.ctx, f.model, &rows, out));
    rows = rows_of(&f, 0, 0);
    assert_ok(f.ctx, kfe_transform_into(f.ctx, f.model, &rows, out));
    end(&f);
    f = begin("kpca", "dim=2", "poly:degree=3", NULL);
    rows = (kfe_rows){huge, KFE_F64, 1, COLS, COLS};
    assert_fails(f.ctx, KFE_EINPUT, "row 1, column 2 is too large",
                 kfe_transform_into(f.ctx, f.model, &rows, out));
    end(&f);
    f = begin("koc", NULL, "poly:degree=3", "knn"); /* votes of neighbours are finite */
    rows = (kfe_rows){huge, KFE_F64, 1, COLS, COLS};
    assert_fails(f.ctx, KFE_EINPUT, "row 1, column 2 is too large",
                 kfe_predict_into(f.ctx, f.model, &rows, out, NULL));
    end(&f);
}

int main(void)
{
    const support_check checks[] = {
        {"rows are answered as data", check_rows_are_answered_as_data, has_numbers, 0}};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_small_requests_allocate_nothing),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_many_rows),
        with_context(test_threads),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_wrong_requests),
    };

    return support_run_checks("requests", 1, checks) +
           cmocka_run_group_tests_name("requests in detail", tests, NULL, NULL);
}
