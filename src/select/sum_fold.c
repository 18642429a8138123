/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One split from sums: scaling, features and their sums follow from the sums over the training rows; only test rows are read, and a sample
 * of training rows for ridge=auto. Called by sweep_method.c. Time for each split: O(md²) for m test rows, or O(md) where coordinates by eigenvectors serve (row_sums.h), and that of
 * the method's fit from sums.
 */
#include "select/sum_fold.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "core/memory.h"
#include "data/rows/distinct.h"
#include "model/choose_dim.h"
#include "model/distance_file.h"
#include "model/prepare.h"

/* ---- what can be fitted ---- */

static int learners_take_sums(kfe_spec *const *learners, int64_t count)
{
    for (int64_t l = 0; l < count; l++)
        if (!learners[l]->learner || !learners[l]->learner->fit_sums)
            return 0;
    return count > 0;
}

/* Extremes of the training rows do not follow from sums; for `auto`, the rows are read. */
static int scaling_follows(int kind)
{
    return kind == KFE_SCALE_NONE || kind == KFE_SCALE_AUTO || kind == KFE_SCALE_STANDARD ||
           kind == KFE_SCALE_UNIT_NORM;
}

/* Conditions of both kinds. If the spec cannot be fitted, each split says why. */
static kfe_status may_use_sums(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data, int *out)
{
    kfe_status status = KFE_OK;

    *out = 0;
    if (kfe_i_distance_is_file(spec->fit.distance) || kfe_i_spec_calibration(spec) != KFE_CALIBRATION_NONE ||
        kfe_i_spec_prepares(spec) || data->target.weights || kfe_i_spec_weighs_classes(spec) ||
        kfe_i_spec_chooses_dim(spec) || kfe_i_spec_scales_target(spec, &data->target))
        return KFE_OK;
    status = kfe_spec_check(ctx, spec, data, NULL);
    *out = status == KFE_OK;
    return status == KFE_ENOMEM ? status : KFE_OK;
}

kfe_status kfe_i_sum_plan_make(kfe_context *ctx, const kfe_spec *spec, kfe_spec *const *learners,
                               int64_t learner_count, const kfe_data *data, kfe_i_sum_plan *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    *out = (kfe_i_sum_plan){.kind = (kfe_i_scale_kind)kfe_i_spec_scale(spec)};
    kfe_i_kernel_list_init(ctx, &kernels);
    if (!kfe_i_row_sums_serve(spec->method) || !learners_take_sums(learners, learner_count) ||
        !scaling_follows(kfe_i_spec_scale(spec)))
        goto cleanup;
    KFE_TRY(may_use_sums(ctx, spec, data, &out->usable));
    if (!out->usable)
        goto cleanup;
    KFE_TRY(kfe_i_spec_kernels(ctx, spec, data, &kernels));
    if (out->kind == KFE_SCALE_AUTO && !kfe_i_auto_scales_view(&kernels, data, 0))
        out->kind = KFE_SCALE_NONE;
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

kfe_status kfe_i_landmark_plan_make(kfe_context *ctx, const kfe_spec *spec, kfe_spec *const *learners,
                                    int64_t learner_count, const kfe_data *data, kfe_i_sum_plan *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_sum_plan){.needs_features = !learners_take_sums(learners, learner_count)};
    if (!kfe_i_method_sums_are_rows(spec->method, spec->settings))
        return KFE_OK;
    KFE_TRY(may_use_sums(ctx, spec, data, &out->usable));
    for (int64_t l = 0; l < learner_count; l++) /* a method's own predictor needs its own fit */
        out->usable &= learners[l]->learner != NULL;
cleanup:
    return status;
}

/* ---- one split ---- */

