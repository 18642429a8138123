/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derivatives of the outputs (or, without a learner that has them, of the features) by each column, one of the parts of
 * kfe_explain. With scaled rows x, support examples s and coefficients A,
 *
 *     f_o(x) = Σ_s A_so κ(s, x),   κ(s, x) = k(⟨s, x⟩)   or   k(‖s − x‖²),
 *     ∂f_o/∂x = Σ_s A_so k′·s     or   Σ_s 2·A_so k′·(x − s),
 *
 * and the learner's derivative by features follows by the chain rule. Derivatives are in the units of the data: those by
 * scaled columns times the factor of the scaling. The importance of a column is the mean over examples of the squared
 * derivative times the variance of the column, so that it does not depend on units.
 *
 * Time: outputs × examples × support × columns.
 */
#include "explain/gradient.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "model/chain_views.h"
#include "model/linear.h"

/* ---- kernels ---- */

/* k′ of the sigmoid kernel. It is not the kernel's own slope, since methods that optimise through slopes want a positive
 * definite kernel. */
static void sigmoid_slope(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_formula formula = kfe_i_kernel_formula(kernel);

    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j++) {
            double *value = tile->values + i * tile->stride + j;
            double k = tanh(formula.params[0] * *value + formula.params[1]);
            *value = formula.params[0] * (1 - k * k);
        }
}

static int is_sigmoid(const kfe_i_kernel_def *def)
{
    return strcmp(def->name, "sigmoid") == 0;
}

static const char *kernel_without_slope(const kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel_def *def = kernels->items[m].def;
        if (!is_sigmoid(def) &&
            (!def->slope || (def->base != KFE_BASE_DOT && def->base != KFE_BASE_DISTANCE)))
            return def->name;
    }
    return NULL;
}

static void squared_norms(const kfe_i_dense *x, double *norms)
{
    for (int64_t i = 0; i < x->rows; i++)
        norms[i] = cblas_ddot((blasint)x->cols, x->values + i * x->cols, 1, x->values + i * x->cols, 1);
}

/* slopes (rows × support) = k′ at the base value of each pair, times the kernel's weight. */
static void fill_slopes(const kfe_i_kernel *kernel, const kfe_i_dense *x, const kfe_i_dense *s,
                        const double *norms, double *slopes)
{
    const double *x_norms = norms;
    const double *s_norms = norms + x->rows;
    kfe_i_tile tile = {.values = slopes,
                       .rows = x->rows,
                       .cols = s->rows,
                       .stride = s->rows,
                       .row_norms = x_norms,
                       .col_norms = s_norms};

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)x->rows, (blasint)s->rows, (blasint)x->cols,
                1, x->values, (blasint)x->cols, s->values, (blasint)x->cols, 0, slopes, (blasint)s->rows);
    for (int64_t i = 0; kernel->def->base == KFE_BASE_DISTANCE && i < x->rows; i++)
        for (int64_t j = 0; j < s->rows; j++) {
            double *value = slopes + i * s->rows + j;
            *value = fmax(0, x_norms[i] + s_norms[j] - 2 * *value);
        }
    if (is_sigmoid(kernel->def))
        sigmoid_slope(kernel, &tile);
    else
        kfe_i_kernel_slope(kernel, &tile);
    cblas_dscal((blasint)(x->rows * s->rows), kernel->common.weight, slopes, 1);
}

/* Adds the derivative of value o of the expansion to out, whose rows lie `stride` numbers apart. */
static void add_derivative(const kfe_i_kernel *kernel, const kfe_i_expansion *e, const double *slopes,
                           int64_t o, double *weighted, double *out, int64_t stride)
{
    const kfe_i_dense *x = &e->x;
    const kfe_i_dense *s = &e->support;
    int distance = kernel->def->base == KFE_BASE_DISTANCE;

    for (int64_t i = 0; i < x->rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->rows; j++) {
            weighted[i * s->rows + j] = slopes[i * s->rows + j] * e->coefficients[j * e->dim + o];
            sum += weighted[i * s->rows + j];
        }
        if (distance)
            cblas_daxpy((blasint)x->cols, 2 * sum, x->values + i * x->cols, 1, out + i * stride, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)x->rows, (blasint)x->cols,
                (blasint)s->rows, distance ? -2 : 1, weighted, (blasint)s->rows, s->values, (blasint)x->cols,
                1, out, (blasint)stride);
}

