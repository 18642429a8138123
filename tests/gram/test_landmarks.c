/* SPDX-License-Identifier: Apache-2.0 */
/* The landmark operator against the explicit matrix C W⁺ Cᵀ, worked out from the kernel's formula apart from the library:
 * entries, products, diagonal, systems, eigenvectors, in each way of keeping the factor. */
#include "support/support.h"

#include <math.h>

#include "gram/form/landmarks_factor.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { N = 90, M = 20, K = 3 };

typedef struct subject {
    engine_problem origin;
    kfe_i_gram *gram, *centred;
    struct {
        const int64_t *index;
        int64_t count, rank;
        double left;
    } info;
    double *matrix; /* C W⁻¹ Cᵀ for the landmarks that the operator has */
} subject;

/* C W⁻¹ Cᵀ by Gaussian elimination. */
static double *nystrom(int64_t n, const double *g, int64_t m, const int64_t *index)
{
    double *c = malloc((size_t)(n * m) * sizeof *c);
    double *w = malloc((size_t)(m * m) * sizeof *w);

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            c[i * m + j] = g[i * n + index[j]];
    for (int64_t i = 0; i < m; i++)
        memcpy(w + i * m, c + index[i] * m, (size_t)m * sizeof *w);
    double *transposed = support_transpose(n, m, c);
    double *solved = support_solve(m, n, w, transposed);
    double *out = support_product(n, m, n, c, solved);
    free(c);
    free(w);
    free(transposed);
    free(solved);
    return out;
}

static subject open_subject(kfe_context *ctx, const char *name, kfe_i_landmark_plan plan,
                            kfe_i_gram_storage storage)
{
    subject s = {0};
    kfe_i_gram *source = NULL;

    assert_ok(ctx, engine_open(ctx, engine_case_named(name), N, 0, &s.origin));
    assert_ok(ctx, kfe_i_gram_open(ctx, &s.origin.kernels, &s.origin.table, KFE_GRAM_AUTO, &source));
    assert_ok(ctx, kfe_i_gram_landmarks(ctx, source, &plan, storage, &s.gram));
    assert_ok(ctx, kfe_i_gram_centred(ctx, s.gram, &s.centred));
    s.info.index = kfe_i_gram_support(s.gram, &s.info.count);
    s.info.rank = kfe_i_gram_rank_bound(s.gram);
    s.info.left = kfe_i_gram_trace_left(s.gram);
    int64_t all = 0;
    assert_null(kfe_i_gram_support(s.origin.gram, &all));
    assert_int_equal(all, N);
    double *g = engine_matrix(&s.origin, 0);
    s.matrix = nystrom(N, g, s.info.count, s.info.index);
    free(g);
    return s;
}

static void close_subject(subject *s)
{
    kfe_i_gram_free(s->centred);
    kfe_i_gram_free(s->gram);
    engine_close(&s->origin);
    free(s->matrix);
}

