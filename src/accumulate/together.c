/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators of several processes become one, which all of them have; kfe_fit_stream uses it in a cluster. */
#include <string.h>

#include "accumulate/accumulator.h"
#include "core/cluster.h"
#include "core/memory.h"

static kfe_status gather_sizes(kfe_context *ctx, size_t own, double *sizes)
{
    sizes[kfe_i_process(ctx)] = (double)own;
    return kfe_i_cluster_gather_rows(ctx, sizes, kfe_i_processes(ctx), 1);
}

/* *total NULL: it becomes the accumulator of these bytes. */
static kfe_status merge_bytes(kfe_context *ctx, const char *bytes, size_t size, kfe_accumulator **total)
{
    kfe_status status = KFE_OK;
    kfe_accumulator *one = NULL;

    KFE_TRY(kfe_accumulator_load_bytes(ctx, bytes, size, &one));
    if (*total) {
        KFE_TRY(kfe_accumulator_merge(ctx, *total, one));
    } else {
        *total = one;
        one = NULL;
    }
cleanup:
    kfe_accumulator_free(one);
    return status;
}

/* One process after the other sends its sums, so that no process holds those of more than two; all merge them in the same order and
 * have the same bits. */
kfe_status kfe_i_accumulator_reduce(kfe_accumulator **sums)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = (*sums)->ctx;
    kfe_accumulator *total = NULL;
    double *sizes = NULL;
    char *own = NULL;
    char *bytes = NULL;
    size_t size = 0;

    if (kfe_i_processes(ctx) == 1)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, sizes, kfe_i_processes(ctx));
    KFE_TRY(kfe_accumulator_save_bytes(ctx, *sums, &own, &size));
    KFE_TRY(gather_sizes(ctx, size, sizes));
    for (int r = 0; r < kfe_i_processes(ctx); r++) {
        KFE_ALLOC(ctx, bytes, (int64_t)sizes[r]);
        if (r == kfe_i_process(ctx))
            memcpy(bytes, own, size);
        KFE_TRY(kfe_i_cluster_broadcast(ctx, r, bytes, (int64_t)sizes[r]));
        KFE_TRY(merge_bytes(ctx, bytes, (size_t)sizes[r], &total));
        kfe_i_free(ctx, bytes);
        bytes = NULL;
    }
    kfe_accumulator_free(*sums);
    *sums = total;
    total = NULL;
cleanup:
    kfe_accumulator_free(total);
    kfe_i_free(ctx, sizes);
    kfe_i_free(ctx, bytes);
    kfe_string_free(ctx, own);
    return status;
}
