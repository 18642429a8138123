/* SPDX-License-Identifier: Apache-2.0 */
/* The iterations of rfm: examples held out, fits, metrics from their gradients, and the choice among them. Called by rfm.c. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "method/metric/rfm.h"

static const kfe_i_map no_map = {0};

/* ---- held-out examples ---- */

static void gather_targets(const kfe_i_rfm *s, const int64_t *index, int64_t count, double *out)
{
    int64_t k = s->target.columns;

    for (int64_t i = 0; i < count; i++)
        memcpy(out + i * k, s->target.values + index[i] * k, (size_t)k * sizeof *out);
}

/* Gives the two parts the weights of their rows. */
static kfe_status divide_weights(kfe_i_rfm *s)
{
    kfe_status status = KFE_OK;

    if (!s->x->weights)
        return KFE_OK;
    KFE_ALLOC(s->ctx, s->weights, s->x->rows);
    for (int64_t i = 0; i < s->x->rows; i++)
        s->weights[i] = s->x->weights[s->index[i]];
    s->fit_x.weights = s->weights;
    s->held_x.weights = s->weights + s->fit_count;
cleanup:
    return status;
}

kfe_status kfe_i_rfm_hold_out(kfe_i_rfm *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->x->rows;
    int64_t k = s->target.columns;
    kfe_i_rng rng;

    s->held_count = (int64_t)(s->settings->held_out * (double)n);
    s->fit_count = n - s->held_count;
    if (s->fit_count < 3 || s->settings->iterations == 0) {
        s->fit_count = n;
        s->held_count = 0;
    }
    KFE_ALLOC(s->ctx, s->index, n);
    for (int64_t i = 0; i < n; i++)
        s->index[i] = i;
    if (s->held_count > 0) {
        kfe_i_rng_init(&rng, kfe_context_seed(s->ctx), KFE_STREAM_HELD_OUT);
        kfe_i_rng_choose(&rng, n, n, s->index);
    }
    if (s->held_count == 0) {
        s->fit_x = kfe_i_table_slice(s->x, 0, n);
    } else {
        KFE_TRY(kfe_i_table_gather(s->ctx, s->x, s->index, s->fit_count, &s->fit_x));
        KFE_TRY(kfe_i_table_gather(s->ctx, s->x, s->index + s->fit_count, s->held_count, &s->held_x));
    }
    KFE_TRY(divide_weights(s));
    KFE_ALLOC(s->ctx, s->fit_y, s->fit_count * k);
    KFE_ALLOC(s->ctx, s->held_y, s->held_count * k);
    KFE_ALLOC(s->ctx, s->predicted, s->held_count * k);
    gather_targets(s, s->index, s->fit_count, s->fit_y);
    gather_targets(s, s->index + s->fit_count, s->held_count, s->held_y);
cleanup:
    return status;
}

static int64_t class_of(const double *y, int64_t columns)
{
    int64_t best = 0;

    if (columns == 1)
        return y[0] > 0;
    for (int64_t c = 1; c < columns; c++)
        best = y[c] > y[best] ? c : best;
    return best;
}

/* The errors of the predictions for the held-out examples. */
static void measure(const kfe_i_rfm *s, double *error, double *squares)
{
    int64_t k = s->target.columns;
    double wrong = 0;
    double mass = 0;

    *squares = 0;
    for (int64_t i = 0; i < s->held_count; i++) {
        double weight = kfe_i_row_weight(&s->held_x, i);
        for (int64_t c = 0; c < k; c++)
            *squares += weight * pow(s->predicted[i * k + c] - s->held_y[i * k + c], 2);
        wrong += class_of(s->predicted + i * k, k) != class_of(s->held_y + i * k, k) ? weight : 0;
        mass += weight;
    }
    *squares /= mass * (double)k;
    *error = s->given->target->task == KFE_TASK_CLASSES ? wrong / mass : sqrt(*squares);
}

/* ---- iterations ---- */

static int is_better(const kfe_i_rfm_candidate *a, const kfe_i_rfm_candidate *b)
{
    return a->error < b->error || (a->error == b->error && a->squares < b->squares);
}

/* Judges a fit and keeps its map if it is the best so far; without held-out examples the last one is. */
static kfe_status judge(kfe_i_rfm *s, const kfe_i_metric_fit *fit, const kfe_i_map *map, int64_t iteration,
                        kfe_i_metric_form form)
{
    kfe_status status = KFE_OK;
    kfe_i_rfm_candidate now = {.iteration = iteration, .form = form};

    if (s->held_count > 0) {
        KFE_TRY(kfe_i_metric_predict(s->ctx, &s->problem, fit, map, &s->held_x, s->predicted));
        measure(s, &now.error, &now.squares);
        s->errors[(form == KFE_METRIC_DIAGONAL) * (s->settings->iterations + 1) + iteration] = now.error;
        if (iteration > 0 && !is_better(&now, &s->best))
            return KFE_OK;
    }
    KFE_TRY(kfe_i_map_copy(s->ctx, map, &now.map));
    kfe_i_map_free(&s->best.map);
    s->best = now;
    memset(&now.map, 0, sizeof now.map);
cleanup:
    kfe_i_map_free(&now.map);
    return status;
}

