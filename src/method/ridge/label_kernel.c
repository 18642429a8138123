/* SPDX-License-Identifier: Apache-2.0 */
/* The factor of the label kernel: class indicators, targets as given, or a pivoted Cholesky factor of any other
 * kernel on the targets. Used by hsic, uhsic, hsic-mkl and gkdr. */
#include "method/ridge/label_kernel.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/landmark/rpcholesky.h"
#include "method/ridge/ridge.h"

enum { MOST_COLUMNS = 512 };
/* The share of the label kernel's trace that the factor may miss without a warning. */
#define KFE_LABEL_REMAINDER 1e-6

/* ---- the targets as a matrix ---- */

static double class_weight(double size, int by_size)
{
    return by_size ? 1 / sqrt(size) : 1;
}

/* Y, or Y(YᵀY)^(−1/2). */
static kfe_status class_indicator(kfe_context *ctx, const kfe_i_target *target, int by_size, double **out)
{
    kfe_status status = KFE_OK;
    int64_t c = target->class_count;
    double *values = NULL;
    double *masses = NULL;

    KFE_ALLOC(ctx, masses, c);
    KFE_ALLOC_ZERO(ctx, values, target->rows * c);
    kfe_i_target_class_masses(target, masses);
    for (int64_t i = 0; i < target->rows; i++) {
        int32_t g = target->codes[i];
        values[i * c + g] = class_weight(masses[g], by_size);
    }
    *out = values;
cleanup:
    kfe_i_free(ctx, masses);
    return status;
}

static kfe_status target_values(kfe_context *ctx, const kfe_i_target *target, int by_size, double **values,
                                int64_t *cols)
{
    kfe_status status = KFE_OK;
    int classes = target->task == KFE_TASK_CLASSES;

    *cols = classes ? target->class_count : target->cols;
    if (classes)
        return class_indicator(ctx, target, by_size, values);
    KFE_ALLOC(ctx, *values, target->rows * *cols);
    memcpy(*values, target->values, (size_t)(target->rows * *cols) * sizeof **values);
cleanup:
    return status;
}

/* ---- a kernel on them ---- */

static kfe_status open_kernel(kfe_context *ctx, const char *method, const char *text,
                              const kfe_i_table *targets, kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_kernel_parse(ctx, text, kernel));
    if (kernel->def->base == KFE_BASE_GIVEN || kernel->def->base == KFE_BASE_STRING ||
        kernel->def->flags & KFE_HAS_INDEFINITE)
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "%s: kernel %s cannot be a label kernel; use h1, h2, linear, rbf:gamma=1 or another positive "
            "definite kernel on numbers",
            method, kernel->def->name);
    KFE_TRY(kfe_i_kernel_prepare(ctx, kernel, targets));
cleanup:
    return status;
}

static kfe_status factor_kernel(kfe_context *ctx, const char *method, const char *text, kfe_i_table *targets,
                                kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel kernel = {0};
    kfe_i_gram *gram = NULL;
    kfe_i_rpcholesky low_rank = {0};
    int64_t most = targets->rows < MOST_COLUMNS ? targets->rows : MOST_COLUMNS;
    double mean = 0;

    KFE_TRY(open_kernel(ctx, method, text, targets, &kernel));
    KFE_TRY(kfe_i_gram_tiled(ctx, &kernel, targets, &gram));
    KFE_TRY(kfe_i_gram_mean_diagonal(gram, &mean));
    KFE_TRY(kfe_i_rpcholesky_grow(gram, most, KFE_RANK_TOLERANCE * mean * (double)targets->rows, &low_rank));
    if (low_rank.left > KFE_LABEL_REMAINDER * low_rank.trace)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: %d columns make up only %.3g of the label kernel; a smoother label kernel (a smaller "
                  "gamma) needs "
                  "fewer",
                  method, (int)low_rank.rank, 1 - low_rank.left / low_rank.trace);
    out->rank = low_rank.rank;
    KFE_ALLOC(ctx, out->values, targets->rows * low_rank.rank);
    kfe_i_copy_block(targets->rows, low_rank.rank, low_rank.factor, low_rank.capacity, out->values,
                     low_rank.rank);
cleanup:
    kfe_i_rpcholesky_free(&low_rank);
    kfe_i_gram_free(gram);
    kfe_i_kernel_free(&kernel);
    return status;
}

static kfe_status kernel_factor(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                const char *text, kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .rows = target->rows};

    KFE_TRY(target_values(ctx, target, 0, &table.values, &table.cols));
    table.stride = table.cols;
    KFE_TRY(factor_kernel(ctx, method, text, &table, out));
cleanup:
    kfe_i_free(ctx, table.values);
    return status;
}

/* ---- PL ---- */

/* Multiplies every row by the root of its weight, as a weighted operator asks for (kfe_i_gram_weighted). */
static void weigh_rows(const kfe_i_target *target, kfe_i_label_factor *factor)
{
    for (int64_t i = 0; target->weights && i < factor->rows; i++)
        cblas_dscal((blasint)factor->rank, sqrt(target->weights[i]), factor->values + i * factor->rank, 1);
}

/* PL. Centring a constant column leaves rounding errors, which must not become a target. */
static kfe_status centre(kfe_context *ctx, const char *method, const kfe_i_target *target,
                         kfe_i_label_factor *factor)
{
    int64_t m = factor->rank;
    double mass = kfe_i_target_mass(target, factor->rows);
    double before = cblas_dnrm2((blasint)(factor->rows * m), factor->values, 1);

    for (int64_t j = 0; j < m; j++) {
        double mean = 0;
        for (int64_t i = 0; i < factor->rows; i++)
            mean += kfe_i_weight_of(target, i) * factor->values[i * m + j] / mass;
        for (int64_t i = 0; i < factor->rows; i++)
            factor->values[i * m + j] -= mean;
    }
    double after = cblas_dnrm2((blasint)(factor->rows * m), factor->values, 1);
    weigh_rows(target, factor);
    double norm = cblas_dnrm2((blasint)(factor->rows * m), factor->values, 1);
    if (after <= 16 * DBL_EPSILON * before * sqrt((double)factor->rows))
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: the target is the same for all examples; there is nothing to depend on",
                          method);
    factor->squared_norm = norm * norm;
    return KFE_OK;
}

static kfe_status make_values(kfe_context *ctx, const char *method, const kfe_i_target *target,
                              const char *kernel, kfe_i_label_factor *out)
{
    int classes = target->task == KFE_TASK_CLASSES;

    if (strcmp(kernel, "auto") == 0)
        kernel = classes ? "h2" : "linear";
    int by_size = strcmp(kernel, "h2") == 0;
    if ((by_size || strcmp(kernel, "h1") == 0) && !classes)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: label kernel %s is for classes; for real targets use linear or rbf:gamma=1",
                          method, kernel);
    if (by_size || strcmp(kernel, "h1") == 0 || strcmp(kernel, "linear") == 0)
        return target_values(ctx, target, by_size, &out->values, &out->rank);
    return kernel_factor(ctx, method, target, kernel, out);
}

kfe_status kfe_i_label_factor_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                   const char *kernel, kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = target->rows;
    KFE_TRY(make_values(ctx, method, target, kernel, out));
    KFE_TRY(centre(ctx, method, target, out));
    out->most = kfe_i_most_directions(target, out->rank);
cleanup:
    return status;
}

void kfe_i_label_factor_free(kfe_i_label_factor *factor)
{
    if (factor->ctx)
        kfe_i_free(factor->ctx, factor->values);
    memset(factor, 0, sizeof *factor);
}