static double farthest(int64_t count, const double *a, const double *b)
{
    double largest = 0;

    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* Rounding of F is at most ε‖L⁻¹‖, and landmarks are left out before ‖L⁻¹‖² exceeds 1e11; single precision rounds F
 * itself. */
static double tolerance_of(kfe_i_gram_storage storage)
{
    return storage == KFE_GRAM_F32 ? 4 * (double)FLT_EPSILON : 1e-9;
}

/* ---- entries and products ---- */

static void check_entries(const subject *s, double tolerance)
{
    static const int64_t index[] = {5, 0, 77, 5};
    double block[N * N];
    double columns[N * 4];
    double among[16];
    double diagonal[N];

    assert_ok(s->gram->ctx, kfe_i_gram_block(s->gram, 0, N, 0, N, block, N));
    assert_below(farthest(N * N, block, s->matrix), tolerance);
    assert_ok(s->gram->ctx, kfe_i_gram_columns(s->gram, index, 4, columns));
    assert_ok(s->gram->ctx, kfe_i_gram_among(s->gram, index, 4, among));
    assert_ok(s->gram->ctx, kfe_i_gram_diagonal(s->gram, diagonal));
    for (int i = 0; i < 16; i++)
        assert_below(fabs(among[i] - s->matrix[index[i / 4] * N + index[i % 4]]), tolerance);
    for (int64_t i = 0; i < N; i++) {
        assert_below(fabs(diagonal[i] - s->matrix[i * N + i]), tolerance);
        for (int j = 0; j < 4; j++)
            assert_below(fabs(columns[i * 4 + j] - s->matrix[i * N + index[j]]), tolerance);
    }
    assert_ok(s->gram->ctx, kfe_i_gram_block(s->gram, 3, 20, 50, 7, block, 11));
    for (int64_t i = 0; i < 20; i++)
        assert_below(farthest(7, block + i * 11, s->matrix + (3 + i) * N + 50), tolerance);
}

static void check_product(const subject *s, double tolerance)
{
    double *v = support_normals(3, N * K);
    double *expected = support_product(N, N, K, s->matrix, v);
    double out[N * K];
    double norm = 0;
    double squares = 0;

    assert_ok(s->gram->ctx, kfe_i_gram_times(s->gram, v, K, out));
    assert_below(farthest(N * K, out, expected), 10 * N * tolerance);
    assert_ok(s->gram->ctx, kfe_i_gram_squared_norm(s->gram, &norm));
    for (int64_t i = 0; i < N * N; i++)
        squares += s->matrix[i] * s->matrix[i];
    assert_below(fabs(norm / squares - 1), 10 * tolerance);
    free(v);
    free(expected);
}

/* What the landmarks leave of the trace. */
static void check_left(const subject *s, double tolerance)
{
    double *g = engine_matrix(&s->origin, 0);
    double whole = 0;
    double kept = 0;

    for (int64_t i = 0; i < N; i++) {
        whole += g[i * N + i];
        kept += s->matrix[i * N + i];
    }
    assert_below(fabs(s->info.left - (1 - kept / whole)), tolerance);
    free(g);
}

/* ---- systems and eigenvectors ---- */

/* The residual is computed with the explicit matrix, centred by hand. */
static void check_solve(const subject *s, int centred, double ridge, double tolerance)
{
    const kfe_i_gram *gram = centred ? s->centred : s->gram;
    double matrix[N * N];
    double out[N * K];
    double reached = 0;
    double *right = support_normals(4, N * K);

    memcpy(matrix, s->matrix, sizeof matrix);
    if (centred)
        support_centre_kernel(N, matrix);
    assert_ok(s->gram->ctx, kfe_i_gram_solve(gram, ridge, right, K, 1e-10, out, &reached));
    double *image = engine_product(N, matrix, ridge, out, K);
    assert_below(farthest(N * K, image, right), fmax(1e-9, 100 * N * tolerance / ridge));
    assert_true(reached <= 1e-6);
    free(image);
    free(right);
}

static void check_eigen(const subject *s, int centred, double tolerance)
{
    const kfe_i_gram *gram = centred ? s->centred : s->gram;
    double matrix[N * N];
    double values[M + 2];
    double *vectors = malloc((size_t)N * (M + 2) * sizeof *vectors);
    int64_t k = s->info.rank - centred;

    memcpy(matrix, s->matrix, sizeof matrix);
    if (centred)
        support_centre_kernel(N, matrix);
    assert_ok(s->gram->ctx, kfe_i_gram_eigen(gram, k, 1e-10, values, vectors));
    assert_below(engine_orthonormality(N, k, vectors), 1e-8);
    double *image = engine_product(N, matrix, 0, vectors, k);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < k; j++)
            assert_below(fabs(image[i * k + j] - values[j] * vectors[i * k + j]), 10 * N * tolerance);
    free(image);
    assert_ok(s->gram->ctx, kfe_i_gram_eigen(gram, M + 2, 1e-10, values, vectors));
    assert_true(values[M + 1] == 0); /* beyond the rank */
    free(vectors);
}

