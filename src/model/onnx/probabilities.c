/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probabilities of a calibrated classifier as ONNX nodes, for export.c. They are computed in double precision whatever the type of the
 * model, since coupling solves equations.
 *
 * learn/calibration.h has the rules. An isotonic curve through (s₀, v₀), (s₁, v₁), … is
 *
 *     v₀ + Σᵢ (vᵢ₊₁ − vᵢ) · clip((f − sᵢ)/(sᵢ₊₁ − sᵢ), 0, 1).
 *
 * Coupled probabilities minimise pᵀQp with Σp = 1, for which Qp is a multiple of e = (1, …, 1). Hence p is a multiple of (Q + eeᵀ)⁻¹e, where
 * Q + eeᵀ is positive definite; elimination without pivoting, unrolled over the classes, solves it for all examples at once.
 */
#include <string.h>

#include "core/memory.h"
#include "model/onnx/parts.h"

static kfe_i_value column_of(kfe_i_onnx *onnx, kfe_i_value a, int64_t column, int64_t axis)
{
    return kfe_i_onnx_gather(onnx, a, kfe_i_onnx_integers(onnx, &column, 1), axis);
}

static kfe_i_value one_minus(kfe_i_onnx *onnx, kfe_i_value a)
{
    return kfe_i_onnx_2(onnx, "Sub", kfe_i_onnx_number(onnx, 1), a);
}

/* ---- binary problems ---- */

/* examples × problems: what the curves are applied to. */
static kfe_i_value scores_of(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value outputs)
{
    static const double difference[] = {1, -1};

    if (predictor->decision == KFE_DECIDE_LARGEST && predictor->classes == 2)
        return kfe_i_onnx_affine(onnx, outputs, difference, 2, 1, NULL);
    return outputs;
}

/* 1/(1 + exp(a·f + b)) of every problem. */
static kfe_status sigmoids(kfe_i_onnx *onnx, const kfe_i_calibration *calibration, kfe_i_value scores,
                           kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    double *room = NULL;
    int64_t problems = calibration->problems;

    KFE_ALLOC(onnx->ctx, room, 2 * problems);
    for (int64_t k = 0; k < problems; k++) {
        room[k] = -calibration->sigmoids[2 * k];
        room[problems + k] = calibration->sigmoids[2 * k + 1];
    }
    kfe_i_value slope = kfe_i_onnx_2(onnx, "Mul", scores, kfe_i_onnx_row(onnx, room, problems));
    *out = kfe_i_onnx_1(onnx, "Sigmoid",
                        kfe_i_onnx_2(onnx, "Sub", slope, kfe_i_onnx_row(onnx, room + problems, problems)));
cleanup:
    kfe_i_free(onnx->ctx, room);
    return status;
}

/* One curve at the scores of its problem, examples × 1. */
static kfe_status curve(kfe_i_onnx *onnx, const double *scores, const double *values, int64_t count,
                        kfe_i_value column, kfe_i_value *out)
{
    static const double steepest = 1e300;
    kfe_status status = KFE_OK;
    double *room = NULL;
    int64_t parts = count - 1;

    if (parts < 1) {
        *out = kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_2(onnx, "Mul", column, kfe_i_onnx_number(onnx, 0)),
                            kfe_i_onnx_number(onnx, values[0]));
        return KFE_OK;
    }
    KFE_ALLOC(onnx->ctx, room, 2 * parts);
    for (int64_t i = 0; i < parts; i++) {
        double length = scores[i + 1] - scores[i];
        room[i] = length * steepest > 1 ? 1 / length : steepest;
        room[parts + i] = values[i + 1] - values[i];
    }
    kfe_i_value past = kfe_i_onnx_2(onnx, "Sub", column, kfe_i_onnx_row(onnx, scores, parts));
    kfe_i_value share =
        kfe_i_onnx_3(onnx, "Clip", kfe_i_onnx_2(onnx, "Mul", past, kfe_i_onnx_row(onnx, room, parts)),
                     kfe_i_onnx_number(onnx, 0), kfe_i_onnx_number(onnx, 1));
    *out = kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_affine(onnx, share, room + parts, parts, 1, NULL),
                        kfe_i_onnx_number(onnx, values[0]));
