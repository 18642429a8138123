/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse discriminant features of several views that agree (DIABLO). Component j has a direction a_b in every view b, and scores t_b = X_b a_b
 * that covary with those of the other views and with a combination Yv of the dummies of the classes:
 *
 *     Σ_{b<c} design_bc cov(t_b, t_c) + Σ_b cov(t_b, Yv)  is to be large,  ‖a_b‖ = ‖v‖ = 1,
 *
 * where each view and Y are divided by the root of their total variance, so that they count equally. One after the other,
 *
 *     v ← Yᵀ Σ_b t_b,    a_b ← S(X_bᵀ(Yv + Σ_{c≠b} design_bc t_c)),    each over its length,
 *
 * with the soft threshold S that leaves at most `keep` columns (keep.h), from the v for which Σ_b ‖X_bᵀYv‖² is largest, until the directions
 * settle. Then each view loses what its score explains, and Y the mean of what the scores of the views explain (regression mode). One view is
 * splsda. Each view predicts the dummies by its own scores; predictions are averaged, each weighed by the correlation of the view's scores
 * with Yv.
 *
 * Tenenhaus, Philippe, Guillemot et al. (2014), "Variable selection for generalized canonical correlation analysis", Biostatistics 15; Singh,
 * Shannon, Gautier et al. (2019), "DIABLO", Bioinformatics 35. Time: two passes over the views per iteration; some ten iterations per component.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "method/deflation/class_rule.h"
#include "method/deflation/deflation.h"
#include "method/multiblock/view_source.h"
#include "method/shared/keep.h"

/* A direction of fewer than 1 in so many columns is multiplied with these alone. */
enum { MOST_ITERATIONS = 500, FEW_COLUMNS = 4 };
#define KFE_BLOCKS_SETTLED 1e-10

typedef struct block_settings {
    int64_t dim;
    char keep[KFE_PARAM_TEXT_SIZE], keep_values[KFE_PARAM_TEXT_SIZE];
    char design[KFE_PARAM_TEXT_SIZE];
    int rule;
} block_settings;

static const kfe_i_param rows[] = {
    KFE_CHOSEN_DIM_ROW(block_settings, dim, "10"),
    KFE_KEEP_BY_VIEW_ROWS(block_settings),
    KFE_TEXT(
        block_settings, design, "design", "0.1",
        "how much agreement between views counts beside the classes, from 0 to 1: one number for all pairs "
        "of views, or all entries of a symmetric matrix of views, row by row as in 0;0.5;0.5;0"),
    KFE_CLASS_RULE_ROW(block_settings, rule),
};

typedef struct block_view {
    kfe_i_view_source own;
    kfe_i_deflation deflation;
    kfe_i_keep_list keep;
    double factor;                      /* 1 over the root of the total variance */
    double *direction, *before, *sizes; /* columns */
    int64_t *used;                      /* columns: those of the direction */
    double *score;                      /* n */
    double *kept;                       /* most: columns that each direction uses */
} block_view;

typedef struct blocks {
    kfe_context *ctx;
    const kfe_i_fit_source *source;
    const block_settings *settings;
    kfe_i_arena memory;
    block_view *views;
    int count;
    int64_t n, targets, most, dim; /* dim: components so far */
    double *design;                /* count × count */
    double *projected;             /* n × targets */
    double *inner, *v;             /* targets × targets; targets */
    double *side, *sum;            /* n: Yv; what a view is to agree with */
    double target_factor;
    double change;        /* the largest change of a direction in its last iteration */
    double *criterion;    /* most */
    double *correlations; /* count: of the scores with Yv, summed over components */
    const char *ended;
} blocks;

/* ---- beginning and end ---- */

static kfe_status refuse_design(const blocks *b)
{
    return kfe_i_fail(
        b->ctx, KFE_EINVAL,
        "block-splsda: '%s' is no design of %d views; give {design} one number from 0 to 1, or all %d "
        "entries of a symmetric matrix of such numbers, row by row",
        b->settings->design, b->count, b->count * b->count);
}

