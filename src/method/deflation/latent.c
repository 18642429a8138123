/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boosted latent features: f = Tc + b, w = −∂loss/∂f at the current f; the next direction is the one along
 * which the data covaries most with w (one target: Xᵀw; in the dual the deflated w), its feature of length
 * one; then c and b are fitted again. With several targets, each column has its own f and loss; classes are
 * ±1 against the rest. With the loss ls, w is the residual, and this is pls.
 *
 * The refit is Newton's method with step halving on the orthonormal features (ls: one step is exact), started
 * where the last one ended. For lad, curvature gives way to the weights of reweighted least squares, which
 * never raise the loss, while the width below which it is rounded off falls to 10⁻⁸ of the targets' spread.
 *
 * Momma & Bennett (2005); Dhanjal, Gunn & Shawe-Taylor (2009), sections 3.1.3 and 3.2.3. Time beside that of
 * the framework: O(nk²) per step of a refit, of which there are some five per round and target.
 */
#include "method/deflation/latent.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"

enum { MOST_STEPS = 60, MOST_HALVINGS = 40 };
#define KFE_FIRST_WIDTH 1.0
#define KFE_LAST_WIDTH 1e-8
/* Of the loss, a gain that its rounding hides: from there on steps are trusted, as long as gains fall, down
 * to what is worth no step. */
#define KFE_HIDDEN_GAIN 1e-10
#define KFE_LEAST_GAIN 1e-30
/* Of the largest curvature, what makes the others positive whatever rounding did. */
#define KFE_SOLVABLE 1e-14

static kfe_status make_room(kfe_i_latent *l)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = l->ctx;
    int64_t n = l->examples;
    int64_t t = l->targets;

    KFE_ALLOC(ctx, l->y, t * n);
    KFE_ALLOC_ZERO(ctx, l->f, t * n);
    KFE_ALLOC_ZERO(ctx, l->coefficients, t * l->width_of);
    KFE_ALLOC(ctx, l->widths, t);
    KFE_ALLOC(ctx, l->gradient, n * t);
    KFE_ALLOC_ZERO(ctx, l->losses, l->width_of);
    KFE_ALLOC(ctx, l->weighted, l->width_of * n);
    KFE_ALLOC(ctx, l->hessian, l->width_of * l->width_of);
    KFE_ALLOC(ctx, l->right, l->width_of);
    KFE_ALLOC(ctx, l->step, l->width_of);
    KFE_ALLOC(ctx, l->trial, n);
    KFE_ALLOC(ctx, l->slope, n);
cleanup:
    return status;
}

static void fill_targets(kfe_i_latent *l, const kfe_i_target *target)
{
    for (int64_t j = 0; j < l->targets; j++)
        for (int64_t i = 0; i < l->examples; i++)
            l->y[j * l->examples + i] = target->task == KFE_TASK_REAL ? target->values[i * l->targets + j]
                                        : target->codes[i] == (l->targets == 1 ? 1 : j) ? 1
                                                                                        : -1;
}

/* The mean distance of a target from its mean is what widths are relative to. */
static void measure_widths(kfe_i_latent *l, const kfe_i_deflation *d)
{
    for (int64_t j = 0; j < l->targets; j++) {
        double spread = cblas_dasum((blasint)l->examples, d->target + j, (blasint)l->targets);
        l->widths[j] = spread > 0 ? spread / (double)l->examples : 1;
    }
}

/* ---- the refit ---- */

/* out (n) = step on the constant and the features. */
static void predict(const kfe_i_deflation *d, const double *coefficients, double *out)
{
    double constant = coefficients[0] / sqrt((double)d->examples);

    for (int64_t i = 0; i < d->examples; i++)
        out[i] = constant;
    if (d->count > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)d->count, (blasint)d->examples, 1, d->basis,
                    (blasint)d->examples, coefficients + 1, 1, 1, out, 1);
}

static double total_loss(const kfe_i_latent *l, const double *y, const double *f, double width,
                         const double *coefficients, int64_t used)
{
    double sum = 0;

    for (int64_t i = 0; i < l->examples; i++)
        sum += l->loss->value(y[i], f[i], width);
    return sum + l->loss->ridge / 2 * cblas_ddot((blasint)used, coefficients, 1, coefficients, 1);
}

/* The gradient on intercept and coefficients into l->right; the features times roots of the curvature, so
 * that their products are the Hessian, into l->weighted. */
static void expand_loss(kfe_i_latent *l, const kfe_i_deflation *d, const double *y, const double *f,
                        double width)
{
    int64_t n = l->examples;
    double root = sqrt((double)n);

    l->right[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        l->slope[i] = l->loss->pull(y[i], f[i], width);
        l->trial[i] = sqrt(l->loss->bound(y[i], f[i], width));
        l->right[0] += l->slope[i] / root;
        l->weighted[i] = l->trial[i] / root;
    }
    for (int64_t j = 0; j < d->count; j++) {
        l->right[j + 1] = cblas_ddot((blasint)n, d->basis + j * n, 1, l->slope, 1);
        for (int64_t i = 0; i < n; i++)
            l->weighted[(j + 1) * n + i] = l->trial[i] * d->basis[j * n + i];
    }
}

