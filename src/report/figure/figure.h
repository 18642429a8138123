/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describe a figure as data with these functions: a table of numbers and words, series that point at its columns, axes
 * and a caption. SVG (svg.h), JSON for the page (page.h) and CSV are all written from this one description.
 *
 * To add a figure, write a file with a function `draw` that ends in `const kfe_i_figure_kind kfe_i_figure_NAME`, and
 * add a row to figures.def.
 */
#ifndef KFE_REPORT_FIGURE_FIGURE_H
#define KFE_REPORT_FIGURE_FIGURE_H

#include "core/entry.h"
#include "core/text.h"
#include "report/figure/source.h"

/* A column of the table: numbers, or words with one code per row. */
typedef struct kfe_i_column {
    char *name;
    char *title;     /* of an axis that shows it: "LV 1 (63.2 %)"; NULL: the name */
    double *numbers; /* NULL: words */
    int32_t *codes;  /* the word of each row; -1: none */
    char **words;
    int64_t word_count;
} kfe_i_column;

typedef enum kfe_i_mark {
    KFE_MARK_POINTS,
    KFE_MARK_LINE,
    KFE_MARK_BARS,
    KFE_MARK_HEAT,
    KFE_MARK_LABELS /* the words of the column `label` beside their places */
} kfe_i_mark;

enum {
    KFE_SERIES_DASHED = 1u << 0,
    KFE_SERIES_CROSSES = 1u << 1, /* points are large crosses around others: what was predicted wrongly */
    KFE_SERIES_GREY = 1u << 2,    /* no colour of its own: a reference line */
    KFE_SERIES_DOTTED = 1u << 3,  /* a line with a marker at every row */
    /* Training examples beside test examples: outlines, and grey plus signs for crosses */
    KFE_SERIES_HOLLOW = 1u << 4,
    KFE_SERIES_PLAIN = 1u << 6, /* a thin line without dashes: one of many */
    KFE_SERIES_KEY = 1u << 5    /* no rows: an entry of the legend, which switches series on and off */
};

/* Examples of a series, where a figure shows both sets; a key with a set stands for all series of that set. */
typedef enum kfe_i_series_set { KFE_SET_NONE, KFE_SET_TRAINING, KFE_SET_TEST } kfe_i_series_set;

/* Rows [first, first + count) of the table. Columns are counted from 1; 0: none. */
typedef struct kfe_i_series {
    char *name; /* in the legend; NULL: not there */
    kfe_i_mark mark;
    unsigned flags;
    kfe_i_series_set set;
    int style; /* colour and marker; series of one style belong together */
    int panel; /* from 0 */
    int64_t first, count;
    int x, y, z;  /* z: the value of a heat map, or the third axis of a figure in space */
    int shade;    /* colours points from low to high */
    int shift;    /* added to y: points of classes, beside each other */
    int has_tone; /* the colour is a shade of `tone` between 0 and 1 */
    double tone;
    int spread; /* half the height of a band or an error bar */
    int label;  /* what points show under the pointer, beside their numbers */
} kfe_i_series;

typedef struct kfe_i_axis {
    char *title;
    int log;
    int is_reversed; /* high numbers on the left */
    int has_range;
    double low, high;
} kfe_i_axis;

/* A dashed line behind the data. */
typedef enum kfe_i_reference {
    KFE_REFERENCE_NONE,
    KFE_REFERENCE_DIAGONAL,
    KFE_REFERENCE_ZERO,
    KFE_REFERENCE_LEVEL /* y = level */
} kfe_i_reference;

typedef struct kfe_i_panel {
    char *title; /* NULL: none */
    kfe_i_reference reference;
    double level;
    int has_ellipse; /* dashed, around `middle`: x = ellipse[0]·cos, y = ellipse[1]·cos + ellipse[2]·sin */
    double middle[2], ellipse[3];
    kfe_i_axis x, y, z;
} kfe_i_panel;

