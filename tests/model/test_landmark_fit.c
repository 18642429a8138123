/* SPDX-License-Identifier: Apache-2.0 */
/* Fits with landmarks from sums over panels of rows against the same fits on the stored factor ({gram=f64}): the same features, ridge,
 * trace left and predictions, for landmarks that are well-conditioned and for others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fit.h"
#include "support/support.h"

enum { ROWS = 8300, COLS = 6, CLASSES = 3, TEST = 200 };
/* More than the 2^20 kernel values from which on rows are added up; and landmarks are chosen from a sample, the same for both. */
#define LANDMARKS "128"

typedef struct subject {
    const char *method, *params, *kernel, *learner;
    double tolerance; /* of features, relative to the largest */
    int careful; /* the landmarks are badly conditioned: sums are over the factor, not over kernel values */
} subject;

/* Narrow Gaussians leave much of the trace and are well-conditioned; wide ones are not, and sums are over the factor. */
static const subject subjects[] = {
    {"kfd", NULL, "rbf:gamma=0.3", "centroid", 1e-9, 0},
    {"hsic", "lambda=0.5", "rbf:gamma=0.3", "ls", 1e-9, 0},
    {"uhsic", "xi=0.5", "rbf:gamma=0.001", "ls", 1e-6, 1},
    {"kfd", "ridge=0.5", "rbf:gamma=0.002", NULL, 1e-8, 1},
    {"kopls", "ridge=0.5", "laplacian:gamma=0.3", NULL, 1e-9, 0},
};

/* Which way the last fit took. */
typedef struct way {
    int over_kernel, over_factor;
} way;

static void note_way(void *user, kfe_level level, const char *text)
{
    way *taken = user;

    (void)level;
    taken->over_kernel += strstr(text, "sums are over kernel values") != NULL;
    taken->over_factor += strstr(text, "sums are over the factor") != NULL;
}

static kfe_model *fit(kfe_context *ctx, const subject *s, const kfe_data *data, const char *gram)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, s->method, s->params, s->kernel, &spec));
    if (s->learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, s->learner, ""));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", "none"));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "landmarks", LANDMARKS));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "gram", gram));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

static int is_of_the_solver(const char *name)
{
    return strcmp(name, "residual") == 0 || strcmp(name, "learner-condition") == 0;
}

static void compare_records(const kfe_model *a, const kfe_model *b)
{
    const char *name = NULL;

    /* the residual is rounding, and least squares from sums solves another system with the same solution */
    for (int64_t i = 0; (name = kfe_model_record_name(a, i)); i++) {
        int64_t left = 0;
        int64_t right = 0;
        const double *x = kfe_model_record(a, name, &left);
        const double *y = kfe_model_record(b, name, &right);
        assert_non_null(y);
        assert_int_equal(left, right);
        for (int64_t j = 0; j < left && !is_of_the_solver(name); j++)
            assert_below(fabs(x[j] - y[j]), 1e-6 * fmax(1e-6, fabs(y[j])));
    }
}

static void compare(kfe_context *ctx, const subject *s, const kfe_data *train, const kfe_data *test)
{
    way taken = {0};

    kfe_context_on_log(ctx, note_way, &taken);
    kfe_model *by_sums = fit(ctx, s, train, "auto");
    kfe_context_on_log(ctx, NULL, NULL);
    assert_int_equal(taken.over_factor > 0, s->careful);
    assert_int_equal(taken.over_kernel > 0, !s->careful);
    kfe_model *by_factor = fit(ctx, s, train, "f64");
    kfe_matrix a = support_transform(ctx, by_sums, test);
    kfe_matrix b = support_transform(ctx, by_factor, test);

    assert_int_equal(a.cols, b.cols);
    assert_below(support_distance_up_to_sign(TEST, b.cols, b.values, a.values), s->tolerance);
    compare_records(by_sums, by_factor);
    if (s->learner) {
        kfe_matrix p = {0};
        kfe_matrix q = {0};
        assert_ok(ctx, kfe_predict(ctx, by_sums, test, &p, NULL));
        assert_ok(ctx, kfe_predict(ctx, by_factor, test, &q, NULL));
        for (int64_t i = 0; i < TEST; i++)
            assert_true(p.values[i] == q.values[i]);
        kfe_matrix_free(&p);
        kfe_matrix_free(&q);
    }
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_model_free(by_sums);
    kfe_model_free(by_factor);
}

static void test_sums_against_factor(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;

    support_clouds(31, ROWS + TEST, COLS, CLASSES, 2, &x, &class_of);
    kfe_data *train = support_dense(ctx, ROWS, COLS, x, class_of);
    kfe_data *test = support_dense(ctx, TEST, COLS, x + ROWS * COLS, NULL);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        compare(ctx, &subjects[i], train, test);
    kfe_data_free(train);
    kfe_data_free(test);
    free(x);
    free(class_of);
}

/* With a limit on memory that no factor fits in, the fit is the same. */
static void test_no_matrix_is_kept(void **state)
{
    kfe_context *ctx = *state;
    double *x = NULL;
    int *class_of = NULL;
    const subject *s = &subjects[1];

    support_clouds(32, 40000, COLS, CLASSES, 2, &x, &class_of);
    kfe_data *data = support_dense(ctx, 40000, COLS, x, class_of);
    assert_ok(ctx, kfe_context_set_memory(ctx, (int64_t)24 << 20)); /* the factor would take 39 MiB */
    kfe_model *model = fit(ctx, s, data, "auto");
    int64_t count = 0;
    const double *left = kfe_model_record(model, "landmark-trace-left", &count);
    assert_non_null(left);
    assert_true(left[0] > 0 && left[0] < 1);
    kfe_model_free(model);
    kfe_data_free(data);
    free(x);
    free(class_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_sums_against_factor),
        with_context(test_no_matrix_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
