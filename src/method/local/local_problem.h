/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objective of lmkl and sldr: open it, evaluate it, differentiate it, minimise it.
 *
 * J is the optimum of the SVMs under the localized kernel
 *     κ_η(x, y) = Σ_m η_m(x) κ_m(z^m(x), z^m(y)) η_m(y),
 *     z^m = W_mᵀx^m,   η(x) = softmax(Vᵀz^G + v₀),   z^G = Γᵀx^G,
 * as a function of one vector of parameters,
 *     [W_1 … W_P | Γ | V | v₀].
 * sldr: the W_m and Γ = T have orthonormal columns. lmkl: there are no W_m, V is the identity, and Γ is the gate of the
 * paper.
 *
 * Without a penalty the gate would become ever harder. So J also contains
 *     ½·gate-ridge·J₀·s²·‖V‖²   (lmkl: ‖Γ‖²),
 * where J₀ is the objective at the first start and s² is the mean square of the columns that the gate sees: s·V is the
 * size of the gate's logits, whatever the unit of the data.
 *
 * local_problem.c    opens the problem
 * local_columns.c    turns kernels into columns
 * local_value.c      computes J
 * local_gradient.c   computes its derivatives
 * local_start.c      orthonormal columns, and where the search starts
 * local_search.c     minimises J
 * local_solution.c   turns the result into a model
 */
#ifndef KFE_METHOD_LOCAL_LOCAL_PROBLEM_H
#define KFE_METHOD_LOCAL_LOCAL_PROBLEM_H

#include "core/rng.h"
#include "linalg/linalg.h"
#include "method/method.h"
#include "method/shared/onevsrest.h"

/* ---- parameters of the methods ---- */

enum { KFE_LOCAL_KPCA, KFE_LOCAL_EMPIRICAL };
enum { KFE_LOCAL_ARMIJO, KFE_LOCAL_CONSTANT };
enum { KFE_LOCAL_SUPERVISED, KFE_LOCAL_RANDOM };

typedef struct kfe_i_local_settings {
    int64_t local_dim; /* 0: one fewer than classes, at least 2 */
    int64_t gate_dim;
    char gate[KFE_PARAM_TEXT_SIZE];
    int kernel_map, features, step, start;
    double c, stop, ridge, step_size, settled;
    int64_t max_iterations, restarts; /* restarts 0: automatic (local_search.c) */
} kfe_i_local_settings;

