/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put the examples of a source into the table of a figure, one row each, with row, set, class or target, prediction and
 * features, and add them as series: one per set and class, and crosses over the examples that were predicted wrongly. With both sets the legend
 * has one entry per class, one per set, and one for the wrong predictions of each set.
 */
#ifndef KFE_REPORT_FIGURE_KIND_CLOUD_H
#define KFE_REPORT_FIGURE_KIND_CLOUD_H

#include "report/figure/figure.h"

/* More classes than these share one grey style. */
enum { KFE_FIGURE_CLASSES = 24 };

/* One example: row `row` of a set. Examples are sorted by set, style, and whether the prediction was wrong. */
typedef struct kfe_i_cloud_point {
    const kfe_i_set *set;
    int64_t row;
    int style; /* -1: one of the classes that share a style */
    int wrong;
} kfe_i_cloud_point;

typedef struct kfe_i_cloud {
    kfe_context *ctx;
    const kfe_i_source *source;
    kfe_i_cloud_point *items;
    int64_t count;
    int *style_of;                /* of each class */
    double *shares;               /* of the variance of the columns, of each feature; NULL: not known */
    int label, target, predicted; /* columns, from 1; 0: none. label: the row */
    int first_feature, feature_count;
} kfe_i_cloud;

/* At most `most` examples of all sets; rows that the figure has before come after them, for lines. Free also after a failure. */
kfe_status kfe_i_cloud_begin(kfe_context *ctx, const kfe_i_source *source, int64_t most, kfe_i_figure *figure,
                             kfe_i_cloud *out);
void kfe_i_cloud_free(kfe_i_cloud *points);
/* Adds the columns of the first `most` features. */
kfe_status kfe_i_cloud_features(kfe_i_cloud *points, int64_t most, kfe_i_figure *figure);
/* Adds the series of a panel; `named`: they stand in the legend. z 0: two axes. */
kfe_status kfe_i_cloud_series(const kfe_i_cloud *points, kfe_i_figure *figure, int named, kfe_i_series axes);
/* Says in the caption what crosses, outlines and filled markers are. */
void kfe_i_cloud_caption_sets(const kfe_i_cloud *points, kfe_i_figure *figure);
/* Says in the caption how many of how many examples are shown. */
void kfe_i_cloud_caption(const kfe_i_cloud *points, kfe_i_figure *figure);
/* The same of a figure that shows the first real target of a set. */
void kfe_i_cloud_caption_target(const kfe_i_cloud *points, const kfe_i_set *set, kfe_i_figure *figure);

#endif
