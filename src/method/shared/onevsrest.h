/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use kfe_i_onevsrest to solve the SVMs of a method that learns features, or a kernel, together with them: one
 * SVM for each class against the rest (two classes: one). They are solved again and again while the kernel
 * changes, each time from the last α.
 *
 * With a_g = α_g·y_g the SVMs maximise  Σ_g eᵀα_g − ½ a_gᵀKa_g  over 0 ≤ α ≤ C, yᵀα = 0  (`objective`). Their
 * primal cost  Σ_g ½ a_gᵀKa_g + C·hinge  is never below it; the difference is `gap`.
 *
 * Solving does not allocate, except for the solver's memory, which grows in the first calls, and with kfe_i_onevsrest_carry.
 */
#ifndef KFE_METHOD_SHARED_ONEVSREST_H
#define KFE_METHOD_SHARED_ONEVSREST_H

#include "core/resume.h"
#include "data/table/table.h"
#include "data/target/target.h"
#include "gram/gram.h"
#include "learn/predictor.h"
#include "learn/smo/smo.h"

/* The operator TTᵀ of features T: their products (n × n), or for many examples the features (n × most). */
typedef struct kfe_i_feature_gram {
    int64_t most; /* features that T can have */
    int is_stored;
    kfe_i_table table;
    kfe_i_gram *gram;
} kfe_i_feature_gram;

typedef struct kfe_i_onevsrest {
    kfe_context *ctx;
    const kfe_i_target *target;
    kfe_i_decision decision;
    int64_t n, count; /* examples, SVMs */
    int newton;       /* Newton steps of the solver, for kernels of few dimensions; 0 at first */
    const char *who;  /* the method, for a warning when a solve does not converge; NULL: it looks at `gap` */
    double stop;      /* violation of the optimality conditions that is accepted */
    double *sign;     /* count × n: +1 or −1 */
    double *upper;    /* n: C times the weight of the example */
    double *alpha;    /* count × n */
    double *weights; /* n × count: αᵢyᵢ, the A of Chen et al. (2008), eq. (12); with roots s, αᵢyᵢ/sᵢ */
    double *offset;   /* count */
    double alpha_sum; /* Σ_g eᵀα_g */
    double objective; /* of the dual, as above */
    double gap;       /* cost − objective, 0 or more */
    /* n, as in kfe_i_gram: operators and features are multiplied by them; NULL: they are not. */
    const double *roots;
    double *inverse; /* n: 1/roots; NULL without them */
    kfe_i_feature_gram features;
    kfe_i_smo_work work;
} kfe_i_onevsrest;

/* For up to `most` features (0: only for kernel matrices). Free it also after a failure. */
kfe_status kfe_i_onevsrest_open(kfe_context *ctx, const kfe_i_target *target, int64_t most, double c,
                                double stop, kfe_i_onevsrest *out);
/* From now on the operators and features are those of weighted examples (kfe_i_gram_weighted), with the roots s of the weights: the SVMs
 * are those on diag(1/s)·K·diag(1/s), and `weights` is A in the coordinates of K. Borrows the roots; NULL: changes nothing. */
kfe_status kfe_i_onevsrest_carry(kfe_i_onevsrest *svms, const double *roots);
void kfe_i_onevsrest_free(kfe_i_onevsrest *svms);
/* The operator of features (n × dim), valid until the next call. */
const kfe_i_gram *kfe_i_onevsrest_gram(kfe_i_onevsrest *svms, int64_t dim, const double *features);
/* SVMs on dense features (n × dim). */
kfe_status kfe_i_onevsrest_solve(kfe_i_onevsrest *svms, int64_t dim, const double *features);
/* SVMs on a Gram operator. */
kfe_status kfe_i_onevsrest_solve_on(kfe_i_onevsrest *svms, const kfe_i_gram *gram);
/* The same, with `stop` lowered until gap ≤ tolerance·cost or rounding allows no better. */
kfe_status kfe_i_onevsrest_solve_until(kfe_i_onevsrest *svms, const kfe_i_gram *gram, double tolerance);
/* Lowers `stop` tenfold; 0: it is already at its minimum. */
int kfe_i_onevsrest_refine(kfe_i_onevsrest *svms);
/* Adds what the next solve starts from, and its last results, to the state of a loop. */
void kfe_i_onevsrest_list_state(kfe_i_onevsrest *svms, kfe_i_loop *loop);
/* Number of examples that are support vectors of at least one SVM. */
int64_t kfe_i_onevsrest_support_vectors(const kfe_i_onevsrest *svms);
/* The SVMs as a linear predictor on the features (n × dim) they were solved on. */
kfe_status kfe_i_onevsrest_predictor(const kfe_i_onevsrest *svms, int64_t dim, const double *features,
                                     kfe_i_predictor *out);

#define KFE_SVM_STOP_ROW(type, field, stop)                                                                  \
    KFE_REAL(type, field, "svm-stop", stop, 1e-12, 1,                                                        \
             "accepted violation of the SVMs' optimality conditions", KFE_ALIAS("machine-stop"))
/* C=auto in the settings of a method. */
#define KFE_SVM_C_AUTO (-1)
#define KFE_AUTO_ONEVSREST_ROWS(type, c_field, stop_field, stop, automatic)                                  \
    KFE_REAL_OR(type, c_field, "svm-C", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1",          \
                "C of the SVMs: weight of the loss against the norm; auto: " automatic,                      \
                KFE_ALIAS("machine-C")),                                                                     \
        KFE_SVM_STOP_ROW(type, stop_field, stop)
#define KFE_ONEVSREST_ROWS(type, c_field, stop_field)                                                        \
    KFE_REAL(type, c_field, "svm-C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,                                   \
             "C of the SVMs: weight of the loss against the norm", KFE_ALIAS("machine-C")),                  \
        KFE_SVM_STOP_ROW(type, stop_field, "0.0001")

#endif
