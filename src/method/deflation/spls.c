/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse partial least squares: directions that use few columns, for data with many of them (genes). Direction u maximises the
 * covariance uᵀCv, C = XᵀY with the residual targets, where u is soft-thresholded so that at most `keep` columns stay, a number that
 * each direction may have of its own:
 *
 *     u ← S(Cv) / ‖S(Cv)‖,   v ← Cᵀu / ‖Cᵀu‖,   S(a)_j = sign(a_j) max(|a_j| − t, 0),
 *
 * t the (keep + 1)-th largest |a_j|, until u settles. keep=all is pls.
 *
 * Lê Cao, Rossouw, Robert-Granié & Besse (2008), "A sparse PLS for variable selection when integrating omics data", SAGMB 7; Lê Cao, Boitard
 * & Besse (2011), "Sparse PLS discriminant analysis", BMC Bioinformatics 12. Time: two passes over the data per feature.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/deflation/deflation.h"
#include "method/deflation/spls.h"
#include "method/shared/keep.h"
#include "method/shared/stand_in.h"

enum { MOST_ITERATIONS = 500 };
#define KFE_SPLS_SETTLED 1e-10

typedef struct spls_settings {
    int64_t dim;
    int center;
    char keep[KFE_PARAM_TEXT_SIZE], keep_values[KFE_PARAM_TEXT_SIZE];
} spls_settings;

static const kfe_i_param rows[] = {
    KFE_DEFLATION_ROWS(spls_settings, "yes"),
    KFE_KEEP_ROWS(spls_settings),
};

/* ---- directions ---- */

typedef struct sparse_state {
    kfe_i_keep_list list;
    int64_t keep;           /* of the direction at hand */
    double *kept;           /* what the directions so far have used */
    double *sizes, *before; /* rows of a direction */
    double *v;              /* targets */
    double change;          /* the largest change of a direction in its last iteration */
} sparse_state;

/* u and v in turn, from the leading singular vectors of C (rows × targets). */
static void alternate(int64_t rows_count, int64_t targets, const double *c, sparse_state *s, double *u)
{
    blasint r = (blasint)rows_count;
    blasint k = (blasint)targets;
    double change = 0;

    for (int i = 0; i < MOST_ITERATIONS; i++) {
        memcpy(s->before, u, (size_t)rows_count * sizeof *u);
        cblas_dgemv(CblasRowMajor, CblasTrans, r, k, 1, c, k, u, 1, 0, s->v, 1);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, r, k, 1, c, k, s->v, 1, 0, u, 1);
        if (kfe_i_soft_threshold(rows_count, s->keep, s->sizes, u) == 0)
            return;
        cblas_daxpy(r, -1, u, 1, s->before, 1);
        change = cblas_dnrm2(r, s->before, 1);
        if (change < KFE_SPLS_SETTLED)
            break;
    }
    s->change = fmax(s->change, change);
}

static double count_columns(int64_t count, const double *u)
{
    double used = 0;

    for (int64_t l = 0; l < count; l++)
        used += u[l] != 0;
    return used;
}

static kfe_status choose(kfe_i_deflation *d, void *user, double *direction, double *product, int *has_product)
{
    kfe_status status = KFE_OK;
    sparse_state *s = user;
    double square = 0;

    (void)product;
    *has_product = 0;
    s->keep = kfe_i_keep_at(&s->list, d->count);
    KFE_TRY(kfe_i_deflation_pull(d, d->residual, d->targets, d->work.image));
    kfe_i_deflation_inner(d, d->rows, d->work.image, d->work.image);
    KFE_TRY(kfe_i_deflation_leading(d, d->work.inner, &square));
    double allowed =
        d->limits.rounding * pow(cblas_dnrm2((blasint)(d->examples * d->targets), d->residual, 1), 2);
    if (square <= allowed || kfe_i_deflation_is_spent(d, sqrt(square))) {
        memset(direction, 0, (size_t)d->rows * sizeof *direction);
        return KFE_OK;
    }
    kfe_i_deflation_combine(d, d->rows, d->work.image, direction);
    kfe_i_soft_threshold(d->rows, s->keep, s->sizes, direction);
    if (s->keep > 0 && s->keep < d->rows && d->targets > 1)
        alternate(d->rows, d->targets, d->work.image, s, direction);
    s->kept[d->count] = count_columns(d->rows, direction);
cleanup:
    return status;
}

