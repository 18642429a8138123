/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pick examples one after the other: the engine of sma, smc and skfa, whose directions rest on one, two or three examples.
 *
 * As everywhere in the framework (deflation/deflation.h) only the targets are deflated. With q_1 … q_j orthonormal, the residual
 * of kernel column kᵢ is (I − QQᵀ)kᵢ; its products with the targets are those of kᵢ with the residual targets, and its squared
 * norm falls by (q_jᵀkᵢ)² in iteration j. A pool of candidate columns is kept; each iteration makes one pass over it, a product
 * with q_j, which updates every score. The column of the best candidate is evaluated again in double precision and
 * orthogonalised twice. Long arrays lie in slabs of rows (linalg/slabs.h), and passes.c does all work on a slab at once: an
 * iteration reads the pool once and the features twice.
 *
 * On a weighted operator (kfe_i_gram_weighted) the column of example i is multiplied by the root of its weight, which all three
 * criteria divide out.
 *
 * In several processes each has some of the rows: its part of the pool and of the basis, and the residual targets there. What a pass
 * measures is added over the processes (kfe_i_pursuit_sum), so that all have the same scores and pick the same examples. A pass sends
 * a number per candidate, feature and target, and for every new column one per feature and target.
 *
 * Time: O(pool·k·n), and pool·n kernel evaluations plus `refresh`·n more in each iteration. Memory: O(n(k + pool)), or O(nk)
 * with `low-memory`, which evaluates the pool again in each iteration.
 */
#ifndef KFE_METHOD_PURSUIT_PURSUIT_H
#define KFE_METHOD_PURSUIT_PURSUIT_H

#include "core/cluster.h"
#include "core/memory.h"
#include "core/resume.h"
#include "core/rng.h"
#include "gram/device/device_pool.h"
#include "gram/row_part.h"
#include "linalg/slabs.h"
#include "method/method.h"

enum { KFE_SPARSITY_MOST = 3 };

typedef enum kfe_i_pursuit_aim {
    KFE_AIM_ALIGNMENT,  /* ‖Yᵀkᵢ‖² / ‖kᵢ‖², eq. (5) */
    KFE_AIM_COVARIANCE, /* ‖Yᵀkᵢ‖² / κ(xᵢ, xᵢ), eq. (6) */
    KFE_AIM_VARIANCE    /* ‖kᵢ‖² / κ(xᵢ, xᵢ) */
} kfe_i_pursuit_aim;

typedef struct kfe_i_pursuit_settings {
    int64_t dim, columns, refresh;
    int64_t sparsity; /* 0 (a method without this parameter): 1 */
    int center, low_memory, bound;
    double cost, delta;
} kfe_i_pursuit_settings;

/* For methods with a target. */
#define KFE_SPARSITY_ROW                                                                                     \
    KFE_INT(kfe_i_pursuit_settings, sparsity, "sparsity", "1", 1, KFE_SPARSITY_MOST,                         \
            "maximum number of examples that a direction rests on")

/* `automatic` says what dim=auto is. */
#define KFE_PURSUIT_ROWS(automatic)                                                                          \
    KFE_DIM_ROW(kfe_i_pursuit_settings, dim, "number of features; auto: " automatic),                        \
        KFE_INT(kfe_i_pursuit_settings, columns, "columns", "500", 0, KFE_INT_MAX,                           \
                "kernel columns in the pool that examples are picked from; 0: all"),                         \
        KFE_INT_OR(kfe_i_pursuit_settings, refresh, "refresh", "auto", 1, KFE_INT_MAX, "auto", "auto=0",     \
                   "columns of the pool that each iteration replaces by new ones; auto: a twentieth"),       \
        KFE_FLAG(kfe_i_pursuit_settings, center, "center", "no",                                             \
                 "subtract the mean in feature space; the model then keeps every example"),                  \
        KFE_FLAG(kfe_i_pursuit_settings, low_memory, "low-memory", "no",                                     \
                 "evaluate the pool again in each iteration instead of keeping it")

/* The lower bound of theorem 5.5 on the expected squared covariance. */
#define KFE_BOUND_ROWS                                                                                       \
    KFE_FLAG(kfe_i_pursuit_settings, bound, "bound", "no",                                                   \
             "record the bound of theorem 5.5 for every number of features, and the number it recommends"),  \
        KFE_REAL_OR(kfe_i_pursuit_settings, cost, "cost", "auto", 0, KFE_REAL_MAX, "auto", "auto=-1",        \
                    "bound: cost of a feature; auto: half the gain of the first feature"),                   \
        KFE_REAL(kfe_i_pursuit_settings, delta, "delta", "0.1", KFE_REAL_POSITIVE, 1,                        \
                 "bound: probability that it fails")

