/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validation of one spec (kfe_cross_validate) and comparison of several (kfe_compare). */
#include <string.h>

#include "core/memory.h"
#include "core/search.h"
#include "model/identity.h"
#include "select/assess.h"
#include "text/scores.h"

const kfe_param_info *kfe_cv_option(int index)
{
    return kfe_i_assess_param(index);
}

/* The best setting, fitted on all the data. */
static kfe_status fit_best(kfe_context *ctx, const kfe_i_assessment *a, const kfe_data *data, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;

    KFE_TRY(kfe_i_grid_spec(ctx, &a->grid, a->best, &spec));
    KFE_TRY(kfe_fit(ctx, spec, data, out));
cleanup:
    kfe_spec_free(spec);
    return status;
}

kfe_status kfe_cross_validate(kfe_context *ctx, const kfe_spec *spec, const char *const *grids,
                              const kfe_data *data, const char *options, kfe_model **best, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_i_assess_settings settings;
    kfe_i_assessment assessment = {0};
    const kfe_i_grid_texts texts = kfe_i_grid_list(grids, 0);
    kfe_i_search search = {0};
    kfe_data own = {0};
    int64_t fits = 0;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    if (best)
        *best = NULL;
    KFE_TRY(kfe_i_data_forget_classes(ctx, data, &own, &data));
    KFE_TRY(kfe_i_assess_settings_parse(ctx, options, &settings));
    KFE_TRY(kfe_i_assess_count(ctx, spec, texts, data, &settings, &fits));
    kfe_i_search_begin(ctx, fits, &search);
    KFE_TRY(kfe_i_assess(ctx, spec, texts, data, &settings, &assessment));
    if (best)
        KFE_TRY(fit_best(ctx, &assessment, data, best));
    KFE_TRY(kfe_i_assessment_result(ctx, &assessment, out));
cleanup:
    status = kfe_i_search_end(&search, status);
    if (status != KFE_OK) {
        kfe_result_free(*out);
        *out = NULL;
    }
    if (status != KFE_OK && best) {
        kfe_model_free(*best);
        *best = NULL;
    }
    kfe_i_assessment_free(&assessment);
    kfe_i_target_free(&own.target);
    kfe_i_threads_leave(saved_threads);
    return status;
}

/* ---- comparison ---- */

typedef struct compare_settings {
    int bold;
} compare_settings;

static const kfe_i_param compare_rows[] = {
    KFE_CHOICE(compare_settings, bold, "bold", "stars", KFE_BOLD_WORDS, "how the best of a column is marked"),
};
static const kfe_i_param_table compare_params = KFE_PARAM_TABLE(compare_rows, compare_settings);

const kfe_param_info *kfe_compare_option(int index)
{
    int shared = 0;

    while (kfe_i_assess_param(shared))
        shared++;
    return index < shared ? kfe_i_assess_param(index) : kfe_i_param_info(&compare_params, index - shared);
}

typedef struct option_halves {
    compare_settings *own;
    kfe_i_text rest;
} option_halves;

static kfe_status sort_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    option_halves *halves = user;

    if (kfe_i_param_find(&compare_params, key))
        return kfe_i_param_set(ctx, &compare_params, NULL, halves->own, key, value);
    kfe_i_text_printf(&halves->rest, "%s=", key);
    kfe_i_option_escape(&halves->rest, value);
    kfe_i_text_puts(&halves->rest, ",");
    return KFE_OK;
}

static kfe_status parse_options(kfe_context *ctx, const char *options, compare_settings *own,
                                kfe_i_assess_settings *shared)
{
    kfe_status status = KFE_OK;
    option_halves halves = {.own = own};
    char *rest = NULL;

    kfe_i_text_init(&halves.rest, ctx);
    KFE_TRY(kfe_i_params_default(ctx, &compare_params, own));
    KFE_TRY(kfe_i_options_each(ctx, options, sort_option, &halves));
    kfe_i_text_puts(&halves.rest, ""); /* text that was never written to is NULL */
    KFE_TRY(kfe_i_text_take(&halves.rest, &rest));
    KFE_TRY(kfe_i_assess_settings_parse(ctx, rest, shared));
cleanup:
    kfe_i_text_free(&halves.rest);
    kfe_i_free(ctx, rest);
    return status;
}

kfe_status kfe_grids_check(kfe_context *ctx, int count, const kfe_spec *const *specs,
                           const char *const *grids)
{
    kfe_status status = KFE_OK;
    kfe_i_grid grid = {0};
    const kfe_i_grid_texts texts = kfe_i_grid_list(grids, count > 1);
    int *unused = NULL;

    KFE_ALLOC_ZERO(ctx, unused, texts.count);
    for (int i = 0; i < count; i++) {
        KFE_TRY(kfe_i_grid_make(ctx, specs[i], texts, unused, &grid));
        kfe_i_grid_free(&grid);
    }
    for (int i = 0; i < texts.count; i++)
        if (unused[i] == count)
            KFE_FAIL(ctx, KFE_EINVAL, "{grid=%s}: no method, kernel or learner here has this parameter",
                     grids[i]);
cleanup:
    kfe_i_free(ctx, unused);
    return status;
}

