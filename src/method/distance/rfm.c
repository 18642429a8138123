/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive feature machine: kernel ridge regression that learns the distance inside its kernel. From M = I, repeat
 *
 *     f ← kernel ridge regression with the kernel on z = M^(1/2) x
 *     M ← (Σ_c Σ_j ∇f_c(x_j)∇f_c(x_j)ᵀ / n)^power, or its diagonal, normalised
 *
 * so that columns and directions along which the predictor does not vary stop counting in the kernel. If leave-one-out chooses the ridge,
 * the gradients are those of a regression with a small one (distance.h). A random part of the
 * examples is held out; the iteration that predicts it best is kept, and the regression is fitted again on all examples. With
 * distance=auto, a full and a diagonal M are both learned, and the held-out examples decide between them.
 *
 * Radhakrishnan, Beaglehole, Pandit & Belkin (2024), "Mechanism for feature learning in neural networks and backpropagation-free
 * machine learning models", Science 383.
 * Time: one solve of the Gram operator, or two, and one product O(n²dc) per iteration, c outputs; with m landmarks O(nm(m + dc)),
 * most of it one product CᵀC of the kernel values with the landmarks.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "linalg/basis.h"
#include "method/distance/rfm.h"
#include "method/ridge/ridge.h"

enum { DIRECTIONS_NONE = 0, MOST_RECORDED = 256, LEAST_LEAF = 10 };
/* With directions=auto, they cover this share of the trace of M. */
#define KFE_DISTANCE_SHARE 0.99

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_rfm_settings, iterations, "iterations", "5", 0, 1000,
            "how many times the distance is learned again"),
    KFE_REAL(kfe_i_rfm_settings, power, "power", "1", KFE_REAL_POSITIVE, 2,
             "power of the average gradient outer product that becomes the new distance"),
    KFE_REAL(kfe_i_rfm_settings, held_out, "held-out", "0.2", 0, 0.5,
             "share of the examples that is held out to choose the iteration; 0: keep the last iteration, "
             "and distance=auto means diagonal"),
    KFE_CHOSEN_RIDGE_ROW(kfe_i_rfm_settings, ridge, "ridge",
                         "regularisation of the regressions; auto: by leave-one-out, again in each "
                         "iteration (on a sample if there are more than 200 examples); thousandth: a "
                         "thousandth of the mean diagonal of the kernel matrix"),
    KFE_REAL(kfe_i_rfm_settings, gradient_ridge, "gradient-ridge", "0.01", 0, KFE_REAL_MAX,
             "with ridge=auto, the distance is learned from a regression whose ridge is at most this factor "
             "times the mean diagonal of the kernel matrix; 0: from the regression that predicts"),
    KFE_INT_OR(
        kfe_i_rfm_settings, directions, "directions", "none", 1, KFE_INT_MAX, "none|auto", "none=0|auto=-1",
        "none: the features are the predictions of the regression, one per target or class; a number: the "
        "features are that many leading eigenvectors of the learned matrix, on which the regression is "
        "fitted again; auto: enough eigenvectors to cover 99% of the trace"),
    KFE_INT_OR(
        kfe_i_rfm_settings, leaf_size, "leaf-size", "none", LEAST_LEAF, KFE_INT_MAX, "none", "none=0",
        "maximum number of examples in a leaf, by weight; a tree divides more examples, at the median along "
        "the direction in which the target varies most; every leaf learns its own distance"),
    KFE_REAL(kfe_i_rfm_settings, softness, "softness", "0", 0, 10,
             "with leaf-size: how softly both sides of a division share the points near it, in standard "
             "deviations of the examples along the direction; 0: a point belongs to one side"),
};

/* ---- the solution ---- */

/* From standardised predictions to those of the target: the factor, and the offset that is subtracted afterwards. */
static double output_scale(const kfe_i_rfm *s, int64_t c, double mean, double *offset)
{
    double scale = s->target.scale[c];

    *offset = -(mean * scale + s->target.shift[c]);
    return scale;
}

