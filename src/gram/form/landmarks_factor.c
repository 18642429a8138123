/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the factor F = CT of a landmark operator, stored or evaluated again panel by panel; used by the other files
 * landmarks*.c. */
#include "gram/form/landmarks_factor.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "linalg/linalg.h"

/* Rows of a panel: large enough for BLAS, small beside the factor. */
enum { PANEL = 1024 };
/*
 * Sums over C become sums over F = CL⁻ᵀ by solves with L on both sides, and these multiply their rounding errors by up to κ(L)². From this
 * reciprocal condition number on, at least eight digits are left. Gaussian kernels of 40 and 150 landmarks lost at most 1.3e-12 of
 * ‖FᵀF‖. The pivots of L alone do not tell: their ratio is only a lower bound of κ(L).
 */
#define KFE_WELL_CONDITIONED 1e-4

void kfe_i_landmark_factor_free(kfe_i_landmark_factor *f)
{
    if (!f->ctx)
        return;
    kfe_i_free(f->ctx, f->index);
    kfe_i_free(f->ctx, f->lower);
    kfe_i_free(f->ctx, f->spread);
    kfe_i_free(f->ctx, f->wide);
    kfe_i_free(f->ctx, f->narrow);
    kfe_i_free(f->ctx, f->products);
    kfe_i_free(f->ctx, f->sums);
    kfe_i_points_free(&f->chosen);
    kfe_i_gram_free(f->source);
    memset(f, 0, sizeof *f);
}

/* ---- rows ---- */

kfe_status kfe_i_landmark_kernel_rows(const kfe_i_landmark_factor *f, const kfe_i_gram *source, int64_t first,
                                      int64_t rows, double *out)
{
    kfe_i_places landmarks = kfe_i_listed(f->index, f->count);

    landmarks.prepared = f->chosen.ctx ? &f->chosen : NULL;
    return kfe_i_gram_entries(source, kfe_i_consecutive(first, rows), landmarks, out, f->count);
}

void kfe_i_factor_from_kernel(const kfe_i_landmark_factor *f, int64_t rows, double *panel, double *scratch)
{
    if (f->lower) {
        kfe_i_solve_lower_transposed(rows, f->rank, f->lower, panel);
        return;
    }
    memcpy(scratch, panel, (size_t)(rows * f->count) * sizeof *panel);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)f->rank, (blasint)f->count,
                1, scratch, (blasint)f->count, f->spread, (blasint)f->rank, 0, panel, (blasint)f->rank);
}

kfe_status kfe_i_factor_rows(const kfe_i_landmark_factor *f, int64_t first, int64_t rows, double *out,
                             double *scratch)
{
    kfe_status status = KFE_OK;
    int64_t size = rows * f->rank;

    if (f->wide) {
        memcpy(out, f->wide + first * f->rank, (size_t)size * sizeof *out);
    } else if (f->narrow) {
        const float *from = f->narrow + first * f->rank;
        for (int64_t i = 0; i < size; i++)
            out[i] = (double)from[i];
    } else if (f->lower) {
        KFE_TRY(kfe_i_landmark_kernel_rows(f, f->source, first, rows, out));
        kfe_i_factor_from_kernel(f, rows, out, scratch);
    } else {
        KFE_TRY(kfe_i_landmark_kernel_rows(f, f->source, first, rows, scratch));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)f->rank,
                    (blasint)f->count, 1, scratch, (blasint)f->count, f->spread, (blasint)f->rank, 0, out,
                    (blasint)f->rank);
    }
cleanup:
    return status;
}

/* ---- products with T ---- */

static void solve_lower(const kfe_i_landmark_factor *f, CBLAS_TRANSPOSE transposed, int64_t k, double *z)
{
    if (f->rank > 0 && k > 0)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed, CblasNonUnit, (blasint)f->rank,
                    (blasint)k, 1, f->lower, (blasint)f->rank, z, (blasint)k);
}

