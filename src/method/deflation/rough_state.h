/* SPDX-License-Identifier: Apache-2.0 */
/* Share the state of a rough scatter between rough_sums.c, which makes it, and rough_products.c, which multiplies with it. */
#ifndef KFE_METHOD_DEFLATION_ROUGH_STATE_H
#define KFE_METHOD_DEFLATION_ROUGH_STATE_H

#include "core/share.h"
#include "method/deflation/rough_loops.h"
#include "method/deflation/rough_sums.h"

/* Numbers of a block of rows that stays in the cache of a thread. */
enum { KFE_ROUGH_BLOCK = 1 << 15, KFE_ROUGH_BLOCK_ROWS = 256 };
/* Directions that are multiplied in one pass over the rows. */
enum { KFE_ROUGH_TOGETHER = 4 * KFE_ROUGH_TILE };

/* What one thread adds up. */
typedef struct kfe_i_rough_part {
    double *sum, *square; /* cols: Σv, Σv² */
    double *cross;        /* cols × targets: Σ v(y − mean)ᵀ */
    double *classes;      /* classes × cols: Σv of each */
    float *panel;         /* rows of a panel × cols */
    float *products;      /* cols × cols, the upper triangle of one panel */
    double *scatter;      /* the sum of these over all panels */
    double *images;       /* KFE_ROUGH_BLOCK_ROWS × KFE_ROUGH_TILE: Xw of a block */
    double *along;        /* cols × KFE_ROUGH_TOGETHER: Z, by tiles for several directions */
} kfe_i_rough_part;

struct kfe_i_rough {
    kfe_context *ctx;
    const kfe_i_table *table;
    kfe_i_rough_form form;
    int threads;
    kfe_i_rough_part *parts;
    double *mean, *base, *squares; /* cols; squares: the diagonal of S */
    double unit;                   /* of S̃: a power of two */
    float *matrix;                 /* cols × cols: S̃/unit² */
    int64_t count;                 /* directions of the basis */
    double *basis, *image;         /* count × cols: Qᵀ; (SQ)ᵀ */
    double *share;                 /* count: q */
    double *tiles;                 /* cols × KFE_ROUGH_TOGETHER: directions by tiles */
    double *rest;                  /* cols: a direction less its part in the basis */
    float *single, *single_image;  /* cols */
    double distance;
};

static inline const double *kfe_i_rough_row(const kfe_i_table *table, int64_t i)
{
    return table->values + i * table->stride;
}

static inline kfe_i_row_block kfe_i_rough_rows_at(const kfe_i_table *table, int64_t first, int64_t rows)
{
    return (kfe_i_row_block){kfe_i_rough_row(table, first), rows, table->cols, table->stride};
}

/* Rows of a block: a multiple of four, as many as are taken together. */
static inline int64_t kfe_i_rough_block_rows(int64_t cols)
{
    int64_t rows = KFE_ROUGH_BLOCK / (cols > 0 ? cols : 1) / 4 * 4;

    return rows < 4 ? 4 : kfe_i_least(rows, KFE_ROUGH_BLOCK_ROWS);
}

#endif
