/* SPDX-License-Identifier: Apache-2.0 */
/* A fit of kcca or kgcca: factors of the views, the eigenproblem (canonical_solve.c), and coefficients on the examples. Both methods
 * call kfe_i_canonical_fit. */
#include "method/canonical/canonical.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "gram/form/landmarks.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/shared/targets.h"

enum { DEFAULT_DIM = 10 };
/* Eigenvalues below this are rounding: correlations are at most one. */
#define KFE_CANONICAL_LEAST 1e-8

typedef struct view_part {
    kfe_i_kernel_list kernels;     /* borrowed: those of this view */
    kfe_i_gram *plain, *weighted;  /* without and with the weights of the examples */
    kfe_i_factor factor;           /* its eigenvectors and values become the part's */
    double *coefficients, *offset; /* support × dim, dim: features of this view */
} view_part;

typedef struct canonical {
    kfe_context *ctx;
    const char *method;
    kfe_i_canonical_rule rule;
    const kfe_i_fit_source *source;
    const kfe_i_canonical_settings *settings;
    kfe_i_arena memory;
    const double *roots; /* of the weights of the examples; NULL: ones */
    int64_t n, count;    /* examples, views */
    view_part *views;
    kfe_i_canonical_part *parts; /* the views and, if there is one view, the target */
    int64_t part_count, total;
    int64_t *landmarks; /* shared by the views; NULL: none */
    int64_t landmark_count;
    int64_t dim, support;
    double ridge;
    double *values, *directions, *cross;
} canonical;

static void canonical_free(canonical *c)
{
    for (int64_t v = 0; c->views && v < c->count; v++) {
        kfe_i_factor_free(&c->views[v].factor);
        kfe_i_gram_free(c->views[v].weighted);
        kfe_i_gram_free(c->views[v].plain);
    }
    kfe_i_arena_free(&c->memory);
}

/* ---- views ---- */

/* Kernels are listed in the order of the views. */
static kfe_status divide_kernels(canonical *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel_list *all = c->source->kernels;

    KFE_TAKE_ZERO(&c->memory, c->views, c->source->view_count);
    c->count = c->part_count = c->source->view_count;
    KFE_TAKE_ZERO(&c->memory, c->parts, c->count + 1);
    for (int64_t m = 0; m < all->count; m++) {
        kfe_i_kernel_list *own = &c->views[all->items[m].view].kernels;
        if (own->count++ == 0)
            *own = (kfe_i_kernel_list){.ctx = c->ctx, .items = &all->items[m], .count = 1};
        own->capacity = own->count;
    }
    for (int64_t v = 0; v < c->count; v++)
        KFE_TRY(kfe_i_gram_open(c->ctx, &c->views[v].kernels, c->source->views,
                                c->source->landmarks.count > 0 ? KFE_GRAM_AUTO : c->source->storage,
                                &c->views[v].plain));
cleanup:
    return status;
}

/* The landmarks of the sum of the kernels, each divided by its mean diagonal so that every view counts. */
static kfe_status choose_landmarks(canonical *c)
{
    kfe_status status = KFE_OK;
    int64_t asked = c->source->landmarks.count;
    kfe_i_landmark_plan plan = c->source->landmarks;
    kfe_i_kernel_list scaled;
    kfe_i_gram *sum = NULL;

    kfe_i_kernel_list_init(c->ctx, &scaled);
    if (asked == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_kernel_list_copy(c->ctx, c->source->kernels, &scaled));
    for (int64_t m = 0; m < scaled.count; m++) {
        double mean = 0;
        KFE_TRY(kfe_i_gram_mean_diagonal(c->views[scaled.items[m].view].plain, &mean));
        scaled.items[m].common.weight /= mean > 0 ? mean : 1;
    }
    KFE_TRY(kfe_i_gram_open(c->ctx, &scaled, c->source->views, KFE_GRAM_AUTO, &sum));
    plan.count = kfe_i_least(asked, c->n);
    KFE_TAKE(&c->memory, c->landmarks, plan.count);
    KFE_TRY(kfe_i_landmarks_choose(sum, &plan, c->landmarks, &c->landmark_count));
    if (c->landmark_count == 0) /* all kernels are zero */
        c->landmarks = NULL;
cleanup:
    kfe_i_gram_free(sum);
    kfe_i_kernel_list_free(&scaled);
    return status;
}