typedef struct sum_fold {
    kfe_context *ctx;
    const kfe_i_row_sums *all;
    const kfe_i_landmark_sums *landmarks; /* NULL: the columns are those of the data */
    const kfe_i_split *split;
    kfe_i_sums train; /* of the scaled columns, in coordinates by eigenvectors, or of FQ */
    double *test;     /* test_count × cols: the test rows in the same columns */
    kfe_i_scaler scaler;
    double *basis;      /* Q; landmarks only */
    kfe_i_table sample; /* rows of FQ for ridge=auto; landmarks only */
    kfe_i_target sample_target;
    kfe_i_solution solution;
    int known;
} sum_fold;

static void release(sum_fold *f)
{
    kfe_i_sums_free(&f->train);
    kfe_i_free(f->ctx, f->test);
    kfe_i_scaler_free(&f->scaler);
    kfe_i_free(f->ctx, f->basis);
    kfe_i_table_free(&f->sample);
    kfe_i_target_free(&f->sample_target);
    kfe_i_solution_free(&f->solution);
}

static void subtract_offset(const kfe_i_solution *s, kfe_i_table *features)
{
    for (int64_t i = 0; s->offset && i < features->rows; i++)
        for (int64_t j = 0; j < s->dim; j++)
            features->values[i * features->stride + j] -= s->offset[j];
}

static void scale_rows(const sum_fold *f, double *rows)
{
    int64_t d = f->train.cols;

    for (int64_t i = 0; i < f->split->test_count; i++)
        for (int64_t j = 0; j < d; j++) {
            double shift = f->scaler.shift ? f->scaler.shift[j] : 0;
            rows[i * d + j] = (rows[i * d + j] - shift) * (f->scaler.factor ? f->scaler.factor[j] : 1);
        }
}

/* The sums over the training rows by subtraction, then scaled as they decide. */
static kfe_status subtract_test(sum_fold *f, kfe_i_scale_kind kind)
{
    kfe_status status = KFE_OK;
    const kfe_i_scaler plain = {.kind = KFE_SCALE_NONE};
    const kfe_i_table *table = &f->all->data->views[0].table;
    kfe_i_ranges ranges = {0};

    KFE_TRY(kfe_i_row_sums_train(f->ctx, f->all, f->split, &plain, &f->train, &f->known));
    if (!f->known || f->train.classes != f->all->total.classes) {
        f->known = 0;
        return KFE_OK;
    }
    if (kind == KFE_SCALE_AUTO) {
        KFE_TRY(kfe_i_ranges_find(f->ctx, table, f->split->train, f->split->train_count, &ranges));
        kind = kfe_i_scale_by_ranges(&ranges);
    }
    KFE_TRY(kfe_i_scaler_from_sums(f->ctx, kind, 0, &f->train, &f->scaler));
    kfe_i_sums_scale(&f->train, f->scaler.shift, f->scaler.factor);
    KFE_ALLOC(f->ctx, f->test, f->split->test_count * table->cols);
    for (int64_t i = 0; i < f->split->test_count; i++)
        kfe_i_table_dense_row(table, f->split->test[i], f->test + i * table->cols);
    scale_rows(f, f->test);
cleanup:
    return status;
}

/* ---- landmarks ---- */

enum { PANEL_ROWS = 512 };

/* out (count × dim) = rows of F times W (r × dim) */
static kfe_status map_factor(const sum_fold *f, const int64_t *rows, int64_t count, const double *w,
                             int64_t dim, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *factor = &f->landmarks->factor;
    double *panel = NULL;

    KFE_ALLOC(f->ctx, panel, PANEL_ROWS * factor->cols);
    for (int64_t first = 0; first < count && dim > 0; first += PANEL_ROWS) {
        int64_t high = count - first < PANEL_ROWS ? count - first : PANEL_ROWS;
        for (int64_t i = 0; i < high; i++)
            kfe_i_table_dense_row(factor, rows[first + i], panel + i * factor->cols);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)high, (blasint)dim,
                    (blasint)factor->cols, 1, panel, (blasint)factor->cols, w, (blasint)dim, 0,
                    out + first * dim, (blasint)dim);
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    return status;
}

