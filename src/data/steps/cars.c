/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step cars, competitive adaptive reweighted sampling: a race of columns, in which those with large coefficients survive. Run i of N
 *
 *     fits PLS with `dim` features to the columns that are left, on a random 80 % of the rows,
 *     keeps the p·r_i columns with the largest |coefficients|, r_i = a·exp(−k·i), so that r_1 = 1 and r_N = 2/p, and
 *     draws p times among them, with replacement and probabilities ∝ |coefficient|; the columns drawn are left.
 *
 * Of the N sets of columns the step takes the one whose cross-validated error is smallest, with the best number of features up to `dim`.
 * Several targets: the length of the coefficients of a column. Rows are drawn and dealt to folds by their content; of more than 2,000 different
 * rows, 2,000 take part.
 *
 * Li, Liang, Xu & Cao (2009), "Key wavelengths screening using competitive adaptive reweighted sampling method". Time: N·(folds + 1) fits.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "core/sort.h"
#include "data/steps/chosen_columns.h"
#include "data/steps/column_pls.h"

enum { FEWEST_UNITS = 6, FEWEST_COLUMNS = 2 };

typedef struct cars_settings {
    int64_t runs, dim, folds;
    double share;
} cars_settings;

static const kfe_i_param rows[] = {
    KFE_INT(cars_settings, runs, "runs", "50", 2, 100000,
            "number of runs, each of which leaves fewer columns"),
    KFE_INT(cars_settings, dim, "dim", "10", 1, 1000, "maximum number of PLS features"),
    KFE_INT(cars_settings, folds, "folds", "5", 2, 1000,
            "folds of the cross-validation that compares the columns of the runs"),
    KFE_REAL(cars_settings, share, "share", "0.8", 0.1, 1, "share of the rows that each run fits"),
};

typedef struct race {
    kfe_context *ctx;
    kfe_i_arena memory;
    const cars_settings *settings;
    kfe_i_step_units units;
    kfe_i_column_pls pls;
    kfe_i_rng rng;
    int64_t *columns, count; /* those that are left */
    int64_t *kept, *left;    /* units */
    double *sizes;           /* of the coefficients of these columns */
    double *errors;          /* one per number of features */
    kfe_i_sorted *order;
    unsigned char *drawn;
    double *often;     /* one per column of the data: runs that left it */
    double best;       /* the smallest error */
    unsigned char *at; /* the columns that reach it */
} race;

static kfe_status begin(race *r)
{
    kfe_status status = KFE_OK;
    int64_t d = r->units.cols;

    r->memory.ctx = r->ctx;
    r->count = d;
    r->best = (double)INFINITY;
    KFE_TRY(kfe_i_column_pls_new(r->ctx, &r->units, r->settings->dim, &r->pls));
    KFE_TAKE(&r->memory, r->columns, d);
    KFE_TAKE(&r->memory, r->kept, r->units.count);
    KFE_TAKE(&r->memory, r->left, r->units.count);
    KFE_TAKE(&r->memory, r->sizes, d);
    KFE_TAKE(&r->memory, r->errors, r->settings->dim);
    KFE_TAKE(&r->memory, r->order, d);
    KFE_TAKE(&r->memory, r->drawn, d);
    KFE_TAKE_ZERO(&r->memory, r->often, d);
    KFE_TAKE_ZERO(&r->memory, r->at, d);
    for (int64_t j = 0; j < d; j++)
        r->columns[j] = j;
    kfe_i_rng_init(&r->rng, r->ctx->seed, KFE_STREAM_STEPS);
cleanup:
    return status;
}

/* The coefficients of the columns left on a random part of the units. */
static void fit_some(race *r)
{
    int64_t n = r->units.count;
    int64_t some = (int64_t)floor(r->settings->share * (double)n + 0.5);

    some = some < 2 ? 2 : some;
    kfe_i_rng_choose(&r->rng, n, some, r->kept);
    kfe_i_sort_rows(r->kept, some);
    kfe_i_column_pls_load(&r->pls, (kfe_i_step_list){r->kept, some}, (kfe_i_step_list){NULL, 0},
                          (kfe_i_step_list){r->columns, r->count});
    while (kfe_i_column_pls_add(&r->pls, 0))
        ;
    kfe_i_column_pls_sizes(&r->pls, r->sizes);
}

int64_t kfe_i_cars_columns(double p, int64_t run, int64_t runs)
{
    double k = log(p / 2) / (double)(runs - 1);
    double count = p * pow(p / 2, 1 / (double)(runs - 1)) * exp(-k * (double)run);

    return count < FEWEST_COLUMNS ? FEWEST_COLUMNS : (int64_t)floor(count + 0.5);
}

