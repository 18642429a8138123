/* SPDX-License-Identifier: Apache-2.0 */
/* A random sample of the examples of an explanation that have a weight above zero, as tables that may be changed; permutation.c, views.c and
 * gradient.c use it. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/sort.h"
#include "explain/explain.h"

kfe_status kfe_i_sample_rows(const kfe_i_explaining *job, int64_t **rows, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t all = 0;
    kfe_i_rng rng;
    int64_t *drawn = NULL;

    KFE_ALLOC(job->ctx, *rows, kfe_data_rows(job->data));
    for (int64_t i = 0; i < kfe_data_rows(job->data); i++)
        if (kfe_i_weight_of(&job->data->target, i) > 0)
            (*rows)[all++] = i;
    *count = all < job->settings.rows ? all : job->settings.rows;
    if (*count == all)
        goto cleanup;
    kfe_i_log(job->ctx, KFE_LOG_NOTICE, "importance is measured on %lld of %lld examples; see {rows}",
              (long long)*count, (long long)all);
    kfe_i_rng_init(&rng, job->ctx->seed, KFE_STREAM_SAMPLE);
    KFE_ALLOC(job->ctx, drawn, all);
    kfe_i_rng_choose(&rng, all, *count, drawn);
    kfe_i_sort_rows(drawn, *count);
    for (int64_t k = 0; k < *count; k++) /* drawn[k] is at least k */
        (*rows)[k] = (*rows)[drawn[k]];
cleanup:
    kfe_i_free(job->ctx, drawn);
    return status;
}

static kfe_status open_gaps(const kfe_i_explaining *job, int v, kfe_i_view *view)
{
    kfe_status status = KFE_OK;
    kfe_i_table opened = {0};

    if (view->gaps.fill == KFE_FILL_NONE || !job->model->views[v].scaler.fill)
        return KFE_OK;
    KFE_TRY(kfe_i_gaps_open(job->ctx, &view->table, &view->gaps, &opened));
    kfe_i_gaps_free(&view->gaps);
    kfe_i_table_free(&view->table);
    view->table = opened;
cleanup:
    return status;
}

kfe_status kfe_i_sample_open_gaps(const kfe_i_explaining *job, kfe_data *sample)
{
    kfe_status status = KFE_OK;

    for (int v = 0; status == KFE_OK && v < sample->view_count; v++)
        status = open_gaps(job, v, &sample->views[v]);
    return status;
}

kfe_status kfe_i_sample_data(const kfe_i_explaining *job, int dense, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int64_t *rows = NULL;
    int64_t count = 0;

    KFE_TRY(kfe_i_sample_rows(job, &rows, &count));
    KFE_TRY(kfe_i_data_gather(job->ctx, job->data, rows, count, out));
    for (int v = 0; dense && v < (*out)->view_count; v++)
        if ((*out)->views[v].table.kind == KFE_TABLE_CSR)
            KFE_TRY(kfe_i_table_make_dense(job->ctx, &(*out)->views[v].table));
cleanup:
    kfe_i_free(job->ctx, rows);
    return status;
}
