/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a loop's state that are divided over processes, on their way to the file of process 0 and back. */
#include "core/loop_rows.h"

#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/share.h"

/* Bytes that are moved at a time. */
enum { PIECE_BYTES = 1 << 22 };

int kfe_i_loop_is_divided(const kfe_i_loop *loop)
{
    for (int p = 0; p < loop->count; p++)
        if (loop->parts[p].divided)
            return kfe_i_processes(loop->ctx) > 1;
    return 0;
}

kfe_status kfe_i_loop_measure(kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;

    for (int p = 0; p < loop->count; p++) {
        kfe_i_loop_part *part = &loop->parts[p];
        double bytes = (double)part->own;
        if (!part->divided)
            continue;
        KFE_TRY(kfe_i_cluster_sum(loop->ctx, &bytes, 1));
        part->size = (int64_t)bytes;
    }
cleanup:
    return status;
}

/* How many bytes every process has, and memory for some of them. */
typedef struct division {
    kfe_context *ctx;
    double *sizes;
    char *piece;
} division;

static void end_division(division *d)
{
    kfe_i_free(d->ctx, d->sizes);
    kfe_i_free(d->ctx, d->piece);
}

static kfe_status begin_division(kfe_context *ctx, const kfe_i_loop_part *part, division *d)
{
    kfe_status status = KFE_OK;

    *d = (division){.ctx = ctx};
    KFE_ALLOC_ZERO(ctx, d->sizes, kfe_i_processes(ctx));
    KFE_ALLOC(ctx, d->piece, PIECE_BYTES);
    d->sizes[kfe_i_process(ctx)] = (double)part->own;
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, d->sizes, kfe_i_processes(ctx), 1));
cleanup:
    return status;
}

kfe_status kfe_i_loop_collect(const kfe_i_loop *loop, const kfe_i_loop_part *part,
                              kfe_status (*take)(void *user, const void *bytes, int64_t size), void *user)
{
    kfe_status status = KFE_OK;
    kfe_status taken = KFE_OK;
    int process = kfe_i_process(loop->ctx);
    division d;

    KFE_TRY(begin_division(loop->ctx, part, &d));
    for (int r = 0; r < kfe_i_processes(loop->ctx); r++)
        for (int64_t first = 0; first < (int64_t)d.sizes[r]; first += PIECE_BYTES) {
            int64_t size = kfe_i_least((int64_t)d.sizes[r] - first, PIECE_BYTES);
            if (r == process)
                memcpy(d.piece, (const char *)part->bytes + first, (size_t)size);
            KFE_TRY(kfe_i_cluster_broadcast(loop->ctx, r, d.piece, size));
            if (process == 0 && taken == KFE_OK)
                taken = take(user, d.piece, size);
        }
    status = taken;
cleanup:
    end_division(&d);
    return status;
}

kfe_status kfe_i_loop_spread(const kfe_i_loop *loop, const kfe_i_loop_part *part,
                             int (*give)(void *user, void *bytes, int64_t size), void *user)
{
    kfe_status status = KFE_OK;
    int process = kfe_i_process(loop->ctx);
    int given = 1;
    division d;

    KFE_TRY(begin_division(loop->ctx, part, &d));
    for (int r = 0; r < kfe_i_processes(loop->ctx); r++)
        for (int64_t first = 0; first < (int64_t)d.sizes[r]; first += PIECE_BYTES) {
            int64_t size = kfe_i_least((int64_t)d.sizes[r] - first, PIECE_BYTES);
            if (process == 0)
                given = given && give(user, d.piece, size);
            KFE_TRY(kfe_i_cluster_broadcast(loop->ctx, 0, d.piece, size));
            if (r == process)
                memcpy((char *)part->bytes + first, d.piece, (size_t)size);
        }
    status = given ? KFE_OK : KFE_EINPUT;
cleanup:
    end_division(&d);
    return status;
}
