/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pursuits and rkopls from sums over rows. If every row is a landmark, the candidates are those of a fit on the rows with the whole pool, and
 * both find the same features. With fewer landmarks the picks are compared with a greedy search by its definition.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "support/fit.h"
#include "support/tolerance.h"

enum { ROWS = 60, COLS = 4, CLASSES = 3 };
#define KERNEL "rbf:gamma=0.5"
/* Features from sums lose the square root of the condition number of the kernel matrix twice, which is about 10⁴ here. */
#define ALLOWED (1e4 * ROWS * 16 * 2.3e-16)

typedef struct scene {
    kfe_context *ctx;
    double *values, *real;
    int *class_of;
} scene;

static void open_scene(scene *s, kfe_context *ctx)
{
    s->ctx = ctx;
    support_clouds(3, ROWS, COLS, CLASSES, 1.5, &s->values, &s->class_of);
    s->real = support_normals(5, ROWS * 2);
    for (int64_t i = 0; i < ROWS; i++)
        s->real[2 * i] += s->values[i * COLS];
}

static void close_scene(scene *s)
{
    free(s->values);
    free(s->real);
    free(s->class_of);
}

/* `count` rows from `first` on; `real`: with two real targets. */
static kfe_data *rows_of(const scene *s, int64_t first, int64_t count, int real)
{
    kfe_data *data =
        support_dense(s->ctx, count, COLS, s->values + first * COLS, real ? NULL : s->class_of + first);

    if (real)
        assert_ok(s->ctx, kfe_data_set_targets(s->ctx, data, 2, s->real + 2 * first));
    return data;
}

static kfe_spec *spec_of(const scene *s, const char *method, const char *params, const char *options)
{
    kfe_spec *spec = NULL;
    char text[128];

    snprintf(text, sizeof text, "%s,%s", params, options);
    assert_ok(s->ctx, kfe_spec_parse(s->ctx, method, text, KERNEL, &spec));
    return spec;
}

/* From sums of two accumulators with three blocks of rows, the last one first. */
static kfe_model *fit_sums(const scene *s, const char *method, const char *params, const char *options,
                           int real)
{
    static const int64_t begins[] = {0, 7, 40, ROWS};
    kfe_spec *spec = spec_of(s, method, params, options);
    kfe_data *all = rows_of(s, 0, ROWS, real);
    kfe_accumulator *sums[2] = {NULL, NULL};
    kfe_model *model = NULL;

    for (int a = 0; a < 2; a++) {
        assert_ok(s->ctx, kfe_accumulator_new(s->ctx, spec, &sums[a]));
        assert_ok(s->ctx, kfe_accumulator_start(s->ctx, sums[a], all));
    }
    for (int b = 2; b >= 0; b--) {
        kfe_data *block = rows_of(s, begins[b], begins[b + 1] - begins[b], real);
        assert_ok(s->ctx, kfe_accumulator_add(s->ctx, sums[b % 2], block));
        kfe_data_free(block);
    }
    assert_ok(s->ctx, kfe_accumulator_merge(s->ctx, sums[0], sums[1]));
    assert_ok(s->ctx, kfe_accumulator_finish(s->ctx, sums[0], &model));
    kfe_accumulator_free(sums[0]);
    kfe_accumulator_free(sums[1]);
    kfe_data_free(all);
    kfe_spec_free(spec);
    return model;
}

static kfe_model *fit_rows(const scene *s, const char *method, const char *params, const char *options,
                           int real)
{
    kfe_spec *spec = spec_of(s, method, params, options);
    kfe_data *all = rows_of(s, 0, ROWS, real);
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_fit(s->ctx, spec, all, &model));
    kfe_data_free(all);
    kfe_spec_free(spec);
    return model;
}

static void assert_same_features(const scene *s, const kfe_model *got, const kfe_model *expected,
                                 const char *what)
{
    kfe_data *all = rows_of(s, 0, ROWS, 0);
    kfe_matrix a = support_transform(s->ctx, expected, all);
    kfe_matrix b = support_transform(s->ctx, got, all);

    assert_int_equal(a.cols, b.cols);
    double distance = support_distance_up_to_sign(ROWS, a.cols, a.values, b.values);
    if (!(distance <= ALLOWED))
        fail_msg("%s: the features differ by %.3g, allowed %.3g", what, distance, ALLOWED);
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_data_free(all);
}

