/* SPDX-License-Identifier: Apache-2.0 */
/* The iterations of rfm: examples held out, fits, distances from their gradients, and the choice among them. Called by rfm.c. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "method/distance/rfm.h"

static const kfe_i_map no_map = {0};

/* ---- held-out examples ---- */

kfe_status kfe_i_rfm_gather(const kfe_i_rfm *s, kfe_i_arena *memory, const int64_t *index, int64_t count,
                            kfe_i_rfm_rows *out)
{
    kfe_status status = KFE_OK;
    int64_t k = s->target.columns;
    double *weights;
    kfe_i_row_key *keys;

    KFE_TRY(kfe_i_table_gather(s->ctx, s->x, index, count, &out->x));
    KFE_TAKE(memory, out->y, count * k);
    KFE_TAKE(memory, weights, count);
    KFE_TAKE(memory, keys, count);
    for (int64_t i = 0; i < count; i++) {
        memcpy(out->y + i * k, s->target.values + index[i] * k, (size_t)k * sizeof *out->y);
        weights[i] = kfe_i_row_weight(s->x, index[i]);
        if (s->x->keys)
            keys[i] = s->x->keys[index[i]];
    }
    out->x.weights = s->x->weights ? weights : NULL;
    out->x.keys = s->x->keys ? keys : NULL;
cleanup:
    return status;
}

/* index: the rows in the order of their content, the share of the distinct ones that is held out at the end; *held of them. */
static kfe_status divide_rows(const kfe_i_rfm *s, int64_t *index, int64_t *held)
{
    kfe_status status = KFE_OK;
    int64_t n = s->x->rows;
    kfe_i_distinct distinct = {0};

    if (s->settings->iterations == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_distinct_make(s->ctx, n, s->x->keys, KFE_STREAM_HELD_OUT, &distinct));
    int64_t some = (int64_t)(s->settings->held_out * (double)distinct.count);
    if (some == 0 || distinct.count - some < 3)
        goto cleanup;
    KFE_TRY(kfe_i_distinct_order(&distinct, index));
    for (int64_t i = 0; i < n; i++)
        *held += distinct.of[i] >= distinct.count - some;
cleanup:
    kfe_i_distinct_free(&distinct);
    return status;
}

