/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads the calibration of a classifier; called by save.c and load.c. All positions are checked, so that applying
 * it needs no checks. */
#include <string.h>

#include "core/memory.h"
#include "model/file/loading.h"
#include "model/file/saving.h"

kfe_status kfe_i_save_calibration(kfe_i_safetensors *file, const kfe_i_calibration *c)
{
    kfe_status status = KFE_OK;
    char word[32] = "";

    if (c->kind == KFE_CALIBRATION_NONE)
        return KFE_OK;
    kfe_i_word_at(KFE_CALIBRATION_WORDS, (int)c->kind, word, sizeof word);
    KFE_TRY(kfe_i_safetensors_set(file, "calibration", word));
    if (c->kind == KFE_CALIBRATION_PLATT)
        return kfe_i_safetensors_add(file, "calibration.sigmoids", KFE_DTYPE_F64, c->problems, 2,
                                     c->sigmoids);
    int64_t points = c->start[c->problems];
    KFE_TRY(kfe_i_safetensors_add(file, "calibration.start", KFE_DTYPE_I64, c->problems + 1, -1, c->start));
    KFE_TRY(kfe_i_safetensors_add(file, "calibration.scores", KFE_DTYPE_F64, points, -1, c->scores));
    KFE_TRY(kfe_i_safetensors_add(file, "calibration.values", KFE_DTYPE_F64, points, -1, c->values));
cleanup:
    return status;
}

/* Positions rise from 0, every curve has a point, scores increase and values are probabilities. */
static int is_sound(const kfe_i_calibration *c)
{
    if (c->start[0] != 0)
        return 0;
    for (int64_t b = 0; b < c->problems; b++) {
        for (int64_t i = c->start[b]; i < c->start[b + 1]; i++)
            if (!(c->values[i] >= 0 && c->values[i] <= 1) ||
                (i > c->start[b] && !(c->scores[i] > c->scores[i - 1])))
                return 0;
    }
    return 1;
}

static int positions_rise(const kfe_i_calibration *c, int64_t points)
{
    for (int64_t b = 0; b < c->problems; b++)
        if (c->start[b] < 0 || c->start[b + 1] <= c->start[b])
            return 0;
    return c->start[c->problems] == points;
}

static kfe_status load_curves(kfe_i_loading *job, kfe_i_calibration *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *scores = kfe_i_safetensors_find(&job->file, "calibration.scores");
    void *start = NULL;

    if (!scores)
        return kfe_i_damaged(job, "calibration");
    KFE_TRY(kfe_i_take_tensor(job, "calibration.start", KFE_DTYPE_I64, c->problems + 1, 0, &start));
    c->start = start;
    if (!positions_rise(c, scores->count))
        return kfe_i_damaged(job, "calibration");
    KFE_TRY(kfe_i_take_reals(job, "calibration.scores", scores->count, 0, &c->scores));
    KFE_TRY(kfe_i_take_reals(job, "calibration.values", scores->count, 0, &c->values));
    if (!is_sound(c))
        return kfe_i_damaged(job, "calibration");
cleanup:
    return status;
}

kfe_status kfe_i_load_calibration(kfe_i_loading *job)
{
    kfe_model *model = job->model;
    kfe_i_calibration *c = &model->calibration;
    const char *word = kfe_i_safetensors_get(&job->file, "calibration");
    int kind = word ? kfe_i_word_index(KFE_CALIBRATION_WORDS, word) : KFE_CALIBRATION_NONE;

    if (!word)
        return KFE_OK;
    if (kind <= KFE_CALIBRATION_NONE || !model->learner || model->predictor.classes < 2)
        return kfe_i_damaged(job, "calibration");
    c->ctx = job->ctx;
    c->kind = (kfe_i_calibration_kind)kind;
    c->problems = kfe_i_calibration_problems(&model->predictor);
    if (c->kind == KFE_CALIBRATION_PLATT)
        return kfe_i_take_reals(job, "calibration.sigmoids", 2 * c->problems, 0, &c->sigmoids);
    return load_curves(job, c);
}
