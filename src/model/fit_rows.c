/* SPDX-License-Identifier: Apache-2.0 */
/* The public call kfe_fit: the rows and weights that a fit sees, the fit (fit.c), and its calibration. */
#include "core/cluster.h"
#include "core/memory.h"
#include "core/resume.h"
#include "model/calibrate.h"
#include "model/conformal.h"
#include "model/fit.h"
#include "model/identity.h"

/* The columns of a kernel matrix are examples, so that rows cannot be left out alone. */
static kfe_status refuse_dropped_columns(kfe_context *ctx, const kfe_spec *spec, const kfe_data *all,
                                         const kfe_data *kept)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    if (!kept)
        return KFE_OK;
    kfe_i_kernel_list_init(ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, all, &kernels));
    for (int v = 0; v < all->view_count; v++)
        if (kfe_i_kernel_list_given(&kernels, v) > 0)
            KFE_FAIL(
                ctx, KFE_EINPUT,
                "%s: a precomputed kernel matrix has an example of weight zero; remove its row and column",
                kfe_i_view_shown(&all->views[v]));
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* *out = the data under another target: that of `train`, with the weights of the classes. It borrows all but the target. */
static kfe_status weigh_classes(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_data *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_data_copy_target(ctx, train, out));
    KFE_TRY(kfe_i_spec_weigh_classes(ctx, spec, &out->target));
cleanup:
    return status;
}

/* Rows are those of the data: a target that is missing has none. */
static int has_unit_weights(const kfe_data *data)
{
    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        if (data->target.weights[i] != 1)
            return 0;
    return 1;
}

/* The long loops of this fit save their state if the context asks for it. */
static kfe_status begin_checkpoints(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train)
{
    kfe_status status = KFE_OK;
    char *identity = NULL;

    if (!ctx->resume)
        return KFE_OK;
    KFE_TRY(kfe_i_fit_identity(ctx, spec, train, &identity));
    KFE_TRY(kfe_i_resume_begin(ctx, identity));
cleanup:
    kfe_i_free(ctx, identity);
    return status;
}

/* Probabilities that nobody asked for are left out where classes have too few examples for them. */
static kfe_status calibrate(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model *model)
{
    kfe_status status = kfe_i_calibrate(ctx, spec, train, model);

    if (status != KFE_EINPUT || spec->fit.calibration != KFE_CALIBRATION_AUTO)
        return status;
    kfe_i_log(ctx, KFE_LOG_INFO, "%s: no probabilities, since some class has too few different examples",
              spec->method->name);
    return KFE_OK;
}

/* A rule for numbers of features has nothing to choose if there is one number. */
static void warn_of_rule(kfe_context *ctx, const kfe_spec *spec)
{
    if (spec->fit.choose != KFE_CHOOSE_ONE_SE && !kfe_i_spec_chooses_dim(spec))
        kfe_i_log(ctx, KFE_LOG_WARNING, "{choose} is a rule for {dim=auto}, which this fit does not have");
}

kfe_status kfe_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;
    kfe_data *weighty = NULL; /* without the rows of weight zero, if there are any */
    kfe_data weighed = {0};   /* with weights of classes, if there are any */
    kfe_data plain;           /* without weights, if all are one */
    const kfe_data *counted;  /* `train` without weights of classes */
    int calibrates = 0;

    *out = NULL;
    if (kfe_i_processes(ctx) > 1)
        KFE_TRY(
            kfe_i_check_same_call(ctx, &(kfe_i_call){.name = "fit", .spec_count = 1, .specs = &spec}, train));
    warn_of_rule(ctx, spec);
    KFE_TRY(begin_checkpoints(ctx, spec, train));
    if (train->target.weights) {
        KFE_TRY(kfe_i_data_drop_weightless(ctx, train, &weighty));
        KFE_TRY(refuse_dropped_columns(ctx, spec, train, weighty));
        train = weighty ? weighty : train;
        if (has_unit_weights(train)) {
            plain = *train;
            plain.target.weights = NULL; /* borrowed */
            train = &plain;
        }
    }
    counted = train;
    if (kfe_i_spec_weighs_classes(spec)) {
        KFE_TRY(kfe_spec_check(ctx, spec, train, NULL));
        KFE_TRY(weigh_classes(ctx, spec, train, &weighed));
        train = &weighed;
    }
    calibrates = kfe_i_spec_calibration(spec) != KFE_CALIBRATION_NONE;
    if (calibrates && spec->fit.calibration != KFE_CALIBRATION_AUTO)
        KFE_TRY(kfe_i_calibration_check(ctx, spec, train));
    if (spec->fit.conformal != KFE_CONFORMAL_NONE)
        KFE_TRY(kfe_i_conformal_check(ctx, spec, train));
    KFE_TRY(kfe_i_fit_model(ctx, spec, train, &model));
    if (calibrates)
        KFE_TRY(calibrate(ctx, spec, train, model));
    if (spec->fit.conformal != KFE_CONFORMAL_NONE)
        KFE_TRY(kfe_i_conformal_fit(ctx, spec, train, counted->target.weights, model));
    for (int64_t s = 0; model->support_index && train->row_numbers && s < model->rows; s++)
        model->support_index[s] = train->row_numbers[model->support_index[s]];
    *out = model;
    model = NULL;
cleanup:
    if (ctx->resume)
        kfe_i_resume_end(ctx);
    kfe_model_free(model);
    kfe_i_target_free(&weighed.target);
    kfe_data_free(weighty);
    return status;
}
