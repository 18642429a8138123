/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model from sums: kfe_accumulator_finish. The map of the accumulator becomes the model, after its features f are multiplied with the
 * coefficients W that the method found on them: with landmarks f = Tᵀκ(S, x), so that Wᵀf = (TW)ᵀκ(S, x).
 */
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "accumulate/weigh.h"
#include "core/memory.h"
#include "core/text.h"
#include "data/target/class_weights.h"
#include "kernel/expansion.h"
#include "method/shared/moments.h"
#include "method/shared/spread.h"

typedef struct finishing {
    kfe_context *ctx;
    const kfe_accumulator *from;
    kfe_model *model;
    kfe_i_sums sums;     /* of the scaled columns */
    kfe_i_sums features; /* of the features */
    kfe_i_solution solution;
    double *marks; /* landmarks × summed columns: those of the landmarks themselves; NULL: not wanted */
} finishing;

static void release(finishing *f)
{
    kfe_model_free(f->model);
    kfe_i_sums_free(&f->sums);
    kfe_i_sums_free(&f->features);
    kfe_i_solution_free(&f->solution);
    kfe_i_free(f->ctx, f->marks);
}

/* ---- checks ---- */

kfe_status kfe_i_accumulator_check_classes(const kfe_accumulator *a)
{
    const kfe_i_method *method = a->spec->method;
    int supervised = (method->flags & KFE_HAS_SUPERVISION) != 0;

    if (a->sums.task != KFE_TASK_CLASSES || !(supervised || a->spec->learner))
        return KFE_OK;
    if (a->sums.classes < 2)
        return kfe_i_fail(a->ctx, KFE_EINPUT,
                          "%s needs at least two classes, but every example is of class '%s'",
                          supervised ? method->name : a->spec->learner->name, a->class_names[0]);
    return kfe_i_class_masses_check(a->ctx, a->sums.classes, a->sums.class_rows, a->class_names);
}

static kfe_status check_ready(const kfe_accumulator *a)
{
    if (!a->map || !(a->sums.rows > 0))
        return kfe_i_fail(a->ctx, KFE_EINPUT, "there are no examples to fit on: no rows were added");
    kfe_status status = kfe_i_accumulator_check_sums(a->ctx, a, "no model can be made");
    if (status != KFE_OK)
        return status;
    status = kfe_i_accumulator_check_classes(a);
    if (status != KFE_OK)
        return status;
    status = kfe_i_check_weighed_classes(a);
    if (status != KFE_OK)
        return status;
    if (a->spec->learner && a->sums.task == KFE_TASK_REAL && !(a->spec->learner->flags & KFE_HAS_REGRESSION))
        return kfe_i_fail(a->ctx, KFE_EINPUT,
                          "learner %s predicts classes, but the targets are real numbers; use ls",
                          a->spec->learner->name);
    return KFE_OK;
}

/* ---- the model ---- */

/* A copy of the map, whose context is that of the accumulator. */
static kfe_status copy_map(finishing *f)
{
    kfe_status status = KFE_OK;
    char *bytes = NULL;
    size_t size = 0;

    KFE_TRY(kfe_model_save_bytes(f->ctx, f->from->map, &bytes, &size));
    KFE_TRY(kfe_model_load_bytes(f->ctx, bytes, size, &f->model));
    kfe_i_free(f->ctx, f->model->support_index); /* rows of the start, not of all rows */
    f->model->support_index = NULL;
cleanup:
    kfe_i_free(f->ctx, bytes);
    return status;
}

