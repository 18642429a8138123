/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a device plug-in: implement this table of functions for an accelerator, and export one symbol, kfe_device_plugin, from
 * a shared library libkfe_NAME.so. The library opens it at run time (gram/device/) and puts its Gram operators, factorisations
 * and transforms there. backends/host is a short implementation in plain C, backends/cuda the one for NVIDIA's GPUs.
 *
 * The header is C11 and C++ and needs no other header of the library but the kernels' formulas.
 *
 * Matrices are row-major: entry i, j is at address + (i·stride + j)·type bytes. Columns of a view may be fewer than its stride,
 * and a stride may be larger than the matrix it was cut from: an n × 1 view with stride s + 1 is the diagonal of a matrix of
 * stride s. Functions refuse no view; those with rows or cols 0 do nothing. Unless said otherwise outputs do not overlap inputs.
 *
 * Calls run in the order in which they are made; one that has no output in host memory may return before its work is done, and
 * then an error may be reported by a later call. Host memory that was passed in may be reused when a call returns. The same
 * calls on the same device give the same bits. A device handle is used by one thread at a time.
 *
 * In double precision results equal the CPU's up to rounding of sums. F32 means that kernel values are computed in single
 * precision; sums over examples are always in double precision.
 */
#ifndef KFE_PLUGIN_DEVICE_H
#define KFE_PLUGIN_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/formula/formulas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by every change that an older plug-in or library would misunderstand. */
#define KFE_DEVICE_ABI 4
#define KFE_DEVICE_SYMBOL "kfe_device_plugin"

typedef enum kfe_device_status {
    KFE_DEVICE_OK = 0,
    KFE_DEVICE_NO_MEMORY,   /* the device's memory is used up; the device is still usable */
    KFE_DEVICE_UNSUPPORTED, /* this plug-in does not do this: the caller uses the CPU */
    KFE_DEVICE_STOPPED,     /* the watch function asked to stop */
    KFE_DEVICE_NO_DRIVER,   /* from count and open: the driver or a library of the vendor is missing */
    KFE_DEVICE_NO_DEVICE,   /* from count and open: there is no such device */
    KFE_DEVICE_FAILED       /* anything else; the text names the call that failed */
} kfe_device_status;

typedef struct kfe_device kfe_device;               /* an open device */
typedef struct kfe_device_points kfe_device_points; /* examples on a device, ready for kernels */

/* Its value is its size in bytes. */
typedef enum kfe_device_type { KFE_DEVICE_F32 = 4, KFE_DEVICE_F64 = 8 } kfe_device_type;

/* Where a failing call puts its text; the caller makes it empty. May be NULL. */
typedef struct kfe_device_error {
    char text[512];
} kfe_device_error;

typedef struct kfe_device_info {
    char name[128];
    uint64_t total, free; /* bytes of memory */
} kfe_device_info;

/* A matrix, or a part of one, in device memory. The address means nothing to the host. */
typedef struct kfe_device_matrix {
    uint64_t address;
    int64_t rows, cols, stride;
    kfe_device_type type;
} kfe_device_matrix;

/* Examples in host memory: dense if `row_start` is NULL, else compressed rows. */
typedef struct kfe_device_rows {
    int64_t rows, cols;
    const double *values;
    int64_t stride;           /* dense */
    const int64_t *row_start; /* rows + 1; the first need not be 0 */
    const int32_t *columns;   /* increasing within a row */
    /* Cols numbers that are subtracted from dense rows before dot products are taken; NULL: none */
    const double *centre;
} kfe_device_rows;

/* `count` consecutive points from `first` on. */
typedef struct kfe_device_range {
    const kfe_device_points *points;
    int64_t first, count;
} kfe_device_range;

/* κ, and what it is multiplied with. */
typedef struct kfe_device_kernel {
    kfe_i_formula formula;
    double weight;
} kfe_device_kernel;

/* How `block` writes. */
enum {
    KFE_DEVICE_ADD = 1, /* out += instead of out = */
    /* Rows and columns are the same range: entries above the diagonal need not be written. */
    KFE_DEVICE_LOWER = 2,
    KFE_DEVICE_MIRROR = 4 /* rows and columns are the same range: out is symmetric to the last bit */
};

/* out (rows × k, F64) = or += κ·v (cols × k, F64) */
typedef struct kfe_device_product {
    kfe_device_type precision; /* of the kernel values and of their products with v */
    int add;
    const kfe_device_matrix *v, *out;
} kfe_device_product;

/* Rows of host memory: what kernel values with new examples are multiplied into. */
typedef struct kfe_device_output {
    double *values;
    int64_t stride;
    int add; /* to what is there */
} kfe_device_output;

/* Linear SVMs with squared loss that share their rows. Problem p looks for the w that minimises
 *     ½‖w‖² + Σ c·loss²,   loss = max(0, 1 − y·wᵀx) for classes, max(0, |y − wᵀx| − epsilon) for real targets,
 * where a coordinate 1 follows the others of x with `bias`. All but the rows are in host memory. */