kfe_status kfe_i_factor_map(const kfe_i_landmark_factor *f, const double *z, int64_t k, double *out)
{
    if (f->lower) {
        memcpy(out, z, (size_t)(f->rank * k) * sizeof *out);
        solve_lower(f, CblasTrans, k, out);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)f->count, (blasint)k,
                    (blasint)f->rank, 1, f->spread, (blasint)f->rank, z, (blasint)k, 0, out, (blasint)k);
    }
    return KFE_OK;
}

/* out (rank × k) = Tᵀz for z (count × k), which is overwritten. */
static void map_transposed(const kfe_i_landmark_factor *f, double *z, int64_t k, double *out)
{
    if (f->lower) {
        solve_lower(f, CblasNoTrans, k, z);
        memcpy(out, z, (size_t)(f->rank * k) * sizeof *out);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)f->rank, (blasint)k, (blasint)f->count,
                    1, f->spread, (blasint)f->rank, z, (blasint)k, 0, out, (blasint)k);
    }
}

/* ---- products with F ---- */

/* The rows of F, or of C if the factor is not stored; the width of the latter is `count`. */
static kfe_status panel_rows(const kfe_i_landmark_factor *f, int64_t first, int64_t rows, double *out)
{
    return f->source ? kfe_i_landmark_kernel_rows(f, f->source, first, rows, out)
                     : kfe_i_factor_rows(f, first, rows, out, NULL);
}

static int64_t panel_width(const kfe_i_landmark_factor *f)
{
    return f->source ? f->count : f->rank;
}

static void add_transposed(int64_t rows, int64_t width, const double *panel, const double *v, int64_t k,
                           double *out)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)width, (blasint)k, (blasint)rows, 1, panel,
                (blasint)width, v, (blasint)k, 1, out, (blasint)k);
}

static void multiply(int64_t rows, int64_t width, const double *panel, const double *z, int64_t k,
                     double *out)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)width, 1,
                panel, (blasint)width, z, (blasint)k, 0, out, (blasint)k);
}

kfe_status kfe_i_factor_project(const kfe_i_landmark_factor *f, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t width = panel_width(f);
    double *panel = NULL;
    double *sum = NULL;

    memset(out, 0, (size_t)(f->rank * k) * sizeof *out);
    if (f->rank == 0 || k == 0)
        return KFE_OK;
    if (f->wide) {
        add_transposed(f->rows, f->rank, f->wide, v, k, out);
        return KFE_OK;
    }
    KFE_ALLOC(f->ctx, panel, PANEL * width);
    KFE_ALLOC_ZERO(f->ctx, sum, width * k);
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = kfe_i_least(PANEL, f->rows - first);
        KFE_TRY(panel_rows(f, first, rows, panel));
        add_transposed(rows, width, panel, v + first * k, k, sum);
    }
    if (f->source)
        map_transposed(f, sum, k, out);
    else
        memcpy(out, sum, (size_t)(width * k) * sizeof *out);
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, sum);
    return status;
}

kfe_status kfe_i_factor_expand(const kfe_i_landmark_factor *f, const double *z, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t width = panel_width(f);
    double *panel = NULL;
    double *mapped = NULL;

    memset(out, 0, (size_t)(f->rows * k) * sizeof *out);
    if (f->rank == 0 || k == 0)
        return KFE_OK;
    if (f->wide) {
        multiply(f->rows, f->rank, f->wide, z, k, out);
        return KFE_OK;
    }
    KFE_ALLOC(f->ctx, panel, PANEL * width);
    if (f->source) {
        KFE_ALLOC(f->ctx, mapped, f->count * k);
        KFE_TRY(kfe_i_factor_map(f, z, k, mapped));
    }
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = kfe_i_least(PANEL, f->rows - first);
        KFE_TRY(panel_rows(f, first, rows, panel));
        multiply(rows, width, panel, mapped ? mapped : z, k, out + first * k);
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, mapped);
    return status;
}

static void add_products(const kfe_i_landmark_factor *f, int64_t rows, const double *panel, double *out,
                         double *sums)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (blasint)f->rank, (blasint)rows, 1, panel,
                (blasint)f->rank, 1, out, (blasint)f->rank);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < f->rank; j++)
            sums[j] += panel[i * f->rank + j];
}