/* How many columns all directions together use. */
static kfe_status record_used(kfe_i_solution *out)
{
    double used = 0;

    for (int64_t l = 0; l < out->rows; l++) {
        int any = 0;
        for (int64_t j = 0; j < out->dim; j++)
            any |= out->coefficients[l * out->dim + j] != 0;
        used += any;
    }
    return kfe_i_solution_record(out, "columns-used", &used, 1);
}

static kfe_status record_change(kfe_context *ctx, const char *method, double change, kfe_i_solution *out)
{
    if (change >= KFE_SPLS_SETTLED)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%s: a direction still changes by %.1e after %d iterations; other columns may be as good",
                  method, change, MOST_ITERATIONS);
    return kfe_i_solution_record(out, "last-change", &change, 1);
}

kfe_status kfe_i_spls_fit(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_spls_job *job,
                          kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_deflation_setup setup = {
        .method = job->method, .side = KFE_SIDE_PRIMAL, .center = job->center, .dim = job->dim};
    const kfe_i_rule rule = {.choose = choose};
    const kfe_i_gram *gram = NULL;
    const kfe_i_table *table = NULL;
    sparse_state state = {0};

    KFE_TRY(kfe_i_keep_parse(ctx, job->method, job->keep, NULL, 0, &state.list));
    KFE_TRY(kfe_i_ask_factor(ctx, source, &gram, &table, NULL));
    int64_t d = table->cols;
    KFE_ALLOC(ctx, state.sizes, d);
    KFE_ALLOC(ctx, state.before, d);
    KFE_ALLOC_ZERO(ctx, state.kept, (job->dim > KFE_DEFLATION_AUTO_DIM ? job->dim : KFE_DEFLATION_AUTO_DIM));
    KFE_ALLOC(ctx, state.v,
              source->target->task == KFE_TASK_REAL ? source->target->cols : source->target->class_count);
    KFE_TRY(kfe_i_deflation_fit(ctx, source, &setup, &rule, &state, out));
    KFE_TRY(record_used(out));
    KFE_TRY(kfe_i_solution_record(out, "keep", state.kept, out->dim));
    KFE_TRY(record_change(ctx, job->method, state.change, out));
cleanup:
    kfe_i_free(ctx, state.list.items);
    kfe_i_free(ctx, state.sizes);
    kfe_i_free(ctx, state.before);
    kfe_i_free(ctx, state.kept);
    kfe_i_free(ctx, state.v);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    const spls_settings *s = settings;
    const kfe_i_spls_job job = {.method = "spls", .center = s->center, .dim = s->dim, .keep = s->keep};

    if (source->sums)
        return kfe_i_stand_in_fit(
            ctx, source->sums,
            &(kfe_i_stand_in_job){.fit = fit, .settings = settings, .supervised = 1, .centred = s->center},
            out);
    return kfe_i_spls_fit(ctx, source, &job, out);
}

static kfe_i_use uses(const void *settings, kfe_i_offer offer, const char **why)
{
    const spls_settings *s = settings;

    if (offer != KFE_OFFER_SUMS || !s || strcmp(s->keep, KFE_KEEP_AUTO) != 0)
        return kfe_i_use_sums(settings, offer, why);
    *why = "{keep=auto} is chosen on rows, which sums do not have; give numbers of columns";
    return KFE_USE_NOT;
}

const kfe_i_method kfe_i_method_spls = {
    .name = "spls",
    .summary = "sparse partial least squares: each direction uses few columns",
    .reference = "Lê Cao et al. 2008, 2011",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE | KFE_HAS_NESTING | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kpls",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, spls_settings),
    .uses = uses,
    .fit = fit,
};
