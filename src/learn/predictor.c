/* SPDX-License-Identifier: Apache-2.0 */
/* Predictors: outputs of features, decisions of outputs, and scores of classes. Learners make them, models use them. */
#include "learn/predictor.h"

#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/place.h"
#include "learn/neighbours.h"
#include "linalg/linalg.h"

kfe_status kfe_i_predictor_begin(kfe_context *ctx, kfe_i_predictor_kind kind, kfe_i_decision decision,
                                 int64_t dim, int64_t outputs, int64_t rows, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;

    assert(dim >= 0 && outputs >= 1 && rows >= 0);
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->kind = kind;
    out->decision = decision;
    out->dim = dim;
    out->outputs = outputs;
    out->rows = rows;
    out->support_vectors = -1;
    if (rows == 0)
        return KFE_OK;
    KFE_ALLOC_ZERO(ctx, out->weights, rows * outputs);
    KFE_ALLOC_ZERO(ctx, out->offset, outputs);
cleanup:
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

void kfe_i_predictor_free(kfe_i_predictor *predictor)
{
    if (predictor->ctx) {
        kfe_i_free(predictor->ctx, predictor->weights);
        kfe_i_free(predictor->ctx, predictor->offset);
        kfe_i_free(predictor->ctx, predictor->answers);
        kfe_i_kernel_free(&predictor->kernel);
        kfe_i_table_free(&predictor->support);
    }
    memset(predictor, 0, sizeof *predictor);
}

void kfe_i_predictor_record(kfe_i_predictor *predictor, const char *name, double value)
{
    assert(predictor->record_count < KFE_PREDICTOR_RECORDS);
    if (predictor->record_count < KFE_PREDICTOR_RECORDS)
        predictor->records[predictor->record_count++] = (kfe_i_predictor_number){name, value};
}

/* ---- outputs ---- */

static kfe_status expand(kfe_context *ctx, const kfe_i_predictor *predictor, const kfe_i_table *features,
                         double *out)
{
    kfe_i_kernel borrowed = predictor->kernel;
    kfe_i_kernel_list kernels = {ctx, &borrowed, 1, 1};

    borrowed.view = 0;
    return kfe_i_expand_anywhere(ctx, &kernels, features, &predictor->support, predictor->weights,
                                 predictor->outputs, out);
}

static void subtract_offset(const kfe_i_predictor *predictor, int64_t rows, double *out)
{
    for (int64_t i = 0; predictor->offset && i < rows; i++)
        for (int64_t j = 0; j < predictor->outputs; j++)
            out[i * predictor->outputs + j] -= predictor->offset[j];
}

kfe_status kfe_i_predictor_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                   const kfe_i_table *features, double *out)
{
    kfe_status status = KFE_OK;

    if (features->cols != predictor->dim)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "the classifier or regressor was fitted on %lld features, but was given %lld",
                          (long long)predictor->dim, (long long)features->cols);
    switch (predictor->kind) {
    case KFE_PREDICTOR_LINEAR:
        status = kfe_i_table_times(ctx, features, predictor->weights, predictor->outputs, out);
        break;
    case KFE_PREDICTOR_EXPANSION:
        status = expand(ctx, predictor, features, out);
        break;
    case KFE_PREDICTOR_NEIGHBOURS:
        return kfe_i_neighbours_outputs(ctx, predictor, features, out);
    case KFE_PREDICTOR_DIRECT:
        for (int64_t i = 0; i < features->rows; i++)
            kfe_i_table_dense_row(features, i, out + i * predictor->outputs);
        return KFE_OK;
    }
    if (status == KFE_OK)
        subtract_offset(predictor, features->rows, out);
    return status;
}

/* ---- decisions ---- */

int64_t kfe_i_decision_outputs(kfe_i_decision decision, int64_t classes)
{
    assert(classes >= 0);
    switch (decision) {
    case KFE_DECIDE_LARGEST:
        return classes;
    case KFE_DECIDE_PAIRS:
        return classes * (classes - 1) / 2;
    case KFE_DECIDE_CHAIN:
        return classes - 1;
    case KFE_DECIDE_VALUE:
        break;
    }
    return 1;
}

/* The output of the pair (a, b), a < b. */
static int64_t pair_output(int64_t classes, int64_t a, int64_t b)
{
    return a * classes - a * (a + 1) / 2 + b - a - 1;
}

