/* SPDX-License-Identifier: Apache-2.0 */
/* The table of results of a search, with the reasons of failed cells. Filled by sweep.c, read by assess.c and the
 * texts. */
#include "select/cells.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

static void fill_nan(int64_t count, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = NAN;
}

kfe_status kfe_i_cells_make(kfe_context *ctx, const kfe_i_cells *shape, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    int64_t count = shape->splits * shape->settings;

    *out = (kfe_i_cells){.ctx = ctx,
                         .splits = shape->splits,
                         .settings = shape->settings,
                         .metrics = shape->metrics,
                         .targets = shape->targets,
                         .kept = shape->kept};
    KFE_ALLOC(ctx, out->values, count * out->metrics);
    KFE_ALLOC(ctx, out->variances, count * out->metrics);
    KFE_ALLOC(ctx, out->residuals, count * out->targets * 2);
    if (out->kept > 0)
        KFE_ALLOC(ctx, out->predictions, count * out->kept);
    KFE_ALLOC(ctx, out->support_vectors, count);
    KFE_ALLOC(ctx, out->seconds, count);
    KFE_ALLOC(ctx, out->failure_of, count);
    fill_nan(count * out->metrics, out->values);
    fill_nan(count * out->metrics, out->variances);
    fill_nan(count * out->targets * 2, out->residuals);
    fill_nan(count * out->kept, out->predictions);
    fill_nan(count, out->support_vectors);
    fill_nan(count, out->seconds);
    for (int64_t i = 0; i < count; i++)
        out->failure_of[i] = -1;
cleanup:
    return status;
}

void kfe_i_cells_free(kfe_i_cells *cells)
{
    if (!cells->ctx)
        return;
    for (int64_t i = 0; i < cells->failure_count; i++)
        kfe_i_free(cells->ctx, cells->failures[i].reason);
    kfe_i_free(cells->ctx, cells->failures);
    kfe_i_free(cells->ctx, cells->failure_of);
    kfe_i_free(cells->ctx, cells->seconds);
    kfe_i_free(cells->ctx, cells->support_vectors);
    kfe_i_free(cells->ctx, cells->residuals);
    kfe_i_free(cells->ctx, cells->predictions);
    kfe_i_free(cells->ctx, cells->variances);
    kfe_i_free(cells->ctx, cells->values);
    memset(cells, 0, sizeof *cells);
}

int kfe_i_is_failed_cell(kfe_status status)
{
    return status != KFE_OK && status != KFE_ENOMEM && status != KFE_ECANCEL;
}

static kfe_status add_failure(kfe_i_cells *cells, kfe_status why, const char *reason, int32_t *index)
{
    kfe_status status = KFE_OK;
    char *copy = NULL;

    for (*index = 0; *index < cells->failure_count; (*index)++)
        if (cells->failures[*index].status == why && strcmp(cells->failures[*index].reason, reason) == 0)
            return KFE_OK;
    KFE_STRDUP(cells->ctx, copy, reason);
    KFE_GROW(cells->ctx, cells->failures, cells->failure_capacity, cells->failure_count + 1);
    cells->failures[cells->failure_count++] = (kfe_i_failure){.status = why, .reason = copy};
    copy = NULL;
cleanup:
    kfe_i_free(cells->ctx, copy);
    return status;
}

kfe_status kfe_i_cells_fail(kfe_i_cells *cells, int64_t split, int64_t setting, kfe_status why,
                            const char *reason)
{
    kfe_status status = KFE_OK;
    int32_t *failure = &cells->failure_of[split * cells->settings + setting];
    int32_t index = 0;

    if (*failure >= 0)
        return KFE_OK;
    KFE_TRY(add_failure(cells, why, reason, &index));
    *failure = index;
    cells->failures[index].count++;
    cells->failed++;
cleanup:
    return status;
}

void kfe_i_cells_clear_residuals(kfe_i_cells *cells, int64_t split, int64_t setting)
{
    int64_t width = 2 * cells->targets;

    fill_nan(width, cells->residuals + (split * cells->settings + setting) * width);
    if (cells->kept > 0)
        fill_nan(cells->kept, cells->predictions + (split * cells->settings + setting) * cells->kept);
}

void kfe_i_cells_copy(const kfe_i_cells *from, int64_t source, kfe_i_cells *to, int64_t target)
{
    size_t values = (size_t)to->metrics * sizeof *to->values;
    int64_t sums = 2 * to->targets;

    memcpy(to->values + target * to->metrics, from->values + source * to->metrics, values);
    memcpy(to->variances + target * to->metrics, from->variances + source * to->metrics, values);
    memcpy(to->residuals + target * sums, from->residuals + source * sums,
           (size_t)sums * sizeof *to->residuals);
    if (to->kept > 0)
        memcpy(to->predictions + target * to->kept, from->predictions + source * from->kept,
               (size_t)to->kept * sizeof *to->predictions);
    to->support_vectors[target] = from->support_vectors[source];
    to->seconds[target] = from->seconds[source];
}

const char *kfe_i_cells_reason(const kfe_i_cells *cells, int64_t split, int64_t setting)
{
    int32_t failure = cells->failure_of[split * cells->settings + setting];
    return failure >= 0 ? cells->failures[failure].reason : NULL;
}
