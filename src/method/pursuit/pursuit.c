/* SPDX-License-Identifier: Apache-2.0 */
/* The iterations of a pursuit and the solution they give, for sma, smc and skfa (pursuit.h). */
#include "method/pursuit/pursuit.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/resume.h"
#include "core/share.h"
#include "linalg/linalg.h"
#include "method/shared/range.h"
#include "method/shared/targets.h"

enum { AUTO_DIM = 10, AUTO_DIM_PER_CLASS = 2 };

/* ---- iterations ---- */

typedef struct iteration_work {
    double *column; /* most: the new column of the triangle */
    int64_t *places;
} iteration_work;

/* Scales q to length 1 and subtracts from the residual targets what it explains; in host memory the next pass does both. */
static kfe_status explain_target(kfe_i_pursuit *p, const kfe_i_pool *pool, double length)
{
    kfe_status status = KFE_OK;
    double *slopes = p->found.slopes + p->found.count * p->targets;
    double *explained = &p->found.explained[p->found.count];

    if (p->device_pool)
        KFE_TRY(kfe_i_device_pool_accept(p->device_pool, p->found.count, length, slopes));
    *explained = 0;
    for (int64_t t = 0; t < p->targets; t++) {
        if (!p->device_pool)
            slopes[t] = pool->pick.slopes[t];
        *explained += slopes[t] * slopes[t];
        slopes[t] /= length;
    }
cleanup:
    return status;
}

static void mark_dead(kfe_i_pool *pool, const int64_t *places, int64_t most)
{
    for (int64_t i = 0; i < most && places[i] >= 0; i++)
        pool->dead[places[i]] = 1;
}

/* Finds one feature; *found 0: none is left. A pick that turns out to be explained is dropped for the next best. */
static kfe_status next_feature(kfe_i_pursuit *p, kfe_i_pool *pool, iteration_work *w, int *found)
{
    kfe_status status = KFE_OK;
    int64_t most = p->sparsity;
    int64_t *picks = p->found.picks + p->found.count * most;
    double *weights = p->found.weights + p->found.count * most;

    for (;;) {
        kfe_i_pool_best(pool, w->places, weights, found);
        if (!*found)
            return KFE_OK;
        for (int64_t i = 0; i < most; i++)
            picks[i] = w->places[i] >= 0 ? pool->example[w->places[i]] : -1;
        double length = 0;
        if (p->device_pool)
            KFE_TRY(kfe_i_pursuit_pick(p, picks[0], weights[0], w->column, &length));
        else
            KFE_TRY(kfe_i_pass_pick(pool, w->places, weights, w->column, &length));
        int explained = !(length > 0);
        if (explained || most == 1) /* with others, an example that was picked may be of use again */
            mark_dead(pool, w->places, most);
        if (explained)
            continue;
        for (int64_t j = 0; j < p->found.count; j++)
            p->found.triangle[j * p->found.most + p->found.count] = w->column[j];
        p->found.triangle[p->found.count * (p->found.most + 1)] = length;
        p->found.lengths[p->found.count] = length;
        KFE_TRY(explain_target(p, pool, length));
        p->found.count++;
        return KFE_OK;
    }
cleanup:
    return status;
}

/* What the iterations need to go on: features, residual targets and pool. On a device nothing is saved. */
static void list_state(kfe_i_pursuit *p, kfe_i_pool *pool, kfe_i_loop *loop)
{
    kfe_i_pursuit_features *found = &p->found;

    /* divided arrays belong to this number of processes */
    uint64_t key = p->divided ? (uint64_t)kfe_i_processes(p->ctx) : 0;

    kfe_i_loop_begin(p->ctx, "picking examples", key, loop);
    if (p->device_pool)
        loop->number = -1;
    KFE_LOOP_VALUE(loop, found->count);
    KFE_LOOP_DIVIDED(loop, p->divided, found->basis, kfe_i_slabs_entries(&p->slabs, found->most));
    KFE_LOOP_ARRAY(loop, found->lengths, found->most);
    KFE_LOOP_ARRAY(loop, found->triangle, found->most * found->most);
    KFE_LOOP_ARRAY(loop, found->picks, found->most * p->sparsity);
    KFE_LOOP_ARRAY(loop, found->weights, found->most * p->sparsity);
    KFE_LOOP_ARRAY(loop, found->explained, found->most);
    KFE_LOOP_ARRAY(loop, found->slopes, found->most * p->targets);
    KFE_LOOP_DIVIDED(loop, p->divided, p->residual, p->n * p->targets);
    kfe_i_pool_list_state(pool, loop);
}

