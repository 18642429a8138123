/* SPDX-License-Identifier: Apache-2.0 */
/*
 * True and false positives at each threshold on the scores of one class. Rows are sorted by falling score; rows of
 * equal score pass the threshold together, so that the order among ties does not matter. O(n log n).
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "select/metric.h"

typedef struct scored {
    double score;
    double weight;
    int is_positive;
} scored;

static int compare_falling(const void *a, const void *b)
{
    double first = ((const scored *)a)->score;
    double second = ((const scored *)b)->score;
    return (first < second) - (first > second);
}

static kfe_status collect(kfe_context *ctx, const kfe_i_outcome *outcome, int64_t class_index, scored *rows,
                          double *positives)
{
    *positives = 0;
    for (int64_t i = 0; i < outcome->rows; i++) {
        rows[i].score = outcome->scores[i * outcome->classes + class_index];
        rows[i].is_positive = outcome->truth[i] == class_index;
        rows[i].weight = kfe_i_outcome_weight(outcome, i);
        *positives += rows[i].is_positive ? rows[i].weight : 0;
        if (isnan(rows[i].score))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "the score of row %lld for class number %lld is not a number; there is no "
                              "order without it",
                              (long long)i + 1, (long long)class_index + 1);
    }
    return KFE_OK;
}

static int64_t fill_points(const scored *rows, int64_t count, kfe_i_curve_point *points)
{
    int64_t found = 0;
    kfe_i_curve_point sofar = {0};

    for (int64_t i = 0; i < count; i++) {
        sofar.threshold = rows[i].score;
        sofar.true_positives += rows[i].is_positive ? rows[i].weight : 0;
        sofar.false_positives += rows[i].is_positive ? 0 : rows[i].weight;
        if (i + 1 == count || rows[i + 1].score < rows[i].score)
            points[found++] = sofar;
    }
    return found;
}

kfe_status kfe_i_curve(kfe_context *ctx, const kfe_i_outcome *outcome, int64_t class_index,
                       kfe_i_curve_point **out, int64_t *count, double *positives)
{
    kfe_status status = KFE_OK;
    scored *rows = NULL;

    *out = NULL;
    *count = 0;
    *positives = 0;
    KFE_ALLOC(ctx, rows, outcome->rows);
    KFE_TRY(collect(ctx, outcome, class_index, rows, positives));
    KFE_ALLOC(ctx, *out, outcome->rows);
    qsort(rows, (size_t)outcome->rows, sizeof *rows, compare_falling);
    *count = fill_points(rows, outcome->rows, *out);
cleanup:
    kfe_i_free(ctx, rows);
    return status;
}
