/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepare the rows of a view by a chain of steps, which a model keeps:
 *
 *     prepare=snv,sg:window=11,order=2,derivative=1         all views of numbers
 *     prepare=nir=snv,sg:window=7;genes=log:offset=1        views by name
 *     prepare=snv;genes=log                                 snv, but log for the view genes
 *
 * Parse a chain, give it the columns of the data (kfe_i_chain_learn or, from a model file, kfe_i_chain_plan), and apply it.
 */
#ifndef KFE_DATA_STEPS_CHAIN_H
#define KFE_DATA_STEPS_CHAIN_H

#include "data/steps/step.h"

#define KFE_CHAIN_NONE "none"
enum { KFE_MOST_STEPS = 16, KFE_MOST_CHAIN_COLUMNS = 1 << 22 };

typedef struct kfe_i_chain {
    kfe_context *ctx;
    int count; /* 0: rows stay as they are */
    kfe_i_fitted_step *steps;
    int64_t cols, made; /* columns before the first and after the last step; 0: not known yet */
    /* Of the columns after it, if a step makes other columns; NULL: names stay, or there are none */
    char **names;
} kfe_i_chain;

/* One chain, without names of views; "none" and "" have no steps. */
kfe_status kfe_i_chain_parse(kfe_context *ctx, const char *text, kfe_i_chain *out);
/* Adds a step, "sg" with "window=11,order=2". */
kfe_status kfe_i_chain_add(kfe_context *ctx, kfe_i_chain *chain, const char *step, const char *params);
void kfe_i_chain_free(kfe_i_chain *chain);
/* Appends the chain, all settings of a step spelt out if `full`, else those that differ from their defaults. */
void kfe_i_chain_format(const kfe_i_chain *chain, int full, kfe_i_text *out);

/* The chain of a view out of the text of {prepare}; *named: the text names the view. */
kfe_status kfe_i_chain_for_view(kfe_context *ctx, const char *text, const char *view, kfe_i_chain *out,
                                int *named);
/* Calls `use` for each chain of the text of {prepare}; view NULL: for all views that are not named. */
typedef kfe_status (*kfe_i_chain_fn)(kfe_context *ctx, void *user, const char *view, const char *chain);
kfe_status kfe_i_chain_each(kfe_context *ctx, const char *text, kfe_i_chain_fn use, void *user);
/* Fails if the text cannot be parsed. */
kfe_status kfe_i_chain_check(kfe_context *ctx, const char *text);
/* Sets "sg.window" to a value in all chains of the text of {prepare} that have the step; out[KFE_PARAM_TEXT_SIZE]. *found: whether one
 * has it. */
kfe_status kfe_i_chain_set(kfe_context *ctx, const char *text, const char *setting, const char *value,
                           char *out, int *found);

/* Whether one of its chains has this step. */
int kfe_i_chain_has(const char *text, const char *step);

/* Whether a step learns from the training rows. *which, unless NULL, is its name. */
int kfe_i_chain_learns(const kfe_i_chain *chain, const char **which);
/* Whether a step chooses columns by the target. *which, unless NULL, is its name. */
int kfe_i_chain_chooses(const kfe_i_chain *chain, const char **which);
/* Whether a step of the text of {prepare} (NULL: none) chooses columns by the target. */
kfe_status kfe_i_chain_needs_target(kfe_context *ctx, const char *text, int *out);
/* Whether all steps are affine; *which is the name of one that is not. */
int kfe_i_chain_is_linear(const kfe_i_chain *chain, const char **which);

/* Says how many columns come, and checks the steps against them. */
kfe_status kfe_i_chain_plan(kfe_context *ctx, kfe_i_chain *chain, int64_t cols, char *const *names);
/* The same, and learns from the rows of a table of numbers, by their weights, and from the target (NULL: there is none); `shown` is for
 * messages. */
kfe_status kfe_i_chain_learn(kfe_context *ctx, kfe_i_chain *chain, const kfe_i_table *table,
                             const kfe_i_step_target *target, char *const *names, const char *shown);
/* A dense table of the prepared rows; `shown` and `first_row` are for messages. */
kfe_status kfe_i_chain_apply(kfe_context *ctx, const kfe_i_chain *chain, const kfe_i_table *table,
                             const char *shown, int64_t first_row, kfe_i_table *out);
/* The numbers of working memory that one row takes, and one row into out[made]; -1, or the column (of the table before the step *at) that a
 * step cannot take. */
int64_t kfe_i_chain_room(const kfe_i_chain *chain);
int64_t kfe_i_chain_row(const kfe_i_chain *chain, const double *row, double *room, double *out, int *at);
/* Fails for column `col` of row `row`, which step `at` cannot take. */
kfe_status kfe_i_chain_refuse(kfe_context *ctx, const kfe_i_chain *chain, int at, const char *shown,
                              int64_t row, int64_t col);

/* origins[steps[s].cols] = the columns of the data that step s sees; 0: steps before it make columns of several. */
int kfe_i_chain_origins(const kfe_i_chain *chain, int s, int64_t *origins);

/* Puts a copy of a step, with what it has learned, before the first one. */
kfe_status kfe_i_chain_prepend(kfe_context *ctx, kfe_i_chain *chain, const kfe_i_fitted_step *step,
                               char *const *names);
/* Whether kfe_transfer put a step before the first one. */
int kfe_i_chain_is_transferred(const kfe_i_chain *chain);

/* Of a linear chain: weights (made × dim) on prepared columns become weights (cols × dim) on the columns of the data, and `constants`[dim] what
 * the outputs are where every column is 0. */
kfe_status kfe_i_chain_pull(kfe_context *ctx, const kfe_i_chain *chain, int64_t dim, const double *weights,
                            double *out, double *constants);

#endif
