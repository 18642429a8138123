/* SPDX-License-Identifier: Apache-2.0 */
/* Make problems of several views and fit localized methods on them directly, without the public header. */
#ifndef KFE_TESTS_SUPPORT_LOCAL_H
#define KFE_TESTS_SUPPORT_LOCAL_H

#include "method/local/local_problem.h"
#include "support/fit.h"

enum { SUPPORT_VIEWS = 4 };

typedef struct support_views {
    kfe_context *ctx;
    int64_t rows;
    int view_count;
    kfe_i_table views[SUPPORT_VIEWS];
    const char *names[SUPPORT_VIEWS];
    kfe_i_kernel_list kernels;
    kfe_i_target target;
    kfe_i_fit_source problem;
} support_views;

/* Starts without views. class_of is read during the call only. */
kfe_status support_views_begin(kfe_context *ctx, int64_t rows, const int *class_of, support_views *out);
/* A dense view that borrows the values. */
void support_views_add(support_views *s, const char *name, int64_t cols, const double *values);
/* Adds a kernel on one of the views and prepares it. */
kfe_status support_views_kernel(support_views *s, int view, const char *text);
void support_views_end(support_views *s);

/* Fits by kfe_i_method.fit; parameters are written as users write them. */
kfe_status support_local_fit(support_views *s, const char *method, const char *params, kfe_i_solution *out);
/* Decision values at the points of the views, on all training examples. The caller frees
 * them. */
double *support_local_outputs(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data);
/* A record of the solution; the test fails if the record is missing. */
const double *support_local_record(const kfe_i_solution *solution, const char *name, int64_t *count);
/* The last value of the objective. */
double support_local_objective(const kfe_i_solution *solution);
/* Fails the test unless the primal and the dual objective agree, relative to the objective. At the optimum
 * both are ½(Σα + C·Σ hinge); the outputs come from the projector and α from the solver. Only for
 * solutions without a ridge on the gate. */
void support_local_check_gap(const support_views *views, const kfe_i_solution *solution, const int *class_of,
                             double c, double tolerance);
/* The share of examples whose class has the largest output. */
double support_local_accuracy(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data, const int *class_of);

#endif
