/* SPDX-License-Identifier: Apache-2.0 */
/* How much each column counts in a learned distance (x − y)ᵀM(x − y), M = TTᵀ: the diagonal of M, a part of kfe_explain. */
#include <string.h>

#include "explain/explain.h"
#include "model/chain_views.h"

static int has_distance(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.map.values)
            return 1;
    return 0;
}

/* The diagonal of M of each view, one view after the other; 1 for a view without a learned distance. */
static void put_diagonals(const kfe_model *model, double *values)
{
    for (int v = 0; v < model->view_count; v++) {
        int64_t cols = kfe_i_view_prepared_cols(&model->views[v]);
        kfe_i_map_diagonal(&model->views[v].scaler.map, cols, values);
        values += cols;
    }
}

kfe_status kfe_i_explain_distance(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    int64_t cols = kfe_i_model_prepared_cols(job->model);
    int64_t count = 0;
    const double *averaged = kfe_model_record(job->model, "importance", &count); /* of the leaves of a tree */
    double *values = NULL;
    double sum = 0;
    int single = 0;

    averaged = count == cols ? averaged : NULL;
    if (!averaged && !has_distance(job->model))
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "the model has no learned distance");
    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"share"}, &single));
    KFE_TRY(kfe_i_explain_table(job, "distance", "share of each scaled column in the learned distance",
                                KFE_BY_PREPARED, single, &values));
    if (has_distance(job->model))
        put_diagonals(job->model, values);
    else
        memcpy(values, averaged, (size_t)cols * sizeof *values);
    for (int64_t c = 0; c < cols; c++)
        sum += values[c];
    for (int64_t c = 0; sum > 0 && c < cols; c++)
        values[c] /= sum;
cleanup:
    return status;
}
