/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that prepare the rows of a view, as nodes of an ONNX graph. Each step says which operations it is (data/steps/step.h). */
#include "model/onnx/parts.h"

static int64_t number(void *state, double value)
{
    return kfe_i_onnx_number(state, value);
}

static int64_t row(void *state, const double *values, int64_t count)
{
    return kfe_i_onnx_row(state, values, count);
}

static int64_t matrix(void *state, const double *values, int64_t rows, int64_t cols)
{
    return kfe_i_onnx_matrix(state, values, rows, cols);
}

static int64_t one(void *state, const char *operation, int64_t a)
{
    return kfe_i_onnx_1(state, operation, a);
}

static int64_t two(void *state, const char *operation, int64_t a, int64_t b)
{
    return kfe_i_onnx_2(state, operation, a, b);
}

static int64_t where(void *state, int64_t condition, int64_t a, int64_t b)
{
    return kfe_i_onnx_3(state, "Where", condition, a, b);
}

static int64_t sum(void *state, int64_t a)
{
    return kfe_i_onnx_sum(state, a, 1, 1);
}

static int64_t columns(void *state, int64_t a, const int64_t *index, int64_t count)
{
    return kfe_i_onnx_gather(state, a, kfe_i_onnx_integers(state, index, count), 1);
}

/* A slice of both axes: all rows, and some columns. */
static int64_t range(void *state, int64_t a, int64_t first, int64_t count)
{
    const int64_t begins[] = {0, first};
    const int64_t ends[] = {INT64_MAX, first + count};
    kfe_i_value starts = kfe_i_onnx_integers(state, begins, 2);

    return kfe_i_onnx_3(state, "Slice", a, starts, kfe_i_onnx_integers(state, ends, 2));
}

static int64_t join(void *state, const int64_t *parts, int64_t count)
{
    return kfe_i_onnx_concat(state, parts, count, 1);
}

kfe_status kfe_i_onnx_steps(kfe_i_onnx *onnx, const kfe_i_chain *chain, kfe_i_value *x)
{
    const kfe_i_step_graph graph = {.state = onnx,
                                    .number = number,
                                    .row = row,
                                    .matrix = matrix,
                                    .one = one,
                                    .two = two,
                                    .where = where,
                                    .sum = sum,
                                    .columns = columns,
                                    .range = range,
                                    .join = join};

    for (int s = 0; s < chain->count; s++) {
        const kfe_i_fitted_step *fit = &chain->steps[s];
        if (!fit->step->graph)
            return kfe_i_fail(
                onnx->ctx, KFE_EUNSUPPORTED,
                "step %s of {prepare} is not a fixed sequence of operations, so that the model cannot be "
                "exported to ONNX; transform the data first, and export a model without this step",
                fit->step->name);
        *x = fit->step->graph(fit, &graph, *x);
        if (*x < 0)
            return KFE_ENOMEM;
    }
    return KFE_OK;
}
