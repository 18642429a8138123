/* SPDX-License-Identifier: Apache-2.0 */
/* Open Gram operators just above the sizes that go to LAPACK, on ordinary and on nasty points, and compare
 * them with the explicit matrix, which is computed from the kernel's formula without the library. */
#ifndef KFE_TESTS_SUPPORT_ENGINE_H
#define KFE_TESTS_SUPPORT_ENGINE_H

#include "gram/gram.h"
#include "support/support.h"

typedef enum engine_kernel { ENGINE_RBF, ENGINE_LINEAR, ENGINE_SIGMOID } engine_kernel;
typedef enum engine_shape {
    ENGINE_CLOUD,      /* normally distributed */
    ENGINE_DUPLICATES, /* every point three times */
    ENGINE_FAR,        /* at a distance of 10,000 standard deviations from the origin */
    ENGINE_GROUPS,     /* 5 groups of 40 equal points, then single points; groups and points are far apart */
    ENGINE_PAIRS,      /* the first 200 points form pairs of equal points */
    ENGINE_ZEROS       /* all points are the origin */
} engine_shape;

typedef struct engine_case {
    const char *name;
    engine_kernel kernel;
    double gamma;
    engine_shape shape;
    int64_t cols;
} engine_case;

/* The last case has no name. */
extern const engine_case engine_cases[];
const engine_case *engine_case_named(const char *name);

typedef struct engine_problem {
    const engine_case *origin;
    int64_t n;
    double *values;
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *plain, *centred;
    const kfe_i_gram *gram; /* plain or centred, as requested */
} engine_problem;

/* Close the problem also after a failure. */
kfe_status engine_open(kfe_context *ctx, const engine_case *one, int64_t n, int centred, engine_problem *out);
void engine_close(engine_problem *problem);

/* The explicit n × n matrix. The caller frees it. */
double *engine_matrix(const engine_problem *problem, int centred);
/* (matrix + ridge·I)·v, n × k. The caller frees it. */
double *engine_product(int64_t n, const double *matrix, double ridge, const double *v, int64_t k);

/* The largest norm of a column of an n × k block. */
double engine_largest_column(int64_t n, int64_t k, const double *block);
/* The largest entry of vᵀv − I. */
double engine_orthonormality(int64_t n, int64_t k, const double *v);

/* Counts the calls of a cancel callback, which asks to stop at call `stop_at` (0: never). */
typedef struct engine_stop {
    int64_t stop_at, asked;
} engine_stop;
int engine_stop_asked(void *user);

/* The settings of a run that can be cancelled; memory 0: no limit. */
typedef struct engine_watched {
    engine_stop *stop;
    int64_t memory;
    double tolerance;
} engine_watched;
typedef kfe_status (*engine_run_fn)(kfe_context *ctx, void *watched);
/* Runs the engine and checks that everything was freed. */
kfe_status engine_run_watched(engine_run_fn run, support_allocator *allocator, engine_stop *stop,
                              int64_t memory, double tolerance);
/* Checks that a tighter tolerance, which takes more iterations, makes no more allocations. */
void engine_check_iterations_do_not_allocate(engine_run_fn run, int64_t memory, double loose, double tight);

/* The number that follows `text` in a log; −1 if the text is missing. */
double engine_number_after(const char *log, const char *text);

#endif
