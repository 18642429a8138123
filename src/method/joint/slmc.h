/* SPDX-License-Identifier: Apache-2.0 */
/* Use kfe_i_slmc for the objective of slmc as a function of its points, and for its gradient (slmc_gradient.c). The
 * search over the points is in slmc.c. */
#ifndef KFE_METHOD_JOINT_SLMC_H
#define KFE_METHOD_JOINT_SLMC_H

#include "kernel/tile/points.h"
#include "method/method.h"
#include "method/shared/onevsrest.h"

/* Kernel values between the examples X and the points Z. */
typedef struct kfe_i_slmc_kernels {
    const kfe_i_kernel_list *kernels;
    kfe_i_kernel_list linear; /* for dot products */
    kfe_i_table place;        /* m × cols: the current points */
    /* The examples and the points as each kernel wants them, and last as dot products do. */
    kfe_i_points *examples, *points;
    double *work;     /* for products with tiles */
    double *identity; /* m × m */
    double *inner;    /* m × m: κ(Z, Z) + jitter */
    double *psi;      /* n × m: κ(X, Z) */
} kfe_i_slmc_kernels;

/* Workspace of the gradient. */
typedef struct kfe_i_slmc_pulls {
    double *dual;                /* m × SVMs: κ(Z, Z)⁻¹ΨᵀA */
    double *pull, *pull_inner;   /* n × m, m × m: factors of the points in the gradient */
    double *slope, *slope_inner; /* n × m, m × m: derivatives of the kernel by its base value */
    double *columns;             /* cols × m */
} kfe_i_slmc_pulls;

typedef struct kfe_i_slmc {
    kfe_context *ctx;
    const kfe_i_table *table; /* X */
    int64_t n, m, cols;       /* examples, points, columns */
    double jitter;            /* on the diagonal of κ(Z, Z), so that equal points do no harm */
    kfe_i_onevsrest svms;
    kfe_i_slmc_kernels at;
    double *factor;   /* m × m: the lower Cholesky factor of κ(Z, Z) + jitter */
    double *features; /* n × m: κ(X, Z)·factor⁻ᵀ */
    kfe_i_slmc_pulls pulls;
} kfe_i_slmc;

/* m points; C and stop of the SVMs. Free it also after a failure. */
kfe_status kfe_i_slmc_open(kfe_context *ctx, const kfe_i_fit_source *source, int64_t m, double c, double stop,
                           kfe_i_slmc *out);
void kfe_i_slmc_free(kfe_i_slmc *s);
/* Whether the gradient is available: for one kernel rbf, poly or linear. */
int kfe_i_slmc_has_gradient(const kfe_i_kernel_list *kernels);
/* The optimum of the SVMs on the subspace of the points (m × cols, dense). */
kfe_status kfe_i_slmc_value(kfe_i_slmc *s, const kfe_i_table *points, double *value);
/* Its gradient, m × cols, at the points of the last value. Neither allocates, except as onevsrest.h says. */
kfe_status kfe_i_slmc_gradient(kfe_i_slmc *s, double *gradient);

#endif
