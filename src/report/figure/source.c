/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes what figures are drawn from: features, predictions and scores of each set of examples, classes under one list
 * of names, and the sample that figures show. Called once per report.
 */
#include "report/figure/source.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "core/text.h"
#include "model/arrange.h"
#include "select/judged.h"

/* ---- samples ---- */

/* How many of the members of a stratum are shown, so that every class is. */
static int64_t quota(int64_t members, int64_t rows, int64_t most)
{
    int64_t share = (int64_t)((double)most * (double)members / (double)rows);

    return members == 0 ? 0 : share < 1 ? 1 : share;
}

/* Chooses at most `most` rows, from each stratum (of[rows], strata of them) in proportion. */
static kfe_status choose_rows(kfe_context *ctx, const kfe_i_target *target, int64_t rows, int64_t most,
                              int64_t **out, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t strata = target->task == KFE_TASK_CLASSES ? target->class_count : 1;
    int64_t *sizes = NULL;
    int64_t *order = NULL;
    kfe_i_rng rng;

    KFE_ALLOC_ZERO(ctx, sizes, strata);
    KFE_ALLOC(ctx, order, rows);
    kfe_i_rng_init(&rng, ctx->seed, KFE_STREAM_FIGURES);
    kfe_i_rng_choose(&rng, rows, rows, order);
    for (int64_t i = 0; i < rows; i++)
        sizes[strata > 1 ? target->codes[i] : 0]++;
    for (int64_t g = 0; g < strata; g++)
        sizes[g] = quota(sizes[g], rows, most);
    *count = 0;
    for (int64_t k = 0; k < rows && *count < most; k++)
        if (sizes[strata > 1 ? target->codes[order[k]] : 0]-- > 0)
            order[(*count)++] = order[k];
    kfe_i_sort_rows(order, *count);
    *out = order;
    order = NULL;
cleanup:
    kfe_i_free(ctx, sizes);
    kfe_i_free(ctx, order);
    return status;
}

static kfe_status take_all(kfe_context *ctx, int64_t rows, int64_t **out, int64_t *count)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, *out, rows);
    for (int64_t i = 0; i < rows; i++)
        (*out)[i] = i;
    *count = rows;
cleanup:
    return status;
}

static kfe_status take_sample(kfe_context *ctx, kfe_i_set *set, int64_t most)
{
    if (set->rows <= most)
        return take_all(ctx, set->rows, &set->sample, &set->sample_count);
    return choose_rows(ctx, &set->data->target, set->rows, most, &set->sample, &set->sample_count);
}

/* If there are many training examples, only those that figures show are projected. */
static kfe_status gather(kfe_context *ctx, kfe_i_set *set, int64_t most)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;

    if (kfe_data_rows(set->data) <= most)
        return KFE_OK;
    KFE_TRY(choose_rows(ctx, &set->data->target, kfe_data_rows(set->data), most, &set->origin, &count));
    KFE_TRY(kfe_i_data_gather(ctx, set->data, set->origin, count, &set->gathered));
cleanup:
    return status;
}

/* ---- features and predictions ---- */

static kfe_status identity_features(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                    kfe_i_set *set)
{
    kfe_status status = KFE_OK;
    kfe_data arranged = {0};
    kfe_i_table table = {0};
    double *row = NULL;

    KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
    KFE_TRY(kfe_i_model_features(ctx, model, &arranged, &table));
    KFE_ALLOC(ctx, row, table.cols);
    KFE_ALLOC(ctx, set->features.values, set->rows * set->dim);
    set->features.owner = ctx;
    set->features.rows = set->rows;
    set->features.cols = set->features.stride = set->dim;
    for (int64_t i = 0; i < set->rows; i++) {
        kfe_i_table_dense_row(&table, i, row);
        memcpy(set->features.values + i * set->dim, row, (size_t)set->dim * sizeof *row);
    }
cleanup:
    kfe_i_free(ctx, row);
    kfe_i_table_free(&table);
    kfe_i_arrange_free(&arranged);
    return status;
}

/* The predictor is applied to the features that are there already, which is most of the work of kfe_predict. */
static kfe_status predict_from_features(kfe_context *ctx, const kfe_model *model, const kfe_i_set *set,
                                        kfe_matrix *outputs)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = {.kind = KFE_TABLE_DENSE,
                         .rows = set->rows,
                         .cols = set->features.cols,
                         .stride = set->features.stride,
                         .values = set->features.values};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    KFE_ALLOC(ctx, outputs->values, set->rows * model->predictor.outputs);
    outputs->owner = ctx;
    outputs->rows = set->rows;
    outputs->cols = outputs->stride = model->predictor.outputs;
    KFE_TRY(kfe_i_predictor_outputs(ctx, &model->predictor, &table, outputs->values));
cleanup:
    kfe_i_threads_leave(saved_threads);
    return status;
}

static int outputs_need_data(const kfe_model *model)
{
    return model->projector == KFE_PROJECT_IDENTITY || model->projector == KFE_PROJECT_LOCAL;
}

static kfe_status compute_outputs(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                  const kfe_i_set *set, kfe_matrix *outputs)
{
    kfe_matrix predictions = {0};

    if (!outputs_need_data(model))
        return predict_from_features(ctx, model, set, outputs);
    kfe_status status = kfe_predict(ctx, model, data, &predictions, outputs);
    kfe_matrix_free(&predictions);
    return status;
}

