/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel values as ONNX nodes. Dot products and squared distances are matrix products; sums over coordinates need a tensor of
 * examples × support × columns. Squared distances are nᵢ + nⱼ − 2⟨x, y⟩ of points from which the mean of the support was
 * subtracted, so that single precision keeps its digits.
 */
#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "kernel/formula/formulas.h"
#include "model/onnx/parts.h"

/* ---- which kernels ---- */

static const char *reason_against(const kfe_i_kernel *kernel)
{
    switch (kernel->def->base) {
    case KFE_BASE_STRING:
        return "it compares strings";
    case KFE_BASE_GIVEN:
        return "its values are given, not computed from columns";
    case KFE_BASE_USER:
        return "it is a function of the user's";
    case KFE_BASE_DOT:
    case KFE_BASE_DISTANCE:
    case KFE_BASE_COORDINATE:
        break;
    }
    return NULL;
}

kfe_status kfe_i_onnx_check_kernel(kfe_context *ctx, const kfe_i_kernel *kernel)
{
    const char *reason = reason_against(kernel);

    if (!reason)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EINPUT, "a model with the kernel '%s' cannot be exported to ONNX: %s",
                      kernel->user_name ? kernel->user_name : kernel->def->name, reason);
}

/* ---- the support ---- */

/* The mean of the rows of a dense matrix, subtracted from each. */
static void subtract_mean(double *values, int64_t rows, int64_t cols, double *mean)
{
    for (int64_t j = 0; j < cols; j++) {
        mean[j] = 0;
        for (int64_t i = 0; i < rows; i++)
            mean[j] += (values[i * cols + j] - mean[j]) / (double)(i + 1);
        for (int64_t i = 0; i < rows; i++)
            values[i * cols + j] -= mean[j];
    }
}

static void squared_norms(const double *values, int64_t rows, int64_t cols, double *norms)
{
    for (int64_t i = 0; i < rows; i++) {
        norms[i] = 0;
        for (int64_t j = 0; j < cols; j++)
            norms[i] += values[i * cols + j] * values[i * cols + j];
    }
}

/* Room for a support as dense rows, its transpose, its mean and its squared norms. */
typedef struct support_copy {
    kfe_i_arena memory;
    double *rows, *columns, *mean, *norms;
} support_copy;

static kfe_status copy_support(const kfe_i_table *support, int centred, support_copy *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = support->rows;
    int64_t cols = support->cols;

    KFE_TAKE(&out->memory, out->rows, rows * cols);
    KFE_TAKE(&out->memory, out->columns, rows * cols);
    KFE_TAKE_ZERO(&out->memory, out->mean, cols);
    KFE_TAKE(&out->memory, out->norms, rows);
    for (int64_t i = 0; i < rows; i++)
        kfe_i_table_dense_row(support, i, out->rows + i * cols);
    if (centred)
        subtract_mean(out->rows, rows, cols, out->mean);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out->columns[j * rows + i] = out->rows[i * cols + j];
    squared_norms(out->rows, rows, cols, out->norms);
cleanup:
    return status;
}

/* ---- base values ---- */

static kfe_status refuse_range(const kfe_i_onnx *onnx, const char *problem)
{
    if (onnx->type == KFE_ONNX_DOUBLE)
        return kfe_i_fail(onnx->ctx, KFE_EINPUT, "%s in double precision; fit it with {scale=standard}",
                          problem);
    return kfe_i_fail(onnx->ctx, KFE_EINPUT, "%s in single precision; export it with {precision=double}",
                      problem);
}

static double largest_number(const kfe_i_onnx *onnx)
{
    return onnx->type == KFE_ONNX_DOUBLE ? DBL_MAX : (double)FLT_MAX;
}

static kfe_i_value row_norms(kfe_i_onnx *onnx, kfe_i_value x)
{
    return kfe_i_onnx_sum(onnx, kfe_i_onnx_2(onnx, "Mul", x, x), 1, 1);
}

/* Rounding leaves a little where two points are equal: what is below its bound becomes zero, which matters to kernels that
 * take a square root. */