/* The next map from the gradients of a fit; without values if the predictor is constant. */
static kfe_status next_map(kfe_i_rfm *s, const kfe_i_metric_fit *fit, const kfe_i_map *map,
                           kfe_i_metric_form form, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->x->cols;
    int diagonal = form == KFE_METRIC_DIAGONAL;
    double *g = NULL;

    memset(out, 0, sizeof *out);
    KFE_ALLOC(s->ctx, g, diagonal ? d : d * d);
    KFE_TRY(kfe_i_metric_gradients(s->ctx, &s->problem, fit, map, diagonal, d, g));
    KFE_TRY(kfe_i_metric_root(s->ctx, d, diagonal, s->settings->power, 0, g, out));
    if (out->values)
        KFE_TRY(kfe_i_metric_normalise(s->ctx, &s->fit_x, out));
cleanup:
    kfe_i_free(s->ctx, g);
    return status;
}

/* Whether the search needs the fit of iteration t: for the next metric, or for a judgement by held-out examples. The chosen metric is fitted
 * again, on all examples. */
static int is_needed(const kfe_i_rfm *s, int64_t t)
{
    return t < s->settings->iterations || s->held_count > 0;
}

static kfe_status run_form(kfe_i_rfm *s, kfe_i_metric_form form)
{
    kfe_status status = KFE_OK;
    kfe_i_metric_problem problem = s->problem;
    kfe_i_metric_fit fit = {0};
    kfe_i_map map = {0};
    kfe_i_map next = {0};

    for (int64_t t = 1; t <= s->settings->iterations; t++) {
        KFE_TRY(kfe_i_checkpoint(s->ctx, "learning the metric", t - 1, s->settings->iterations));
        KFE_TRY(next_map(s, t == 1 ? &s->first : &fit, &map, form, &next));
        if (!next.values)
            break;
        kfe_i_map_free(&map);
        map = next;
        memset(&next, 0, sizeof next);
        kfe_i_metric_fit_free(&fit);
        if (t == s->settings->iterations)
            problem.gradient_ridge = 0;
        if (is_needed(s, t))
            KFE_TRY(kfe_i_metric_fit_make(s->ctx, &problem, &map, &s->fit_x, s->fit_y, &fit));
        KFE_TRY(judge(s, &fit, &map, t, form));
    }
cleanup:
    kfe_i_metric_fit_free(&fit);
    kfe_i_map_free(&map);
    kfe_i_map_free(&next);
    return status;
}

kfe_status kfe_i_rfm_search(kfe_i_rfm *s)
{
    kfe_status status = KFE_OK;
    kfe_i_metric_form metric = s->given->metric;
    int64_t count = 2 * (s->settings->iterations + 1);

    KFE_ALLOC(s->ctx, s->errors, count);
    for (int64_t t = 0; t < count; t++)
        s->errors[t] = NAN;
    if (metric == KFE_METRIC_AUTO && s->held_count == 0)
        metric = KFE_METRIC_DIAGONAL;
    if (is_needed(s, 0))
        KFE_TRY(kfe_i_metric_fit_make(s->ctx, &s->problem, &no_map, &s->fit_x, s->fit_y, &s->first));
    KFE_TRY(
        judge(s, &s->first, &no_map, 0, metric == KFE_METRIC_FULL ? KFE_METRIC_FULL : KFE_METRIC_DIAGONAL));
    if (metric != KFE_METRIC_FULL)
        KFE_TRY(run_form(s, KFE_METRIC_DIAGONAL));
    if (metric != KFE_METRIC_DIAGONAL)
        KFE_TRY(run_form(s, KFE_METRIC_FULL));
    kfe_i_metric_fit_free(&s->first);
cleanup:
    return status;
}

kfe_status kfe_i_rfm_last_fit(const kfe_i_rfm *s, const kfe_i_map *map, kfe_i_metric_fit *out)
{
    kfe_i_metric_problem problem = s->problem;

    problem.gradient_ridge = 0;
    return kfe_i_metric_fit_make(s->ctx, &problem, map, s->x, s->target.values, out);
}

void kfe_i_rfm_free(kfe_i_rfm *s)
{
    kfe_i_metric_target_free(&s->target);
    kfe_i_free(s->ctx, s->index);
    kfe_i_table_free(&s->fit_x);
    kfe_i_table_free(&s->held_x);
    kfe_i_free(s->ctx, s->fit_y);
    kfe_i_free(s->ctx, s->held_y);
    kfe_i_free(s->ctx, s->weights);
    kfe_i_free(s->ctx, s->predicted);
    kfe_i_metric_fit_free(&s->first);
    kfe_i_map_free(&s->best.map);
    kfe_i_free(s->ctx, s->errors);
}