static kfe_status run(kfe_i_pursuit *p)
{
    kfe_status status = KFE_OK;
    kfe_i_pool pool = {0};
    iteration_work w = {0};
    int found = 1;
    int restored = 0;
    kfe_i_loop loop;

    if (!p->device_pool)
        KFE_TAKE(&p->memory, p->found.basis, kfe_i_slabs_entries(&p->slabs, p->found.most));
    KFE_TRY(kfe_i_pool_begin(p->ctx, p, &pool));
    KFE_TAKE(&pool.memory, w.column, p->found.most);
    KFE_TAKE(&pool.memory, w.places, p->sparsity);
    list_state(p, &pool, &loop);
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    if (!restored)
        KFE_TRY(kfe_i_pool_fill(&pool));
    while (p->found.count < p->found.most) {
        KFE_TRY(next_feature(p, &pool, &w, &found));
        if (!found)
            break;
        KFE_TRY(kfe_i_progress(p->ctx, "picking examples", p->found.count, p->found.most));
        if (p->found.count < p->found.most)
            KFE_TRY(kfe_i_pool_update(&pool));
        else if (p->settings->bound)
            KFE_TRY(kfe_i_pass_settle(&pool));
        KFE_TRY(kfe_i_loop_save(&loop));
    }
cleanup:
    kfe_i_arena_free(&pool.memory);
    return status;
}

/* All processes take what process 0 found: on another device, rounding may have decided otherwise between two examples. */
static kfe_status share_features(kfe_i_pursuit *p)
{
    kfe_i_pursuit_features *f = &p->found;
    const int64_t size = sizeof(double);
    const struct {
        void *bytes;
        int64_t count;
    } arrays[] = {{&f->count, sizeof f->count},
                  {f->lengths, f->most * size},
                  {f->triangle, f->most * f->most * size},
                  {f->picks, f->most * p->sparsity * (int64_t)sizeof *f->picks},
                  {f->weights, f->most * p->sparsity * size},
                  {f->explained, f->most * size},
                  {f->slopes, f->most * p->targets * size}};
    kfe_status status = KFE_OK;

    for (size_t i = 0; p->is_repeated && i < sizeof arrays / sizeof *arrays; i++)
        KFE_TRY(kfe_i_cluster_broadcast(p->ctx, 0, arrays[i].bytes, arrays[i].count));
cleanup:
    return status;
}

/* With long arrays on the operator's device if it has one with room for them, else in host memory. */
static kfe_status run_anywhere(kfe_i_pursuit *p)
{
    kfe_i_device_pool long_arrays = {0};
    kfe_status status = kfe_i_pursuit_open_device_pool(p, kfe_i_pool_size(p), &long_arrays);

    if (status == KFE_OK)
        status = run(p);
    int again = status != KFE_OK && long_arrays.gave_up;
    kfe_i_device_pool_close(&long_arrays);
    p->device_pool = NULL;
    if (again) {
        p->found.count = 0;
        status = run(p);
    }
    return status == KFE_OK ? share_features(p) : status;
}

/* ---- beginning ---- */

kfe_status kfe_i_pursuit_columns(const kfe_i_pursuit *p, const int64_t *index, int64_t count, double *out)
{
    kfe_status status = p->part->columns(p->part, index, count, out);

    for (int64_t i = 0; status == KFE_OK && p->kernel_unit != 1 && i < p->n * count; i++)
        out[i] /= p->kernel_unit;
    return status;
}

static kfe_status begin_residual(kfe_i_pursuit *p)
{
    kfe_status status = KFE_OK;

    KFE_TAKE_ZERO(&p->memory, p->residual, p->n * p->targets);
    for (int64_t i = 0; i < p->n * p->targets; i++) {
        p->residual[i] = p->target[i];
        p->target_norm += p->target[i] * p->target[i];
    }
    KFE_TRY(kfe_i_pursuit_sum(p, &p->target_norm, 1));
cleanup:
    return status;
}

