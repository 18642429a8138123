/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step stability, stability selection: sparse PLS is fitted to many random halves of the rows, and the columns that at least a share π of
 * these fits use are kept. A fit uses q = dim·keep columns at most. Where columns without influence are used equally often, and sparse PLS is
 * no worse than guessing, the expected number of such columns among those kept is at most
 *
 *     E[V] ≤ q² / ((2π − 1) p).
 *
 * keep=auto takes the largest q for which this bound is at most `errors`. If no column reaches π, the most frequent one stays. Halves are drawn
 * by the content of the rows; of more than 2,000 different rows, 2,000 take part.
 *
 * Meinshausen & Bühlmann (2010), "Stability selection", theorem 1; Lê Cao et al. (2008) for sparse PLS. Time: one fit per half.
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "core/sort.h"
#include "data/steps/chosen_columns.h"
#include "data/steps/column_pls.h"

enum { FEWEST_UNITS = 6 };

typedef struct stability_settings {
    int64_t runs, dim, keep;
    double threshold, errors;
} stability_settings;

static const kfe_i_param rows[] = {
    KFE_INT(stability_settings, runs, "runs", "100", 2, 100000, "number of random halves of the rows"),
    KFE_INT(stability_settings, dim, "dim", "1", 1, 1000, "number of features of the sparse PLS"),
    KFE_INT_OR(stability_settings, keep, "keep", "auto", 1, KFE_INT_MAX, "auto", "auto=0",
               "maximum number of columns that a feature uses; auto: as many as `errors` allows"),
    KFE_REAL(stability_settings, threshold, "threshold", "0.75", 0.51, 1,
             "share of the halves that must use a column"),
    KFE_REAL(stability_settings, errors, "errors", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "for keep=auto: limit on the expected number of wrongly kept columns"),
};

/* How many columns a feature uses. */
static int64_t columns_of_feature(const stability_settings *s, int64_t columns)
{
    double q = floor(sqrt(s->errors * (2 * s->threshold - 1) * (double)columns));
    double each = s->keep > 0 ? (double)s->keep : floor(q / (double)s->dim);

    each = each < 1 ? 1 : each;
    return each < (double)columns ? (int64_t)each : columns;
}

/* Counts in often[cols] the halves whose fit uses each column. */
static kfe_status count_uses(kfe_context *ctx, const stability_settings *s, const kfe_i_step_units *units,
                             int64_t keep, double *often)
{
    kfe_status status = KFE_OK;
    kfe_i_arena memory = {.ctx = ctx};
    kfe_i_column_pls pls = {0};
    kfe_i_step_list all = {.count = units->cols};
    kfe_i_step_list half = {.count = units->count / 2};
    kfe_i_rng rng;
    int64_t *items = NULL;
    int64_t *columns = NULL;

    kfe_i_rng_init(&rng, ctx->seed, KFE_STREAM_STEPS);
    KFE_TRY(kfe_i_column_pls_new(ctx, units, s->dim, &pls));
    KFE_TAKE(&memory, items, units->count);
    KFE_TAKE(&memory, columns, units->cols);
    for (int64_t j = 0; j < units->cols; j++)
        columns[j] = j;
    all.items = columns;
    half.items = items;
    for (int64_t run = 0; run < s->runs; run++) {
        KFE_TRY(kfe_i_progress(ctx, "stability: choosing columns", run, s->runs));
        kfe_i_rng_choose(&rng, units->count, half.count, items);
        kfe_i_sort_rows(items, half.count);
        kfe_i_column_pls_load(&pls, half, (kfe_i_step_list){NULL, 0}, all);
        while (kfe_i_column_pls_add(&pls, keep))
            ;
        for (int64_t j = 0; j < units->cols; j++) {
            int used = 0;
            for (int64_t a = 0; a < pls.made; a++)
                used |= pls.weights[a * units->cols + j] != 0;
            often[j] += used;
        }
    }
cleanup:
    kfe_i_column_pls_free(&pls);
    kfe_i_arena_free(&memory);
    return status;
}

static void log_choice(kfe_context *ctx, const kfe_i_fitted_step *fit, int64_t keep, int64_t reached)
{
    const stability_settings *s = fit->settings;
    double q = (double)(keep * s->dim);
    double bound = q * q / ((2 * s->threshold - 1) * (double)fit->cols);

    if (reached > 0)
        kfe_i_log(
            ctx, KFE_LOG_INFO,
            "stability: %lld of %lld columns are used by %g %% of the halves or more; at most %.3g columns "
            "without influence are expected among them",
            (long long)reached, (long long)fit->cols, 100 * s->threshold, bound);
    else
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "stability: no column is used by %g %% of the halves; the most frequent one is kept",
                  100 * s->threshold);
}

static kfe_status choose(kfe_context *ctx, const kfe_i_table *table, const kfe_i_step_target *target,
                         kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;
    const stability_settings *s = fit->settings;
    kfe_i_step_units units = {0};
    double *often = fit->learned + fit->cols;
    int64_t keep = columns_of_feature(s, fit->cols);
    double least = s->threshold * (double)s->runs * (1 - 1e-12);
    double most = 0;
    int64_t reached = 0;

    memset(fit->learned, 0, (size_t)(2 * fit->cols) * sizeof *fit->learned);
    KFE_TRY(kfe_i_step_units_make(ctx, table, target, fit->step->name, FEWEST_UNITS, &units));
    KFE_TRY(count_uses(ctx, s, &units, keep, often));
    for (int64_t j = 0; j < fit->cols; j++) {
        most = fmax(most, often[j]);
        reached += often[j] >= least;
    }
    for (int64_t j = 0; j < fit->cols; j++) {
        fit->learned[j] = often[j] >= (reached > 0 ? least : most);
        often[j] /= (double)s->runs;
    }
    log_choice(ctx, fit, keep, reached);
cleanup:
    kfe_i_step_units_free(&units);
    return status;
}

const kfe_i_row_step kfe_i_step_stability = {
    .name = "stability",
    .summary =
        "stability selection: keeps the columns that sparse PLS uses on most random halves of the rows",
    .formula = "q^2/((2*threshold - 1)*p) bounds the wrong columns; Meinshausen & Bühlmann (2010)",
    .params = KFE_PARAM_TABLE(rows, stability_settings),
    .learns = KFE_CHOSEN_LEARNS,
    .plan = kfe_i_chosen_plan,
    .choose = choose,
    .apply = kfe_i_kept_apply,
    .pull = kfe_i_kept_pull,
    .name_of = kfe_i_kept_name,
    .graph = kfe_i_kept_graph,
};
