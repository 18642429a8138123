/* SPDX-License-Identifier: Apache-2.0 */
/* Compute derivatives of a model's outputs or features by its columns. */
#ifndef KFE_EXPLAIN_GRADIENT_H
#define KFE_EXPLAIN_GRADIENT_H

#include "explain/explain.h"

/* rows × cols without gaps. */
typedef struct kfe_i_dense {
    int64_t rows, cols;
    double *values;
} kfe_i_dense;

/* A copy of `count` rows from `first` on; the caller frees out->values. */
kfe_status kfe_i_dense_rows(kfe_context *ctx, const kfe_i_table *table, int64_t first, int64_t count,
                            kfe_i_dense *out);

/* values(x) = coefficientsᵀκ(support, x) at the rows of x. */
typedef struct kfe_i_expansion {
    kfe_i_dense x, support;
    int64_t dim;
    const double *coefficients; /* support × dim */
} kfe_i_expansion;

/* Adds the derivatives of an expansion to out (rows × dim × columns). */
kfe_status kfe_i_expansion_gradient(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_expansion *e,
                                    double *out);

/* A model at some examples. */
typedef struct kfe_i_gradient {
    kfe_context *ctx;
    const kfe_model *model;
    int64_t cols;              /* of all views */
    const kfe_i_table *scaled; /* one per view */
    const double *features;    /* of the examples, rows × dim */
} kfe_i_gradient;

/* Adds derivatives by the columns that the kernels of a view see (rows × those) to out (rows × all columns). */
void kfe_i_gradient_add(const kfe_i_gradient *g, int view, int64_t rows, const double *mapped, double *out);

/* For localized models: why their outputs have no derivatives (NULL: they have), and the derivatives by scaled columns. */
const char *kfe_i_local_without_slope(const kfe_model *model);
kfe_status kfe_i_gradient_local(kfe_i_gradient *g, int64_t first, int64_t count, double *out);

/* KFE_EUNSUPPORTED with the reason if the model has no derivatives. */
kfe_status kfe_i_gradient_check(kfe_context *ctx, const kfe_model *model);
/* How many values have derivatives: outputs (*of_outputs is 1) or features. */
int64_t kfe_i_gradient_values(const kfe_model *model, int *of_outputs);
/* out (count × values × cols) = derivatives at the examples from `first` on, in the units of the data. */
kfe_status kfe_i_gradient_block(kfe_i_gradient *g, int64_t first, int64_t count, double *out);

#endif