/* The votes of class g, and the sum of its margins divided by the number of classes, so that it is finite. */
static int64_t pair_votes(const kfe_i_predictor *predictor, const double *outputs, int64_t g, double *margins)
{
    int64_t votes = 0;

    *margins = 0;
    for (int64_t h = 0; h < predictor->classes; h++) {
        if (h == g)
            continue;
        double value =
            outputs[h < g ? pair_output(predictor->classes, h, g) : pair_output(predictor->classes, g, h)];
        votes += h < g ? !(value > 0) : value > 0;
        *margins += (h < g ? -value : value) / (double)predictor->classes;
    }
    return votes;
}

/* Most votes win. Three classes often beat each other in turn; of equals the one with the largest sum of margins wins, not
 * the one whose name comes first. */
static int64_t most_votes(const kfe_i_predictor *predictor, const double *outputs)
{
    int64_t best = 0;
    int64_t most = -1;
    double widest = 0;

    for (int64_t g = 0; g < predictor->classes; g++) {
        double margins;
        int64_t votes = pair_votes(predictor, outputs, g, &margins);
        if (votes > most || (votes == most && margins > widest)) {
            most = votes;
            widest = margins;
            best = g;
        }
    }
    return best;
}

static int64_t largest(int64_t count, const double *values)
{
    int64_t best = 0;

    for (int64_t g = 1; g < count; g++)
        if (values[g] > values[best])
            best = g;
    return best;
}

static int64_t first_positive(const kfe_i_predictor *predictor, const double *outputs)
{
    int64_t g = 0;

    while (g < predictor->classes - 1 && !(outputs[g] > 0))
        g++;
    return g;
}

int32_t kfe_i_predictor_decide(const kfe_i_predictor *predictor, const double *outputs)
{
    switch (predictor->decision) {
    case KFE_DECIDE_LARGEST:
        return (int32_t)largest(predictor->classes, outputs);
    case KFE_DECIDE_PAIRS:
        return (int32_t)most_votes(predictor, outputs);
    case KFE_DECIDE_CHAIN:
        return (int32_t)first_positive(predictor, outputs);
    case KFE_DECIDE_VALUE:
        break;
    }
    return -1;
}

void kfe_i_predictor_answers(const kfe_i_predictor *predictor, const double *outputs, int64_t rows,
                             double *answers)
{
    if (!predictor->classes)
        memcpy(answers, outputs, (size_t)(rows * predictor->outputs) * sizeof *answers);
    for (int64_t i = 0; predictor->classes && i < rows; i++)
        answers[i] = (double)kfe_i_predictor_decide(predictor, outputs + i * predictor->outputs);
}

/* ---- scores ---- */

static void chain_scores(int64_t classes, const double *outputs, double *scores)
{
    double narrowest = INFINITY;

    for (int64_t g = 0; g < classes - 1; g++) {
        scores[g] = fmin(narrowest, outputs[g]);
        narrowest = fmin(narrowest, -outputs[g]);
    }
    scores[classes - 1] = narrowest;
}

/* Votes decide first, since the second term is below 1/3. It rounds to 1/3 where margins are wide, so that the class which they chose may
 * need one unit more. */
static void pair_scores(const kfe_i_predictor *predictor, const double *outputs, double *scores)
{
    int64_t best = most_votes(predictor, outputs);

    for (int64_t g = 0; g < predictor->classes; g++) {
        double margins;
        double votes = (double)pair_votes(predictor, outputs, g, &margins);
        double unit = 1 / (double)predictor->classes;
        scores[g] = votes + margins / (fabs(margins) + unit) / 3;
    }
    for (int64_t g = 0; g < predictor->classes; g++)
        if (g != best && scores[g] >= scores[best])
            scores[best] = nextafter(scores[g], INFINITY);
}

int kfe_i_predictor_is_one_vs_rest(const kfe_i_predictor *predictor)
{
    return predictor->decision == KFE_DECIDE_LARGEST && predictor->kind != KFE_PREDICTOR_NEIGHBOURS;
}

void kfe_i_predictor_class_scores(const kfe_i_predictor *predictor, const double *outputs, double *scores)
{
    switch (predictor->decision) {
    case KFE_DECIDE_LARGEST:
        memcpy(scores, outputs, (size_t)predictor->classes * sizeof *scores);
        return;
    case KFE_DECIDE_PAIRS:
        pair_scores(predictor, outputs, scores);
        return;
    case KFE_DECIDE_CHAIN:
        chain_scores(predictor->classes, outputs, scores);
        return;
    case KFE_DECIDE_VALUE:
        return;
    }
}
