/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a kernel: one file that begins with its formula (formula/formula.h) and ends in one const kfe_i_kernel_def, and one line in
 * kernels.def. The formula maps dot products or squared distances, which tile.c computes, or sums over coordinates. Kernels on
 * strings, given matrices and functions of the user have bases of their own.
 */
#ifndef KFE_KERNEL_KERNEL_H
#define KFE_KERNEL_KERNEL_H

#include "core/entry.h"
#include "core/param.h"
#include "data/data.h"
#include "kernel/formula/formulas.h"

typedef enum kfe_i_kernel_base {
    KFE_BASE_DOT,        /* ⟨x, y⟩ */
    KFE_BASE_DISTANCE,   /* ‖x − y‖² */
    KFE_BASE_COORDINATE, /* Σ f(x_j, y_j), by pair_sum */
    KFE_BASE_STRING,     /* dot product of k-mer counts */
    KFE_BASE_GIVEN,      /* entry of a given matrix */
    KFE_BASE_USER        /* a function of the user */
} kfe_i_kernel_base;

/* Base values of pairs of rows, which become kernel values or derivatives. */
typedef struct kfe_i_tile {
    double *values;
    int64_t rows, cols, stride;
    const double *row_norms, *col_norms; /* ⟨x, x⟩ and ⟨y, y⟩; not for COORDINATE, GIVEN, USER */
} kfe_i_tile;

typedef struct kfe_i_kernel_def {
    KFE_I_ENTRY(formula); /* KFE_HAS_INDEFINITE, KFE_HAS_NONNEGATIVE, KFE_HAS_STRINGS, KFE_HAS_DERIVATIVE */
    kfe_i_kernel_base base;
    kfe_i_param_table params;
    int map; /* KFE_KERNEL_NAME: the formula of its file; 0: the base value is the kernel */
    /* COORDINATE: Σ term(x_j, y_j), with a term that is 0 at (0, 0); y NULL stands for zeros. The formula makes it. */
    double (*pair_sum)(const double *x, const double *y, int64_t count);
    /* STRING: length of the substrings counted. */
    int64_t (*substring)(const void *settings);
    /* Fills the KFE_FORMULA_PARAMS numbers that the formula sees, zeros before; NULL: they stay zeros. */
    void (*describe)(const void *settings, double *params);
    /* DOT, DISTANCE: the derivative by the base value, as this formula times the factor that is returned; NULL: not available. A kernel that has
     * it has the flag KFE_HAS_DERIVATIVE too. Where the derivative has no limit at distance 0, it is 0. */
    double (*slope)(const void *settings, kfe_i_formula *out);
    /* Replaces names such as `scale` by the number they stand for on this training data; may be NULL. */
    kfe_status (*resolve)(kfe_context *ctx, void *settings, const kfe_i_table *train);
} kfe_i_kernel_def;

/* Parameters that every kernel has. */
typedef struct kfe_i_kernel_common {
    double weight;
} kfe_i_kernel_common;

/* What tiles of a kernel hold: its values, its base values or its derivative by them. */
typedef enum kfe_i_kernel_part { KFE_PART_VALUE, KFE_PART_BASE, KFE_PART_SLOPE } kfe_i_kernel_part;

typedef struct kfe_i_kernel {
    kfe_context *ctx;
    const kfe_i_kernel_def *def;
    kfe_i_kernel_part part;
    void *settings; /* as def->params says */
    kfe_i_kernel_common common;
    int adapted;     /* a parameter was a name, such as `median`, that the training data resolved */
    int view;        /* of the data it is evaluated on */
    char *view_name; /* the view that the user gave it to; NULL: any */
    /* USER only */
    char *user_name;
    kfe_kernel_fn user_function;
    void *user_data;
} kfe_i_kernel;

typedef struct kfe_i_kernel_list {
    kfe_context *ctx;
    kfe_i_kernel *items;
    int64_t count, capacity;
} kfe_i_kernel_list;

extern const kfe_i_kernel_def kfe_i_kernel_user;

