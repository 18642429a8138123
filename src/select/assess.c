/* SPDX-License-Identifier: Apache-2.0 */
/* Nested cross-validation of one spec: settings are compared on inner folds, the choice is assessed on outer
 * splits. Called by kfe_cross_validate and kfe_compare. */
#include "select/assess.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/rows/distinct.h"
#include "data/target/classes.h"
#include "model/identity.h"
#include "model/prepare.h"
#include "system/system.h"

/* ---- settings ---- */

static const kfe_i_param rows[] = {
    KFE_INT(kfe_i_assess_settings, inner_folds, "inner-folds", "5", 0, KFE_INT_MAX,
            "folds of the training part on which the settings of a grid are compared; 0: compare them on "
            "the test parts, which flatters the best setting; split=held-out compares them on its "
            "validation parts"),
    KFE_INT(kfe_i_assess_settings, tuning_splits, "tuning-splits", "0", 0, KFE_INT_MAX,
            "choose the settings once for all splits, on the first N training parts; 0: each split chooses "
            "for itself"),
    KFE_CHOICE(
        kfe_i_assess_settings, choose, "choose", "min", KFE_CHOOSE_WORDS,
        "how to choose the number of features (dim): that of the best setting (min), or fewer: the "
        "smallest within one standard error of the best (one-se), the smallest whose errors of rows do not "
        "differ from those of the best in a randomisation test (permutation: p above 0.01), or as many as "
        "each lower RMSECV by 5 % (q2). Without a grid over dim, any rule but min is that of dim=auto in "
        "every fit"),
    KFE_CHOICE(
        kfe_i_assess_settings, held_out, "held-out", "auto", KFE_HELD_OUT_WORDS,
        "keep the prediction of every held-out row beside the truth, as the table held_out of the result; "
        "auto: up to 2000 of them"),
    KFE_INT(kfe_i_assess_settings, permutations, "permutations", "0", 0, KFE_INT_MAX,
            "repeat everything this many times with permuted labels, and report how often permuted labels "
            "do as well"),
    KFE_TEXT(kfe_i_assess_settings, metrics, "metrics", "",
             "what to measure, as NAME;NAME;…; the first decides between settings"),
    KFE_TEXT(kfe_i_assess_settings, positive, "positive", "", KFE_POSITIVE_HELP),
};
static const kfe_i_param_table own_params = KFE_PARAM_TABLE(rows, kfe_i_assess_settings);

const kfe_param_info *kfe_i_assess_param(int index)
{
    const kfe_param_info *info = kfe_i_param_info(&kfe_i_protocol_params, index);
    return info ? info : kfe_i_param_info(&own_params, index - kfe_i_protocol_params.count);
}

static kfe_status set_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    kfe_i_assess_settings *settings = user;

    if (kfe_i_param_find(&kfe_i_protocol_params, key))
        return kfe_i_param_set(ctx, &kfe_i_protocol_params, NULL, &settings->protocol, key, value);
    return kfe_i_param_set(ctx, &own_params, NULL, settings, key, value);
}

static kfe_status settings_check(kfe_context *ctx, const kfe_i_assess_settings *settings)
{
    if (settings->inner_folds == 1)
        return kfe_i_fail(ctx, KFE_EINVAL, "{inner-folds} takes 0 (none) or at least 2, not 1");
    if (settings->protocol.kind == KFE_SPLIT_HELD_OUT)
        return KFE_OK;
    if (settings->tuning_splits > 0 && settings->inner_folds == 0)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "{tuning-splits} needs {inner-folds} of at least 2 to compare settings on");
    return KFE_OK;
}

kfe_status kfe_i_assess_settings_parse(kfe_context *ctx, const char *options, kfe_i_assess_settings *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_params_default(ctx, &kfe_i_protocol_params, &out->protocol));
    KFE_TRY(kfe_i_params_default(ctx, &own_params, out));
    KFE_TRY(kfe_i_options_each(ctx, options, set_option, out));
    if (out->protocol.file[0]) /* who names a file of splits means it */
        out->protocol.kind = KFE_SPLIT_FILE;
    KFE_TRY(settings_check(ctx, out));
