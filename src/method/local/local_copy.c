/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the SVMs' α, weights and offsets, for local_search.c. */
#include "method/local/local_copy.h"

#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_svms_copy_open(kfe_context *ctx, const kfe_i_onevsrest *svms, kfe_i_svms_copy *copy)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(ctx, copy->alpha, svms->n * svms->count);
    KFE_ALLOC(ctx, copy->weights, svms->n * svms->count);
    KFE_ALLOC(ctx, copy->offset, svms->count);
cleanup:
    return status;
}

void kfe_i_svms_copy_free(kfe_context *ctx, kfe_i_svms_copy *copy)
{
    kfe_i_free(ctx, copy->alpha);
    kfe_i_free(ctx, copy->weights);
    kfe_i_free(ctx, copy->offset);
}

void kfe_i_svms_keep(const kfe_i_onevsrest *from, kfe_i_svms_copy *to)
{
    size_t bytes = (size_t)(from->n * from->count) * sizeof *from->alpha;

    memcpy(to->alpha, from->alpha, bytes);
    memcpy(to->weights, from->weights, bytes);
    memcpy(to->offset, from->offset, (size_t)from->count * sizeof *from->offset);
    to->alpha_sum = from->alpha_sum;
    to->objective = from->objective;
    to->gap = from->gap;
}

void kfe_i_svms_restore(const kfe_i_svms_copy *from, kfe_i_onevsrest *to)
{
    size_t bytes = (size_t)(to->n * to->count) * sizeof *to->alpha;

    memcpy(to->alpha, from->alpha, bytes);
    memcpy(to->weights, from->weights, bytes);
    memcpy(to->offset, from->offset, (size_t)to->count * sizeof *to->offset);
    to->alpha_sum = from->alpha_sum;
    to->objective = from->objective;
    to->gap = from->gap;
}

void kfe_i_svms_copy_list(const kfe_i_onevsrest *svms, kfe_i_svms_copy *copy, kfe_i_loop *loop)
{
    KFE_LOOP_ARRAY(loop, copy->alpha, svms->n * svms->count);
    KFE_LOOP_ARRAY(loop, copy->weights, svms->n * svms->count);
    KFE_LOOP_ARRAY(loop, copy->offset, svms->count);
    KFE_LOOP_VALUE(loop, copy->alpha_sum);
    KFE_LOOP_VALUE(loop, copy->objective);
    KFE_LOOP_VALUE(loop, copy->gap);
}
