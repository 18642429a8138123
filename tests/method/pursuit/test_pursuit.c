/* SPDX-License-Identifier: Apache-2.0 */
/* sma, smc and skfa against the paper's own algorithm, which deflates kernel matrices explicitly and tries
 * every example (or pair, or triple of examples). */
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "support/fit.h"
#include "support/tolerance.h"

enum { N = 40, COLS = 4 };

typedef enum aim { ALIGNMENT, COVARIANCE, VARIANCE } aim;
static const char *const names[] = {"sma", "smc", "skfa"};

/* ---- the paper's algorithm ---- */

typedef struct oracle {
    int64_t n, targets, count, sparsity;
    double *first, *kernel; /* n × n: original and deflated */
    double *target;         /* n × targets, centred */
    int64_t picks[N][3];
    double *features; /* n × N */
} oracle;

static oracle begin_oracle(int64_t n, const double *kernel, int64_t targets, const double *target)
{
    oracle o = {.n = n, .targets = targets, .sparsity = 1};

    o.first = malloc((size_t)(n * n) * sizeof *o.first);
    o.kernel = malloc((size_t)(n * n) * sizeof *o.kernel);
    o.target = calloc((size_t)(n * targets + 1), sizeof *o.target);
    o.features = calloc((size_t)(n * N), sizeof *o.features);
    memcpy(o.first, kernel, (size_t)(n * n) * sizeof *kernel);
    memcpy(o.kernel, kernel, (size_t)(n * n) * sizeof *kernel);
    for (int64_t t = 0; t < targets; t++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += target[i * targets + t] / (double)n;
        for (int64_t i = 0; i < n; i++)
            o.target[i * targets + t] = target[i * targets + t] - mean;
    }
    return o;
}

static void free_oracle(oracle *o)
{
    free(o->first);
    free(o->kernel);
    free(o->target);
    free(o->features);
}

static double dot(int64_t n, const double *a, int64_t sa, const double *b, int64_t sb)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i * sa] * b[i * sb];
    return sum;
}

/* The value of eqs. (7) and (9) for these examples, and the weights that reach it: the leading eigenvector of
 * M⁻¹SSᵀ. */
static double value_of(const oracle *o, aim what, const int64_t *picks, int64_t count, double *weights)
{
    double m[9];
    double h[9] = {0};
    double values[3];
    double vectors[9];

    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++) {
            m[a * count + b] = what == ALIGNMENT
                                   ? dot(o->n, o->kernel + picks[a], o->n, o->kernel + picks[b], o->n)
                                   : o->first[picks[a] * o->n + picks[b]];
            if (what == VARIANCE)
                h[a * count + b] = dot(o->n, o->kernel + picks[a], o->n, o->kernel + picks[b], o->n);
            for (int64_t t = 0; what != VARIANCE && t < o->targets; t++)
                h[a * count + b] += dot(o->n, o->kernel + picks[a], o->n, o->target + t, o->targets) *
                                    dot(o->n, o->kernel + picks[b], o->n, o->target + t, o->targets);
        }
    /* dependent examples give no more than an independent subset of them */
    support_jacobi(count, m, values, vectors);
    if (!(values[count - 1] > 1e-10 * values[0]))
        return 0;
    support_generalized(count, h, m, values, vectors);
    for (int64_t a = 0; a < count; a++)
        weights[a] = vectors[a * count];
    return values[0];
}

static void try_these(oracle *o, aim what, const int64_t *picks, int64_t count, double *best,
                      int64_t *best_picks, double *best_weights)
{
    double weights[3] = {0};

    for (int64_t a = 0; a < count; a++) { /* columns that are already explained are excluded */
        double left = dot(o->n, o->kernel + picks[a], o->n, o->kernel + picks[a], o->n);
        double whole = dot(o->n, o->first + picks[a], o->n, o->first + picks[a], o->n);
        if (!(left > 1e-14 * whole))
            return;
    }
    double value = value_of(o, what, picks, count, weights);
    if (value > *best * (1 + 1e-12)) {
        *best = value;
        for (int a = 0; a < 3; a++) {
            best_picks[a] = a < count ? picks[a] : -1;
            best_weights[a] = a < count ? weights[a] : 0;
        }
    }
}

