/* SPDX-License-Identifier: Apache-2.0 */
/* Importance of columns by derivatives, gradients of single examples, distances to the support and the support examples
 * that weigh most: parts of kfe_explain that look at kernels and examples. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/prepare/fill.h"
#include "explain/gradient.h"
#include "model/linear.h"
#include "model/prepare.h"

enum { BLOCK = 32 };

typedef struct sensing {
    kfe_i_explaining *job;
    kfe_i_gradient gradient;
    kfe_i_table *scaled;
    double *features, *outputs, *block;
    double *variance; /* of each raw column at the examples */
    double *shares;   /* of the weight of all examples */
    int64_t rows, values;
    int of_outputs;
} sensing;

static void sensing_free(sensing *s)
{
    kfe_context *ctx = s->job->ctx;

    for (int v = 0; s->scaled && v < s->job->model->view_count; v++)
        kfe_i_table_free(&s->scaled[v]);
    kfe_i_free(ctx, s->scaled);
    kfe_i_free(ctx, s->features);
    kfe_i_free(ctx, s->outputs);
    kfe_i_free(ctx, s->block);
    kfe_i_free(ctx, s->variance);
    kfe_i_free(ctx, s->shares);
}

/* ---- examples ---- */

static kfe_status scale_rows(kfe_i_explaining *job, const kfe_data *data, kfe_i_table *scaled)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < job->model->view_count; v++)
        KFE_TRY(kfe_i_view_scale(job->ctx, &job->model->views[v].scaler, data, v, &scaled[v]));
cleanup:
    return status;
}

static void find_shares(sensing *s, const kfe_i_target *target)
{
    double mass = 0;

    for (int64_t i = 0; i < s->rows; i++)
        mass += kfe_i_weight_of(target, i);
    for (int64_t i = 0; i < s->rows; i++)
        s->shares[i] = kfe_i_weight_of(target, i) / mass;
}

static void find_variances(sensing *s, const kfe_data *data)
{
    int64_t j = 0;

    for (int v = 0; v < s->job->model->view_count; v++) {
        const kfe_i_table *x = &data->views[v].table;
        for (int64_t c = 0; c < x->cols; c++, j++) {
            double mean = 0;
            double sum = 0;
            for (int64_t i = 0; i < x->rows; i++)
                mean += s->shares[i] * x->values[i * x->stride + c];
            for (int64_t i = 0; i < x->rows; i++)
                sum += s->shares[i] * pow(x->values[i * x->stride + c] - mean, 2);
            s->variance[j] = sum;
        }
    }
}

static kfe_status begin(sensing *s, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = s->job;
    int64_t cols = kfe_i_model_all_cols(job->model);

    s->rows = kfe_data_rows(data);
    s->values = kfe_i_gradient_values(job->model, &s->of_outputs);
    KFE_ALLOC_ZERO(job->ctx, s->scaled, job->model->view_count);
    KFE_TRY(scale_rows(job, data, s->scaled));
    KFE_ALLOC(job->ctx, s->features, s->rows * job->model->dim);
    KFE_TRY(kfe_i_model_project(job->ctx, job->model, data, s->features));
    KFE_ALLOC(job->ctx, s->variance, cols);
    KFE_ALLOC(job->ctx, s->shares, s->rows);
    KFE_ALLOC(job->ctx, s->block, BLOCK * s->values * cols);
    find_shares(s, &data->target);
    find_variances(s, data);
    s->gradient = (kfe_i_gradient){
        .ctx = job->ctx, .model = job->model, .cols = cols, .scaled = s->scaled, .features = s->features};
cleanup:
    return status;
}

/* ---- importance ---- */

/* out (columns × values) = mean squared derivatives, times the variance of the column. */
static kfe_status square_derivatives(sensing *s, double *out)
{
    kfe_status status = KFE_OK;
    int64_t cols = s->gradient.cols;

    for (int64_t first = 0; first < s->rows; first += BLOCK) {
        int64_t count = s->rows - first < BLOCK ? s->rows - first : BLOCK;
        KFE_TRY(kfe_i_progress(s->job->ctx, "computing derivatives", first, s->rows));
        KFE_TRY(kfe_i_gradient_block(&s->gradient, first, count, s->block));
        for (int64_t p = 0; p < count * s->values * cols; p++) {
            int64_t j = p % cols;
            int64_t o = p / cols % s->values;
            double share = s->shares[first + p / (s->values * cols)];
            out[j * s->values + o] += s->block[p] * s->block[p] * s->variance[j] * share;
        }
    }
cleanup:
    return status;
}

