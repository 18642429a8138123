/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_spec_check against kfe_fit, for every method on data of every kind, and the reasons that it returns. */
#include "support/fit.h"
#include "support/support.h"

#include <stdio.h>

enum { ROWS = 12, COLS = 3 };

typedef struct kind {
    const char *name;
    int classes; /* 0: real targets; -1: none */
    int views;
} kind;

static const kind kinds[] = {{"no labels", -1, 1},  {"real targets", 0, 1},  {"one class", 1, 1},
                             {"two classes", 2, 1}, {"three classes", 3, 1}, {"two views", 2, 2}};

static kfe_data *make_data(kfe_context *ctx, const double *x, const kind *k)
{
    kfe_data *parts[2] = {NULL, NULL};
    kfe_data *data = NULL;
    int class_of[ROWS];

    for (int i = 0; i < ROWS; i++)
        class_of[i] = k->classes > 0 ? i % k->classes : 0;
    for (int v = 0; v < k->views; v++)
        parts[v] = support_dense(ctx, ROWS, COLS, x, NULL);
    if (k->views == 1) {
        data = parts[0];
    } else {
        static const char *const names[] = {"a", "b"};
        assert_ok(ctx, kfe_data_join_views(ctx, k->views, (const kfe_data *const *)parts, names, &data));
        for (int v = 0; v < k->views; v++)
            kfe_data_free(parts[v]);
    }
    if (k->classes > 0)
        support_label(ctx, data, ROWS, class_of);
    else if (k->classes == 0)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, x));
    return data;
}

/* A spec that the check accepts can be fitted; a spec that it refuses is refused by kfe_fit with the same
 * message. */
static void compare_with_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data, const char *what)
{
    char message[1024];
    kfe_misfit misfit = KFE_MISFIT_OTHER;
    kfe_model *model = NULL;
    kfe_status checked = kfe_spec_check(ctx, spec, data, &misfit);

    snprintf(message, sizeof message, "%s", kfe_error_message(ctx));
    assert_int_equal(checked == KFE_OK, misfit == KFE_FITS);
    kfe_status fitted = kfe_fit(ctx, spec, data, &model);
    if (checked != fitted)
        fail_msg("%s: the check says '%s', the fit '%s' (%s)", what, kfe_status_text(checked),
                 kfe_status_text(fitted), kfe_error_message(ctx));
    if (checked != KFE_OK)
        assert_string_equal(message, kfe_error_message(ctx));
    kfe_model_free(model);
}

static void test_check_agrees_with_fit(void **state)
{
    static const char *const kernels[] = {NULL, "rbf:gamma=0.5", "linear"};
    static const char *const learners[] = {NULL, "knn", "svm", "linear-svm"};
    kfe_context *ctx = *state;
    double *x = support_normals(3, (int64_t)ROWS * COLS);
    const kfe_entry_info *method;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        kfe_data *data = make_data(ctx, x, &kinds[k]);
        for (int i = 0; (method = kfe_method(i)); i++)
            for (size_t c = 0; c < 12; c++) {
                char what[160];
                kfe_spec *spec = NULL;
                snprintf(what, sizeof what, "%s, kernel %zu, learner %zu on %s", method->name, c % 3, c / 3,
                         kinds[k].name);
                assert_ok(ctx, kfe_spec_parse(ctx, method->name, NULL, kernels[c % 3], &spec));
                assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learners[c / 3], NULL));
                compare_with_fit(ctx, spec, data, what);
                kfe_spec_free(spec);
            }
        kfe_data_free(data);
    }
    free(x);
}

static void assert_misfit(kfe_context *ctx, const char *method, const char *kernel, const kfe_data *data,
                          kfe_misfit expected, const char *text)
{
    kfe_spec *spec = NULL;
    kfe_misfit misfit = KFE_FITS;

    assert_ok(ctx, kfe_spec_parse(ctx, method, NULL, kernel, &spec));
    assert_int_not_equal(kfe_spec_check(ctx, spec, data, &misfit), KFE_OK);
    assert_int_equal(misfit, expected);
    assert_non_null(strstr(kfe_error_message(ctx), text));
    kfe_spec_free(spec);
}

static void test_reasons(void **state)
{
    static const struct {
        const char *method, *kernel;
        int kind; /* kind of data; -1: no data */
        kfe_misfit misfit;
        const char *text;
    } cases[] = {
        {"pls", "rbf", -1, KFE_MISFIT_KERNEL, "use kpls"},
        {"cr", "rbf", -1, KFE_MISFIT_KERNEL, "use kpls"},
        {"oc", "rbf", -1, KFE_MISFIT_KERNEL, "use koc"},
        {"pca", "precomputed", -1, KFE_MISFIT_POINTS, "use kpca"},
        {"akda-qr", "precomputed", -1, KFE_MISFIT_POINTS, "use kda-qr"},
        {"none", "rbf", -1, KFE_MISFIT_KERNEL, "learner=svm"},
        {"koc", "rbf", 0, KFE_MISFIT_LABELS, "needs labels"},
        {"koc", "rbf", 1, KFE_MISFIT_CLASSES, "task=classify"},
        {"koc", "rbf", 2, KFE_MISFIT_ONE_CLASS, "'c0'"},
        {"kb", "rbf", 4, KFE_MISFIT_TWO_CLASSES, "takes two classes"},
        {"pca", NULL, 5, KFE_MISFIT_VIEWS, "takes one table"},
    };
    kfe_context *ctx = *state;
    double *x = support_normals(3, (int64_t)ROWS * COLS);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kfe_data *data = cases[i].kind < 0 ? NULL : make_data(ctx, x, &kinds[cases[i].kind]);
        assert_misfit(ctx, cases[i].method, cases[i].kernel, data, cases[i].misfit, cases[i].text);
        kfe_data_free(data);
    }
    for (int i = 0; i <= KFE_MISFIT_OTHER; i++)
        assert_true(strlen(kfe_misfit_text((kfe_misfit)i)) > 5);
    free(x);
}

/* Every linear method names a method with kernels as its alternative, and that method accepts kernels. */
static void test_linear_methods_name_an_alternative(void **state)
{
    kfe_context *ctx = *state;
    const kfe_entry_info *method;

    for (int i = 0; (method = kfe_method(i)); i++) {
        kfe_spec *spec = NULL;
        kfe_misfit misfit = KFE_FITS;
        assert_ok(ctx, kfe_spec_parse(ctx, method->name, NULL, "rbf", &spec));
        kfe_status status = kfe_spec_check(ctx, spec, NULL, &misfit);
        assert_int_equal(status == KFE_OK, (method->flags & KFE_HAS_KERNELS) != 0);
        const char *instead = strstr(kfe_error_message(ctx), "use ");
        kfe_spec_free(spec);
        if (status == KFE_OK || strcmp(method->name, "none") == 0)
            continue;
        assert_non_null(instead);
        assert_ok(ctx, kfe_spec_parse(ctx, instead + 4, NULL, "rbf", &spec));
        assert_ok(ctx, kfe_spec_check(ctx, spec, NULL, NULL));
        kfe_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_check_agrees_with_fit),
        with_context(test_reasons),
        with_context(test_linear_methods_name_an_alternative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
