/* SPDX-License-Identifier: Apache-2.0 */
/* Draw a table of an explanation (kfe_explain), whose rows are columns of the data or features. */
#ifndef KFE_REPORT_FIGURE_KIND_EXPLAINED_H
#define KFE_REPORT_FIGURE_KIND_EXPLAINED_H

#include "core/sort.h"
#include "report/figure/figure.h"

typedef struct kfe_i_explained_kind {
    const char *tables[2]; /* drawn beside each other, with the same rows; the second may be NULL */
    const char *x, *y;     /* titles of the axes */
    const char *caption;
    int is_sorted;    /* bars of the largest values, largest first; else all rows in their order */
    int most_series;  /* of each table; 0: eight */
    int is_by_column; /* signed values of columns; many columns whose names are not a scale, such as genes: bars of the largest, by absolute value */
} kfe_i_explained_kind;

/* Leaves the figure empty if the model is not linear or has no such table. */
kfe_status kfe_i_draw_explained(kfe_context *ctx, const kfe_i_source *source,
                                const kfe_i_explained_kind *kind, kfe_i_figure *out);

/* Adds the column of labels, or of numbers from 1, of the rows in this order. */
kfe_status kfe_i_add_row_labels(kfe_context *ctx, const kfe_table *table, const kfe_i_sorted *order,
                                kfe_i_figure *out);

/* Whether names are a scale, such as wavelengths: the same word, or none, before numbers that rise. */
int kfe_i_names_are_scale(int64_t count, const char *const *names);

#endif
