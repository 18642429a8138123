/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lmkl and sldr minimise. The machines' optimum under the localized kernel
 *   κ_η(x, y) = Σ_m η_m(x) κ_m(z^m(x), z^m(y)) η_m(y),   z^m = W_mᵀx^m,   η(x) = softmax(Vᵀz^G + v₀),   z^G =
 * Γᵀx^G, is a function J of one vector of parameters [W_1 … W_P | Γ | V | v₀]. In sldr the W_m and Γ = T have
 * orthonormal columns; in lmkl there are no W_m, V is the identity, and Γ holds the paper's gate.
 * Against gates that harden without end, ½·gate-ridge·J₀·s²·‖V‖² is added (‖Γ‖² in lmkl), J₀ being the
 * objective at the first start and s² the mean square of the columns that the gate sees: s·V is the size of
 * the gate's logits, whatever the unit of the data.
 *
 * local_problem.c opens it, local_columns.c turns kernels into columns, local_value.c computes J,
 * local_gradient.c its derivatives, local_search.c minimises, local_solution.c makes the model of it.
 */
#ifndef KFE_METHOD_LOCAL_LOCAL_PROBLEM_H
#define KFE_METHOD_LOCAL_LOCAL_PROBLEM_H

#include "core/rng.h"
#include "gram/linalg.h"
#include "method/method.h"
#include "method/onevsrest.h"

enum { KFE_LOCAL_KPCA, KFE_LOCAL_EMPIRICAL };
enum { KFE_LOCAL_ARMIJO, KFE_LOCAL_CONSTANT };
enum { KFE_LOCAL_SUPERVISED, KFE_LOCAL_RANDOM };

typedef struct kfe_i_local_settings {
    int64_t local_dim, gate_dim;
    char gate[KFE_PARAM_TEXT_SIZE];
    int kernel_map, features, step, start;
    double c, stop, ridge, step_size, settled;
    int64_t max_iterations, restarts;
} kfe_i_local_settings;