typedef struct kfe_device_svms {
    const kfe_device_matrix *rows; /* F64 */
    int bias;
    int64_t targets, problems, classes;
    const int32_t *codes; /* of each row: its class; NULL: y are real */
    /* targets × classes: y of the rows of a class; 0: they are not in the problem. */
    const signed char *sides;
    const double *values; /* targets × rows: real y */
    double epsilon;
    const int64_t *target; /* of each problem: its y */
    const double *cost;    /* two of each problem: c of rows with y ≥ 0 and with y < 0 */
    /* Newton's method from w = 0 (learn/linear/newton.h): its steps, how often one is halved until the objective falls by `decrease`
     * times what its slope promises, and the share of the first gradient, or of the objective, that is rounding error. */
    int steps_most, halvings_most;
    double decrease, rounding;
} kfe_device_svms;

/* Columns of such rows, with the column of the bias. */
enum { KFE_DEVICE_SVM_COLS = 64 };

typedef struct kfe_device_svm {
    double objective;
    double gradient, start; /* its norm at w and at w = 0 */
    /* 0: w is not the minimum, since rounding or the number of steps ended the search early */
    int64_t solved;
} kfe_device_svm;

/* Long calls ask it now and then whether to stop: nonzero stops. `total` 0: unknown. Called by the thread that made the call. */
typedef int (*kfe_device_watch)(void *user, int64_t done, int64_t total);

