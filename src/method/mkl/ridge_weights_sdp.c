/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--solver sdp` of hsic-mkl and svm-mkl: weights of kernels by one semidefinite program, for small data; it
 * checks the other solvers. With T (k × k) and the last weight being one minus the others,
 *   minimise tr(T)   subject to   [ I + Σ dᵢGᵢ/ξ   L ; Lᵀ   T ] ⪰ 0,   d ≥ 0,   Σ dᵢ = 1.
 * By the Schur complement the least T is LᵀM⁻¹L. This is eq. (30) of Chen et al. (2008) with one block of
 * n + k rows in place of k blocks of n + 1.
 *
 * CSDP (Borchers 1999) solves it as the dual program
 *   min aᵀy,   Σ yᵢAᵢ − C = Z ⪰ 0,
 * where y holds all weights but the last and the upper triangle of T. CSDP's simple interface reads a file of
 * the working directory and prints, so the routine behind it is called, with workspace allocated here. CSDP
 * allocates some more by itself and ends the process if that fails, hence the limit on the size, and the question
 * beforehand whether there is memory. It runs only when asked for by name. Without CSDP (KFE_HAS_CSDP not defined) the solver is not available. Time
 * O(iterations·p·n³), memory about 20 matrices of n².
 *
 * CSDP counts from 1 and stores matrices by columns.
 */
#include "method/mkl/ridge_weights.h"

#ifndef KFE_HAS_CSDP

kfe_status kfe_i_ridge_weights_sdp(kfe_i_ridge_weights *weights)
{
    return kfe_i_fail(
        weights->ctx, KFE_EINVAL,
        "%s: {solver=sdp} is not available: kfe was built without CSDP, as wheels are because of its "
        "licence; use {solver=gradient}, or build kfe with CSDP",
        weights->method);
}

#else

#include <stdlib.h>
#include <string.h>

#include <csdp/blockmat.h>
#include <csdp/parameters.h>

#include <csdp/declarations.h>

#include "core/memory.h"
#include "core/reserve.h"

enum {
    LARGEST = 1000,
    VECTORS = 9,
    BLOCK_SEMIDEFINITE = 1,
    BLOCK_DIAGONAL = 2,
    BLOCKS = 2,
    FULL = 6,
    PACKED = 4
};

typedef struct program {
    kfe_i_ridge_weights *weights;
    int64_t *live; /* the kernels that are not constant */
    int64_t live_count;
    int side, order, constraints; /* n + k; all rows of both blocks; entries of y */
    struct blockrec c_blocks[BLOCKS + 1];
    struct blockmatrix c;
    double *c_matrix, *c_diagonal;
    double *a; /* 1 … constraints */
    struct constraintmatrix *matrices;
    struct sparseblock *parts; /* two for each weight, one for each entry of T */
    double *entries;
    int *rows, *columns;
    double *last; /* n × n: matrix of the last kernel */
} program;

/* ---- the problem ---- */

static void program_free(kfe_context *ctx, program *s)
{
    kfe_i_free(ctx, s->live);
    kfe_i_free(ctx, s->c_matrix);
    kfe_i_free(ctx, s->c_diagonal);
    kfe_i_free(ctx, s->a);
    kfe_i_free(ctx, s->matrices);
    kfe_i_free(ctx, s->parts);
    kfe_i_free(ctx, s->entries);
    kfe_i_free(ctx, s->rows);
    kfe_i_free(ctx, s->columns);
    kfe_i_free(ctx, s->last);
}

static kfe_status program_open(program *s)
{
    kfe_status status = KFE_OK;
    kfe_i_ridge_weights *weights = s->weights;
    kfe_context *ctx = weights->ctx;
    int64_t n = weights->n;
    int64_t triangle = weights->k * (weights->k + 1) / 2;
    int64_t free_weights = s->live_count - 1;
    int64_t numbers = free_weights * (n * (n + 1) / 2 + 3) + 2 * triangle;

    s->side = (int)(n + weights->k);
    s->order = s->side + (int)s->live_count;
    s->constraints = (int)(free_weights + triangle);
    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (20.0 * s->side * s->side + 2.0 * (double)numbers),
                               "the semidefinite program", "raise {memory} or use {solver=gradient}"));
    KFE_ALLOC_ZERO(ctx, s->c_matrix, (int64_t)s->side * s->side);
    KFE_ALLOC_ZERO(ctx, s->c_diagonal, s->live_count + 1);
    KFE_ALLOC_ZERO(ctx, s->a, s->constraints + 1);
    KFE_ALLOC_ZERO(ctx, s->matrices, s->constraints + 1);
    KFE_ALLOC_ZERO(ctx, s->parts, 2 * free_weights + triangle);
    KFE_ALLOC(ctx, s->entries, numbers + 1);
    KFE_ALLOC(ctx, s->rows, numbers + 1);
    KFE_ALLOC(ctx, s->columns, numbers + 1);
    KFE_ALLOC(ctx, s->last, n * n);
    s->c_blocks[BLOCK_SEMIDEFINITE] =
        (struct blockrec){.data.mat = s->c_matrix, .blockcategory = MATRIX, .blocksize = s->side};
    s->c_blocks[BLOCK_DIAGONAL] =
        (struct blockrec){.data.vec = s->c_diagonal, .blockcategory = DIAG, .blocksize = (int)s->live_count};
    s->c = (struct blockmatrix){.nblocks = BLOCKS, .blocks = s->c_blocks};
cleanup:
    return status;
}

/* out (n × n) = Gᵢ/ξ */
static kfe_status kernel_matrix(const program *s, int64_t kernel, double *out)
{
    int64_t n = s->weights->n;
    kfe_status status = KFE_OK;

    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int64_t i = 0; status == KFE_OK && i < n; i++)
        status = kfe_i_bank_add_rows(s->weights->bank, kernel, 1 / s->weights->xi, i, 1,
                                     s->weights->factor.panel, out + i * n);
    return status;
}

/* C = −[ I + G_last/ξ   L ; Lᵀ   0 ] and, for the last weight, −1. */
static kfe_status fill_constant(program *s)
{
    const kfe_i_ridge_weights *weights = s->weights;
    int64_t n = weights->n;
    int64_t side = s->side;
    kfe_status status = kernel_matrix(s, s->live[s->live_count - 1], s->last);

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double value = -s->last[i * n + j] - (i == j);
            s->c_matrix[i * side + j] = s->c_matrix[j * side + i] = value;
        }
        for (int64_t g = 0; g < weights->k; g++)
            s->c_matrix[i * side + n + g] = s->c_matrix[(n + g) * side + i] =
                -weights->labels[i * weights->k + g];
    }
    s->c_diagonal[s->live_count] = -1;
    return status;
}

/* One more part of constraint `number`; entries are those from *used on, CSDP's own counting from 1. */
static void add_part(program *s, struct sparseblock *part, int number, int block, int64_t *used,
                     int64_t count)
{
    *part = (struct sparseblock){
        .next = s->matrices[number].blocks,
        .entries = s->entries + *used - 1,
        .iindices = s->rows + *used - 1,
        .jindices = s->columns + *used - 1,
        .numentries = (int)count,
        .blocknum = block,
        .blocksize = block == BLOCK_DIAGONAL ? (int)s->live_count : s->side,
        .constraintnum = number,
        .issparse = count <= 5,
    };
    s->matrices[number].blocks = part;
    *used += count;
}

static void put(program *s, int64_t *at, int64_t row, int64_t column, double value)
{
    s->rows[*at] = (int)row;
    s->columns[*at] = (int)column;
    s->entries[(*at)++] = value;
}

/* The constraint of weight `w` (from 0): (G_w − G_last)/ξ, and +1 and −1 on the diagonal. */
static kfe_status fill_weight(program *s, int64_t w, int64_t *used)
{
    int64_t n = s->weights->n;
    int64_t at = *used;
    /* the place of the factor serves as workspace */
    kfe_status status = kernel_matrix(s, s->live[w], s->weights->factor.lower);

    s->weights->factor.xi = 0;

    put(s, &at, w + 1, w + 1, 1);
    put(s, &at, s->live_count, s->live_count, -1);
    add_part(s, &s->parts[2 * w], (int)w + 1, BLOCK_DIAGONAL, used, at - *used);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            double value = s->weights->factor.lower[i * n + j] - s->last[i * n + j];
            if (value != 0)
                put(s, &at, i + 1, j + 1, value);
        }
    if (at == *used) /* CSDP refuses empty parts: two kernels may be equal */
        put(s, &at, 1, 1, 0);
    add_part(s, &s->parts[2 * w + 1], (int)w + 1, BLOCK_SEMIDEFINITE, used, at - *used);
    return status;
}

static void fill_t(program *s, int64_t *used)
{
    int64_t n = s->weights->n;
    int64_t free_weights = s->live_count - 1;
    int number = (int)free_weights;

    for (int64_t g = 0; g < s->weights->k; g++)
        for (int64_t h = g; h < s->weights->k; h++) {
            int64_t at = *used;
            number++;
            put(s, &at, n + g + 1, n + h + 1, 1);
            add_part(s, &s->parts[free_weights + number - 1], number, BLOCK_SEMIDEFINITE, used, 1);
            s->a[number] = g == h;
        }
}

/* Chains the parts of each block, in the order of constraints. */
static void link_blocks(program *s, struct sparseblock *first[BLOCKS + 1])
{
    struct sparseblock *last[BLOCKS + 1] = {NULL};

    for (int number = 1; number <= s->constraints; number++)
        for (struct sparseblock *part = s->matrices[number].blocks; part; part = part->next) {
            if (last[part->blocknum])
                last[part->blocknum]->nextbyblock = part;
            else
                first[part->blocknum] = part;
            last[part->blocknum] = part;
        }
}

/* ---- the solution ---- */

typedef struct workspace {
    struct blockmatrix full[FULL], packed[PACKED];
    double *vectors[VECTORS]; /* of the larger of order and constraints */
    double *small[5];         /* of constraints */
    double *o;
    struct blockmatrix x, z;
    double *y;
    struct constraintmatrix fill;
} workspace;

/* What CSDP allocates here and inside: matrices of the size of C, of which it keeps a few of its own, and the pattern. */
static double csdp_bytes(const program *s)
{
    double matrix = (double)s->side * (double)s->side + (double)s->live_count;
    double constraints = (double)s->constraints;

    return 1e6 + 8 * ((FULL + PACKED + 4) * matrix + 2 * constraints * constraints) + 12 * matrix +
           200 * ((double)s->order + constraints);
}

static kfe_status workspace_open(const program *s, workspace *w)
{
    kfe_status status = KFE_OK;
    int64_t longest = s->order > s->constraints ? s->order : s->constraints;
    int64_t leading = s->constraints + (s->constraints % 2 == 0);

    for (int i = 0; i < VECTORS; i++)
        KFE_ALLOC_ZERO(s->weights->ctx, w->vectors[i], longest + 1);
    for (int i = 0; i < 5; i++)
        KFE_ALLOC_ZERO(s->weights->ctx, w->small[i], s->constraints + 1);
    KFE_ALLOC_ZERO(s->weights->ctx, w->o, leading * leading);
    KFE_TRY(kfe_i_reserve(s->weights->ctx, csdp_bytes(s), "the semidefinite program",
                          "raise {memory} or use {solver=gradient}"));
    for (int i = 0; i < FULL; i++)
        alloc_mat(s->c, &w->full[i]);
    for (int i = 0; i < PACKED; i++)
        alloc_mat_packed(s->c, &w->packed[i]);
    initsoln(s->order, s->constraints, s->c, s->a, s->matrices, &w->x, &w->y, &w->z);
cleanup:
    return status;
}

static void workspace_free(kfe_context *ctx, workspace *w)
{
    struct sparseblock *next = NULL;

    for (int i = 0; i < VECTORS; i++)
        kfe_i_free(ctx, w->vectors[i]);
    for (int i = 0; i < 5; i++)
        kfe_i_free(ctx, w->small[i]);
    kfe_i_free(ctx, w->o);
    if (!w->y) /* CSDP has allocated nothing yet */
        return;
    for (int i = 0; i < FULL; i++)
        free_mat(w->full[i]);
    for (int i = 0; i < PACKED; i++)
        free_mat_packed(w->packed[i]);
    free_mat(w->x);
    free_mat(w->z);
    free(w->y);
    for (struct sparseblock *part = w->fill.blocks; part; part = next) {
        next = part->next;
        free(part->entries);
        free(part->iindices);
        free(part->jindices);
        free(part);
    }
}

static int call_csdp(program *s, workspace *w, double *primal, double *dual)
{
    struct sparseblock *byblocks[BLOCKS + 1] = {NULL};
    struct paramstruc parameters = {.axtol = 1e-8,
                                    .atytol = 1e-8,
                                    .objtol = 1e-9,
                                    .pinftol = 1e8,
                                    .dinftol = 1e8,
                                    .maxiter = 200,
                                    .minstepfrac = 0.90,
                                    .maxstepfrac = 0.97,
                                    .minstepp = 1e-8,
                                    .minstepd = 1e-8,
                                    .usexzgap = 1,
                                    .perturbobj = 1};
    struct blockmatrix *f = w->full;
    struct blockmatrix *p = w->packed;
    double **v = w->vectors;

    link_blocks(s, byblocks);
    makefill(s->constraints, s->c, s->matrices, &w->fill, f[0], 0);
    sort_entries(s->constraints, s->c, s->matrices);
    return sdp(s->order, s->constraints, s->c, s->a, 0, s->matrices, byblocks, w->fill, w->x, w->y, w->z,
               p[0], p[1], primal, dual, f[0], f[1], f[2], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7],
               v[8], p[2], w->small[0], p[3], f[3], w->o, w->small[1], f[4], f[5], w->small[2], w->small[3],
               w->small[4], 0, parameters);
}

static void take_weights(const program *s, const double *y)
{
    double *d = s->weights->result.d;
    double rest = 1;

    memset(d, 0, (size_t)s->weights->p * sizeof *d);
    for (int64_t w = 0; w < s->live_count - 1; w++) {
        d[s->live[w]] = y[w + 1] > 0 ? y[w + 1] : 0;
        rest -= d[s->live[w]];
    }
    d[s->live[s->live_count - 1]] = rest > 0 ? rest : 0;
}

static kfe_status solve(program *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->weights->ctx;
    workspace w = {0};
    int64_t used = 1;
    double primal = 0;
    double dual = 0;

    KFE_TRY(program_open(s));
    KFE_TRY(fill_constant(s));
    for (int64_t i = 0; i < s->live_count - 1; i++)
        KFE_TRY(fill_weight(s, i, &used));
    fill_t(s, &used);
    KFE_TRY(workspace_open(s, &w));
    int code = call_csdp(s, &w, &primal, &dual);
    if (code != 0 && code != 3)
        KFE_FAIL(ctx, KFE_ENUMERIC,
                 "%s: CSDP did not solve the semidefinite program (its code is %d); use "
                 "{solver=gradient}",
                 s->weights->method, code);
    take_weights(s, w.y);
    s->weights->result.bound = primal;
cleanup:
    workspace_free(ctx, &w);
    return status;
}

kfe_status kfe_i_ridge_weights_sdp(kfe_i_ridge_weights *weights)
{
    kfe_status status = KFE_OK;
    program s = {.weights = weights};

    if (weights->n + weights->k > LARGEST)
        KFE_FAIL(weights->ctx, KFE_EINVAL,
                 "%s: {solver=sdp} takes up to %d examples, not %lld; use {solver=gradient}", weights->method,
                 LARGEST, (long long)weights->n);
    /* fails if M is not positive definite */
    KFE_TRY(kfe_i_ridge_weights_factorise(weights, weights->result.d));
    KFE_ALLOC(weights->ctx, s.live, weights->p);
    for (int64_t i = 0; i < weights->p; i++)
        if (weights->bank->traces[i] > 0)
            s.live[s.live_count++] = i;
    weights->result.iterations = 1;
    if (s.live_count > 1)
        KFE_TRY(solve(&s));
cleanup:
    program_free(weights->ctx, &s);
    return status;
}

#endif
