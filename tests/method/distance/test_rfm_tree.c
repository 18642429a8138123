/* SPDX-License-Identifier: Apache-2.0 */
/* rfm with {leaf-size}: leaves against rfm on their own rows, shares against their formula, model files, and odd input. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "method/shared/tree.h"
#include "model/model.h"
#include "support/sweep.h"

enum { ROWS = 90, TEST_ROWS = 40, COLS = 3, LEAF = 30 };

#define KERNEL "matern:sigma=2"
/* Nothing is drawn at random within a leaf. */
#define FIXED "held-out=0,iterations=2,ridge=0.1,scale=none"

typedef struct problem {
    double x[ROWS * COLS], y[ROWS];
    double test[TEST_ROWS * COLS];
} problem;

static problem make_problem(void)
{
    problem p;
    uint64_t random = 5;

    for (int64_t i = 0; i < ROWS * COLS; i++)
        p.x[i] = support_normal(&random);
    for (int64_t i = 0; i < ROWS; i++)
        p.y[i] = 7 + 3 * sin(p.x[i * COLS] + p.x[i * COLS + 1]) + 0.1 * support_normal(&random);
    for (int64_t i = 0; i < TEST_ROWS * COLS; i++)
        p.test[i] = support_normal(&random);
    return p;
}

static kfe_data *with_targets(kfe_context *ctx, int64_t rows, const double *x, const double *y)
{
    kfe_data *data = support_dense(ctx, rows, COLS, x, NULL);

    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, y));
    return data;
}

/* ---- shares ---- */

/* The share of a leaf at a point, by walking all paths. */
static double share_by_definition(const kfe_i_tree *tree, int64_t node, int64_t leaf, const double *x)
{
    double u = -tree->thresholds[node];
    double share = 0;

    for (int64_t j = 0; j < tree->cols; j++)
        u += tree->directions[node * tree->cols + j] * x[j];
    double above = tree->widths[node] > 0 ? 1 / (1 + exp(-u / tree->widths[node])) : u > 0;
    for (int side = 0; side < 2; side++) {
        int64_t child = tree->children[2 * node + side];
        double below_child = child >= 0           ? share_by_definition(tree, child, leaf, x)
                             : -1 - child == leaf ? 1
                                                  : 0;
        share += (side ? above : 1 - above) * below_child;
    }
    return share;
}

/* The features of a model with a tree, from the shares and the expansions of its leaves. */
static double feature_by_definition(const kfe_i_tree *tree, const double *x)
{
    double sum = 0;

    for (int64_t l = 0; l <= tree->node_count; l++) {
        const kfe_i_tree_leaf *leaf = &tree->leaves[l];
        double own = -leaf->offset[0];
        for (int64_t s = 0; s < leaf->support.rows; s++) {
            double square = 0;
            for (int64_t j = 0; j < leaf->support.cols; j++) {
                double z = leaf->map.values ? 0 : x[j];
                for (int64_t i = 0; leaf->map.values && i < COLS; i++)
                    z += leaf->map.diagonal ? (i == j) * leaf->map.values[i] * x[i]
                                            : leaf->map.values[i * leaf->map.cols + j] * x[i];
                square += pow(z - leaf->support.values[s * leaf->support.stride + j], 2);
            }
            double t = sqrt(3) * sqrt(square) / 2;
            own += leaf->coefficients[s] * (1 + t) * exp(-t);
        }
        sum += share_by_definition(tree, 0, l, x) * own;
    }
    return sum;
}

static void check_features(kfe_context *ctx, const char *params)
{
    problem p = make_problem();
    kfe_data *train = with_targets(ctx, ROWS, p.x, p.y);
    kfe_data *points = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    kfe_model *model = support_fit(ctx, "rfm", params, KERNEL, train);
    kfe_matrix f = support_transform(ctx, model, points);

    assert_non_null(model->tree);
    assert_true(model->tree->node_count >= 2);
    for (int64_t i = 0; i < TEST_ROWS; i++) {
        double expected = feature_by_definition(model->tree, p.test + i * COLS);
        if (!(fabs(f.values[i] - expected) <= 1e-7 * fabs(expected)))
            fail_msg("%s: %.15g, the definition gives %.15g", params, f.values[i], expected);
    }
    kfe_matrix_free(&f);
    kfe_model_free(model);
    kfe_data_free(points);
    kfe_data_free(train);
}

