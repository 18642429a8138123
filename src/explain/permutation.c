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

    *out = KFE_BY_COLUMN;
    KFE_TRY(kfe_i_explain_model_axis(job, KFE_BY_COLUMN));
    if (count == job->axes[KFE_BY_COLUMN].count)
        return KFE_OK;
    KFE_ALLOC(job->ctx, labels, count);
    for (int64_t k = 0; k < count; k++)
        labels[k] = job->axes[KFE_BY_COLUMN].labels[chosen[k].index];
    KFE_TRY(kfe_i_explain_axis(job, "column", count, labels, out));
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
    KFE_TRY(kfe_i_explain_axis(job, "value", 2, words, &values_axis));
    KFE_TRY(kfe_i_explain_table(job, "permutation",
                                "by how much the metric gets worse when a column is permuted", columns,
                                values_axis, &values));
    for (int64_t k = 0; k < count; k++) {
        KFE_TRY(kfe_i_progress(job->ctx, "permuting columns", k, count));
        KFE_TRY(kfe_i_permuted_losses(p, kfe_i_permuted_column, chosen[k].index, values + 2 * k));
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

kfe_status kfe_i_explain_permutation(kfe_i_explaining *job)
{
    kfe_status status = check(job);
    kfe_i_permuting p = {.job = job};

    if (status != KFE_OK)
        return status;
    KFE_TRY(kfe_i_judge_metric(job, &p.judging.metric));
    KFE_TRY(kfe_i_permuting_begin(&p, 1));
    KFE_TRY(lose_columns(&p));
cleanup:
    kfe_i_permuting_free(&p);
    return status;
}