/* NULL past the end. */
const kfe_i_kernel_def *kfe_i_kernel_def_at(int index);

/* ---- formulas ---- */

/* Numbers that a formula gets at once on the CPU. */
enum { KFE_FORMULA_CHUNK = 256 };
typedef void kfe_i_formula_fn(double *values, int64_t count, double row_norm, const double *col_norms,
                              const double *params);

/* Whether the kernel is a formula of numbers, which devices evaluate too: not for strings, given matrices and functions of the user. */
int kfe_i_kernel_has_formula(const kfe_i_kernel *kernel);
/* That formula. */
kfe_i_formula kfe_i_kernel_formula(const kfe_i_kernel *kernel);
/* Replaces base values by kernel values, without the weight. */
void kfe_i_kernel_map(const kfe_i_kernel *kernel, kfe_i_tile *tile);
/* Replaces base values by derivatives; the kernel has them. */
void kfe_i_kernel_slope(const kfe_i_kernel *kernel, kfe_i_tile *tile);
/* Replaces base values by what kernel->part says. */
void kfe_i_kernel_finish(const kfe_i_kernel *kernel, kfe_i_tile *tile);

/* "name:key=value,..." */
kfe_status kfe_i_kernel_parse(kfe_context *ctx, const char *text, kfe_i_kernel *out);
kfe_status kfe_i_kernel_copy(kfe_context *ctx, const kfe_i_kernel *kernel, kfe_i_kernel *out);
void kfe_i_kernel_free(kfe_i_kernel *kernel);
/* Appends what kfe_i_kernel_parse reads ("user:NAME" for user kernels). */
void kfe_i_kernel_format(const kfe_i_kernel *kernel, kfe_i_text *out);
/* The same as a string of its own, which the caller frees. */
kfe_status kfe_i_kernel_text(kfe_context *ctx, const kfe_i_kernel *kernel, char **out);

void kfe_i_kernel_list_init(kfe_context *ctx, kfe_i_kernel_list *list);
void kfe_i_kernel_list_free(kfe_i_kernel_list *list);
/* Takes the kernel over; frees it on failure. */
kfe_status kfe_i_kernel_list_add(kfe_i_kernel_list *list, kfe_i_kernel *kernel);

/* Appends copies of all kernels of `from`. */
kfe_status kfe_i_kernel_list_copy(kfe_context *ctx, const kfe_i_kernel_list *from, kfe_i_kernel_list *list);

/* Decides on which of `count` views each kernel is evaluated. Kernels with the name of a view go to that view. The
 * others go to the views without such a kernel:
 *   one kernel         serves all of these views (copies are added)
 *   as many as views   are paired with them in order
 *   several, one view  all go to that view
 * Afterwards the list is in the order of the views. Only the names of `views` are used; it may be NULL if no kernel
 * names a view. */
kfe_status kfe_i_kernel_list_bind(kfe_i_kernel_list *list, int count, const kfe_i_view *views);
/* Whether some view would have no kernel, because all kernels name other views. */
int kfe_i_kernel_list_misses_views(const kfe_i_kernel_list *list, int count, const kfe_i_view *views);

/* Whether the kernels on a view are given matrices: 1 all, 0 none, -1 some, which is an error. */
int kfe_i_kernel_list_given(const kfe_i_kernel_list *list, int view);
/* Whether the sum of the kernels may have negative eigenvalues on some data; not without a list (NULL). */
int kfe_i_kernel_list_may_be_indefinite(const kfe_i_kernel_list *list);

/* Whether a kernel is evaluated on this view. */
int kfe_i_kernel_list_reads(const kfe_i_kernel_list *list, int view);

/* Whether all parameters are numbers: none is a name such as `scale` that the training data must resolve. */
int kfe_i_kernel_is_resolved(const kfe_i_kernel *kernel);

/* Prepares the kernel for its training data: resolves names such as `scale`, refuses unsuitable data, and warns if
 * the kernel is not positive definite. */
kfe_status kfe_i_kernel_prepare(kfe_context *ctx, kfe_i_kernel *kernel, const kfe_i_table *train);

#endif
