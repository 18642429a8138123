/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides rows into training and test parts, for assess.c and kfe_splits_make.
 *
 * Folds: each class is shuffled, and its members are dealt to the folds in turn, beginning with the fold after
 * the last one served. The sizes of two folds differ by at most one, and so do their members of any class.
 *
 * Random: T of n rows are for training, divided over the classes as quotas.h says.
 *
 * Held out: one random part is the test part of every split. The rest is divided into folds: each in turn is for
 * validation, the others for training.
 *
 * Rows of weight zero are in no part.
 *
 * Each repeat has a random stream of its own. Time and memory are O(n) per split, plus O(n) to group the classes.
 */
#include "select/splits.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "data/read/split_file.h"
#include "select/quotas.h"

static const kfe_i_param protocol_rows[] = {
    KFE_CHOICE(
        kfe_i_protocol, kind, "split", "folds",
        "folds|random|file|held-out|leave-group-out|kennard-stone|spxy",
        "how rows are divided: into folds, into random parts, as a file says, one part held out for all "
        "tests and the rest in folds for training and validation, each group in turn for testing, or one "
        "split whose training rows evenly cover the space of the columns (kennard-stone) or of columns and "
        "targets (spxy)"),
    KFE_INT(kfe_i_protocol, folds, "folds", "5", 2, KFE_INT_MAX, "number of folds"),
    KFE_INT(kfe_i_protocol, repeats, "repeats", "1", 1, KFE_INT_MAX,
            "how many times the rows (held-out: those not held out) are divided"),
    KFE_REAL(kfe_i_protocol, train_size, "train-size", "0.5", KFE_REAL_POSITIVE, KFE_INT_MAX,
             "number of training rows of random parts, or of rows not held out; below 1: their share"),
    KFE_FLAG(kfe_i_protocol, stratified, "stratified", "yes", "keep the proportions of the classes"),
    KFE_TEXT(kfe_i_protocol, file, "split-file", "",
             "file of splits: the words train and test, each before row numbers"),
};

const kfe_i_param_table kfe_i_protocol_params = KFE_PARAM_TABLE(protocol_rows, kfe_i_protocol);

/* The rows to divide. Position i (0 … count−1) is the i-th smallest row number. */
typedef struct division {
    kfe_context *ctx;
    const kfe_i_protocol *protocol;
    uint64_t purpose;
    int or_fewer; /* as of kfe_i_split_rows */
    int64_t count;
    int64_t *rows;    /* row number of each position */
    int64_t groups;   /* classes, or 1 if the splits are not stratified */
    int64_t *start;   /* groups + 1: where each group begins in `grouped` */
    int64_t *grouped; /* positions, group by group */
    int64_t *dealt;   /* the same, each group shuffled */
    int64_t *part;    /* of each position: its fold, or for random splits 0 (training) or 1 (test) */
} division;

/* ---- the rows and their groups ---- */

static void list_rows(division *all, const int64_t *subset)
{
    for (int64_t i = 0; i < all->count; i++)
        all->rows[i] = subset ? subset[i] : i;
    kfe_i_sort_rows(all->rows, all->count);
}

static int64_t group_of(const division *all, const kfe_i_target *target, int64_t position)
{
    return all->groups > 1 ? target->codes[all->rows[position]] : 0;
}

/* Counting sort. While rows are placed, start[g] is where the next row of group g goes. */
static void sort_into_groups(division *all, const kfe_i_target *target)
{
    for (int64_t i = 0; i < all->count; i++)
        all->start[group_of(all, target, i) + 1]++;
    for (int64_t g = 0; g < all->groups; g++)
        all->start[g + 1] += all->start[g];
    for (int64_t i = 0; i < all->count; i++)
        all->grouped[all->start[group_of(all, target, i)]++] = i;
    for (int64_t g = all->groups; g > 0; g--)
        all->start[g] = all->start[g - 1];
    all->start[0] = 0;
}