cleanup:
    return status;
}

/* ---- small things ---- */

static int comes_later(const char *a, const char *b)
{
    double x = 0;
    double y = 0;

    if (kfe_i_parse_number(a, a + strlen(a), &x) && kfe_i_parse_number(b, b + strlen(b), &y))
        return x > y;
    return strcmp(a, b) > 0;
}

kfe_status kfe_i_find_positive(kfe_context *ctx, int64_t classes, char *const *names, const char *name,
                               int64_t *out)
{
    *out = -1;
    if (classes == 2)
        *out = comes_later(names[1], names[0]);
    if (!*name)
        return KFE_OK;
    for (int64_t g = 0; g < classes; g++)
        if (kfe_i_same_class(names[g], name)) {
            *out = g;
            return KFE_OK;
        }
    return kfe_i_fail(ctx, KFE_EINVAL, "{positive}: there is no class '%s'", name);
}

static kfe_status read_metrics(kfe_i_assessment *a, kfe_task task, const char *names)
{
    kfe_status status =
        kfe_i_metric_list(a->ctx, names, task, KFE_MOST_METRICS, a->metrics, &a->metric_count);

    if (status == KFE_OK && a->metric_count == 0)
        a->metrics[a->metric_count++] = kfe_i_metric_default(task);
    return status;
}

/* ---- choosing ---- */

static kfe_status keep_tuning(kfe_i_assessment *a, const kfe_i_splits *splits, const kfe_i_contest *on)
{
    kfe_status status = KFE_OK;
    const kfe_i_cells *cells = on->cells;
    int64_t width = a->grid.count * a->metric_count;
    kfe_i_extent extent;

    KFE_TRY(kfe_i_extent_of(a->ctx, splits, &extent));
    KFE_ALLOC(a->ctx, a->tuning, width);
    a->tuning_splits = cells->splits;
    for (int64_t i = 0; i < width; i++)
        a->tuning[i] = kfe_i_estimate_over(&extent, cells->values + i, cells->variances + i, width);
    if (cells->targets > 0)
        KFE_ALLOC(a->ctx, a->pooled, a->grid.count);
    for (int64_t c = 0; c < a->grid.count && cells->targets > 0; c++) {
        a->pooled[c] = kfe_i_pool(on->held_out, cells, (kfe_i_pick){.setting = c}, &extent, -1);
        for (int64_t m = 0; m < a->metric_count; m++)
            kfe_i_estimate_pool(a->metrics[m], &a->pooled[c], &a->tuning[c * a->metric_count + m]);
    }
cleanup:
    return status;
}

/* The rows that the protocol sets apart for comparing settings, as a split of its own. */
static kfe_status validation_split(kfe_context *ctx, const kfe_i_split *outer, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_splits){.ctx = ctx};
    KFE_TRY(
        kfe_i_splits_add(out, outer->train, outer->train_count, outer->validation, outer->validation_count));
    out->items[0].repeat = outer->repeat;
    out->items[0].fold = outer->fold;
cleanup:
    return status;
}

/* Folds of the training rows of an outer split, which go by the content of these rows: their order changes no choice. */
static kfe_status inner_folds(kfe_context *ctx, const kfe_data *data, const kfe_i_split *outer,
                              const kfe_i_protocol *protocol, uint64_t purpose, kfe_i_splits *out)
{
    kfe_status status = KFE_OK;
    kfe_i_split_rows training = kfe_i_split_some(data, outer->train, outer->train_count);
    kfe_i_row_key *keys = NULL;

    KFE_TRY(kfe_i_data_some_row_keys(ctx, data, outer->train, outer->train_count, &keys));
    training.keys = keys;
    KFE_TRY(kfe_i_splits_make(ctx, protocol, &training, purpose, out));
cleanup:
    kfe_i_free(ctx, keys);
    return status;
}

