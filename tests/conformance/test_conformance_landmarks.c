/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landmarks for every method. With all examples as landmarks, the features are those of the exact method; with fewer, the model
 * rests on the landmarks alone, dense and sparse data agree, and the model says what the landmarks leave of the trace.
 */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 40, TEST_ROWS = 9, COLS = 4, FEW = 12 };

/*
 * Relative to the largest feature. The factor FFᵀ = K differs from K by rounding, about nε‖K‖ = 1e-14; features amplify this by
 * the condition of the problem, up to (trace of K)/ridge = 1e3 in the methods with a ridge and the inverse gap of eigenvalues
 * in the others.
 */
#define TOLERANCE_EXACT 1e-8
/* The methods that solve SVMs or search, which end somewhere within their tolerances. */
#define TOLERANCE_SEARCH 1e-4

typedef struct job {
    char name[96];
    int index;
    const kfe_entry_info *method;
} job;

typedef struct problem {
    double x[ROWS * COLS], test[TEST_ROWS * COLS];
    int class_of[ROWS];
} problem;

/* Many entries are zero, so that sparse rows are sparse; two rows are equal. */
static problem make_problem(int classes)
{
    problem p;
    uint64_t random = 17;

    for (int64_t i = 0; i < ROWS; i++) {
        p.class_of[i] = (int)(i % classes);
        for (int64_t j = 0; j < COLS; j++) {
            double value = support_normal(&random) + 1.2 * (double)(p.class_of[i] == j);
            p.x[i * COLS + j] = (i + j) % 3 == 0 ? 0 : value;
        }
    }
    memcpy(p.x + classes * COLS, p.x, COLS * sizeof *p.x);
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        p.test[i] = support_normal(&random);
    return p;
}

static int has_stops(int method)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(method, i)); i++) {
        const char *end = strrchr(row->name, '-');
        if ((end && strcmp(end, "-stop") == 0) || strcmp(row->name, "settled") == 0)
            return 1;
    }
    return 0;
}

static void tighten(kfe_context *ctx, int method, kfe_spec *spec)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(method, i)); i++) {
        const char *end = strrchr(row->name, '-');
        if (end && strcmp(end, "-stop") == 0)
            assert_ok(ctx, kfe_spec_set(ctx, spec, row->name, "1e-9"));
    }
}

static kfe_model *fit(kfe_context *ctx, const job *task, const char *landmarks, const char *gram,
                      const kfe_data *train)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, task->method->name, NULL, "rbf:gamma=0.2", &spec));
    if (task->method->flags & KFE_HAS_WEIGHTS)
        assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, "rbf:gamma=0.7"));
    tighten(ctx, task->index, spec);
    /* A long search multiplies rounding errors. */
    if (strcmp(task->method->name, "slmc") == 0)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "max-iter", "4"));
    if (strcmp(task->method->name, "skfe") == 0)
        assert_ok(ctx, kfe_spec_set(ctx, spec, "max-iter", "10"));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "landmarks", landmarks));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "gram", gram));
    assert_ok(ctx, kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    return model;
}

/* ---- the checks ---- */

static double record_of(const kfe_model *model, const char *name)
{
    int64_t count = 0;
    const double *values = kfe_model_record(model, name, &count);

    assert_int_equal(count, 1);
    return values[0];
}

static void check_equal(kfe_context *ctx, const job *task, const char *gram, const kfe_data *train,
                        const kfe_data *test)
{
    kfe_model *exact = fit(ctx, task, "none", "auto", train);
    kfe_model *all = fit(ctx, task, "1000", gram, train); /* more than there are: all of them */
    kfe_matrix expected = support_transform(ctx, exact, test);
    kfe_matrix got = support_transform(ctx, all, test);
    int64_t count = 0;

    assert_int_equal(got.cols, expected.cols);
    double apart = support_distance_up_to_sign(got.rows, got.cols, expected.values, got.values);
    double tolerance = has_stops(task->index) ? TOLERANCE_SEARCH : TOLERANCE_EXACT;
    if (!(apart <= tolerance))
        fail_msg("%s, gram=%s: all examples as landmarks move the features by %.3g, more than %.3g",
                 task->method->name, gram, apart, tolerance);
    assert_null(kfe_model_record(exact, "landmarks", &count));
    assert_true(record_of(all, "landmark-trace-left") < 1e-9);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(exact);
    kfe_model_free(all);
}

