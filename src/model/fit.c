/* SPDX-License-Identifier: Apache-2.0 */
/* A fit in stages: check, scale, resolve kernels, open the Gram operator, run the method, train the learner,
 * build the model. kfe_fit runs them all; the search (select/) shares the early ones among settings. */
#include "model/fit.h"

#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "data/rows/distinct.h"
#include "data/rows/fingerprint.h"
#include "model/choose_dim.h"
#include "model/describe.h"
#include "model/diagnose.h"
#include "model/distance_file.h"
#include "model/landmark_fit.h"
#include "model/landmarks.h"
#include "model/linear.h"
#include "model/prepare.h"

/* ---- columns ---- */

/* Whether the fit reads the data by tiles of kernels only, which take single precision. */
static int reads_by_tiles(const kfe_i_fit *job)
{
    const kfe_spec *spec = job->spec;
    int reads_rows = spec->method->flags & KFE_HAS_SYNTHETIC ||
                     !kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_GRAM, NULL);

    if (kfe_i_spec_learns_from_kernel(spec) || kfe_i_spec_maps_kernel(spec))
        reads_rows = 0;
    else if (!(spec->method->flags & KFE_HAS_KERNELS))
        return 0;
    for (int64_t m = 0; m < job->kernels.count; m++) {
        const kfe_i_kernel_def *def = job->kernels.items[m].def;
        if (!def->map || (def->base != KFE_BASE_DOT && def->base != KFE_BASE_DISTANCE))
            return 0; /* without a map, as for the linear kernel, the table itself is the factor of the operator */
    }
    return !reads_rows && strcmp(kfe_i_device_wanted(job->ctx), "cpu") == 0;
}

static kfe_status scale_views(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_scaling how = kfe_i_spec_scaling(job->spec);
    int views = job->train->view_count;
    kfe_i_scaler *scalers = NULL;

    KFE_ALLOC_ZERO(job->ctx, job->scaled, views);
    KFE_ALLOC_ZERO(job->ctx, scalers, views);
    how.keeps_singles = reads_by_tiles(job);
    how.within = job->within;
    if (how.kind == KFE_SCALE_AUTO && job->keeps_units)
        how.kind = KFE_SCALE_NONE;
    status = kfe_i_scale_views(job->ctx, how, &job->kernels, job->train, job->train, scalers, job->scaled);
    for (int v = 0; v < views; v++)
        job->model->views[v].scaler = scalers[v];
cleanup:
    kfe_i_free(job->ctx, scalers);
    return status;
}

/* ---- the stages ---- */

/* Whether the method, the learner or an automatic number may choose rows. Sums over rows have no rows to choose. */
static int may_choose_rows(const kfe_spec *spec)
{
    return spec->method->flags & KFE_HAS_KERNELS || spec->method == &kfe_i_method_none ||
           (spec->learner && !spec->learner->fit_sums) || kfe_i_spec_landmarks(spec).count > 0 ||
           kfe_i_spec_chooses_dim(spec) || kfe_i_spec_chooses_keep(spec);
}

/* The target with the keys of the rows, by which rows are chosen. To find them takes as long as some features of `pls`. */
static kfe_status take_target(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;

    job->target = job->train->target;
    if (!job->target.keys && may_choose_rows(job->spec)) {
        KFE_TRY(kfe_i_data_row_keys(job->ctx, job->train, &job->keys));
        job->target.keys = job->keys;
    }
cleanup:
    return status;
}

kfe_status kfe_i_fit_begin(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;

    kfe_i_kernel_list_init(job->ctx, &job->kernels);
    KFE_TRY(job->within ? kfe_i_spec_check_but_values(job->ctx, job->spec, job->train)
                        : kfe_spec_check(job->ctx, job->spec, job->train, NULL));
    KFE_TRY(kfe_i_spec_kernels(job->ctx, job->spec, job->train, &job->kernels));
    KFE_TRY(kfe_i_fit_describe(job));
    KFE_TRY(take_target(job));
    KFE_TRY(scale_views(job));
    KFE_TRY(kfe_i_resolve_kernels(job->ctx, job->train, job->scaled, &job->kernels));
    if (kfe_i_spec_chooses_dim(job->spec) || kfe_i_spec_chooses_keep(job->spec))
        KFE_TRY(kfe_i_fit_choose_dim(job));
cleanup:
    return status;
}

