/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spec is fitted on four of five folds, scaling and kernel width included, and the targets are regressed on the first j features, for every
 * j at once. Classes are indicators. Equal rows are in one fold, and errors count by weight. Called by choose_dim.c.
 */
#include "model/choosing.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "core/sort.h"
#include "model/left_out.h"

/* A feature that keeps less than this share of its length after orthogonalisation says nothing new. */
#define KFE_SPENT_FEATURE 1e-8
/* Squares of features that differ by less than this share of the largest are equal: rounding does not decide the order of rows. */
#define KFE_EQUAL_FEATURES 1e-9

/* ---- one fold ---- */

static double weight_of(const kfe_i_choosing *c, int64_t row)
{
    return kfe_i_weight_of(&c->train->target, row);
}

/* A regression on one feature after the other, on the rows kept, and its residuals on both parts. */
typedef struct regression {
    const kfe_i_choosing *c;
    int64_t kept, left;
    double *on_kept, *on_left; /* orthonormal features by weight, one after the other; the constant first */
    double *rest_kept, *rest_left; /* rows × targets: residuals */
    int64_t count;
} regression;

static double product(const regression *r, const double *a, const double *b, int64_t stride)
{
    double sum = 0;

    for (int64_t i = 0; i < r->kept; i++)
        sum += weight_of(r->c, r->c->kept[i]) * a[i] * b[i * stride];
    return sum;
}

/* Adds the feature at the end of on_kept and on_left, of which this makes an orthonormal one, unless it depends on those before. */
static void add_feature(regression *r)
{
    double *own = r->on_kept + r->count * r->kept;
    double *other = r->on_left + r->count * r->left;
    int64_t t = r->c->targets;
    double before = sqrt(product(r, own, own, 1));

    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < r->count; j++) {
            const double *q = r->on_kept + j * r->kept;
            double overlap = product(r, own, q, 1);
            for (int64_t i = 0; i < r->kept; i++)
                own[i] -= overlap * q[i];
            for (int64_t i = 0; i < r->left; i++)
                other[i] -= overlap * r->on_left[j * r->left + i];
        }
    double length = sqrt(product(r, own, own, 1));
    if (!(length > KFE_SPENT_FEATURE * before) || !isfinite(length))
        return;
    for (int64_t i = 0; i < r->kept; i++)
        own[i] /= length;
    for (int64_t i = 0; i < r->left; i++)
        other[i] /= length;
    for (int64_t k = 0; k < t; k++) {
        double slope = product(r, own, r->rest_kept + k, t);
        for (int64_t i = 0; i < r->kept; i++)
            r->rest_kept[i * t + k] -= slope * own[i];
        for (int64_t i = 0; i < r->left; i++)
            r->rest_left[i * t + k] -= slope * other[i];
    }
    r->count++;
}

/* The squared residuals of the rows left out: rest (left × targets), after j features. */
static void add_errors(const kfe_i_choosing *c, int64_t left, const double *rest, int64_t j)
{
    for (int64_t i = 0; i < left; i++) {
        double sum = 0;
        for (int64_t k = 0; k < c->targets; k++)
            sum += rest[i * c->targets + k] * rest[i * c->targets + k];
        c->errors[j * c->units + c->distinct.of[c->left[i]]] += weight_of(c, c->left[i]) * sum;
    }
}

/* The features of one view, or of all: those from `first` on, `count` of them. */
typedef struct feature_set {
    const kfe_i_table *on_kept, *on_left;
    int64_t first, count;
} feature_set;

/* Puts feature j, the constant for 0, at the end of on_kept and on_left. */
static void take_feature(const regression *r, const feature_set *set, int64_t j)
{
    double *own = r->on_kept + r->count * r->kept;
    double *other = r->on_left + r->count * r->left;
    int64_t column = set->first + (j - 1 < set->count ? j - 1 : 0);

    for (int64_t i = 0; i < r->kept; i++)
        own[i] = j == 0 ? 1 : kfe_i_table_value(set->on_kept, i, column);
    for (int64_t i = 0; i < r->left; i++)
        other[i] = j == 0 ? 1 : kfe_i_table_value(set->on_left, i, column);
}

/* rests (most + 1 blocks of left × targets) += weight times the residuals after the constant, after one feature, … */
static void regress(regression *r, const feature_set *set, double weight, double *rests)
{
    const kfe_i_choosing *c = r->c;
    int64_t t = c->targets;

    r->count = 0;
    for (int64_t i = 0; i < r->kept; i++)
        memcpy(r->rest_kept + i * t, c->y + c->kept[i] * t, (size_t)t * sizeof *c->y);
    for (int64_t i = 0; i < r->left; i++)
        memcpy(r->rest_left + i * t, c->y + c->left[i] * t, (size_t)t * sizeof *c->y);
    for (int64_t j = 0; j <= c->most; j++, rests += r->left * t) {
        take_feature(r, set, j);
        add_feature(r);
        for (int64_t k = 0; k < r->left * t; k++)
            rests[k] += weight * r->rest_left[k];
    }
}