static kfe_status use_landmarks(const canonical *c, view_part *view)
{
    kfe_i_landmark_plan plan = {
        .count = c->landmark_count, .rule = c->source->landmarks.rule, .index = c->landmarks};
    kfe_i_gram *exact = view->plain;

    view->plain = NULL;
    return kfe_i_gram_landmarks(c->ctx, exact, &plan, c->source->storage, &view->plain);
}

static kfe_status factor_view(canonical *c, int64_t v)
{
    kfe_status status = KFE_OK;
    view_part *view = &c->views[v];
    kfe_i_fit_source own = *c->source;

    if (c->landmarks)
        KFE_TRY(use_landmarks(c, view));
    if (c->roots)
        KFE_TRY(kfe_i_gram_weighted(c->ctx, view->plain, c->roots, &view->weighted));
    kfe_i_operator op = {.gram = view->weighted ? view->weighted : view->plain};
    own.op = &op;
    own.kernels = &view->kernels;
    KFE_TRY(kfe_i_factor_kernel(c->ctx, c->method, &own, c->settings->rank, &view->factor));
    kfe_i_free(c->ctx, view->factor.points); /* vectors and values give them */
    view->factor.points = NULL;
    c->parts[v] = (kfe_i_canonical_part){
        .rank = view->factor.rank, .values = view->factor.values, .vectors = view->factor.vectors};
cleanup:
    return status;
}

/* The targets by their singular vectors. */
static kfe_status open_target(canonical *c)
{
    kfe_status status = KFE_OK;
    kfe_i_canonical_part *part = &c->parts[c->part_count++];
    double *y = NULL;
    int64_t columns = 0;
    double unit = 1;

    KFE_TRY(kfe_i_centred_targets(c->ctx, c->source->target, &y, &columns, &unit));
    assert(columns > 0); /* the spec was checked */
    part->plain = 1;
    KFE_TAKE(&c->memory, part->values, columns);
    KFE_TAKE(&c->memory, part->vectors, c->n * columns);
    KFE_TRY(kfe_i_left_vectors(c->ctx, c->n, columns, y, columns, KFE_CANONICAL_LEAST, part->values,
                               part->vectors, &part->rank));
cleanup:
    kfe_i_free(c->ctx, y);
    return status;
}

static kfe_status open_parts(canonical *c)
{
    kfe_status status = KFE_OK;

    KFE_TRY(divide_kernels(c));
    if (c->count == 1)
        KFE_TRY(open_target(c));
    KFE_TRY(choose_landmarks(c));
    for (int64_t v = 0; v < c->count; v++) {
        KFE_TRY(kfe_i_progress(c->ctx, "factoring the kernels of the views", v, c->count));
        KFE_TRY(factor_view(c, v));
    }
    for (int64_t v = 0; v < c->part_count; v++)
        c->total += c->parts[v].rank;
cleanup:
    return status;
}

/* ---- directions ---- */

static kfe_status find_directions(canonical *c, kfe_i_canonical_job *job)
{
    kfe_status status = KFE_OK;
    int64_t most = kfe_i_canonical_most(c->parts, c->part_count);
    int64_t asked = c->settings->dim > 0 ? c->settings->dim : most < DEFAULT_DIM ? most : DEFAULT_DIM;

    most = kfe_i_clamp_dim(c->ctx, c->method, asked, most, "the views have no more dimensions in common");
    KFE_TRY(kfe_i_check_memory(c->ctx, 16.0 * (double)c->total * (double)c->total,
                               "the products of the views", "use a smaller {rank}, or raise {memory}"));
    KFE_TAKE(&c->memory, c->cross, c->total * c->total);
    KFE_TAKE(&c->memory, c->values, most);
    KFE_TAKE(&c->memory, c->directions, c->total * most);
    kfe_i_canonical_cross(c->parts, c->part_count, c->n, c->cross);
    c->ridge = c->settings->ridge;
    if (c->ridge < 0)
        KFE_TRY(kfe_i_canonical_choose_ridge(c->ctx, c->rule, c->parts, c->part_count, c->n, c->roots,
                                             c->source->target->keys, most, &c->ridge));
    *job = (kfe_i_canonical_job){.ctx = c->ctx,
                                 .rule = c->rule,
                                 .parts = c->parts,
                                 .count = c->part_count,
                                 .total = c->total,
                                 .cross = c->cross,
                                 .ridge = c->ridge};
    KFE_TRY(kfe_i_canonical_solve(job, most, c->values, c->directions));
    /* A direction of one view alone has the eigenvalue 0, or at most 1 where its own block counts. */
    c->dim = kfe_i_count_above(most, c->values, c->rule == KFE_CANONICAL_PAIRS ? KFE_CANONICAL_LEAST : 0);
    if (c->dim == 0)
        KFE_FAIL(c->ctx, KFE_EINPUT, "%s: the views have nothing in common", c->method);
    kfe_i_copy_block(c->total, c->dim, c->directions, most, c->directions, c->dim);
cleanup:
    return status;
}

