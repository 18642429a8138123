/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starts of the search of sldr and lmkl.
 *
 * Random start: X_mᵀU, made orthonormal in projections, where the normal numbers of a row of U are drawn by the content of that
 * example. So it depends on the order of neither the rows nor the columns, and columns that are eigenvectors may have any sign. The
 * weights of the gate are small, so that all parts have nearly the same share.
 * Supervised start: in each part the first columns are replaced by the leading directions between the class means, the
 * left singular vectors of X_mᵀH, where H is the centred class indicator.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/local/local_problem.h"

/* Size of the gate's logits at the start. */
#define KFE_FIRST_LOGITS 0.1

/* Square random matrices may be far from orthonormal, so that one pass leaves an error; the second pass removes it. */
static kfe_status make_orthonormal(kfe_i_local_retraction *r, int64_t rows, int64_t k, double *a)
{
    kfe_status status = kfe_i_local_polar(r, rows, k, a);

    return status == KFE_OK ? kfe_i_local_polar(r, rows, k, a) : status;
}

/* The same; columns that are not independent, as of examples that are all equal, are replaced by normal numbers. */
static kfe_status make_orthonormal_or_redraw(kfe_i_local_retraction *r, int64_t rows, int64_t k,
                                             kfe_i_rng *rng, double *a)
{
    kfe_status status = make_orthonormal(r, rows, k, a);

    if (status != KFE_ENUMERIC)
        return status;
    for (int64_t i = 0; i < rows * k; i++)
        a[i] = kfe_i_rng_normal(rng);
    return make_orthonormal(r, rows, k, a);
}

/* h (n × classes): class indicators divided by the class size, less their mean; rows count by their weights */
static void indicate(const kfe_i_target *target, const double *sizes, double *h)
{
    int64_t c = target->class_count;
    double mass = kfe_i_target_mass(target, target->rows);

    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t g = 0; g < c; g++) {
            double own = target->codes[i] == g ? 1 : 0;
            h[i * c + g] = sizes[g] > 0 ? kfe_i_weight_of(target, i) * (own / sizes[g] - 1 / mass) : 0;
        }
}

/* between (cols × classes): class means in this part, less the overall mean */
static kfe_status class_means(const kfe_i_local_problem *p, const kfe_i_table *columns, double *between)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = p->given->target;
    double *h = NULL;
    double *sizes = NULL;

    KFE_ALLOC(p->ctx, h, p->n * target->class_count);
    KFE_ALLOC(p->ctx, sizes, target->class_count);
    kfe_i_target_class_masses(target, sizes);
    indicate(target, sizes, h);
    KFE_TRY(kfe_i_table_transpose_times(p->ctx, columns, h, target->class_count, between));
cleanup:
    kfe_i_free(p->ctx, h);
    kfe_i_free(p->ctx, sizes);
    return status;
}

/* Makes the columns from `done` on orthogonal to the first `done`, which are orthonormal. */
static void clear_of_first(int64_t rows, int64_t k, int64_t done, double *w)
{
    for (int64_t j = done; j < k; j++)
        for (int64_t l = 0; l < done; l++) {
            double along = cblas_ddot((blasint)rows, w + l, (blasint)k, w + j, (blasint)k);
            cblas_daxpy((blasint)rows, -along, w + l, (blasint)k, w + j, (blasint)k);
        }
}

/* Replaces column `at` of w by factor·direction, turned to the side of the column drawn there: an eigenvector may have either sign, and
 * what is drawn follows the content of the rows. */
static void replace_column(int64_t rows, int64_t k, int64_t at, double factor, const double *direction,
                           double *w)
{
    double along = cblas_ddot((blasint)rows, direction, 1, w + at, (blasint)k);

    for (int64_t i = 0; i < rows; i++)
        w[i * k + at] = (along < 0 ? -factor : factor) * direction[i];
}

