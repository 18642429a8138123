/* SPDX-License-Identifier: Apache-2.0 */
/* Splits: every row occurs once, classes keep their proportions, and a seed determines the rows. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "select/splits.h"

enum { MAX_ROWS = 1000, MAX_CLASSES = 40 };

static kfe_i_protocol protocol_of(kfe_context *ctx, const char *options)
{
    kfe_i_protocol protocol;

    memset(&protocol, 0, sizeof protocol);
    assert_ok(ctx, kfe_i_params_default(ctx, &kfe_i_protocol_params, &protocol));
    assert_ok(ctx, kfe_i_params_parse(ctx, &kfe_i_protocol_params, "splits", &protocol, options));
    return protocol;
}

/* Class g has sizes[g] rows, in mixed order. */
static kfe_i_target target_of(kfe_context *ctx, int classes, const int64_t *sizes)
{
    const char *labels[MAX_ROWS];
    static char names[MAX_CLASSES][16];
    int64_t rows = 0;
    uint64_t state = 77;
    kfe_i_target target;

    for (int g = 0; g < classes; g++) {
        snprintf(names[g], sizeof names[g], "c%d", g);
        for (int64_t k = 0; k < sizes[g]; k++)
            labels[rows++] = names[g];
    }
    for (int64_t i = rows - 1; i > 0; i--) {
        int64_t j = (int64_t)(support_uniform(&state) * (double)(i + 1));
        const char *swapped = labels[i];
        labels[i] = labels[j];
        labels[j] = swapped;
    }
    assert_ok(ctx, kfe_i_target_from_labels(ctx, rows, labels, &target));
    return target;
}

static kfe_i_splits make(kfe_context *ctx, const char *options, const kfe_i_target *target, uint64_t purpose)
{
    kfe_i_protocol protocol = protocol_of(ctx, options);
    const kfe_i_split_rows all = {.rows = target->rows, .target = target};
    kfe_i_splits splits;

    assert_ok(ctx, kfe_i_splits_make(ctx, &protocol, &all, purpose, &splits));
    return splits;
}

/* Checks that train and test are increasing and together contain exactly the rows marked in `expected`. */
static void check_partition(const kfe_i_split *split, int64_t rows, const char *expected)
{
    char seen[MAX_ROWS] = {0};

    assert_true(split->train_count > 0 && split->test_count > 0);
    for (int part = 0; part < 2; part++) {
        const int64_t *list = part ? split->test : split->train;
        int64_t count = part ? split->test_count : split->train_count;
        for (int64_t i = 0; i < count; i++) {
            assert_true(list[i] >= 0 && list[i] < rows);
            assert_true(i == 0 || list[i] > list[i - 1]);
            assert_int_equal(seen[list[i]]++, 0);
        }
    }
    for (int64_t i = 0; i < rows; i++)
        assert_int_equal(seen[i], expected ? expected[i] : 1);
}

static int64_t count_class(const kfe_i_target *target, const int64_t *list, int64_t count,
                           int64_t class_index)
{
    int64_t found = 0;

    for (int64_t i = 0; i < count; i++)
        found += target->codes[list[i]] == class_index;
    return found;
}

static int same_splits(const kfe_i_splits *a, const kfe_i_splits *b)
{
    if (a->count != b->count)
        return 0;
    for (int64_t s = 0; s < a->count; s++)
        if (a->items[s].test_count != b->items[s].test_count ||
            memcmp(a->items[s].test, b->items[s].test, (size_t)a->items[s].test_count * sizeof(int64_t)) != 0)
            return 0;
    return 1;
}

/* ---- parameters ---- */

