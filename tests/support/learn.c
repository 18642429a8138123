/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and targets in memory, and fits of classifiers and regressors on them, for tests/learn. */
#include "support/learn.h"

#include <stdio.h>

kfe_i_table learn_dense(int64_t rows, int64_t cols, const double *values)
{
    return (kfe_i_table){
        .kind = KFE_TABLE_DENSE, .rows = rows, .cols = cols, .stride = cols, .values = (double *)values};
}

kfe_i_table learn_sparse(kfe_context *ctx, int64_t rows, int64_t cols, const double *values)
{
    kfe_i_table table;
    int64_t entries = 0;

    assert_ok(ctx, kfe_i_table_new_csr(ctx, rows, cols, rows * cols, &table));
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (values[i * cols + j] != 0) {
                table.columns[entries] = (int32_t)j;
                table.values[entries++] = values[i * cols + j];
            }
        table.row_start[i + 1] = entries;
    }
    return table;
}

kfe_i_target learn_classes(kfe_context *ctx, int64_t rows, const int *class_of)
{
    kfe_i_target target;
    char(*text)[8] = calloc((size_t)rows, sizeof *text);
    const char **labels = calloc((size_t)rows, sizeof *labels);

    for (int64_t i = 0; i < rows; i++) {
        snprintf(text[i], sizeof text[i], "c%d", class_of[i]);
        labels[i] = text[i];
    }
    assert_ok(ctx, kfe_i_target_from_labels(ctx, rows, labels, &target));
    free(labels);
    free(text);
    return target;
}

/* Makes everything that a fit needs from the learner's name and parameters. */
static kfe_status prepare(kfe_context *ctx, const char *name, const char *params, const kfe_i_target *target,
                          const kfe_i_learner **learner, void **settings)
{
    kfe_status status = KFE_OK;

    *settings = NULL;
    KFE_TRY(kfe_i_learner_find(ctx, name, learner));
    *settings = calloc(1, (*learner)->params.size + 1);
    KFE_TRY(kfe_i_params_default(ctx, &(*learner)->params, *settings));
    KFE_TRY(kfe_i_params_parse(ctx, &(*learner)->params, name, *settings, params));
    KFE_TRY(kfe_i_learner_check(ctx, *learner, target));
cleanup:
    return status;
}

learn_clouds learn_clouds_make(kfe_context *ctx, int64_t rows, int64_t cols, uint64_t seed, int classes)
{
    learn_clouds p;

    support_clouds(seed, rows, cols, classes, 1, &p.x, &p.class_of);
    for (int64_t i = 0; i < rows * cols; i += 5)
        p.x[i] = 0;
    p.table = learn_dense(rows, cols, p.x);
    p.target = learn_classes(ctx, rows, p.class_of);
    return p;
}

void learn_clouds_free(learn_clouds *clouds)
{
    kfe_i_target_free(&clouds->target);
    free(clouds->x);
    free(clouds->class_of);
}

kfe_status learn_try(kfe_context *ctx, const char *learner, const char *params, const kfe_i_table *features,
                     const kfe_i_target *target, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *found = NULL;
    void *settings = NULL;

    memset(out, 0, sizeof *out);
    KFE_TRY(prepare(ctx, learner, params, target, &found, &settings));
    KFE_TRY(kfe_i_learner_check_features(ctx, features));
    KFE_TRY(found->fit(ctx, features, target, settings, out));
cleanup:
    free(settings);
    return status;
}

kfe_status learn_try_gram(kfe_context *ctx, const char *learner, const char *params, const kfe_i_gram *gram,
                          const kfe_i_target *target, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *found = NULL;
    void *settings = NULL;

    memset(out, 0, sizeof *out);
    KFE_TRY(prepare(ctx, learner, params, target, &found, &settings));
    KFE_TRY(found->fit_gram(ctx, gram, target, settings, out));
cleanup:
    free(settings);
    return status;
}

kfe_i_predictor learn_fit(kfe_context *ctx, const char *learner, const char *params,
                          const kfe_i_table *features, const kfe_i_target *target)
{
    kfe_i_predictor predictor;

    assert_ok(ctx, learn_try(ctx, learner, params, features, target, &predictor));
    return predictor;
}

double *learn_outputs(kfe_context *ctx, const kfe_i_predictor *predictor, const kfe_i_table *features)
{
    double *out = calloc((size_t)(features->rows * predictor->outputs), sizeof *out);

    assert_ok(ctx, kfe_i_predictor_outputs(ctx, predictor, features, out));
    return out;
}

double *learn_fit_outputs(kfe_context *ctx, const char *learner, const char *params,
                          const kfe_i_table *features, const kfe_i_target *target, const kfe_i_table *queries)
{
    kfe_i_predictor predictor = learn_fit(ctx, learner, params, features, target);
    double *out = learn_outputs(ctx, &predictor, queries);

    kfe_i_predictor_free(&predictor);
    return out;
}
