/* SPDX-License-Identifier: Apache-2.0 */
/* Subspace kernels: the engine against the formulas of Wu & Farquhar (2007) with every matrix formed,
 * gradients against differences, and skfe against known optima. */
#include "support/deflation.h"

#include <math.h>
#include <stdio.h>

#include "method/subspace/subspace_search.h"
#include "support/tolerance.h"

enum { ROWS = 24, COLS = 3, CLASSES = 3, DIM = 2 };
#define KERNEL "rbf:gamma=0.3"
#define TIGHT "max-iter=3000,tolerance=1e-9"

/* ---- problems with the kernel matrix formed ---- */

typedef struct engine {
    double *x, *k;
    int *class_of;
    int64_t index[ROWS];
    kfe_data *data;
    kfe_i_target target;
    kfe_i_gram *gram;
} engine;

static engine make_engine(kfe_context *ctx, uint64_t seed)
{
    engine e = {0};
    char names[ROWS][4];
    const char *labels[ROWS];

    support_clouds(seed, ROWS, COLS, CLASSES, 1.5, &e.x, &e.class_of);
    e.k = support_rbf(ROWS, e.x, ROWS, e.x, COLS, 0.3);
    e.data = support_dense(ctx, ROWS, COLS, e.x, e.class_of);
    for (int i = 0; i < ROWS; i++) {
        e.index[i] = i;
        snprintf(names[i], sizeof names[i], "%d", e.class_of[i]);
        labels[i] = names[i];
    }
    assert_ok(ctx, kfe_i_target_from_labels(ctx, ROWS, labels, &e.target));
    return e;
}

static void open_gram(kfe_context *ctx, engine *e)
{
    assert_ok(ctx, kfe_i_gram_subset(ctx, ROWS, e->k, e->index, ROWS, &e->gram));
}

static void free_engine(engine *e)
{
    kfe_i_gram_free(e->gram);
    kfe_i_target_free(&e->target);
    kfe_data_free(e->data);
    free(e->x);
    free(e->k);
    free(e->class_of);
}

/* K^w by eq. (4), with an explicit inverse. */
static double *subspace_kernel(const double *k, const double *w, int64_t d)
{
    double *kw = support_product(ROWS, ROWS, d, k, w);
    double *wt = support_transpose(ROWS, d, w);
    double *kwt = support_transpose(ROWS, d, kw);
    double *inner = support_product(d, ROWS, d, wt, kw);
    double *solved = support_solve(d, ROWS, inner, kwt);
    double *out = support_product(ROWS, d, ROWS, kw, solved);

    free(kw);
    free(wt);
    free(kwt);
    free(inner);
    free(solved);
    return out;
}

/* Eq. (17), entry by entry. */
static double alignment(int64_t n, const double *kernel, const int *class_of)
{
    double with = 0;
    double own = 0;
    double labels = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double same = class_of[i] == class_of[j];
            with += same * kernel[i * n + j];
            own += kernel[i * n + j] * kernel[i * n + j];
            labels += same;
        }
    return with / sqrt(own * labels);
}

static double alignment_of_w(const engine *e, const double *w)
{
    double *kernel = subspace_kernel(e->k, w, DIM);
    double value = alignment(ROWS, kernel, e->class_of);

    free(kernel);
    return value;
}

static double alignment_of_features(const kfe_matrix *z, const int *class_of)
{
    double *turned = support_transpose(z->rows, z->cols, z->values);
    double *kernel = support_product(z->rows, z->cols, z->rows, z->values, turned);
    double value = alignment(z->rows, kernel, class_of);

    free(turned);
    free(kernel);
    return value;
}

static kfe_i_subspace span_of(kfe_context *ctx, const engine *e, const double *w)
{
    kfe_i_span span = {0};
    kfe_i_subspace out = {0};
    double *image = support_product(ROWS, ROWS, DIM, e->k, w);

    assert_ok(ctx, kfe_i_span_begin(ctx, ROWS, DIM, &span));
    assert_ok(ctx, kfe_i_span_add(&span, DIM, w, image, 1e-11));
    assert_int_equal(span.count, DIM);
    assert_ok(ctx, kfe_i_subspace_from_span(&span, e->gram, &out));
    kfe_i_span_free(&span);
    free(image);
    return out;
}

/* ---- the engine ---- */

