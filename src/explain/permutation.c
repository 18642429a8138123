/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation importance, a part of kfe_explain: by how much a metric gets worse when the values of one column are
 * permuted among the examples, so that the column says nothing any more while the model stays as it is.
 *
 * Breiman (2001), section 10. Time: columns × repeats predictions, on at most {rows} examples. {top} permutes only the
 * columns with the largest derivatives.
 */

#include "core/memory.h"
#include "core/rank.h"
#include "core/rng.h"
#include "explain/judge.h"
#include "model/linear.h"

typedef struct permuting {
    kfe_i_explaining *job;
    kfe_data *data; /* a copy of some rows, which are permuted in place */
    kfe_i_judging judging;
    double baseline;
    kfe_i_rng rng;
    int64_t *order; /* rows */
    double *held;   /* rows: the values before */
} permuting;

static void permuting_free(permuting *p)
{
    kfe_i_judging_free(&p->judging);
    kfe_data_free(p->data);
    kfe_i_free(p->job->ctx, p->order);
    kfe_i_free(p->job->ctx, p->held);
}

/* Exchanges the values of a column among the rows. */
static void permute(permuting *p, kfe_i_table *table, int64_t column)
{
    for (int64_t i = 0; i < table->rows; i++)
        p->held[i] = table->values[i * table->stride + column];
    kfe_i_rng_choose(&p->rng, table->rows, table->rows, p->order);
    for (int64_t i = 0; i < table->rows; i++)
        table->values[i * table->stride + column] = p->held[p->order[i]];
}

static void put_back(permuting *p, kfe_i_table *table, int64_t column)
{
    for (int64_t i = 0; i < table->rows; i++)
        table->values[i * table->stride + column] = p->held[i];
}

/* out: the mean and the standard deviation of what is lost without a column. */
static kfe_status lose(permuting *p, int view, int64_t column, double out[2])
{
    kfe_status status = KFE_OK;
    kfe_i_table *table = &p->data->views[view].table;
    kfe_i_losses losses = {0};
    double value = 0;

    for (int64_t r = 0; r < p->job->settings.repeats; r++) {
        permute(p, table, column);
        status = kfe_i_judge(&p->judging, &value);
        put_back(p, table, column);
        if (status != KFE_OK)
            return status;
        kfe_i_losses_add(&losses, kfe_i_judge_loss(p->judging.metric, p->baseline, value));
    }
    kfe_i_losses_sum_up(&losses, out);
    return KFE_OK;
}

/* ---- columns ---- */

/* The columns to permute: all in their order, or the {top} ones with the largest derivatives, largest first. */
static kfe_status choose_columns(permuting *p, kfe_i_ranked **out, int64_t *count)
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
        (*out)[j] = (kfe_i_ranked){sizes[j], j};
    if (*count < cols)
        kfe_i_rank_falling(*out, cols);
cleanup:
    kfe_i_free(ranking.ctx, sizes);
    return status;
}

/* The axis of these columns: that of the model, or one of its own. */
static kfe_status chosen_axis(kfe_i_explaining *job, const kfe_i_ranked *chosen, int64_t count, int *out)
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
        labels[k] = job->out->axes[all].labels[chosen[k].index];
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
    kfe_i_ranked *chosen = NULL;
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
        int view = find_view(job->model, chosen[k].index, &place);
        KFE_TRY(kfe_i_checkpoint(job->ctx, "permuting columns", k, count));
        KFE_TRY(lose(p, view, place, values + 2 * k));
    }
cleanup:
    kfe_i_free(job->ctx, chosen);
    return status;
}

/* ---- all together ---- */

static kfe_status check(const kfe_i_explaining *job)
{
    kfe_status status = kfe_i_judge_check(job, "permutation importance");

    for (int v = 0; status == KFE_OK && v < job->data->view_count; v++)
        if (job->data->views[v].table.kind == KFE_TABLE_TEXT ||
            kfe_i_kernel_list_given(&job->model->kernels, v) > 0)
            return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                              "permutation importance needs columns, not strings or kernel values");
    return status;
}

static kfe_status begin(permuting *p)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;

    KFE_TRY(kfe_i_sample_data(job, 1, &p->data));
    KFE_TRY(kfe_i_sample_open_gaps(job, p->data));
    p->judging = (kfe_i_judging){.ctx = job->ctx, .model = job->model, .data = p->data};
    KFE_TRY(kfe_i_judge_metric(job, &p->judging.metric));
    kfe_i_rng_init(&p->rng, job->ctx->seed, KFE_STREAM_PERMUTE);
    KFE_ALLOC(job->ctx, p->order, kfe_data_rows(p->data));
    KFE_ALLOC(job->ctx, p->held, kfe_data_rows(p->data));
    KFE_TRY(kfe_i_judging_begin(&p->judging));
    KFE_TRY(kfe_i_judge(&p->judging, &p->baseline));
cleanup:
    return status;
}

kfe_status kfe_i_explain_permutation(kfe_i_explaining *job)
{
    kfe_status status = check(job);
    permuting p = {.job = job};

    if (status != KFE_OK)
        return status;
    p.judging.ctx = job->ctx;
    KFE_TRY(begin(&p));
    KFE_TRY(lose_columns(&p));
cleanup:
    permuting_free(&p);
    return status;
}
