/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the classifier or regressor of a model; called by load.c. All shapes are checked against the projector
 * and the classes, so that predicting needs no checks. */
#include <string.h>

#include "core/memory.h"
#include "model/file/loading.h"

static int word_of(const kfe_i_json_value *entry, const char *key, const char *words)
{
    const char *text = kfe_i_json_get_text(entry, key);
    return text ? kfe_i_word_index(words, text) : -1;
}

static kfe_status load_description(kfe_i_loading *job, const kfe_i_json_value *entry)
{
    kfe_status status = KFE_OK;
    kfe_model *model = job->model;
    kfe_i_predictor *predictor = &model->predictor;
    const char *name = kfe_i_json_get_text(entry, "name");
    const char *params = kfe_i_json_get_text(entry, "parameters");
    const char *key = kfe_i_json_get_text(entry, "predictor") ? "predictor" : "machine"; /* before kfe 0.2 */
    int kind = word_of(entry, key, KFE_PREDICTOR_WORDS);
    int decision = word_of(entry, "decision", KFE_DECISION_WORDS);

    if (!name || !params || kind < 0 || decision < 0)
        return kfe_i_damaged(job, "learner");
    KFE_STRDUP(job->ctx, model->learner, name);
    KFE_STRDUP(job->ctx, model->learner_params, params);
    predictor->ctx = job->ctx;
    predictor->kind = (kfe_i_predictor_kind)kind;
    predictor->decision = (kfe_i_decision)decision;
    predictor->dim = model->dim;
    predictor->classes = model->target.task == KFE_TASK_CLASSES ? model->target.class_count : 0;
    predictor->outputs = kfe_i_json_get_integer(entry, "outputs");
    predictor->rows = kfe_i_json_get_integer(entry, "rows");
    predictor->neighbours = kfe_i_json_get_integer(entry, "neighbours");
    predictor->by_distance = kfe_i_json_get_true(entry, "by_distance");
    predictor->support_vectors = kfe_i_json_get_integer(entry, "support_vectors");
cleanup:
    return status;
}

/* Outputs, classes, dimensions: what must agree. */
static kfe_status check_shape(const kfe_i_loading *job)
{
    const kfe_i_predictor *m = &job->model->predictor;
    int real = m->decision == KFE_DECIDE_VALUE;
    int fits = m->outputs >= 1 && m->outputs <= INT32_MAX && m->rows >= 0 && m->rows <= INT32_MAX;

    fits &= job->model->target.task != KFE_TASK_NONE && real == (m->classes == 0);
    fits &= real || (m->classes >= 2 && m->outputs == kfe_i_decision_outputs(m->decision, m->classes));
    switch (m->kind) {
    case KFE_PREDICTOR_LINEAR:
        fits &= m->rows == m->dim;
        break;
    case KFE_PREDICTOR_EXPANSION:
        fits &= m->rows >= 1;
        break;
    case KFE_PREDICTOR_NEIGHBOURS:
        fits &= m->rows >= 1 && m->neighbours >= 1 && m->neighbours <= m->rows &&
                (real || m->decision == KFE_DECIDE_LARGEST);
        break;
    case KFE_PREDICTOR_DIRECT:
        fits &= m->outputs == (job->model->local ? job->model->local->outputs : m->dim);
        break;
    }
    return fits ? KFE_OK : kfe_i_damaged(job, "learner");
}

static kfe_status check_answers(const kfe_i_loading *job)
{
    const kfe_i_predictor *m = &job->model->predictor;

    for (int64_t i = 0; m->classes && i < m->rows; i++)
        if (!(m->answers[i] >= 0 && m->answers[i] < (double)m->classes &&
              m->answers[i] == (double)(int64_t)m->answers[i]))
            return kfe_i_damaged(job, "learner.answers");
    return KFE_OK;
}

static kfe_status load_numbers(kfe_i_loading *job, const kfe_i_json_value *entry)
{
    kfe_status status = KFE_OK;
    kfe_i_predictor *m = &job->model->predictor;
    const char *kernel = kfe_i_json_get_text(entry, "kernel");
    int weighted = m->kind == KFE_PREDICTOR_LINEAR || m->kind == KFE_PREDICTOR_EXPANSION;

    if (weighted) {
        KFE_TRY(kfe_i_take_reals(job, "learner.weights", m->rows * m->outputs, 0, &m->weights));
        KFE_TRY(kfe_i_take_reals(job, "learner.offset", m->outputs, 1, &m->offset));
    }
    if (m->kind == KFE_PREDICTOR_EXPANSION || m->kind == KFE_PREDICTOR_NEIGHBOURS)
        KFE_TRY(kfe_i_take_support(job, "learner", 0, m->rows, m->dim, &m->support));
    if (m->kind == KFE_PREDICTOR_EXPANSION) {
        KFE_TRY(kfe_i_take_kernel(job, kernel ? kernel : "", "learner", &m->kernel));
        if (m->kernel.def->base != KFE_BASE_DOT && m->kernel.def->base != KFE_BASE_DISTANCE &&
            m->kernel.def->base != KFE_BASE_COORDINATE)
            KFE_TRY(kfe_i_damaged(job, "learner"));
    }
    if (m->kind == KFE_PREDICTOR_NEIGHBOURS) {
        KFE_TRY(kfe_i_take_reals(job, "learner.answers", m->rows * (m->classes ? 1 : m->outputs), 0,
                                 &m->answers));
        KFE_TRY(check_answers(job));
    }
cleanup:
    return status;
}

kfe_status kfe_i_load_predictor(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_json_tree entry = {0};

    if (!kfe_i_safetensors_get(&job->file, "learner"))
        return KFE_OK;
    KFE_TRY(kfe_i_take_json(job, "learner", KFE_JSON_OBJECT, &entry));
    KFE_TRY(load_description(job, entry.root));
    KFE_TRY(check_shape(job));
    KFE_TRY(load_numbers(job, entry.root));
cleanup:
    kfe_i_json_tree_free(&entry);
    return status;
}
