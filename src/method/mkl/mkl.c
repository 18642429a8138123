/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkl: multiple kernel learning, SVMs on a weighted sum of kernels, the weights learned with them. With K_m the
 * kernel matrices (each divided by its mean diagonal, so that none wins by its unit) and d on the simplex,
 *   J(d) = max over α of Σ_g [eᵀα_g − ½ a_gᵀ(Σ d_m K_m)a_g],   a_gi = y_gi α_gi,  0 ≤ α ≤ C,  yᵀα = 0,
 * over the SVMs g: one for two classes, else one for each class against the rest, all with the same weights. J
 * is convex, with slopes −q_m, q_m = ½ Σ_g a_gᵀK_m a_g. svm_weights.h has the certificate and the second
 * derivatives; the Newton steps of simplex.c take some five to ten iterations.
 *
 * Lanckriet et al. (2004); Rakotomamonjy, Bach, Canu & Grandvalet (2008) for the gradient. Cost of a value: the sum of p matrices, and SVMs started from the last α; of the
 * derivatives: O(p·n²) per SVM and a Cholesky factorisation of its free support vectors. Memory: the p kernels
 * if they fit, and 2n².
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "method/joint/svm_choice.h"
#include "method/mkl/bank.h"
#include "method/mkl/svm_weights.h"

/* The share of the tolerance that the inexactness of the SVMs may use up. */
#define SVM_SHARE 0.1

typedef struct mkl_settings {
    double c, stop, tolerance;
    int64_t max_iterations;
    int solver, normalize;
} mkl_settings;

static const kfe_i_param rows[] = {
    KFE_AUTO_ONEVSREST_ROWS(mkl_settings, c, stop, "0.0001",
                            "4 divided by the ridge with the smallest leave-one-out error in a regression "
                            "on the classes, with equal weights"),
    KFE_FLAG(mkl_settings, normalize, "normalize", "yes",
             "divide every kernel by its mean value on the diagonal, so that none wins by its unit"),
    KFE_CHOICE_NOW(mkl_settings, solver, "solver", "gradient", "gradient", "silp",
                   "how the weights are found: gradient, by Newton steps on the simplex"),
    KFE_REAL(mkl_settings, tolerance, "tolerance", "0.0001", 1e-10, 1,
             "accepted duality gap, relative to the objective"),
    KFE_INT(mkl_settings, max_iterations, "max-iter", "1000", 1, 1e9,
            "maximum number of iterations of the solver", KFE_ALIAS("max-rounds")),
};

typedef struct mkl {
    kfe_context *ctx;
    const mkl_settings *settings;
    kfe_i_bank bank; /* its operators are centred; mkl uses those inside */
    kfe_i_onevsrest svms;
    kfe_i_svm_weights weights;
    double *scale; /* p: 1 over the mean diagonal */
    double *panel; /* KFE_PANEL_ROWS × n */
    double c;      /* of the SVMs: given or chosen */
    kfe_i_loo_choice choice;
} mkl;

/* ---- beginning and end ---- */

static kfe_status measure_scales(mkl *s, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < s->bank.count; m++) {
        double mean = 0;
        s->scale[m] = 1;
        if (!s->settings->normalize || s->bank.traces[m] == 0)
            continue;
        KFE_TRY(kfe_i_gram_diagonal(s->bank.kept[m].gram, s->panel));
        for (int64_t i = 0; target->weights && i < s->bank.size; i++)
            s->panel[i] *= target->weights[i];
        mean = cblas_dasum((blasint)s->bank.size, s->panel, 1) / kfe_i_target_mass(target, s->bank.size);
        s->scale[m] = mean > 0 ? 1 / mean : 1;
    }
cleanup:
    return status;
}