/* One iteration of the paper's algorithm 2. */
static void iterate(oracle *o, aim what)
{
    double best = 0;
    double weights[3] = {0};
    int64_t *picks = o->picks[o->count];
    double tau[N];

    for (int64_t a = 0; a < o->n; a++) {
        int64_t one[3] = {a, -1, -1};
        try_these(o, what, one, 1, &best, picks, weights);
        for (int64_t b = a + 1; o->sparsity > 1 && b < o->n; b++) {
            int64_t two[3] = {a, b, -1};
            try_these(o, what, two, 2, &best, picks, weights);
            for (int64_t c = b + 1; o->sparsity > 2 && c < o->n; c++) {
                int64_t three[3] = {a, b, c};
                try_these(o, what, three, 3, &best, picks, weights);
            }
        }
    }
    for (int64_t i = 0; i < o->n; i++) {
        tau[i] = 0;
        for (int a = 0; a < 3 && picks[a] >= 0; a++)
            tau[i] += weights[a] * o->kernel[i * o->n + picks[a]];
        o->features[i * N + o->count] = tau[i];
    }
    double squared = dot(o->n, tau, 1, tau, 1);
    for (int64_t j = 0; j < o->n; j++) { /* K ← (I − ττᵀ/τᵀτ)K */
        double along = dot(o->n, tau, 1, o->kernel + j, o->n) / squared;
        for (int64_t i = 0; i < o->n; i++)
            o->kernel[i * o->n + j] -= along * tau[i];
    }
    o->count++;
}

/* ---- problems ---- */

typedef struct problem {
    double *values, *kernel, *target;
    int *class_of;
    int64_t n, targets;
    double gamma;
    kfe_data *data;
} problem;

static problem make_classes(kfe_context *ctx, uint64_t seed, int64_t n, int classes)
{
    problem p = {.n = n, .targets = classes == 2 ? 1 : classes, .gamma = 0.1};

    support_clouds(seed, n, COLS, classes, 1.5, &p.values, &p.class_of);
    p.target = calloc((size_t)(n * p.targets), sizeof *p.target);
    for (int64_t i = 0; i < n; i++)
        if (classes == 2)
            p.target[i] = p.class_of[i] == p.class_of[0] ? -1 : 1;
        else
            p.target[i * p.targets + p.class_of[i]] = 1;
    p.kernel = support_rbf(n, p.values, n, p.values, COLS, 0.1);
    p.data = support_dense(ctx, n, COLS, p.values, p.class_of);
    return p;
}

static problem make_real(kfe_context *ctx, uint64_t seed, int64_t n, int64_t targets)
{
    problem p = {.n = n, .targets = targets, .gamma = 0.1};

    p.values = support_normals(seed, n * COLS);
    p.target = support_normals(seed + 1, n * targets);
    for (int64_t i = 0; i < n; i++)
        p.target[i * targets] += 3 * sin(p.values[i * COLS]);
    p.kernel = support_rbf(n, p.values, n, p.values, COLS, 0.1);
    p.data = support_dense(ctx, n, COLS, p.values, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, p.data, targets, p.target));
    return p;
}

static void free_problem(problem *p)
{
    kfe_data_free(p->data);
    free(p->values);
    free(p->kernel);
    free(p->target);
    free(p->class_of);
}

static void change_gamma(problem *p, double gamma)
{
    free(p->kernel);
    p->gamma = gamma;
    p->kernel = support_rbf(p->n, p->values, p->n, p->values, COLS, gamma);
}

/* ---- comparing ---- */

static void compare(kfe_context *ctx, const problem *p, aim what, int64_t sparsity, const char *more,
                    int64_t dim)
{
    oracle o = begin_oracle(p->n, p->kernel, what == VARIANCE ? 0 : p->targets, p->target);
    char params[128];
    char kernel[64];
    int64_t at = 0;

    snprintf(params, sizeof params, "dim=%d,columns=0%s%s", (int)dim, *more ? "," : "", more);
    snprintf(kernel, sizeof kernel, "rbf:gamma=%.17g", p->gamma);
    kfe_model *model = support_fit(ctx, names[what], params, kernel, p->data);
    kfe_matrix features = support_transform(ctx, model, p->data);
    o.sparsity = sparsity;
    while (o.count < dim)
        iterate(&o, what);
    assert_int_equal(features.cols, dim);
    for (int64_t j = 0; j < dim; j++) /* the support examples list the first picks in order */
        for (int a = 0; a < 3 && o.picks[j][a] >= 0; a++) {
            int known = 0;
            for (int64_t s = 0; s < at; s++)
                known |= model->support_index[s] == o.picks[j][a];
            if (!known)
                assert_int_equal(model->support_index[at++], o.picks[j][a]);
        }
    assert_int_equal(kfe_model_support_size(model), at);
    double *expected = malloc((size_t)(p->n * dim) * sizeof *expected);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < dim; j++)
            expected[i * dim + j] = o.features[i * N + j];
    assert_below(support_distance_up_to_sign(p->n, dim, expected, features.values), 1e-8);
    free(expected);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    free_oracle(&o);
}

