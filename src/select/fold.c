/* SPDX-License-Identifier: Apache-2.0 */
/* One split under one method: extracts features of its training and test rows, and measures predictions on the
 * test rows. Called by sweep_method.c. */
#include "select/fold.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/rows/distinct.h"

/* ---- rows of the data ---- */

static kfe_status pick_columns(kfe_context *ctx, const int64_t *columns, int64_t count, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    kfe_i_table picked = {0};

    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, count, &picked));
    for (int64_t i = 0; i < table->rows; i++)
        for (int64_t j = 0; j < count; j++)
            picked.values[i * count + j] = kfe_i_table_value(table, i, columns[j]);
    kfe_i_table_free(table);
    *table = picked;
cleanup:
    return status;
}

kfe_status kfe_i_fold_gather(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec, kfe_i_rows rows,
                             kfe_i_rows columns, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    *out = NULL;
    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, data, &kernels));
    KFE_TRY(kfe_i_data_gather(ctx, data, rows.items, rows.count, out));
    for (int v = 0; v < data->view_count; v++)
        if (kfe_i_kernel_list_given(&kernels, v) > 0)
            KFE_TRY(pick_columns(ctx, columns.items, columns.count, &(*out)->views[v].table));
cleanup:
    kfe_i_kernel_list_free(&kernels);
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    return status;
}

kfe_status kfe_i_fold_gather_train(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                   const kfe_i_split *split, kfe_data **out)
{
    kfe_i_rows rows = {split->train, split->train_count};
    kfe_status status = kfe_i_fold_gather(ctx, data, spec, rows, rows, out);

    if (status == KFE_OK && !data->target.keys)
        status = kfe_i_data_set_keys(ctx, *out);
    return status == KFE_OK ? kfe_i_spec_weigh_classes(ctx, spec, &(*out)->target) : status;
}

/* ---- features ---- */

typedef struct extraction {
    kfe_context *ctx, *owner;
    const kfe_data *data;
    const kfe_i_split *split;
    const kfe_i_shared_matrix *matrix;
    kfe_i_fit fit;
} extraction;

/* Makes a table outlive the task: copies it if it is borrowed; `owner` frees it. */
static kfe_status keep_table(const extraction *job, kfe_i_table *table)
{
    kfe_status status = KFE_OK;
    kfe_i_table copy = {0};

    if (!table->owned) {
        KFE_TRY(kfe_i_table_copy(job->ctx, table, &copy));
        *table = copy;
    }
    table->ctx = job->owner;
cleanup:
    return status;
}

static kfe_status pick_rows(const extraction *job, const double *all, const double *offset, int64_t dim,
                            const int64_t *rows, int64_t count, kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_table_new_dense(job->ctx, count, dim, out));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < dim; j++)
            out->values[i * dim + j] = all[job->matrix->place[rows[i]] * dim + j] - (offset ? offset[j] : 0);
    out->ctx = job->owner;
cleanup:
    return status;
}

/* The operator of the training rows. */
static kfe_status open_part(const extraction *job, const int64_t *index, kfe_i_gram **out)
{
    const kfe_i_shared_matrix *m = job->matrix;
    int64_t count = job->split->train_count;

    if (m->device)
        return kfe_i_device_subset(job->ctx, m->device, index, count, out);
    return kfe_i_gram_subset(job->ctx, m->count, m->values, index, count, out);
}

/* Features from a kernel matrix of all rows: one product serves training and test rows. */
static kfe_status extract_shared(extraction *job, kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = job->split;
    kfe_i_solution *solution = &job->fit.solution;
    kfe_i_gram *gram = NULL;
    int64_t *index = NULL;
    double *all = NULL;

    KFE_ALLOC(job->ctx, index, split->train_count);
    for (int64_t i = 0; i < split->train_count; i++)
        index[i] = job->matrix->place[split->train[i]];
    KFE_TRY(open_part(job, index, &gram));
    KFE_TRY(kfe_i_fit_extract(&job->fit, gram));
    KFE_TRY(kfe_i_solution_spread(solution, split->train_count));
    KFE_ALLOC(job->ctx, all, job->matrix->count * solution->dim);
    KFE_TRY(kfe_i_gram_subset_expand(gram, solution->coefficients, solution->dim, all));
    KFE_TRY(
        pick_rows(job, all, solution->offset, solution->dim, split->train, split->train_count, &out->train));
    KFE_TRY(pick_rows(job, all, solution->offset, solution->dim, split->test, split->test_count, &out->test));
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_free(job->ctx, index);
    kfe_i_free(job->ctx, all);
    return status;
}