static void check_few(kfe_context *ctx, const job *task, const problem *p, const kfe_data *train,
                      const kfe_data *test)
{
    support_csr arrays;
    kfe_data *sparse = support_sparse(ctx, ROWS, COLS, p->x, p->class_of, &arrays);
    kfe_model *from_dense = fit(ctx, task, "12", "auto", train);
    kfe_model *from_sparse = fit(ctx, task, "12", "auto", sparse);
    kfe_matrix dense = support_transform(ctx, from_dense, test);
    kfe_matrix csr = support_transform(ctx, from_sparse, test);
    double left = record_of(from_dense, "landmark-trace-left");

    if (!(task->method->flags & KFE_HAS_SYNTHETIC))
        assert_in_range(kfe_model_support_size(from_dense), 1, FEW);
    assert_true(left > 0 && left < 1);
    assert_true(record_of(from_dense, "landmarks") == FEW);
    assert_int_equal(dense.cols, csr.cols);
    assert_below(support_distance_up_to_sign(dense.rows, dense.cols, dense.values, csr.values),
                 has_stops(task->index) ? TOLERANCE_SEARCH : TOLERANCE_EXACT);
    kfe_matrix_free(&dense);
    kfe_matrix_free(&csr);
    kfe_model_free(from_dense);
    kfe_model_free(from_sparse);
    kfe_data_free(sparse);
    support_csr_free(&arrays);
}

static void run_job(void **state)
{
    const job *task = *state;
    kfe_context *ctx = NULL;
    problem p = make_problem(task->method->flags & KFE_HAS_TWO_CLASSES ? 2 : 3);

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    kfe_data *train = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    kfe_data *test = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    check_equal(ctx, task, "auto", train, test);
    check_equal(ctx, task, "tiled", train, test);
    check_few(ctx, task, &p, train, test);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_context_free(ctx);
}

/* Linear methods have no kernel matrix to approximate. */
static void test_refusals(void **state)
{
    const kfe_entry_info *method;
    kfe_spec *spec = NULL;

    for (int m = 0; (method = kfe_method(m)); m++) {
        assert_ok(*state, kfe_spec_parse(*state, method->name, "landmarks=5", NULL, &spec));
        kfe_status status = kfe_spec_check(*state, spec, NULL, NULL);
        if (method->flags & KFE_HAS_KERNELS)
            assert_int_equal(status, KFE_OK);
        else
            assert_int_equal(status, KFE_EINVAL);
        kfe_spec_free(spec);
    }
    assert_int_equal(kfe_spec_parse(*state, "kpca", "landmarks=0", NULL, &spec), KFE_EINVAL);
    assert_int_equal(kfe_spec_parse(*state, "kpca", "landmark-by=nearest", NULL, &spec), KFE_EINVAL);
}

/* Localized methods compare columns, not kernel values. */
static int is_localized(const char *method)
{
    return strcmp(method, "lmkl") == 0 || strcmp(method, "sldr") == 0;
}

static void run_refusal(void **state)
{
    const job *task = *state;
    kfe_context *ctx = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    problem p = make_problem(2);

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    kfe_data *train = support_dense(ctx, ROWS, COLS, p.x, p.class_of);
    assert_ok(ctx, kfe_spec_parse(ctx, task->method->name, "landmarks=5", NULL, &spec));
    assert_int_equal(kfe_fit(ctx, spec, train, &model), KFE_EINVAL);
    assert_non_null(strstr(kfe_error_message(ctx), "landmarks"));
    assert_null(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_context_free(ctx);
}

int main(void)
{
    enum { MOST = 100 };
    static job jobs[MOST];
    static struct CMUnitTest tests[MOST];
    const kfe_entry_info *method;
    size_t count = 0;

    tests[count++] = (struct CMUnitTest)with_context(test_refusals);
    for (int m = 0; (method = kfe_method(m)) && count < MOST; m++) {
        if (!(method->flags & KFE_HAS_KERNELS))
            continue;
        job *task = &jobs[count];
        *task = (job){.index = m, .method = method};
        snprintf(task->name, sizeof task->name, "%s", method->name);
        tests[count++] = (struct CMUnitTest){task->name, is_localized(method->name) ? run_refusal : run_job,
                                             NULL, NULL, task};
    }
    assert_true(count < MOST);
    return _cmocka_run_group_tests("landmarks", tests, count, NULL, NULL);
}