static kfe_status parse_design(blocks *b)
{
    const char *end = NULL;
    int size = b->count * b->count;
    int given = 0;

    for (const char *at = b->settings->design;; at = end + 1) {
        double number = 0;
        end = at + strcspn(at, ",;");
        if (!kfe_i_parse_number(at, end, &number) || !(number >= 0 && number <= 1) || given == size)
            return refuse_design(b);
        b->design[given++] = number;
        if (!*end)
            break;
    }
    if (given != 1 && given != size)
        return refuse_design(b);
    for (int k = 1; given == 1 && k < size; k++)
        b->design[k] = b->design[0];
    for (int k = 0; k < size; k++)
        if (b->design[k] != b->design[k % b->count * b->count + k / b->count])
            return refuse_design(b);
    return KFE_OK;
}

static kfe_status open_view(blocks *b, int v)
{
    kfe_status status = KFE_OK;
    block_view *view = &b->views[v];
    const kfe_i_table *table = &b->source->views[v];
    const kfe_i_deflation_setup setup = {
        .method = "block-splsda", .side = KFE_SIDE_PRIMAL, .center = 1, .dim = b->settings->dim};

    KFE_TRY(kfe_i_keep_parse(b->ctx, "block-splsda", b->settings->keep, b->source, v, &view->keep));
    KFE_TRY(kfe_i_view_factor(b->ctx, table, b->source->target, &view->factor));
    KFE_TRY(kfe_i_view_source_open(b->ctx, b->source, table, &view->own));
    KFE_TRY(kfe_i_deflation_begin(b->ctx, &view->own.source, &setup, &view->deflation));
    KFE_TAKE(&b->memory, view->direction, table->cols);
    KFE_TAKE(&b->memory, view->before, table->cols);
    KFE_TAKE(&b->memory, view->sizes, table->cols);
    KFE_TAKE(&b->memory, view->used, table->cols);
    KFE_TAKE(&b->memory, view->score, table->rows);
    KFE_TAKE_ZERO(&b->memory, view->kept, view->deflation.most);
    b->most = v == 0 || view->deflation.most < b->most ? view->deflation.most : b->most;
cleanup:
    return status;
}

static kfe_status open_views(blocks *b)
{
    kfe_status status = KFE_OK;
    const kfe_i_deflation *first;

    KFE_TAKE(&b->memory, b->design, b->count * b->count);
    KFE_TRY(parse_design(b));
    KFE_TAKE_ZERO(&b->memory, b->views, b->count);
    for (int v = 0; v < b->count; v++)
        KFE_TRY(open_view(b, v));
    first = &b->views[0].deflation;
    b->n = first->examples;
    b->targets = first->targets;
    KFE_TAKE(&b->memory, b->projected, b->n * b->targets);
    KFE_TAKE(&b->memory, b->inner, b->targets * b->targets);
    KFE_TAKE(&b->memory, b->v, b->targets);
    KFE_TAKE(&b->memory, b->side, b->n);
    KFE_TAKE(&b->memory, b->sum, b->n);
    KFE_TAKE_ZERO(&b->memory, b->criterion, b->most);
    KFE_TAKE_ZERO(&b->memory, b->correlations, b->count);
    b->target_factor = sqrt(first->mass) / cblas_dnrm2((blasint)(b->n * b->targets), first->target, 1);
cleanup:
    return status;
}

static void blocks_free(blocks *b)
{
    for (int v = 0; b->views && v < b->count; v++) {
        kfe_i_free(b->ctx, b->views[v].keep.items);
        kfe_i_deflation_free(&b->views[v].deflation);
        kfe_i_view_source_free(&b->views[v].own);
    }
    kfe_i_arena_free(&b->memory);
}

/* ---- the directions of a component ---- */

/* The residual target is the same in all deflations. */
static double *residual(const blocks *b)
{
    return b->views[0].deflation.residual;
}