/* sum = Σ d_m K_m, n × n */
static kfe_status add_up(const mkl *s, const double *d, double *sum)
{
    kfe_status status = KFE_OK;
    int64_t n = s->bank.size;

    memset(sum, 0, (size_t)(n * n) * sizeof *sum);
    for (int64_t row = 0; row < n; row += KFE_PANEL_ROWS) {
        int64_t count = n - row < KFE_PANEL_ROWS ? n - row : KFE_PANEL_ROWS;
        for (int64_t m = 0; m < s->bank.count; m++) {
            if (d[m] == 0)
                continue;
            KFE_TRY(kfe_i_gram_block(s->bank.kept[m].gram, row, count, 0, n, s->panel, n));
            cblas_daxpy((blasint)(count * n), d[m] * s->scale[m], s->panel, 1, sum + row * n, 1);
        }
    }
cleanup:
    return status;
}

/* C by leave-one-out on the kernels with equal weights, at which the search starts. */
static kfe_status choose_c(mkl *s, const kfe_i_simplex_problem *simplex, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    kfe_i_table sum = {0};
    kfe_i_gram *gram = NULL;
    double *d = NULL;

    s->c = s->settings->c;
    if (s->c != KFE_SVM_C_AUTO)
        return KFE_OK;
    KFE_ALLOC(s->ctx, d, s->bank.count);
    kfe_i_simplex_start(simplex, d);
    KFE_TRY(kfe_i_table_new_dense(s->ctx, s->bank.size, s->bank.size, &sum));
    KFE_TRY(add_up(s, d, sum.values));
    KFE_TRY(kfe_i_gram_precomputed(s->ctx, &sum, &gram));
    KFE_TRY(kfe_i_svm_c_choose(s->ctx, "mkl", gram, target, &s->c, &s->choice));
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_table_free(&sum);
    kfe_i_free(s->ctx, d);
    return status;
}

static kfe_status begin(mkl *s, const kfe_i_fit_source *source, kfe_i_simplex_problem *simplex)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_bank_open(s->ctx, "mkl", source, NULL, 2, &s->bank));
    simplex->p = s->bank.count;
    simplex->usable = s->bank.traces;
    KFE_ALLOC(s->ctx, s->scale, s->bank.count);
    KFE_ALLOC(s->ctx, s->panel, KFE_PANEL_ROWS * s->bank.size);
    KFE_TRY(measure_scales(s, source->target));
    KFE_TRY(choose_c(s, simplex, source->target));
    KFE_TRY(kfe_i_onevsrest_open(s->ctx, source->target, 0, s->c, s->settings->stop, &s->svms));
    KFE_TRY(kfe_i_svm_weights_open(s->ctx, &s->svms, s->bank.count, &s->weights));
cleanup:
    return status;
}

static void end(mkl *s)
{
    kfe_i_free(s->ctx, s->scale);
    kfe_i_free(s->ctx, s->panel);
    kfe_i_svm_weights_free(&s->weights);
    kfe_i_onevsrest_free(&s->svms);
    kfe_i_bank_free(&s->bank);
}

/* ---- J(d) ---- */

static kfe_status value(void *user, const double *d, double *objective, double *excess)
{
    kfe_status status = KFE_OK;
    mkl *s = user;

    KFE_TRY(add_up(s, d, s->weights.kernel.values));
    KFE_TRY(kfe_i_svm_weights_solve(&s->weights, SVM_SHARE * s->settings->tolerance, objective, excess));
cleanup:
    return status;
}

static kfe_status slopes(void *user, double *q)
{
    kfe_status status = KFE_OK;
    mkl *s = user;
    int64_t block = s->weights.n * s->weights.k;

    for (int64_t m = 0; m < s->bank.count; m++) {
        double *image = s->weights.images + m * block;
        if (s->bank.traces[m] == 0)
            continue;
        KFE_TRY(kfe_i_gram_times(s->bank.kept[m].gram, s->svms.weights, s->weights.k, image));
        cblas_dscal((blasint)block, s->scale[m], image, 1);
    }
    kfe_i_svm_weights_slopes(&s->weights, q);
cleanup:
    return status;
}

static kfe_status curvature(void *user, double *hessian)
{
    return kfe_i_svm_weights_curvature(&((mkl *)user)->weights, hessian);
}

static int refine(void *user)
{
    return kfe_i_onevsrest_refine(&((mkl *)user)->svms);
}

