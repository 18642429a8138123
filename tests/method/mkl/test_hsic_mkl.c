/* SPDX-License-Identifier: Apache-2.0 */
/* hsic-mkl and svm-mkl: objective and optimality against full matrices and oracles, kernels
 * that must not matter, families of kernels, and refused input. */
#include "support/mkl.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "oracles/libsvm.h"
#include "oracles/sdp.h"
#include "oracles/silp.h"
#include "support/sample.h"
#include "support/tolerance.h"

enum { ROWS = 36, COLS = 3, CLASSES = 3, KERNELS = 4 };
static const double gammas[KERNELS] = {0.02, 0.2, 1, 8};
#define FOUR_KERNELS                                                                                         \
    {                                                                                                        \
        "rbf:gamma=0.02", "rbf:gamma=0.2", "rbf:gamma=1", "rbf:gamma=8"                                      \
    }

static support_sample make_problem(kfe_context *ctx)
{
    support_sample p = support_sample_make(
        ctx, &(support_shape){.seed = 11, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 1.2});
    int sizes[CLASSES] = {0};

    support_sample_kernels(&p, KERNELS, gammas);
    support_sample_centre(&p, KERNELS, 1);
    p.label = calloc(ROWS * CLASSES, sizeof *p.label);
    for (int64_t i = 0; i < ROWS; i++)
        sizes[p.class_of[i]]++;
    for (int64_t i = 0; i < ROWS; i++)
        p.label[i * CLASSES + p.class_of[i]] = 1 / sqrt(sizes[p.class_of[i]]);
    return p;
}

/* tr(Lᵀ(I + Σ dᵢGᵢ/ξ)⁻¹L) and, if u is not NULL, u = (I + Σ dᵢGᵢ/ξ)⁻¹L. */
static double by_definition(const support_sample *p, const double *d, double xi, double **u)
{
    double m[ROWS * ROWS];
    double value = 0;

    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        m[i] = i % (ROWS + 1) == 0;
        for (int k = 0; k < KERNELS; k++)
            m[i] += d[k] * p->k[k][i] / xi;
    }
    double *solved = support_solve(ROWS, CLASSES, m, p->label);
    for (int64_t i = 0; i < ROWS * CLASSES; i++)
        value += solved[i] * p->label[i];
    if (u)
        *u = solved;
    else
        free(solved);
    return value;
}

/* q: tr(uᵀGᵢu)/ξ of each kernel */
static void slopes_by_definition(const support_sample *p, const double *u, double xi, double *q)
{
    for (int k = 0; k < KERNELS; k++) {
        double *gu = support_product(ROWS, ROWS, CLASSES, p->k[k], u);
        q[k] = 0;
        for (int64_t i = 0; i < ROWS * CLASSES; i++)
            q[k] += gu[i] * u[i] / xi;
        free(gu);
    }
}

/* A bound on f(d) minus the optimum: the largest slope minus the mean slope. */
static double gap_by_definition(const support_sample *p, const double *d, double xi)
{
    double *u = NULL;
    double q[KERNELS];
    double largest = 0;
    double mean = 0;

    by_definition(p, d, xi, &u);
    slopes_by_definition(p, u, xi, q);
    for (int k = 0; k < KERNELS; k++) {
        largest = fmax(largest, q[k]);
        mean += d[k] * q[k];
    }
    free(u);
    return largest - mean;
}

typedef struct targets {
    const support_sample *p;
    double xi;
} targets;

/* f(d) and its negative slopes, from full matrices. */
static double value_at(void *user, const double *d, double *slopes)
{
    const targets *t = user;
    double *u = NULL;
    double value = by_definition(t->p, d, t->xi, &u);

    slopes_by_definition(t->p, u, t->xi, slopes);
    free(u);
    return value;
}

