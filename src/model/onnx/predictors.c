/* SPDX-License-Identifier: Apache-2.0 */
/* Classifiers and regressors as ONNX nodes: decision values of features, and classes of decision values. */
#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "model/onnx/parts.h"

kfe_i_value kfe_i_onnx_affine(kfe_i_onnx *onnx, kfe_i_value a, const double *values, int64_t rows,
                              int64_t cols, const double *offset)
{
    kfe_i_value product = kfe_i_onnx_2(onnx, "MatMul", a, kfe_i_onnx_matrix(onnx, values, rows, cols));

    return offset ? kfe_i_onnx_2(onnx, "Sub", product, kfe_i_onnx_row(onnx, offset, cols)) : product;
}

/* ---- votes of neighbours ---- */

/* 1, or 1/distance relative to the nearest; rows as near as the nearest have weight 1. */
static kfe_i_value vote_weights(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value distances)
{
    const int64_t first = 0;
    kfe_i_value one = kfe_i_onnx_number(onnx, 1);
    kfe_i_value nearest = kfe_i_onnx_gather(onnx, distances, kfe_i_onnx_integers(onnx, &first, 1), 1);
    kfe_i_value all = kfe_i_onnx_2(onnx, "Equal", distances, predictor->by_distance ? nearest : distances);
    kfe_i_value ratio = kfe_i_onnx_1(onnx, "Sqrt", kfe_i_onnx_2(onnx, "Div", nearest, distances));

    return kfe_i_onnx_3(onnx, "Where", all, one, ratio);
}

/* The answers of the support: values as they are, classes as a 1 among zeros. */
static kfe_status answers_of(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    int64_t rows = predictor->support.rows;
    double *members = NULL;

    if (predictor->classes == 0) {
        *out = kfe_i_onnx_matrix(onnx, predictor->answers, rows, predictor->outputs);
        return KFE_OK;
    }
    KFE_ALLOC_ZERO(onnx->ctx, members, rows * predictor->outputs);
    for (int64_t i = 0; i < rows; i++)
        members[i * predictor->outputs + (int64_t)predictor->answers[i]] = 1;
    *out = kfe_i_onnx_matrix(onnx, members, rows, predictor->outputs);
cleanup:
    kfe_i_free(onnx->ctx, members);
    return status;
}

/* Of classes with equal shares of the votes the nearest neighbour decides: its class gets one rounding unit more, as in learn/neighbours.c.
 * `members` (examples × k × classes) says of which class each neighbour is. */
static kfe_status settle_equal_votes(kfe_i_onnx *onnx, int64_t k, kfe_i_value members, kfe_i_value *shares)
{
    kfe_status status = KFE_OK;
    double *falling = NULL;
    double unit = onnx->type == KFE_ONNX_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;

    KFE_ALLOC(onnx->ctx, falling, k);
    for (int64_t r = 0; r < k; r++)
        falling[r] = 1 / (double)(r + 1);
    kfe_i_value leads =
        kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Equal", *shares, kfe_i_onnx_row_reach(onnx, *shares)));
    kfe_i_value voted = kfe_i_onnx_2(onnx, "Mul", members, kfe_i_onnx_unsqueeze(onnx, leads, 1));
    kfe_i_value place =
        kfe_i_onnx_2(onnx, "Mul", kfe_i_onnx_sum(onnx, voted, 2, 0), kfe_i_onnx_row(onnx, falling, k));
    kfe_i_value first =
        kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Equal", place, kfe_i_onnx_row_reach(onnx, place)));
    kfe_i_value chosen =
        kfe_i_onnx_sum(onnx, kfe_i_onnx_2(onnx, "Mul", members, kfe_i_onnx_unsqueeze(onnx, first, 2)), 1, 0);
    kfe_i_value factor =
        kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_2(onnx, "Mul", chosen, kfe_i_onnx_number(onnx, unit)),
                     kfe_i_onnx_number(onnx, 1));
    *shares = kfe_i_onnx_2(onnx, "Mul", *shares, factor);
cleanup:
    kfe_i_free(onnx->ctx, falling);
    return status;
}

static kfe_status neighbours(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value features,
                             kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value distances;
    kfe_i_value nearest;
    kfe_i_value index;
    kfe_i_value answers;

    KFE_TRY(kfe_i_onnx_distances(onnx, features, &predictor->support, &distances));
    KFE_TRY(answers_of(onnx, predictor, &answers));
    kfe_i_onnx_smallest(onnx, distances, predictor->neighbours, &nearest, &index);
    kfe_i_value weights = vote_weights(onnx, predictor, nearest);
    kfe_i_value members = kfe_i_onnx_gather(onnx, answers, index, 0);
    kfe_i_value votes = kfe_i_onnx_2(onnx, "Mul", members, kfe_i_onnx_unsqueeze(onnx, weights, 2));
    kfe_i_value total =
        kfe_i_onnx_2(onnx, "Add", kfe_i_onnx_sum(onnx, weights, 1, 1),
                     kfe_i_onnx_guard(onnx, nearest, 1)); /* rows beyond any distance are alike */
    *out = kfe_i_onnx_2(onnx, "Div", kfe_i_onnx_sum(onnx, votes, 1, 0), total);
    if (predictor->classes > 0)
        KFE_TRY(settle_equal_votes(onnx, predictor->neighbours, members, out));
cleanup:
    return status;
}

