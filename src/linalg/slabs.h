/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on tall arrays slab by slab. A slab is a block of consecutive rows that stays in cache until all work on these rows is
 * done. Its columns lie one after the other, `rows` numbers each; the last slab is filled up with zeros.
 *
 * A thread is given the same slabs in every pass, so that memory which it touches first is memory of its own processor. Sums are
 * made per group of slabs and groups are added in order: the same bits for any number of threads.
 */
#ifndef KFE_LINALG_SLABS_H
#define KFE_LINALG_SLABS_H

#include "core/context.h"

typedef struct kfe_i_slabs {
    int64_t n;      /* rows of the arrays */
    int64_t rows;   /* of a slab: a multiple of eight, at most KFE_SLAB_ROWS */
    int64_t count;  /* of slabs */
    int64_t groups; /* of neighbouring slabs; they depend on n alone */
} kfe_i_slabs;

enum { KFE_SLAB_ROWS = 480 };

kfe_i_slabs kfe_i_slabs_of(int64_t n);

/* Rows of slab s that are not filling. */
static inline int64_t kfe_i_slab_used(const kfe_i_slabs *slabs, int64_t s)
{
    int64_t left = slabs->n - s * slabs->rows;

    return left < slabs->rows ? left : slabs->rows;
}

/* Entries of an array of that many columns. */
static inline int64_t kfe_i_slabs_entries(const kfe_i_slabs *slabs, int64_t columns)
{
    return slabs->count * slabs->rows * columns;
}

/* Does the work of one slab and adds to sums[width]. */
typedef void (*kfe_i_slab_fn)(const void *job, int64_t slab, int thread, double *sums);

/* A pass over all slabs on up to `threads` threads: out[width] = the sums. `room` has groups × width doubles. */
void kfe_i_each_slab(const kfe_i_slabs *slabs, int threads, kfe_i_slab_fn run, const void *job, int64_t width,
                     double *room, double *out);

/* ---- columns of one slab, `rows` apart ---- */

/* v −= Σ weights[j]·(column j of a) */
void kfe_i_slab_subtract(int64_t rows, int64_t count, const double *a, const double *weights, double *v);
/* out[i·stride + j] += (column i of a)·(column j of b) */
void kfe_i_slab_products(int64_t rows, int64_t a_count, const double *a, int64_t b_count, const double *b,
                         double *out, int64_t stride);
/* out[i] += (column i of a)·v */
void kfe_i_slab_dots(int64_t rows, int64_t count, const float *a, const double *v, double *out);
/* out = v in single precision; returns the squared norm of that. */
double kfe_i_slab_narrow(int64_t rows, const double *v, float *out);

#endif