static int64_t keep_of(const blocks *b, const block_view *view)
{
    return kfe_i_keep_at(&view->keep, b->dim);
}

/* Lists the columns of the direction in view->used. */
static int64_t list_used(block_view *view)
{
    int64_t count = 0;

    for (int64_t l = 0; l < view->deflation.rows; l++)
        if (view->direction[l] != 0)
            view->used[count++] = l;
    return count;
}

/* The centred product with a direction of few columns of a dense table, which reads no others. */
static void multiply_few(block_view *view, int64_t count)
{
    const kfe_i_deflation *d = &view->deflation;
    const kfe_i_table *table = d->data.table;
    double middle = 0;

    for (int64_t k = 0; k < count; k++)
        middle += view->direction[view->used[k]] * d->data.means[view->used[k]];
    for (int64_t i = 0; i < d->examples; i++) {
        const double *row = table->values + i * table->stride;
        double sum = -(d->roots ? d->roots[i] : 1) * middle;
        for (int64_t k = 0; k < count; k++)
            sum += view->direction[view->used[k]] * row[view->used[k]];
        view->score[i] = sum;
    }
}

/* The score of the direction, on the deflated view. */
static kfe_status score_view(block_view *view)
{
    kfe_status status = KFE_OK;
    kfe_i_deflation *d = &view->deflation;
    int64_t count = list_used(view);

    if (d->data.table->kind == KFE_TABLE_DENSE && FEW_COLUMNS * count < d->rows)
        multiply_few(view, count);
    else
        KFE_TRY(kfe_i_deflation_times(d, view->direction, 1, view->score));
    kfe_i_deflation_project_out(d, view->score, 1);
cleanup:
    return status;
}

/* Σ_b X_bᵀYYᵀX_b over the views, as YᵀX_bX_bᵀY; the images X_bᵀY stay with the deflations. */
static kfe_status add_images(blocks *b)
{
    kfe_status status = KFE_OK;
    int64_t size = b->targets * b->targets;

    memset(b->inner, 0, (size_t)size * sizeof *b->inner);
    for (int v = 0; v < b->count; v++) {
        kfe_i_deflation *d = &b->views[v].deflation;
        memcpy(b->projected, residual(b), (size_t)(b->n * b->targets) * sizeof *b->projected);
        kfe_i_deflation_project_out(d, b->projected, b->targets);
        KFE_TRY(kfe_i_deflation_pull(d, b->projected, b->targets, d->work.image));
        kfe_i_deflation_inner(d, d->rows, d->work.image, d->work.image);
        cblas_daxpy((blasint)size, b->views[v].factor * b->views[v].factor, d->work.inner, 1, b->inner, 1);
    }
cleanup:
    return status;
}

/* The first directions: those of each view by itself, for the v that suits all views best. */
static kfe_status start(blocks *b)
{
    kfe_status status = KFE_OK;
    double value = 0;

    KFE_TRY(add_images(b));
    KFE_TRY(kfe_i_deflation_leading(&b->views[0].deflation, b->inner, &value));
    memcpy(b->v, b->views[0].deflation.work.leading, (size_t)b->targets * sizeof *b->v);
    double norm = cblas_dnrm2((blasint)(b->n * b->targets), residual(b), 1);
    for (int v = 0; v < b->count && !b->ended; v++) {
        block_view *view = &b->views[v];
        kfe_i_deflation *d = &view->deflation;
        memcpy(d->work.leading, b->v, (size_t)b->targets * sizeof *b->v);
        kfe_i_deflation_combine(d, d->rows, d->work.image, view->direction);
        double size = cblas_dnrm2((blasint)d->rows, view->direction, 1);
        if (size * size <= d->limits.rounding * norm * norm || kfe_i_deflation_is_spent(d, size)) {
            b->ended = "a view explains nothing more of the target";
            break;
        }
        kfe_i_soft_threshold(d->rows, keep_of(b, view), view->sizes, view->direction);
        KFE_TRY(score_view(view));
    }
cleanup:
    return status;
}