/* Linear methods scale by what all rows show. */
static kfe_status scale_sums(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_accumulator *a = f->from;
    kfe_i_scaler scaler = {0};

    KFE_TRY(kfe_i_sums_copy(&a->sums, &f->sums));
    if (kfe_i_accumulator_has_kernel(a->spec) || kfe_i_spec_scale(a->spec) == KFE_SCALE_L2_ROWS)
        return KFE_OK;
    kfe_i_scaler *old = &f->model->views[0].scaler;
    KFE_TRY(kfe_i_scaler_from_sums(f->ctx, (kfe_i_scale_kind)kfe_i_spec_scale(a->spec),
                                   a->sparse && old->chain.count == 0, &a->sums, &scaler));
    if (old->chain.count > 0) { /* the sums are of the columns that its steps make */
        scaler.cols = old->cols;
        scaler.chain = old->chain;
        memset(&old->chain, 0, sizeof old->chain);
    }
    kfe_i_scaler_free(old);
    *old = scaler;
    memset(&scaler, 0, sizeof scaler);
    kfe_i_sums_scale(&f->sums, f->model->views[0].scaler.shift, f->model->views[0].scaler.factor);
cleanup:
    kfe_i_scaler_free(&scaler);
    return status;
}

static kfe_status replace_text(kfe_context *ctx, char **text, const char *by)
{
    kfe_status status = KFE_OK;
    char *copy = NULL;

    KFE_STRDUP(ctx, copy, by);
    kfe_i_free(ctx, *text);
    *text = copy;
cleanup:
    return status;
}

static kfe_status describe_params(kfe_context *ctx, const kfe_i_param_table *table, const void *settings,
                                  char **out)
{
    kfe_i_text text;

    kfe_i_free(ctx, *out);
    *out = NULL;
    kfe_i_text_init(&text, ctx);
    kfe_i_params_format(table, settings, &text);
    return kfe_i_text_take(&text, out);
}

static kfe_status describe_target(finishing *f)
{
    kfe_status status = KFE_OK;
    kfe_i_model_target *target = &f->model->target;

    for (int64_t g = 0; g < target->class_count; g++)
        kfe_i_free(f->ctx, target->class_names[g]);
    kfe_i_free(f->ctx, target->class_names);
    *target = (kfe_i_model_target){.task = f->sums.task};
    if (f->sums.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC_ZERO(f->ctx, target->class_names, f->sums.classes);
    for (; target->class_count < f->sums.classes; target->class_count++)
        KFE_STRDUP(f->ctx, target->class_names[target->class_count],
                   f->from->class_names[target->class_count]);
cleanup:
    return status;
}

static kfe_status describe(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = f->from->spec;
    kfe_model *model = f->model;

    KFE_TRY(replace_text(f->ctx, &model->method, spec->method->name));
    KFE_TRY(describe_params(f->ctx, &spec->method->params, spec->settings, &model->params));
    KFE_TRY(describe_params(f->ctx, &kfe_i_fit_params, &spec->fit, &model->given.options));
    model->origin.train_rows = (int64_t)f->from->count;
    model->origin.fingerprint = 0;
    KFE_TRY(describe_target(f));
    if (!spec->learner)
        goto cleanup;
    KFE_TRY(replace_text(f->ctx, &model->learner, spec->learner->name));
    KFE_TRY(describe_params(f->ctx, &spec->learner->params, spec->learner_settings, &model->learner_params));
cleanup:
    return status;
}

/* ---- projector ---- */

/* Only the landmarks that were picked stay in the model. */
static kfe_status take_picked(finishing *f)
{
    kfe_status status = KFE_OK;
    kfe_model *model = f->model;
    kfe_i_solution *s = &f->solution;
    kfe_i_table picked = {0};

    for (int v = 0; v < model->view_count; v++) {
        if (model->views[v].support.rows == 0)
            continue;
        KFE_TRY(kfe_i_table_gather(f->ctx, &model->views[v].support, s->index, s->rows, &picked));
        kfe_i_table_free(&model->views[v].support);
        model->views[v].support = picked;
    }
    kfe_i_free(f->ctx, model->coefficients);
    model->coefficients = s->coefficients;
    s->coefficients = NULL;
    model->rows = s->rows;
cleanup:
    return status;
}

/* Coefficients W of linear methods as they are, of kernels TW, or those on picked landmarks. */
static kfe_status take_coefficients(finishing *f)
{
    kfe_status status = KFE_OK;
    kfe_model *model = f->model;
    kfe_i_solution *s = &f->solution;
    double *product = NULL;

    if (s->kind == KFE_SOLUTION_DUAL) {
        KFE_TRY(take_picked(f));
    } else if (model->projector == KFE_PROJECT_IDENTITY) {
        model->projector = KFE_PROJECT_LINEAR;
        model->rows = s->rows;
        model->coefficients = s->coefficients;
        s->coefficients = NULL;
    } else {
        KFE_ALLOC(f->ctx, product, model->rows * s->dim);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)model->rows, (blasint)s->dim,
                    (blasint)model->dim, 1, model->coefficients, (blasint)model->dim, s->coefficients,
                    (blasint)s->dim, 0, product, (blasint)s->dim);
        kfe_i_free(f->ctx, model->coefficients);
        model->coefficients = product;
    }
    model->dim = s->dim;
    kfe_i_free(f->ctx, model->offset);
    model->offset = s->offset;
    s->offset = NULL;
