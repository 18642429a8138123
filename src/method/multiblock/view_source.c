/* SPDX-License-Identifier: Apache-2.0 */
/* One table in place of several views, and correlations of their scores; for mbpls and block-splsda. */
#include "method/multiblock/view_source.h"

#include <cblas.h>
#include <math.h>

#include "core/memory.h"
#include "data/data.h"
#include "data/table/facts.h"

static kfe_status give_gram(void *state, const kfe_i_gram **out)
{
    *out = ((kfe_i_view_source *)state)->gram;
    return KFE_OK;
}

kfe_status kfe_i_view_source_open(kfe_context *ctx, const kfe_i_fit_source *all, const kfe_i_table *table,
                                  kfe_i_view_source *out)
{
    *out =
        (kfe_i_view_source){.ctx = ctx, .source = {.target = all->target, .views = table, .view_count = 1}};
    out->op = (kfe_i_operator){.open = give_gram, .state = out};
    out->source.op = &out->op;
    return kfe_i_gram_factored(ctx, table, &out->gram);
}

void kfe_i_view_source_free(kfe_i_view_source *own)
{
    if (!own->ctx)
        return;
    kfe_i_operator_close(own->ctx, &own->op);
    kfe_i_gram_free(own->gram);
}

kfe_status kfe_i_view_factor(kfe_context *ctx, const kfe_i_table *view, const kfe_i_target *target,
                             double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table weighted = kfe_i_weighted_rows(view, target);
    double variance = 0;

    KFE_TRY(kfe_i_total_variance(ctx, &weighted, &variance));
    *out = variance > 0 ? 1 / sqrt(variance) : 0;
cleanup:
    return status;
}

static double correlation(int64_t rows, int64_t stride, const double *a, const double *b)
{
    double size =
        cblas_dnrm2((blasint)rows, a, (blasint)stride) * cblas_dnrm2((blasint)rows, b, (blasint)stride);
    double product = cblas_ddot((blasint)rows, a, (blasint)stride, b, (blasint)stride);

    return size > 0 ? product / size : 0;
}

kfe_status kfe_i_record_score_correlations(kfe_context *ctx, int64_t rows, int64_t views, int64_t dim,
                                           const double *scores, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t stride = views * dim;
    double *values = NULL;

    KFE_ALLOC(ctx, values, dim * views * views);
    for (int64_t j = 0; j < dim; j++)
        for (int64_t a = 0; a < views; a++)
            for (int64_t b = 0; b < views; b++)
                values[(j * views + a) * views + b] =
                    a == b ? 1 : correlation(rows, stride, scores + a * dim + j, scores + b * dim + j);
    KFE_TRY(kfe_i_solution_record(out, "score-correlations", values, dim * views * views));
cleanup:
    kfe_i_free(ctx, values);
    return status;
}