/* Draws among the `most` columns of the largest coefficients; those drawn are left. */
static void draw(race *r, int64_t most)
{
    double sum = 0;
    int64_t left = 0;

    most = most < r->count ? most : r->count;
    for (int64_t j = 0; j < r->count; j++)
        r->order[j] = (kfe_i_sorted){.index = j, .value = r->sizes[j]};
    kfe_i_sort_falling(r->order, r->count);
    memset(r->drawn, 0, (size_t)r->count);
    for (int64_t j = 0; j < most; j++)
        sum += r->order[j].value;
    for (int64_t k = 0; k < r->units.cols; k++) {
        double place = kfe_i_rng_uniform(&r->rng) * sum;
        int64_t j = 0;
        while (j < most - 1 && place >= r->order[j].value)
            place -= r->order[j++].value;
        r->drawn[r->order[j].index] = 1;
    }
    for (int64_t j = 0; j < r->count; j++)
        if (r->drawn[j])
            r->columns[left++] = r->columns[j];
    r->count = left;
}

/* The smallest cross-validated error of the columns left, over numbers of features. */
static double judge(race *r)
{
    int64_t folds = r->settings->folds < r->units.count ? r->settings->folds : r->units.count;
    int64_t most = r->settings->dim;
    double best = (double)INFINITY;

    memset(r->errors, 0, (size_t)most * sizeof *r->errors);
    for (int64_t fold = 0; fold < folds; fold++) {
        kfe_i_step_list kept = {r->kept, 0};
        kfe_i_step_list left = {r->left, 0};
        for (int64_t u = 0; u < r->units.count; u++)
            if (u % folds == fold)
                r->left[left.count++] = u;
            else
                r->kept[kept.count++] = u;
        kfe_i_column_pls_load(&r->pls, kept, left, (kfe_i_step_list){r->columns, r->count});
        for (int64_t a = 0; a < most; a++) {
            kfe_i_column_pls_add(&r->pls, 0);
            r->errors[a] += kfe_i_column_pls_error(&r->pls);
        }
    }
    for (int64_t a = 0; a < most; a++)
        best = fmin(best, r->errors[a]);
    return best;
}

static void note(race *r)
{
    double error = judge(r);

    for (int64_t j = 0; j < r->count; j++)
        r->often[r->columns[j]]++;
    if (!(error < r->best * (1 - 1e-12)))
        return;
    r->best = error;
    memset(r->at, 0, (size_t)r->units.cols);
    for (int64_t j = 0; j < r->count; j++)
        r->at[r->columns[j]] = 1;
}

static kfe_status run(race *r)
{
    kfe_status status = KFE_OK;
    int64_t runs = r->settings->runs;

    for (int64_t i = 1; i <= runs; i++) {
        KFE_TRY(kfe_i_progress(r->ctx, "cars: choosing columns", i - 1, runs));
        fit_some(r);
        draw(r, kfe_i_cars_columns((double)r->units.cols, i, runs));
        note(r);
    }
cleanup:
    return status;
}

static kfe_status choose(kfe_context *ctx, const kfe_i_table *table, const kfe_i_step_target *target,
                         kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    race r = {.ctx = ctx, .settings = fit->settings};
    int64_t chosen = 0;
    double mass = 0;

    KFE_TRY(kfe_i_step_units_make(ctx, table, target, fit->step->name, FEWEST_UNITS, &r.units));
    KFE_TRY(begin(&r));
    if (fit->cols > FEWEST_COLUMNS)
        KFE_TRY(run(&r));
    for (int64_t j = 0; j < fit->cols; j++) {
        int is_chosen = fit->cols <= FEWEST_COLUMNS || r.at[j];
        fit->learned[j] = is_chosen;
        fit->learned[fit->cols + j] = fit->cols <= FEWEST_COLUMNS ? 1 : r.often[j] / (double)r.settings->runs;
        chosen += is_chosen;
    }
    for (int64_t u = 0; u < r.units.count; u++)
        mass += r.units.masses[u];
    if (fit->cols > FEWEST_COLUMNS)
        kfe_i_log(ctx, KFE_LOG_INFO, "cars: %lld of %lld columns; RMSECV is %.3g standard deviations",
                  (long long)chosen, (long long)fit->cols, sqrt(r.best / mass));
cleanup:
    kfe_i_column_pls_free(&r.pls);
    kfe_i_step_units_free(&r.units);
    kfe_i_arena_free(&r.memory);
    return status;
}

const kfe_i_row_step kfe_i_step_cars = {
    .name = "cars",
    .summary =
        "competitive adaptive reweighted sampling: keeps the columns with which PLS predicts the target best",
    .formula = "Li, Liang, Xu & Cao (2009)",
    .params = KFE_PARAM_TABLE(rows, cars_settings),
    .learns = KFE_CHOSEN_LEARNS,
    .plan = kfe_i_chosen_plan,
    .choose = choose,
    .apply = kfe_i_kept_apply,
    .pull = kfe_i_kept_pull,
    .name_of = kfe_i_kept_name,
    .graph = kfe_i_kept_graph,
};
