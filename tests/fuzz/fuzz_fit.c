/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of fits on hostile numbers and hostile compressed rows, with every method, kernel and
 * predictor: a fit fails with a message or gives a model; saving the model succeeds or says why not; a saved
 * model loads and gives the same bits.
 *
 * The input is ten bytes of choices, then the numbers: one byte of kind each, with eight bytes of a double
 * for kind 0. What is left chooses more: an option of the fit, weights of the examples, a fit from sums, or steps that
 * prepare the rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfe.h"

enum { MEMORY_LIMIT = 64 << 20, MOST_ROWS = 9, MOST_COLS = 4, QUESTIONS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct input {
    const uint8_t *bytes;
    size_t size;
} input;

static unsigned take_byte(input *in)
{
    if (!in->size)
        return 0;
    in->size--;
    return *in->bytes++;
}

static double take_number(input *in)
{
    static const double odd[] = {0,      1,      -1,     2,     0.5,    1e20,  -1e20, 1e-20, 1e154, 1e155,
                                 -1e155, 1e-155, 1e-300, 1e308, 5e-324, 1e150, -0.0,  3,     1e90,  1e-90};
    unsigned kind = take_byte(in);
    double value = 0;

    if (kind == 0 && in->size >= sizeof value) {
        memcpy(&value, in->bytes, sizeof value);
        in->bytes += sizeof value;
        in->size -= sizeof value;
        return value;
    }
    if (kind < 100)
        return odd[kind % (sizeof odd / sizeof *odd)];
    return ((double)kind - 178) / 16;
}

typedef struct problem {
    int64_t rows, cols;
    double values[MOST_ROWS * MOST_COLS], targets[MOST_ROWS];
    int64_t row_start[MOST_ROWS + 1];
    int32_t columns[MOST_ROWS * MOST_COLS];
    const char *labels[MOST_ROWS];
} problem;

/* Sound compressed rows with all entries, or rows with arbitrary contents within the arrays. */
static void take_rows(input *in, problem *p, int hostile)
{
    for (int64_t i = 0; i < p->rows; i++)
        p->row_start[i + 1] = (i + 1) * p->cols;
    for (int64_t i = 0; i < p->rows * p->cols; i++)
        p->columns[i] = (int32_t)(i % p->cols);
    if (!hostile)
        return;
    for (int64_t i = 0; i <= p->rows; i++)
        p->row_start[i] = (int64_t)take_byte(in) % (p->rows * p->cols + 1);
    for (int64_t i = 0; i < p->rows * p->cols; i++)
        p->columns[i] = (int32_t)take_byte(in) - 2;
}

static kfe_status make_data(kfe_context *ctx, input *in, unsigned form, problem *p, kfe_data **out)
{
    static const char *const names[] = {"a", "b", "c"};
    kfe_status status;

    memset(p, 0, sizeof *p);
    p->rows = 2 + (int64_t)take_byte(in) % (MOST_ROWS - 1);
    p->cols = form & 4 ? p->rows < MOST_COLS ? p->rows : MOST_COLS : 1 + (int64_t)take_byte(in) % MOST_COLS;
    take_rows(in, p, form & 2);
    for (int64_t i = 0; i < p->rows * p->cols; i++)
        p->values[i] = take_number(in);
    for (int64_t i = 0; i < p->rows; i++) {
        p->labels[i] = names[take_byte(in) % 3];
        p->targets[i] = take_number(in);
    }
    if (form & 1)
        status = kfe_data_wrap_csr(ctx, p->rows, p->cols, p->row_start, p->columns, p->values, out);
    else
        status = kfe_data_wrap_dense(ctx, p->rows, p->cols, p->cols, p->values, out);
    if (status == KFE_OK)
        status = form & 8 ? kfe_data_set_targets(ctx, *out, 1, p->targets)
                          : kfe_data_set_labels(ctx, *out, p->labels);
    return status;
}

/* Cancels a fit that asks so often that it would not end. */
static int stop_after_questions(void *user)
{
    return ++*(int *)user > QUESTIONS;
}

static void fail(kfe_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kfe_error_message(ctx));
    abort();
}

typedef kfe_status (*application)(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                  kfe_matrix *out);

static kfe_status predict(kfe_context *ctx, const kfe_model *model, const kfe_data *data, kfe_matrix *out)
{
    return kfe_predict(ctx, model, data, out, NULL);
}

/* Compares the features or predictions of two models: they have the same bits, or neither model has any. */
static void compare(kfe_context *ctx, const kfe_model *const models[2], const kfe_data *data,
                    application apply)
{
    kfe_matrix out[2] = {{0}};
    kfe_status status = apply(ctx, models[0], data, &out[0]);

    if (apply(ctx, models[1], data, &out[1]) != status)
        fail(ctx, "one model can be applied, the other cannot");
    if (status == KFE_OK &&
        memcmp(out[0].values, out[1].values, (size_t)(out[0].rows * out[0].cols) * sizeof(double)) != 0)
        fail(ctx, "saved and loaded, the model gives other numbers");
    for (int i = 0; i < 2; i++)
        kfe_matrix_free(&out[i]);
}

