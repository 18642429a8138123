/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put a Gram operator on a device: its products, blocks and sums are then computed there, and what the device cannot do runs on
 * the CPU with a log line. open.c uses it; methods see the same operator as without a device.
 */
#ifndef KFE_GRAM_DEVICE_FORM_H
#define KFE_GRAM_DEVICE_FORM_H

#include "gram/device/session.h"
#include "gram/form.h"

/* One kernel on its examples. */
typedef struct kfe_i_device_term {
    kfe_device_kernel kernel;
    kfe_device_points *points;
} kfe_i_device_term;

/* If all kernels have formulas, *gram becomes an operator on the device that owns the former one, which
 * still answers what the device cannot, and *done is 1. */
kfe_status kfe_i_device_wrap(kfe_i_device *device, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                             kfe_i_gram **gram, int *done);

/* ---- operators on a device, of all forms ---- */

/* What an operator on a device does there, beside the calls of its form: the form's `device`. Matrices are in the device's memory. A
 * centred operator has none, but that inside it. */
typedef struct kfe_i_device_calls {
    /* NULL: the device has failed, and the CPU answers from now on. */
    kfe_i_device *(*device)(const kfe_i_gram *gram);
    /* out = scale·G, or its lower triangle. In single precision values are computed in double precision and rounded. */
    kfe_device_status (*fill)(const kfe_i_gram *gram, double scale, int lower, const kfe_device_matrix *out);
    /* Row c of out (count × n, double precision) = scale·(column index[c] of G). */
    kfe_device_status (*columns)(const kfe_i_gram *gram, double scale, const int64_t *index,
                                 const kfe_device_matrix *out);
    /* out = G·v, in double precision. */
    kfe_device_status (*times)(const kfe_i_gram *gram, const kfe_device_matrix *v,
                               const kfe_device_matrix *out);
    /* Takes the matrix away from an operator that has it in this type, which computes it from then on; address 0: it has none. NULL: it
     * never has. */
    kfe_device_matrix (*take)(const kfe_i_gram *gram, kfe_device_type type);
    /* out = G·v together with the other processes; a device that fails leaves it to its CPU. NULL: no others are needed. */
    kfe_status (*times_together)(const kfe_i_gram *gram, const kfe_device_matrix *v,
                                 const kfe_device_matrix *out);
} kfe_i_device_calls;

/* The device of an operator; NULL: it is not on one. *alone is the operator there that needs no other process. */
kfe_i_device *kfe_i_gram_device(const kfe_i_gram *gram, const kfe_i_gram **alone);
/* Rows of the panels that a matrix passes through. */
int64_t kfe_i_device_panel_rows(int64_t n);
/* A product by `times` with vectors in host memory. */
kfe_device_status kfe_i_device_times_host(kfe_i_device *device, const kfe_i_gram *gram, const double *v,
                                          int64_t k, double *out);

/* ---- entries of the table of a form, for all operators on devices ---- */

/* By a factor on the device; on the CPU if there is no room for one (solve.c). */
kfe_status kfe_i_device_solve(const kfe_i_system *system, struct kfe_i_solve_effort *effort);
/* With vectors on the device (eigen.c). */
kfe_status kfe_i_device_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *values,
                              double *vectors);
/* A centred operator whose systems and eigenvectors are computed on the device too (eigen.c). */
kfe_status kfe_i_device_centre(const kfe_i_gram *gram, kfe_i_gram **out);
#define KFE_DEVICE_SOLUTIONS                                                                                 \
    .solve = kfe_i_device_solve, .eigen = kfe_i_device_eigen, .centre = kfe_i_device_centre

/* ---- keeping (stored.c) ---- */

/* An operator of the same matrix for many passes on the device of `source`, which it borrows: the whole matrix in double
 * precision, else in single precision, else as many rows as fit, else computed in single precision at every pass. `type` F64 or F32
 * allows only that one, 0 any; *out NULL: it does not fit beside `reserve` bytes. */
kfe_status kfe_i_device_keep(const kfe_i_gram *source, int type, double reserve, kfe_i_gram **out);
/* The same in one precision, without a reserve; the result owns the source, and *source becomes NULL. */
kfe_status kfe_i_device_keep_owned(kfe_i_gram **source, int single, kfe_i_gram **out);
/* Whether the whole matrix in double precision fits beside `reserve` bytes. */
int kfe_i_device_wide_fits(const kfe_i_gram *source, double reserve);
/* out = scale·G or its lower triangle, or the first rows of it, in single precision: panels are computed in double precision and
 * rounded. */
kfe_device_status kfe_i_device_fill_rounded(const kfe_i_gram *gram, double scale, int lower,
                                            const kfe_device_matrix *out);

/* Every row of out times `scale`. */
kfe_device_status kfe_i_device_scale_rows(const kfe_i_device *device, double scale,
                                          const kfe_device_matrix *out);
/* Examples on the device, ready for a formula. Distances are taken between centred rows, as on the CPU (tile/points.h); `known` is
 * their centre, or NULL. */
kfe_status kfe_i_device_upload_points(kfe_i_device *device, const kfe_i_table *table,
                                      const kfe_i_formula *formula, const double *known,
                                      kfe_device_points **out, kfe_device_status *result);
/* A table as the device takes it, without a centre. */
kfe_device_rows kfe_i_device_rows(const kfe_i_table *table);

/* ---- the operator that kfe_i_device_wrap makes (fused.c); `gram` is one ---- */

/* Its device, unless it has fallen back to the CPU. */
kfe_i_device *kfe_i_fused_device(const kfe_i_gram *gram);
/* The operator on the CPU that it owns. */
const kfe_i_gram *kfe_i_fused_source(const kfe_i_gram *gram);
/* *gram becomes that operator, and the one on the device is freed. */
void kfe_i_fused_unwrap(kfe_i_gram **gram);
/* Whether the device computes the matrix in single precision as fast as it would read it. */
int kfe_i_fused_is_fast(const kfe_i_gram *gram);
/* The part of G from `row` and `col` on, in the precision of `out`. */
kfe_device_status kfe_i_fused_part(const kfe_i_gram *gram, int64_t row, int64_t col,
                                   const kfe_device_matrix *out, int how);
kfe_device_status kfe_i_fused_times(const kfe_i_gram *gram, kfe_device_type precision,
                                    const kfe_device_matrix *v, const kfe_device_matrix *out);
/* The product with the rows and columns from `first` on; v and out have as many rows. */
kfe_device_status kfe_i_fused_times_from(const kfe_i_gram *gram, kfe_device_type precision, int64_t first,
                                         int add, const kfe_device_matrix *v, const kfe_device_matrix *out);
/* out = the rows of G from `row` on, as many as out has, times v, in single precision. */
kfe_device_status kfe_i_fused_times_rows(const kfe_i_gram *gram, int64_t row, const kfe_device_matrix *v,
                                         const kfe_device_matrix *out);

#endif
