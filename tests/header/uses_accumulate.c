/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of fits from sums over rows. */
#include "header/uses.h"

/* Two accumulators from one start, merged, saved and loaded. */
static kfe_status accumulate(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                             kfe_accumulator **sums)
{
    kfe_status status = KFE_OK;
    char *bytes = NULL;
    size_t size = 0;

    TRY(CALL(kfe_accumulator_new)(ctx, spec, &sums[0]));
    TRY(CALL(kfe_accumulator_start)(ctx, sums[0], data));
    TRY(CALL(kfe_accumulator_save_bytes)(ctx, sums[0], &bytes, &size));
    TRY(CALL(kfe_accumulator_load_bytes)(ctx, bytes, size, &sums[1]));
    TRY(CALL(kfe_accumulator_add)(ctx, sums[0], data));
    TRY(kfe_accumulator_add(ctx, sums[1], data));
    TRY(CALL(kfe_accumulator_merge)(ctx, sums[0], sums[1]));
    TRY(CALL(kfe_accumulator_save)(ctx, sums[0], model_path));
    TRY(CALL(kfe_accumulator_load)(ctx, model_path, &sums[2]));
    assert_int_equal(CALL(kfe_accumulator_rows)(sums[2]), 2 * ROWS);
cleanup:
    kfe_string_free(ctx, bytes);
    return status;
}

kfe_status use_accumulator(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_accumulator *sums[3] = {0};
    kfe_model *model = NULL;
    kfe_model *streamed = NULL;
    int64_t rows = 0;
    double weights[ROWS];

    (void)user;
    for (int64_t i = 0; i < ROWS; i++)
        weights[i] = 1 + 0.5 * (double)(i % 3);
    TRY(wrap_labelled(ctx, &data));
    TRY(CALL(kfe_data_set_weights)(ctx, data, weights));
    TRY(kfe_spec_parse(ctx, "kfd", "landmarks=4", NULL, &spec));
    TRY(kfe_spec_set_learner(ctx, spec, "ls", NULL));
    assert_int_equal(CALL(kfe_spec_accumulates)(spec), 1);
    TRY(accumulate(ctx, spec, data, sums));
    TRY(CALL(kfe_accumulator_finish)(ctx, sums[2], &model));
    assert_int_equal(kfe_model_dim(model), 2);
    TRY(kfe_spec_set(ctx, spec, "class-weight", "balanced"));
    TRY(CALL(kfe_fit_stream)(ctx, spec, 1, (const char *const[]){csv_path}, NULL, &rows, &streamed));
    assert_int_equal(rows, ROWS);
cleanup:
    kfe_model_free(model);
    kfe_model_free(streamed);
    for (int i = 0; i < 3; i++)
        CALL(kfe_accumulator_free)(sums[i]);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}
