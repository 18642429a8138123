/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel k-means, for koc with several clusters per class and for the start of slmc. The centroid of a cluster g with members N_g is
 * the mean of φ(x_i) by the weights w_i of the examples, so that
 *   ‖φ(x) − centroid‖² = κ(x,x) − 2·(KM)_{xg} + (MᵀKM)_{gg},   M_{ig} = w_i / Σ_{N_g} w for i in N_g.
 *
 * Seeds are chosen greedily: each is the example that shortens Σ w_i·‖φ(x_i) − nearest seed‖² most (the candidates of Arthur &
 * Vassilvitskii, 2007, without the draw). So clusters depend on neither the order of the rows nor a random number, and a weight counts
 * like repeated rows; only exact ties are broken by the order. A seed and an iteration cost one pass over the operator each: O(n²).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/shared/groups.h"

enum { MOST_ITERATIONS = 100, BATCH = 64 };

typedef struct kmeans_state {
    const kfe_i_gram *gram;
    const double *weights; /* of the examples; NULL: ones */
    /* The class of each example, in which its cluster lies; NULL: all are in part 0. */
    const int32_t *part_of;
    int64_t parts;
    kfe_i_groups *groups;
    int32_t *class_of; /* the part of each cluster */
    double *diagonal;  /* κ(x, x) */
    double *nearest;   /* squared distance to the nearest seed so far */
    double *columns;   /* some columns of the kernel matrix */
    double tolerance;  /* squared distances below this share of κ(x, x) are rounding */
} kmeans_state;

static int32_t part_of(const kmeans_state *s, int64_t example)
{
    return s->part_of ? s->part_of[example] : 0;
}

static double weight_of(const kmeans_state *s, int64_t example)
{
    return s->weights ? s->weights[example] : 1;
}

/* ---- seeds ---- */

/* Columns of the kernel matrix itself, also of a weighted operator. */
static kfe_status kernel_columns(const kmeans_state *s, const int64_t *index, int64_t count)
{
    const double *roots = s->gram->roots;
    kfe_status status = kfe_i_gram_columns(s->gram, index, count, s->columns);

    for (int64_t i = 0; status == KFE_OK && roots && i < s->groups->rows; i++)
        for (int64_t j = 0; j < count; j++)
            s->columns[i * count + j] /= roots[i] * roots[index[j]];
    return status;
}

/* The squared distance of two examples, given their kernel value. */
static double distance(const kmeans_state *s, int64_t i, int64_t j, double value)
{
    double size = s->diagonal[i] + s->diagonal[j];
    double squared = size - 2 * value;

    return i != j && squared > s->tolerance * size ? squared : 0; /* 0 also if it overflows */
}

typedef struct candidate {
    int64_t example; /* −1: none */
    double gain;     /* how much it shortens the squared distances; of a first seed: minus their sum */
} candidate;

/* What the example in column j of `count` would gain as a seed of the part. */
static double gain_of(const kmeans_state *s, int32_t part, int is_first, const int64_t *index, int64_t count,
                      int64_t j)
{
    double gain = 0;

    for (int64_t i = 0; i < s->groups->rows; i++) {
        if (part_of(s, i) != part)
            continue;
        double squared = distance(s, i, index[j], s->columns[i * count + j]);
        if (is_first)
            gain -= weight_of(s, i) * squared;
        else if (squared < s->nearest[i])
            gain += weight_of(s, i) * (s->nearest[i] - squared);
    }
    return gain;
}

static kfe_status find_seed(const kmeans_state *s, int32_t part, int is_first, candidate *best)
{
    int64_t index[BATCH];
    int64_t count = 0;
    int64_t n = s->groups->rows;
    kfe_status status = KFE_OK;

    *best = (candidate){-1, is_first ? -INFINITY : 0};
    for (int64_t i = 0; i < n && status == KFE_OK; i++) {
        if (part_of(s, i) == part)
            index[count++] = i;
        if (count < BATCH && (i + 1 < n || count == 0))
            continue;
        status = kernel_columns(s, index, count);
        for (int64_t j = 0; j < count && status == KFE_OK; j++) {
            double gain = gain_of(s, part, is_first, index, count, j);
            if (gain > best->gain || (is_first && best->example < 0)) /* also if all distances overflow */
                *best = (candidate){index[j], gain};
        }
        count = 0;
    }
    return status;
}

