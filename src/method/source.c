/* SPDX-License-Identifier: Apache-2.0 */
/* What a source gives to a method that asks; used by every method. */
#include "method/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/form/landmarks.h"

kfe_status kfe_i_ask_plain_gram(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_operator *op = source->op;

    (void)ctx;
    assert(op); /* `uses` of the method said that this source would do */
    if (!op->plain && op->open)
        KFE_TRY(op->open(op->state, &op->plain));
    *out = op->plain ? op->plain : op->gram;
cleanup:
    return status;
}

kfe_status kfe_i_ask_roots(kfe_context *ctx, const kfe_i_fit_source *source, const double **out)
{
    kfe_status status = KFE_OK;
    kfe_i_operator *op = source->op;
    const double *weights = source->target->weights;

    *out = NULL;
    if (!op || !op->open || !weights)
        return KFE_OK;
    if (!op->roots) {
        int64_t rows = source->views[0].rows; /* not those of the target, which may be none */
        KFE_ALLOC(ctx, op->roots, rows);
        for (int64_t i = 0; i < rows; i++)
            op->roots[i] = sqrt(weights[i]);
    }
    *out = op->roots;
cleanup:
    return status;
}

kfe_status kfe_i_ask_gram(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_operator *op = source->op;
    const kfe_i_gram *plain = NULL;
    const double *roots = NULL;

    assert(op);
    if (!op->gram) {
        KFE_TRY(kfe_i_ask_plain_gram(ctx, source, &plain));
        KFE_TRY(kfe_i_ask_roots(ctx, source, &roots));
        if (roots)
            KFE_TRY(kfe_i_gram_weighted(ctx, plain, roots, &op->weighted));
        op->gram = roots ? op->weighted : plain;
    }
    *out = op->gram;
cleanup:
    return status;
}

kfe_status kfe_i_ask_factor(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram **gram,
                            const kfe_i_table **out, const kfe_i_table **transposed)
{
    kfe_status status = kfe_i_ask_gram(ctx, source, gram);
    const kfe_i_table *turned = NULL;

    *out = status == KFE_OK ? kfe_i_gram_factor(*gram, &turned) : NULL;
    if (transposed)
        *transposed = turned;
    return status;
}

void kfe_i_operator_close(kfe_context *ctx, kfe_i_operator *op)
{
    kfe_i_gram_free(op->weighted);
    kfe_i_free(ctx, op->roots);
    memset(op, 0, sizeof *op);
}

kfe_status kfe_i_ask_kernel(kfe_context *ctx, const kfe_i_fit_source *source, int64_t index, kfe_i_gram **out)
{
    assert(index >= 0 && index < source->kernels->count);
    kfe_i_kernel_list alone = {
        .ctx = ctx, .items = &source->kernels->items[index], .count = 1, .capacity = 1};

    return kfe_i_gram_open_plan(ctx, &alone, source->views, &source->landmarks, source->storage, out);
}

kfe_status kfe_i_ask_marks(const kfe_i_fit_source *source, const double **out)
{
    assert(source->marks); /* sums for a kernel have landmarks */
    return source->marks(source->marks_state, out);
}

int kfe_i_find_view(const kfe_i_fit_source *source, const char *text)
{
    char *end = NULL;
    long number = 0;

    for (int v = 0; source->view_names && v < source->view_count; v++)
        if (source->view_names[v] && strcmp(source->view_names[v], text) == 0)
            return v;
    number = strtol(text, &end, 10);
    return *text == 0 || *end != 0 || number < 1 || number > source->view_count ? -1 : (int)(number - 1);
}
