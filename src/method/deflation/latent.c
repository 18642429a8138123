/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boosted latent features, the engine of blf, kblf and skblf.
 *
 * f = Tc + b is the prediction, and w = −∂loss/∂f at it. The next direction is the one along which the data covaries most with
 * w (one target: Xᵀw, or in the dual the deflated w); its feature has length one; then c and b are fitted again. Each target has
 * its own f and loss; classes are ±1, one against the rest. With the loss ls, w is the residual, and the method is pls.
 *
 * The refit starts where the last one ended and is Newton's method with step halving on the orthonormal features (ls: one step
 * is exact). lad has a refit of its own (lad.c).
 *
 * Momma & Bennett (2005); Dhanjal, Gunn & Shawe-Taylor (2009), sections 3.1.3 and 3.2.3. Time besides that of the framework:
 * O(nk²) per Newton step, about five steps per feature and target.
 */
#include "method/deflation/latent.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

enum { MOST_STEPS = 60, MOST_HALVINGS = 40 };
/* A promised decrease below this share of the loss is hidden by its rounding: such steps are taken without looking, as long as
 * the promises fall, until they are below the second share. */
#define KFE_HIDDEN_GAIN 1e-10
#define KFE_LEAST_GAIN 1e-30
#define KFE_SOLVABLE 1e-14

static kfe_status allocate(kfe_i_latent *l)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = l->ctx;
    int64_t n = l->examples;
    int64_t t = l->targets;

    KFE_ALLOC(ctx, l->y, t * n);
    KFE_ALLOC_ZERO(ctx, l->f, t * n);
    KFE_ALLOC_ZERO(ctx, l->shifts, t);
    KFE_ALLOC_ZERO(ctx, l->coefficients, t * l->size);
    KFE_ALLOC(ctx, l->widths, t);
    KFE_ALLOC(ctx, l->gradient, n * t);
    KFE_ALLOC_ZERO(ctx, l->losses, l->size);
    KFE_ALLOC(ctx, l->work.weighted, l->size * n);
    KFE_ALLOC(ctx, l->work.hessian, l->size * l->size);
    KFE_ALLOC(ctx, l->work.right, l->size);
    KFE_ALLOC(ctx, l->work.step, l->size);
    KFE_ALLOC(ctx, l->work.trial, n);
    KFE_ALLOC(ctx, l->work.slope, n);
cleanup:
    return status;
}

/* The root of the weight of an example. Losses are of an example itself: its target and prediction are divided by the root. */
static double root_of(const kfe_i_deflation *d, int64_t i)
{
    return d->roots ? d->roots[i] : 1;
}

static void fill_targets(kfe_i_latent *l, const kfe_i_deflation *d, const kfe_i_target *target)
{
    int64_t t = l->targets;

    for (int64_t j = 0; j < t; j++) {
        double spread = 0;
        for (int64_t i = 0; i < l->examples; i++)
            spread += root_of(d, i) * fabs(d->target[i * t + j]);
        l->widths[j] = spread > 0 ? spread / d->mass : 1;
        if (target->task == KFE_TASK_REAL)
            l->shifts[j] = target->values[j] - d->unit * d->target[j] / root_of(d, 0);
        for (int64_t i = 0; i < l->examples; i++)
            l->y[j * l->examples + i] = target->task == KFE_TASK_REAL ? d->target[i * t + j] / root_of(d, i)
                                        : target->codes[i] == (t == 1 ? 1 : j) ? 1
                                                                               : -1;
    }
}

/* ---- the refit ---- */

void kfe_i_latent_predict(const kfe_i_deflation *d, const double *coefficients, double *out)
{
    double constant = coefficients[0] / sqrt(d->mass);

    for (int64_t i = 0; i < d->examples; i++)
        out[i] = root_of(d, i) * constant;
    if (d->count > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->count, (blasint)d->examples, 1, d->basis,
                    (blasint)d->examples, coefficients + 1, 1, 1, out, 1);
    for (int64_t i = 0; d->roots && i < d->examples; i++)
        out[i] /= d->roots[i];
}

static double total_loss(const kfe_i_latent *l, const kfe_i_deflation *d, int64_t j, const double *f,
                         int64_t used)
{
    const double *y = l->y + j * l->examples;
    const double *coefficients = l->coefficients + j * l->size;
    double sum = 0;

    for (int64_t i = 0; i < l->examples; i++)
        sum += root_of(d, i) * root_of(d, i) * l->loss->value(y[i], f[i], 0);
    return sum + l->loss->ridge / 2 * cblas_ddot((blasint)used, coefficients, 1, coefficients, 1);
}

/* The negative gradient on intercept and coefficients into work.right; the features times roots of the curvature, whose
 * products are the Hessian, into work.weighted. */
