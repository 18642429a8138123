/* SPDX-License-Identifier: Apache-2.0 */
/* What the features of a model are called in tables and figures: "LV 2", "PC 1", "orthogonal 1", or "feature 3". */
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

int kfe_i_features_have_names(const kfe_model *model)
{
    return predictive_count(model) >= 0 || word_of(model);
}

void kfe_i_feature_name(const kfe_model *model, int64_t feature, char *out, size_t size)
{
    int64_t predictive = predictive_count(model);
    const char *word = word_of(model);

    if (predictive >= 0 && feature < predictive)
        word = "predictive";
    else if (predictive >= 0)
        word = "orthogonal";
    if (predictive >= 0 && feature >= predictive)
        feature -= predictive;
    kfe_i_snprintf(out, size, "%s %lld", word ? word : "feature", (long long)feature + 1);
}
