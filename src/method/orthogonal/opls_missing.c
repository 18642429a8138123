/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orthogonal PLS of data with missing values: orthogonal.h with the regressions of observed.h. The predictive directions W are the leading left
 * singular vectors of the slopes of NIPALS (pls_missing.c). The predictive scores of a row are found one after the other, each with what the
 * one before leaves. N has the columns p_k‖t_k‖² without their part in W, and every orthogonal component deflates the observed entries.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/orthogonal/orthogonal.h"
#include "method/shared/observed.h"
#include "method/shared/targets.h"

/* Singular values below this share, squared, and images that keep less than this share beside W, are rounding. */
#define VALUE_ROUNDING 1e-14
#define IMAGE_ROUNDING 1e-8

typedef struct missing_opls {
    kfe_i_observed o;
    int64_t predictive;
    double *w;                 /* d × predictive */
    double *images;            /* d × predictive: N */
    double *inside;            /* d × predictive: its part in W */
    double *direction, *t, *p; /* d, n, d */
    double *squares, *inner;   /* per target or predictive feature */
    double *shares;
} missing_opls;

/* W. */
static kfe_status find_predictive(missing_opls *s, const double *y, int64_t asked)
{
    kfe_status status = KFE_OK;
    kfe_i_arena *memory = &s->o.memory;
    int64_t m = s->o.setup.targets;
    double *cross, *gone, *product, *slopes;

    KFE_TAKE(memory, cross, s->o.d * m);
    KFE_TAKE(memory, gone, s->o.d * m);
    KFE_TAKE(memory, product, s->o.d * m);
    KFE_TAKE(memory, slopes, s->o.d * m);
    KFE_TAKE(memory, s->squares, m);
    KFE_TAKE(memory, s->w, s->o.d * m);
    KFE_TAKE_ZERO(memory, s->t, s->o.n);
    kfe_i_observed_cross(&s->o, m, y, cross);
    kfe_i_observed_gone(&s->o, m, y, s->t, gone, product);
    kfe_i_observed_slopes(&s->o, m, y, gone, cross, slopes);
    KFE_TRY(kfe_i_left_vectors(s->o.ctx, s->o.d, m, slopes, asked > 0 && asked < m ? asked : m,
                               VALUE_ROUNDING, s->squares, s->w, &s->predictive));
    if (s->predictive == 0)
        KFE_FAIL(s->o.ctx, KFE_EINPUT,
                 "opls: the data does not covary with the target; there is nothing to learn");
    if (s->predictive < asked)
        kfe_i_log(s->o.ctx, KFE_LOG_WARNING,
                  "opls: %lld predictive features were asked for, but the targets have %lld directions",
                  (long long)asked, (long long)s->predictive);
cleanup:
    return status;
}

static kfe_status open_opls(missing_opls *s, int64_t orthogonal)
{
    kfe_status status = KFE_OK;
    kfe_i_arena *memory = &s->o.memory;
    int64_t k = s->predictive;

    KFE_TAKE(memory, s->images, s->o.d * k);
    KFE_TAKE(memory, s->inside, s->o.d * k);
    KFE_TAKE(memory, s->inner, k * k);
    KFE_TAKE(memory, s->direction, s->o.d);
    KFE_TAKE(memory, s->p, s->o.d);
    KFE_TAKE(memory, s->shares, orthogonal);
cleanup:
    return status;
}

/* Takes the predictive components; images: their XᵀT. */
static void take_predictive(missing_opls *s)
{
    int64_t k = s->predictive;

    for (int64_t a = 0; a < k; a++) {
        cblas_dcopy((blasint)s->o.d, s->w + a, (blasint)k, s->direction, 1);
        kfe_i_observed_regress(&s->o, s->direction, s->t, s->p);
        double square = cblas_ddot((blasint)s->o.n, s->t, 1, s->t, 1);
        for (int64_t j = 0; j < s->o.d; j++)
            s->images[j * k + a] = square * s->p[j];
        kfe_i_observed_take(&s->o, s->direction, s->t, s->direction, s->p);
    }
}