kfe_i_landmark_plan kfe_i_fit_landmarks(const kfe_i_fit *job)
{
    kfe_i_landmark_plan plan = kfe_i_spec_landmarks(job->spec);

    plan.keys = job->target.keys;
    plan.weights = job->target.weights;
    return plan;
}

static kfe_status open_gram(kfe_i_fit *job)
{
    int takes_kernels = job->spec->method->flags & KFE_HAS_KERNELS ||
                        kfe_i_spec_learns_from_kernel(job->spec) || kfe_i_spec_maps_kernel(job->spec);
    /* linear methods work on the factor of the operator, so it must stay factored */
    kfe_i_gram_storage storage = takes_kernels ? (kfe_i_gram_storage)job->spec->fit.gram : KFE_GRAM_AUTO;
    kfe_i_landmark_plan plan = kfe_i_fit_landmarks(job);
    kfe_status status =
        kfe_i_gram_open_plan(job->ctx, &job->kernels, job->scaled, &plan, storage, &job->own_gram);

    job->gram = job->own_gram;
    return status;
}

static kfe_status need_gram(kfe_i_fit *job)
{
    return job->gram ? KFE_OK : open_gram(job);
}

/* An SVM on the kernel itself: its decision values become the features. */
static kfe_status learn_from_kernel(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *learner = job->spec->learner;
    kfe_i_predictor *predictor = &job->model->predictor;
    kfe_i_solution *solution = &job->solution;

    KFE_TRY(learner->fit_gram(job->ctx, job->gram, &job->target, job->spec->learner_settings, predictor));
    KFE_TRY(kfe_i_solution_begin(job->ctx, KFE_SOLUTION_DUAL, job->gram->size, predictor->outputs, solution));
    memcpy(solution->coefficients, predictor->weights,
           (size_t)(predictor->rows * predictor->outputs) * sizeof *predictor->weights);
    solution->offset = predictor->offset;
    predictor->offset = NULL;
    kfe_i_free(job->ctx, predictor->weights);
    predictor->weights = NULL;
    predictor->rows = 0;
cleanup:
    return status;
}

/* Multiplies the kernels by the factors that the method found, and drops those of factor zero. */
static void weigh_kernels(kfe_i_fit *job)
{
    const double *factors = job->solution.kernel_weights;
    kfe_i_kernel_list *list = &job->kernels;
    int64_t kept = 0;

    for (int64_t m = 0; m < list->count; m++) {
        kfe_i_kernel kernel = list->items[m];
        kernel.common.weight *= factors[m];
        if (kernel.common.weight > 0)
            list->items[kept++] = kernel;
        else
            kfe_i_kernel_free(&kernel);
    }
    list->count = kept;
}

/* Opens the operator of the weighted sum of kernels. With landmarks, the coefficients move onto it. */
static kfe_status take_kernel_weights(kfe_i_fit *job, const kfe_i_fit_source *source)
{
    kfe_status status = KFE_OK;
    double *features = NULL;

    if (!job->solution.kernel_weights)
        return KFE_OK;
    if (source->landmarks.count > 0)
        KFE_TRY(kfe_i_weighted_features(job->ctx, source, &job->solution, &features));
    weigh_kernels(job);
    KFE_TRY(open_gram(job));
    if (features)
        KFE_TRY(kfe_i_approximate_features(job->gram, job->target.weights, features, &job->solution));
cleanup:
    kfe_i_free(job->ctx, features);
    return status;
}

/* Whether features, or what landmarks leave of the trace, follow from the operator, although the method may not have asked for it. */
static int is_on_operator(const kfe_i_fit *job)
{
    if (job->solution.kind == KFE_SOLUTION_POINTS)
        return kfe_i_spec_landmarks(job->spec).count > 0;
    return job->solution.kind == KFE_SOLUTION_DUAL && !job->solution.index;
}

/* Moves the map that the method learned into the scaling of the view. */
static kfe_status take_map(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_map *old = &job->model->views[0].scaler.map;
    kfe_i_map both = {0};
    kfe_i_table mapped = {0};

    KFE_TRY(kfe_i_map_compose(job->ctx, old, &job->solution.map, &both));
    KFE_TRY(kfe_i_map_apply(job->ctx, &job->solution.map, &job->scaled[0], &mapped));
    kfe_i_map_free(old);
    *old = both;
    memset(&both, 0, sizeof both);
    kfe_i_table_free(&job->scaled[0]);
    job->scaled[0] = mapped;
    memset(&mapped, 0, sizeof mapped);
cleanup:
    kfe_i_map_free(&both);
    kfe_i_table_free(&mapped);
    return status;
}

