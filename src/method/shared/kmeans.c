/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel k-means inside each class, for koc with several clusters per class and for the start of slmc. The centroid of a cluster g
 * with members N_g is the mean of φ(x_i), so that
 *   ‖φ(x) − centroid‖² = κ(x,x) − 2·(KM)_{xg} + (MᵀKM)_{gg},   M_{ig} = 1/|N_g| for i in N_g.
 * Seeds are drawn as in k-means++ (Arthur & Vassilvitskii, 2007) from the context's seed, so that clusters depend on the order of
 * the rows. An iteration is one product with the operator: O(n²·clusters).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "method/shared/groups.h"

enum { MOST_ITERATIONS = 100 };

typedef struct kmeans_state {
    const kfe_i_gram *gram;
    const kfe_i_target *target;
    int64_t clusters; /* at most, per class */
    kfe_i_groups *groups;
    int32_t *class_of; /* of each cluster */
    double *diagonal;  /* κ(x, x) */
    double *nearest;   /* squared distance to the nearest seed so far */
    double *column;    /* one column of the operator */
} kmeans_state;

/* An example of the class, drawn with probability proportional to its weight; −1: all weights are zero. */
static int64_t draw_by_weight(kfe_i_rng *rng, const kmeans_state *s, int32_t class, const double *weight)
{
    double total = 0;
    double reached = 0;
    int64_t last = -1;

    for (int64_t i = 0; i < s->target->rows; i++)
        total += s->target->codes[i] == class ? weight[i] : 0;
    double goal = total * kfe_i_rng_uniform(rng);
    for (int64_t i = 0; i < s->target->rows; i++) {
        if (s->target->codes[i] != class || weight[i] <= 0)
            continue;
        last = i;
        reached += weight[i];
        if (reached > goal)
            break;
    }
    return last;
}

/* Opens a cluster around a seed; examples of the class that are nearer to it than to the others join it. */
static kfe_status open_cluster(kmeans_state *s, int32_t class, int64_t seed)
{
    int64_t cluster = s->groups->count++;
    kfe_status status = kfe_i_gram_columns(s->gram, &seed, 1, s->column);

    s->class_of[cluster] = class;
    for (int64_t i = 0; status == KFE_OK && i < s->target->rows; i++) {
        if (s->target->codes[i] != class)
            continue;
        double distance = fmax(0, s->diagonal[i] - 2 * s->column[i] + s->diagonal[seed]);
        if (i == seed)
            distance = 0;
        if (distance < s->nearest[i] || s->nearest[i] == INFINITY) { /* also if the distance overflows */
            s->nearest[i] = distance;
            s->groups->of[i] = (int32_t)cluster;
        }
    }
    return status;
}

static kfe_status seed_class(kmeans_state *s, kfe_i_rng *rng, int32_t class, const double *uniform)
{
    for (int64_t q = 0; q < s->clusters; q++) {
        int64_t seed = draw_by_weight(rng, s, class, q == 0 ? uniform : s->nearest);
        if (seed < 0) /* every member coincides with a seed */
            return KFE_OK;
        kfe_status status = open_cluster(s, class, seed);
        if (status != KFE_OK)
            return status;
    }
    return KFE_OK;
}

static kfe_status seed_clusters(kfe_context *ctx, kmeans_state *s)
{
    kfe_status status = KFE_OK;
    int64_t n = s->target->rows;
    double *uniform = NULL;
    kfe_i_rng rng;

    KFE_ALLOC(ctx, uniform, n);
    for (int64_t i = 0; i < n; i++) {
        uniform[i] = 1;
        s->nearest[i] = INFINITY;
    }
    kfe_i_rng_init(&rng, kfe_context_seed(ctx), KFE_STREAM_KMEANS);
    for (int32_t class = 0; class < s->target->class_count; class ++)
        KFE_TRY(seed_class(s, &rng, class, uniform));
cleanup:
    kfe_i_free(ctx, uniform);
    return status;
}

static void count_sizes(kfe_i_groups *groups)
{
    memset(groups->sizes, 0, (size_t)groups->count * sizeof *groups->sizes);
    for (int64_t i = 0; i < groups->rows; i++)
        groups->sizes[groups->of[i]] += 1;
}

