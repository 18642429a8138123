/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landmarks chosen greedily, as sparse matrix approximation does (Smola & Schölkopf, 2000): of 59 random candidates, the one
 * whose column takes most from the trace of the residual R = G − FFᵀ is next,
 *
 *     gain of j = Σ_i m_i R_ij² / R_jj,   m_i the mass of candidate i.
 *
 * One of 59 random candidates is among the best twentieth with probability 0.95. The sum is over a sample of the candidates, so that
 * the choice costs O(m²·sample) and not O(nm²). Used by choose.c.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "gram/landmark/rules.h"
#include "linalg/linalg.h"

enum { CANDIDATES = 59, SAMPLE = 1000 };

typedef struct greedy {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    const kfe_i_landmark_candidates *from;
    kfe_i_rng rng;
    int64_t most, found, samples;
    int64_t *index;        /* the landmarks; of the caller */
    const int64_t *sample; /* candidates that the gains are summed over: the first ones */
    int64_t *rest;         /* candidates that may still become landmarks */
    int64_t rest_count;
    double *diagonal;  /* of G */
    double threshold;  /* R_jj up to this is rounding */
    double *lower;     /* F at the landmarks, most × most */
    double *at_sample; /* F at the sample, samples × most */
    int64_t drawn[CANDIDATES];
    int64_t place[CANDIDATES]; /* of the drawn ones in `rest` */
    double left[CANDIDATES];   /* R_jj */
    double *residual;          /* R[candidates, sample] */
    double *rows;              /* F at the candidates, CANDIDATES × most */
} greedy;

/* Draws different examples from the rest: moves them to its end. Returns their number. */
static int64_t draw(greedy *g)
{
    int64_t count = g->rest_count < CANDIDATES ? g->rest_count : CANDIDATES;

    for (int64_t j = 0; j < count; j++) {
        int64_t last = g->rest_count - 1 - j;
        int64_t chosen = kfe_i_rng_below(&g->rng, last + 1);
        int64_t moved = g->rest[chosen];
        g->rest[chosen] = g->rest[last];
        g->rest[last] = moved;
        g->drawn[j] = moved;
        g->place[j] = last;
    }
    return count;
}

/* F at the candidates, R_jj and R[candidates, sample]. */
static kfe_status look_at(greedy *g, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t r = g->found;

    KFE_TRY(kfe_i_gram_entries(g->gram, kfe_i_listed(g->drawn, count), kfe_i_listed(g->sample, g->samples),
                               g->residual, g->samples));
    if (r > 0) {
        KFE_TRY(kfe_i_gram_entries(g->gram, kfe_i_listed(g->drawn, count), kfe_i_listed(g->index, r), g->rows,
                                   r));
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)count,
                    (blasint)r, 1, g->lower, (blasint)g->most, g->rows, (blasint)r);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count, (blasint)g->samples, (blasint)r,
                    -1, g->rows, (blasint)r, g->at_sample, (blasint)g->most, 1, g->residual,
                    (blasint)g->samples);
    }
    for (int64_t j = 0; j < count; j++)
        g->left[j] = g->diagonal[g->drawn[j]] -
                     (r > 0 ? cblas_ddot((blasint)r, g->rows + j * r, 1, g->rows + j * r, 1) : 0);
cleanup:
    return status;
}

/* The candidate of largest gain; -1: all depend on the landmarks. */
static int64_t best_candidate(const greedy *g, int64_t count)
{
    int64_t best = -1;
    double largest = -1;

    for (int64_t j = 0; j < count; j++) {
        const double *row = g->residual + j * g->samples;
        double sum = 0;
        for (int64_t i = 0; i < g->samples; i++)
            sum += g->from->mass[i] * row[i] * row[i];
        double gain = sum / fmax(g->left[j], g->threshold);
        if (g->left[j] > g->threshold && gain > largest) {
            largest = gain;
            best = j;
        }
    }
    return best;
}

static void append(greedy *g, int64_t j)
{
    int64_t r = g->found;
    double root = sqrt(g->left[j]);

    memcpy(g->lower + r * g->most, g->rows + j * r, (size_t)r * sizeof *g->lower);
    g->lower[r * g->most + r] = root;
    for (int64_t i = 0; i < g->samples; i++)
        g->at_sample[i * g->most + r] = g->residual[j * g->samples + i] / root;
    g->index[g->found++] = g->drawn[j];
}

/* Removes the new landmark and the candidates that depend on landmarks from the rest, from its end on. */
static void remove_used(greedy *g, int64_t count, int64_t best)
{
    for (int64_t j = 0; j < count; j++)
        if (j == best || !(g->left[j] > g->threshold)) {
            g->rest[g->place[j]] = -1;
        }
    int64_t kept = g->rest_count - count;
    for (int64_t i = kept; i < g->rest_count; i++)
        if (g->rest[i] >= 0)
            g->rest[kept++] = g->rest[i];
    g->rest_count = kept;
}

static kfe_status begin(greedy *g)
{
    kfe_status status = KFE_OK;
    int64_t n = g->from->count;
    double largest = 0;

    g->sample = g->from->index;
    g->samples = n < SAMPLE ? n : SAMPLE;
    KFE_ALLOC(g->ctx, g->rest, n);
    KFE_ALLOC(g->ctx, g->diagonal, g->gram->size);
    KFE_ALLOC_ZERO(g->ctx, g->lower, g->most * g->most);
    KFE_ALLOC(g->ctx, g->at_sample, g->samples * g->most);
    KFE_ALLOC(g->ctx, g->residual, CANDIDATES * g->samples);
    KFE_ALLOC(g->ctx, g->rows, CANDIDATES * g->most);
    kfe_i_rng_init(&g->rng, kfe_context_seed(g->ctx), KFE_STREAM_GRAM_LANDMARKS);
    KFE_TRY(kfe_i_gram_diagonal(g->gram, g->diagonal));
    for (int64_t i = 0; i < n; i++) {
        g->rest[i] = g->from->index[i];
        largest = fmax(largest, g->diagonal[g->rest[i]]);
    }
    g->rest_count = n;
    g->threshold = KFE_RANK_TOLERANCE * largest;
cleanup:
    return status;
}

kfe_status kfe_i_landmarks_greedy(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t most,
                                  int64_t *index, int64_t *count)
{
    kfe_status status = KFE_OK;
    greedy g = {.ctx = gram->ctx, .gram = gram, .from = from, .most = most, .index = index};

    KFE_TRY(begin(&g));
    while (g.found < most && g.rest_count > 0) {
        int64_t drawn = draw(&g);
        KFE_TRY(kfe_i_progress(g.ctx, "choosing landmarks", g.found, most));
        KFE_TRY(look_at(&g, drawn));
        int64_t best = best_candidate(&g, drawn);
        if (best >= 0)
            append(&g, best);
        remove_used(&g, drawn, best);
    }
    *count = g.found;
cleanup:
    kfe_i_free(g.ctx, g.rest);
    kfe_i_free(g.ctx, g.diagonal);
    kfe_i_free(g.ctx, g.lower);
    kfe_i_free(g.ctx, g.at_sample);
    kfe_i_free(g.ctx, g.residual);
    kfe_i_free(g.ctx, g.rows);
    return status;
}
