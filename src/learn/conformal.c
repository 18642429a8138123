/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conformal prediction from fits that leave out folds. With n rows of score R_i, of which row i is in fold k(i), an interval of level
 * 1 − α goes
 *
 *     from the ⌊α(n + 1)⌋-th smallest f_{−k(i)}(x) − R_i to the ⌈(1 − α)(n + 1)⌉-th smallest f_{−k(i)}(x) + R_i,
 *
 * and a set has the classes g for which fewer than (1 − α)(n + 1) rows have a score below that of (x, g) in the fit without their fold.
 * Rows count by their weights. With one fold this is the split method, which holds the truth with probability 1 − α at least; with
 * all folds CV+, and with one row per fold the jackknife+, which are near 1 − α and never below 1 − 2α (of few folds: a little less).
 *
 * Vovk, Gammerman & Shafer (2005); Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+; Romano, Sesia &
 * Candès (2020), Classification with valid and adaptive coverage. Time of a bound O(K² log² n) for K folds.
 */
#include "learn/conformal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

void kfe_i_conformal_free(kfe_i_conformal *c)
{
    if (c->ctx) {
        kfe_i_free(c->ctx, c->start);
        kfe_i_free(c->ctx, c->scores);
        kfe_i_free(c->ctx, c->mass);
    }
    memset(c, 0, sizeof *c);
}

kfe_status kfe_i_conformal_begin(kfe_context *ctx, kfe_i_conformal_kind kind, int64_t folds, int64_t rows,
                                 int64_t columns, kfe_i_conformal *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_conformal){.ctx = ctx, .kind = kind, .folds = folds, .rows = rows, .columns = columns};
    KFE_ALLOC_ZERO(ctx, out->start, folds + 1);
    KFE_ALLOC_ZERO(ctx, out->scores, rows * columns);
    KFE_ALLOC_ZERO(ctx, out->mass, rows * columns);
cleanup:
    return status;
}

/* ---- learning ---- */

typedef struct scored {
    double score, weight;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a;
    const scored *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->weight > y->weight) -
           (x->weight < y->weight); /* sums do not depend on the order of the rows */
}

kfe_status kfe_i_conformal_add(kfe_i_conformal *c, int64_t fold, int64_t count, const double *scores,
                               const double *weights)
{
    kfe_status status = KFE_OK;
    scored *sorted = NULL;

    KFE_ALLOC(c->ctx, sorted, count);
    c->start[fold + 1] = c->start[fold] + count;
    for (int64_t j = 0; j < c->columns; j++) {
        double mass = 0;
        for (int64_t i = 0; i < count; i++)
            sorted[i] = (scored){scores[i * c->columns + j], weights ? weights[i] : 1};
        qsort(sorted, (size_t)count, sizeof *sorted, by_score);
        for (int64_t i = 0; i < count; i++) {
            int64_t place = j * c->rows + c->start[fold] + i;
            c->scores[place] = sorted[i].score;
            c->mass[place] = mass += sorted[i].weight;
        }
    }
cleanup:
    kfe_i_free(c->ctx, sorted);
    return status;
}

double kfe_i_conformal_margin(const double *scores, int64_t classes, int64_t g)
{
    double rival = -INFINITY;

    for (int64_t h = 0; h < classes; h++)
        rival = h != g ? fmax(rival, scores[h]) : rival;
    return rival - scores[g];
}

