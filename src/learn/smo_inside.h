/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the solver (smo.c, smo_start.c) share. The mathematics and the words are in smo.c. */
#ifndef KFE_LEARN_SMO_INSIDE_H
#define KFE_LEARN_SMO_INSIDE_H

#include "gram/column_cache.h"
#include "learn/smo.h"

enum { MAY_GO_UP = 1, MAY_GO_DOWN = 2 };

typedef struct kfe_i_smo_state {
    kfe_context *ctx;
    kfe_i_smo_work *work; /* what all arrays here lie in */
    const kfe_i_gram *gram;
    int64_t n;
    const double *sign, *upper;
    double *alpha;
    double *residual; /* of active examples always right, of others since they were set aside */
    double *diagonal;
    unsigned char *moves; /* MAY_GO_UP, MAY_GO_DOWN or both */
    int64_t *active;
    int64_t active_count;
    double *weighted, *product; /* n each, for residuals from scratch */

    const double *block; /* of a subproblem: its matrix, n × stride */
    int64_t stride;
    const kfe_i_table *factor;
    double *factor_row;          /* one row of the factor, dense */
    double *row_of_i, *row_of_j; /* for rows that are computed */
    kfe_i_column_cache *cache;

    int64_t iterations, row_touches;
    int64_t since_exact; /* iterations since the residuals were computed from scratch */
    int64_t until_shrinking;
    double highest_up, lowest_down; /* residuals */
    int64_t up;                     /* who has the highest */
    int64_t until_jump;
    int64_t *jump_index; /* workspace of jumps; NULL: there are none */
    double *jump_work;
} kfe_i_smo_state;

static inline double kfe_i_smo_clip(double value, double upper)
{
    return value < 0 ? 0 : value > upper ? upper : value;
}

/* Lays residual, diagonal, active and moves of `count` examples out in memory of KFE_SMO_ARRAYS·count
 * doubles. */
enum { KFE_SMO_ARRAYS = 4 };
void kfe_i_smo_lay_out(kfe_i_smo_state *s, int64_t count, double *memory);

/* Row `index`, of which the entries of active examples may be read. `buffer` is used if it must be. */
kfe_status kfe_i_smo_read_row(kfe_i_smo_state *s, int64_t index, double *buffer, const double **row);
/* Brings moves[i] up to date with alpha[i]. */
void kfe_i_smo_note_moves(kfe_i_smo_state *s, int64_t i);
void kfe_i_smo_activate_all(kfe_i_smo_state *s);
/* The gap, over active examples, and who is at its upper end. */
double kfe_i_smo_gap(kfe_i_smo_state *s);
/* After kfe_i_smo_gap over all examples. */
double kfe_i_smo_offset(const kfe_i_smo_state *s);
/* Until the gap is within the tolerance, `limit` iterations are done, or rounding allows no step. */
kfe_status kfe_i_smo_iterate(kfe_i_smo_state *s, const kfe_i_smo_options *options, int64_t limit,
                             double *gap);

kfe_status kfe_i_smo_jump_open(kfe_i_smo_state *s);
/* Whether there are coefficients inside their boxes, and not too many. */
int kfe_i_smo_can_jump(kfe_i_smo_state *s);
/* Balances the coefficients that are inside their boxes, those active, all at once (smo_jump.c). */
kfe_status kfe_i_smo_jump(kfe_i_smo_state *s);

/* Clips alpha to the box and projects it on yᵀα = 0. */
void kfe_i_smo_make_feasible(kfe_i_smo_state *s);
/* Solves the subproblem of the coefficients that are inside their boxes, if there are any. */
kfe_status kfe_i_smo_settle(kfe_i_smo_state *whole, const kfe_i_smo_options *options, int64_t limit);

#endif
