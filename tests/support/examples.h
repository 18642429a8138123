/* SPDX-License-Identifier: Apache-2.0 */
/* Make a small table and change it in ways that carry no information, for the suite of invariances. */
#ifndef KFE_TESTS_SUPPORT_EXAMPLES_H
#define KFE_TESTS_SUPPORT_EXAMPLES_H

#include "support/fit.h"

enum {
    EXAMPLE_ROWS = 48,
    EXAMPLE_MOST = 3 * EXAMPLE_ROWS,
    EXAMPLE_TESTS = 10,
    EXAMPLE_COLS = 5,
    EXAMPLE_CLASSES = 3,
    EXAMPLE_LETTERS = 24
};

typedef enum support_target_kind {
    THREE_CLASSES,
    TWO_CLASSES,
    ONE_TARGET,
    TWO_TARGETS,
    TARGET_KINDS
} support_target_kind;
extern const char *const support_target_names[TARGET_KINDS];

/* What else the tables of points have. */
typedef enum support_dress {
    EXAMPLE_PLAIN,
    EXAMPLE_TEXTS, /* a column of text, of which one category is that of rows of weight 0 */
    EXAMPLE_GAPS,  /* missing values, filled with means */
    EXAMPLE_VIEWS, /* columns 1 and 2, and 3 to 5, as two views */
    EXAMPLE_STEPS, /* nothing: the fit prepares the rows by steps */
    EXAMPLE_DRESSES
} support_dress;

/* How the methods see the examples. */
typedef enum support_example_form { EXAMPLE_POINTS, EXAMPLE_GIVEN, EXAMPLE_STRINGS } support_example_form;

typedef struct support_examples {
    support_target_kind kind;
    support_example_form form;
    support_dress dress;
    int64_t rows;
    double x[EXAMPLE_MOST * EXAMPLE_COLS], test[EXAMPLE_TESTS * EXAMPLE_COLS];
    char text[EXAMPLE_MOST][EXAMPLE_LETTERS + 1], test_text[EXAMPLE_TESTS][EXAMPLE_LETTERS + 1];
    int class_of[EXAMPLE_MOST];
    int word_of[EXAMPLE_MOST], test_word_of[EXAMPLE_TESTS]; /* the categories of a column of text */
    const char *class_names[EXAMPLE_CLASSES];
    double targets[EXAMPLE_MOST * 2];
    int weighted;
    double weights[EXAMPLE_MOST];
} support_examples;

/* Classes are balanced, which makes some matrices of the papers degenerate (YᵀY has equal eigenvalues). Numbers have few bits, so that
 * adding whole numbers is exact; `nonnegative` ones are for the kernels that need them. */
support_examples support_examples_make(support_target_kind kind, support_example_form form, int nonnegative);
int support_examples_classes(const support_examples *e);

/* ---- changes; `step` distinguishes several of one kind ---- */

void support_reorder_rows(support_examples *e, int step);
/* Every fourth row becomes equal to the row before it, which is of another class, and new points become equal to training rows. */
void support_make_rows_equal(support_examples *e, int step);
void support_reorder_columns(support_examples *e, int step);
void support_add_constants(support_examples *e, int step);
void support_change_units(support_examples *e, int step);
/* Units so far apart that scale=auto standardises the columns. */
void support_part_units(support_examples *e, int step);
/* Reverses the order of the classes, which is that of their names. */
void support_rename_classes(support_examples *e, int step);
/* Weights 1, 2, 3 and 0 in every class. */
void support_weigh(support_examples *e, int step);
/* A weight for each class: EXAMPLE_CLASS_WEIGHTS for three, EXAMPLE_TWO_WEIGHTS for two. */
#define EXAMPLE_CLASS_WEIGHTS "c0:2;c2:3"
#define EXAMPLE_TWO_WEIGHTS "c0:2;c1:1"
void support_weigh_by_class(support_examples *e, int step);
void support_weigh_twice(support_examples *e, int step);
/* Every row once more. */
void support_give_twice(support_examples *e, int step);
/* Repeats each row as often as its weight says, and takes the weights away; copies lie apart. */
void support_repeat(support_examples *e, int step);

/* The same examples in a dress. */
void support_examples_wear(support_examples *e, support_dress dress);

/* The training data and the new points for the model of a fit on them; the examples must outlive them. */
kfe_data *support_examples_train(kfe_context *ctx, const support_examples *e);
kfe_data *support_examples_test(kfe_context *ctx, const support_examples *e, const kfe_model *model);

#endif