static kfe_status begin_division(division *all, const kfe_i_split_rows *from)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = from->target;
    int by_class = all->protocol->stratified && target && target->task == KFE_TASK_CLASSES;

    all->count = from->subset ? from->subset_count : from->rows;
    all->groups = by_class && target->class_count > 0 ? target->class_count : 1;
    KFE_ALLOC(all->ctx, all->rows, all->count);
    KFE_ALLOC_ZERO(all->ctx, all->start, all->groups + 1);
    KFE_ALLOC(all->ctx, all->grouped, all->count);
    KFE_ALLOC(all->ctx, all->dealt, all->count);
    KFE_ALLOC_ZERO(all->ctx, all->part, all->count);
    list_rows(all, from->subset);
    sort_into_groups(all, target);
cleanup:
    return status;
}

static void end_division(division *all)
{
    kfe_i_free(all->ctx, all->rows);
    kfe_i_free(all->ctx, all->start);
    kfe_i_free(all->ctx, all->grouped);
    kfe_i_free(all->ctx, all->dealt);
    kfe_i_free(all->ctx, all->part);
}

static int64_t members(const division *all, int64_t group)
{
    return all->start[group + 1] - all->start[group];
}

/* ---- randomness ---- */

/* Purposes and repeats are small numbers. Mixing them with odd constants keeps their streams apart from each
 * other and from those of other uses. */
uint64_t kfe_i_split_stream(uint64_t purpose, int64_t repeat)
{
    uint64_t stream = KFE_STREAM_SPLITS;

    stream = (stream ^ (purpose + 1)) * 0x9e3779b97f4a7c15u + KFE_STREAM_SPLITS;
    stream = (stream ^ (stream >> 29) ^ ((uint64_t)repeat + 1)) * 0xbf58476d1ce4e5b9u;
    return stream ^ (stream >> 32);
}

void kfe_i_split_rng(const kfe_context *ctx, uint64_t purpose, int64_t repeat, kfe_i_rng *rng)
{
    kfe_i_rng_init(rng, ctx->seed, kfe_i_split_stream(purpose, repeat));
}

static void begin_repeat(const division *all, int64_t repeat, kfe_i_rng *rng)
{
    kfe_i_split_rng(all->ctx, all->purpose, repeat, rng);
}

/* Starts from the order of the rows each time, so that a repeat does not depend on earlier ones. */
static void shuffle_groups(division *all, kfe_i_rng *rng)
{
    memcpy(all->dealt, all->grouped, (size_t)all->count * sizeof *all->dealt);
    for (int64_t g = 0; g < all->groups; g++)
        kfe_i_rng_shuffle(rng, all->dealt + all->start[g], members(all, g));
}

/* ---- results ---- */

/* Appends a split with room for so many rows; its counts are still 0. */
static kfe_status add_split(kfe_i_splits *splits, int64_t train_count, int64_t test_count, kfe_i_split **out)
{
    kfe_status status = KFE_OK;
    kfe_i_split *split = NULL;

    KFE_GROW(splits->ctx, splits->items, splits->capacity, splits->count + 1);
    split = &splits->items[splits->count++];
    memset(split, 0, sizeof *split);
    KFE_ALLOC(splits->ctx, split->train, train_count);
    KFE_ALLOC(splits->ctx, split->test, test_count);
    *out = split;
cleanup:
    return status;
}

kfe_status kfe_i_splits_add_part(kfe_i_splits *splits, const kfe_i_parts *parts, int64_t test_part,
                                 int64_t repeat, int64_t fold)
{
    kfe_status status = KFE_OK;
    kfe_i_split *split = NULL;
    int64_t test_count = 0;

    for (int64_t i = 0; i < parts->count; i++)
        test_count += parts->part[i] == test_part;
    KFE_TRY(add_split(splits, parts->count - test_count, test_count, &split));
    split->repeat = repeat;
    split->fold = fold;
    for (int64_t i = 0; i < parts->count; i++)
        if (parts->part[i] == test_part)
            split->test[split->test_count++] = parts->rows[i];
        else
            split->train[split->train_count++] = parts->rows[i];
cleanup:
    return status;
}

