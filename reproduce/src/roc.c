/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ROC curves from the report of kfe_evaluate. Called by path.c. */
#include "reproduce/src/roc.h"

#include "reproduce/src/text.h"

/* Coordinate 0 (false positive rate) or 1 (true positive rate) of a point. */
static double coordinate(const json_t *points, size_t index, size_t which)
{
    return json_number_value(json_array_get(json_array_get(points, index), which));
}

/* The curve begins at (0, 0), ends at (1, 1) and never falls. */
static double height_at(const json_t *points, double rate)
{
    size_t last = 0;

    while (last + 1 < json_array_size(points) && coordinate(points, last + 1, 0) <= rate)
        last++;
    double height = coordinate(points, last, 1);
    if (last + 1 == json_array_size(points))
        return height;
    double left = coordinate(points, last, 0);
    double width = coordinate(points, last + 1, 0) - left;
    return height + (coordinate(points, last + 1, 1) - height) * (rate - left) / width;
}

static kfe_status read_heights(kfe_context *ctx, const json_t *report, const json_t *rates, double *out)
{
    const json_t *curves = json_object_get(report, "curves");
    const json_t *points = json_object_get(json_array_get(curves, 0), "roc");

    if (json_array_size(curves) != 1 || json_array_size(points) < 2)
        return kfe_fail(ctx, KFE_EINPUT, "a ROC curve needs two classes, and test rows of both");
    for (size_t i = 0; i < json_array_size(rates); i++)
        out[i] = height_at(points, json_number_value(json_array_get(rates, i)));
    return KFE_OK;
}

kfe_status rep_roc_measure(kfe_context *ctx, const kfe_model *model, const kfe_data *test,
                           const json_t *rates, double *out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;
    json_t *report = NULL;

    if (!test)
        return kfe_fail(ctx, KFE_EINPUT, "a ROC curve needs a \"protocol\" that leaves rows to test on");
    REP_TRY(kfe_evaluate(ctx, model, test, NULL, KFE_STYLE_JSON, &text));
    report = json_loads(text, 0, NULL);
    status = report ? read_heights(ctx, report, rates, out) : rep_out_of_memory(ctx);
cleanup:
    json_decref(report);
    kfe_string_free(ctx, text);
    return status;
}
