/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier or regressor of a model, and its calibration. All shapes are checked against the projector and the classes, so that
 * predicting needs no checks. */
#include "core/memory.h"
#include "core/param.h"
#include "model/file/parts.h"

/* ---- predictor ---- */

static kfe_status exchange_description(kfe_i_document *d, kfe_model *model, kfe_i_predictor *p)
{
    kfe_status status = KFE_OK;
    int kind = (int)p->kind;
    int decision = (int)p->decision;
    const char *key = kfe_i_document_has(d, "predictor", 1) ? "predictor" : "machine"; /* before kfe 0.2 */

    KFE_TRY(kfe_i_document_text(d, "name", 0, &model->learner));
    KFE_TRY(kfe_i_document_text(d, "parameters", 0, &model->learner_params));
    KFE_TRY(kfe_i_document_word(d, key, KFE_PREDICTOR_WORDS, &kind));
    KFE_TRY(kfe_i_document_word(d, "decision", KFE_DECISION_WORDS, &decision));
    if (!d->x->saves) {
        p->ctx = d->x->ctx;
        p->kind = (kfe_i_predictor_kind)kind;
        p->decision = (kfe_i_decision)decision;
        p->dim = model->dim;
        p->classes = model->target.task == KFE_TASK_CLASSES ? model->target.class_count : 0;
    }
    if (p->kind == KFE_PREDICTOR_EXPANSION)
        KFE_TRY(kfe_i_document_kernel(d, "kernel", 1, &p->kernel));
    KFE_TRY(kfe_i_document_integer(d, "outputs", &p->outputs));
    KFE_TRY(kfe_i_document_integer(d, "rows", &p->rows));
    KFE_TRY(kfe_i_document_integer(d, "neighbours", &p->neighbours));
    kfe_i_document_flag(d, "by_distance", &p->by_distance);
    KFE_TRY(kfe_i_document_integer(d, "support_vectors", &p->support_vectors));
cleanup:
    return status;
}

static int has_right_kernel(const kfe_i_predictor *p)
{
    kfe_i_kernel_base base = p->kernel.def->base;

    return base == KFE_BASE_DOT || base == KFE_BASE_DISTANCE || base == KFE_BASE_COORDINATE;
}

/* Outputs, classes, dimensions: what must agree. */
static int has_right_shape(const kfe_model *model)
{
    const kfe_i_predictor *p = &model->predictor;
    int real = p->decision == KFE_DECIDE_VALUE;
    int fits = p->outputs >= 1 && p->outputs <= INT32_MAX && p->rows >= 0 && p->rows <= INT32_MAX;

    fits &= model->target.task != KFE_TASK_NONE && real == (p->classes == 0);
    fits &= real || (p->classes >= 2 && p->outputs == kfe_i_decision_outputs(p->decision, p->classes));
    switch (p->kind) {
    case KFE_PREDICTOR_LINEAR:
        return fits && p->rows == p->dim;
    case KFE_PREDICTOR_EXPANSION:
        return fits && p->rows >= 1 && has_right_kernel(p);
    case KFE_PREDICTOR_NEIGHBOURS:
        return fits && p->rows >= 1 && p->neighbours >= 1 && p->neighbours <= p->rows &&
               (real || p->decision == KFE_DECIDE_LARGEST);
    case KFE_PREDICTOR_DIRECT:
        return fits && p->outputs == (model->local ? model->local->outputs : model->dim);
    }
    return 0;
}

static int are_classes(const kfe_i_predictor *p)
{
    for (int64_t i = 0; p->classes && i < p->rows; i++)
        if (!(p->answers[i] >= 0 && p->answers[i] < (double)p->classes &&
              p->answers[i] == (double)(int64_t)p->answers[i]))
            return 0;
    return 1;
}