static void test_the_optimum_is_that_of_two_oracles(void **state)
{
    static const char *const xis[] = {"auto", "0.3", "0.002"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    const double *matrices[KERNELS];
    char params[96];

    for (int k = 0; k < KERNELS; k++)
        matrices[k] = p.k[k];
    for (int x = 0; x < 3; x++) {
        snprintf(params, sizeof params, "xi=%s", xis[x]);
        support_request request = {"hsic-mkl", params, FOUR_KERNELS};
        kfe_model *model = support_request_model(ctx, &request, p.data);
        double xi = support_number(model, "xi");
        double objective = support_number(model, "objective");
        const double *weights = support_weights(model, KERNELS);
        double d[KERNELS];
        assert_below(fabs(by_definition(&p, weights, xi, NULL) - objective), 1e-9 * objective);
        assert_below(support_number(model, "gap"), 1e-6);
        assert_below(gap_by_definition(&p, weights, xi), 1e-7 * objective);
        assert_below(fabs(oracle_silp(KERNELS, value_at, &(targets){&p, xi}, 1e-8, d) - objective),
                     1e-6 * objective);
        assert_below(fabs(oracle_sdp(ROWS, CLASSES, KERNELS, matrices, p.label, xi, d) - objective),
                     1e-6 * objective);
        assert_below(fabs(by_definition(&p, d, xi, NULL) - objective), 1e-6 * objective);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_solvers_that_are_gone_are_named(void **state)
{
    kfe_context *ctx = *state;
    kfe_spec *spec = NULL;

    assert_fails(ctx, KFE_EINVAL, "leave it out: gradient finds the same solution",
                 kfe_spec_parse(ctx, "hsic-mkl", "solver=sdp", NULL, &spec));
    assert_fails(ctx, KFE_EINVAL, "no longer takes silp",
                 kfe_spec_parse(ctx, "mkl", "solver=silp", NULL, &spec));
    assert_ok(ctx, kfe_spec_parse(ctx, "mkl", "solver=gradient", NULL, &spec));
    kfe_spec_free(spec);
}

/* The certificate from full matrices, with ξ over six decades. */
static void test_the_gap_over_six_decades(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    char params[96];

    for (double xi = 1e-5; xi < 20; xi *= 10) {
        snprintf(params, sizeof params, "xi=%g", xi);
        support_request request = {"hsic-mkl", params, FOUR_KERNELS};
        kfe_model *model = support_request_model(ctx, &request, p.data);
        const double *d = support_weights(model, KERNELS);
        double objective = support_number(model, "objective");
        assert_below(fabs(by_definition(&p, d, xi, NULL) - objective), 1e-7 * objective);
        assert_below(gap_by_definition(&p, d, xi), 1e-5 * objective);
        assert_true(support_number(model, "bound") <= objective * (1 + 1e-9));
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

/* No point of a grid over the simplex has a better value. */
static void test_nothing_on_the_simplex_is_better(void **state)
{
    enum { STEPS = 8 };
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request request = {"hsic-mkl", "xi=0.02", FOUR_KERNELS};
    kfe_model *model = support_request_model(ctx, &request, p.data);
    double objective = support_number(model, "objective");

    for (int a = 0; a <= STEPS; a++)
        for (int b = 0; a + b <= STEPS; b++)
            for (int c = 0; a + b + c <= STEPS; c++) {
                double d[KERNELS] = {a, b, c, STEPS - a - b - c};
                for (int k = 0; k < KERNELS; k++)
                    d[k] /= STEPS;
                assert_true(by_definition(&p, d, 0.02, NULL) >= objective * (1 - 1e-9));
            }
    kfe_model_free(model);
    support_sample_free(&p);
}

/* With one kernel, hsic-mkl is the regularised discriminant of that kernel with a ridge of ξ times the trace. */
static void test_one_kernel_has_all_the_weight(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    double *k = support_rbf(ROWS, p.x, ROWS, p.x, COLS, 0.2);
    char params[96];
    double trace = 0;

    support_centre_kernel(ROWS, k);
    for (int64_t i = 0; i < ROWS; i++)
        trace += k[i * ROWS + i];
    snprintf(params, sizeof params, "ridge=%.17g", 0.01 * trace);
    kfe_matrix expected = support_features(ctx, "kfd", params, "rbf:gamma=0.2", p.data, p.data);
    support_request request = {"hsic-mkl", "xi=0.01", {"rbf:gamma=0.2,weight=3"}};
    kfe_model *model = support_request_model(ctx, &request, p.data);
    kfe_matrix z = support_transform(ctx, model, p.data);
    assert_true(support_weights(model, 1)[0] == 1);
    assert_below(support_distance_up_to_sign(ROWS, 2, expected.values, z.values), 1e-8);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    support_request joint = {"svm-mkl", NULL, {"rbf:gamma=0.2"}};
    model = support_request_model(ctx, &joint, p.data);
    assert_true(support_weights(model, 1)[0] == 1);
    kfe_model_free(model);
    kfe_matrix_free(&expected);
    free(k);
    support_sample_free(&p);
}

static void test_a_kernel_given_twice_changes_nothing(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    support_request once = {"hsic-mkl", "xi=0.02,tolerance=1e-10", {"rbf:gamma=0.2", "linear"}};
    support_request twice = {
        "hsic-mkl", "xi=0.02,tolerance=1e-10", {"rbf:gamma=0.2", "linear", "rbf:gamma=0.2"}};
    kfe_model *a = support_request_model(ctx, &once, p.data);
    kfe_model *b = support_request_model(ctx, &twice, p.data);
    kfe_matrix za = support_transform(ctx, a, p.data);
    kfe_matrix zb = support_transform(ctx, b, p.data);
    const double *one = support_weights(a, 2);
    const double *two = support_weights(b, 3);
    assert_below(fabs(support_number(a, "objective") - support_number(b, "objective")), 1e-7);
    assert_below(fabs(one[0] - two[0] - two[2]), 1e-3);
    assert_below(support_distance_up_to_rotation(ROWS, za.cols, za.values, zb.cols, zb.values), 1e-3);
    kfe_matrix_free(&za);
    kfe_matrix_free(&zb);
    kfe_model_free(a);
    kfe_model_free(b);
    support_sample_free(&p);
}

/* Two views: the first determines the classes, the second is noise or constant. */
static kfe_data *two_views(kfe_context *ctx, uint64_t seed, double noise, int64_t second_rows)
{
    char left[8192] = "a,b\n";
    char right[8192] = "c\n";
    const char *labels[60];
    kfe_data *data = NULL;
    size_t at[2] = {strlen(left), strlen(right)};

    for (int64_t i = 0; i < 60; i++) {
        /* Separate statements, because compilers evaluate arguments in different orders. */
        double b = support_normal(&seed);
        double a = support_normal(&seed) + (i % 2 ? 2 : -2);
        labels[i] = i % 2 ? "yes" : "no";
        at[0] += (size_t)snprintf(left + at[0], sizeof left - at[0], "%.6f,%.6f\n", a, b);
        if (i < second_rows)
            at[1] += (size_t)snprintf(right + at[1], sizeof right - at[1], "%.6f\n",
                                      1 + noise * support_normal(&seed));
    }
    const char *const paths[] = {support_text("left.csv", left), support_text("right.csv", right)};
    kfe_status status = kfe_data_read_views(ctx, 2, paths, NULL, "label=none,header=yes", &data);
    if (status != KFE_OK)
        return NULL;
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    return data;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* In 60 rows noise is not orthogonal to the classes, so it gets some weight on some draws. The test checks
 * the median of seven draws and the largest. */
static void test_noise_gets_next_to_nothing(void **state)
{
    enum { DRAWS = 7 };
    static const char *const methods[] = {"hsic-mkl", "svm-mkl"};
    kfe_context *ctx = *state;

    for (int m = 0; m < 2; m++) {
        support_request request = {methods[m], NULL, {"linear", "linear"}};
        double weights[DRAWS];
        for (int draw = 0; draw < DRAWS; draw++) {
            kfe_data *data = two_views(ctx, (uint64_t)(3 + draw), 1, 60);
            assert_non_null(data);
            kfe_model *model = support_request_model(ctx, &request, data);
            weights[draw] = support_weights(model, 2)[1];
            kfe_model_free(model);
            kfe_data_free(data);
        }
        qsort(weights, DRAWS, sizeof *weights, compare_numbers);
        assert_below(weights[DRAWS / 2], 0.1);
        assert_below(weights[DRAWS - 1], 0.2);
    }
}

/* The model contains neither a kernel without weight nor the support examples of its view; files preserve
 * every bit. */
static void test_kernels_without_weight_are_dropped(void **state)
{
    static const char *const methods[] = {"hsic-mkl", "svm-mkl"};
    kfe_context *ctx = *state;
    kfe_data *data = two_views(ctx, 3, 0, 60);

    assert_non_null(data);
    for (int m = 0; m < 2; m++) {
        support_request request = {methods[m], NULL, {"rbf:gamma=0.1", "linear"}};
        kfe_model *loaded = NULL;
        support_catch_log(ctx);
        kfe_model *model = support_request_model(ctx, &request, data);
        assert_non_null(strstr(support_log(), "gets no weight"));
        assert_true(support_weights(model, 2)[1] == 0);
        assert_int_equal(model->kernels.count, 1);
        assert_int_equal(model->views[1].support.rows, 0);
        assert_ok(ctx, kfe_model_save(ctx, model, support_path("dropped.kfe")));
        assert_ok(ctx, kfe_model_load(ctx, support_path("dropped.kfe"), &loaded));
        kfe_matrix a = support_transform(ctx, model, data);
        kfe_matrix b = support_transform(ctx, loaded, data);
        assert_memory_equal(a.values, b.values, (size_t)(a.rows * a.cols) * sizeof(double));
        kfe_matrix_free(&a);
        kfe_matrix_free(&b);
        kfe_model_free(loaded);
        kfe_model_free(model);
    }
    kfe_data_free(data);
}

/* K = G(G + ξI)⁻¹ with G = Σ dᵢGᵢ, the kernel of the SVMs at these weights. */
static double svms_at(const support_sample *p, const double *d, double xi, double c)
{
    double g[ROWS * ROWS];
    double sum[ROWS * ROWS];

    for (int64_t i = 0; i < ROWS * ROWS; i++) {
        g[i] = 0;
        for (int k = 0; k < KERNELS; k++)
            g[i] += d[k] * p->k[k][i];
        sum[i] = g[i] + (i % (ROWS + 1) == 0 ? xi : 0);
    }
    double *k = support_solve(ROWS, ROWS, sum, g);
    double optimum = oracle_svms_optimum(ROWS, k, p->class_of, CLASSES, c, NULL);
    free(k);
    return optimum;
}

/* At the weights found the objective is LIBSVM's optimum, and at no other weights is it below the bound. */
static void test_svm_mkl_over_six_decades(void **state)
{
    static const double values[][2] = {{1e-3, 0.1}, {1, 1e-3}, {1e3, 0.1}, {1, 1e2}, {10, 1e-4}}; /* C, ξ */
    static const double others[][KERNELS] = {
        {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0.25, 0.25, 0.25, 0.25}, {0, 0.5, 0.5, 0}};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    char params[96];

    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        snprintf(params, sizeof params, "svm-C=%g,xi=%g,svm-stop=1e-7", values[v][0], values[v][1]);
        support_request request = {"svm-mkl", params, FOUR_KERNELS};
        kfe_model *model = support_request_model(ctx, &request, p.data);
        double xi = support_number(model, "xi");
        double bound = support_number(model, "bound");
        double objective = support_number(model, "objective");
        double optimum = svms_at(&p, support_weights(model, KERNELS), xi, values[v][0]);
        assert_below(fabs(objective - optimum), 1e-4 * optimum);
        assert_below(support_number(model, "gap"), 1e-3);
        assert_true(bound <= optimum * (1 + 1e-6));
        for (size_t o = 0; o < sizeof others / sizeof *others; o++)
            assert_true(svms_at(&p, others[o], xi, values[v][0]) >= bound * (1 - 1e-6));
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_svm_mkl_predicts_and_bounds(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request request = {"svm-mkl", "svm-C=3,svm-stop=1e-7", FOUR_KERNELS};
    kfe_model *model = support_request_model(ctx, &request, p.data);
    int64_t count = 0;
    const double *upper = kfe_model_record(model, "upper-bound", &count);
    const double *lower = kfe_model_record(model, "lower-bound", &count);

    assert_true(count >= 1);
    for (int64_t i = 0; i < count; i++)
        assert_true(lower[i] <= upper[i] * (1 + 1e-6));
    double objective = support_number(model, "objective");
    assert_below(upper[count - 1] - lower[count - 1], 1e-4 * upper[count - 1]);
    assert_below(fabs(support_svms_cost(ctx, model, p.data, p.class_of, 3) - objective), 1e-5 * objective);
    support_check_predictions_of_a_file(ctx, model, p.data);
    kfe_model_free(model);
    support_sample_free(&p);
}

/* ---- families of kernels ---- */

static void test_a_family_is_its_members(void **state)
{
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);
    support_request family = {"hsic-mkl", NULL, {"rbf:gamma=0.01..1/3,weight=2", "linear"}};
    support_request members = {
        "hsic-mkl",
        NULL,
        {"rbf:gamma=0.01,weight=2", "rbf:gamma=0.1,weight=2", "rbf:gamma=1,weight=2", "linear"}};
    kfe_model *a = support_request_model(ctx, &family, p.data);
    kfe_model *b = support_request_model(ctx, &members, p.data);
    kfe_matrix za = support_transform(ctx, a, p.data);
    kfe_matrix zb = support_transform(ctx, b, p.data);

    support_weights(a, 4);
    assert_int_equal(za.cols, zb.cols);
    /* the middle member is the square root of 0.01 up to rounding */
    assert_below(support_distance(ROWS * za.cols, za.values, zb.values), 1e-8);
    kfe_matrix_free(&za);
    kfe_matrix_free(&zb);
    kfe_model_free(a);
    kfe_model_free(b);
    support_sample_free(&p);
}

/* In memory, members of a family are computed from shared distances or dot products; tile by tile, each is
 * evaluated. */
static void test_sharing_distances_changes_nothing(void **state)
{
    static const char *const families[] = {"rbf:gamma=0.01..1/3", "poly:gamma=0.1..1/2",
                                           "laplacian:gamma=0.1..1/2"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int f = 0; f < 3; f++) {
        support_request shared = {"hsic-mkl", "tolerance=1e-10", {"linear", families[f], "cosine"}};
        support_request alone = {"hsic-mkl", "tolerance=1e-10,gram=tiled", {"linear", families[f], "cosine"}};
        kfe_model *a = support_request_model(ctx, &shared, p.data);
        kfe_model *b = support_request_model(ctx, &alone, p.data);
        assert_below(fabs(support_number(a, "objective") - support_number(b, "objective")), 1e-9);
        assert_below(fabs(support_weights(a, 4 + (f == 0))[1] - support_weights(b, 4 + (f == 0))[1]), 1e-6);
        kfe_model_free(a);
        kfe_model_free(b);
    }
    support_sample_free(&p);
}

static void test_bad_families_are_refused(void **state)
{
    static const char *const texts[] = {"rbf:gamma=0.1..1",
                                        "rbf:gamma=0..1/3",
                                        "rbf:gamma=-1..1/3",
                                        "rbf:gamma=1..x/3",
                                        "rbf:gamma=1..2/0",
                                        "rbf:gamma=1..2/1.5",
                                        "rbf:gamma=1..2/5000",
                                        "rbf:gamma=1..inf/3",
                                        "poly:gamma=1..2/2,coef0=1..2/2",
                                        "rbf..3/2",
                                        "nothing:gamma=1..2/2"};
    kfe_context *ctx = *state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kfe_spec *spec = NULL;
        assert_int_equal(kfe_spec_parse(ctx, "hsic-mkl", NULL, texts[i], &spec), KFE_EINVAL);
        assert_null(spec);
    }
}

/* ---- refused and accepted input ---- */

static void test_bad_settings_and_data_are_refused(void **state)
{
    static const char *const params[] = {"xi=0", "xi=-1", "tolerance=0", "max-iter=0", "solver=guess"};
    kfe_context *ctx = *state;
    double x[6] = {2, 2, 2, 2, 2, 2};
    int class_of[6] = {0, 1, 0, 1, 0, 1};
    kfe_data *same = support_dense(ctx, 6, 1, x, class_of);
    support_request request = {"hsic-mkl", NULL, {"rbf:gamma=1", "rbf:gamma=2"}};
    kfe_model *model = NULL;

    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        kfe_spec *spec = NULL;
        assert_int_equal(kfe_spec_parse(ctx, "hsic-mkl", params[i], NULL, &spec), KFE_EINVAL);
        assert_int_equal(kfe_spec_parse(ctx, "svm-mkl", params[i], NULL, &spec), KFE_EINVAL);
    }
    assert_fails(ctx, KFE_EINPUT, "the same for all pairs", support_request_fit(ctx, &request, same, &model));
    assert_null(model);
    assert_null(two_views(ctx, 3, 1, 59)); /* views with different numbers of rows */
    kfe_data_free(same);
}

static void test_indefinite_kernels_get_a_warning_and_an_answer(void **state)
{
    static const char *const methods[] = {"hsic-mkl", "svm-mkl"};
    kfe_context *ctx = *state;
    support_sample p = make_problem(ctx);

    for (int m = 0; m < 2; m++) {
        support_request request = {methods[m], "xi=1e-4", {"sigmoid:gamma=2,coef0=-1", "rbf:gamma=0.2"}};
        support_catch_log(ctx);
        kfe_model *model = support_request_model(ctx, &request, p.data);
        assert_non_null(strstr(support_log(), "xi was raised"));
        kfe_matrix z = support_transform(ctx, model, p.data);
        assert_true(support_number(model, "xi") > 1e-4);
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]));
        kfe_matrix_free(&z);
        kfe_model_free(model);
    }
    support_sample_free(&p);
}

static void test_a_class_may_have_one_member(void **state)
{
    static const char *const requests[][2] = {
        {"hsic-mkl", NULL}, {"hsic-mkl", "label-kernel=h1"}, {"svm-mkl", NULL}};
    kfe_context *ctx = *state;
    double *x = support_normals(3, 12 * 3);
    int class_of[12] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2};
    kfe_data *data = support_dense(ctx, 12, 3, x, class_of);

    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
        support_request request = {requests[r][0], requests[r][1], {"rbf:gamma=0.3", "linear"}};
        kfe_model *model = support_request_model(ctx, &request, data);
        kfe_matrix z = support_transform(ctx, model, data);
        support_weights(model, 2);
        assert_true(z.cols >= 1);
        for (int64_t i = 0; i < z.rows * z.cols; i++)
            assert_true(isfinite(z.values[i]));
        kfe_matrix_free(&z);
        kfe_model_free(model);
    }
    kfe_data_free(data);
    free(x);
}