cleanup:
    return status;
}

/* The records of the method, then those of the landmarks. */
static kfe_status take_records(finishing *f)
{
    kfe_status status = KFE_OK;
    kfe_model *model = f->model;
    kfe_i_solution *s = &f->solution;

    s->ctx = f->ctx;
    for (int64_t i = 0; i < model->record_count; i++)
        KFE_TRY(kfe_i_solution_record(s, model->records[i].name, model->records[i].values,
                                      model->records[i].count));
    for (int64_t i = 0; i < model->record_count; i++) {
        kfe_i_free(f->ctx, model->records[i].name);
        kfe_i_free(f->ctx, model->records[i].values);
    }
    kfe_i_free(f->ctx, model->records);
    model->records = s->records;
    model->record_count = s->record_count;
    s->records = NULL;
    s->record_count = 0;
cleanup:
    return status;
}

/* The summed columns of the landmarks: κ(S, S)·T. */
static kfe_status make_marks(void *state, const double **out)
{
    kfe_status status = KFE_OK;
    finishing *f = state;
    const kfe_model *map = f->from->map;
    kfe_i_table *supports = NULL;

    KFE_ALLOC_ZERO(f->ctx, supports, map->view_count);
    KFE_ALLOC(f->ctx, f->marks, map->rows * map->dim);
    for (int v = 0; v < map->view_count; v++)
        supports[v] = map->views[v].support; /* borrowed */
    KFE_TRY(kfe_i_expand(f->ctx, &map->kernels, supports, supports, map->coefficients, map->dim, f->marks));
    *out = f->marks;
cleanup:
    kfe_i_free(f->ctx, supports);
    return status;
}

/* The sums of features that are kernel expansions on some of the landmarks. */
static kfe_status sum_picked(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *s = &f->solution;
    int64_t cols = f->sums.cols;
    double *w = NULL;

    KFE_ALLOC_ZERO(f->ctx, w, cols * s->dim);
    for (int64_t i = 0; i < s->rows; i++)
        cblas_dger(CblasRowMajor, (blasint)cols, (blasint)s->dim, 1, f->marks + s->index[i] * cols, 1,
                   s->coefficients + i * s->dim, 1, w, (blasint)s->dim);
    KFE_TRY(kfe_i_sums_map(&f->sums, w, s->dim, s->offset, &f->features));
cleanup:
    kfe_i_free(f->ctx, w);
    return status;
}

/* The map is the method's projector already; its features are the summed columns. */
static kfe_status take_solved(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *solved = f->from->solved;

    f->solution.ctx = f->ctx;
    f->solution.kind = KFE_SOLUTION_IDENTITY;
    for (int64_t i = 0; i < solved->record_count; i++)
        KFE_TRY(kfe_i_solution_record(&f->solution, solved->records[i].name, solved->records[i].values,
                                      solved->records[i].count));
    KFE_ALLOC(f->ctx, f->model->support_index, solved->rows);
    memcpy(f->model->support_index, solved->index, (size_t)solved->rows * sizeof *solved->index);
    KFE_TRY(kfe_i_sums_copy(&f->sums, &f->features));
cleanup:
    return status;
}

