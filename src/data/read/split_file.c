/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files that say which examples are for training and which for testing; cross-validation uses them. */
#include "data/read/split_file.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"

enum { BEFORE_ANY, IN_TRAIN, IN_TEST };

typedef struct split_reader {
    kfe_context *ctx;
    const char *name; /* of the file */
    int64_t rows;
    kfe_i_split_fn use;
    void *user;
    int part;           /* BEFORE_ANY, IN_TRAIN or IN_TEST */
    int64_t split;      /* 1-based number of the split at hand */
    int64_t split_line; /* where it began */
    int64_t *train, *test;
    int64_t train_count, test_count;
    int64_t *seen; /* of each row: 2·split + (0: train, 1: test) of where it was last */
    int64_t line;
    const char *line_begin;
} split_reader;

typedef struct token {
    const char *begin, *end;
} token;

static kfe_status fail_at(const split_reader *reader, token word, const char *reason)
{
    int64_t length = word.end - word.begin;

    return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->name, reader->line,
                         word.begin - reader->line_begin + 1, "'%.*s': %s", (int)(length < 60 ? length : 60),
                         word.begin, reason);
}

/* ---- row numbers ---- */

static kfe_status take_row(split_reader *reader, token word, int64_t row)
{
    int64_t in_train = 2 * reader->split;
    int64_t in_test = in_train + 1;
    int64_t here = reader->part == IN_TEST ? in_test : in_train;
    int64_t before = reader->seen[row];

    if (before == in_train || before == in_test)
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->name, reader->line,
                             word.begin - reader->line_begin + 1, "row %lld %s; remove one of the two",
                             (long long)row + 1,
                             before == here ? "is listed twice" : "is both in train and in test");
    reader->seen[row] = here;
    if (reader->part == IN_TEST)
        reader->test[reader->test_count++] = row;
    else
        reader->train[reader->train_count++] = row;
    return KFE_OK;
}

/* Reads digits; numbers too large to matter stop growing. Returns the place after them. */
static const char *scan_number(const char *c, const char *end, int64_t *out)
{
    *out = 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++)
        *out = *out < INT64_MAX / 100 ? *out * 10 + (*c - '0') : INT64_MAX / 10;
    return c;
}

static kfe_status take_range(split_reader *reader, token word, int64_t first, int64_t last)
{
    kfe_status status = KFE_OK;
    char reason[128];

    if (first == 0)
        return fail_at(reader, word, "rows count from 1; add 1 to all of them");
    if (last < first)
        return fail_at(reader, word, "a range must rise, as in 3-7");
    if (last > reader->rows) {
        snprintf(reason, sizeof reason, "the data has only %lld rows; is this the split of another file?",
                 (long long)reader->rows);
        return fail_at(reader, word, reason);
    }
    for (int64_t row = first - 1; row < last; row++)
        KFE_TRY(take_row(reader, word, row));
cleanup:
    return status;
}

static kfe_status take_rows(split_reader *reader, token word)
{
    int64_t first = 0;
    int64_t last = 0;
    const char *c = scan_number(word.begin, word.end, &first);
    int has_first = c > word.begin;
    const char *dash = c;

    last = first;
    if (has_first && c < word.end && *c == '-') {
        c = scan_number(dash + 1, word.end, &last);
        has_first = c > dash + 1;
    }
    if (!has_first || c < word.end)
        return fail_at(reader, word, "expected a row number, a range such as 3-7, 'train' or 'test'");
    if (reader->part == BEFORE_ANY)
        return fail_at(reader, word, "row numbers before the word 'train'; begin with it");
    return take_range(reader, word, first, last);
}

/* ---- splits ---- */

static kfe_status finish_split(split_reader *reader)
{
    if (reader->part == BEFORE_ANY)
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->name, 0, 0,
                             "there is no split in it; write 'train' and row numbers, then 'test' and row "
                             "numbers");
    if (reader->train_count == 0 || reader->test_count == 0)
        return kfe_i_fail_at(reader->ctx, KFE_EINPUT, reader->name, reader->split_line, 0,
                             "the split that begins here has no %s rows; list them after the word '%s'",
                             reader->train_count == 0 ? "training" : "test",
                             reader->train_count == 0 ? "train" : "test");
    return reader->use(reader->user, reader->train, reader->train_count, reader->test, reader->test_count);
}

static kfe_status begin_train(split_reader *reader)
{
    kfe_status status = KFE_OK;

    if (reader->part != BEFORE_ANY)
        KFE_TRY(finish_split(reader));
    reader->part = IN_TRAIN;
    reader->split++;
    reader->split_line = reader->line;
    reader->train_count = reader->test_count = 0;
cleanup:
    return status;
}

static kfe_status begin_test(split_reader *reader, token word)
{
    if (reader->part == BEFORE_ANY)
        return fail_at(reader, word, "a split begins with its training rows; put 'train' before");
    if (reader->part == IN_TEST)
        return fail_at(reader, word, "a second 'test' in one split; begin the next split with 'train'");
    reader->part = IN_TEST;
    return KFE_OK;
}

static int says(token word, const char *text)
{
    size_t length = (size_t)(word.end - word.begin);
    return length == strlen(text) && memcmp(word.begin, text, length) == 0;
}

static kfe_status take_word(split_reader *reader, token word)
{
    if (says(word, "train"))
        return begin_train(reader);
    if (says(word, "test"))
        return begin_test(reader, word);
    return take_rows(reader, word);
}

/* ---- text ---- */

static int is_separator(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/* Skips separators and comments, counting lines. */
static const char *skip_to_word(split_reader *reader, const char *c, const char *end)
{
    while (c < end && (is_separator(*c) || *c == '#')) {
        if (*c == '#')
            while (c < end && *c != '\n' && *c != '\r')
                c++;
        if (c < end && *c == '\n') {
            reader->line++;
            reader->line_begin = c + 1;
        }
        c += c < end;
    }
    return c;
}

static kfe_status take_text(split_reader *reader, const char *c, const char *end)
{
    kfe_status status = KFE_OK;

    if (end - c >= 3 && memcmp(c, "\xef\xbb\xbf", 3) == 0)
        c += 3;
    reader->line = 1;
    reader->line_begin = c;
    while ((c = skip_to_word(reader, c, end)) < end) {
        token word = {c, c};
        while (word.end < end && !is_separator(*word.end) && *word.end != '#')
            word.end++;
        KFE_TRY(take_word(reader, word));
        c = word.end;
    }
    KFE_TRY(finish_split(reader));
cleanup:
    return status;
}

kfe_status kfe_i_split_source_read(kfe_i_source *source, int64_t rows, kfe_i_split_fn use, void *user)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = source->ctx;
    kfe_i_arena memory = {.ctx = ctx};
    split_reader reader = {.ctx = ctx, .name = source->name, .rows = rows, .use = use, .user = user};
    char *bytes = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_source_read_all(source, &bytes, &count));
    KFE_TAKE(&memory, reader.train, rows);
    KFE_TAKE(&memory, reader.test, rows);
    KFE_TAKE_ZERO(&memory, reader.seen, rows);
    KFE_TRY(take_text(&reader, bytes, bytes + count));
cleanup:
    kfe_i_free(ctx, bytes);
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_split_file_read(kfe_context *ctx, const char *path, int64_t rows, kfe_i_split_fn use,
                                 void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_source source;

    KFE_TRY(kfe_i_source_open(ctx, path, &source));
    KFE_TRY(kfe_i_split_source_read(&source, rows, use, user));
cleanup:
    kfe_i_source_close(&source);
    return status;
}
