/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights for several kernels. With Gᵢ the centred matrix of kernel i divided by its trace and weights d on
 * the simplex, Ĝ = Σ dᵢGᵢ, so that Ĝ has trace one, and with targets L (n × k) f(d) = tr(Lᵀ M⁻¹ L),   M = I +
 * Ĝ/ξ, is convex in d (Chen et al. 2008, eq. 27, where dᵢ = θᵢ·tr(Gᵢ)). With U = M⁻¹L and qᵢ = tr(UᵀGᵢU)/ξ
 * the gradient is −q, and f(d') ≥ f(d) − Σ(d'ᵢ − dᵢ)qᵢ for all d': the optimum is no less than f(d) − gap,
 *   gap = max qᵢ − Σ dᵢqᵢ.
 * What a solver adds is one file.
 */
#ifndef KFE_METHOD_MKL_RIDGE_WEIGHTS_H
#define KFE_METHOD_MKL_RIDGE_WEIGHTS_H

#include "method/method.h"

/* The kernels of a problem, each centred, kept as memory allows, with its trace. */
typedef struct kfe_i_bank {
    kfe_context *ctx;
    int64_t size, count;
    kfe_i_gram **raw, **centred;
    kfe_i_kept *kept;
    kfe_i_table *tables; /* of kernels whose matrices are maps of shared values */
    double *traces;      /* 0: the kernel is constant on the data, and counts for nothing */
    double rounding;     /* what rounding makes of an eigenvalue of a Gᵢ that is zero */
    double *means;       /* n: of rows, while kernels are summed */
} kfe_i_bank;

/* KFE_EINPUT, in the name of `method`, if all kernels are constant. Free it also after a failure. */
kfe_status kfe_i_bank_open(kfe_context *ctx, const char *method, const kfe_i_problem *problem,
                           kfe_i_bank *out);
void kfe_i_bank_free(kfe_i_bank *bank);
/* out (n × k) = Gᵢ·v */
kfe_status kfe_i_bank_times(const kfe_i_bank *bank, int64_t kernel, const double *v, int64_t k, double *out);
/* Rows `row` … of Gᵢ, all columns, times factor, added to out (rows × n); `panel` has room for as much. */
kfe_status kfe_i_bank_add_rows(const kfe_i_bank *bank, int64_t kernel, double factor, int64_t row,
                               int64_t rows, double *panel, double *out);
/* The lower triangle of Σ weightsᵢGᵢ into out (n × n); the rest of it is left alone. `panel`: KFE_PANEL_ROWS
 * × n. */
enum { KFE_PANEL_ROWS = 256 };
kfe_status kfe_i_bank_combine(const kfe_i_bank *bank, const double *weights, double *panel, double *out);
/* Gives the solution its kernel weights θᵢ = dᵢ/tr(Gᵢ), centres it, and records the d as "weights". */
kfe_status kfe_i_bank_finish(const kfe_i_bank *bank, const double *d, kfe_i_solution *solution);

enum { KFE_SOLVER_GRADIENT, KFE_SOLVER_SILP, KFE_SOLVER_SDP };
#define KFE_SOLVER_WORDS "gradient|silp|sdp"

typedef struct kfe_i_ridge_newton kfe_i_ridge_newton;

typedef struct kfe_i_ridge_weights {
    kfe_context *ctx;
    const kfe_i_bank *bank;
    const char *method; /* for messages */
    int64_t n, p, k;
    int64_t most; /* of k */
    double xi;
    double tolerance; /* of the gap, relative to the objective */
    int64_t max_rounds;
    double *labels;        /* L, n × k */
    double *d;             /* p: the start, and the answer */
    double bound;          /* that the solver has found: nothing on the simplex is below it */
    double objective, gap; /* of the answer; gap: how far below the objective the optimum can be */
    int64_t rounds;
    int indefinite; /* M was not positive definite where f was asked last */
    /* at the point asked last */
    double *factor;            /* n × n: the Cholesky factor of M */
    double *factored, *scaled; /* p: the weights that it is of, and those over ξ */
    double factored_xi;        /* 0: there is no factor yet */
    double *u;                 /* n × k */
    double *images;            /* p × n × k: GᵢU/ξ */
    double *q;                 /* p */
    double *panel, *scratch;
    kfe_i_ridge_newton *newton; /* what the gradient solver keeps between calls */
} kfe_i_ridge_weights;

/* Room for `most` targets, which is also their first number; d starts uniform over the kernels that are not
 * constant. */
