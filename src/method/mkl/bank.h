/* SPDX-License-Identifier: Apache-2.0 */
/* Open a kfe_i_bank to have the kernels of a problem side by side: each centred, divided by its trace, and kept
 * as memory allows. Gᵢ is the centred matrix of kernel i divided by its trace. */
#ifndef KFE_METHOD_MKL_BANK_H
#define KFE_METHOD_MKL_BANK_H

#include "method/method.h"

typedef struct kfe_i_bank {
    kfe_context *ctx;
    int64_t size, count;
    kfe_i_gram **raw;
    kfe_i_kept *kept;     /* the raw ones, with their rows if these fit in memory */
    kfe_i_gram **centred; /* NULL: the raw ones are centred already */
    kfe_i_table *tables;  /* of kernels whose matrices are maps of shared values */
    /* The operators inside `raw`, without the weights of the examples; NULL: there are no weights. */
    kfe_i_gram **plain;
    int reserved;    /* matrices of the caller */
    double *traces;  /* 0: the kernel is constant on the data and gets no weight */
    double rounding; /* size of an eigenvalue of a Gᵢ that is zero but for rounding */
    double *means;   /* n: row means, while kernels are summed */
} kfe_i_bank;

/* Weighs the examples by `roots` (kfe_i_ask_roots; NULL: not at all), and leaves room for `matrices` n × n matrices of the caller. KFE_EINPUT, in the name of `method`, if all kernels are
 * constant. Free it also after a failure. */
kfe_status kfe_i_bank_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                           const double *roots, int matrices, kfe_i_bank *out);
void kfe_i_bank_free(kfe_i_bank *bank);
/* out (n × k) = Gᵢ·v */
kfe_status kfe_i_bank_times(const kfe_i_bank *bank, int64_t kernel, const double *v, int64_t k, double *out);
/* The lower triangle of Σ weightsᵢGᵢ into out (n × n); the upper one is not touched. `panel`: KFE_PANEL_ROWS ×
 * n. */
enum { KFE_PANEL_ROWS = 256 };
kfe_status kfe_i_bank_combine(const kfe_i_bank *bank, const double *weights, double *panel, double *out);
/* Gives the solution its kernel weights θᵢ = dᵢ/tr(Gᵢ), centres it, and records the d as "weights". */
kfe_status kfe_i_bank_finish(const kfe_i_bank *bank, const double *d, kfe_i_solution *solution);

#endif