/* Assigns each example to the nearest centroid of its class; returns how many changed. */
static int64_t reassign(const kmeans_state *s, const double *product, double *inner)
{
    kfe_i_groups *groups = s->groups;
    int64_t count = groups->count;
    int64_t moved = 0;

    memset(inner, 0, (size_t)count * sizeof *inner);
    for (int64_t i = 0; i < groups->rows; i++)
        inner[groups->of[i]] += product[i * count + groups->of[i]] / groups->sizes[groups->of[i]];
    for (int64_t i = 0; i < groups->rows; i++) {
        int32_t best = groups->of[i];
        double least = inner[best] - 2 * product[i * count + best];
        for (int32_t g = 0; g < count; g++) {
            double distance = inner[g] - 2 * product[i * count + g];
            if (s->class_of[g] == s->target->codes[i] && groups->sizes[g] > 0 && distance < least) {
                least = distance;
                best = g;
            }
        }
        moved += best != groups->of[i];
        groups->of[i] = best;
    }
    return moved;
}

static kfe_status run_iterations(kfe_context *ctx, kmeans_state *s)
{
    kfe_status status = KFE_OK;
    kfe_i_groups *groups = s->groups;
    int64_t n = groups->rows;
    double *means = NULL;
    double *product = NULL;
    double *inner = NULL;
    int64_t moved = 1;

    KFE_ALLOC(ctx, means, n * groups->count);
    KFE_ALLOC(ctx, product, n * groups->count);
    KFE_ALLOC(ctx, inner, groups->count);
    for (int iteration = 0; moved > 0 && iteration < MOST_ITERATIONS; iteration++) {
        count_sizes(groups);
        memset(means, 0, (size_t)(n * groups->count) * sizeof *means);
        for (int64_t i = 0; i < n; i++)
            means[i * groups->count + groups->of[i]] = 1 / groups->sizes[groups->of[i]];
        KFE_TRY(kfe_i_gram_times(s->gram, means, groups->count, product));
        moved = reassign(s, product, inner);
    }
    if (moved > 0)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "kernel k-means stopped after %d iterations with %lld examples still changing their cluster",
            MOST_ITERATIONS, (long long)moved);
cleanup:
    kfe_i_free(ctx, means);
    kfe_i_free(ctx, product);
    kfe_i_free(ctx, inner);
    return status;
}

/* Removes clusters without members. */
static void drop_empty(kfe_i_groups *groups, int32_t *renamed)
{
    int64_t kept = 0;

    count_sizes(groups);
    for (int64_t g = 0; g < groups->count; g++) {
        renamed[g] = (int32_t)kept;
        if (groups->sizes[g] > 0)
            groups->sizes[kept++] = groups->sizes[g];
    }
    for (int64_t i = 0; i < groups->rows; i++)
        groups->of[i] = renamed[groups->of[i]];
    groups->count = kept;
}

kfe_status kfe_i_groups_by_kmeans(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                  int64_t clusters, kfe_i_groups *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kept kept = {0};
    kmeans_state s = {.target = target, .clusters = clusters, .groups = out};
    int64_t most =
        target->rows < clusters * target->class_count ? target->rows : clusters * target->class_count;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->rows = target->rows;
    KFE_TRY(kfe_i_gram_keep(gram, 24.0 * (double)target->rows * (double)most, &kept));
    s.gram = kept.gram;
    KFE_ALLOC(ctx, out->of, target->rows);
    KFE_ALLOC(ctx, out->sizes, most);
    KFE_ALLOC(ctx, s.class_of, most);
    KFE_ALLOC(ctx, s.diagonal, target->rows);
    KFE_ALLOC(ctx, s.nearest, target->rows);
    KFE_ALLOC(ctx, s.column, target->rows);
    KFE_TRY(kfe_i_gram_diagonal(s.gram, s.diagonal));
    KFE_TRY(seed_clusters(ctx, &s));
    KFE_TRY(run_iterations(ctx, &s));
    drop_empty(out, s.class_of);
    if (out->count < clusters * target->class_count)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "%lld clusters were made instead of %lld: some classes have fewer distinct members than clusters",
            (long long)out->count, (long long)(clusters * target->class_count));
cleanup:
    kfe_i_free(ctx, s.class_of);
    kfe_i_free(ctx, s.diagonal);
    kfe_i_free(ctx, s.nearest);
    kfe_i_free(ctx, s.column);
    kfe_i_gram_keep_free(&kept);
    return status;
}