/* Inner folds of the first `count` outer training parts, in one list, so that they share what they can. */
static kfe_status make_inner(kfe_i_assessment *a, const kfe_i_assess_settings *settings, const kfe_data *data,
                             int64_t count, kfe_i_splits *inner, int64_t **owner_of)
{
    kfe_status status = KFE_OK;
    kfe_i_protocol protocol = settings->protocol;
    kfe_i_splits part = {0};
    int64_t owner_capacity = 0;

    protocol.kind = KFE_SPLIT_FOLDS;
    protocol.folds = settings->inner_folds;
    protocol.repeats = 1;
    inner->ctx = a->ctx;
    for (int64_t o = 0; o < count; o++) {
        const kfe_i_split *outer = &a->splits.items[o];
        KFE_TRY(outer->validation ? validation_split(a->ctx, outer, &part)
                                  : inner_folds(a->ctx, data, outer, &protocol, 1 + (uint64_t)o, &part));
        KFE_GROW(a->ctx, inner->items, inner->capacity, inner->count + part.count);
        KFE_GROW(a->ctx, *owner_of, owner_capacity, inner->count + part.count);
        for (int64_t i = 0; i < part.count; i++) {
            (*owner_of)[inner->count] = o;
            inner->items[inner->count++] = part.items[i];
        }
        part.count = 0; /* moved */
        kfe_i_splits_free(&part);
    }
cleanup:
    kfe_i_splits_free(&part);
    return status;
}

static kfe_status sweep(kfe_i_assessment *a, const kfe_data *data, const kfe_i_splits *splits,
                        const unsigned char *wanted, kfe_i_cells *out)
{
    kfe_i_sweep job = {.data = data,
                       .grid = &a->grid,
                       .splits = splits,
                       .metrics = a->metrics,
                       .metric_count = a->metric_count,
                       .positive = a->positive,
                       .wanted = wanted,
                       .keeps_predictions = (splits == &a->splits && a->data) || a->keeps_losses};
    return kfe_i_sweep_run(a->ctx, &job, out);
}

/* The settings compared on inner folds; a->chosen and a->best are the result. */
static kfe_status choose_inside(kfe_i_assessment *a, const kfe_i_assess_settings *settings,
                                const kfe_data *data)
{
    kfe_status status = KFE_OK;
    int64_t outer = settings->tuning_splits > 0 && settings->tuning_splits < a->splits.count
                        ? settings->tuning_splits
                        : a->splits.count;
    kfe_i_splits inner = {0};
    kfe_i_held_out held_out = {0};
    const kfe_i_contest on = {&a->grid, a->metrics[0], &a->inner, &held_out, &inner, data, settings->choose};
    int64_t *owner_of = NULL;

    KFE_TRY(make_inner(a, settings, data, outer, &inner, &owner_of));
    a->fits += inner.count * a->grid.count;
    kfe_i_log(a->ctx, KFE_LOG_NOTICE, "%lld settings on %lld inner folds: %lld fits",
              (long long)a->grid.count, (long long)inner.count, (long long)(inner.count * a->grid.count));
    KFE_TRY(sweep(a, data, &inner, NULL, &a->inner));
    KFE_TRY(kfe_i_held_out_make(a->ctx, &data->target, &inner, &held_out));
    KFE_TRY(keep_tuning(a, &inner, &on));
    KFE_TRY(kfe_i_choose(a->ctx, &on, owner_of, -1, &a->best));
    for (int64_t o = 0; o < a->splits.count; o++) {
        a->chosen[o] = a->best;
        if (settings->tuning_splits == 0)
            KFE_TRY(kfe_i_choose(a->ctx, &on, owner_of, o, &a->chosen[o]));
    }
cleanup:
    kfe_i_held_out_free(&held_out);
    kfe_i_splits_free(&inner);
    kfe_i_free(a->ctx, owner_of);
    return status;
}

static void keep_values(kfe_i_assessment *a)
{
    size_t size = (size_t)a->metric_count * sizeof *a->values;

    for (int64_t o = 0; o < a->splits.count; o++) {
        int64_t cell = (o * a->grid.count + a->chosen[o]) * a->metric_count;
        memcpy(a->values + o * a->metric_count, a->outer.values + cell, size);
        memcpy(a->variances + o * a->metric_count, a->outer.variances + cell, size);
    }
}