static kfe_i_decision decision_of(const kfe_i_rfm *s)
{
    if (s->given->target->task != KFE_TASK_CLASSES)
        return KFE_DECIDE_VALUE;
    return s->target.columns == 1 ? KFE_DECIDE_PAIRS : KFE_DECIDE_LARGEST;
}

/* One output of two classes is above 0 for the first, but the regression is so for the second. */
static double output_sign(const kfe_i_rfm *s)
{
    return decision_of(s) == KFE_DECIDE_PAIRS ? -1 : 1;
}

static kfe_status predict_from_outputs(const kfe_i_rfm *s, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->target.columns;
    int pairs = decision_of(s) == KFE_DECIDE_PAIRS;

    KFE_TRY(kfe_i_predictor_begin(s->ctx, pairs ? KFE_PREDICTOR_LINEAR : KFE_PREDICTOR_DIRECT, decision_of(s),
                                  k, k, pairs ? k : 0, out));
    out->classes = s->given->target->task == KFE_TASK_CLASSES ? s->given->target->class_count : 0;
    if (pairs)
        out->weights[0] = output_sign(s);
cleanup:
    return status;
}

static kfe_status output_features(kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->target.columns;
    kfe_i_distance_fit fit = {0};

    KFE_TRY(kfe_i_rfm_last_fit(s, &s->best.map, &fit));
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_DUAL, fit.support.rows, k, out));
    if (fit.landmarks > 0) {
        KFE_ALLOC(s->ctx, out->index, fit.landmarks);
        memcpy(out->index, fit.landmark_index, (size_t)fit.landmarks * sizeof *out->index);
    }
    KFE_ALLOC(s->ctx, out->offset, k);
    for (int64_t c = 0; c < k; c++) {
        double scale = output_scale(s, c, fit.mean[c], &out->offset[c]);
        for (int64_t i = 0; i < fit.support.rows; i++)
            out->coefficients[i * k + c] = scale * fit.coefficients[i * k + c];
    }
    KFE_TRY(predict_from_outputs(s, &out->predictor));
    KFE_TRY(kfe_i_map_copy(s->ctx, &s->best.map, &out->map));
    KFE_TRY(kfe_i_distance_fit_record(&fit, out));
cleanup:
    kfe_i_distance_fit_free(&fit);
    return status;
}

/* M, d × d; `m` is zeroed before. */
static void matrix_of(const kfe_i_rfm *s, double *m)
{
    const kfe_i_map *map = &s->best.map;
    int64_t d = s->x->cols;

    if (map->values && !map->diagonal)
        kfe_i_times_transpose(d, map->cols, d, map->values, map->values, m);
    for (int64_t i = 0; !(map->values && !map->diagonal) && i < d; i++)
        m[i * d + i] = map->values ? map->values[i] * map->values[i] : 1;
}

/* The leading columns of the map: as many as asked for, or those that cover the trace. */
static int64_t leading(const kfe_i_rfm *s, const kfe_i_map *root)
{
    double total = 0;
    double sum = 0;
    int64_t count = 0;

    if (s->settings->directions > 0)
        return kfe_i_clamp_dim(s->ctx, "rfm", s->settings->directions, root->cols,
                               "the learned distance has no more directions");
    for (int64_t p = 0; p < kfe_i_map_size(root); p++)
        total += root->values[p] * root->values[p];
    while (count < root->cols && sum < KFE_DISTANCE_SHARE * total) {
        for (int64_t i = 0; i < root->rows; i++)
            sum += pow(root->values[i * root->cols + count], 2);
        count++;
    }
    return count;
}

/* *out = the leading eigenvectors of M, times the roots of their eigenvalues. */
static kfe_status leading_directions(kfe_i_rfm *s, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->x->cols;
    double *m = NULL;
    kfe_i_map root = {0};

    KFE_ALLOC_ZERO(s->ctx, m, d * d);
    matrix_of(s, m);
    KFE_TRY(kfe_i_distance_root(s->ctx, d, 0, 1, 0, m, &root));
    int64_t dim = leading(s, &root);
    KFE_TRY(kfe_i_map_new(s->ctx, d, dim, 0, out));
    kfe_i_copy_block(d, dim, root.values, root.cols, out->values, dim);
    KFE_TRY(kfe_i_distance_normalise(s->ctx, s->x, out));
cleanup:
    kfe_i_free(s->ctx, m);
    kfe_i_map_free(&root);
    return status;
}

