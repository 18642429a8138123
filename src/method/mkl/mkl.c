/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiple kernel learning: support vector machines on a weighted sum of kernels, the weights learned with
 * them. With K_m the kernel matrices (each divided by its mean diagonal, so that none wins by its unit) and
 * d on the simplex,
 *   J(d) = max over α of Σ_g [eᵀα_g − ½ a_gᵀ(Σ d_m K_m)a_g],   a_gi = y_gi α_gi,  0 ≤ α ≤ C,  yᵀα = 0,
 * over the machines g: one for two classes, else one for each class against the rest, all with the same
 * weights. J is convex, with slopes −q_m, q_m = ½ Σ_g a_gᵀK_m a_g, and any feasible α bounds the optimum from
 * below by eᵀα − max q_m. The machines' primal costs P at d bound it from above, so that
 *   P − (eᵀα − max q_m)
 * is a certificate also when the machines are not solved exactly; they are solved until their own part
 * P − J(d) of it is small.
 *
 * Second derivatives come from the free support vectors F (0 < α < C): α_F solves linear equations with K_FF
 * and the condition yᵀα = 0, so that with r_m = (K_m a)_F and Z = K_FF⁻¹
 *   ∂²J/∂d_i∂d_j = r_iᵀ[Z − Z11ᵀZ/(1ᵀZ1)]r_j,
 * and the Newton steps of simplex.c take some five to ten rounds.
 *
 * Lanckriet et al. (2004); Sonnenburg et al. (2006) for --solver silp; Rakotomamonjy, Bach, Canu & Grandvalet
 * (2008) for the gradient; Chapelle & Rakotomamonjy (2008) for the second derivatives. Cost of a value: the
 * sum of p matrices, and machines started from the last α; of the derivatives: O(p·n²) a machine and a
 * Cholesky factorisation of its free support vectors. Memory: the p kernels if they fit, and 2n².
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/linalg.h"
#include "method/mkl/ridge_weights.h"
#include "method/mkl/simplex.h"
#include "method/onevsrest.h"

enum { PANEL_ROWS = 256, SOLVER_SILP = 1 };
/* Weights below this share are taken for zero: they change the objective by less, relatively. */
#define NO_WEIGHT 1e-9
/* The share of the tolerance that the machines' own inexactness may take. */
#define SVMS_SHARE 0.1
/* The smallest violation that machines are solved to: decision values are about one. */
#define LEAST_STOP 1e-10
/* Against K_FF that is singular, relative to its mean diagonal; only the steps depend on it. */
#define RIDGE 1e-9

typedef struct mkl_settings {
    double c, stop, tolerance;
    int64_t max_rounds;
    int solver, normalize;
} mkl_settings;

static const kfe_i_param rows[] = {
    KFE_ONEVSREST_ROWS(mkl_settings, c, stop),
    KFE_FLAG(mkl_settings, normalize, "normalize", "yes",
             "divide every kernel by its mean value on the diagonal, so that none wins by its unit"),
    KFE_CHOICE(mkl_settings, solver, "solver", "gradient", "gradient|silp",
               "how weights are found: Newton steps on the simplex, or linear programs that gain one "
               "constraint a round"),
    KFE_REAL(mkl_settings, tolerance, "tolerance", "0.0001", 1e-10, 1,
             "duality gap that is accepted, relative to the objective"),
    KFE_INT(mkl_settings, max_rounds, "max-rounds", "1000", 1, 1e9, "rounds of the solver at most"),
};

typedef struct weighing {
    kfe_context *ctx;
    const mkl_settings *settings;
    kfe_i_bank bank; /* centred, but what it centres is kept */
    kfe_i_onevsrest svms;
    int64_t n, p, k;
    double *scale;     /* p: 1 over the mean diagonal */
    kfe_i_table sum;   /* n × n: Σ d_m K_m, and an operator on it */
    kfe_i_gram *gram;  /* reads `sum` */
    double *panel;     /* PANEL_ROWS × n, or p + 1 */
    double *outputs;   /* n × k: Σ d_m K_m a */
    double *images;    /* p × n × k: K_m a */
    double *factor;    /* n × n: the Cholesky factor of K_FF */
    double *right;     /* n × (p + 1): r_1 … r_p and ones, then Z times them */
    int64_t *free_set; /* n */
} weighing;

static const kfe_i_gram *plain(const weighing *w, int64_t kernel)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(w->bank.kept[kernel].gram);
    return inner ? inner : w->bank.raw[kernel];
}

