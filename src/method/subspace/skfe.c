/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subspace-kernel feature extraction: the subspace of the kernel's feature space whose kernel
 *
 *     K^w = (KW)(WᵀKW)⁻¹(KW)ᵀ
 *
 * agrees best with the classes, either by alignment with K^y = YYᵀ (criterion.h),
 *
 *     A = ⟨K^w, K^y⟩ / (‖K^w‖‖K^y‖),
 *
 * or by the radius-margin bound of an SVM (radius_margin.h). Neither criterion is concave: the search starts
 * at the result of another method and, if asked, at random subspaces, and keeps the best end. The features are
 * the coordinates along the principal axes of the subspace.
 *
 * The search runs on the manifold of subspaces (subspace_search.h); the paper's search over all entries of W is
 * optimizer=cg. The paper gives no stopping rule, and the optimum overfits: the number of iterations is a
 * regularisation parameter. By default it is chosen on held-out examples (stopping.h), docs/subspace.md has
 * the errors with this rule and with fixed numbers.
 *
 * Wu & Farquhar, "A subspace kernel for nonlinear feature extraction" (2007), eqs. (4), (9), (17)-(27).
 * Time: the kernel matrix, one product with n × f vectors per iteration, and the searches of the stopping
 * rule; memory 8n² bytes if that fits, else less, and some twenty blocks of n × f.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/solve/positive.h"
#include "method/subspace/skfe_start.h"
#include "method/subspace/stopping.h"
#include "method/subspace/subspace_search.h"

enum { OPTIMIZER_MANIFOLD, OPTIMIZER_CG };
enum { ITERATIONS_AUTO = -1 };

typedef struct skfe_settings {
    int64_t dim, restarts, max_iter;
    int criterion, optimizer, init;
    double c, tolerance;
} skfe_settings;

