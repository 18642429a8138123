/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges values among examples and measures what predictions lose; permutation.c, screen.c and views.c use it. */
#include "explain/permuting.h"

#include <math.h>

#include "core/memory.h"

kfe_status kfe_i_permuting_begin(kfe_i_permuting *p, int by_column)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = p->job;

    p->judging.ctx = job->ctx;
    p->judging.model = job->model;
    KFE_TRY(kfe_i_sample_data(job, by_column, &p->data));
    KFE_TRY(kfe_i_sample_open_gaps(job, p->data));
    p->judging.data = p->data;
    KFE_ALLOC(job->ctx, p->order, kfe_data_rows(p->data));
    for (int64_t i = 0; i < kfe_data_rows(p->data); i++)
        p->order[i] = i;
    if (by_column)
        KFE_TRY(kfe_i_data_gather(job->ctx, p->data, p->order, kfe_data_rows(p->data), &p->intact));
    kfe_i_rng_init(&p->rng, job->ctx->seed, KFE_STREAM_PERMUTE);
    KFE_TRY(kfe_i_judging_begin(&p->judging));
    KFE_TRY(kfe_i_sample_name_row(job, kfe_i_judge(&p->judging, &p->baseline)));
cleanup:
    return status;
}

void kfe_i_permuting_free(kfe_i_permuting *p)
{
    p->judging.ctx = p->job->ctx;
    kfe_i_judging_free(&p->judging);
    kfe_data_free(p->data);
    kfe_data_free(p->intact);
    kfe_i_free(p->job->ctx, p->order);
}

/* until: the sums of the weights so far. */
static void draw_by_weight(kfe_i_rng *rng, int64_t rows, const double *until, int64_t *order)
{
    for (int64_t i = 0; i < rows; i++) {
        double at = kfe_i_rng_uniform(rng) * until[rows - 1];
        int64_t low = 0;
        int64_t high = rows - 1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (until[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        order[i] = low;
    }
}

kfe_status kfe_i_permute_order(kfe_i_permuting *p)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &p->data->target;
    int64_t rows = kfe_data_rows(p->data);
    double *until = NULL;
    double sum = 0;

    if (!target->weights) {
        kfe_i_rng_choose(&p->rng, rows, rows, p->order);
        return KFE_OK;
    }
    KFE_ALLOC(target->ctx, until, rows);
    for (int64_t i = 0; i < rows; i++)
        until[i] = sum += target->weights[i];
    draw_by_weight(&p->rng, rows, until, p->order);
cleanup:
    kfe_i_free(target->ctx, until);
    return status;
}

/* ---- columns ---- */

/* The table of a column of all views; *column becomes its place there. */
static kfe_i_table *table_of(const kfe_data *data, int64_t *column)
{
    int v = 0;

    while (*column >= data->views[v].table.cols)
        *column -= data->views[v++].table.cols;
    return &data->views[v].table;
}

/* Row i of the column gets the value of row order[i], or its own (NULL). */
static void fill_column(const kfe_i_permuting *p, int64_t column, const int64_t *order)
{
    int64_t place = column;
    const kfe_i_table *from = table_of(p->intact, &column);
    kfe_i_table *to = table_of(p->data, &place);

    for (int64_t i = 0; i < to->rows; i++)
        to->values[i * to->stride + place] = from->values[(order ? order[i] : i) * from->stride + column];
}

kfe_status kfe_i_permuted_loss(kfe_i_permuting *p, int64_t first, int64_t last, double *out)
{
    kfe_status status = KFE_OK;
    double value = 0;

    KFE_TRY(kfe_i_permute_order(p));
    for (int64_t j = first; j < last; j++)
        fill_column(p, j, p->order);
    KFE_TRY(kfe_i_judge(&p->judging, &value));
    *out = kfe_i_judge_loss(p->judging.metric, p->baseline, value);
cleanup:
    for (int64_t j = first; j < last; j++)
        fill_column(p, j, NULL);
    return status;
}

kfe_status kfe_i_permuted_column(kfe_i_permuting *p, int64_t column, double *out)
{
    return kfe_i_permuted_loss(p, column, column + 1, out);
}

/* ---- repeats ---- */

kfe_status kfe_i_permuted_losses(kfe_i_permuting *p, kfe_i_permuted_fn permuted, int64_t which, double out[2])
{
    kfe_status status = KFE_OK;
    double count = (double)p->job->settings.repeats;
    double sum = 0;
    double squares = 0;
    double loss = 0;

    kfe_i_rng_init(&p->rng, p->job->ctx->seed, KFE_STREAM_PERMUTE);
    for (int64_t r = 0; r < p->job->settings.repeats; r++) {
        KFE_TRY(permuted(p, which, &loss));
        sum += loss;
        squares += loss * loss;
    }
    out[0] = sum / count;
    out[1] = count > 1 ? sqrt(fmax(0, (squares - sum * out[0]) / (count - 1))) : (double)NAN;
cleanup:
    return status;
}

/* ---- what matters ---- */

int kfe_i_nothing_matters(const kfe_table *table)
{
    const double *loss = kfe_table_column(table, 1)->numbers;
    const double *sd = kfe_table_column(table, 2)->numbers;

    for (int64_t i = 0; i < table->rows; i++)
        if (loss[i] > 0 && !(loss[i] <= 2 * sd[i]))
            return 0;
    return table->rows > 0;
}