cleanup:
    kfe_i_free(onnx->ctx, room);
    return status;
}

static kfe_status curves(kfe_i_onnx *onnx, const kfe_i_calibration *calibration, kfe_i_value scores,
                         kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value *columns = NULL;

    KFE_ALLOC(onnx->ctx, columns, calibration->problems);
    for (int64_t k = 0; k < calibration->problems; k++) {
        int64_t first = calibration->start[k];
        KFE_TRY(curve(onnx, calibration->scores + first, calibration->values + first,
                      calibration->start[k + 1] - first, column_of(onnx, scores, k, 1), &columns[k]));
    }
    *out = kfe_i_onnx_concat(onnx, columns, calibration->problems, 1);
cleanup:
    kfe_i_free(onnx->ctx, columns);
    return status;
}

/* ---- classes ---- */

/* p_g times the chance that no earlier class was taken. */
static kfe_status chained(kfe_i_onnx *onnx, int64_t classes, kfe_i_value shares, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value *columns = NULL;
    kfe_i_value left = 0;

    KFE_ALLOC(onnx->ctx, columns, classes);
    for (int64_t g = 0; g < classes - 1; g++) {
        kfe_i_value share = column_of(onnx, shares, g, 1);
        kfe_i_value other = one_minus(onnx, share);
        columns[g] = g == 0 ? share : kfe_i_onnx_2(onnx, "Mul", left, share);
        left = g == 0 ? other : kfe_i_onnx_2(onnx, "Mul", left, other);
    }
    columns[classes - 1] = left;
    *out = kfe_i_onnx_concat(onnx, columns, classes, 1);
cleanup:
    kfe_i_free(onnx->ctx, columns);
    return status;
}

/* Values over the sum of their row; equal shares where that is zero. */
static kfe_i_value normalised(kfe_i_onnx *onnx, int64_t classes, kfe_i_value p)
{
    kfe_i_value sum = kfe_i_onnx_sum(onnx, p, 1, 1);
    kfe_i_value positive = kfe_i_onnx_2(onnx, "Greater", sum, kfe_i_onnx_number(onnx, 0));

    return kfe_i_onnx_3(onnx, "Where", positive, kfe_i_onnx_2(onnx, "Div", p, sum),
                        kfe_i_onnx_number(onnx, 1 / (double)classes));
}

/* examples × classes × classes: entry (g, h) is r_gh, the chance of g among g and h, or if `turned` r_hg; zero on the diagonal. */
static kfe_status pair_matrix(kfe_i_onnx *onnx, int64_t classes, kfe_i_value shares, int turned,
                              kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    int64_t cells = classes * classes;
    int64_t problems = classes * (classes - 1) / 2;
    const int64_t shape[] = {-1, classes, classes};
    double *room = NULL;
    int64_t problem = 0;

    KFE_ALLOC_ZERO(onnx->ctx, room, (problems + 1) * cells);
    double *offset = room + problems * cells;
    for (int64_t g = 0; g < classes; g++)
        for (int64_t h = g + 1; h < classes; h++, problem++) {
            int64_t straight = turned ? h * classes + g : g * classes + h;
            int64_t reverse = turned ? g * classes + h : h * classes + g;
            room[problem * cells + straight] = 1;
            room[problem * cells + reverse] = -1;
            offset[reverse] = -1; /* 1 − share */
        }
    *out = kfe_i_onnx_2(onnx, "Reshape", kfe_i_onnx_affine(onnx, shares, room, problems, cells, offset),
                        kfe_i_onnx_integers(onnx, shape, 3));
cleanup:
    kfe_i_free(onnx->ctx, room);
    return status;
}

