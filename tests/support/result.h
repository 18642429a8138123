/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a result, whose text or JSON a test reads. */
#ifndef KFE_TESTS_SUPPORT_RESULT_H
#define KFE_TESTS_SUPPORT_RESULT_H

#include <stdio.h>

#include "kfe.h"

enum { RESULT_MOST_GRIDS = 8 };

/* Writes the result of a call that ended with this status, and frees it. */
static inline kfe_status result_written(kfe_context *ctx, kfe_status status, kfe_result *result,
                                        kfe_style style, char **out)
{
    *out = NULL;
    if (status == KFE_OK && result)
        status = kfe_result_describe(ctx, result, style, out);
    kfe_result_free(result);
    return status;
}

/* As JSON, with the curves. */
static inline kfe_status write_evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                        const char *options, kfe_style style, char **out)
{
    kfe_result *result = NULL;
    char all[4096];

    snprintf(all, sizeof all, "%s%s%s", options ? options : "", options && *options ? "," : "",
             style == KFE_STYLE_JSON ? "curves=yes" : "");
    kfe_status status = kfe_evaluate(ctx, model, data, all, &result);

    return result_written(ctx, status, result, style, out);
}

static inline kfe_status write_measure(kfe_context *ctx, const kfe_data *data, int count,
                                       const char *const *kernels, const char *options, kfe_style style,
                                       char **out)
{
    kfe_result *result = NULL;
    kfe_status status = kfe_measure(ctx, data, count, kernels, options, &result);

    return result_written(ctx, status, result, style, out);
}

static inline kfe_status write_cross_validate(kfe_context *ctx, const kfe_spec *spec, int count,
                                              const char *const *grids, const kfe_data *data,
                                              const char *options, kfe_style style, kfe_model **best,
                                              char **out)
{
    kfe_result *result = NULL;
    const char *list[RESULT_MOST_GRIDS + 1] = {0};

    for (int i = 0; i < count && i < RESULT_MOST_GRIDS; i++)
        list[i] = grids[i];
    kfe_status status = kfe_cross_validate(ctx, spec, list, data, options, best, &result);

    return result_written(ctx, status, result, style, out);
}

static inline kfe_status write_compare(kfe_context *ctx, int spec_count, const kfe_spec *const *specs,
                                       int count, const char *const *grids, const kfe_data *data,
                                       const char *options, kfe_style style, char **out)
{
    kfe_result *result = NULL;
    const char *list[RESULT_MOST_GRIDS + 1] = {0};

    for (int i = 0; i < count && i < RESULT_MOST_GRIDS; i++)
        list[i] = grids[i];
    kfe_status status = kfe_compare(ctx, spec_count, specs, list, data, options, &result);

    return result_written(ctx, status, result, style, out);
}

static inline kfe_status write_tune(kfe_context *ctx, const kfe_data *data, const char *options,
                                    kfe_style style, kfe_model **best, char **out)
{
    kfe_result *result = NULL;
    kfe_status status = kfe_tune(ctx, data, options, best, &result);

    return result_written(ctx, status, result, style, out);
}

#endif
