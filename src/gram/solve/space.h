/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute with long vectors wherever the operator is: in host memory, or in that of its device (device/space.h). An iterative method
 * keeps its blocks of n-vectors here and its small matrices on the host; it is written once for both.
 */
#ifndef KFE_GRAM_SOLVE_SPACE_H
#define KFE_GRAM_SOLVE_SPACE_H

#include "gram/gram.h"

/* Memory for n × columns numbers. */
typedef struct kfe_i_long {
    double *host;
    uint64_t address; /* on the device */
} kfe_i_long;

/* `count` vectors: number i of vector j is number i·stride + first + j of the memory. */
typedef struct kfe_i_span {
    const kfe_i_long *memory;
    int64_t first, count, stride;
} kfe_i_span;

static inline kfe_i_span kfe_i_span_of(const kfe_i_long *memory, int64_t count, int64_t stride)
{
    return (kfe_i_span){.memory = memory, .count = count, .stride = stride};
}

typedef struct kfe_i_space kfe_i_space;

/* What a space does. */
typedef struct kfe_i_space_calls {
    kfe_status (*allocate)(kfe_i_space *space, int64_t columns, kfe_i_long *out);
    void (*release)(const kfe_i_space *space, kfe_i_long *memory);
    /* out (a.count × b.count, packed, on the host) = aᵀb */
    kfe_status (*inner)(kfe_i_space *space, kfe_i_span a, kfe_i_span b, double *out);
    /* c = beta·c + alpha·a·s; s (a.count × c.count) is on the host, its rows `stride` apart. c does not overlap a. */
    kfe_status (*combine)(kfe_i_space *space, double alpha, kfe_i_span a, const double *s, int64_t stride,
                          double beta, kfe_i_span c);
    /* to = from, of as many vectors. */
    kfe_status (*copy)(kfe_i_space *space, kfe_i_span from, kfe_i_span to);
    /* out = G·v, exactly or `fast`, in single precision. Both are packed. */
    kfe_status (*times)(kfe_i_space *space, int fast, kfe_i_span v, kfe_i_span out);
    /* Σᵢ v[i, j]² for each vector, on the host. */
    kfe_status (*squares)(kfe_i_space *space, kfe_i_span v, double *out);
    /* n × count numbers, packed, from and to the host, in this process alone. */
    kfe_status (*put)(kfe_i_space *space, const double *from, kfe_i_span to);
    kfe_status (*get)(kfe_i_space *space, kfe_i_span from, double *to);
    /* Called when all memory has been allocated, with the status of that: if a device has too little in one of the processes that compute
     * together, all give up. Later failures are errors. */
    kfe_status (*agree)(kfe_i_space *space, kfe_status status);
    void (*close)(kfe_i_space *space);
} kfe_i_space_calls;

struct kfe_i_space {
    const kfe_i_space_calls *calls;
    const kfe_i_gram *gram;  /* multiplies fast */
    const kfe_i_gram *exact; /* the same operator, or the one that `gram` copies in single precision */
    int64_t n;
    void *state;
    int gave_up; /* a device cannot go on, and the caller may try host memory */
};

/* Vectors in host memory. Close the space also after a failure. */
kfe_status kfe_i_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, kfe_i_space *out);
void kfe_i_space_close(kfe_i_space *space);
void kfe_i_long_free(const kfe_i_space *space, kfe_i_long *memory);

#endif