/* Q + eeᵀ with e in a further column: examples × classes × (classes + 1). */
static kfe_status coupling_system(kfe_i_onnx *onnx, int64_t classes, kfe_i_value shares, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value r = 0;
    kfe_i_value turned = 0;
    double *identity = NULL;
    kfe_i_value both[2];

    KFE_TRY(pair_matrix(onnx, classes, shares, 0, &r));
    KFE_TRY(pair_matrix(onnx, classes, shares, 1, &turned));
    KFE_ALLOC_ZERO(onnx->ctx, identity, classes * classes);
    for (int64_t g = 0; g < classes; g++)
        identity[g * classes + g] = 1;
    kfe_i_value one = kfe_i_onnx_number(onnx, 1);
    kfe_i_value squares = kfe_i_onnx_sum(onnx, kfe_i_onnx_2(onnx, "Mul", turned, turned), 2, 1);
    kfe_i_value diagonal =
        kfe_i_onnx_2(onnx, "Mul", squares, kfe_i_onnx_matrix(onnx, identity, classes, classes));
    kfe_i_value q = kfe_i_onnx_2(onnx, "Sub", diagonal, kfe_i_onnx_2(onnx, "Mul", turned, r));
    both[0] = kfe_i_onnx_2(onnx, "Add", q, one);
    both[1] = kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_2(onnx, "Mul", squares, kfe_i_onnx_number(onnx, 0)), one);
    *out = kfe_i_onnx_concat(onnx, both, 2, 2);
cleanup:
    kfe_i_free(onnx->ctx, identity);
    return status;
}

/* One step of Gauss and Jordan: row j is divided by its pivot and taken from all others. */
static kfe_i_value eliminate(kfe_i_onnx *onnx, int64_t classes, int64_t j, double *unit, kfe_i_value system)
{
    memset(unit, 0, (size_t)classes * sizeof *unit);
    unit[j] = 1;
    kfe_i_value row = column_of(onnx, system, j, 1);
    kfe_i_value scaled = kfe_i_onnx_2(onnx, "Div", row, column_of(onnx, row, j, 2));
    kfe_i_value column =
        kfe_i_onnx_2(onnx, "Sub", column_of(onnx, system, j, 2), kfe_i_onnx_matrix(onnx, unit, classes, 1));

    return kfe_i_onnx_2(onnx, "Sub", system, kfe_i_onnx_2(onnx, "Mul", column, scaled));
}

static kfe_status coupled(kfe_i_onnx *onnx, int64_t classes, kfe_i_value shares, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    double *unit = NULL;
    kfe_i_value system = 0;

    KFE_ALLOC(onnx->ctx, unit, classes);
    shares =
        kfe_i_onnx_3(onnx, "Clip", shares, kfe_i_onnx_number(onnx, 1e-7), kfe_i_onnx_number(onnx, 1 - 1e-7));
    KFE_TRY(coupling_system(onnx, classes, shares, &system));
    for (int64_t j = 0; j < classes; j++)
        system = eliminate(onnx, classes, j, unit, system);
    *out = normalised(onnx, classes, kfe_i_onnx_sum(onnx, column_of(onnx, system, classes, 2), 2, 0));
cleanup:
    kfe_i_free(onnx->ctx, unit);
    return status;
}

static kfe_status class_probabilities(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value shares,
                                      kfe_i_value *out)
{
    int64_t classes = predictor->classes;

    if (predictor->decision == KFE_DECIDE_CHAIN)
        return chained(onnx, classes, shares, out);
    if (classes == 2) {
        const kfe_i_value both[] = {shares, one_minus(onnx, shares)};
        *out = kfe_i_onnx_concat(onnx, both, 2, 1);
        return KFE_OK;
    }
    if (predictor->decision == KFE_DECIDE_PAIRS)
        return coupled(onnx, classes, shares, out);
    *out = normalised(onnx, classes, shares);
    return KFE_OK;
}

kfe_status kfe_i_onnx_probabilities(kfe_i_onnx *onnx, const kfe_model *model, kfe_i_value outputs,
                                    kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_calibration *calibration = &model->calibration;
    kfe_i_onnx_type type = onnx->type;
    kfe_i_value shares = 0;

    onnx->type = KFE_ONNX_DOUBLE;
    kfe_i_value scores = scores_of(onnx, &model->predictor, kfe_i_onnx_cast(onnx, outputs));
    KFE_TRY(calibration->kind == KFE_CALIBRATION_PLATT ? sigmoids(onnx, calibration, scores, &shares)
                                                       : curves(onnx, calibration, scores, &shares));
    KFE_TRY(class_probabilities(onnx, &model->predictor, shares, out));
cleanup:
    onnx->type = type;
    if (status == KFE_OK)
        *out = kfe_i_onnx_cast(onnx, *out);
    return status;
}
