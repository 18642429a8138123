/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of a cross-validation without running it: its splits, and a check of the specification, the grids
 * and the options. Called by programs that fit on the splits themselves, or want to fail before they read data.
 */
#include "core/memory.h"
#include "data/data.h"
#include "select/assess.h"

struct kfe_splits {
    kfe_context *ctx;
    kfe_i_splits made;
};

kfe_status kfe_splits_make(kfe_context *ctx, const kfe_data *data, const char *options, kfe_splits **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_split_rows all = kfe_i_split_all(data);
    kfe_i_assess_settings settings;
    kfe_splits *splits = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_assess_settings_parse(ctx, options, &settings));
    KFE_ALLOC_ZERO(ctx, splits, 1);
    splits->ctx = ctx;
    KFE_TRY(kfe_i_splits_make(ctx, &settings.protocol, &all, 0, &splits->made));
    *out = splits;
    splits = NULL;
cleanup:
    kfe_splits_free(splits);
    return status;
}

void kfe_splits_free(kfe_splits *splits)
{
    if (!splits)
        return;
    if (splits->made.ctx)
        kfe_i_splits_free(&splits->made);
    kfe_i_free(splits->ctx, splits);
}

int64_t kfe_splits_count(const kfe_splits *splits)
{
    return splits->made.count;
}

static const kfe_i_split *split_at(const kfe_splits *splits, int64_t index)
{
    return index >= 0 && index < splits->made.count ? &splits->made.items[index] : NULL;
}

const int64_t *kfe_splits_train(const kfe_splits *splits, int64_t index, int64_t *count)
{
    const kfe_i_split *split = split_at(splits, index);

    *count = split ? split->train_count : 0;
    return split ? split->train : NULL;
}

const int64_t *kfe_splits_test(const kfe_splits *splits, int64_t index, int64_t *count)
{
    const kfe_i_split *split = split_at(splits, index);

    *count = split ? split->test_count : 0;
    return split ? split->test : NULL;
}

kfe_status kfe_cv_check(kfe_context *ctx, const kfe_spec *spec, const char *const *grids, const char *options,
                        int64_t *settings)
{
    kfe_status status = KFE_OK;
    kfe_i_assess_settings parsed;
    kfe_i_grid grid = {0};

    *settings = 0;
    KFE_TRY(kfe_i_assess_settings_parse(ctx, options, &parsed));
    KFE_TRY(kfe_i_metric_names_check(ctx, parsed.metrics));
    KFE_TRY(kfe_i_grid_make(ctx, spec, kfe_i_grid_list(grids, 0), NULL, &grid));
    *settings = grid.count;
cleanup:
    kfe_i_grid_free(&grid);
    return status;
}