/* ---- coefficients ---- */

/* G̃A = C·(TFᵀA), and F = CT. */
static void check_coefficients(const subject *s, double tolerance)
{
    double *a = support_normals(5, N * K);
    double *expected = support_product(N, N, K, s->matrix, a);
    double *g = engine_matrix(&s->origin, 0);
    double *moved = malloc((size_t)(s->info.count * K) * sizeof *moved);
    double largest = 0;

    assert_ok(s->gram->ctx, kfe_i_landmark_coefficients(s->gram, NULL, N, a, K, moved));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < K; j++) {
            double sum = 0;
            for (int64_t l = 0; l < s->info.count; l++)
                sum += g[i * N + s->info.index[l]] * moved[l * K + j];
            largest = fmax(largest, fabs(sum - expected[i * K + j]));
        }
    assert_below(largest, 100 * N * tolerance);
    free(moved);
    free(g);
    free(expected);
    free(a);
}

/* The values that a ridge regression on the landmarks fits, R the roots of the weights:
 * C·coefficients = G̃R(RG̃R + ridge·I)⁻¹RY */
static void check_regression(const subject *s, const double *roots, double ridge, double tolerance,
                             double trace_tolerance)
{
    kfe_i_landmark_regression r;
    double *right = support_normals(6, N * K);
    double *g = engine_matrix(&s->origin, 0);
    double weighted[N * N];
    double *found = malloc((size_t)(s->info.count * K) * sizeof *found);
    double trace = 0;
    double error = 1;

    for (int64_t i = 0; i < N * N; i++) {
        weighted[i] = s->matrix[i] * (roots ? roots[i / N] * roots[i % N] : 1) + (i % (N + 1) == 0) * ridge;
        trace += (i % (N + 1) == 0) * (weighted[i] - ridge);
    }
    double *alpha = support_solve(N, K, weighted, right);
    for (int64_t i = 0; i < N * K && roots; i++)
        alpha[i] *= roots[i / K];
    double *expected = support_product(N, N, K, s->matrix, alpha);
    assert_ok(s->gram->ctx, kfe_i_landmark_regression_begin(s->gram, roots, right, K, &r));
    assert_below(fabs(r.trace - trace), trace_tolerance);
    assert_ok(s->gram->ctx, kfe_i_landmark_regression_solve(&r, ridge, 1e-10, found, &error));
    assert_true(error <= 1e-10);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < K; j++) {
            double sum = 0;
            for (int64_t l = 0; l < s->info.count; l++)
                sum += g[i * N + s->info.index[l]] * found[l * K + j];
            assert_below(fabs(sum - expected[i * K + j]), 100 * N * tolerance);
        }
    kfe_i_landmark_regression_free(&r);
    free(right);
    free(g);
    free(found);
    free(alpha);
    free(expected);
}

static void check_regressions(const subject *s, double tolerance, double trace_tolerance)
{
    double roots[N];

    for (int64_t i = 0; i < N; i++)
        roots[i] = sqrt((double)(1 + i % 4));
    for (double ridge = 1e-3; ridge < 2; ridge *= 10) {
        check_regression(s, NULL, ridge, tolerance, trace_tolerance);
        check_regression(s, roots, ridge, tolerance, trace_tolerance);
    }
}

