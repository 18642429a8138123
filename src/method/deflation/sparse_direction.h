/* SPDX-License-Identifier: Apache-2.0 */
/* Choose directions that rest on a share ν of the examples, for skpls and skblf. */
#ifndef KFE_METHOD_DEFLATION_SPARSE_DIRECTION_H
#define KFE_METHOD_DEFLATION_SPARSE_DIRECTION_H

#include "core/rng.h"
#include "data/rows/distinct.h"
#include "method/deflation/deflation.h"

typedef enum kfe_i_sparse_rule { KFE_SPARSE_MR, KFE_SPARSE_MI } kfe_i_sparse_rule;
#define KFE_SPARSE_WORDS "mr|mi"

#define KFE_SPARSE_ROWS(type)                                                                                \
    KFE_REAL(type, sparse.nu, "nu", "0.5", KFE_REAL_POSITIVE, 1,                                             \
             "share of the examples that a direction rests on"),                                             \
        KFE_CHOICE(                                                                                          \
            type, sparse.rule, "rule", "mr", KFE_SPARSE_WORDS,                                               \
            "which examples: mr, those with the largest residual; mi, those with the largest covariance "    \
            "with the residual"),                                                                            \
        KFE_INT(                                                                                             \
            type, sparse.cache, "cache", "500", 1, KFE_INT_MAX,                                              \
            "number of examples drawn at random in each iteration, from which mi chooses (mr: only to break ties)")

/* An example, and what it is sorted by: the size, then its own residual, with its sign where covariances are compared. */
typedef struct kfe_i_candidate {
    double size, residual;
    int64_t index;
} kfe_i_candidate;

typedef struct kfe_i_sparse_direction {
    kfe_context *ctx;
    kfe_i_rng rng;
    kfe_i_distinct different; /* the examples by content */
    kfe_i_sparse_rule rule;
    double support;                  /* examples of a direction, counted by their weights */
    int64_t cache, block;            /* candidates of different content; columns evaluated at once */
    kfe_i_candidate *candidates;     /* n */
    int64_t *drawn;                  /* n */
    double *target, *columns, *part; /* n; n × block; block */
} kfe_i_sparse_direction;

/* What the method's parameters say. */
typedef struct kfe_i_sparse_settings {
    double nu;
    int rule;
    int64_t cache;
} kfe_i_sparse_settings;

/* `keys` of the examples; NULL: not known. Free it also after a failure. */
kfe_status kfe_i_sparse_direction_begin(const kfe_i_deflation *deflation, const kfe_i_row_key *keys,
                                        const kfe_i_sparse_settings *settings, kfe_i_sparse_direction *out);
void kfe_i_sparse_direction_free(kfe_i_sparse_direction *sparse);

/* Fills β, with the values of the combined targets w (n × targets) on the chosen examples and βᵀKβ = 1, and its product Kβ.
 * β is zero if nothing is left in w. */
kfe_status kfe_i_sparse_direction_choose(kfe_i_deflation *deflation, kfe_i_sparse_direction *sparse,
                                         const double *w, double *direction, double *product);

#endif