/* The rows of the division, of which those of `test_part` are for testing. */
static kfe_status add_fold(const division *all, int64_t repeat, int64_t fold, int64_t test_part,
                           kfe_i_splits *splits)
{
    const kfe_i_parts parts = {all->count, all->rows, all->part};

    return kfe_i_splits_add_part(splits, &parts, test_part, repeat, fold);
}

kfe_status kfe_i_splits_add(kfe_i_splits *splits, const int64_t *train, int64_t train_count,
                            const int64_t *test, int64_t test_count)
{
    kfe_status status = KFE_OK;
    kfe_i_split *split = NULL;

    KFE_TRY(add_split(splits, train_count, test_count, &split));
    split->train_count = train_count;
    split->test_count = test_count;
    memcpy(split->train, train, (size_t)train_count * sizeof *train);
    memcpy(split->test, test, (size_t)test_count * sizeof *test);
    kfe_i_sort_rows(split->train, train_count);
    kfe_i_sort_rows(split->test, test_count);
cleanup:
    return status;
}

void kfe_i_splits_free(kfe_i_splits *splits)
{
    for (int64_t i = 0; i < splits->count; i++) {
        kfe_i_free(splits->ctx, splits->items[i].train);
        kfe_i_free(splits->ctx, splits->items[i].test);
        kfe_i_free(splits->ctx, splits->items[i].validation);
    }
    if (splits->ctx)
        kfe_i_free(splits->ctx, splits->items);
    memset(splits, 0, sizeof *splits);
}

static kfe_status check_size(const division *all, double splits)
{
    return kfe_i_check_memory(all->ctx, splits * (double)all->count * sizeof(int64_t),
                              "the list of all splits", "use fewer folds or repeats, or raise {memory}");
}

/* ---- folds ---- */

/* start: classes + 1, where the rows of each class begin. */
void kfe_i_warn_of_small_classes(kfe_context *ctx, const kfe_i_target *target, int64_t folds,
                                 const int64_t *start)
{
    int64_t small = 0;
    int64_t smallest = -1;
    int64_t fewest = folds;

    for (int64_t g = 0; g < target->class_count; g++) {
        int64_t members = start[g + 1] - start[g];
        small += members > 0 && members < folds;
        if (members > 0 && members < fewest) {
            smallest = g;
            fewest = members;
        }
    }
    if (small == 0)
        return;
    kfe_i_log(ctx, KFE_LOG_WARNING,
              "class '%s' has %lld row%s, fewer than the %lld folds%s: some folds have none of them; %s",
              target->names[smallest], (long long)fewest, fewest == 1 ? "" : "s", (long long)folds,
              small > 1 ? ", and so have others" : "",
              fewest == 1 ? "leave the class out, or add rows of it" : "use fewer folds");
}

static kfe_status make_folds(division *all, const kfe_i_target *target, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    int64_t folds = all->protocol->folds;

    if (all->or_fewer && folds > all->count && all->count >= 2)
        folds = all->count;
    if (all->count < folds)
        KFE_FAIL(all->ctx, KFE_EINPUT, "%lld rows cannot be divided into %lld folds; use fewer folds",
                 (long long)all->count, (long long)folds);
    KFE_TRY(check_size(all, (double)folds * (double)all->protocol->repeats));
    if (all->groups > 1)
        kfe_i_warn_of_small_classes(all->ctx, target, folds, all->start);
    for (int64_t repeat = 0; repeat < all->protocol->repeats; repeat++) {
        kfe_i_rng rng;
        begin_repeat(all, repeat, &rng);
        shuffle_groups(all, &rng);
        for (int64_t k = 0; k < all->count; k++)
            all->part[all->dealt[k]] = k % folds;
        for (int64_t fold = 0; fold < folds; fold++)
            KFE_TRY(add_fold(all, repeat, fold, fold, out));
    }
cleanup:
    return status;
}