/* Where features of one view stand after those of another, each view predicts by its own, and predictions are averaged as the model does. */
static kfe_status measure_fold(kfe_i_choosing *c, const kfe_model *model, int64_t left, feature_set all)
{
    kfe_status status = KFE_OK;
    regression r = {.c = c, .kept = all.on_kept->rows, .left = left};
    kfe_i_arena memory = {.ctx = c->ctx};
    int64_t count = 0;
    const double *weights = kfe_model_record(model, "prediction-weights", &count);
    int64_t views = kfe_i_model_feature_views(model);
    double *rests;

    KFE_TAKE(&memory, r.on_kept, r.kept * (c->most + 1));
    KFE_TAKE(&memory, r.on_left, left * (c->most + 1));
    KFE_TAKE(&memory, r.rest_kept, r.kept * c->targets);
    KFE_TAKE(&memory, r.rest_left, left * c->targets);
    KFE_TAKE_ZERO(&memory, rests, (c->most + 1) * left * c->targets);
    all.count = all.on_kept->cols / views;
    for (int64_t v = 0; v < views; v++, all.first += all.count)
        regress(&r, &all, weights && count == views ? weights[v] : 1 / (double)views, rests);
    for (int64_t j = 0; j <= c->most; j++)
        add_errors(c, left, rests + j * left * c->targets, j);
cleanup:
    kfe_i_arena_free(&memory);
    return status;
}

/* A fit does not see classes without a member among its rows. */
static kfe_status drop_empty_classes(kfe_data *data)
{
    kfe_status status = KFE_OK;
    int32_t *old_code = NULL;

    if (data->target.task != KFE_TASK_CLASSES)
        return KFE_OK;
    KFE_ALLOC(data->ctx, old_code, data->target.class_count);
    kfe_i_target_compact(&data->target, old_code);
cleanup:
    kfe_i_free(data->ctx, old_code);
    return status;
}

/* Lists the rows of a fold in c->kept and c->left. */
static void list_fold(kfe_i_choosing *c, int64_t fold, int64_t *kept, int64_t *left)
{
    *kept = *left = 0;
    for (int64_t k = 0; k < c->distinct.rows && c->distinct.of[c->order[k]] < c->units; k++) {
        int64_t i = c->order[k];
        if (c->fold_of[c->distinct.of[i]] == fold)
            c->left[(*left)++] = i;
        else
            c->kept[(*kept)++] = i;
    }
}

static kfe_status gather(kfe_i_choosing *c, int64_t kept, int64_t left, kfe_data **on, kfe_data **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_list kept_rows = {c->kept, kept};

    KFE_TRY(kfe_i_gather_fold(c->ctx, c->spec, c->train, kept_rows, kept_rows, on));
    KFE_TRY(kfe_i_gather_fold(c->ctx, c->spec, c->train, (kfe_i_row_list){c->left, left}, kept_rows, out));
    KFE_TRY(drop_empty_classes(*on));
    if (c->keeps_folds)
        KFE_TRY(kfe_i_data_set_keys(c->ctx, *on));
cleanup:
    return status;
}

static void free_fold(kfe_i_choosing *c, int64_t fold)
{
    kfe_data_free(c->on[fold]);
    kfe_data_free(c->out[fold]);
    c->on[fold] = c->out[fold] = NULL;
}

static kfe_status run_fold(kfe_i_choosing *c, int64_t fold)
{
    kfe_status status = KFE_OK;
    int64_t kept = 0;
    int64_t left = 0;
    kfe_model *model = NULL;
    kfe_i_table features[2] = {{0}, {0}};

    list_fold(c, fold, &kept, &left);
    if (!c->out[fold])
        KFE_TRY(gather(c, kept, left, &c->on[fold], &c->out[fold]));
    KFE_TRY(kfe_i_fit_model(c->ctx, c->spec, c->on[fold], &model));
    KFE_TRY(kfe_i_model_features(c->ctx, model, c->on[fold], &features[0]));
    KFE_TRY(kfe_i_model_features(c->ctx, model, c->out[fold], &features[1]));
    KFE_TRY(measure_fold(c, model, left, (feature_set){.on_kept = &features[0], .on_left = &features[1]}));
cleanup:
    kfe_i_table_free(&features[0]);
    kfe_i_table_free(&features[1]);
    kfe_model_free(model);
    if (!c->keeps_folds)
        free_fold(c, fold);
    return status;
}

/* Sorts by falling value; values that are equal but for rounding, by content. */
static void sort_rows(int64_t count, kfe_i_sorted *items)
{
    kfe_i_sort_falling(items, count);
    double equal = KFE_EQUAL_FEATURES * items[0].value;
    for (int64_t k = 1; k < count; k++)
        if (items[k - 1].value - items[k].value <= equal)
            items[k].value = items[k - 1].value;
    kfe_i_sort_falling(items, count);
}

/* Deals the distinct rows to the folds in the order of the square of the first feature of a fit on all of them: like the feature, that
 * depends neither on constants added to columns nor on the order of rows and classes. */