/* The specs of one comparison, in the order of the results: those that were assessed, and those that failed. */
typedef struct comparing {
    kfe_context *ctx;
    kfe_i_assessment *assessments;
    kfe_i_failed_spec *failed;
    int64_t done, failed_count;
} comparing;

static void comparing_free(comparing *c)
{
    for (int64_t i = 0; i < c->done; i++)
        kfe_i_assessment_free(&c->assessments[i]);
    for (int64_t i = 0; i < c->failed_count; i++)
        kfe_i_free(c->ctx, c->failed[i].reason);
    kfe_i_free(c->ctx, c->assessments);
    kfe_i_free(c->ctx, c->failed);
}

/* A spec that cannot be fitted does not end the comparison of the others; a mistake in the options does. */
static kfe_status assess_one(comparing *c, const kfe_spec *spec, kfe_i_grid_texts grids, const kfe_data *data,
                             const kfe_i_assess_settings *settings)
{
    kfe_status status = kfe_i_assess(c->ctx, spec, grids, data, settings, &c->assessments[c->done]);
    kfe_i_failed_spec failed = {.spec = spec, .status = status};

    if (status == KFE_OK)
        c->done++;
    if (!kfe_i_is_failed_cell(status) || status == KFE_EINVAL)
        return status;
    KFE_STRDUP(c->ctx, failed.reason, c->ctx->message);
    c->failed[c->failed_count++] = failed;
    status = KFE_OK;
cleanup:
    return status;
}

static void warn_of_failed(const comparing *c)
{
    for (int64_t i = 0; i < c->failed_count; i++)
        kfe_i_log(c->ctx, KFE_LOG_WARNING, "%s is skipped: %s", c->failed[i].spec->method->name,
                  c->failed[i].reason);
}

/* Fits of all specs; a spec that cannot be counted fails when it is assessed. */
static kfe_status count_fits(const comparing *c, int count, const kfe_spec *const *specs,
                             kfe_i_grid_texts grids, const kfe_data *data,
                             const kfe_i_assess_settings *settings, int64_t *out)
{
    kfe_status status = KFE_OK;
    int64_t fits = 0;

    for (int i = 0; i < count && (status == KFE_OK || kfe_i_is_failed_cell(status)); i++) {
        status = kfe_i_assess_count(c->ctx, specs[i], grids, data, settings, &fits);
        *out += fits;
    }
    return kfe_i_is_failed_cell(status) ? KFE_OK : status;
}

kfe_status kfe_compare(kfe_context *ctx, int count, const kfe_spec *const *specs, const char *const *grids,
                       const kfe_data *data, const char *options, kfe_result **out)
{
    kfe_status status = KFE_OK;
    compare_settings own;
    kfe_data counted = {0};
    kfe_i_assess_settings shared;
    comparing c = {.ctx = ctx};
    const kfe_i_grid_texts texts = kfe_i_grid_list(grids, 1);
    kfe_i_search search = {0};
    int64_t fits = 0;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    if (count < 1)
        KFE_FAIL(ctx, KFE_EINVAL, "there is nothing to compare");
    KFE_TRY(kfe_i_data_forget_classes(ctx, data, &counted, &data));
    KFE_ALLOC_ZERO(ctx, c.assessments, count);
    KFE_ALLOC_ZERO(ctx, c.failed, count);
    KFE_TRY(parse_options(ctx, options, &own, &shared));
    KFE_TRY(kfe_grids_check(ctx, count, specs, grids));
    KFE_TRY(kfe_i_check_same_call(ctx,
                                  &(kfe_i_call){.name = "compare",
                                                .spec_count = count,
                                                .specs = specs,
                                                .text_count = texts.count,
                                                .texts = grids},
                                  NULL)); /* each assessment compares the data and the options */
    KFE_TRY(count_fits(&c, count, specs, texts, data, &shared, &fits));
    kfe_i_search_begin(ctx, fits, &search);
    for (int i = 0; i < count; i++)
        KFE_TRY(assess_one(&c, specs[i], texts, data, &shared));
    if (c.done == 0)
        KFE_FAIL(ctx, c.failed[0].status, "%s", c.failed[0].reason);
    warn_of_failed(&c);
    const kfe_i_compared compared = {.count = c.done,
                                     .failed_count = c.failed_count,
                                     .assessments = c.assessments,
                                     .failed = c.failed,
                                     .bold = (kfe_i_bold)own.bold};
    KFE_TRY(kfe_i_comparison_result(ctx, &compared, out));
cleanup:
    status = kfe_i_search_end(&search, status);
    if (status != KFE_OK) {
        kfe_result_free(*out);
        *out = NULL;
    }
    comparing_free(&c);
    kfe_i_target_free(&counted.target);
    kfe_i_threads_leave(saved_threads);
    return status;
}
