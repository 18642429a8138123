/* SPDX-License-Identifier: Apache-2.0 */
/* Centred targets, for most supervised methods. */
#include "method/shared/targets.h"

#include <math.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "method/shared/range.h"

static int64_t target_columns(const kfe_i_target *target)
{
    if (target->task == KFE_TASK_REAL)
        return target->cols;
    if (target->task != KFE_TASK_CLASSES || target->class_count < 2)
        return 0;
    return target->class_count == 2 ? 1 : target->class_count;
}

static double largest_value(const kfe_i_target *target)
{
    double largest = 0;

    for (int64_t i = 0; target->task == KFE_TASK_REAL && i < target->rows * target->cols; i++)
        largest = fmax(largest, fabs(target->values[i]));
    return largest;
}

/* Values of real targets over *unit, or indicators of classes. */
static void fill_targets(const kfe_i_target *target, int64_t columns, double largest, double *values,
                         double *unit)
{
    if (target->task == KFE_TASK_REAL) {
        *unit = kfe_i_unit_of(largest);
        for (int64_t i = 0; i < target->rows * columns; i++)
            values[i] = target->values[i] / *unit;
        return;
    }
    for (int64_t i = 0; i < target->rows; i++)
        for (int64_t j = 0; j < columns; j++)
            values[i * columns + j] = columns == 1 ? 2 * target->codes[i] - 1 : target->codes[i] == j;
}

/* Subtracts the mean; a column of one value becomes exactly zero. Returns whether the column varies. */
static int centre_column(const kfe_i_target *target, double mass, int64_t columns, double *column)
{
    double base = column[0];
    double mean = 0;
    int varies = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        column[i * columns] -= base;
        varies |= column[i * columns] != 0;
        mean += kfe_i_weight_of(target, i) * column[i * columns] / mass;
    }
    for (int64_t i = 0; i < target->rows; i++)
        column[i * columns] -= mean;
    return varies;
}

/* Multiplies every row by the root of its weight. */
static void weigh_rows(const kfe_i_target *target, int64_t columns, double *values)
{
    for (int64_t i = 0; target->weights && i < target->rows; i++)
        for (int64_t j = 0; j < columns; j++)
            values[i * columns + j] *= sqrt(target->weights[i]);
}

static kfe_status no_variation(kfe_context *ctx)
{
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "the target is the same for every example: there is nothing to explain; check which column "
        "is the label");
}

kfe_status kfe_i_centred_targets(kfe_context *ctx, const kfe_i_target *target, double **values,
                                 int64_t *columns, double *unit)
{
    kfe_status status = KFE_OK;
    int varies = 0;

    *unit = 1;
    *columns = target_columns(target);
    KFE_ALLOC(ctx, *values, target->rows * *columns);
    if (*columns == 0)
        return KFE_OK;
    fill_targets(target, *columns, largest_value(target), *values, unit);
    double mass = kfe_i_target_mass(target, target->rows);
    for (int64_t j = 0; j < *columns; j++)
        varies |= centre_column(target, mass, *columns, *values + j);
    weigh_rows(target, *columns, *values);
    if (!varies)
        KFE_TRY(no_variation(ctx));
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(ctx, *values);
        *values = NULL;
    }
    return status;
}

/* ---- rows divided over processes ---- */

/* base[columns]: the first row of the first process that has one. */
static kfe_status first_row(kfe_context *ctx, const double *values, int64_t rows, int64_t columns,
                            double *base)
{
    kfe_status status = KFE_OK;
    int processes = kfe_i_processes(ctx);
    double *firsts = NULL; /* of every process: whether it has rows, and the first one */
    double *own = NULL;

    KFE_ALLOC_ZERO(ctx, firsts, processes * (columns + 1));
    own = firsts + kfe_i_process(ctx) * (columns + 1);
    own[0] = rows > 0;
    for (int64_t j = 0; rows > 0 && j < columns; j++)
        own[j + 1] = values[j];
    KFE_TRY(kfe_i_cluster_gather_rows(ctx, firsts, processes, columns + 1));
    for (int r = processes - 1; r >= 0; r--)
        for (int64_t j = 0; firsts[r * (columns + 1)] > 0 && j < columns; j++)
            base[j] = firsts[r * (columns + 1) + j + 1];
cleanup:
    kfe_i_free(ctx, firsts);
    return status;
}

/* As centre_column does it for all rows. */
static kfe_status centre_divided(kfe_context *ctx, const kfe_i_target *target, double mass, int64_t columns,
                                 double *values)
{
    kfe_status status = KFE_OK;
    double *base = NULL;
    double *means = NULL; /* and in the end how many entries differ from the base */
    int64_t rows = target->rows;

    KFE_ALLOC_ZERO(ctx, base, columns);
    KFE_ALLOC_ZERO(ctx, means, columns + 1);
    KFE_TRY(first_row(ctx, values, rows, columns, base));
    for (int64_t i = 0; i < rows * columns; i++) {
        values[i] -= base[i % columns];
        means[i % columns] += kfe_i_weight_of(target, i / columns) * values[i] / mass;
        means[columns] += values[i] != 0;
    }
    KFE_TRY(kfe_i_cluster_sum(ctx, means, columns + 1));
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] -= means[i % columns];
    if (!(means[columns] > 0))
        status = no_variation(ctx);
cleanup:
    kfe_i_free(ctx, base);
    kfe_i_free(ctx, means);
    return status;
}

kfe_status kfe_i_divided_targets(kfe_context *ctx, const kfe_i_target *target, double mass, double **values,
                                 int64_t *columns, double *unit)
{
    kfe_status status = KFE_OK;
    double least = -largest_value(target);

    *unit = 1;
    *columns = target_columns(target);
    KFE_ALLOC_ZERO(ctx, *values, (target->rows > 0 ? target->rows : 1) * *columns);
    if (*columns == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_cluster_least(ctx, &least));
    fill_targets(target, *columns, -least, *values, unit);
    KFE_TRY(centre_divided(ctx, target, mass, *columns, *values));
    weigh_rows(target, *columns, *values);
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(ctx, *values);
        *values = NULL;
    }
    return status;
}
