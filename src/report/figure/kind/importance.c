/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importance of columns and views for figures, within a budget; used by permutation.c and gradient.c of this folder.
 *
 * Work is counted in predictions of one row. Evaluating a model predicts every row of the data once, and a report should
 * take at most twice as long. So importance may predict as many rows as the data has, less those that the report needs for
 * its own features; models that predict in no time at all get a fixed amount of arithmetic.
 */
#include "report/figure/kind/importance.h"

#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "model/linear.h"

enum { MOST_ROWS = 1000, LEAST_ROWS = 50, MOST_REPEATS = 5, PROMISING = 20 };
/* The share of the rows left that importance may use; figures and files take the rest. */
#define SHARE 0.5
/* Multiplications that nobody waits for. */
#define FREE_WORK 4e9

static const kfe_i_set *explained_set(const kfe_i_source *source)
{
    return source->test.data ? &source->test : source->train.data ? &source->train : NULL;
}

/* How many rows importance may predict. */
static double affordable(const kfe_i_source *source)
{
    const kfe_i_set *set = explained_set(source);
    double spent = (double)source->train.rows + (double)source->test.rows;
    double left = SHARE * (2 * (double)set->rows - spent);
    double free_rows = FREE_WORK / kfe_i_model_row_work(source->model);

    return left > free_rows ? left : free_rows;
}

/* Derivatives cost as many predictions as there are outputs. */
static kfe_i_effort effort_of_gradient(const kfe_i_source *source)
{
    kfe_i_effort effort = {.repeats = 1};
    const kfe_model *model = source->model;

    double values = 1 + (double)(model->learner ? model->predictor.outputs : model->dim);
    double rows = affordable(source) / 3 / values;
    effort.rows = rows > MOST_ROWS ? MOST_ROWS : (int64_t)rows;
    effort.rows = kfe_i_least(effort.rows, explained_set(source)->rows);
    return effort;
}

/* Permutations of all `count` columns or views, or of the PROMISING best candidates only. */
static kfe_i_effort effort_of(const kfe_i_source *source, int64_t count, double rows_left)
{
    kfe_i_effort effort = {0};
    int64_t most = kfe_i_least(explained_set(source)->rows, MOST_ROWS);
    int64_t enough = kfe_i_least(most, 4 * (int64_t)LEAST_ROWS);

    if ((double)count * (double)enough > rows_left && count > PROMISING) {
        effort.top = PROMISING;
        count = PROMISING;
    }
    double rows = rows_left / (double)count;
    effort.rows = rows > (double)most ? most : (int64_t)rows;
    if (effort.rows < kfe_i_least(most, LEAST_ROWS))
        return (kfe_i_effort){0};
    effort.repeats = kfe_i_least((int64_t)(rows / (double)effort.rows), MOST_REPEATS);
    return effort;
}

static kfe_i_effort find_effort(const kfe_i_source *source, const char *part)
{
    if (!source->model || !explained_set(source))
        return (kfe_i_effort){0};
    if (strcmp(part, "gradient") == 0)
        return effort_of_gradient(source);
    if (strcmp(part, "permutation") == 0)
        return effort_of(source, kfe_i_model_all_cols(source->model), affordable(source) / 2);
    if (source->settings.refit && source->train.data && source->test.data) /* the user has the time */
        return (kfe_i_effort){
            .rows = kfe_i_least(source->test.rows, MOST_ROWS), .repeats = MOST_REPEATS, .refits = 1};
    return effort_of(source, source->model->view_count, affordable(source) / 6);
}

/* ---- explaining ---- */

kfe_status kfe_i_importance(kfe_context *ctx, const kfe_i_source *source, const char *part,
                            kfe_i_effort *effort, kfe_result **out, const kfe_table **table)
{
    kfe_log_fn log = ctx->log;
    char options[128];

    *out = NULL;
    *effort = find_effort(source, part);
    if (effort->rows < 2)
        return KFE_OK;
    kfe_i_snprintf(options, sizeof options, "parts=%s,rows=%lld,repeats=%lld,top=%lld", part,
                   (long long)effort->rows, (long long)(effort->repeats > 0 ? effort->repeats : 1),
                   (long long)effort->top);
    ctx->log = NULL; /* the caption says how many examples were used */
    kfe_status status = kfe_explain_refit(ctx, source->model, effort->refits ? source->train.data : NULL,
                                          explained_set(source)->data, options, out);
    ctx->log = log;
    if (kfe_i_is_lack(status) || status == KFE_ECANCEL)
        return status;
    *table = kfe_result_find(*out, part);
    if (*table && (*table)->rows > 0)
        return KFE_OK;
    kfe_result_free(*out); /* not defined for this model or data */
    *out = NULL;
    return KFE_OK;
}
