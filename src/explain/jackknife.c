/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sure the coefficients of a linear model are: the part "jackknife" of kfe_explain, which needs training data. The rows are dealt to G
 * folds by their content, and the model is fitted again without each of them. With coefficients b_g of these fits and their mean b̄,
 *
 *     s² = (G − 1)/G · Σ_g (b_g − b̄)²,    b ± t(G − 1)·s
 *
 * Efron (1982); Martens & Martens (2000), Modified jack-knife estimation of parameter uncertainty in bilinear modelling. Time: G fits.
 */
#include <math.h>
#include <string.h>

#include "core/distribution.h"
#include "core/memory.h"
#include "core/rng.h"
#include "data/rows/distinct.h"
#include "explain/explain.h"
#include "model/chain_views.h"
#include "model/linear.h"
#include "model/refit.h"

typedef struct jackknife {
    kfe_i_explaining *job;
    const kfe_data *train; /* its missing values are gaps */
    int64_t *fold_of, *kept;
    int64_t folds, numbers; /* coefficients, all outputs of all columns */
    double *sums, *squares; /* of b_g − b and their squares */
    kfe_i_linear_map whole; /* b */
} jackknife;

/* On the columns of the data or, after steps that are not affine, on those that the steps make. */
static kfe_status coefficients_of(kfe_context *ctx, const kfe_model *model, kfe_i_linear_map *out)
{
    kfe_status status = kfe_i_linear_outputs(ctx, model, out);

    if (status != KFE_OK)
        return status;
    kfe_i_linear_map_undo_scaling(model, out);
    return kfe_i_model_prepares_linearly(model, NULL) ? kfe_i_linear_map_undo_steps(ctx, model, out) : KFE_OK;
}

/* Equal rows go to one fold, in an order that only the content of the rows decides. */
static kfe_status deal_rows(jackknife *j)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = j->job->ctx;
    int64_t rows = kfe_data_rows(j->train);
    kfe_i_row_key *keys = NULL;
    kfe_i_distinct distinct = {0};

    KFE_TRY(kfe_i_data_row_keys(ctx, j->train, &keys));
    KFE_TRY(kfe_i_distinct_make(ctx, rows, keys, KFE_STREAM_HELD_OUT, &distinct));
    j->folds = distinct.count < j->job->settings.folds ? distinct.count : j->job->settings.folds;
    KFE_ALLOC(ctx, j->fold_of, rows);
    KFE_ALLOC(ctx, j->kept, rows);
    for (int64_t i = 0; i < rows; i++)
        j->fold_of[i] = distinct.of[i] % j->folds;
cleanup:
    kfe_i_distinct_free(&distinct);
    kfe_i_free(ctx, keys);
    return status;
}

static kfe_status fit_without(jackknife *j, int64_t fold)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = j->job->ctx;
    kfe_i_linear_map part = {0};
    kfe_data *rest = NULL;
    kfe_model *model = NULL;
    int64_t count = 0;

    for (int64_t i = 0; i < kfe_data_rows(j->train); i++)
        if (j->fold_of[i] != fold)
            j->kept[count++] = i;
    KFE_TRY(kfe_i_data_gather(ctx, j->train, j->kept, count, &rest));
    KFE_TRY(kfe_i_refit(ctx, j->job->model, rest, -1, &model));
    KFE_TRY(coefficients_of(ctx, model, &part));
    if (part.cols != j->whole.cols || part.dim != j->whole.dim)
        KFE_FAIL(ctx, KFE_EINPUT,
                 "a fold of the training data lacks a class; give fewer {folds}, or more data");
    for (int64_t c = 0; c < j->numbers; c++) {
        double left = part.weights[c] - j->whole.weights[c];
        j->sums[c] += left;
        j->squares[c] += left * left;
    }
cleanup:
    kfe_i_linear_map_free(&part);
    kfe_model_free(model);
    kfe_data_free(rest);
    return status;
}