static void test_defaults(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_protocol protocol;

    memset(&protocol, 0x5a, sizeof protocol);
    assert_ok(ctx, kfe_i_params_default(ctx, &kfe_i_protocol_params, &protocol));
    assert_int_equal(protocol.kind, KFE_SPLIT_FOLDS);
    assert_int_equal(protocol.folds, 5);
    assert_int_equal(protocol.repeats, 1);
    assert_true(protocol.train_size == 0.5);
    assert_int_equal(protocol.stratified, 1);
    assert_string_equal(protocol.file, "");
    assert_ok(ctx, kfe_i_params_parse(ctx, &kfe_i_protocol_params, "cv", &protocol,
                                      "split=random,train-size=30,stratified=no,repeats=3"));
    assert_int_equal(protocol.kind, KFE_SPLIT_RANDOM);
    assert_true(protocol.train_size == 30);
    assert_fails(ctx, KFE_EINVAL, "folds",
                 kfe_i_params_parse(ctx, &kfe_i_protocol_params, "cv", &protocol, "folds=1"));
    assert_fails(ctx, KFE_EINVAL, "train-size",
                 kfe_i_params_parse(ctx, &kfe_i_protocol_params, "cv", &protocol, "train-size=0"));
}

/* ---- folds ---- */

static void check_folds(const kfe_i_splits *splits, const kfe_i_target *target, int64_t folds, int64_t repeat,
                        int by_class)
{
    int64_t tested[MAX_ROWS] = {0};

    for (int64_t fold = 0; fold < folds; fold++) {
        const kfe_i_split *split = &splits->items[repeat * folds + fold];
        assert_int_equal(split->repeat, repeat);
        assert_int_equal(split->fold, fold);
        check_partition(split, target->rows, NULL);
        assert_true(split->test_count == target->rows / folds ||
                    split->test_count == target->rows / folds + 1);
        for (int64_t i = 0; i < split->test_count; i++)
            tested[split->test[i]]++;
        for (int64_t g = 0; by_class && g < target->class_count; g++) {
            int64_t here = count_class(target, split->test, split->test_count, g);
            int64_t all = here + count_class(target, split->train, split->train_count, g);
            assert_true(here == all / folds || here == all / folds + 1);
        }
    }
    for (int64_t i = 0; i < target->rows; i++)
        assert_int_equal(tested[i], 1);
}

static void test_folds(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {50, 31, 7, 13, 1};
    static const int64_t folds[] = {2, 3, 5, 10, 102};
    kfe_i_target target = target_of(ctx, 5, sizes);

    for (size_t k = 0; k < sizeof folds / sizeof *folds; k++)
        for (int by_class = 0; by_class < 2; by_class++) {
            char options[64];
            snprintf(options, sizeof options, "folds=%d,repeats=3,stratified=%s", (int)folds[k],
                     by_class ? "yes" : "no");
            kfe_i_splits splits = make(ctx, options, &target, 0);
            assert_int_equal(splits.count, 3 * folds[k]);
            for (int64_t repeat = 0; repeat < 3; repeat++)
                check_folds(&splits, &target, folds[k], repeat, by_class);
            kfe_i_splits_free(&splits);
        }
    kfe_i_target_free(&target);
}

/* Without classes (real targets or no targets), rows are divided regardless of the target. */
static void test_folds_without_classes(void **state)
{
    kfe_context *ctx = *state;
    double *values = support_normals(3, 17);
    kfe_i_protocol protocol = protocol_of(ctx, "folds=4");
    kfe_i_target none = {.task = KFE_TASK_NONE, .rows = 17};
    kfe_i_target real;
    kfe_i_splits splits;

    assert_ok(ctx, kfe_i_target_from_values(ctx, 17, 1, values, &real));
    const kfe_i_target *targets[] = {&real, &none, NULL};
    for (int k = 0; k < 3; k++) {
        const kfe_i_split_rows all = {.rows = 17, .target = targets[k]};
        assert_ok(ctx, kfe_i_splits_make(ctx, &protocol, &all, 0, &splits));
        assert_int_equal(splits.count, 4);
        check_folds(&splits, &real, 4, 0, 0);
        kfe_i_splits_free(&splits);
    }
    kfe_i_target_free(&real);
    free(values);
}

/* ---- random parts ---- */

static const kfe_i_split *only(const kfe_i_splits *splits)
{
    assert_int_equal(splits->count, 1);
    return &splits->items[0];
}