static kfe_status take_classes(kfe_context *ctx, const kfe_i_source *source, kfe_i_set *set,
                               const kfe_matrix *outputs)
{
    int judges = set == &source->test || !source->test.data;
    kfe_i_judged judged;
    kfe_status status = kfe_i_judge_classes(ctx, source->model, outputs, source->classes.count,
                                            judges ? set->truth : NULL, source->settings.positive, &judged);

    set->predicted = judged.predicted;
    set->scores = judged.scores;
    set->probabilities = judged.probabilities;
    set->outcome = judged.outcome;
    set->outcome.weights = set->weights;
    return status;
}

static kfe_status take_values(kfe_context *ctx, kfe_i_set *set, const kfe_data *data,
                              const kfe_matrix *outputs)
{
    kfe_status status = KFE_OK;
    int64_t cols = outputs->cols;

    KFE_ALLOC(ctx, set->values, set->rows * cols);
    for (int64_t i = 0; i < set->rows; i++)
        memcpy(set->values + i * cols, outputs->values + i * outputs->stride,
               (size_t)cols * sizeof *set->values);
    if (data->target.task == KFE_TASK_REAL && data->target.cols == cols)
        set->outcome = (kfe_i_outcome){.task = KFE_TASK_REAL,
                                       .rows = set->rows,
                                       .positive = -1,
                                       .cols = cols,
                                       .truth_values = data->target.values,
                                       .predicted_values = set->values,
                                       .weights = set->weights};
cleanup:
    return status;
}

static kfe_status predict(kfe_context *ctx, const kfe_i_source *source, kfe_i_set *set, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_matrix outputs = {0};

    if (!source->model->learner)
        return KFE_OK;
    KFE_TRY(compute_outputs(ctx, source->model, data, set, &outputs));
    if (source->model->predictor.classes > 0)
        KFE_TRY(take_classes(ctx, source, set, &outputs));
    else
        KFE_TRY(take_values(ctx, set, data, &outputs));
cleanup:
    kfe_matrix_free(&outputs);
    return status;
}

static int64_t classes_of(const kfe_i_set *set)
{
    return set->data ? set->data->target.class_count : 0;
}

/* ---- all together ---- */

static kfe_status project_set(kfe_context *ctx, const kfe_i_source *source, kfe_i_set *set)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = source->model;
    const kfe_data *data = set->gathered ? set->gathered : set->data;

    set->dim = model->dim < KFE_FIGURE_FEATURES ? model->dim : KFE_FIGURE_FEATURES;
    if (model->projector == KFE_PROJECT_IDENTITY)
        KFE_TRY(identity_features(ctx, model, data, set));
    else
        KFE_TRY(kfe_transform(ctx, model, data, &set->features));
    KFE_TRY(predict(ctx, source, set, data));
cleanup:
    return status;
}

static kfe_status begin_set(kfe_context *ctx, kfe_i_source *source, kfe_i_set *set)
{
    const kfe_data *data = set->gathered ? set->gathered : set->data;

    set->rows = kfe_data_rows(data);
    set->weights = data->target.weights;
    if (data->target.task != KFE_TASK_CLASSES)
        return KFE_OK;
    return kfe_i_class_list_match(ctx, &source->classes, &data->target, &set->truth);
}

kfe_status kfe_i_source_prepare(kfe_context *ctx, kfe_i_source *source)
{
    kfe_status status = KFE_OK;
    int64_t most = source->train.data && source->test.data ? KFE_FIGURE_POINTS / 2 : KFE_FIGURE_POINTS;
    kfe_i_set *sets[] = {&source->train, &source->test};

    source->ctx = ctx;
    source->train.name = "training";
    source->test.name = "test";
    if (!source->model)
        return kfe_i_source_hold_out(ctx, source);
    KFE_TRY(kfe_i_class_list_begin(ctx, source->model, classes_of(&source->train) + classes_of(&source->test),
                                   &source->classes));
    if (source->train.data)
        KFE_TRY(gather(ctx, &source->train, most));
    for (int s = 0; s < 2; s++)
        if (sets[s]->data)
            KFE_TRY(begin_set(ctx, source, sets[s]));
    for (int s = 0; s < 2; s++) {
        if (!sets[s]->data)
            continue;
        KFE_TRY(project_set(ctx, source, sets[s]));
        KFE_TRY(take_sample(ctx, sets[s], most));
    }
    KFE_TRY(kfe_i_source_hold_out(ctx, source));
cleanup:
    return status;
}

static void set_free(kfe_context *ctx, kfe_i_set *set)
{
    kfe_matrix_free(&set->features);
    kfe_i_free(ctx, set->origin);
    kfe_i_free(ctx, set->truth);
    kfe_i_free(ctx, set->predicted);
    kfe_i_free(ctx, set->scores);
    kfe_i_free(ctx, set->probabilities);
    kfe_i_free(ctx, set->values);
    kfe_i_free(ctx, set->sample);
    kfe_i_free(ctx, set->own_weights);
    kfe_i_free(ctx, set->own_truth);
    kfe_data_free(set->gathered);
}

void kfe_i_source_free(kfe_i_source *source)
{
    if (!source->ctx)
        return;
    set_free(source->ctx, &source->train);
    set_free(source->ctx, &source->test);
    set_free(source->ctx, &source->held_out);
    kfe_i_free(source->ctx, source->classes.names);
}

const kfe_i_set *kfe_i_source_judged(const kfe_i_source *source)
{
    if (source->test.outcome.rows > 0)
        return &source->test;
    if (!source->test.data && source->held_out.outcome.rows > 0)
        return &source->held_out;
    return !source->test.data && source->train.outcome.rows > 0 ? &source->train : NULL;
}