static void test_all_rows_as_landmarks_give_the_fit_on_rows(void **state)
{
    static const struct {
        const char *method, *params, *on_rows;
    } cases[] = {
        {"sma", "dim=6,columns=0", "sma"},
        {"smc", "dim=6,columns=0", "smc"},
        {"skfa", "dim=6,columns=0", "skfa"},
        {"smc", "dim=4,columns=0,sparsity=2", "smc"},
        {"sma", "dim=3,columns=0,sparsity=2", "sma"},
        {"rkopls", "ridge=0.5,support=60", "rkopls"},
        {"rkopls", "ridge=0.5,support=60,center=no", "rkopls"},
    };
    scene s;

    open_scene(&s, *state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int real = 0; real < 2; real++) {
            kfe_model *sums = fit_sums(&s, cases[i].method, cases[i].params,
                                       "scale=none,landmarks=60,landmark-by=random", real);
            kfe_model *rows = fit_rows(&s, cases[i].on_rows, cases[i].params, "scale=none", real);
            assert_same_features(&s, sums, rows, cases[i].params);
            if (cases[i].method[0] == 's')
                assert_int_equal(kfe_model_support_size(sums), kfe_model_support_size(rows));
            kfe_model_free(sums);
            kfe_model_free(rows);
        }
    close_scene(&s);
}

/* The start from all rows has their class means. */
static void test_centroids_of_classes_are_landmarks(void **state)
{
    scene s;

    open_scene(&s, *state);
    kfe_model *sums = fit_sums(&s, "akda-qr", "ridge=0.1", "scale=standard", 0);
    kfe_model *rows = fit_rows(&s, "akda-qr", "ridge=0.1", "scale=standard", 0);
    assert_same_features(&s, sums, rows, "akda-qr");
    assert_int_equal(kfe_model_support_size(sums), CLASSES);
    kfe_model_free(sums);
    kfe_model_free(rows);
    close_scene(&s);
}

/* Two landmarks of fifteen are picked. Whichever these are, the first feature is a multiple of a kernel column, and no other candidate
 * that the model could have picked is better: with pools of one column, each candidate in turn is the pick. */
static void test_fewer_landmarks_pick_the_best_of_them(void **state)
{
    scene s;
    const char *options = "scale=none,landmarks=15,landmark-by=random";

    open_scene(&s, *state);
    kfe_model *best = fit_sums(&s, "sma", "dim=1,columns=0", options, 0);
    int64_t count = 0;
    const double *alignment = kfe_model_record(best, "alignment", &count);
    assert_int_equal(count, 1);
    double largest = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        /* the seed decides which landmarks there are, so that the pool is what differs here */
        kfe_model *one = fit_sums(&s, "sma", seed % 2 ? "dim=1,columns=1" : "dim=1,columns=5", options, 0);
        const double *value = kfe_model_record(one, "alignment", &count);
        largest = fmax(largest, *value);
        assert_true(*value <= *alignment * (1 + 1e-9));
        kfe_model_free(one);
    }
    assert_true(largest > 0);
    assert_int_equal(kfe_model_support_size(best), 1);
    kfe_model_free(best);
    close_scene(&s);
}

static void test_settings_that_need_rows_are_refused_at_once(void **state)
{
    kfe_context *ctx = *state;
    scene s = {.ctx = ctx};
    kfe_accumulator *sums = NULL;
    kfe_spec *centred = spec_of(&s, "sma", "center=yes", "landmarks=20");
    kfe_spec *bound = spec_of(&s, "smc", "bound=yes", "landmarks=20");
    kfe_spec *plain = spec_of(&s, "skfa", "dim=3", "scale=none");

    assert_fails(ctx, KFE_EUNSUPPORTED, "center", kfe_accumulator_new(ctx, centred, &sums));
    assert_fails(ctx, KFE_EUNSUPPORTED, "bound", kfe_accumulator_new(ctx, bound, &sums));
    assert_fails(ctx, KFE_EUNSUPPORTED, "landmarks", kfe_accumulator_new(ctx, plain, &sums));
    kfe_spec_free(centred);
    kfe_spec_free(bound);
    kfe_spec_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_all_rows_as_landmarks_give_the_fit_on_rows),
        with_context(test_centroids_of_classes_are_landmarks),
        with_context(test_fewer_landmarks_pick_the_best_of_them),
        with_context(test_settings_that_need_rows_are_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
