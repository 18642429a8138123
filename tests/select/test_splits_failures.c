/* SPDX-License-Identifier: Apache-2.0 */
/* Splits under failing allocations: the failure is reported and nothing leaks. */
#include "support/fit.h"
#include "support/sweep.h"

#include <stdio.h>

#include "select/splits.h"

static kfe_status split_once(kfe_context *ctx, void *options)
{
    static int32_t codes[] = {0, 1, 0, 1, 2, 2, 0, 0, 1, 0};
    static char zero[] = "0";
    static char one[] = "1";
    static char two[] = "2";
    static char *names[] = {zero, one, two};
    const kfe_i_target target = {
        .task = KFE_TASK_CLASSES, .rows = 10, .codes = codes, .class_count = 3, .names = names};
    static const kfe_i_row_key keys[] = {{1, 1}, {2, 2}, {3, 3}, {3, 3}, {4, 4},
                                         {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}};
    static const int64_t groups[] = {1, 2, 3, 4, 4, 3, 2, 1, 5, 6};
    const char *by_content = strstr(options, "folds=3,repeats=2");
    const char *in_groups = strstr(options, "folds=3,repeats=3");
    const kfe_i_split_rows all = {.rows = 10,
                                  .target = &target,
                                  .keys = by_content || in_groups ? keys : NULL,
                                  .groups = in_groups ? groups : NULL};
    kfe_i_protocol protocol = {0};
    kfe_i_splits splits = {0};
    kfe_status status = kfe_i_params_default(ctx, &kfe_i_protocol_params, &protocol);

    if (status == KFE_OK)
        status = kfe_i_params_parse(ctx, &kfe_i_protocol_params, "splits", &protocol, options);
    if (status == KFE_OK)
        status = kfe_i_splits_make(ctx, &protocol, &all, 0, &splits);
    kfe_i_splits_free(&splits);
    return status;
}

/* Training rows by distances, through the public call that gives them the columns. */
static kfe_status split_by_distance(kfe_context *ctx, void *unused)
{
    static const double x[] = {0, 10, 5, 2, 9, 1};
    static const double y[] = {1, 3, 2, 7, 5, 4};
    kfe_data *data = NULL;
    kfe_splits *splits = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, 6, 1, 1, x, &data);

    (void)unused;
    if (status == KFE_OK)
        status = kfe_data_set_targets(ctx, data, 1, y);
    if (status == KFE_OK)
        status = kfe_splits_make(ctx, data, "split=spxy,train-size=3", &splits);
    kfe_splits_free(splits);
    kfe_data_free(data);
    return status;
}

static void test_failing_allocations(void **state)
{
    char file[600];
    char plain[][40] = {"folds=3,repeats=6", "split=random,repeats=3", "split=held-out,folds=2",
                        "folds=3,repeats=2", "folds=3,repeats=3"};
    (void)state;

    snprintf(file, sizeof file, "split=file,split-file=%s",
             support_text("sweep.txt", "train 1-4\ntest 5-10\ntrain 5-6\ntest 1"));
    for (int k = 0; k < 5; k++)
        support_sweep_all(plain[k], split_once, plain[k], 10);
    support_sweep_all(file, split_once, file, 10);
    support_sweep_all("split=spxy", split_by_distance, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
