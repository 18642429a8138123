/* SPDX-License-Identifier: Apache-2.0 */
/* kfe_explain: asks each part of an explanation that applies to the model, or those that the user named. */
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "explain/explain.h"
#include "model/arrange.h"

typedef struct explain_part {
    const char *name;
    kfe_status (*explain)(kfe_i_explaining *job);
    const char *former; /* name that is still understood; NULL: none */
} explain_part;

static const explain_part parts[] = {
    {"linear", kfe_i_explain_linear, NULL},     {"permutation", kfe_i_explain_permutation, NULL},
    {"views", kfe_i_explain_views, NULL},       {"distance", kfe_i_explain_distance, "metric"},
    {"gradient", kfe_i_explain_gradient, NULL}, {"support", kfe_i_explain_support, NULL},
    {"diagnostics", kfe_i_explain_rows, NULL},  {"jackknife", kfe_i_explain_jackknife, NULL},
    {"chosen", kfe_i_explain_chosen, NULL},
};
enum { PARTS = sizeof parts / sizeof *parts };

static const kfe_i_param rows[] = {
    KFE_TEXT(
        kfe_i_explain_settings, parts, "parts", "",
        "what to explain, as NAME;NAME;…: linear (coefficients, loadings, variance), permutation (how much "
        "worse predictions get without a column), views (the same for views), distance (how much each "
        "column counts in a learned distance), gradient (derivatives by column), support (support examples "
        "that weigh most), diagnostics (how far each example is from the training data: T², Q, leverage, "
        "DModX, with limits), jackknife (intervals of coefficients, by fits without some rows of the "
        "training data), chosen (the columns that a step such as cars has chosen); by default all that "
        "applies to the model and the data, but diagnostics only with `examples`, and never jackknife"),
    KFE_REAL(kfe_i_explain_settings, level, "level", "0.95", 0.5, 0.999999,
             "for diagnostics, the share of examples like the training data that stays below each limit; for "
             "jackknife, the level of the intervals"),
    KFE_INT(kfe_i_explain_settings, folds, "folds", "10", 2, KFE_INT_MAX,
            "number of jackknife fits, each without one part of the training data; as many as rows: each "
            "without one row"),
    KFE_FLAG(kfe_i_explain_settings, examples, "examples", "no",
             "also tables with a row for each example: its features, gradient and distance to the support"),
    KFE_TEXT(kfe_i_explain_settings, metric, "metric", "",
             "the metric that the importance of columns and views measures; accuracy or rmse unless given"),
    KFE_INT(kfe_i_explain_settings, repeats, "repeats", "5", 1, 1000, "permutations of each column or view"),
    KFE_INT(
        kfe_i_explain_settings, rows, "rows", "1000", 2, KFE_INT_MAX,
        "maximum number of examples, drawn at random, on which permutation and gradient importance are measured"),
    KFE_INT_OR(
        kfe_i_explain_settings, top, "top", "auto", 0, KFE_INT_MAX, "auto", "auto=-1",
        "permute only this number of columns: those with the largest derivatives or, for models without "
        "derivatives, those that lose most when permuted in groups; 0: all columns; auto: all columns if "
        "that takes seconds, otherwise as many as seconds allow, at least 20"),
};
static const kfe_i_param_table params = KFE_PARAM_TABLE(rows, kfe_i_explain_settings);

const kfe_param_info *kfe_explain_option(int index)
{
    return kfe_i_param_info(&params, index);
}

static int is_called(const char *name, const char *word, size_t length)
{
    return name && strlen(name) == length && strncmp(word, name, length) == 0;
}

/* Whether a list "NAME;NAME" contains the name; not if it is NULL. */
static int lists(const char *names, const char *name)
{
    while (*names) {
        size_t length = strcspn(names, ";,");
        if (is_called(name, names, length))
            return 1;
        names += length + (names[length] != '\0');
    }
    return 0;
}

static kfe_status refuse_part(kfe_context *ctx, const char *name, size_t length)
{
    kfe_status status = KFE_OK;
    kfe_i_text known;

    kfe_i_text_init(&known, ctx);
    for (int p = 0; p < PARTS; p++)
        kfe_i_text_printf(&known, "%s%s", p ? ", " : "", parts[p].name);
    KFE_TRY(known.status);
    KFE_FAIL(ctx, KFE_EINVAL, "{parts}: there is no part '%.*s' of an explanation; its parts are %s",
             (int)(length < 60 ? length : 60), name, known.bytes);
cleanup:
    kfe_i_text_free(&known);
    return status;
}

static kfe_status check_parts(kfe_context *ctx, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, ";,");
        int known = length == 0;
        for (int p = 0; p < PARTS; p++)
            known |= is_called(parts[p].name, names, length) || is_called(parts[p].former, names, length);
        if (!known)
            return refuse_part(ctx, names, length);
        names += length + (names[length] != '\0');
    }
    return KFE_OK;
}

/* Whether a part is left out unless users name it. */
static int waits_for_its_name(const kfe_i_explaining *job, const explain_part *part)
{
    return part->explain == kfe_i_explain_jackknife ||
           (part->explain == kfe_i_explain_rows && !job->settings.examples);
}

/* A part that does not apply is an error only if the user asked for it, as training data asks for views. */
static kfe_status run_parts(kfe_i_explaining *job)
{
    for (int p = 0; p < PARTS; p++) {
        int asked = lists(job->settings.parts, parts[p].name) ||
                    lists(job->settings.parts, parts[p].former) ||
                    (job->train && parts[p].explain == kfe_i_explain_views &&
                     !lists(job->settings.parts, "jackknife"));
        if ((job->settings.parts[0] || waits_for_its_name(job, &parts[p])) && !asked)
            continue;
        kfe_status status = parts[p].explain(job);
        if (status != KFE_OK && (asked || status != KFE_EUNSUPPORTED))
            return status;
    }
    return KFE_OK;
}

kfe_status kfe_explain(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const char *options,
                       kfe_result **out)
{
    return kfe_explain_refit(ctx, model, NULL, data, options, out);
}

kfe_status kfe_explain_refit(kfe_context *ctx, const kfe_model *model, const kfe_data *train,
                             const kfe_data *data, const char *options, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_data arranged = {0};
    kfe_data arranged_train = {0};
    kfe_i_explaining job = {.ctx = ctx, .model = model};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    KFE_TRY(kfe_i_params_default(ctx, &params, &job.settings));
    KFE_TRY(kfe_i_params_parse(ctx, &params, NULL, &job.settings, options));
    KFE_TRY(check_parts(ctx, job.settings.parts));
    KFE_TRY(kfe_i_explain_begin(&job));
    if (data) {
        KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
        job.data = &arranged;
    }
    if (train && job.settings.parts[0] && !lists(job.settings.parts, "views") &&
        !lists(job.settings.parts, "jackknife"))
        KFE_FAIL(
            ctx, KFE_EINVAL,
            "training data is for views and jackknife, which {parts=%s} leaves out; add views or jackknife to it",
            job.settings.parts);
    if (train) {
        KFE_TRY(kfe_i_arrange(ctx, model, train, &arranged_train));
        job.train = &arranged_train;
    }
    KFE_TRY(run_parts(&job));
    status = kfe_i_result_finish(job.result, out);
    job.result = NULL;
cleanup:
    kfe_i_arrange_free(&arranged);
    kfe_i_arrange_free(&arranged_train);
    kfe_i_explain_free(&job);
    kfe_i_threads_leave(saved_threads);
    return status;
}
