/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of methods share: small random problems, fitting in one call, and linear algebra written
 * apart from the library, so that answers are known independently. Matrices are row-major and dense. */
#ifndef KFE_TESTS_SUPPORT_FIT_H
#define KFE_TESTS_SUPPORT_FIT_H

#include "support/support.h"

/* ---- random problems (a generator of its own, so that answers do not depend on the library's) ---- */

double support_uniform(uint64_t *state); /* in [0, 1) */
double support_normal(uint64_t *state);
double *support_normals(uint64_t seed, int64_t count); /* malloc */
/* `classes` Gaussian clouds around centres `apart` from the origin; example i is of class i % classes, but
 * every seventh of class 0, so that sizes differ. Both arrays by malloc. */
void support_clouds(uint64_t seed, int64_t rows, int64_t cols, int classes, double apart, double **values,
                    int **class_of);

/* ---- data in memory ---- */

/* Wraps the values; class_of NULL: no labels. Class g is named "cg". */
kfe_data *support_dense(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                        const int *class_of);
/* The same without zeros, as compressed rows, which live until the process ends its test. */
typedef struct support_csr {
    int64_t *row_start;
    int32_t *columns;
    double *values;
} support_csr;
kfe_data *support_sparse(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                         const int *class_of, support_csr *arrays);
void support_csr_free(support_csr *arrays);
void support_label(kfe_context *ctx, kfe_data *data, int64_t rows, const int *class_of);

/* ---- fitting in one call; failures fail the test ---- */

/* A fit on data in memory, for sweeps over failing allocations (support/sweep.h): makes the data, fits, frees
 * everything. */
typedef struct support_fit_case {
    const char *method, *params, *kernel;
    int64_t rows, cols;
    const double *x;
    const int *class_of; /* NULL: real targets, if there are any */
    int64_t targets;
    const double *y;
} support_fit_case;
kfe_status support_fit_use(kfe_context *ctx, void *fit_case);

kfe_model *support_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                       const kfe_data *train);
kfe_matrix support_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
/* Fits on `train`, returns the features of `data`. */
kfe_matrix support_features(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                            const kfe_data *train, const kfe_data *data);

/* ---- linear algebra; results by malloc ---- */

double *support_product(int64_t m, int64_t n, int64_t k, const double *a,
                        const double *b); /* a (m×n) b (n×k) */
double *support_transpose(int64_t m, int64_t n, const double *a);
/* Eigenvalues of a symmetric matrix, falling, by cyclic Jacobi rotations; unit vectors in columns. */
void support_jacobi(int64_t n, const double *a, double *values, double *vectors);
/* x with a x = b for b (n × k), by Gaussian elimination with pivoting. */
double *support_solve(int64_t n, int64_t k, const double *a, const double *b);
/* All of a·v = λ·b·v with b positive definite, λ falling, vᵀbv = 1, by whitening with Jacobi. */
void support_generalized(int64_t n, const double *a, const double *b, double *values, double *vectors);
/* Largest over smallest eigenvalue. */
double support_condition(int64_t n, const double *a);
/* Subtracts column means (and returns them, malloc). */
double *support_centre_columns(int64_t rows, int64_t cols, double *a);
/* PKP, in place. */
void support_centre_kernel(int64_t n, double *k);
/* Between- and within-class scatter (k × k, malloc) of the rows of z. */
void support_scatters(int64_t rows, int64_t k, const double *z, const int *class_of, int classes,
                      double **between, double **within);

/* The features whose dot products are (gamma·⟨x,y⟩ + 1)²; the width is support_square_map_width(cols). */
int64_t support_square_map_width(int64_t cols);
double *support_square_map(int64_t rows, int64_t cols, const double *x, double gamma);
/* Kernel matrices by their formula. */
double *support_rbf(int64_t m, const double *x, int64_t n, const double *y, int64_t cols, double gamma);

/* ---- how far two answers are apart, relative to the larger entry of the first ---- */

double support_largest(int64_t count, const double *a);
double support_distance(int64_t count, const double *a, const double *b);
/* Columns may differ in sign. */
double support_distance_up_to_sign(int64_t rows, int64_t k, const double *a, const double *b);
/* Columns may be rotated among each other: compares aaᵀ with bbᵀ; widths may differ. */
double support_distance_up_to_rotation(int64_t rows, int64_t ka, const double *a, int64_t kb,
                                       const double *b);
/* The largest part of a column of b (relative to it) outside the span of the columns of a. */
double support_outside_span(int64_t rows, int64_t ka, const double *a, int64_t kb, const double *b);

#define assert_below(value, bound)                                                                           \
    do {                                                                                                     \
        double below_value_ = (value);                                                                       \
        double below_bound_ = (bound);                                                                       \
        if (!(below_value_ <= below_bound_))                                                                 \
            fail_msg("%s is %.3g, above %s = %.3g", #value, below_value_, #bound, below_bound_);             \
    } while (0)

#endif
