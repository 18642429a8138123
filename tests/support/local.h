/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of several views made by hand, for the tests of the localized methods, which are called directly.
 */
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
    kfe_i_problem problem;
} support_views;

/* No views yet; class_of is read now. */
kfe_status support_views_begin(kfe_context *ctx, int64_t rows, const int *class_of, support_views *out);
/* A dense view that borrows the values. */
void support_views_add(support_views *s, const char *name, int64_t cols, const double *values);
/* A kernel on one of the views, prepared on it. */
kfe_status support_views_kernel(support_views *s, int view, const char *text);
void support_views_end(support_views *s);

/* Fits by kfe_i_method.fit, parameters as the user writes them. */
kfe_status support_local_fit(support_views *s, const char *method, const char *params, kfe_i_solution *out);
/* Decision values of the views (malloc), each training example being a landmark. */
double *support_local_outputs(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data);
/* A record of the solution; the test fails if there is none. */
const double *support_local_record(const kfe_i_solution *solution, const char *name, int64_t *count);
/* The objective at the end. */
double support_local_objective(const kfe_i_solution *solution);
/* Fails the test unless primal and dual meet, relative to the objective. At the optimum both are ½(Σα + C·Σ hinge): the
 * outputs are those of the projector, the α those of the solver. For solutions without a gate ridge. */
void support_local_check_gap(const support_views *views, const kfe_i_solution *solution, const int *class_of,
                             double c, double tolerance);
/* Share of the examples whose outputs name their class. */
double support_local_accuracy(const support_views *train, const kfe_i_solution *solution,
                              const support_views *data, const int *class_of);

#endif
