/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With T (k × k) and the last weight being one minus the others,
 *   minimise tr(T)   subject to   [ I + Σ dᵢGᵢ/ξ   L ; Lᵀ   T ] ⪰ 0,   d ≥ 0.
 * By the Schur complement the least T is LᵀM⁻¹L. This is eq. (30) of Chen et al. (2008) with one block of n + k rows in
 * place of k blocks of n + 1.
 *
 * CSDP (Borchers 1999) solves it as the dual program min aᵀy, Σ yᵢAᵢ − C ⪰ 0, where y holds all weights but the last and
 * the upper triangle of T. It counts from 1 and stores matrices by columns, and frees the problem that it is given.
 */
#include "oracles/sdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <csdp/blockmat.h>
#include <csdp/parameters.h>

#include <csdp/declarations.h>

#include "support/support.h"

enum { SEMIDEFINITE = 1, DIAGONAL = 2, BLOCKS = 2 };

/* Adds an empty part with room for `count` entries to a constraint. */
static struct sparseblock *add_part(struct constraintmatrix *matrix, int number, int block, int size,
                                    int count)
{
    struct sparseblock *part = calloc(1, sizeof *part);

    *part = (struct sparseblock){.next = matrix->blocks,
                                 .entries = calloc((size_t)count + 1, sizeof(double)),
                                 .iindices = calloc((size_t)count + 1, sizeof(int)),
                                 .jindices = calloc((size_t)count + 1, sizeof(int)),
                                 .blocknum = block,
                                 .blocksize = size,
                                 .constraintnum = number};
    matrix->blocks = part;
    return part;
}

static void put(struct sparseblock *part, int row, int column, double value)
{
    int at = ++part->numentries;

    part->iindices[at] = row;
    part->jindices[at] = column;
    part->entries[at] = value;
}

/* C = −[ I + G_last/ξ   L ; Lᵀ   0 ] and, for the last weight, −1. */
static struct blockmatrix constant_matrix(int n, int k, int p, const double *last, const double *targets,
                                          double xi)
{
    int side = n + k;
    struct blockmatrix c = {.nblocks = BLOCKS, .blocks = calloc(BLOCKS + 1, sizeof *c.blocks)};
    double *matrix = calloc((size_t)side * (size_t)side, sizeof *matrix);
    double *diagonal = calloc((size_t)p + 1, sizeof *diagonal);

    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) /* exactly symmetric, which CSDP insists on */
            matrix[i * side + j] = matrix[j * side + i] = -last[i * n + j] / xi - (i == j);
        for (int h = 0; h < k; h++)
            matrix[i * side + n + h] = matrix[(n + h) * side + i] = -targets[i * k + h];
    }
    diagonal[p] = -1;
    c.blocks[SEMIDEFINITE] =
        (struct blockrec){.data.mat = matrix, .blockcategory = MATRIX, .blocksize = side};
    c.blocks[DIAGONAL] = (struct blockrec){.data.vec = diagonal, .blockcategory = DIAG, .blocksize = p};
    return c;
}

/* The constraint of weight w (from 0): (G_w − G_last)/ξ, and +1 and −1 on the diagonal. */
static void add_weight(struct constraintmatrix *matrices, int w, int n, int k, int p, const double *const *g,
                       double xi)
{
    struct sparseblock *diagonal = add_part(&matrices[w + 1], w + 1, DIAGONAL, p, 2);
    struct sparseblock *part = add_part(&matrices[w + 1], w + 1, SEMIDEFINITE, n + k, n * (n + 1) / 2);

    put(diagonal, w + 1, w + 1, 1);
    put(diagonal, p, p, -1);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double value = (g[w][i * n + j] - g[p - 1][i * n + j]) / xi;
            if (value != 0 || (i == 0 && j == 0)) /* CSDP refuses empty parts */
                put(part, i + 1, j + 1, value);
        }
}

double oracle_sdp(int n, int k, int p, const double *const *g, const double *targets, double xi, double *d)
{
    int constraints = p - 1 + k * (k + 1) / 2;
    struct blockmatrix c = constant_matrix(n, k, p, g[p - 1], targets, xi);
    struct blockmatrix x;
    struct blockmatrix z;
    struct constraintmatrix *matrices = calloc((size_t)constraints + 1, sizeof *matrices);
    double *a = calloc((size_t)constraints + 1, sizeof *a);
    double *y = NULL;
    double primal = 0;
    double dual = 0;
    int number = p - 1;

    for (int w = 0; w < p - 1; w++)
        add_weight(matrices, w, n, k, p, g, xi);
    for (int h = 0; h < k; h++)
        for (int m = h; m < k; m++) {
            number++;
            put(add_part(&matrices[number], number, SEMIDEFINITE, n + k, 1), n + h + 1, n + m + 1, 1);
            a[number] = h == m;
        }
    initsoln(n + k + p, constraints, c, a, matrices, &x, &y, &z);
    int code = easy_sdp(n + k + p, constraints, c, a, matrices, 0, &x, &y, &z, &primal, &dual);
    assert_true(code == 0 || code == 3);
    d[p - 1] = 1;
    for (int w = 0; w < p - 1; w++) {
        d[w] = fmax(0, y[w + 1]);
        d[p - 1] -= d[w];
    }
    free_prob(n + k + p, constraints, c, a, matrices, x, y, z);
    return primal;
}
