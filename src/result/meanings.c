/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables and columns of results mean, and their units. Parts of a model describe their own (kfe_i_put_about). */
#include <string.h>

#include "result/result.h"

typedef struct meaning {
    const char *name, *unit, *about;
} meaning;

static const meaning meanings[] = {
    /* tables */
    {"facts", "", "about the whole"},
    {"splits", "", "the outer splits"},
    {"settings", "", "the settings of the grid, on the splits that compare them"},
    {"edges", "", "parameters whose best value is at the edge of the grid"},
    {"methods", "", "the methods that were compared"},
    {"differences", "", "every pair of methods, with tests of whether they differ"},
    {"ranking", "", "the candidates, best first"},
    {"measures", "", "the kernels that were measured"},
    {"kernels", "", "the kernels of the method"},
    {"curves", "", "the classes whose curves follow"},
    {"roc", "", "points of the ROC curve"},
    {"precision_recall", "", "points of the precision-recall curve"},
    {"classes", "", "the classes, in the order of the confusion matrix"},
    {"matrix", "", "true classes in rows, predicted ones in columns"},
    {"pairs", "", "pairs of a true and a predicted class that occur, numbered from 0"},
    {"values", "", "the metric with permuted targets"},
    {"held_out", "", "the test rows of the splits, with what the setting chosen there predicted"},
    {"failed", "", "why it could not be fitted"},
    /* columns */
    {"mean", "", "mean over the splits; of rmse and r2 the value over all held-out predictions"},
    {"standard_error", "", "standard error of the mean"},
    {"sd", "", "standard deviation over the splits"},
    {"seconds", "s", "time that it took"},
    {"fits", "fits", "models that were fitted"},
    {"rows", "rows", "examples, by weight"},
    {"train_rows", "rows", "examples of the training part"},
    {"test_rows", "rows", "examples of the test part"},
    {"split", "", "the row of splits, from 1"},
    {"repeat", "", "the repetition, from 1"},
    {"fold", "", "the test part of the repetition, from 1"},
    {"folds", "folds", "inner folds that it was measured on"},
    {"support_vectors", "rows", "support vectors of the learner"},
    {"label", "", "its name in this comparison"},
    {"method", "", "the method"},
    {"learner", "", "the learner"},
    {"kernel", "", "the kernel"},
    {"candidate", "", "the row of the table of candidates"},
    {"baseline", "", "has no features: a point of reference"},
    {"spec", "", "method, kernels, learner and options that are not at their defaults"},
    {"reason", "", "why it has no result"},
    {"failed_splits", "splits", "on which it could not be fitted"},
    {"tuning_splits", "splits", "on which settings were compared"},
    {"nested", "", "settings were compared on inner folds"},
    {"is_best", "", "the setting is the best one"},
    {"parameters", "", "the parameters that are used, in one line"},
    {"rmsecv", "", "root mean square error over all held-out predictions of the splits asked for"},
    {"rmsecv_error", "", "standard error of RMSECV"},
    {"q2", "", "1 - RMSECV^2 / variance of the held-out targets"},
    {"bias", "", "mean of prediction minus target over the held-out predictions"},
    {"sep", "", "standard error of prediction: standard deviation of the residuals about the bias"},
    {"predictions", "rows", "held-out predictions, by weight, over all splits"},
    {"targets", "", "errors of each target over all held-out predictions"},
    {"target", "", "the target, from 1"},
    {"parameter", "", "the parameter"},
    {"value", "", "the value"},
    {"side", "", "lower or upper"},
    {"p", "", "probability of such a result by chance"},
    {"t", "", "Student's statistic"},
    {"significant", "", "p is below 0.05"},
    {"a", "", "the first method"},
    {"b", "", "the second method"},
    {"difference", "", "mean of a minus mean of b"},
    {"metric", "", "the metric that decides"},
    {"best", "", "the best one"},
    {"measured_on", "", "outer folds, or a part held out"},
    {"out_of_time", "", "the time ended the search"},
    {"class", "", "the class that counts as positive"},
    {"false_positive_rate", "", "share of the other examples that are called positive"},
    {"true_positive_rate", "", "share of the positive examples that are called so"},
    {"recall", "", "share of the positive examples that are called so"},
    {"precision", "", "share of the examples called positive that are so"},
    {"threshold", "", "the least score that is called positive"},
    {"id", "", "the name of the row in the data"},
    {"weight", "", "how many examples the row counts for"},
    {"truth", "", "the target of the row"},
    {"prediction", "", "what was predicted for the row while it was held out"},
    {"true", "", "number of the true class"},
    {"predicted", "", "number of the predicted class"},
    {"count", "rows", "examples"},
};

const char *kfe_i_meaning(const char *name, const char **unit)
{
    *unit = "";
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].name, kfe_i_last_part(name)) == 0) {
            *unit = meanings[i].unit;
            return meanings[i].about;
        }
    return "";
}