kfe_status kfe_i_conformal_score(kfe_context *ctx, const kfe_i_predictor *p, const kfe_i_target *target,
                                 const int64_t *rows, int64_t count, const double *outputs, double *scores)
{
    kfe_status status = KFE_OK;
    double *of_classes = NULL;
    int64_t columns = p->classes ? 1 : p->outputs;

    KFE_ALLOC(ctx, of_classes, p->classes + 1);
    for (int64_t i = 0; i < count; i++) {
        const double *row = outputs + i * p->outputs;
        if (p->classes) {
            kfe_i_predictor_class_scores(p, row, of_classes);
            scores[i] = kfe_i_conformal_margin(of_classes, p->classes, target->codes[rows[i]]);
        }
        for (int64_t j = 0; !p->classes && j < columns; j++)
            scores[i * columns + j] = fabs(target->values[rows[i] * columns + j] - row[j]);
    }
    for (int64_t i = 0; i < count * columns; i++)
        if (!isfinite(scores[i]))
            KFE_FAIL(ctx, KFE_EINPUT,
                     "{conformal}: a prediction for a row that was left out is not a finite number; give "
                     "columns or targets of smaller numbers");
cleanup:
    kfe_i_free(ctx, of_classes);
    return status;
}

/* ---- applying ---- */

/* The weight of the rows of all folds. */
static double mass_of(const kfe_i_conformal *c)
{
    double mass = 0;

    for (int64_t k = 0; k < c->folds; k++)
        mass += c->mass[c->start[k + 1] - 1];
    return mass;
}

kfe_status kfe_i_conformal_need(kfe_context *ctx, const kfe_i_conformal *c, double level, double *out)
{
    enum { ROUNDINGS = 8 }; /* level·(n + 1) may be a whole number but for the rounding of the level */
    double mass = mass_of(c);

    if (!(level > 0 && level < 1))
        return kfe_i_fail(ctx, KFE_EINVAL, "{intervals} takes a level between 0 and 1, such as 0.9");
    *out = level * (mass + 1) * (1 - ROUNDINGS * 2.3e-16);
    if (*out > mass)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "{intervals=%g}: the %g examples (by weight) that the fit left out are too few; give a level "
            "up to %.4g, or fit the model on more examples",
            level, mass, floor(1e4 * mass / (mass + 1)) / 1e4);
    return KFE_OK;
}

/* How many scores of a fold, moved by `centre`, are at most (strict: below) v. */
static int64_t count_upto(const kfe_i_conformal *c, int64_t fold, const double *scores, double centre,
                          double v, int strict)
{
    int64_t low = c->start[fold];
    int64_t high = c->start[fold + 1];

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        double moved = centre + scores[middle];
        if (strict ? moved < v : moved <= v)
            low = middle + 1;
        else
            high = middle;
    }
    return low - c->start[fold];
}

static double mass_upto(const kfe_i_conformal *c, int64_t column, const double *centres, double v)
{
    double mass = 0;

    for (int64_t k = 0; k < c->folds; k++) {
        int64_t count = count_upto(c, k, c->scores + column * c->rows, centres[k], v, 0);
        mass += count > 0 ? c->mass[column * c->rows + c->start[k] + count - 1] : 0;
    }
    return mass;
}

/* What is known of the bound: it is above `failed` and at most `best`. */
typedef struct search {
    double failed, best;
} search;

static int is_enough(const kfe_i_conformal *c, int64_t column, const double *centres, double need, double v,
                     search *known)
{
    if (v <= known->failed || v >= known->best)
        return v >= known->best;
    if (mass_upto(c, column, centres, v) < need) {
        known->failed = v;
        return 0;
    }
    known->best = v;
    return 1;
}

double kfe_i_conformal_bound(const kfe_i_conformal *c, int64_t column, const double *centres, double need)
{
    const double *scores = c->scores + column * c->rows;
    search known = {-INFINITY, INFINITY};

    for (int64_t k = 0; k < c->folds; k++) {
        int64_t low = c->start[k];
        int64_t high = c->start[k + 1];
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (is_enough(c, column, centres, need, centres[k] + scores[middle], &known))
                high = middle;
            else
                low = middle + 1;
        }
    }
    return known.best;
}

double kfe_i_conformal_below(const kfe_i_conformal *c, int64_t fold, double score)
{
    int64_t count = count_upto(c, fold, c->scores, 0, score, 1);

    return count > 0 ? c->mass[c->start[fold] + count - 1] : 0;
}
