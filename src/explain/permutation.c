/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation importance, two of the parts of kfe_explain: by how much a metric gets worse when the values of one column
 * are permuted among the examples, so that the column says nothing any more while the model stays as it is. Of several
 * views, the same for all columns of a view at once, beside the mean share that the gate of lmkl or sldr gives it.
 *
 * Breiman (2001), section 10. Time: columns × repeats predictions, on at most {rows} examples. {top} permutes only the
 * columns with the largest derivatives.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/classes.h"
#include "explain/explain.h"
#include "model/calibrate.h"
#include "model/linear.h"
#include "select/metric.h"

typedef struct permuting {
    kfe_i_explaining *job;
    const kfe_i_metric *metric;
    kfe_data *data; /* a copy of some rows, which are permuted in place */
    kfe_i_rng rng;
    int64_t *order; /* rows */
    double *held;   /* rows × the columns of the widest view: the values before */
    int32_t *truth, *predicted;
    double *outputs, *answers, *scores, *probabilities;
    double baseline;
} permuting;

static void permuting_free(permuting *p)
{
    kfe_context *ctx = p->job->ctx;

    kfe_data_free(p->data);
    kfe_i_free(ctx, p->order);
    kfe_i_free(ctx, p->held);
    kfe_i_free(ctx, p->truth);
    kfe_i_free(ctx, p->predicted);
    kfe_i_free(ctx, p->outputs);
    kfe_i_free(ctx, p->answers);
    kfe_i_free(ctx, p->scores);
    kfe_i_free(ctx, p->probabilities);
}

/* ---- the metric ---- */

/* Classes of the data by their numbers in the model. */
static kfe_status match_classes(permuting *p)
{
    const kfe_i_target *target = &p->data->target;
    const kfe_i_model_target *known = &p->job->model->target;

    for (int64_t i = 0; i < target->rows; i++) {
        int64_t g = 0;
        while (g < known->class_count &&
               !kfe_i_same_class(known->class_names[g], target->names[target->codes[i]]))
            g++;
        if (g == known->class_count)
            return kfe_i_fail(
                p->job->ctx, KFE_EINPUT,
                "permutation importance compares predictions with labels, but the model was not "
                "fitted on the label '%s'; leave out its rows",
                target->names[target->codes[i]]);
        p->truth[i] = (int32_t)g;
    }
    return KFE_OK;
}

static kfe_status measure_classes(permuting *p, kfe_i_outcome *outcome)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = p->job->model;
    const kfe_i_predictor *predictor = &model->predictor;

    for (int64_t i = 0; i < outcome->rows; i++) {
        const double *row = p->outputs + i * predictor->outputs;
        p->predicted[i] = kfe_i_predictor_decide(predictor, row);
        kfe_i_predictor_class_scores(predictor, row, p->scores + i * predictor->classes);
    }
    if (model->calibration.kind != KFE_CALIBRATION_NONE) {
        KFE_TRY(kfe_i_model_probabilities(p->job->ctx, model, outcome->rows, p->outputs, p->probabilities));
        outcome->probabilities = p->probabilities;
    }
    outcome->classes = predictor->classes;
    outcome->positive = predictor->classes == 2 ? 1 : -1;
    outcome->truth = p->truth;
    outcome->predicted = p->predicted;
    outcome->scores = p->scores;
    outcome->one_vs_rest = kfe_i_predictor_is_one_vs_rest(predictor);
cleanup:
    return status;
}

static kfe_status measure(permuting *p, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_outcome outcome = {.task = p->data->target.task,
                             .rows = p->data->target.rows,
                             .positive = -1,
                             .weights = p->data->target.weights};

    KFE_TRY(kfe_i_model_outputs(p->job->ctx, p->job->model, p->data, p->outputs));
    if (outcome.task == KFE_TASK_CLASSES) {
        KFE_TRY(measure_classes(p, &outcome));
    } else {
        outcome.cols = p->data->target.cols;
        outcome.truth_values = p->data->target.values;
        outcome.predicted_values = p->outputs;
    }
    KFE_TRY(p->metric->value(p->job->ctx, &outcome, out));
cleanup:
    return status;
}

/* ---- permuting ---- */

/* Exchanges the values of columns first … first + count − 1 of a view among the rows, or puts them back. */
static void permute(permuting *p, kfe_i_table *table, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < table->rows; i++)
        memcpy(p->held + i * count, table->values + i * table->stride + first,
               (size_t)count * sizeof *p->held);
    kfe_i_rng_choose(&p->rng, table->rows, table->rows, p->order);
    for (int64_t i = 0; i < table->rows; i++)
        memcpy(table->values + i * table->stride + first, p->held + p->order[i] * count,
               (size_t)count * sizeof *p->held);
}