/* v and Yv from the scores. */
static void combine_targets(blocks *b)
{
    blasint n = (blasint)b->n;
    blasint t = (blasint)b->targets;

    memset(b->sum, 0, (size_t)b->n * sizeof *b->sum);
    for (int v = 0; v < b->count; v++)
        cblas_daxpy(n, b->views[v].factor, b->views[v].score, 1, b->sum, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, t, 1, residual(b), t, b->sum, 1, 0, b->v, 1);
    double length = cblas_dnrm2(t, b->v, 1);
    cblas_dscal(t, length > 0 ? 1 / length : 0, b->v, 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, t, 1, residual(b), t, b->v, 1, 0, b->side, 1);
}

/* How much a pair of views counts, with the factors of both. */
static double link_of(const blocks *b, int u, int v)
{
    return b->design[u * b->count + v] * b->views[u].factor * b->views[v].factor;
}

static kfe_status improve_view(blocks *b, int v, double *change)
{
    kfe_status status = KFE_OK;
    block_view *view = &b->views[v];
    kfe_i_deflation *d = &view->deflation;
    blasint n = (blasint)b->n;

    memcpy(view->before, view->direction, (size_t)d->rows * sizeof *view->before);
    memcpy(b->sum, b->side, (size_t)b->n * sizeof *b->sum);
    cblas_dscal(n, view->factor * b->target_factor, b->sum, 1);
    for (int u = 0; u < b->count; u++)
        if (u != v)
            cblas_daxpy(n, link_of(b, u, v), b->views[u].score, 1, b->sum, 1);
    kfe_i_deflation_project_out(d, b->sum, 1);
    KFE_TRY(kfe_i_deflation_pull(d, b->sum, 1, view->direction));
    kfe_i_soft_threshold(d->rows, keep_of(b, view), view->sizes, view->direction);
    KFE_TRY(score_view(view));
    cblas_daxpy((blasint)d->rows, -1, view->direction, 1, view->before, 1);
    *change = fmax(*change, cblas_dnrm2((blasint)d->rows, view->before, 1));
cleanup:
    return status;
}

/* Whether the first directions are the last ones: of one view with one target, or with all columns. */
static int is_settled(const blocks *b)
{
    const block_view *only = &b->views[0];
    int64_t keep = keep_of(b, only);

    return b->count == 1 && (b->targets == 1 || keep == 0 || keep >= only->deflation.rows);
}

static kfe_status improve(blocks *b)
{
    kfe_status status = KFE_OK;
    double change = is_settled(b) ? 0 : INFINITY;

    for (int i = 0; i < MOST_ITERATIONS && change >= KFE_BLOCKS_SETTLED; i++) {
        change = 0;
        combine_targets(b);
        for (int v = 0; v < b->count; v++)
            KFE_TRY(improve_view(b, v, &change));
    }
    b->change = fmax(b->change, change);
    combine_targets(b);
cleanup:
    return status;
}

/* ---- components ---- */

static double product_of(const blocks *b, const double *x, const double *y)
{
    return cblas_ddot((blasint)b->n, x, 1, y, 1);
}

static void measure(blocks *b)
{
    double side = cblas_dnrm2((blasint)b->n, b->side, 1);
    double total = 0;

    for (int v = 0; v < b->count; v++) {
        const block_view *view = &b->views[v];
        double product = product_of(b, view->score, b->side);
        double length = cblas_dnrm2((blasint)b->n, view->score, 1);
        b->correlations[v] += length > 0 && side > 0 ? fabs(product) / length / side : 0;
        total += view->factor * b->target_factor * product;
        for (int u = 0; u < v; u++)
            total += link_of(b, u, v) * product_of(b, view->score, b->views[u].score);
    }
    b->criterion[b->dim] = total / b->views[0].deflation.mass;
}