static kfe_status add_importance(sensing *s)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = s->job;
    double *values = NULL;

    KFE_TRY(kfe_i_explain_table(job, "gradient",
                                "mean squared derivative by a column, times the variance of the column",
                                KFE_BY_COLUMN, s->of_outputs ? KFE_BY_OUTPUT : KFE_BY_FEATURE, &values));
    KFE_TRY(square_derivatives(s, values));
cleanup:
    return status;
}

static kfe_status explain_sample(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    sensing s = {.job = job};
    kfe_data *sample = NULL;

    KFE_TRY(kfe_i_sample_data(job, 1, &sample));
    KFE_TRY(kfe_i_sample_name_row(job, begin(&s, sample)));
    KFE_TRY(add_importance(&s));
cleanup:
    sensing_free(&s);
    kfe_data_free(sample);
    return status;
}

kfe_status kfe_i_gradient_sizes(kfe_i_explaining *job, double *sizes)
{
    kfe_status status = KFE_OK;
    sensing s = {.job = job};
    kfe_data *sample = NULL;
    double *values = NULL;

    KFE_TRY(kfe_i_gradient_check(job->ctx, job->model));
    KFE_TRY(kfe_i_sample_data(job, 1, &sample));
    KFE_TRY(begin(&s, sample));
    KFE_ALLOC_ZERO(job->ctx, values, s.gradient.cols * s.values);
    KFE_TRY(square_derivatives(&s, values));
    for (int64_t j = 0; j < s.gradient.cols; j++) {
        sizes[j] = 0;
        for (int64_t o = 0; o < s.values; o++)
            sizes[j] += values[j * s.values + o];
    }
cleanup:
    sensing_free(&s);
    kfe_data_free(sample);
    kfe_i_free(job->ctx, values);
    return status;
}

/* ---- single examples ---- */

/* The output that an example is decided by: that of its class, or the first. */
static int64_t decided_output(const sensing *s, int64_t row)
{
    const kfe_i_predictor *p = &s->job->model->predictor;

    if (!s->of_outputs || p->decision != KFE_DECIDE_LARGEST)
        return 0;
    return kfe_i_predictor_decide(p, s->outputs + row * p->outputs);
}

static kfe_status add_gradients(sensing *s)
{
    kfe_status status = KFE_OK;
    kfe_i_explaining *job = s->job;
    int64_t cols = s->gradient.cols;
    double *values = NULL;

    KFE_TRY(
        kfe_i_explain_table(job, "gradients",
                            "derivative of each example's decisive output (or first feature) by a column, "
                            "in the units of the data",
                            KFE_BY_EXAMPLE, KFE_BY_COLUMN, &values));
    for (int64_t first = 0; first < s->rows; first += BLOCK) {
        int64_t count = s->rows - first < BLOCK ? s->rows - first : BLOCK;
        KFE_TRY(kfe_i_progress(job->ctx, "computing derivatives", first, s->rows));
        KFE_TRY(kfe_i_gradient_block(&s->gradient, first, count, s->block));
        for (int64_t i = 0; i < count; i++)
            memcpy(values + (first + i) * cols,
                   s->block + (i * s->values + decided_output(s, first + i)) * cols,
                   (size_t)cols * sizeof *values);
    }
cleanup:
    return status;
}

static kfe_status explain_examples(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    sensing s = {.job = job};
    kfe_data *all = NULL;

    KFE_TRY(kfe_i_every_example(job, &all));
    KFE_TRY(begin(&s, all));
    if (s.of_outputs) {
        KFE_ALLOC(job->ctx, s.outputs, s.rows * job->model->predictor.outputs);
        KFE_TRY(kfe_i_model_outputs(job->ctx, job->model, all, s.outputs));
    }
    KFE_TRY(add_gradients(&s));
cleanup:
    sensing_free(&s);
    kfe_data_free(all);
    return status;
}

kfe_status kfe_i_explain_gradient(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;

    if (!job->data)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "derivatives need data");
    KFE_TRY(kfe_i_gradient_check(job->ctx, job->model));
    KFE_TRY(explain_sample(job));
    if (job->settings.examples)
        KFE_TRY(explain_examples(job));
cleanup:
    return status;
}

/* ---- support examples ---- */

