/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products or distances of all pairs, from which every kernel of a grid is mapped; the search over
 * settings uses it. */
#include "gram/base.h"

#include <string.h>

#include "core/memory.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/panels.h"

enum { PANEL_ROWS = 16 };

static int64_t substring_of(const kfe_i_kernel *kernel)
{
    return kernel->def->substring ? kernel->def->substring(kernel->settings) : 0;
}

/* A given matrix need not be evaluated: rows of the table are rows of the matrix. */
static void copy_given(const kfe_i_table *table, double *out)
{
    for (int64_t i = 0; i < table->rows; i++)
        kfe_i_table_dense_row(table, i, out + i * table->rows);
}

kfe_status kfe_i_base_make(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                           kfe_i_base *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel plain = *kernel;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->def = kernel->def;
    out->substring = substring_of(kernel);
    out->view = kernel->view;
    out->size = table->rows;
    plain.part = KFE_PART_BASE;
    KFE_ALLOC(ctx, out->values, table->rows * table->rows);
    if (kernel->def->base == KFE_BASE_GIVEN) {
        copy_given(table, out->values);
    } else {
        KFE_TRY(kfe_i_points_prepare(ctx, &plain, table, NULL, &out->points));
        KFE_TRY(kfe_i_self_matrix(ctx, &plain, &out->points, out->values));
    }
cleanup:
    if (status != KFE_OK)
        kfe_i_base_free(out);
    return status;
}

void kfe_i_base_free(kfe_i_base *base)
{
    if (!base->ctx)
        return;
    kfe_i_points_free(&base->points);
    kfe_i_free(base->ctx, base->values);
    memset(base, 0, sizeof *base);
}

int kfe_i_base_serves(const kfe_i_base *base, const kfe_i_kernel *kernel)
{
    int same_values = base->ctx && base->def->base == kernel->def->base && base->view == kernel->view &&
                      base->substring == substring_of(kernel);

    switch (kernel->def->base) {
    case KFE_BASE_DOT:
    case KFE_BASE_DISTANCE:
    case KFE_BASE_STRING:
    case KFE_BASE_GIVEN:
        return same_values;
    case KFE_BASE_COORDINATE:
        return same_values && base->def->pair_sum == kernel->def->pair_sum;
    case KFE_BASE_USER:
        break;
    }
    return 0;
}

typedef struct map_job {
    const kfe_i_base *base;
    const kfe_i_kernel *kernel;
    int add;
    double *out, *scratch; /* scratch: a panel for each thread */
} map_job;

static void map_panel(const void *user, int64_t row, int thread)
{
    const map_job *job = user;
    int64_t n = job->base->size;
    int64_t rows = n - row < PANEL_ROWS ? n - row : PANEL_ROWS;
    double weight = job->kernel->common.weight;
    double *out = job->out + row * n;
    double *panel = job->add ? job->scratch + thread * PANEL_ROWS * n : out;
    const double *norms = job->base->points.norms;
    kfe_i_tile tile = {panel, rows, n, n, norms ? norms + row : NULL, norms};

    if (panel != job->base->values + row * n)
        memcpy(panel, job->base->values + row * n, (size_t)(rows * n) * sizeof *panel);
    kfe_i_kernel_map(job->kernel, &tile);
    for (int64_t p = 0; weight != 1 && p < rows * n; p++)
        panel[p] *= weight;
    for (int64_t p = 0; job->add && p < rows * n; p++)
        out[p] += panel[p];
}

kfe_status kfe_i_base_map(kfe_context *ctx, const kfe_i_base *base, const kfe_i_kernel *kernel, int add,
                          double *out)
{
    kfe_status status = KFE_OK;
    int threads = kfe_context_threads(ctx);
    map_job job = {.base = base, .kernel = kernel, .add = add, .out = out};

    if (add)
        KFE_ALLOC(ctx, job.scratch, threads * PANEL_ROWS * base->size);
    KFE_TRY(kfe_i_each_panel(
        ctx, &(kfe_i_panels){"computing the kernel", threads, base->size, PANEL_ROWS, KFE_SHARE_FREE},
        map_panel, &job));
cleanup:
    kfe_i_free(ctx, job.scratch);
    return status;
}