/* ---- beginning and end ---- */

static kfe_status measure_scales(weighing *w)
{
    kfe_status status = KFE_OK;

    for (int64_t m = 0; m < w->p; m++) {
        double mean = 0;
        w->scale[m] = 1;
        if (!w->settings->normalize || w->bank.traces[m] == 0)
            continue;
        KFE_TRY(kfe_i_gram_diagonal(plain(w, m), w->panel));
        mean = cblas_dasum((blasint)w->n, w->panel, 1) / (double)w->n;
        w->scale[m] = mean > 0 ? 1 / mean : 1;
    }
cleanup:
    return status;
}

static kfe_status allocate(weighing *w)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = w->ctx;
    int64_t n = w->n;

    KFE_TRY(kfe_i_check_memory(ctx, 16.0 * (double)n * (double)n, "finding weights of kernels",
                               "raise --memory or use fewer rows"));
    KFE_TRY(kfe_i_table_new_dense(ctx, n, n, &w->sum));
    memset(w->sum.values, 0, (size_t)(n * n) * sizeof *w->sum.values);
    KFE_TRY(kfe_i_gram_precomputed(ctx, &w->sum, &w->gram));
    KFE_ALLOC(ctx, w->scale, w->p);
    KFE_ALLOC(ctx, w->panel, PANEL_ROWS * n + w->p + 1);
    KFE_ALLOC(ctx, w->outputs, n * w->k);
    KFE_ALLOC_ZERO(ctx, w->images, w->p * n * w->k);
    KFE_ALLOC(ctx, w->factor, n * n);
    KFE_ALLOC(ctx, w->right, n * (w->p + 1));
    KFE_ALLOC(ctx, w->free_set, n);
cleanup:
    return status;
}

static kfe_status begin(weighing *w, const kfe_i_problem *problem)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_bank_open(w->ctx, "mkl", problem, &w->bank));
    KFE_TRY(kfe_i_onevsrest_open(w->ctx, problem->target, 0, w->settings->c, w->settings->stop, &w->svms));
    w->n = w->bank.size;
    w->p = w->bank.count;
    w->k = w->svms.count;
    KFE_TRY(allocate(w));
    KFE_TRY(measure_scales(w));
cleanup:
    return status;
}

static void end(weighing *w)
{
    kfe_i_gram_free(w->gram);
    kfe_i_table_free(&w->sum);
    kfe_i_free(w->ctx, w->scale);
    kfe_i_free(w->ctx, w->panel);
    kfe_i_free(w->ctx, w->outputs);
    kfe_i_free(w->ctx, w->images);
    kfe_i_free(w->ctx, w->factor);
    kfe_i_free(w->ctx, w->right);
    kfe_i_free(w->ctx, w->free_set);
    kfe_i_onevsrest_free(&w->svms);
    kfe_i_bank_free(&w->bank);
}

/* ---- J(d) ---- */

static kfe_status add_up(weighing *w, const double *d)
{
    kfe_status status = KFE_OK;
    int64_t n = w->n;

    memset(w->sum.values, 0, (size_t)(n * n) * sizeof *w->sum.values);
    for (int64_t row = 0; row < n; row += PANEL_ROWS) {
        int64_t count = n - row < PANEL_ROWS ? n - row : PANEL_ROWS;
        for (int64_t m = 0; m < w->p; m++) {
            if (d[m] == 0)
                continue;
            KFE_TRY(kfe_i_gram_block(plain(w, m), row, count, 0, n, w->panel, n));
            cblas_daxpy((blasint)(count * n), d[m] * w->scale[m], w->panel, 1, w->sum.values + row * n, 1);
        }
    }
cleanup:
    return status;
}

/* P − J(d): Σ_g aᵀKa + C·hinge − eᵀα */
static double svms_gap(const weighing *w)
{
    const kfe_i_onevsrest *svms = &w->svms;
    double gap = cblas_ddot((blasint)(w->n * w->k), svms->weights, 1, w->outputs, 1);

    gap -= svms->alpha_sum;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t g = 0; g < w->k; g++) {
            double decision = w->outputs[i * w->k + g] - svms->offset[g];
            gap += svms->upper[i] * fmax(0, 1 - svms->sign[g * w->n + i] * decision);
        }
    return fmax(0, gap);
}

static kfe_status solve_svms(weighing *w, double *objective, double *excess)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_onevsrest_solve_on(&w->svms, w->gram));
    KFE_TRY(kfe_i_gram_times(w->gram, w->svms.weights, w->k, w->outputs));
    *objective = w->svms.objective;
    *excess = svms_gap(w);