/* ---- random parts ---- */

kfe_status kfe_i_split_train_rows(kfe_context *ctx, const kfe_i_protocol *protocol, int64_t count,
                                  int64_t *out)
{
    double size = protocol->train_size;

    if (count < 2)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%lld rows cannot be divided into training and test rows; at least two are needed",
                          (long long)count);
    if (size >= 1 && size != floor(size))
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{train-size=%g} is neither a share below 1 nor a whole number of rows", size);
    if (size >= (double)count)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "{train-size=%.0f} leaves no row of %lld for testing; make it smaller", size,
                          (long long)count);
    if (size >= 1)
        *out = (int64_t)size;
    else
        *out = kfe_i_clamped((int64_t)floor(size * (double)count + 0.5), 1, count - 1);
    return KFE_OK;
}

static void assign_parts(division *all, const int64_t *taken)
{
    for (int64_t g = 0; g < all->groups; g++)
        for (int64_t k = all->start[g]; k < all->start[g + 1]; k++)
            all->part[all->dealt[k]] = k - all->start[g] >= taken[g];
}

static kfe_status make_random(division *all, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    int64_t *taken = NULL;
    int64_t train_count = 0;

    KFE_TRY(kfe_i_split_train_rows(all->ctx, all->protocol, all->count, &train_count));
    KFE_TRY(check_size(all, (double)all->protocol->repeats));
    KFE_ALLOC(all->ctx, taken, all->groups);
    for (int64_t repeat = 0; repeat < all->protocol->repeats; repeat++) {
        kfe_i_rng rng;
        begin_repeat(all, repeat, &rng);
        KFE_TRY(kfe_i_split_quotas(all->ctx, all->start, all->groups, train_count, &rng, taken));
        shuffle_groups(all, &rng);
        assign_parts(all, taken);
        KFE_TRY(add_fold(all, repeat, 0, 1, out));
    }
cleanup:
    kfe_i_free(all->ctx, taken);
    return status;
}

/* ---- splits from a file ---- */

/* Adds splits of the user, each of which counts as a repeat. */
static kfe_status take_given(kfe_i_splits *splits, const int64_t *train, int64_t train_count,
                             const int64_t *test, int64_t test_count)
{
    kfe_status status = kfe_i_splits_add(splits, train, train_count, test, test_count);

    if (status == KFE_OK)
        splits->items[splits->count - 1].repeat = splits->count - 1;
    return status;
}

typedef struct file_reader {
    kfe_i_splits *splits;
    const kfe_i_split_rows *from;
} file_reader;

/* Numbers of rows in the file become places in the data; rows that were left out are in no part. Returns how many are left. */
static int64_t find_places(const kfe_i_split_rows *from, int64_t count, int64_t *rows)
{
    int64_t kept = 0;
    int64_t place = 0;

    for (int64_t i = 0; i < count; i++) {
        while (place < from->rows && from->row_numbers[place] < rows[i])
            place++;
        if (place < from->rows && from->row_numbers[place] == rows[i])
            rows[kept++] = place;
    }
    return kept;
}

static kfe_status take_read(void *user, const int64_t *train, int64_t train_count, const int64_t *test,
                            int64_t test_count)
{
    const file_reader *reader = user;
    kfe_i_splits *splits = reader->splits;
    kfe_status status = take_given(splits, train, train_count, test, test_count);

    if (status != KFE_OK || !reader->from->row_numbers)
        return status;
    kfe_i_split *split = &splits->items[splits->count - 1];
    split->train_count = find_places(reader->from, split->train_count, split->train);
    split->test_count = find_places(reader->from, split->test_count, split->test);
    if (split->train_count == 0 || split->test_count == 0)
        return kfe_i_fail(splits->ctx, KFE_EINPUT,
                          "no %s row of split %lld of the file is left after {missing=drop}",
                          split->train_count == 0 ? "training" : "test", (long long)splits->count);
    return KFE_OK;
}