#define KFE_LOCAL_ROWS(type)                                                                                 \
    KFE_TEXT(type, gate, "gate", "all", "views that the gate sees: all, or the name or number of one"),      \
        KFE_CHOICE(type, kernel_map, "kernel-map", "kpca", "kpca|empirical",                                 \
                   "how kernels other than linear, poly and rbf become columns: by their eigenvectors, or "  \
                   "their values as they are"),                                                              \
        KFE_CHOICE(type, features, "features", "local", KFE_LOCAL_FEATURE_WORDS,                             \
                   "features of the model: gated local projections, the gate's projection, or the gate's "   \
                   "shares"),                                                                                \
        KFE_ONEVSREST_ROWS(type, c, stop),                                                                   \
        KFE_REAL(type, ridge, "gate-ridge", "0.0001", 0, KFE_REAL_MAX,                                       \
                 "penalty on a gate of unit slope, relative to the objective at the start; keeps the gate "  \
                 "from getting harder and harder"),                                                          \
        KFE_CHOICE(type, step, "step", "armijo", "armijo|constant",                                          \
                   "line search, or steps of constant size"),                                                \
        KFE_REAL_OR(type, step_size, "step-size", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=0", \
                    "factor of the gradient in the first step, or in every step"),                           \
        KFE_REAL(type, settled, "settled", "0.001", 0, 1,                                                    \
                 "stop when an iteration lowers the objective by less than this share"),                     \
        KFE_INT(type, max_iterations, "max-iter", "200", 0, 1e6, "maximum number of iterations per start"),  \
        KFE_INT_OR(                                                                                          \
            type, restarts, "restarts", "auto", 1, 1e6, "auto", "auto=0",                                    \
            "number of starts, of which the best result is kept; auto: a dozen short starts, of which the "  \
            "lowest three go on; each is then continued from a softer gate as long as that lowers its "      \
            "objective, at most 3 times")

/* ---- the problem ---- */

/* The data of one part, and its projection. */
typedef struct kfe_i_local_source {
    kfe_i_kernel kernel; /* compares z; borrowed, or `own` for mapped parts */
    kfe_i_kernel own;
    int mapped, linear;
    kfe_i_table columns; /* x^m; borrowed, or owned for mapped parts */
    double *spectrum;    /* parts mapped by eigenvectors: the eigenvalue of each column */
    int64_t dim;
    int64_t projection_at; /* where W begins in the parameters; -1: z is x */
    int64_t gating_at;     /* where the part's rows of Γ begin; -1: the gate does not see the part */
    kfe_i_table z;         /* n × dim */
    double *kept;          /* κ_m, n × n, if it never changes and fits in memory */
    kfe_i_points points;   /* z, if the kernel is evaluated again and again */
    kfe_i_table support_z; /* its first rows: z of the support examples */
    kfe_i_points support_points;
} kfe_i_local_source;

/* The sizes of the gate, and where its blocks begin in the vector of parameters. */
typedef struct kfe_i_local_layout {
    int64_t gate_cols, gate_dim;
    int64_t gate, weights, offset;
    int64_t size;
} kfe_i_local_layout;

/* What follows from the parameters of the last kfe_i_local_update. */
typedef struct kfe_i_local_now {
    double *gate, *shares; /* n × gate_dim: z^G; n × count: η */
    double *factor;        /* n × factor_cols: η_m z^m of the linear parts that are projected */
    int64_t factor_cols;
    kfe_i_table matrix; /* κ_η, n × n */
    kfe_i_gram *gram;   /* the operator of that matrix */
} kfe_i_local_now;

/* Workspace of the gradient, for up to n support examples. */
typedef struct kfe_i_local_work {
    int64_t *support;
    int64_t support_count;
    double *pull;     /* n × the widest of dim and gate_dim */
    double *logits;   /* n × count: ∂J by the gate's logits */
    double *scaled;   /* n × SVMs: weights of the SVMs times the part's shares */
    double *product;  /* n × SVMs */
    double *sums;     /* n */
    double *gathered; /* n × the widest dense part */
    double *small;    /* the widest dim × SVMs */
    double *tiles;    /* `own` for each thread */
    int64_t own;
} kfe_i_local_work;

struct kfe_i_local_problem;
/* For tests and measurements. */
typedef struct kfe_i_local_watch {
    double svm_seconds; /* time spent on the SVMs */
    void (*call)(void *user, const struct kfe_i_local_problem *p, const double *parameters);
    void *user; /* `call`, if not NULL, is called after every evaluation of J */
} kfe_i_local_watch;

typedef struct kfe_i_local_problem {
    kfe_context *ctx;
    const kfe_i_fit_source *given;
    const char *method;
    int projects; /* sldr */
    int threads;
    int64_t n, count; /* examples, parts */
    kfe_i_local_source *parts;
    kfe_i_local_layout at;
    double gate_scale; /* mean square of the columns that the gate sees */
    double ridge;      /* gate-ridge·J₀·s²; set by the search at its first start */
    kfe_i_onevsrest svms;
    kfe_i_local_now now;
    kfe_i_local_work work;
    kfe_i_local_watch watch;
} kfe_i_local_problem;

/* `projects`: sldr. Free it also after a failure. */
kfe_status kfe_i_local_problem_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *given,
                                    const kfe_i_local_settings *settings, int projects,
                                    kfe_i_local_problem *out);
void kfe_i_local_problem_free(kfe_i_local_problem *p);
/* "view NAME", for messages. */
void kfe_i_local_view_name(const kfe_i_fit_source *given, int view, char *out, size_t size);

/* Sets the columns of a part that knows its view only by a kernel (local_columns.c). */
kfe_status kfe_i_local_map_kernel(kfe_i_local_problem *p, int64_t m, int kernel_map);

/* ---- J and its derivatives ---- */

