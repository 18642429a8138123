/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The losses of blf, kblf and skblf:
 *   ls         (y − f)²/2
 *   lad        |y − f|, rounded off to (y − f)²/2width + width/2 below `width`
 *   exp        e^(−yf)
 *   logistic   log(1 + e^(−yf))
 *
 * Momma & Bennett (2005), "Constructing orthogonal latent features for arbitrary loss".
 */
#include "method/deflation/loss.h"

#include <math.h>
#include <stddef.h>

static double ls_value(double y, double f, double width)
{
    (void)width;
    return (y - f) * (y - f) / 2;
}

static double ls_pull(double y, double f, double width)
{
    (void)width;
    return y - f;
}

static double ls_curvature(double y, double f, double width)
{
    (void)y;
    (void)f;
    (void)width;
    return 1;
}

static double lad_value(double y, double f, double width)
{
    double off = fabs(y - f);

    return off < width ? off * off / (2 * width) + width / 2 : off;
}

static double lad_pull(double y, double f, double width)
{
    return (y - f) / fmax(fabs(y - f), width);
}

static double lad_curvature(double y, double f, double width)
{
    return fabs(y - f) < width ? 1 / width : 0;
}

static double exp_value(double y, double f, double width)
{
    (void)width;
    return exp(-y * f);
}

static double exp_pull(double y, double f, double width)
{
    (void)width;
    return y * exp(-y * f);
}

static double exp_curvature(double y, double f, double width)
{
    (void)width;
    return y * y * exp(-y * f);
}

/* Does not overflow for either sign of yf. */
static double logistic_value(double y, double f, double width)
{
    (void)width;
    return y * f > 0 ? log1p(exp(-y * f)) : log1p(exp(y * f)) - y * f;
}

static double logistic_pull(double y, double f, double width)
{
    (void)width;
    return y / (1 + exp(y * f));
}

static double logistic_curvature(double y, double f, double width)
{
    double odds = exp(-fabs(y * f));

    (void)width;
    return y * y * odds / ((1 + odds) * (1 + odds));
}

/* The ridges are far below what data says unless classes are separable; that of lad depends on the target (lad.c). */
static const kfe_i_loss losses[KFE_LOSS_COUNT] = {
    [KFE_LOSS_LS] = {"ls", 0, 2, ls_value, ls_pull, ls_curvature, 1e-14},
    [KFE_LOSS_LAD] = {"lad", 0, 1, lad_value, lad_pull, lad_curvature, 0},
    [KFE_LOSS_EXP] = {"exp", 1, 0, exp_value, exp_pull, exp_curvature, 1e-8},
    [KFE_LOSS_LOGISTIC] = {"logistic", 1, 0, logistic_value, logistic_pull, logistic_curvature, 1e-8},
};

const kfe_i_loss *kfe_i_loss_of(kfe_i_loss_kind kind)
{
    return kind > KFE_LOSS_AUTO && kind < KFE_LOSS_COUNT ? &losses[kind] : NULL;
}