/* The regression on the directions as a predictor. */
static kfe_status predict_from_directions(kfe_i_rfm *s, const kfe_i_map *map, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->target.columns;
    kfe_i_distance_fit fit = {0};
    kfe_i_predictor *p = &out->predictor;

    KFE_TRY(kfe_i_rfm_last_fit(s, map, &fit));
    KFE_TRY(kfe_i_predictor_begin(s->ctx, KFE_PREDICTOR_EXPANSION, decision_of(s), map->cols, k,
                                  fit.support.rows, p));
    p->classes = s->given->target->task == KFE_TASK_CLASSES ? s->given->target->class_count : 0;
    KFE_TRY(kfe_i_kernel_copy(s->ctx, &s->given->kernels->items[0], &p->kernel));
    KFE_TRY(kfe_i_table_copy(s->ctx, &fit.support, &p->support));
    for (int64_t c = 0; c < k; c++) {
        double scale = output_sign(s) * output_scale(s, c, fit.mean[c], &p->offset[c]);
        p->offset[c] *= output_sign(s);
        for (int64_t i = 0; i < fit.support.rows; i++)
            p->weights[i * k + c] = scale * fit.coefficients[i * k + c];
    }
    KFE_TRY(kfe_i_distance_fit_record(&fit, out));
cleanup:
    kfe_i_distance_fit_free(&fit);
    return status;
}

static void fix_signs(kfe_i_map *map)
{
    for (int64_t j = 0; j < map->cols; j++) {
        double largest = 0;
        for (int64_t i = 0; i < map->rows; i++)
            if (fabs(map->values[i * map->cols + j]) > (1 + 1e-8) * fabs(largest))
                largest = map->values[i * map->cols + j];
        for (int64_t i = 0; largest < 0 && i < map->rows; i++)
            map->values[i * map->cols + j] *= -1;
    }
}

static kfe_status direction_features(kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_map map = {0};

    if (s->given->kernels->count > 1)
        KFE_FAIL(s->ctx, KFE_EINVAL, "rfm: {directions} take one kernel, but %lld were given",
                 (long long)s->given->kernels->count);
    KFE_TRY(leading_directions(s, &map));
    fix_signs(&map);
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_PRIMAL, map.rows, map.cols, out));
    memcpy(out->coefficients, map.values, (size_t)kfe_i_map_size(&map) * sizeof *map.values);
    KFE_TRY(predict_from_directions(s, &map, out));
cleanup:
    kfe_i_map_free(&map);
    return status;
}

/* ---- records ---- */

/* The diagonal of M, which sums to 1: how much each column counts. */
static kfe_status record_importance(const kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->x->cols;
    double *importance = NULL;

    KFE_ALLOC(s->ctx, importance, d);
    kfe_i_map_diagonal(&s->best.map, d, importance);
    cblas_dscal((blasint)d, 1 / cblas_dasum((blasint)d, importance, 1), importance, 1);
    KFE_TRY(kfe_i_solution_record(out, "importance", importance, d));
cleanup:
    kfe_i_free(s->ctx, importance);
    return status;
}

/* M itself, unless it is larger than MOST_RECORDED columns; the model has its map in any case. */
static kfe_status record_matrix(const kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->x->cols;
    double *m = NULL;

    if (d > MOST_RECORDED)
        return KFE_OK;
    KFE_ALLOC_ZERO(s->ctx, m, d * d);
    matrix_of(s, m);
    KFE_TRY(kfe_i_solution_record(out, "distance", m, d * d));
cleanup:
    kfe_i_free(s->ctx, m);
    return status;
}

