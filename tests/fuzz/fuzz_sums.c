/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of saved accumulators: whatever loads can take more rows, be merged, finished and saved again
 * without a crash. What is saved loads again, and finishes to a model with the same bits.
 *
 * mutate_model.c changes the inputs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "kfe.h"

enum { MEMORY_LIMIT = 64 << 20, ROWS = 4, MOST_COLS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fail(kfe_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kfe_error_message(ctx));
    abort();
}

/* Rows that fit the columns and the targets of the accumulator; NULL if there are none. */
static kfe_data *make_rows(kfe_context *ctx, const kfe_accumulator *sums)
{
    static double numbers[ROWS * MOST_COLS];
    static const double targets[ROWS * MOST_COLS] = {0.5, -1, 2, 1};
    static const double weights[ROWS] = {0.5, 0, 3, 1};
    const char *labels[ROWS] = {"a", "b", "new", "a"};
    int64_t cols = sums->map ? kfe_model_cols(sums->map, 0) : 2;
    kfe_data *data = NULL;

    if (cols < 1 || cols > MOST_COLS || (sums->map && kfe_model_views(sums->map) != 1))
        return NULL;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < cols; j++)
            numbers[i * cols + j] = (double)((i * 7 + j * 3) % 5 - 1);
    if (kfe_data_wrap_dense(ctx, ROWS, cols, cols, numbers, &data) != KFE_OK)
        return NULL;
    if (sums->sums.task == KFE_TASK_REAL && sums->sums.targets <= MOST_COLS)
        kfe_data_set_targets(ctx, data, sums->sums.targets, targets);
    else if (sums->sums.task == KFE_TASK_CLASSES || !sums->map)
        kfe_data_set_labels(ctx, data, labels);
    if (sums->weighted)
        kfe_data_set_weights(ctx, data, weights);
    return data;
}

/* The file of the model that the accumulator finishes to; NULL: none. */
static char *finish(kfe_context *ctx, const kfe_accumulator *sums, const kfe_data *rows, size_t *size)
{
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    char *bytes = NULL;
    char *text = NULL;

    if (kfe_accumulator_finish(ctx, sums, &model) != KFE_OK) {
        if (!kfe_error_message(ctx)[0])
            fail(ctx, "no message");
        return NULL;
    }
    if (kfe_model_describe(ctx, model, KFE_STYLE_TEXT, &text) == KFE_OK)
        kfe_string_free(ctx, text);
    if (rows && kfe_transform(ctx, model, rows, &features) == KFE_OK) {
        kfe_matrix_free(&features);
        kfe_predict(ctx, model, rows, &features, NULL);
    }
    kfe_matrix_free(&features);
    if (kfe_model_save_bytes(ctx, model, &bytes, size) != KFE_OK)
        bytes = NULL;
    kfe_model_free(model);
    return bytes;
}

/* Saved, loaded and finished, the accumulator gives the same model. */
static void save_again(kfe_context *ctx, const kfe_accumulator *sums, const kfe_data *rows)
{
    kfe_accumulator *again = NULL;
    char *bytes = NULL;
    size_t size = 0;
    size_t sizes[2] = {0};

    if (kfe_accumulator_save_bytes(ctx, sums, &bytes, &size) != KFE_OK)
        return;
    if (kfe_accumulator_load_bytes(ctx, bytes, size, &again) != KFE_OK)
        fail(ctx, "saved, but not loaded");
    char *models[2] = {finish(ctx, sums, rows, &sizes[0]), finish(ctx, again, rows, &sizes[1])};
    if (!models[0] != !models[1] || sizes[0] != sizes[1] ||
        (models[0] && memcmp(models[0], models[1], sizes[0]) != 0))
        fail(ctx, "saved and loaded, the sums give another model");
    for (int i = 0; i < 2; i++)
        kfe_string_free(ctx, models[i]);
    kfe_accumulator_free(again);
    kfe_string_free(ctx, bytes);
}

static void use_sums(kfe_context *ctx, kfe_accumulator *sums, kfe_accumulator *other)
{
    kfe_data *rows = make_rows(ctx, sums);

    if (kfe_accumulator_rows(sums) < 0)
        fail(ctx, "a negative number of rows");
    save_again(ctx, sums, rows);
    if (rows && kfe_accumulator_add(ctx, sums, rows) == KFE_OK)
        save_again(ctx, sums, rows);
    if (kfe_accumulator_merge(ctx, sums, other) == KFE_OK)
        save_again(ctx, sums, rows);
    kfe_data_free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kfe_context *ctx = NULL;
    kfe_accumulator *sums = NULL;
    kfe_accumulator *other = NULL;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    if (kfe_accumulator_load_bytes(ctx, bytes, size, &sums) == KFE_OK &&
        kfe_accumulator_load_bytes(ctx, bytes, size, &other) == KFE_OK)
        use_sums(ctx, sums, other);
    else if (!kfe_error_message(ctx)[0])
        fail(ctx, "no message");
    kfe_accumulator_free(sums);
    kfe_accumulator_free(other);
    kfe_context_free(ctx);
    return 0;
}
