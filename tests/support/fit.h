/* SPDX-License-Identifier: Apache-2.0 */
/* Make small random problems, fit a method in one call, and compute expected answers with linear algebra that
 * is independent of the library. Matrices are dense and row-major. For the tests of methods. */
#ifndef KFE_TESTS_SUPPORT_FIT_H
#define KFE_TESTS_SUPPORT_FIT_H

#include "support/support.h"

/* ---- random problems, from a generator that is independent of the library's ---- */

double support_uniform(uint64_t *state); /* in [0, 1) */
double support_normal(uint64_t *state);
double *support_normals(uint64_t seed, int64_t count); /* the caller frees it */
/* `classes` Gaussian clouds whose centres are `apart` from the origin. Example i belongs to class i %
 * classes, but every seventh to class 0, so that class sizes differ. The caller frees both arrays. */
void support_clouds(uint64_t seed, int64_t rows, int64_t cols, int classes, double apart, double **values,
                    int **class_of);

/* ---- data in memory ---- */

/* Wraps the values without copying. class_of NULL: no labels. Class g is named "cg". */
kfe_data *support_dense(kfe_context *ctx, int64_t rows, int64_t cols, const double *values,
                        const int *class_of);
/* The same data as compressed sparse rows without the zeros. Free the arrays after the data. */
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

/* A fit on data in memory, for sweeps over failing allocations (support/sweep.h). support_fit_use makes the
 * data, fits, and frees everything. */
typedef struct support_fit_case {
    const char *method, *params, *kernel;
    int64_t rows, cols;
    const double *x;
    const int *class_of; /* NULL: real targets, or none if y is NULL */
    int64_t targets;
    const double *y;
} support_fit_case;
kfe_status support_fit_use(kfe_context *ctx, void *fit_case);

kfe_model *support_fit(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                       const kfe_data *train);
kfe_matrix support_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data);
/* Fits on `train` and returns the features of `data`. */
kfe_matrix support_features(kfe_context *ctx, const char *method, const char *params, const char *kernel,
                            const kfe_data *train, const kfe_data *data);

/* ---- linear algebra; the caller frees the results ---- */

double *support_product(int64_t m, int64_t n, int64_t k, const double *a,
                        const double *b); /* a (m × n) times b (n × k) */
double *support_transpose(int64_t m, int64_t n, const double *a);
/* Eigenvalues of a symmetric matrix in descending order, by cyclic Jacobi rotations; the columns of `vectors`
 * are unit eigenvectors. */
void support_jacobi(int64_t n, const double *a, double *values, double *vectors);
/* The solution x of a·x = b for b (n × k), by Gaussian elimination with pivoting. */
double *support_solve(int64_t n, int64_t k, const double *a, const double *b);
/* All solutions of a·v = λ·b·v for positive definite b, with λ in descending order and vᵀbv = 1, by whitening
 * with Jacobi rotations. */
void support_generalized(int64_t n, const double *a, const double *b, double *values, double *vectors);
/* The largest eigenvalue divided by the smallest. */
double support_condition(int64_t n, const double *a);
/* Subtracts the column means and returns them. The caller frees them. */
double *support_centre_columns(int64_t rows, int64_t cols, double *a);
/* Replaces K by PKP, where P centres. */
void support_centre_kernel(int64_t n, double *k);
/* Between-class and within-class scatter (k × k) of the rows of z. The caller frees both. */
void support_scatters(int64_t rows, int64_t k, const double *z, const int *class_of, int classes,
                      double **between, double **within);

/* The features whose dot products are (gamma·⟨x,y⟩ + 1)²; there are support_square_map_width(cols) of them. */
int64_t support_square_map_width(int64_t cols);
double *support_square_map(int64_t rows, int64_t cols, const double *x, double gamma);
/* The Gaussian kernel matrix by its formula, m × n. */
double *support_rbf(int64_t m, const double *x, int64_t n, const double *y, int64_t cols, double gamma);

/* ---- distances between two results, relative to the largest entry of the first ---- */

double support_largest(int64_t count, const double *a);
double support_distance(int64_t count, const double *a, const double *b);
/* Ignores the signs of columns. */
double support_distance_up_to_sign(int64_t rows, int64_t k, const double *a, const double *b);
/* Ignores rotations among the columns: compares aaᵀ with bbᵀ. The numbers of columns may differ. */
double support_distance_up_to_rotation(int64_t rows, int64_t ka, const double *a, int64_t kb,
                                       const double *b);
/* For the columns of b: the largest share of a column that lies outside the span of the columns of a. */
double support_outside_span(int64_t rows, int64_t ka, const double *a, int64_t kb, const double *b);

#define assert_below(value, bound)                                                                           \
    do {                                                                                                     \
        double below_value_ = (value);                                                                       \
        double below_bound_ = (bound);                                                                       \
        if (!(below_value_ <= below_bound_))                                                                 \
            fail_msg("%s is %.3g, above %s = %.3g", #value, below_value_, #bound, below_bound_);             \
    } while (0)

#endif
