/* SPDX-License-Identifier: Apache-2.0 */
/* Views in memory and fits on them by the public header, for the tests of methods of several views. Failures
 * fail the test, except where a status is returned. */
#ifndef KFE_TESTS_SUPPORT_SCENE_H
#define KFE_TESTS_SUPPORT_SCENE_H

#include "support/fit.h"

enum { SCENE_VIEWS = 3 };

typedef struct scene {
    int64_t rows;
    int count;
    int64_t cols[SCENE_VIEWS];
    double *values[SCENE_VIEWS]; /* by malloc; freed with the scene, as class_of is */
    const char *names[SCENE_VIEWS];
    int *class_of;
    kfe_data *parts[SCENE_VIEWS];
    kfe_data *data; /* all views, joined */
} scene;

/* Begun with .rows and .class_of, then the views, then scene_finish. */
void scene_add(scene *s, const char *name, int64_t cols, double *values);
void scene_finish(kfe_context *ctx, scene *s);
void scene_close(scene *s);
/* Some of the views, in this order, freed by the caller. */
kfe_data *scene_join(kfe_context *ctx, scene *s, int count, const int *order);
/* Clouds in the views "wide" (four columns) and "narrow" (three). */
scene scene_clouds(kfe_context *ctx, int64_t rows, int classes);

kfe_model *scene_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                     const char *learner, const char *learner_params, const kfe_data *data);
kfe_status scene_try_fit(kfe_context *ctx, const char *method, const char *params, const kfe_data *data);
/* Decision values; they are finite, and predictions are classes, or the test fails. */
kfe_matrix scene_scores(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
const double *scene_record(const kfe_model *model, const char *name, int64_t *count);
double scene_last_objective(const kfe_model *model);

#endif