static void test_picks_are_those_of_explicit_deflation(void **state)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int what = ALIGNMENT; what <= VARIANCE; what++) {
            problem two = make_classes(*state, seed, N, 2);
            problem four = make_classes(*state, seed + 10, N, 4);
            problem real = make_real(*state, seed + 20, N, 1);
            problem several = make_real(*state, seed + 30, N, 3);
            compare(*state, &two, (aim)what, 1, "", 12);
            compare(*state, &four, (aim)what, 1, "", 12);
            compare(*state, &real, (aim)what, 1, "", 12);
            compare(*state, &several, (aim)what, 1, "", 12);
            compare(*state, &two, (aim)what, 1, "low-memory=yes", 12);
            free_problem(&two);
            free_problem(&four);
            free_problem(&real);
            free_problem(&several);
        }
}

/* From a nearly constant kernel to one that is nearly the identity. Wide kernels have few independent
 * columns. */
static void test_picks_over_six_decades_of_the_kernel_width(void **state)
{
    for (int what = ALIGNMENT; what <= VARIANCE; what++)
        for (double gamma = 1e-3; gamma < 2e3; gamma *= 10) {
            problem two = make_classes(*state, 4, N, 2);
            problem several = make_real(*state, 34, N, 3);
            change_gamma(&two, gamma);
            change_gamma(&several, gamma);
            compare(*state, &two, (aim)what, 1, "", gamma < 0.05 ? 3 : 6);
            compare(*state, &several, (aim)what, 1, "", gamma < 0.05 ? 3 : 6);
            free_problem(&two);
            free_problem(&several);
        }
}

static void test_pairs_and_triples_are_the_best_there_are(void **state)
{
    for (uint64_t seed = 1; seed <= 2; seed++)
        for (int what = ALIGNMENT; what <= COVARIANCE; what++) {
            problem two = make_classes(*state, seed, 24, 2);
            problem three = make_classes(*state, seed + 5, 18, 3);
            compare(*state, &two, (aim)what, 2, "sparsity=2", 5);
            compare(*state, &two, (aim)what, 3, "sparsity=3", 4);
            compare(*state, &three, (aim)what, 2, "sparsity=2", 4);
            compare(*state, &three, (aim)what, 3, "sparsity=3", 3);
            free_problem(&two);
            free_problem(&three);
        }
}

/* ---- identities ---- */

static void test_features_are_orthogonal_and_alignment_ends_at_one(void **state)
{
    problem p = make_classes(*state, 7, N, 3);
    kfe_model *model = support_fit(*state, "sma", "dim=40,columns=0", "rbf:gamma=1", p.data);
    kfe_matrix z = support_transform(*state, model, p.data);
    int64_t count = 0;
    const double *alignment = kfe_model_record(model, "alignment", &count);

    assert_int_equal(count, z.cols);
    for (int64_t j = 1; j < count; j++)
        assert_true(alignment[j] >= alignment[j - 1]);
    assert_below(fabs(alignment[count - 1] - 1), 1e-6);
    for (int64_t a = 0; a < 10; a++)
        for (int64_t b = 0; b < a; b++)
            assert_below(fabs(dot(N, z.values + a, z.cols, z.values + b, z.cols)), 1e-9);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    free_problem(&p);
}

/* B(S) of eq. (11) and D(S) of eq. (12), computed from the features alone. */
static void test_records_say_what_the_features_do(void **state)
{
    problem p = make_real(*state, 9, N, 2);
    kfe_model *model = support_fit(*state, "smc", "dim=6,columns=0", "rbf:gamma=0.1", p.data);
    kfe_matrix z = support_transform(*state, model, p.data);
    oracle o = begin_oracle(N, p.kernel, 2, p.target);
    int64_t count = 0;
    const double *covariance = kfe_model_record(model, "covariance", &count);
    const double *alignment = kfe_model_record(model, "alignment", &count);
    const double *evaluations = kfe_model_record(model, "kernel-evaluations", &count);
    double b = 0;
    double d = 0;
    double whole = dot(2 * N, o.target, 1, o.target, 1);

    for (int64_t j = 0; j < 6; j++) {
        double squared = dot(N, z.values + j, 6, z.values + j, 6);
        for (int64_t t = 0; t < 2; t++) {
            double along = dot(N, z.values + j, 6, o.target + t, 2);
            assert_below(fabs(kfe_model_record(model, "regression", &count)[t * 6 + j] - along / squared),
                         1e-9);
            b += along * along / (N * N);
            d += along * along / (squared * whole);
        }
        assert_below(fabs(covariance[j] - b), 1e-10 * (1 + b));
        assert_below(fabs(alignment[j] - d), 1e-10);
        assert_below(fabs(evaluations[j] - (double)(j + 1)), 0);
    }
    free_oracle(&o);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    free_problem(&p);
}

