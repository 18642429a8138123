/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare a table for one kernel: centred for distances, with squared norms or substring counts. */
#ifndef KFE_KERNEL_TILE_POINTS_H
#define KFE_KERNEL_TILE_POINTS_H

#include "kernel/kernel.h"

typedef struct kfe_i_points {
    kfe_context *ctx;
    kfe_i_table source; /* as it was given; borrowed, or owned by what kfe_i_points_gather made */
    /* The source, or an owned copy with the centre subtracted; in single precision always the source. */
    kfe_i_table table;
    double *centre; /* the column means; NULL where nothing is subtracted */
    double *norms;  /* ⟨x, x⟩ per row for DOT, DISTANCE and STRING */
    float *narrow;  /* the table in single precision, rows × cols, if tiles are to use it */
    /* STRING: per row the substrings, as numbers in increasing order, and how often each occurs */
    int64_t *code_start;
    uint64_t *codes;
    double *counts;
} kfe_i_points;

/*
 * Squared distances by ‖x‖² + ‖y‖² − 2⟨x, y⟩ lose digits if the points are far from the origin, so dense points are
 * centred first. Tables in single precision stay as they are: tiles convert and centre their rows. Points of one tile
 * need the same centre: the first set (reference NULL) computes it, the others copy
 * it from their reference. The table must outlive the points.
 */
kfe_status kfe_i_points_prepare(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                                const kfe_i_points *reference, kfe_i_points *out);
/* The same, but never in single precision: for callers that read out->table themselves. */
kfe_status kfe_i_points_prepare_wide(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                                     kfe_i_points *out);
/* Fails if the kernel is not for the values of this table, such as chi2 for negative ones. Preparing checks it too. */
kfe_status kfe_i_points_check(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table);
/* Value (i, j) of dense points, centred. */
static inline double kfe_i_points_value(const kfe_i_points *points, int64_t i, int64_t j)
{
    double value = kfe_i_table_value(&points->table, i, j);

    return points->table.singles && points->centre ? value - points->centre[j] : value;
}
/* Columns first_col … first_col + cols − 1 of `count` dense points from `first` on, centred, into out[count × cols]. */
void kfe_i_points_panel(const kfe_i_points *points, int64_t first, int64_t count, int64_t first_col,
                        int64_t cols, double *out);
/* Lets tiles compute dense dot products of these points in single precision; both sides of a tile must allow it. Does
 * nothing for other kernels. */
kfe_status kfe_i_points_narrow(const kfe_i_kernel *kernel, kfe_i_points *points);
/* Call this after changing the first `rows` rows of a dense table in place (DOT, DISTANCE): recomputes centre and norms
 * for these rows without allocating. Not for points with a reference or in single precision. */
void kfe_i_points_renew(kfe_i_points *points, int64_t rows);
/* An owned copy of the points listed, still prepared. */
kfe_status kfe_i_points_gather(kfe_context *ctx, const kfe_i_points *points, const int64_t *index,
                               int64_t count, kfe_i_points *out);
/* Call this after changing a dense table in place: recomputes the norms and keeps the centre. Does not allocate. */
void kfe_i_points_refresh(kfe_i_points *points);
/* The mean of every column of a dense table: the centre that is subtracted from its rows. */
void kfe_i_column_means(const kfe_context *ctx, const kfe_i_table *table, double *out);
void kfe_i_points_free(kfe_i_points *points);

/* `count` consecutive points from `first` on. */
typedef struct kfe_i_range {
    const kfe_i_points *points;
    int64_t first, count;
} kfe_i_range;

#endif
