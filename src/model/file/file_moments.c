/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads the moments of the training data as the tensors "moments.…"; called by save.c and load.c. */
#include <string.h>

#include "core/memory.h"
#include "model/file/loading.h"
#include "model/file/saving.h"
#include "model/linear.h"

/* The arrays of the moments: their names, where they are, and their shapes. */
typedef struct moment_array {
    const char *name;
    double **values;
    int64_t rows, cols; /* cols -1: a vector */
} moment_array;
enum { ARRAYS = 8 };

static void list_arrays(kfe_i_moments *m, moment_array *out)
{
    const moment_array arrays[ARRAYS] = {
        {"moments.feature_means", &m->feature_means, m->dim, -1},
        {"moments.products", &m->products, m->dim, m->dim},
        {"moments.column_means", &m->column_means, m->cols, -1},
        {"moments.column_squares", &m->column_squares, m->cols, -1},
        {"moments.cross", &m->cross, m->cols, m->dim},
        {"moments.target_means", &m->target_means, m->targets, -1},
        {"moments.target_squares", &m->target_squares, m->targets, -1},
        {"moments.target_cross", &m->target_cross, m->targets, m->dim},
    };

    memcpy(out, arrays, sizeof arrays);
}

kfe_status kfe_i_save_moments(kfe_i_safetensors *file, const kfe_i_moments *moments)
{
    kfe_status status = KFE_OK;
    kfe_i_moments copy = *moments;
    moment_array arrays[ARRAYS];

    list_arrays(&copy, arrays);
    for (int i = 0; moments->dim > 0 && i < ARRAYS; i++)
        if (*arrays[i].values)
            KFE_TRY(kfe_i_safetensors_add(file, arrays[i].name, KFE_DTYPE_F64, arrays[i].rows, arrays[i].cols,
                                          *arrays[i].values));
cleanup:
    return status;
}

/* What the model and the other tensors say about the shapes. */
static kfe_status find_shape(const kfe_i_loading *job, kfe_i_moments *m)
{
    const kfe_model *model = job->model;
    const kfe_i_tensor *squares = kfe_i_safetensors_find(&job->file, "moments.target_squares");
    int linear = !kfe_i_features_not_linear(model);

    m->ctx = job->ctx;
    m->dim = model->dim;
    m->cols = kfe_i_safetensors_find(&job->file, "moments.cross") ? kfe_i_model_all_cols(model) : 0;
    m->targets = squares ? squares->count : 0;
    if ((m->cols > 0 && !linear) || (squares && squares->count < 1) ||
        (m->targets > 0 && model->target.task == KFE_TASK_NONE) ||
        (m->targets > 0 && model->target.task == KFE_TASK_CLASSES && m->targets != model->target.class_count))
        return kfe_i_damaged(job, "moments");
    return KFE_OK;
}

kfe_status kfe_i_load_moments(kfe_i_loading *job)
{
    kfe_status status = KFE_OK;
    kfe_i_moments *m = &job->model->moments;
    moment_array arrays[ARRAYS];

    if (!kfe_i_safetensors_find(&job->file, "moments.products"))
        return KFE_OK;
    KFE_TRY(find_shape(job, m));
    list_arrays(m, arrays);
    for (int i = 0; i < ARRAYS; i++)
        if (arrays[i].rows > 0)
            KFE_TRY(kfe_i_take_reals(job, arrays[i].name,
                                     arrays[i].rows * (arrays[i].cols < 0 ? 1 : arrays[i].cols), 0,
                                     arrays[i].values));
cleanup:
    return status;
}
