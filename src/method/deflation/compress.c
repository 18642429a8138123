/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small table in place of many examples. Partial least squares sees the centred data X (n × d) and targets Y (n × t) through
 * XᵀX, XᵀY and the norms of Y only. With the Cholesky factor XᵀX = RᵀR,
 *
 *     X' = ( R )    Y' = ( R⁻ᵀXᵀY )
 *          ( 0 )         (   D    )
 *
 * of d + t rows have the same products, where the diagonal D makes up the norms. So the same iterations on X' and Y' find the same
 * directions, and none of them reads the n examples: XᵀX takes one pass at the speed of matrix products.
 *
 * Forming XᵀX loses half of the digits of its weakest directions, so that an ill-conditioned R is not used. Time O(nd²); memory
 * O(d² + d·4096) beside the data.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/deflation/deflation.h"

/* The reciprocal condition number of R below which the examples themselves are used: directions then have at least seven
 * digits. */
#define KFE_WELL_CONDITIONED 1e-4

/* Examples that are centred and multiplied at a time. */
enum { PANEL_ROWS = 2048 };

/* Nanoseconds on two threads, fitted to times of pls with 10,000 × 1,000 and 100,000 × 500 numbers: reading a number once, with a
 * share for each target; what XᵀX costs for it; and what factoring and using R costs for each of its d² entries. */
#define KFE_PASS_COST(targets) (0.24 + 0.04 * (targets))
#define KFE_PRODUCT_COST(d) (1.5 + (d) / 100)
#define KFE_FACTOR_COST 160.0
/* The same for one product of a vector with XᵀX. */
#define KFE_VECTOR_COST 0.5
/* The same for products that read the rows once each, and for the form with a matrix in single precision: its first pass, what the
 * matrix costs, and exact products with each feature. */
#define KFE_ROUGH_PASS_COST 0.3
#define KFE_ROUGH_MATRIX_COST(d, features) (0.6 + (d) / 190 + 0.05 * (features))
/* Nanoseconds to begin and merge the sums of threads. */
#define KFE_SUMS_COST 1e5
/* Tables of fewer numbers are not worth the choice. */
#define KFE_FEWEST_NUMBERS (1 << 18)

typedef struct compression {
    kfe_i_deflation *d;
    int64_t cols, targets;
    double *panel;      /* PANEL_ROWS × cols */
    double *squares;    /* cols × cols: the upper triangle of XᵀX, later R */
    double *covariance; /* cols × targets: XᵀY, later R⁻ᵀXᵀY */
} compression;

/* Two passes for each feature. */
static double cost_of_passes(double numbers, int64_t targets, int64_t most)
{
    return 2 * (double)most * numbers * KFE_PASS_COST((double)targets);
}

/* Whether XᵀX in double precision costs less than passes. */
static int products_repay(int64_t rows, int64_t cols, int64_t targets, int64_t most, double more)
{
    double d = (double)cols;
    double numbers = (double)rows * d;

    return targets > 0 && rows >= 4 * (cols + targets) &&
           numbers * KFE_PRODUCT_COST(d) + more < cost_of_passes(numbers, targets, most);
}

kfe_i_sums_choice kfe_i_pls_choose_sums(int64_t rows, int64_t cols, int64_t targets, int64_t most)
{
    double d = (double)cols;
    double k = (double)most;
    double numbers = (double)rows * d;
    double multiply = KFE_VECTOR_COST * k * d * d + KFE_SUMS_COST;
    double by_rows = numbers * (k + 1) * KFE_ROUGH_PASS_COST;
    double by_matrix = numbers * KFE_ROUGH_MATRIX_COST(d, k) + multiply;
    double by_scatter = numbers * KFE_PRODUCT_COST(d) + multiply;

    if (targets < 1 || most > cols || most >= rows)
        return KFE_SUMS_NONE;
    if (numbers >= KFE_FEWEST_NUMBERS && fmin(by_rows, by_matrix) < by_scatter)
        return by_rows < by_matrix ? KFE_SUMS_ROUGH_ROWS : KFE_SUMS_ROUGH_MATRIX;
    return products_repay(rows, cols, targets, most, multiply) ? KFE_SUMS_SCATTER : KFE_SUMS_NONE;
}

static int is_cheaper(const kfe_i_deflation *d)
{
    return d->data.table->kind == KFE_TABLE_DENSE &&
           products_repay(d->examples, d->rows, d->targets, d->most,
                          KFE_FACTOR_COST * (double)d->rows * (double)d->rows);
}

