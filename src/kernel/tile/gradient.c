/* SPDX-License-Identifier: Apache-2.0 */
/* The average gradient outer product of kernel expansions, in the cheaper of two ways; methods that learn a distance use it. */
#include "kernel/tile/gradient.h"

#include <string.h>

#include "core/cluster.h"
#include "core/invariant.h"
#include "core/memory.h"
#include "kernel/tile/gradient_parts.h"

/* By pairs, squares are subtracted from each other. If less than this share of them is left, too many digits are lost. */
#define KFE_LEAST_LEFT 1e-6
/* Pairs must be so much cheaper: their matrix passes through memory. */
#define KFE_PAIRS_GAIN 1.3
/* Share of the memory left that pairs may take. */
#define KFE_PAIRS_MEMORY 0.25

int64_t kfe_i_agop_scratch(const kfe_i_agop_job *job)
{
    int64_t most = 0;

    for (int64_t m = 0; m < job->f->kernels->count; m++) {
        int64_t own = kfe_i_tile_scratch(&job->terms[m].rows, &job->terms[m].support);
        most = own > most ? own : most;
    }
    return most;
}

void kfe_i_agop_points(const kfe_i_points *points, int64_t first, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        kfe_i_table_dense_row(&points->table, first + i, out + i * points->table.cols);
}

static kfe_status prepare_terms(kfe_i_agop_job *job, const kfe_i_table *rows)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(job->ctx, job->terms, job->f->kernels->count);
    for (int64_t m = 0; m < job->f->kernels->count; m++) {
        kfe_i_slope_term *t = &job->terms[m];
        t->kernel = job->f->kernels->items[m];
        t->kernel.part = KFE_PART_SLOPE;
        assert(t->kernel.def->slope);
        t->weight = (t->kernel.def->base == KFE_BASE_DISTANCE ? -2 : 1) * t->kernel.common.weight;
        KFE_TRY(kfe_i_points_prepare(job->ctx, &t->kernel, job->f->support, NULL, &t->support));
        KFE_TRY(kfe_i_points_prepare(job->ctx, &t->kernel, rows, &t->support, &t->rows));
    }
cleanup:
    return status;
}

static void free_terms(kfe_i_agop_job *job)
{
    for (int64_t m = 0; job->terms && m < job->f->kernels->count; m++) {
        kfe_i_points_free(&job->terms[m].support);
        kfe_i_points_free(&job->terms[m].rows);
    }
    kfe_i_free(job->ctx, job->terms);
}

/* ---- the choice ---- */

/* Operations per row, beside the kernel values. */
static int pairs_are_cheaper(const kfe_i_agop_job *job)
{
    double m = (double)job->f->support->rows;
    double k = (double)job->f->k;
    double d = (double)job->d;
    double outer = job->diagonal ? d : d * d;
    double by_rows = 2 * m * d * k + outer * k;
    double by_pairs = m * m + m * (2 * d + 5 * k) + 2 * outer + m * m * (2 * d + 2 * k) / (double)job->n;

    return by_pairs * KFE_PAIRS_GAIN < by_rows;
}

static int have_one_base(const kfe_i_agop_job *job)
{
    for (int64_t m = 1; m < job->f->kernels->count; m++)
        if (job->terms[m].kernel.def->base != job->terms[0].kernel.def->base)
            return 0;
    return job->f->kernels->count > 0;
}

static int suits_pairs(const kfe_i_agop_job *job)
{
    double room = KFE_PAIRS_MEMORY * (double)kfe_i_memory_left(job->ctx);
    int suits = have_one_base(job) && pairs_are_cheaper(job) && kfe_i_agop_pairs_bytes(job) <= room;

    return kfe_i_cluster_agree(job->ctx, suits) > 0; /* processes may have different memory */
}

static double trace_of(const kfe_i_agop_job *job, const double *values)
{
    double sum = 0;

    for (int64_t j = 0; j < job->d; j++)
        sum += values[job->diagonal ? j : j * (job->d + 1)];
    return sum;
}

/* *lost: the result has too few digits. */
static kfe_status compute_by_pairs(const kfe_i_agop_job *job, double *out, int *lost)
{
    kfe_status status = KFE_OK;
    double scale = 0;

    KFE_TRY(kfe_i_agop_by_pairs(job, out, &scale));
    KFE_TRY(kfe_i_cluster_sum(job->ctx, out, kfe_i_agop_size(job)));
    KFE_TRY(kfe_i_cluster_sum(job->ctx, &scale, 1));
    *lost = !(trace_of(job, out) >= KFE_LEAST_LEFT * scale);
cleanup:
    return status;
}

static kfe_status compute(const kfe_i_agop_job *job, double *out)
{
    kfe_status status = KFE_OK;
    int lost = 1;

    if (suits_pairs(job))
        KFE_TRY(compute_by_pairs(job, out, &lost));
    if (lost) {
        KFE_TRY(kfe_i_agop_by_rows(job, out));
        KFE_TRY(kfe_i_cluster_sum(job->ctx, out, kfe_i_agop_size(job)));
    }
cleanup:
    return status;
}

/* Divides by the number of rows, or by the sum of their weights, and fills the upper triangle. */
static void finish(const kfe_i_agop_job *job, double *out)
{
    int64_t d = job->d;
    double mass = job->weights ? 0 : (double)job->n;

    for (int64_t i = 0; job->weights && i < job->n; i++)
        mass += job->weights[i];
    for (int64_t p = 0; p < kfe_i_agop_size(job); p++)
        out[p] /= mass;
    for (int64_t i = 0; !job->diagonal && i < d; i++)
        for (int64_t j = 0; j < i; j++)
            out[j * d + i] = out[i * d + j];
}

kfe_status kfe_i_agop(kfe_context *ctx, const kfe_i_expansion_sum *f, const kfe_i_table *rows, int diagonal,
                      double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_agop_job job = {.ctx = ctx,
                          .f = f,
                          .n = rows->rows,
                          .d = rows->cols,
                          .diagonal = diagonal,
                          .weights = rows->weights,
                          .share = kfe_i_own_share(ctx)};

    assert(rows->rows > 0 && rows->cols == f->support->cols);
    KFE_TRY(prepare_terms(&job, rows));
    KFE_TRY(compute(&job, out));
    finish(&job, out);
cleanup:
    free_terms(&job);
    return status;
}
