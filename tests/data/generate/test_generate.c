/* SPDX-License-Identifier: Apache-2.0 */
/* Generators against the definitions they follow: shapes, means, variances, bounds, published numbers. */
#include "support/support.h"
#include "support/sweep.h"

#include <math.h>

#include "data/generate/generate.h"

#define PI 3.14159265358979323846
enum { SIGMAS = 5 };

static kfe_data *generate(kfe_context *ctx, uint64_t seed, const char *name, const char *options)
{
    kfe_data *data = NULL;

    kfe_context_set_seed(ctx, seed);
    assert_ok(ctx, kfe_data_generate(ctx, name, options, &data));
    return data;
}

static const double *row_of(const kfe_data *data, int64_t row)
{
    const kfe_i_table *table = &data->views[0].table;
    return table->values + row * table->stride;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not within %.3g of %.9g", value, tolerance, expected);
}

/* Mean and variance of one column within one class (class −1: all rows). */
struct moments {
    double count, mean, variance;
};

static struct moments moments_of(const kfe_data *data, int64_t class_index, int64_t column)
{
    struct moments found = {0};
    double squares = 0;

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        double x = row_of(data, i)[column];
        if (class_index >= 0 && kfe_data_class_of(data, i) != class_index)
            continue;
        found.count++;
        found.mean += x;
        squares += x * x;
    }
    found.mean /= found.count;
    found.variance = squares / found.count - found.mean * found.mean;
    return found;
}

/* The standard deviation of the sample variance is at most that of a normal distribution, √(2/n) of the
 * variance, for the distributions used here. */
static void assert_moments(const kfe_data *data, int64_t class_index, int64_t column, double mean,
                           double variance)
{
    struct moments found = moments_of(data, class_index, column);

    assert_near(found.mean, mean, SIGMAS * sqrt(variance / found.count));
    assert_near(found.variance, variance, SIGMAS * variance * sqrt(2 / found.count));
}

static int same(const kfe_data *a, const kfe_data *b)
{
    const kfe_i_table *left = &a->views[0].table;
    const kfe_i_table *right = &b->views[0].table;

    return left->rows == right->rows && left->cols == right->cols &&
           memcmp(left->values, right->values, (size_t)(left->rows * left->cols) * sizeof(double)) == 0;
}

static void test_every_generator_repeats_itself(void **state)
{
    kfe_context *ctx = *state;
    const kfe_entry_info *info;
    int count = 0;

    for (; (info = kfe_generator(count)); count++) {
        kfe_data *first = generate(ctx, 7, info->name, NULL);
        kfe_data *again = generate(ctx, 7, info->name, "");
        kfe_data *other = generate(ctx, 8, info->name, NULL);
        assert_true(same(first, again));
        assert_int_equal(same(first, other), strcmp(info->name, "iris") == 0);
        assert_non_null(first->target_name);
        assert_non_null(kfe_data_column_name(first, 0, 0));
        assert_int_not_equal(kfe_data_task(first), KFE_TASK_NONE);
        assert_true(*info->summary && *info->formula);
        kfe_data_free(first);
        kfe_data_free(again);
        kfe_data_free(other);
    }
    assert_int_equal(count, 9);
    assert_null(kfe_generator_param(count, 0));
    assert_null(kfe_generator_param(0, 99));
    assert_string_equal(kfe_generator_param(0, 0)->name, "per-class");
}