/* The input of the predictor: features, or the decision values of a localized model, whose features are
 * something else. */
static kfe_status predictor_input(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                  kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (model->predictor.outputs == 0 || model->predictor.kind != KFE_PREDICTOR_DIRECT)
        return kfe_i_model_features(ctx, model, data, out);
    KFE_TRY(kfe_i_table_new_dense(ctx, kfe_data_rows(data), model->predictor.outputs, out));
    KFE_TRY(kfe_i_model_outputs(ctx, model, data, out->values));
cleanup:
    return status;
}

static kfe_status extract_alone(extraction *job, kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = job->split;
    kfe_data *test = NULL;

    KFE_TRY(kfe_i_fit_extract(&job->fit, NULL));
    KFE_TRY(kfe_i_fit_train_features(&job->fit, &out->train));
    KFE_TRY(keep_table(job, &out->train));
    KFE_TRY(kfe_i_fit_adopt(&job->fit));
    KFE_TRY(kfe_i_fold_gather(job->ctx, job->data, job->fit.spec,
                              (kfe_i_rows){split->test, split->test_count},
                              (kfe_i_rows){split->train, split->train_count}, &test));
    KFE_TRY(predictor_input(job->ctx, job->fit.model, test, &out->test));
    KFE_TRY(keep_table(job, &out->test));
cleanup:
    kfe_data_free(test);
    return status;
}

/* What the fold keeps of its training rows: of its own, the target itself, else a copy. */
static kfe_status keep_target(kfe_context *ctx, kfe_i_train_rows *own, const kfe_i_train_rows *rows,
                              kfe_i_fold *out)
{
    kfe_status status = KFE_OK;

    if (rows == own) {
        out->target = own->data->target;
        out->old_code = own->old_code;
        memset(&own->data->target, 0, sizeof own->data->target);
        own->old_code = NULL;
    } else {
        KFE_TRY(kfe_i_train_rows_target(ctx, rows, &out->target, &out->old_code));
    }
    out->target.ctx = out->ctx;
cleanup:
    return status;
}

static void keep_predictor(kfe_context *owner, kfe_i_fold *out, kfe_model *model)
{
    out->has_predictor = 1;
    out->predictor = model->predictor;
    out->predictor.ctx = owner;
    if (out->predictor.support.ctx)
        out->predictor.support.ctx = owner;
    if (out->predictor.kernel.ctx)
        out->predictor.kernel.ctx = owner;
    memset(&model->predictor, 0, sizeof model->predictor);
}

kfe_status kfe_i_fold_extract(kfe_context *ctx, kfe_context *owner, const kfe_data *data,
                              const kfe_i_split *split, const kfe_spec *spec, const kfe_i_shared *shared,
                              kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_train_rows *train = shared->train;
    kfe_i_train_rows own = {0};
    extraction job = {.ctx = ctx, .owner = owner, .data = data, .split = split, .matrix = shared->matrix};
    kfe_i_sums sums = {0};
    int known = 0;

    memset(out, 0, sizeof *out);
    out->ctx = owner;
    if (!train) {
        KFE_TRY(kfe_i_train_rows_make(ctx, data, spec, split, &own));
        train = &own;
    }
    job.fit = (kfe_i_fit){.ctx = ctx, .spec = spec, .train = train->data, .keeps_units = shared->keeps_units};
    KFE_TRY(kfe_i_fit_begin(&job.fit));
    KFE_TRY(kfe_i_row_sums_train(ctx, shared->sums, split, &job.fit.model->views[0].scaler, &sums, &known));
    job.fit.sums = known ? &sums : NULL;
    if (shared->matrix)
        KFE_TRY(extract_shared(&job, out));
    else
        KFE_TRY(extract_alone(&job, out));
    out->dim = out->train.cols;
    if (job.fit.model->predictor.outputs > 0)
        keep_predictor(owner, out, job.fit.model);
    KFE_TRY(keep_target(ctx, &own, train, out));
cleanup:
    if (job.fit.ctx)
        kfe_i_fit_free(&job.fit);
    kfe_i_sums_free(&sums);
    kfe_i_train_rows_free(ctx, &own);
    if (status != KFE_OK)
        kfe_i_fold_give_up(ctx, out);
    return status;
}