static kfe_i_value without_rounding(kfe_i_onnx *onnx, kfe_i_value distances, kfe_i_value norms)
{
    double share = onnx->type == KFE_ONNX_DOUBLE ? 64 * DBL_EPSILON : 16 * (double)FLT_EPSILON;
    kfe_i_value bound = kfe_i_onnx_2(onnx, "Mul", norms, kfe_i_onnx_number(onnx, share));
    kfe_i_value tiny = kfe_i_onnx_2(onnx, "Less", distances, bound);

    return kfe_i_onnx_3(onnx, "Where", tiny, kfe_i_onnx_number(onnx, 0), distances);
}

kfe_status kfe_i_onnx_distances(kfe_i_onnx *onnx, kfe_i_value x, const kfe_i_table *support, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    support_copy copy = {.memory.ctx = onnx->ctx};

    KFE_TRY(copy_support(support, 1, &copy));
    for (int64_t i = 0; i < support->rows; i++)
        if (!(copy.norms[i] < 1e-6 * largest_number(onnx)))
            KFE_TRY(refuse_range(onnx, "the model's examples are too large for distances"));
    kfe_i_value centred = kfe_i_onnx_2(onnx, "Sub", x, kfe_i_onnx_row(onnx, copy.mean, support->cols));
    kfe_i_value columns = kfe_i_onnx_matrix(onnx, copy.columns, support->cols, support->rows);
    kfe_i_value dots = kfe_i_onnx_2(onnx, "MatMul", centred, columns);
    kfe_i_value norms =
        kfe_i_onnx_2(onnx, "Add", row_norms(onnx, centred), kfe_i_onnx_row(onnx, copy.norms, support->rows));
    kfe_i_value twice = kfe_i_onnx_2(onnx, "Mul", dots, kfe_i_onnx_number(onnx, 2));
    kfe_i_value distances = without_rounding(onnx, kfe_i_onnx_2(onnx, "Sub", norms, twice), norms);
    kfe_i_value far = kfe_i_onnx_2(onnx, "Greater", norms, kfe_i_onnx_number(onnx, largest_number(onnx)));
    *out =
        kfe_i_onnx_3(onnx, "Where", far, norms, distances); /* where the norms overflow, products may too */
cleanup:
    kfe_i_arena_free(&copy.memory);
    return status;
}

static kfe_i_value city_block(kfe_i_onnx *onnx, kfe_i_value x, kfe_i_value y)
{
    return kfe_i_onnx_1(onnx, "Abs", kfe_i_onnx_2(onnx, "Sub", x, y));
}

static kfe_i_value chi_square(kfe_i_onnx *onnx, kfe_i_value x, kfe_i_value y)
{
    kfe_i_value zero = kfe_i_onnx_number(onnx, 0);
    kfe_i_value difference = kfe_i_onnx_2(onnx, "Sub", x, y);
    kfe_i_value total = kfe_i_onnx_2(onnx, "Add", x, y);
    kfe_i_value square = kfe_i_onnx_2(onnx, "Mul", difference, difference);
    kfe_i_value term = kfe_i_onnx_2(onnx, "Div", square, total);

    return kfe_i_onnx_3(onnx, "Where", kfe_i_onnx_2(onnx, "Greater", total, zero), term, zero);
}

/* Σ term(x_j, y_j) over a tensor of examples × support × columns. */
static kfe_i_value coordinate_sums(kfe_i_onnx *onnx, int32_t term, kfe_i_value x, kfe_i_value support)
{
    kfe_i_value a = kfe_i_onnx_unsqueeze(onnx, x, 1);
    kfe_i_value b = kfe_i_onnx_unsqueeze(onnx, support, 0);
    kfe_i_value terms = term == KFE_KERNEL_laplacian ? city_block(onnx, a, b)
                        : term == KFE_KERNEL_chi2    ? chi_square(onnx, a, b)
                                                     : kfe_i_onnx_2(onnx, "Min", a, b);

    return kfe_i_onnx_sum(onnx, terms, 2, 0);
}

/* ---- maps ---- */

/* a (examples × count) times a number. The number is written as a row: ONNX Runtime makes a scalar next to a matrix product an
 * attribute of it, in single precision. */
