/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the SMO solver that its files share: smo.c (pairs and shrinking), smo_start.c (warm starts) and
 * smo_newton.c (Newton steps). The mathematics is at the head of smo.c. A coefficient strictly between 0 and its upper
 * bound is called free.
 */
#ifndef KFE_LEARN_SMO_SMO_INTERNAL_H
#define KFE_LEARN_SMO_SMO_INTERNAL_H

#include "learn/smo/smo.h"

/* Directions in which y_i·α_i can move; a free coefficient has both. */
enum { MAY_GO_UP = 1, MAY_GO_DOWN = 2 };

/* Where rows of G come from: a matrix in memory, or products of factor rows. */
typedef struct kfe_i_smo_rows {
    const kfe_i_gram *gram;
    int is_block;         /* a subproblem */
    const double *matrix; /* its rows, `stride` apart; NULL: of a factor */
    int64_t stride;
    double *own; /* that matrix if the operator does not have it in memory */
    const kfe_i_table *factor;
    double *factor_row;     /* one row of the factor, dense */
    double *first, *second; /* n each: rows that are computed */
} kfe_i_smo_rows;

/* Workspace of Newton steps. */
typedef struct kfe_i_smo_newton_work {
    int steps;      /* 0: pairs only */
    int64_t *index; /* the free coefficients */
    double *values;
    int64_t most;       /* with more free coefficients there are none */
    int64_t pairs_left; /* pairs until the next Newton step */
} kfe_i_smo_newton_work;

typedef struct kfe_i_smo_counts {
    int64_t iterations, row_touches;
    int64_t since_exact; /* iterations since the residuals were computed from scratch */
    int64_t until_shrinking;
} kfe_i_smo_counts;

typedef struct kfe_i_smo_state {
    kfe_context *ctx;
    kfe_i_smo_work *work; /* the memory of all arrays here */
    int64_t n;
    const double *sign, *upper;
    double *alpha;
    double *residual; /* up to date for active examples; for others as of when they were set aside */
    double *diagonal;
    unsigned char *moves; /* MAY_GO_UP, MAY_GO_DOWN or both */
    int64_t *active;
    int64_t active_count;
    double *weighted, *product;     /* n each, for residuals from scratch */
    double highest_up, lowest_down; /* residuals, from the last kfe_i_smo_violation */
    int64_t up;                     /* the example with the highest residual */
    double rounding;                /* violations up to this are rounding error of the residuals */
    kfe_i_smo_rows rows;
    kfe_i_smo_newton_work newton;
    kfe_i_smo_counts done;
} kfe_i_smo_state;

static inline double kfe_i_smo_clip(double value, double upper)
{
    return value < 0 ? 0 : value > upper ? upper : value;
}

/* Places residual, diagonal, active and moves of `count` examples in memory of KFE_SMO_ARRAYS·count doubles. */
enum { KFE_SMO_ARRAYS = 4 };
void kfe_i_smo_place_arrays(kfe_i_smo_state *s, int64_t count, double *memory);

/* Row `index` of G; only its entries for active examples are valid. A computed row is written to `buffer`. */
const double *kfe_i_smo_row(kfe_i_smo_state *s, int64_t index, double *buffer);
/* Updates moves[i] after alpha[i] has changed. */
void kfe_i_smo_update_moves(kfe_i_smo_state *s, int64_t i);
void kfe_i_smo_activate_all(kfe_i_smo_state *s);
/* The largest violation of the optimality conditions over active examples. Sets highest_up, lowest_down and up. */
double kfe_i_smo_violation(kfe_i_smo_state *s);
/* The offset of the decision function. Call it after kfe_i_smo_violation over all examples. */
double kfe_i_smo_offset(const kfe_i_smo_state *s);
/* Iterates until the violation is within the tolerance or within rounding error, or `limit` iterations are done. */
kfe_status kfe_i_smo_iterate(kfe_i_smo_state *s, const kfe_i_smo_options *options, int64_t limit,
                             double *violation);

/* Gets memory for Newton steps, which are made while there are up to `most` free coefficients: at once, or when pairs alone have
 * taken long. */
kfe_status kfe_i_smo_newton_open(kfe_i_smo_state *s, int64_t most, int at_once);
/* Enough for kernels of few dimensions, whose free coefficients are few. */
enum { KFE_SMO_FEW_FREE = 128 };
/* Whether there are free coefficients, and not too many for a Newton step. */
int kfe_i_smo_newton_applies(kfe_i_smo_state *s);
/* Newton steps on the active free coefficients (smo_newton.c). */
void kfe_i_smo_newton(kfe_i_smo_state *s);

/* Clips alpha to the box and projects it on yᵀα = 0. */
void kfe_i_smo_make_feasible(kfe_i_smo_state *s);
/* Solves the subproblem of the free coefficients of a warm start, if there are any. */
kfe_status kfe_i_smo_solve_free(kfe_i_smo_state *whole, const kfe_i_smo_options *options, int64_t limit);

#endif
