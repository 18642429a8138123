/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The support vector machines of the methods that learn features and machines together: one for each class
 * against the rest (two classes: one), linear on the features, solved again and again as the features change,
 * each time from the last α. Solving does not allocate, but for the solver's memory, which grows in the first
 * calls.
 */
#ifndef KFE_METHOD_ONEVSREST_H
#define KFE_METHOD_ONEVSREST_H

#include "data/table.h"
#include "data/target.h"
#include "gram/gram.h"
#include "learn/predictor.h"
#include "learn/smo.h"

typedef struct kfe_i_onevsrest {
    kfe_context *ctx;
    const kfe_i_target *target;
    kfe_i_decision decision;
    int64_t n, count; /* examples, machines */
    int64_t most;     /* features that there can be */
    int newton;       /* Newton steps of the solver, for kernels of few dimensions; 0 at first */
    int quiet;        /* no warning when a solve does not converge: the method looks at `gap`; 0 at first */
    double stop;      /* violation of the optimality conditions that is accepted */
    double *sign;     /* count × n: +1 or −1 */
    double *upper;    /* n: C */
    double *alpha;    /* count × n */
    double *weights;  /* n × count: αᵢyᵢ, the A of Chen et al. (2008), eq. (12) */
    double *offset;   /* count */
    double alpha_sum; /* Σ eᵀα over the machines */
    double objective; /* Σ eᵀα − ½ aᵀKa over the machines */
    double gap;       /* Σ over the SVMs: primal cost minus `objective`, 0 or more */
    /* The operator of the features: their products, n × n, or for many examples the features themselves, n ×
     * most. */
    kfe_i_table table;
    kfe_i_gram *gram;
    int is_stored;
    kfe_i_smo_work work;
    /* what kfe_i_onevsrest_keep has kept */
    double *kept_weights, *kept_offset;
    int64_t kept_support;
} kfe_i_onevsrest;

/* For up to `most` features (0: only for kernel matrices). Free it also after a failure. */
kfe_status kfe_i_onevsrest_open(kfe_context *ctx, const kfe_i_target *target, int64_t most, double c,
                                double stop, kfe_i_onevsrest *out);
void kfe_i_onevsrest_free(kfe_i_onevsrest *svms);
/* On features (n × dim), dense. */
kfe_status kfe_i_onevsrest_solve(kfe_i_onevsrest *svms, int64_t dim, const double *features);
/* On a kernel matrix. */
kfe_status kfe_i_onevsrest_solve_on(kfe_i_onevsrest *svms, const kfe_i_gram *gram);
/* Examples that one of the machines rests on. */
int64_t kfe_i_onevsrest_support_vectors(const kfe_i_onevsrest *svms);
/* The machines of the moment are worth keeping. */
void kfe_i_onevsrest_keep(kfe_i_onevsrest *svms);
/* What was kept as a linear machine on the features that it was found on. */
kfe_status kfe_i_onevsrest_predictor(const kfe_i_onevsrest *svms, int64_t dim, const double *features,
                                     kfe_i_predictor *out);

#define KFE_ONEVSREST_ROWS(type, c_field, stop_field)                                                        \
    KFE_REAL(type, c_field, "machine-C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,                               \
             "weight of the machines' loss against the norm"),                                               \
        KFE_REAL(type, stop_field, "machine-stop", "0.0001", 1e-12, 1,                                       \
                 "violation of the machines' optimality conditions that is accepted")

#endif
