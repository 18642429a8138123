/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed form of svm-joint and usvm-joint: SVMs on the fixed kernel that no features exceed (joint.h),
 *   svm-joint    K = G(G + λI)⁻¹G = G − λ(G + λI)⁻¹G
 *   usvm-joint   K = G(G + ξI)⁻¹
 *
 * Where memory allows, K is formed in place of M = (G + ridge·I)⁻¹, in n³ operations and n² numbers:
 *   svm-joint    K = G − λI + λ²M
 *   usvm-joint   K = I − ξM
 *
 * Otherwise K is never formed. The features found for the SVMs of all iterations so far span a subspace S, and
 * K_S ≼ K. An iteration solves the SVMs on K_S, which are linear in few features, and then one block system
 * (G + ridge·I)B = … for their solution A. That gives
 *   K A, and with it the value of A on K, a lower bound of the optimum;
 *   the features for A, which join S. The cost of the SVMs, an upper bound, never rises.
 * It ends when the bounds meet. (Fully corrective column generation; once A stays the same, K_S A = K A.)
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/tile.h"
#include "linalg/linalg.h"
#include "method/joint/joint.h"

/* Norm after orthogonalisation, relative to the norm before, at which a vector adds nothing. */
#define NOTHING_NEW 1e-7
/* In the growing subspace the gap may be larger by this factor: each further digit costs block solves. */
#define SPAN_TOLERANCE 100
/* The share of the memory limit that the subspace may take. */
#define SPAN_SHARE 0.25

/* ---- K formed ---- */

/* The lower triangle of M becomes that of K. `panel`: KFE_TILE_SIDE rows of G. */
static kfe_status from_inverse(const kfe_i_joint_kernel *s, double *values, double *panel)
{
    kfe_status status = KFE_OK;
    int64_t n = s->n;
    double factor = s->uncorrelated ? -s->ridge : s->ridge * s->ridge;
    double diagonal = s->uncorrelated ? 1 : -s->ridge;

    for (int64_t row = 0; row < n; row += KFE_TILE_SIDE) {
        int64_t end = row + KFE_TILE_SIDE < n ? row + KFE_TILE_SIDE : n;
        if (!s->uncorrelated)
            KFE_TRY(kfe_i_gram_block(s->gram, row, end - row, 0, end, panel, end));
        for (int64_t i = row; i < end; i++) {
            cblas_dscal((blasint)(i + 1), factor, values + i * n, 1);
            if (!s->uncorrelated)
                cblas_daxpy((blasint)(i + 1), 1, panel + (i - row) * end, 1, values + i * n, 1);
            values[i * n + i] += diagonal;
        }
    }
cleanup:
    return status;
}

kfe_status kfe_i_joint_form(kfe_i_joint_kernel *s)
{
    kfe_status status = KFE_OK;
    double *panel = NULL;
    int64_t n = s->n;

    KFE_TRY(kfe_i_table_new_dense(s->ctx, n, n, &s->values));
    KFE_ALLOC(s->ctx, panel, s->uncorrelated ? 1 : KFE_TILE_SIDE * n);
    KFE_TRY(kfe_i_gram_block(s->gram, 0, n, 0, n, s->values.values, n));
    for (int64_t i = 0; i < n; i++)
        s->values.values[i * n + i] += s->ridge;
    KFE_TRY(kfe_i_cholesky(s->ctx, n, s->values.values, "the centred kernel plus the ridge"));
    KFE_TRY(kfe_i_progress(s->ctx, "inverting the kernel", 1, 2));
    KFE_TRY(kfe_i_invert_cholesky(s->ctx, n, s->values.values));
    KFE_TRY(from_inverse(s, s->values.values, panel));
    kfe_i_mirror(n, s->values.values);
    KFE_TRY(kfe_i_gram_precomputed(s->ctx, &s->values, &s->formed));
cleanup:
    kfe_i_free(s->ctx, panel);
    if (status != KFE_OK)
        kfe_i_table_free(&s->values);
    return status;
}

static kfe_status solve_formed(const kfe_i_joint_kernel *s, kfe_i_onevsrest *svms, double tolerance,
                               kfe_i_joint_certificate *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_onevsrest_solve_until(svms, s->formed, tolerance));
    out->bound = svms->objective;
    out->iterations = 1;
cleanup:
    return status;
}

/* ---- K never formed ---- */