static void test_random_shares(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {60, 30, 10};
    static const int64_t expected[] = {15, 8, 2}; /* of 25: 15, 7.5 and 2.5; the tie is broken at random */
    kfe_i_target target = target_of(ctx, 3, sizes);
    kfe_i_splits splits = make(ctx, "split=random,train-size=0.25,repeats=60", &target, 0);
    int64_t larger[3] = {0};

    assert_int_equal(splits.count, 60);
    for (int64_t s = 0; s < 60; s++) {
        check_partition(&splits.items[s], 100, NULL);
        assert_int_equal(splits.items[s].train_count, 25);
        assert_int_equal(splits.items[s].repeat, s);
        for (int g = 0; g < 3; g++) {
            char name[16];
            int64_t code = 0;
            snprintf(name, sizeof name, "c%d", g);
            while (strcmp(target.names[code], name) != 0)
                code++;
            int64_t count = count_class(&target, splits.items[s].train, 25, code);
            assert_true(count == expected[g] || (g == 1 && count == 7) || (g == 2 && count == 3));
            larger[g] += g == 1 ? count == 8 : g == 2 ? count == 3 : 0;
        }
    }
    assert_int_equal(larger[1] + larger[2], 60);
    assert_true(larger[1] > 10 && larger[2] > 10);
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
}

/* The shares of each class are rounded up or down; the remaining rows go to different classes. */
static void test_random_shares_are_rounded(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {403, 13, 13, 13, 13, 13, 13, 13};
    kfe_i_target target = target_of(ctx, 8, sizes);
    kfe_i_splits splits = make(ctx, "split=random,train-size=137,repeats=20", &target, 0);

    for (int64_t s = 0; s < splits.count; s++)
        for (int64_t g = 0; g < 8; g++) {
            const kfe_i_split *split = &splits.items[s];
            int64_t in_train = count_class(&target, split->train, split->train_count, g);
            int64_t in_test = count_class(&target, split->test, split->test_count, g);
            double share = (double)(in_train + in_test) * (double)split->train_count / 494;
            assert_true(fabs((double)in_train - share) < 1);
        }
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
}

static void test_random_without_classes(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {90, 9};
    kfe_i_target target = target_of(ctx, 2, sizes);
    kfe_i_splits splits = make(ctx, "split=random,train-size=40,stratified=no,repeats=300", &target, 0);
    int64_t chosen[99] = {0};
    int64_t least = 9;
    int64_t most = 0;

    for (int64_t s = 0; s < 300; s++) {
        check_partition(&splits.items[s], 99, NULL);
        assert_int_equal(splits.items[s].train_count, 40);
        int64_t rare = count_class(&target, splits.items[s].train, 40, target.codes[0] == 0 ? 1 : 0);
        least = rare < least ? rare : least;
        most = rare > most ? rare : most;
        for (int64_t i = 0; i < 40; i++)
            chosen[splits.items[s].train[i]]++;
    }
    assert_true(most > least); /* without stratification the proportions vary */
    /* every row is equally likely: five standard deviations of the binomial distribution */
    for (int64_t i = 0; i < 99; i++)
        assert_below(fabs((double)chosen[i] - 300 * 40.0 / 99), 5 * sqrt(300 * 40.0 / 99 * 59.0 / 99));
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
}

/* For any sizes the total is exact, and classes of two or more rows are on both sides if that is possible. */
static void test_random_keeps_small_classes(void **state)
{
    kfe_context *ctx = *state;
    uint64_t seed = 4;

    for (int trial = 0; trial < 300; trial++) {
        int64_t sizes[12];
        int64_t rows = 0;
        int64_t need = 0;
        char options[64];
        int classes = 2 + (int)(10 * support_uniform(&seed));
        for (int g = 0; g < classes; g++) {
            double u = support_uniform(&seed);
            sizes[g] = 1 + (int64_t)(60 * u * u * u * u);
            rows += sizes[g];
            need += sizes[g] >= 2;
        }
        int64_t train = 1 + (int64_t)((double)(rows - 1) * support_uniform(&seed));
        snprintf(options, sizeof options, "split=random,train-size=%d", (int)train);
        kfe_i_target target = target_of(ctx, classes, sizes);
        kfe_i_splits splits = make(ctx, options, &target, (uint64_t)trial);
        const kfe_i_split *split = only(&splits);
        check_partition(split, rows, NULL);
        assert_int_equal(split->train_count, train);
        for (int64_t g = 0; need <= train && need <= rows - train && g < classes; g++) {
            int64_t in_train = count_class(&target, split->train, split->train_count, g);
            int64_t in_test = count_class(&target, split->test, split->test_count, g);
            if (in_train + in_test >= 2)
                assert_true(in_train > 0 && in_test > 0);
        }
        kfe_i_splits_free(&splits);
        kfe_i_target_free(&target);
    }
}