kfe_status kfe_i_ridge_weights_open(kfe_context *ctx, const kfe_i_bank *bank, int64_t most,
                                    kfe_i_ridge_weights *out);
void kfe_i_ridge_weights_free(kfe_i_ridge_weights *mkl);
/* f(d) and U: one Cholesky factorisation, or none if the last one was of the same d. KFE_ENUMERIC if M is not
 * positive definite. */
kfe_status kfe_i_ridge_weights_value(kfe_i_ridge_weights *mkl, const double *d, double *objective);
/* After kfe_i_ridge_weights_value: images and q. */
kfe_status kfe_i_ridge_weights_slopes(kfe_i_ridge_weights *mkl);
/* max qᵢ − Σ dᵢqᵢ */
double kfe_i_ridge_weights_gap(const kfe_i_ridge_weights *mkl, const double *d);

/* The best weights, from mkl->d on, by a solver. Where a kernel is not positive definite, ξ is raised until M
 * is, with a warning. Afterwards factor and u are those of the answer. */
kfe_status kfe_i_ridge_weights_solve(kfe_i_ridge_weights *mkl, int solver);
kfe_status kfe_i_ridge_weights_newton(kfe_i_ridge_weights *mkl);
void kfe_i_ridge_newton_free(kfe_i_ridge_newton *newton);
kfe_status kfe_i_ridge_weights_silp(kfe_i_ridge_weights *mkl);
kfe_status kfe_i_ridge_weights_sdp(kfe_i_ridge_weights *mkl);

/* The same problem inside a subspace (mkl_reduced.c). */
typedef struct kfe_i_ridge_reduced {
    const kfe_i_ridge_weights *full;
    int64_t r, used; /* rows of the small problem; those that are not zeros */
    kfe_i_bank bank; /* of the SᵀGᵢS */
    kfe_i_ridge_weights mkl;
    double *span;           /* r × n: Sᵀ */
    double *fresh, *images; /* n × width: the newest columns of S, and a Gᵢ times them */
    double *products;       /* r × width */
} kfe_i_ridge_reduced;

/* Columns that S gains in a round. */
int64_t kfe_i_ridge_reduced_width(const kfe_i_ridge_weights *full);
/* Free it also after a failure. */
kfe_status kfe_i_ridge_reduced_open(const kfe_i_ridge_weights *full, kfe_i_ridge_reduced *out);
void kfe_i_ridge_reduced_free(kfe_i_ridge_reduced *reduced);
void kfe_i_ridge_reduced_forget(kfe_i_ridge_reduced *reduced);
/* Adds U and the answers M⁻¹GᵢU/ξ (n × p·k, side by side) to the span, and makes reduced->mkl the problem in
 * it, at the weights of the full one. */
kfe_status kfe_i_ridge_reduce(kfe_i_ridge_reduced *reduced, const double *answers);

/* What methods with such weights have in common. */
typedef struct kfe_i_ridge_weights_settings {
    double xi, tolerance;
    int64_t max_rounds;
    int solver;
} kfe_i_ridge_weights_settings;

#define KFE_RIDGE_WEIGHTS_ROWS(type, field)                                                                  \
    KFE_REAL_OR(type, field.xi, "xi", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1",            \
                "regularisation xi, against a sum of kernels of trace one; auto: 1/examples"),               \
        KFE_CHOICE(type, field.solver, "solver", "gradient", KFE_SOLVER_WORDS,                               \
                   "how weights are found: Newton steps on the simplex, linear programs that gain one "      \
                   "constraint a round, or one semidefinite program (small data only)"),                     \
        KFE_REAL(type, field.tolerance, "tolerance", "1e-08", 1e-12, 1,                                      \
                 "duality gap that is accepted, relative to the objective"),                                 \
        KFE_INT(type, field.max_rounds, "max-rounds", "1000", 1, 1e9, "rounds of the solver at most")

void kfe_i_ridge_weights_configure(kfe_i_ridge_weights *mkl, const char *method,
                                   const kfe_i_ridge_weights_settings *settings);
/* B = M⁻¹L/ξ = (Ĝ + ξI)⁻¹L (n × k) and H = LᵀĜB (k × k), for kfe_i_best_directions; of the last answer. */
void kfe_i_ridge_weights_directions(const kfe_i_ridge_weights *mkl, double *b, double *h);
/* Records xi, objective, gap and rounds. */
kfe_status kfe_i_ridge_weights_record(const kfe_i_ridge_weights *mkl, kfe_i_solution *solution);

#endif