/* The features that a pursuit has found so far. */
typedef struct kfe_i_pursuit_features {
    int64_t most, count;
    double *basis;     /* q_1, q_2, … in slabs of `most` columns */
    double *lengths;   /* ‖τ_j‖ */
    double *triangle;  /* most × most: R_ij = q_iᵀKβ_j */
    int64_t *picks;    /* most × sparsity; −1: fewer */
    double *weights;   /* most × sparsity: β_j on the picks */
    double *explained; /* ‖Yᵀq_j‖², targets over `unit` */
    double *slopes;    /* most × targets: coefficients of the targets on the features */
} kfe_i_pursuit_features;

typedef struct kfe_i_pursuit {
    kfe_context *ctx;
    const char *method; /* begins messages */
    kfe_i_pursuit_aim aim;
    const kfe_i_pursuit_settings *settings;
    int64_t sparsity;
    kfe_i_arena memory;
    const kfe_i_row_part *part; /* gives the columns of the candidates at the rows that are here */
    int divided;                /* processes divide the rows, or they are kept in parts */
    const kfe_i_gram *gram;     /* of all rows, which are here; centred if asked for; else NULL */
    double mass;                /* of all rows: their number, or the sum of their weights */
    int64_t candidates;         /* that examples are picked from */
    int64_t *different;         /* the candidates of different content, in an order that it decides */
    int64_t different_count;
    double kernel_unit;             /* the iterations divide kernel values by this power of four (range.h) */
    int64_t n, targets;             /* n: rows that are here */
    kfe_i_slabs slabs;              /* of the n rows */
    double unit;                    /* the targets are over this power of four (targets.h) */
    double *target, *residual;      /* n × targets */
    double target_norm;             /* ‖Y‖² */
    double *diagonal;               /* κ(xᵢ, xᵢ) of the candidates */
    kfe_i_device_pool *device_pool; /* columns and features on a device (on_device.c); NULL: in host memory */
    int is_repeated;                /* every process picks all examples on its own device */
    kfe_i_pursuit_features found;
} kfe_i_pursuit;

/* From sums over the columns F of landmarks, these are the candidates. */
kfe_status kfe_i_pursuit_fit(kfe_context *ctx, const char *method, kfe_i_pursuit_aim aim,
                             const kfe_i_fit_source *source, const kfe_i_pursuit_settings *settings,
                             kfe_i_solution *out);
/* For kfe_i_method: centring and the bound need all rows. */
kfe_i_use kfe_i_pursuit_uses(const void *settings, kfe_i_offer offer, const char **why);

/* How many columns of the kernel matrix a fit evaluates (kfe_i_method): the pool, and what each iteration picks and
 * replaces. */
int64_t kfe_i_pursuit_column_count(const void *settings, int64_t rows);

/* ---- for the files of this folder ---- */

/* The iterations and the solution, for p with targets, kernel unit and diagonal; `classes`: of the target, 0 without. */
kfe_status kfe_i_pursuit_run(kfe_i_pursuit *pursuit, int64_t classes, kfe_i_solution *out);
/* Fixes the signs of the features and records the regression coefficients (targets × features) with the same signs. */
kfe_status kfe_i_pursuit_record_regression(const kfe_i_pursuit *pursuit, kfe_i_solution *out);

/* How many columns of a pool of this size each iteration replaces. */
int64_t kfe_i_pool_refresh(const kfe_i_pursuit_settings *settings, int64_t size);

/* Adds products over rows up over the processes that divide them. */
static inline kfe_status kfe_i_pursuit_sum(const kfe_i_pursuit *pursuit, double *products, int64_t count)
{
    return pursuit->divided ? kfe_i_cluster_sum(pursuit->ctx, products, count) : KFE_OK;
}

/* out (n × count) = columns of the candidates over kernel_unit. */
kfe_status kfe_i_pursuit_columns(const kfe_i_pursuit *pursuit, const int64_t *index, int64_t count,
                                 double *out);

/* Examples that wait to become candidates. */
typedef struct kfe_i_pool_queue {
    int64_t *order; /* shuffled, from `next` to `waiting` */
    int64_t next, waiting;
    unsigned char *spent; /* examples that are candidates now, or never again */
    kfe_i_rng rng;
} kfe_i_pool_queue;

/* The columns of the candidates in slabs of `size` columns: in double precision, in single precision, or neither. */
typedef struct kfe_i_pool_columns {
    double *wide;
    float *narrow;
} kfe_i_pool_columns;

/* Memory for the passes over the rows (passes.c). */
typedef struct kfe_i_pass_work {
    int64_t step;    /* columns that are evaluated at a time */
    int threads;     /* that a pass runs on */
    double *whole;   /* n × step: columns of an operator that gives whole ones; NULL: it evaluates slabs */
    double *columns; /* per thread: a slab of `step` columns */
    double *room;    /* sums of the groups of slabs */
    double *sums;    /* what the last pass measured */
} kfe_i_pass_work;

/* The last pick, from its first pass to the end of its second. */
typedef struct kfe_i_pick {
    double *again;  /* most: what the second orthogonalisation subtracts */
    double *slopes; /* targets: (residual target)ᵀq */
    double length;
    int unsettled; /* the feature is orthogonalised once and not scaled, and the residual target has not lost it */
    int has_along; /* pool->along is that of this feature */
} kfe_i_pick;

