/* SPDX-License-Identifier: Apache-2.0 */
/* Specs: method, kernels, learner and options with their settings (kfe_spec_*). */
#include "model/spec.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "data/target/class_weights.h"
#include "kernel/family.h"
#include "method/user_rule.h"

static const kfe_i_param fit_rows[] = {
    KFE_TEXT(
        kfe_i_fit_settings, prepare, "prepare", KFE_CHAIN_NONE,
        "steps that prepare each row before the scaling, one after the other, such as "
        "snv,sg:window=11,order=2,derivative=1; kept in the model. VIEW=STEPS;VIEW=STEPS for several views. "
        "scale=auto then leaves the columns as the steps make them"),
    KFE_CHOICE_OR(
        kfe_i_fit_settings, scale, "scale", "auto", KFE_SCALE_SETTING_WORDS, KFE_SCALE_NAMED,
        "scaling of the columns, learned on the training data; sparse data is not centred; auto: standard "
        "if the ranges of dense columns differ more than tenfold and the kernel depends on distances or "
        "products, else none; yes (True, TRUE): standard, no: none"),
    KFE_CHOICE(
        kfe_i_fit_settings, gram, "gram", "auto", KFE_GRAM_STORAGE_WORDS,
        "how the kernel matrix is kept: in double (f64) or single precision (f32), not at all but computed "
        "again at every pass (tiled), or as memory allows (auto)"),
    KFE_INT_OR(
        kfe_i_fit_settings, landmarks, "landmarks", "none", 1, KFE_INT_MAX, "none", "none=0",
        "approximate the kernel matrix from this many examples, the landmarks, which become the model's "
        "support; time and memory then grow with the number of examples instead of its square"),
    KFE_CHOICE(
        kfe_i_fit_settings, landmark_by, "landmark-by", "rpcholesky", KFE_LANDMARK_RULE_WORDS,
        "how landmarks are chosen: by randomly pivoted Cholesky, uniformly at random, greedily among random "
        "candidates (sma), or as the examples nearest to the centres of clusters (kmeans)"),
    KFE_TEXT(
        kfe_i_fit_settings, distance, "distance", "auto",
        "a learned distance that the kernel uses: an rfm model or a linear model (.kfe), whose scaling is "
        "used too, or a table that holds a symmetric matrix, or one row or column of weights. For methods "
        "that learn a distance (rfm), its form: a full matrix (full), a weight per column (diagonal), or "
        "whichever predicts held-out examples better (auto)",
        KFE_ALIAS("metric")),
    KFE_CHOICE(
        kfe_i_fit_settings, calibration, "calibration", "auto", KFE_CALIBRATION_WORDS "|auto",
        "learn probabilities of classes from the decision values of left-out examples, in five further "
        "fits: by sigmoids (platt) or by rising curves (isotonic); auto: by one sigmoid for all classes if "
        "the method gives probabilities, as plsda does, and there is no learner; otherwise none"),
    KFE_CHOICE(
        kfe_i_fit_settings, conformal, "conformal", "none", KFE_CONFORMAL_WORDS,
        "let the model predict intervals, or sets of classes, by further fits that leave examples out: a "
        "quarter of the examples (split: one fit), each tenth in turn (cross: ten fits), or each example "
        "in turn (jackknife)"),
    KFE_CHOICE_OR(
        kfe_i_fit_settings, target_scale, "target-scale", "none", "none|standard", KFE_SCALE_NAMED,
        "how the method sees several real targets: as they are, or each divided by its standard deviation; "
        "predictions are in the units of the data either way"),
    KFE_TEXT(kfe_i_fit_settings, class_weight, "class-weight", KFE_CLASS_WEIGHTS_NONE,
             "weights of the classes, which multiply the weights of their training examples: none, "
             "balanced (n/(classes·members), so that all classes weigh the same), or "
             "NAME=WEIGHT,NAME=WEIGHT, with weight 1 for the other classes"),
    KFE_CHOICE(
        kfe_i_fit_settings, choose, "choose", "one-se", KFE_CHOOSE_WORDS,
        "how dim=auto chooses the number of features by five folds: the best one (min), or fewer: the "
        "smallest within one standard error of the best (one-se), the smallest whose errors of rows do not "
        "differ from those of the best in a randomisation test (permutation: p above 0.01), or as many as "
        "each lower RMSECV by 5 % (q2)"),
};
const kfe_i_param_table kfe_i_fit_params = KFE_PARAM_TABLE(fit_rows, kfe_i_fit_settings);

const kfe_param_info *kfe_fit_option(int index)
{
    return kfe_i_param_info(&kfe_i_fit_params, index);
}

