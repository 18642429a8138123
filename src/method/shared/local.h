/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate a localized projector, the model of lmkl and sldr. There is one part per kernel. Part m sees the columns x^m of
 * its view (or the values of its kernel with the training examples), projects them to z^m = W_mᵀx^m and compares projections by its
 * local kernel. A gate weighs the parts at every x:
 *     z^G = Σ_m T_mᵀx^m,   η(x) = softmax(Vᵀz^G + v₀),
 *     κ_η(x, y) = Σ_m η_m(x) κ_m(z^m(x), z^m(y)) η_m(y).
 * SVMs on κ_η have the outputs
 *     outputs(x) = Σ_s weights_s κ_η(x_s, x) − offset.
 *
 * Gönen & Alpaydın (2010), eqs. (1)–(5).
 */
#ifndef KFE_METHOD_SHARED_LOCAL_H
#define KFE_METHOD_SHARED_LOCAL_H

#include "kernel/kernel.h"

/* The features of a localized model. */
enum {
    KFE_LOCAL_GATED, /* η_m(x)·z^m(x), one part after the other */
    KFE_LOCAL_GATE,  /* z^G */
    KFE_LOCAL_SHARES /* η(x) */
};
#define KFE_LOCAL_FEATURE_WORDS "local|gate|shares"

typedef struct kfe_i_local_part {
    union {
        kfe_part_info info; /* the same for hosts */
        struct {
            int view; /* of the part's kernel, in a model */
            int64_t cols, dim;
            /* 0: columns are the view's, and the part's kernel compares projections. 1: columns are the values of the
             * part's kernel with the training examples, and projections are compared by dot products. */
            int mapped;
            double *projection; /* W, cols × dim; NULL, for parts that are not mapped: none, dim is cols */
            double *gating;     /* T_m, cols × gate_dim; NULL: the gate does not see the part */
        };
    };
    kfe_i_table support; /* z^m of the support examples, rows × dim */
} kfe_i_local_part;

typedef struct kfe_i_local {
    kfe_context *ctx;
    int shows; /* KFE_LOCAL_... */
    int64_t part_count;
    kfe_i_local_part *parts; /* one per kernel of the model, in the same order */
    int64_t gate_dim;
    double *gate_weights;  /* V, gate_dim × parts; NULL: the identity, gate_dim is the number of parts */
    double *gate_offset;   /* v₀, one per part */
    int64_t rows, outputs; /* support examples; SVMs */
    double *weights;       /* rows × outputs */
    double *offset;        /* outputs */
    double *shares;        /* η of the support examples, rows × parts */
} kfe_i_local;

/* A zeroed projector with `parts` zeroed parts. */
kfe_status kfe_i_local_new(kfe_context *ctx, int64_t parts, kfe_i_local **out);
void kfe_i_local_free(kfe_i_local *local);

/* The data that a localized projector is evaluated on. */
typedef struct kfe_i_local_data {
    const kfe_i_kernel_list *kernels; /* one per part, bound to views */
    const kfe_i_table *views;         /* of the examples */
    /* The training examples, one table per view, for mapped parts only. Those of a given matrix are the numbers of its columns. */
    const kfe_i_table *support;
} kfe_i_local_data;

/* Projections and shares of examples. */
typedef struct kfe_i_local_places {
    kfe_context *ctx;
    int64_t rows, part_count;
    kfe_i_table *z; /* one per part; borrowed from the view where nothing is projected */
    double *gate;   /* rows × gate_dim */
    double *shares; /* rows × parts */
} kfe_i_local_places;

kfe_status kfe_i_local_place(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                             kfe_i_local_places *out);
void kfe_i_local_places_free(kfe_i_local_places *places);

/* The logit of a part, (Vᵀz + v₀)_m, at a point z of the gate. */
double kfe_i_gate_logit(const kfe_i_local *local, int64_t part, const double *z);
/* Replaces each row of logits (rows × parts) by its softmax. Large logits do not overflow. */
void kfe_i_softmax_rows(int64_t rows, int64_t parts, double *logits);

/* The number of features, and out (rows × that number). */
int64_t kfe_i_local_dim(const kfe_i_local *local);
kfe_status kfe_i_local_features(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                                double *out);
/* Decision values, out (rows × outputs). */
kfe_status kfe_i_local_outputs(kfe_context *ctx, const kfe_i_local *local, const kfe_i_local_data *data,
                               double *out);

#endif
