/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be known before the first sum: which specs can be fitted from sums, and the map from rows to the columns that are
 * summed. For kernels some rows decide it: their scaling, gamma=scale, the landmarks; a sample of them is kept for ridge=auto.
 */
#include <string.h>

#include "accumulate/accumulator.h"
#include "accumulate/stack.h"
#include "accumulate/weigh.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/wording.h"
#include "data/rows/distinct.h"
#include "model/fit.h"

/* ---- which specs ---- */

int kfe_i_accumulator_has_kernel(const kfe_spec *spec)
{
    return (spec->method->flags & KFE_HAS_KERNELS) != 0 || kfe_i_spec_maps_kernel(spec);
}

static int needs_landmarks(const kfe_i_method *method)
{
    return (method->flags & KFE_HAS_KERNELS) != 0 && !kfe_i_method_makes_points(method);
}

/* Whether landmarks are given where they are needed, and only there. */
static int has_right_landmarks(const kfe_spec *spec)
{
    if (kfe_i_method_makes_points(spec->method))
        return spec->fit.landmarks == 0;
    return !kfe_i_accumulator_has_kernel(spec) || spec->fit.landmarks > 0;
}

/* "a, b, c": the methods that can be fitted from sums, with a kernel (and landmarks) or without. */
static kfe_status name_methods(kfe_context *ctx, unsigned kernels, char **out)
{
    kfe_i_text text;
    const kfe_i_method *method = NULL;
    const char *separator = "";

    kfe_i_text_init(&text, ctx);
    for (int i = 0; (method = kfe_i_method_at(i)) != NULL; i++)
        if (kfe_i_method_use(method, NULL, KFE_OFFER_SUMS, NULL) &&
            (needs_landmarks(method) ? KFE_HAS_KERNELS : 0) == kernels) {
            kfe_i_text_printf(&text, "%s%s", separator, method->name);
            separator = ", ";
        }
    return kfe_i_text_take(&text, out);
}

static kfe_status refuse_method(kfe_context *ctx, const kfe_spec *spec)
{
    kfe_status status = KFE_OK;
    char *linear = NULL;
    char *kernel = NULL;

    KFE_TRY(name_methods(ctx, 0, &linear));
    KFE_TRY(name_methods(ctx, KFE_HAS_KERNELS, &kernel));
    status = kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                        "method %s cannot be fitted from sums over rows; %s can, and with {landmarks} %s",
                        spec->method->name, linear, kernel);
cleanup:
    kfe_i_free(ctx, linear);
    kfe_i_free(ctx, kernel);
    return status;
}

static int has_function(const kfe_spec *spec)
{
    for (int64_t m = 0; m < spec->kernels.count; m++)
        if (spec->kernels.items[m].def->base == KFE_BASE_USER ||
            spec->kernels.items[m].def->base == KFE_BASE_GIVEN)
            return 1;
    return 0;
}

/* `why` is a format without arguments. */
static kfe_status refuse_settings(kfe_context *ctx, const char *why)
{
    char said[KFE_WORDING_TEXT];

    kfe_i_word_format(ctx, why, said);
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "%s", said);
}

/* A step that learns needs all rows before the first is summed. With a kernel, the rows that decide the scaling decide the steps, but they are too
 * few to choose columns by the target. */
static kfe_status refuse_learning(kfe_context *ctx, void *user, const char *view, const char *text)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = user;
    const char *step = NULL;
    kfe_i_chain chain = {0};

    (void)view;
    KFE_TRY(kfe_i_chain_parse(ctx, text, &chain));
    if (kfe_i_accumulator_has_kernel(spec) ? kfe_i_chain_chooses(&chain, &step)
                                           : kfe_i_chain_learns(&chain, &step))
        KFE_FAIL(
            ctx, KFE_EUNSUPPORTED,
            "{prepare}: step %s learns from all rows before the fit, which a fit from sums over rows cannot "
            "do; use a step that treats rows one by one, {scale=standard} for the scaling of columns, or fit "
            "all rows at once",
            step);
