/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of Newton's method (newton.c) and its ways to solve a system, each in a file of its own. A way is a choice of unknowns z and
 * an operator that makes outputs from them: z = w by columns and by gradients; by the kernel z are coefficients of the rows, w = Xᵀz.
 */
#ifndef KFE_LEARN_LINEAR_WAY_H
#define KFE_LEARN_LINEAR_WAY_H

#include "core/memory.h"
#include "learn/linear/newton.h"

typedef struct kfe_i_newton_way kfe_i_newton_way;

typedef struct kfe_i_newton {
    kfe_context *ctx;
    kfe_i_arena arena; /* of all arrays, and of those of the way */
    const kfe_i_newton_problem *p;
    const kfe_i_newton_way *way;
    int64_t rows, size;     /* size: unknowns */
    double *point;          /* size: z */
    double *direction;      /* size */
    double *gradient;       /* size */
    double norm, start;     /* of the gradient by w, here and at the start */
    double *output, *moved; /* rows: outputs at z, and those of the direction */
    double *slope;          /* rows: derivatives of the losses by the outputs */
    int64_t active_count;   /* rows with a loss */
    int32_t *active;        /* room for their list */
    double *before;         /* rows: a slope with the side that the way knows of */
    int32_t *changed;       /* rows that have changed sides since */
    int64_t changed_count;
    void *own; /* of the way */
} kfe_i_newton;

struct kfe_i_newton_way {
    int is_exact; /* a full step that changes no side ends at the minimum */
    kfe_status (*open)(kfe_i_newton *s);
    /* out = the outputs of z */
    void (*outputs)(const kfe_i_newton *s, const double *z, double *out);
    /* wᵀv for the w of `a` and the v of `b`, whose outputs are given */
    double (*inner)(const kfe_i_newton *s, const double *a, const double *b, const double *output_of_b);
    /* Finds the gradient and its norm after rows in `changed` have changed sides. */
    void (*find_gradient)(kfe_i_newton *s);
    /* Finds the direction; KFE_ENUMERIC: there is none. */
    kfe_status (*find_direction)(kfe_i_newton *s);
};

/* The end of its interval from which on a row with this slope has no loss. */
static inline double kfe_i_newton_goal(const kfe_i_newton *s, int64_t row, double slope)
{
    return slope > 0 ? s->p->losses.high[row] : s->p->losses.low[row];
}

/* Lists the rows with a loss; returns their number. `list` has room for one more. */
int64_t kfe_i_newton_list_active(const kfe_i_newton *s, int32_t *list);

extern const kfe_i_newton_way kfe_i_newton_by_columns, kfe_i_newton_by_kernel, kfe_i_newton_by_gradients;

#endif
