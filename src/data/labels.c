/* SPDX-License-Identifier: Apache-2.0 */
/* Collects a label column while a file is read, and turns it into classes or real targets at the end. */
#include "data/labels.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/read/read.h"
#include "data/utf8.h"

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
        return KFE_ENOMEM;
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

/* Removes words that no row has any more because rows were dropped; they must not become classes. */
static kfe_status renumber(kfe_i_labels *labels, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    int64_t count = labels->words.count;
    int32_t *number = NULL;

    KFE_ALLOC(labels->ctx, number, count);
    KFE_ALLOC_ZERO(labels->ctx, out->names, count);
    memset(number, 0xff, (size_t)count * sizeof *number);
    for (int64_t i = 0; i < labels->rows; i++) {
        int32_t code = labels->codes[i];
        if (number[code] < 0) {
            number[code] = (int32_t)out->class_count;
            KFE_STRDUP(labels->ctx, out->names[out->class_count], kfe_i_intern_word(&labels->words, code));
            out->class_count++;
        }
        labels->codes[i] = number[code];
    }
    out->codes = labels->codes;
    labels->codes = NULL;
cleanup:
    kfe_i_free(labels->ctx, number);
    return status;
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
                                 "the label is not UTF-8 text; convert the file first, for example with "
                                 "'iconv -f latin1 -t utf8'");
    return KFE_OK;
}

/* Parses every word as a number, NaN for text; returns whether the words look like classes. */
static int read_words(const kfe_i_labels *labels, double *number)
{
    int integers = 1;
    int text = 0;

    for (int64_t k = 0; k < labels->words.count; k++) {
        const char *word = kfe_i_intern_word(&labels->words, k);
        if (!kfe_i_parse_number(word, word + kfe_i_intern_length(&labels->words, k), &number[k])) {
            number[k] = (double)NAN;
            text = 1;
        } else if (!(isfinite(number[k]) && number[k] == floor(number[k]))) {
            integers = 0;
        }
    }
    return text || (integers && labels->words.count <= KFE_MOST_NUMBER_CLASSES);
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

static kfe_status words_to_target(kfe_i_labels *labels, const char *file, int task, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    double *number = NULL;
    int classes;

    out->ctx = labels->ctx;
    out->rows = labels->rows;
    KFE_ALLOC(labels->ctx, number, labels->words.count);
    classes = read_words(labels, number);
    if (task == KFE_TASK_OPTION_CLASSIFY || (task == KFE_TASK_OPTION_AUTO && classes)) {
        KFE_TRY(check_encoding(labels, file));
        KFE_TRY(renumber(labels, out));
        out->task = KFE_TASK_CLASSES;
    } else {
        KFE_TRY(real_target(labels, file, number, out));
    }
cleanup:
    kfe_i_free(labels->ctx, number);
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

kfe_status kfe_i_labels_to_target(kfe_i_labels *labels, const char *file, int task, kfe_i_target *out)
{
    static const kfe_task wanted[] = {KFE_TASK_NONE, KFE_TASK_CLASSES, KFE_TASK_REAL};
    kfe_status status;

    memset(out, 0, sizeof *out);
    if (labels->codes)
        return words_to_target(labels, file, task, out);
    status = kfe_i_target_from_numbers(labels->ctx, labels->rows, labels->numbers, wanted[task], out);
    return status == KFE_EINPUT ? kfe_i_fail_prefix(labels->ctx, status, file) : status;
}
