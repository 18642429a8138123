/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation test of a whole assessment, search included: how often labels that have nothing to do with the rows do
 * as well. Called by kfe_i_assess.
 *
 *   p = (1 + number of permutations at least as good) / (1 + number of permutations)
 *
 * (Ojala & Garriga, "Permutation tests for studying classifier performance", 2010.) If all rows of each group have the
 * same target, whole groups exchange their targets.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "select/assess.h"

static int same_target(const kfe_i_target *target, int64_t i, int64_t j)
{
    if (target->task == KFE_TASK_CLASSES)
        return target->codes[i] == target->codes[j];
    return memcmp(target->values + i * target->cols, target->values + j * target->cols,
                  (size_t)target->cols * sizeof *target->values) == 0;
}

static int counts(const kfe_data *data, int64_t row)
{
    return kfe_i_weight_of(&data->target, row) > 0;
}

/* leader[i]: the first row of the group of row i that counts; its own number without groups, or if a group has several targets. Rows
 * of weight 0 take no part: −1. */
static void find_leaders(const kfe_data *data, int64_t *leader)
{
    int64_t rows = kfe_data_rows(data);
    int uniform = data->groups != NULL;

    for (int64_t i = 0; i < rows; i++) {
        leader[i] = data->groups ? 0 : i;
        while (counts(data, i) &&
               (!counts(data, leader[i]) || (data->groups && data->groups[leader[i]] != data->groups[i])))
            leader[i]++;
        uniform = uniform && (!counts(data, i) || same_target(&data->target, leader[i], i));
    }
    for (int64_t i = 0; i < rows; i++)
        leader[i] = !counts(data, i) ? -1 : uniform ? leader[i] : i;
}

/* source[i]: the row whose target row i gets. */
static kfe_status draw(kfe_context *ctx, const int64_t *leader, int64_t rows, int64_t number, int64_t *source)
{
    kfe_status status = KFE_OK;
    int64_t *units = NULL;
    int64_t *given = NULL;
    int64_t count = 0;
    kfe_i_rng rng;

    KFE_ALLOC(ctx, units, rows);
    KFE_ALLOC(ctx, given, rows);
    for (int64_t i = 0; i < rows; i++)
        if (leader[i] == i)
            units[count++] = i;
    kfe_i_split_rng(ctx, 0x7065726d, number, &rng);
    memcpy(given, units, (size_t)count * sizeof *given);
    kfe_i_rng_shuffle(&rng, given, count);
    for (int64_t i = 0; i < count; i++)
        source[units[i]] = given[i];
    for (int64_t i = 0; i < rows; i++)
        source[i] = leader[i] < 0 ? i : source[leader[i]];
cleanup:
    kfe_i_free(ctx, units);
    kfe_i_free(ctx, given);
    return status;
}

/* A target with arrays of its own; names stay those of `from`. */
static kfe_status begin_target(kfe_context *ctx, const kfe_i_target *from, kfe_i_target *to)
{
    kfe_status status = KFE_OK;

    *to = *from;
    to->codes = NULL;
    to->values = NULL;
    if (from->task == KFE_TASK_CLASSES)
        KFE_ALLOC(ctx, to->codes, from->rows);
    else
        KFE_ALLOC(ctx, to->values, from->rows * from->cols);
cleanup:
    return status;
}

static void permute(const kfe_i_target *from, const int64_t *source, kfe_i_target *to)
{
    for (int64_t i = 0; i < from->rows; i++) {
        if (from->task == KFE_TASK_CLASSES)
            to->codes[i] = from->codes[source[i]];
        else
            memcpy(to->values + i * from->cols, from->values + source[i] * from->cols,
                   (size_t)from->cols * sizeof *to->values);
    }
}

kfe_status kfe_i_permutation_test(kfe_i_assessment *a, const kfe_i_request *request, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    kfe_i_assess_settings settings = *request->settings;
    kfe_data shuffled = *data;
    kfe_i_target copy = {0};
    int64_t *leader = NULL;
    int64_t *source = NULL;
    int64_t as_good = 0;

    KFE_ALLOC(a->ctx, leader, rows);
    KFE_ALLOC(a->ctx, source, rows);
    KFE_ALLOC(a->ctx, a->permuted, settings.permutations);
    KFE_TRY(begin_target(a->ctx, &data->target, &copy));
    find_leaders(data, leader);
    int64_t count = settings.permutations;
    settings.permutations = -1;
    for (int64_t k = 0; k < count; k++) {
        kfe_i_assessment one;
        KFE_TRY(draw(a->ctx, leader, rows, k, source));
        permute(&data->target, source, &copy);
        shuffled.target = copy;
        KFE_TRY(kfe_i_assess(a->ctx, request->spec, request->grids, &shuffled, &settings, &one));
        a->permuted[a->permuted_count++] = kfe_i_assessment_estimate(&one, 0).mean;
        a->fits += one.fits;
        as_good += !kfe_i_is_better(a->metrics[0], kfe_i_assessment_estimate(a, 0).mean,
                                    kfe_i_assessment_estimate(&one, 0).mean);
        kfe_i_assessment_free(&one);
    }
    a->permutation_p = (double)(1 + as_good) / (double)(1 + count);
cleanup:
    kfe_i_free(a->ctx, copy.codes);
    kfe_i_free(a->ctx, copy.values);
    kfe_i_free(a->ctx, leader);
    kfe_i_free(a->ctx, source);
    return status;
}