static const kfe_i_param rows[] = {
    KFE_DIM_ROW(skfe_settings, dim, "number of features; auto: as many as classes"),
    KFE_CHOICE(skfe_settings, criterion, "criterion", "kta", "kta|radius-margin",
               "what the subspace optimises: alignment with the classes, or the SVM bound R^2 |w|^2"),
    KFE_CHOICE(skfe_settings, optimizer, "optimizer", "manifold", "manifold|cg",
               "search over subspaces, or the paper's conjugate gradients over all coefficients"),
    KFE_CHOICE(skfe_settings, init, "init", "koc", KFE_START_WORDS, "subspace to start from"),
    KFE_INT(skfe_settings, restarts, "restarts", "0", 0, 1000000,
            "further searches from random subspaces; the best result is kept"),
    KFE_INT_OR(
        skfe_settings, max_iter, "max-iter", "auto", 0, 1000000, "auto", "auto=-1",
        "maximum number of iterations of a search; more iterations fit the training examples more closely; "
        "auto: 64, unless held-out training examples favour another number up to 256"),
    KFE_REAL(skfe_settings, tolerance, "tolerance", "1e-06", 1e-15, 1,
             "stop when the slope falls to this share of the steepest slope so far"),
    KFE_REAL(skfe_settings, c, "margin-C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "radius-margin: price of the squared slacks of the SVM"),
};

/* The best search so far. */
typedef struct skfe_best {
    kfe_i_subspace subspace;
    kfe_i_search_result result;
    double *trace; /* the value at the start and after each iteration */
} skfe_best;

typedef struct skfe_state {
    kfe_context *ctx;
    const kfe_i_fit_source *source;
    const skfe_settings *settings;
    const kfe_i_gram *gram;
    int64_t dim, most; /* features; iterations that traces have room for */
    kfe_i_skfe_criterion criterion;
    kfe_i_stopping stopping;
    skfe_best best;
    double *trial; /* trace of the last search */
    double *ends;  /* the value at which each search ended */
} skfe_state;

static void free_state(skfe_state *s)
{
    kfe_i_skfe_criterion_free(&s->criterion);
    kfe_i_subspace_free(&s->best.subspace);
    kfe_i_free(s->ctx, s->best.trace);
    kfe_i_free(s->ctx, s->trial);
    kfe_i_free(s->ctx, s->ends);
}

static kfe_status begin(skfe_state *s)
{
    kfe_status status = KFE_OK;
    const skfe_settings *set = s->settings;

    s->most = set->max_iter == ITERATIONS_AUTO ? KFE_STOPPING_LIMIT : set->max_iter;
    KFE_ALLOC(s->ctx, s->best.trace, s->most + 1);
    KFE_ALLOC(s->ctx, s->trial, s->most + 1);
    KFE_ALLOC(s->ctx, s->ends, set->restarts + 1);
    KFE_TRY(kfe_i_skfe_criterion_begin(s->ctx, (kfe_i_criterion_kind)set->criterion, set->c,
                                       s->source->target, s->dim, &s->criterion));
cleanup:
    return status;
}

/* ---- searching ---- */

/* The number of iterations: as given, or chosen on held-out examples. */
static kfe_status choose_iterations(skfe_state *s, int64_t *out)
{
    kfe_status status = KFE_OK;
    const skfe_settings *set = s->settings;
    const kfe_i_stopping_inputs inputs = {
        .source = s->source,
        .gram = s->gram,
        .start = (kfe_i_start)set->init,
        .dim = s->dim,
        .criterion = (kfe_i_criterion_kind)set->criterion,
        .c = set->c,
        .plain = set->optimizer == OPTIMIZER_CG,
        .tolerance = set->tolerance,
    };

    *out = set->max_iter;
    if (set->max_iter != ITERATIONS_AUTO)
        return KFE_OK;
    KFE_TRY(kfe_i_choose_stopping(s->ctx, &inputs, &s->stopping));
    *out = s->stopping.iterations;
    kfe_i_log(s->ctx, KFE_LOG_INFO, "skfe: %lld iterations, chosen on %lld held-out examples",
              (long long)*out, (long long)s->stopping.held_out);
cleanup:
    return status;
}

static void keep_if_better(skfe_state *s, kfe_i_subspace *found, const kfe_i_search_result *result)
{
    double *trace = s->best.trace;

    if (s->best.subspace.basis && !(result->value > s->best.result.value))
        return;
    kfe_i_subspace_free(&s->best.subspace);
    s->best.subspace = *found;
    memset(found, 0, sizeof *found);
    s->best.result = *result;
    s->best.trace = s->trial;
    s->trial = trace;
}

static kfe_status search_from(skfe_state *s, int64_t iterations, int64_t which)
{
    kfe_status status = KFE_OK;
    const skfe_settings *set = s->settings;
    const kfe_i_search_options options = {
        .plain = set->optimizer == OPTIMIZER_CG,
        .max_iterations = iterations,
        .tolerance = set->tolerance,
    };
    kfe_i_start start = which == 0 ? (kfe_i_start)set->init : KFE_START_RANDOM;
    kfe_i_subspace subspace = {0};
    kfe_i_search_result result = {0};

    KFE_TRY(kfe_i_start_subspace(s->ctx, s->source, s->gram, start, s->dim, (uint64_t)which, &subspace));
    KFE_TRY(kfe_i_subspace_search(&subspace, &s->criterion.criterion, &options, s->trial, &result));
    s->ends[which] = result.value;
    keep_if_better(s, &subspace, &result);
cleanup:
    kfe_i_subspace_free(&subspace);
    return status;
}

static kfe_status search(skfe_state *s)
{
    kfe_status status = KFE_OK;
    int64_t iterations = 0;

    kfe_i_subspace_free(&s->best.subspace);
    KFE_TRY(choose_iterations(s, &iterations));
    for (int64_t which = 0; which <= s->settings->restarts; which++)
        KFE_TRY(search_from(s, iterations, which));
    KFE_TRY(kfe_i_subspace_principal(&s->best.subspace));
cleanup:
    return status;
}

/* KFE_ENUMERIC means that a direction had a negative squared length: search again on the positive part. */
static kfe_status search_or_use_positive_part(skfe_state *s, kfe_i_positive *positive)
{
    kfe_status status = search(s);
    const kfe_i_gram *whole = NULL;

    if (status != KFE_ENUMERIC)
        return status;
    KFE_TRY(kfe_i_ask_gram(s->ctx, s->source, &whole));
    KFE_TRY(kfe_i_positive_part(s->ctx, "skfe", whole, positive));
    s->gram = positive->gram;
    KFE_TRY(search(s));
    KFE_TRY(kfe_i_positive_project(positive, s->best.subspace.basis, s->best.subspace.dim));
cleanup:
    return status;
}

/* ---- the solution ---- */

static kfe_status record_stopping(const skfe_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;

    if (s->stopping.held_out == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_solution_record(out, "held-out-margin", s->stopping.margin, KFE_STOPPING_POINTS));
    KFE_TRY(kfe_i_solution_record(out, "held-out-error", s->stopping.error, KFE_STOPPING_POINTS));
    KFE_TRY(kfe_i_solution_record(out, "held-out-iterations", s->stopping.points, KFE_STOPPING_POINTS));
cleanup:
    return status;
}

/* The search maximises A or −log(R²‖w‖²); the records show A or R²‖w‖². */
static kfe_status record_search(const skfe_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_search_result *result = &s->best.result;
    int kta = s->settings->criterion == KFE_CRITERION_ALIGNMENT;
    double converged = result->converged;
    double iterations = (double)result->iterations;
    double slope = result->steepest > 0 ? result->slope / result->steepest : 0;

    for (int64_t i = 0; !kta && i <= result->iterations; i++)
        s->best.trace[i] = exp(-s->best.trace[i]);
    for (int64_t i = 0; !kta && i <= s->settings->restarts; i++)
        s->ends[i] = exp(-s->ends[i]);
    KFE_TRY(kfe_i_solution_record(out, kta ? "alignment" : "radius-margin", s->best.trace,
                                  result->iterations + 1));
    KFE_TRY(kfe_i_solution_record(out, "search-values", s->ends, s->settings->restarts + 1));
    KFE_TRY(kfe_i_solution_record(out, "iterations", &iterations, 1));
    KFE_TRY(kfe_i_solution_record(out, "converged", &converged, 1));
    KFE_TRY(kfe_i_solution_record(out, "relative-slope", &slope, 1));
    KFE_TRY(record_stopping(s, out));
cleanup:
    return status;
}

static kfe_status make_solution(const skfe_state *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t n = s->best.subspace.rows;
    int64_t d = s->best.subspace.dim;

    (void)kfe_i_clamp_dim(s->ctx, "skfe", s->settings->dim, d, "the examples span no more dimensions");
    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_DUAL, n, d, out));
    memcpy(out->coefficients, s->best.subspace.basis, (size_t)(n * d) * sizeof *out->coefficients);
    KFE_TRY(record_search(s, out));
    KFE_TRY(kfe_i_solution_fix_signs(out));
    if (!s->best.result.converged && s->settings->max_iter != ITERATIONS_AUTO)
        kfe_i_log(
            s->ctx, KFE_LOG_INFO,
            "skfe: the search stopped after %lld iterations, at a slope of %.2g; raise {max-iter} to continue",
            (long long)s->best.result.iterations, s->best.result.slope);
