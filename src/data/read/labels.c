/* SPDX-License-Identifier: Apache-2.0 */
/* Collects a label column while a file is read, and turns it into classes or real targets at the end. */
#include "data/read/labels.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/read/read.h"
#include "data/target/classes.h"
#include "data/target/task.h"

void kfe_i_labels_init(kfe_i_labels *labels, kfe_context *ctx)
{
    memset(labels, 0, sizeof *labels);
    labels->ctx = ctx;
    kfe_i_intern_init(&labels->words, ctx);
}

void kfe_i_labels_free(kfe_i_labels *labels)
{
    if (!labels->ctx)
        return;
    kfe_i_free(labels->ctx, labels->name);
    kfe_i_free(labels->ctx, labels->codes);
    kfe_i_free(labels->ctx, labels->numbers);
    kfe_i_free(labels->ctx, labels->first_line);
    kfe_i_intern_free(&labels->words);
    memset(labels, 0, sizeof *labels);
}

kfe_status kfe_i_labels_reserve(kfe_i_labels *labels, int64_t rows)
{
    int32_t *codes;

    if (rows <= labels->capacity)
        return KFE_OK;
    codes = kfe_i_resize(labels->ctx, labels->codes, rows, sizeof *codes);
    if (!codes)
        return kfe_i_lack(labels->ctx);
    labels->codes = codes;
    labels->capacity = rows;
    return KFE_OK;
}

kfe_status kfe_i_labels_add_missing(kfe_i_labels *labels)
{
    kfe_status status = KFE_OK;

    KFE_GROW(labels->ctx, labels->codes, labels->capacity, labels->rows + 1);
    labels->codes[labels->rows++] = -1;
cleanup:
    return status;
}

kfe_status kfe_i_labels_add(kfe_i_labels *labels, const char *word, int64_t length, kfe_i_line_fn line,
                            void *user, const char *place)
{
    kfe_status status = KFE_OK;
    int64_t known = labels->words.count;
    int32_t code = 0;

    KFE_GROW(labels->ctx, labels->codes, labels->capacity, labels->rows + 1);
    KFE_GROW(labels->ctx, labels->first_line, labels->line_capacity, known + 1);
    KFE_TRY(kfe_i_intern_add(&labels->words, word, length, &code));
    if (code == known)
        labels->first_line[code] = line ? line(user, place) : 0;
    labels->codes[labels->rows++] = code;
cleanup:
    return status;
}

kfe_status kfe_i_labels_drop_header_row(kfe_i_labels *labels)
{
    kfe_i_labels rest;
    kfe_status status = KFE_OK;

    if (labels->rows == 0 || !labels->codes)
        return KFE_OK;
    kfe_i_labels_init(&rest, labels->ctx);
    rest.present = 1;
    if (labels->codes[0] >= 0)
        KFE_STRDUP(labels->ctx, rest.name, kfe_i_intern_word(&labels->words, labels->codes[0]));
    for (int64_t i = 1; i < labels->rows; i++) {
        int32_t code = labels->codes[i];
        if (code < 0)
            KFE_TRY(kfe_i_labels_add_missing(&rest));
        else
            KFE_TRY(kfe_i_labels_add(&rest, kfe_i_intern_word(&labels->words, code),
                                     kfe_i_intern_length(&labels->words, code), NULL, NULL, NULL));
        if (code >= 0)
            rest.first_line[rest.codes[i - 1]] = labels->first_line[code];
    }
    kfe_i_labels_free(labels);
    *labels = rest;
    return KFE_OK;
cleanup:
    kfe_i_labels_free(&rest);
    return status;
}

int64_t kfe_i_labels_find_missing(const kfe_i_labels *labels)
{
    for (int64_t i = 0; i < labels->rows; i++)
        if (labels->codes ? labels->codes[i] < 0 : isnan(labels->numbers[i]))
            return i;
    return -1;
}

void kfe_i_labels_keep_rows(kfe_i_labels *labels, const int64_t *index, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (labels->codes)
            labels->codes[i] = labels->codes[index[i]];
        else
            labels->numbers[i] = labels->numbers[index[i]];
    }
    labels->rows = count;
}

