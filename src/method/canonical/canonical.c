/* SPDX-License-Identifier: Apache-2.0 */
/* A fit of kcca or kgcca: factors of the views, the eigenproblem (canonical_solve.c), and coefficients on the examples. Both methods
 * call kfe_i_canonical_fit. */
#include "method/canonical/canonical.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "gram/form/landmarks.h"
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
    const kfe_i_problem *problem;
    const kfe_i_canonical_settings *settings;
    int64_t n, count; /* examples, views */
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
        kfe_i_free(c->ctx, c->views[v].coefficients);
        kfe_i_free(c->ctx, c->views[v].offset);
    }
    if (c->parts && c->part_count > c->count) { /* the target's belong to the part */
        kfe_i_free(c->ctx, c->parts[c->count].values);
        kfe_i_free(c->ctx, c->parts[c->count].vectors);
    }
    kfe_i_free(c->ctx, c->views);
    kfe_i_free(c->ctx, c->parts);
    kfe_i_free(c->ctx, c->landmarks);
    kfe_i_free(c->ctx, c->values);
    kfe_i_free(c->ctx, c->directions);
    kfe_i_free(c->ctx, c->cross);
}

/* ---- views ---- */

/* Kernels are listed in the order of the views. */
static kfe_status divide_kernels(canonical *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_kernel_list *all = c->problem->kernels;

    c->count = c->problem->view_count;
    KFE_ALLOC_ZERO(c->ctx, c->views, c->count);
    KFE_ALLOC_ZERO(c->ctx, c->parts, c->count + 1);
    for (int64_t m = 0; m < all->count; m++) {
        kfe_i_kernel_list *own = &c->views[all->items[m].view].kernels;
        if (own->count++ == 0)
            *own = (kfe_i_kernel_list){.ctx = c->ctx, .items = &all->items[m], .count = 1};
        own->capacity = own->count;
    }
    c->part_count = c->count;
cleanup:
    return status;
}

/* The landmarks of the sum of the kernels, each divided by its mean diagonal so that every view counts. */
static kfe_status choose_landmarks(canonical *c)
{
    kfe_status status = KFE_OK;
    int64_t asked = c->problem->landmarks.count;
    kfe_i_landmark_plan plan = {.count = asked < c->n ? asked : c->n, .rule = c->problem->landmarks.rule};
    kfe_i_kernel_list scaled;
    kfe_i_gram *sum = NULL;

    kfe_i_kernel_list_init(c->ctx, &scaled);
    if (asked == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_kernel_list_copy(c->ctx, c->problem->kernels, &scaled));
    for (int64_t v = 0, m = 0; v < c->count; v++) {
        double mean = 0;
        KFE_TRY(kfe_i_gram_open(c->ctx, &c->views[v].kernels, c->problem->views, KFE_GRAM_AUTO,
                                &c->views[v].plain));
        KFE_TRY(kfe_i_gram_mean_diagonal(c->views[v].plain, &mean));
        for (int64_t own = 0; own < c->views[v].kernels.count; own++, m++)
            scaled.items[m].common.weight /= mean > 0 ? mean : 1;
    }
    KFE_TRY(kfe_i_gram_open(c->ctx, &scaled, c->problem->views, KFE_GRAM_AUTO, &sum));
    KFE_ALLOC(c->ctx, c->landmarks, plan.count);
    KFE_TRY(kfe_i_landmarks_choose(sum, &plan, c->landmarks, &c->landmark_count));
cleanup:
    kfe_i_gram_free(sum);
    kfe_i_kernel_list_free(&scaled);
    return status;
}

