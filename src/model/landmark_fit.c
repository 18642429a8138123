/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits with landmarks that never hold a matrix with a row for each example. The columns F = CT of the landmarks
 * (gram/form/landmarks.h) are evaluated panel by panel and added up; the method and the learner are fitted from the sums. A solution W on
 * the columns of F is TW on the landmarks. Where T is well-conditioned, the kernel values C themselves are added up, and their sums become
 * those of F: FᵀF = Tᵀ(CᵀC)T. Called by fit.c.
 *
 * Time O(nm²) at the speed of matrix products, memory O(m²) beyond the data.
 */
#include "model/landmark_fit.h"

#include <cblas.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "data/rows/distinct.h"
#include "model/landmarks.h"

/* Smaller problems are not worth the pass: kernel values with landmarks. */
enum { FEWEST_VALUES = 1 << 20 };

typedef struct streaming {
    kfe_i_fit *job;
    kfe_i_sums *sums;
    int64_t rank;
    int64_t *chosen; /* rows of the sample, ascending */
    int64_t taken, size;
    kfe_i_table sample; /* their rows of F, for the choice of a ridge */
    kfe_i_target sample_target;
} streaming;

static void release(streaming *s)
{
    kfe_i_free(s->job->ctx, s->chosen);
    kfe_i_table_free(&s->sample);
    kfe_i_target_free(&s->sample_target);
}

static int takes_sums(const kfe_i_fit *job)
{
    const kfe_spec *spec = job->spec;
    const kfe_i_landmark_plan plan = kfe_i_fit_landmarks(job);
    double rows = (double)kfe_data_rows(job->train);

    return kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_SUMS, NULL) == KFE_USE_PREFERRED &&
           plan.count > 0 && 2 * plan.count <= kfe_data_rows(job->train) &&
           rows * (double)plan.count >= FEWEST_VALUES && spec->fit.gram == KFE_GRAM_AUTO &&
           job->kernels.count == 1 && !job->train->target.weights && kfe_i_processes(job->ctx) == 1 &&
           !kfe_i_spec_learns_from_kernel(spec) && !kfe_i_spec_maps_kernel(spec) &&
           (!spec->learner || spec->learner->fit_sums);
}

/* The rows that leave-one-out looks at in a fit on all rows. */
static kfe_status draw_sample(streaming *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->job->ctx;
    const kfe_i_target *target = &s->job->target;

    KFE_TRY(kfe_i_sample_draw(ctx, kfe_data_rows(s->job->train), target->keys, &s->chosen, &s->size));
    KFE_TRY(kfe_i_table_new_dense(ctx, s->size, s->rank, &s->sample));
    KFE_TRY(kfe_i_target_gather(ctx, target, s->chosen, s->size, &s->sample_target));
cleanup:
    return status;
}

static kfe_status add_panel(void *state, int64_t first, int64_t rows, double *panel)
{
    streaming *s = state;
    const kfe_i_table table = {
        .kind = KFE_TABLE_DENSE, .rows = rows, .cols = s->rank, .stride = s->rank, .values = panel};
    kfe_i_target target = s->job->train->target;

    for (; s->taken < s->size && s->chosen[s->taken] < first + rows; s->taken++)
        memcpy(s->sample.values + s->taken * s->sample.stride,
               panel + (s->chosen[s->taken] - first) * s->rank, (size_t)s->rank * sizeof *panel);
    target.rows = rows;
    if (target.codes)
        target.codes += first;
    if (target.values)
        target.values += first * target.cols;
    return kfe_i_sums_add(s->sums, &(kfe_i_sum_rows){.table = &table, .count = rows, .target = &target});
}

/* The operator, whose factor is never stored; NULL if its rows cannot be streamed. */
static kfe_status open_operator(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_plan plan = kfe_i_fit_landmarks(job);

    plan.streamed = 1;
    if (kfe_i_landmarks_can_stream(job->ctx, &job->kernels, job->scaled))
        status =
            kfe_i_gram_open_plan(job->ctx, &job->kernels, job->scaled, &plan, KFE_GRAM_TILED, &job->own_gram);
    return status;
}

/* Sums over C become those over F = CT, and so do the rows of the sample. */
static kfe_status map_sums(streaming *s, const kfe_i_sums *of_kernel)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->job->ctx;
    blasint r = (blasint)s->rank;
    kfe_i_table factor = {0};
    double *map = NULL;
    double kept = 0;

    KFE_ALLOC(ctx, map, s->rank * s->rank);
    KFE_TRY(kfe_i_landmark_map(s->job->own_gram, NULL, s->rank, map));
    KFE_TRY(kfe_i_sums_map(of_kernel, map, s->rank, NULL, s->sums));
    for (int64_t j = 0; j < s->rank; j++)
        kept += s->sums->scatter[j * (s->rank + 1)] + s->sums->rows * s->sums->mean[j] * s->sums->mean[j];
    KFE_TRY(kfe_i_landmark_note_kept(s->job->own_gram, kept));
    KFE_TRY(kfe_i_table_new_dense(ctx, s->size, s->rank, &factor));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s->size, r, r, 1, s->sample.values,
                (blasint)s->sample.stride, map, r, 0, factor.values, (blasint)factor.stride);
    kfe_i_table_free(&s->sample);
    s->sample = factor;
    memset(&factor, 0, sizeof factor);