/* The Newton step for one target into l->step, and the gain it promises. */
static kfe_status newton_step(kfe_i_latent *l, const kfe_i_deflation *d, const double *y, const double *f,
                              const double *coefficients, double width, double *gain)
{
    kfe_status status = KFE_OK;
    int64_t used = d->count + 1;
    double largest = 0;

    expand_loss(l, d, y, f, width);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)used, (blasint)l->examples, 1, l->weighted,
                (blasint)l->examples, 0, l->hessian, (blasint)used);
    for (int64_t j = 0; j < used; j++)
        largest = fmax(largest, l->hessian[j * used + j]);
    for (int64_t j = 0; j < used; j++) {
        l->hessian[j * used + j] += l->loss->ridge + KFE_SOLVABLE * largest;
        l->right[j] -= l->loss->ridge * coefficients[j];
        l->step[j] = l->right[j];
    }
    KFE_TRY(kfe_i_cholesky(d->ctx, used, l->hessian, "the curvature of the loss"));
    kfe_i_solve_cholesky(used, l->hessian, 1, l->step);
    *gain = cblas_ddot((blasint)used, l->right, 1, l->step, 1) / 2;
cleanup:
    return status;
}

/* Goes along l->step, halving it until the loss, now `before`, falls; 0 if it does not. A step that is
 * trusted is taken whole. */
static int descend(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j, double width, double before,
                   int trusted)
{
    double *f = l->f + j * l->examples;
    double *coefficients = l->coefficients + j * l->width_of;
    int64_t used = d->count + 1;
    double share = 1;

    for (int halving = 0; halving < MOST_HALVINGS; halving++, share /= 2) {
        cblas_daxpy((blasint)used, share, l->step, 1, coefficients, 1);
        predict(d, coefficients, l->trial);
        if (trusted || total_loss(l, l->y + j * l->examples, l->trial, width, coefficients, used) <= before) {
            memcpy(f, l->trial, (size_t)l->examples * sizeof *f);
            return 1;
        }
        cblas_daxpy((blasint)used, -share, l->step, 1, coefficients, 1);
    }
    return 0;
}

static kfe_status minimise(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j, double width)
{
    kfe_status status = KFE_OK;
    const double *y = l->y + j * l->examples;
    const double *f = l->f + j * l->examples;
    const double *coefficients = l->coefficients + j * l->width_of;
    double gain = 0;
    double last_gain = INFINITY;

    for (int step = 0; step < MOST_STEPS; step++) {
        KFE_TRY(newton_step(l, d, y, f, coefficients, width, &gain));
        double total = total_loss(l, y, f, width, coefficients, d->count + 1);
        int trusted = gain <= KFE_HIDDEN_GAIN * total;
        if (gain <= KFE_LEAST_GAIN * total || (trusted && gain >= last_gain))
            break;
        if (!descend(l, d, j, width, total, trusted))
            break;
        last_gain = gain;
    }
cleanup:
    return status;
}

static kfe_status refit_target(kfe_i_latent *l, const kfe_i_deflation *d, int64_t j)
{
    kfe_status status = KFE_OK;
    double last = KFE_LAST_WIDTH * l->widths[j];
    double width = l->loss == kfe_i_loss_of(KFE_LOSS_LAD) ? KFE_FIRST_WIDTH * l->widths[j] : last;

    while (width > last) {
        KFE_TRY(minimise(l, d, j, width));
        width /= 10;
    }
    KFE_TRY(minimise(l, d, j, last));
    for (int64_t i = 0; i < l->examples; i++) {
        double y = l->y[j * l->examples + i];
        double f = l->f[j * l->examples + i];
        l->gradient[i * l->targets + j] = l->loss->pull(y, f, last);
        l->losses[d->count] += l->loss->value(y, f, last) / (double)l->examples;
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

    *out = (kfe_i_latent){
        .ctx = d->ctx, .examples = d->examples, .targets = d->targets, .width_of = d->most + 1};
    if (kind == KFE_LOSS_AUTO)
        kind = target->task == KFE_TASK_REAL ? KFE_LOSS_LS : KFE_LOSS_LOGISTIC;
    out->loss = kfe_i_loss_of(kind);
    if (out->loss->classes_only && target->task == KFE_TASK_REAL)
        KFE_FAIL(d->ctx, KFE_EINVAL,
                 "%s: loss %s is for classes, but the target is a real number; use ls or lad, or, if it is a "
                 "class, "
                 "say --task classify",
                 d->method, out->loss->name);
    KFE_TRY(make_room(out));
    fill_targets(out, target);
    measure_widths(out, d);
    KFE_TRY(kfe_i_latent_refit(d, out));
cleanup:
    return status;
}

void kfe_i_latent_free(kfe_i_latent *l)
{
    double *const blocks[] = {l->y,        l->f,       l->coefficients, l->widths, l->gradient, l->losses,
                              l->weighted, l->hessian, l->right,        l->step,   l->trial,    l->slope};

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
        intercepts[t] = l->coefficients[t * l->width_of] / sqrt((double)l->examples);
        for (int64_t j = 0; j < k; j++)
            numbers[t * k + j] = l->coefficients[t * l->width_of + j + 1] * d->signs[j] / d->lengths[j];
    }
    KFE_TRY(kfe_i_solution_record(out, "loss", l->losses + 1, k));
    KFE_TRY(kfe_i_solution_record(out, "loss_coefficients", numbers, l->targets * k));
    KFE_TRY(kfe_i_solution_record(out, "loss_intercepts", intercepts, l->targets));
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

kfe_status kfe_i_latent_fit(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                            kfe_i_side side, int center, int64_t asked, kfe_i_loss_kind kind,
                            kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation deflation = {0};
    kfe_i_latent latent = {0};

    KFE_TRY(kfe_i_deflation_begin(ctx, method, problem, side, center, asked, &deflation));
    KFE_TRY(kfe_i_latent_begin(&deflation, problem->target, kind, &latent));
    KFE_TRY(kfe_i_deflation_run(&deflation, &rule, &latent));
    KFE_TRY(kfe_i_deflation_solution(&deflation, out));
    KFE_TRY(kfe_i_latent_record(&latent, &deflation, out));
cleanup:
    kfe_i_latent_free(&latent);
    kfe_i_deflation_free(&deflation);
    return status;
}
