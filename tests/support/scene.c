/* SPDX-License-Identifier: Apache-2.0 */
/* Data of several views and fits on it, for the tests of methods with several views. */
#include "support/scene.h"

#include <math.h>

void scene_add(scene *s, const char *name, int64_t cols, double *values)
{
    s->cols[s->count] = cols;
    s->values[s->count] = values;
    s->names[s->count++] = name;
}

kfe_data *scene_join(kfe_context *ctx, scene *s, int count, const int *order)
{
    const kfe_data *parts[SCENE_VIEWS];
    const char *names[SCENE_VIEWS];
    kfe_data *data = NULL;

    for (int v = 0; v < count; v++) {
        parts[v] = s->parts[order[v]];
        names[v] = s->names[order[v]];
    }
    assert_ok(ctx, kfe_data_join_views(ctx, count, parts, names, &data));
    return data;
}

void scene_finish(kfe_context *ctx, scene *s)
{
    static const int order[SCENE_VIEWS] = {0, 1, 2};

    for (int v = 0; v < s->count; v++)
        s->parts[v] = support_dense(ctx, s->rows, s->cols[v], s->values[v], s->class_of);
    s->data = scene_join(ctx, s, s->count, order);
}

void scene_close(scene *s)
{
    kfe_data_free(s->data);
    for (int v = 0; v < s->count; v++) {
        kfe_data_free(s->parts[v]);
        free(s->values[v]);
    }
    free(s->class_of);
}

scene scene_clouds(kfe_context *ctx, int64_t rows, int classes)
{
    scene s = {.rows = rows};
    double *x = NULL;
    double *y = NULL;
    int *same = NULL;

    support_clouds(31, rows, 4, classes, 1, &x, &s.class_of);
    support_clouds(32, rows, 3, classes, 1, &y, &same);
    free(same);
    scene_add(&s, "wide", 4, x);
    scene_add(&s, "narrow", 3, y);
    scene_finish(ctx, &s);
    return s;
}

kfe_model *scene_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                     const char *learner, const char *learner_params, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, method, params, kernel, &spec));
    if (learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, learner_params));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

kfe_status scene_try_fit(kfe_context *ctx, const char *method, const char *params, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_status status = kfe_spec_parse(ctx, method, params, NULL, &spec);

    if (status == KFE_OK)
        status = kfe_fit(ctx, spec, data, &model);
    assert_true((status == KFE_OK) == (model != NULL));
    kfe_model_free(model);
    kfe_spec_free(spec);
    return status;
}

kfe_matrix scene_scores(kfe_context *ctx, const kfe_model *model, const kfe_data *data)
{
    kfe_matrix predictions = {0};
    kfe_matrix scores = {0};

    assert_ok(ctx, kfe_predict(ctx, model, data, &predictions, &scores));
    for (int64_t i = 0; i < scores.rows * scores.cols; i++)
        assert_true(isfinite(scores.values[i]));
    for (int64_t i = 0; i < predictions.rows; i++) {
        double code = predictions.values[i];
        assert_true(code >= 0 && code < (double)kfe_model_classes(model) && code == floor(code));
    }
    kfe_matrix_free(&predictions);
    return scores;
}

const double *scene_record(const kfe_model *model, const char *name, int64_t *count)
{
    const double *values = kfe_model_record(model, name, count);

    if (!values)
        fail_msg("the model has no record '%s'", name);
    return values;
}

double scene_last_objective(const kfe_model *model)
{
    int64_t count = 0;
    const double *values = scene_record(model, "objective", &count);

    return values[count - 1];
}