/* Features asked for. One direction rests on one example, so that many classes need more than ten. */
static int64_t features_asked(const kfe_i_pursuit *p, int64_t classes)
{
    int64_t for_classes = 0;

    if (p->settings->dim > 0)
        return p->settings->dim;
    if (p->aim != KFE_AIM_VARIANCE)
        for_classes = AUTO_DIM_PER_CLASS * classes;
    return for_classes > AUTO_DIM ? for_classes : AUTO_DIM;
}

static kfe_status begin(kfe_i_pursuit *p, int64_t classes)
{
    kfe_status status = KFE_OK;

    int64_t asked = features_asked(p, classes);
    p->found.most = kfe_i_least(asked, p->different_count);
    p->slabs = kfe_i_slabs_of(p->n);
    KFE_TRY(begin_residual(p));
    KFE_TRY(kfe_i_check_memory(p->ctx, 8.0 * (double)p->n * (double)(p->found.most + p->targets),
                               "the features", "lower {dim}, or raise {memory}"));
    KFE_TAKE(&p->memory, p->found.lengths, p->found.most);
    KFE_TAKE_ZERO(&p->memory, p->found.triangle, p->found.most * p->found.most);
    KFE_TAKE(&p->memory, p->found.picks, p->found.most * p->sparsity);
    KFE_TAKE(&p->memory, p->found.weights, p->found.most * p->sparsity);
    KFE_TAKE(&p->memory, p->found.explained, p->found.most);
    KFE_TAKE(&p->memory, p->found.slopes, p->found.most * p->targets);
cleanup:
    return status;
}

/* ---- the solution ---- */

static void scale(int64_t count, double factor, double *values)
{
    cblas_dscal((blasint)count, factor, values, 1);
}

/* Back from the units of the iterations. With K = sK′ a direction is scaled to βᵀKβ = 1, so that β = β′/√s and τ = √s·τ′, or, for
 * alignment, to ‖Kβ‖ = 1, so that β = β′/s and τ = τ′. */
static void restore_units(kfe_i_pursuit *p)
{
    double direction = 1 / (p->aim == KFE_AIM_ALIGNMENT ? p->kernel_unit : sqrt(p->kernel_unit));
    double feature = p->kernel_unit * direction;
    kfe_i_pursuit_features *found = &p->found;

    if (p->kernel_unit == 1 && p->unit == 1)
        return;
    scale(found->count * p->sparsity, direction, found->weights);
    scale(found->most * found->most, feature, found->triangle);
    scale(found->count, feature, found->lengths);
    scale(found->count * p->targets, p->unit / feature, found->slopes);
    scale(p->n * p->targets, p->unit, p->target);
    scale(p->candidates, p->kernel_unit, p->diagonal);
    p->kernel_unit = 1;
}

/* a (count × count) = R⁻¹·diag(lengths), upper triangular. */
static void invert_triangle(const kfe_i_pursuit *p, double *a)
{
    int64_t k = p->found.count;

    memset(a, 0, (size_t)(k * k) * sizeof *a);
    for (int64_t j = 0; j < k; j++)
        a[j * (k + 1)] = p->found.lengths[j];
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (blasint)k, (blasint)k, 1,
                p->found.triangle, (blasint)p->found.most, a, (blasint)k);
}

/* index: each picked example once, in the order of first picks; place: where in it each pick stands. Returns its length. */
static int64_t list_support(const kfe_i_pursuit *p, int64_t *index, int64_t *place)
{
    int64_t count = 0;

    for (int64_t e = 0; e < p->found.count * p->sparsity; e++) {
        int64_t at = 0;
        place[e] = -1;
        if (p->found.picks[e] < 0)
            continue;
        while (at < count && index[at] != p->found.picks[e])
            at++;
        index[at] = p->found.picks[e];
        place[e] = at;
        count = at == count ? count + 1 : count;
    }
    return count;
}

/* coefficients (support × count) = B·inverse. */
static void spread_weights(const kfe_i_pursuit *p, const int64_t *place, const double *inverse,
                           double *coefficients)
{
    int64_t k = p->found.count;
    int64_t most = p->sparsity;

    for (int64_t e = 0; e < k * most; e++)
        for (int64_t j = e / most; place[e] >= 0 && j < k; j++)
            coefficients[place[e] * k + j] += p->found.weights[e] * inverse[e / most * k + j];
}

