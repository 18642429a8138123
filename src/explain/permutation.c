/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation importance, a part of kfe_explain: by how much a metric gets worse when the values of one column are
 * permuted among the examples, so that the column says nothing any more while the model stays as it is.
 *
 * Breiman (2001), section 10. Time: columns × repeats predictions, on at most {rows} examples. {top} permutes only the
 * columns with the largest derivatives, or those that lose most in groups (screen.c).
 */
#include <math.h>

#include "core/memory.h"
#include "explain/permuting.h"
#include "model/linear.h"

static void permuting_free(kfe_i_permuting *p)
{
    kfe_i_judging_free(&p->judging);
    kfe_data_free(p->data);
    kfe_data_free(p->intact);
    kfe_i_free(p->job->ctx, p->order);
}

/* out: the mean and the standard deviation of what is lost without a column. All columns are permuted by the same orders of the rows, so
 * that neither the other columns nor their places matter. */
static kfe_status lose(kfe_i_permuting *p, int64_t column, double out[2])
{
    kfe_status status = KFE_OK;
    kfe_i_losses losses = {0};
    double loss = 0;

    kfe_i_rng_init(&p->rng, p->job->ctx->seed, KFE_STREAM_PERMUTE);
    for (int64_t r = 0; r < p->job->settings.repeats; r++) {
        KFE_TRY(kfe_i_permuted_loss(p, column, column + 1, &loss));
        kfe_i_losses_add(&losses, loss);
    }
    kfe_i_losses_sum_up(&losses, out);
cleanup:
    return status;
}

/* ---- columns ---- */

/* Multiplications that take some seconds: what {top=auto} spends. */
#define AUTO_WORK 4e9

/* The multiplications of one judgement. */
static double work_of(const kfe_i_permuting *p)
{
    return kfe_i_model_row_work(p->job->model) * (double)kfe_data_rows(p->data);
}

/* How many of the columns to permute. */
static int64_t columns_to_permute(const kfe_i_permuting *p, int64_t cols)
{
    enum { LEAST = 20 };
    int64_t top = p->job->settings.top;
    double work = work_of(p) * (double)p->job->settings.repeats;

    if (top == 0 || top >= cols)
        return cols;
    if (top > 0)
        return top;
    if (work * (double)cols <= AUTO_WORK || cols <= LEAST)
        return cols;
    return AUTO_WORK / work < LEAST ? LEAST : (int64_t)(AUTO_WORK / work);
}

/* All columns, sorted by their derivatives, or by what groups of them lose if the model has no derivatives. */
static kfe_status sort_columns(kfe_i_permuting *p, int64_t cols, kfe_i_sorted *out, const char **how)
{
    enum { ROWS_TO_SORT = 100, FEWEST_JUDGEMENTS = 200 };
    kfe_status status = KFE_OK;
    kfe_i_explaining sorting = *p->job;
    double *sizes = NULL;
    double budget = AUTO_WORK / work_of(p);

    KFE_ALLOC_ZERO(sorting.ctx, sizes, cols);
    if (sorting.settings.rows > ROWS_TO_SORT)
        sorting.settings.rows = ROWS_TO_SORT;
    status = kfe_i_gradient_sizes(&sorting, sizes);
    if (status == KFE_EUNSUPPORTED) {
        *how = "that lose most when groups of columns are permuted";
        status = kfe_i_screen_columns(
            p, budget > FEWEST_JUDGEMENTS ? (int64_t)fmin(budget, 2e9) : FEWEST_JUDGEMENTS, cols, out);
        goto cleanup;
    }
    KFE_TRY(status);
    *how = "with the largest derivatives";
    for (int64_t j = 0; j < cols; j++)
        out[j] = (kfe_i_sorted){sizes[j], j};
    kfe_i_sort_falling(out, cols);
cleanup:
    kfe_i_free(sorting.ctx, sizes);
    return status;
}

/* The columns to permute: all in their order, or the most promising ones first. */
static kfe_status choose_columns(kfe_i_permuting *p, kfe_i_sorted **out, int64_t *count)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = p->job->ctx;
    int64_t cols = kfe_i_model_all_cols(p->job->model);
    const char *how = NULL;

    KFE_ALLOC(ctx, *out, cols);
    *count = columns_to_permute(p, cols);
    if (*count < cols) {
        KFE_TRY(sort_columns(p, cols, *out, &how));
        if (p->job->settings.top < 0)
            kfe_i_log(ctx, KFE_LOG_NOTICE, "of %lld columns, the %lld %s are measured; {top=0} permutes all",
                      (long long)cols, (long long)*count, how);
    }
    for (int64_t j = 0; *count == cols && j < cols; j++)
        (*out)[j] = (kfe_i_sorted){0, j};
cleanup:
    return status;
}

/* The axis of these columns: that of the model, or one of its own. */
static kfe_status chosen_axis(kfe_i_explaining *job, const kfe_i_sorted *chosen, int64_t count, int *out)
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

static kfe_status lose_columns(kfe_i_permuting *p)
{
    static const char *const words[] = {"loss", "sd"};
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;
    kfe_i_sorted *chosen = NULL;
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
        KFE_TRY(kfe_i_progress(job->ctx, "permuting columns", k, count));
        KFE_TRY(lose(p, chosen[k].index, values + 2 * k));
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

static kfe_status begin(kfe_i_permuting *p)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;

    KFE_TRY(kfe_i_sample_data(job, 1, &p->data));
    KFE_TRY(kfe_i_sample_open_gaps(job, p->data));
    KFE_ALLOC(job->ctx, p->order, kfe_data_rows(p->data));
    for (int64_t i = 0; i < kfe_data_rows(p->data); i++)
        p->order[i] = i;
    KFE_TRY(kfe_i_data_gather(job->ctx, p->data, p->order, kfe_data_rows(p->data), &p->intact));
    p->judging = (kfe_i_judging){.ctx = job->ctx, .model = job->model, .data = p->data};
    KFE_TRY(kfe_i_judge_metric(job, &p->judging.metric));
    kfe_i_rng_init(&p->rng, job->ctx->seed, KFE_STREAM_PERMUTE);
    KFE_TRY(kfe_i_judging_begin(&p->judging));
    KFE_TRY(kfe_i_judge(&p->judging, &p->baseline));
cleanup:
    return status;
}

kfe_status kfe_i_explain_permutation(kfe_i_explaining *job)
{
    kfe_status status = check(job);
    kfe_i_permuting p = {.job = job};

    if (status != KFE_OK)
        return status;
    p.judging.ctx = job->ctx;
    KFE_TRY(begin(&p));
    KFE_TRY(lose_columns(&p));
cleanup:
    permuting_free(&p);
    return status;
}
