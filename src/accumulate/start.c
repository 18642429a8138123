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
#include "method/centroid/centroid.h"
#include "method/ridge/leave_one_out.h"
#include "model/fit.h"

/* ---- which specs ---- */

int kfe_i_accumulator_has_kernel(const kfe_spec *spec)
{
    return (spec->method->flags & KFE_HAS_KERNELS) != 0 || kfe_i_spec_maps_kernel(spec);
}

static int needs_landmarks(const kfe_i_method *method)
{
    return (method->flags & KFE_HAS_KERNELS) != 0 && !method->marks_centroids;
}

/* Whether landmarks are given where they are needed, and only there. */
static int has_right_landmarks(const kfe_spec *spec)
{
    if (spec->method->marks_centroids)
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
        if (method->fit_sums && (needs_landmarks(method) ? KFE_HAS_KERNELS : 0) == kernels) {
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

kfe_status kfe_i_accumulator_check(kfe_context *ctx, const kfe_spec *spec, int keeps_rows)
{
    kfe_status status = KFE_OK;

    if (!spec->method->fit_sums || spec->own_method)
        return refuse_method(ctx, spec);
    if (spec->method->check_sums)
        KFE_TRY(spec->method->check_sums(ctx, spec->settings));
    if (spec->method->marks_centroids && !has_right_landmarks(spec))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "the landmarks of %s are the means of classes, so that there are no others; leave out "
                 "{landmarks}",
                 spec->method->name);
    if (spec->method->marks_centroids && kfe_i_spec_scale(spec) == KFE_SCALE_L2_ROWS)
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
                 "kernels that are functions of your own, or a matrix, cannot be used in fits from sums over "
                 "rows");
    if (spec->fit.calibration != KFE_CALIBRATION_NONE)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "calibration needs rows that the fit did not see; leave out {calibration}");
    if (!kfe_i_accumulator_has_kernel(spec) && kfe_i_word_index(KFE_METRIC_WORDS, spec->fit.metric) < 0)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "method %s cannot be fitted from sums over rows with a {metric}; use a kernel method with "
                 "{landmarks}",
                 spec->method->name);
    KFE_TRY(kfe_spec_check(ctx, spec, NULL, NULL));
cleanup:
    return status;
}

int kfe_spec_accumulates(const kfe_spec *spec)
{
    const kfe_i_learner *learner = spec->learner;

    return spec->method->fit_sums && !spec->own_method && !has_function(spec) &&
           (!spec->method->check_sums || spec->method->check_sums(spec->ctx, spec->settings) == KFE_OK) &&
           has_right_landmarks(spec) &&
           !(spec->method->marks_centroids && kfe_i_spec_scale(spec) == KFE_SCALE_L2_ROWS) &&
           (!learner || (learner->fit_sums && !kfe_i_spec_learns_from_kernel(spec))) &&
           spec->fit.calibration == KFE_CALIBRATION_NONE && !kfe_i_balances_classes(spec);
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
        if (spec->method->marks_centroids || a->keeps_rows)
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

void kfe_i_accumulator_replace_landmarks(kfe_model *map, kfe_i_table *landmarks, int64_t rows,
                                         double *coefficients, int64_t dim)
{
    for (int v = 0; v < map->view_count; v++) {
        kfe_i_table_free(&map->views[v].support);
        map->views[v].support = landmarks[v];
        memset(&landmarks[v], 0, sizeof landmarks[v]);
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

/* The landmarks become the means of the classes of these rows, scaled as the map scales rows. */
static kfe_status mark_centroids(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = a->ctx;
    int views = a->map->view_count;
    kfe_i_groups groups = {0};
    kfe_i_table *scaled = NULL;
    kfe_i_table *means = NULL;
    double *basis = NULL;
    int64_t rank = 0;

    KFE_ALLOC_ZERO(ctx, scaled, views);
    KFE_ALLOC_ZERO(ctx, means, views);
    KFE_TRY(kfe_i_groups_from_classes(ctx, &rows->target, &groups));
    KFE_ALLOC(ctx, basis, groups.count * groups.count);
    KFE_TRY(kfe_i_model_scale(ctx, a->map, rows, scaled));
    KFE_TRY(kfe_i_input_centroids(ctx, scaled, views, &groups, means));
    KFE_TRY(kfe_i_input_centroid_basis(ctx, &a->map->kernels, means, groups.count, basis, &rank));
    kfe_i_accumulator_replace_landmarks(a->map, means, groups.count, basis, rank);
    basis = NULL;
cleanup:
    for (int v = 0; v < views; v++) {
        if (scaled)
            kfe_i_table_free(&scaled[v]);
        if (means)
            kfe_i_table_free(&means[v]);
    }
    kfe_i_free(ctx, scaled);
    kfe_i_free(ctx, means);
    kfe_i_free(ctx, basis);
    kfe_i_groups_free(&groups);
    return status;
}

/* The rows that leave-one-out would look at if these were all rows. */
static kfe_status choose_sample(kfe_context *ctx, int64_t rows, int64_t **index, int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_i_rng rng;

    *count = kfe_i_loo_sample_size(rows);
    KFE_ALLOC(ctx, *index, rows);
    for (int64_t i = 0; i < rows; i++)
        (*index)[i] = i;
    if (*count < rows) {
        kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_LOO);
        kfe_i_rng_choose(&rng, rows, *count, *index);
    }
cleanup:
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

static kfe_status keep_sample(kfe_accumulator *a, const kfe_data *rows)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = a->ctx;
    int64_t *index = NULL;
    int64_t count = 0;
    kfe_data *part = NULL;
    kfe_i_table features = {0};

    KFE_TRY(choose_sample(ctx, kfe_data_rows(rows), &index, &count));
    KFE_TRY(kfe_i_data_gather(ctx, rows, index, count, &part));
    KFE_TRY(kfe_i_model_features(ctx, a->map, part, &features));
    KFE_TRY(kfe_i_table_copy(ctx, &features, &a->sample));
    KFE_TRY(take_sample_target(a, &part->target));
cleanup:
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
    if (a->spec->method->marks_centroids)
        KFE_TRY(mark_centroids(a, a->centres ? a->centres : rows));
    KFE_TRY(begin_sums(a, rows->target.task, rows->target.cols));
    if (kernel && !a->keeps_rows && a->spec->method->flags & KFE_HAS_SUPERVISION)
        KFE_TRY(keep_sample(a, rows));
cleanup:
    kfe_spec_free(spec);
    kfe_data_free(one);
    return status;
}