/* ---- decision values ---- */

static kfe_status expansion(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value features,
                            kfe_i_value *out)
{
    kfe_status status = KFE_OK;
    kfe_i_value kernel;

    KFE_TRY(kfe_i_onnx_check_kernel(onnx->ctx, &predictor->kernel));
    KFE_TRY(kfe_i_onnx_kernel(onnx, &predictor->kernel, features, &predictor->support, &kernel));
    *out = kfe_i_onnx_affine(onnx, kernel, predictor->weights, predictor->rows, predictor->outputs,
                             predictor->offset);
cleanup:
    return status;
}

kfe_status kfe_i_onnx_predictor(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value features,
                                kfe_i_value *out)
{
    switch (predictor->kind) {
    case KFE_PREDICTOR_LINEAR:
        *out = kfe_i_onnx_affine(onnx, features, predictor->weights, predictor->rows, predictor->outputs,
                                 predictor->offset);
        return KFE_OK;
    case KFE_PREDICTOR_EXPANSION:
        return expansion(onnx, predictor, features, out);
    case KFE_PREDICTOR_NEIGHBOURS:
        return neighbours(onnx, predictor, features, out);
    case KFE_PREDICTOR_DIRECT:
        *out = features;
    }
    return KFE_OK;
}

/* ---- classes ---- */

/* Whether outputs are above zero, as ones and zeros. */
static kfe_i_value positive(kfe_i_onnx *onnx, kfe_i_value outputs)
{
    return kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Greater", outputs, kfe_i_onnx_number(onnx, 0)));
}

/* Most votes win, and of equals the largest sum of margins. An output o above zero is a vote for the first class of its pair, else for the
 * second. With p the outputs above zero as ones and zeros, the votes are p(F − S) + 1ᵀS and the sums o(F − S), where F and S say which
 * class is first and second; divided by the number of classes, the sums are finite. */
static kfe_i_value pair_scores(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value outputs,
                               double *room)
{
    int64_t classes = predictor->classes;
    double *difference = room;
    double *second = room + predictor->outputs * classes;
    int64_t pair = 0;

    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, pair++) {
            difference[pair * classes + a] = 1;
            difference[pair * classes + b] = -1;
            second[b] -= 1;
        }
    kfe_i_value votes =
        kfe_i_onnx_affine(onnx, positive(onnx, outputs), difference, predictor->outputs, classes, second);
    for (int64_t i = 0; i < predictor->outputs * classes; i++)
        difference[i] /= (double)classes;
    kfe_i_value margins = kfe_i_onnx_affine(onnx, outputs, difference, predictor->outputs, classes, NULL);
    kfe_i_value leads = kfe_i_onnx_2(onnx, "Equal", votes, kfe_i_onnx_row_reach(onnx, votes));
    return kfe_i_onnx_3(onnx, "Where", leads, margins, kfe_i_onnx_number(onnx, -(double)INFINITY));
}

static kfe_i_value most_votes(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value outputs)
{
    kfe_status status = KFE_OK;
    kfe_i_value scores = outputs;
    double *room = NULL;

    KFE_ALLOC_ZERO(onnx->ctx, room, (predictor->outputs + 1) * predictor->classes);
    scores = pair_scores(onnx, predictor, outputs, room);
cleanup:
    kfe_i_free(onnx->ctx, room);
    if (status != KFE_OK)
        onnx->bytes.status = status;
    return kfe_i_onnx_argmax(onnx, scores);
}

/* The first output above zero; if there is none, the one that is always there, behind the last. */
static kfe_i_value first_positive(kfe_i_onnx *onnx, kfe_i_value outputs)
{
    const int64_t first = 0;
    kfe_i_value above = positive(onnx, outputs);
    kfe_i_value any = kfe_i_onnx_gather(onnx, above, kfe_i_onnx_integers(onnx, &first, 1), 1);
    kfe_i_value last = kfe_i_onnx_cast(onnx, kfe_i_onnx_2(onnx, "Equal", any, any));
    const kfe_i_value both[] = {above, last};

    return kfe_i_onnx_argmax(onnx, kfe_i_onnx_concat(onnx, both, 2, 1));
}

kfe_i_value kfe_i_onnx_decide(kfe_i_onnx *onnx, const kfe_i_predictor *predictor, kfe_i_value outputs)
{
    switch (predictor->decision) {
    case KFE_DECIDE_PAIRS:
        return most_votes(onnx, predictor, outputs);
    case KFE_DECIDE_CHAIN:
        return first_positive(onnx, outputs);
    case KFE_DECIDE_LARGEST:
    case KFE_DECIDE_VALUE:
        break;
    }
    return kfe_i_onnx_argmax(onnx, outputs);
}
