/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial least squares of data with missing values, for pls and plsda. With targets Y that lose what the features explain, direction w is the
 * leading left singular vector of
 *
 *     S_jm = Σ_i x_ij y_im / Σ_i y_im² · ‖y_m‖²   over the rows in which column j is observed,
 *
 * the slopes of NIPALS times what a complete column would have; t and p are those of observed.h, and Y loses t·qᵀ with q = Yᵀt/tᵀt. For one
 * target this is NIPALS (Nelson, Taylor & MacGregor 1996), without iterations; for several, its iterations on complete data converge to the
 * singular vector, which is taken here at once.
 *
 * XᵀY of the deflated data follows from XᵀY before and Xᵀt, and is added up again where that would cost digits. Time: one or two passes over
 * the data per feature.
 */
#include "method/deflation/pls_missing.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "method/deflation/deflation.h"
#include "method/shared/observed.h"
#include "method/shared/targets.h"

/* Covariances below this share of the first are rounding; below this share of those that were added up last, they are added up again. */
#define SPENT 1e-10
#define STALE 0.03

typedef struct missing_pls {
    kfe_i_observed o;
    int64_t m;       /* targets */
    double unit;     /* of the targets */
    double *y;       /* n × m, deflated */
    double *cross;   /* d × m: XᵀY of the deflated data */
    double *gone;    /* d × m: Σy² over the rows that miss the column */
    double *product; /* d × m */
    double *slopes;  /* d × m: S */
    double *q;       /* m: Yᵀt/tᵀt */
    double *w, *t, *p;
    double *quality;         /* m × most: q of each feature */
    double *inner, *leading; /* m × m, m */
    kfe_i_eigen_work *eigen;
    double first,
        added; /* sizes of the first covariance, and of the cross products that were added up last */
} missing_pls;

static kfe_status open_pls(missing_pls *s)
{
    kfe_status status = KFE_OK;
    kfe_i_arena *memory = &s->o.memory;
    int64_t size = s->o.d * s->m;

    KFE_TAKE(memory, s->cross, size);
    KFE_TAKE(memory, s->gone, size);
    KFE_TAKE(memory, s->product, size);
    KFE_TAKE(memory, s->slopes, size);
    KFE_TAKE(memory, s->q, s->m);
    KFE_TAKE(memory, s->w, s->o.d);
    KFE_TAKE_ZERO(memory, s->t, s->o.n);
    KFE_TAKE(memory, s->p, s->o.d);
    KFE_TAKE_ZERO(memory, s->quality, s->m * s->o.setup.most);
    KFE_TAKE(memory, s->inner, s->m * s->m);
    KFE_TAKE(memory, s->leading, s->m);
    KFE_TRY(kfe_i_eigen_work_new(s->o.ctx, s->m, &s->eigen));
cleanup:
    return status;
}

static double length_of(const missing_pls *s, const double *block)
{
    return cblas_dnrm2((blasint)(s->o.d * s->m), block, 1);
}

static void add_up(missing_pls *s)
{
    kfe_i_observed_cross(&s->o, s->m, s->y, s->cross);
    s->added = length_of(s, s->cross);
}

/* w; *found is 0 if nothing of the targets is left to explain. */
static kfe_status choose_direction(missing_pls *s, int *found)
{
    kfe_status status = KFE_OK;
    blasint m = (blasint)s->m;
    double value = 0;

    kfe_i_observed_slopes(&s->o, s->m, s->y, s->gone, s->cross, s->slopes);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, m, (blasint)s->o.d, 1, s->slopes, m, s->slopes, m,
                0, s->inner, m);
    s->leading[0] = 1;
    if (m > 1)
        KFE_TRY(kfe_i_symmetric_eigen_with(s->o.ctx, m, s->inner, 1, &value, s->leading, s->eigen));
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (blasint)s->o.d, m, 1, s->slopes, m, s->leading, 1, 0, s->w, 1);
    double length = cblas_dnrm2((blasint)s->o.d, s->w, 1);
    if (s->o.count == 0)
        s->first = length;
    *found = length > SPENT * s->first;
    if (*found)
        cblas_dscal((blasint)s->o.d, 1 / length, s->w, 1);