kfe_status kfe_i_factor_takes_kernel_sums(const kfe_i_landmark_factor *f, int *out)
{
    kfe_status status = KFE_OK;
    double condition = 0;

    *out = 0;
    if (!f->lower || !f->source)
        return KFE_OK;
    KFE_TRY(kfe_i_lower_condition(f->ctx, f->rank, f->lower, &condition));
    *out = condition > KFE_WELL_CONDITIONED;
    kfe_i_log(f->ctx, KFE_LOG_DEBUG, "landmarks: reciprocal condition number %.1e, so sums are over %s",
              condition, *out ? "kernel values" : "the factor");
cleanup:
    return status;
}

/* The same sums for F = CL⁻ᵀ from those for C, at a cost that does not depend on the rows. */
static void map_products(const kfe_i_landmark_factor *f, double *out, double *sums)
{
    blasint r = (blasint)f->rank;

    kfe_i_mirror(f->rank, out);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, r, r, 1, f->lower, r, out,
                r);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, r, r, 1, f->lower, r, out,
                r);
    solve_lower(f, CblasNoTrans, 1, sums);
}

/* out (rank × rank) = FᵀF and sums (rank) = Fᵀe, both zeroed before */
static kfe_status sum_products(const kfe_i_landmark_factor *f, double *out, double *sums)
{
    kfe_status status = KFE_OK;
    int64_t r = f->rank;
    int of_kernel = 0; /* saves a triangular solve for every row, which costs as much as the products */
    double *panel = NULL;
    double *scratch = NULL;

    if (r == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_factor_takes_kernel_sums(f, &of_kernel));
    if (f->wide) {
        add_products(f, f->rows, f->wide, out, sums);
    } else {
        KFE_ALLOC(f->ctx, panel, PANEL * r);
        KFE_ALLOC(f->ctx, scratch, PANEL * f->count);
        for (int64_t first = 0; first < f->rows; first += PANEL) {
            int64_t rows = kfe_i_least(PANEL, f->rows - first);
            KFE_TRY(kfe_i_progress(f->ctx, "multiplying the factor of the landmarks", first, f->rows));
            if (of_kernel)
                KFE_TRY(kfe_i_landmark_kernel_rows(f, f->source, first, rows, panel));
            else
                KFE_TRY(kfe_i_factor_rows(f, first, rows, panel, scratch));
            add_products(f, rows, panel, out, sums);
        }
    }
    if (of_kernel)
        map_products(f, out, sums);
    kfe_i_mirror(r, out);
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, scratch);
    return status;
}

kfe_status kfe_i_factor_products(kfe_i_landmark_factor *f)
{
    kfe_status status = KFE_OK;
    double *products = NULL;
    double *sums = NULL;

    if (f->products)
        return KFE_OK;
    KFE_ALLOC_ZERO(f->ctx, products, f->rank * f->rank);
    KFE_ALLOC_ZERO(f->ctx, sums, f->rank);
    KFE_TRY(sum_products(f, products, sums));
    f->products = products;
    f->sums = sums;
    products = sums = NULL;
cleanup:
    kfe_i_free(f->ctx, products);
    kfe_i_free(f->ctx, sums);
    return status;
}

/* ---- what the factor leaves ---- */

/* out[i] = ‖row i‖² of a matrix of `rank` columns */
void kfe_i_square_rows(kfe_context *ctx, int64_t rows, int64_t rank, const double *matrix, double *out)
{
#pragma omp parallel for num_threads(kfe_context_threads(ctx)) if (rows * rank >= 1 << 16) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < rank; j++)
            sum += matrix[i * rank + j] * matrix[i * rank + j];
        out[i] = sum;
    }
}