/* ---- the fit ---- */

static kfe_status solve(mkl *s, const kfe_i_simplex_problem *problem, kfe_i_simplex_result *result)
{
    kfe_status status = KFE_OK;
    kfe_i_simplex_work *work = NULL;

    KFE_TRY(kfe_i_simplex_work_new(s->ctx, problem->p, &work));
    kfe_i_simplex_start(problem, result->d);
    KFE_TRY(kfe_i_simplex_newton(problem, work, result));
    KFE_TRY(kfe_i_simplex_finish(problem, work, result));
    if (kfe_i_simplex_gap(result) > 2 * problem->tolerance)
        kfe_i_log(s->ctx, KFE_LOG_WARNING,
                  "mkl: after %lld iterations the weights of the kernels are within %.2g of the optimum, "
                  "relative to the objective; raise {max-iter}, or use positive definite kernels",
                  (long long)result->iterations, kfe_i_simplex_gap(result));
cleanup:
    kfe_i_simplex_work_free(work);
    return status;
}

static kfe_status add_records(const mkl *s, const kfe_i_simplex_result *result, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    double objective = result->objective + result->excess;
    double gap = kfe_i_simplex_gap(result);
    double iterations = (double)result->iterations;

    KFE_TRY(kfe_i_solution_record(out, "weights", result->d, s->bank.count));
    KFE_TRY(kfe_i_solution_record(out, "objective", &objective, 1));
    KFE_TRY(kfe_i_solution_record(out, "bound", &result->bound, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &gap, 1));
    KFE_TRY(kfe_i_solution_record(out, "iterations", &iterations, 1));
    KFE_TRY(kfe_i_svm_c_record(out, s->c, &s->choice));
cleanup:
    return status;
}

/* The features are the decision values of the SVMs. */
static kfe_status make_solution(const mkl *s, const kfe_i_simplex_result *result, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_onevsrest *svms = &s->svms;
    int64_t n = svms->n;
    int64_t k = svms->count;

    KFE_TRY(kfe_i_solution_begin(s->ctx, KFE_SOLUTION_DUAL, n, k, out));
    memcpy(out->coefficients, svms->weights, (size_t)(n * k) * sizeof *out->coefficients);
    KFE_ALLOC(s->ctx, out->offset, k);
    memcpy(out->offset, svms->offset, (size_t)k * sizeof *out->offset);
    KFE_ALLOC(s->ctx, out->kernel_weights, s->bank.count);
    for (int64_t m = 0; m < s->bank.count; m++)
        out->kernel_weights[m] = result->d[m] * s->scale[m];
    KFE_TRY(kfe_i_predictor_begin(s->ctx, KFE_PREDICTOR_DIRECT, svms->decision, k, k, 0, &out->predictor));
    out->predictor.classes = svms->target->class_count;
    out->predictor.support_vectors = kfe_i_onevsrest_support_vectors(svms);
    KFE_TRY(add_records(s, result, out));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_fit_source *source, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    mkl s = {.ctx = ctx, .settings = settings};
    kfe_i_simplex_result result = {0};
    kfe_i_simplex_problem simplex = {.ctx = ctx,
                                     .tolerance = s.settings->tolerance,
                                     .max_iterations = s.settings->max_iterations,
                                     .value = value,
                                     .slopes = slopes,
                                     .curvature = curvature,
                                     .refine = refine,
                                     .user = &s};

    KFE_TRY(begin(&s, source, &simplex));
    KFE_ALLOC(ctx, result.d, simplex.p);
    KFE_TRY(solve(&s, &simplex, &result));
    KFE_TRY(make_solution(&s, &result, out));
cleanup:
    kfe_i_free(ctx, result.d);
    end(&s);
    return status;
}

const kfe_i_method kfe_i_method_mkl = {
    .name = "mkl",
    .summary = "SVMs on a weighted sum of kernels, learned together with the weights",
    .reference = "Lanckriet et al. 2004; Rakotomamonjy et al. 2008",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, mkl_settings),
    .uses = kfe_i_use_rows,
    .fit = fit,
};