cleanup:
    kfe_i_chain_free(&chain);
    return status;
}

kfe_status kfe_i_accumulator_check(kfe_context *ctx, const kfe_spec *spec, int keeps_rows)
{
    kfe_status status = KFE_OK;
    const char *why = NULL;

    if (!kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_SUMS, &why))
        return why ? refuse_settings(ctx, why) : refuse_method(ctx, spec);
    if (kfe_i_method_makes_points(spec->method) && !has_right_landmarks(spec))
        KFE_FAIL(
            ctx, KFE_EUNSUPPORTED,
            "%s evaluates the kernel with the means of classes and needs no landmarks; leave out {landmarks}",
            spec->method->name);
    if (kfe_i_method_makes_points(spec->method) && kfe_i_spec_scale(spec) == KFE_SCALE_L2_ROWS)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "method %s cannot be fitted from sums over rows with {scale=l2-rows}; use another {scale}",
                 spec->method->name);
    if (!keeps_rows && !has_right_landmarks(spec))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "method %s needs {landmarks} to be fitted from sums over rows, for example {landmarks=1000}",
                 spec->method->name);
    if (spec->learner && (!spec->learner->fit_sums || kfe_i_spec_learns_from_kernel(spec)))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "learner %s cannot be fitted from sums over rows; ls and centroid can", spec->learner->name);
    if (has_function(spec))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "kernels that are your own functions, or a given matrix, cannot be used in fits from sums "
                 "over rows");
    if (spec->fit.target_scale)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "sums over rows keep the targets as they are; leave out {target-scale}");
    if (kfe_i_spec_calibration(spec) != KFE_CALIBRATION_NONE)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "calibration needs rows that the fit did not see; leave out {calibration}");
    if (spec->fit.conformal != KFE_CONFORMAL_NONE)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "intervals need rows that the fit did not see; leave out {conformal}");
    if (spec->fit.choose != KFE_CHOOSE_ONE_SE)
        KFE_FAIL(
            ctx, KFE_EUNSUPPORTED,
            "fits from sums over rows leave no rows out, by which {choose} could choose a number of features; give "
            "{dim} instead");
    if (!kfe_i_accumulator_has_kernel(spec) && kfe_i_word_index(KFE_DISTANCE_WORDS, spec->fit.distance) < 0)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "method %s cannot be fitted from sums over rows with {distance}; use a kernel method with "
                 "{landmarks}",
                 spec->method->name);
    KFE_TRY(kfe_spec_check(ctx, spec, NULL, NULL));
    KFE_TRY(kfe_i_chain_each(ctx, spec->fit.prepare, refuse_learning, (void *)(uintptr_t)spec));
cleanup:
    return status;
}

int kfe_spec_accumulates(const kfe_spec *spec)
{
    const kfe_i_learner *learner = spec->learner;

    return kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_SUMS, NULL) && !has_function(spec) &&
           has_right_landmarks(spec) &&
           !(kfe_i_method_makes_points(spec->method) && kfe_i_spec_scale(spec) == KFE_SCALE_L2_ROWS) &&
           (!learner || (learner->fit_sums && !kfe_i_spec_learns_from_kernel(spec))) &&
           kfe_i_spec_calibration(spec) == KFE_CALIBRATION_NONE &&
           spec->fit.conformal == KFE_CONFORMAL_NONE && !spec->fit.target_scale &&
           spec->fit.choose == KFE_CHOOSE_ONE_SE && !kfe_i_balances_classes(spec) &&
           (!kfe_i_spec_prepares(spec) || kfe_i_chain_each(spec->ctx, spec->fit.prepare, refuse_learning,
                                                           (void *)(uintptr_t)spec) == KFE_OK);
}

/* ---- the map ---- */

