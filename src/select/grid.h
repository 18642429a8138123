/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings to try: the product of axes, each a parameter of the fit, the kernels, the method or the learner
 * with a list of values. Settings are numbered so that the costliest axes change least often: fit options
 * first, then kernels, methods, the number of features, learners.
 */
#ifndef KFE_SELECT_GRID_H
#define KFE_SELECT_GRID_H

#include "model/spec.h"

typedef enum kfe_i_axis_place {
    KFE_AXIS_FIT,
    KFE_AXIS_KERNEL,
    KFE_AXIS_METHOD,
    KFE_AXIS_DIM, /* `dim` of a method whose features are nested: one fit answers all values */
    KFE_AXIS_LEARNER
} kfe_i_axis_place;
enum { KFE_AXIS_PLACES = KFE_AXIS_LEARNER + 1 };

typedef struct kfe_i_axis {
    char *name;  /* of the parameter, without prefix */
    char *label; /* what results call it: the name; "kernel.power" if another axis is method.power */
    kfe_i_axis_place owner; /* whose parameter it is */
    kfe_i_axis_place place; /* when it varies: as its owner does, but a learner on the kernel is the method */
    char **values;
    int64_t count, capacity;
} kfe_i_axis;

typedef struct kfe_i_grid {
    kfe_context *ctx;
    kfe_spec *base;   /* what is not on an axis */
    kfe_i_axis *axes; /* ordered by place */
    int64_t axis_count;
    int64_t counts[KFE_AXIS_PLACES]; /* settings per place; their product is all */
    int64_t count;
} kfe_i_grid;

/*
 * The axes as a user writes them: NAME=a,b,c or NAME=lo:hi (whole numbers) or NAME=lo:hi:logN or NAME=lo:hi:linN, where NAME may begin with
 * "fit.", "kernel.", "method." or "learner." to say whose parameter it is.
 * kernel=rbf,laplacian and learner=svm,knn choose the kernel or the learner itself, prepare=none|snv|snv,detrend the chain of steps. A
 * parameter that only some of them have is set on those; that of a step is STEP.NAME or prepare.STEP.NAME, as in sg.window=7,11,15.
 */
typedef struct kfe_i_grid_texts {
    int count;
    const char *const *texts;
    int optional; /* skip a text whose parameter the spec does not have, instead of failing */
} kfe_i_grid_texts;

/* The texts of a list that ends with NULL; NULL: none. */
static inline kfe_i_grid_texts kfe_i_grid_list(const char *const *texts, int optional)
{
    kfe_i_grid_texts out = {.texts = texts, .optional = optional};

    while (texts && texts[out.count])
        out.count++;
    return out;
}

/* Checks every value. unused[i], unless unused is NULL, goes up by one if text i was skipped. */
kfe_status kfe_i_grid_make(kfe_context *ctx, const kfe_spec *spec, kfe_i_grid_texts grids, int *unused,
                           kfe_i_grid *out);
void kfe_i_grid_free(kfe_i_grid *grid);

/* choice[p]: the index of setting `index` among the settings of place p. */
void kfe_i_grid_choice(const kfe_i_grid *grid, int64_t index, int64_t choice[KFE_AXIS_PLACES]);
/* The specification with the axes of places `first` … `last` set as `choice` says. */
kfe_status kfe_i_grid_apply(kfe_context *ctx, const kfe_i_grid *grid, const int64_t choice[KFE_AXIS_PLACES],
                            kfe_i_axis_place first, kfe_i_axis_place last, kfe_spec *spec);
/* The whole specification of a setting. */
kfe_status kfe_i_grid_spec(kfe_context *ctx, const kfe_i_grid *grid, int64_t index, kfe_spec **out);
/* The value of an axis in a setting. */
const char *kfe_i_grid_value(const kfe_i_grid *grid, int64_t index, int64_t axis);
/* The first setting that is the same fit: settings of a kernel or learner that lacks a parameter of the grid differ only
 * in a value that is not used. */
int64_t kfe_i_grid_first_alike(const kfe_i_grid *grid, int64_t index);
/* Where the value of an axis in a setting lies: -1 at the lower edge of the grid, 1 at the upper one, 0 inside. Words,
 * single values, values that are not used and values beyond which the parameter allows none are inside. */
int kfe_i_grid_edge(const kfe_i_grid *grid, int64_t index, int64_t axis);
/* Appends "gamma=0.1 C=1", without parameters that are not used; nothing for a grid of one. */
void kfe_i_grid_describe(const kfe_i_grid *grid, int64_t index, kfe_i_text *out);

#endif