/* The held-out errors of one form, from the iteration without a distance on. */
static kfe_status record_errors(const kfe_i_rfm *s, kfe_i_distance_form form, const char *name,
                                kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t count = 1;
    double *errors = s->errors + (form == KFE_DISTANCE_DIAGONAL) * (s->settings->iterations + 1);

    if (s->held.x.rows == 0)
        return KFE_OK;
    errors[0] = isnan(errors[0]) ? s->errors[s->settings->iterations + 1] : errors[0]; /* both start alike */
    while (count <= s->settings->iterations && !isnan(errors[count]))
        count++;
    if (count > 1)
        KFE_TRY(kfe_i_solution_record(out, name, errors, count));
cleanup:
    return status;
}

static kfe_status add_records(const kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double iteration = (double)s->best.iteration;
    double full = s->best.form == KFE_DISTANCE_FULL;

    KFE_TRY(record_matrix(s, out));
    KFE_TRY(record_importance(s, out));
    KFE_TRY(record_errors(s, KFE_DISTANCE_DIAGONAL, "errors-diagonal", out));
    KFE_TRY(record_errors(s, KFE_DISTANCE_FULL, "errors-full", out));
    KFE_TRY(kfe_i_solution_record(out, "iteration", &iteration, 1));
    KFE_TRY(kfe_i_solution_record(out, "full", &full, 1));
    kfe_i_log(s->ctx, KFE_LOG_INFO, "rfm: %s distance of iteration %lld", full > 0 ? "full" : "diagonal",
              (long long)s->best.iteration);
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status check_leaves(const kfe_i_rfm *s)
{
    if (s->settings->leaf_size == 0)
        return KFE_OK;
    if (s->settings->directions != DIRECTIONS_NONE)
        return kfe_i_fail(s->ctx, KFE_EINVAL,
                          "rfm: the leaves of a tree have no common {directions}; leave out {leaf-size} or "
                          "{directions}");
    if (s->given->landmarks.count > 0)
        return kfe_i_fail(s->ctx, KFE_EINVAL,
                          "rfm: {leaf-size} and {landmarks} are two ways to fit many examples; leave out one "
                          "of them");
    return KFE_OK;
}

/* Fits all examples together, or those of each leaf. */
static kfe_status fit_examples(kfe_i_rfm *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int divided = 0;

    if (s->settings->leaf_size > 0 && kfe_i_table_weight(s->x) > (double)s->settings->leaf_size)
        KFE_TRY(kfe_i_rfm_fit_tree(s, &divided, out));
    if (divided)
        return predict_from_outputs(s, &out->predictor);
    KFE_TRY(kfe_i_rfm_hold_out(s));
    KFE_TRY(kfe_i_rfm_search(s));
    if (s->settings->directions == DIRECTIONS_NONE)
        KFE_TRY(output_features(s, out));
    else
        KFE_TRY(direction_features(s, out));
    KFE_TRY(add_records(s, out));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table x = kfe_i_weighted_rows(&source->views[0], source->target);
    kfe_i_rfm s = {.ctx = ctx, .memory = {.ctx = ctx}, .settings = settings, .given = source, .x = &x};

    KFE_TRY(check_leaves(&s));
    KFE_TRY(kfe_i_distance_target_make(ctx, "rfm", source->target, &s.target));
    s.problem = (kfe_i_distance_problem){.method = "rfm",
                                         .given = source,
                                         .ridge = s.settings->ridge,
                                         .gradient_ridge = s.settings->gradient_ridge,
                                         .columns = s.target.columns};
    KFE_TRY(fit_examples(&s, out));
cleanup:
    kfe_i_rfm_free(&s);
    return status;
}

const kfe_i_method kfe_i_method_rfm = {
    .name = "rfm",
    .summary = "kernel regression that learns the distance inside its kernel from its own gradients",
    .reference = "Radhakrishnan et al. 2024",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_SYNTHETIC |
             KFE_HAS_PREDICTOR | KFE_HAS_DERIVATIVE | KFE_HAS_SAMPLE_WEIGHTS,
    .kernel = "exp",
    .params = KFE_PARAM_TABLE(rows, kfe_i_rfm_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
