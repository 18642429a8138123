/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a problem side by side (bank.h), for the methods that weigh kernels. Neighbours in the list that
 * are maps of the same values, such as several widths of rbf, share them: distances are computed once. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/base.h"
#include "linalg/linalg.h"
#include "method/mkl/bank.h"

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
static int begins_family(const kfe_i_bank *bank, const kfe_i_fit_source *source, int64_t m)
{
    double n = (double)bank->size;
    const kfe_i_kernel *kernel = &source->kernels->items[m];
    kfe_i_base shape = {.ctx = bank->ctx, .def = kernel->def, .view = kernel->view};

    return source->landmarks.count == 0 &&
           (source->storage == KFE_GRAM_AUTO || source->storage == KFE_GRAM_F64) && kernel->def->map &&
           m + 1 < bank->count && kernel[1].def->map && kfe_i_base_serves(&shape, &kernel[1]) &&
           8 * n * n * (double)(bank->count + 2) <= (double)kfe_i_memory_left(bank->ctx);
}

/* Evaluates a map of shared values if possible, else the kernel by itself. */
static kfe_status open_raw(kfe_i_bank *bank, const kfe_i_fit_source *source, int64_t m, kfe_i_base *base)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel *kernel = &source->kernels->items[m];
    int served = kernel->def->map && kfe_i_base_serves(base, kernel);

    if (!served && begins_family(bank, source, m)) {
        kfe_i_base_free(base);
        KFE_TRY(kfe_i_base_make(bank->ctx, kernel, &source->views[kernel->view], base));
        served = 1;
    }
    if (!served)
        return kfe_i_ask_kernel(bank->ctx, source, m, &bank->raw[m]);
    KFE_TRY(kfe_i_table_new_dense(bank->ctx, bank->size, bank->size, &bank->tables[m]));
    KFE_TRY(kfe_i_base_map(bank->ctx, base, kernel, 0, bank->tables[m].values));
    KFE_TRY(kfe_i_gram_precomputed(bank->ctx, &bank->tables[m], &bank->raw[m]));
cleanup:
    return status;
}

static kfe_status open_one(const char *method, const kfe_i_fit_source *source, const double *roots, int64_t m,
                           kfe_i_base *base, kfe_i_bank *bank)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = bank->ctx;
    double n = (double)bank->size;
    /* the caller's matrices, and the kernels that come after this one */
    double reserve = 8 * n * n * (double)(bank->reserved + bank->count - 1 - m);
    double rounding = 0;

    KFE_TRY(open_raw(bank, source, m, base));
    if (roots) {
        bank->plain[m] = bank->raw[m];
        bank->raw[m] = NULL;
        KFE_TRY(kfe_i_gram_weighted(ctx, bank->plain[m], roots, &bank->raw[m]));
    }
    KFE_TRY(kfe_i_gram_keep(bank->raw[m], KFE_KEEP_ROWS, reserve, &bank->kept[m]));
    KFE_TRY(kfe_i_gram_centred(ctx, bank->kept[m].gram, &bank->centred[m]));
    KFE_TRY(measure_trace(ctx, bank->raw[m], bank->centred[m], &bank->traces[m]));
    if (bank->traces[m] == 0) {
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: kernel %lld is constant on this data, or far from positive definite: its centred "
                  "trace is not positive; it gets no weight",
                  method, (long long)m + 1);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_gram_rounding(bank->raw[m], &rounding));
    bank->rounding = fmax(bank->rounding, rounding / bank->traces[m]);
cleanup:
    return status;
}

kfe_status kfe_i_bank_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                           const double *roots, int matrices, kfe_i_bank *out)
{
    kfe_status status = KFE_OK;
    int64_t count = source->kernels->count;
    double sum = 0;
    kfe_i_base base = {0};

    *out = (kfe_i_bank){.ctx = ctx, .size = source->target->rows, .count = count, .reserved = matrices};
    KFE_ALLOC_ZERO(ctx, out->raw, count);
    KFE_ALLOC_ZERO(ctx, out->plain, count);
    KFE_ALLOC_ZERO(ctx, out->centred, count);
    KFE_ALLOC_ZERO(ctx, out->kept, count);
    KFE_ALLOC_ZERO(ctx, out->traces, count);
    KFE_ALLOC_ZERO(ctx, out->tables, count);
    KFE_ALLOC(ctx, out->means, out->size);
    for (int64_t m = 0; m < count; m++) {
        KFE_TRY(open_one(method, source, roots, m, &base, out));
        sum += out->traces[m];
    }
    if (!(sum > 0))
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "%s: the kernels are the same for all pairs of examples, or far from positive definite; give "
            "other kernels",
            method);
cleanup:
    kfe_i_base_free(&base);
    return status;
}

void kfe_i_bank_free(kfe_i_bank *bank)
{
    for (int64_t m = 0; m < bank->count; m++) {
        if (bank->centred)
            kfe_i_gram_free(bank->centred[m]);
        if (bank->kept)
            kfe_i_gram_keep_free(&bank->kept[m]);
        if (bank->raw)
            kfe_i_gram_free(bank->raw[m]);
        if (bank->plain)
            kfe_i_gram_free(bank->plain[m]);
        if (bank->tables)
            kfe_i_table_free(&bank->tables[m]);
    }
    if (bank->ctx) {
        kfe_i_free(bank->ctx, bank->raw);
        kfe_i_free(bank->ctx, bank->plain);
        kfe_i_free(bank->ctx, bank->centred);
        kfe_i_free(bank->ctx, bank->kept);
        kfe_i_free(bank->ctx, bank->traces);
        kfe_i_free(bank->ctx, bank->tables);
        kfe_i_free(bank->ctx, bank->means);
    }
    memset(bank, 0, sizeof *bank);
}