static kfe_status times(kfe_i_onnx *onnx, kfe_i_value a, double factor, int64_t count, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    double *row = NULL;

    KFE_ALLOC(onnx->ctx, row, count);
    for (int64_t j = 0; j < count; j++)
        row[j] = factor;
    *out = kfe_i_onnx_2(onnx, "Mul", a, kfe_i_onnx_row(onnx, row, count));
cleanup:
    kfe_i_free(onnx->ctx, row);
    return status;
}

static kfe_status times_plus(kfe_i_onnx *onnx, kfe_i_value a, const double *factor_and_constant,
                             int64_t count, kfe_i_value *out)
{
    kfe_status status = times(onnx, a, factor_and_constant[0], count, out);

    if (status == KFE_OK)
        *out = kfe_i_onnx_2(onnx, "Add", *out, kfe_i_onnx_number(onnx, factor_and_constant[1]));
    return status;
}

static kfe_i_value exp_of(kfe_i_onnx *onnx, kfe_i_value a, double factor)
{
    return kfe_i_onnx_1(onnx, "Exp", kfe_i_onnx_2(onnx, "Mul", a, kfe_i_onnx_number(onnx, factor)));
}

/* Rows of x are divided by their largest entry, and those of the support by their length, so that no square overflows or vanishes. */
static kfe_i_value cosine(kfe_i_onnx *onnx, kfe_i_value x, const kfe_i_table *support, support_copy *copy)
{
    kfe_i_value zero = kfe_i_onnx_number(onnx, 0);
    kfe_i_value reach = kfe_i_onnx_row_reach(onnx, x);
    kfe_i_value is_zero = kfe_i_onnx_2(onnx, "Equal", reach, zero);
    kfe_i_value divisor = kfe_i_onnx_3(onnx, "Where", is_zero, kfe_i_onnx_number(onnx, 1), reach);

    for (int64_t j = 0; j < support->cols; j++)
        for (int64_t i = 0; i < support->rows; i++)
            copy->columns[j * support->rows + i] /= copy->norms[i] > 0 ? sqrt(copy->norms[i]) : 1;
    x = kfe_i_onnx_2(onnx, "Div", x, divisor);
    kfe_i_value columns = kfe_i_onnx_matrix(onnx, copy->columns, support->cols, support->rows);
    kfe_i_value dots = kfe_i_onnx_2(onnx, "MatMul", x, columns);
    kfe_i_value length = kfe_i_onnx_1(onnx, "Sqrt", row_norms(onnx, x));

    return kfe_i_onnx_3(onnx, "Where", is_zero, zero, kfe_i_onnx_2(onnx, "Div", dots, length));
}

/* √distance / sigma */
static kfe_i_value scaled_distance(kfe_i_onnx *onnx, kfe_i_value squared, double sigma)
{
    return kfe_i_onnx_2(onnx, "Div", kfe_i_onnx_1(onnx, "Sqrt", squared), kfe_i_onnx_number(onnx, sigma));
}

static kfe_i_value exponential(kfe_i_onnx *onnx, const double *p, kfe_i_value squared)
{
    kfe_i_value t = scaled_distance(onnx, squared, p[0]);

    return exp_of(onnx, p[1] == 1 ? t : kfe_i_onnx_2(onnx, "Pow", t, kfe_i_onnx_number(onnx, p[1])), -1);
}

/* (1 + t) exp(−t), or (1 + t + t²/3) exp(−t) */
static kfe_i_value matern(kfe_i_onnx *onnx, const double *p, kfe_i_value squared)
{
    /* beyond 1000 the exponential is zero, and an infinite t would make zero times infinity */
    kfe_i_value t = kfe_i_onnx_2(onnx, "Min", scaled_distance(onnx, squared, p[0] / sqrt(2 * p[1])),
                                 kfe_i_onnx_number(onnx, 1000));
    kfe_i_value sum = kfe_i_onnx_2(onnx, "Add", t, kfe_i_onnx_number(onnx, 1));

    if (p[1] > 2)
        sum = kfe_i_onnx_2(
            onnx, "Add", sum,
            kfe_i_onnx_2(onnx, "Div", kfe_i_onnx_2(onnx, "Mul", t, t), kfe_i_onnx_number(onnx, 3)));
    return kfe_i_onnx_2(onnx, "Mul", sum, exp_of(onnx, t, -1));
}