cleanup:
    return status;
}

static int refine(void *user)
{
    weighing *w = user;

    if (w->svms.stop <= LEAST_STOP)
        return 0;
    w->svms.stop = fmax(w->svms.stop / 10, LEAST_STOP);
    return 1;
}

static kfe_status value(void *user, const double *d, double *objective, double *excess)
{
    kfe_status status = KFE_OK;
    weighing *w = user;

    KFE_TRY(add_up(w, d));
    KFE_TRY(solve_svms(w, objective, excess));
    while (*excess > SVMS_SHARE * w->settings->tolerance * *objective && refine(w))
        KFE_TRY(solve_svms(w, objective, excess));
cleanup:
    return status;
}

/* ---- derivatives ---- */

static kfe_status slopes(void *user, double *q)
{
    kfe_status status = KFE_OK;
    weighing *w = user;
    int64_t block = w->n * w->k;

    for (int64_t m = 0; m < w->p; m++) {
        double *image = w->images + m * block;
        q[m] = 0;
        if (w->bank.traces[m] == 0)
            continue;
        KFE_TRY(kfe_i_gram_times(plain(w, m), w->svms.weights, w->k, image));
        cblas_dscal((blasint)block, w->scale[m], image, 1);
        q[m] = 0.5 * cblas_ddot((blasint)block, w->svms.weights, 1, image, 1);
    }
cleanup:
    return status;
}

static int64_t list_free(weighing *w, int64_t svm)
{
    const double *alpha = w->svms.alpha + svm * w->n;
    int64_t count = 0;

    for (int64_t i = 0; i < w->n; i++)
        if (alpha[i] > 0 && alpha[i] < w->svms.upper[i])
            w->free_set[count++] = i;
    return count;
}

/* K_FF with a little on its diagonal, and r_1 … r_p beside ones. */
static void gather_free(weighing *w, int64_t svm, int64_t count)
{
    int64_t width = w->p + 1;
    double trace = 0;

    for (int64_t i = 0; i < count; i++) {
        const double *row = w->sum.values + w->free_set[i] * w->n;
        for (int64_t j = 0; j < count; j++)
            w->factor[i * count + j] = row[w->free_set[j]];
        trace += fabs(row[w->free_set[i]]);
        for (int64_t m = 0; m < w->p; m++)
            w->right[i * width + m] = w->images[(m * w->n + w->free_set[i]) * w->k + svm];
        w->right[i * width + w->p] = 1;
    }
    for (int64_t i = 0; i < count; i++)
        w->factor[i * count + i] += RIDGE * trace / (double)count;
}

/* hessian += r_iᵀ[Z − Z11ᵀZ/(1ᵀZ1)]r_j, from w->right = Z[r 1] */
static void add_curvature(weighing *w, int64_t svm, int64_t count, double *hessian)
{
    int64_t p = w->p;
    int64_t width = p + 1;
    double *sums = w->panel; /* 1ᵀZr_1 … 1ᵀZr_p, 1ᵀZ1 */

    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int64_t i = 0; i < count; i++)
        cblas_daxpy((blasint)width, 1, w->right + i * width, 1, sums, 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t m = 0; m < p; m++) {
            double r = w->images[(m * w->n + w->free_set[i]) * w->k + svm];
            cblas_daxpy((blasint)p, r, w->right + i * width, 1, hessian + m * p, 1);
        }
    for (int64_t m = 0; m < p; m++)
        cblas_daxpy((blasint)p, -sums[m] / sums[p], sums, 1, hessian + m * p, 1);
}

static kfe_status curvature(void *user, double *hessian)
{
    kfe_status status = KFE_OK;
    weighing *w = user;

    memset(hessian, 0, (size_t)(w->p * w->p) * sizeof *hessian);
    for (int64_t g = 0; g < w->k; g++) {
        int64_t count = list_free(w, g);
        if (count == 0)
            continue;
        gather_free(w, g, count);
        status = kfe_i_cholesky(w->ctx, count, w->factor, "the kernel of the free support vectors");
        if (status == KFE_ENUMERIC) { /* a kernel that is not positive definite: steps by the others */
            status = KFE_OK;
            continue;
        }
        KFE_TRY(status);
        kfe_i_solve_cholesky(count, w->factor, w->p + 1, w->right);
        add_curvature(w, g, count, hessian);
    }
cleanup:
    return status;
}

