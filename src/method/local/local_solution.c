/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step of lmkl and sldr: from the parameters at the end of the search to a localized projector (local.h) with the
 * support examples only, and the records of the fit. Where a kernel was turned into columns X = KA, the map A is
 * multiplied into the projection: W on these columns is AW on the kernel's values.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/linalg.h"
#include "method/local/local_problem.h"

static double *copy_block(kfe_context *ctx, const double *from, int64_t count)
{
    double *copy = kfe_i_alloc(ctx, count, sizeof *copy);

    if (copy)
        memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

/* ---- from columns to kernel values ---- */

/* *out (n × k) = A·w for w (columns × k): A = XΛ⁻¹, or I for the empirical map; w NULL: A itself. */
static kfe_status unmap(const kfe_i_local_problem *p, const kfe_i_local_source *part, const double *w,
                        int64_t k, double **out)
{
    kfe_status status = KFE_OK;
    int64_t cols = part->columns.cols;
    double *divided = NULL;

    KFE_ALLOC_ZERO(p->ctx, divided, cols * k);
    for (int64_t i = 0; i < cols; i++)
        for (int64_t j = 0; j < k; j++)
            divided[i * k + j] = (w ? w[i * k + j] : i == j) / (part->spectrum ? part->spectrum[i] : 1);
    if (!part->spectrum) {
        *out = divided;
        return KFE_OK;
    }
    KFE_ALLOC(p->ctx, *out, p->n * k);
    KFE_TRY(kfe_i_table_times(p->ctx, &part->columns, divided, k, *out));
cleanup:
    kfe_i_free(p->ctx, divided);
    return status;
}

static kfe_status take_matrices(const kfe_i_local_problem *p, const kfe_i_local_source *part,
                                const double *parameters, kfe_i_local_part *out)
{
    kfe_status status = KFE_OK;
    const double *w = part->projection_at >= 0 ? parameters + part->projection_at : NULL;
    const double *gating = part->gating_at >= 0 ? parameters + part->gating_at : NULL;

    out->mapped = part->mapped;
    out->cols = part->mapped ? p->n : part->columns.cols;
    out->dim = part->dim;
    if (part->mapped)
        KFE_TRY(unmap(p, part, w, part->dim, &out->projection));
    else if (w)
        KFE_CHECK_ALLOC_BY(p->ctx, out->projection, copy_block(p->ctx, w, out->cols * out->dim));
    if (gating && part->mapped)
        KFE_TRY(unmap(p, part, gating, p->at.gate_dim, &out->gating));
    else if (gating)
        KFE_CHECK_ALLOC_BY(p->ctx, out->gating, copy_block(p->ctx, gating, out->cols * p->at.gate_dim));
cleanup:
    return status;
}

/* ---- support examples ---- */

/* Finds at least one: SVMs that give every example the same answer keep an example of weight zero. */
static int64_t find_support(const kfe_i_local_problem *p, int64_t *index)
{
    int64_t count = 0;

    for (int64_t i = 0; i < p->n; i++)
        if (kfe_i_local_is_support(p, i))
            index[count++] = i;
    if (count == 0)
        index[count++] = 0;
    return count;
}

static kfe_status take_support(const kfe_i_local_problem *p, const int64_t *index, kfe_i_local *out)
{
    kfe_status status = KFE_OK;
    int64_t c = p->svms.count;

    out->outputs = c;
    KFE_ALLOC(p->ctx, out->weights, out->rows * c);
    KFE_ALLOC(p->ctx, out->shares, out->rows * p->count);
    KFE_CHECK_ALLOC_BY(p->ctx, out->offset, copy_block(p->ctx, p->svms.offset, c));
    for (int64_t s = 0; s < out->rows; s++) {
        memcpy(out->weights + s * c, p->svms.weights + index[s] * c, (size_t)c * sizeof *out->weights);
        memcpy(out->shares + s * p->count, p->now.shares + index[s] * p->count,
               (size_t)p->count * sizeof *out->shares);
    }
    for (int64_t m = 0; m < p->count; m++)
        KFE_TRY(kfe_i_table_gather(p->ctx, &p->parts[m].z, index, out->rows, &out->parts[m].support));
cleanup:
    return status;
}

/* index: n, of which the first out->rows are the support examples. */
static kfe_status make_local(const kfe_i_local_problem *p, const double *parameters, int shows,
                             int64_t *index, kfe_i_local **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_local_new(p->ctx, p->count, out));
    (*out)->shows = shows;
    (*out)->gate_dim = p->at.gate_dim;
    (*out)->rows = find_support(p, index);
    if (p->projects)
        KFE_CHECK_ALLOC_BY(p->ctx, (*out)->gate_weights,
                           copy_block(p->ctx, parameters + p->at.weights, p->at.gate_dim * p->count));
    KFE_CHECK_ALLOC_BY(p->ctx, (*out)->gate_offset, copy_block(p->ctx, parameters + p->at.offset, p->count));
    for (int64_t m = 0; m < p->count; m++)
        KFE_TRY(take_matrices(p, &p->parts[m], parameters, &(*out)->parts[m]));
    KFE_TRY(take_support(p, index, *out));
cleanup:
    return status;
}

