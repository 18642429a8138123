/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner linear-svm on the context's device: the problems of all classes and all settings that differ in C or the weights of classes
 * only are solved in one call (linear_svms of plugin/device.h), by Newton's method as in linear/by_columns.c, which ends at the exact optimum. Problems
 * of few rows or many columns, and of weighted examples, stay on the CPU.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/place.h"
#include "learn/linear/linear_svm.h"
#include "learn/linear/newton.h"

/* With fewer rows the CPU is as fast. */
enum { ROWS_LEAST = 1000 };
/* Rows times columns times problems below which the CPU is as fast. */
#define KFE_WORTH_SENDING 5e5

/* Settings that are solved in one call, and what the call needs. */
typedef struct batch {
    kfe_context *ctx;
    const kfe_i_table *features;
    const kfe_i_target *target;
    const kfe_i_linear_settings *const *settings;
    kfe_i_decision decision;
    int64_t count;           /* settings */
    int64_t outputs;         /* problems of a setting */
    int64_t cols;            /* with that of the bias */
    int64_t *members;        /* of each class */
    signed char *sides;      /* outputs × classes */
    double *class_weights;   /* one per class */
    double *values;          /* outputs × rows */
    int64_t *output;         /* of each problem */
    double *cost;            /* two of each problem */
    double *w;               /* problems × cols */
    kfe_device_svm *results; /* of each problem */
} batch;

/* Rows of a side of a problem, or of both if `side` is 0. */
static int64_t rows_of(const batch *b, int64_t output, int side)
{
    int64_t sum = 0;

    if (!b->sides)
        return b->features->rows;
    for (int64_t g = 0; g < b->target->class_count; g++) {
        signed char of_class = b->sides[output * b->target->class_count + g];
        if (of_class != 0 && (side == 0 || of_class == side))
            sum += b->members[g];
    }
    return sum;
}

/* The mean weight of the rows of a side. */
static double weight_of(const batch *b, int64_t output, int side)
{
    double sum = 0;

    if (!b->sides)
        return 1;
    for (int64_t g = 0; g < b->target->class_count; g++)
        if (b->sides[output * b->target->class_count + g] == side)
            sum += (double)b->members[g] * b->class_weights[g];
    return rows_of(b, output, side) > 0 ? sum / (double)rows_of(b, output, side) : 1;
}

/* Where the solver should stop, relative to the gradient at w = 0. */
static double bound_of(const batch *b, const kfe_i_linear_settings *settings, int64_t output)
{
    double share =
        b->sides ? kfe_i_linear_rarer_share((double)rows_of(b, output, 1), (double)rows_of(b, output, 0)) : 1;
    return settings->stop * share;
}

/* ---- what the CPU keeps ---- */

/* Whether a device takes all problems, and is faster. */
static int suits(const batch *b)
{
    const kfe_i_linear_settings *s = b->settings[0];
    double c = 0;
    double work = (double)b->features->rows * (double)b->cols * (double)(b->outputs * b->count);

    if (work < KFE_WORTH_SENDING || b->cols > KFE_DEVICE_SVM_COLS || b->features->rows > INT32_MAX)
        return 0;
    for (int64_t output = 0; output < b->outputs; output++)
        if (rows_of(b, output, 0) < ROWS_LEAST)
            return 0;
    for (int64_t i = 0; i < b->count; i++)
        c = fmax(c, b->settings[i]->c);
    return c * kfe_i_linear_largest_square(b->features, s->bias) <= KFE_LINEAR_CURVATURE_MOST; /* NaN: no */
}

/* ---- the call ---- */

static kfe_status fill_classes(batch *b)
{
    kfe_status status = KFE_OK;
    int64_t classes = b->target->class_count;

    b->decision = kfe_i_multiclass_decision((kfe_i_multiclass)b->settings[0]->multiclass, classes);
    b->outputs = kfe_i_decision_outputs(b->decision, classes);
    KFE_ALLOC(b->ctx, b->members, classes);
    KFE_ALLOC(b->ctx, b->class_weights, classes);
    KFE_ALLOC(b->ctx, b->sides, b->outputs * classes);
    kfe_i_target_count(b->target, b->members);
    kfe_i_multiclass_signs(b->decision, classes, b->sides);
cleanup:
    return status;
}

static kfe_status fill_values(batch *b)
{
    kfe_status status = KFE_OK;
    int64_t n = b->features->rows;

    b->outputs = b->target->cols;
    KFE_ALLOC(b->ctx, b->values, b->outputs * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < b->outputs; j++)
            b->values[j * n + i] = b->target->values[i * b->outputs + j];
cleanup:
    return status;
}

/* Problem s·outputs + o is output o of setting s. */
static kfe_status fill_problems(batch *b)
{
    kfe_status status = KFE_OK;
    int64_t problems = b->count * b->outputs;

    KFE_ALLOC(b->ctx, b->output, problems);
    KFE_ALLOC(b->ctx, b->cost, 2 * problems);
    KFE_ALLOC(b->ctx, b->w, problems * b->cols);
    KFE_ALLOC(b->ctx, b->results, problems);
    for (int64_t s = 0; s < b->count; s++) {
        KFE_TRY(kfe_i_class_weights(b->ctx, b->settings[s]->class_weights, b->target, b->class_weights));
        for (int64_t o = 0; o < b->outputs; o++) {
            double *cost = b->cost + 2 * (s * b->outputs + o);
            b->output[s * b->outputs + o] = o;
            cost[0] = b->settings[s]->c * weight_of(b, o, 1);
            cost[1] = b->settings[s]->c * weight_of(b, o, -1);
        }
    }
cleanup:
    return status;
}