/* Coefficients on a weighted operator become those on the examples. */
static void weigh_coefficients(const double *roots, kfe_i_solution *solution)
{
    int64_t k = solution->dim;

    if (!roots || solution->kind != KFE_SOLUTION_DUAL)
        return;
    for (int64_t i = 0; i < solution->rows; i++)
        for (int64_t j = 0; j < k; j++)
            solution->coefficients[i * k + j] *= roots[solution->index ? solution->index[i] : i];
}

/* Runs the method on sums over the rows; *done is 0 if they lack digits. */
static kfe_status fit_from_sums(kfe_i_fit *job, int *done)
{
    const kfe_i_fit_source source = {.sums = job->sums, .rows_at_hand = 1};
    kfe_status status = job->spec->method->fit(job->ctx, &source, job->spec->settings, &job->solution);

    *done = status == KFE_OK;
    return status == KFE_EUNSUPPORTED ? KFE_OK : status;
}

/* Opens the operator when a method asks for it. */
static kfe_status open_when_asked(void *state, const kfe_i_gram **out)
{
    kfe_i_fit *job = state;
    kfe_status status = need_gram(job);

    *out = job->gram;
    return status;
}

/* Runs the method. A method that works on weighted operators has asked for the roots of the weights. */
static kfe_status run_method(kfe_i_fit *job, kfe_i_fit_source *source)
{
    kfe_status status = KFE_OK;
    kfe_i_operator op = {.open = open_when_asked, .state = job};

    source->op = &op;
    job->solution.source = source;
    KFE_TRY(job->spec->method->fit(job->ctx, source, job->spec->settings, &job->solution));
    weigh_coefficients(op.roots, &job->solution);
cleanup:
    kfe_i_operator_close(job->ctx, &op);
    source->op = NULL;
    job->solution.source = NULL;
    return status;
}

/* A learner of the spec takes precedence over the method's own predictor. */
static kfe_status take_predictor(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_predictor *predictor = &job->solution.predictor;

    if (predictor->outputs == 0 || job->spec->learner)
        return KFE_OK;
    if (job->standardised)
        KFE_FAIL(
            job->ctx, KFE_EUNSUPPORTED,
            "{target-scale=standard} is for features that a learner predicts from, but %s predicts by itself; give "
            "a {learner}, or leave it out",
            job->spec->method->name);
    KFE_STRDUP(job->ctx, job->model->learner, job->spec->method->name);
    KFE_STRDUP(job->ctx, job->model->learner_params, "");
    job->model->predictor = *predictor;
    memset(predictor, 0, sizeof *predictor);
cleanup:
    return status;
}

kfe_status kfe_i_fit_extract(kfe_i_fit *job, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    const char **names = NULL;
    int done = 0;
    kfe_i_fit_source source = {.target = &job->target,
                               .storage = (kfe_i_gram_storage)job->spec->fit.gram,
                               .landmarks = kfe_i_fit_landmarks(job),
                               .kernels = &job->kernels,
                               .views = job->scaled,
                               .view_count = job->train->view_count,
                               .has_missing = job->train->views[0].gaps.fill == KFE_FILL_NIPALS,
                               .own_rows = job->scaled[0].owned ? &job->scaled[0] : NULL};
    kfe_i_target standardised = {0};
    int scales = kfe_i_spec_scales_target(job->spec, &job->target);
    int distance = kfe_i_word_index(KFE_DISTANCE_WORDS, job->spec->fit.distance);

    job->gram = gram;
    if (scales) {
        KFE_TRY(kfe_i_target_standardise(job->ctx, &job->target, &standardised));
        job->standardised = standardised.values;
        source.target = &standardised;
    }
    if (job->sums && !scales)
        KFE_TRY(fit_from_sums(job, &done));
    else if (!gram && !scales && kfe_i_spec_landmarks(job->spec).count > 0)
        KFE_TRY(kfe_i_fit_landmark_sums(job, &done));
    if (done)
        return KFE_OK;
    KFE_ALLOC(job->ctx, names, job->train->view_count);
    for (int v = 0; v < job->train->view_count; v++)
        names[v] = job->train->views[v].name;
    source.view_names = names;
    source.distance = distance > 0 ? (kfe_i_distance_form)distance : KFE_DISTANCE_AUTO;
    if (kfe_i_spec_learns_from_kernel(job->spec)) {
        KFE_TRY(need_gram(job));
        KFE_TRY(learn_from_kernel(job));
    } else if (kfe_i_spec_maps_kernel(job->spec)) {
        KFE_TRY(need_gram(job));
        KFE_TRY(kfe_i_landmark_features(job->ctx, job->gram, &job->solution));
    } else {
        KFE_TRY(run_method(job, &source));
        KFE_TRY(take_kernel_weights(job, &source));
        if (job->solution.map.values)
            KFE_TRY(take_map(job));
        if (is_on_operator(job)) /* after the map: coefficients may be on all of the mapped examples */
            KFE_TRY(need_gram(job));
        KFE_TRY(take_predictor(job));
    }
cleanup:
    kfe_i_free(job->ctx, names);
    return status;
}