kfe_status kfe_i_rfm_hold_out(kfe_i_rfm *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->x->rows;
    int64_t held = 0;
    int64_t *index;

    KFE_TAKE(&s->memory, index, n);
    KFE_TRY(divide_rows(s, index, &held));
    if (held == 0) {
        s->fit = (kfe_i_rfm_rows){kfe_i_table_slice(s->x, 0, n), s->target.values};
        s->fit.x.weights = s->x->weights;
        s->fit.x.keys = s->x->keys;
    } else {
        KFE_TRY(kfe_i_rfm_gather(s, &s->memory, index, n - held, &s->fit));
        KFE_TRY(kfe_i_rfm_gather(s, &s->memory, index + n - held, held, &s->held));
    }
    KFE_TAKE(&s->memory, s->predicted, held * s->target.columns);
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
    for (int64_t i = 0; i < s->held.x.rows; i++) {
        double weight = kfe_i_row_weight(&s->held.x, i);
        for (int64_t c = 0; c < k; c++)
            *squares += weight * pow(s->predicted[i * k + c] - s->held.y[i * k + c], 2);
        wrong += class_of(s->predicted + i * k, k) != class_of(s->held.y + i * k, k) ? weight : 0;
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
static kfe_status judge(kfe_i_rfm *s, const kfe_i_distance_fit *fit, const kfe_i_map *map, int64_t iteration,
                        kfe_i_distance_form form)
{
    kfe_status status = KFE_OK;
    kfe_i_rfm_candidate now = {.iteration = iteration, .form = form};

    if (s->held.x.rows > 0) {
        KFE_TRY(kfe_i_distance_predict(s->ctx, &s->problem, fit, map, &s->held.x, s->predicted));
        measure(s, &now.error, &now.squares);
        s->errors[(form == KFE_DISTANCE_DIAGONAL) * (s->settings->iterations + 1) + iteration] = now.error;
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
static kfe_status next_map(kfe_i_rfm *s, const kfe_i_distance_fit *fit, const kfe_i_map *map,
                           kfe_i_distance_form form, kfe_i_map *out)
{
    kfe_status status = KFE_OK;
    int64_t d = s->x->cols;
    int diagonal = form == KFE_DISTANCE_DIAGONAL;
    double *g = NULL;

    memset(out, 0, sizeof *out);
    KFE_ALLOC(s->ctx, g, diagonal ? d : d * d);
    KFE_TRY(kfe_i_distance_gradients(s->ctx, &s->problem, fit, map, diagonal, d, g));
    KFE_TRY(kfe_i_distance_root(s->ctx, d, diagonal, s->settings->power, 0, g, out));
    if (out->values)
        KFE_TRY(kfe_i_distance_normalise(s->ctx, &s->fit.x, out));
cleanup:
    kfe_i_free(s->ctx, g);
    return status;
}

/* Whether the search needs the fit of iteration t: for the next distance, or for a judgement by held-out examples. The chosen distance is fitted
 * again, on all examples. */
static int is_needed(const kfe_i_rfm *s, int64_t t)
{
    return t < s->settings->iterations || s->held.x.rows > 0;
}

static kfe_status run_form(kfe_i_rfm *s, kfe_i_distance_form form)
{
    kfe_status status = KFE_OK;
    kfe_i_distance_problem problem = s->problem;
    kfe_i_distance_fit fit = {0};
    kfe_i_map map = {0};
    kfe_i_map next = {0};

    for (int64_t t = 1; t <= s->settings->iterations; t++) {
        KFE_TRY(kfe_i_progress(s->ctx, "learning the distance", t - 1, s->settings->iterations));
        KFE_TRY(next_map(s, t == 1 ? &s->first : &fit, &map, form, &next));
        if (!next.values)
            break;
        kfe_i_map_free(&map);
        map = next;
        memset(&next, 0, sizeof next);
        kfe_i_distance_fit_free(&fit);
        if (t == s->settings->iterations)
            problem.gradient_ridge = 0;
        if (is_needed(s, t))
            KFE_TRY(kfe_i_distance_fit_make(s->ctx, &problem, &map, &s->fit.x, s->fit.y, &fit));
        KFE_TRY(judge(s, &fit, &map, t, form));
    }
cleanup:
    kfe_i_distance_fit_free(&fit);
    kfe_i_map_free(&map);
    kfe_i_map_free(&next);
    return status;
}

kfe_status kfe_i_rfm_search(kfe_i_rfm *s)
{
    kfe_status status = KFE_OK;
    kfe_i_distance_form distance = s->given->distance;
    int64_t count = 2 * (s->settings->iterations + 1);

    KFE_TAKE(&s->memory, s->errors, count);
    for (int64_t t = 0; t < count; t++)
        s->errors[t] = NAN;
    if (distance == KFE_DISTANCE_AUTO && s->held.x.rows == 0)
        distance = KFE_DISTANCE_DIAGONAL;
    if (is_needed(s, 0))
        KFE_TRY(kfe_i_distance_fit_make(s->ctx, &s->problem, &no_map, &s->fit.x, s->fit.y, &s->first));
    KFE_TRY(judge(s, &s->first, &no_map, 0,
                  distance == KFE_DISTANCE_FULL ? KFE_DISTANCE_FULL : KFE_DISTANCE_DIAGONAL));
    if (distance != KFE_DISTANCE_FULL)
        KFE_TRY(run_form(s, KFE_DISTANCE_DIAGONAL));
    if (distance != KFE_DISTANCE_DIAGONAL)
        KFE_TRY(run_form(s, KFE_DISTANCE_FULL));
    kfe_i_distance_fit_free(&s->first);
cleanup:
    return status;
}

kfe_status kfe_i_rfm_last_fit(const kfe_i_rfm *s, const kfe_i_map *map, kfe_i_distance_fit *out)
{
    kfe_i_distance_problem problem = s->problem;

    problem.gradient_ridge = 0;
    return kfe_i_distance_fit_make(s->ctx, &problem, map, s->x, s->target.values, out);
}

void kfe_i_rfm_free(kfe_i_rfm *s)
{
    kfe_i_distance_target_free(&s->target);
    kfe_i_table_free(&s->fit.x);
    kfe_i_table_free(&s->held.x);
    kfe_i_distance_fit_free(&s->first);
    kfe_i_map_free(&s->best.map);
    kfe_i_arena_free(&s->memory);
}
