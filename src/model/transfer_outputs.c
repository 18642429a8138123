/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slope and bias correction: y ≈ a + b·ŷ by least squares over samples of the slave, with the predictions ŷ of the model; then the model
 * predicts a + b·ŷ. It becomes the model of the targets a + b·y: its weights, the sums of its targets and the sizes of the errors behind
 * its intervals change alike, so that everything else it says stays consistent. Bouveresse, Hartmann, Massart, Last & Prebble (1996).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "model/transfer.h"

static const kfe_i_param rows[] = {
    KFE_FLAG(kfe_i_slope_bias_settings, slope, "slope", "yes",
             "correct the slope too; no: only the bias, for few samples"),
};
const kfe_i_param_table kfe_i_slope_bias_params = KFE_PARAM_TABLE(rows, kfe_i_slope_bias_settings);

/* ---- fit ---- */

static kfe_status check(kfe_context *ctx, const kfe_model *model, const kfe_data *slave)
{
    kfe_status status = kfe_i_model_check_learner(ctx, model);

    if (status != KFE_OK)
        return status;
    if (model->target.task != KFE_TASK_REAL)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "slope-bias corrects predicted numbers, but this model predicts classes");
    if (slave->target.task != KFE_TASK_REAL)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "slope-bias needs the reference values of the slave's samples; give {labels}");
    if (slave->target.cols != model->predictor.outputs)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "the model predicts %lld targets, but the slave's samples have %lld",
                          (long long)model->predictor.outputs, (long long)slave->target.cols);
    return KFE_OK;
}

/* Line of target t on its prediction; `predicted` is rows × targets. */
static kfe_status fit_line(kfe_context *ctx, const kfe_i_target *target, const double *predicted, int64_t t,
                           int with_slope, double *slope, double *bias)
{
    int64_t k = target->cols;
    double mass = kfe_i_target_mass(target, target->rows);
    double mean[2] = {0, 0};
    double together = 0;
    double spread = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        mean[0] += kfe_i_weight_of(target, i) / mass * predicted[i * k + t];
        mean[1] += kfe_i_weight_of(target, i) / mass * target->values[i * k + t];
    }
    for (int64_t i = 0; i < target->rows; i++) {
        double x = predicted[i * k + t] - mean[0];
        spread += kfe_i_weight_of(target, i) * x * x;
        together += kfe_i_weight_of(target, i) * x * (target->values[i * k + t] - mean[1]);
    }
    *slope = with_slope ? together / spread : 1;
    *bias = mean[1] - *slope * mean[0];
    if (!(*slope > 0) || !isfinite(*slope + *bias))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "slope-bias: the predictions of target %lld do not rise with the reference values of "
            "the slave's samples; use slope-bias:slope=no, or more samples that differ",
            (long long)t + 1);
    return KFE_OK;
}

/* ---- correction ---- */

/* offset[t] of values − offset, made if there is none. */
static kfe_status move_offset(kfe_context *ctx, int64_t count, const double *slope, const double *bias,
                              double **offset)
{
    kfe_status status = KFE_OK;

    if (!*offset)
        KFE_ALLOC_ZERO(ctx, *offset, count);
    for (int64_t t = 0; t < count; t++)
        (*offset)[t] = slope[t] * (*offset)[t] - bias[t];
cleanup:
    return status;
}

static void scale_columns(int64_t count, int64_t cols, const double *factors, double *values)
{
    for (int64_t e = 0; values && e < count * cols; e++)
        values[e] *= factors[e % cols];
}

static void correct_moments(const double *slope, const double *bias, kfe_i_moments *m)
{
    for (int64_t t = 0; t < m->targets; t++) {
        m->target_means[t] = bias[t] + slope[t] * m->target_means[t];
        m->target_squares[t] *= slope[t] * slope[t];
        for (int64_t a = 0; a < m->dim; a++)
            m->target_cross[t * m->dim + a] *= slope[t];
    }
}

static kfe_status correct_predictor(kfe_context *ctx, const double *slope, const double *bias,
                                    kfe_model *model)
{
    kfe_i_predictor *p = &model->predictor;

    switch (p->kind) {
    case KFE_PREDICTOR_LINEAR:
    case KFE_PREDICTOR_EXPANSION:
        scale_columns(p->rows, p->outputs, slope, p->weights);
        return move_offset(ctx, p->outputs, slope, bias, &p->offset);
    case KFE_PREDICTOR_NEIGHBOURS:
        for (int64_t e = 0; e < p->rows * p->outputs; e++)
            p->answers[e] = bias[e % p->outputs] + slope[e % p->outputs] * p->answers[e];
        return KFE_OK;
    case KFE_PREDICTOR_DIRECT:
        break;
    }
    if (!model->coefficients || model->local || model->tree)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "slope-bias: this kind of model cannot be corrected");
    scale_columns(kfe_i_model_blocks(model) * model->rows, model->dim, slope, model->coefficients);
    return move_offset(ctx, model->dim, slope, bias, &model->offset);
}