/* ---- coefficients ---- */

/* out (landmarks × dim) = the coefficients of a view on the landmarks that all views share. */
static kfe_status move_to_landmarks(const canonical *c, const view_part *view, const double *a, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = c->ctx};
    int64_t count = 0;
    const int64_t *landmarks = kfe_i_gram_support(view->plain, &count);
    int64_t *place;
    double *moved;

    KFE_TAKE(&memory, place, c->n);
    KFE_TAKE(&memory, moved, count * c->dim);
    KFE_TRY(kfe_i_landmark_coefficients(view->plain, NULL, c->n, a, c->dim, moved));
    for (int64_t l = 0; l < c->landmark_count; l++)
        place[c->landmarks[l]] = l;
    for (int64_t l = 0; l < count; l++) /* a view may need fewer of them */
        memcpy(out + place[landmarks[l]] * c->dim, moved + l * c->dim, (size_t)c->dim * sizeof *out);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* The features of one view, of length 1 in the sum over all examples, times the root of their number. */
static kfe_status make_coefficients(canonical *c, int64_t v, double *directions)
{
    kfe_status status = KFE_OK;
    view_part *view = &c->views[v];
    double scale = sqrt(kfe_i_gram_mass(view->weighted ? view->weighted : view->plain));
    kfe_i_solution alone = {0};

    KFE_TRY(kfe_i_factor_solution(&view->factor, directions, c->dim, &alone));
    kfe_i_scale_rows(c->n, c->dim, c->roots, alone.coefficients);
    cblas_dscal((blasint)(c->n * c->dim), scale, alone.coefficients, 1);
    cblas_dscal((blasint)c->dim, scale, alone.offset, 1);
    view->offset = kfe_i_arena_add(&c->memory, alone.offset);
    alone.offset = NULL;
    if (c->landmarks) {
        KFE_TAKE_ZERO(&c->memory, view->coefficients, c->landmark_count * c->dim);
        KFE_TRY(move_to_landmarks(c, view, alone.coefficients, view->coefficients));
    } else {
        view->coefficients = kfe_i_arena_add(&c->memory, alone.coefficients);
        alone.coefficients = NULL;
    }
cleanup:
    kfe_i_solution_free(&alone);
    return status;
}

/* Which columns of the result the features of a view go to, and how much they count. */
typedef struct arrangement {
    int64_t dim;   /* of the result */
    int only;      /* −1: all views */
    int is_joint;  /* all views go to the same columns */
    double *share; /* dim of a view: factors of the features in the joint ones */
} arrangement;

static kfe_status arrange(canonical *c, arrangement *out)
{
    kfe_status status = KFE_OK;
    const char *text = c->settings->features;

    *out = (arrangement){.dim = c->dim, .only = -1, .is_joint = strcmp(text, "joint") == 0};
    KFE_TAKE(&c->memory, out->share, c->dim);
    for (int64_t j = 0; j < c->dim; j++)
        out->share[j] = !out->is_joint || c->count == 1   ? 1
                        : c->rule == KFE_CANONICAL_SHARED ? 1 / c->values[j]
                                                          : 1 / (double)c->count;
    if (strcmp(text, "all") == 0)
        out->dim = c->count * c->dim;
    else if (!out->is_joint && (out->only = kfe_i_find_view(c->source, text)) < 0)
        KFE_FAIL(
            c->ctx, KFE_EINVAL,
            "method %s: there is no view '%s' for {features}; write joint, all, the name of a view, or its "
            "number, 1 to %lld",
            c->method, text, (long long)c->count);
cleanup:
    return status;
}

static void place_view(const canonical *c, const arrangement *to, int64_t v, kfe_i_solution *out)
{
    const view_part *view = &c->views[v];
    int64_t first = !to->is_joint && to->only < 0 ? v * c->dim : 0;
    double *block = out->coefficients + v * c->support * to->dim;

    if (to->only >= 0 && to->only != v)
        return;
    for (int64_t j = 0; j < c->dim; j++) {
        for (int64_t i = 0; i < c->support; i++)
            block[i * to->dim + first + j] = to->share[j] * view->coefficients[i * c->dim + j];
        out->offset[first + j] += to->share[j] * view->offset[j];
    }
}

