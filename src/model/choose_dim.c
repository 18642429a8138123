/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of features by cross-validation, for methods whose first features stay the same when more are made. The spec is fitted with
 * 20 features (or as many as there are columns) on four of five folds, scaling and kernel width included, and the targets are regressed on the first j
 * features, for every j at once. By default the fewest features are taken whose squared error on the rows left out is within one standard error
 * of the smallest (Breiman et al. 1984); {choose} has other rules, which select/choose.c states. If they take the mean of the targets alone, as where
 * classes differ in no direction but around one, nothing is chosen, and the method makes as many as it does by itself. Classes are indicators. Equal
 * rows are in one fold, and errors count by weight.
 *
 * Called by fit.c. Time: six fits of at most 1,000 distinct rows.
 */
#include "model/choose_dim.h"

#include <string.h>

#include "core/rng.h"
#include "model/choose_keep.h"

enum { MOST_FEATURES = 20, MOST_ROWS = 1000, FEWEST_ROWS = 10 };

/* Of all views or, if directions of each are found together, of the smallest. */
static int64_t columns_of(const kfe_i_fit *job)
{
    int64_t cols = job->scaled[0].cols;

    for (int v = 1; v < job->train->view_count; v++)
        if (!kfe_i_spec_keep(job->spec))
            cols += job->scaled[v].cols;
        else if (job->scaled[v].cols < cols)
            cols = job->scaled[v].cols;
    return cols;
}

/* Linear methods cannot give more features than columns, and other methods no more than rows. */
static int64_t most_features(const kfe_i_fit *job, int64_t units)
{
    int64_t most = units - (units + KFE_CHOOSING_FOLDS - 1) / KFE_CHOOSING_FOLDS - 2;

    if (!(job->spec->method->flags & KFE_HAS_KERNELS) && columns_of(job) < most)
        most = columns_of(job);
    return most < MOST_FEATURES ? most : MOST_FEATURES;
}

static double error_of(const kfe_i_choosing *c, int64_t j)
{
    return kfe_i_choosing_sum(c, c->errors + j * c->units);
}

/* 0: the mean of the targets, without any feature. */
static int64_t best_number(const kfe_i_choosing *c)
{
    int64_t best = 0;

    for (int64_t j = 1; j <= c->most; j++)
        if (error_of(c, j) < error_of(c, best) * (1 - KFE_EQUAL_ERRORS))
            best = j;
    return best;
}

static int64_t fewest_within(const kfe_i_choosing *c, int64_t best)
{
    double within = error_of(c, best) + kfe_i_choosing_standard_error(c, c->errors + best * c->units);
    int64_t j = 0;

    while (j < best && error_of(c, j) > within * (1 + KFE_EQUAL_ERRORS))
        j++;
    return j;
}

/* The first whose errors of the distinct rows differ by chance from those of the best. */
static kfe_status fewest_by_flips(const kfe_i_choosing *c, int64_t best, int64_t *out)
{
    kfe_status status = KFE_OK;
    double *d = NULL;

    KFE_ALLOC(c->ctx, d, c->units);
    for (*out = 0; *out < best; ++*out) {
        for (int64_t u = 0; u < c->units; u++)
            d[u] = c->errors[*out * c->units + u] - c->errors[best * c->units + u];
        if (kfe_i_flip_probability(c->ctx->seed, c->units, d) > KFE_FLIP_LEVEL)
            break;
    }
cleanup:
    kfe_i_free(c->ctx, d);
    return status;
}

/* The last of those that each lower the root of the mean squared error. */
static int64_t most_by_gain(const kfe_i_choosing *c)
{
    int64_t j = 0;

    while (j < c->most && error_of(c, j + 1) <= KFE_Q2_GAIN * KFE_Q2_GAIN * error_of(c, j))
        j++;
    return j;
}

static kfe_status choose_number(const kfe_i_choosing *c, int rule, int64_t *out)
{
    int64_t best = best_number(c);

    if (rule == KFE_CHOOSE_PERMUTATION)
        return fewest_by_flips(c, best, out);
    *out = rule == KFE_CHOOSE_Q2 ? most_by_gain(c) : rule == KFE_CHOOSE_MIN ? best : fewest_within(c, best);
    return KFE_OK;
}

/* Keeps the share of the targets' variance that each number of features left unexplained, with its standard error. */
static kfe_status keep_errors(kfe_i_fit *job, const kfe_i_choosing *c)
{
    kfe_status status = KFE_OK;
    double nothing = kfe_i_choosing_sum(c, c->errors);

    KFE_ALLOC(job->ctx, job->dim_errors, 2 * c->most);
    job->dim_error_count = c->most;
    for (int64_t j = 1; j <= c->most; j++) {
        job->dim_errors[j - 1] = kfe_i_choosing_sum(c, c->errors + j * c->units) / nothing;
        job->dim_errors[c->most + j - 1] =
            kfe_i_choosing_standard_error(c, c->errors + j * c->units) / nothing;
    }
cleanup:
    return status;
}