static void check_all(kfe_context *ctx, const char *name, kfe_i_landmark_rule rule,
                      kfe_i_gram_storage storage)
{
    kfe_i_landmark_plan plan = {.count = M, .rule = rule};
    subject s = open_subject(ctx, name, plan, storage);
    double tolerance = tolerance_of(storage);

    assert_in_range(s.info.count, 1, M);
    assert_int_equal(s.info.rank,
                     s.info.count); /* rounding of the factor does not make the kernel indefinite */
    check_entries(&s, tolerance);
    check_product(&s, tolerance);
    check_left(&s, tolerance);
    for (int centred = 0; centred < 2; centred++) {
        check_solve(&s, centred, 0.5, tolerance);
        check_solve(&s, centred, 1e-3, tolerance);
        check_eigen(&s, centred, tolerance);
    }
    check_coefficients(&s, tolerance);
    check_regressions(&s, tolerance, N * tolerance);
    close_subject(&s);
}

/* A factor that is not kept, with landmarks that span the kernel up to rounding: sums over kernel values lack digits, and are refined or
 * computed again. What the landmarks leave is below the tolerance, so that the kernel matrix itself is the reference. */
static void test_regression_on_dependent_landmarks(void **state)
{
    kfe_i_landmark_plan plan = {.count = N / 2, .rule = KFE_LANDMARKS_RPCHOLESKY, .streamed = 1};
    subject s = open_subject(*state, "one column", plan, KFE_GRAM_AUTO);

    free(s.matrix);
    s.matrix = engine_matrix(&s.origin, 0);
    check_regressions(&s, 1e-9, 1e-3); /* the trace is that of sums over kernel values */
    close_subject(&s);
}

static void test_rules_and_storage(void **state)
{
    static const kfe_i_gram_storage storages[] = {KFE_GRAM_AUTO, KFE_GRAM_F64, KFE_GRAM_F32, KFE_GRAM_TILED};

    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        for (int rule = KFE_LANDMARKS_RPCHOLESKY; rule <= KFE_LANDMARKS_KMEANS; rule++)
            check_all(*state, "ordinary", (kfe_i_landmark_rule)rule, storages[i]);
}

/* Points three times each: no landmark twice, and the factor stays regular. */
static void test_duplicates(void **state)
{
    for (int rule = KFE_LANDMARKS_RPCHOLESKY; rule <= KFE_LANDMARKS_KMEANS; rule++) {
        kfe_i_landmark_plan plan = {.count = N, .rule = (kfe_i_landmark_rule)rule};
        subject s = open_subject(*state, "duplicates", plan, KFE_GRAM_AUTO);
        double *g = engine_matrix(&s.origin, 0);
        double block[N * N];
        assert_int_equal(s.info.count, N / 3);
        assert_ok(*state, kfe_i_gram_block(s.gram, 0, N, 0, N, block, N));
        assert_below(farthest(N * N, block, g), 1e-9);
        assert_below(s.info.left, 1e-9);
        free(g);
        close_subject(&s);
    }
}

/* ---- digits of sums ---- */

/* out (m × m) = FᵀF, added up in long double. */
static void exact_products(int64_t n, int64_t m, const double *f, double *out)
{
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++) {
            long double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (long double)f[i * m + a] * (long double)f[i * m + b];
            out[a * m + b] = (double)sum;
        }
}

/* a (m × m) ← L⁻¹a, by substitution. */
static void solve_left(int64_t m, const double *lower, double *a)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            for (int64_t k = 0; k < i; k++)
                a[i * m + j] -= lower[i * m + k] * a[k * m + j];
            a[i * m + j] /= lower[i * m + i];
        }
}

/* out (m × m) = L⁻¹(CᵀC)L⁻ᵀ: the quick way, whatever it loses. */
static void products_by_kernel(int64_t n, const kfe_i_landmark_factor *f, double *out)
{
    int64_t m = f->rank;
    double *c = malloc((size_t)(n * m) * sizeof *c);

    assert_ok(f->ctx, kfe_i_landmark_kernel_rows(f, f->source, 0, n, c));
    double *transposed = support_transpose(n, m, c);
    double *products = support_product(m, n, m, transposed, c);
    solve_left(m, f->lower, products);
    double *half = support_transpose(m, m, products);
    solve_left(m, f->lower, half);
    memcpy(out, half, (size_t)(m * m) * sizeof *out);
    free(c);
    free(transposed);
    free(products);
    free(half);
}