/* Many classes of two rows and one large class, which gives up the rows that the small ones need. */
static void test_large_class_gives_way(void **state)
{
    kfe_context *ctx = *state;
    int64_t sizes[MAX_CLASSES];
    kfe_i_splits splits;

    for (int g = 0; g < 30; g++)
        sizes[g] = 2;
    sizes[30] = 500;
    sizes[31] = 100;
    kfe_i_target target = target_of(ctx, 32, sizes);
    splits = make(ctx, "split=random,train-size=66", &target, 0); /* a tenth: 0.2 rows of each pair */
    const kfe_i_split *split = only(&splits);
    assert_int_equal(split->train_count, 66);
    for (int64_t g = 0; g < 32; g++) {
        int64_t in_train = count_class(&target, split->train, 66, g);
        int64_t in_test = count_class(&target, split->test, split->test_count, g);
        if (in_train + in_test == 2)
            assert_int_equal(in_train, 1);
        else /* the remaining 36 are shared nearly in proportion to 500 and 100 */
            assert_true(in_train + in_test == 500 ? in_train >= 28 && in_train <= 32 : in_train >= 4);
    }
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
}

static void test_share_is_rounded(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {6, 5};
    static const struct {
        const char *size;
        int64_t expected;
    } cases[] = {{"0.5", 6}, {"0.001", 1}, {"0.999", 10}, {"0.4", 4}, {"1", 1}, {"10", 10}};
    kfe_i_target target = target_of(ctx, 2, sizes);

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char options[64];
        snprintf(options, sizeof options, "split=random,train-size=%s", cases[k].size);
        kfe_i_splits splits = make(ctx, options, &target, 0);
        assert_int_equal(only(&splits)->train_count, cases[k].expected);
        check_partition(only(&splits), 11, NULL);
        kfe_i_splits_free(&splits);
    }
    kfe_i_target_free(&target);
}

/* ---- seeds, purposes, parts of the data ---- */

static void test_seed_and_purpose(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {40, 30};
    static const char *const options[] = {"folds=3,repeats=2", "split=random,repeats=4"};
    kfe_i_target target = target_of(ctx, 2, sizes);

    for (int k = 0; k < 2; k++) {
        kfe_context_set_seed(ctx, 5);
        kfe_i_splits first = make(ctx, options[k], &target, 1);
        kfe_i_splits again = make(ctx, options[k], &target, 1);
        kfe_i_splits purpose = make(ctx, options[k], &target, 2);
        kfe_context_set_seed(ctx, 6);
        kfe_i_splits seed = make(ctx, options[k], &target, 1);
        assert_true(same_splits(&first, &again));
        assert_false(same_splits(&first, &purpose));
        assert_false(same_splits(&first, &seed));
        assert_false(same_splits(&purpose, &seed));
        /* repeats differ, and more repeats do not change the first ones */
        int64_t half = first.count / 2;
        kfe_i_splits tail = {.items = first.items + half, .count = half};
        kfe_i_splits head = {.items = first.items, .count = half};
        assert_false(same_splits(&head, &tail));
        kfe_context_set_seed(ctx, 5);
        kfe_i_splits fewer = make(ctx, k ? "split=random,repeats=2" : "folds=3", &target, 1);
        assert_true(same_splits(&head, &fewer));
        kfe_i_splits *all[] = {&first, &again, &purpose, &seed, &fewer};
        for (int i = 0; i < 5; i++)
            kfe_i_splits_free(all[i]);
    }
    kfe_i_target_free(&target);
}