/* Predictive scores are not orthogonal to each other: their loadings regress the columns on all of them. */
static kfe_status find_patterns(missing_opls *s)
{
    kfe_i_observed *o = &s->o;
    int64_t k = s->predictive;
    int64_t first = o->count - k;
    const double *t = o->scores + first * o->n;
    double *cross = o->patterns + first * o->d;

    kfe_i_times_transpose(k, o->n, k, t, t, s->inner);
    for (int64_t a = 0; a < k; a++) {
        cblas_dscal((blasint)o->d, s->inner[a * k + a], cross + a * o->d, 1);
        for (int64_t b = 0; b < a; b++)
            cblas_daxpy((blasint)o->d, s->inner[a * k + b], o->weights + (first + b) * o->d, 1,
                        cross + a * o->d, 1);
    }
    return kfe_i_cholesky_solve(o->ctx, k, s->inner, o->d, cross,
                                "the matrix of products of predictive scores");
}

/* direction = w_o; *found = 0 if the predictive scores carry nothing else than what predicts. */
static kfe_status find_orthogonal(missing_opls *s, int *found)
{
    kfe_status status = KFE_OK;
    int64_t k = s->predictive;
    int64_t count = 0;
    blasint size = (blasint)(s->o.d * k);

    take_predictive(s);
    for (int64_t a = 0; a < k; a++)
        kfe_i_observed_drop(&s->o);
    double before = cblas_dnrm2(size, s->images, 1);
    kfe_i_transpose_times(k, s->o.d, k, s->w, s->images, s->inner);
    kfe_i_times(s->o.d, k, k, s->w, s->inner, s->inside);
    cblas_daxpy(size, -1, s->inside, 1, s->images, 1);
    *found = cblas_dnrm2(size, s->images, 1) > IMAGE_ROUNDING * before;
    if (*found)
        KFE_TRY(kfe_i_left_vectors(s->o.ctx, s->o.d, k, s->images, 1, VALUE_ROUNDING, s->squares,
                                   s->direction, &count));
    *found = count == 1;
cleanup:
    return status;
}

static kfe_status find_all_orthogonal(missing_opls *s, int64_t most)
{
    kfe_status status = KFE_OK;
    double total = 0;
    int found = 1;

    for (int64_t j = 0; j < s->o.d; j++)
        total += s->o.squares[j];
    while (s->o.count < most) {
        KFE_TRY(kfe_i_progress(s->o.ctx, "finding orthogonal components", s->o.count, most));
        KFE_TRY(find_orthogonal(s, &found));
        if (!found)
            break;
        kfe_i_observed_regress(&s->o, s->direction, s->t, s->p);
        s->shares[s->o.count] = cblas_ddot((blasint)s->o.n, s->t, 1, s->t, 1) *
                                cblas_ddot((blasint)s->o.d, s->p, 1, s->p, 1) / total;
        kfe_i_observed_take(&s->o, s->direction, s->t, s->p, NULL);
    }
cleanup:
    return status;
}

kfe_status kfe_i_opls_missing(kfe_context *ctx, const kfe_i_fit_source *source,
                              const kfe_i_orthogonal_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    missing_opls s = {0};
    double *y = NULL;
    double unit = 1;
    int64_t m = 0;
    int64_t most =
        settings->orthogonal < source->views[0].cols ? settings->orthogonal : source->views[0].cols;

    KFE_TRY(kfe_i_centred_targets(ctx, source->target, &y, &m, &unit));
    const kfe_i_observed_setup setup = {.method = "opls", .center = 1, .most = most + m, .targets = m};
    KFE_TRY(kfe_i_observed_begin(ctx, source, &setup, &s.o));
    KFE_TRY(find_predictive(&s, y, settings->predictive));
    KFE_TRY(open_opls(&s, most));
    KFE_TRY(find_all_orthogonal(&s, most));
    int64_t orthogonal = s.o.count;
    if (orthogonal < settings->orthogonal)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "opls: %lld orthogonal components were asked for, but there are only %lld",
                  (long long)settings->orthogonal, (long long)orthogonal);
    take_predictive(&s);
    KFE_TRY(find_patterns(&s));
    KFE_TRY(kfe_i_observed_solution(&s.o, s.predictive, out));
    double predictive = (double)s.predictive;
    KFE_TRY(kfe_i_solution_record(out, "predictive", &predictive, 1));
    KFE_TRY(kfe_i_solution_record(out, "orthogonal-shares", s.shares, orthogonal));
cleanup:
    kfe_i_free(ctx, y);
    kfe_i_observed_free(&s.o);
    return status;
}
