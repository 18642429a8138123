/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe_transfer: makes a model of a first instrument (the master) one for a second (the slave). pds and epo become the first step of
 * every view (transfer_steps.c), slope-bias changes the predictor (transfer_outputs.c). A model that keeps fits without some of the rows,
 * for its intervals, has these changed alike.
 */
#include "model/transfer.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/rows/fingerprint.h"
#include "data/steps/chain.h"
#include "model/arrange.h"
#include "model/refit.h"

typedef struct transfer {
    kfe_context *ctx;
    const kfe_model *model;
    kfe_i_chain chain; /* the one step; no step: slope-bias */
    kfe_i_slope_bias_settings slope_bias;
    kfe_data master, slave, train; /* in the model's order of views; no views: not given */
    kfe_i_fitted_step *steps;      /* one per view, learned */
} transfer;

/* ---- how ---- */

#define SLOPE_BIAS "slope-bias"

static int names_step(const char *how, size_t length)
{
    const kfe_i_row_step *step;

    for (int i = 0; (step = kfe_i_step_at(i)); i++)
        if (step->is_transfer && strlen(step->name) == length && memcmp(how, step->name, length) == 0)
            return 1;
    return 0;
}

static kfe_status parse(transfer *job, const char *how)
{
    kfe_status status = KFE_OK;
    const char *text = how ? how : "";
    size_t length = strcspn(text, ":");

    if (length == strlen(SLOPE_BIAS) && memcmp(text, SLOPE_BIAS, length) == 0) {
        KFE_TRY(kfe_i_params_default(job->ctx, &kfe_i_slope_bias_params, &job->slope_bias));
        KFE_TRY(kfe_i_params_parse(job->ctx, &kfe_i_slope_bias_params, SLOPE_BIAS, &job->slope_bias,
                                   text[length] ? text + length + 1 : NULL));
        goto cleanup;
    }
    if (!names_step(text, length))
        KFE_FAIL(job->ctx, KFE_EINVAL,
                 "{how} is one of pds, epo and slope-bias, with settings as in pds:window=5,dim=2; "
                 "'%s' is none of them",
                 text);
    KFE_TRY(kfe_i_chain_parse(job->ctx, text, &job->chain));
    if (job->chain.count != 1)
        KFE_FAIL(job->ctx, KFE_EINVAL, "{how}: a transfer is one step, not '%s'", text);
cleanup:
    return status;
}

/* ---- the samples ---- */

static kfe_status arrange(transfer *job, const kfe_data *data, const char *what, kfe_data *out)
{
    kfe_status status = KFE_OK;

    if (!data)
        return KFE_OK;
    KFE_TRY(kfe_i_arrange(job->ctx, job->model, data, out));
    KFE_TRY(kfe_i_model_check(job->ctx, job->model, out));
    if (kfe_data_rows(out) == 0)
        KFE_FAIL(job->ctx, KFE_EINPUT, "the %s has no rows", what);
cleanup:
    return status;
}

static int is_epo(const transfer *job)
{
    return job->chain.count > 0 && strcmp(job->chain.steps[0].step->name, "epo") == 0;
}

static kfe_status check_given(const transfer *job, const kfe_data *master, const kfe_data *slave,
                              const kfe_data *train)
{
    kfe_context *ctx = job->ctx;
    int is_step = job->chain.count > 0;

    if (!slave)
        return kfe_i_fail(ctx, KFE_EINVAL, "give the samples that the second instrument measured: {slave}");
    if (is_step && !master)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "give what the first instrument measured of the same samples: {master}");
    if (!is_step && master)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "slope-bias compares predictions of the slave's samples with their reference values; "
            "leave out {master}");
    if (train && !is_epo(job))
        return kfe_i_fail(ctx, KFE_EINVAL, "only epo fits the model again; leave out {train}");
    return KFE_OK;
}

static int same_id(const kfe_i_table *a, const kfe_i_table *b, int64_t i)
{
    int64_t length = a->row_start[i + 1] - a->row_start[i];

    return length == b->row_start[i + 1] - b->row_start[i] &&
           memcmp(a->bytes + a->row_start[i], b->bytes + b->row_start[i], (size_t)length) == 0;
}

