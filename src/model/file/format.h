/* SPDX-License-Identifier: Apache-2.0 */
/* Names and versions of the model file, which saving, loading and reports share. */
#ifndef KFE_MODEL_FILE_FORMAT_H
#define KFE_MODEL_FILE_FORMAT_H

#include "model/model.h"

#define KFE_MODEL_FORMAT "kfe-model"
/* Raised when older versions of kfe would misread the file. A model is written with the oldest version that reads it rightly:
 * KFE_MODEL_FORMAT_VIEWS if each view has its own coefficients, KFE_MODEL_FORMAT_TREES if it is a tree, KFE_MODEL_FORMAT_MAPS if it has a linear map before the kernel, else
 * KFE_MODEL_OLDEST_VERSION. */
enum {
    KFE_MODEL_FORMAT_VERSION = 4,
    KFE_MODEL_FORMAT_VIEWS = 4,
    KFE_MODEL_FORMAT_TREES = 3,
    KFE_MODEL_FORMAT_MAPS = 2,
    KFE_MODEL_OLDEST_VERSION = 1
};

/* "none", "classes" or "real" */
const char *kfe_i_task_name(kfe_task task);
/* "kernel", "linear", "identity", "local", "tree" or "views" */
const char *kfe_i_projector_name(kfe_i_projector projector);
/* The reverse; 0 if no task or projector has this name (NULL included). */
int kfe_i_task_find(const char *name, kfe_task *out);
int kfe_i_projector_find(const char *name, kfe_i_projector *out);

#endif