static kfe_status open_view(canonical *c, int64_t v)
{
    kfe_status status = KFE_OK;
    view_part *view = &c->views[v];
    kfe_i_problem own = *c->problem;
    kfe_i_landmark_plan plan = {
        .count = c->landmark_count, .rule = c->problem->landmarks.rule, .index = c->landmarks};
    kfe_i_gram *exact = view->plain;

    view->plain = NULL;
    if (!exact)
        KFE_TRY(kfe_i_gram_open(c->ctx, &view->kernels, c->problem->views,
                                c->landmarks ? KFE_GRAM_AUTO : c->problem->storage, &exact));
    if (c->landmarks) {
        status = kfe_i_gram_landmarks(c->ctx, exact, &plan, c->problem->storage, &view->plain);
        exact = NULL;
        KFE_TRY(status);
    } else {
        view->plain = exact;
        exact = NULL;
    }
    if (c->problem->roots)
        KFE_TRY(kfe_i_gram_weighted(c->ctx, view->plain, c->problem->roots, &view->weighted));
    own.gram = view->weighted ? view->weighted : view->plain;
    own.kernels = &view->kernels;
    KFE_TRY(kfe_i_factor_kernel(c->ctx, c->method, &own, c->settings->rank, &view->factor));
    kfe_i_free(c->ctx, view->factor.points); /* vectors and values give them */
    view->factor.points = NULL;
    c->parts[v] = (kfe_i_canonical_part){
        .rank = view->factor.rank, .values = view->factor.values, .vectors = view->factor.vectors};
cleanup:
    kfe_i_gram_free(exact);
    return status;
}

/* Y = UΛ^(1/2)Vᵀ, from the eigenvectors of YᵀY. */
static kfe_status open_target(canonical *c)
{
    kfe_status status = KFE_OK;
    kfe_i_canonical_part *part = &c->parts[c->count];
    double *y = NULL;
    double *products = NULL;
    double *right = NULL;
    int64_t columns = 0;
    double unit = 1;

    KFE_TRY(kfe_i_centred_targets(c->ctx, c->problem->target, &y, &columns, &unit));
    assert(columns > 0); /* the spec was checked */
    c->part_count = c->count + 1;
    part->plain = 1;
    KFE_ALLOC(c->ctx, products, columns * columns);
    KFE_ALLOC(c->ctx, right, columns * columns);
    KFE_ALLOC(c->ctx, part->values, columns);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)columns, (blasint)columns, (blasint)c->n, 1,
                y, (blasint)columns, y, (blasint)columns, 0, products, (blasint)columns);
    KFE_TRY(kfe_i_symmetric_eigen(c->ctx, columns, products, columns, part->values, right));
    while (part->rank < columns && part->values[part->rank] > KFE_CANONICAL_LEAST * part->values[0])
        part->rank++;
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < part->rank; j++)
            right[i * columns + j] /= sqrt(part->values[j]);
    KFE_ALLOC(c->ctx, part->vectors, c->n * part->rank);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)c->n, (blasint)part->rank,
                (blasint)columns, 1, y, (blasint)columns, right, (blasint)columns, 0, part->vectors,
                (blasint)part->rank);
cleanup:
    kfe_i_free(c->ctx, y);
    kfe_i_free(c->ctx, products);
    kfe_i_free(c->ctx, right);
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
        KFE_TRY(kfe_i_checkpoint(c->ctx, "factoring the kernels of the views", v, c->count));
        KFE_TRY(open_view(c, v));
    }
    for (int64_t v = 0; v < c->part_count; v++)
        c->total += c->parts[v].rank;
cleanup:
    return status;
}

/* ---- directions ---- */

/* Counts the features that the views share, at most `most`. */
static int64_t shared_features(const canonical *c, kfe_i_canonical_rule rule, int64_t most)
{
    /* A direction of one view alone has the eigenvalue 0, or 1 at most where its own block counts. */
    double least = rule == KFE_CANONICAL_PAIRS ? KFE_CANONICAL_LEAST : 0;
    int64_t found = 0;

    while (found < most && c->values[found] > least)
        found++;
    return found;
}

