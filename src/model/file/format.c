/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks and projectors in model files and reports. */
#include "model/file/format.h"

#include <string.h>

static const char *const task_names[] = {
    [KFE_TASK_NONE] = "none", [KFE_TASK_CLASSES] = "classes", [KFE_TASK_REAL] = "real"};
static const char *const projector_names[] = {
    [KFE_PROJECT_KERNEL] = "kernel", [KFE_PROJECT_LINEAR] = "linear", [KFE_PROJECT_IDENTITY] = "identity",
    [KFE_PROJECT_LOCAL] = "local",   [KFE_PROJECT_TREE] = "tree",     [KFE_PROJECT_VIEWS] = "views"};

/* -1 if `name` is NULL or not in the list. */
static int index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *kfe_i_task_name(kfe_task task)
{
    return task_names[task];
}

const char *kfe_i_projector_name(kfe_i_projector projector)
{
    return projector_names[projector];
}

int kfe_i_task_find(const char *name, kfe_task *out)
{
    int index = index_of(task_names, sizeof task_names / sizeof *task_names, name);

    *out = index < 0 ? KFE_TASK_NONE : (kfe_task)index;
    return index >= 0;
}

int kfe_i_projector_find(const char *name, kfe_i_projector *out)
{
    int index = index_of(projector_names, sizeof projector_names / sizeof *projector_names, name);

    *out = index < 0 ? KFE_PROJECT_KERNEL : (kfe_i_projector)index;
    return index >= 0;
}