static void expand_loss(kfe_i_latent *l, const kfe_i_deflation *d, int64_t target, double width)
{
    int64_t n = l->examples;
    const double *y = l->y + target * n;
    const double *f = l->f + target * n;
    kfe_i_latent_work *w = &l->work;
    double root = sqrt(d->mass);

    w->right[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        w->slope[i] = root_of(d, i) * l->loss->pull(y[i], f[i], width);
        w->trial[i] = sqrt(l->loss->curvature(y[i], f[i], width));
        w->right[0] += root_of(d, i) * w->slope[i] / root;
        w->weighted[i] = root_of(d, i) * w->trial[i] / root;
    }
    for (int64_t j = 0; j < d->count; j++) {
        w->right[j + 1] = cblas_ddot((blasint)n, d->basis + j * n, 1, w->slope, 1);
        for (int64_t i = 0; i < n; i++)
            w->weighted[(j + 1) * n + i] = w->trial[i] * d->basis[j * n + i];
    }
}

kfe_status kfe_i_latent_newton_step(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j, double width,
                                    const kfe_i_latent_ridge *ridge, double *gain)
{
    kfe_status status = KFE_OK;
    int64_t used = d->count + 1;
    kfe_i_latent_work *w = &l->work;
    double largest = 0;

    expand_loss(l, d, j, width);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)used, (blasint)l->examples, 1, w->weighted,
                (blasint)l->examples, 0, w->hessian, (blasint)used);
    for (int64_t i = 0; i < used; i++)
        largest = fmax(largest, w->hessian[i * used + i]);
    for (int64_t i = 0; i < used; i++) {
        w->hessian[i * used + i] += ridge->ridge + ridge->solvable * largest;
        w->right[i] -= ridge->ridge * l->coefficients[j * l->size + i];
        w->step[i] = w->right[i];
    }
    KFE_TRY(kfe_i_cholesky(d->ctx, used, w->hessian, "the curvature of the loss"));
    kfe_i_solve_cholesky(used, w->hessian, 1, w->step);
    *gain = cblas_ddot((blasint)used, w->right, 1, w->step, 1) / 2;
cleanup:
    return status;
}

/* Goes along work.step, halving it until the loss, now `before`, falls; returns 0 if it does not. A trusted step is taken
 * whole. */
static int descend(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j, double before, int trusted)
{
    double *f = l->f + j * l->examples;
    double *coefficients = l->coefficients + j * l->size;
    int64_t used = d->count + 1;
    double share = 1;

    for (int halving = 0; halving < MOST_HALVINGS; halving++, share /= 2) {
        cblas_daxpy((blasint)used, share, l->work.step, 1, coefficients, 1);
        kfe_i_latent_predict(d, coefficients, l->work.trial);
        if (trusted || total_loss(l, d, j, l->work.trial, used) <= before) {
            memcpy(f, l->work.trial, (size_t)l->examples * sizeof *f);
            return 1;
        }
        cblas_daxpy((blasint)used, -share, l->work.step, 1, coefficients, 1);
    }
    return 0;
}

/* For the losses with a curvature: ls, exp and logistic. */
static kfe_status minimise(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j)
{
    kfe_status status = KFE_OK;
    const kfe_i_latent_ridge ridge = {l->loss->ridge, KFE_SOLVABLE};
    double gain = 0;
    double last_gain = INFINITY;

    for (int step = 0; step < MOST_STEPS; step++) {
        KFE_TRY(kfe_i_latent_newton_step(l, d, j, 0, &ridge, &gain));
        double total = total_loss(l, d, j, l->f + j * l->examples, d->count + 1);
        int trusted = gain <= KFE_HIDDEN_GAIN * total;
        if (gain <= KFE_LEAST_GAIN * total || (trusted && gain >= last_gain))
            break;
        if (!descend(l, d, j, total, trusted))
            break;
        last_gain = gain;
    }
cleanup:
    return status;
}

static kfe_status refit_target(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j)
{
    kfe_status status = KFE_OK;
    double width = 0;

    if (l->loss == kfe_i_loss_of(KFE_LOSS_LAD))
        KFE_TRY(kfe_i_lad_minimise(l, d, j, &width));
    else
        KFE_TRY(minimise(l, d, j));
    double unit = l->loss->degree == 2 ? d->unit * d->unit : l->loss->degree == 1 ? d->unit : 1;
    for (int64_t i = 0; i < l->examples; i++) {
        double y = l->y[j * l->examples + i];
        double f = l->f[j * l->examples + i];
        double root = root_of(d, i);
        l->gradient[i * l->targets + j] = root * l->loss->pull(y, f, width);
        l->losses[d->count] += unit * (root * root * l->loss->value(y, f, 0) / d->mass);
    }
cleanup:
    return status;
}