kfe_status kfe_i_fit_settings_parse(kfe_context *ctx, const char *options, kfe_i_fit_settings *out)
{
    kfe_status status = kfe_i_params_default(ctx, &kfe_i_fit_params, out);
    return status == KFE_OK ? kfe_i_params_parse(ctx, &kfe_i_fit_params, NULL, out, options) : status;
}

static kfe_status set_learner_param(kfe_context *ctx, kfe_spec *spec, const char *name, const char *value)
{
    char owner[64];

    snprintf(owner, sizeof owner, "learner %s", spec->learner->name);
    return kfe_i_param_set(ctx, &spec->learner->params, owner, spec->learner_settings, name, value);
}

kfe_status kfe_spec_set(kfe_context *ctx, kfe_spec *spec, const char *name, const char *value)
{
    char owner[64];

    if (kfe_i_param_find(&kfe_i_fit_params, name))
        return kfe_i_param_set(ctx, &kfe_i_fit_params, NULL, &spec->fit, name, value);
    if (spec->learner && kfe_i_param_find(&spec->learner->params, name))
        return set_learner_param(ctx, spec, name, value);
    snprintf(owner, sizeof owner, "method %s", spec->method->name);
    return kfe_i_param_set(ctx, &spec->method->params, owner, spec->settings, name, value);
}

static kfe_status set_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    return kfe_spec_set(ctx, user, key, value);
}

/* Settings as the table's defaults have them; one byte more, so that an empty struct has memory too. */
static kfe_status new_settings(kfe_context *ctx, const kfe_i_param_table *table, void **out)
{
    *out = kfe_i_alloc_zero(ctx, 1, table->size + 1);
    return *out ? kfe_i_params_default(ctx, table, *out) : kfe_i_lack(ctx);
}

static kfe_status new_spec(kfe_context *ctx, const kfe_i_method *method, kfe_spec **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;

    KFE_ALLOC_ZERO(ctx, spec, 1);
    spec->ctx = ctx;
    spec->method = method;
    kfe_i_kernel_list_init(ctx, &spec->kernels);
    KFE_TRY(new_settings(ctx, &method->params, &spec->settings));
    KFE_TRY(kfe_i_params_default(ctx, &kfe_i_fit_params, &spec->fit));
    *out = spec;
    spec = NULL;
cleanup:
    kfe_spec_free(spec);
    return status;
}

kfe_status kfe_spec_parse(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                          kfe_spec **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_method *found = NULL;
    kfe_spec *spec = NULL;

    *out = NULL;
    KFE_TRY(kfe_i_method_find(ctx, method, &found));
    KFE_TRY(new_spec(ctx, found, &spec));
    KFE_TRY(kfe_i_options_each(ctx, params, set_option, spec));
    if (kernel)
        KFE_TRY(kfe_spec_add_kernel(ctx, spec, kernel));
    *out = spec;
    spec = NULL;
cleanup:
    kfe_spec_free(spec);
    return status;
}

/* ---- rules of the user's ---- */

/* The method under its own name, which lives in the settings. */
static kfe_status own_method(kfe_spec *spec)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC(spec->ctx, spec->own_method, 1);
    *spec->own_method = kfe_i_method_user_rule;
    spec->own_method->name = ((const kfe_i_user_rule_settings *)spec->settings)->name;
    spec->method = spec->own_method;
cleanup:
    return status;
}

static kfe_status check_rule_name(kfe_context *ctx, const char *name)
{
    const kfe_i_method *method;

    if (name[0] == '\0' || strlen(name) >= KFE_RULE_NAME_SIZE || !kfe_i_is_utf8(name))
        return kfe_i_fail(ctx, KFE_EINVAL, "the name of a rule is text of 1 to %d bytes",
                          KFE_RULE_NAME_SIZE - 1);
    for (int i = 0; (method = kfe_i_method_at(i)); i++)
        if (strcmp(method->name, name) == 0)
            return kfe_i_fail(ctx, KFE_EINVAL, "there is a method '%s' already; give the rule another name",
                              name);
    return KFE_OK;
}

kfe_status kfe_spec_new_rule(kfe_context *ctx, const char *name, kfe_rule_fn rule, void *user,
                             const char *params, const char *kernel, kfe_spec **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;

    *out = NULL;
    KFE_TRY(check_rule_name(ctx, name));
    if (!rule)
        KFE_FAIL(ctx, KFE_EINVAL, "rule %s: there is no function", name);
    KFE_TRY(new_spec(ctx, &kfe_i_method_user_rule, &spec));
    kfe_i_user_rule_settings *settings = spec->settings;
    memcpy(settings->name, name, strlen(name) + 1);
    settings->rule = rule;
    settings->user = user;
    KFE_TRY(own_method(spec));
    KFE_TRY(kfe_i_options_each(ctx, params, set_option, spec));
    if (kernel)
        KFE_TRY(kfe_spec_add_kernel(ctx, spec, kernel));
    *out = spec;
    spec = NULL;
cleanup:
    kfe_spec_free(spec);
    return status;
}

