/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importance of views, a part of kfe_explain:
 *
 *   loss    by how much a metric gets worse when the rows of a view are permuted together, so that the view says nothing
 *           about the examples any more while the model stays as it is
 *   share   the mean share that the gate of lmkl or sldr gives the view
 *   drop    by how much the metric gets worse when the same spec is fitted on the other views only
 *
 * Loss says what this model uses; drop says what the other views cannot provide. Two copies of a view have a loss
 * each, but dropping one of them costs nothing. Time: views × repeats predictions of at most {rows} examples; drop: a
 * fit for each view, and a prediction of all examples.
 */
#include <math.h>

#include "core/memory.h"
#include "data/rows/fingerprint.h"
#include "explain/gate.h"
#include "explain/permuting.h"
#include "model/arrange.h"
#include "model/refit.h"

/* ---- permuting ---- */

/* What is lost when the rows of a view, of any kind of table, are exchanged. */
static kfe_status permuted_view(kfe_i_permuting *p, int64_t view, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &p->data->views[view].table;
    kfe_i_table before = *table;
    kfe_i_table permuted = {0};
    double value = 0;

    KFE_TRY(kfe_i_permute_order(p));
    KFE_TRY(kfe_i_table_gather(p->job->ctx, &before, p->order, before.rows, &permuted));
    *table = permuted;
    status = kfe_i_judge(&p->judging, &value);
    *table = before;
    *out = kfe_i_judge_loss(p->judging.metric, p->baseline, value);
cleanup:
    kfe_i_table_free(&permuted);
    return status;
}

/* The mean share of each view at the examples: the sum over its parts. */
static kfe_status mean_shares(kfe_i_permuting *p, double *shares, int64_t stride)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    int64_t rows = kfe_data_rows(p->data);
    int64_t parts = job->model->local->part_count;
    double *each = NULL;
    double mass = 0;

    KFE_ALLOC(job->ctx, each, rows * parts);
    KFE_TRY(kfe_i_gate_shares(job->ctx, job->model, p->data, each));
    for (int64_t i = 0; i < rows; i++)
        mass += kfe_i_weight_of(&p->data->target, i);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t m = 0; m < parts; m++)
            shares[job->model->kernels.items[m].view * stride] +=
                kfe_i_weight_of(&p->data->target, i) / mass * each[i * parts + m];
cleanup:
    kfe_i_free(job->ctx, each);
    return status;
}

/* loss, sd and share of each view. */
static kfe_status permute_views(kfe_i_explaining *job, const kfe_i_metric *metric, double *values,
                                int64_t stride)
{
    kfe_status status = KFE_OK;
    kfe_i_permuting p = {.job = job, .judging = {.metric = metric}};

    KFE_TRY(kfe_i_permuting_begin(&p, 0));
    for (int v = 0; v < job->model->view_count; v++) {
        KFE_TRY(kfe_i_progress(job->ctx, "permuting views", v, job->model->view_count));
        KFE_TRY(kfe_i_permuted_losses(&p, permuted_view, v, values + v * stride));
    }
    if (job->model->local)
        KFE_TRY(mean_shares(&p, values + 2, stride));
cleanup:
    kfe_i_permuting_free(&p);
    return status;
}

/* ---- dropping ---- */

static kfe_status judge_all(const kfe_i_explaining *job, const kfe_model *model, const kfe_data *data,
                            const kfe_i_metric *metric, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_judging judging = {.ctx = job->ctx, .model = model, .data = data, .metric = metric};

    KFE_TRY(kfe_i_judging_begin(&judging));
    KFE_TRY(kfe_i_judge(&judging, out));
cleanup:
    kfe_i_judging_free(&judging);
    return status;
}

/* The metric of a fit without a view (-1: with all) on all examples. */
static kfe_status judge_refit(const kfe_i_explaining *job, int without, const kfe_i_metric *metric,
                              double *out)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;
    kfe_data rest = {0};

    KFE_TRY(kfe_i_refit(job->ctx, job->model, job->train, without, &model));
    KFE_TRY(kfe_i_arrange_without(job->ctx, job->data, without, &rest));
    KFE_TRY(judge_all(job, model, &rest, metric, out));