kfe_status kfe_i_latent_refit(kfe_i_deflation *d, void *latent)
{
    kfe_status status = KFE_OK;
    kfe_i_latent *l = latent;

    for (int64_t j = 0; j < l->targets; j++)
        KFE_TRY(refit_target(l, d, j));
    kfe_i_deflation_project_out(d, l->gradient, l->targets);
cleanup:
    return status;
}

/* ---- beginning and end ---- */

kfe_status kfe_i_latent_begin(kfe_i_deflation *d, const kfe_i_target *target, kfe_i_loss_kind kind,
                              kfe_i_latent *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_latent){.ctx = d->ctx, .examples = d->examples, .targets = d->targets, .size = d->most + 1};
    if (kind == KFE_LOSS_AUTO)
        kind = target->task == KFE_TASK_REAL ? KFE_LOSS_LS : KFE_LOSS_LOGISTIC;
    out->loss = kfe_i_loss_of(kind);
    if (out->loss->classes_only && target->task == KFE_TASK_REAL)
        KFE_FAIL(
            d->ctx, KFE_EINVAL,
            "%s: loss %s is for classes, but the target is a real number; use {loss=ls} or {loss=lad}, or, "
            "if the target is a class, {task=classify}",
            d->setup.method, out->loss->name);
    KFE_TRY(allocate(out));
    fill_targets(out, d, target);
    KFE_TRY(kfe_i_latent_refit(d, out));
cleanup:
    return status;
}

void kfe_i_latent_free(kfe_i_latent *l)
{
    double *const blocks[] = {l->y,         l->f,          l->shifts,        l->coefficients, l->widths,
                              l->gradient,  l->losses,     l->work.weighted, l->work.hessian, l->work.right,
                              l->work.step, l->work.trial, l->work.slope};

    for (size_t i = 0; l->ctx && i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(l->ctx, blocks[i]);
    memset(l, 0, sizeof *l);
}

kfe_status kfe_i_latent_record(const kfe_i_latent *l, const kfe_i_deflation *d, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = d->count;
    double *numbers = NULL;

    KFE_ALLOC(l->ctx, numbers, l->targets * (k + 1));
    double *intercepts = numbers + l->targets * k;
    for (int64_t t = 0; t < l->targets; t++) {
        const double *c = l->coefficients + t * l->size;
        intercepts[t] = l->shifts[t] + d->unit * c[0] / sqrt(d->mass);
        for (int64_t j = 0; j < k; j++)
            numbers[t * k + j] = d->unit * c[j + 1] * d->signs[j] / d->lengths[j];
    }
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "loss", l->losses + 1, k));
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "loss-coefficients", numbers, l->targets * k));
    KFE_TRY(kfe_i_solution_record_as(out, KFE_RECORD_OF_ROWS, "loss-intercepts", intercepts, l->targets));
cleanup:
    kfe_i_free(l->ctx, numbers);
    return status;
}

static kfe_status choose(kfe_i_deflation *d, void *latent, double *direction, double *product,
                         int *has_product)
{
    const kfe_i_latent *l = latent;

    return kfe_i_covariant_direction(d, l->gradient, direction, product, has_product);
}

static const kfe_i_rule rule = {.choose = choose, .after = kfe_i_latent_refit, .unit_features = 1};

kfe_status kfe_i_latent_fit(kfe_context *ctx, const kfe_i_fit_source *source,
                            const kfe_i_deflation_setup *setup, kfe_i_loss_kind kind, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation deflation = {0};
    kfe_i_latent latent = {0};

    KFE_TRY(kfe_i_deflation_begin(ctx, source, setup, &deflation));
    KFE_TRY(kfe_i_latent_begin(&deflation, source->target, kind, &latent));
    KFE_TRY(kfe_i_deflation_run(&deflation, &rule, &latent));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
    KFE_TRY(kfe_i_latent_record(&latent, &deflation, out));
cleanup:
    kfe_i_latent_free(&latent);
    kfe_i_deflation_free(&deflation);
    return status;
}

kfe_status kfe_i_latent_fit_sums(kfe_context *ctx, const kfe_i_fit_source *source, const char *method,
                                 const kfe_i_stand_in_job *job, int kind, kfe_i_solution *out)
{
    int automatic_ls = kind == KFE_LOSS_AUTO && source->sums->task == KFE_TASK_REAL;

    if (kind != KFE_LOSS_LS && !automatic_ls)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "%s: sums over rows determine the features for {loss=ls} only; other losses need all "
            "rows in memory",
            method);
    return kfe_i_stand_in_fit(ctx, source->sums, job, out);
}
