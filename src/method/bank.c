/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a problem side by side: centred, divided by their traces, kept as memory allows. Neighbours
 * that are maps of the same values, such as the widths of a family, share them: distances are computed once.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/base.h"
#include "gram/linalg.h"
#include "method/mkl.h"

/* The trace of a centred operator, 0 where it is not above what rounding leaves of a constant kernel. */
static kfe_status measure_trace(kfe_context *ctx, const kfe_i_gram *raw, const kfe_i_gram *centred,
                                double *out)
{
    kfe_status status = KFE_OK;
    double *diagonal = NULL;
    double magnitude = 0;

    *out = 0;
    KFE_ALLOC(ctx, diagonal, raw->size);
    KFE_TRY(kfe_i_gram_diagonal(raw, diagonal));
    magnitude = cblas_dasum((blasint)raw->size, diagonal, 1);
    KFE_TRY(kfe_i_gram_diagonal(centred, diagonal));
    for (int64_t i = 0; i < raw->size; i++)
        *out += diagonal[i];
    if (!(*out > kfe_i_gram_rank_tolerance(raw) * magnitude))
        *out = 0;
cleanup:
    kfe_i_free(ctx, diagonal);
    return status;
}

/* Whether kernel m is worth a matrix of base values: the next one can use it too, and all fit in memory. */
static int begins_family(const kfe_i_bank *bank, const kfe_i_problem *problem, int64_t m)
{
    double n = (double)bank->size;
    const kfe_i_kernel *kernel = &problem->kernels->items[m];
    kfe_i_base shape = {.ctx = bank->ctx, .def = *kernel->def, .view = kernel->view};

    return (problem->storage == KFE_GRAM_AUTO || problem->storage == KFE_GRAM_F64) && kernel->def->map &&
           m + 1 < bank->count && kernel[1].def->map && kfe_i_base_serves(&shape, &kernel[1]) &&
           8 * n * n * (double)(bank->count + 2) <= (double)kfe_context_memory(bank->ctx);
}

/* As a map of shared values where that is possible, else by itself. */
static kfe_status open_raw(kfe_i_bank *bank, const kfe_i_problem *problem, int64_t m, kfe_i_base *base)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = &problem->kernels->items[m];
    int served = kernel->def->map && kfe_i_base_serves(base, kernel);

    if (!served && begins_family(bank, problem, m)) {
        kfe_i_base_free(base);
        KFE_TRY(kfe_i_base_make(bank->ctx, kernel, &problem->views[kernel->view], base));
        served = 1;
    }
    if (!served)
        return kfe_i_problem_kernel(bank->ctx, problem, m, &bank->raw[m]);
    KFE_TRY(kfe_i_table_new_dense(bank->ctx, bank->size, bank->size, &bank->tables[m]));
    KFE_TRY(kfe_i_base_map(bank->ctx, base, kernel, 0, bank->tables[m].values));
    KFE_TRY(kfe_i_gram_precomputed(bank->ctx, &bank->tables[m], &bank->raw[m]));
cleanup:
    return status;
}

static kfe_status open_one(const char *method, const kfe_i_problem *problem, int64_t m, kfe_i_base *base,
                           kfe_i_bank *bank)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = bank->ctx;
    double n = (double)bank->size;
    /* the matrix to be factored, and the kernels that come after this one */
    double reserve = 8 * n * n * (double)(bank->count - m);
    double rounding = 0;

    KFE_TRY(open_raw(bank, problem, m, base));
    KFE_TRY(kfe_i_gram_centred(ctx, bank->raw[m], &bank->centred[m]));
    KFE_TRY(kfe_i_gram_keep(bank->centred[m], reserve, &bank->kept[m]));
    KFE_TRY(measure_trace(ctx, bank->raw[m], bank->kept[m].gram, &bank->traces[m]));
    if (bank->traces[m] == 0) {
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: kernel %lld is the same for all pairs of examples and gets no weight", method,
                  (long long)m + 1);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_gram_rounding(bank->raw[m], &rounding));
    bank->rounding = fmax(bank->rounding, rounding / bank->traces[m]);
cleanup:
    return status;
}