static kfe_status find_directions(canonical *c, kfe_i_canonical_rule rule, kfe_i_canonical_job *job)
{
    kfe_status status = KFE_OK;
    int64_t most = kfe_i_canonical_most(c->parts, c->part_count);
    int64_t asked = c->settings->dim > 0 ? c->settings->dim : most < DEFAULT_DIM ? most : DEFAULT_DIM;
    double *kept = NULL;

    most = kfe_i_clamp_dim(c->ctx, c->method, asked, most, "the views have no more dimensions in common");
    KFE_TRY(kfe_i_check_memory(c->ctx, 16.0 * (double)c->total * (double)c->total,
                               "the products of the views", "use a smaller {rank}, or raise {memory}"));
    KFE_ALLOC(c->ctx, c->cross, c->total * c->total);
    KFE_ALLOC(c->ctx, c->values, most);
    KFE_ALLOC(c->ctx, c->directions, c->total * most);
    kfe_i_canonical_cross(c->parts, c->part_count, c->n, c->cross);
    c->ridge = c->settings->ridge;
    if (c->ridge < 0)
        KFE_TRY(kfe_i_canonical_choose_ridge(c->ctx, rule, c->parts, c->part_count, c->n, c->problem->roots,
                                             most, &c->ridge));
    *job = (kfe_i_canonical_job){.ctx = c->ctx,
                                 .rule = rule,
                                 .parts = c->parts,
                                 .count = c->part_count,
                                 .total = c->total,
                                 .cross = c->cross,
                                 .ridge = c->ridge};
    KFE_TRY(kfe_i_canonical_solve(job, most, c->values, c->directions));
    c->dim = shared_features(c, rule, most);
    if (c->dim == 0)
        KFE_FAIL(c->ctx, KFE_EINPUT, "%s: the views have nothing in common", c->method);
    KFE_ALLOC(c->ctx, kept, c->total * c->dim);
    for (int64_t i = 0; i < c->total; i++)
        memcpy(kept + i * c->dim, c->directions + i * most, (size_t)c->dim * sizeof *kept);
    kfe_i_free(c->ctx, c->directions);
    c->directions = kept;
cleanup:
    return status;
}

/* ---- coefficients ---- */

/* out (landmarks × dim) = the coefficients of a view on the landmarks that all views share. */
static kfe_status move_to_landmarks(const canonical *c, const view_part *view, const double *a, double *out)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info;
    int64_t *place = NULL;
    double *moved = NULL;

    kfe_i_gram_has_landmarks(view->plain, &info);
    KFE_ALLOC(c->ctx, place, c->n);
    KFE_ALLOC(c->ctx, moved, info.count * c->dim);
    KFE_TRY(kfe_i_landmark_coefficients(view->plain, NULL, c->n, a, c->dim, moved));
    for (int64_t l = 0; l < c->landmark_count; l++)
        place[c->landmarks[l]] = l;
    memset(out, 0, (size_t)(c->landmark_count * c->dim) * sizeof *out);
    for (int64_t l = 0; l < info.count; l++) /* a view may need fewer of them */
        memcpy(out + place[info.index[l]] * c->dim, moved + l * c->dim, (size_t)c->dim * sizeof *out);
cleanup:
    kfe_i_free(c->ctx, place);
    kfe_i_free(c->ctx, moved);
    return status;
}

