/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns for a view that lmkl or sldr knows only by a kernel. With K = UΛUᵀ, weight included, the columns X = UΛ^½ have
 * XXᵀ = K: their dot products are the kernel on the training examples. The columns of a new example are Aᵀk(x) with
 * A = UΛ^(−½) = XΛ⁻¹, so that X and Λ are all that is kept. K is not centred. Eigenvalues at the level of rounding are
 * dropped; negative ones, which have no columns, are dropped with a warning.
 * The empirical map takes K itself as X: A = I.
 *
 * Gönen & Alpaydın (2010), section B.2; Schölkopf, Tsuda & Vert (2004). Time O(n³), memory n² per kernel.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/local/local_problem.h"

static void warn_of_negative(const kfe_i_local_problem *p, int64_t m, double least, double most)
{
    const kfe_i_kernel *kernel = &p->given->kernels->items[m];
    char name[KFE_PARAM_TEXT_SIZE];

    kfe_i_local_view_name(p->given, kernel->view, name, sizeof name);
    kfe_i_log(p->ctx, KFE_LOG_WARNING,
              "%s: %s: kernel %s is not positive definite on this data (an eigenvalue is %.3g, the largest "
              "%.3g); its negative eigenvalues are dropped",
              p->method, name, kernel->def->name, least, most);
}

static kfe_status no_columns(const kfe_i_local_problem *p, int64_t m)
{
    const kfe_i_kernel *kernel = &p->given->kernels->items[m];
    char name[KFE_PARAM_TEXT_SIZE];

    kfe_i_local_view_name(p->given, kernel->view, name, sizeof name);
    return kfe_i_fail(p->ctx, KFE_EINPUT,
                      "%s: kernel %s has no positive eigenvalue on this data, so that nothing can be learned "
                      "from it; remove the kernel, or correct the matrix",
                      name, kernel->def->name);
}

/* X (n × rank) from the first columns of U (n × n). */
static kfe_status scale_columns(kfe_i_local_problem *p, kfe_i_local_source *part, int64_t rank,
                                const double *values, const double *vectors)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_table_new_dense(p->ctx, p->n, rank, &part->columns));
    KFE_ALLOC(p->ctx, part->spectrum, rank);
    memcpy(part->spectrum, values, (size_t)rank * sizeof *values);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < rank; j++)
            part->columns.values[i * part->columns.stride + j] = sqrt(values[j]) * vectors[i * p->n + j];
cleanup:
    return status;
}

static kfe_status map_by_eigenvectors(kfe_i_local_problem *p, int64_t m, double *matrix, double rounding,
                                      double tolerance)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    double *vectors = NULL;
    int64_t rank = 0;

    KFE_ALLOC(p->ctx, values, p->n);
    KFE_ALLOC(p->ctx, vectors, p->n * p->n);
    KFE_TRY(kfe_i_symmetric_eigen(p->ctx, p->n, matrix, p->n, values, vectors));
    double least = fmax(rounding, tolerance * fabs(values[0]));
    while (rank < p->n && values[rank] > least)
        rank++;
    if (rank == 0)
        KFE_TRY(no_columns(p, m));
    if (values[p->n - 1] < -least)
        warn_of_negative(p, m, values[p->n - 1], values[0]);
    KFE_TRY(scale_columns(p, &p->parts[m], rank, values, vectors));
cleanup:
    kfe_i_free(p->ctx, values);
    kfe_i_free(p->ctx, vectors);
    return status;
}

kfe_status kfe_i_local_map_kernel(kfe_i_local_problem *p, int64_t m, int kernel_map)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    double *matrix = NULL;
    double rounding = 0;

    KFE_TRY(kfe_i_ask_kernel(p->ctx, p->given, m, &gram));
    KFE_TRY(kfe_i_check_memory(p->ctx, 32.0 * (double)p->n * (double)p->n, "turning a kernel into columns",
                               "raise {memory}, or fit on fewer examples"));
    KFE_TRY(kfe_i_gram_materialise(gram, &matrix));
    if (kernel_map == KFE_LOCAL_EMPIRICAL) {
        p->parts[m].columns = (kfe_i_table){.ctx = p->ctx,
                                            .kind = KFE_TABLE_DENSE,
                                            .owned = 1,
                                            .rows = p->n,
                                            .cols = p->n,
                                            .stride = p->n,
                                            .values = matrix};
        matrix = NULL;
        goto cleanup;
    }
    KFE_TRY(kfe_i_gram_rounding(gram, &rounding));
    KFE_TRY(map_by_eigenvectors(p, m, matrix, rounding, kfe_i_gram_rank_tolerance(gram)));
cleanup:
    kfe_i_free(p->ctx, matrix);
    kfe_i_gram_free(gram);
    return status;
}
