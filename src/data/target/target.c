/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: classes or real numbers from labels, and the selection of their rows. */
#include "data/target/target.h"

#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/utf8.h"
#include "data/target/classes.h"

void kfe_i_target_free(kfe_i_target *target)
{
    if (target->ctx) {
        kfe_i_strings_free(target->ctx, target->class_count, target->names);
        kfe_i_free(target->ctx, target->codes);
        kfe_i_free(target->ctx, target->values);
        kfe_i_free(target->ctx, target->weights);
        kfe_i_free(target->ctx, target->keys);
    }
    memset(target, 0, sizeof *target);
}

static void begin_target(kfe_context *ctx, kfe_task task, int64_t rows, kfe_i_target *out)
{
    assert(rows >= 0);
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->task = task;
    out->rows = rows;
}

kfe_status kfe_i_target_from_labels(kfe_context *ctx, int64_t rows, const char *const *labels,
                                    kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    kfe_i_intern words;

    begin_target(ctx, KFE_TASK_CLASSES, rows, out);
    kfe_i_intern_init(&words, ctx);
    KFE_ALLOC(ctx, out->codes, rows);
    for (int64_t i = 0; i < rows; i++) {
        if (!kfe_i_is_utf8(labels[i]))
            KFE_FAIL(ctx, KFE_EINPUT, "the label of row %lld is not UTF-8 text", (long long)i + 1);
        KFE_TRY(kfe_i_intern_add(&words, labels[i], (int64_t)strlen(labels[i]), &out->codes[i]));
    }
    KFE_TRY(kfe_i_classes_from_words(&words, out->codes, out));
cleanup:
    kfe_i_intern_free(&words);
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

kfe_status kfe_i_target_from_values(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                                    kfe_i_target *out)
{
    kfe_status status = KFE_OK;

    assert(cols >= 1);
    begin_target(ctx, KFE_TASK_REAL, rows, out);
    if (cols < 1)
        KFE_FAIL(ctx, KFE_EINVAL, "targets need at least one column");
    for (int64_t p = 0; p < rows * cols; p++)
        if (!isfinite(values[p]))
            KFE_FAIL(ctx, KFE_EINPUT, "the target of row %lld is not a finite number; remove that row",
                     (long long)(p / cols) + 1);
    out->cols = cols;
    KFE_ALLOC(ctx, out->values, rows * cols);
    memcpy(out->values, values, (size_t)(rows * cols) * sizeof *values);
cleanup:
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

static kfe_status number_classes(kfe_context *ctx, int64_t rows, const double *values, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    char text[KFE_NUMBER_TEXT];
    kfe_i_intern words;

    begin_target(ctx, KFE_TASK_CLASSES, rows, out);
    kfe_i_intern_init(&words, ctx);
    KFE_ALLOC(ctx, out->codes, rows);
    for (int64_t i = 0; i < rows; i++) {
        kfe_i_format_number(values[i] + 0.0, text); /* -0 is the class 0 */
        KFE_TRY(kfe_i_intern_add(&words, text, (int64_t)strlen(text), &out->codes[i]));
    }
    KFE_TRY(kfe_i_classes_from_words(&words, out->codes, out));
cleanup:
    kfe_i_intern_free(&words);
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

kfe_status kfe_i_target_from_numbers(kfe_context *ctx, int64_t rows, const double *values, kfe_task task,
                                     kfe_i_target *out)
{
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(values[i]))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "the label of row %lld is not a finite number; remove that row",
                              (long long)i + 1);
    if (task == KFE_TASK_CLASSES)
        return number_classes(ctx, rows, values, out);
    return kfe_i_target_from_values(ctx, rows, 1, values, out);
}

kfe_status kfe_i_target_gather(kfe_context *ctx, const kfe_i_target *target, const int64_t *index,
                               int64_t count, kfe_i_target *out)
{
    kfe_status status = KFE_OK;
    int classes = target->task == KFE_TASK_CLASSES;

    assert(target->task == KFE_TASK_NONE || !index || kfe_i_all_below(index, count, target->rows));
    begin_target(ctx, target->task, count, out);
    if (classes) {
        KFE_ALLOC(ctx, out->codes, count);
        KFE_TRY(
            kfe_i_strings_copy(ctx, target->class_count, (const char *const *)target->names, &out->names));
        out->class_count = target->class_count;
    } else if (target->task == KFE_TASK_REAL) {
        out->cols = target->cols;
        KFE_ALLOC(ctx, out->values, count * target->cols);
    }
    if (target->weights)
        KFE_ALLOC(ctx, out->weights, count);
    if (target->keys)
        KFE_ALLOC(ctx, out->keys, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = index ? index[i] : i;
        if (classes)
            out->codes[i] = target->codes[from];
        for (int64_t k = 0; k < out->cols; k++)
            out->values[i * out->cols + k] = target->values[from * out->cols + k];
        if (out->weights)
            out->weights[i] = target->weights[from];
        if (out->keys)
            out->keys[i] = target->keys[from];
    }
cleanup:
    if (status != KFE_OK)
        kfe_i_target_free(out);
    return status;
}

/* The weighted standard deviation of a column; 1 if it is constant. */
static double spread_of(const kfe_i_target *target, int64_t column)
{
    double mass = kfe_i_target_mass(target, target->rows);
    double mean = 0;
    double squares = 0;

    for (int64_t i = 0; i < target->rows; i++)
        mean += kfe_i_weight_of(target, i) / mass * target->values[i * target->cols + column];
    for (int64_t i = 0; i < target->rows; i++) {
        double left = target->values[i * target->cols + column] - mean;
        squares += kfe_i_weight_of(target, i) / mass * left * left;
    }
    return squares > 0 ? sqrt(squares) : 1;
}

kfe_status kfe_i_target_standardise(kfe_context *ctx, const kfe_i_target *target, kfe_i_target *out)
{
    kfe_status status = KFE_OK;

    *out = *target;
    out->values = NULL;
    KFE_ALLOC(ctx, out->values, target->rows * target->cols);
    for (int64_t j = 0; j < target->cols; j++) {
        double spread = spread_of(target, j);
        for (int64_t i = 0; i < target->rows; i++)
            out->values[i * target->cols + j] = target->values[i * target->cols + j] / spread;
    }
cleanup:
    return status;
}

void kfe_i_target_compact(kfe_i_target *target, int32_t *old_code)
{
    int64_t kept = 0;

    for (int64_t k = 0; k < target->class_count; k++) {
        int present = 0;
        for (int64_t i = 0; i < target->rows; i++)
            present |= target->codes[i] == k;
        if (!present) {
            kfe_i_free(target->ctx, target->names[k]);
            continue;
        }
        /* kept <= k, and codes below k are final already */
        for (int64_t i = 0; i < target->rows; i++)
            if (target->codes[i] == k)
                target->codes[i] = (int32_t)kept;
        old_code[kept] = (int32_t)k;
        target->names[kept++] = target->names[k];
    }
    target->class_count = kept;
}

void kfe_i_target_count(const kfe_i_target *target, int64_t *counts)
{
    assert(kfe_i_codes_below(target->codes, target->rows, target->class_count));
    memset(counts, 0, (size_t)target->class_count * sizeof *counts);
    for (int64_t i = 0; target->codes && i < target->rows; i++)
        counts[target->codes[i]]++;
}

double kfe_i_target_mass(const kfe_i_target *target, int64_t rows)
{
    double sum = 0;

    if (!target->weights)
        return (double)rows;
    for (int64_t i = 0; i < rows; i++)
        sum += target->weights[i];
    return sum;
}

void kfe_i_target_class_masses(const kfe_i_target *target, double *masses)
{
    assert(kfe_i_codes_below(target->codes, target->rows, target->class_count));
    memset(masses, 0, (size_t)target->class_count * sizeof *masses);
    for (int64_t i = 0; i < target->rows; i++)
        masses[target->codes[i]] += kfe_i_weight_of(target, i);
}

/* ---- weights ---- */

/* The largest weight: beyond this, or below its inverse, products of weights overflow or vanish. */
#define KFE_LARGEST_WEIGHT 1e100

static kfe_status check_largest(kfe_context *ctx, double largest)
{
    int small = largest < 1 / KFE_LARGEST_WEIGHT;

    if (!small && largest <= KFE_LARGEST_WEIGHT)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "the largest weight is %g, too %s to compute with; %s all weights by the same number",
                      largest, small ? "small" : "large", small ? "multiply" : "divide");
}

kfe_status kfe_i_no_weights(kfe_context *ctx)
{
    return kfe_i_fail(ctx, KFE_EINPUT, "all weights are zero, which leaves no examples");
}

kfe_status kfe_i_weights_check(kfe_context *ctx, int64_t rows, const double *weights)
{
    double largest = 0;

    for (int64_t i = 0; i < rows; i++) {
        if (!isfinite(weights[i]))
            return kfe_i_fail(ctx, KFE_EINPUT, "the weight of row %lld is not a finite number",
                              (long long)i + 1);
        if (weights[i] < 0)
            return kfe_i_fail(
                ctx, KFE_EINPUT,
                "the weight of row %lld is %g, but weights must not be negative; a weight of 0 leaves "
                "the row out",
                (long long)i + 1, weights[i]);
        largest = fmax(largest, weights[i]);
    }
    if (rows > 0 && largest == 0)
        return kfe_i_no_weights(ctx);
    return rows > 0 ? check_largest(ctx, largest) : KFE_OK;
}