kfe_status kfe_i_factor_squared_rows(const kfe_i_landmark_factor *f, double *out)
{
    kfe_status status = KFE_OK;
    double *panel = NULL;
    double *scratch = NULL;

    if (f->wide) {
        kfe_i_square_rows(f->ctx, f->rows, f->rank, f->wide, out);
        return KFE_OK;
    }
    KFE_ALLOC(f->ctx, panel, PANEL * f->rank);
    KFE_ALLOC(f->ctx, scratch, PANEL * f->count);
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = f->rows - first < PANEL ? f->rows - first : PANEL;
        KFE_TRY(kfe_i_factor_rows(f, first, rows, panel, scratch));
        kfe_i_square_rows(f->ctx, rows, f->rank, panel, out + first);
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, scratch);
    return status;
}

/* The most negative entry of G − FFᵀ on the diagonal of some rows, in equal distances: all rows would take a triangular solve each. */
static kfe_status sample_negative(const kfe_i_landmark_factor *f, const double *exact, double *negative)
{
    enum { PLACES = 16, ROWS_AT_PLACE = 64 };
    kfe_status status = KFE_OK;
    double kept[ROWS_AT_PLACE];
    double *panel = NULL;
    double *scratch = NULL;

    KFE_ALLOC(f->ctx, panel, ROWS_AT_PLACE * f->rank);
    KFE_ALLOC(f->ctx, scratch, ROWS_AT_PLACE * f->count);
    for (int64_t place = 0; place < PLACES; place++) {
        int64_t first = place * f->rows / PLACES;
        int64_t rows = f->rows - first < ROWS_AT_PLACE ? f->rows - first : ROWS_AT_PLACE;
        KFE_TRY(kfe_i_factor_rows(f, first, rows, panel, scratch));
        kfe_i_square_rows(f->ctx, rows, f->rank, panel, kept);
        for (int64_t i = 0; i < rows; i++)
            *negative = fmin(*negative, exact[first + i] - kept[i]);
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    kfe_i_free(f->ctx, scratch);
    return status;
}

void kfe_i_add_rest(int64_t rows, const double *exact, const double *kept, kfe_i_landmark_rest *r)
{
    for (int64_t i = 0; i < rows; i++) {
        r->trace += fmax(0, exact[i]);
        r->rest += fmax(0, exact[i] - kept[i]);
        r->largest = fmax(r->largest, fabs(exact[i]));
        r->negative = fmin(r->negative, exact[i] - kept[i]);
    }
}

void kfe_i_share_of_rest(const kfe_i_landmark_rest *r, double *left, double *negative)
{
    *left = r->trace > 0 ? fmax(0, r->rest) / r->trace : 0;
    *negative = r->largest > 0 ? r->negative / r->largest : 0;
}

/* A factor that is not stored gives the trace by FᵀF, which solving needs too. */
static kfe_status rest_by_products(kfe_i_landmark_factor *f, const double *exact, kfe_i_landmark_rest *r)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_factor_products(f));
    for (int64_t i = 0; i < f->rows; i++) {
        r->trace += fmax(0, exact[i]);
        r->rest += exact[i];
        r->largest = fmax(r->largest, fabs(exact[i]));
    }
    for (int64_t j = 0; j < f->rank; j++)
        r->rest -= f->products[j * f->rank + j];
    KFE_TRY(sample_negative(f, exact, &r->negative));
cleanup:
    return status;
}

kfe_status kfe_i_factor_left(kfe_i_landmark_factor *f, const kfe_i_gram *source, double *left,
                             double *negative)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_rest rest = {0};
    double *exact = NULL;
    double *kept = NULL;

    KFE_ALLOC(f->ctx, exact, f->rows);
    KFE_TRY(kfe_i_gram_diagonal(source, exact));
    if (f->source) {
        KFE_TRY(rest_by_products(f, exact, &rest));
    } else {
        KFE_ALLOC(f->ctx, kept, f->rows);
        KFE_TRY(kfe_i_factor_squared_rows(f, kept));
        kfe_i_add_rest(f->rows, exact, kept, &rest);
    }
    kfe_i_share_of_rest(&rest, left, negative);
cleanup:
    kfe_i_free(f->ctx, exact);
    kfe_i_free(f->ctx, kept);
    return status;
}