static kfe_status not_a_number(const kfe_i_labels *labels, const char *file, int64_t word)
{
    return kfe_i_fail_at(labels->ctx, KFE_EINPUT, file, labels->first_line[word], labels->column,
                         "the label '%.100s' is not a finite number; correct it, or take labels as classes "
                         "with {task=classify}",
                         kfe_i_intern_word(&labels->words, word));
}

static kfe_status check_encoding(const kfe_i_labels *labels, const char *file)
{
    for (int64_t k = 0; k < labels->words.count; k++)
        if (!kfe_i_is_utf8(kfe_i_intern_word(&labels->words, k)))
            return kfe_i_fail_at(labels->ctx, KFE_EINPUT, file, labels->first_line[k], labels->column,
                                 "the label is not UTF-8 text; if the file is Latin-1, convert it first "
                                 "with 'iconv -f latin1 -t utf-8'");
    return KFE_OK;
}

/* ---- classes or real values ---- */

/* The words converted to numbers. What they are taken as depends on those of rows that count. */
typedef struct numbers {
    double *values; /* one per word; NaN: text */
    int64_t count;
    double *asked; /* the values of words in rows of weight above 0 */
    int text;      /* some of these words are text */
    int floating;  /* each of them is written with a decimal point or exponent */
} numbers;

/* used[k]: whether a row that counts has word k; all words if no row counts. */
static void mark_used(const kfe_i_labels *labels, const double *weights, unsigned char *used)
{
    int any = 0;

    for (int64_t i = 0; weights && i < labels->rows; i++)
        if (weights[i] > 0)
            any = used[labels->codes[i]] = 1;
    if (!any)
        memset(used, 1, (size_t)labels->words.count);
}

static kfe_status read_words(const kfe_i_labels *labels, const double *weights, numbers *out)
{
    kfe_status status = KFE_OK;
    unsigned char *used = NULL;

    KFE_ALLOC_ZERO(labels->ctx, used, labels->words.count);
    KFE_ALLOC(labels->ctx, out->values, labels->words.count);
    KFE_ALLOC(labels->ctx, out->asked, labels->words.count);
    mark_used(labels, weights, used);
    out->floating = 1;
    for (int64_t k = 0; k < labels->words.count; k++) {
        const char *word = kfe_i_intern_word(&labels->words, k);
        int is_text =
            !kfe_i_parse_number(word, word + kfe_i_intern_length(&labels->words, k), &out->values[k]);
        if (is_text)
            out->values[k] = (double)NAN;
        if (!used[k])
            continue;
        out->asked[out->count++] = out->values[k];
        out->text |= is_text;
        out->floating &= strpbrk(word, ".eE") != NULL;
    }
cleanup:
    kfe_i_free(labels->ctx, used);
    return status;
}

/* The same for numbers: those of rows that count. */
static int64_t pick_numbers(const kfe_i_labels *labels, const double *weights, double *asked)
{
    int64_t count = 0;

    for (int64_t i = 0; i < labels->rows; i++)
        if (!weights || weights[i] > 0)
            asked[count++] = labels->numbers[i];
    if (count == 0 && labels->rows > 0)
        memcpy(asked, labels->numbers, (size_t)labels->rows * sizeof *asked);
    return count == 0 ? labels->rows : count;
}

static kfe_status real_target(const kfe_i_labels *labels, const char *file, const double *number,
                              kfe_i_target *out)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; k < labels->words.count; k++)
        if (!isfinite(number[k]))
            return not_a_number(labels, file, k);
    KFE_ALLOC(labels->ctx, out->values, labels->rows);
    for (int64_t i = 0; i < labels->rows; i++)
        out->values[i] = number[labels->codes[i]];
    out->cols = 1;
    out->task = KFE_TASK_REAL;
cleanup:
    return status;
}

