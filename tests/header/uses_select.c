/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of metrics, splits, cross-validation, comparison, measures and tune. */
#include "header/uses.h"

kfe_status use_metrics(kfe_context *ctx, void *user)
{
    static const int32_t truth[] = {0, 1, 2, 0, 1, 2};
    static const double scores[] = {3, 1, 2, 1, 2, 2, 1, 1, 0, 4, 4, 4, 0, 9, 0, 3, 2, 1};
    static const double weights[] = {1, 2, 0.5, 1, 1, 3};
    const kfe_judged classes = {.size = sizeof classes,
                                .rows = 6,
                                .classes = 3,
                                .truth = truth,
                                .predicted = truth,
                                .scores = scores,
                                .weights = weights};
    const kfe_judged real = {.size = sizeof real,
                             .rows = 3,
                             .cols = 2,
                             .true_values = scores,
                             .predicted_values = scores + 6,
                             .weights = weights};
    kfe_status status = KFE_OK;
    double out = 0;
    double p = 0;

    (void)user;
    TRY(CALL(kfe_metric_compute)(ctx, "auc", &classes, &out));
    TRY(kfe_metric_compute(ctx, "r2", &real, &out));
    TRY(CALL(kfe_paired_test)(ctx, 6, scores, scores + 6, 0.1, &out, &p));
cleanup:
    return status;
}

static void look_at_splits(const kfe_splits *splits)
{
    int64_t train = 0;
    int64_t test = 0;

    assert_int_equal(CALL(kfe_splits_count)(splits), 2);
    assert_non_null(CALL(kfe_splits_train)(splits, 0, &train));
    assert_non_null(CALL(kfe_splits_test)(splits, 0, &test));
    assert_int_equal(train + test, ROWS);
}

/* Weights by hand, and from a column whose numbers are not all positive. */
static kfe_status use_weights(kfe_context *ctx)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    double weights[ROWS];

    for (int i = 0; i < ROWS; i++)
        weights[i] = 1 + i % 2;
    TRY(wrap_labelled(ctx, &data));
    assert_null(CALL(kfe_data_weights)(data));
    TRY(CALL(kfe_data_set_weights)(ctx, data, weights));
    assert_true(kfe_data_weights(data)[1] == 2);
    status = CALL(kfe_data_take_weights)(ctx, data, "1");
    status = status == KFE_EINPUT ? KFE_OK : status; /* a weight is negative */
cleanup:
    kfe_data_free(data);
    return status;
}

/* Groups by hand and from a column, and splits of the user. */
static kfe_status use_groups(kfe_context *ctx, const kfe_splits *splits)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_splits *grouped = NULL;
    int64_t groups[ROWS];
    int64_t train = 0;
    int64_t test = 0;
    const int64_t *train_rows = kfe_splits_train(splits, 0, &train);
    const int64_t *test_rows = kfe_splits_test(splits, 0, &test);

    for (int i = 0; i < ROWS; i++)
        groups[i] = i / 2;
    TRY(wrap_labelled(ctx, &data));
    TRY(CALL(kfe_data_set_groups)(ctx, data, groups));
    TRY(kfe_splits_make(ctx, data, "folds=2", &grouped));
    TRY(CALL(kfe_data_take_groups)(ctx, data, "1"));
    TRY(CALL(kfe_data_add_split)(ctx, data, train, train_rows, test, test_rows));
cleanup:
    kfe_splits_free(grouped);
    kfe_data_free(data);
    return status;
}

kfe_status use_search(kfe_context *ctx, void *user)
{
    static const char *const grids[] = {"neighbors=1,3", NULL};
    static const char *const kernels[] = {"linear", "rbf"};
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *best = NULL;
    kfe_splits *splits = NULL;
    kfe_result *found[3] = {NULL, NULL, NULL};
    int64_t settings = 0;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    TRY(kfe_spec_parse(ctx, "koc", "dim=1", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "knn", NULL));
    TRY(CALL(kfe_spec_check)(ctx, spec, data, NULL));
    assert_string_equal(CALL(kfe_misfit_text)(KFE_MISFIT_VIEWS), "takes one view");
    assert_string_equal(CALL(kfe_spec_method)(spec), "koc");
    assert_true(CALL(kfe_spec_predicts)(spec));
    TRY(CALL(kfe_grids_check)(ctx, 1, (const kfe_spec *const[]){spec}, grids));
    TRY(CALL(kfe_cv_check)(ctx, spec, grids, "folds=2", &settings));
    TRY(CALL(kfe_grids_check)(ctx, 1, (const kfe_spec *const[]){spec}, grids));
    TRY(CALL(kfe_splits_make)(ctx, data, "folds=2", &splits));
    look_at_splits(splits);
    TRY(use_groups(ctx, splits));
    TRY(use_weights(ctx));
    TRY(CALL(kfe_measure)(ctx, data, 2, kernels, NULL, &found[0]));
    TRY(CALL(kfe_cross_validate)(ctx, spec, grids, data, "folds=2,inner-folds=2", &best, &found[1]));
    TRY(CALL(kfe_compare)(ctx, 2, (const kfe_spec *const[]){spec, spec}, NULL, data, "folds=2", &found[2]));
    for (int i = 0; i < 3; i++)
        TRY(use_result(ctx, found[i]));
cleanup:
    for (int i = 0; i < 3; i++)
        kfe_result_free(found[i]);
    CALL(kfe_splits_free)(splits);
    kfe_model_free(best);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

kfe_status use_tune(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_model *best = NULL;
    kfe_result *found = NULL;

    (void)user;
    TRY(wrap_labelled(ctx, &data));
    assert_string_equal(CALL(kfe_tune_option)(0)->name, "time");
    TRY(CALL(kfe_tune)(ctx, data,
                       "time=none,trials=1,folds=2,prepare=standard|pareto|bin,grid=bin.width=1:2:lin2",
                       &best, &found));
    TRY(use_result(ctx, found));
cleanup:
    kfe_result_free(found);
    kfe_model_free(best);
    kfe_data_free(data);
    return status;
}
