/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discriminant analysis inside a space of few dimensions, for kda-qr and akda-qr.
 *
 * z (n × q) are the coordinates of the examples in an orthonormal basis of the space. Directions v are the generalized
 * eigenvectors S_b v = λ (S + εI) v, by falling λ: S_b is the scatter of the class means, S the scatter around them (`within`)
 * or around the overall mean (`total`), and ε = `ridge` times the mean diagonal of S.
 */
#ifndef KFE_METHOD_CENTROID_DISCRIMINANT_H
#define KFE_METHOD_CENTROID_DISCRIMINANT_H

#include "method/method.h"
#include "method/shared/groups.h"

typedef enum kfe_i_scatter_kind { KFE_SCATTER_WITHIN, KFE_SCATTER_TOTAL } kfe_i_scatter_kind;

typedef struct kfe_i_discriminant_settings {
    int64_t dim;
    int scatter; /* kfe_i_scatter_kind */
    double ridge;
    int whiten;
} kfe_i_discriminant_settings;

#define KFE_DISCRIMINANT_ROWS                                                                                   \
    KFE_DIM_ROW(kfe_i_discriminant_settings, dim, "number of features; auto: one for each class"),              \
        KFE_CHOICE(                                                                                             \
            kfe_i_discriminant_settings, scatter, "scatter", "within", "within|total",                          \
            "what the between-class scatter is compared with: the within-class scatter, or the total scatter"), \
        KFE_REAL(kfe_i_discriminant_settings, ridge, "ridge", "3", 0, KFE_REAL_MAX,                             \
                 "added to the diagonal of this scatter matrix, as a multiple of its mean diagonal"),           \
        KFE_FLAG(kfe_i_discriminant_settings, whiten, "whiten", "no",                                           \
                 "scale every feature to unit scatter; otherwise directions have unit length")

/* The space, and how its basis is written in the solution. */
typedef struct kfe_i_discriminant_space {
    const char *method; /* begins messages */
    int64_t classes, q;
    double *between, *within; /* scatters, q × q; overwritten */
    kfe_i_solution_kind kind;
    int64_t rows;
    const double *basis; /* rows × q */
} kfe_i_discriminant_space;

/* Scatters of the group means (between) and around them (within), q × q, of the coordinates z (n × q) or from the sums of z. */
kfe_status kfe_i_scatters(kfe_context *ctx, const kfe_i_groups *groups, const double *z, int64_t q,
                          double *between, double *within);
void kfe_i_scatters_from_sums(const kfe_i_sums *z, double *between, double *within);

/* Makes the solution basis·V and records the λ as "scatter-ratios". */
kfe_status kfe_i_discriminants(kfe_context *ctx, const kfe_i_discriminant_space *space,
                               const kfe_i_discriminant_settings *settings, kfe_i_solution *out);

#endif