/* ---- the fit ---- */

static void start(const weighing *w, double *d)
{
    int64_t live = 0;

    for (int64_t m = 0; m < w->p; m++)
        live += w->bank.traces[m] > 0;
    for (int64_t m = 0; m < w->p; m++)
        d[m] = w->bank.traces[m] > 0 ? 1 / (double)live : 0;
}

static void drop_traces_of_weight(int64_t p, double *d)
{
    double sum = 0;

    for (int64_t m = 0; m < p; m++) {
        d[m] = d[m] > NO_WEIGHT ? d[m] : 0;
        sum += d[m];
    }
    for (int64_t m = 0; m < p; m++)
        d[m] /= sum;
}

static kfe_status solve(weighing *w, kfe_i_simplex *s)
{
    kfe_status status = KFE_OK;
    double bound = HUGE_VAL;

    start(w, s->d);
    KFE_TRY(w->settings->solver == SOLVER_SILP ? kfe_i_simplex_silp(s) : kfe_i_simplex_newton(s));
    bound = s->gap;
    drop_traces_of_weight(w->p, s->d);
    KFE_TRY(kfe_i_simplex_measure(s));
    s->gap = fmin(s->gap, bound);
    if (s->gap > 2 * s->tolerance * s->objective)
        kfe_i_log(
            w->ctx, KFE_LOG_WARNING,
            "mkl: after %lld rounds the weights of the kernels are within %.2g of the optimum, relative "
            "to the objective; raise --max-rounds, or use --solver gradient and positive definite "
            "kernels",
            (long long)s->rounds, s->gap / s->objective);
cleanup:
    return status;
}

static kfe_status finish(const weighing *w, const kfe_i_simplex *s, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_onevsrest *svms = &w->svms;
    double rounds = (double)s->rounds;

    KFE_TRY(kfe_i_solution_begin(w->ctx, KFE_SOLUTION_DUAL, w->n, w->k, out));
    memcpy(out->coefficients, svms->weights, (size_t)(w->n * w->k) * sizeof *out->coefficients);
    KFE_ALLOC(w->ctx, out->offset, w->k);
    memcpy(out->offset, svms->offset, (size_t)w->k * sizeof *out->offset);
    KFE_ALLOC(w->ctx, out->kernel_weights, w->p);
    for (int64_t m = 0; m < w->p; m++)
        out->kernel_weights[m] = s->d[m] * w->scale[m];
    KFE_TRY(
        kfe_i_predictor_begin(w->ctx, KFE_PREDICTOR_DIRECT, svms->decision, w->k, w->k, 0, &out->predictor));
    out->predictor.classes = svms->target->class_count;
    out->predictor.support_vectors = kfe_i_onevsrest_support_vectors(svms);
    KFE_TRY(kfe_i_solution_record(out, "weights", s->d, w->p));
    KFE_TRY(kfe_i_solution_record(out, "objective", &s->objective, 1));
    KFE_TRY(kfe_i_solution_record(out, "gap", &s->gap, 1));
    KFE_TRY(kfe_i_solution_record(out, "rounds", &rounds, 1));
cleanup:
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_problem *problem, const void *settings,
                      kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    weighing w = {.ctx = ctx, .settings = settings};
    kfe_i_simplex s = {.ctx = ctx,
                       .tolerance = w.settings->tolerance,
                       .max_rounds = w.settings->max_rounds,
                       .value = value,
                       .slopes = slopes,
                       .curvature = curvature,
                       .refine = refine,
                       .user = &w};

    KFE_TRY(begin(&w, problem));
    s.p = w.p;
    s.usable = w.bank.traces;
    KFE_ALLOC(ctx, s.d, w.p);
    KFE_ALLOC(ctx, s.q, w.p);
    KFE_TRY(solve(&w, &s));
    KFE_TRY(finish(&w, &s, out));
cleanup:
    kfe_i_free(ctx, s.d);
    kfe_i_free(ctx, s.q);
    end(&w);
    return status;
}

const kfe_i_method kfe_i_method_mkl = {
    .name = "mkl",
    .summary = "support vector machines on a weighted sum of kernels, the weights learned with them",
    .reference = "Lanckriet et al. 2004; Rakotomamonjy et al. 2008",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW | KFE_HAS_SPARSE | KFE_HAS_WEIGHTS |
             KFE_HAS_PREDICTOR,
    .params = KFE_PARAM_TABLE(rows, mkl_settings),
    .fit = fit,
};
