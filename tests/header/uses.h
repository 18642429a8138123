/* SPDX-License-Identifier: Apache-2.0 */
/* Use every function of kfe.h, so that the sweep of test_header_failures.c can fail each allocation. A new public function is
 * called in one of the uses as CALL(kfe_new_function)(ctx, ...). */
#ifndef KFE_TESTS_HEADER_USES_H
#define KFE_TESTS_HEADER_USES_H

#include "support/sweep.h"

enum { ROWS = 12, COLS = 3 };

/* Remembers that a use calls this function. */
void note_call(const char *function);
#define CALL(function) (note_call(#function), function)
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        if ((status = (call)) != KFE_OK)                                                                     \
            goto cleanup;                                                                                    \
    } while (0)

/* Data and files that the uses share; test_header_failures.c makes them before the first use. */
extern const char *const labels[ROWS];
extern double values[ROWS * COLS];
extern char csv_path[512], npy_path[512], model_path[512], out_path[512], predictions_path[512];
/* The values with their labels. */
kfe_status wrap_labelled(kfe_context *ctx, kfe_data **out);

/* uses_context.c */
kfe_status use_context(kfe_context *ctx, void *user);
kfe_status use_tables(kfe_context *ctx, void *user);
/* uses_data.c */
kfe_status use_files(kfe_context *ctx, void *user);
kfe_status use_memory(kfe_context *ctx, void *user);
kfe_status use_views(kfe_context *ctx, void *user);
/* uses_model.c */
kfe_status use_model(kfe_context *ctx, void *user);
kfe_status use_rule(kfe_context *ctx, void *user);
/* uses_accumulate.c */
kfe_status use_accumulator(kfe_context *ctx, void *user);
/* uses_explain.c */
kfe_status use_explanations(kfe_context *ctx, void *user);
/* uses_result.c: reads a result in every way, for the uses that have one. */
kfe_status use_result(kfe_context *ctx, const kfe_result *result);
/* uses_select.c */
kfe_status use_metrics(kfe_context *ctx, void *user);
kfe_status use_search(kfe_context *ctx, void *user);
kfe_status use_tune(kfe_context *ctx, void *user);
kfe_status use_categories(kfe_context *ctx, void *user);
/* uses_report.c */
kfe_status use_report(kfe_context *ctx, void *user);

#endif