static void test_features_are_their_definition(void **state)
{
    check_features(*state, FIXED ",leaf-size=30,distance=diagonal");
    check_features(*state, FIXED ",leaf-size=30,distance=full,softness=0.3");
    check_features(*state, "iterations=2,scale=none,leaf-size=40,softness=0.05");
}

/* ---- leaves ---- */

/* With hard decisions, a leaf predicts what rfm predicts that is fitted on the rows of the leaf alone. */
static void test_leaf_is_rfm_on_its_rows(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    kfe_data *train = with_targets(ctx, ROWS, p.x, p.y);
    kfe_data *points = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    kfe_model *model = support_fit(ctx, "rfm", FIXED ",distance=full,leaf-size=30", KERNEL, train);
    kfe_matrix f = support_transform(ctx, model, points);
    int reached = 0;

    for (int64_t l = 0; l <= model->tree->node_count; l++) {
        double x[ROWS * COLS];
        double y[ROWS];
        int64_t count = 0;
        for (int64_t i = 0; i < ROWS; i++)
            if (share_by_definition(model->tree, 0, l, p.x + i * COLS) > 0) {
                memcpy(x + count * COLS, p.x + i * COLS, COLS * sizeof *x);
                y[count++] = p.y[i];
            }
        assert_true(count > 0 && count <= LEAF);
        kfe_data *own = with_targets(ctx, count, x, y);
        kfe_matrix expected = support_features(ctx, "rfm", FIXED ",distance=full", KERNEL, own, points);
        for (int64_t i = 0; i < TEST_ROWS; i++)
            if (share_by_definition(model->tree, 0, l, p.test + i * COLS) > 0) {
                reached++;
                if (!(fabs(f.values[i] - expected.values[i]) <= 1e-7 * fabs(expected.values[i])))
                    fail_msg("leaf %d: %.15g, rfm on its rows gives %.15g", (int)l, f.values[i],
                             expected.values[i]);
            }
        kfe_matrix_free(&expected);
        kfe_data_free(own);
    }
    assert_int_equal(reached, TEST_ROWS);
    kfe_matrix_free(&f);
    kfe_model_free(model);
    kfe_data_free(points);
    kfe_data_free(train);
}

/* The first division is along the direction that the target depends on, near its median. */
static void test_first_division(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    kfe_data *train = with_targets(ctx, ROWS, p.x, p.y);
    kfe_model *model = support_fit(ctx, "rfm", FIXED ",leaf-size=45", "rbf:gamma=0.1", train);
    const double *v = model->tree->directions;
    int64_t count = 0;
    const double *sizes = kfe_model_record(model, "leaf-sizes", &count);

    assert_int_equal(count, 2);
    assert_true(sizes[0] == 45 && sizes[1] == 45);
    assert_true(fabs(v[0] + v[1]) / sqrt(2) > cos(0.2));
    const double *importance = kfe_model_record(model, "importance", &count);
    assert_true(fabs(importance[0] + importance[1] + importance[2] - 1) < 1e-12);
    assert_true(importance[2] < 0.1);
    kfe_model_free(model);
    kfe_data_free(train);
}

/* ---- model files ---- */

static void test_saved_model_is_the_same(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    kfe_data *train = with_targets(ctx, ROWS, p.x, p.y);
    kfe_data *points = support_dense(ctx, TEST_ROWS, COLS, p.test, NULL);
    kfe_model *model = support_fit(ctx, "rfm", "leaf-size=30,softness=0.2,scale=standard", NULL, train);
    kfe_model *loaded = NULL;
    char *bytes = NULL;
    size_t size = 0;
    double one = 0;

    assert_ok(ctx, kfe_model_save_bytes(ctx, model, &bytes, &size));
    assert_ok(ctx, kfe_model_load_bytes(ctx, bytes, size, &loaded));
    kfe_matrix a = support_transform(ctx, model, points);
    kfe_matrix b = support_transform(ctx, loaded, points);
    assert_memory_equal(a.values, b.values, TEST_ROWS * sizeof(double));
    assert_int_equal(kfe_model_support_size(loaded), ROWS);
    for (int64_t i = 0; i < TEST_ROWS; i++) { /* rows that are asked for one by one */
        const kfe_rows row = {p.test + i * COLS, KFE_F64, 1, COLS, COLS};
        assert_ok(ctx, kfe_transform_into(ctx, loaded, &row, &one));
        assert_true(fabs(one - a.values[i]) <= 1e-10 * fabs(one));
    }
    kfe_matrix_free(&a);
    kfe_matrix_free(&b);
    kfe_string_free(ctx, bytes);
    kfe_model_free(loaded);
    /* a node that is its own child would never end; other numbers are no children at all */
    const int64_t wrong[] = {0, INT64_MIN, INT64_MIN + 1, -model->tree->node_count - 2, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        model->tree->children[0] = wrong[i];
        assert_fails(ctx, KFE_EMODEL, "tree.children", kfe_model_save_bytes(ctx, model, &bytes, &size));
    }
    kfe_model_free(model);
    kfe_data_free(points);
    kfe_data_free(train);
}