static kfe_device_status solve(const batch *b, const kfe_i_device *device)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_i_table *features = b->features;
    kfe_device_matrix rows = {0};
    const kfe_device_svms svms = {.rows = &rows,
                                  .bias = b->settings[0]->bias,
                                  .targets = b->outputs,
                                  .problems = b->count * b->outputs,
                                  .classes = b->target->class_count,
                                  .codes = b->sides ? b->target->codes : NULL,
                                  .sides = b->sides,
                                  .values = b->values,
                                  .epsilon = b->settings[0]->epsilon,
                                  .target = b->output,
                                  .cost = b->cost,
                                  .steps_most = KFE_NEWTON_STEPS_MOST,
                                  .halvings_most = KFE_NEWTON_HALVINGS_MOST,
                                  .decrease = KFE_NEWTON_DECREASE,
                                  .rounding = KFE_NEWTON_ROUNDING};

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, features->rows, features->cols, KFE_DEVICE_F64, &rows));
    KFE_DEVICE_TRY(device->table->upload(device->handle, features->values, features->stride, &rows));
    KFE_DEVICE_TRY(device->table->linear_svms(device->handle, &svms, b->w, b->results));
cleanup:
    kfe_i_device_matrix_free(device, &rows);
    return status;
}

/* ---- predictors ---- */

/* Whether a problem ended where it should. */
static int is_solved(const batch *b, int64_t setting, int64_t output)
{
    const kfe_device_svm *r = &b->results[setting * b->outputs + output];

    return r->solved || r->gradient <= bound_of(b, b->settings[setting], output) * r->start;
}

/* The predictor of a setting; it stays empty if a problem has not ended where it should. */
static kfe_status make_predictor(const batch *b, int64_t setting, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_linear_settings *s = b->settings[setting];
    kfe_i_linear_measures measures = {0};

    for (int64_t o = 0; o < b->outputs; o++)
        if (!is_solved(b, setting, o))
            return KFE_OK;
    KFE_TRY(kfe_i_linear_begin(b->ctx, b->features, b->target, s, out));
    for (int64_t o = 0; o < b->outputs; o++) {
        int64_t problem = setting * b->outputs + o;
        const kfe_device_svm *r = &b->results[problem];
        kfe_i_linear_take_weights(s, o, b->w + problem * b->cols, out);
        kfe_i_linear_measure(&measures, r->objective, r->gradient, r->start, bound_of(b, s, o));
    }
    kfe_i_linear_finish(b->ctx, s, &measures, out);
cleanup:
    return status;
}

static void free_batch(batch *b)
{
    kfe_i_free(b->ctx, b->members);
    kfe_i_free(b->ctx, b->sides);
    kfe_i_free(b->ctx, b->class_weights);
    kfe_i_free(b->ctx, b->values);
    kfe_i_free(b->ctx, b->output);
    kfe_i_free(b->ctx, b->cost);
    kfe_i_free(b->ctx, b->w);
    kfe_i_free(b->ctx, b->results);
}

/* Settings that may share a call. *left: the device gave up. */
static kfe_status run_batch(batch *b, kfe_i_device *device, int *left, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;

    b->cols = b->features->cols + (b->settings[0]->bias ? 1 : 0);
    KFE_TRY(b->target->task == KFE_TASK_CLASSES ? fill_classes(b) : fill_values(b));
    if (!suits(b))
        goto cleanup;
    KFE_TRY(fill_problems(b));
    device->stage = "learning";
    kfe_device_status result = solve(b, device);
    *left = result != KFE_DEVICE_OK && kfe_i_device_gives_up(device, result, "linear-svm");
    if (*left)
        goto cleanup;
    KFE_TRY(kfe_i_device_status(device, result));
    for (int64_t s = 0; s < b->count; s++)
        KFE_TRY(make_predictor(b, s, &out[s]));
cleanup:
    free_batch(b);
    return status;
}

static int are_alike(const kfe_i_linear_settings *a, const kfe_i_linear_settings *b)
{
    return a->multiclass == b->multiclass && a->bias == b->bias && a->epsilon == b->epsilon;
}

/* Work as `auto` counts it, in kernel values; a device that is open costs nothing to use. */
static double work_of(const kfe_context *ctx, const kfe_i_table *features, int64_t count)
{
    return ctx->device ? INFINITY : (double)features->rows * (double)features->cols * (double)count;
}

kfe_status kfe_i_linear_fit_on_device(kfe_context *ctx, const kfe_i_table *features,
                                      const kfe_i_target *target, const void *const *settings, int64_t count,
                                      kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_linear_settings *const *all = (const kfe_i_linear_settings *const *)settings;
    kfe_i_device *device = NULL;
    int left = 0;

    memset(out, 0, (size_t)count * sizeof *out);
    if (features->kind != KFE_TABLE_DENSE || features->singles || features->cols == 0 || target->weights)
        return KFE_OK;
    KFE_TRY(kfe_i_choose_device(ctx, work_of(ctx, features, count), &device));
    for (int64_t first = 0, next = 0; device && !left && first < count; first = next) {
        for (next = first + 1; next < count && are_alike(all[first], all[next]);)
            next++;
        batch b = {.ctx = ctx,
                   .features = features,
                   .target = target,
                   .settings = all + first,
                   .count = next - first};
        KFE_TRY(run_batch(&b, device, &left, out + first));
    }
cleanup:
    for (int64_t s = 0; status != KFE_OK && s < count; s++)
        kfe_i_predictor_free(&out[s]);
    return status;
}