/* Rows belong together by their place; ids, where both files have them, must agree. */
static kfe_status check_pairing(const transfer *job)
{
    const kfe_data *master = &job->master;
    const kfe_data *slave = &job->slave;
    int64_t rows = kfe_data_rows(master);
    const kfe_i_table *a = &master->ids;
    const kfe_i_table *b = &slave->ids;

    if (kfe_data_rows(slave) != rows)
        return kfe_i_fail(job->ctx, KFE_EINPUT,
                          "the master has %lld samples and the slave %lld; row i of both is the same sample",
                          (long long)rows, (long long)kfe_data_rows(slave));
    for (int64_t i = 0; a->rows == rows && b->rows == rows && i < rows; i++)
        if (!same_id(a, b, i))
            return kfe_i_fail(job->ctx, KFE_EINPUT,
                              "row %lld is sample '%.*s' of the master, but '%.*s' of the slave; give the "
                              "samples in the same order",
                              (long long)i + 1, (int)(a->row_start[i + 1] - a->row_start[i]),
                              a->bytes + a->row_start[i], (int)(b->row_start[i + 1] - b->row_start[i]),
                              b->bytes + b->row_start[i]);
    for (int64_t i = 0; master->target.weights && slave->target.weights && i < rows; i++)
        if (master->target.weights[i] != slave->target.weights[i])
            return kfe_i_fail(
                job->ctx, KFE_EINPUT,
                "row %lld has weight %g on the master and %g on the slave; give each sample one "
                "weight",
                (long long)i + 1, master->target.weights[i], slave->target.weights[i]);
    return KFE_OK;
}

/* The rows of a view as numbers, missing values filled in as the model does. */
static kfe_status open_rows(kfe_context *ctx, const kfe_i_model_view *expected, const kfe_i_view *given,
                            kfe_i_table *out)
{
    kfe_status status = KFE_OK;

    if (expected->strings)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "%s: strings are not measured by instruments",
                 kfe_i_view_shown(given));
    if (expected->scaler.fill && given->table.kind == KFE_TABLE_DENSE) {
        KFE_TRY(kfe_i_gaps_open(ctx, &given->table, &given->gaps, out));
        kfe_i_fill_nans(expected->scaler.fill, out);
    } else {
        KFE_TRY(kfe_i_table_copy(ctx, &given->table, out));
    }
    KFE_TRY(kfe_i_table_make_dense(ctx, out));
cleanup:
    return status;
}

/* ---- steps ---- */

static kfe_status learn_view(transfer *job, int v)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = job->ctx;
    const kfe_i_model_view *view = &job->model->views[v];
    kfe_i_fitted_step *step = &job->steps[v];
    kfe_i_table master = {0};
    kfe_i_table slave = {0};

    KFE_TRY(open_rows(ctx, view, &job->master.views[v], &master));
    KFE_TRY(open_rows(ctx, view, &job->slave.views[v], &slave));
    KFE_TRY(kfe_i_chain_plan(ctx, &job->chain, view->cols, NULL));
    *step = job->chain.steps[0];
    step->learned = NULL;
    kfe_i_pairs pairs = {.rows = master.rows,
                         .cols = view->cols,
                         .master = master.values,
                         .slave = slave.values,
                         .weights = job->slave.target.weights ? job->slave.target.weights
                                                              : job->master.target.weights};
    KFE_ALLOC(ctx, step->learned, kfe_i_step_learns(step) * view->cols);
    KFE_TRY((is_epo(job) ? kfe_i_epo_learn : kfe_i_pds_learn)(ctx, &pairs, step));
cleanup:
    kfe_i_table_free(&master);
    kfe_i_table_free(&slave);
    return status;
}

static kfe_status learn_views(transfer *job)
{
    kfe_status status = KFE_OK;

    KFE_TRY(check_pairing(job));
    for (int64_t m = 0; m < job->model->kernels.count; m++)
        if (job->model->kernels.items[m].def->base == KFE_BASE_GIVEN)
            KFE_FAIL(job->ctx, KFE_EUNSUPPORTED, "a model of a given kernel matrix cannot be transferred");
    KFE_ALLOC_ZERO(job->ctx, job->steps, job->model->view_count);
    for (int v = 0; v < job->model->view_count; v++)
        KFE_TRY(learn_view(job, v));
cleanup:
    return status;
}

static kfe_status prepend(const transfer *job, kfe_model *model)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < model->view_count; v++) {
        kfe_i_scaler *scaler = &model->views[v].scaler;
        KFE_TRY(kfe_i_chain_prepend(job->ctx, &scaler->chain, &job->steps[v], model->views[v].column_names));
        scaler->ctx = job->ctx;
        scaler->cols = model->views[v].cols;
    }
    for (int64_t k = 0; model->fold_models && k < model->conformal.folds; k++)
        KFE_TRY(prepend(job, model->fold_models[k].model));
cleanup:
    return status;
}

/* ---- a fit on projected rows ---- */

static kfe_status check_refit(const transfer *job)
{
    kfe_status status = KFE_OK;
    const kfe_model *model = job->model;

    KFE_TRY(kfe_i_refit_check(job->ctx, model));
    if (model->view_count > 1 || model->division.cols > 0)
        KFE_FAIL(job->ctx, KFE_EUNSUPPORTED, "only models of one view are fitted again by {transfer}");
    if (model->views[0].scaler.fill)
        KFE_FAIL(job->ctx, KFE_EUNSUPPORTED,
                 "models that fill in missing values are not fitted again by {transfer}");
cleanup:
    return status;
}

