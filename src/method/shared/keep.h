/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns the directions of sparse methods use, and the soft threshold that leaves so many. */
#ifndef KFE_METHOD_SHARED_KEEP_H
#define KFE_METHOD_SHARED_KEEP_H

#include "method/method.h"

/* "50" for all directions, "50;20;all" for one after the other (the last number is that of all that follow), or auto, which
 * cross-validation replaces before the fit (model/choose_keep.h); where it cannot, auto is 50. */
#define KFE_KEEP_AUTO "auto"
#define KFE_KEEP_HELP                                                                                        \
    "maximum number of columns that a direction uses; 50;20;10 gives a number for each direction; all: no "  \
    "limit; auto: by cross-validation, one direction after the other"
#define KFE_KEEP_VALUES_ROW(type)                                                                            \
    KFE_TEXT(type, keep_values, "keep-values", "1;2;5;10;20;50;100;200;500;1000",                            \
             "numbers of columns that keep=auto tries, besides all")
/* Rows for the members `keep` and `keep_values` of the settings. */
#define KFE_KEEP_ROWS(type) KFE_TEXT(type, keep, "keep", "50", KFE_KEEP_HELP), KFE_KEEP_VALUES_ROW(type)
/* The same for methods that take views: numbers after the name of a view, or its number, are of that view. */
#define KFE_KEEP_BY_VIEW_ROWS(type)                                                                          \
    KFE_TEXT(type, keep, "keep", "50", KFE_KEEP_HELP "; by view as rna:50;20;protein:10"),                   \
        KFE_KEEP_VALUES_ROW(type)

typedef struct kfe_i_keep_list {
    int64_t *items; /* 0: all */
    int64_t count;
} kfe_i_keep_list;

/* The numbers of a view of the source (NULL: there are no views, and the text names none); without numbers of its own, a view has those
 * before the first name or, without these, 50. The caller frees the items, also after a failure. */
kfe_status kfe_i_keep_parse(kfe_context *ctx, const char *method, const char *text,
                            const kfe_i_fit_source *source, int view, kfe_i_keep_list *out);
/* The numbers that keep=auto tries, in rising order; "all" is none of them. The caller frees the items, also after a failure. */
kfe_status kfe_i_keep_values(kfe_context *ctx, const char *method, const char *text, kfe_i_keep_list *out);
/* Of a direction, from 0 on. */
int64_t kfe_i_keep_at(const kfe_i_keep_list *list, int64_t direction);

/* a ← S(a)/‖S(a)‖, S(a)_j = sign(a_j) max(|a_j| − t, 0), t the (keep + 1)-th largest |a_j|; keep 0: t = 0. Returns ‖S(a)‖; 0 if nothing is
 * left. If the largest entries are equal, the first `keep` of them stay as they are. `sizes` has room for `count` numbers. */
double kfe_i_soft_threshold(int64_t count, int64_t keep, double *sizes, double *a);

#endif