static void check_model(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    char *bytes = NULL;
    size_t size = 0;
    kfe_model *again = NULL;

    if (kfe_model_save_bytes(ctx, model, &bytes, &size) != KFE_OK)
        return;
    if (kfe_model_load_bytes(ctx, bytes, size, &again) != KFE_OK)
        fail(ctx, "saved, but not loaded");
    const kfe_model *const both[2] = {model, again};
    compare(ctx, both, data, kfe_transform);
    compare(ctx, both, data, predict);
    kfe_model_free(again);
    kfe_string_free(ctx, bytes);
}

static kfe_status make_spec(kfe_context *ctx, input *in, kfe_spec **out)
{
    static const char *const scales[] = {"scale=none", "scale=standard", "scale=minmax", "scale=l2-rows"};
    int methods = 0;
    int kernels = 0;
    int learners = 0;

    while (kfe_method(methods))
        methods++;
    while (kfe_kernel(kernels))
        kernels++;
    while (kfe_learner(learners))
        learners++;
    const kfe_entry_info *method = kfe_method((int)take_byte(in) % methods);
    const kfe_entry_info *kernel = kfe_kernel((int)take_byte(in) % kernels);
    int chosen = (int)take_byte(in) % (learners + 1);
    const char *text = strcmp(kernel->name, "spectrum") == 0 ? "spectrum:length=2" : kernel->name;
    kfe_status status = kfe_spec_parse(ctx, method->name, scales[take_byte(in) % 4],
                                       method->flags & KFE_HAS_KERNELS ? text : NULL, out);
    if (status == KFE_OK && kfe_learner(chosen))
        status = kfe_spec_set_learner(ctx, *out, kfe_learner(chosen)->name, NULL);
    return status;
}

enum { WITH_OPTION = 1, WITH_WEIGHTS = 2, FROM_SUMS = 4, WITH_STEPS = 8, MOST_STEPS = 3 };

/* Up to three steps; most have settings that four columns allow. */
static void set_steps(kfe_context *ctx, input *in, kfe_spec *spec)
{
    static const char *const settings[] = {"",
                                           ":window=3,order=1",
                                           ":window=3,order=2,derivative=1",
                                           ":order=0",
                                           ":lambda=10,iterations=3",
                                           ":offset=1",
                                           ":offset=5e-324",
                                           ":width=2",
                                           ":keep=1..2",
                                           ":lambda=1e12,asymmetry=1e-9",
                                           ":drop=2..3",
                                           ":window=3,delta=5e-324,derivative=1,order=1"};
    char chain[256] = "";
    int steps = 0;
    int count = 1 + (int)take_byte(in) % MOST_STEPS;

    while (kfe_step(steps))
        steps++;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(chain);
        const char *name = kfe_step((int)take_byte(in) % steps)->name;
        const char *more = settings[take_byte(in) % (sizeof settings / sizeof *settings)];
        snprintf(chain + used, sizeof chain - used, "%s%s%s", i ? "," : "", name, more);
    }
    kfe_spec_set(ctx, spec, "prepare", chain);
}

static void set_more(kfe_context *ctx, input *in, unsigned more, kfe_spec *spec, const problem *p,
                     kfe_data *data)
{
    static const char *const options[][2] = {{"landmarks", "3"},        {"class-weight", "balanced"},
                                             {"calibration", "platt"},  {"calibration", "isotonic"},
                                             {"gram", "tiled"},         {"gram", "f32"},
                                             {"landmark-by", "kmeans"}, {"scale", "auto"},
                                             {"landmark-by", "random"}, {"ridge", "1e-300"}};
    double weights[MOST_ROWS];
    unsigned chosen = take_byte(in) % (sizeof options / sizeof *options);

    if (more & WITH_OPTION)
        kfe_spec_set(ctx, spec, options[chosen][0], options[chosen][1]);
    for (int64_t i = 0; i < p->rows; i++)
        weights[i] = take_number(in);
    if (more & WITH_WEIGHTS)
        kfe_data_set_weights(ctx, data, weights);
}

/* The rows are added twice. */
static kfe_status fit_sums(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data, kfe_model **out)
{
    kfe_accumulator *sums = NULL;
    kfe_status status = kfe_accumulator_new(ctx, spec, &sums);

    for (int i = 0; status == KFE_OK && i < 2; i++)
        status = kfe_accumulator_add(ctx, sums, data);
    if (status == KFE_OK)
        status = kfe_accumulator_finish(ctx, sums, out);
    kfe_accumulator_free(sums);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static problem p;
    input in = {bytes, size};
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    int questions = 0;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    kfe_context_on_cancel(ctx, stop_after_questions, &questions);
    if (make_spec(ctx, &in, &spec) == KFE_OK && make_data(ctx, &in, take_byte(&in), &p, &data) == KFE_OK) {
        unsigned more = take_byte(&in);
        set_more(ctx, &in, more, spec, &p, data);
        if (more & WITH_STEPS)
            set_steps(ctx, &in, spec);
        kfe_status status =
            more & FROM_SUMS ? fit_sums(ctx, spec, data, &model) : kfe_fit(ctx, spec, data, &model);
        questions = 0;
        if (status == KFE_OK)
            check_model(ctx, model, data);
        else if (!kfe_error_message(ctx)[0])
            fail(ctx, "no message");
    }
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
