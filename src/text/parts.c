/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the parts of a localized model (lmkl, sldr) as text and JSON; called by describe.c. */
#include "text/parts.h"

#include "core/memory.h"

/* A part is unused if it has the largest gate nowhere and a mean gate below this. */
#define KFE_UNUSED_MEAN 0.01

typedef struct part_use {
    const char *view;
    char *kernel;
    int64_t cols, dim;
    int mapped, measured, used;
    double mean, share; /* of training examples: mean of η, and where it is the largest */
} part_use;

static void measure(const kfe_model *model, int64_t m, part_use *out)
{
    int64_t count = 0;
    const double *mean = kfe_model_record(model, "gate-mean", &count);
    const double *share;

    out->measured = mean && count == model->local->part_count;
    share = kfe_model_record(model, "gate-share", &count);
    out->measured &= share && count == model->local->part_count;
    out->mean = out->measured ? mean[m] : 0;
    out->share = out->measured ? share[m] : 0;
    out->used = !out->measured || out->share > 0 || out->mean >= KFE_UNUSED_MEAN;
}

static kfe_status look(kfe_context *ctx, const kfe_model *model, int64_t m, part_use *out)
{
    const kfe_i_kernel *kernel = &model->kernels.items[m];
    const kfe_i_local_part *part = &model->local->parts[m];

    *out = (part_use){.view = model->views[kernel->view].name,
                      .cols = part->cols,
                      .dim = part->dim,
                      .mapped = part->mapped};
    measure(model, m, out);
    return kfe_i_kernel_text(ctx, kernel, &out->kernel);
}

/* A view of several parts is needed as long as one of them is used. */
static int view_is_needed(const kfe_model *model, int64_t m)
{
    int needed = 0;

    for (int64_t other = 0; other < model->local->part_count; other++) {
        part_use use = {0};
        measure(model, other, &use);
        if (model->kernels.items[other].view == model->kernels.items[m].view)
            needed |= use.used;
    }
    return needed;
}

static void add_line(const kfe_model *model, int64_t m, const part_use *use, kfe_i_text *text)
{
    kfe_i_text_puts(text, "part        ");
    kfe_i_text_add_shown(text, use->view);
    kfe_i_text_puts(text, " with ");
    kfe_i_text_add_shown(text, use->kernel);
    kfe_i_text_puts(text, ": ");
    if (model->local->parts[m].projection)
        kfe_i_text_printf(text, "%lld of %lld %s", (long long)use->dim, (long long)use->cols,
                          use->mapped ? "kernel values" : "columns");
    else
        kfe_i_text_printf(text, "%lld columns", (long long)use->cols);
    if (use->measured)
        kfe_i_text_printf(text, ", mean gate %.3f, decides %.1f %%", use->mean, 100 * use->share);
    if (!use->used)
        kfe_i_text_puts(text, ", never used");
    kfe_i_text_puts(text, "\n");
}

/* Names each view once, at its first part. */
static int is_first_of_view(const kfe_model *model, int64_t m)
{
    for (int64_t other = 0; other < m; other++)
        if (model->kernels.items[other].view == model->kernels.items[m].view)
            return 0;
    return 1;
}

static void add_unused(kfe_i_text *text, const char *view)
{
    kfe_i_text_puts(text, "unused      ");
    kfe_i_text_add_shown(text, view);
    kfe_i_text_puts(text, " is never used: you can stop collecting it\n");
}

kfe_status kfe_i_parts_as_text(kfe_context *ctx, const kfe_model *model, kfe_i_text *text)
{
    kfe_status status = KFE_OK;
    part_use use = {0};

    for (int64_t m = 0; model->local && m < model->local->part_count; m++) {
        KFE_TRY(look(ctx, model, m, &use));
        add_line(model, m, &use, text);
        kfe_i_free(ctx, use.kernel);
        use.kernel = NULL;
    }
    for (int64_t m = 0; model->local && m < model->local->part_count; m++)
        if (is_first_of_view(model, m) && !view_is_needed(model, m))
            add_unused(text, model->views[model->kernels.items[m].view].name);
cleanup:
    kfe_i_free(ctx, use.kernel);
    return status;
}

static void write_part(kfe_i_json *json, const part_use *use)
{
    kfe_i_json_object(json, NULL);
    kfe_i_json_text(json, "view", use->view);
    kfe_i_json_text(json, "kernel", use->kernel);
    kfe_i_json_integer(json, "columns", use->cols);
    kfe_i_json_integer(json, "dim", use->dim);
    kfe_i_json_boolean(json, "mapped", use->mapped);
    if (use->measured) {
        kfe_i_json_real(json, "mean_gate", use->mean);
        kfe_i_json_real(json, "decides", use->share);
        kfe_i_json_boolean(json, "used", use->used);
    }
    kfe_i_json_end(json);
}

kfe_status kfe_i_parts_as_json(kfe_context *ctx, const kfe_model *model, kfe_i_json *json)
{
    kfe_status status = KFE_OK;
    part_use use = {0};

    if (!model->local)
        return KFE_OK;
    kfe_i_json_array(json, "parts");
    for (int64_t m = 0; m < model->local->part_count; m++) {
        KFE_TRY(look(ctx, model, m, &use));
        write_part(json, &use);
        kfe_i_free(ctx, use.kernel);
        use.kernel = NULL;
    }
    kfe_i_json_end(json);
cleanup:
    kfe_i_free(ctx, use.kernel);
    return status;
}
