/* SPDX-License-Identifier: Apache-2.0 */
/* Systems with the matrix divided over processes, by the plug-in's Cholesky factorisation; solve.c uses it where Cholesky in double
 * precision is the fastest way. */
#include "gram/cluster/cluster_solve.h"

#include <limits.h>

#include "core/cluster.h"

typedef struct source {
    const kfe_i_gram *gram;
    kfe_status status; /* of the first block that failed */
} source;

int kfe_i_cluster_solves(const kfe_context *ctx)
{
    return kfe_i_processes(ctx) > 1 && ctx->cluster->info.has_solve;
}

double kfe_i_cluster_solve_bytes(const kfe_context *ctx, int64_t n, int64_t k)
{
    return ctx->cluster->table->solve_bytes(ctx->cluster->handle, n, k);
}

static int block(void *user, int64_t row, int64_t rows, int64_t col, int64_t cols, double *out)
{
    source *s = user;

    s->status = kfe_i_progress(s->gram->ctx, "computing the kernel", 0, 0);
    if (s->status == KFE_OK)
        s->status = kfe_i_gram_block(s->gram, row, rows, col, cols, out, cols);
    return s->status != KFE_OK;
}

/* Every process evaluates blocks of its own: its operators work as if there were no others. Means of centred operators take a pass of
 * all processes, so they are computed before. */
kfe_status kfe_i_cluster_solve(const kfe_i_gram *gram, double ridge, int64_t k, double *solution)
{
    kfe_context *ctx = gram->ctx;
    source s = {.gram = gram};
    kfe_cluster_system system = {
        .order = gram->size, .columns = k, .ridge = ridge, .block = block, .user = &s, .right = solution};
    double first = 0;
    kfe_status status = kfe_i_gram_block(gram, 0, 1, 0, 1, &first, 1);

    if (status != KFE_OK)
        return status;
    if (gram->size > INT_MAX || k > INT_MAX)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "ScaLAPACK cannot factor a matrix of %lld rows",
                          (long long)gram->size);
    kfe_i_cluster *cluster = kfe_i_cluster_pause(ctx);
    kfe_cluster_status result = cluster->table->solve(cluster->handle, &system);
    kfe_i_cluster_resume(ctx, cluster);
    if (s.status != KFE_OK)
        return s.status;
    if (result == KFE_CLUSTER_NUMERIC)
        return kfe_i_fail(ctx, KFE_ENUMERIC, "the kernel matrix plus the ridge is not positive definite");
    return kfe_i_cluster_status(ctx, result);
}