static void test_subspace_kernel_is_lemma_1(void **state)
{
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 1);
    double *w = support_normals(2, ROWS * DIM);
    double turn[DIM * DIM] = {2, -1, 0.5, 3};
    double *other = support_product(ROWS, DIM, DIM, w, turn);

    open_gram(ctx, &e);
    double *expected = subspace_kernel(e.k, w, DIM);
    const double *bases[] = {w, other}; /* another basis of the same space gives the same kernel */
    for (int b = 0; b < 2; b++) {
        kfe_i_subspace s = span_of(ctx, &e, bases[b]);
        double *turned = support_transpose(ROWS, DIM, s.features);
        double *got = support_product(ROWS, DIM, ROWS, s.features, turned);
        assert_below(support_distance(ROWS * ROWS, expected, got), tolerance_solve(ROWS, 1e3));
        assert_ok(ctx, kfe_i_subspace_principal(&s));
        free(turned);
        free(got);
        turned = support_transpose(ROWS, DIM, s.features);
        got = support_product(ROWS, DIM, ROWS, s.features, turned);
        assert_below(support_distance(ROWS * ROWS, expected, got), tolerance_solve(ROWS, 1e3));
        free(turned);
        free(got);
        kfe_i_subspace_free(&s);
    }
    free(expected);
    free(other);
    free(w);
    free_engine(&e);
}

/* KH is the derivative of A with respect to the entries of W, eqs. (23)-(27). */
static void test_gradient_of_alignment(void **state)
{
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 3);
    double *start = support_normals(4, ROWS * DIM);
    double gradient[ROWS * DIM];
    double horizontal[ROWS * DIM];
    double small[DIM * DIM];
    const double step = 1e-5;
    kfe_i_alignment a = {0};

    open_gram(ctx, &e);
    kfe_i_subspace s = span_of(ctx, &e, start);
    assert_ok(ctx, kfe_i_alignment_begin(ctx, &e.target, DIM, &a));
    double value = kfe_i_alignment_of(&a, s.features, DIM, gradient);
    assert_below(fabs(value - alignment_of_w(&e, s.basis)), 1e-12);
    kfe_i_subspace_gradient(ROWS, DIM, s.basis, s.features, gradient, horizontal, small);
    double *by_w = support_product(ROWS, ROWS, DIM, e.k, horizontal);
    double largest = support_largest(ROWS * DIM, by_w);
    assert_true(largest > 1e-3);
    for (int64_t i = 0; i < ROWS * DIM; i++) {
        double before = s.basis[i];
        s.basis[i] = before + step;
        double up = alignment_of_w(&e, s.basis);
        s.basis[i] = before - step;
        double down = alignment_of_w(&e, s.basis);
        s.basis[i] = before;
        assert_below(fabs((up - down) / (2 * step) - by_w[i]), 1e-6 * largest);
    }
    free(by_w);
    free(start);
    kfe_i_alignment_free(&a);
    kfe_i_subspace_free(&s);
    free_engine(&e);
}

/* ---- searches ---- */

static kfe_status evaluate_alignment(void *state, const double *x, int64_t dim, double *value,
                                     double *gradient)
{
    *value = kfe_i_alignment_of(state, x, dim, gradient);
    return KFE_OK;
}

/* A search depends on the subspace only, not on its basis, and both searches reach the same value. */
static void test_basis_and_optimizer_do_not_matter(void **state)
{
    enum { ITERATIONS = 2000 };
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 15);
    double *w = support_normals(16, ROWS * DIM);
    double turn[DIM * DIM] = {1, 4, -2, 1};
    double *other = support_product(ROWS, DIM, DIM, w, turn);
    const double *bases[] = {w, other, w};
    double *trace = calloc(3 * (ITERATIONS + 1), sizeof *trace);
    kfe_i_search_result results[3];
    kfe_i_alignment a = {0};

    for (int i = 0; i < ROWS; i++) /* well conditioned: eigenvalues within two orders of magnitude */
        e.k[i * ROWS + i] += 0.2;
    open_gram(ctx, &e);
    assert_ok(ctx, kfe_i_alignment_begin(ctx, &e.target, DIM, &a));
    kfe_i_criterion criterion = {evaluate_alignment, &a};
    for (int b = 0; b < 3; b++) {
        kfe_i_search_options options = {.plain = b == 2, .max_iterations = ITERATIONS, .tolerance = 1e-8};
        kfe_i_subspace s = span_of(ctx, &e, bases[b]);
        assert_ok(ctx,
                  kfe_i_subspace_search(&s, &criterion, &options, trace + b * (ITERATIONS + 1), &results[b]));
        assert_true(results[b].converged);
        assert_below(fabs(alignment_of_w(&e, s.basis) - results[b].value), 1e-9);
        kfe_i_subspace_free(&s);
    }
    for (int i = 0; i < 5; i++)
        assert_below(fabs(trace[i] - trace[ITERATIONS + 1 + i]), 1e-9);
    assert_below(fabs(results[0].value - results[1].value), 1e-9);
    assert_below(fabs(results[0].value - results[2].value), 1e-9);
    kfe_i_alignment_free(&a);
    free(trace);
    free(other);
    free(w);
    free_engine(&e);
}