cleanup:
    kfe_i_arrange_free(&rest);
    kfe_model_free(model);
    return status;
}

/* The metric with all views: that of the model itself, if the training data is its own. */
static kfe_status judge_with_all(const kfe_i_explaining *job, const kfe_i_metric *metric, double *out)
{
    uint64_t train = kfe_i_data_fingerprint(job->ctx, job->train);

    if (train == kfe_i_data_fingerprint(job->ctx, job->data))
        kfe_i_log(job->ctx, KFE_LOG_WARNING,
                  "views are dropped on the training data itself, where predictions are better than on new "
                  "data; give other data to explain");
    if (train == job->model->origin.fingerprint)
        return judge_all(job, job->model, job->data, metric, out);
    kfe_i_log(job->ctx, KFE_LOG_NOTICE,
              "the model was fitted on other data, so all views together are fitted again too");
    return judge_refit(job, -1, metric, out);
}

/* values[v·stride] = what is lost without view v; NaN, with a warning, if the others cannot be fitted alone. */
static kfe_status drop_views(const kfe_i_explaining *job, const kfe_i_metric *metric, double *values,
                             int64_t stride)
{
    kfe_status status = KFE_OK;
    double baseline = 0;
    double value = 0;

    KFE_TRY(judge_with_all(job, metric, &baseline));
    for (int v = 0; v < job->model->view_count; v++) {
        KFE_TRY(kfe_i_progress(job->ctx, "fitting without a view", v, job->model->view_count));
        status = judge_refit(job, v, metric, &value);
        if (status != KFE_OK && (kfe_i_is_lack(status) || status == KFE_ECANCEL))
            return status;
        if (status != KFE_OK)
            kfe_i_log(job->ctx, KFE_LOG_WARNING, "the fit without view %s failed: %s",
                      job->model->views[v].name, kfe_error_message(job->ctx));
        values[v * stride] = status == KFE_OK ? kfe_i_judge_loss(metric, baseline, value) : (double)NAN;
        status = KFE_OK;
    }
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status check(const kfe_i_explaining *job)
{
    if (job->model->view_count < 2)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "the importance of views needs several of them");
    kfe_status status = kfe_i_judge_check(job, "the importance of views");
    if (status != KFE_OK || !job->train)
        return status;
    if (job->train->target.task != job->model->target.task)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "fits without a view need training data with the kind of labels that the model "
                          "predicts; see {task}");
    return kfe_i_refit_check(job->ctx, job->model);
}

/* The table with its axes; `drop` is the position of that column. */
static kfe_status add_table(kfe_i_explaining *job, int *drop, int *width, double **values)
{
    kfe_status status = KFE_OK;
    const char *words[4] = {"loss", "sd"};
    const char **names = NULL;
    int views = 0;
    int values_axis = 0;

    *width = 2;
    if (job->model->local)
        words[(*width)++] = "share";
    *drop = *width;
    if (job->train)
        words[(*width)++] = "drop";
    KFE_ALLOC(job->ctx, names, job->model->view_count);
    for (int v = 0; v < job->model->view_count; v++)
        names[v] = job->model->views[v].name;
    KFE_TRY(kfe_i_explain_axis(job, "view", job->model->view_count, names, &views));
    KFE_TRY(kfe_i_explain_axis(job, "value", *width, words, &values_axis));
    KFE_TRY(kfe_i_explain_table(
        job, "views",
        job->train ? "by how much the metric gets worse when the rows of a view are permuted (loss), and "
                     "when the model is fitted without it (drop)"
                   : "by how much the metric gets worse when the rows of a view are permuted",
        views, values_axis, values));
cleanup:
    kfe_i_free(job->ctx, names);
    return status;
}

kfe_status kfe_i_explain_views(kfe_i_explaining *job)
{
    kfe_status status = check(job);
    const kfe_i_metric *metric = NULL;
    double *values = NULL;
    int drop = 0;
    int width = 0;

    if (status != KFE_OK)
        return status;
    KFE_TRY(kfe_i_judge_metric(job, &metric));
    KFE_TRY(add_table(job, &drop, &width, &values));
    KFE_TRY(permute_views(job, metric, values, width));
    if (job->train)
        KFE_TRY(drop_views(job, metric, values + drop, width));
cleanup:
    return status;
}