static void test_subset(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {30, 20, 10};
    static const char *const options[] = {"folds=4", "split=random"};
    kfe_i_target target = target_of(ctx, 3, sizes);
    int64_t subset[25];
    int64_t turned[25];
    char expected[60] = {0};

    for (int64_t i = 0; i < 25; i++) {
        subset[i] = turned[24 - i] = 2 * i + (i > 10);
        expected[subset[i]] = 1;
    }
    for (int k = 0; k < 2; k++) {
        kfe_i_protocol protocol = protocol_of(ctx, options[k]);
        kfe_i_splits splits;
        kfe_i_splits other;
        kfe_i_split_rows some = {.rows = 60, .target = &target, .subset = subset, .subset_count = 25};
        assert_ok(ctx, kfe_i_splits_make(ctx, &protocol, &some, 0, &splits));
        some.subset = turned;
        assert_ok(ctx, kfe_i_splits_make(ctx, &protocol, &some, 0, &other));
        for (int64_t s = 0; s < splits.count; s++)
            check_partition(&splits.items[s], 60, expected);
        assert_true(same_splits(&splits, &other));
        kfe_i_splits_free(&splits);
        kfe_i_splits_free(&other);
    }
    kfe_i_target_free(&target);
}

/* ---- data that cannot be divided ---- */

static void test_small_classes_give_one_warning(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {20, 3, 2};
    static const int64_t enough[] = {20, 5, 5};
    kfe_i_target target = target_of(ctx, 3, sizes);
    kfe_i_target good = target_of(ctx, 3, enough);

    support_catch_log(ctx);
    kfe_i_splits splits = make(ctx, "folds=5,repeats=4", &target, 0);
    const char *log = support_log();
    const char *warning = strstr(log, "class 'c2' has 2 rows, fewer than the 5 folds");
    assert_non_null(warning);
    assert_null(strstr(warning + 1, "class '"));
    kfe_i_splits_free(&splits);
    splits = make(ctx, "folds=5,repeats=4", &good, 0);
    assert_string_equal(support_log(), "");
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
    kfe_i_target_free(&good);
}

static kfe_status try_split(kfe_context *ctx, const char *options, const kfe_i_target *target,
                            const int64_t *subset, int64_t subset_count)
{
    kfe_i_protocol protocol = protocol_of(ctx, options);
    kfe_i_splits splits;
    const kfe_i_split_rows some = {
        .rows = target->rows, .target = target, .subset = subset, .subset_count = subset_count};
    kfe_status status = kfe_i_splits_make(ctx, &protocol, &some, 0, &splits);

    if (status != KFE_OK)
        assert_true(splits.count == 0 && splits.items == NULL);
    kfe_i_splits_free(&splits);
    return status;
}

static void test_bad_requests_are_refused(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t sizes[] = {3, 3};
    static const int64_t one[] = {4};
    kfe_i_target target = target_of(ctx, 2, sizes);

    assert_fails(ctx, KFE_EINPUT, "6 rows cannot be divided into 7 folds",
                 try_split(ctx, "folds=7", &target, NULL, 0));
    assert_fails(ctx, KFE_EINPUT, "1 rows", try_split(ctx, "folds=2", &target, one, 1));
    assert_fails(ctx, KFE_EINPUT, "at least two", try_split(ctx, "split=random", &target, one, 1));
    assert_fails(ctx, KFE_EINPUT, "leaves no row of 6",
                 try_split(ctx, "split=random,train-size=6", &target, NULL, 0));
    assert_fails(ctx, KFE_EINVAL, "1.5", try_split(ctx, "split=random,train-size=1.5", &target, NULL, 0));
    assert_fails(ctx, KFE_EINVAL, "split-file", try_split(ctx, "split=file", &target, NULL, 0));
    assert_fails(ctx, KFE_EINVAL, "whole data", try_split(ctx, "split=file,split-file=x", &target, one, 1));
    assert_fails(ctx, KFE_EIO, "cannot open",
                 try_split(ctx, "split=file,split-file=/nowhere", &target, NULL, 0));
    assert_fails(ctx, KFE_ELIMIT, "fewer folds or repeats",
                 try_split(ctx, "folds=2,repeats=1000000000000000", &target, NULL, 0));
    kfe_i_target_free(&target);
}