kfe_i_estimate kfe_i_assessment_estimate(const kfe_i_assessment *a, int64_t metric)
{
    kfe_i_estimate estimate =
        kfe_i_estimate_over(&a->extent, a->values + metric, a->variances + metric, a->metric_count);
    kfe_i_pooled pooled = kfe_i_assessment_pooled(a, -1);

    kfe_i_estimate_pool(a->metrics[metric], &pooled, &estimate);
    return estimate;
}

kfe_i_pooled kfe_i_assessment_pooled(const kfe_i_assessment *a, int64_t column)
{
    return kfe_i_pool(&a->held_out, &a->outer, (kfe_i_pick){.chosen = a->chosen}, &a->extent, column);
}

/* The settings on the outer splits, in place of the inner folds. */
static void pool_settings(kfe_i_assessment *a)
{
    for (int64_t c = 0; c < a->grid.count; c++)
        a->pooled[c] = kfe_i_pool(&a->held_out, &a->outer, (kfe_i_pick){.setting = c}, &a->extent, -1);
}

/* Whether all settings of a nested search are fitted on the outer splits too, for RMSECV and Q² on the splits that the user
 * asked for. */
static int fits_all_outside(const kfe_i_assess_settings *settings, kfe_task task, int64_t grid_count)
{
    return task == KFE_TASK_REAL && grid_count > 1 && settings->tuning_splits == 0 &&
           settings->permutations >= 0;
}

/* The chosen setting of each outer split, on that split. */
static kfe_status assess_chosen(kfe_i_assessment *a, const kfe_i_assess_settings *settings,
                                const kfe_data *data)
{
    kfe_status status = KFE_OK;
    unsigned char *wanted = NULL;
    int all = fits_all_outside(settings, data->target.task, a->grid.count);

    KFE_ALLOC_ZERO(a->ctx, wanted, a->splits.count * a->grid.count);
    a->fits += a->splits.count * (all ? a->grid.count : 1);
    for (int64_t o = 0; o < a->splits.count; o++)
        wanted[o * a->grid.count + a->chosen[o]] = 1;
    KFE_TRY(sweep(a, data, &a->splits, all ? NULL : wanted, &a->outer));
    keep_values(a);
    if (all)
        pool_settings(a);
cleanup:
    kfe_i_free(a->ctx, wanted);
    return status;
}

/* A plain grid search: all settings on the outer splits, and what the best of them got there. */
static kfe_status choose_outside(kfe_i_assessment *a, const kfe_i_assess_settings *settings,
                                 const kfe_data *data)
{
    kfe_status status = KFE_OK;
    int64_t cells = a->splits.count * a->grid.count;

    a->fits += cells;
    kfe_i_log(a->ctx, KFE_LOG_NOTICE, "%lld settings on %lld splits: %lld fits", (long long)a->grid.count,
              (long long)a->splits.count, (long long)cells);
    KFE_TRY(sweep(a, data, &a->splits, NULL, &a->outer));
    const kfe_i_contest on = {&a->grid,   a->metrics[0], &a->outer,       &a->held_out,
                              &a->splits, data,          settings->choose};
    KFE_TRY(keep_tuning(a, &a->splits, &on));
    KFE_TRY(kfe_i_choose(a->ctx, &on, NULL, -1, &a->best));
    for (int64_t o = 0; o < a->splits.count; o++)
        a->chosen[o] = a->best;
    keep_values(a);
cleanup:
    return status;
}

/* ---- failed cells ---- */

const char *kfe_i_assessment_reason(const kfe_i_assessment *a, int64_t split)
{
    return kfe_i_cells_reason(&a->outer, split, a->chosen[split]);
}

int64_t kfe_i_assessment_failures(const kfe_i_assessment *a, int64_t setting, const char **reason)
{
    const kfe_i_cells *cells = a->nested ? &a->inner : &a->outer;
    int64_t failed = 0;

    *reason = NULL;
    for (int64_t s = 0; s < cells->splits; s++) {
        const char *why = kfe_i_cells_reason(cells, s, setting);
        failed += why != NULL;
        if (!*reason)
            *reason = why;
    }
    return failed;
}

