/* SPDX-License-Identifier: Apache-2.0 */
/* Where skfe begins: a subspace that another method finds, or a random one. */
#ifndef KFE_METHOD_SUBSPACE_SKFE_START_H
#define KFE_METHOD_SUBSPACE_SKFE_START_H

#include "method/method.h"
#include "method/subspace/subspace.h"

/* In the order of these words. */
#define KFE_START_WORDS "koc|kpca|kpls|akda-qr|random"
typedef enum kfe_i_start {
    KFE_START_KOC,
    KFE_START_KPCA,
    KFE_START_KPLS,
    KFE_START_AKDA_QR,
    KFE_START_RANDOM
} kfe_i_start;

/*
 * A subspace of `dim` dimensions, or of as many as the examples span, on `gram` (the problem's, or its
 * positive part). Of a method that gives more, the part that is most aligned with the classes is taken; of
 * one that gives fewer, the principal directions fill up. Random ones differ by `draw`.
 */
kfe_status kfe_i_start_subspace(kfe_context *ctx, const kfe_i_problem *problem, const kfe_i_gram *gram,
                                kfe_i_start start, int64_t dim, uint64_t draw, kfe_i_subspace *out);

#endif