void kfe_i_fold_free(kfe_i_fold *fold)
{
    if (!fold->ctx)
        return;
    kfe_i_table_free(&fold->train);
    kfe_i_table_free(&fold->test);
    kfe_i_sums_free(&fold->sums);
    kfe_i_target_free(&fold->target);
    kfe_i_predictor_free(&fold->predictor);
    kfe_i_free(fold->ctx, fold->old_code);
    memset(fold, 0, sizeof *fold);
}

void kfe_i_fold_give_up(kfe_context *ctx, kfe_i_fold *fold)
{
    if (!fold->ctx)
        return;
    fold->ctx = ctx;
    if (fold->train.ctx)
        fold->train.ctx = ctx;
    if (fold->test.ctx)
        fold->test.ctx = ctx;
    if (fold->sums.ctx)
        fold->sums.ctx = ctx;
    kfe_i_fold_free(fold);
}

/* ---- measuring ---- */

typedef struct answers {
    int32_t *truth, *predicted;
    double *scores, *truth_values, *probabilities;
    double *weights; /* NULL: the data has none */
} answers;

static void free_answers(kfe_context *ctx, answers *a)
{
    kfe_i_free(ctx, a->truth);
    kfe_i_free(ctx, a->predicted);
    kfe_i_free(ctx, a->scores);
    kfe_i_free(ctx, a->probabilities);
    kfe_i_free(ctx, a->truth_values);
    kfe_i_free(ctx, a->weights);
}

/* Classes by their numbers in the whole data; one that training did not see is never predicted. */
static kfe_status decide_classes(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_predictor *predictor,
                                 const double *outputs, const kfe_i_trial *trial, answers *a)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = trial->split;
    const kfe_i_target *truth = &trial->data->target;
    int64_t classes = truth->class_count;
    double *known = NULL;

    KFE_ALLOC(ctx, known, predictor->classes);
    KFE_ALLOC(ctx, a->truth, split->test_count);
    KFE_ALLOC(ctx, a->predicted, split->test_count);
    KFE_ALLOC(ctx, a->scores, split->test_count * classes);
    for (int64_t p = 0; p < split->test_count * classes; p++)
        a->scores[p] = -INFINITY;
    for (int64_t i = 0; i < split->test_count; i++) {
        const double *row = outputs + i * predictor->outputs;
        a->truth[i] = truth->codes[split->test[i]];
        a->predicted[i] = fold->old_code[kfe_i_predictor_decide(predictor, row)];
        kfe_i_predictor_class_scores(predictor, row, known);
        for (int64_t g = 0; g < predictor->classes; g++)
            a->scores[i * classes + fold->old_code[g]] = known[g];
    }
cleanup:
    kfe_i_free(ctx, known);
    return status;
}

static int needs_probabilities(const kfe_i_trial *trial)
{
    for (int64_t m = 0; m < trial->metric_count; m++)
        if (trial->metrics[m]->needs_probabilities)
            return 1;
    return 0;
}

/* Calibrated probabilities of the test rows: the whole setting is fitted once more, with its calibration. Classes that
 * training did not see have the probability zero. */