/* The rows that leave-one-out would look at in a fit on the training rows. */
static kfe_status take_sample(sum_fold *f, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t n = f->split->train_count;
    int64_t size = 0;
    int64_t *index = NULL;
    kfe_i_row_key *keys = NULL;

    KFE_ALLOC(f->ctx, keys, n);
    for (int64_t i = 0; i < n; i++)
        keys[i] = f->landmarks->keys[f->split->train[i]];
    KFE_TRY(kfe_i_sample_draw(f->ctx, n, keys, &index, &size));
    KFE_TRY(kfe_i_table_new_dense(f->ctx, size, count, &f->sample));
    for (int64_t i = 0; i < size; i++) {
        keys[i] = keys[index[i]]; /* index ascends */
        index[i] = f->split->train[index[i]];
    }
    KFE_TRY(map_factor(f, index, size, f->basis, count, f->sample.values));
    KFE_TRY(kfe_i_target_gather(f->ctx, &f->all->data->target, index, size, &f->sample_target));
    f->sample_target.keys = keys;
    keys = NULL;
cleanup:
    kfe_i_free(f->ctx, keys);
    kfe_i_free(f->ctx, index);
    return status;
}

/* The sums of FQ over the training rows. */
static kfe_status take_landmarks(sum_fold *f)
{
    kfe_status status = KFE_OK;
    const kfe_i_scaler plain = {.kind = KFE_SCALE_NONE};
    kfe_i_sums all_columns = {0};
    int64_t count = 0;

    KFE_TRY(kfe_i_landmark_sums_basis(f->ctx, f->landmarks, f->split, &f->basis, &count));
    if (count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_row_sums_train(f->ctx, f->all, f->split, &plain, &all_columns, &f->known));
    f->known = f->known && all_columns.classes == f->all->total.classes;
    if (!f->known)
        goto cleanup;
    KFE_TRY(kfe_i_sums_map(&all_columns, f->basis, count, NULL, &f->train));
    KFE_ALLOC(f->ctx, f->test, f->split->test_count * count);
    KFE_TRY(map_factor(f, f->split->test, f->split->test_count, f->basis, count, f->test));
    KFE_TRY(take_sample(f, count));
cleanup:
    kfe_i_sums_free(&all_columns);
    return status;
}

/* The features of the training rows, and their targets: F(QW) − offset. */
static kfe_status make_train_features(const sum_fold *f, kfe_context *owner, kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *s = &f->solution;
    int64_t r = f->landmarks->factor.cols;
    int64_t n = f->split->train_count;
    double *w = NULL;

    KFE_ALLOC(f->ctx, w, r * s->dim);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)r, (blasint)s->dim,
                (blasint)f->train.cols, 1, f->basis, (blasint)f->train.cols, s->coefficients, (blasint)s->dim,
                0, w, (blasint)s->dim);
    KFE_TRY(kfe_i_table_new_dense(f->ctx, n, s->dim, &out->train));
    KFE_TRY(map_factor(f, f->split->train, n, w, s->dim, out->train.values));
    subtract_offset(s, &out->train);
    out->train.ctx = owner;
    KFE_TRY(kfe_i_target_gather(f->ctx, &f->all->data->target, f->split->train, n, &out->target));
    out->target.ctx = owner;
cleanup:
    kfe_i_free(f->ctx, w);
    return status;
}

/* ---- the fit ---- */

/* Runs the method; f->known is 0 if it needs the rows. */
static kfe_status run_method(sum_fold *f, const kfe_spec *spec)
{
    const kfe_i_fit_source source = {.sums = &f->train,
                                     .sample = f->landmarks ? &f->sample : NULL,
                                     .sample_target = f->landmarks ? &f->sample_target : NULL,
                                     .rows_at_hand = 1};
    kfe_status status = spec->method->fit(f->ctx, &source, spec->settings, &f->solution);

    f->known = status == KFE_OK && f->solution.kind == KFE_SOLUTION_PRIMAL;
    return status == KFE_EUNSUPPORTED ? KFE_OK : status;
}

