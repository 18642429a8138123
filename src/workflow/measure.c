/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_measure: the measures of several kernels on one data set. Each kernel is measured alone, on all views or on
 * the one that it names. Used by `kfe measure` and kfe.measure. */
#include "select/measure.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "data/rows/distinct.h"
#include "model/identity.h"
#include "model/landmarks.h"
#include "model/prepare.h"
#include "model/spec.h"
#include "result/result.h"

/* "KERNEL" or "VIEW=KERNEL": no kernel has '=' before its first ':'. */
static kfe_status parse_kernel(kfe_context *ctx, const char *text, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;
    size_t length = strcspn(text, ":=");
    int has_view = text[length] == '=';

    KFE_TRY(kfe_i_kernel_parse(ctx, has_view ? text + length + 1 : text, out));
    if (has_view)
        KFE_CHECK_ALLOC_BY(ctx, out->view_name, kfe_i_strndup(ctx, text, length));
cleanup:
    if (status != KFE_OK)
        kfe_i_kernel_free(out);
    return status;
}

static kfe_status name_kernel(kfe_context *ctx, const kfe_i_kernel *kernel, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    if (kernel->view_name)
        kfe_i_text_printf(&text, "%s=", kernel->view_name);
    kfe_i_kernel_format(kernel, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status open_gram(kfe_context *ctx, const kfe_data *data, const kfe_i_fit_settings *settings,
                            const kfe_i_kernel_list *kernels, const kfe_i_table *views, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram_storage storage = (kfe_i_gram_storage)settings->gram;
    kfe_i_landmark_plan plan = {.count = settings->landmarks,
                                .rule = (kfe_i_landmark_rule)settings->landmark_by};
    kfe_i_row_key *keys = NULL;

    if (plan.count > 0)
        KFE_TRY(kfe_i_data_row_keys(ctx, data, &keys));
    plan.keys = keys;
    KFE_TRY(kfe_i_gram_open_plan(ctx, kernels, views, &plan, storage, out));
cleanup:
    kfe_i_free(ctx, keys);
    return status;
}

/* The moments of one kernel on the scaled views, and its name with parameters such as gamma as numbers. */
static kfe_status measure_kernel(kfe_context *ctx, const kfe_data *data, const kfe_i_fit_settings *settings,
                                 const char *kernel, kfe_i_measured *moments, char **name)
{
    kfe_status status = KFE_OK;
    const kfe_i_scaling how = {.kind = settings->scale, .distance = settings->distance};
    kfe_i_kernel_list list;
    kfe_i_kernel parsed = {0};
    kfe_i_table *views = NULL;
    kfe_i_gram *gram = NULL;

    kfe_i_kernel_list_init(ctx, &list);
    KFE_ALLOC_ZERO(ctx, views, data->view_count);
    KFE_TRY(parse_kernel(ctx, kernel, &parsed));
    KFE_TRY(kfe_i_kernel_list_add(&list, &parsed));
    KFE_TRY(kfe_i_kernel_list_bind(&list, data->view_count, data->views));
    KFE_TRY(kfe_i_scale_views(ctx, how, &list, data, data, NULL, views)); /* as a fit would */
    for (int64_t m = 0; m < list.count; m++)
        KFE_TRY(kfe_i_kernel_prepare(ctx, &list.items[m], &views[list.items[m].view]));
    KFE_TRY(open_gram(ctx, data, settings, &list, views, &gram));
    KFE_TRY(kfe_i_measure_kernel(ctx, gram, &data->target, moments));
    KFE_TRY(name_kernel(ctx, &list.items[0], name));
cleanup:
    kfe_i_gram_free(gram);
    for (int v = 0; views && v < data->view_count; v++)
        kfe_i_table_free(&views[v]);
    kfe_i_free(ctx, views);
    kfe_i_kernel_list_free(&list);
    return status;
}

static kfe_status check_data(kfe_context *ctx, const kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (kfe_data_rows(data) < 2)
        return kfe_i_fail(ctx, KFE_EINPUT, "measuring a kernel needs at least two examples");
    if (data->target.weights)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "a measure of a kernel counts every row once; leave the column of weights out with "
                          "{drop} instead of {weight}");
    for (int v = 0; v < data->view_count && status == KFE_OK; v++)
        status = kfe_i_table_check_finite(ctx, &data->views[v].table, kfe_i_view_shown(&data->views[v]));
    return status;
}

static double value_of(const kfe_i_measure *measure, const kfe_i_measured *moments)
{
    return measure->needs_target && !moments->has_target ? (double)NAN : measure->value(moments);
}

static kfe_status make_result(kfe_context *ctx, int64_t count, char *const *names,
                              const kfe_i_measured *moments, kfe_result **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_measure *measure;
    kfe_result *result = NULL;

    KFE_TRY(kfe_i_result_new(ctx, &result));
    kfe_i_result_table *table = kfe_i_result_add(kfe_i_result_facts(result), NULL, "measures", 0);
    for (int64_t m = 0; m < count; m++) {
        kfe_i_result_row(table);
        kfe_i_put_text(table, NULL, "kernel", names[m]);
        for (int i = 0; (measure = kfe_i_measure_at(i)); i++) {
            kfe_i_put_real(table, NULL, measure->name, value_of(measure, &moments[m]));
            kfe_i_put_about(table, measure->summary);
        }
    }
    status = kfe_i_result_finish(result, out);
cleanup:
    return status;
}

kfe_status kfe_measure(kfe_context *ctx, const kfe_data *data, int kernel_count, const char *const *kernels,
                       const char *options, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_i_fit_settings settings = {0};
    kfe_i_measured *moments = NULL;
    char **names = NULL;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    KFE_TRY(kfe_i_fit_settings_parse(ctx, options, &settings));
    KFE_TRY(check_data(ctx, data));
    KFE_TRY(kfe_i_check_same_call(
        ctx,
        &(kfe_i_call){.name = "measure", .options = options, .text_count = kernel_count, .texts = kernels},
        data));
    KFE_ALLOC_ZERO(ctx, moments, kernel_count);
    KFE_ALLOC_ZERO(ctx, names, kernel_count);
    for (int m = 0; m < kernel_count; m++)
        KFE_TRY(measure_kernel(ctx, data, &settings, kernels[m], &moments[m], &names[m]));
    KFE_TRY(make_result(ctx, kernel_count, names, moments, out));
cleanup:
    for (int m = 0; names && m < kernel_count; m++)
        kfe_i_free(ctx, names[m]);
    kfe_i_free(ctx, names);
    kfe_i_free(ctx, moments);
    kfe_i_threads_leave(saved_threads);
    return status;
}