static void test_shapes(void **state)
{
    kfe_context *ctx = *state;
    const struct {
        const char *name, *options;
        int64_t rows, cols, classes;
    } cases[] = {
        {"slabs", NULL, 600, 3, 3},
        {"slabs", "per-class=10", 30, 3, 3},
        {"banana", NULL, 400, 2, 2},
        {"twonorm", "n=10", 10, 20, 2},
        {"ringnorm", "n=11", 11, 20, 2},
        {"waveform", NULL, 300, 21, 3},
        {"waveform", "features=40", 300, 40, 3},
        {"rings", "classes=5,n=50", 50, 2, 5},
        {"sma-cost", NULL, 100, 1000, 0},
        {"sma-columns", NULL, 2000, 1000, 0},
        {"iris", NULL, 150, 4, 3},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kfe_data *data = generate(ctx, 1, cases[k].name, cases[k].options);
        assert_int_equal(kfe_data_rows(data), cases[k].rows);
        assert_int_equal(kfe_data_cols(data, 0), cases[k].cols);
        assert_int_equal(kfe_data_classes(data), cases[k].classes);
        assert_int_equal(kfe_data_task(data), cases[k].classes ? KFE_TASK_CLASSES : KFE_TASK_REAL);
        kfe_data_free(data);
    }
}

static void test_slabs(void **state)
{
    kfe_context *ctx = *state;
    static const double extents[3][3] = {{18.5, 4, 1.4}, {1.4, 18.5, 4}, {4, 1.4, 18.5}};
    kfe_data *data = generate(ctx, 3, "slabs", "per-class=20000");
    int64_t counts[3] = {0};

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        int64_t c = kfe_data_class_of(data, i);
        counts[c]++;
        for (int j = 0; j < 3; j++)
            assert_true(fabs(row_of(data, i)[j]) <= extents[c][j] / 2);
    }
    for (int c = 0; c < 3; c++) {
        assert_int_equal(counts[c], 20000);
        for (int j = 0; j < 3; j++)
            assert_moments(data, c, j, 0, extents[c][j] * extents[c][j] / 12);
    }
    assert_string_equal(kfe_data_class_name(data, 0), "1");
    assert_string_equal(kfe_data_class_name(data, 2), "3");
    assert_string_equal(kfe_data_column_name(data, 0, 2), "x3");
    assert_string_equal(data->target_name, "label");
    kfe_data_free(data);
}

static void test_banana(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = generate(ctx, 4, "banana", "n=40000");
    kfe_data *exact = generate(ctx, 4, "banana", "n=1000,noise=0");
    double span = 1.25 * PI;
    double first = PI / 8;
    double last = first + span;
    /* Integrals of the sine, the cosine and their squares over the arc. */
    double sine = (cos(first) - cos(last)) / span;
    double cosine = (sin(last) - sin(first)) / span;
    double ripple = (sin(2 * last) - sin(2 * first)) / (4 * span);

    assert_moments(data, 0, 0, 5 * sine, 25 * (0.5 - ripple - sine * sine) + 1);
    assert_moments(data, 0, 1, 5 * cosine, 25 * (0.5 + ripple - cosine * cosine) + 1);
    for (int64_t i = 0; i < kfe_data_rows(exact); i++) {
        double shift = kfe_data_class_of(exact, i) == 1 ? 3.75 : 0;
        const double *row = row_of(exact, i);
        assert_near(hypot(row[0] + shift, row[1] + shift), 5, 1e-12);
    }
    kfe_data_free(data);
    kfe_data_free(exact);
}

static double twonorm_score(const double *row)
{
    double sum = 0;
    for (int j = 0; j < 20; j++)
        sum += row[j];
    return sum;
}

/* The logarithm of the ratio of the two class densities. */
static double ringnorm_score(const double *row)
{
    double outer = 0;
    double inner = 0;
    for (int j = 0; j < 20; j++) {
        outer += row[j] * row[j];
        inner += (row[j] - 2 / sqrt(20)) * (row[j] - 2 / sqrt(20));
    }
    return -20 * log(2) - outer / 8 + inner / 2;
}

static double error_rate(const kfe_data *data, double (*score)(const double *))
{
    double errors = 0;
    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        errors += (score(row_of(data, i)) < 0) == (kfe_data_class_of(data, i) == 0);
    return errors / (double)kfe_data_rows(data);
}