/* Forgets what was found in one kind of coordinates. */
static void start_again(sum_fold *f)
{
    release(f);
    memset(&f->train, 0, sizeof f->train);
    memset(&f->scaler, 0, sizeof f->scaler);
    memset(&f->solution, 0, sizeof f->solution);
    f->test = NULL;
    f->known = 0;
}

static kfe_status fit(sum_fold *f, const kfe_spec *spec, const kfe_i_sum_plan *plan)
{
    kfe_status status = KFE_OK;

    if (f->landmarks) {
        KFE_TRY(take_landmarks(f));
        if (f->known)
            KFE_TRY(run_method(f, spec));
        return status;
    }
    if (plan->kind == KFE_SCALE_NONE &&
        kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_SPECTRUM, NULL)) {
        KFE_TRY(kfe_i_row_sums_train_rotated(f->ctx, f->all, f->split, &f->train, &f->test, &f->known));
        if (f->known)
            KFE_TRY(run_method(f, spec));
        if (f->known)
            return KFE_OK;
        start_again(f);
    }
    KFE_TRY(subtract_test(f, plan->kind));
    if (f->known)
        KFE_TRY(run_method(f, spec));
cleanup:
    return status;
}

/* The features of the test rows, and those of the training rows or their sums. */
static kfe_status make_features(const sum_fold *f, kfe_context *owner, int needs_rows, kfe_i_fold *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_solution *s = &f->solution;
    int64_t m = f->split->test_count;

    if (needs_rows)
        KFE_TRY(make_train_features(f, owner, out));
    else
        KFE_TRY(kfe_i_sums_map(&f->train, s->coefficients, s->dim, s->offset, &out->sums));
    if (!needs_rows)
        out->sums.ctx = owner;
    KFE_TRY(kfe_i_table_new_dense(f->ctx, m, s->dim, &out->test));
    out->test.ctx = owner;
    if (m > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)s->dim,
                    (blasint)f->train.cols, 1, f->test, (blasint)f->train.cols, s->coefficients,
                    (blasint)s->dim, 0, out->test.values, (blasint)out->test.stride);
    subtract_offset(s, &out->test);
    KFE_ALLOC(f->ctx, out->old_code, f->train.classes);
    for (int64_t g = 0; g < f->train.classes; g++)
        out->old_code[g] = (int32_t)g;
    out->dim = s->dim;
cleanup:
    return status;
}

/* Features that overflow are left to the fit on rows, which says so. */
static int is_finite(const kfe_i_fold *fold)
{
    for (int64_t j = 0; fold->sums.cols > 0 && j < fold->dim; j++)
        if (!isfinite(fold->sums.scatter[j * (fold->dim + 1)]))
            return 0;
    return 1;
}

kfe_status kfe_i_sum_fold_extract(kfe_context *ctx, kfe_context *owner, const kfe_i_sum_source *source,
                                  const kfe_i_split *split, const kfe_spec *spec, const kfe_i_sum_plan *plan,
                                  kfe_i_fold *out, int *done)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_sums *landmarks = source->landmarks;
    sum_fold f = {.ctx = ctx,
                  .all = landmarks ? &landmarks->sums : source->sums,
                  .landmarks = landmarks,
                  .split = split};

    *done = 0;
    memset(out, 0, sizeof *out);
    out->ctx = owner;
    if (!plan->usable || !f.all || f.all->count == 0)
        return KFE_OK;
    KFE_TRY(fit(&f, spec, plan));
    if (f.known)
        KFE_TRY(make_features(&f, owner, plan->needs_features, out));
    *done = f.known && is_finite(out);
cleanup:
    release(&f);
    if (!*done)
        kfe_i_fold_give_up(ctx, out);
    return status;
}