/* ---- records ---- */

/* means: mean share of each part. decides: share of the examples at which the part's share is the largest. */
static void gate_summary(const kfe_i_local_problem *p, double *means, double *decides)
{
    double mass = kfe_i_target_mass(p->given->target, p->n);

    for (int64_t i = 0; i < p->n; i++) {
        const double *row = p->now.shares + i * p->count;
        double weight = kfe_i_weight_of(p->given->target, i);
        int64_t largest = 0;
        for (int64_t m = 0; m < p->count; m++) {
            means[m] += weight * row[m] / mass;
            largest = row[m] > row[largest] ? m : largest;
        }
        decides[largest] += weight;
    }
    cblas_dscal((blasint)p->count, 1 / mass, decides, 1);
}

/* (worst − best)/best over the ends of all descents */
static double spread_of(const kfe_i_local_path *path)
{
    double best = path->ends[0];
    double worst = path->ends[0];

    for (int64_t r = 1; r < path->restarts; r++) {
        best = fmin(best, path->ends[r]);
        worst = fmax(worst, path->ends[r]);
    }
    return best > 0 ? (worst - best) / best : 0;
}

static kfe_status record(const kfe_i_local_problem *p, const kfe_i_local_path *path, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double spread = spread_of(path);
    double gap = p->svms.objective > 0 ? p->svms.gap / p->svms.objective : 0;
    double iterations = (double)path->iterations;
    double support = (double)out->predictor.support_vectors / (double)p->n;
    double *summary = NULL;

    KFE_ALLOC_ZERO(p->ctx, summary, 2 * p->count);
    gate_summary(p, summary, summary + p->count);
    KFE_TRY(kfe_i_solution_record(out, "objective", path->objectives, path->iterations + 1));
    KFE_TRY(kfe_i_solution_record(out, "iterations", &iterations, 1));
    KFE_TRY(kfe_i_solution_record(out, "gate-mean", summary, p->count));
    KFE_TRY(kfe_i_solution_record(out, "gate-share", summary + p->count, p->count));
    KFE_TRY(kfe_i_solution_record(out, "support-share", &support, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &gap, 1));
    if (path->restarts > 1) {
        KFE_TRY(kfe_i_solution_record(out, "restart-objectives", path->ends, path->restarts));
        KFE_TRY(kfe_i_solution_record(out, "restart-spread", &spread, 1));
    }
cleanup:
    kfe_i_free(p->ctx, summary);
    return status;
}

static int64_t support_vectors(const kfe_i_local_problem *p)
{
    int64_t found = 0;

    for (int64_t i = 0; i < p->n; i++)
        found += kfe_i_local_is_support(p, i);
    return found;
}

kfe_status kfe_i_local_fit(kfe_context *ctx, const char *method, const kfe_i_fit_source *given,
                           const kfe_i_local_settings *settings, int projects, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_local_problem p = {0};
    kfe_i_local_path path = {0};

    if (given->landmarks.count > 0)
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "method %s compares columns of its views instead of using a kernel matrix: {landmarks} is not "
            "available with it; use mkl",
            method);
    KFE_TRY(kfe_i_local_problem_open(ctx, method, given, settings, projects, &p));
    KFE_TRY(kfe_i_local_search(&p, settings, &path));
    KFE_TRY(kfe_i_solution_begin(ctx, KFE_SOLUTION_LOCAL, 0, 0, out));
    KFE_ALLOC(ctx, out->index, p.n);
    KFE_TRY(make_local(&p, path.parameters, settings->features, out->index, &out->local));
    out->rows = out->local->rows;
    out->dim = kfe_i_local_dim(out->local);
    KFE_TRY(kfe_i_predictor_begin(ctx, KFE_PREDICTOR_DIRECT, p.svms.decision, p.svms.count, p.svms.count, 0,
                                  &out->predictor));
    out->predictor.classes = given->target->class_count;
    out->predictor.support_vectors = support_vectors(&p);
    KFE_TRY(record(&p, &path, out));
cleanup:
    kfe_i_local_path_free(ctx, &path);
    kfe_i_local_problem_free(&p);
    return status;
}
