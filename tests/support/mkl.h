/* SPDX-License-Identifier: Apache-2.0 */
/* Fit methods with several kernels or with SVMs of their own. */
#ifndef KFE_TESTS_SUPPORT_MKL_H
#define KFE_TESTS_SUPPORT_MKL_H

#include "support/fit.h"

typedef struct support_request {
    const char *method, *params;
    const char *kernels[5]; /* ends with NULL */
} support_request;

kfe_status support_request_fit(kfe_context *ctx, const support_request *request, const kfe_data *train,
                               kfe_model **out);
/* The same, but a failure fails the test. */
kfe_model *support_request_model(kfe_context *ctx, const support_request *request, const kfe_data *train);
/* A record of the model that has one number; the test fails if it has more or is missing. */
double support_number(const kfe_model *model, const char *name);
/* The weights of `expected` kernels that the model keeps; the test fails unless they lie on the simplex. */
const double *support_weights(const kfe_model *model, int64_t expected);
/* Checks that the model predicts, and that predictions and scores have the same bits after saving and
 * loading. */
void support_check_predictions_of_a_file(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
/* Makes every allocation of a fit fail in turn. */
void support_check_memory(const support_request *request, int64_t rows, int64_t cols, const double *x,
                          const int *class_of);
/* The same for several fits on fifteen examples of three classes. */
void support_check_memory_of_all(size_t count, const support_request *requests);
/* Checks that a fit with the parameters `many`, which takes more iterations, makes as many allocations as
 * `few`. */
void support_check_iterations_do_not_allocate(const support_request *few, const char *many, int64_t rows,
                                              int64_t cols, const double *x, const int *class_of);
/* The cost of the model's own linear SVMs on its features of the training data: Σ ½|w|² + C·hinge. */
double support_svms_cost(kfe_context *ctx, const kfe_model *model, const kfe_data *train, const int *class_of,
                         double c);

#endif
