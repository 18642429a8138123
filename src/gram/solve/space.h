/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute with long vectors wherever the operator is: in host memory, or in the memory of its device. An iterative method keeps
 * its blocks of n-vectors here and its small matrices on the host; it is written once for both.
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

typedef struct kfe_i_space {
    const kfe_i_gram *gram;  /* multiplies fast */
    const kfe_i_gram *exact; /* the same operator, or the one of which `gram` is a copy in single precision */
    int64_t n;
    struct kfe_i_device *device; /* NULL: host memory */
    uint64_t small;              /* on the device: room for a small matrix */
    int64_t small_count;
    kfe_i_long shifted; /* on the device: vectors minus their means, for centred operators */
    int gave_up;        /* the device cannot go on, and the caller may try host memory */
    int together; /* the operator is divided over the devices of several processes. Each has all vectors on its device, and the
                         * small results of process 0, so that all take the same decisions */
    int agreed; /* all of them have the memory, and none gives up any more */
} kfe_i_space;

static inline kfe_i_span kfe_i_span_of(const kfe_i_long *memory, int64_t count, int64_t stride)
{
    return (kfe_i_span){.memory = memory, .count = count, .stride = stride};
}

/* Vectors for this operator: on its device if it has one and `device` is not 0. `small` is the size of the largest small matrix,
 * `most` the number of vectors that are multiplied at once. Close it also after a failure. */
kfe_status kfe_i_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, int device, int64_t small,
                            int64_t most, kfe_i_space *out);
/* Call it when all memory has been allocated, with the status of that: if a device has too little in one of the processes that compute
 * together, all give up. Later failures are errors. */
kfe_status kfe_i_space_agree(kfe_i_space *space, kfe_status status);
void kfe_i_space_close(kfe_i_space *space);
kfe_status kfe_i_long_new(kfe_i_space *space, int64_t columns, kfe_i_long *out);
void kfe_i_long_free(const kfe_i_space *space, kfe_i_long *memory);

/* out (a.count × b.count, packed, on the host) = aᵀb */
kfe_status kfe_i_space_inner(kfe_i_space *space, kfe_i_span a, kfe_i_span b, double *out);
/* c = beta·c + alpha·a·s; s (a.count × c.count) is on the host, its rows `stride` apart. c does not overlap a. */
kfe_status kfe_i_space_combine(kfe_i_space *space, double alpha, kfe_i_span a, const double *s,
                               int64_t stride, double beta, kfe_i_span c);
/* to = from, of as many vectors. */
kfe_status kfe_i_space_copy(kfe_i_space *space, kfe_i_span from, kfe_i_span to);
/* out = G·v, exactly or `fast`, in single precision. Both are packed. */
kfe_status kfe_i_space_times(kfe_i_space *space, int fast, kfe_i_span v, kfe_i_span out);
/* Σᵢ v[i, j]² for each vector, on the host. */
kfe_status kfe_i_space_squares(kfe_i_space *space, kfe_i_span v, double *out);
/* n × count numbers, packed, from and to the host, in this process alone. */
kfe_status kfe_i_space_put(kfe_i_space *space, const double *from, kfe_i_span to);
kfe_status kfe_i_space_get(kfe_i_space *space, kfe_i_span from, double *to);

#endif