static void put_back(permuting *p, kfe_i_table *table, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < table->rows; i++)
        memcpy(table->values + i * table->stride + first, p->held + i * count,
               (size_t)count * sizeof *p->held);
}

/* out: the mean and the standard deviation of what is lost without these columns. */
static kfe_status lose(permuting *p, int view, int64_t first, int64_t count, double out[2])
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &p->data->views[view].table;
    int64_t repeats = p->job->settings.repeats;
    double sum = 0;
    double squares = 0;

    for (int64_t r = 0; r < repeats; r++) {
        double value = 0;
        permute(p, table, first, count);
        status = measure(p, &value);
        put_back(p, table, first, count);
        if (status != KFE_OK)
            return status;
        double lost = p->metric->larger_is_better ? p->baseline - value : value - p->baseline;
        sum += lost;
        squares += lost * lost;
    }
    out[0] = sum / (double)repeats;
    out[1] = repeats > 1 ? sqrt(fmax(0, (squares - sum * out[0]) / (double)(repeats - 1))) : (double)NAN;
    return KFE_OK;
}

/* ---- columns ---- */

typedef struct ranked_column {
    double size;
    int64_t column; /* of all views */
} ranked_column;

static int by_size(const void *a, const void *b)
{
    const ranked_column *x = a;
    const ranked_column *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* The columns to permute: all in their order, or the {top} ones with the largest derivatives, largest first. */
static kfe_status choose_columns(permuting *p, ranked_column **out, int64_t *count)
{
    enum { ROWS_TO_RANK = 100 };
    kfe_status status = KFE_OK;
    kfe_i_explaining ranking = *p->job;
    int64_t cols = kfe_i_model_all_cols(ranking.model);
    double *sizes = NULL;

    KFE_ALLOC_ZERO(ranking.ctx, sizes, cols);
    KFE_ALLOC(ranking.ctx, *out, cols);
    *count = cols;
    if (ranking.settings.top > 0 && ranking.settings.top < cols) {
        if (ranking.settings.rows > ROWS_TO_RANK)
            ranking.settings.rows = ROWS_TO_RANK;
        KFE_TRY(kfe_i_gradient_sizes(&ranking, sizes));
        *count = ranking.settings.top;
    }
    for (int64_t j = 0; j < cols; j++)
        (*out)[j] = (ranked_column){sizes[j], j};
    if (*count < cols)
        qsort(*out, (size_t)cols, sizeof **out, by_size);
cleanup:
    kfe_i_free(ranking.ctx, sizes);
    return status;
}

/* The axis of these columns: that of the model, or one of its own. */
static kfe_status chosen_axis(kfe_i_explaining *job, const ranked_column *chosen, int64_t count, int *out)
{
    kfe_status status = KFE_OK;
    const char **labels = NULL;
    int all = 0;

    KFE_TRY(kfe_i_column_axis(job, &all));
    *out = all;
    if (count == job->out->axes[all].count)
        return KFE_OK;
    KFE_ALLOC(job->ctx, labels, count);
    for (int64_t k = 0; k < count; k++)
        labels[k] = job->out->axes[all].labels[chosen[k].column];
    KFE_TRY(kfe_i_explanation_words(job->out, "column", count, labels, out));
cleanup:
    kfe_i_free(job->ctx, labels);
    return status;
}

/* The view of a column of all views, and its place there. */
static int find_view(const kfe_model *model, int64_t column, int64_t *place)
{
    int v = 0;

    while (column >= model->views[v].cols)
        column -= model->views[v++].cols;
    *place = column;
    return v;
}

static kfe_status lose_columns(permuting *p)
{
    static const char *const words[] = {"loss", "sd"};
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    ranked_column *chosen = NULL;
    int64_t count = 0;
    int columns = 0;
    int values_axis = 0;
    double *values = NULL;

    KFE_TRY(choose_columns(p, &chosen, &count));
    KFE_TRY(chosen_axis(job, chosen, count, &columns));
    KFE_TRY(kfe_i_explanation_words(job->out, "value", 2, words, &values_axis));
    KFE_TRY(kfe_i_explanation_add(job->out, "permutation",
                                  "by how much the metric gets worse when a column is permuted", columns,
                                  values_axis, &values));
    for (int64_t k = 0; k < count; k++) {
        int64_t place = 0;
        int view = find_view(job->model, chosen[k].column, &place);
        KFE_TRY(kfe_i_checkpoint(job->ctx, "permuting columns", k, count));
        KFE_TRY(lose(p, view, place, 1, values + 2 * k));
    }
cleanup:
    kfe_i_free(job->ctx, chosen);
    return status;
}

/* ---- views ---- */

/* The mean share of each view at the examples: the sum over its parts. */
static kfe_status mean_shares(permuting *p, double *shares, int64_t stride)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    int64_t rows = kfe_data_rows(p->data);
    int64_t parts = job->model->local->part_count;
    kfe_i_local as_shares = *job->model->local;
    kfe_model shown = *job->model;
    double *each = NULL;

    as_shares.shows = KFE_LOCAL_SHARES;
    shown.local = &as_shares;
    shown.dim = parts;
    KFE_ALLOC(job->ctx, each, rows * parts);
    KFE_TRY(kfe_i_model_project(job->ctx, &shown, p->data, each));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t m = 0; m < parts; m++)
            shares[job->model->kernels.items[m].view * stride] += each[i * parts + m] / (double)rows;
