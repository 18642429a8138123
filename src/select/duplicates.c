/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a grid that are the same fit (duplicates.h); sweep.c uses it. */
#include "select/duplicates.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_duplicates_find(kfe_context *ctx, const kfe_i_grid *grid, int64_t splits,
                                 const unsigned char *wanted, kfe_i_duplicates *out)
{
    kfe_status status = KFE_OK;
    int64_t found = 0;

    *out = (kfe_i_duplicates){.ctx = ctx};
    KFE_ALLOC(ctx, out->first, grid->count);
    for (int64_t c = 0; c < grid->count; c++) {
        out->first[c] = kfe_i_grid_first_alike(grid, c);
        found += out->first[c] != c;
    }
    if (found == 0) {
        kfe_i_duplicates_free(out);
        return KFE_OK;
    }
    KFE_ALLOC_ZERO(ctx, out->wanted, splits * grid->count);
    for (int64_t s = 0; s < splits; s++)
        for (int64_t c = 0; c < grid->count; c++)
            if (!wanted || wanted[s * grid->count + c])
                out->wanted[s * grid->count + out->first[c]] = 1;
cleanup:
    return status;
}

void kfe_i_duplicates_free(kfe_i_duplicates *d)
{
    if (!d->ctx)
        return;
    kfe_i_free(d->ctx, d->first);
    kfe_i_free(d->ctx, d->wanted);
    memset(d, 0, sizeof *d);
}

static int is_wanted(const kfe_i_cells *cells, const unsigned char *wanted, int64_t split, int64_t setting)
{
    return !wanted || wanted[split * cells->settings + setting];
}

static kfe_status copy_cell(kfe_i_cells *cells, int64_t split, int64_t from, int64_t to)
{
    int64_t source = split * cells->settings + from;
    int64_t target = split * cells->settings + to;

    kfe_i_cells_copy(cells, source, cells, target);
    cells->seconds[target] = 0;
    if (cells->failure_of[source] < 0)
        return KFE_OK;
    const kfe_i_failure *failure = &cells->failures[cells->failure_of[source]];
    return kfe_i_cells_fail(cells, split, to, failure->status, failure->reason);
}

/* Forgets a cell that was fitted for its duplicates only. */
static void clear_cell(kfe_i_cells *cells, int64_t split, int64_t setting)
{
    int64_t cell = split * cells->settings + setting;

    for (int64_t m = 0; m < cells->metrics; m++)
        cells->values[cell * cells->metrics + m] = NAN;
    kfe_i_cells_clear_residuals(cells, split, setting);
    cells->support_vectors[cell] = NAN;
    cells->seconds[cell] = NAN;
    if (cells->failure_of[cell] >= 0) {
        cells->failures[cells->failure_of[cell]].count--;
        cells->failed--;
        cells->failure_of[cell] = -1;
    }
}

kfe_status kfe_i_duplicates_fill(const kfe_i_duplicates *d, const unsigned char *wanted, kfe_i_cells *cells)
{
    kfe_status status = KFE_OK;

    for (int64_t s = 0; d->first && s < cells->splits; s++) {
        for (int64_t c = 0; c < cells->settings; c++)
            if (d->first[c] != c && is_wanted(cells, wanted, s, c))
                KFE_TRY(copy_cell(cells, s, d->first[c], c));
        for (int64_t c = 0; c < cells->settings; c++)
            if (d->wanted[s * cells->settings + c] && !is_wanted(cells, wanted, s, c))
                clear_cell(cells, s, c);
    }
cleanup:
    return status;
}
