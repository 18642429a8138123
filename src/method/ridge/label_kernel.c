/* SPDX-License-Identifier: Apache-2.0 */
/* The factor of the label kernel: class indicators, targets as given, or a pivoted Cholesky factor of any other
 * kernel on the targets. Used by hsic, uhsic, hsic-mkl and gkdr. */
#include "method/ridge/label_kernel.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/landmark/rpcholesky.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/ridge/ridge.h"
#include "method/shared/targets.h"

enum { MOST_COLUMNS = 512 };
/* The share of the label kernel's trace that the factor may miss without a warning. */
#define KFE_LABEL_REMAINDER 1e-6

/* ---- products of the targets ---- */

/* What column k of the targets (method/shared/targets.h) is multiplied by. Two classes have one column, −1 and 1, whose half has the
 * product of the two indicators, each centred. */
static double scale_of(int by_size, int64_t classes, const double *masses, int64_t k)
{
    if (classes == 2)
        return by_size ? sqrt(1 / masses[0] + 1 / masses[1]) / 2 : sqrt(0.5);
    return classes > 0 && by_size ? 1 / sqrt(masses[k]) : 1;
}

/* *text: the kernel by name, auto resolved. Returns whether it is the product of the targets, each class by itself or as given. */
static kfe_status resolve(kfe_context *ctx, const char *method, int classes, const char **text,
                          int *is_product)
{
    if (strcmp(*text, "auto") == 0)
        *text = classes ? "h2" : "linear";
    int by_class = strcmp(*text, "h1") == 0 || strcmp(*text, "h2") == 0;
    if (by_class && !classes)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "%s: label kernel %s is for classes; for real targets use linear or rbf:gamma=1",
                          method, *text);
    *is_product = by_class || strcmp(*text, "linear") == 0;
    return KFE_OK;
}

kfe_status kfe_i_label_scales(kfe_context *ctx, const char *method, const kfe_i_sums *sums,
                              const char *kernel, int64_t columns, double *scales)
{
    int is_product = 0;
    kfe_status status = resolve(ctx, method, sums->classes > 0, &kernel, &is_product);

    if (status == KFE_OK && !is_product)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "%s: from sums over rows, the label kernel is h1, h2 or linear; '%s' needs all targets "
            "in memory",
            method, kernel);
    for (int64_t k = 0; status == KFE_OK && k < columns; k++)
        scales[k] = scale_of(strcmp(kernel, "h2") == 0, sums->classes, sums->class_rows, k);
    return status;
}

static kfe_status product_factor(kfe_context *ctx, const kfe_i_target *target, int by_size, int weighed,
                                 kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;
    int64_t classes = target->task == KFE_TASK_CLASSES ? target->class_count : 0;
    kfe_i_target own = *target;
    double *masses = NULL;
    double unit = 1;

    if (!weighed)
        own.weights = NULL;
    KFE_TRY(kfe_i_centred_targets(ctx, &own, &out->values, &out->rank, &unit));
    KFE_ALLOC(ctx, masses, classes);
    if (classes > 0)
        kfe_i_target_class_masses(target, masses);
    for (int64_t k = 0; k < out->rank; k++)
        cblas_dscal((blasint)out->rows, unit * scale_of(by_size, classes, masses, k), out->values + k,
                    (blasint)out->rank);
cleanup:
    kfe_i_free(ctx, masses);
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

/* The targets as rows: real values, or the indicators of classes. */
static kfe_status target_rows(kfe_context *ctx, const kfe_i_target *target, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int classes = target->task == KFE_TASK_CLASSES;

    KFE_TRY(kfe_i_table_new_dense(ctx, target->rows, classes ? target->class_count : target->cols, out));
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t k = 0; k < out->cols; k++)
            out->values[i * out->stride + k] =
                classes ? target->codes[i] == k : target->values[i * target->cols + k];
    out->weights = target->weights;
cleanup:
    return status;
}

static kfe_status kernel_factor(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                const char *text, int weighed, kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    kfe_i_table table = {0};
    double *mean;

    KFE_TRY(target_rows(ctx, target, &table));
    KFE_TRY(factor_kernel(ctx, method, text, &table, out));
    KFE_TAKE(&memory, mean, out->rank);
    blasint size = (blasint)(out->rows * out->rank);
    double rounding = 16 * DBL_EPSILON * sqrt((double)out->rows) * cblas_dnrm2(size, out->values, 1);
    kfe_i_mean_row(out->rows, out->rank, out->values, target->weights, kfe_i_target_mass(target, out->rows),
                   mean);
    kfe_i_subtract_row(out->rows, out->rank, mean, NULL, out->values);
    if (cblas_dnrm2(size, out->values, 1) <= rounding) /* what centring leaves of constant columns */
        memset(out->values, 0, (size_t)size * sizeof *out->values);
    for (int64_t i = 0; weighed && target->weights && i < out->rows; i++)
        cblas_dscal((blasint)out->rank, sqrt(target->weights[i]), out->values + i * out->rank, 1);
cleanup:
    kfe_i_table_free(&table);
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_label_factor_make(kfe_context *ctx, const char *method, const kfe_i_target *target,
                                   const char *kernel, int weighed, kfe_i_label_factor *out)
{
    kfe_status status = KFE_OK;
    int is_product = 0;

    *out = (kfe_i_label_factor){.ctx = ctx, .rows = target->rows};
    KFE_TRY(resolve(ctx, method, target->task == KFE_TASK_CLASSES, &kernel, &is_product));
    if (is_product)
        KFE_TRY(product_factor(ctx, target, strcmp(kernel, "h2") == 0, weighed, out));
    else
        KFE_TRY(kernel_factor(ctx, method, target, kernel, weighed, out));
    out->norm = cblas_dnrm2((blasint)(out->rows * out->rank), out->values, 1);
    if (!(out->norm > 0))
        KFE_FAIL(ctx, KFE_EINPUT, "%s: the target is the same for every example: there is nothing to explain",
                 method);
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