static void warn_of_failures(const kfe_i_assessment *a)
{
    int64_t failed = a->inner.failed + a->outer.failed;
    const kfe_i_failure *first = a->inner.failed > 0 ? a->inner.failures : a->outer.failures;

    if (failed > 0)
        kfe_i_log(a->ctx, KFE_LOG_WARNING, "%lld of %lld fits failed and are left out; the first: %s",
                  (long long)failed, (long long)a->fits, first->reason);
}

/* ---- all together ---- */

static int keeps_held_out(const kfe_i_assessment *a, const kfe_i_assess_settings *settings)
{
    int64_t count = 0;

    for (int64_t s = 0; s < a->splits.count; s++)
        count += a->splits.items[s].test_count;
    if (settings->permutations < 0)
        return 0;
    return settings->held_out == KFE_HELD_OUT_YES ||
           (settings->held_out == KFE_HELD_OUT_AUTO && count <= KFE_HELD_OUT_ROWS);
}

static kfe_status begin(kfe_i_assessment *a, const kfe_data *data, const kfe_i_assess_settings *settings)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &data->target;
    const kfe_i_split_rows all = kfe_i_split_all(data);

    if (target->task == KFE_TASK_NONE)
        KFE_FAIL(a->ctx, KFE_EINPUT, "predictions can only be measured on data with labels; give {labels}");
    if (target->task == KFE_TASK_CLASSES && target->class_count < 2)
        KFE_FAIL(a->ctx, KFE_EINPUT, "there is nothing to predict: every example is of class '%s'",
                 target->names[0]);
    KFE_TRY(read_metrics(a, target->task, settings->metrics));
    KFE_TRY(
        kfe_i_find_positive(a->ctx, target->class_count, target->names, settings->positive, &a->positive));
    KFE_TRY(kfe_i_splits_make(a->ctx, &settings->protocol, &all, 0, &a->splits));
    a->keeps_losses = settings->choose == KFE_CHOOSE_PERMUTATION;
    a->data = keeps_held_out(a, settings) ? data : NULL;
    KFE_ALLOC_ZERO(a->ctx, a->chosen, a->splits.count);
    KFE_TRY(kfe_i_extent_of(a->ctx, &a->splits, &a->extent));
    KFE_TRY(kfe_i_held_out_make(a->ctx, target, &a->splits, &a->held_out));
    KFE_ALLOC(a->ctx, a->values, a->splits.count * a->metric_count);
    KFE_ALLOC(a->ctx, a->variances, a->splits.count * a->metric_count);
cleanup:
    return status;
}

/* Without a grid over dim, the rule is that of fits that choose it. */
static void pass_rule(const kfe_i_grid *grid, const kfe_i_assess_settings *settings)
{
    int varies = 0;

    for (int64_t i = 0; i < grid->axis_count; i++)
        varies |= strcmp(grid->axes[i].name, "dim") == 0;
    if (!varies && settings->choose != KFE_CHOOSE_MIN && kfe_i_spec_chooses_dim(grid->base))
        grid->base->fit.choose = settings->choose;
}

/* Says which views scale=auto standardises; nothing if the grid varies the scaling. */
static kfe_status log_scaling(const kfe_i_assessment *a, const kfe_spec *spec, const kfe_data *data)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    if (kfe_i_spec_scale(spec) != KFE_SCALE_AUTO)
        return KFE_OK;
    for (int64_t i = 0; i < a->grid.axis_count; i++)
        if (a->grid.axes[i].place == KFE_AXIS_FIT)
            return KFE_OK;
    kfe_i_kernel_list_init(a->ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(a->ctx, spec, data, &kernels));
    KFE_TRY(kfe_i_log_auto_scaling(a->ctx, &kernels, data, NULL));
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

static int is_nested(const kfe_i_assess_settings *settings, int64_t grid_count)
{
    return grid_count > 1 && (settings->inner_folds > 0 || settings->protocol.kind == KFE_SPLIT_HELD_OUT);
}