kfe_status kfe_i_expansion_gradient(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_expansion *e,
                                    double *out)
{
    kfe_status status = KFE_OK;
    int64_t pairs = e->x.rows * e->support.rows;
    double *slopes = NULL;
    double *weighted = NULL;
    double *norms = NULL;

    KFE_ALLOC(ctx, slopes, pairs);
    KFE_ALLOC(ctx, weighted, pairs);
    KFE_ALLOC(ctx, norms, e->x.rows + e->support.rows);
    squared_norms(&e->x, norms);
    squared_norms(&e->support, norms + e->x.rows);
    fill_slopes(kernel, &e->x, &e->support, norms, slopes);
    for (int64_t o = 0; o < e->dim; o++)
        add_derivative(kernel, e, slopes, o, weighted, out + o * e->x.cols, e->dim * e->x.cols);
cleanup:
    kfe_i_free(ctx, slopes);
    kfe_i_free(ctx, weighted);
    kfe_i_free(ctx, norms);
    return status;
}

/* ---- tables as dense matrices ---- */

kfe_status kfe_i_dense_rows(kfe_context *ctx, const kfe_i_table *table, int64_t first, int64_t count,
                            kfe_i_dense *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_dense){.rows = count, .cols = table->cols};
    KFE_ALLOC(ctx, out->values, count * table->cols);
    for (int64_t i = 0; i < count; i++)
        kfe_i_table_dense_row(table, first + i, out->values + i * table->cols);
cleanup:
    return status;
}

/* ---- learned distances ---- */

/* Columns that the kernels of a view see: those of its learned distance, if it has one. */
static int64_t mapped_cols(const kfe_model *model, int view)
{
    const kfe_i_model_view *from = &model->views[view];

    return from->scaler.map.values ? from->scaler.map.cols : from->cols;
}

/* Adds derivatives by mapped columns (rows × mapped) to those by columns, out[row · cols + first + column]: z = Tᵀx, so
 * ∂f/∂x = T·∂f/∂z. */
void kfe_i_gradient_add(const kfe_i_gradient *g, int view, int64_t rows, const double *mapped, double *out)
{
    const kfe_i_map *map = &g->model->views[view].scaler.map;
    int64_t count = mapped_cols(g->model, view);
    int64_t first = 0;

    for (int v = 0; v < view; v++)
        first += g->model->views[v].cols;
    if (map->values && !map->diagonal) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)map->rows,
                    (blasint)map->cols, 1, mapped, (blasint)map->cols, map->values, (blasint)map->cols, 1,
                    out + first, (blasint)g->cols);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * g->cols + first + j] += mapped[i * count + j] * (map->values ? map->values[j] : 1);
}

/* ---- features ---- */

/* out (rows × dim × all columns) = derivatives by scaled columns of dim values with these coefficients on the support. */
static kfe_status kernel_values(kfe_i_gradient *g, int64_t dim, const double *coefficients, int64_t first,
                                int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = g->model;
    kfe_i_expansion e = {.dim = dim};
    int64_t block = kfe_i_model_blocks(model) > 1 ? model->rows * dim : 0;
    double *mapped = NULL;

    memset(out, 0, (size_t)(count * dim * g->cols) * sizeof *out);
    for (int64_t m = 0; m < model->kernels.count; m++) {
        const kfe_i_kernel *kernel = &model->kernels.items[m];
        int64_t cols = mapped_cols(model, kernel->view);
        e.coefficients = coefficients + kernel->view * block;
        KFE_ALLOC_ZERO(g->ctx, mapped, count * dim * cols);
        KFE_TRY(kfe_i_dense_rows(g->ctx, &g->scaled[kernel->view], first, count, &e.x));
        KFE_TRY(kfe_i_dense_rows(g->ctx, &model->views[kernel->view].support, 0, model->rows, &e.support));
        KFE_TRY(kfe_i_expansion_gradient(g->ctx, kernel, &e, mapped));
        kfe_i_gradient_add(g, kernel->view, count * dim, mapped, out);
        kfe_i_free(g->ctx, mapped);
        kfe_i_free(g->ctx, e.x.values);
        kfe_i_free(g->ctx, e.support.values);
        mapped = e.x.values = e.support.values = NULL;
    }
cleanup:
    kfe_i_free(g->ctx, mapped);
    kfe_i_free(g->ctx, e.x.values);
    kfe_i_free(g->ctx, e.support.values);
    return status;
}

