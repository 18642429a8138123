/* SPDX-License-Identifier: Apache-2.0 */
/* Multiply a symmetric matrix, of which only the lower half is stored, with a few vectors, at the speed of reading that half.
 */
#ifndef KFE_LINALG_SYMMETRIC_H
#define KFE_LINALG_SYMMETRIC_H

#include "core/context.h"
#include "core/share.h"

/* Rows of a panel. Panel p holds rows 64p … 64p + 63 up to the end of its diagonal block, row after row. */
enum { KFE_SYMMETRIC_PANEL = 64 };

/* A matrix in double (`wide`) or single precision (`narrow`); the other is NULL. `share` says which of its panels are
 * here; {0, 1}: all. */
typedef struct kfe_i_symmetric {
    int64_t n;
    double *wide;
    float *narrow;
    kfe_i_share share;
} kfe_i_symmetric;

/* Entries stored of a matrix of order n, those of the panels before the p-th, and the length of a row of panel p. */
int64_t kfe_i_symmetric_entries(int64_t n);
static inline int64_t kfe_i_symmetric_offset(int64_t panel)
{
    return (int64_t)KFE_SYMMETRIC_PANEL * KFE_SYMMETRIC_PANEL * (panel * (panel + 1) / 2);
}
static inline int64_t kfe_i_symmetric_stride(int64_t n, int64_t panel)
{
    int64_t end = KFE_SYMMETRIC_PANEL * (panel + 1);
    return end < n ? end : n;
}

/* ---- a matrix whose panels are dealt over processes (core/share.h) ---- */

/* Entries that the process with the most of them stores. */
int64_t kfe_i_symmetric_dealt_entries(int64_t n, int processes);
/* Where the panel of a turn begins in the memory of its process: the panels of two turns have (2·processes·turn + 2·processes + 1)·64² entries
 * together. */
static inline int64_t kfe_i_symmetric_dealt_offset(kfe_i_share share, int64_t turn)
{
    int64_t pairs = turn / 2;
    int64_t blocks = 2 * (int64_t)share.parts * pairs * (pairs - 1) + (2 * (int64_t)share.parts + 1) * pairs;

    if (turn % 2 == 1)
        blocks += 2 * (int64_t)share.parts * pairs + share.part + 1;
    return (int64_t)KFE_SYMMETRIC_PANEL * KFE_SYMMETRIC_PANEL * blocks;
}

/* Doubles of workspace for a product. */
int64_t kfe_i_symmetric_work(const kfe_context *ctx, int64_t n);
/* A product: one of the two below. */
typedef void kfe_i_symmetric_times_fn(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v,
                                      int64_t k, double *out, double *work);
/* out (n × k) = a·v for v (n × k), or this process's part of it, if panels are dealt. The same bits for the same number of threads. */
void kfe_i_symmetric_times(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v, int64_t k,
                           double *out, double *work);
/* The same with entries, vectors and short sums rounded to single precision, which takes half the time: relative to the lengths of
 * a row and a vector, the error is about 1e-7. */
void kfe_i_symmetric_times_single(const kfe_context *ctx, const kfe_i_symmetric *a, const double *v,
                                  int64_t k, double *out, double *work);

#endif