/* FᵀF of landmarks of a Gaussian of this width. `quick`: sums over kernel values have the digits. */
static void check_digits(kfe_context *ctx, double gamma, int quick)
{
    const engine_case cloud = {.kernel = ENGINE_RBF, .gamma = gamma, .shape = ENGINE_CLOUD, .cols = 2};
    const kfe_i_landmark_plan plan = {.count = M, .rule = KFE_LANDMARKS_RANDOM};
    engine_problem origin;
    kfe_i_gram *source = NULL;
    kfe_i_gram *gram = NULL;
    int by_kernel = -1;
    double f[N * M];
    double expected[M * M];
    double careless[M * M];

    assert_ok(ctx, engine_open(ctx, &cloud, N, 0, &origin));
    assert_ok(ctx, kfe_i_gram_open(ctx, &origin.kernels, &origin.table, KFE_GRAM_TILED, &source));
    assert_ok(ctx, kfe_i_gram_landmarks(ctx, source, &plan, KFE_GRAM_TILED, &gram));
    kfe_i_landmark_factor *factor = kfe_i_landmark_factor_of(gram);
    assert_int_equal(factor->rank, M);
    assert_ok(ctx, kfe_i_landmark_takes_kernel_sums(gram, &by_kernel));
    assert_int_equal(by_kernel, quick);
    assert_ok(ctx, kfe_i_landmark_rows(gram, 0, N, f));
    exact_products(N, M, f, expected);
    products_by_kernel(N, factor, careless);
    assert_ok(ctx, kfe_i_factor_products(factor));
    assert_below(farthest(M * M, factor->products, expected), 1e-11);
    if (quick)
        assert_below(farthest(M * M, careless, expected), 1e-11);
    else
        assert_true(farthest(M * M, careless, expected) > 1e-9);
    kfe_i_gram_free(gram);
    engine_close(&origin);
}

/* The landmarks of a wide Gaussian are nearly dependent: their products are those of F itself, row by row. */
static void test_badly_conditioned_landmarks_keep_digits(void **state)
{
    check_digits(*state, 20, 1);
    check_digits(*state, 0.1, 0);
    check_digits(*state, 0.03, 0);
}

/* All examples as landmarks: the operator is the exact one; of an indefinite kernel, its positive part. */
static void test_all_examples(void **state)
{
    kfe_i_landmark_plan plan = {.count = 10 * N};
    subject s = open_subject(*state, "ordinary", plan, KFE_GRAM_AUTO);
    double *g = engine_matrix(&s.origin, 0);
    double block[N * N];

    assert_int_equal(s.info.count, N);
    assert_ok(*state, kfe_i_gram_block(s.gram, 0, N, 0, N, block, N));
    assert_below(farthest(N * N, block, g), 1e-10);
    free(g);
    close_subject(&s);
}

static void check_indefinite(void **state, kfe_i_gram_storage storage)
{
    kfe_i_landmark_plan plan = {.count = N};
    const char *name = NULL;
    double block[N * N];
    double values[N];
    double vectors[N * N];
    double positive[N * N];

    for (const engine_case *c = engine_cases; c->name; c++)
        name = c->kernel == ENGINE_SIGMOID ? c->name : name;
    assert_non_null(name);
    subject s = open_subject(*state, name, plan, storage);
    double *g = engine_matrix(&s.origin, 0);
    support_jacobi(N, g, values, vectors);
    assert_true(values[N - 1] < -1e-6 * values[0]);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            positive[i * N + j] = 0;
            for (int64_t l = 0; l < N && values[l] > 0; l++)
                positive[i * N + j] += values[l] * vectors[i * N + l] * vectors[j * N + l];
        }
    assert_true(s.info.rank < s.info.count);
    assert_ok(*state, kfe_i_gram_block(s.gram, 0, N, 0, N, block, N));
    assert_below(farthest(N * N, block, positive), 1e-7 * values[0]);
    free(g);
    close_subject(&s);
}