static kfe_status set_learner_option(kfe_context *ctx, void *user, const char *key, const char *value)
{
    return set_learner_param(ctx, user, key, value);
}

kfe_status kfe_spec_set_learner(kfe_context *ctx, kfe_spec *spec, const char *learner, const char *params)
{
    kfe_status status = KFE_OK;

    kfe_i_free(spec->ctx, spec->learner_settings);
    spec->learner_settings = NULL;
    spec->learner = NULL;
    if (!learner)
        return KFE_OK;
    KFE_TRY(kfe_i_learner_find(ctx, learner, &spec->learner));
    KFE_TRY(new_settings(ctx, &spec->learner->params, &spec->learner_settings));
    KFE_TRY(kfe_i_options_each(ctx, params, set_learner_option, spec));
cleanup:
    if (status != KFE_OK)
        spec->learner = NULL;
    return status;
}

kfe_status kfe_spec_add_kernel(kfe_context *ctx, kfe_spec *spec, const char *kernel)
{
    if (strncmp(kernel, "user:", 5) == 0)
        return kfe_i_fail(ctx, KFE_EINVAL, "user kernels are given by kfe_spec_add_user_kernel");
    return kfe_i_kernel_list_add_family(ctx, kernel, &spec->kernels);
}

kfe_status kfe_spec_set_view_kernel(kfe_context *ctx, kfe_spec *spec, const char *view, const char *kernel)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list *list = &spec->kernels;
    int64_t before = list->count;

    if (!view || !view[0])
        KFE_FAIL(ctx, KFE_EINVAL, "kernel '%s' is for a view without a name; name the view", kernel);
    KFE_TRY(kfe_spec_add_kernel(ctx, spec, kernel));
    for (int64_t m = before; m < list->count; m++)
        KFE_STRDUP(ctx, list->items[m].view_name, view);
cleanup:
    while (status != KFE_OK && list->count > before)
        kfe_i_kernel_free(&list->items[--list->count]);
    return status;
}

kfe_status kfe_i_spec_kernels(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                              kfe_i_kernel_list *out)
{
    kfe_status status = KFE_OK;
    int on_kernel = kfe_i_spec_learns_from_kernel(spec) || kfe_i_spec_maps_kernel(spec);
    const char *usual = on_kernel ? "rbf" : kfe_i_method_kernel(spec->method);
    kfe_i_kernel kernel = {0};

    KFE_TRY(kfe_i_kernel_list_copy(ctx, &spec->kernels, out));
    /* one kernel for one view leaves nothing to decide */
    int is_bound = data->view_count == 1 && out->count <= 1 && !(out->count == 1 && out->items[0].view_name);
    if (is_bound ? out->count == 0 : kfe_i_kernel_list_misses_views(out, data->view_count, data->views)) {
        KFE_TRY(kfe_i_kernel_parse(ctx, usual, &kernel));
        KFE_TRY(kfe_i_kernel_list_add(out, &kernel));
    }
    if (!is_bound)
        KFE_TRY(kfe_i_kernel_list_bind(out, data->view_count, data->views));
cleanup:
    return status;
}

kfe_status kfe_spec_add_user_kernel(kfe_context *ctx, kfe_spec *spec, const char *name, kfe_kernel_fn kernel,
                                    void *user)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel made = {0};
    kfe_i_text text;
    char *written = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "user:%s", name);
    KFE_TRY(kfe_i_text_take(&text, &written));
    KFE_TRY(kfe_i_kernel_parse(ctx, written, &made));
    made.user_function = kernel;
    made.user_data = user;
    KFE_TRY(kfe_i_kernel_list_add(&spec->kernels, &made));
cleanup:
    kfe_i_free(ctx, written);
    return status;
}

static kfe_status copy_settings(kfe_context *ctx, const kfe_i_param_table *table, const void *settings,
                                void **out)
{
    *out = kfe_i_alloc_zero(ctx, 1, table->size + 1);
    if (*out)
        memcpy(*out, settings, table->size);
    return *out ? KFE_OK : kfe_i_lack(ctx);
}

kfe_status kfe_i_spec_copy(kfe_context *ctx, const kfe_spec *spec, kfe_spec **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *copy = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, copy, 1);
    copy->ctx = ctx;
    copy->method = spec->method;
    copy->fit = spec->fit;
    copy->learner = spec->learner;
    kfe_i_kernel_list_init(ctx, &copy->kernels);
    KFE_TRY(copy_settings(ctx, &spec->method->params, spec->settings, &copy->settings));
    if (spec->own_method)
        KFE_TRY(own_method(copy));
    if (spec->learner)
        KFE_TRY(copy_settings(ctx, &spec->learner->params, spec->learner_settings, &copy->learner_settings));
    KFE_TRY(kfe_i_kernel_list_copy(ctx, &spec->kernels, &copy->kernels));
    *out = copy;
    copy = NULL;
