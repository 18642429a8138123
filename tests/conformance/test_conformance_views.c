/* SPDX-License-Identifier: Apache-2.0 */
/* Every method on several views and with a user's kernel function: a sum over views must equal a given matrix
 * with the sum, and a user's kernel must behave like ours with the same formula. */
#include "support/subject.h"

#include <stdio.h>

#include "support/tolerance.h"

static const support_variant plain = {0};

static int takes_views(const support_subject *s)
{
    return s->method->flags & KFE_HAS_MULTIVIEW && support_subject_has_points(s);
}

/* The kernel of two views is the sum of their kernels: it must equal a given matrix with that sum. */
static void compare_with_given_sum(const support_subject *s, const support_made *whole, const kfe_matrix *got)
{
    enum { HALF = SUBJECT_COLS / 2 };
    support_subject given = *s;
    kfe_entry_info kernel = *s->kernel;
    kfe_matrix sum[2];
    int class_of[SUBJECT_ROWS];

    for (int v = 0; v < 2; v++) {
        kfe_data *half = NULL;
        assert_ok(s->ctx, kfe_data_wrap_dense(s->ctx, SUBJECT_ROWS, HALF, SUBJECT_COLS,
                                              whole->values + v * HALF, &half));
        assert_ok(s->ctx, kfe_kernel_matrix(s->ctx, s->kernel->name, half, NULL, &sum[v]));
        kfe_data_free(half);
    }
    for (int64_t i = 0; i < SUBJECT_ROWS; i++)
        class_of[i] = (int)kfe_data_class_of(whole->data, i);
    for (int64_t i = 0; i < SUBJECT_ROWS * SUBJECT_ROWS; i++)
        sum[0].values[i] += sum[1].values[i];
    kfe_data *matrix = support_dense(s->ctx, SUBJECT_ROWS, SUBJECT_ROWS, sum[0].values, class_of);
    kernel.name = "precomputed";
    given.kernel = &kernel;
    kfe_matrix expected = support_subject_features(&given, NULL, matrix, matrix);
    support_same_features(s, &expected, got, DBL_EPSILON);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&sum[0]);
    kfe_matrix_free(&sum[1]);
    kfe_data_free(matrix);
}

/* kcca and kgcca compare views instead of adding up their kernels: each view has coefficients of its own. */
static int adds_kernels(const kfe_model *model)
{
    int64_t rows = 0;

    kfe_model_coefficients(model, &rows);
    return rows <= kfe_model_support_size(model);
}

static void check_model_of_views(const support_subject *s, const support_made *whole, const kfe_data *views,
                                 const kfe_model *model)
{
    const char *path = support_path("views.kfe");
    kfe_model *loaded = NULL;
    kfe_matrix one_view;

    kfe_matrix got = support_transform(s->ctx, model, views);
    assert_int_equal(kfe_model_views(model), 2);
    assert_fails(s->ctx, KFE_EINPUT, "2 views", kfe_transform(s->ctx, model, whole->data, &one_view));
    assert_ok(s->ctx, kfe_model_save(s->ctx, model, path));
    assert_ok(s->ctx, kfe_model_load(s->ctx, path, &loaded));
    kfe_matrix again = support_transform(s->ctx, loaded, views);
    support_same_bits(&got, &again);
    /* methods with weights divide each view's kernel by its trace and give it a weight of its own: their
     * kernel is not the plain sum */
    if (!(s->method->flags & (KFE_HAS_SYNTHETIC | KFE_HAS_WEIGHTS)) && adds_kernels(model))
        compare_with_given_sum(s, whole, &got);
    kfe_matrix_free(&got);
    kfe_matrix_free(&again);
    kfe_model_free(loaded);
}

static void check_views_add_up(const support_subject *s)
{
    support_made whole = support_make(s, &plain);
    kfe_data *views = support_read_halves(s, &whole);
    kfe_model *model = support_subject_fit(s, NULL, views);

    if (model) /* the kernel may be too indefinite on the halves only */
        check_model_of_views(s, &whole, views, model);
    kfe_model_free(model);
    kfe_data_free(views);
    support_made_free(&whole);
}

static int takes_one_view(const support_subject *s)
{
    return !(s->method->flags & KFE_HAS_MULTIVIEW);
}

static void check_several_views_are_refused(const support_subject *s)
{
    support_made whole = support_make(s, &plain);
    kfe_data *views = support_read_halves(s, &whole);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, NULL, NULL, &spec));
    assert_fails(s->ctx, KFE_EINPUT, "one table", kfe_fit(s->ctx, spec, views, &model));
    kfe_spec_free(spec);
    kfe_data_free(views);
    support_made_free(&whole);
}

static double dot_product(void *user, const double *x, const double *y, int64_t cols)
{
    double sum = 0;

    (void)user;
    for (int64_t j = 0; j < cols; j++)
        sum += x[j] * y[j];
    return sum;
}

static int is_linear_kernel(const support_subject *s)
{
    return strcmp(s->kernel->name, "linear") == 0 && !(s->method->flags & KFE_HAS_DERIVATIVE);
}

static void check_user_kernel(const support_subject *s, const char *params)
{
    support_made train = support_make(s, &plain);
    const char *path = support_path("user.kfe");
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix got;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, params, NULL, &spec));
    support_subject_tighten(s, spec);
    assert_ok(s->ctx, kfe_spec_add_user_kernel(s->ctx, spec, "dot", dot_product, NULL));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train.data, &model));
    assert_ok(s->ctx, kfe_model_save(s->ctx, model, path));
    assert_ok(s->ctx, kfe_model_load(s->ctx, path, &loaded));
    assert_fails(s->ctx, KFE_EINVAL, "dot", kfe_transform(s->ctx, loaded, train.data, &got));
    assert_ok(s->ctx, kfe_model_bind_kernel(s->ctx, loaded, "dot", dot_product, NULL));
    got = support_transform(s->ctx, loaded, train.data);
    kfe_matrix expected = support_subject_features(s, params, train.data, train.data);
    assert_int_equal(expected.cols, got.cols);
    support_same_features(s, &expected, &got, DBL_EPSILON);
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(model);
    kfe_model_free(loaded);
    kfe_spec_free(spec);
    support_made_free(&train);
}

/* Learning synthetic points needs the derivative of the kernel, which a user's function lacks: so the points
 * stay fixed. */
static void check_user_kernel_works_like_ours(const support_subject *s)
{
    support_subject still = *s;
    int points_move = s->method->flags & KFE_HAS_SYNTHETIC && s->method->flags & KFE_HAS_PREDICTOR;

    still.tight = !points_move;
    check_user_kernel(&still, points_move ? "max-iter=0" : NULL);
}

static const support_check checks[] = {
    {"views add up", check_views_add_up, takes_views, 1},
    {"several views are refused", check_several_views_are_refused, takes_one_view, 0},
    {"a user kernel works like ours", check_user_kernel_works_like_ours, is_linear_kernel, 1},
};

int main(void)
{
    return support_run_checks("conformance of views", sizeof checks / sizeof *checks, checks);
}