/* The spec whose features are the columns to sum: those of landmarks, or the raw ones. */
static kfe_status spec_of_map(const kfe_accumulator *a, kfe_spec **out)
{
    kfe_context *ctx = a->ctx;
    const kfe_spec *spec = a->spec;
    kfe_status status = KFE_OK;
    kfe_spec *map = NULL;

    KFE_TRY(kfe_spec_parse(ctx, "none", NULL, NULL, &map));
    map->fit = spec->fit;
    if (kfe_i_accumulator_has_kernel(spec)) {
        if (kfe_i_method_makes_points(spec->method) || a->keeps_rows)
            map->fit.landmarks = 1; /* they are replaced */
        KFE_TRY(kfe_i_kernel_list_copy(ctx, &spec->kernels, &map->kernels));
        if (map->kernels.count == 0)
            KFE_TRY(kfe_spec_add_kernel(ctx, map, kfe_i_method_kernel(spec->method)));
    } else if (spec->fit.scale != KFE_SCALE_L2_ROWS) {
        map->fit.scale = KFE_SCALE_NONE; /* learned from the sums */
    }
    *out = map;
    map = NULL;
cleanup:
    kfe_spec_free(map);
    return status;
}

void kfe_i_accumulator_replace_support(kfe_model *map, kfe_i_table *support, int64_t rows,
                                       double *coefficients, int64_t dim)
{
    for (int v = 0; v < map->view_count; v++) {
        kfe_i_table_free(&map->views[v].support);
        map->views[v].support = support[v];
        memset(&support[v], 0, sizeof support[v]);
    }
    kfe_i_free(map->ctx, map->coefficients);
    kfe_i_free(map->ctx, map->support_index);
    map->support_index = NULL;
    map->coefficients = coefficients;
    map->rows = rows;
    map->dim = dim;
    for (int64_t i = 0; i < map->record_count; i++) { /* about the landmarks before */
        kfe_i_free(map->ctx, map->records[i].name);
        kfe_i_free(map->ctx, map->records[i].values);
    }
    map->record_count = 0;
}

/* The method's synthetic points take the place of the landmarks. */
static kfe_status make_points(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = a->ctx;
    int views = a->map->view_count;
    kfe_i_table *scaled = NULL;
    kfe_i_solution found = {0};

    KFE_ALLOC_ZERO(ctx, scaled, views);
    KFE_TRY(kfe_i_model_scale(ctx, a->map, rows, scaled));
    const kfe_i_fit_source source = {.target = &rows->target,
                                     .views = scaled,
                                     .view_count = views,
                                     .kernels = &a->map->kernels,
                                     .points_only = 1};
    KFE_TRY(a->spec->method->fit(ctx, &source, a->spec->settings, &found));
    kfe_i_accumulator_replace_support(a->map, found.points, found.rows, found.coefficients, found.dim);
    found.coefficients = NULL;
cleanup:
    for (int v = 0; scaled && v < views; v++)
        kfe_i_table_free(&scaled[v]);
    kfe_i_free(ctx, scaled);
    kfe_i_solution_free(&found);
    return status;
}

static kfe_status code_sample(kfe_accumulator *a, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    int32_t *code = NULL;

    if (target->task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC(a->ctx, code, target->class_count);
    KFE_TRY(kfe_i_accumulator_classes(a, target, code));
    for (int64_t i = 0; i < target->rows; i++)
        a->sample_target.codes[i] = code[target->codes[i]];
cleanup:
    kfe_i_free(a->ctx, code);
    return status;
}

/* Copies the target of the sample; names of classes are those of the accumulator. */
static kfe_status take_sample_target(kfe_accumulator *a, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    kfe_i_target *out = &a->sample_target;

    *out = (kfe_i_target){.ctx = a->ctx, .task = target->task, .rows = target->rows, .cols = target->cols};
    if (target->task == KFE_TASK_CLASSES)
        KFE_ALLOC(a->ctx, out->codes, target->rows);
    if (target->task == KFE_TASK_REAL) {
        KFE_ALLOC(a->ctx, out->values, target->rows * target->cols);
        memcpy(out->values, target->values, (size_t)(target->rows * target->cols) * sizeof *out->values);
    }
    if (target->weights) {
        KFE_ALLOC(a->ctx, out->weights, target->rows);
        memcpy(out->weights, target->weights, (size_t)target->rows * sizeof *out->weights);
    }
    KFE_TRY(code_sample(a, target));
cleanup:
    return status;
}

/* Gives rows of equal content equal features, to the last digit. */
static kfe_status equate_rows(kfe_context *ctx, const kfe_data *rows, kfe_i_table *features)
{
    kfe_status status = KFE_OK;
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_data_row_keys(ctx, rows, &keys));
    KFE_TRY(kfe_i_distinct_make(ctx, features->rows, keys, KFE_STREAM_LOO, &distinct));
    for (int64_t i = 0; i < features->rows; i++)
        memmove(features->values + i * features->stride,
                features->values + distinct.first[distinct.of[i]] * features->stride,
                (size_t)features->cols * sizeof *features->values);
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    return status;
}