/* The targets lose the mean of what the scores of the views explain. */
static void deflate_targets(blocks *b)
{
    blasint size = (blasint)(b->n * b->targets);

    cblas_dscal(size, 1.0 / b->count, residual(b), 1);
    for (int v = 1; v < b->count; v++)
        cblas_daxpy(size, 1.0 / b->count, b->views[v].deflation.residual, 1, residual(b), 1);
    for (int v = 1; v < b->count; v++)
        memcpy(b->views[v].deflation.residual, residual(b), (size_t)size * sizeof(double));
}

static kfe_status add_component(blocks *b)
{
    kfe_status status = KFE_OK;
    int added = 1;

    KFE_TRY(kfe_i_progress(b->ctx, "extracting features", b->dim, b->most));
    KFE_TRY(start(b));
    if (b->ended)
        return KFE_OK;
    KFE_TRY(improve(b));
    for (int v = 0; v < b->count && added; v++) {
        block_view *view = &b->views[v];
        KFE_TRY(kfe_i_deflation_add(&view->deflation, view->direction, &added));
        for (int64_t l = 0; l < view->deflation.rows; l++)
            view->kept[b->dim] += view->direction[l] != 0;
    }
    if (!added) {
        b->ended = "the next one depends on the others";
        for (int v = 0; v < b->count; v++)
            b->views[v].deflation.count = b->dim;
        return KFE_OK;
    }
    measure(b);
    deflate_targets(b);
    b->dim++;
cleanup:
    return status;
}

static kfe_status add_components(blocks *b)
{
    kfe_status status = KFE_OK;

    while (b->dim < b->most && !b->ended)
        KFE_TRY(add_component(b));
    if (b->dim == 0)
        KFE_FAIL(
            b->ctx, KFE_EINPUT,
            "block-splsda: a view has no direction that covaries with the classes; check that the columns of "
            "every view vary");
    kfe_i_clamp_dim(b->ctx, "block-splsda", b->settings->dim, b->dim,
                    b->ended ? b->ended : "a view has no more columns, or there are no more examples");
    if (b->change >= KFE_BLOCKS_SETTLED)
        kfe_i_log(
            b->ctx, KFE_LOG_WARNING,
            "block-splsda: a direction still changes by %.1e after %d iterations; other columns may be as good",
            b->change, MOST_ITERATIONS);
cleanup:
    return status;
}

/* ---- the solution ---- */

/* Puts the coefficients of a view into its rows and columns of the whole. All views have the sign of the first, so that their scores agree. */
static void place_view(const blocks *b, int v, int64_t first, const kfe_i_solution *alone,
                       kfe_i_solution *out)
{
    const double *own = b->views[v].deflation.signs;
    const double *common = b->views[0].deflation.signs;

    for (int64_t j = 0; j < b->dim; j++) {
        double sign = own[j] * common[j];
        for (int64_t l = 0; l < alone->rows; l++)
            out->coefficients[(first + l) * out->dim + v * b->dim + j] =
                sign * alone->coefficients[l * b->dim + j];
        out->offset[v * b->dim + j] = sign * alone->offset[j];
    }
}

static kfe_status make_solution(blocks *b, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    kfe_i_solution alone = {0};
    int64_t cols = 0;
    int64_t first = 0;

    for (int v = 0; v < b->count; v++)
        cols += b->views[v].deflation.rows;
    KFE_TRY(kfe_i_solution_begin(b->ctx, KFE_SOLUTION_PRIMAL, cols, b->count * b->dim, out));
    KFE_ALLOC_ZERO(b->ctx, out->offset, out->dim);
    for (int v = 0; v < b->count; first += b->views[v++].deflation.rows) {
        KFE_TRY(kfe_i_deflation_solution(&b->views[v].deflation, &alone));
        place_view(b, v, first, &alone, out);
        kfe_i_solution_free(&alone);
    }
cleanup:
    kfe_i_solution_free(&alone);
    return status;
}

/* Shares of the views in predictions. */
static void find_shares(const blocks *b, double *shares)
{
    double total = 0;

    for (int v = 0; v < b->count; v++)
        total += b->correlations[v];
    for (int v = 0; v < b->count; v++)
        shares[v] = total > 0 ? b->correlations[v] / total : 1.0 / b->count;
}

