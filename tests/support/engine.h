/* SPDX-License-Identifier: Apache-2.0 */
/* Problems for the iterative parts of the Gram engine, just above the sizes that go to LAPACK: ordinary and
 * nasty points, and the matrix itself, worked out by the kernel's formula apart from the library. */
#ifndef KFE_TESTS_SUPPORT_ENGINE_H
#define KFE_TESTS_SUPPORT_ENGINE_H

#include "gram/gram.h"
#include "support/support.h"

typedef enum engine_kernel { ENGINE_RBF, ENGINE_LINEAR, ENGINE_SIGMOID } engine_kernel;
typedef enum engine_shape {
    ENGINE_CLOUD,      /* normal */
    ENGINE_DUPLICATES, /* every point three times */
    ENGINE_FAR,        /* 10,000 spreads from the origin */
    ENGINE_GROUPS,     /* 5 groups of 40 equal points, the others on their own; everything far apart */
    ENGINE_PAIRS,      /* the first 200 in pairs of equal points */
    ENGINE_ZEROS       /* all points are the origin */
} engine_shape;

typedef struct engine_case {
    const char *name;
    engine_kernel kernel;
    double gamma;
    engine_shape shape;
    int64_t cols;
} engine_case;

/* Ends with a case without a name. */
extern const engine_case engine_cases[];
const engine_case *engine_case_named(const char *name);

typedef struct engine_problem {
    const engine_case *origin;
    int64_t n;
    double *values;
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *plain, *centred;
    const kfe_i_gram *gram; /* the one that was asked for */
} engine_problem;

/* Must be closed, also after a failure. */
kfe_status engine_open(kfe_context *ctx, const engine_case *one, int64_t n, int centred, engine_problem *out);
void engine_close(engine_problem *problem);

/* The explicit matrix n × n; malloc. */
double *engine_matrix(const engine_problem *problem, int centred);
/* out (n × k) = (matrix + ridge·I) v; malloc. */
double *engine_product(int64_t n, const double *matrix, double ridge, const double *v, int64_t k);

/* Lengths of the k columns of an n × k block, the largest of them. */
double engine_largest_column(int64_t n, int64_t k, const double *block);
/* The largest entry of vᵀv − I. */
double engine_orthonormality(int64_t n, int64_t k, const double *v);

/* A cancel callback that says stop when it is asked the `stop_at`-th time (0: never). */
typedef struct engine_stop {
    int64_t stop_at, asked;
} engine_stop;
int engine_stop_asked(void *user);

/* A run of the engine that can be cancelled, within a memory limit (0: none), to a tolerance. */
typedef struct engine_watched {
    engine_stop *stop;
    int64_t memory;
    double tolerance;
} engine_watched;
typedef kfe_status (*engine_run_fn)(kfe_context *ctx, void *watched);
/* Runs it and checks that everything was freed. */
kfe_status engine_run_watched(engine_run_fn run, support_allocator *allocator, engine_stop *stop,
                              int64_t memory, double tolerance);
/* A tighter tolerance takes more iterations, but not one allocation more. */
void engine_check_iterations_do_not_allocate(engine_run_fn run, int64_t memory, double loose, double tight);

/* The number that follows `text` in a log, or −1. */
double engine_number_after(const char *log, const char *text);

#endif