cleanup:
    kfe_spec_free(copy);
    return status;
}

int kfe_i_spec_weighs_classes(const kfe_spec *spec)
{
    return strcmp(spec->fit.class_weight, KFE_CLASS_WEIGHTS_NONE) != 0;
}

kfe_status kfe_i_spec_weigh_classes(kfe_context *ctx, const kfe_spec *spec, kfe_i_target *target)
{
    return kfe_i_target_weigh_classes(ctx, spec->fit.class_weight, target);
}

int kfe_i_spec_scales_target(const kfe_spec *spec, const kfe_i_target *target)
{
    return spec->fit.target_scale && target->task == KFE_TASK_REAL;
}

int kfe_i_spec_prepares(const kfe_spec *spec)
{
    return spec->fit.prepare[0] && strcmp(spec->fit.prepare, KFE_CHAIN_NONE) != 0;
}

int kfe_i_spec_scale(const kfe_spec *spec)
{
    int only_copies = spec->method == &kfe_i_method_none && !spec->learner && !kfe_i_spec_maps_kernel(spec);

    return spec->fit.scale == KFE_SCALE_AUTO && (only_copies || kfe_i_spec_prepares(spec)) ? KFE_SCALE_NONE
                                                                                           : spec->fit.scale;
}

kfe_i_scaling kfe_i_spec_scaling(const kfe_spec *spec)
{
    return (kfe_i_scaling){.kind = kfe_i_spec_scale(spec),
                           .prepare = kfe_i_spec_prepares(spec) ? spec->fit.prepare : NULL,
                           .distance = spec->fit.distance};
}

int kfe_i_spec_learns_from_kernel(const kfe_spec *spec)
{
    return spec->learner && spec->method == &kfe_i_method_none && spec->kernels.count > 0 &&
           (spec->fit.landmarks == 0 || spec->learner->fit_gram);
}

int kfe_i_spec_maps_kernel(const kfe_spec *spec)
{
    return spec->method == &kfe_i_method_none && spec->kernels.count > 0 && spec->fit.landmarks > 0 &&
           !kfe_i_spec_learns_from_kernel(spec);
}

kfe_i_landmark_plan kfe_i_spec_landmarks(const kfe_spec *spec)
{
    return (kfe_i_landmark_plan){.count = spec->fit.landmarks,
                                 .rule = (kfe_i_landmark_rule)spec->fit.landmark_by};
}

const char *kfe_spec_method(const kfe_spec *spec)
{
    return spec->method->name;
}

kfe_i_calibration_kind kfe_i_spec_calibration(const kfe_spec *spec)
{
    if (spec->fit.calibration != KFE_CALIBRATION_AUTO)
        return (kfe_i_calibration_kind)spec->fit.calibration;
    return spec->method->flags & KFE_HAS_PROBABILITIES && !spec->learner ? KFE_CALIBRATION_PLATT
                                                                         : KFE_CALIBRATION_NONE;
}

int kfe_spec_predicts(const kfe_spec *spec)
{
    return spec->learner || spec->method->flags & KFE_HAS_PREDICTOR;
}

void kfe_spec_free(kfe_spec *spec)
{
    if (!spec)
        return;
    kfe_i_kernel_list_free(&spec->kernels);
    kfe_i_free(spec->ctx, spec->settings);
    kfe_i_free(spec->ctx, spec->own_method);
    kfe_i_free(spec->ctx, spec->learner_settings);
    kfe_i_free(spec->ctx, spec);
}

static const kfe_i_param *dim_row(const kfe_spec *spec)
{
    return kfe_i_param_find(&spec->method->params, "dim");
}

int64_t *kfe_i_spec_dim(const kfe_spec *spec)
{
    return (int64_t *)(void *)((char *)spec->settings + dim_row(spec)->offset);
}

char *kfe_i_spec_keep(const kfe_spec *spec)
{
    const kfe_i_param *row = kfe_i_param_find(&spec->method->params, "keep");

    return row && row->info.type == KFE_PARAM_TEXT ? (char *)spec->settings + row->offset : NULL;
}

const char *kfe_i_spec_keep_values(const kfe_spec *spec)
{
    return (const char *)spec->settings + kfe_i_param_find(&spec->method->params, "keep-values")->offset;
}

int kfe_i_spec_chooses_keep(const kfe_spec *spec)
{
    const char *keep = kfe_i_spec_keep(spec);

    return keep && strcmp(keep, "auto") == 0;
}

int kfe_i_spec_chooses_dim(const kfe_spec *spec)
{
    const kfe_i_param *row = dim_row(spec);

    return row && row->chosen && *kfe_i_spec_dim(spec) == 0;
}