cleanup:
    return status;
}

/* Y ← Y − t·qᵀ, and the products of the deflated data with it. */
static void deflate(missing_pls *s)
{
    blasint n = (blasint)s->o.n;
    blasint m = (blasint)s->m;
    double square = cblas_ddot(n, s->t, 1, s->t, 1);

    cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1 / square, s->y, m, s->t, 1, 0, s->q, 1);
    cblas_dger(CblasRowMajor, n, m, -1, s->t, 1, s->q, 1, s->y, m);
    memcpy(s->quality + s->o.count * s->m, s->q, (size_t)s->m * sizeof *s->q);
    kfe_i_observed_take(&s->o, s->w, s->t, s->p, NULL);
    kfe_i_observed_gone(&s->o, s->m, s->y, s->t, s->gone, s->product);
    cblas_dger(CblasRowMajor, (blasint)s->o.d, m, -1, s->o.image, 1, s->q, 1, s->cross, m);
    for (int64_t j = 0; j < s->o.d; j++)
        cblas_daxpy(m, s->p[j], s->product + j * s->m, 1, s->cross + j * s->m, 1);
    if (length_of(s, s->cross) < STALE * s->added)
        add_up(s);
}

static kfe_status find_features(missing_pls *s)
{
    kfe_status status = KFE_OK;
    int found = 1;

    add_up(s);
    kfe_i_observed_gone(&s->o, s->m, s->y, s->t, s->gone, s->product);
    while (s->o.count < s->o.setup.most) {
        KFE_TRY(kfe_i_progress(s->o.ctx, "extracting features", s->o.count, s->o.setup.most));
        KFE_TRY(choose_direction(s, &found));
        if (!found)
            break;
        kfe_i_observed_regress(&s->o, s->w, s->t, s->p);
        if (!(cblas_dnrm2((blasint)s->o.n, s->t, 1) > 0))
            break;
        deflate(s);
    }
cleanup:
    return status;
}

/* Features regress on targets by q, in the features' signs: what latent methods record. */
static kfe_status record_regression(const missing_pls *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *regression = NULL;
    int64_t k = s->o.count;

    KFE_ALLOC(s->o.ctx, regression, s->m * k);
    for (int64_t m = 0; m < s->m; m++)
        for (int64_t a = 0; a < k; a++) {
            int same = cblas_ddot((blasint)s->o.d, out->nipals.weights + a * s->o.d, 1,
                                  s->o.weights + a * s->o.d, 1) > 0;
            regression[m * k + a] = (same ? 1 : -1) * s->quality[a * s->m + m] * s->unit / s->o.unit;
        }
    KFE_TRY(kfe_i_solution_record(out, "regression", regression, s->m * k));
cleanup:
    kfe_i_free(s->o.ctx, regression);
    return status;
}

kfe_status kfe_i_pls_missing(kfe_context *ctx, const kfe_i_fit_source *source, const char *method, int center,
                             int64_t dim, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    missing_pls s = {0};
    const kfe_i_table *table = &source->views[0];
    int64_t most = table->cols < table->rows ? table->cols : table->rows;
    int64_t asked = dim > 0 ? dim : KFE_DEFLATION_AUTO_DIM;

    KFE_TRY(kfe_i_centred_targets(ctx, source->target, &s.y, &s.m, &s.unit));
    const kfe_i_observed_setup setup = {
        .method = method, .center = center, .most = asked < most ? asked : most, .targets = s.m};
    KFE_TRY(kfe_i_observed_begin(ctx, source, &setup, &s.o));
    KFE_TRY(open_pls(&s));
    KFE_TRY(find_features(&s));
    if (s.o.count == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "%s: the data does not covary with the target; there is nothing to learn",
                 method);
    kfe_i_clamp_dim(ctx, method, dim, s.o.count, "they leave nothing of the targets to explain");
    KFE_TRY(kfe_i_observed_solution(&s.o, 0, out));
    KFE_TRY(record_regression(&s, out));
cleanup:
    kfe_i_eigen_work_free(s.eigen);
    kfe_i_free(ctx, s.y);
    kfe_i_observed_free(&s.o);
    return status;
}