/* Memory for one iteration. */
typedef struct kfe_i_pool_work {
    double *gained;     /* targets: qᵀ(target) */
    double *scores;     /* size */
    int64_t *places;    /* size */
    double *chunk_work; /* products of new columns with the features, on a device */
    kfe_i_pass_work pass;
} kfe_i_pool_work;

/* The candidates, and what is known of each (pool.c). */
typedef struct kfe_i_pool {
    kfe_context *ctx;
    kfe_i_arena memory; /* everything below; freed by the caller */
    const kfe_i_pursuit *pursuit;
    int64_t size;
    int64_t *example; /* of each place */
    kfe_i_pool_queue queue;
    kfe_i_pool_columns columns;
    double *covariance;  /* size × targets: kᵢᵀ(residual target) */
    double *norms;       /* size: squared norm of the residual column */
    double *whole;       /* size: squared norm of the column */
    unsigned char *dead; /* picked or explained already */
    double *along;       /* size: kᵢᵀq of the last iteration */
    double *parts;       /* most × size: kᵢᵀq_j of every feature; NULL: not kept */
    double *products;    /* size × size: products of residual columns or kernel values; NULL: sparsity 1 */
    kfe_i_pick pick;
    kfe_i_pool_work work;
} kfe_i_pool;

/* Allocates a pool; kfe_i_pool_fill evaluates its first columns, unless an earlier run has left a state. */
kfe_status kfe_i_pool_begin(kfe_context *ctx, const kfe_i_pursuit *pursuit, kfe_i_pool *out);
kfe_status kfe_i_pool_fill(kfe_i_pool *pool);
void kfe_i_pool_list_state(kfe_i_pool *pool, kfe_i_loop *loop);
/* After an iteration: every score loses what q_j explains, and some places get new columns. */
kfe_status kfe_i_pool_update(kfe_i_pool *pool);
/* What a single candidate is worth; −1: dead. */
double kfe_i_pool_score(const kfe_i_pool *pool, int64_t place);
/* The best direction of the living candidates: places[sparsity] (−1: fewer) and weights; *found 0: none is left. */
void kfe_i_pool_best(const kfe_i_pool *pool, int64_t *places, double *weights, int *found);

/* ---- passes.c: passes over the rows in host memory ---- */

/* Entry i of feature j. */
static inline double kfe_i_pursuit_entry(const kfe_i_pursuit *p, int64_t j, int64_t i)
{
    int64_t rows = p->slabs.rows;

    return p->found.basis[(i / rows * p->found.most + j) * rows + i % rows];
}

kfe_status kfe_i_passes_begin(kfe_i_pool *pool);
/* The first pass for the next feature, Σ weights[c]·(column of places[c]): *length 0: it is explained already. column[found.count]
 * receives its parts along the features, pool->pick what kfe_i_pass_settle needs. */
kfe_status kfe_i_pass_pick(kfe_i_pool *pool, const int64_t *places, const double *weights, double *column,
                           double *length);
/* Ends the last feature, unless that is done; pool->along: its products with the columns, where they are kept. */
kfe_status kfe_i_pass_settle(kfe_i_pool *pool);
/* Evaluates the columns of `count` ≤ step places, stores and measures them: squares[count]; pool->covariance; with `along` products
 * (found.count × count) with the features. Ends the last feature in the same pass. */
kfe_status kfe_i_pass_load(kfe_i_pool *pool, const int64_t *places, int64_t count, int along, double *squares,
                           const double **products);
/* pool->along for columns that are not kept. */
kfe_status kfe_i_pass_evaluate_along(kfe_i_pool *pool);

/* ---- on_device.c: the same steps with long arrays on a device ---- */

/* Fills `long_arrays` and sets p->device_pool if the operator is on a device with room for a pool of `size` columns and the features. */
kfe_status kfe_i_pursuit_open_device_pool(kfe_i_pursuit *pursuit, int64_t size,
                                          kfe_i_device_pool *long_arrays);
/* Evaluates the columns of `count` ≤ KFE_DEVICE_POOL_CHUNK places; squares[count] and pool->covariance receive what is measured, work
 * (features × count) the products with the basis, if `along`. */
kfe_status kfe_i_pool_load(kfe_i_pool *pool, const int64_t *places, int64_t count, int along, double *squares,
                           double *work);
/* The next feature from one example; *length 0: it is explained already. column[found.count] receives its parts along the features. */
kfe_status kfe_i_pursuit_pick(kfe_i_pursuit *pursuit, int64_t example, double weight, double *column,
                              double *length);

/* Whether a pool of this size is kept in double precision. */
int kfe_i_pool_is_small(const kfe_i_pursuit *pursuit, int64_t size);
int64_t kfe_i_pool_size(const kfe_i_pursuit *pursuit);

/* Records bound, empirical value and recommended number of features (bound.c). */
kfe_status kfe_i_pursuit_bound(const kfe_i_pursuit *pursuit, const double *coefficients, int64_t support,
                               const int64_t *index, kfe_i_solution *out);

#endif