/* Directions of three examples out of twelve use some examples repeatedly; a new point is compared with each
 * example once. */
static void test_evaluations_count_examples_once(void **state)
{
    problem p = make_real(*state, 9, 12, 1);
    kfe_model *model = support_fit(*state, "smc", "dim=8,columns=0,sparsity=3", "rbf:gamma=0.1", p.data);
    int64_t count = 0;
    const double *evaluations = kfe_model_record(model, "kernel-evaluations", &count);

    assert_int_equal((int64_t)evaluations[0], 3);
    assert_int_equal((int64_t)evaluations[count - 1], kfe_model_support_size(model));
    assert_true(evaluations[count - 1] <= 12);
    kfe_model_free(model);
    free_problem(&p);
}

static void test_bound_is_the_theorem(void **state)
{
    enum { K = 5 };
    problem p = make_real(*state, 11, N, 1);
    kfe_model *model =
        support_fit(*state, "smc", "dim=5,columns=0,bound=yes,delta=0.05", "rbf:gamma=0.1", p.data);
    kfe_matrix z = support_transform(*state, model, p.data);
    oracle o = begin_oracle(N, p.kernel, 1, p.target);
    int64_t count = 0;
    const double *bound = kfe_model_record(model, "bound", &count);
    double trace = 0;
    double radius = 0;
    double best = -INFINITY;
    int64_t recommended = 0;
    double first = 0;

    for (int64_t i = 0; i < N; i++) {
        double y2 = o.target[i] * o.target[i];
        trace += y2 * y2;
        radius = fmax(radius, y2);
    }
    for (int64_t k = 1; k <= K; k++) {
        double empirical = 0;
        double norm = 0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < k; j++)
                empirical += o.target[i] * o.target[i] * z.values[i * K + j] * z.values[i * K + j] / N;
        for (int64_t a = 0; a < k; a++) /* ‖WᵀW‖² with W = Φ_S A */
            for (int64_t b = 0; b < k; b++) {
                double entry = 0;
                for (int64_t r = 0; r < model->rows; r++)
                    for (int64_t s = 0; s < model->rows; s++)
                        entry += model->coefficients[r * K + a] * model->coefficients[s * K + b] *
                                 p.kernel[model->support_index[r] * N + model->support_index[s]];
                norm += entry * entry;
            }
        double expected = empirical - 2 * sqrt(norm) / N * sqrt(trace) -
                          3 * sqrt(norm) * radius * sqrt(log(2 / 0.05) / (2.0 * N));
        assert_below(fabs(bound[k - 1] - expected), 1e-9 * fabs(expected));
        first = k == 1 ? empirical : first;
        if (expected - first / 2 * (double)k > best) {
            best = expected - first / 2 * (double)k;
            recommended = k;
        }
    }
    assert_int_equal((int64_t)kfe_model_record(model, "recommended-dim", &count)[0], recommended);
    free_oracle(&o);
    kfe_matrix_free(&z);
    kfe_model_free(model);
    free_problem(&p);
}

static void test_centring_is_that_of_the_kernel_matrix(void **state)
{
    problem p = make_classes(*state, 13, N, 3);

    support_centre_kernel(N, p.kernel);
    oracle o = begin_oracle(N, p.kernel, 3, p.target);
    kfe_matrix z =
        support_features(*state, "smc", "dim=5,columns=0,center=yes", "rbf:gamma=0.1", p.data, p.data);
    double *expected = malloc((size_t)(N * 5) * sizeof *expected);
    while (o.count < 5)
        iterate(&o, COVARIANCE);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < 5; j++)
            expected[i * 5 + j] = o.features[i * N + j];
    assert_below(support_distance_up_to_sign(N, 5, expected, z.values), 1e-8);
    free(expected);
    kfe_matrix_free(&z);
    free_oracle(&o);
    free_problem(&p);
}

/* ---- pools ---- */