/* The training rows, projected. */
static kfe_status project_rows(const transfer *job, kfe_data **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = job->ctx;
    const kfe_data *train = &job->train;
    int64_t rows = kfe_data_rows(train);
    kfe_i_chain step = {.ctx = ctx, .count = 1, .steps = job->steps, .cols = job->steps[0].cols};
    kfe_i_table projected = {0};
    int64_t *all = NULL;

    step.made = step.cols;
    KFE_ALLOC(ctx, all, rows);
    for (int64_t i = 0; i < rows; i++)
        all[i] = i;
    KFE_TRY(kfe_i_data_gather(ctx, train, all, rows, out));
    KFE_TRY(kfe_i_view_copy_columns(ctx, &train->views[0], &(*out)->views[0]));
    KFE_TRY(kfe_i_data_copy_label_place(ctx, train, *out));
    KFE_TRY(kfe_i_chain_apply(ctx, &step, &train->views[0].table, kfe_i_view_shown(&train->views[0]), 0,
                              &projected));
    kfe_i_table_free(&(*out)->views[0].table);
    (*out)->views[0].table = projected;
cleanup:
    kfe_i_free(ctx, all);
    return status;
}

static kfe_status fit_again(const transfer *job, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_data *projected = NULL;

    KFE_TRY(check_refit(job));
    KFE_TRY(project_rows(job, &projected));
    KFE_TRY(kfe_i_refit(job->ctx, job->model, projected, -1, out));
    (*out)->origin.fingerprint = kfe_i_data_fingerprint(job->ctx, &job->train);
cleanup:
    kfe_data_free(projected);
    return status;
}

/* ---- all together ---- */

static kfe_status copy_model(kfe_context *ctx, const kfe_model *model, kfe_model **out)
{
    kfe_status status = KFE_OK;
    char *bytes = NULL;
    size_t size = 0;

    KFE_TRY(kfe_model_save_bytes(ctx, model, &bytes, &size));
    KFE_TRY(kfe_model_load_bytes(ctx, bytes, size, out));
    (*out)->origin.fingerprint = 0; /* the rows it was trained on are not what it is for now */
cleanup:
    kfe_string_free(ctx, bytes);
    return status;
}

/* The files of the fold models, which model files contain. */
static kfe_status write_folds(kfe_context *ctx, kfe_model *model)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; model->fold_models && k < model->conformal.folds; k++) {
        kfe_i_fold_model *fold = &model->fold_models[k];
        size_t size = 0;
        kfe_i_free(ctx, fold->bytes);
        fold->bytes = NULL;
        KFE_TRY(kfe_model_save_bytes(ctx, fold->model, &fold->bytes, &size));
        fold->size = (int64_t)size;
    }
cleanup:
    return status;
}

static kfe_status make(transfer *job, kfe_model **out)
{
    kfe_status status = KFE_OK;

    if (job->chain.count > 0)
        KFE_TRY(learn_views(job));
    if (job->train.view_count > 0)
        KFE_TRY(fit_again(job, out));
    else
        KFE_TRY(copy_model(job->ctx, job->model, out));
    if (job->chain.count > 0)
        KFE_TRY(prepend(job, *out));
    else
        KFE_TRY(kfe_i_slope_bias(job->ctx, job->model, &job->slope_bias, &job->slave, *out));
    KFE_TRY(write_folds(job->ctx, *out));
cleanup:
    return status;
}

static void release(transfer *job)
{
    for (int v = 0; job->steps && v < job->model->view_count; v++)
        kfe_i_free(job->ctx, job->steps[v].learned);
    kfe_i_free(job->ctx, job->steps);
    kfe_i_chain_free(&job->chain);
    kfe_i_arrange_free(&job->master);
    kfe_i_arrange_free(&job->slave);
    kfe_i_arrange_free(&job->train);
}

kfe_status kfe_transfer(kfe_context *ctx, const kfe_model *model, const char *how, const kfe_data *master,
                        const kfe_data *slave, const kfe_data *train, kfe_model **out)
{
    kfe_status status = KFE_OK;
    transfer job = {.ctx = ctx, .model = model};
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    KFE_TRY(parse(&job, how));
    KFE_TRY(check_given(&job, master, slave, train));
    KFE_TRY(arrange(&job, master, "master", &job.master));
    KFE_TRY(arrange(&job, slave, "slave", &job.slave));
    KFE_TRY(arrange(&job, train, "training data", &job.train));
    KFE_TRY(make(&job, out));
cleanup:
    release(&job);
    if (status != KFE_OK) {
        kfe_model_free(*out);
        *out = NULL;
    }
    kfe_i_threads_leave(saved_threads);
    return status;
}