static kfe_status run_method(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_accumulator *a = f->from;
    kfe_i_target sample_target = a->sample_target;
    kfe_i_fit_source source = {
        .sums = &f->sums, .marks = make_marks, .marks_state = f, .mark_count = a->map->rows};

    if (a->solved)
        return take_solved(f);
    sample_target.class_count = f->sums.classes;
    if (a->sample.rows > 0) {
        source.sample = &a->sample;
        source.sample_target = &sample_target;
    }
    KFE_TRY(a->spec->method->fit(f->ctx, &source, a->spec->settings, &f->solution));
    if (f->solution.kind == KFE_SOLUTION_IDENTITY)
        return kfe_i_sums_copy(&f->sums, &f->features);
    if (f->solution.kind == KFE_SOLUTION_DUAL)
        return sum_picked(f);
    KFE_TRY(kfe_i_sums_map(&f->sums, f->solution.coefficients, f->solution.dim, f->solution.offset,
                           &f->features));
cleanup:
    return status;
}

/* ---- predictor and moments ---- */

static kfe_status train_learner(finishing *f)
{
    kfe_status status = KFE_OK;
    const kfe_spec *spec = f->from->spec;
    kfe_i_predictor *predictor = &f->model->predictor;
    char name[64];

    if (!spec->learner)
        return KFE_OK;
    KFE_TRY(spec->learner->fit_sums(f->ctx, &f->features, spec->learner_settings, predictor));
    for (int i = 0; i < predictor->record_count; i++) {
        snprintf(name, sizeof name, "learner-%s", predictor->records[i].name);
        KFE_TRY(kfe_i_solution_record(&f->solution, name, &predictor->records[i].value, 1));
    }
cleanup:
    return status;
}

/* What kfe_fit keeps of linear methods, and wherever there is a learner (model/fit.c). */
static kfe_status learn_moments(finishing *f)
{
    kfe_status status = KFE_OK;
    int linear = f->solution.kind == KFE_SOLUTION_PRIMAL && f->model->projector == KFE_PROJECT_LINEAR;
    int identity = f->solution.kind == KFE_SOLUTION_IDENTITY && !f->from->solved;
    kfe_i_column_sums columns = {.cols = f->sums.cols, .means = f->sums.mean};
    double *squares = NULL;
    double *cross = NULL;

    if (identity || (!linear && !f->from->spec->learner))
        return KFE_OK;
    if (linear) {
        KFE_ALLOC(f->ctx, squares, f->sums.cols);
        kfe_i_sums_diagonal(&f->sums, squares);
        KFE_TRY(kfe_i_sums_image(&f->sums, f->model->coefficients, f->model->dim, &cross));
        columns.squares = squares;
        columns.cross = cross;
    }
    KFE_TRY(kfe_i_moments_from_sums(f->ctx, linear ? &columns : NULL, &f->features, &f->model->moments));
    if (f->model->moments.dim > 0)
        KFE_TRY(kfe_i_spread_expect(f->ctx, &f->sums, f->features.rows, &f->model->moments));
cleanup:
    kfe_i_free(f->ctx, squares);
    kfe_i_free(f->ctx, cross);
    return status;
}

/* ---- all together ---- */

static kfe_status build(finishing *f)
{
    kfe_status status = KFE_OK;

    KFE_TRY(copy_map(f));
    KFE_TRY(scale_sums(f));
    KFE_TRY(run_method(f));
    KFE_TRY(train_learner(f));
    KFE_TRY(describe(f));
    if (f->solution.kind != KFE_SOLUTION_IDENTITY)
        KFE_TRY(take_coefficients(f));
    KFE_TRY(take_records(f));
    KFE_TRY(learn_moments(f));
cleanup:
    return status;
}

kfe_status kfe_accumulator_finish(kfe_context *ctx, const kfe_accumulator *a, kfe_model **out)
{
    kfe_status status = KFE_OK;
    finishing f = {.ctx = ctx, .from = a};
    kfe_i_thread_state saved = kfe_i_threads_enter(ctx);

    *out = NULL;
    KFE_TRY(kfe_i_check_owner(ctx, a->ctx, "accumulator"));
    KFE_TRY(check_ready(a));
    KFE_TRY(build(&f));
    *out = f.model;
    f.model = NULL;
cleanup:
    release(&f);
    kfe_i_threads_leave(saved);
    return status;
}
