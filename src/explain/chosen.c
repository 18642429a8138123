/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that steps such as cars and stability have chosen: a part of kfe_explain. */
#include "core/memory.h"
#include "data/steps/chosen_columns.h"
#include "explain/explain.h"

/* The columns that step s of view v sees, as an axis. Columns that steps before it have made of several have numbers. */
static kfe_status add_axis(kfe_i_explaining *job, int v, int s, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_chain *chain = &job->model->views[v].scaler.chain;
    int64_t count = chain->steps[s].cols;
    int64_t *origins = NULL;
    char **labels = NULL;

    KFE_ALLOC(job->ctx, origins, count);
    KFE_ALLOC_ZERO(job->ctx, labels, count);
    int is_known = kfe_i_chain_origins(chain, s, origins);
    for (int64_t j = 0; j < count; j++) {
        int64_t at = is_known ? origins[j] : j;
        const char *name = is_known ? kfe_model_column_name(job->model, v, at) : NULL;
        KFE_TRY(kfe_i_explain_column_label(job, v, at, name, &labels[j]));
    }
    KFE_TRY(kfe_i_explain_axis(job, "column", count, (const char *const *)labels, out));
cleanup:
    kfe_i_free(job->ctx, origins);
    if (labels)
        kfe_i_strings_free(job->ctx, count, labels);
    return status;
}

/* `number` of the step among those that choose columns. */
static kfe_status add_table(kfe_i_explaining *job, int v, int s, int number)
{
    static const char *const words[] = {"runs", "chosen"};
    kfe_status status = KFE_OK;
    const kfe_i_fitted_step *fit = &job->model->views[v].scaler.chain.steps[s];
    char name[32];
    double *values = NULL;
    int rows = 0;
    int cols = 0;

    kfe_i_snprintf(name, sizeof name, number > 1 ? "chosen-%d" : "chosen", number);
    KFE_TRY(add_axis(job, v, s, &rows));
    KFE_TRY(kfe_i_explain_axis(job, "value", 2, words, &cols));
    KFE_TRY(kfe_i_explain_table(
        job, name, "share of the runs of the step that kept each column, and whether it was chosen (1)", rows,
        cols, &values));
    for (int64_t j = 0; j < fit->cols; j++) {
        values[2 * j] = kfe_i_share_of_runs(fit, j);
        values[2 * j + 1] = kfe_i_is_chosen(fit, j);
    }
cleanup:
    return status;
}

kfe_status kfe_i_explain_chosen(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    int count = 0;

    for (int v = 0; v < job->model->view_count; v++) {
        const kfe_i_chain *chain = &job->model->views[v].scaler.chain;
        for (int s = 0; s < chain->count; s++)
            if (chain->steps[s].step->choose)
                KFE_TRY(add_table(job, v, s, ++count));
    }
    if (count == 0)
        status = kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "no step of the model has chosen columns");
cleanup:
    return status;
}
