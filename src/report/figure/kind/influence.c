/* SPDX-License-Identifier: Apache-2.0 */
/* The figure `influence`: the support examples with the largest coefficients. */
#include <math.h>

#include "core/memory.h"
#include "core/sort.h"
#include "report/figure/figure.h"

enum { MOST_SHOWN = 30 };
/* The largest coefficients over the median ones; below, the examples do not differ. */
#define LEAST_RATIO 2

static void fill(const kfe_model *model, kfe_i_sorted *items)
{
    for (int64_t s = 0; s < model->rows; s++) {
        double sum = 0;
        for (int64_t k = 0; k < model->dim; k++)
            sum += model->coefficients[s * model->dim + k] * model->coefficients[s * model->dim + k];
        items[s] = (kfe_i_sorted){sqrt(sum), model->support_index[s]};
    }
}

static kfe_status add_columns(const kfe_i_sorted *items, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    char names[MOST_SHOWN][24];
    const char *words[MOST_SHOWN];
    double norms[MOST_SHOWN];

    for (int64_t i = 0; i < out->rows; i++) {
        kfe_i_snprintf(names[i], sizeof names[i], "%lld", (long long)items[i].index + 1);
        words[i] = names[i];
        norms[i] = items[i].value;
    }
    KFE_TRY(kfe_i_figure_labels(out, "training row", words));
    KFE_TRY(kfe_i_figure_copy(out, "size of its coefficients", norms));
cleanup:
    return status;
}

static kfe_status draw(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = source->model;
    kfe_i_sorted *items = NULL;

    if (!model || !model->support_index || !model->coefficients || model->rows < 1 ||
        kfe_i_model_blocks(model) > 1)
        return KFE_OK;
    int64_t shown = model->rows < MOST_SHOWN ? model->rows : MOST_SHOWN;
    KFE_ALLOC(ctx, items, model->rows);
    fill(model, items);
    kfe_i_sort_falling(items, model->rows);
    if (items[0].value < LEAST_RATIO * items[model->rows / 2].value) /* none stands out */
        goto cleanup;
    out->rows = shown;
    KFE_TRY(add_columns(items, out));
    KFE_TRY(kfe_i_figure_panel(out, NULL, "training row", "size of its coefficients"));
    KFE_TRY(kfe_i_figure_series(out, NULL,
                                (kfe_i_series){.mark = KFE_MARK_BARS, .count = shown, .x = 1, .y = 2}));
    kfe_i_text_printf(&out->caption,
                      "The %lld of %lld support examples with the largest coefficients (Euclidean norm over "
                      "features). Rows are counted from 1 in the training file.",
                      (long long)shown, (long long)model->rows);
cleanup:
    kfe_i_free(ctx, items);
    return status;
}

const kfe_i_figure_kind kfe_i_figure_influence = {
    .name = "influence",
    .title = "Most influential support examples",
    .section = "Why",
    .summary = "the support examples with the largest coefficients",
    .needs = "a kernel model whose support examples are training examples, some with coefficients at least "
             "twice the median",
    .draw = draw,
};