kfe_status kfe_i_assess_count(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids,
                              const kfe_data *data, const kfe_i_assess_settings *settings, int64_t *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_split_rows all = kfe_i_split_all(data);
    kfe_i_grid grid = {0};
    kfe_i_splits splits = {0};
    kfe_log_fn log = ctx->log;

    *out = 0;
    ctx->log = NULL; /* kfe_i_assess makes the same splits and warns */
    KFE_TRY(kfe_i_grid_make(ctx, spec, grids, NULL, &grid));
    KFE_TRY(kfe_i_splits_make(ctx, &settings->protocol, &all, 0, &splits));
    int64_t outer = splits.count;
    if (is_nested(settings, grid.count)) {
        int held_out = settings->protocol.kind == KFE_SPLIT_HELD_OUT;
        int64_t choosing =
            settings->tuning_splits > 0 && settings->tuning_splits < outer ? settings->tuning_splits : outer;
        *out = outer * (fits_all_outside(settings, data->target.task, grid.count) ? grid.count : 1) +
               choosing * (held_out ? 1 : settings->inner_folds) * grid.count;
    } else {
        *out = outer * grid.count;
    }
    *out *= 1 + settings->permutations;
cleanup:
    ctx->log = log;
    kfe_i_splits_free(&splits);
    kfe_i_grid_free(&grid);
    return status;
}

static kfe_status check_same_call(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids,
                                  const kfe_data *data, const kfe_i_assess_settings *settings)
{
    kfe_status status = KFE_OK;
    kfe_i_text options;

    kfe_i_text_init(&options, ctx);
    kfe_i_params_format(&kfe_i_protocol_params, &settings->protocol, &options);
    kfe_i_text_puts(&options, " ");
    kfe_i_params_format(&own_params, settings, &options);
    KFE_TRY(options.status);
    KFE_TRY(kfe_i_check_same_call(ctx,
                                  &(kfe_i_call){.name = "assess",
                                                .spec_count = 1,
                                                .specs = &spec,
                                                .options = options.bytes,
                                                .text_count = grids.count,
                                                .texts = grids.texts},
                                  data));
cleanup:
    kfe_i_text_free(&options);
    return status;
}

kfe_status kfe_i_assess(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids, const kfe_data *data,
                        const kfe_i_assess_settings *settings, kfe_i_assessment *out)
{
    kfe_status status = KFE_OK;
    double began = kfe_i_clock();

    memset(out, 0, sizeof *out);
    KFE_TRY(check_same_call(ctx, spec, grids, data, settings));
    out->ctx = ctx;
    KFE_TRY(kfe_i_grid_make(ctx, spec, grids, NULL, &out->grid));
    pass_rule(&out->grid, settings);
    KFE_TRY(begin(out, data, settings));
    KFE_TRY(log_scaling(out, spec, data));
    out->nested = is_nested(settings, out->grid.count);
    if (out->grid.count > 1 && !out->nested) {
        KFE_TRY(choose_outside(out, settings, data));
    } else {
        if (out->nested)
            KFE_TRY(choose_inside(out, settings, data));
        KFE_TRY(assess_chosen(out, settings, data));
    }
    warn_of_failures(out);
    if (settings->permutations > 0)
        KFE_TRY(kfe_i_permutation_test(out, &(kfe_i_request){spec, grids, settings}, data));
    out->seconds = kfe_i_clock() - began;
cleanup:
    if (status != KFE_OK)
        kfe_i_assessment_free(out);
    return status;
}

void kfe_i_assessment_free(kfe_i_assessment *a)
{
    if (!a->ctx)
        return;
    kfe_i_grid_free(&a->grid);
    kfe_i_splits_free(&a->splits);
    kfe_i_free(a->ctx, a->chosen);
    kfe_i_free(a->ctx, a->values);
    kfe_i_free(a->ctx, a->variances);
    kfe_i_cells_free(&a->outer);
    kfe_i_cells_free(&a->inner);
    kfe_i_free(a->ctx, a->tuning);
    kfe_i_free(a->ctx, a->pooled);
    kfe_i_held_out_free(&a->held_out);
    kfe_i_free(a->ctx, a->permuted);
    memset(a, 0, sizeof *a);
}