static void test_indefinite(void **state)
{
    check_indefinite(state, KFE_GRAM_AUTO);
    check_indefinite(state, KFE_GRAM_TILED);
}

/* The mean over seeds of the share of the trace that eight landmarks leave. */
static double mean_left(kfe_context *ctx, kfe_i_landmark_rule rule)
{
    enum { SEEDS = 8 };
    kfe_i_landmark_plan plan = {.count = 8, .rule = rule};
    double sum = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kfe_context_set_seed(ctx, seed);
        subject s = open_subject(ctx, "one column", plan, KFE_GRAM_AUTO);
        sum += s.info.left / SEEDS;
        close_subject(&s);
    }
    return sum;
}

/* Points on a line: whoever looks at the kernel leaves less of the trace than a uniform sample, which has few points in the
 * tails. */
static void test_rules_beat_chance(void **state)
{
    double chance = mean_left(*state, KFE_LANDMARKS_RANDOM);

    assert_below(mean_left(*state, KFE_LANDMARKS_RPCHOLESKY), 0.7 * chance);
    assert_below(mean_left(*state, KFE_LANDMARKS_SMA), 0.7 * chance);
    assert_below(mean_left(*state, KFE_LANDMARKS_KMEANS), 0.9 * chance);
}

/* Each seed gives the same landmarks again. */
static void test_choice(void **state)
{
    kfe_i_landmark_plan plan = {.count = 8};
    subject first = open_subject(*state, "ordinary", plan, KFE_GRAM_AUTO);
    subject again = open_subject(*state, "ordinary", plan, KFE_GRAM_AUTO);

    assert_memory_equal(first.info.index, again.info.index, 8 * sizeof *first.info.index);
    close_subject(&first);
    close_subject(&again);
}

/* ---- memory ---- */

static kfe_status use(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_plan *plan = user;
    engine_problem p = {0};
    kfe_i_gram *source = NULL;
    kfe_i_gram *gram = NULL;
    double right[N] = {1};
    double out[N + 1];
    double error = 0;
    kfe_i_landmark_regression regression = {0};

    KFE_TRY(engine_open(ctx, engine_case_named("ordinary"), N, 0, &p));
    KFE_TRY(kfe_i_gram_open(ctx, &p.kernels, &p.table, KFE_GRAM_AUTO, &source));
    KFE_TRY(kfe_i_gram_landmarks(ctx, source, plan, KFE_GRAM_F32, &gram));
    KFE_TRY(kfe_i_gram_solve(gram, 0.1, right, 1, 1e-8, out, NULL));
    KFE_TRY(kfe_i_gram_eigen(gram, 1, 1e-8, out, out + 1));
    KFE_TRY(kfe_i_landmark_regression_begin(gram, NULL, right, 1, &regression));
    KFE_TRY(kfe_i_landmark_regression_solve(&regression, 0.1, 1e-8, out, &error));
cleanup:
    kfe_i_landmark_regression_free(&regression);
    kfe_i_gram_free(gram);
    engine_close(&p);
    return status;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int rule = KFE_LANDMARKS_RPCHOLESKY; rule <= KFE_LANDMARKS_KMEANS; rule++) {
        kfe_i_landmark_plan plan = {.count = 6, .rule = (kfe_i_landmark_rule)rule};
        support_sweep_all("landmarks", use, &plan, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_rules_and_storage),
        with_context(test_regression_on_dependent_landmarks),
        with_context(test_duplicates),
        with_context(test_badly_conditioned_landmarks_keep_digits),
        with_context(test_all_examples),
        with_context(test_indefinite),
        with_context(test_choice),
        with_context(test_rules_beat_chance),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
