/* SPDX-License-Identifier: Apache-2.0 */
/* XᵀX of training rows from that of all rows, against a sum over the training rows; and folds of pls with and without it. */
#include "support/select.h"

#include <math.h>

#include "core/memory.h"
#include "model/fit.h"
#include "select/fold.h"
#include "select/row_sums.h"
#include "select/sweep.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { ROWS = 800, COLS = 6, FOLDS = 4 };

typedef struct folds {
    kfe_i_split items[FOLDS];
    int64_t rows[FOLDS][2][ROWS], all[ROWS];
} folds;

static void make_folds(folds *p)
{
    memset(p, 0, sizeof *p);
    for (int f = 0; f < FOLDS; f++) {
        kfe_i_split *split = &p->items[f];
        split->train = p->rows[f][0];
        split->test = p->rows[f][1];
        split->fold = f;
        for (int64_t i = 0; i < ROWS; i++)
            if (i % FOLDS == f)
                split->test[split->test_count++] = i;
            else
                split->train[split->train_count++] = i;
    }
    for (int64_t i = 0; i < ROWS; i++)
        p->all[i] = i;
}

/* Σ (x − μ)(x − μ)ᵀ over the training rows, scaled, in long double. */
static void by_hand(const select_sample *s, const kfe_i_split *split, const double *factor,
                    double out[COLS][COLS])
{
    long double mean[COLS] = {0};
    long double sums[COLS][COLS] = {{0}};

    for (int64_t i = 0; i < split->train_count; i++)
        for (int j = 0; j < COLS; j++)
            mean[j] += s->values[split->train[i] * COLS + j] / (long double)split->train_count;
    for (int64_t i = 0; i < split->train_count; i++)
        for (int j = 0; j < COLS; j++)
            for (int k = j; k < COLS; k++)
                sums[j][k] += (s->values[split->train[i] * COLS + j] - mean[j]) *
                              (s->values[split->train[i] * COLS + k] - mean[k]);
    for (int j = 0; j < COLS; j++)
        for (int k = j; k < COLS; k++)
            out[j][k] = (double)(sums[j][k] * (factor ? (long double)factor[j] * factor[k] : 1));
}

/* Columns far from 0: sums about 0 would lose their digits. */
static select_sample sample_far_away(kfe_context *ctx, int classes)
{
    select_sample s = select_sample_make(ctx, SELECT_DENSE, ROWS, COLS, classes, 1);

    for (int64_t i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            s.data->views[0].table.values[i * COLS + j] = s.values[i * COLS + j] += 1000.0 * j;
    return s;
}

/* With the sums of `kept` folds known (all of them make up the rows), or of none. */
static void check_differences(kfe_context *ctx, int kept)
{
    static const int64_t members[FOLDS] = {0, 1, 2, 3};
    select_sample s = sample_far_away(ctx, 0);
    double factor[COLS] = {1, 2, 0.5, 3, 1e-3, 7};
    kfe_i_row_sums sums = {0};
    folds p;

    make_folds(&p);
    const kfe_i_splits splits = {.items = p.items, .count = FOLDS};
    const kfe_i_row_parts parts = {&splits, members, kept};
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, kept > 0 ? &parts : NULL, &sums));
    assert_int_equal(sums.count, ROWS);
    assert_int_equal(sums.part_count, kept == FOLDS ? FOLDS : 0);
    for (int f = 0; f < 2 * FOLDS; f++) {
        const kfe_i_split *split = &p.items[f % FOLDS];
        kfe_i_scaler scaler = {.kind = KFE_SCALE_STANDARD, .factor = f < FOLDS ? NULL : factor};
        double expected[COLS][COLS];
        kfe_i_sums train = {0};
        int known = 0;
        assert_ok(ctx, kfe_i_row_sums_train(ctx, &sums, split, &scaler, &train, &known));
        assert_true(known);
        const double *got = train.scatter;
        by_hand(&s, split, scaler.factor, expected);
        for (int j = 0; j < COLS; j++)
            for (int k = j; k < COLS; k++)
                assert_below(fabs(got[j * COLS + k] - expected[j][k]),
                             tolerance_sum(ROWS, 10 * sqrt(expected[j][j] * expected[k][k])));
        kfe_i_sums_free(&train);
    }
    kfe_i_row_sums_free(&sums);
    select_sample_free(&s);
}

static void test_differences_equal_sums(void **state)
{
    check_differences(*state, 0);
    check_differences(*state, FOLDS);
    check_differences(*state, FOLDS - 1);
}

static int gives_products(kfe_context *ctx, const kfe_i_row_sums *sums, const kfe_i_split *split,
                          kfe_i_scale_kind kind)
{
    kfe_i_scaler scaler = {.kind = kind};
    kfe_i_sums train = {0};
    int known = 0;

    assert_ok(ctx, kfe_i_row_sums_train(ctx, sums, split, &scaler, &train, &known));
    kfe_i_sums_free(&train);
    return known;
}