static kfe_status deal_rows(kfe_i_choosing *c)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;
    kfe_i_sorted *items = NULL;
    kfe_data *all = NULL;
    kfe_model *model = NULL;
    kfe_i_table features = {0};

    while (count < c->distinct.rows && c->distinct.of[c->order[count]] < c->units) {
        c->kept[count] = c->order[count];
        count++;
    }
    KFE_ALLOC(c->ctx, items, c->units);
    const kfe_i_row_list rows = {c->kept, count};
    *kfe_i_spec_dim(c->spec) = 1;
    KFE_TRY(kfe_i_gather_fold(c->ctx, c->spec, c->train, rows, rows, &all));
    KFE_TRY(drop_empty_classes(all));
    KFE_TRY(kfe_i_fit_model(c->ctx, c->spec, all, &model));
    KFE_TRY(kfe_i_model_features(c->ctx, model, all, &features));
    *kfe_i_spec_dim(c->spec) = c->most;
    for (int64_t i = 0; i < count; i++) { /* equal rows have equal features but for rounding */
        double feature = kfe_i_table_value(&features, i, 0);
        items[c->distinct.of[c->kept[i]]] =
            (kfe_i_sorted){.index = c->distinct.of[c->kept[i]], .value = feature * feature};
    }
    sort_rows(c->units, items);
    for (int64_t k = 0; k < c->units; k++)
        c->fold_of[items[k].index] = k % KFE_CHOOSING_FOLDS;
cleanup:
    kfe_i_free(c->ctx, items);
    kfe_i_table_free(&features);
    kfe_model_free(model);
    kfe_data_free(all);
    return status;
}

/* ---- all folds ---- */

/* Classes as indicators. */
static kfe_status take_targets(kfe_i_choosing *c)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = &c->train->target;
    int classes = target->task == KFE_TASK_CLASSES;
    kfe_i_target standardised = *target;

    if (kfe_i_spec_scales_target(c->spec, target)) {
        standardised.values = NULL;
        KFE_TRY(kfe_i_target_standardise(c->ctx, target, &standardised));
    }
    c->targets = classes ? target->class_count : target->cols;
    KFE_TAKE_ZERO(&c->memory, c->y, target->rows * c->targets);
    for (int64_t i = 0; i < target->rows; i++)
        if (classes)
            c->y[i * c->targets + target->codes[i]] = 1;
        else
            memcpy(c->y + i * c->targets, standardised.values + i * c->targets,
                   (size_t)c->targets * sizeof *c->y);
cleanup:
    if (standardised.values != target->values)
        kfe_i_free(c->ctx, standardised.values);
    return status;
}

kfe_status kfe_i_choosing_begin(kfe_i_choosing *c)
{
    kfe_status status = KFE_OK;
    int64_t rows = c->distinct.rows;

    KFE_TRY(take_targets(c));
    KFE_TAKE_ZERO(&c->memory, c->errors, (c->most + 1) * c->units);
    KFE_TAKE_ZERO(&c->memory, c->masses, c->units);
    KFE_TAKE(&c->memory, c->fold_of, c->units);
    KFE_TAKE(&c->memory, c->order, rows);
    KFE_TAKE(&c->memory, c->kept, rows);
    KFE_TAKE(&c->memory, c->left, rows);
    KFE_TRY(kfe_i_distinct_order(&c->distinct, c->order));
    KFE_TRY(deal_rows(c));
    for (int64_t i = 0; i < rows; i++)
        if (c->distinct.of[i] < c->units)
            c->masses[c->distinct.of[i]] += weight_of(c, i);
cleanup:
    return status;
}

kfe_status kfe_i_choosing_measure(kfe_i_choosing *c)
{
    kfe_status status = KFE_OK;

    memset(c->errors, 0, (size_t)((c->most + 1) * c->units) * sizeof *c->errors);
    for (int64_t fold = 0; fold < KFE_CHOOSING_FOLDS; fold++) {
        KFE_TRY(kfe_i_progress(c->ctx, "choosing the number of features", fold, KFE_CHOOSING_FOLDS));
        KFE_TRY(run_fold(c, fold));
    }
cleanup:
    return status;
}

double kfe_i_choosing_sum(const kfe_i_choosing *c, const double *errors)
{
    double sum = 0;

    for (int64_t g = 0; g < c->units; g++)
        sum += errors[g];
    return sum;
}

double kfe_i_choosing_standard_error(const kfe_i_choosing *c, const double *errors)
{
    double squares = 0;
    double mass = 0;

    for (int64_t g = 0; g < c->units; g++)
        mass += c->masses[g];
    double mean = kfe_i_choosing_sum(c, errors) / mass;
    for (int64_t g = 0; g < c->units; g++)
        squares += pow(errors[g] - c->masses[g] * mean, 2);
    return sqrt(squares);
}

void kfe_i_choosing_free(kfe_i_choosing *c)
{
    for (int64_t fold = 0; fold < KFE_CHOOSING_FOLDS; fold++)
        free_fold(c, fold);
    kfe_spec_free(c->spec);
    kfe_i_distinct_free(&c->distinct);
    kfe_i_arena_free(&c->memory);
}