/* ---- records ---- */

static kfe_status record_columns(blocks *b, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *kept, *used;
    const double *row = out->coefficients;

    KFE_TAKE(&b->memory, kept, b->count * b->dim);
    KFE_TAKE_ZERO(&b->memory, used, b->count);
    for (int v = 0; v < b->count; v++) {
        memcpy(kept + v * b->dim, b->views[v].kept, (size_t)b->dim * sizeof *kept);
        for (int64_t l = 0; l < b->views[v].deflation.rows; l++, row += out->dim)
            used[v] += cblas_dasum((blasint)out->dim, row, 1) > 0;
    }
    KFE_TRY(kfe_i_solution_record(out, "keep", kept, b->count * b->dim));
    KFE_TRY(kfe_i_solution_record(out, "columns-used", used, b->count));
cleanup:
    return status;
}

/* The share of the variance of each view that each of its scores explains; scores (n × views·dim). */
static kfe_status record_variance(blocks *b, double *scores, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *shares;
    int64_t width = b->count * b->dim;

    KFE_TAKE(&b->memory, shares, width);
    for (int v = 0; v < b->count; v++) {
        const block_view *view = &b->views[v];
        const kfe_i_deflation *d = &view->deflation;
        for (int64_t j = 0; j < b->dim; j++) {
            const double *q = d->basis + j * b->n;
            KFE_TRY(kfe_i_deflation_pull(d, q, 1, view->direction));
            shares[v * b->dim + j] =
                pow(view->factor * cblas_dnrm2((blasint)d->rows, view->direction, 1), 2) / d->mass;
            cblas_dcopy((blasint)b->n, q, 1, scores + v * b->dim + j, (blasint)width);
        }
    }
    KFE_TRY(kfe_i_solution_record(out, "view-variance", shares, width));
cleanup:
    return status;
}

static kfe_status record(blocks *b, const double *shares, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *scores;

    KFE_TAKE(&b->memory, scores, b->n * b->count * b->dim);
    KFE_TRY(kfe_i_solution_record(out, KFE_RECORD_VIEW_DIM, &(double){(double)b->dim}, 1));
    KFE_TRY(kfe_i_solution_record(out, "prediction-weights", shares, b->count));
    KFE_TRY(record_columns(b, out));
    KFE_TRY(record_variance(b, scores, out));
    KFE_TRY(kfe_i_record_score_correlations(b->ctx, b->n, b->count, b->dim, scores, out));
    KFE_TRY(kfe_i_solution_record(out, "criterion", b->criterion, b->dim));
    KFE_TRY(kfe_i_solution_record(out, "last-change", &b->change, 1));
cleanup:
    return status;
}

static kfe_status run(blocks *b, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double *shares;

    KFE_TAKE(&b->memory, shares, b->count);
    KFE_TRY(open_views(b));
    KFE_TRY(add_components(b));
    KFE_TRY(make_solution(b, out));
    find_shares(b, shares);
    KFE_TRY(record(b, shares, out));
    KFE_TRY(
        kfe_i_class_rule_learn_views(b->ctx, b->source, (kfe_i_class_rule)b->settings->rule, shares, out));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    blocks b = {
        .ctx = ctx, .source = source, .settings = settings, .memory.ctx = ctx, .count = source->view_count};
    kfe_status status = run(&b, out);

    blocks_free(&b);
    return status;
}

const kfe_i_method kfe_i_method_block_splsda = {
    .name = "block-splsda",
    .summary = "sparse discriminant features of several views that agree (DIABLO)",
    .reference = "Singh et al. 2019; Tenenhaus et al. 2014",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_PREDICTOR |
             KFE_HAS_PROBABILITIES | KFE_HAS_SAMPLE_WEIGHTS,
    .instead = "kcca",
    .feature = "LV",
    .params = KFE_PARAM_TABLE(rows, block_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