static void test_twonorm_and_ringnorm(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *two = generate(ctx, 5, "twonorm", "n=40000");
    kfe_data *ring = generate(ctx, 5, "ringnorm", "n=40000");
    double a = 2 / sqrt(20);

    for (int j = 0; j < 20; j++) {
        assert_moments(two, 0, j, a, 1);
        assert_moments(two, 1, j, -a, 1);
        assert_moments(ring, 0, j, 0, 4);
        assert_moments(ring, 1, j, a, 1);
    }
    assert_near(error_rate(two, twonorm_score), 0.02275, SIGMAS * sqrt(0.02275 / 40000));
    assert_near(error_rate(ring, ringnorm_score), 0.0124, SIGMAS * sqrt(0.0124 / 40000));
    kfe_data_free(two);
    kfe_data_free(ring);
}

/* With u uniform, E x = (h_a + h_b)/2 and Var x = (h_a − h_b)²/12 + 1. */
static void test_waveform(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = generate(ctx, 6, "waveform", "n=30000,features=40");

    for (int t = 1; t <= 40; t++) {
        double h[3] = {fmax(6 - abs(t - 11), 0), fmax(6 - abs(t - 15), 0), fmax(6 - abs(t - 7), 0)};
        static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
        for (int c = 0; c < 3; c++) {
            double left = t <= 21 ? h[pairs[c][0]] : 0;
            double right = t <= 21 ? h[pairs[c][1]] : 0;
            assert_moments(data, c, t - 1, (left + right) / 2, (left - right) * (left - right) / 12 + 1);
        }
    }
    kfe_data_free(data);
}

static void test_rings(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = generate(ctx, 7, "rings", "n=30000,noise=0.05");
    double sums[3] = {0};
    double squares[3] = {0};

    for (int64_t i = 0; i < 30000; i++) {
        int64_t c = kfe_data_class_of(data, i);
        double off = hypot(row_of(data, i)[0], row_of(data, i)[1]) - (double)(c + 1);
        sums[c] += off;
        squares[c] += off * off;
    }
    for (int c = 0; c < 3; c++) {
        assert_near(sums[c] / 10000, 0, SIGMAS * 0.05 / 100);
        assert_near(squares[c] / 10000, 0.0025, SIGMAS * 0.0025 * sqrt(2 / 10000.0));
        assert_near(moments_of(data, c, 0).mean, 0, SIGMAS * (c + 1) / sqrt(2 * 10000));
    }
    kfe_data_free(data);
}

/* The share of the labels' squared norm that one centred column explains. */
static double explained(const kfe_data *data, int64_t column)
{
    const double *y = data->target.values;
    double product = 0;

    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        product += y[i] * row_of(data, i)[column];
    return product * product;
}

static double label_scatter(const kfe_data *data)
{
    double n = (double)kfe_data_rows(data);
    double sum = 0;
    double squares = 0;

    for (int64_t i = 0; i < kfe_data_rows(data); i++) {
        sum += data->target.values[i];
        squares += data->target.values[i] * data->target.values[i];
    }
    return squares - sum * sum / n;
}

/* With one relevant column and no noise, the labels are that column, shifted and scaled. With noise of half
 * width 0.5 sd, the column explains 1 / (1 + 0.25/3) of the scatter. */
static void test_sma_labels(void **state)
{
    kfe_context *ctx = *state;
    const double noises[] = {0, 0.5};

    for (int k = 0; k < 2; k++) {
        kfe_data *data =
            generate(ctx, 9, "sma-cost",
                     k ? "n=4000,features=30,relevant=1,noise=0.5" : "n=4000,features=30,relevant=1,noise=0");
        double best = 0;
        int relevant = 0;
        for (int j = 0; j < 30; j++) {
            double share = explained(data, j) / label_scatter(data);
            best = fmax(best, share);
            relevant += share > 0.5;
        }
        assert_int_equal(relevant, 1);
        assert_near(best, 1 / (1 + noises[k] * noises[k] / 3), k ? 0.01 : 1e-12);
        assert_string_equal(data->target_name, "y");
        kfe_data_free(data);
    }
}