/* The fit goes on with `dim` features and, with keep=auto, the numbers of columns that were chosen for them. */
static kfe_status take_choice(kfe_i_fit *job, const kfe_i_choosing *c, int64_t dim)
{
    kfe_status status = KFE_OK;
    int keep = kfe_i_spec_chooses_keep(job->spec);

    if (kfe_i_spec_chooses_dim(job->spec))
        KFE_TRY(keep_errors(job, c));
    KFE_TRY(kfe_i_spec_copy(job->ctx, job->spec, &job->own_spec));
    *kfe_i_spec_dim(job->own_spec) = dim;
    if (keep)
        kfe_i_keep_of_first(kfe_i_spec_keep(c->spec), dim, kfe_i_spec_keep(job->own_spec));
    if (kfe_i_spec_chooses_dim(job->spec))
        kfe_i_log(job->ctx, KFE_LOG_INFO, "%s: %lld features by cross-validation on %lld distinct examples",
                  job->spec->method->name, (long long)dim, (long long)c->units);
    if (keep)
        kfe_i_log(job->ctx, KFE_LOG_INFO, "%s: keep=%s by cross-validation", job->spec->method->name,
                  kfe_i_spec_keep(job->own_spec));
    job->spec = job->own_spec;
cleanup:
    return status;
}

/* Whether a fold could not be fitted for a reason that does not make the whole fit fail. */
static int is_unfit(kfe_status status)
{
    return status == KFE_EINPUT || status == KFE_ENUMERIC || status == KFE_EINVAL;
}

static kfe_status choose(kfe_i_fit *job, kfe_i_choosing *c, const kfe_i_keep_task *keep)
{
    kfe_status status = KFE_OK;
    kfe_log_fn log = job->ctx->log;
    int given = !kfe_i_spec_chooses_dim(job->spec);

    KFE_TRY(kfe_i_spec_copy(job->ctx, job->spec, &c->spec));
    KFE_TRY(kfe_spec_set_learner(job->ctx, c->spec, NULL, NULL));
    c->spec->fit.calibration = KFE_CALIBRATION_NONE;
    *kfe_i_spec_dim(c->spec) = c->most;
    if (kfe_i_spec_chooses_keep(c->spec)) /* rows are dealt by a fit that chooses nothing */
        KFE_TRY(kfe_i_param_set(job->ctx, &c->spec->method->params, NULL, c->spec->settings, "keep", "all"));
    job->ctx->log = NULL; /* the user is not responsible for what folds warn of */
    status = kfe_i_choosing_begin(c);
    if (status == KFE_OK)
        status = kfe_i_spec_chooses_keep(job->spec) ? kfe_i_choose_keep(c, keep) : kfe_i_choosing_measure(c);
    job->ctx->log = log;
    if (is_unfit(status) || (status == KFE_OK && !(kfe_i_choosing_sum(c, c->errors) > 0)))
        return KFE_OK;
    KFE_TRY(status);
    int64_t dim = given ? *kfe_i_spec_dim(job->spec) : 0;
    if (!given)
        KFE_TRY(choose_number(c, job->spec->fit.choose, &dim));
    if (dim > 0)
        KFE_TRY(take_choice(job, c, dim));
cleanup:
    return status;
}

kfe_status kfe_i_fit_choose_dim(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_choosing c = {.ctx = job->ctx, .memory.ctx = job->ctx, .train = job->train};
    kfe_i_keep_task keep = {.views = job->scaled,
                            .view_count = job->train->view_count,
                            .given = !kfe_i_spec_chooses_dim(job->spec)};

    if (job->target.task == KFE_TASK_NONE)
        return KFE_OK;
    if (kfe_i_spec_chooses_keep(job->spec))
        KFE_TRY(kfe_i_keep_values(job->ctx, job->spec->method->name, kfe_i_spec_keep_values(job->spec),
                                  &keep.values));
    KFE_TRY(kfe_i_distinct_make(job->ctx, job->target.rows, job->target.keys, KFE_STREAM_DIM, &c.distinct));
    c.units = c.distinct.count < MOST_ROWS ? c.distinct.count : MOST_ROWS;
    c.most = most_features(job, c.units);
    if (!kfe_i_spec_chooses_dim(job->spec) && *kfe_i_spec_dim(job->spec) < c.most)
        c.most = *kfe_i_spec_dim(job->spec);
    if (c.units >= FEWEST_ROWS && c.most > !kfe_i_spec_chooses_keep(job->spec))
        KFE_TRY(choose(job, &c, &keep));
cleanup:
    kfe_i_free(job->ctx, keep.values.items);
    kfe_i_choosing_free(&c);
    return status;
}