static kfe_status add_tables(const jackknife *j)
{
    static const char *const names[] = {"coefficient-sd", "coefficient-low", "coefficient-high"};
    static const char *const about[] = {"jack-knife standard deviation of each coefficient",
                                        "lower end of the jack-knife interval of each coefficient",
                                        "upper end of the jack-knife interval of each coefficient"};
    kfe_status status = KFE_OK;
    double share = (double)(j->folds - 1) / (double)j->folds;
    double t = kfe_i_student_limit(j->job->settings.level, (double)j->folds - 1);
    double *out[3];

    int columns = kfe_i_model_prepares_linearly(j->job->model, NULL) ? KFE_BY_COLUMN : KFE_BY_PREPARED;
    for (int k = 0; k < 3; k++)
        KFE_TRY(kfe_i_explain_table(j->job, names[k], about[k], columns, KFE_BY_OUTPUT, &out[k]));
    for (int64_t c = 0; c < j->numbers; c++) {
        double about_mean = j->squares[c] - j->sums[c] * j->sums[c] / (double)j->folds;
        out[0][c] = sqrt(fmax(about_mean, 0) * share);
        out[1][c] = j->whole.weights[c] - t * out[0][c];
        out[2][c] = j->whole.weights[c] + t * out[0][c];
    }
cleanup:
    return status;
}

/* Each fit may choose other columns. On the columns of the data those that are not chosen have coefficients of 0; on prepared columns
 * nothing could be compared. */
static kfe_status check_columns(const kfe_i_explaining *job)
{
    const char *chooser = NULL;
    const char *step = NULL;

    for (int v = 0; v < job->model->view_count; v++)
        if (kfe_i_chain_chooses(&job->model->views[v].scaler.chain, &chooser) &&
            !kfe_i_model_prepares_linearly(job->model, &step))
            return kfe_i_fail(
                job->ctx, KFE_EUNSUPPORTED,
                "the jack-knife compares coefficients of fits, but step %s chooses other columns in each of them, "
                "and step %s leaves no coefficients on the columns of the data",
                chooser, step);
    return KFE_OK;
}

static kfe_status check(const kfe_i_explaining *job)
{
    const kfe_model *model = job->model;
    const char *reason = kfe_i_features_not_linear(model);

    reason = reason ? reason : kfe_i_outputs_not_linear(model);
    reason = reason ? reason : kfe_i_scaling_not_linear(model);
    if (reason)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED, "this model has no coefficients on columns: %s",
                          reason);
    if (!job->train)
        return kfe_i_fail(job->ctx, KFE_EUNSUPPORTED,
                          "the jack-knife fits the model again without some rows; give {train}");
    if (job->train->target.task != model->target.task)
        return kfe_i_fail(
            job->ctx, KFE_EUNSUPPORTED,
            "the jack-knife needs training data with the kind of labels that the model predicts; "
            "see {task}");
    kfe_status status = check_columns(job);
    return status == KFE_OK ? kfe_i_refit_check(job->ctx, model) : status;
}

kfe_status kfe_i_explain_jackknife(kfe_i_explaining *job)
{
    kfe_status status = check(job);
    jackknife j = {.job = job};
    kfe_log_fn log = job->ctx->log;
    kfe_data *marked = NULL;

    if (status != KFE_OK)
        return status;
    KFE_TRY(kfe_i_refit_mark_gaps(job->ctx, job->model, job->train, &marked));
    j.train = marked ? marked : job->train;
    KFE_TRY(coefficients_of(job->ctx, job->model, &j.whole));
    j.numbers = j.whole.cols * j.whole.dim;
    KFE_ALLOC_ZERO(job->ctx, j.sums, j.numbers);
    KFE_ALLOC_ZERO(job->ctx, j.squares, j.numbers);
    KFE_TRY(deal_rows(&j));
    if (j.folds < 2)
        KFE_FAIL(job->ctx, KFE_EINPUT,
                 "the jack-knife leaves rows out, but all rows of the training data are equal");
    job->ctx->log = NULL; /* the user is not responsible for what folds warn of */
    for (int64_t fold = 0; fold < j.folds; fold++) {
        KFE_TRY(kfe_i_progress(job->ctx, "fitting without a fold", fold, j.folds));
        KFE_TRY(fit_without(&j, fold));
    }
    KFE_TRY(add_tables(&j));
cleanup:
    job->ctx->log = log;
    kfe_i_linear_map_free(&j.whole);
    kfe_data_free(marked);
    kfe_i_free(job->ctx, j.fold_of);
    kfe_i_free(job->ctx, j.kept);
    kfe_i_free(job->ctx, j.sums);
    kfe_i_free(job->ctx, j.squares);
    return status;
}