cleanup:
    kfe_i_free(ctx, map);
    kfe_i_table_free(&factor);
    return status;
}

/* The same sums as sum_factor without the triangular solves, where C has the digits. */
static kfe_status sum_kernel(streaming *s)
{
    kfe_status status = KFE_OK;
    kfe_i_sums of_kernel = {0};
    kfe_i_sums *of_factor = s->sums;

    KFE_TRY(kfe_i_sums_begin_with(s->job->ctx, s->rank, &s->job->train->target, &of_kernel));
    s->sums = &of_kernel;
    status = kfe_i_landmark_stream_kernel(s->job->own_gram, add_panel, s);
    s->sums = of_factor;
    if (status == KFE_OK)
        status = map_sums(s, &of_kernel);
cleanup:
    kfe_i_sums_free(&of_kernel);
    return status;
}

/* Sums over F itself; *definite is 0 if the kernel is not positive definite. */
static kfe_status sum_factor(streaming *s, int *definite)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_sums_begin_with(s->job->ctx, s->rank, &s->job->train->target, s->sums));
    KFE_TRY(kfe_i_landmark_stream(s->job->own_gram, add_panel, s, definite));
cleanup:
    return status;
}

/* Sums of F over all rows; *done is 0 if the kernel is not positive definite. */
static kfe_status sum_rows(streaming *s, int *done)
{
    kfe_status status = KFE_OK;
    int by_kernel = 0;

    *done = 0;
    s->rank = kfe_i_gram_rank_bound(s->job->own_gram);
    if (s->rank == 0)
        return KFE_OK;
    KFE_TRY(draw_sample(s));
    KFE_TRY(kfe_i_landmark_takes_kernel_sums(s->job->own_gram, &by_kernel));
    *done = by_kernel;
    KFE_TRY(by_kernel ? sum_kernel(s) : sum_factor(s, done));
cleanup:
    return status;
}

/* The method on the sums; *done is 0 if it needs the rows. */
static kfe_status run_method(streaming *s, int *done)
{
    kfe_i_fit *job = s->job;
    const kfe_i_fit_source source = {
        .sums = s->sums, .sample = &s->sample, .sample_target = &s->sample_target, .rows_at_hand = 1};
    kfe_status status = job->spec->method->fit(job->ctx, &source, job->spec->settings, &job->solution);

    *done = status == KFE_OK && job->solution.kind == KFE_SOLUTION_PRIMAL;
    return status == KFE_EUNSUPPORTED ? KFE_OK : status;
}

/* The sums of the features, and W on F as TW on the landmarks. */
static kfe_status move_solution(streaming *s)
{
    kfe_status status = KFE_OK;
    kfe_i_fit *job = s->job;
    kfe_i_solution *solution = &job->solution;
    double *moved = NULL;
    int64_t count = 0;
    int64_t k = solution->dim;

    KFE_TRY(kfe_i_sums_map(s->sums, solution->coefficients, k, solution->offset, &job->feature_sums));
    kfe_i_gram_support(job->own_gram, &count);
    KFE_ALLOC(job->ctx, moved, count * k);
    KFE_TRY(kfe_i_landmark_map(job->own_gram, solution->coefficients, k, moved));
    KFE_TRY(kfe_i_put_on_landmarks(job->own_gram, &moved, solution));
cleanup:
    kfe_i_free(job->ctx, moved);
    return status;
}

kfe_status kfe_i_fit_landmark_sums(kfe_i_fit *job, int *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sums sums = {0};
    streaming s = {.job = job, .sums = &sums};
    int done = 0;

    *out = 0;
    if (!takes_sums(job))
        return KFE_OK;
    KFE_TRY(open_operator(job));
    if (job->own_gram)
        KFE_TRY(sum_rows(&s, &done));
    if (done)
        KFE_TRY(run_method(&s, &done));
    if (done)
        KFE_TRY(move_solution(&s));
    *out = done;
    job->gram = done ? job->own_gram : NULL;
    if (!done) {
        kfe_i_gram_free(job->own_gram);
        job->own_gram = NULL;
    }
cleanup:
    kfe_i_sums_free(&sums);
    release(&s);
    return status;
}
