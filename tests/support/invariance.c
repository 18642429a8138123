/* SPDX-License-Identifier: Apache-2.0 */
/* The exceptions and rules of the invariance tests. */
#include "support/invariance.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

/* ---- settings other than the defaults ---- */

#define NOT_CONVEX "the search is not convex: rounding grows from iteration to iteration"
static const exception exceptions[] = {
    {"skfe", "max-iter=5", 1e-5, "rbf", NOT_CONVEX},
    {"lmkl", "max-iter=5", 1e-5, NULL, NOT_CONVEX},
    {"sldr", "max-iter=2", 1e-4, NULL, "the search has kinks, at which rounding decides"},
    {"slmc", "max-iter=20", 1e-5, NULL, NOT_CONVEX},
    {"hsic-mkl", NULL, 1e-5, NULL, "the weights of kernels are found up to a gap, whose root moves them"},
    {"mkl", "tolerance=1e-10", 1e-3, NULL,
     "the weights of kernels are found up to a gap, whose root moves them"},
};

const exception *exception_of(const job *task)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        const exception *e = &exceptions[i];
        if (strcmp(e->name, task->entry->name) == 0)
            return e->automatic && !task->option && !task->dress &&
                           strcmp(e->automatic, task->kernel->name) == 0
                       ? NULL
                       : e;
    }
    return NULL;
}

/* What a method is allowed to notice. */
static const struct {
    const char *name, *kernel; /* NULL: every kernel, and none */
    cause by;
    const char *reason;
} allowed[] = {
    {"oc", NULL, CONSTANTS, "the span of the centroids contains the origin"},
    {"none", NULL, CONSTANTS, "the features are the columns"},
    {"none", NULL, UNITS,
     "the features are the columns: scale=auto leaves them as they are without a learner"},
    {"lmkl", NULL, CONSTANTS, "the gate sees the columns as they are"},
    {"sldr", NULL, CONSTANTS, "the gate sees the columns as they are"},
    {"gkdr", NULL, CONSTANTS, "the features are combinations of the columns as they are"},
    {"usvm-joint", "sigmoid", EQUAL_ROWS,
     "equal rows of different classes leave directions of length zero, positive or negative by rounding"},
    {"sldr", "precomputed", WEIGHTS,
     "starts are drawn by the content of rows, to which repeated rows add columns"},
    {"lmkl", "sigmoid", WEIGHTS, "columns come from the positive part of the matrix without weights"},
    {"sldr", "sigmoid", WEIGHTS, "columns come from the positive part of the matrix without weights"},
    {"svm", "sigmoid", EVERYTHING, "an SVM with an indefinite kernel has several optima"},
    {"rkopls", "precomputed", WEIGHTS,
     "rows are chosen by their content, to which repeated rows add columns"},
    {"rkopls", "sigmoid", WEIGHTS, "the support spans the positive part of its own matrix"},
    {"lmkl", NULL, SIGNS, "a part's features are columns of its kernel in any basis"},
    {"sma", NULL, SIGNS, "with kernels of few dimensions a feature may come with the other sign"},
    {"rkopls", NULL, SIGNS, "its coefficients are on support examples, which may depend on each other"},
    {"svm-mkl", NULL, SIGNS,
     "the weights of kernels are found up to a gap, whose root moves single features"},
    {"usvm-joint", "laplacian", SIGNS,
     "SVMs end within their stop, of which features up to rotations show less"},
    {"usvm-joint", "exp", SIGNS, "SVMs end within their stop, of which features up to rotations show less"},
    {"kpls", "precomputed", SIGNS, "in one of the cases a feature comes with the other sign"},
    {"kblf", "precomputed", SIGNS, "in one of the cases a feature comes with the other sign"},
    {"skpls", "precomputed", SIGNS, "in one of the cases a feature comes with the other sign"},
    {"skblf", "precomputed", SIGNS, "in one of the cases a feature comes with the other sign"},
    {"svm", NULL, COUNTS, "C is the price of an example"},
    {"linear-svm", NULL, COUNTS, "C is the price of an example"},
    {"svm-joint", NULL, COUNTS, "C is the price of an example"},
    {"hsic-mkl", NULL, COUNTS, "its ridge is one over the examples"},
    {"lmkl", NULL, COUNTS, "C is the price of an example"},
    {"sldr", NULL, COUNTS, "C is the price of an example"},
    {"kb", NULL, COUNTS, "the bound on its steps counts pairs"},
    {"lfda", NULL, COUNTS, "the seventh neighbour is found by counting examples"},
    {"klfda", NULL, COUNTS, "the seventh neighbour is found by counting examples"},
    {"skpls", NULL, COUNTS, "a share of the examples is rounded up to whole examples"},
    {"skblf", NULL, COUNTS, "a share of the examples is rounded up to whole examples"},
};