/* A small pool sees few examples; with `refresh` it sees more; both give the same result for any storage. */
static void test_pools_in_little_memory_pick_the_same(void **state)
{
    enum { ROWS = 1500 };
    double *values = NULL;
    int *class_of = NULL;

    support_clouds(3, ROWS, COLS, 3, 1.5, &values, &class_of);
    kfe_data *data = support_dense(*state, ROWS, COLS, values, class_of);
    for (int what = ALIGNMENT; what <= VARIANCE; what++) {
        const char *params = "dim=15,columns=60,refresh=5";
        kfe_model *plain = support_fit(*state, names[what], params, "rbf:gamma=0.3", data);
        kfe_model *evaluated = support_fit(*state, names[what], "dim=15,columns=60,refresh=5,low-memory=yes",
                                           "rbf:gamma=0.3", data);
        assert_ok(*state, kfe_context_set_memory(*state, 750000)); /* columns in single precision */
        kfe_model *narrow = support_fit(*state, names[what], params, "rbf:gamma=0.3", data);
        assert_ok(*state, kfe_context_set_memory(*state, 0));
        for (int64_t j = 0; j < 15; j++) {
            assert_int_equal(plain->support_index[j], evaluated->support_index[j]);
            assert_int_equal(plain->support_index[j], narrow->support_index[j]);
        }
        kfe_model_free(plain);
        kfe_model_free(evaluated);
        kfe_model_free(narrow);
    }
    kfe_data_free(data);
    free(values);
    free(class_of);
}

/* ---- unusual data ---- */

static void test_duplicates_are_picked_once(void **state)
{
    double values[] = {0, 1, 0, 1, 0, 1, 5, 5};
    int class_of[] = {0, 1, 0, 1, 0, 1, 0, 1};
    kfe_data *data = support_dense(*state, 8, 1, values, class_of);

    support_catch_log(*state);
    kfe_model *model = support_fit(*state, "sma", "dim=8", "rbf:gamma=1", data);
    assert_true(kfe_model_dim(model) <= 3);
    assert_non_null(strstr(support_log(), "explain nothing more"));
    kfe_model_free(model);
    kfe_data_free(data);
}

static void test_constant_target_is_refused(void **state)
{
    double *values = support_normals(5, 20);
    double target[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    kfe_data *data = support_dense(*state, 10, 2, values, NULL);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(*state, kfe_data_set_targets(*state, data, 1, target));
    assert_ok(*state, kfe_spec_parse(*state, "smc", NULL, NULL, &spec));
    assert_fails(*state, KFE_EINPUT, "target", kfe_fit(*state, spec, data, &model));
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(values);
}

static void test_pairs_without_memory_for_them_are_refused(void **state)
{
    problem p = make_classes(*state, 17, N, 2);
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(*state, kfe_spec_parse(*state, "sma", "sparsity=2,low-memory=yes", NULL, &spec));
    assert_fails(*state, KFE_ELIMIT, "low-memory", kfe_fit(*state, spec, p.data, &model));
    kfe_spec_free(spec);
    free_problem(&p);
}

/* More examples than one panel of the orthogonalisation holds (512), and not a multiple of it: the features
 * of all training examples are orthogonal. */
static void test_features_of_several_panels_are_orthogonal(void **state)
{
    enum { MANY = 1100, DIM = 6 };
    kfe_context *ctx = *state;
    double *x = support_normals(91, MANY * COLS);
    double *y = support_normals(92, MANY);
    kfe_data *data = NULL;

    for (int64_t i = 0; i < MANY; i++)
        y[i] = 0.2 * y[i] + x[i * COLS];
    assert_ok(ctx, kfe_data_wrap_dense(ctx, MANY, COLS, COLS, x, &data));
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    for (int m = 0; m < 3; m++) {
        kfe_matrix z = support_features(ctx, names[m], "dim=6", "rbf:gamma=0.2", data, data);
        assert_int_equal(z.cols, DIM);
        for (int a = 0; a < DIM; a++)
            for (int b = 0; b < a; b++)
                assert_below(fabs(dot(MANY, z.values + a, DIM, z.values + b, DIM)),
                             1e-9 * sqrt(dot(MANY, z.values + a, DIM, z.values + a, DIM) *
                                         dot(MANY, z.values + b, DIM, z.values + b, DIM)));
        kfe_matrix_free(&z);
    }
    kfe_data_free(data);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_picks_are_those_of_explicit_deflation),
        with_context(test_picks_over_six_decades_of_the_kernel_width),
        with_context(test_pairs_and_triples_are_the_best_there_are),
        with_context(test_features_are_orthogonal_and_alignment_ends_at_one),
        with_context(test_records_say_what_the_features_do),
        with_context(test_evaluations_count_examples_once),
        with_context(test_bound_is_the_theorem),
        with_context(test_centring_is_that_of_the_kernel_matrix),
        with_context(test_pools_in_little_memory_pick_the_same),
        with_context(test_duplicates_are_picked_once),
        with_context(test_constant_target_is_refused),
        with_context(test_pairs_without_memory_for_them_are_refused),
        with_context(test_features_of_several_panels_are_orthogonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