kfe_status kfe_i_bank_open(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                           kfe_i_bank *out)
{
    kfe_status status = KFE_OK;
    int64_t count = problem->kernels->count;
    double sum = 0;
    kfe_i_base base = {0};

    *out = (kfe_i_bank){.ctx = ctx, .size = problem->target->rows, .count = count};
    KFE_ALLOC_ZERO(ctx, out->raw, count);
    KFE_ALLOC_ZERO(ctx, out->centred, count);
    KFE_ALLOC_ZERO(ctx, out->kept, count);
    KFE_ALLOC_ZERO(ctx, out->traces, count);
    KFE_ALLOC_ZERO(ctx, out->tables, count);
    for (int64_t m = 0; m < count; m++) {
        KFE_TRY(open_one(method, problem, m, &base, out));
        sum += out->traces[m];
    }
    if (!(sum > 0))
        KFE_FAIL(ctx, KFE_EINPUT,
                 "%s: the kernels are the same for all pairs of examples; give other kernels", method);
cleanup:
    kfe_i_base_free(&base);
    return status;
}

void kfe_i_bank_free(kfe_i_bank *bank)
{
    for (int64_t m = 0; m < bank->count; m++) {
        if (bank->kept)
            kfe_i_gram_keep_free(&bank->kept[m]);
        if (bank->centred)
            kfe_i_gram_free(bank->centred[m]);
        if (bank->raw)
            kfe_i_gram_free(bank->raw[m]);
        if (bank->tables)
            kfe_i_table_free(&bank->tables[m]);
    }
    if (bank->ctx) {
        kfe_i_free(bank->ctx, bank->raw);
        kfe_i_free(bank->ctx, bank->centred);
        kfe_i_free(bank->ctx, bank->kept);
        kfe_i_free(bank->ctx, bank->traces);
        kfe_i_free(bank->ctx, bank->tables);
    }
    memset(bank, 0, sizeof *bank);
}

kfe_status kfe_i_bank_times(const kfe_i_bank *bank, int64_t kernel, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (bank->traces[kernel] == 0) {
        memset(out, 0, (size_t)(bank->size * k) * sizeof *out);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_gram_times(bank->kept[kernel].gram, v, k, out));
    cblas_dscal((blasint)(bank->size * k), 1 / bank->traces[kernel], out, 1);
cleanup:
    return status;
}

kfe_status kfe_i_bank_add_rows(const kfe_i_bank *bank, int64_t kernel, double factor, int64_t row,
                               int64_t rows, double *panel, double *out)
{
    kfe_status status = KFE_OK;
    int64_t n = bank->size;

    if (bank->traces[kernel] == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_block(bank->kept[kernel].gram, row, rows, 0, n, panel, n));
    cblas_daxpy((blasint)(rows * n), factor / bank->traces[kernel], panel, 1, out, 1);
cleanup:
    return status;
}

/* means (n) = row means of Σ θᵢκᵢ before centring */
static kfe_status mean_rows(const kfe_i_bank *bank, const double *theta, double *means)
{
    kfe_status status = KFE_OK;
    const double *part = NULL;
    double overall = 0;

    memset(means, 0, (size_t)bank->size * sizeof *means);
    for (int64_t m = 0; m < bank->count; m++) {
        if (theta[m] == 0)
            continue;
        KFE_TRY(kfe_i_gram_row_means(bank->kept[m].gram, &part, &overall));
        cblas_daxpy((blasint)bank->size, theta[m], part, 1, means, 1);
    }
cleanup:
    return status;
}

kfe_status kfe_i_bank_finish(const kfe_i_bank *bank, const double *d, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double *means = NULL;

    KFE_ALLOC(bank->ctx, means, bank->size);
    KFE_ALLOC(bank->ctx, solution->kernel_weights, bank->count);
    for (int64_t m = 0; m < bank->count; m++)
        solution->kernel_weights[m] = d[m] > 0 ? d[m] / bank->traces[m] : 0;
    KFE_TRY(mean_rows(bank, solution->kernel_weights, means));
    KFE_TRY(kfe_i_solution_centre_by(solution, bank->size, means));
    KFE_TRY(kfe_i_solution_record(solution, "weights", d, bank->count));
cleanup:
    kfe_i_free(bank->ctx, means);
    return status;
}