/* The outputs of a linear predictor on few of many features: its weights times the coefficients of the features stand on the
 * support directly, which is outputs/dim of the work. */
static kfe_status kernel_outputs(kfe_i_gradient *g, int64_t first, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = g->model;
    int64_t outputs = model->predictor.outputs;
    double *coefficients = NULL;

    KFE_ALLOC(g->ctx, coefficients, model->rows * outputs);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)model->rows, (blasint)outputs,
                (blasint)model->dim, 1, model->coefficients, (blasint)model->dim, model->predictor.weights,
                (blasint)outputs, 0, coefficients, (blasint)outputs);
    KFE_TRY(kernel_values(g, outputs, coefficients, first, count, out));
cleanup:
    kfe_i_free(g->ctx, coefficients);
    return status;
}

static kfe_status linear_features(const kfe_i_gradient *g, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = g->model->dim;
    int64_t cols = g->model->rows;
    double *mapped = NULL;

    memset(out, 0, (size_t)(count * dim * g->cols) * sizeof *out);
    KFE_ALLOC(g->ctx, mapped, count * dim * cols);
    for (int64_t i = 0; i < count; i++)
        for (int64_t a = 0; a < dim; a++)
            for (int64_t j = 0; j < cols; j++)
                mapped[(i * dim + a) * cols + j] = g->model->coefficients[j * dim + a];
    kfe_i_gradient_add(g, 0, count * dim, mapped, out);
cleanup:
    kfe_i_free(g->ctx, mapped);
    return status;
}

/* Features that are the scaled columns themselves. */
static kfe_status identity_features(const kfe_i_gradient *g, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    int64_t dim = g->model->dim;
    double *mapped = NULL;

    memset(out, 0, (size_t)(count * dim * g->cols) * sizeof *out);
    KFE_ALLOC_ZERO(g->ctx, mapped, count * dim * dim);
    for (int64_t p = 0; p < count * dim; p++)
        mapped[p * dim + p % dim] = 1;
    kfe_i_gradient_add(g, 0, count * dim, mapped, out);
cleanup:
    kfe_i_free(g->ctx, mapped);
    return status;
}

/* ---- outputs ---- */

/* out (rows × outputs × dim) = derivatives of the learner's outputs by features (rows × dim). */
static kfe_status learner_gradient(const kfe_i_gradient *g, const double *features, int64_t count,
                                   double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *p = &g->model->predictor;
    kfe_i_expansion e = {.x = {count, p->dim, NULL}, .dim = p->outputs, .coefficients = p->weights};

    if (p->kind == KFE_PREDICTOR_LINEAR) {
        for (int64_t i = 0; i < count; i++)
            for (int64_t o = 0; o < p->outputs; o++)
                for (int64_t a = 0; a < p->dim; a++)
                    out[(i * p->outputs + o) * p->dim + a] = p->weights[a * p->outputs + o];
        return KFE_OK;
    }
    memset(out, 0, (size_t)(count * p->outputs * p->dim) * sizeof *out);
    KFE_ALLOC(g->ctx, e.x.values, count * p->dim);
    memcpy(e.x.values, features, (size_t)(count * p->dim) * sizeof *features);
    KFE_TRY(kfe_i_dense_rows(g->ctx, &p->support, 0, p->rows, &e.support));
    KFE_TRY(kfe_i_expansion_gradient(g->ctx, &p->kernel, &e, out));
cleanup:
    kfe_i_free(g->ctx, e.x.values);
    kfe_i_free(g->ctx, e.support.values);
    return status;
}

/* Chain rule: out (outputs × cols) = learner (outputs × dim) · features (dim × cols), for each row. */
static kfe_status chain(const kfe_i_gradient *g, int64_t first, int64_t count, const double *features,
                        double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *p = &g->model->predictor;
    double *learner = NULL;

    KFE_ALLOC(g->ctx, learner, count * p->outputs * p->dim);
    KFE_TRY(learner_gradient(g, g->features + first * p->dim, count, learner));
    if (g->model->projector == KFE_PROJECT_IDENTITY) {
        memset(out, 0, (size_t)(count * p->outputs * g->cols) * sizeof *out);
        kfe_i_gradient_add(g, 0, count * p->outputs, learner, out);
        goto cleanup;
    }
    for (int64_t i = 0; i < count; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)p->outputs, (blasint)g->cols,
                    (blasint)p->dim, 1, learner + i * p->outputs * p->dim, (blasint)p->dim,
                    features + i * p->dim * g->cols, (blasint)g->cols, 0, out + i * p->outputs * g->cols,
                    (blasint)g->cols);
