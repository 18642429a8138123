/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a linear method for data with missing values by regressions on observed entries (NIPALS): pca, pls, plsda and opls fit so with
 * {missing=nipals}. With O the observed entries, a component is made of a direction w by
 *
 *     t_i = Σ_j w_j x_ij / Σ_j w_j²   over the observed columns of row i
 *     p_j = Σ_i t_i x_ij / Σ_i t_i²   over the rows in which column j is observed
 *     x_ij ← x_ij − t_i p_j           on O
 *
 * Nothing is filled in. The rows are kept as they are, with zeros for missing entries, next to the list of missing cells, for each of which
 * Σ t_i p_j over the components is kept: products with the deflated data are products with the rows, less TPᵀ, plus that list. So a component
 * reads the data once. With weights, rows carry the roots of their weights, which leaves both regressions as they are.
 *
 * Wold (1966); Nelson, Taylor & MacGregor (1996). Time O(nd) per component, memory O(nd).
 */
#ifndef KFE_METHOD_SHARED_OBSERVED_H
#define KFE_METHOD_SHARED_OBSERVED_H

#include "core/memory.h"
#include "method/method.h"

/* What a method asks for. */
typedef struct kfe_i_observed_setup {
    const char *method; /* begins messages */
    int center;
    int64_t most;    /* components */
    int64_t targets; /* columns that kfe_i_observed_cross and its like are asked for */
} kfe_i_observed_setup;

typedef struct kfe_i_observed {
    kfe_context *ctx;
    kfe_i_arena memory;
    kfe_i_observed_setup setup;
    int64_t n, d;
    int threads;
    double unit;         /* the data is divided by it (range.h) */
    double mass;         /* n, or the sum of the weights */
    const double *roots; /* of the weights; NULL: ones */
    double *x;           /* n × d, centred, zero where missing */
    int works_in_source; /* x is the table of the source */
    int64_t *row_start;  /* n + 1 positions in `columns` */
    int32_t *columns;    /* of the missing cells of each row */
    double *hidden;      /* Σ t_i p_j of each missing cell */
    double *means;       /* d */
    double *column_mass; /* d: of the rows in which the column is observed */
    double *squares;     /* d: Σx² over them */
    /* the components so far, in the order of extraction */
    int64_t count;
    double *scores; /* most × n */
    double *weights, *loadings,
        *patterns; /* most × d; patterns: loadings of the features, which need not deflate */
    /* of the last kfe_i_observed_regress */
    double *image; /* d: Xᵀt of the deflated data */
    /* work */
    double *sums, *along, *weight_squares;
    int64_t width;
} kfe_i_observed;

/* Whether a fit works on observed entries. */
int kfe_i_has_missing(const kfe_i_fit_source *source);

/* Free it also after a failure; the source must outlive it. */
kfe_status kfe_i_observed_begin(kfe_context *ctx, const kfe_i_fit_source *source,
                                const kfe_i_observed_setup *setup, kfe_i_observed *out);
void kfe_i_observed_free(kfe_i_observed *o);
/* t (n) and p (d) of the direction w. */
void kfe_i_observed_regress(kfe_i_observed *o, const double *w, double *t, double *p);
/* Deflates by t·pᵀ and keeps the component; `pattern`: the loading of the feature, which is p if NULL. */
void kfe_i_observed_take(kfe_i_observed *o, const double *w, const double *t, const double *p,
                         const double *pattern);
/* Forgets the last component. */
void kfe_i_observed_drop(kfe_i_observed *o);
/* out (d × k) = the deflated dataᵀ·u for u (n × k), k ≤ targets. */
void kfe_i_observed_cross(kfe_i_observed *o, int64_t k, const double *u, double *out);
/* For each column j and each target m over the rows in which j is missing: gone (d × k) = Σ u_im², and product (d × k) = Σ t_i u_im. */
void kfe_i_observed_gone(kfe_i_observed *o, int64_t k, const double *u, const double *t, double *gone,
                         double *product);
/* out (d × k) = XᵀU as if every column were observed in all rows: `cross`, times what a complete column has of Σu² over what it has. */
void kfe_i_observed_slopes(const kfe_i_observed *o, int64_t k, const double *u, const double *gone,
                           const double *cross, double *out);
/* The solution: the last `lead` components are the first features. */
kfe_status kfe_i_observed_solution(kfe_i_observed *o, int64_t lead, kfe_i_solution *out);

#endif
