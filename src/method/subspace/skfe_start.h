/* SPDX-License-Identifier: Apache-2.0 */
/* Get a subspace for skfe to start from: that of another method, or a random one. */
#ifndef KFE_METHOD_SUBSPACE_SKFE_START_H
#define KFE_METHOD_SUBSPACE_SKFE_START_H

#include "method/method.h"
#include "method/subspace/subspace.h"

/* The values of skfe's parameter `init`, in the order of its words. */
#define KFE_START_WORDS "koc|kpca|kpls|akda-qr|random"
typedef enum kfe_i_start {
    KFE_START_KOC,
    KFE_START_KPCA,
    KFE_START_KPLS,
    KFE_START_AKDA_QR,
    KFE_START_RANDOM
} kfe_i_start;

/*
 * A subspace of `dim` dimensions, or as many as the examples span, on `gram` (the source's or its positive
 * part). If the method gives more dimensions, those most aligned with the classes are taken; if it gives fewer,
 * principal directions are added. Random subspaces differ by `draw`.
 */
kfe_status kfe_i_start_subspace(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_gram *gram,
                                kfe_i_start start, int64_t dim, uint64_t draw, kfe_i_subspace *out);

#endif