/* ---- classes and odd input ---- */

/* Classes that lie apart leave leaves in which one class is alone. */
static void check_classes(kfe_context *ctx, int classes)
{
    double *x = NULL;
    int *class_of = NULL;
    kfe_matrix predicted;
    int wrong = 0;

    support_clouds(3, ROWS, COLS, classes, 12, &x, &class_of);
    kfe_data *train = support_dense(ctx, ROWS, COLS, x, class_of);
    kfe_model *model = support_fit(ctx, "rfm", "leaf-size=12,softness=0.01", NULL, train);
    assert_ok(ctx, kfe_predict(ctx, model, train, &predicted, NULL));
    for (int i = 0; i < ROWS; i++)
        wrong += kfe_model_class_name(model, (int64_t)predicted.values[i])[1] - '0' != class_of[i];
    assert_true(wrong <= ROWS / 20);
    kfe_matrix_free(&predicted);
    kfe_model_free(model);
    kfe_data_free(train);
    free(x);
    free(class_of);
}

static void test_classes(void **state)
{
    check_classes(*state, 2);
    check_classes(*state, 3);
}

/* Rows that are all alike cannot be divided, and rows with two values are divided between them. */
static void test_equal_rows(void **state)
{
    kfe_context *ctx = *state;
    problem p = make_problem();
    int64_t count = 0;

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLS; j++)
            p.x[i * COLS + j] = i < 20;
    kfe_data *two = with_targets(ctx, ROWS, p.x, p.y);
    kfe_model *model = support_fit(ctx, "rfm", FIXED ",leaf-size=10", KERNEL, two);
    assert_non_null(kfe_model_record(model, "leaf-sizes", &count));
    assert_int_equal(count, 2);
    kfe_model_free(model);
    kfe_data_free(two);
    memset(p.x, 0, sizeof p.x);
    kfe_data *alike = with_targets(ctx, ROWS, p.x, p.y);
    model = support_fit(ctx, "rfm", FIXED ",leaf-size=10", KERNEL, alike);
    assert_null(model->tree);
    kfe_model_free(model);
    kfe_data_free(alike);
}

static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    static const char *const wrong[][2] = {
        {"leaf-size=30,directions=1", "the leaves of a tree have no common"},
        {"leaf-size=30,landmarks=20", "two ways to fit many examples"}};
    problem p = make_problem();
    kfe_data *train = with_targets(ctx, ROWS, p.x, p.y);
    kfe_model *model = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kfe_spec *spec = NULL;
        assert_ok(ctx, kfe_spec_parse(ctx, "rfm", wrong[i][0], KERNEL, &spec));
        assert_fails(ctx, KFE_EINVAL, wrong[i][1], kfe_fit(ctx, spec, train, &model));
        kfe_spec_free(spec);
    }
    kfe_data_free(train);
}

static void test_allocations_that_fail(void **state)
{
    problem p = make_problem();
    support_fit_case tree = {"rfm", "iterations=1,leaf-size=50", NULL, ROWS, COLS, p.x, NULL, 1, p.y};

    (void)state;
    support_sweep_all("rfm leaf-size", support_fit_use, &tree, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_features_are_their_definition),
        with_context(test_leaf_is_rfm_on_its_rows),
        with_context(test_first_division),
        with_context(test_saved_model_is_the_same),
        with_context(test_classes),
        with_context(test_equal_rows),
        with_context(test_refusals),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