static kfe_status supervise(const kfe_i_local_problem *p, const kfe_i_local_source *part, double *w)
{
    kfe_status status = KFE_OK;
    int64_t c = p->given->target->class_count;
    int64_t rows = part->columns.cols;
    int64_t most = c - 1 < part->dim ? c - 1 : part->dim;
    int64_t done = 0;
    double *between = NULL;
    double *small = NULL;
    double *direction = NULL;

    KFE_ALLOC(p->ctx, direction, rows);
    KFE_ALLOC(p->ctx, between, rows * c);
    KFE_ALLOC(p->ctx, small, 2 * c * c + c);
    double *vectors = small + c * c;
    double *values = vectors + c * c;
    KFE_TRY(class_means(p, &part->columns, between));
    kfe_i_inner_products(rows, kfe_i_packed(between, c), kfe_i_packed(between, c), small);
    KFE_TRY(kfe_i_symmetric_eigen(p->ctx, c, small, c, values, vectors));
    for (; done < most && values[done] > KFE_RANK_TOLERANCE * values[0] && values[done] > 0; done++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)rows, (blasint)c, 1, between, (blasint)c,
                    vectors + done, (blasint)c, 0, direction, 1);
        replace_column(rows, part->dim, done, 1 / sqrt(values[done]), direction, w);
    }
    clear_of_first(rows, part->dim, done, w);
cleanup:
    kfe_i_free(p->ctx, between);
    kfe_i_free(p->ctx, small);
    kfe_i_free(p->ctx, direction);
    return status;
}

static int comes_before(const kfe_i_local_problem *p, int64_t a, int64_t b)
{
    const char *const *names = p->given->view_names;
    int first = p->given->kernels->items[a].view;
    int second = p->given->kernels->items[b].view;

    return names && names[first] && names[second] && strcmp(names[first], names[second]) < 0;
}

/* Orders the parts by the names of their views. Random numbers are drawn in this order, so that the order in which views
 * are given does not matter. */
static void sort_parts(const kfe_i_local_problem *p, int64_t *order)
{
    for (int64_t m = 0; m < p->count; m++) {
        int64_t place = m;
        for (; place > 0 && comes_before(p, m, order[place - 1]); place--)
            order[place] = order[place - 1];
        order[place] = m;
    }
}

/* u (n × k): normal numbers by the content of the examples, times their weights, with columns of sum zero, so that constants added to
 * columns of X leave Xᵀu as it is. */
static void draw_by_content(const kfe_i_local_problem *p, kfe_i_rng *rng, int64_t k, double *u)
{
    const kfe_i_target *target = p->given->target;
    double mass = kfe_i_target_mass(target, p->n);

    for (int64_t c = 0; c < k; c++) {
        uint64_t salt = kfe_i_rng_bits(rng);
        double mean = 0;
        for (int64_t i = 0; i < p->n; i++) {
            u[i * k + c] = kfe_i_key_normal(&target->keys[i], salt);
            mean += kfe_i_weight_of(target, i) * u[i * k + c] / mass;
        }
        for (int64_t i = 0; i < p->n; i++)
            u[i * k + c] = kfe_i_weight_of(target, i) * (u[i * k + c] - mean);
    }
}

static double mean_square(const kfe_i_local_problem *p, const double *z, int64_t k)
{
    double sum = 0;

    for (int64_t i = 0; i < p->n; i++)
        for (int64_t c = 0; c < k; c++)
            sum += kfe_i_weight_of(p->given->target, i) * z[i * k + c] * z[i * k + c];
    return sum / (kfe_i_target_mass(p->given->target, p->n) * (double)k);
}

/* out (cols × k) = Xᵀu, with entries of about the size of normal numbers: X·out is as large on average. Normal numbers themselves where
 * the content of the examples is not known, or does not suffice for k independent columns. */