/* Opens a cluster around a seed; examples of the part that are nearer to it than to the others join it. */
static kfe_status open_cluster(kmeans_state *s, int32_t part, int64_t seed)
{
    int64_t cluster = s->groups->count++;
    kfe_status status = kernel_columns(s, &seed, 1);

    s->class_of[cluster] = part;
    for (int64_t i = 0; status == KFE_OK && i < s->groups->rows; i++) {
        if (part_of(s, i) != part)
            continue;
        double squared = distance(s, i, seed, s->columns[i]);
        if (squared < s->nearest[i] || s->nearest[i] == INFINITY) { /* also if the distance overflows */
            s->nearest[i] = squared;
            s->groups->of[i] = (int32_t)cluster;
        }
    }
    return status;
}

/* The part whose next seed gains most among those with fewer than `most` clusters; −1: none gains. */
static int64_t part_to_divide(const kmeans_state *s, const candidate *next, const int64_t *clusters,
                              int64_t most)
{
    int64_t best = -1;

    for (int64_t p = 0; p < s->parts; p++)
        if (next[p].example >= 0 && clusters[p] < most && (best < 0 || next[p].gain > next[best].gain))
            best = p;
    return best;
}

/* The maximum number of clusters in each part, and in all. */
static kfe_status seed_clusters(kfe_context *ctx, kmeans_state *s, int64_t most_in_part, int64_t most)
{
    kfe_status status = KFE_OK;
    candidate *next = NULL;
    int64_t *clusters = NULL;

    KFE_ALLOC(ctx, next, s->parts);
    KFE_ALLOC_ZERO(ctx, clusters, s->parts);
    for (int64_t i = 0; i < s->groups->rows; i++)
        s->nearest[i] = INFINITY;
    for (int64_t p = 0; p < s->parts; p++)
        KFE_TRY(find_seed(s, (int32_t)p, 1, &next[p]));
    for (int64_t p = 0; p < s->parts; p++)
        next[p].gain = INFINITY; /* every part has a cluster first */
    for (int64_t p; s->groups->count < most && (p = part_to_divide(s, next, clusters, most_in_part)) >= 0;) {
        KFE_TRY(kfe_i_progress(ctx, "choosing seeds of clusters", s->groups->count, most));
        KFE_TRY(open_cluster(s, (int32_t)p, next[p].example));
        if (++clusters[p] < most_in_part && s->groups->count < most)
            KFE_TRY(find_seed(s, (int32_t)p, 0, &next[p]));
    }
cleanup:
    kfe_i_free(ctx, next);
    kfe_i_free(ctx, clusters);
    return status;
}

/* ---- iterations ---- */

static void add_sizes(kfe_i_groups *groups)
{
    memset(groups->sizes, 0, (size_t)groups->count * sizeof *groups->sizes);
    for (int64_t i = 0; i < groups->rows; i++)
        groups->sizes[groups->of[i]] += kfe_i_group_weight(groups, i);
}

/* Assigns each example to the nearest centroid of its part, given KM; returns how many changed. */
static int64_t reassign(const kmeans_state *s, const double *product, double *inner)
{
    kfe_i_groups *groups = s->groups;
    int64_t count = groups->count;
    int64_t moved = 0;

    memset(inner, 0, (size_t)count * sizeof *inner);
    for (int64_t i = 0; i < groups->rows; i++)
        inner[groups->of[i]] +=
            weight_of(s, i) * product[i * count + groups->of[i]] / groups->sizes[groups->of[i]];
    for (int64_t i = 0; i < groups->rows; i++) {
        int32_t best = groups->of[i];
        double least = inner[best] - 2 * product[i * count + best];
        for (int32_t g = 0; g < count; g++) {
            double apart = inner[g] - 2 * product[i * count + g];
            if (s->class_of[g] == part_of(s, i) && groups->sizes[g] > 0 && apart < least) {
                least = apart;
                best = g;
            }
        }
        moved += best != groups->of[i];
        groups->of[i] = best;
    }
    return moved;
}