static void test_iterations_do_not_allocate(void **state)
{
    support_sample p = make_problem(*state);
    support_request newton = {"hsic-mkl", "max-iter=2", FOUR_KERNELS};
    support_request joint = {"svm-mkl", "settled=0,max-iter=3,step=plain", FOUR_KERNELS};

    support_check_iterations_do_not_allocate(&newton, "max-iter=100,tolerance=1e-12", ROWS, COLS, p.x,
                                             p.class_of);
    support_check_iterations_do_not_allocate(&joint, "settled=0,max-iter=20,step=plain", ROWS, COLS, p.x,
                                             p.class_of);
    support_sample_free(&p);
}

static void test_allocations_that_fail(void **state)
{
    static const support_request requests[] = {
        {"hsic-mkl", NULL, {"rbf:gamma=0.1..1/2", "linear"}},
        {"hsic-mkl", NULL, {"rbf:gamma=0.3", "linear"}},
        {"svm-mkl", "max-iter=2", {"rbf:gamma=0.3", "linear"}},
    };

    (void)state;
    support_check_memory_of_all(sizeof requests / sizeof *requests, requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_the_optimum_is_that_of_two_oracles),
        with_context(test_solvers_that_are_gone_are_named),
        with_context(test_nothing_on_the_simplex_is_better),
        with_context(test_one_kernel_has_all_the_weight),
        with_context(test_a_kernel_given_twice_changes_nothing),
        with_context(test_noise_gets_next_to_nothing),
        with_context(test_kernels_without_weight_are_dropped),
        with_context(test_the_gap_over_six_decades),
        with_context(test_svm_mkl_over_six_decades),
        with_context(test_svm_mkl_predicts_and_bounds),
        with_context(test_a_family_is_its_members),
        with_context(test_sharing_distances_changes_nothing),
        with_context(test_bad_families_are_refused),
        with_context(test_bad_settings_and_data_are_refused),
        with_context(test_indefinite_kernels_get_a_warning_and_an_answer),
        with_context(test_a_class_may_have_one_member),
        with_context(test_iterations_do_not_allocate),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
