/* SPDX-License-Identifier: Apache-2.0 */
/* Folds by the content of rows: what the order of the rows, the names of classes, numbers of groups and weights instead of repeated rows
 * may not change, and that equal rows stay together and folds keep their sizes. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "data/rows/distinct.h"
#include "select/splits.h"

enum { DIFFERENT = 60, MOST = 4 * DIFFERENT, FOLDS = 5, CLASSES = 3 };

/* Rows are numbers 0 … DIFFERENT−1, in any order and number; their class follows from the number. */
typedef struct problem {
    kfe_context *ctx;
    int64_t rows;
    double x[MOST];
    double weights[MOST]; /* used if weighted */
    int weighted, renamed;
    int64_t groups[MOST]; /* used if grouped */
    int grouped;
} problem;

static int class_of(double x)
{
    return (int)x % 7 == 0 ? 2 : (int)x % 2;
}

static problem plain(kfe_context *ctx)
{
    problem p = {.ctx = ctx, .rows = DIFFERENT};

    for (int64_t i = 0; i < p.rows; i++) {
        p.x[i] = (double)i;
        p.weights[i] = 1;
        p.groups[i] = i / 4;
    }
    return p;
}

static problem reversed(problem p)
{
    problem out = p;

    for (int64_t i = 0; i < p.rows; i++) {
        int64_t from = (p.rows - 1 - i) * 7 % p.rows; /* rows is no multiple of 7 */
        out.x[i] = p.x[from];
        out.weights[i] = p.weights[from];
        out.groups[i] = 1000 - p.groups[from]; /* numbers are names */
    }
    return out;
}

/* fold_of[number] of the rows with this number, which must be the same for all of them; −1: in no fold. Returns the folds. */
static int64_t folds_of(const problem *p, const kfe_i_protocol *protocol, int or_fewer, int *fold_of)
{
    static const char *const names[2][CLASSES] = {{"a", "b", "c"}, {"z", "y", "x"}};
    const char *labels[MOST];
    kfe_data *data = NULL;
    kfe_i_row_key *keys = NULL;
    kfe_i_splits splits = {0};

    for (int64_t i = 0; i < p->rows; i++)
        labels[i] = names[p->renamed][class_of(p->x[i])];
    assert_ok(p->ctx, kfe_data_wrap_dense(p->ctx, p->rows, 1, 1, p->x, &data));
    assert_ok(p->ctx, kfe_data_set_labels(p->ctx, data, labels));
    if (p->weighted)
        assert_ok(p->ctx, kfe_data_set_weights(p->ctx, data, p->weights));
    if (p->grouped)
        assert_ok(p->ctx, kfe_data_set_groups(p->ctx, data, p->groups));
    assert_ok(p->ctx, kfe_i_data_row_keys(p->ctx, data, &keys));
    kfe_i_split_rows rows = kfe_i_split_all(data);
    rows.keys = keys;
    rows.or_fewer = or_fewer;
    assert_ok(p->ctx, kfe_i_splits_make(p->ctx, protocol, &rows, 3, &splits));
    for (int64_t x = 0; x < DIFFERENT; x++)
        fold_of[x] = -1;
    for (int64_t f = 0; f < splits.count; f++)
        for (int64_t k = 0; k < splits.items[f].test_count; k++) {
            int *own = &fold_of[(int64_t)p->x[splits.items[f].test[k]]];
            assert_true(*own == -1 || *own == f);
            *own = (int)f;
        }
    int64_t count = splits.count;
    kfe_i_splits_free(&splits);
    kfe_i_free(p->ctx, keys);
    kfe_data_free(data);
    return count;
}

static const kfe_i_protocol five = {.kind = KFE_SPLIT_FOLDS, .folds = FOLDS, .repeats = 1, .stratified = 1};

static void check_same(const problem *a, const problem *b)
{
    int first[DIFFERENT];
    int second[DIFFERENT];

    assert_int_equal(folds_of(a, &five, 0, first), FOLDS);
    assert_int_equal(folds_of(b, &five, 0, second), FOLDS);
    assert_memory_equal(first, second, sizeof first);
}

static void order_and_names_change_nothing(void **state)
{
    problem p = plain(*state);
    problem moved = reversed(p);

    check_same(&p, &moved);
    moved.renamed = 1;
    check_same(&p, &moved);
    p.grouped = moved.grouped = 1;
    check_same(&p, &moved);
}

/* Weights 0 … 3 against rows given so often. */
static void a_weight_is_a_number_of_rows(void **state)
{
    problem p = plain(*state);
    problem repeated = plain(*state);

    p.weighted = 1;
    repeated.rows = 0;
    for (int64_t i = 0; i < DIFFERENT; i++) {
        p.weights[i] = (double)(i % 4);
        for (int64_t copy = 0; copy < i % 4; copy++) {
            repeated.x[repeated.rows] = (double)i;
            repeated.groups[repeated.rows++] = i / 4;
        }
    }
    check_same(&p, &repeated);
    repeated = reversed(repeated);
    check_same(&p, &repeated);
    p.grouped = repeated.grouped = 1;
    check_same(&p, &repeated);
}

/* Sizes differ by one at most, and so do the members of a class. */
static void folds_are_balanced(void **state)
{
    problem p = plain(*state);
    int fold_of[DIFFERENT];
    int counts[FOLDS][CLASSES + 1] = {{0}};

    folds_of(&p, &five, 0, fold_of);
    for (int64_t x = 0; x < DIFFERENT; x++) {
        counts[fold_of[x]][class_of((double)x)]++;
        counts[fold_of[x]][CLASSES]++;
    }
    for (int c = 0; c <= CLASSES; c++)
        for (int f = 1; f < FOLDS; f++)
            assert_true(abs(counts[f][c] - counts[0][c]) <= 1);
}

static void few_different_rows_make_few_folds(void **state)
{
    problem p = plain(*state);
    int fold_of[DIFFERENT];
    kfe_data *data = NULL;
    kfe_i_row_key *keys = NULL;
    kfe_i_splits splits = {0};

    for (int64_t i = 0; i < p.rows; i++)
        p.x[i] = (double)(i % 3);
    assert_int_equal(folds_of(&p, &five, 1, fold_of), 3);
    assert_true(fold_of[0] != fold_of[1] && fold_of[1] != fold_of[2] && fold_of[0] != fold_of[2]);
    assert_ok(p.ctx, kfe_data_wrap_dense(p.ctx, p.rows, 1, 1, p.x, &data));
    assert_ok(p.ctx, kfe_i_data_row_keys(p.ctx, data, &keys));
    kfe_i_split_rows rows = kfe_i_split_all(data);
    rows.keys = keys;
    assert_fails(p.ctx, KFE_EINPUT, "3 different rows cannot be divided into 5 folds",
                 kfe_i_splits_make(p.ctx, &five, &rows, 0, &splits));
    kfe_i_free(p.ctx, keys);
    kfe_data_free(data);
}

/* Other seeds, repeats and purposes draw other folds. */
static void folds_are_drawn(void **state)
{
    problem p = plain(*state);
    int first[DIFFERENT];
    int second[DIFFERENT];

    folds_of(&p, &five, 0, first);
    kfe_context_set_seed(p.ctx, 99);
    folds_of(&p, &five, 0, second);
    assert_memory_not_equal(first, second, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(order_and_names_change_nothing),
        with_context(a_weight_is_a_number_of_rows),
        with_context(folds_are_balanced),
        with_context(few_different_rows_make_few_folds),
        with_context(folds_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