/* Where the difference would be wrong or lose digits there is none. */
static void test_refusals(void **state)
{
    kfe_context *ctx = *state;
    select_sample s = sample_far_away(ctx, 0);
    kfe_i_row_sums sums = {0};
    folds p;

    make_folds(&p);
    s.data->views[0].table.values[4 * COLS + 2] = 1e8; /* in the test rows of fold 0 */
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
    assert_false(gives_products(ctx, &sums, &p.items[0], KFE_SCALE_NONE));
    assert_true(gives_products(ctx, &sums, &p.items[1], KFE_SCALE_NONE));
    assert_false(gives_products(ctx, &sums, &p.items[1], KFE_SCALE_L2_ROWS));
    assert_false(gives_products(ctx, NULL, &p.items[1], KFE_SCALE_NONE));
    p.items[1].test[0] = p.items[1].train[0]; /* a row that is in both parts */
    assert_false(gives_products(ctx, &sums, &p.items[1], KFE_SCALE_NONE));
    p.items[2].train_count--; /* a row that is in neither */
    assert_false(gives_products(ctx, &sums, &p.items[2], KFE_SCALE_NONE));
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, 3 * COLS, NULL, &sums));
    assert_int_equal(sums.count, 0); /* too few rows */
    kfe_i_row_sums_free(&sums);
    select_sample_free(&s);
}

/* ---- folds of pls, pca and cr ---- */

static kfe_spec *linear_spec(kfe_context *ctx, const char *method, const char *scale)
{
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, "dim=4", NULL, &spec));
    assert_ok(ctx, kfe_spec_set(ctx, spec, "scale", scale));
    return spec;
}

/* Features of the test rows with the sums and without. Both come from products of columns, whose condition numbers here are
 * below 1e3: that squares to a loss of six digits at most. */
static double fold_distance(kfe_context *ctx, const select_sample *s, const kfe_spec *spec,
                            const kfe_i_split *split, const kfe_i_row_sums *sums)
{
    kfe_i_fold with = {0};
    kfe_i_fold without = {0};

    assert_ok(ctx, kfe_i_fold_extract(ctx, ctx, s->data, split, spec, &(kfe_i_shared){.sums = sums}, &with));
    assert_ok(ctx, kfe_i_fold_extract(ctx, ctx, s->data, split, spec, &(kfe_i_shared){0}, &without));
    assert_int_equal(with.dim, without.dim);
    double size = 0;
    for (int64_t i = 0; i < without.test.rows * without.dim; i++)
        size = fmax(size, fabs(without.test.values[i]));
    double distance =
        support_distance(with.test.rows * with.dim, with.test.values, without.test.values) / size;
    kfe_i_fold_free(&with);
    kfe_i_fold_free(&without);
    return distance;
}

static void check_folds(kfe_context *ctx, const char *method)
{
    static const char *const scales[] = {"none", "standard", "minmax", "unit-norm", "l2-rows", "auto"};
    folds p;

    make_folds(&p);
    for (int classes = 0; classes <= 3; classes += 3)
        for (int outlier = 0; outlier < 2; outlier++) {
            select_sample s = sample_far_away(ctx, classes);
            kfe_i_row_sums sums = {0};
            if (outlier)
                s.data->views[0].table.values[4 * COLS + 2] = 1e8;
            assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
            for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
                kfe_spec *spec = linear_spec(ctx, method, scales[k]);
                for (int f = 0; f < FOLDS; f++)
                    assert_below(fold_distance(ctx, &s, spec, &p.items[f], &sums), 1e-8);
                kfe_spec_free(spec);
            }
            kfe_i_row_sums_free(&sums);
            select_sample_free(&s);
        }
}

static void test_folds_equal_fits(void **state)
{
    check_folds(*state, "pls");
    check_folds(*state, "pca");
    check_folds(*state, "cr");
}

/* The method takes the products that it is given: wrong ones give another answer. */
static void check_use(kfe_context *ctx, const char *method)
{
    select_sample s = sample_far_away(ctx, 0);
    kfe_spec *spec = linear_spec(ctx, method, "none");
    kfe_i_row_sums sums = {0};
    folds p;

    make_folds(&p);
    assert_ok(ctx, kfe_i_row_sums_make(ctx, s.data, p.all, ROWS, NULL, &sums));
    double *squares = sums.total.scatter;
    squares[1] += 0.5 * sqrt(squares[0] * squares[COLS + 1]);
    assert_true(fold_distance(ctx, &s, spec, &p.items[0], &sums) > 1e-3);
    kfe_i_row_sums_free(&sums);
    kfe_spec_free(spec);
    select_sample_free(&s);
}

static void test_methods_use_the_sums(void **state)
{
    check_use(*state, "pls");
    check_use(*state, "pca");
    check_use(*state, "cr");
}

typedef struct use {
    const select_sample *sample;
    folds *parts;
} use;

static kfe_status make_and_use(kfe_context *ctx, void *user)
{
    use *u = user;
    kfe_i_row_sums sums = {0};
    kfe_i_scaler scaler = {.kind = KFE_SCALE_NONE};
    kfe_i_sums train = {0};
    int known = 0;
    kfe_status status = kfe_i_row_sums_make(ctx, u->sample->data, u->parts->all, ROWS, NULL, &sums);

    if (status == KFE_OK)
        status = kfe_i_row_sums_train(ctx, &sums, &u->parts->items[0], &scaler, &train, &known);
    kfe_i_sums_free(&train);
    kfe_i_row_sums_free(&sums);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    select_sample s = sample_far_away(*state, 0);
    folds p;

    make_folds(&p);
    support_sweep_all("row sums", make_and_use, &(use){&s, &p}, 7);
    select_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_differences_equal_sums),    with_context(test_refusals),
        with_context(test_folds_equal_fits),          with_context(test_methods_use_the_sums),
        with_context(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