int may_notice(const job *task, cause by)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(task->entry->name, allowed[i].name) == 0 && allowed[i].by == by &&
            (!allowed[i].kernel || strcmp(task->kernel->name, allowed[i].kernel) == 0))
            return 1;
    return 0;
}

/* ---- which variations apply ---- */

int has_points(const job *task)
{
    return strcmp(task->kernel->name, "precomputed") != 0 && !(task->kernel->flags & KFE_HAS_STRINGS);
}

int is_calibrated(const job *task)
{
    return task->option && strncmp(task->option, "calibration", 11) == 0;
}

/* Isotonic curves are steps, which show where a solver stopped. */
int is_smooth(const job *task)
{
    return !is_calibrated(task);
}

int has_classes(const job *task)
{
    return task->kind <= TWO_CLASSES;
}

/* Kernels of differences x − y, which constants leave as they are. */
static int takes_differences(const char *kernel)
{
    const kfe_i_kernel_def *def;

    for (int i = 0; (def = kfe_i_kernel_def_at(i)); i++)
        if (strcmp(def->name, kernel) == 0)
            return def->base == KFE_BASE_DISTANCE || strcmp(kernel, "laplacian") == 0;
    return 0;
}

int ignores_constants(const job *task)
{
    if (!has_points(task))
        return 0;
    if (may_notice(task, CONSTANTS))
        return 0;
    return task->kernel->name[0] ? takes_differences(task->kernel->name) : !task->is_learner;
}

int takes_weights(const job *task)
{
    return (task->entry->flags & KFE_HAS_SAMPLE_WEIGHTS) != 0;
}

int takes_equal_rows(const job *task)
{
    return !may_notice(task, EQUAL_ROWS);
}

int counts_weights(const job *task)
{
    return takes_weights(task) && !may_notice(task, WEIGHTS);
}

int counts_class_weights(const job *task)
{
    return counts_weights(task) && has_classes(task);
}

/* The size of a leaf is a number of examples. */
static int has_leaves(const job *task)
{
    return task->option && strncmp(task->option, "leaf-size", 9) == 0;
}

/* Calibrations count examples: Platt's targets are those of a sample of this size. */
int ignores_counts(const job *task)
{
    return counts_weights(task) && !is_calibrated(task) && !has_leaves(task) && !may_notice(task, COUNTS);
}

int ignores_repetition(const job *task)
{
    return !takes_weights(task) && !is_calibrated(task) && !may_notice(task, COUNTS);
}

/* Methods that weigh kernels put these weights into the kernels' parameters. */
int has_width(const job *task)
{
    return task->kernel->name[0] && has_points(task) && takes_weights(task) &&
           !(task->entry->flags & KFE_HAS_WEIGHTS);
}

/* The kernels are those of the units, so that one of them shows it. */
int has_units(const job *task)
{
    return has_points(task) && !may_notice(task, UNITS) &&
           (!task->kernel->name[0] || strcmp(task->kernel->name, "rbf") == 0);
}