static kfe_status read_given(kfe_context *ctx, const kfe_i_protocol *protocol, const kfe_i_split_rows *from,
                             kfe_i_splits *out)
{
    if (from->subset)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "a file of splits is for the whole data, not for a part of it; use {split=folds} or "
            "{split=random} here");
    if (!protocol->file[0])
        return kfe_i_fail(ctx, KFE_EINVAL, "{split=file} needs the name of a file in {split-file}");
    return kfe_i_split_file_read(ctx, protocol->file,
                                 from->row_numbers ? from->row_numbers[from->rows] : from->rows, take_read,
                                 &(file_reader){out, from});
}

/* ---- splits of the user ---- */

static kfe_status copy_given(const kfe_i_split_rows *from, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;

    for (int64_t i = 0; i < from->given_count; i++)
        KFE_TRY(take_given(out, from->given[i].train, from->given[i].train_count, from->given[i].test,
                           from->given[i].test_count));
cleanup:
    return status;
}

kfe_i_split_rows kfe_i_split_all(const kfe_data *data)
{
    return (kfe_i_split_rows){.rows = kfe_data_rows(data),
                              .target = &data->target,
                              .data = data,
                              .groups = data->groups,
                              .given = data->splits,
                              .row_numbers = data->row_numbers,
                              .given_count = data->split_count};
}

kfe_i_split_rows kfe_i_split_some(const kfe_data *data, const int64_t *rows, int64_t count)
{
    return (kfe_i_split_rows){.rows = kfe_data_rows(data),
                              .target = &data->target,
                              .subset = rows,
                              .subset_count = count,
                              .data = data,
                              .groups = data->groups};
}

/* ---- held out ---- */

/* Makes the test part of the fold its validation part, and the held-out rows its test part. */
static kfe_status hold_out(kfe_context *ctx, const kfe_i_split *held, kfe_i_split *fold)
{
    kfe_status status = KFE_OK;

    fold->validation = fold->test;
    fold->validation_count = fold->test_count;
    fold->test = NULL;
    KFE_ALLOC(ctx, fold->test, held->test_count);
    fold->test_count = held->test_count;
    memcpy(fold->test, held->test, (size_t)held->test_count * sizeof *fold->test);
cleanup:
    return status;
}

static kfe_status make_held_out(kfe_context *ctx, const kfe_i_protocol *protocol,
                                const kfe_i_split_rows *from, uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    kfe_i_protocol once = *protocol;
    kfe_i_protocol rest = *protocol;
    kfe_i_split_rows remaining = *from;
    kfe_i_splits held = {0};

    once.kind = KFE_SPLIT_RANDOM;
    once.repeats = 1;
    rest.kind = KFE_SPLIT_FOLDS;
    KFE_TRY(kfe_i_splits_make(ctx, &once, from, purpose, &held));
    remaining.subset = held.items[0].train;
    remaining.subset_count = held.items[0].train_count;
    KFE_TRY(kfe_i_splits_make(ctx, &rest, &remaining, purpose, out));
    for (int64_t i = 0; i < out->count; i++)
        KFE_TRY(hold_out(ctx, &held.items[0], &out->items[i]));
cleanup:
    kfe_i_splits_free(&held);
    return status;
}

/* ---- rows of weight zero ---- */

static int64_t keep_weighty(const kfe_i_target *target, int64_t count, int64_t *rows)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < count; i++)
        if (target->weights[rows[i]] > 0)
            rows[kept++] = rows[i];
    return kept;
}