static kfe_status correct(kfe_context *ctx, const double *slope, const double *bias, kfe_model *model)
{
    kfe_status status = KFE_OK;
    kfe_i_conformal *c = &model->conformal;

    KFE_TRY(correct_predictor(ctx, slope, bias, model));
    correct_moments(slope, bias, &model->moments);
    for (int64_t e = 0; c->scores && e < c->columns * c->rows; e++)
        c->scores[e] *= slope[e / c->rows];
    for (int64_t k = 0; model->fold_models && k < c->folds; k++)
        KFE_TRY(correct(ctx, slope, bias, model->fold_models[k].model));
cleanup:
    return status;
}

/* ---- records ---- */

static kfe_i_record *find_record(kfe_model *model, const char *name)
{
    for (int64_t i = 0; i < model->record_count; i++)
        if (strcmp(model->records[i].name, name) == 0)
            return &model->records[i];
    return NULL;
}

/* Appends a record of `count` times the value, unless it is there. */
static kfe_status need_record(kfe_context *ctx, kfe_model *model, const char *name, int64_t count,
                              double value)
{
    kfe_status status = KFE_OK;
    kfe_i_record made = {.count = count};
    kfe_i_record *all = NULL;

    if (find_record(model, name))
        return KFE_OK;
    KFE_ALLOC(ctx, all, model->record_count + 1);
    KFE_STRDUP(ctx, made.name, name);
    KFE_ALLOC(ctx, made.values, count);
    for (int64_t t = 0; t < count; t++)
        made.values[t] = value;
    if (model->record_count > 0)
        memcpy(all, model->records, (size_t)model->record_count * sizeof *all);
    all[model->record_count++] = made;
    kfe_i_free(ctx, model->records);
    model->records = all;
    return KFE_OK;
cleanup:
    kfe_i_free(ctx, made.name);
    kfe_i_free(ctx, all);
    return status;
}

/* Corrections of a corrected model add up. */
static kfe_status record_correction(kfe_context *ctx, const double *slope, const double *bias,
                                    kfe_model *model)
{
    kfe_status status = KFE_OK;
    int64_t count = model->predictor.outputs;

    KFE_TRY(need_record(ctx, model, KFE_RECORD_TRANSFER_SLOPE, count, 1));
    KFE_TRY(need_record(ctx, model, KFE_RECORD_TRANSFER_BIAS, count, 0));
    double *slopes = find_record(model, KFE_RECORD_TRANSFER_SLOPE)->values;
    double *biases = find_record(model, KFE_RECORD_TRANSFER_BIAS)->values;
    for (int64_t t = 0; t < count; t++) {
        slopes[t] *= slope[t];
        biases[t] = bias[t] + slope[t] * biases[t];
    }
cleanup:
    return status;
}

kfe_status kfe_i_slope_bias(kfe_context *ctx, const kfe_model *model,
                            const kfe_i_slope_bias_settings *settings, const kfe_data *slave, kfe_model *out)
{
    kfe_status status = KFE_OK;
    int64_t count = model->predictor.outputs;
    double *predicted = NULL;
    double *line = NULL; /* slopes, then biases */

    KFE_TRY(check(ctx, model, slave));
    KFE_ALLOC(ctx, predicted, slave->target.rows * count);
    KFE_ALLOC(ctx, line, 2 * count);
    KFE_TRY(kfe_i_model_outputs(ctx, model, slave, predicted));
    for (int64_t t = 0; t < count; t++)
        KFE_TRY(fit_line(ctx, &slave->target, predicted, t, settings->slope, &line[t], &line[count + t]));
    KFE_TRY(correct(ctx, line, line + count, out));
    KFE_TRY(record_correction(ctx, line, line + count, out));
cleanup:
    kfe_i_free(ctx, predicted);
    kfe_i_free(ctx, line);
    return status;
}

int kfe_i_model_is_transferred(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (kfe_i_chain_is_transferred(&model->views[v].scaler.chain))
            return 1;
    return find_record((kfe_model *)(uintptr_t)model /* read only */, KFE_RECORD_TRANSFER_SLOPE) != NULL;
}