cleanup:
    return status;
}

static int64_t chosen_dim(const skfe_settings *s, int64_t classes, int64_t examples)
{
    int64_t dim = s->dim > 0 ? s->dim : classes;

    return dim < examples ? dim : examples;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    skfe_state s = {.ctx = ctx, .source = source, .settings = settings};
    const kfe_i_gram *gram = NULL;
    kfe_i_positive positive = {0};
    kfe_i_kept kept = {0};

    KFE_TRY(kfe_i_ask_gram(ctx, source, &gram));
    s.dim = chosen_dim(settings, source->target->class_count, gram->size);
    KFE_TRY(kfe_i_gram_keep(gram, KFE_KEEP_ANY, 160.0 * (double)gram->size * (double)s.dim, &kept));
    s.gram = kept.gram;
    KFE_TRY(begin(&s));
    KFE_TRY(search_or_use_positive_part(&s, &positive));
    KFE_TRY(make_solution(&s, out));
cleanup:
    free_state(&s);
    kfe_i_positive_free(&positive);
    kfe_i_gram_keep_free(&kept);
    return status;
}

const kfe_i_method kfe_i_method_skfe = {
    .name = "skfe",
    .summary =
        "search for the subspace with the largest kernel-target alignment, or the smallest radius-margin bound",
    .reference = "Wu & Farquhar 2007",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, skfe_settings),
    .fit = fit,
};