static kfe_status exchange_numbers(const kfe_i_exchange *x, kfe_i_predictor *p)
{
    kfe_status status = KFE_OK;

    if (p->kind == KFE_PREDICTOR_LINEAR || p->kind == KFE_PREDICTOR_EXPANSION) {
        KFE_TRY(kfe_i_exchange_reals(x, "learner.weights", p->rows, p->outputs, 0, &p->weights));
        KFE_TRY(kfe_i_exchange_reals(x, "learner.offset", p->outputs, -1, 1, &p->offset));
    }
    if (p->kind == KFE_PREDICTOR_EXPANSION || p->kind == KFE_PREDICTOR_NEIGHBOURS)
        KFE_TRY(kfe_i_exchange_table(x, "learner.support", 0, p->rows, p->dim, &p->support));
    if (p->kind == KFE_PREDICTOR_NEIGHBOURS) {
        KFE_TRY(
            kfe_i_exchange_reals(x, "learner.answers", p->rows, p->classes ? 1 : p->outputs, 0, &p->answers));
        KFE_TRY(kfe_i_check_sound(x, are_classes(p), "learner.answers"));
    }
cleanup:
    return status;
}

/* ---- calibration ---- */

/* Positions rise from 0, every curve has a point, scores increase and values are probabilities. */
static int are_curves(const kfe_i_calibration *c)
{
    for (int64_t b = 0; b < c->problems; b++)
        for (int64_t i = c->start[b]; i < c->start[b + 1]; i++)
            if (!(c->values[i] >= 0 && c->values[i] <= 1) ||
                (i > c->start[b] && !(c->scores[i] > c->scores[i - 1])))
                return 0;
    return 1;
}

static int positions_rise(const kfe_i_calibration *c, int64_t points)
{
    for (int64_t b = 0; b < c->problems; b++)
        if (c->start[b] < 0 || c->start[b + 1] <= c->start[b])
            return 0;
    return c->start[0] == 0 && c->start[c->problems] == points;
}

static kfe_status exchange_curves(const kfe_i_exchange *x, kfe_i_calibration *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *scores = x->saves ? NULL : kfe_i_exchange_find(x, "calibration.scores");

    KFE_TRY(kfe_i_exchange_integers(x, "calibration.start", c->problems + 1, -1, 0, &c->start));
    int64_t points = x->saves ? c->start[c->problems] : scores ? scores->count : -1;
    KFE_TRY(kfe_i_check_sound(x, positions_rise(c, points), "calibration"));
    KFE_TRY(kfe_i_exchange_reals(x, "calibration.scores", points, -1, 0, &c->scores));
    KFE_TRY(kfe_i_exchange_reals(x, "calibration.values", points, -1, 0, &c->values));
    KFE_TRY(kfe_i_check_sound(x, are_curves(c), "calibration"));
cleanup:
    return status;
}

static kfe_status load_kind(const kfe_i_exchange *x, kfe_i_calibration *c)
{
    const kfe_i_predictor *predictor = &x->model->predictor;
    const char *word = kfe_i_safetensors_get(x->file, "calibration");
    int kind = word ? kfe_i_word_index(KFE_CALIBRATION_WORDS, word) : KFE_CALIBRATION_NONE;

    if (!word)
        return KFE_OK;
    if (kind <= KFE_CALIBRATION_NONE || predictor->classes < 2)
        return kfe_i_damaged(x, "calibration");
    c->ctx = x->ctx;
    c->kind = (kfe_i_calibration_kind)kind;
    c->problems = kfe_i_calibration_problems(predictor);
    return KFE_OK;
}

static kfe_status exchange_calibration(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_i_calibration *c = &x->model->calibration;
    char word[32] = "";

    if (!x->saves)
        KFE_TRY(load_kind(x, c));
    if (c->kind == KFE_CALIBRATION_NONE)
        return KFE_OK;
    kfe_i_word_at(KFE_CALIBRATION_WORDS, (int)c->kind, word, sizeof word);
    if (x->saves)
        KFE_TRY(kfe_i_safetensors_set(x->file, "calibration", word));
    KFE_TRY(c->kind == KFE_CALIBRATION_PLATT
                ? kfe_i_exchange_reals(x, "calibration.sigmoids", c->problems, 2, 0, &c->sigmoids)
                : exchange_curves(x, c));
cleanup:
    return status;
}

kfe_status kfe_i_exchange_predictor(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;
    kfe_i_document d = {0};

    KFE_TRY(kfe_i_document_open(x, "learner", KFE_JSON_OBJECT, &d));
    KFE_TRY(exchange_description(&d, model, &model->predictor));
    KFE_TRY(kfe_i_check_sound(x, has_right_shape(model), "learner"));
    KFE_TRY(exchange_numbers(x, &model->predictor));
cleanup:
    status = kfe_i_document_close(&d, status);
    return status == KFE_OK ? exchange_calibration(x) : status;
}