static kfe_status draw_columns(const kfe_i_local_problem *p, const kfe_i_local_source *part, kfe_i_rng *rng,
                               int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = part->columns.cols;
    double *u = NULL;
    double square = 0;

    if (p->given->target->keys && k < p->n) {
        KFE_ALLOC(p->ctx, u, p->n * k);
        draw_by_content(p, rng, k, u);
        KFE_TRY(kfe_i_table_transpose_times(p->ctx, &part->columns, u, k, out));
        KFE_TRY(kfe_i_table_times(p->ctx, &part->columns, out, k, u));
        square = mean_square(p, u, k);
    }
    int usable = square > 0 && isfinite(square);
    double factor = usable ? sqrt((double)cols * fmax(p->gate_scale, DBL_MIN) / square) : 0;
    for (int64_t i = 0; i < cols * k; i++)
        out[i] = usable ? factor * out[i] : kfe_i_rng_normal(rng);
cleanup:
    kfe_i_free(p->ctx, u);
    return status;
}

/* The part's rows of T, or of Γ, which has a column for every part. */
static kfe_status draw_gating(const kfe_i_local_problem *p, const int64_t *order,
                              const kfe_i_local_source *part, kfe_i_rng *rng, double *parameters)
{
    kfe_status status = KFE_OK;
    int64_t k = p->at.gate_dim;
    double *drawn = NULL;

    if (part->gating_at < 0)
        return KFE_OK;
    KFE_ALLOC(p->ctx, drawn, part->columns.cols * k);
    KFE_TRY(draw_columns(p, part, rng, k, drawn));
    for (int64_t j = 0; j < part->columns.cols; j++)
        for (int64_t c = 0; c < k; c++)
            parameters[part->gating_at + j * k + (p->projects ? c : order[c])] = drawn[j * k + c];
cleanup:
    kfe_i_free(p->ctx, drawn);
    return status;
}

static kfe_status draw(const kfe_i_local_problem *p, const int64_t *order, kfe_i_rng *rng, double *parameters)
{
    kfe_status status = KFE_OK;

    for (int64_t l = 0; l < p->count; l++) {
        const kfe_i_local_source *part = &p->parts[order[l]];
        if (p->projects)
            KFE_TRY(draw_columns(p, part, rng, part->dim, parameters + part->projection_at));
        KFE_TRY(draw_gating(p, order, part, rng, parameters));
        for (int64_t k = 0; p->projects && k < p->at.gate_dim; k++)
            parameters[p->at.weights + k * p->count + order[l]] = kfe_i_rng_normal(rng);
    }
cleanup:
    return status;
}

kfe_status kfe_i_local_start(kfe_i_local_problem *p, int start, kfe_i_rng *rng, kfe_i_local_retraction *r,
                             double *parameters)
{
    kfe_status status = KFE_OK;
    double scale = p->gate_scale > 0 ? KFE_FIRST_LOGITS / sqrt(p->gate_scale) : KFE_FIRST_LOGITS;
    int64_t *order = NULL;

    KFE_ALLOC(p->ctx, order, p->count);
    sort_parts(p, order);
    KFE_TRY(draw(p, order, rng, parameters));
    for (int64_t m = 0; m < p->count && p->projects; m++) {
        kfe_i_local_source *part = &p->parts[m];
        double *w = parameters + part->projection_at;
        if (start == KFE_LOCAL_SUPERVISED)
            KFE_TRY(supervise(p, part, w));
        KFE_TRY(make_orthonormal_or_redraw(r, part->columns.cols, part->dim, rng, w));
    }
    if (p->projects)
        KFE_TRY(make_orthonormal_or_redraw(r, p->at.gate_cols, p->at.gate_dim, rng, parameters + p->at.gate));
    for (int64_t i = p->projects ? p->at.weights : p->at.gate; i < p->at.offset; i++)
        parameters[i] *= p->projects ? scale : scale / sqrt((double)p->at.gate_cols);
    for (int64_t m = 0; m < p->count; m++)
        parameters[p->at.offset + m] = 0;
cleanup:
    kfe_i_free(p->ctx, order);
    return status;
}
