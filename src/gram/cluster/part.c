/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel columns at this process's rows of an operator whose points every process has; pursuit.c uses it under mpirun. */
#include "gram/cluster/part.h"

#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/column_slabs.h"
#include "kernel/tile/cross.h"

/* out (rows × count) = columns of one kernel. */
static kfe_status tiled_columns(const kfe_i_row_part *part, const kfe_i_gram *term, const int64_t *index,
                                int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    kfe_i_points chosen = {0};

    (void)kfe_i_gram_tiles(term, &kernel, &points);
    KFE_TRY(kfe_i_points_gather(part->ctx, points, index, count, &chosen));
    KFE_TRY(kfe_i_cross_block(part->ctx, kernel, (kfe_i_range){points, part->first, part->rows},
                              (kfe_i_range){&chosen, 0, count}, out, count));
cleanup:
    kfe_i_points_free(&chosen);
    return status;
}

static kfe_status columns(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *source = part->state;
    kfe_i_gram *const *terms = NULL;
    const double *weights = NULL;
    double *one = NULL;
    int64_t kernels = kfe_i_gram_sum_terms(source, &terms, &weights);
    int64_t size = part->rows * count;

    if (kernels == 0)
        return tiled_columns(part, source, index, count, out);
    KFE_ALLOC(part->ctx, one, size);
    memset(out, 0, (size_t)size * sizeof *out);
    for (int64_t m = 0; m < kernels; m++) {
        KFE_TRY(tiled_columns(part, terms[m], index, count, one));
        for (int64_t i = 0; i < size; i++)
            out[i] += weights[m] * one[i];
    }
cleanup:
    kfe_i_free(part->ctx, one);
    return status;
}

static kfe_status among(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_among(part->state, index, count, out);
}

static kfe_status diagonal(const kfe_i_row_part *part, double *out)
{
    return kfe_i_gram_diagonal(part->state, out);
}

int kfe_i_gram_row_part(const kfe_i_gram *gram, kfe_i_row_part *out)
{
    const kfe_i_gram *source = kfe_i_gram_dealt_source(gram);
    kfe_i_share share = kfe_i_own_share(gram->ctx);

    if (!source || !kfe_i_dealt_is_tiled(source) || gram->size < share.ranks)
        return 0;
    int64_t first = kfe_i_share_begin(gram->size, share.rank, share.ranks);
    *out = (kfe_i_row_part){.ctx = gram->ctx,
                            .first = first,
                            .rows = kfe_i_share_begin(gram->size, share.rank + 1, share.ranks) - first,
                            .total = gram->size,
                            .tiles = kfe_i_gram_has_slabs(source) ? source : NULL,
                            .state = source,
                            .columns = columns,
                            .among = among,
                            .diagonal = diagonal};
    return 1;
}
