/* SPDX-License-Identifier: Apache-2.0 */
/* Make data of several views in memory and fit on it through the public header. A failure fails the test,
 * unless the function returns a status. */
#ifndef KFE_TESTS_SUPPORT_SCENE_H
#define KFE_TESTS_SUPPORT_SCENE_H

#include "support/fit.h"

enum { SCENE_VIEWS = 3 };

typedef struct scene {
    int64_t rows;
    int count;
    int64_t cols[SCENE_VIEWS];
    double *values[SCENE_VIEWS]; /* from malloc; the scene frees them and class_of */
    const char *names[SCENE_VIEWS];
    int *class_of;
    kfe_data *parts[SCENE_VIEWS];
    kfe_data *data; /* all views joined */
} scene;

/* Start with .rows and .class_of, add the views, then call scene_finish. */
void scene_add(scene *s, const char *name, int64_t cols, double *values);
void scene_finish(kfe_context *ctx, scene *s);
void scene_close(scene *s);
/* Joins some of the views in this order. The caller frees the data. */
kfe_data *scene_join(kfe_context *ctx, scene *s, int count, const int *order);
/* Clouds in two views, "wide" (four columns) and "narrow" (three). */
scene scene_clouds(kfe_context *ctx, int64_t rows, int classes);

kfe_model *scene_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                     const char *learner, const char *learner_params, const kfe_data *data);
kfe_status scene_try_fit(kfe_context *ctx, const char *method, const char *params, const kfe_data *data);
/* Decision values. The test fails unless they are finite and predictions are classes. */
kfe_matrix scene_scores(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
const double *scene_record(const kfe_model *model, const char *name, int64_t *count);
double scene_last_objective(const kfe_model *model);

#endif
