/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of searches: grids and the options of cross-validation, comparison, evaluation, measures
 * and splits, on a dozen examples. A search ends with a result or a message, and the JSON of the result is valid.
 *
 * The input is lines: method, parameters, kernel, learner, its parameters, two grids, options, steps that prepare rows.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfe.h"
#include "support/result.h"

enum { MEMORY_LIMIT = 16 << 20, LINES = 9, MOST = 4096, QUESTIONS = 600, ROWS = 12, COLS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct texts {
    char storage[MOST + 1];
    const char *line[LINES]; /* NULL: the line is empty or missing */
} texts;

enum { METHOD, PARAMS, KERNEL, LEARNER, LEARNER_PARAMS, GRID, SECOND_GRID, OPTIONS, PREPARE };

static void split(const uint8_t *bytes, size_t size, texts *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->storage, bytes, size < MOST ? size : MOST);
    char *at = out->storage;
    for (int i = 0; i < LINES && at; i++) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        out->line[i] = *at ? at : NULL;
        at = end ? end + 1 : NULL;
    }
}

static int stop_after_questions(void *user)
{
    return ++*(int *)user > QUESTIONS;
}

static void check(kfe_context *ctx, kfe_status status, char *written, const char *what)
{
    json_error_t error;
    json_t *parsed = written ? json_loads(written, 0, &error) : NULL;

    if (status == KFE_OK ? !parsed : written || !kfe_error_message(ctx)[0]) {
        fprintf(stderr, "%s: %s\n", what, status == KFE_OK ? "not JSON" : "neither a result nor a message");
        abort();
    }
    json_decref(parsed);
    kfe_string_free(ctx, written);
}

static kfe_status make_data(kfe_context *ctx, int real, kfe_data **out)
{
    static const double values[ROWS * COLS] = {0, 1, 2, 5, 1, 0, 1, 2, 2, 1, 4, 3, 1, 3, 0, 1,
                                               4, 0, 2, 6, 0, 5, 1, 1, 1, 1, 1, 1, 2, 2, 3, 0,
                                               3, 0, 0, 3, 0, 3, 5, 2, 1, 2, 2, 4, 4, 4, 1, 0};
    static const char *const labels[ROWS] = {"a", "b", "a", "b", "c", "b", "a", "a", "c", "b", "c", "c"};
    static const double targets[ROWS] = {0, 1, 0.5, 2, -1, 3, 1, 1.5, -2, 2.5, 0.25, 1};
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, values, out);

    if (status == KFE_OK)
        status = real ? kfe_data_set_targets(ctx, *out, 1, targets) : kfe_data_set_labels(ctx, *out, labels);
    return status;
}

static void search(kfe_context *ctx, const texts *t, const kfe_spec *spec, const kfe_data *data,
                   int *questions)
{
    const char *const grids[3] = {t->line[GRID], t->line[GRID] ? t->line[SECOND_GRID] : NULL, NULL};
    int count = t->line[GRID] ? t->line[SECOND_GRID] ? 2 : 1 : 0;
    kfe_model *best = NULL;
    char *written = NULL;
    char *text = NULL;
    int64_t settings = 0;

    kfe_cv_check(ctx, spec, grids, t->line[OPTIONS], &settings);
    kfe_grids_check(ctx, 1, &spec, grids);
    *questions = 0;
    kfe_status status = write_cross_validate(ctx, spec, count, grids, data, t->line[OPTIONS], KFE_STYLE_JSON,
                                             &best, &written);
    check(ctx, status, written, "cross-validation");
    *questions = 0;
    written = NULL;
    if (best) {
        status = write_evaluate(ctx, best, data, t->line[OPTIONS], KFE_STYLE_JSON, &written);
        check(ctx, status, written, "evaluation");
        if (kfe_model_describe(ctx, best, KFE_STYLE_TEXT, &text) == KFE_OK)
            kfe_string_free(ctx, text);
    }
    kfe_model_free(best);
    const kfe_spec *const both[2] = {spec, spec};
    *questions = 0;
    written = NULL;
    status = write_compare(ctx, 2, both, count, grids, data, t->line[OPTIONS], KFE_STYLE_JSON, &written);
    check(ctx, status, written, "comparison");
}

static void measure(kfe_context *ctx, const texts *t, const kfe_data *data)
{
    char *written = NULL;

    if (!t->line[KERNEL])
        return;
    kfe_status status =
        write_measure(ctx, data, 1, &t->line[KERNEL], t->line[OPTIONS], KFE_STYLE_JSON, &written);
    check(ctx, status, written, "measures");
}

static void use(kfe_context *ctx, const texts *t, int real, int *questions)
{
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;

    if (make_data(ctx, real, &data) == KFE_OK && t->line[METHOD] &&
        kfe_spec_parse(ctx, t->line[METHOD], t->line[PARAMS], t->line[KERNEL], &spec) == KFE_OK &&
        (!t->line[LEARNER] ||
         kfe_spec_set_learner(ctx, spec, t->line[LEARNER], t->line[LEARNER_PARAMS]) == KFE_OK) &&
        (!t->line[PREPARE] || kfe_spec_set(ctx, spec, "prepare", t->line[PREPARE]) == KFE_OK)) {
        search(ctx, t, spec, data, questions);
        *questions = 0;
        measure(ctx, t, data);
    }
    kfe_spec_free(spec);
    kfe_data_free(data);
}

/* Other harnesses read files. */
static int is_skipped(const texts *t)
{
    for (int i = 0; i < LINES; i++)
        if (t->line[i] && strstr(t->line[i], "file"))
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static texts t;
    kfe_context *ctx = NULL;
    int questions = 0;

    split(bytes, size, &t);
    if (is_skipped(&t) || kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    kfe_context_on_cancel(ctx, stop_after_questions, &questions);
    use(ctx, &t, 0, &questions);
    use(ctx, &t, 1, &questions);
    kfe_context_free(ctx);
    return 0;
}