static void check_trace(kfe_context *ctx, const engine *e, const char *params)
{
    int64_t count = 0;
    kfe_matrix koc = support_features(ctx, "koc", NULL, KERNEL, e->data, e->data);
    kfe_model *model = support_fit(ctx, "skfe", params, KERNEL, e->data);
    kfe_matrix z = support_transform(ctx, model, e->data);
    const double *trace = kfe_model_record(model, "alignment", &count);

    assert_true(count > 2);
    assert_below(fabs(trace[0] - alignment_of_features(&koc, e->class_of)), 1e-10);
    assert_below(fabs(trace[count - 1] - alignment_of_features(&z, e->class_of)), 1e-7);
    for (int64_t i = 1; i < count; i++)
        assert_true(trace[i] >= trace[i - 1] * (1 - 1e-13));
    assert_true(trace[count - 1] > trace[0] + 0.01);
    assert_true(trace[count - 1] <= 1 + 1e-12);
    kfe_matrix_free(&koc);
    kfe_matrix_free(&z);
    kfe_model_free(model);
}

static void test_alignment_never_falls(void **state)
{
    engine e = make_engine(*state, 7);

    check_trace(*state, &e, NULL);
    check_trace(*state, &e, "optimizer=cg");
    check_trace(*state, &e, "max-iter=100");
    check_trace(*state, &e, "optimizer=cg,max-iter=100");
    free_engine(&e);
}

/* Without iterations the result is the start, koc. */
static void test_no_iterations_give_the_start(void **state)
{
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 8);
    kfe_matrix koc = support_features(ctx, "koc", NULL, KERNEL, e.data, e.data);
    kfe_matrix z = support_features(ctx, "skfe", "max-iter=0", KERNEL, e.data, e.data);

    assert_int_equal(z.cols, CLASSES);
    assert_below(support_distance_up_to_rotation(ROWS, CLASSES, koc.values, CLASSES, z.values),
                 tolerance_solve(ROWS, 1e3));
    kfe_matrix_free(&koc);
    kfe_matrix_free(&z);
    free_engine(&e);
}

static void plant_collapsed(double *x, int *class_of)
{
    for (int i = 0; i < ROWS; i++) {
        class_of[i] = i % CLASSES;
        for (int j = 0; j < CLASSES; j++)
            x[i * CLASSES + j] = j == class_of[i];
    }
}

static void test_collapsed_classes_are_aligned(void **state)
{
    kfe_context *ctx = *state;
    double x[ROWS * CLASSES];
    int class_of[ROWS];
    int64_t count = 0;

    plant_collapsed(x, class_of);
    kfe_data *data = support_dense(ctx, ROWS, CLASSES, x, class_of);
    kfe_model *model = support_fit(ctx, "skfe", NULL, "linear", data);
    const double *trace = kfe_model_record(model, "alignment", &count);
    assert_below(fabs(trace[count - 1] - 1), 1e-12);
    kfe_model_free(model);
    kfe_data_free(data);
}

/* For points in the plane and one feature: the best direction of all angles tried. */
static double best_angle_alignment(const double *x, const int *class_of)
{
    enum { ANGLES = 20000 };
    double best = 0;

    for (int a = 0; a < ANGLES; a++) {
        double angle = acos(-1.0) * a / ANGLES;
        double z[ROWS];
        for (int i = 0; i < ROWS; i++)
            z[i] = cos(angle) * x[2 * i] + sin(angle) * x[2 * i + 1];
        kfe_matrix features = {ROWS, 1, 1, z, NULL};
        best = fmax(best, alignment_of_features(&features, class_of));
    }
    return best;
}

static void test_best_direction_of_the_plane(void **state)
{
    static const char *const optimizers[] = {"manifold", "cg"};
    kfe_context *ctx = *state;

    for (uint64_t seed = 20; seed < 23; seed++) {
        double *x;
        int *class_of;
        support_clouds(seed, ROWS, 2, 2, 2, &x, &class_of);
        kfe_data *data = support_dense(ctx, ROWS, 2, x, class_of);
        double best = best_angle_alignment(x, class_of);
        for (int o = 0; o < 2; o++) {
            char params[96];
            int64_t count = 0;
            snprintf(params, sizeof params, "dim=1,restarts=3,optimizer=%s,%s", optimizers[o], TIGHT);
            kfe_model *model = support_fit(ctx, "skfe", params, "linear", data);
            kfe_matrix z = support_transform(ctx, model, data);
            assert_int_equal(z.cols, 1);
            assert_below(fabs(alignment_of_features(&z, class_of) - best), 1e-6);
            assert_true(kfe_model_record(model, "converged", &count)[0] == 1);
            assert_non_null(kfe_model_record(model, "search-values", &count));
            assert_int_equal(count, 4);
            kfe_matrix_free(&z);
            kfe_model_free(model);
        }
        kfe_data_free(data);
        free(x);
        free(class_of);
    }
}