cleanup:
    kfe_i_free(job->ctx, each);
    return status;
}

static kfe_status lose_views(permuting *p)
{
    static const char *const words[] = {"loss", "sd", "share"};
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    const char **names = NULL;
    int views = 0;
    int values_axis = 0;
    int localized = job->model->local != NULL;
    double *values = NULL;

    KFE_ALLOC(job->ctx, names, job->model->view_count);
    for (int v = 0; v < job->model->view_count; v++)
        names[v] = job->model->views[v].name;
    KFE_TRY(kfe_i_explanation_words(job->out, "view", job->model->view_count, names, &views));
    KFE_TRY(kfe_i_explanation_words(job->out, "value", 2 + localized, words, &values_axis));
    KFE_TRY(kfe_i_explanation_add(
        job->out, "views",
        "by how much the metric gets worse when all columns of a view are permuted together", views,
        values_axis, &values));
    for (int v = 0; v < job->model->view_count; v++)
        KFE_TRY(lose(p, v, 0, job->model->views[v].cols, values + (int64_t)v * (2 + localized)));
    if (localized)
        KFE_TRY(mean_shares(p, values + 2, 3));
cleanup:
    kfe_i_free(job->ctx, names);
    return status;
}

/* ---- all together ---- */

static kfe_status check(const kfe_i_explaining *job)
{
    if (!job->data || job->data->target.task == KFE_TASK_NONE)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "permutation importance needs data with labels");
    if (!job->model->learner)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "permutation importance needs predictions, but the model gives features only");
    if (job->data->target.task != job->model->target.task ||
        (job->data->target.task == KFE_TASK_REAL && job->data->target.cols != job->model->predictor.outputs))
        return kfe_i_fail(
            job->ctx, KFE_EUNSUPPORTED,
            "permutation importance needs the kind of labels that the model predicts; see {task}");
    for (int v = 0; v < job->data->view_count; v++)
        if (job->data->views[v].table.kind == KFE_TABLE_TEXT ||
            kfe_i_kernel_list_given(&job->model->kernels, v) > 0)
            return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                              "permutation importance needs columns, not strings or kernel values");
    return KFE_OK;
}

static kfe_status begin(permuting *p)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    const kfe_i_predictor *predictor = &job->model->predictor;
    const char *name = job->settings.metric;
    int64_t widest = 1;

    KFE_TRY(kfe_i_sample_data(job, &p->data));
    int64_t rows = kfe_data_rows(p->data);
    if (name[0])
        KFE_TRY(kfe_i_metric_find(job->ctx, name, p->data->target.task, &p->metric));
    else
        p->metric = kfe_i_metric_default(p->data->target.task);
    for (int v = 0; v < p->data->view_count; v++)
        widest = p->data->views[v].table.cols > widest ? p->data->views[v].table.cols : widest;
    kfe_i_rng_init(&p->rng, job->ctx->seed, KFE_STREAM_PERMUTE);
    KFE_ALLOC(job->ctx, p->order, rows);
    KFE_ALLOC(job->ctx, p->held, rows * widest);
    KFE_ALLOC(job->ctx, p->outputs, rows * predictor->outputs);
    KFE_ALLOC(job->ctx, p->truth, rows);
    KFE_ALLOC(job->ctx, p->predicted, rows);
    KFE_ALLOC(job->ctx, p->scores, rows * predictor->classes);
    KFE_ALLOC(job->ctx, p->probabilities, rows * predictor->classes);
    if (p->data->target.task == KFE_TASK_CLASSES)
        KFE_TRY(match_classes(p));
    KFE_TRY(measure(p, &p->baseline));
cleanup:
    return status;
}

static kfe_status explain_by(kfe_i_explaining *job, kfe_status (*lose_them)(permuting *p))
{
    kfe_status status = check(job);
    permuting p = {.job = job};

    if (status != KFE_OK)
        return status;
    KFE_TRY(begin(&p));
    KFE_TRY(lose_them(&p));
cleanup:
    permuting_free(&p);
    return status;
}

kfe_status kfe_i_explain_permutation(kfe_i_explaining *job)
{
    return explain_by(job, lose_columns);
}

kfe_status kfe_i_explain_views(kfe_i_explaining *job)
{
    if (job->model->view_count < 2)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "the importance of views needs several of them");
    return explain_by(job, lose_views);
}
