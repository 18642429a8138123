/* SPDX-License-Identifier: Apache-2.0 */
/* What the features of a model are called: in figures "LV 2", "PC 1", "orthogonal 1" or "feature 3"; as columns of a table "LV2", "PC1",
 * "orthogonal1", or with the name of the method, "hsic3", since tables of several models are put beside each other. Features of one view have its
 * name before that: "rna LV 2", "rna_LV2". */
#include <string.h>

#include "core/text.h"
#include "method/method.h"
#include "model/model.h"

/* The word of the method's row; NULL: none. */
static const char *word_of(const kfe_model *model)
{
    const kfe_i_method *method;

    for (int i = 0; model->method && (method = kfe_i_method_at(i)); i++)
        if (kfe_i_same_name(model->method, method->name))
            return method->feature;
    return NULL;
}

/* How many features of O-PLS predict; those after them are orthogonal to the target. -1: another method. */
static int64_t predictive_count(const kfe_model *model)
{
    int64_t count = 0;
    const double *predictive = kfe_model_record(model, "predictive", &count);

    return predictive && count == 1 ? (int64_t)*predictive : -1;
}

/* How many features each view has, if those of one view stand after those of another; 0: they do not. */
static int64_t features_of_view(const kfe_model *model)
{
    int64_t count = 0;
    const double *dim = kfe_model_record(model, KFE_RECORD_VIEW_DIM, &count);

    return dim && count == 1 && *dim >= 1 && *dim * model->view_count == (double)model->dim ? (int64_t)*dim
                                                                                            : 0;
}

int64_t kfe_i_model_feature_views(const kfe_model *model)
{
    return features_of_view(model) > 0 ? model->view_count : 1;
}

int kfe_i_features_have_names(const kfe_model *model)
{
    return predictive_count(model) >= 0 || word_of(model);
}

/* The word for a feature, NULL: none, and its number among those of this word, from 1. */
static const char *word_and_number(const kfe_model *model, int64_t feature, long long *number)
{
    int64_t predictive = predictive_count(model);
    int64_t dim = features_of_view(model);

    *number = feature + 1;
    if (predictive < 0 && dim > 0)
        *number = feature % dim + 1;
    if (predictive < 0)
        return word_of(model);
    if (feature < predictive)
        return "predictive";
    *number -= predictive;
    return "orthogonal";
}

/* The name of the view that a feature is of, NULL: it is of all views. Views of long names are called view1, view2, …, in `room`. */
static const char *view_of(const kfe_model *model, int64_t feature, char room[KFE_NUMBER_TEXT])
{
    int64_t dim = features_of_view(model);

    if (dim == 0)
        return NULL;
    const char *name = model->views[feature / dim].name;
    if (name && strlen(name) < KFE_FEATURE_NAME / 2)
        return name;
    kfe_i_snprintf(room, KFE_NUMBER_TEXT, "view%lld", (long long)(feature / dim) + 1);
    return room;
}

void kfe_i_feature_name(const kfe_model *model, int64_t feature, char *out, size_t size)
{
    long long number;
    char room[KFE_NUMBER_TEXT];
    const char *word = word_and_number(model, feature, &number);
    const char *view = view_of(model, feature, room);

    kfe_i_snprintf(out, size, "%s%s%s %lld", view ? view : "", view ? " " : "", word ? word : "feature",
                   number);
}

/* What the features of models without a word are called in tables: as the method, with _ for -, or values of decision functions. */
static void put_method(const kfe_model *model, kfe_i_text *text)
{
    const char *method = model->method ? model->method : "none";

    if (kfe_i_same_name(method, "none"))
        method = "decision";
    for (const char *c = method; *c; c++)
        kfe_i_text_printf(text, "%c", *c == '-' ? '_' : *c);
}

/* Features of a model that passes its columns on; NULL: they have no names. */
static const char *passed_on(const kfe_model *model, int64_t feature)
{
    return model->projector == KFE_PROJECT_IDENTITY && model->view_count == 1
               ? kfe_model_prepared_name(model, 0, feature)
               : NULL;
}

kfe_status kfe_model_feature_name(kfe_context *ctx, const kfe_model *model, int64_t feature, char **out)
{
    kfe_i_text text;
    long long number;
    char room[KFE_NUMBER_TEXT];
    const char *word;

    *out = NULL;
    if (feature < 0 || feature >= model->dim)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has %lld features, so that none has the index %lld",
                          (long long)model->dim, (long long)feature);
    kfe_i_text_init(&text, ctx);
    word = word_and_number(model, feature, &number);
    if (passed_on(model, feature)) {
        kfe_i_text_puts(&text, passed_on(model, feature));
        return kfe_i_text_take(&text, out);
    }
    const char *view = view_of(model, feature, room);
    if (view)
        kfe_i_text_printf(&text, "%s_", view);
    if (word)
        kfe_i_text_puts(&text, word);
    else if (model->projector == KFE_PROJECT_IDENTITY)
        kfe_i_text_puts(&text, "x");
    else
        put_method(model, &text);
    kfe_i_text_printf(&text, "%lld", number);
    return kfe_i_text_take(&text, out);
}