static void test_sma_columns_are_normalised(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = generate(ctx, 10, "sma-cost", NULL);

    for (int64_t j = 0; j < 1000; j++) {
        struct moments found = moments_of(data, -1, j);
        assert_near(found.mean, 0, 1e-15);
        assert_near(found.variance * 100, 1, 1e-12);
    }
    kfe_data_free(data);
}

static void test_iris(void **state)
{
    kfe_context *ctx = *state;
    static const double means[] = {5.843333, 3.057333, 3.758, 1.199333};
    static const double sample_35[] = {4.9, 3.1, 1.5, 0.2};
    static const double sample_38[] = {4.9, 3.6, 1.4, 0.1};
    static const double setosa_means[] = {5.006, 3.428, 1.462, 0.246};
    static const double virginica_means[] = {6.588, 2.974, 5.552, 2.026};
    kfe_data *data = generate(ctx, 1, "iris", NULL);

    for (int j = 0; j < 4; j++) {
        assert_near(moments_of(data, -1, j).mean, means[j], 5e-7);
        assert_near(moments_of(data, 0, j).mean, setosa_means[j], 1e-12);
        assert_near(moments_of(data, 2, j).mean, virginica_means[j], 1e-12);
        assert_true(row_of(data, 34)[j] == sample_35[j]);
        assert_true(row_of(data, 37)[j] == sample_38[j]);
    }
    assert_string_equal(kfe_data_class_name(data, 1), "versicolor");
    assert_int_equal(kfe_data_class_of(data, 99), 1);
    assert_int_equal(kfe_data_class_of(data, 100), 2);
    assert_string_equal(kfe_data_column_name(data, 0, 3), "petal_width");
    kfe_data_free(data);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = (kfe_data *)(uintptr_t)1;

    assert_fails(ctx, KFE_EINVAL, "did you mean 'banana'", kfe_data_generate(ctx, "banan", NULL, &data));
    assert_null(data);
    assert_fails(ctx, KFE_EINVAL, "no generator 'quux'", kfe_data_generate(ctx, "quux", NULL, &data));
    assert_fails(ctx, KFE_EINVAL, "generator slabs has no parameter 'per-clas' (did you mean 'per-class'?)",
                 kfe_data_generate(ctx, "slabs", "per-clas=3", &data));
    assert_fails(ctx, KFE_EINVAL, "21|40", kfe_data_generate(ctx, "waveform", "features=22", &data));
    assert_fails(ctx, KFE_EINVAL, "has no parameter 'n'", kfe_data_generate(ctx, "iris", "n=10", &data));
    assert_fails(ctx, KFE_EINVAL, "relevant=20 is more than features=10",
                 kfe_data_generate(ctx, "sma-cost", "features=10,relevant=20", &data));
    assert_fails(ctx, KFE_ELIMIT, "fewer rows", kfe_data_generate(ctx, "twonorm", "n=1000000000000", &data));
    assert_null(data);
}

typedef struct generation {
    const char *name, *options;
} generation;

static kfe_status generate_once(kfe_context *ctx, void *user)
{
    const generation *one = user;
    kfe_data *data = NULL;
    kfe_status status = kfe_data_generate(ctx, one->name, one->options, &data);

    kfe_data_free(data);
    return status;
}

static void test_allocation_failures(void **state)
{
    generation cases[] = {{"rings", "n=5"}, {"iris", NULL}, {"sma-cost", "n=5,features=3,relevant=2"}};

    (void)state;
    for (int g = 0; g < 3; g++)
        support_sweep_all(cases[g].name, generate_once, &cases[g], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_every_generator_repeats_itself),
        with_context(test_shapes),
        with_context(test_slabs),
        with_context(test_banana),
        with_context(test_twonorm_and_ringnorm),
        with_context(test_waveform),
        with_context(test_rings),
        with_context(test_sma_labels),
        with_context(test_sma_columns_are_normalised),
        with_context(test_iris),
        with_context(test_refusals),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