typedef struct kfe_device_table {
    uint32_t abi;     /* KFE_DEVICE_ABI */
    uint32_t size;    /* sizeof(kfe_device_table) */
    const char *name; /* what users type: "cuda", "host" */

    /* ---- the device ---- */

    /* How many devices there are; 0 comes with KFE_DEVICE_NO_DRIVER or KFE_DEVICE_NO_DEVICE and a text that says what is
     * missing. Must not start anything that lasts. */
    kfe_device_status (*count)(int *devices, kfe_device_error *error);
    kfe_device_status (*open)(int index, kfe_device **out, kfe_device_error *error);
    /* Frees all memory that is left on the device; NULL does nothing. */
    void (*close)(kfe_device *device);
    kfe_device_status (*info)(kfe_device *device, kfe_device_info *out);
    /* The text of the last call that failed; never NULL. */
    const char *(*message)(const kfe_device *device);
    /* NULL: none. */
    void (*set_watch)(kfe_device *device, kfe_device_watch watch, void *user);

    /* ---- memory ---- */

    kfe_device_status (*allocate)(kfe_device *device, uint64_t bytes, uint64_t *address);
    /* 0 does nothing. */
    void (*release)(kfe_device *device, uint64_t address);
    /* Host numbers are doubles; the matrix may be F32. */
    kfe_device_status (*upload)(kfe_device *device, const double *from, int64_t stride,
                                const kfe_device_matrix *to);
    kfe_device_status (*download)(kfe_device *device, const kfe_device_matrix *from, double *to,
                                  int64_t stride);
    /* to = from, which may have another type. */
    kfe_device_status (*copy)(kfe_device *device, const kfe_device_matrix *from, const kfe_device_matrix *to);
    kfe_device_status (*fill)(kfe_device *device, const kfe_device_matrix *to, double value);
    /* to[i, j] = from[rows[i], cols[j]]; the indices are in host memory, NULL: all. Types may differ. */
    kfe_device_status (*gather)(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                                const int64_t *cols, const kfe_device_matrix *to);
    /* Waits until all work is done, and reports its errors. */
    kfe_device_status (*wait)(kfe_device *device);

    /* ---- examples ---- */

    /* Copies rows to the device and prepares them for kernels of this base (KFE_FORMULA_DOT, …): the rows as given, the rows with
     * the centre subtracted, their squared norms. Both sides of a block need the same centre. `precision` F32 prepares them for
     * both precisions, F64 for double precision only. */
    kfe_device_status (*points_new)(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                    kfe_device_type precision, kfe_device_points **out);
    /* A copy of the points listed (in host memory), for the same kernels. */
    kfe_device_status (*points_gather)(kfe_device *device, const kfe_device_points *points,
                                       const int64_t *index, int64_t count, kfe_device_points **out);
    void (*points_free)(kfe_device *device, kfe_device_points *points);

    /* ---- kernels ----
     * Squared distances are nᵢ + nⱼ − 2⟨x, y⟩ of centred points. An entry that is not at least 1e-5·(nᵢ + nⱼ) (NaN included) is
     * computed again from the differences of the rows as given, in double precision; so equal rows have distance 0 exactly. */

    /* out[i, j] = weight·κ(row i, column j), computed in the precision of `out`. `how`: KFE_DEVICE_ADD, … */
    kfe_device_status (*block)(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                               kfe_device_range cols, const kfe_device_matrix *out, int how);
    /* out[i, j] = weight·map(base[i, j]): kernel values from dot products, distances or sums that `block` wrote for a formula
     * without map. `out` may be `base`. */
    kfe_device_status (*map)(kfe_device *device, const kfe_device_kernel *kernel,
                             const kfe_device_matrix *base, kfe_device_range rows, kfe_device_range cols,
                             const kfe_device_matrix *out);
    /* The product with weight·κ(rows, cols), which is never stored. If both ranges are the same, half of it is enough. */
    kfe_device_status (*times)(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                               kfe_device_range cols, const kfe_device_product *product);
    /* out[g·groups + h] = Σ weight·κ over group(i) = g, group(j) = h; group and out are in host memory. */
    kfe_device_status (*group_sums)(kfe_device *device, const kfe_device_kernel *kernel,
                                    const kfe_device_points *points, const int32_t *group, int64_t groups,
                                    kfe_device_type precision, double *out);
    /* out (rows × k, in host memory) = or += weight·κ(rows, support)·v for rows in host memory, which pass through the device in
     * pieces, with transfers and work at the same time. The rows' centre must be the support's. */
    kfe_device_status (*stream)(kfe_device *device, const kfe_device_kernel *kernel,
                                const kfe_device_rows *rows, const kfe_device_points *support,
                                const kfe_device_matrix *v, kfe_device_type precision,
                                const kfe_device_output *out);

    /* ---- learning ---- */

    /* w (problems × columns, the bias last) receives the minima. Rows without NaN. */
    kfe_device_status (*linear_svms)(kfe_device *device, const kfe_device_svms *svms, double *w,
                                     kfe_device_svm *out);
    /* For every row the k ≤ cols.count columns at the smallest squared distances, smallest first, the lower one of equals first: their
     * numbers within the range and the distances (rows × k, in host memory). Distances are sums over the coordinates, in their order, of
     * squared differences of the points as given, without fused operations: the same bits everywhere. For dense points of the
     * base KFE_FORMULA_DISTANCE. */
    kfe_device_status (*nearest)(kfe_device *device, kfe_device_range rows, kfe_device_range cols, int64_t k,
                                 int64_t *numbers, double *distances);

    /* ---- dense algebra ---- */

    /* c = alpha·op(a)·op(b) + beta·c, op: the matrix or its transpose. All of one type, or a F32 with b and c F64: then the entries
     * of a are converted and all sums are in double precision. b may be a. With beta 0, c is not read. */
    kfe_device_status (*gemm)(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                              const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                              const kfe_device_matrix *c);
    /* to = alpha·from + beta·to; types may differ. With beta 0, `to` is not read. */
    kfe_device_status (*add)(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                             const kfe_device_matrix *to);
    /* to[i, j] += by_row[i] + by_column[j]; in host memory, NULL: zeros. */
    kfe_device_status (*shift)(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                               const double *by_column);
    /* to[i, j] *= by_row[i]·by_column[j]; in host memory, NULL: ones. */
    kfe_device_status (*scale)(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                               const double *by_column);
    /* Sums of a[i, j]·b[i, j], in double precision, into host memory: over i for each column j, or over j for each row i.
     * b NULL: ones. */
    kfe_device_status (*column_dots)(kfe_device *device, const kfe_device_matrix *a,
                                     const kfe_device_matrix *b, double *out);
    kfe_device_status (*row_dots)(kfe_device *device, const kfe_device_matrix *a, const kfe_device_matrix *b,
                                  double *out);

    /* Bytes of memory that potrf or syevd of this order needs beside the matrix. */
    uint64_t (*potrf_bytes)(kfe_device *device, int64_t n, kfe_device_type type);
    uint64_t (*syevd_bytes)(kfe_device *device, int64_t n, kfe_device_type type);
    /* a = LLᵀ, L in place of the lower triangle; entries above the diagonal are not read, and may be overwritten. *definite 0: a is
     * not positive definite, and its contents are lost. */
    kfe_device_status (*potrf)(kfe_device *device, const kfe_device_matrix *a, int *definite);
    /* b (n × k) ← (LLᵀ)⁻¹b. b has the type of L, or is F64 with L in F32: then it is rounded on the way. */
    kfe_device_status (*potrs)(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b);
    /* b (n × k) ← L⁻¹b, or L⁻ᵀb if `transpose`. */
    kfe_device_status (*trsm)(kfe_device *device, int transpose, const kfe_device_matrix *l,
                              const kfe_device_matrix *b);
    /* All eigenvalues, in rising order, into host memory; row i of a receives the unit eigenvector of the i-th. Reads the lower
     * triangle. */
    kfe_device_status (*syevd)(kfe_device *device, const kfe_device_matrix *a, double *values);
} kfe_device_table;

/* The one symbol that a plug-in exports. The table lasts as long as the plug-in. */
typedef const kfe_device_table *(*kfe_device_plugin_fn)(void);
const kfe_device_table *kfe_device_plugin(void);

/* Rows row … row + rows − 1 and columns col … col + cols − 1 of a matrix. */
static inline kfe_device_matrix kfe_device_part(kfe_device_matrix m, int64_t row, int64_t rows, int64_t col,
                                                int64_t cols)
{
    m.address += (uint64_t)(row * m.stride + col) * (uint64_t)m.type;
    m.rows = rows;
    m.cols = cols;
    return m;
}

/* The diagonal of a square matrix, as one column. */
static inline kfe_device_matrix kfe_device_diagonal(kfe_device_matrix m)
{
    m.cols = 1;
    m.stride += 1;
    return m;
}

#ifdef __cplusplus
}
#endif

#endif