static void centre_rows(const compression *c, int64_t first, int64_t count)
{
    const kfe_i_table *table = c->d->data.table;
    const double *means = c->d->data.means;
    const double *roots = c->d->roots;

#pragma omp parallel for num_threads(kfe_context_threads(c->d->ctx)) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const double *from = table->values + (first + i) * table->stride;
        double root = roots ? roots[first + i] : 1;
        double *to = c->panel + i * c->cols;
        for (int64_t j = 0; j < c->cols; j++)
            to[j] = from[j] - (means ? root * means[j] : 0);
    }
}

static kfe_status form_products(const compression *c)
{
    kfe_status status = KFE_OK;
    blasint cols = (blasint)c->cols;
    blasint targets = (blasint)c->targets;

    for (int64_t first = 0; first < c->d->examples; first += PANEL_ROWS) {
        int64_t left = c->d->examples - first;
        int64_t count = left < PANEL_ROWS ? left : PANEL_ROWS;
        KFE_TRY(kfe_i_checkpoint(c->d->ctx, "multiplying the columns", first, c->d->examples));
        centre_rows(c, first, count);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, cols, (blasint)count, 1, c->panel, cols, 1,
                    c->squares, cols);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, cols, targets, (blasint)count, 1, c->panel, cols,
                    c->d->target + first * c->targets, targets, 1, c->covariance, targets);
    }
cleanup:
    return status;
}

/* R in place of XᵀX; 0 if it is ill-conditioned. */
static int factor(const compression *c)
{
    lapack_int cols = (lapack_int)c->cols;
    double condition = 0;

    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', cols, c->squares, cols) != 0)
        return 0;
    /* the lower triangle by columns is the upper one by rows */
    double *work = c->panel;
    lapack_int *numbers = (lapack_int *)(work + 3 * c->cols);
    if (LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'L', 'N', cols, c->squares, cols, &condition, work,
                            numbers) != 0)
        return 0;
    return condition > KFE_WELL_CONDITIONED;
}

/* What the features cannot explain of each target: ‖y‖² − ‖R⁻ᵀXᵀy‖². */
static double remaining_norm(const compression *c, int64_t target)
{
    double norm = cblas_dnrm2((blasint)c->d->examples, c->d->target + target, (blasint)c->targets);
    double inside = cblas_dnrm2((blasint)c->cols, c->covariance + target, (blasint)c->targets);

    return norm > inside ? sqrt((norm - inside) * (norm + inside)) : 0;
}

/* X' and Y' in place of X and Y. */
static kfe_status replace(compression *c)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation *d = c->d;
    int64_t rows = c->cols + c->targets;
    double *targets = NULL;

    KFE_ALLOC_ZERO(d->ctx, targets, rows * c->targets);
    KFE_TRY(kfe_i_table_new_dense(d->ctx, rows, c->cols, &d->data.compressed));
    memset(d->data.compressed.values, 0, (size_t)(rows * c->cols) * sizeof *targets);
    for (int64_t i = 0; i < c->cols; i++)
        memcpy(d->data.compressed.values + i * d->data.compressed.stride + i, c->squares + i * c->cols + i,
               (size_t)(c->cols - i) * sizeof *targets);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (blasint)c->cols,
                (blasint)c->targets, 1, c->squares, (blasint)c->cols, c->covariance, (blasint)c->targets);
    memcpy(targets, c->covariance, (size_t)(c->cols * c->targets) * sizeof *targets);
    for (int64_t t = 0; t < c->targets; t++)
        targets[(c->cols + t) * c->targets + t] = remaining_norm(c, t);
    kfe_i_free(d->ctx, d->target);
    d->target = targets;
    targets = NULL;
    d->data.table = &d->data.compressed;
    d->examples = rows;
    memcpy(d->residual, d->target, (size_t)(rows * c->targets) * sizeof *d->residual);
cleanup:
    kfe_i_free(d->ctx, targets);
    return status;
}

kfe_status kfe_i_deflation_compress(kfe_i_deflation *d)
{
    kfe_status status = KFE_OK;
    compression c = {.d = d, .cols = d->rows, .targets = d->targets};

    if (!is_cheaper(d))
        return KFE_OK;
    KFE_ALLOC(d->ctx, c.panel, PANEL_ROWS * c.cols);
    KFE_ALLOC_ZERO(d->ctx, c.squares, c.cols * c.cols);
    KFE_ALLOC_ZERO(d->ctx, c.covariance, c.cols * c.targets);
    KFE_TRY(form_products(&c));
    int usable = factor(&c);
    kfe_i_log(d->ctx, KFE_LOG_DEBUG, "%s: %s", d->setup.method,
              usable ? "products of columns stand for the examples"
                     : "the columns are nearly dependent, so the examples are used as they are");
    if (usable)
        KFE_TRY(replace(&c));
cleanup:
    kfe_i_free(d->ctx, c.panel);
    kfe_i_free(d->ctx, c.squares);
    kfe_i_free(d->ctx, c.covariance);
    return status;
}