/* A linear projector after a map is a linear projector: T then W is TW. */
static kfe_status fold_map(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    kfe_i_solution *solution = &job->solution;
    kfe_i_map *map = &job->model->views[0].scaler.map;
    const kfe_i_map directions = {
        .rows = solution->rows, .cols = solution->dim, .values = solution->coefficients};
    kfe_i_map both = {0};

    if (!map->values || solution->kind != KFE_SOLUTION_PRIMAL)
        return KFE_OK;
    KFE_TRY(kfe_i_map_compose(job->ctx, map, &directions, &both));
    kfe_i_free(job->ctx, solution->coefficients);
    solution->coefficients = both.values;
    solution->rows = both.rows;
    kfe_i_map_free(map);
cleanup:
    return status;
}

kfe_status kfe_i_fit_adopt(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;

    if (job->gram && kfe_i_spec_landmarks(job->spec).count > 0)
        KFE_TRY(kfe_i_solution_to_landmarks(job->gram, &job->solution));
    kfe_i_gram_free(job->own_gram); /* the support may take as much memory as its prepared points */
    job->own_gram = NULL;
    job->gram = NULL;
    KFE_TRY(fold_map(job));
    KFE_TRY(kfe_i_model_adopt(job->model, &job->solution, &job->kernels, job->scaled));
cleanup:
    return status;
}

static int knows_feature_sums(const kfe_i_fit *job)
{
    return job->feature_sums.rows > 0;
}

void kfe_i_fit_free(kfe_i_fit *job)
{
    kfe_i_solution_free(&job->solution);
    kfe_i_gram_free(job->own_gram);
    kfe_i_kernel_list_free(&job->kernels);
    for (int v = 0; job->scaled && v < job->train->view_count; v++)
        kfe_i_table_free(&job->scaled[v]);
    kfe_i_free(job->ctx, job->scaled);
    kfe_i_free(job->ctx, job->standardised);
    kfe_i_free(job->ctx, job->keys);
    kfe_i_free(job->ctx, job->dim_errors);
    kfe_spec_free(job->own_spec);
    if (knows_feature_sums(job))
        kfe_i_sums_free(&job->feature_sums);
    kfe_model_free(job->model);
}

/* ---- all together ---- */

/* Whether a learner is trained on the features. */
static int trains_learner(const kfe_i_fit *job)
{
    return job->spec->learner && !kfe_i_spec_learns_from_kernel(job->spec);
}

static kfe_status train_learner(kfe_i_fit *job, const kfe_i_table *features)
{
    kfe_status status = KFE_OK;
    const kfe_i_learner *learner = job->spec->learner;

    if (!trains_learner(job))
        return KFE_OK;
    if (knows_feature_sums(job))
        return learner->fit_sums(job->ctx, &job->feature_sums, job->spec->learner_settings,
                                 &job->model->predictor);
    KFE_TRY(kfe_i_learner_check_features(job->ctx, features));
    KFE_TRY(
        learner->fit(job->ctx, features, &job->target, job->spec->learner_settings, &job->model->predictor));
cleanup:
    return status;
}

/* Whether the model keeps the moments of its training data: loadings and explained variance of linear methods follow
 * from them, and predictions with fewer features. Features are not computed for that
 * alone, unless all kernels are linear. */
static int keeps_moments(const kfe_i_fit *job)
{
    kfe_i_solution_kind kind = job->solution.kind;

    if (kind == KFE_SOLUTION_PRIMAL)
        return 1;
    if (kind != KFE_SOLUTION_DUAL && kind != KFE_SOLUTION_POINTS)
        return 0;
    return trains_learner(job) ||
           (!kfe_i_spec_learns_from_kernel(job->spec) && kfe_i_kernels_are_linear(&job->kernels));
}

/* Moments that are known without the features: those that the method has made, unless a learned distance has mixed the columns before the
 * method saw them, and those of landmarks that were added up. */