static kfe_status class_target(kfe_i_labels *labels, const char *file, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    int32_t *codes = labels->codes;

    KFE_TRY(check_encoding(labels, file));
    labels->codes = NULL;
    KFE_TRY(kfe_i_classes_from_words(&labels->words, codes, out));
    out->task = KFE_TASK_CLASSES;
cleanup:
    return status;
}

/* What the settings, the model or the file say; KFE_TASK_NONE: the values decide. */
static kfe_task wanted_task(const kfe_i_labels *labels, const kfe_i_read_settings *settings)
{
    static const kfe_task asked[] = {KFE_TASK_NONE, KFE_TASK_CLASSES, KFE_TASK_REAL};
    kfe_task task = asked[settings->task];

    if (task == KFE_TASK_NONE && settings->expected)
        task = settings->expected->task == KFE_TASK_REAL ? KFE_TASK_REAL : KFE_TASK_CLASSES;
    return task == KFE_TASK_NONE && labels->nominal ? KFE_TASK_CLASSES : task;
}

/* Of rows that come in parts: notes the numbers of a part, if the first part left it to its numbers what they are. */
static kfe_status note_numbers(const kfe_i_labels *labels, const char *file,
                               const kfe_i_read_settings *settings, int guessed, int64_t count,
                               const double *values, int floating)
{
    kfe_i_seen_numbers part = {0};
    kfe_i_task_guess *guess = settings->guess;

    if (!guess || (!guessed && guess->task == KFE_TASK_NONE))
        return KFE_OK;
    kfe_i_see_numbers(count, values, floating, &part);
    return kfe_i_task_guess_add(labels->ctx, file, &part, guess);
}

static kfe_status words_to_target(kfe_i_labels *labels, const char *file, const kfe_i_read_settings *settings,
                                  const double *weights, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    kfe_task task = wanted_task(labels, settings);
    numbers found = {0};

    out->ctx = labels->ctx;
    out->rows = labels->rows;
    KFE_TRY(read_words(labels, weights, &found));
    if (found.text && settings->task == KFE_TASK_OPTION_AUTO)
        task = KFE_TASK_CLASSES; /* also for a model of real values, which may not use the labels at all */
    int guessed = task == KFE_TASK_NONE;
    if (guessed)
        task = kfe_i_guess_task(labels->ctx, file, found.count, found.asked, found.floating);
    if (found.text && settings->guess)
        settings->guess->text = 1;
    else
        KFE_TRY(note_numbers(labels, file, settings, guessed, found.count, found.asked, found.floating));
    status = task == KFE_TASK_CLASSES ? class_target(labels, file, out)
                                      : real_target(labels, file, found.values, out);
cleanup:
    kfe_i_free(labels->ctx, found.values);
    kfe_i_free(labels->ctx, found.asked);
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

static kfe_status numbers_to_target(const kfe_i_labels *labels, const char *file,
                                    const kfe_i_read_settings *settings, const double *weights,
                                    kfe_i_target *out)
{
    kfe_task task = wanted_task(labels, settings);
    kfe_status status = KFE_OK;
    int guessed = task == KFE_TASK_NONE;
    double *asked = NULL;

    KFE_ALLOC(labels->ctx, asked, labels->rows);
    int64_t count = pick_numbers(labels, weights, asked);
    if (guessed)
        task = kfe_i_guess_task(labels->ctx, file, count, asked, labels->floating);
    KFE_TRY(note_numbers(labels, file, settings, guessed, count, asked, labels->floating));
    status = kfe_i_target_from_numbers(labels->ctx, labels->rows, labels->numbers, task, out);
    if (status == KFE_EINPUT)
        status = kfe_i_fail_prefix(labels->ctx, status, file);
cleanup:
    kfe_i_free(labels->ctx, asked);
    return status;
}

kfe_status kfe_i_labels_to_target(kfe_i_labels *labels, const char *file, const kfe_i_read_settings *settings,
                                  const double *weights, kfe_i_target *out)
{
    memset(out, 0, sizeof *out);
    if (labels->codes)
        return words_to_target(labels, file, settings, weights, out);
    return numbers_to_target(labels, file, settings, weights, out);
}