enum {
    KFE_FIGURE_SPACE = 1u << 0,   /* three axes */
    KFE_FIGURE_CHOICE = 1u << 1,  /* readers may choose which feature columns are the axes */
    KFE_FIGURE_SQUARE = 1u << 2,  /* both axes have the same length */
    KFE_FIGURE_COUNTS = 1u << 3,  /* cells of a heat map show their numbers */
    KFE_FIGURE_REVERSED = 1u << 4 /* the first value of y is at the top, as in a matrix */
};

/* Lines in a panel that have bands; more of them would hide each other. The page has the same rule. */
enum { KFE_FIGURE_BANDS = 3 };

typedef struct kfe_i_figure {
    kfe_context *ctx;
    const struct kfe_i_figure_kind *kind;
    unsigned flags;
    kfe_i_text caption;
    int64_t rows;
    kfe_i_column *columns;
    int64_t column_count, column_capacity;
    int first_feature, feature_count; /* columns that may be axes (KFE_FIGURE_CHOICE), from 1 */
    kfe_i_panel *panels;
    int64_t panel_count, panel_capacity;
    int across; /* panels side by side */
    kfe_i_series *series;
    int64_t series_count, series_capacity;
} kfe_i_figure;

/* One row of the table of figures. `draw` leaves a figure without rows if it does not apply to the source. A figure without
 * panels is only a table. */
typedef struct kfe_i_figure_kind {
    KFE_I_ENTRY(needs); /* what the source must have: "classes, a classifier and labelled data" */
    const char *title;
    /* Where it stands in the report: "Results", "Features", "Quality", "How it was learned", "Choice" or "Why". */
    const char *section;
    int is_on_request; /* drawn only by name: a report leaves it out */
    kfe_status (*draw)(kfe_context *ctx, const kfe_i_source *source, kfe_i_figure *out);
    const void *what; /* what `draw` draws, if it draws several figures; out->kind->what */
} kfe_i_figure_kind;

/* NULL past the end. */
const kfe_i_figure_kind *kfe_i_figure_at(int index);
/* The figure of that name; the message suggests the nearest. */
kfe_status kfe_i_figure_find(kfe_context *ctx, const char *name, const kfe_i_figure_kind **out);

/* Draws into *out, which is freed with kfe_i_figure_free also after a failure. */
kfe_status kfe_i_figure_draw(kfe_context *ctx, const kfe_i_figure_kind *kind, const kfe_i_source *source,
                             kfe_i_figure *out);
void kfe_i_figure_free(kfe_i_figure *figure);

/* For `draw`, which sets the number of rows first. Appends a column of zeros to fill; *column is its number, from 1 (NULL: not
 * wanted). */
kfe_status kfe_i_figure_numbers(kfe_i_figure *figure, const char *name, int *column, double **values);
/* The same with these numbers, one for each row. */
kfe_status kfe_i_figure_copy(kfe_i_figure *figure, const char *name, const double *numbers);
/* Appends a column of words, which are copied; codes are zero. */
kfe_status kfe_i_figure_words(kfe_i_figure *figure, const char *name, int64_t count, const char *const *words,
                              int *column, int32_t **codes);
/* Appends a column with a word for each row. */
kfe_status kfe_i_figure_labels(kfe_i_figure *figure, const char *name, const char *const *words);
kfe_status kfe_i_figure_panel(kfe_i_figure *figure, const char *title, const char *x, const char *y);
/* Copies the series and its name. */
kfe_status kfe_i_figure_series(kfe_i_figure *figure, const char *name, kfe_i_series series);
/* The title of an axis that shows this column, from 1. */
const char *kfe_i_figure_title_of(const kfe_i_figure *figure, int column);
/* Sets the range of an axis. */
void kfe_i_axis_range(kfe_i_axis *axis, double low, double high);
/* Names the kernels of a model, "view: rbf:gamma=0.5" if it has several views, with four digits; each is for kfe_i_free. */
kfe_status kfe_i_name_kernels(kfe_context *ctx, const kfe_model *model, char **names);

/* The table as CSV with full precision. */
kfe_status kfe_i_figure_csv(kfe_context *ctx, const kfe_i_figure *figure, char **out);

#endif
