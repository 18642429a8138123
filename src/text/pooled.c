/* SPDX-License-Identifier: Apache-2.0 */
/* Errors over all held-out predictions of an assessment, in its result and in its text. Called by scores.c and tune_result.c. */
#include <math.h>

#include "text/read.h"
#include "text/scores.h"

void kfe_i_put_pooled_errors(kfe_i_result_table *table, const char *group, const kfe_i_pooled *pooled)
{
    kfe_i_put_real(table, group, "predictions", pooled->predictions);
    kfe_i_put_real(table, group, "rmsecv", pooled->rmse);
    kfe_i_put_real(table, group, "rmsecv_error", pooled->rmse_error);
    kfe_i_put_real(table, group, "q2", pooled->r2);
    kfe_i_put_real(table, group, "bias", pooled->bias);
    kfe_i_put_real(table, group, "sep", pooled->sep);
}

void kfe_i_add_pooled(kfe_i_result_table *table, const kfe_i_assessment *a)
{
    int64_t targets = a->held_out.cols;
    kfe_i_pooled all = kfe_i_assessment_pooled(a, -1);

    if (targets == 0)
        return;
    kfe_i_put_pooled_errors(table, "pooled", &all);
    if (targets == 1)
        return;
    kfe_i_result_table *rows = kfe_i_result_add(table, NULL, "targets", 0);
    for (int64_t j = 0; j < targets; j++) {
        kfe_i_pooled one = kfe_i_assessment_pooled(a, j);
        kfe_i_result_row(rows);
        kfe_i_put_count(rows, NULL, "target", j + 1);
        kfe_i_put_pooled_errors(rows, NULL, &one);
    }
}

static double error_at(const kfe_table *table, const char *group, const char *name, int64_t row)
{
    char path[64];

    kfe_i_snprintf(path, sizeof path, "%s/%s", group, name);
    return kfe_i_result_at(table, path, row);
}

void kfe_i_put_pooled(kfe_i_text *text, const char *group, const kfe_table *table, int64_t row)
{
    const char *const names[] = {"q2", "bias", "sep"};
    const char *const shown[] = {"Q2", "bias", "SEP"};
    double rmsecv = error_at(table, group, "rmsecv", row);

    if (isnan(rmsecv))
        return;
    kfe_i_text_printf(text, "over all %.15g held-out predictions: RMSECV %.4g",
                      error_at(table, group, "predictions", row), rmsecv);
    for (int k = 0; k < 3; k++)
        kfe_i_text_printf(text, ", %s %.4g", shown[k], error_at(table, group, names[k], row));
    kfe_i_text_puts(text, "\n");
}