#define KFE_LOCAL_ROWS(type)                                                                                 \
    KFE_TEXT(type, gate, "gate", "all", "what the gate sees: all, or the name or number of a view"),         \
        KFE_CHOICE(type, kernel_map, "kernel-map", "kpca", "kpca|empirical",                                 \
                   "how kernels other than linear, poly and rbf become columns: by their eigenvectors, or "  \
                   "their values as they are"),                                                              \
        KFE_CHOICE(type, features, "features", "local", KFE_LOCAL_FEATURE_WORDS,                             \
                   "what the model shows: gated local projections, the gate's projection, or the gate's "    \
                   "shares"),                                                                                \
        KFE_ONEVSREST_ROWS(type, c, stop),                                                                   \
        KFE_REAL(type, ridge, "gate-ridge", "0.0001", 0, KFE_REAL_MAX,                                       \
                 "what a gate of unit slope costs, relative to the objective at the start: keeps the gate "  \
                 "from hardening without end"),                                                              \
        KFE_CHOICE(type, step, "step", "armijo", "armijo|constant", "line search, or steps of one size"),    \
        KFE_REAL_OR(type, step_size, "step-size", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=0", \
                    "factor of the gradient in the first step, or in every one"),                            \
        KFE_REAL(type, settled, "settled", "0.001", 0, 1,                                                    \
                 "the search ends when an iteration lowers the objective by less than this share"),          \
        KFE_INT(type, max_iterations, "max-iter", "200", 0, 1e6, "iterations at most"),                      \
        KFE_INT(type, restarts, "restarts", "1", 1, 1e6, "starts, of which the best end is kept")

/* What one part works on. */
typedef struct kfe_i_local_source {
    kfe_i_kernel kernel; /* compares z; borrowed, or that of `own` for mapped parts */
    kfe_i_kernel own;
    kfe_i_kernel_def base; /* the same kernel's without its map */
    int mapped, linear;
    kfe_i_table columns; /* x^m; borrowed, or owned for mapped parts */
    double *spectrum;    /* of parts mapped by eigenvectors: the eigenvalue of each column */
    int64_t dim;
    int64_t projection_at; /* where W begins; -1: z is x */
    int64_t gating_at;     /* where the part's rows of Γ begin; -1: the gate does not see it */
    kfe_i_table z;         /* n × dim */
    double *kept;          /* κ_m, n × n, where it never changes and fits */
    kfe_i_points points;   /* z, where the kernel is evaluated again and again */
    kfe_i_table support_z; /* z of the support examples, the first rows of it */
    kfe_i_points support_points;
} kfe_i_local_source;

typedef struct kfe_i_local_problem {
    kfe_context *ctx;
    const kfe_i_problem *given;
    const char *method;
    int projects; /* sldr */
    int64_t n, count;
    int threads;
    kfe_i_local_source *parts;
    int64_t gate_cols, gate_dim;
    int64_t size, gate_at, weights_at, offset_at; /* the vector of parameters */
    double gate_scale;                            /* mean square of the columns that the gate sees */
    double ridge;                                 /* of J */
    kfe_i_onevsrest svms;
    kfe_i_table matrix; /* κ_η, n × n */
    kfe_i_gram *gram;   /* of it */
    /* at the parameters of the last kfe_i_local_settle */
    double *gate, *shares; /* n × gate_dim, n × count */
    double *factor;        /* n × factor_cols: η_m z^m of the linear parts that are projected */
    int64_t factor_cols;
    /* workspace of the gradient, for up to n support examples */
    int64_t *support;
    int64_t support_count;
    double *pull;     /* n × the widest of dim and gate_dim */
    double *logits;   /* n × count: ∂J by the gate's logits */
    double *scaled;   /* n × machines: the machines' weights times the part's shares */
    double *product;  /* n × machines */
    double *sums;     /* n */
    double *gathered; /* n × the widest dense part */
    double *small;    /* the widest dim × machines */
    double *tiles;    /* per thread */
    int64_t own;
    /* for tests and measurements: seconds that the machines took, and what is called after every value */
    double svm_seconds;
    void (*watch)(void *user, const struct kfe_i_local_problem *p, const double *parameters);
    void *watch_user;
} kfe_i_local_problem;

/* `projects`: sldr. Free it also after a failure. */
kfe_status kfe_i_local_problem_open(kfe_context *ctx, const char *method, const kfe_i_problem *given,
                                    const kfe_i_local_settings *settings, int projects,
                                    kfe_i_local_problem *out);
void kfe_i_local_problem_free(kfe_i_local_problem *p);
/* "view NAME", for messages, of the view of part m. */
void kfe_i_local_view_name(const kfe_i_problem *given, int view, char *out, size_t size);

/* The columns of a part whose kernel stands for its view (local_columns.c). */
kfe_status kfe_i_local_map_kernel(kfe_i_local_problem *p, int64_t m, int kernel_map);

/* What the parameters are made of: the three steps of the alternation. */
typedef enum kfe_i_local_block {
    KFE_LOCAL_PROJECTIONS, /* all W_m */
    KFE_LOCAL_GATE_MAP,    /* T */
    KFE_LOCAL_GATE_WEIGHTS /* V and v₀; in lmkl Γ and v₀ */
} kfe_i_local_block;
enum { KFE_LOCAL_BLOCKS = 3 };
/* Its place in the vector; count 0 where there is nothing to learn. */
void kfe_i_local_block_place(const kfe_i_local_problem *p, kfe_i_local_block block, int64_t *first,
                             int64_t *count);

/* Projections and shares of all examples, where only this block has changed since the last call. */
kfe_status kfe_i_local_settle(kfe_i_local_problem *p, kfe_i_local_block changed, const double *parameters);
/* J there: the machines are solved, from their last α. */
kfe_status kfe_i_local_value(kfe_i_local_problem *p, const double *parameters, double *value);
/* ∂J by the parameters of one block, at the place and with the machines of the last value; other entries of
 * `gradient` (as long as the parameters) stay as they are. */
kfe_status kfe_i_local_gradient(kfe_i_local_problem *p, kfe_i_local_block block, const double *parameters,
                                double *gradient);

/* Whether one of the machines rests on example i. */
int kfe_i_local_is_support(const kfe_i_local_problem *p, int64_t i);

/* The squared length of the gate, which the ridge is about. */
double kfe_i_local_gate_length(const kfe_i_local_problem *p, const double *parameters);

/* The best parameters that were found, and how. */
typedef struct kfe_i_local_path {
    double *parameters;
    double *objectives; /* iterations + 1: of the start and after each iteration */
    int64_t iterations;
    double *ends; /* the last objective of each restart */
} kfe_i_local_path;

/* Leaves the problem settled and its machines solved at the best. Free the path also after a failure. */
kfe_status kfe_i_local_search(kfe_i_local_problem *p, const kfe_i_local_settings *settings,
                              kfe_i_local_path *out);
void kfe_i_local_path_free(kfe_context *ctx, kfe_i_local_path *path);
/* For the search, and for tests: one step along −gradient in a block, orthonormal columns being kept so. */
typedef struct kfe_i_local_retraction {
    kfe_context *ctx;
    double *values, *gram, *vectors, *root, *copy;
    kfe_i_eigen_work *eigen;
} kfe_i_local_retraction;
kfe_status kfe_i_local_retraction_open(const kfe_i_local_problem *p, kfe_i_local_retraction *out);
void kfe_i_local_retraction_free(kfe_i_local_retraction *r);
/* Replaces a (rows × k) by its polar factor, the nearest matrix with orthonormal columns. */
kfe_status kfe_i_local_polar(kfe_i_local_retraction *r, int64_t rows, int64_t k, double *a);
/* What of a gradient g at w, of orthonormal columns (rows × k), is along such matrices. */
void kfe_i_local_tangent(kfe_i_local_retraction *r, int64_t rows, int64_t k, const double *w, double *g);

/* Where the search starts, by the random stream (local_start.c). */
kfe_status kfe_i_local_start(kfe_i_local_problem *p, int start, kfe_i_rng *rng, kfe_i_local_retraction *r,
                             double *parameters);

/* The whole method, for lmkl.c and sldr.c. */
kfe_status kfe_i_local_fit(kfe_context *ctx, const char *method, const kfe_i_problem *given,
                           const kfe_i_local_settings *settings, int projects, kfe_i_solution *out);

#endif
