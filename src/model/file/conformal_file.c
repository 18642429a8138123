/* SPDX-License-Identifier: Apache-2.0 */
/* What a model keeps for intervals: scores of left-out rows, and the models of the folds as files inside the file. */
#include "core/memory.h"
#include "core/param.h"
#include "model/file/parts.h"

/* Folds have rows; scores rise within each fold, and so do their positive weights. */
static int are_scores(const kfe_i_conformal *c)
{
    for (int64_t k = 0; k < c->folds; k++)
        if (c->start[k] < 0 || c->start[k + 1] <= c->start[k] || c->start[k + 1] > c->rows)
            return 0;
    if (c->start[0] != 0 || c->start[c->folds] != c->rows)
        return 0;
    for (int64_t j = 0; j < c->columns; j++)
        for (int64_t k = 0; k < c->folds; k++)
            for (int64_t i = c->start[k]; i < c->start[k + 1]; i++) {
                const double *score = c->scores + j * c->rows + i;
                const double *mass = c->mass + j * c->rows + i;
                if (i > c->start[k] ? score[0] < score[-1] || mass[0] < mass[-1] : mass[0] <= 0)
                    return 0;
            }
    return 1;
}

static kfe_status load_kind(const kfe_i_exchange *x, kfe_i_conformal *c)
{
    const kfe_i_predictor *p = &x->model->predictor;
    const char *word = kfe_i_safetensors_get(x->file, "conformal");
    const kfe_i_tensor *start = kfe_i_exchange_find(x, "conformal.start");
    const kfe_i_tensor *scores = kfe_i_exchange_find(x, "conformal.scores");
    int kind = kfe_i_word_index(KFE_CONFORMAL_WORDS, word);

    if (kind <= KFE_CONFORMAL_NONE || x->inner || !x->model->learner || !start || start->count < 2 || !scores)
        return kfe_i_damaged(x, "conformal");
    c->columns = p->classes ? 1 : p->outputs;
    if (scores->count % c->columns != 0)
        return kfe_i_damaged(x, "conformal");
    c->ctx = x->ctx;
    c->kind = (kfe_i_conformal_kind)kind;
    c->rows = scores->count / c->columns;
    return KFE_OK;
}

/* Predictions of a fold's model have the shape of the whole model's. */
static int suits(const kfe_model *model, const kfe_model *without)
{
    const kfe_i_predictor *p = &without->predictor;

    return without->learner && without->target.task == model->target.task &&
           without->view_count == model->view_count && p->outputs == model->predictor.outputs &&
           p->classes == model->predictor.classes;
}

static kfe_status exchange_fold(kfe_i_exchange *x, int64_t fold)
{
    kfe_status status = KFE_OK;
    kfe_i_fold_model *part = &x->model->fold_models[fold];
    const char *name = kfe_i_part_name(x, "conformal", fold, "model");
    const kfe_i_tensor *tensor = x->saves ? NULL : kfe_i_exchange_find(x, name);

    if (!x->saves)
        part->size = tensor ? tensor->count : 0;
    KFE_TRY(kfe_i_exchange_bytes(x, name, part->size, &part->bytes));
    if (x->saves)
        return KFE_OK;
    KFE_TRY(kfe_i_load_fold_model(x->ctx, x->name ? x->name : "model", part, &part->model));
    KFE_TRY(kfe_i_check_sound(x, suits(x->model, part->model), name));
cleanup:
    return status;
}

kfe_status kfe_i_exchange_conformal(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_i_conformal *c = &x->model->conformal;
    char word[32] = "";

    if (!x->saves)
        KFE_TRY(load_kind(x, c));
    kfe_i_word_at(KFE_CONFORMAL_WORDS, (int)c->kind, word, sizeof word);
    if (x->saves)
        KFE_TRY(kfe_i_safetensors_set(x->file, "conformal", word));
    int64_t folds = x->saves ? c->folds : kfe_i_exchange_find(x, "conformal.start")->count - 1;
    KFE_TRY(kfe_i_exchange_integers(x, "conformal.start", folds + 1, -1, 0, &c->start));
    KFE_TRY(kfe_i_exchange_reals(x, "conformal.scores", c->columns, c->rows, 0, &c->scores));
    KFE_TRY(kfe_i_exchange_reals(x, "conformal.mass", c->columns, c->rows, 0, &c->mass));
    if (!x->saves) {
        KFE_ALLOC_ZERO(x->ctx, x->model->fold_models, folds);
        c->folds = folds;
        KFE_TRY(kfe_i_check_sound(x, are_scores(c), "conformal"));
    }
    for (int64_t fold = 0; fold < folds; fold++)
        KFE_TRY(exchange_fold(x, fold));
cleanup:
    return status;
}