/* How many examples the first j + 1 directions rest on together; `place` is that of list_support. */
static double support_after(const kfe_i_pursuit *p, const int64_t *place, int64_t j, double before)
{
    for (int64_t e = j * p->sparsity; e < (j + 1) * p->sparsity; e++)
        before = place[e] >= 0 && (double)place[e] >= before ? (double)place[e] + 1 : before;
    return before;
}

static kfe_status record_progress(const kfe_i_pursuit *p, const int64_t *place, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = p->ctx};
    double *covariance, *alignment, *evaluations;
    double n = p->mass;

    KFE_TAKE(&memory, covariance, p->found.count);
    KFE_TAKE(&memory, alignment, p->found.count);
    KFE_TAKE(&memory, evaluations, p->found.count);
    for (int64_t j = 0; j < p->found.count; j++) {
        double scaled = p->unit * p->found.lengths[j] / n;
        double explained = p->found.explained[j];
        covariance[j] = (j ? covariance[j - 1] : 0) + explained * scaled * scaled;
        alignment[j] = (j ? alignment[j - 1] : 0) + (p->target_norm > 0 ? explained / p->target_norm : 0);
        evaluations[j] = support_after(p, place, j, j ? evaluations[j - 1] : 0);
    }
    if (p->targets > 0) {
        KFE_TRY(kfe_i_solution_record(out, "covariance", covariance, p->found.count));
        KFE_TRY(kfe_i_solution_record(out, "alignment", alignment, p->found.count));
    }
    KFE_TRY(kfe_i_solution_record(out, "kernel-evaluations", evaluations, p->found.count));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

static kfe_status make_solution(const kfe_i_pursuit *p, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = p->ctx};
    int64_t k = p->found.count;
    int64_t *index, *place;
    double *inverse;

    KFE_TAKE(&memory, index, k * p->sparsity);
    KFE_TAKE(&memory, place, k * p->sparsity);
    KFE_TAKE(&memory, inverse, k * k);
    invert_triangle(p, inverse);
    int64_t support = list_support(p, index, place);
    KFE_TRY(kfe_i_solution_begin(p->ctx, KFE_SOLUTION_DUAL, support, k, out));
    KFE_ALLOC(p->ctx, out->index, support);
    memcpy(out->index, index, (size_t)support * sizeof *index);
    spread_weights(p, place, inverse, out->coefficients);
    KFE_TRY(record_progress(p, place, out));
    if (p->settings->bound)
        KFE_TRY(kfe_i_pursuit_bound(p, out->coefficients, support, out->index, out));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

kfe_status kfe_i_pursuit_record_regression(const kfe_i_pursuit *p, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = p->ctx};
    double *signs, *regression;

    KFE_TAKE(&memory, signs, p->found.count);
    KFE_TAKE(&memory, regression, p->targets * p->found.count);
    KFE_TRY(kfe_i_solution_take_signs(out, signs));
    for (int64_t t = 0; t < p->targets; t++)
        for (int64_t j = 0; j < p->found.count; j++)
            regression[t * p->found.count + j] = signs[j] * p->found.slopes[j * p->targets + t];
    if (p->targets > 0)
        KFE_TRY(kfe_i_solution_record(out, "regression", regression, p->targets * p->found.count));
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

int64_t kfe_i_pursuit_column_count(const void *settings, int64_t rows)
{
    const kfe_i_pursuit_settings *s = settings;
    int64_t dim = s->dim > 0 ? s->dim : AUTO_DIM;
    int64_t pool = s->columns > 0 && s->columns < rows ? s->columns : rows;

    if (s->low_memory)
        return dim < rows ? pool * dim : pool * rows;
    return pool + (dim < rows ? dim : rows) * (1 + kfe_i_pool_refresh(s, pool));
}

kfe_status kfe_i_pursuit_run(kfe_i_pursuit *p, int64_t classes, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin(p, classes));
    KFE_TRY(run_anywhere(p));
    if (p->found.count == 0)
        KFE_FAIL(p->ctx, KFE_EINPUT, "%s: no kernel column %s; check the labels and the kernel's parameters",
                 p->method, p->aim == KFE_AIM_VARIANCE ? "varies" : "covaries with the target");
    kfe_i_clamp_dim(p->ctx, p->method, p->settings->dim, p->found.count,
                    "the other examples explain nothing more");
    restore_units(p);
    KFE_TRY(make_solution(p, out));
cleanup:
    return status;
}