static kfe_status take_moments(kfe_i_fit *job)
{
    kfe_i_moments *made = &job->solution.moments;

    if (knows_feature_sums(job))
        return kfe_i_moments_from_sums(job->ctx, NULL, &job->feature_sums, &job->model->moments);
    if (!kfe_i_model_has_map(job->model)) {
        job->model->moments = *made;
        memset(made, 0, sizeof *made);
    }
    return KFE_OK;
}

/* `mapped`: a learned distance mixed the columns before the method saw them, so they are not those of the data. */
static kfe_status learn_moments(kfe_i_fit *job, const kfe_i_table *features, int mapped)
{
    int linear = !mapped && !kfe_i_features_not_linear(job->model);
    int observed = job->model->nipals.dim > 0;
    kfe_i_moment_data data = {.views = linear && !observed ? job->train->view_count : 0,
                              .scaled = job->scaled,
                              .features = features,
                              .target = &job->train->target};

    kfe_status status = kfe_i_moments_learn(job->ctx, &data, &job->model->moments);
    if (status == KFE_OK && observed && job->model->moments.dim > 0)
        status = kfe_i_moments_of_observed(job->ctx, &job->model->nipals, &job->model->moments);
    return status;
}

/* Features that landmarks gave are not computed for the spread alone. */
static kfe_status learn_spread(kfe_i_fit *job, const kfe_i_table *features)
{
    if (knows_feature_sums(job))
        return kfe_i_spread_expect(job->ctx, NULL, job->feature_sums.rows, &job->model->moments);
    return kfe_i_spread_learn(job->ctx, job->model, job->scaled, features, &job->train->target);
}

/* The numbers that the learner keeps about its fit become records "learner-NAME". */
static kfe_status keep_learner_records(kfe_i_fit *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_predictor *predictor = &job->model->predictor;
    char name[64];

    for (int i = 0; i < predictor->record_count; i++) {
        snprintf(name, sizeof name, "learner-%s", predictor->records[i].name);
        KFE_TRY(kfe_i_solution_record(&job->solution, name, &predictor->records[i].value, 1));
    }
cleanup:
    return status;
}

kfe_status kfe_i_fit_model(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_fit job = {.ctx = ctx, .spec = spec, .train = train};
    kfe_i_table features = {0};
    double *ratios = NULL;
    int moments = 0;
    int mapped = 0;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    uint64_t fingerprint = kfe_i_data_inspect(ctx, train, KFE_LARGEST_VALUE, &job.within);
    KFE_TRY(kfe_i_fit_begin(&job));
    if (kfe_i_spec_scale(spec) == KFE_SCALE_AUTO) {
        KFE_ALLOC(ctx, ratios, train->view_count);
        KFE_TRY(kfe_i_log_auto_scaling(ctx, &job.kernels, train, ratios));
    }
    KFE_TRY(kfe_i_fit_extract(&job, NULL));
    moments = keeps_moments(&job);
    if (moments)
        KFE_TRY(take_moments(&job));
    moments = moments && job.model->moments.dim == 0;
    if (moments || (trains_learner(&job) && !knows_feature_sums(&job)))
        KFE_TRY(kfe_i_fit_train_features(&job, &features));
    KFE_TRY(train_learner(&job, &features));
    KFE_TRY(keep_learner_records(&job));
    if (job.dim_errors) {
        KFE_TRY(kfe_i_solution_record(&job.solution, "cv-unexplained-variance", job.dim_errors,
                                      job.dim_error_count));
        KFE_TRY(kfe_i_solution_record(&job.solution, "cv-unexplained-error",
                                      job.dim_errors + job.dim_error_count, job.dim_error_count));
    }
    if (ratios)
        KFE_TRY(kfe_i_solution_record(&job.solution, KFE_RECORD_SCALE_RATIO, ratios, train->view_count));
    mapped = kfe_i_model_has_map(job.model);
    KFE_TRY(kfe_i_fit_adopt(&job));
    if (moments)
        KFE_TRY(learn_moments(&job, &features, mapped));
    if (job.model->moments.dim > 0)
        KFE_TRY(learn_spread(&job, features.values ? &features : NULL));
    job.model->origin.fingerprint = fingerprint;
    *out = job.model;
    job.model = NULL;
cleanup:
    kfe_i_free(ctx, ratios);
    kfe_i_table_free(&features);
    kfe_i_fit_free(&job);
    kfe_i_threads_leave(saved_threads);
    return status;
}