/* Rows are vectors: coefficients B and images GB, orthonormal in ⟨b, b'⟩ = bᵀ(G + λI)b' or bᵀ(GG + ξG)b'. Then
 * K_S is the matrix of products of the images. */
typedef struct span {
    kfe_i_joint_kernel *kernel;
    int64_t n, most, used;
    double *b, *image;       /* most × n */
    double *fresh_b, *fresh; /* n × classes: the newest features and images */
    double *along;           /* most */
    kfe_i_table table;       /* n × most: the images as columns */
    kfe_i_gram *gram;        /* of `table` */
} span;

static kfe_status span_open(span *s, int64_t width)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->kernel->ctx;
    double fits = SPAN_SHARE * (double)kfe_i_memory_left(ctx) / (24 * (double)s->n);

    s->most = width * (s->kernel->max_iterations + 1);
    s->most = (double)s->most > fits ? (int64_t)fits : s->most;
    s->most = s->most < 2 * width ? 2 * width : s->most;
    KFE_ALLOC(ctx, s->b, s->most * s->n);
    KFE_ALLOC(ctx, s->image, s->most * s->n);
    KFE_ALLOC(ctx, s->fresh_b, s->n * width);
    KFE_ALLOC(ctx, s->fresh, s->n * width);
    KFE_ALLOC(ctx, s->along, s->most);
    KFE_TRY(kfe_i_table_new_dense(ctx, s->n, s->most, &s->table));
    memset(s->table.values, 0, (size_t)(s->n * s->table.stride) * sizeof *s->table.values);
    KFE_TRY(kfe_i_gram_factored(ctx, &s->table, &s->gram));
cleanup:
    return status;
}

static void span_free(span *s)
{
    kfe_context *ctx = s->kernel->ctx;

    kfe_i_gram_free(s->gram);
    kfe_i_table_free(&s->table);
    kfe_i_free(ctx, s->b);
    kfe_i_free(ctx, s->image);
    kfe_i_free(ctx, s->fresh_b);
    kfe_i_free(ctx, s->fresh);
    kfe_i_free(ctx, s->along);
}

/* ⟨b_i, b_j⟩ = left_iᵀ(image_j + ridge·b_j), where left is b (svm-joint) or the image (usvm-joint). */
static const double *left(const span *s, int64_t row)
{
    return (s->kernel->uncorrelated ? s->image : s->b) + row * s->n;
}

static double squared_length(const span *s, int64_t j)
{
    blasint n = (blasint)s->n;

    return cblas_ddot(n, left(s, j), 1, s->image + j * s->n, 1) +
           s->kernel->ridge * cblas_ddot(n, left(s, j), 1, s->b + j * s->n, 1);
}

/* Subtracts from row `used` its components along the rows before it (Gram-Schmidt). */
static void orthogonalise(span *s)
{
    blasint n = (blasint)s->n;
    blasint rows = (blasint)s->used;
    double *b = s->b + s->used * s->n;
    double *image = s->image + s->used * s->n;

    if (rows == 0)
        return;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, n, 1, left(s, 0), n, image, 1, 0, s->along, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, n, s->kernel->ridge, left(s, 0), n, b, 1, 1, s->along, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, n, -1, s->b, n, s->along, 1, 1, b, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, n, -1, s->image, n, s->along, 1, 1, image, 1);
}

/* Column j of the fresh features joins the subspace, unless it is in it already. */
static void add_feature(span *s, int64_t j, int64_t width)
{
    blasint n = (blasint)s->n;
    double *b = s->b + s->used * s->n;
    double *image = s->image + s->used * s->n;

    cblas_dcopy(n, s->fresh_b + j, (blasint)width, b, 1);
    cblas_dcopy(n, s->fresh + j, (blasint)width, image, 1);
    double before = squared_length(s, s->used);
    orthogonalise(s);
    orthogonalise(s);
    double after = squared_length(s, s->used);
    if (!(after > NOTHING_NEW * NOTHING_NEW * before))
        return;
    cblas_dscal(n, 1 / sqrt(after), b, 1);
    cblas_dscal(n, 1 / sqrt(after), image, 1);
    cblas_dcopy(n, image, 1, s->table.values + s->used, (blasint)s->table.stride);
    s->used++;
}