/* The features of one view, of length 1 in the sum over all examples, times the root of their number. */
static kfe_status make_coefficients(canonical *c, int64_t v, const double *directions)
{
    kfe_status status = KFE_OK;
    view_part *view = &c->views[v];
    double scale = sqrt(kfe_i_gram_mass(view->weighted ? view->weighted : view->plain));
    double *scaled = NULL;
    kfe_i_solution alone = {0};

    KFE_ALLOC(c->ctx, scaled, view->factor.rank * c->dim);
    for (int64_t i = 0; i < view->factor.rank * c->dim; i++)
        scaled[i] = scale * directions[i];
    KFE_TRY(kfe_i_factor_solution(&view->factor, scaled, c->dim, &alone));
    for (int64_t i = 0; c->problem->roots && i < c->n; i++)
        cblas_dscal((blasint)c->dim, c->problem->roots[i], alone.coefficients + i * c->dim, 1);
    view->offset = alone.offset;
    alone.offset = NULL;
    if (c->landmarks) {
        KFE_ALLOC(c->ctx, view->coefficients, c->landmark_count * c->dim);
        KFE_TRY(move_to_landmarks(c, view, alone.coefficients, view->coefficients));
    } else {
        view->coefficients = alone.coefficients;
        alone.coefficients = NULL;
    }
cleanup:
    kfe_i_free(c->ctx, scaled);
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

static kfe_status arrange(const canonical *c, kfe_i_canonical_rule rule, arrangement *out)
{
    kfe_status status = KFE_OK;
    const char *text = c->settings->features;

    *out = (arrangement){.dim = c->dim, .only = -1, .is_joint = strcmp(text, "joint") == 0};
    KFE_ALLOC(c->ctx, out->share, c->dim);
    for (int64_t j = 0; j < c->dim; j++)
        out->share[j] = !out->is_joint || c->count == 1 ? 1
                        : rule == KFE_CANONICAL_SHARED  ? 1 / c->values[j]
                                                        : 1 / (double)c->count;
    if (strcmp(text, "all") == 0)
        out->dim = c->count * c->dim;
    else if (!out->is_joint && (out->only = kfe_i_problem_find_view(c->problem, text)) < 0)
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
static void fix_signs(const canonical *c)
{
    const kfe_i_solution first = {
        .rows = c->support, .dim = c->dim, .coefficients = c->views[0].coefficients};

    for (int64_t j = 0; j < c->dim; j++) {
        double sign = kfe_i_solution_sign(&first, j);
        for (int64_t v = 0; v < c->count && sign < 0; v++) {
            cblas_dscal((blasint)c->support, -1, c->views[v].coefficients + j, (blasint)c->dim);
            c->views[v].offset[j] = -c->views[v].offset[j];
        }
    }
}

static kfe_status make_solution(canonical *c, kfe_i_canonical_rule rule, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const double *directions = c->directions;
    arrangement to = {0};

    c->support = c->landmarks ? c->landmark_count : c->n;
    KFE_TRY(arrange(c, rule, &to));
    for (int64_t v = 0; v < c->count; directions += c->parts[v++].rank * c->dim)
        KFE_TRY(make_coefficients(c, v, directions));
    fix_signs(c);
    KFE_TRY(kfe_i_solution_begin(c->ctx, KFE_SOLUTION_VIEWS, c->count * c->support, to.dim, out));
    KFE_ALLOC_ZERO(c->ctx, out->offset, to.dim);
    for (int64_t v = 0; v < c->count; v++)
        place_view(c, &to, v, out);
    if (c->landmarks) {
        out->index = c->landmarks;
        c->landmarks = NULL;
    }
cleanup:
    kfe_i_free(c->ctx, to.share);
    return status;
}

/* ---- records ---- */

/* Of the view that its landmarks represent worst. */
static kfe_status record_landmarks(const canonical *c, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info;
    int64_t rank = 0;
    double left = 0;

    if (c->landmark_count == 0)
        return KFE_OK;
    for (int64_t v = 0; v < c->count; v++) {
        kfe_i_gram_has_landmarks(c->views[v].plain, &info);
        rank = info.rank > rank ? info.rank : rank;
        left = fmax(left, info.left);
    }
    KFE_TRY(kfe_i_solution_record_landmarks(out, c->landmark_count, rank, left));
cleanup:
    return status;
}

static kfe_status record(const canonical *c, const kfe_i_canonical_job *job, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *pairs = NULL;
    double *views = NULL;

    KFE_ALLOC(c->ctx, pairs, c->dim);
    KFE_ALLOC(c->ctx, views, c->part_count * c->dim);
    KFE_TRY(kfe_i_canonical_correlations(job, c->dim, c->directions, pairs, views));
    KFE_TRY(kfe_i_solution_record(out, "correlations", pairs, c->dim));
    KFE_TRY(kfe_i_solution_record(out, "view-correlations", views, c->count * c->dim));
    KFE_TRY(kfe_i_solution_record(out, "criterion", c->values, c->dim));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &c->ridge, 1));
    KFE_TRY(record_landmarks(c, out));
cleanup:
    kfe_i_free(c->ctx, pairs);
    kfe_i_free(c->ctx, views);
    return status;
}

kfe_status kfe_i_canonical_fit(kfe_context *ctx, const char *method, kfe_i_canonical_rule rule,
                               const kfe_i_problem *problem, const kfe_i_canonical_settings *settings,
                               kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    canonical c = {.ctx = ctx, .method = method, .problem = problem, .settings = settings};
    kfe_i_canonical_job job;

    c.n = problem->views[0].rows;
    KFE_TRY(open_parts(&c));
    KFE_TRY(find_directions(&c, rule, &job));
    KFE_TRY(make_solution(&c, rule, out));
    KFE_TRY(record(&c, &job, out));
cleanup:
    canonical_free(&c);
    return status;
}
