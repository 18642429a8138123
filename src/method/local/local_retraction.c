/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices with orthonormal columns, as the parameters of sldr and lmkl have them; used by the starts and by the search. */
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/local/local_problem.h"

static int64_t widest_matrix(const kfe_i_local_problem *p)
{
    int64_t widest = p->at.gate_dim;

    for (int64_t m = 0; m < p->count && p->projects; m++)
        widest = p->parts[m].dim > widest ? p->parts[m].dim : widest;
    return widest;
}

static int64_t tallest_matrix(const kfe_i_local_problem *p)
{
    int64_t tallest = p->at.gate_cols * p->at.gate_dim;

    for (int64_t m = 0; m < p->count && p->projects; m++) {
        int64_t size = p->parts[m].columns.cols * p->parts[m].dim;
        tallest = size > tallest ? size : tallest;
    }
    return p->projects ? tallest : 0;
}

kfe_status kfe_i_local_retraction_open(const kfe_i_local_problem *p, kfe_i_local_retraction *r)
{
    kfe_status status = KFE_OK;
    int64_t k = widest_matrix(p);

    *r = (kfe_i_local_retraction){.ctx = p->ctx};
    KFE_ALLOC(p->ctx, r->values, k);
    KFE_ALLOC(p->ctx, r->gram, k * k);
    KFE_ALLOC(p->ctx, r->vectors, k * k);
    KFE_ALLOC(p->ctx, r->root, k * k);
    KFE_ALLOC(p->ctx, r->copy, tallest_matrix(p));
    KFE_TRY(kfe_i_eigen_work_new(p->ctx, k, &r->eigen));
cleanup:
    return status;
}

void kfe_i_local_retraction_free(kfe_i_local_retraction *r)
{
    if (!r->ctx)
        return;
    kfe_i_eigen_work_free(r->eigen);
    kfe_i_free(r->ctx, r->values);
    kfe_i_free(r->ctx, r->gram);
    kfe_i_free(r->ctx, r->vectors);
    kfe_i_free(r->ctx, r->root);
    kfe_i_free(r->ctx, r->copy);
    memset(r, 0, sizeof *r);
}

kfe_status kfe_i_local_polar(kfe_i_local_retraction *r, int64_t rows, int64_t k, double *a)
{
    kfe_status status = KFE_OK;

    kfe_i_inner_products(rows, kfe_i_packed(a, k), kfe_i_packed(a, k), r->gram);
    KFE_TRY(kfe_i_inverse_root(r->ctx, k, r->gram, r->values, r->vectors, r->root, r->eigen));
    memcpy(r->copy, a, (size_t)(rows * k) * sizeof *a);
    kfe_i_combine(rows, 1, kfe_i_packed(r->copy, k), kfe_i_packed(r->root, k), 0, a);
cleanup:
    return status;
}

void kfe_i_local_tangent(kfe_i_local_retraction *r, int64_t rows, int64_t k, const double *w, double *g)
{
    kfe_i_inner_products(rows, kfe_i_packed(w, k), kfe_i_packed(g, k), r->gram);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            r->root[i * k + j] = (r->gram[i * k + j] + r->gram[j * k + i]) / 2;
    kfe_i_combine(rows, -1, kfe_i_packed(w, k), kfe_i_packed(r->root, k), 1, g);
}

/* ---- the matrices of a block ---- */

typedef struct matrix {
    int64_t at, rows, cols; /* in the parameters */
} matrix;

/* Matrix m of a block; 0: the block has no more. */
static int matrix_at(const kfe_i_local_problem *p, kfe_i_local_block block, int64_t m, matrix *out)
{
    if (block == KFE_LOCAL_PROJECTIONS && m < p->count)
        *out = (matrix){p->parts[m].projection_at, p->parts[m].columns.cols, p->parts[m].dim};
    else if (block == KFE_LOCAL_GATE_MAP && m == 0)
        *out = (matrix){p->at.gate, p->at.gate_cols, p->at.gate_dim};
    else
        return 0;
    return 1;
}

void kfe_i_local_tangent_block(kfe_i_local_retraction *r, const kfe_i_local_problem *p,
                               kfe_i_local_block block, const double *now, double *gradient)
{
    matrix a;

    for (int64_t m = 0; matrix_at(p, block, m, &a); m++)
        kfe_i_local_tangent(r, a.rows, a.cols, now + a.at, gradient + a.at);
}

kfe_status kfe_i_local_polar_block(kfe_i_local_retraction *r, const kfe_i_local_problem *p,
                                   kfe_i_local_block block, double *parameters)
{
    kfe_status status = KFE_OK;
    matrix a;

    for (int64_t m = 0; status == KFE_OK && matrix_at(p, block, m, &a); m++)
        status = kfe_i_local_polar(r, a.rows, a.cols, parameters + a.at);
    return status;
}
