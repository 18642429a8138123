/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class rules of PLS-DA. The rules max and centroid: Lê Cao, Boitard & Besse (2011). Thresholds where the densities of members and others
 * cross: Pérez, Ferré & Boqué (2009), with normal densities; sums count examples by their weights.
 */
#include "method/deflation/class_rule.h"

#include <math.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

/* ---- the features of the training examples ---- */

static kfe_status find_features(kfe_context *ctx, const kfe_i_fit_source *source,
                                const kfe_i_solution *solution, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = source->views[0].rows;

    KFE_TRY(kfe_i_table_new_dense(ctx, rows, solution->dim, out));
    kfe_i_tables_times(ctx, source->views, source->view_count, solution->coefficients, solution->dim,
                       out->values);
    KFE_TRY(kfe_i_nipals_features(ctx, &solution->nipals, source->views, solution->offset, out->values));
    for (int64_t i = 0; solution->offset && i < rows; i++)
        for (int64_t j = 0; j < solution->dim; j++)
            out->values[i * solution->dim + j] -= solution->offset[j];
cleanup:
    return status;
}

static kfe_status learn_with(kfe_context *ctx, const char *learner, const kfe_i_table *features,
                             const kfe_i_target *target, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *found = NULL;
    void *settings = NULL;

    KFE_TRY(kfe_i_learner_find(ctx, learner, &found));
    settings = kfe_i_alloc_zero(ctx, 1, found->params.size + 1);
    if (!settings)
        KFE_TRY(kfe_i_lack(ctx));
    KFE_TRY(kfe_i_params_default(ctx, &found->params, settings));
    KFE_TRY(found->fit(ctx, features, target, settings, out));
cleanup:
    kfe_i_free(ctx, settings);
    return status;
}

/* The learner ls codes members by 1 and others by −1; half its outputs are ŷ_g − ½. Its records are about its own coding. */
static void halve(kfe_i_predictor *predictor)
{
    predictor->record_count = 0;
    for (int64_t k = 0; k < predictor->rows * predictor->outputs; k++)
        predictor->weights[k] /= 2;
    for (int64_t g = 0; g < predictor->outputs; g++)
        predictor->offset[g] /= 2;
}

/* ---- thresholds ---- */

typedef struct density {
    double mass, mean, deviation;
} density;

/* Of output g over the members of class g, or over the others. */
static density measure(const kfe_i_target *target, const double *outputs, int64_t g, int members)
{
    density d = {0};
    double square = 0;
    int64_t c = target->class_count;

    for (int64_t i = 0; i < target->rows; i++)
        if ((target->codes[i] == g) == members) {
            d.mass += kfe_i_weight_of(target, i);
            d.mean += kfe_i_weight_of(target, i) * outputs[i * c + g];
        }
    d.mean /= d.mass;
    for (int64_t i = 0; i < target->rows; i++)
        if ((target->codes[i] == g) == members)
            square += kfe_i_weight_of(target, i) * pow(outputs[i * c + g] - d.mean, 2);
    d.deviation = sqrt(square / d.mass);
    return d;
}

/* The logarithm of the density of members at t less that of the others. */
static double excess(const density *members, const density *others, double t)
{
    double u = (t - members->mean) / members->deviation;
    double v = (t - others->mean) / others->deviation;

    return log(others->deviation / members->deviation) - u * u / 2 + v * v / 2;
}

/* Where the densities are equal, between the means; if one is larger all the way, or has no width, where t is as many deviations from both
 * means. */
static double threshold_between(const density *members, const density *others)
{
    double low = others->mean;
    double high = members->mean;
    double both = members->deviation + others->deviation;

    if (!(members->deviation > 0 && others->deviation > 0) || excess(members, others, low) >= 0 ||
        excess(members, others, high) <= 0)
        return both > 0 ? (low * members->deviation + high * others->deviation) / both : (low + high) / 2;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            return middle;
        if (excess(members, others, middle) > 0)
            high = middle;
        else
            low = middle;
    }
}

static kfe_status set_thresholds(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                                 kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    kfe_i_predictor *predictor = &solution->predictor;
    int64_t c = target->class_count;
    double *outputs = NULL;
    double *thresholds = NULL;

    KFE_ALLOC(ctx, outputs, target->rows * c);
    KFE_ALLOC(ctx, thresholds, c);
    KFE_TRY(kfe_i_predictor_outputs(ctx, predictor, features, outputs));
    for (int64_t g = 0; g < c; g++) {
        density members = measure(target, outputs, g, 1);
        density others = measure(target, outputs, g, 0);
        double shift = threshold_between(&members, &others);
        predictor->offset[g] += shift;
        thresholds[g] = shift + 0.5;
    }
    KFE_TRY(kfe_i_solution_record(solution, "class-thresholds", thresholds, c));
cleanup:
    kfe_i_free(ctx, outputs);
    kfe_i_free(ctx, thresholds);
    return status;
}

/* ---- all together ---- */

/* Adds weight times the outputs of a view, whose features begin at `first`. */
static void add_view(const kfe_i_predictor *view, int64_t first, double weight, kfe_i_predictor *out)
{
    for (int64_t k = 0; k < view->rows * view->outputs; k++)
        out->weights[first * out->outputs + k] += weight * view->weights[k];
    for (int64_t g = 0; g < view->outputs; g++)
        out->offset[g] += weight * view->offset[g];
}

static kfe_status learn_view(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                             kfe_i_class_rule rule, kfe_i_predictor *out)
{
    kfe_status status = learn_with(ctx, rule == KFE_RULE_CENTROID ? "centroid" : "ls", features, target, out);

    if (status == KFE_OK && rule != KFE_RULE_CENTROID)
        halve(out);
    return status;
}

kfe_status kfe_i_class_rule_learn_views(kfe_context *ctx, const kfe_i_fit_source *source,
                                        kfe_i_class_rule rule, const double *weights,
                                        kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    int64_t dim = solution->dim / source->view_count;
    int64_t classes = source->target->class_count;
    kfe_i_predictor *all = &solution->predictor;
    kfe_i_predictor view = {0};
    kfe_i_table features = {0};

    KFE_TRY(find_features(ctx, source, solution, &features));
    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, KFE_DECIDE_LARGEST, solution->dim, classes,
                                  solution->dim, all));
    all->classes = classes;
    for (int v = 0; v < source->view_count; v++) {
        kfe_i_table own = kfe_i_table_slice(&features, 0, features.rows);
        own.values += v * dim;
        own.cols = dim;
        KFE_TRY(learn_view(ctx, &own, source->target, rule, &view));
        add_view(&view, v * dim, weights[v], all);
        kfe_i_predictor_free(&view);
    }
    if (rule == KFE_RULE_THRESHOLD)
        KFE_TRY(set_thresholds(ctx, &features, source->target, solution));
cleanup:
    if (view.outputs > 0)
        kfe_i_predictor_free(&view);
    kfe_i_table_free(&features);
    return status;
}

kfe_status kfe_i_class_rule_learn(kfe_context *ctx, const kfe_i_fit_source *source, kfe_i_class_rule rule,
                                  kfe_i_solution *solution)
{
    double weight = 1;

    assert(source->view_count == 1);
    return kfe_i_class_rule_learn_views(ctx, source, rule, &weight, solution);
}