int64_t kfe_i_split_count(const kfe_i_split_rows *from)
{
    int64_t count = 0;

    for (int64_t i = 0; i < (from->subset ? from->subset_count : from->rows); i++)
        count += !from->target || kfe_i_weight_of(from->target, from->subset ? from->subset[i] : i) > 0;
    return count;
}

/* Takes rows of weight 0 out of splits that were given. */
static void drop_weightless(const kfe_i_target *target, kfe_i_splits *splits)
{
    for (int64_t s = 0; target && target->weights && s < splits->count; s++) {
        kfe_i_split *split = &splits->items[s];
        split->train_count = keep_weighty(target, split->train_count, split->train);
        split->test_count = keep_weighty(target, split->test_count, split->test);
        if (split->validation)
            split->validation_count = keep_weighty(target, split->validation_count, split->validation);
    }
}

/* Leaves out rows of weight 0, so that the others are divided as if there were none; the caller frees *kept. */
static kfe_status leave_weightless_out(kfe_context *ctx, kfe_i_split_rows *from, int64_t **kept)
{
    kfe_status status = KFE_OK;
    int64_t count = from->subset ? from->subset_count : from->rows;
    int64_t left;

    if (!from->target || !from->target->weights)
        return KFE_OK;
    KFE_ALLOC(ctx, *kept, count);
    for (int64_t i = 0; i < count; i++)
        (*kept)[i] = from->subset ? from->subset[i] : i;
    left = keep_weighty(from->target, count, *kept);
    if (left == count)
        goto cleanup;
    from->subset = *kept;
    from->subset_count = left;
cleanup:
    return status;
}

/* Divides what is not given. */
static kfe_status divide(kfe_context *ctx, const kfe_i_protocol *protocol, const kfe_i_split_rows *all_rows,
                         uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    kfe_i_split_rows from = *all_rows;
    int64_t *kept = NULL;
    division all = {.ctx = ctx, .protocol = protocol, .purpose = purpose, .or_fewer = from.or_fewer};

    KFE_TRY(leave_weightless_out(ctx, &from, &kept));
    if (protocol->kind == KFE_SPLIT_HELD_OUT) {
        KFE_TRY(make_held_out(ctx, protocol, &from, purpose, out));
    } else if (protocol->kind == KFE_SPLIT_KENNARD_STONE || protocol->kind == KFE_SPLIT_SPXY) {
        KFE_TRY(kfe_i_space_splits_make(ctx, protocol, &from, out));
    } else if (from.groups) {
        KFE_TRY(kfe_i_group_splits_make(ctx, protocol, &from, purpose, out));
    } else if (from.keys && protocol->kind == KFE_SPLIT_FOLDS) {
        KFE_TRY(kfe_i_content_splits_make(ctx, protocol, &from, purpose, out));
    } else {
        KFE_TRY(begin_division(&all, &from));
        KFE_TRY(protocol->kind == KFE_SPLIT_FOLDS ? make_folds(&all, from.target, out)
                                                  : make_random(&all, out));
    }
cleanup:
    end_division(&all);
    kfe_i_free(ctx, kept);
    return status;
}

kfe_status kfe_i_splits_make(kfe_context *ctx, const kfe_i_protocol *protocol, const kfe_i_split_rows *from,
                             uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    if (from->given_count > 0) {
        KFE_TRY(copy_given(from, out));
    } else if (protocol->kind == KFE_SPLIT_LEAVE_GROUP_OUT && !from->groups) {
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{split=leave-group-out} needs groups of rows; name their column with {groups}");
    } else if (protocol->kind == KFE_SPLIT_FILE) {
        KFE_TRY(read_given(ctx, protocol, from, out));
    } else {
        KFE_TRY(divide(ctx, protocol, from, purpose, out));
    }
    drop_weightless(from->target, out);
cleanup:
    if (status != KFE_OK)
        kfe_i_splits_free(out);
    return status;
}
