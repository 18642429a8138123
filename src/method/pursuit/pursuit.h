/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of the methods whose directions are made of one, two or three examples: sma, smc, skfa.
 *
 * As everywhere in the framework (deflation.h) nothing is deflated. With q_1 … q_j orthonormal, the residual
 * of kernel column kᵢ is (I − QQᵀ)kᵢ; its products with the target are those of kᵢ with the residual target,
 * and its squared norm falls by (q_jᵀkᵢ)² each round. A pool of candidate columns is kept; each round one
 * pass over it, a product with q_j, updates every score. The best candidate's column is evaluated again in
 * double precision and made orthogonal, twice.
 *
 * Time O(pool·k·n) and pool·n kernel evaluations, plus `refresh`·n more each round; memory O(n(k + pool)), or
 * O(nk) with `low-memory`, which evaluates the pool again each round.
 */
#ifndef KFE_METHOD_PURSUIT_PURSUIT_H
#define KFE_METHOD_PURSUIT_PURSUIT_H

#include "core/rng.h"
#include "method/method.h"

enum { KFE_SPARSITY_MOST = 3 };

typedef enum kfe_i_pursuit_aim {
    KFE_AIM_ALIGNMENT,  /* ‖Yᵀkᵢ‖² / ‖kᵢ‖², eq. (5) */
    KFE_AIM_COVARIANCE, /* ‖Yᵀkᵢ‖² / κ(xᵢ, xᵢ), eq. (6) */
    KFE_AIM_VARIANCE    /* ‖kᵢ‖² / κ(xᵢ, xᵢ) */
} kfe_i_pursuit_aim;

typedef struct kfe_i_pursuit_settings {
    int64_t dim, columns, refresh;
    int64_t sparsity; /* 0, where a method has no such parameter, is 1 */
    int center, low_memory, bound;
    double cost, delta;
} kfe_i_pursuit_settings;

/* For methods with a target. */
#define KFE_SPARSITY_ROW                                                                                     \
    KFE_INT(kfe_i_pursuit_settings, sparsity, "sparsity", "1", 1, KFE_SPARSITY_MOST,                         \
            "examples that a direction is made of, at most")

#define KFE_PURSUIT_ROWS                                                                                     \
    KFE_DIM_ROW(kfe_i_pursuit_settings, dim, "number of features; auto: 10, or as many as there are"),       \
        KFE_INT(kfe_i_pursuit_settings, columns, "columns", "500", 0, KFE_INT_MAX,                           \
                "kernel columns in the pool that examples are picked from; 0: all"),                         \
        KFE_INT_OR(kfe_i_pursuit_settings, refresh, "refresh", "auto", 1, KFE_INT_MAX, "auto", "auto=0",     \
                   "columns of the pool that are replaced by new ones each round; auto: a twentieth"),       \
        KFE_FLAG(kfe_i_pursuit_settings, center, "center", "no",                                             \
                 "subtract the mean in feature space; then every example supports the model"),               \
        KFE_FLAG(kfe_i_pursuit_settings, low_memory, "low-memory", "no",                                     \
                 "evaluate the pool again each round instead of keeping it")

/* The lower bound of theorem 5.5 on the expected squared covariance. */
#define KFE_BOUND_ROWS                                                                                       \
    KFE_FLAG(                                                                                                \
        kfe_i_pursuit_settings, bound, "bound", "no",                                                        \
        "record the bound of theorem 5.5 for every number of features, and which number it recommends"),     \
        KFE_REAL_OR(kfe_i_pursuit_settings, cost, "cost", "auto", 0, KFE_REAL_MAX, "auto", "auto=-1",        \
                    "bound: what a feature costs; auto: half of what the first one gains"),                  \
        KFE_REAL(kfe_i_pursuit_settings, delta, "delta", "0.1", KFE_REAL_POSITIVE, 1,                        \
                 "bound: probability with which it may fail")

/* What a pursuit found. */
typedef struct kfe_i_pursuit {
    kfe_context *ctx;
    const char *method;
    kfe_i_pursuit_aim aim;
    const kfe_i_pursuit_settings *settings;
    int64_t sparsity;
    const kfe_i_gram *gram; /* centred if asked for */
    int64_t n, targets;
    double *target, *residual; /* n × targets */
    double target_norm;        /* ‖Y‖² */
    double *diagonal;          /* κ(xᵢ, xᵢ) */
    int64_t most, count;
    double *basis;    /* count × n */
    double *lengths;  /* ‖τ_j‖ */
    double *triangle; /* most × most: R_ij = q_iᵀKβ_j */
    int64_t *picks;   /* most × sparsity; −1: fewer */
    double *weights;  /* most × sparsity: β_j on them */
    double *gains;    /* ‖Yᵀτ_j‖² */
    double *slopes;   /* most × targets: coefficients of the targets on the features */
} kfe_i_pursuit;

kfe_status kfe_i_pursuit_fit(kfe_context *ctx, const char *method, kfe_i_pursuit_aim aim,
                             const kfe_i_problem *problem, const kfe_i_pursuit_settings *settings,
                             kfe_i_solution *out);

/* ---- inside ---- */

/* The candidates: which examples, and what is known of each (pool.c). */
typedef struct kfe_i_pool {
    kfe_context *ctx;
    const kfe_i_pursuit *pursuit;
    int64_t size;
    int64_t *example; /* of each place */
    int64_t *order;   /* waiting examples, shuffled, from `next` to `waiting` */
    int64_t next, waiting;
    unsigned char *spent; /* examples that are candidates now, or never again */
    kfe_i_rng rng;
    double *wide;        /* size × n columns in double precision, or */
    float *narrow;       /* in single precision, or neither: evaluated again each time */
    double *chunk;       /* n × CHUNK: columns as they are evaluated */
    double *covariance;  /* size × targets: kᵢᵀ(residual target) */
    double *norms;       /* size: squared norm of the residual column */
    double *whole;       /* size: squared norm of the column */
    unsigned char *dead; /* picked or explained already */
    double *along;       /* size: kᵢᵀq of the last round */
    double *products; /* size × size: products of residual columns or kernel values, for sparsity above 1 */
    /* for one round */
    double *gained;     /* targets: qᵀ(target) */
    double *scores;     /* size */
    int64_t *places;    /* size */
    double *chunk_work; /* what is measured of the columns of a chunk */
    double *thin_work;  /* for their products with the basis; NULL where there are none */
} kfe_i_pool;

kfe_status kfe_i_pool_begin(kfe_context *ctx, const kfe_i_pursuit *pursuit, kfe_i_pool *out);
void kfe_i_pool_free(kfe_i_pool *pool);
/* After a round: every score loses what q_j explains, and some places get new columns. */
kfe_status kfe_i_pool_update(kfe_i_pool *pool);
/* The best direction among living candidates: places[sparsity] (−1: fewer) and weights; *found 0: none left.
 */
kfe_status kfe_i_pool_best(const kfe_i_pool *pool, int64_t *places, double *weights, int *found);

/* Records bound, empirical value and recommended number of features (bound.c). */
kfe_status kfe_i_pursuit_bound(const kfe_i_pursuit *pursuit, const double *coefficients, int64_t support,
                               const int64_t *index, kfe_i_solution *out);

#endif