/* KM; `means` has room for M. */
static kfe_status multiply_means(const kmeans_state *s, double *means, double *product)
{
    const kfe_i_groups *groups = s->groups;
    const double *roots = s->gram->roots;
    int64_t count = groups->count;

    memset(means, 0, (size_t)(groups->rows * count) * sizeof *means);
    for (int64_t i = 0; i < groups->rows; i++)
        means[i * count + groups->of[i]] =
            (roots ? roots[i] : weight_of(s, i)) / groups->sizes[groups->of[i]];
    kfe_status status = kfe_i_gram_times(s->gram, means, count, product);
    for (int64_t i = 0; i < groups->rows && roots; i++)
        for (int64_t g = 0; g < count; g++)
            product[i * count + g] /= roots[i];
    return status;
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
        add_sizes(groups);
        KFE_TRY(multiply_means(s, means, product));
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

    add_sizes(groups);
    for (int64_t g = 0; g < groups->count; g++) {
        renamed[g] = (int32_t)kept;
        if (groups->sizes[g] > 0)
            groups->sizes[kept++] = groups->sizes[g];
    }
    for (int64_t i = 0; i < groups->rows; i++)
        groups->of[i] = renamed[groups->of[i]];
    groups->count = kept;
}

/* κ(x, x), which a weighted operator multiplies by the weight. */
static kfe_status find_diagonal(const kmeans_state *s)
{
    kfe_status status = kfe_i_gram_diagonal(s->gram, s->diagonal);

    for (int64_t i = 0; status == KFE_OK && s->gram->roots && i < s->groups->rows; i++)
        s->diagonal[i] /= s->gram->roots[i] * s->gram->roots[i];
    return status;
}

static kfe_status find_clusters(kfe_context *ctx, const kfe_i_gram *gram, kmeans_state *s,
                                int64_t most_in_part, int64_t asked)
{
    kfe_status status = KFE_OK;
    kfe_i_groups *out = s->groups;
    kfe_i_kept kept = {0};
    int64_t most = asked < out->rows ? asked : out->rows;

    KFE_TRY(
        kfe_i_gram_keep(gram, KFE_KEEP_ANY, (24.0 * (double)most + 8 * BATCH) * (double)out->rows, &kept));
    s->gram = kept.gram;
    s->tolerance = kfe_i_gram_rank_tolerance(s->gram);
    KFE_ALLOC(ctx, out->of, out->rows);
    KFE_ALLOC(ctx, out->sizes, most);
    KFE_ALLOC(ctx, s->class_of, most);
    KFE_ALLOC(ctx, s->diagonal, out->rows);
    KFE_ALLOC(ctx, s->nearest, out->rows);
    KFE_ALLOC(ctx, s->columns, out->rows * BATCH);
    KFE_TRY(find_diagonal(s));
    KFE_TRY(seed_clusters(ctx, s, most_in_part, most));
    KFE_TRY(run_iterations(ctx, s));
    drop_empty(out, s->class_of);
    if (out->count < asked)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "%lld clusters were made instead of %lld: some classes have fewer distinct members than clusters",
            (long long)out->count, (long long)asked);
cleanup:
    kfe_i_free(ctx, s->class_of);
    kfe_i_free(ctx, s->diagonal);
    kfe_i_free(ctx, s->nearest);
    kfe_i_free(ctx, s->columns);
    kfe_i_gram_keep_free(&kept);
    return status;
}

static void begin(kfe_context *ctx, const kfe_i_target *target, kfe_i_groups *out)
{
    *out = (kfe_i_groups){.ctx = ctx, .rows = target->rows, .weights = target->weights};
}

kfe_status kfe_i_groups_by_kmeans(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                  int64_t clusters, kfe_i_groups *out)
{
    kmeans_state s = {
        .weights = target->weights, .part_of = target->codes, .parts = target->class_count, .groups = out};

    begin(ctx, target, out);
    return find_clusters(ctx, gram, &s, clusters, clusters * target->class_count);
}

kfe_status kfe_i_groups_by_kmeans_in_all(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                                         int64_t clusters, kfe_i_groups *out)
{
    kmeans_state s = {
        .weights = target->weights, .part_of = target->codes, .parts = target->class_count, .groups = out};

    begin(ctx, target, out);
    if (clusters < target->class_count) { /* no choice of classes could be fair */
        s.part_of = NULL;
        s.parts = 1;
    }
    return find_clusters(ctx, gram, &s, clusters, clusters);
}