static kfe_status find_probabilities(kfe_context *ctx, const kfe_i_trial *trial, answers *a)
{
    kfe_status status = KFE_OK;
    kfe_i_rows train_rows = {trial->split->train, trial->split->train_count};
    kfe_i_rows test_rows = {trial->split->test, trial->split->test_count};
    int64_t classes = trial->data->target.class_count;
    int32_t *old_code = NULL;
    kfe_data *train = NULL;
    kfe_data *test = NULL;
    kfe_model *model = NULL;
    kfe_matrix predictions = {0};
    kfe_matrix known = {0};

    KFE_TRY(kfe_i_fold_gather(ctx, trial->data, trial->calibrated, train_rows, train_rows, &train));
    KFE_TRY(kfe_i_fold_gather(ctx, trial->data, trial->calibrated, test_rows, train_rows, &test));
    KFE_TRY(kfe_i_compact_classes(ctx, train, &old_code));
    KFE_TRY(kfe_fit(ctx, trial->calibrated, train, &model));
    KFE_TRY(kfe_predict_probabilities(ctx, model, test, &predictions, &known));
    KFE_ALLOC_ZERO(ctx, a->probabilities, test_rows.count * classes);
    for (int64_t i = 0; i < test_rows.count; i++)
        for (int64_t g = 0; g < known.cols; g++)
            a->probabilities[i * classes + old_code[g]] = known.values[i * known.stride + g];
cleanup:
    kfe_matrix_free(&predictions);
    kfe_matrix_free(&known);
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_data_free(test);
    kfe_i_free(ctx, old_code);
    return status;
}

static kfe_status copy_values(kfe_context *ctx, const kfe_i_split *split, const kfe_i_target *truth,
                              answers *a)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, a->truth_values, split->test_count * truth->cols);
    for (int64_t i = 0; i < split->test_count; i++)
        memcpy(a->truth_values + i * truth->cols, truth->values + split->test[i] * truth->cols,
               (size_t)truth->cols * sizeof *truth->values);
cleanup:
    return status;
}

static kfe_status copy_weights(kfe_context *ctx, const kfe_i_split *split, const kfe_i_target *truth,
                               answers *a)
{
    kfe_status status = KFE_OK;

    if (!truth->weights)
        return KFE_OK;
    KFE_ALLOC(ctx, a->weights, split->test_count);
    for (int64_t i = 0; i < split->test_count; i++)
        a->weights[i] = truth->weights[split->test[i]];
cleanup:
    return status;
}

static void sum_residuals(const kfe_i_outcome *outcome, double *out)
{
    memset(out, 0, (size_t)(2 * outcome->cols) * sizeof *out);
    for (int64_t i = 0; i < outcome->rows; i++)
        for (int64_t j = 0; j < outcome->cols; j++) {
            int64_t at = i * outcome->cols + j;
            double residual = outcome->predicted_values[at] - outcome->truth_values[at];
            out[2 * j] += kfe_i_outcome_weight(outcome, i) * residual;
            out[2 * j + 1] += kfe_i_outcome_weight(outcome, i) * residual * residual;
        }
}

static void copy_predictions(const kfe_i_outcome *outcome, double *out)
{
    for (int64_t i = 0; outcome->task == KFE_TASK_CLASSES && i < outcome->rows; i++)
        out[i] = outcome->predicted[i];
    if (outcome->task == KFE_TASK_REAL)
        memcpy(out, outcome->predicted_values, (size_t)(outcome->rows * outcome->cols) * sizeof *out);
}

static kfe_status measure_outcome(kfe_context *ctx, const kfe_i_trial *trial, const kfe_i_outcome *outcome,
                                  const kfe_i_measured_fold *out)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < trial->metric_count; m++)
        KFE_TRY(kfe_i_metric_measure(ctx, trial->metrics[m], outcome, &out->values[m],
                                     out->variances ? &out->variances[m] : NULL));
    if (out->residuals && outcome->task == KFE_TASK_REAL)
        sum_residuals(outcome, out->residuals);
    if (out->predictions)
        copy_predictions(outcome, out->predictions);
cleanup:
    return status;
}