/* The features for A (n × width) join the subspace; *value = tr(AᵀKA). */
static kfe_status add_features(span *s, const double *a, int64_t width, double *value)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_joint_transform(s->kernel, a, width, s->fresh_b, s->fresh));
    *value = cblas_ddot((blasint)(s->n * width), a, 1, s->fresh, 1);
    for (int64_t j = 0; j < width && s->used < s->most; j++)
        add_feature(s, j, width);
    kfe_i_gram_factored_refresh(s->gram);
cleanup:
    return status;
}

/* A = the labels ±1 of the SVMs, divided by the size of the class: the start. */
static kfe_status add_labels(span *s, const kfe_i_onevsrest *svms)
{
    kfe_status status = KFE_OK;
    double *a = NULL;
    double mass = kfe_i_target_mass(svms->target, s->n);
    double value = 0;

    KFE_ALLOC(s->kernel->ctx, a, s->n * svms->count);
    for (int64_t g = 0; g < svms->count; g++) {
        const double *sign = svms->sign + g * s->n;
        double positive = 0;
        for (int64_t i = 0; i < s->n; i++)
            positive += sign[i] > 0 ? kfe_i_weight_of(svms->target, i) : 0;
        for (int64_t i = 0; i < s->n; i++)
            a[i * svms->count + g] =
                sqrt(kfe_i_weight_of(svms->target, i)) / (sign[i] > 0 ? positive : positive - mass);
    }
    KFE_TRY(add_features(s, a, svms->count, &value));
cleanup:
    kfe_i_free(s->kernel->ctx, a);
    return status;
}

static void list_state(span *s, kfe_i_onevsrest *svms, int64_t *before, kfe_i_joint_certificate *out,
                       kfe_i_loop *loop)
{
    kfe_i_loop_begin(s->kernel->ctx, "subspace", 0, loop);
    KFE_LOOP_VALUE(loop, s->used);
    KFE_LOOP_VALUE(loop, *before);
    KFE_LOOP_VALUE(loop, *out);
    KFE_LOOP_ARRAY(loop, s->b, s->most * s->n);
    KFE_LOOP_ARRAY(loop, s->image, s->most * s->n);
    KFE_LOOP_ARRAY(loop, s->table.values, s->n * s->table.stride);
    kfe_i_onevsrest_list_state(svms, loop);
}

static kfe_status solve_in_span(span *s, kfe_i_onevsrest *svms, double tolerance,
                                kfe_i_joint_certificate *out)
{
    kfe_status status = KFE_OK;
    double value = 0;
    int64_t before = 0;
    int restored = 0;
    kfe_i_loop loop;

    list_state(s, svms, &before, out, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    if (restored)
        kfe_i_gram_factored_refresh(s->gram);
    else
        KFE_TRY(add_labels(s, svms));
    while (out->iterations < s->kernel->max_iterations && s->used > before) {
        KFE_TRY(kfe_i_progress(s->kernel->ctx, "subspace", out->iterations, s->kernel->max_iterations));
        KFE_TRY(kfe_i_onevsrest_solve_until(svms, s->gram, tolerance / 2));
        before = s->used;
        KFE_TRY(add_features(s, svms->weights, svms->count, &value));
        double upper = svms->objective + svms->gap;
        double bound = svms->alpha_sum - 0.5 * value;
        out->bound = out->iterations == 0 ? bound : fmax(out->bound, bound);
        out->iterations++;
        kfe_i_log(s->kernel->ctx, KFE_LOG_DEBUG, "%s: iteration %lld: objective %.10g, bound %.10g",
                  s->kernel->method, (long long)out->iterations, upper, out->bound);
        if (upper - out->bound <= tolerance * upper)
            break;
        KFE_TRY(kfe_i_loop_save(&loop));
    }
cleanup:
    return status;
}

kfe_status kfe_i_joint_solve(void *user, kfe_i_onevsrest *svms, double tolerance,
                             kfe_i_joint_certificate *out)
{
    kfe_status status = KFE_OK;
    kfe_i_joint_kernel *kernel = user;
    span s = {.kernel = kernel, .n = kernel->n};

    if (kernel->formed)
        return solve_formed(kernel, svms, tolerance, out);
    KFE_TRY(span_open(&s, svms->count));
    KFE_TRY(solve_in_span(&s, svms, SPAN_TOLERANCE * tolerance, out));
cleanup:
    span_free(&s);
    return status;
}