/* One sign for a feature of all views, so that they stay positively correlated: that of the largest coefficient of the first. */
static kfe_status fix_signs(canonical *c)
{
    kfe_status status = KFE_OK;
    kfe_i_fit_source source = *c->source;
    kfe_i_solution first = {.ctx = c->ctx,
                            .source = &source,
                            .kind = KFE_SOLUTION_DUAL,
                            .rows = c->support,
                            .dim = c->dim,
                            .coefficients = c->views[0].coefficients,
                            .index = c->landmarks};
    double *signs = NULL;

    source.op = NULL; /* these coefficients have the roots of the weights already */
    KFE_TAKE(&c->memory, signs, c->dim);
    KFE_TRY(kfe_i_solution_signs(&first, signs));
    for (int64_t j = 0; j < c->dim; j++)
        for (int64_t v = 0; v < c->count && signs[j] < 0; v++) {
            cblas_dscal((blasint)c->support, -1, c->views[v].coefficients + j, (blasint)c->dim);
            c->views[v].offset[j] = -c->views[v].offset[j];
        }
cleanup:
    return status;
}

static kfe_status make_solution(canonical *c, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *directions = c->directions;
    arrangement to = {0};

    c->support = c->landmarks ? c->landmark_count : c->n;
    KFE_TRY(arrange(c, &to));
    for (int64_t v = 0; v < c->count; directions += c->parts[v++].rank * c->dim)
        KFE_TRY(make_coefficients(c, v, directions));
    KFE_TRY(fix_signs(c));
    KFE_TRY(kfe_i_solution_begin(c->ctx, KFE_SOLUTION_VIEWS, c->count * c->support, to.dim, out));
    KFE_ALLOC_ZERO(c->ctx, out->offset, to.dim);
    for (int64_t v = 0; v < c->count; v++)
        place_view(c, &to, v, out);
    if (c->landmarks) {
        KFE_ALLOC(c->ctx, out->index, c->landmark_count);
        memcpy(out->index, c->landmarks, (size_t)c->landmark_count * sizeof *out->index);
    }
cleanup:
    return status;
}

/* ---- records ---- */

/* Of the view that its landmarks represent worst. */
static kfe_status record_landmarks(const canonical *c, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t rank = 0;
    double left = 0;

    if (c->landmark_count == 0)
        return KFE_OK;
    for (int64_t v = 0; v < c->count; v++) {
        int64_t bound = kfe_i_gram_rank_bound(c->views[v].plain);
        rank = bound > rank ? bound : rank;
        left = fmax(left, kfe_i_gram_trace_left(c->views[v].plain));
    }
    KFE_TRY(kfe_i_solution_record_landmarks(out, c->landmark_count, rank, left));
cleanup:
    return status;
}

static kfe_status record(canonical *c, const kfe_i_canonical_job *job, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *pairs, *views;

    KFE_TAKE(&c->memory, pairs, c->dim);
    KFE_TAKE(&c->memory, views, c->part_count * c->dim);
    KFE_TRY(kfe_i_canonical_correlations(job, c->dim, c->directions, pairs, views));
    KFE_TRY(kfe_i_solution_record(out, "correlations", pairs, c->dim));
    KFE_TRY(kfe_i_solution_record(out, "view-correlations", views, c->count * c->dim));
    KFE_TRY(kfe_i_solution_record(out, "criterion", c->values, c->dim));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &c->ridge, 1));
    KFE_TRY(record_landmarks(c, out));
cleanup:
    return status;
}

kfe_status kfe_i_canonical_fit(kfe_context *ctx, const char *method, kfe_i_canonical_rule rule,
                               const kfe_i_fit_source *source, const kfe_i_canonical_settings *settings,
                               kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    canonical c = {.ctx = ctx,
                   .method = method,
                   .rule = rule,
                   .source = source,
                   .settings = settings,
                   .memory = {.ctx = ctx}};
    kfe_i_canonical_job job;

    c.n = source->views[0].rows;
    KFE_TRY(kfe_i_ask_roots(ctx, source, &c.roots));
    KFE_TRY(open_parts(&c));
    KFE_TRY(find_directions(&c, &job));
    KFE_TRY(make_solution(&c, out));
    KFE_TRY(record(&c, &job, out));
cleanup:
    canonical_free(&c);
    return status;
}
