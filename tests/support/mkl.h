/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of methods with several kernels, or with SVMs of their own, share. */
#ifndef KFE_TESTS_SUPPORT_MKL_H
#define KFE_TESTS_SUPPORT_MKL_H

#include "support/fit.h"

typedef struct support_request {
    const char *method, *params;
    const char *kernels[5]; /* up to the first NULL */
} support_request;

kfe_status support_request_fit(kfe_context *ctx, const support_request *request, const kfe_data *train,
                               kfe_model **out);
/* The same; failures fail the test. */
kfe_model *support_request_model(kfe_context *ctx, const support_request *request, const kfe_data *train);
/* A number that the model keeps; the test fails if it is not one number. */
double support_number(const kfe_model *model, const char *name);
/* The weights of `expected` kernels that the model keeps; the test fails unless they are on the simplex. */
const double *support_weights(const kfe_model *model, int64_t expected);
/* Predictions and scores have the same bits after saving and loading, and there are predictions. */
void support_check_predictions_of_a_file(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
/* Every allocation of a fit fails in turn. */
void support_check_memory(const support_request *request, int64_t rows, int64_t cols, const double *x,
                          const int *class_of);
/* The same for several fits on fifteen examples of three classes. */
void support_check_memory_of_all(size_t count, const support_request *requests);
/* Iterations do not allocate: a fit with other parameters, for more of them, allocates as often. */
void support_check_iterations_do_not_allocate(const support_request *few, const char *many, int64_t rows,
                                              int64_t cols, const double *x, const int *class_of);
/* The optimum Σ eᵀα − ½aᵀKa over the SVMs of each class against the rest (two classes: one). */
double support_svms_optimum(kfe_context *ctx, int64_t n, const double *k, const int *class_of, int classes,
                            double c);
/* What the model's own linear SVM costs on its features of the training data: Σ ½|w|² + C·hinge. */
double support_svms_cost(kfe_context *ctx, const kfe_model *model, const kfe_data *train, const int *class_of,
                         double c);

#endif