/* Gᵢ before it is divided by its trace. */
static const kfe_i_gram *operator_of(const kfe_i_bank *bank, int64_t kernel)
{
    return bank->centred ? bank->centred[kernel] : bank->raw[kernel];
}

kfe_status kfe_i_bank_times(const kfe_i_bank *bank, int64_t kernel, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;

    if (bank->traces[kernel] == 0) {
        memset(out, 0, (size_t)(bank->size * k) * sizeof *out);
        return KFE_OK;
    }
    KFE_TRY(kfe_i_gram_times(operator_of(bank, kernel), v, k, out));
    cblas_dscal((blasint)(bank->size * k), 1 / bank->traces[kernel], out, 1);
cleanup:
    return status;
}

/* Rows `row` … of Gᵢ, all columns, times factor, added to out (rows × n); `panel` has room for as much. */
static kfe_status add_kernel_rows(const kfe_i_bank *bank, int64_t kernel, double factor, int64_t row,
                                  int64_t rows, double *panel, double *out)
{
    kfe_status status = KFE_OK;
    int64_t n = bank->size;

    if (bank->traces[kernel] == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_block(operator_of(bank, kernel), row, rows, 0, n, panel, n));
    cblas_daxpy((blasint)(rows * n), factor / bank->traces[kernel], panel, 1, out, 1);
cleanup:
    return status;
}

/* ---- sums ---- */

static int counts(const kfe_i_bank *bank, const double *weights, int64_t kernel)
{
    return weights[kernel] != 0 && bank->traces[kernel] > 0;
}

static int all_in_memory(const kfe_i_bank *bank, const double *weights)
{
    for (int64_t m = 0; m < bank->count; m++)
        if (counts(bank, weights, m) && !bank->kept[m].rows)
            return 0;
    return 1;
}

/* bank->means = Σ weight·(row means), and *overall = Σ weight·(mean of all entries): what centring the sum
 * takes. */
static kfe_status sum_means(const kfe_i_bank *bank, const double *weights, double *overall)
{
    kfe_status status = KFE_OK;

    *overall = 0;
    memset(bank->means, 0, (size_t)bank->size * sizeof *bank->means);
    for (int64_t m = 0; m < bank->count; m++) {
        const double *part = NULL;
        double mean = 0;
        if (!counts(bank, weights, m) || !bank->centred)
            continue;
        KFE_TRY(kfe_i_gram_row_means(bank->centred[m], &part, &mean));
        cblas_daxpy((blasint)bank->size, weights[m] / bank->traces[m], part, 1, bank->means, 1);
        *overall += weights[m] / bank->traces[m] * mean;
    }
cleanup:
    return status;
}

/* The first i + 1 entries of row i. */
static void combine_row(const kfe_i_bank *bank, const double *weights, double overall, int64_t i, double *out)
{
    const double *roots = bank->raw[0]->roots;
    double shift = overall - bank->means[i];

    for (int64_t j = 0; !roots && j <= i; j++)
        out[j] = shift - bank->means[j];
    for (int64_t j = 0; roots && j <= i; j++)
        out[j] = roots[i] * roots[j] * overall - roots[j] * bank->means[i] - roots[i] * bank->means[j];
    for (int64_t m = 0; m < bank->count; m++)
        if (counts(bank, weights, m))
            cblas_daxpy((blasint)(i + 1), weights[m] / bank->traces[m],
                        bank->kept[m].rows + i * bank->kept[m].stride, 1, out, 1);
}

static kfe_status combine_in_memory(const kfe_i_bank *bank, const double *weights, double *out)
{
    enum { ROWS_AT_ONCE = 16, SERIAL_ROWS = 256 };
    int64_t n = bank->size;
    double overall = 0;
    kfe_status status = sum_means(bank, weights, &overall);

    if (status != KFE_OK)
        return status;
#pragma omp parallel for num_threads(kfe_context_threads(bank->ctx)) if (n > SERIAL_ROWS)                    \
    schedule(static, ROWS_AT_ONCE)
    for (int64_t i = 0; i < n; i++)
        combine_row(bank, weights, overall, i, out + i * n);
    return KFE_OK;
}

kfe_status kfe_i_bank_combine(const kfe_i_bank *bank, const double *weights, double *panel, double *out)
{
    kfe_status status = KFE_OK;
    int64_t n = bank->size;

    if (all_in_memory(bank, weights))
        return combine_in_memory(bank, weights, out);
    for (int64_t row = 0; row < n; row += KFE_PANEL_ROWS) {
        int64_t rows = n - row < KFE_PANEL_ROWS ? n - row : KFE_PANEL_ROWS;
        memset(out + row * n, 0, (size_t)(rows * n) * sizeof *out);
        for (int64_t m = 0; m < bank->count; m++)
            if (counts(bank, weights, m))
                KFE_TRY(add_kernel_rows(bank, m, weights[m], row, rows, panel, out + row * n));
    }
cleanup:
    return status;
}

kfe_status kfe_i_bank_finish(const kfe_i_bank *bank, const double *d, kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    double overall = 0;

    KFE_ALLOC(bank->ctx, solution->kernel_weights, bank->count);
    for (int64_t m = 0; m < bank->count; m++)
        solution->kernel_weights[m] = d[m] > 0 ? d[m] / bank->traces[m] : 0;
    KFE_TRY(sum_means(bank, d, &overall));
    KFE_TRY(kfe_i_solution_centre_by(solution, bank->size, bank->raw[0]->roots, bank->means));
    KFE_TRY(kfe_i_solution_record(solution, "weights", d, bank->count));
cleanup:
    return status;
}
