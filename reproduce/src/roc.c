/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ROC curves from the result of kfe_evaluate. Called by path.c. */
#include "reproduce/src/roc.h"

#include "reproduce/src/text.h"

/* A ROC curve: false positive rates and true positive rates. */
typedef struct curve {
    const double *x, *y;
    int64_t count;
} curve;

/* The curve begins at (0, 0), ends at (1, 1) and never falls. */
static double height_at(const curve *points, double rate)
{
    int64_t last = 0;

    while (last + 1 < points->count && points->x[last + 1] <= rate)
        last++;
    if (last + 1 == points->count)
        return points->y[last];
    double width = points->x[last + 1] - points->x[last];
    return points->y[last] + (points->y[last + 1] - points->y[last]) * (rate - points->x[last]) / width;
}

static kfe_status read_heights(kfe_context *ctx, const kfe_result *found, const json_t *rates, double *out)
{
    const kfe_table *curves = kfe_result_find(found, "curves");
    const kfe_table *roc = kfe_result_find(found, "roc");

    if (!curves || curves->rows != 1 || roc->rows < 2)
        return kfe_fail(ctx, KFE_EINPUT, "a ROC curve needs two classes, and test rows of both");
    const curve points = {.x = kfe_table_find(roc, "false_positive_rate")->numbers,
                          .y = kfe_table_find(roc, "true_positive_rate")->numbers,
                          .count = roc->rows};
    for (size_t i = 0; i < json_array_size(rates); i++)
        out[i] = height_at(&points, json_number_value(json_array_get(rates, i)));
    return KFE_OK;
}

kfe_status rep_roc_measure(kfe_context *ctx, const kfe_model *model, const kfe_data *test,
                           const json_t *rates, double *out)
{
    kfe_status status = KFE_OK;
    kfe_result *found = NULL;

    if (!test)
        return kfe_fail(ctx, KFE_EINPUT, "a ROC curve needs a \"protocol\" that leaves rows to test on");
    REP_TRY(kfe_evaluate(ctx, model, test, "curves=yes", &found));
    status = read_heights(ctx, found, rates, out);
cleanup:
    kfe_result_free(found);
    return status;
}