/* The blocks of the parameters: one step of the alternation each. */
typedef enum kfe_i_local_block {
    KFE_LOCAL_PROJECTIONS, /* all W_m */
    KFE_LOCAL_GATE_MAP,    /* T */
    KFE_LOCAL_GATE_WEIGHTS /* V and v₀; in lmkl Γ and v₀ */
} kfe_i_local_block;
enum { KFE_LOCAL_BLOCKS = 3 };
/* The place of a block in the vector; count 0: there is nothing to learn. */
void kfe_i_local_block_place(const kfe_i_local_problem *p, kfe_i_local_block block, int64_t *first,
                             int64_t *count);

/* Updates projections and shares of all examples after this block alone has changed since the last call. */
kfe_status kfe_i_local_update(kfe_i_local_problem *p, kfe_i_local_block changed, const double *parameters);
/* J at the parameters of the last update. Solves the SVMs from their last α; their duality gap, p->svms.gap, bounds the
 * distance of the value to J from below. */
kfe_status kfe_i_local_value(kfe_i_local_problem *p, const double *parameters, double *value);
/* ∂J by the parameters of one block, at the place and with the SVMs of the last value. Other entries of `gradient`,
 * which is as long as the parameters, stay as they are. */
kfe_status kfe_i_local_gradient(kfe_i_local_problem *p, kfe_i_local_block block, const double *parameters,
                                double *gradient);

/* Whether example i is a support example of any SVM. */
int kfe_i_local_is_support(const kfe_i_local_problem *p, int64_t i);

/* ‖V‖² (lmkl: ‖Γ‖²), which the ridge multiplies. */
double kfe_i_local_gate_length(const kfe_i_local_problem *p, const double *parameters);

/* ---- matrices with orthonormal columns (local_retraction.c) ---- */

/* Workspace for matrices of this problem's shapes. */
typedef struct kfe_i_local_retraction {
    kfe_context *ctx;
    double *values, *gram, *vectors, *root, *copy;
    kfe_i_eigen_work *eigen;
} kfe_i_local_retraction;
kfe_status kfe_i_local_retraction_open(const kfe_i_local_problem *p, kfe_i_local_retraction *out);
void kfe_i_local_retraction_free(kfe_i_local_retraction *r);
/* Replaces a (rows × k) by its polar factor, the nearest matrix with orthonormal columns. */
kfe_status kfe_i_local_polar(kfe_i_local_retraction *r, int64_t rows, int64_t k, double *a);
/* Projects a gradient g at w (rows × k, orthonormal columns) on the tangent space of such matrices. */
void kfe_i_local_tangent(kfe_i_local_retraction *r, int64_t rows, int64_t k, const double *w, double *g);
/* The same of all such matrices of a block of parameters; other blocks stay as they are. */
kfe_status kfe_i_local_polar_block(kfe_i_local_retraction *r, const kfe_i_local_problem *p,
                                   kfe_i_local_block block, double *parameters);
void kfe_i_local_tangent_block(kfe_i_local_retraction *r, const kfe_i_local_problem *p,
                               kfe_i_local_block block, const double *now, double *gradient);

/* Writes a start to `parameters`; `start` is KFE_LOCAL_SUPERVISED or KFE_LOCAL_RANDOM. */
kfe_status kfe_i_local_start(kfe_i_local_problem *p, int start, kfe_i_rng *rng, kfe_i_local_retraction *r,
                             double *parameters);

/* ---- the search ---- */

/* The best parameters found, and the way there. */
typedef struct kfe_i_local_path {
    double *parameters;
    double *objectives; /* iterations + 1: at the start and the lowest after each iteration */
    int64_t iterations;
    int converged;    /* 0: the objective still fell at the limit of iterations */
    int64_t restarts; /* number of descents to an end: from starts, and from softer gates */
    double *ends;     /* the last objective of each */
} kfe_i_local_path;

/* Leaves the problem updated and its SVMs solved at the best parameters. Free the path also after a failure. */
kfe_status kfe_i_local_search(kfe_i_local_problem *p, const kfe_i_local_settings *settings,
                              kfe_i_local_path *out);
void kfe_i_local_path_free(kfe_context *ctx, kfe_i_local_path *path);

/* The whole method, for lmkl.c and sldr.c. */
kfe_status kfe_i_local_fit(kfe_context *ctx, const char *method, const kfe_i_fit_source *given,
                           const kfe_i_local_settings *settings, int projects, kfe_i_solution *out);

#endif
