/* SPDX-License-Identifier: Apache-2.0 */
/* How much each column counts in a learned metric M = TTᵀ: the diagonal of M, a part of kfe_explain. */
#include <math.h>
#include <string.h>

#include "explain/explain.h"
#include "model/linear.h"

static int has_metric(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.map.values)
            return 1;
    return 0;
}

/* The diagonal of the metric of each view, one view after the other; that of a view without a metric is 1. */
static void put_diagonals(const kfe_model *model, double *values)
{
    for (int v = 0; v < model->view_count; v++) {
        const kfe_i_map *map = &model->views[v].scaler.map;
        for (int64_t c = 0; c < kfe_model_cols(model, v); c++, values++) {
            *values = map->values ? 0 : 1;
            for (int64_t j = 0; map->values && j < (map->diagonal ? 1 : map->cols); j++)
                *values += pow(map->values[map->diagonal ? c : c * map->cols + j], 2);
        }
    }
}

kfe_status kfe_i_explain_metric(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    int64_t cols = kfe_i_model_all_cols(job->model);
    int64_t count = 0;
    const double *averaged = kfe_model_record(job->model, "importance", &count); /* of the leaves of a tree */
    double *values = NULL;
    double sum = 0;
    int columns = 0;
    int single = 0;

    averaged = count == cols ? averaged : NULL;
    if (!averaged && !has_metric(job->model))
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "the model has no learned metric");
    KFE_TRY(kfe_i_column_axis(job, &columns));
    KFE_TRY(kfe_i_explanation_words(job->out, "value", 1, (const char *const[]){"share"}, &single));
    KFE_TRY(kfe_i_explanation_add(job->out, "metric",
                                  "share of each scaled column in the distances of the learned metric",
                                  columns, single, &values));
    if (has_metric(job->model))
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