/* Training rows, from 1, as labels. */
static kfe_status support_axis(kfe_i_explaining *job, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = job->model;
    char label[32];

    KFE_TRY(kfe_i_explain_axis(job, "support example", model->rows, NULL, out));
    if (!model->support_index)
        return KFE_OK;
    KFE_ALLOC_ZERO(job->ctx, job->axes[*out].labels, model->rows);
    for (int64_t s = 0; s < model->rows; s++) {
        snprintf(label, sizeof label, "row %lld", (long long)model->support_index[s] + 1);
        KFE_STRDUP(job->ctx, job->axes[*out].labels[s], label);
    }
cleanup:
    return status;
}

/* The coefficients of the outputs on the support (or of the features, if the learner is not linear). */
static void add_weights(const kfe_model *model, double *values)
{
    const kfe_i_predictor *p = &model->predictor;
    int linear = model->learner && p->kind == KFE_PREDICTOR_LINEAR;
    int64_t width = linear ? p->outputs : model->dim;

    for (int64_t s = 0; s < model->rows; s++)
        for (int64_t o = 0; o < width; o++) {
            double weight = linear ? 0 : model->coefficients[s * model->dim + o];
            for (int64_t a = 0; linear && a < model->dim; a++)
                weight += model->coefficients[s * model->dim + a] * p->weights[a * width + o];
            values[s] += weight * weight;
        }
    for (int64_t s = 0; s < model->rows; s++)
        values[s] = sqrt(values[s]);
}

/* The least distance of each example to a support example, over the scaled columns of all views. */
static kfe_status find_distances(kfe_i_explaining *job, kfe_i_table *scaled, double *values)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = job->model;
    int64_t rows = kfe_data_rows(job->data);
    int64_t widest = 1;
    double *x = NULL;
    double *s = NULL;
    double *sums = NULL;

    for (int v = 0; v < model->view_count; v++)
        widest = scaled[v].cols > widest ? scaled[v].cols : widest;
    KFE_ALLOC(job->ctx, x, widest);
    KFE_ALLOC(job->ctx, s, widest);
    KFE_ALLOC(job->ctx, sums, model->rows);
    for (int64_t i = 0; i < rows; i++) {
        memset(sums, 0, (size_t)model->rows * sizeof *sums);
        for (int v = 0; v < model->view_count; v++) {
            if (!model->views[v].support.ctx)
                continue;
            kfe_i_table_dense_row(&scaled[v], i, x);
            for (int64_t k = 0; k < model->rows; k++) {
                kfe_i_table_dense_row(&model->views[v].support, k, s);
                for (int64_t j = 0; j < scaled[v].cols; j++)
                    sums[k] += (x[j] - s[j]) * (x[j] - s[j]);
            }
        }
        values[i] = INFINITY;
        for (int64_t k = 0; k < model->rows; k++)
            values[i] = fmin(values[i], sqrt(sums[k]));
        KFE_TRY(kfe_i_progress(job->ctx, "measuring distances", i, rows));
    }
cleanup:
    kfe_i_free(job->ctx, x);
    kfe_i_free(job->ctx, s);
    kfe_i_free(job->ctx, sums);
    return status;
}

static kfe_status explain_distances(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    kfe_i_table *scaled = NULL;
    double *values = NULL;
    int single = 0;

    KFE_ALLOC_ZERO(job->ctx, scaled, job->model->view_count);
    KFE_TRY(scale_rows(job, job->data, scaled));
    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"distance"}, &single));
    KFE_TRY(kfe_i_explain_table(job, "support-distance",
                                "distance of each example to the nearest support example, on scaled columns",
                                KFE_BY_EXAMPLE, single, &values));
    KFE_TRY(find_distances(job, scaled, values));
cleanup:
    for (int v = 0; scaled && v < job->model->view_count; v++)
        kfe_i_table_free(&scaled[v]);
    kfe_i_free(job->ctx, scaled);
    return status;
}

static int has_columns(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].strings || kfe_i_kernel_list_given(&model->kernels, v) > 0)
            return 0;
    return 1;
}

kfe_status kfe_i_explain_support(kfe_i_explaining *job)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    int supports = 0;
    int single = 0;

    if (job->model->projector != KFE_PROJECT_KERNEL)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "the model has no support examples with coefficients");
    KFE_TRY(support_axis(job, &supports));
    KFE_TRY(kfe_i_explain_axis(job, "value", 1, (const char *const[]){"size"}, &single));
    KFE_TRY(kfe_i_explain_table(
        job, "support",
        "size of the coefficients of each support example: larger ones shape the outputs more", supports,
        single, &values));
    add_weights(job->model, values);
    if (job->data && job->settings.examples && has_columns(job->model))
        KFE_TRY(explain_distances(job));
cleanup:
    return status;
}