static kfe_status measure_predictor(kfe_context *ctx, const kfe_i_fold *fold,
                                    const kfe_i_predictor *predictor, const kfe_i_table *features,
                                    const kfe_i_trial *trial, const kfe_i_measured_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *truth = &trial->data->target;
    answers a = {0};
    double *outputs = NULL;
    kfe_i_outcome outcome = {.task = truth->task,
                             .rows = trial->split->test_count,
                             .classes = truth->class_count,
                             .positive = trial->positive,
                             .cols = truth->cols};

    KFE_ALLOC(ctx, outputs, outcome.rows * predictor->outputs);
    KFE_TRY(kfe_i_predictor_outputs(ctx, predictor, features, outputs));
    if (truth->task == KFE_TASK_CLASSES)
        KFE_TRY(decide_classes(ctx, fold, predictor, outputs, trial, &a));
    else
        KFE_TRY(copy_values(ctx, trial->split, truth, &a));
    KFE_TRY(copy_weights(ctx, trial->split, truth, &a));
    outcome.weights = a.weights;
    if (trial->calibrated && needs_probabilities(trial))
        KFE_TRY(find_probabilities(ctx, trial, &a));
    outcome.probabilities = a.probabilities;
    outcome.truth = a.truth;
    outcome.predicted = a.predicted;
    outcome.scores = a.scores;
    outcome.one_vs_rest = kfe_i_predictor_is_one_vs_rest(predictor);
    outcome.truth_values = a.truth_values;
    outcome.predicted_values = outputs;
    KFE_TRY(measure_outcome(ctx, trial, &outcome, out));
cleanup:
    free_answers(ctx, &a);
    kfe_i_free(ctx, outputs);
    return status;
}

static kfe_i_table first_columns(const kfe_i_table *features, int64_t dim)
{
    kfe_i_table part = kfe_i_table_slice(features, 0, features->rows);

    if (dim > 0 && dim < part.cols)
        part.cols = dim;
    return part;
}

static kfe_status learn_from_sums(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_trial *trial,
                                  kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = trial->dim > 0 && trial->dim < fold->dim ? trial->dim : fold->dim;
    kfe_i_sums first = {0};

    KFE_TRY(kfe_i_sums_leading(ctx, &fold->sums, dim, &first));
    KFE_TRY(trial->learner->fit_sums(ctx, &first, trial->settings, out));
cleanup:
    kfe_i_sums_free(&first);
    return status;
}

static kfe_status learn_from_rows(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_trial *trial,
                                  kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table train = first_columns(&fold->train, trial->dim);

    KFE_TRY(kfe_i_learner_check_features(ctx, &train));
    KFE_TRY(trial->learner->fit(ctx, &train, &fold->target, trial->settings, out));
cleanup:
    return status;
}

kfe_status kfe_i_fold_learn_on_device(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_learner *learner,
                                      int64_t dim, const void *const *settings, int64_t count,
                                      kfe_i_predictor *out)
{
    kfe_i_table train = first_columns(&fold->train, dim);

    memset(out, 0, (size_t)count * sizeof *out);
    if (fold->has_predictor || fold->sums.cols > 0 || !learner->fit_on_device)
        return KFE_OK;
    if (kfe_i_learner_check_features(ctx, &train) != KFE_OK)
        return KFE_OK; /* each trial reports it */
    return learner->fit_on_device(ctx, &train, &fold->target, settings, count, out);
}

kfe_status kfe_i_fold_measure(kfe_context *ctx, const kfe_i_fold *fold, const kfe_i_trial *trial,
                              const kfe_i_measured_fold *out)
{
    kfe_status status = KFE_OK;
    kfe_i_predictor trained = {0};
    const kfe_i_predictor *predictor = fold->has_predictor ? &fold->predictor
                                       : trial->trained    ? trial->trained
                                                           : &trained;
    kfe_i_table test = first_columns(&fold->test, trial->dim);

    if (predictor == &trained)
        KFE_TRY(fold->sums.cols > 0 ? learn_from_sums(ctx, fold, trial, &trained)
                                    : learn_from_rows(ctx, fold, trial, &trained));
    KFE_TRY(measure_predictor(ctx, fold, predictor, &test, trial, out));
    if (out->support_vectors)
        *out->support_vectors = predictor->support_vectors >= 0 ? (double)predictor->support_vectors : NAN;
cleanup:
    kfe_i_predictor_free(&trained);
    return status;
}