static double final_value(kfe_context *ctx, const kfe_data *data, const char *params, const char *kernel,
                          const char *record)
{
    int64_t count = 0;
    kfe_model *model = support_fit(ctx, "skfe", params, kernel, data);
    double value = kfe_model_record(model, record, &count)[count - 1];

    kfe_model_free(model);
    return value;
}

static void test_starts(void **state)
{
    static const char *const starts[] = {"koc", "kpca", "kpls", "akda-qr", "random"};
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 9);
    char params[96];

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (int dim = 1; dim < 8; dim += 3) {
            int64_t count = 0;
            snprintf(params, sizeof params, "dim=%d,init=%s", dim, starts[i]);
            kfe_model *model = support_fit(ctx, "skfe", params, KERNEL, e.data);
            kfe_matrix z = support_transform(ctx, model, e.data);
            const double *trace = kfe_model_record(model, "alignment", &count);
            assert_int_equal(z.cols, dim);
            assert_true(trace[count - 1] >= trace[0] && trace[count - 1] <= 1 + 1e-12);
            assert_below(fabs(trace[count - 1] - alignment_of_features(&z, e.class_of)), 1e-6);
            kfe_matrix_free(&z);
            kfe_model_free(model);
        }
    double once = final_value(ctx, e.data, NULL, KERNEL, "alignment");
    assert_true(final_value(ctx, e.data, "restarts=3", KERNEL, "alignment") >= once);
    free_engine(&e);
}

static void test_radius_margin_falls(void **state)
{
    static const char *const optimizers[] = {"manifold", "cg"};
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 10);

    for (int o = 0; o < 2; o++) {
        char params[96];
        int64_t count = 0;
        snprintf(params, sizeof params, "criterion=radius-margin,margin-C=5,optimizer=%s,max-iter=15",
                 optimizers[o]);
        kfe_model *model = support_fit(ctx, "skfe", params, KERNEL, e.data);
        const double *trace = kfe_model_record(model, "radius-margin", &count);
        assert_true(count > 2);
        for (int64_t i = 1; i < count; i++)
            assert_true(trace[i] <= trace[i - 1] * (1 + 1e-9));
        assert_true(trace[count - 1] < trace[0]);
        kfe_model_free(model);
    }
    free_engine(&e);
}

/* A negative eigenvalue that a search over many dimensions encounters. */
static void test_indefinite_kernel(void **state)
{
    kfe_context *ctx = *state;
    engine e = make_engine(ctx, 14);
    double values[ROWS];
    double *v = calloc(ROWS * ROWS, sizeof *v);

    support_jacobi(ROWS, e.k, values, v);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j <= i; j++)
            for (int l = ROWS / 3; l < ROWS; l++)
                e.k[i * ROWS + j] -= (values[l] + 0.3) * v[i * ROWS + l] * v[j * ROWS + l];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < i; j++)
            e.k[j * ROWS + i] = e.k[i * ROWS + j];
    kfe_data *given = support_dense(ctx, ROWS, ROWS, e.k, e.class_of);
    support_catch_log(ctx);
    kfe_model *model = support_fit(ctx, "skfe", "dim=5,max-iter=100", "precomputed", given);
    assert_non_null(strstr(support_log(), "not positive definite"));
    kfe_matrix z = support_transform(ctx, model, given);
    int64_t count = 0;
    const double *trace = kfe_model_record(model, "alignment", &count);
    assert_int_equal(z.cols, 5);
    assert_true(trace[count - 1] >= trace[0] && trace[count - 1] <= 1 + 1e-12);
    assert_below(fabs(trace[count - 1] - alignment_of_features(&z, e.class_of)), 1e-6);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    kfe_data_free(given);
    free(v);
    free_engine(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_subspace_kernel_is_lemma_1),
        with_context(test_gradient_of_alignment),
        with_context(test_basis_and_optimizer_do_not_matter),
        with_context(test_alignment_never_falls),
        with_context(test_no_iterations_give_the_start),
        with_context(test_collapsed_classes_are_aligned),
        with_context(test_best_direction_of_the_plane),
        with_context(test_starts),
        with_context(test_radius_margin_falls),
        with_context(test_indefinite_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