cleanup:
    kfe_i_free(g->ctx, learner);
    return status;
}

static void undo_scaling(const kfe_i_gradient *g, int64_t rows, double *out)
{
    int64_t j = 0;

    for (int v = 0; v < g->model->view_count; v++)
        for (int64_t c = 0; c < g->model->views[v].cols; c++, j++)
            for (int64_t i = 0; g->model->views[v].scaler.factor && i < rows; i++)
                out[i * g->cols + j] *= g->model->views[v].scaler.factor[c];
}

/* ---- which models have derivatives ---- */

/* Whether derivatives of the outputs exist; otherwise those of the features are given. */
static int outputs_have_slopes(const kfe_model *model)
{
    const kfe_i_predictor *p = &model->predictor;
    kfe_i_kernel kernel = p->kernel;
    kfe_i_kernel_list one = {.items = &kernel, .count = 1};

    if (!model->learner || p->kind == KFE_PREDICTOR_NEIGHBOURS)
        return 0;
    return p->kind != KFE_PREDICTOR_EXPANSION || !kernel_without_slope(&one);
}

kfe_status kfe_i_gradient_check(kfe_context *ctx, const kfe_model *model)
{
    const char *kernel = kernel_without_slope(&model->kernels);

    if (model->projector == KFE_PROJECT_LOCAL && kfe_i_local_without_slope(model))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "derivatives %s are not available",
                          kfe_i_local_without_slope(model));
    if (model->projector == KFE_PROJECT_TREE)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "derivatives of a model with a tree are not available");
    if (kernel)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "the kernel %s has no derivative by columns", kernel);
    if (kfe_i_model_prepares(model))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "derivatives through the steps of {prepare} are not available");
    if (kfe_i_scaling_not_linear(model))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "derivatives through rows of length one are not available");
    if (model->projector == KFE_PROJECT_IDENTITY && !outputs_have_slopes(model))
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "the learner %s has no derivative, and the features are the columns themselves",
                          model->learner ? model->learner : "(none)");
    return KFE_OK;
}

int64_t kfe_i_gradient_values(const kfe_model *model, int *of_outputs)
{
    *of_outputs = outputs_have_slopes(model);
    return *of_outputs ? model->predictor.outputs : model->dim;
}

kfe_status kfe_i_gradient_block(kfe_i_gradient *g, int64_t first, int64_t count, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = g->model;
    int of_outputs = 0;
    int64_t values = kfe_i_gradient_values(model, &of_outputs);
    int chained = of_outputs && model->predictor.kind != KFE_PREDICTOR_DIRECT;
    double *features = NULL;
    double *place = out;

    if (chained && model->projector == KFE_PROJECT_KERNEL && model->predictor.kind == KFE_PREDICTOR_LINEAR) {
        KFE_TRY(kernel_outputs(g, first, count, out));
        undo_scaling(g, count * values, out);
        return KFE_OK;
    }
    if (chained && model->projector != KFE_PROJECT_IDENTITY) {
        KFE_ALLOC(g->ctx, features, count * model->dim * g->cols);
        place = features;
    }
    if (model->projector == KFE_PROJECT_LOCAL)
        KFE_TRY(kfe_i_gradient_local(g, first, count, place));
    else if (model->projector == KFE_PROJECT_KERNEL || model->projector == KFE_PROJECT_VIEWS)
        KFE_TRY(kernel_values(g, model->dim, model->coefficients, first, count, place));
    else if (model->projector == KFE_PROJECT_LINEAR)
        KFE_TRY(linear_features(g, count, place));
    else if (!chained)
        KFE_TRY(identity_features(g, count, place));
    if (chained)
        KFE_TRY(chain(g, first, count, features, out));
    undo_scaling(g, count * values, out);
cleanup:
    kfe_i_free(g->ctx, features);
    return status;
}
