/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of the context and of the tables of methods, kernels, learners, generators and options. */
#include "header/uses.h"

/* ---- the context ---- */

static void ignore_log(void *user, kfe_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static void ignore_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
}

static int never_stop(void *user)
{
    (void)user;
    return 0;
}

kfe_status use_context(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    kfe_context *other = NULL;
    kfe_device_list *devices = NULL;

    (void)user;
    note_call("kfe_context_new_with"); /* the sweep itself */
    TRY(CALL(kfe_context_new)(&other));
    TRY(CALL(kfe_context_set_threads)(ctx, 1));
    CALL(kfe_let_threads_sleep)();
    TRY(CALL(kfe_context_set_memory)(ctx, 1 << 30));
    TRY(CALL(kfe_context_set_wording)(ctx, KFE_WORDING_C));
    TRY(CALL(kfe_context_set_device)(ctx, "host"));
    assert_string_equal(CALL(kfe_context_device)(ctx), "host");
    TRY(CALL(kfe_context_set_device)(ctx, "cpu"));
    TRY(CALL(kfe_devices)(ctx, &devices));
    assert_string_equal(CALL(kfe_device_list_entry)(devices, 0)->name, "cpu");
    assert_non_null(kfe_device_list_entry(devices, 2));
    note_call("kfe_context_set_cluster"); /* needs MPI: tests/mpi */
    assert_int_equal(CALL(kfe_context_process)(ctx), 0);
    assert_int_equal(CALL(kfe_context_processes)(ctx), 1);
    assert_int_equal(CALL(kfe_launched_process)(), 0);
    assert_int_equal(CALL(kfe_launched_processes)(), 1);
    const char *core = CALL(kfe_blas_advice)();
    assert_true(!core || strcmp(core, "Haswell") == 0 || strcmp(core, "SkylakeX") == 0);
    TRY(CALL(kfe_context_agree)(ctx, KFE_OK));
    TRY(CALL(kfe_context_set_checkpoint)(ctx, out_path, 60, 0));
    TRY(CALL(kfe_context_set_checkpoint)(ctx, NULL, 0, 0));
    CALL(kfe_context_set_seed)(ctx, 1);
    CALL(kfe_context_on_log)(ctx, ignore_log, NULL);
    CALL(kfe_context_on_progress)(ctx, ignore_progress, NULL);
    CALL(kfe_context_on_cancel)(ctx, never_stop, NULL);
    assert_int_equal(CALL(kfe_context_seed)(ctx), 1);
    assert_int_equal(CALL(kfe_context_memory)(ctx), 1 << 30);
    assert_int_equal(CALL(kfe_context_threads)(ctx), 1);
    assert_string_not_equal(CALL(kfe_version)(), "");
    assert_string_not_equal(CALL(kfe_status_text)(KFE_EINVAL), "");
    TRY(CALL(kfe_progress)(ctx, "testing", 1, 2));
    assert_int_equal(CALL(kfe_fail)(ctx, KFE_EINPUT, "a reason"), KFE_EINPUT);
    assert_string_equal(CALL(kfe_error_message)(ctx), "a reason");
    assert_int_equal(CALL(kfe_error_line)(ctx), 0);
    assert_int_equal(CALL(kfe_error_column)(ctx), 0);
cleanup:
    CALL(kfe_device_list_free)(devices);
    CALL(kfe_context_free)(other);
    return status;
}

/* ---- tables ---- */

kfe_status use_tables(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    char *texts[6] = {0};

    (void)user;
    TRY(CALL(kfe_list_generators)(ctx, NULL, &texts[0]));
    TRY(CALL(kfe_list_kernels)(ctx, "rbf", &texts[1]));
    TRY(CALL(kfe_list_methods)(ctx, "koc", &texts[2]));
    TRY(CALL(kfe_list_learners)(ctx, NULL, &texts[3]));
    TRY(CALL(kfe_list_steps)(ctx, "sg", &texts[4]));
    assert_true(CALL(kfe_generator)(0) && CALL(kfe_kernel)(0) && CALL(kfe_method)(1) &&
                CALL(kfe_learner)(0) && CALL(kfe_metric)(0) && CALL(kfe_guide)(0));
    assert_string_equal(CALL(kfe_method_kernel)(1), "rbf");
    assert_non_null(CALL(kfe_generator_param)(0, 0));
    assert_non_null(CALL(kfe_kernel_param)(1, 0));
    assert_non_null(CALL(kfe_method_param)(1, 0));
    assert_non_null(CALL(kfe_learner_param)(0, 0));
    assert_string_equal(CALL(kfe_step)(0)->name, "snv");
    assert_null(CALL(kfe_step_param)(0, 0));
    assert_non_null(CALL(kfe_fit_option)(0));
    assert_non_null(CALL(kfe_evaluate_option)(0));
    assert_non_null(CALL(kfe_cv_option)(0));
    assert_non_null(CALL(kfe_compare_option)(0));
cleanup:
    for (int i = 0; i < 5; i++)
        CALL(kfe_string_free)(ctx, texts[i]);
    return status;
}
