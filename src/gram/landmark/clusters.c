/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landmarks as the centres of clusters: k-means in feature space, with each centre replaced by the example nearest to it, so
 * that any kernel will do. From a random start, a few iterations of
 *
 *     assign every example to the landmark at least distance,  G_ii + G_ll − 2G_il;
 *     the new landmark of a cluster is its member j of least G_jj − 2·(mean of G_ij over members i, by their mass).
 *
 * Works on a sample of the rows and of the members. Time O(iterations·sample·m) kernel values. Used by choose.c.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/landmark/rules.h"

enum { ITERATIONS = 5, MEMBERS = 64, PANEL = 1024 };

typedef struct clusters {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    int64_t rows, count;
    const kfe_i_landmark_candidates *from; /* the first `rows` are the sample */
    int64_t *index;                        /* the landmarks; of the caller */
    int64_t *members;                      /* count × MEMBERS: examples of each cluster */
    double *masses;                        /* of the members */
    int64_t *sizes;                        /* how many of them are listed */
    double *diagonal;                      /* of G */
    double *values;                        /* PANEL × count */
    double inner[MEMBERS * MEMBERS];
} clusters;

/* Assigns the rows of one panel, and lists the first members of each cluster. */
static void assign(clusters *c, int64_t first, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        const double *value = c->values + i * c->count;
        int64_t best = 0;
        for (int64_t l = 1; l < c->count; l++)
            if (c->diagonal[c->index[l]] - 2 * value[l] < c->diagonal[c->index[best]] - 2 * value[best])
                best = l;
        if (c->sizes[best] < MEMBERS) {
            c->masses[best * MEMBERS + c->sizes[best]] = c->from->mass[first + i];
            c->members[best * MEMBERS + c->sizes[best]++] = c->from->index[first + i];
        }
    }
}

static kfe_status assign_all(clusters *c)
{
    kfe_status status = KFE_OK;

    memset(c->sizes, 0, (size_t)c->count * sizeof *c->sizes);
    for (int64_t first = 0; first < c->rows; first += PANEL) {
        int64_t rows = c->rows - first < PANEL ? c->rows - first : PANEL;
        KFE_TRY(kfe_i_gram_entries(c->gram, kfe_i_listed(c->from->index + first, rows),
                                   kfe_i_listed(c->index, c->count), c->values, c->count));
        assign(c, first, rows);
    }
cleanup:
    return status;
}

/* The member nearest to the mean of the listed members becomes the landmark; an empty cluster keeps its own. */
static kfe_status move_landmark(clusters *c, int64_t cluster, int *moved)
{
    const int64_t *member = c->members + cluster * MEMBERS;
    const double *mass = c->masses + cluster * MEMBERS;
    int64_t size = c->sizes[cluster];
    int64_t best = -1;
    double least = INFINITY;
    kfe_status status =
        kfe_i_gram_entries(c->gram, kfe_i_listed(member, size), kfe_i_listed(member, size), c->inner, size);

    for (int64_t j = 0; status == KFE_OK && j < size; j++) {
        double sum = 0;
        double whole = 0;
        for (int64_t i = 0; i < size; i++) {
            sum += mass[i] * c->inner[i * size + j];
            whole += mass[i];
        }
        double distance = c->diagonal[member[j]] - 2 * sum / whole;
        if (distance < least) {
            least = distance;
            best = j;
        }
    }
    if (status == KFE_OK && best >= 0 && c->index[cluster] != member[best]) {
        c->index[cluster] = member[best];
        *moved = 1;
    }
    return status;
}

/* An empty cluster may have kept what another one chose. */
static kfe_status drop_repeated(clusters *c)
{
    kfe_status status = KFE_OK;
    unsigned char *taken = NULL;
    int64_t kept = 0;

    KFE_ALLOC_ZERO(c->ctx, taken, c->gram->size);
    for (int64_t l = 0; l < c->count; l++) {
        if (!taken[c->index[l]])
            c->index[kept++] = c->index[l];
        taken[c->index[l]] = 1;
    }
    c->count = kept;
cleanup:
    kfe_i_free(c->ctx, taken);
    return status;
}

static kfe_status begin(clusters *c)
{
    kfe_status status = KFE_OK;
    int64_t n = c->from->count;
    int64_t wanted = c->count * KFE_ROWS_PER_LANDMARK;

    wanted = wanted < KFE_LANDMARK_ROWS_LEAST ? KFE_LANDMARK_ROWS_LEAST : wanted;
    c->rows = wanted < n ? wanted : n;
    KFE_ALLOC(c->ctx, c->members, c->count * MEMBERS);
    KFE_ALLOC(c->ctx, c->masses, c->count * MEMBERS);
    KFE_ALLOC(c->ctx, c->sizes, c->count);
    KFE_ALLOC(c->ctx, c->diagonal, c->gram->size);
    KFE_ALLOC(c->ctx, c->values, PANEL * c->count);
    memcpy(c->index, c->from->index, (size_t)c->count * sizeof *c->index);
    KFE_TRY(kfe_i_gram_diagonal(c->gram, c->diagonal));
cleanup:
    return status;
}

kfe_status kfe_i_landmarks_kmeans(const kfe_i_gram *gram, const kfe_i_landmark_candidates *from, int64_t most,
                                  int64_t *index, int64_t *count)
{
    kfe_status status = KFE_OK;
    clusters c = {.ctx = gram->ctx, .gram = gram, .from = from, .count = most, .index = index};
    int moved = 1;

    KFE_TRY(begin(&c));
    for (int iteration = 0; iteration < ITERATIONS && moved; iteration++) {
        moved = 0;
        KFE_TRY(kfe_i_progress(c.ctx, "choosing landmarks", iteration, ITERATIONS));
        KFE_TRY(assign_all(&c));
        for (int64_t l = 0; l < c.count; l++)
            KFE_TRY(move_landmark(&c, l, &moved));
    }
    KFE_TRY(drop_repeated(&c));
    *count = c.count;
cleanup:
    kfe_i_free(c.ctx, c.members);
    kfe_i_free(c.ctx, c.masses);
    kfe_i_free(c.ctx, c.sizes);
    kfe_i_free(c.ctx, c.diagonal);
    kfe_i_free(c.ctx, c.values);
    return status;
}
