/* SPDX-License-Identifier: Apache-2.0 */
/* What the sums of an accumulator must be, whoever wrote its file: loading refuses anything else, and so do saving and finishing, since
 * sums of very large numbers overflow. */
#include <math.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "data/target/classes.h"

/* Rows are counted in doubles. */
#define MOST_ROWS 9007199254740992.0
/* Rounding changes a sum of n weights by less than nε of it; this allows for 10⁹ rows. */
#define WEIGHTS_TOLERANCE 1e-6

static int are_finite(const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return 0;
    return 1;
}

static int are_positive(const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(values[i] > 0) || !isfinite(values[i]))
            return 0;
    return 1;
}

/* Sums of squares, on the diagonal of an n × n matrix. */
static int are_squares(const double *matrix, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(matrix[i * (n + 1)] >= 0))
            return 0;
    return 1;
}

static int is_count(double rows)
{
    return rows >= 0 && rows <= MOST_ROWS && rows == floor(rows);
}

/* A sum of weights: any number that is not negative. */
static int is_mass(const kfe_accumulator *a, double rows)
{
    return a->weighted ? rows >= 0 && isfinite(rows) : is_count(rows);
}

/* Whether two sums over the same rows agree: weights were added up in different orders. */
static int agree(const kfe_accumulator *a, double x, double y)
{
    return a->weighted ? fabs(x - y) <= WEIGHTS_TOLERANCE * fmax(x, y) : x == y;
}

/* The map is one that start.c makes: the columns themselves, or those of landmarks, and nothing besides. */
static const char *fault_of_map(const kfe_accumulator *a)
{
    const kfe_model *map = a->map;
    int kernel = kfe_i_accumulator_has_kernel(a->spec);

    if (map->projector != (kernel ? KFE_PROJECT_KERNEL : KFE_PROJECT_IDENTITY) || map->dim != a->sums.cols ||
        (!kernel && map->view_count != 1) || map->learner || map->predictor.outputs != 0 ||
        map->moments.dim != 0 || map->calibration.kind != KFE_CALIBRATION_NONE)
        return "map";
    if (a->sample.rows > 0 && (!kernel || a->sample_target.task != a->sums.task))
        return "sample";
    if (a->sample.rows > 0 && !are_finite(a->sample.values, a->sample.rows * a->sample.cols))
        return "sample";
    if (a->sample_target.values &&
        !are_finite(a->sample_target.values, a->sample_target.rows * a->sample_target.cols))
        return "sample_values";
    if (a->sample_target.weights && !are_positive(a->sample_target.weights, a->sample_target.rows))
        return "sample_weights";
    return NULL;
}

static const char *fault_of_columns(const kfe_accumulator *a)
{
    const kfe_i_sums *s = &a->sums;

    if (!is_mass(a, s->rows))
        return "rows";
    if (!is_count(a->count) || (a->count > 0) != (s->rows > 0))
        return "row_count";
    if (!are_finite(s->mean, s->cols))
        return "mean";
    if (!are_finite(s->scatter, s->cols * s->cols) || !are_squares(s->scatter, s->cols))
        return "scatter";
    for (int64_t j = 0; j < s->cols && s->rows > 0; j++)
        if (!isfinite(s->least[j]) || !isfinite(s->largest[j]) || s->least[j] > s->largest[j])
            return "least";
    return NULL;
}

static const char *fault_of_classes(const kfe_accumulator *a)
{
    const kfe_i_sums *s = &a->sums;
    double rows = 0;

    if (s->task != KFE_TASK_CLASSES)
        return s->classes == 0 ? NULL : "classes";
    for (int64_t g = 0; g < s->classes; g++) {
        if (!is_mass(a, s->class_rows[g]))
            return "class_rows";
        if (g > 0 && kfe_i_compare_classes(a->class_names[g - 1], a->class_names[g]) >= 0)
            return "classes";
        rows += s->class_rows[g];
    }
    if (!agree(a, rows, s->rows))
        return "class_rows";
    return are_finite(s->class_means, s->classes * s->cols) ? NULL : "class_means";
}

static const char *fault_of_targets(const kfe_accumulator *a)
{
    const kfe_i_sums *s = &a->sums;
    unsigned flags = a->spec->method->flags;

    if ((s->task == KFE_TASK_REAL) != (s->targets > 0))
        return "targets";
    if (s->task == KFE_TASK_NONE && (flags & KFE_HAS_SUPERVISION || a->spec->learner))
        return "task";
    if (s->task == KFE_TASK_REAL && flags & KFE_HAS_SUPERVISION && !(flags & KFE_HAS_REGRESSION))
        return "task";
    if (!are_finite(s->target_mean, s->targets))
        return "target_mean";
    if (!are_finite(s->target_scatter, s->targets * s->targets) ||
        !are_squares(s->target_scatter, s->targets))
        return "target_scatter";
    return are_finite(s->cross, s->cols * s->targets) ? NULL : "cross";
}

const char *kfe_i_accumulator_fault(const kfe_accumulator *a)
{
    const char *fault = NULL;

    if (!a->map)
        return NULL;
    fault = fault_of_map(a);
    if (!fault)
        fault = fault_of_columns(a);
    if (!fault)
        fault = fault_of_classes(a);
    return fault ? fault : fault_of_targets(a);
}

kfe_status kfe_i_accumulator_check_sums(kfe_context *ctx, const kfe_accumulator *a, const char *what)
{
    const char *fault = kfe_i_accumulator_fault(a);

    return fault ? kfe_i_fail(
                       ctx, KFE_EINPUT,
                       "%s: the sums of the rows are not finite (%s); the data or the targets are too large: "
                       "change their units",
                       what, fault)
                 : KFE_OK;
}