/* ---- files ---- */

static void assert_rows(const int64_t *got, int64_t count, int expected_count, const int64_t *expected)
{
    assert_int_equal(count, expected_count);
    assert_memory_equal(got, expected, (size_t)count * sizeof *got);
}

static void test_file(void **state)
{
    kfe_context *ctx = *state;
    static const char *const texts[] = {
        "train 3 1 2\ntest 4-6 8\ntrain 8\ntest 1\n",
        "\xef\xbb\xbf# train 9\r\n\r\ntrain 2,3, 1\r\ntest\t4-5,6-6\r\n8 # train\r\ntrain 8 test 1",
        "train\n1-3\ntest\n8\n4\n5\n6\ntrain\n8\ntest\n1",
    };
    static const int64_t first_train[] = {0, 1, 2};
    static const int64_t first_test[] = {3, 4, 5, 7};
    static const int64_t seven = 7;
    static const int64_t zero = 0;
    static const int64_t sizes[] = {4, 4};
    kfe_i_target target = target_of(ctx, 2, sizes);

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char options[600];
        snprintf(options, sizeof options, "split=file,split-file=%s", support_text("s.txt", texts[k]));
        kfe_i_splits splits = make(ctx, options, &target, 0);
        assert_int_equal(splits.count, 2);
        assert_rows(splits.items[0].train, splits.items[0].train_count, 3, first_train);
        assert_rows(splits.items[0].test, splits.items[0].test_count, 4, first_test);
        assert_rows(splits.items[1].train, splits.items[1].train_count, 1, &seven);
        assert_rows(splits.items[1].test, splits.items[1].test_count, 1, &zero);
        assert_int_equal(splits.items[1].repeat, 1);
        assert_int_equal(splits.items[1].fold, 0);
        kfe_i_splits_free(&splits);
    }
    kfe_i_target_free(&target);
}

/* ---- held-out rows ---- */

/* 5 × 2: a third of the rows is held out for all tests; training and validation share the rest. */
static void test_held_out(void **state)
{
    kfe_context *ctx = *state;
    const int64_t sizes[] = {60, 30};
    kfe_i_target target = target_of(ctx, 2, sizes);
    kfe_i_splits splits = make(ctx, "split=held-out,train-size=60,folds=2,repeats=5", &target, 0);

    assert_int_equal(splits.count, 10);
    for (int64_t s = 0; s < splits.count; s++) {
        const kfe_i_split *split = &splits.items[s];
        kfe_i_split inner = *split;
        char rest[MAX_ROWS];

        inner.test = split->validation;
        inner.test_count = split->validation_count;
        memset(rest, 1, sizeof rest);
        for (int64_t i = 0; i < split->test_count; i++)
            rest[split->test[i]] = 0;
        check_partition(&inner, target.rows, rest);
        assert_int_equal(split->test_count, 30);
        assert_memory_equal(split->test, splits.items[0].test, 30 * sizeof *split->test);
        int64_t third = count_class(&target, split->test, split->test_count, 0);
        assert_true(third == 20 || third == 10); /* classes are numbered by first appearance */
        assert_int_equal(count_class(&target, split->train, split->train_count, 0), third);
        assert_int_equal(split->repeat, s / 2);
        assert_int_equal(split->fold, s % 2);
    }
    /* the two folds of a repeat swap roles */
    assert_memory_equal(splits.items[0].train, splits.items[1].validation, 30 * sizeof(int64_t));
    kfe_i_splits_free(&splits);
    kfe_i_target_free(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_defaults),
        with_context(test_folds),
        with_context(test_folds_without_classes),
        with_context(test_random_shares),
        with_context(test_random_shares_are_rounded),
        with_context(test_random_without_classes),
        with_context(test_random_keeps_small_classes),
        with_context(test_large_class_gives_way),
        with_context(test_share_is_rounded),
        with_context(test_seed_and_purpose),
        with_context(test_subset),
        with_context(test_small_classes_give_one_warning),
        with_context(test_bad_requests_are_refused),
        with_context(test_file),
        with_context(test_held_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