/* Kernel values from base values (examples × count). */
static kfe_status map(kfe_i_onnx *onnx, const kfe_i_formula *formula, kfe_i_value base, int64_t count,
                      kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    const double *p = formula->params;

    switch (formula->map) {
    case KFE_KERNEL_NONE:
    case KFE_KERNEL_intersection:
        *out = base;
        return KFE_OK;
    case KFE_KERNEL_rbf:
    case KFE_KERNEL_laplacian:
    case KFE_KERNEL_chi2:
        *out = exp_of(onnx, base, -p[0]);
        return KFE_OK;
    case KFE_KERNEL_exp:
        *out = exponential(onnx, p, base);
        return KFE_OK;
    case KFE_KERNEL_matern:
        *out = matern(onnx, p, base);
        return KFE_OK;
    case KFE_KERNEL_poly:
        KFE_TRY(times_plus(onnx, base, &p[1], count, out));
        *out = kfe_i_onnx_2(onnx, "Pow", *out, kfe_i_onnx_number(onnx, p[0]));
        break;
    case KFE_KERNEL_sigmoid:
        KFE_TRY(times_plus(onnx, base, &p[0], count, out));
        /* an infinite dot product may have the wrong sign: it becomes NaN */
        *out = kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_1(onnx, "Tanh", *out),
                            kfe_i_onnx_2(onnx, "Sub", base, base));
        break;
    default:
        KFE_FAIL(onnx->ctx, KFE_EINPUT, "the kernel has no formula in standard operations");
    }
cleanup:
    return status;
}

static kfe_status values_of(kfe_i_onnx *onnx, const kfe_i_formula *formula, kfe_i_value x,
                            const kfe_i_table *support, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    support_copy copy = {.memory.ctx = onnx->ctx};
    kfe_i_value base;

    if (formula->base == KFE_FORMULA_DISTANCE) {
        KFE_TRY(kfe_i_onnx_distances(onnx, x, support, &base));
        return map(onnx, formula, base, support->rows, out);
    }
    KFE_TRY(copy_support(support, 0, &copy));
    if (formula->map == KFE_KERNEL_cosine) {
        *out = cosine(onnx, x, support, &copy);
        goto cleanup;
    }
    if (formula->base == KFE_FORMULA_COORDINATE) {
        kfe_i_value rows = kfe_i_onnx_matrix(onnx, copy.rows, support->rows, support->cols);
        base = coordinate_sums(onnx, formula->term, x, rows);
    } else {
        kfe_i_value columns = kfe_i_onnx_matrix(onnx, copy.columns, support->cols, support->rows);
        base = kfe_i_onnx_2(onnx, "MatMul", x, columns);
    }
    KFE_TRY(map(onnx, formula, base, support->rows, out));
cleanup:
    kfe_i_arena_free(&copy.memory);
    return status;
}

/* Squared distances that overflow count as infinite, which only a kernel that is zero there forgives. */
static kfe_status check_width(kfe_i_onnx *onnx, const kfe_i_kernel *kernel, const kfe_i_formula *formula)
{
    double value = largest_number(onnx) / 4;
    kfe_i_tile tile = {.values = &value, .rows = 1, .cols = 1, .stride = 1};

    if (formula->base != KFE_FORMULA_DISTANCE || formula->map == KFE_KERNEL_NONE)
        return KFE_OK;
    kfe_i_kernel_map(kernel, &tile);
    if (value < 1 / largest_number(onnx))
        return KFE_OK;
    return refuse_range(onnx, "the model's kernel is too wide for distances");
}

kfe_status kfe_i_onnx_kernel(kfe_i_onnx *onnx, const kfe_i_kernel *kernel, kfe_i_value x,
                             const kfe_i_table *support, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_formula formula = kfe_i_kernel_formula(kernel);

    KFE_TRY(check_width(onnx, kernel, &formula));
    KFE_TRY(values_of(onnx, &formula, x, support, out));
    if (kernel->common.weight != 1)
        KFE_TRY(times(onnx, *out, kernel->common.weight, support->rows, out));
cleanup:
    return status;
}