/* The rows that leave-one-out would look at if these were all rows. */
static kfe_status keep_sample(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = a->ctx;
    int64_t *index = NULL;
    int64_t count = 0;
    kfe_data *part = NULL;
    kfe_i_table features = {0};
    kfe_i_row_key *keys = NULL;

    KFE_TRY(kfe_i_data_row_keys(ctx, rows, &keys));
    KFE_TRY(kfe_i_sample_draw(ctx, kfe_data_rows(rows), keys, &index, &count));
    KFE_TRY(kfe_i_data_gather(ctx, rows, index, count, &part));
    KFE_TRY(kfe_i_model_features(ctx, a->map, part, &features));
    KFE_TRY(kfe_i_table_copy(ctx, &features, &a->sample));
    KFE_TRY(equate_rows(ctx, part, &a->sample));
    KFE_TRY(take_sample_target(a, &part->target));
cleanup:
    kfe_i_free(ctx, keys);
    kfe_i_table_free(&features);
    kfe_data_free(part);
    kfe_i_free(ctx, index);
    return status;
}

static kfe_status begin_sums(kfe_accumulator *a, kfe_task task, int64_t targets)
{
    kfe_status status = KFE_OK;
    double dim = (double)a->map->dim;

    KFE_TRY(kfe_i_check_memory(a->ctx, 8 * dim * dim, "the products of all columns",
                               "raise {memory}, or use fewer columns or {landmarks}"));
    KFE_TRY(kfe_i_sums_begin(a->ctx, a->map->dim, &a->sums));
    a->sums.task = task;
    if (task == KFE_TASK_REAL)
        KFE_TRY(kfe_i_sums_begin_targets(&a->sums, targets));
cleanup:
    return status;
}

kfe_status kfe_i_accumulator_sum_again(kfe_accumulator *a)
{
    kfe_status status = KFE_OK;
    int64_t classes = a->sums.classes;
    int64_t targets = a->sums.targets;
    kfe_task task = a->sums.task;

    kfe_i_sums_free(&a->sums);
    status = begin_sums(a, task, targets);
    for (int64_t g = 0; status == KFE_OK && g < classes; g++)
        status = kfe_i_sums_insert_class(&a->sums, g);
    a->sums.classes = classes; /* as many as there are names, also after a failure */
    return status;
}

kfe_status kfe_i_accumulator_start(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_data *one = NULL;
    int64_t first = 0;
    int kernel = kfe_i_accumulator_has_kernel(a->spec);

    KFE_TRY(spec_of_map(a, &spec));
    if (!kernel) /* only names and numbers of columns are taken from the rows */
        KFE_TRY(kfe_i_pick_rows(a->ctx, rows, &first, 1, &one));
    KFE_TRY(kfe_i_fit_model(a->ctx, spec, one ? one : rows, &a->map));
    if (kfe_i_method_makes_points(a->spec->method))
        KFE_TRY(make_points(a, a->centres ? a->centres : rows));
    KFE_TRY(begin_sums(a, rows->target.task, rows->target.cols));
    if (kernel && !a->keeps_rows && a->spec->method->flags & KFE_HAS_SUPERVISION)
        KFE_TRY(keep_sample(a, rows));
cleanup:
    kfe_spec_free(spec);
    kfe_data_free(one);
    return status;
}
