/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the cells of a search over the processes of a cluster; sweep.c uses it. A process fits its cells alone, so that a cell has the
 * result that it has in one process. */
#include "select/deal.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/text.h"

/* The process that fits a cell. */
static int64_t owner_of(const kfe_i_sweep *sweep, int64_t cell, int64_t processes)
{
    const kfe_i_grid *grid = sweep->grid;
    int64_t choice[KFE_AXIS_PLACES];
    int64_t split = cell / grid->count;
    int64_t kernels = grid->counts[KFE_AXIS_FIT] * grid->counts[KFE_AXIS_KERNEL];

    kfe_i_grid_choice(grid, cell % grid->count, choice);
    int64_t kernel = choice[KFE_AXIS_FIT] * grid->counts[KFE_AXIS_KERNEL] + choice[KFE_AXIS_KERNEL];
    if (kernels >= processes)
        return kernel % processes;
    if (sweep->splits->count >= processes)
        return split % processes;
    return ((split * kernels + kernel) * grid->counts[KFE_AXIS_METHOD] + choice[KFE_AXIS_METHOD]) % processes;
}

void kfe_i_deal_cells(const kfe_context *ctx, const kfe_i_sweep *sweep, unsigned char *own)
{
    int64_t cells = sweep->splits->count * sweep->grid->count;

    for (int64_t cell = 0; cell < cells; cell++)
        own[cell] = (!sweep->wanted || sweep->wanted[cell]) &&
                    owner_of(sweep, cell, kfe_i_processes(ctx)) == kfe_i_process(ctx);
}

/* ---- numbers ---- */

/* Numbers of cells that are not this process's become zero, so that the sum over processes is the number of the one that has it. NaN passes
 * as a flag. */
static kfe_status share_numbers(kfe_context *ctx, const kfe_i_sweep *sweep, double *values, int64_t width)
{
    kfe_status status = KFE_OK;
    int64_t cells = sweep->splits->count * sweep->grid->count;
    double *both = NULL; /* the numbers, and whether each is a number */

    KFE_ALLOC_ZERO(ctx, both, 2 * cells * width);
    for (int64_t cell = 0; cell < cells; cell++)
        for (int64_t j = cell * width; j < (cell + 1) * width; j++)
            if (owner_of(sweep, cell, kfe_i_processes(ctx)) == kfe_i_process(ctx) && !isnan(values[j])) {
                both[2 * j] = values[j];
                both[2 * j + 1] = 1;
            }
    KFE_TRY(kfe_i_cluster_sum(ctx, both, 2 * cells * width));
    for (int64_t j = 0; j < cells * width; j++)
        values[j] = both[2 * j + 1] != 0 ? both[2 * j] : NAN;
cleanup:
    kfe_i_free(ctx, both);
    return status;
}

/* ---- reasons of failures ---- */

/* A failed cell on its way to other processes; the reason follows. */
typedef struct parcel {
    int64_t cell;
    int32_t status, length; /* of the reason, with its final zero */
} parcel;

static void pack_failures(const kfe_i_cells *cells, const kfe_i_sweep *sweep, const kfe_context *ctx,
                          kfe_i_text *out)
{
    for (int64_t cell = 0; cell < cells->splits * cells->settings; cell++) {
        if (cells->failure_of[cell] < 0 || owner_of(sweep, cell, kfe_i_processes(ctx)) != kfe_i_process(ctx))
            continue;
        const kfe_i_failure *failure = &cells->failures[cells->failure_of[cell]];
        const parcel head = {cell, (int32_t)failure->status, (int32_t)strlen(failure->reason) + 1};
        kfe_i_text_add(out, (const char *)&head, sizeof head);
        kfe_i_text_add(out, failure->reason, head.length);
    }
}

/* Marks the cells that failed in other processes. */
static kfe_status unpack_failures(kfe_i_cells *cells, const char *from, int64_t bytes)
{
    kfe_status status = KFE_OK;

    for (const char *end = from + bytes; from < end;) {
        parcel head;
        memcpy(&head, from, sizeof head);
        if (cells->failure_of[head.cell] < 0)
            KFE_TRY(kfe_i_cells_fail(cells, head.cell / cells->settings, head.cell % cells->settings,
                                     (kfe_status)head.status, from + sizeof head));
        from += sizeof head + (size_t)head.length;
    }
cleanup:
    return status;
}

static kfe_status share_failures(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *cells)
{
    kfe_status status = KFE_OK;
    kfe_i_text own;
    char *all = NULL;
    int64_t total = 0;

    kfe_i_text_init(&own, ctx);
    pack_failures(cells, sweep, ctx, &own);
    KFE_TRY(own.status);
    KFE_TRY(kfe_i_cluster_gather_all(ctx, own.bytes, own.length, &all, &total));
    KFE_TRY(unpack_failures(cells, all, total));
cleanup:
    kfe_i_text_free(&own);
    kfe_i_free(ctx, all);
    return status;
}

kfe_status kfe_i_deal_exchange(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *cells)
{
    kfe_status status = KFE_OK;

    KFE_TRY(share_numbers(ctx, sweep, cells->values, cells->metrics));
    KFE_TRY(share_numbers(ctx, sweep, cells->variances, cells->metrics));
    KFE_TRY(share_numbers(ctx, sweep, cells->residuals, 2 * cells->targets));
    if (cells->kept > 0)
        KFE_TRY(share_numbers(ctx, sweep, cells->predictions, cells->kept));
    KFE_TRY(share_numbers(ctx, sweep, cells->support_vectors, 1));
    KFE_TRY(share_numbers(ctx, sweep, cells->seconds, 1));
    KFE_TRY(share_failures(ctx, sweep, cells));
cleanup:
    return status;
}
