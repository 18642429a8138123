/* SPDX-License-Identifier: Apache-2.0 */
/* Append parts of a stream to each other, or draw a sample of rows from a stream whose length is not known. */
#ifndef KFE_ACCUMULATE_STACK_H
#define KFE_ACCUMULATE_STACK_H

#include "core/rng.h"
#include "data/data.h"

/* One data set of the rows of all parts, at least one part. Each has one view, and all have the same task and columns; csr tables
 * may have fewer columns than the widest. */
kfe_status kfe_i_stack(kfe_context *ctx, kfe_data *const *parts, int64_t count, kfe_data **out);

/* Copies the rows listed, with the names of the columns. */
kfe_status kfe_i_pick_rows(kfe_context *ctx, const kfe_data *data, const int64_t *index, int64_t count,
                           kfe_data **out);

/* A uniform sample without replacement: the content of every row gives it a number, and the rows with the smallest numbers stay. So the
 * sample depends neither on how rows are divided into parts nor on their order. Begin with kfe_i_reservoir_begin. */
typedef struct kfe_i_reservoir {
    kfe_context *ctx;
    kfe_i_rng rng;
    uint64_t salt;     /* makes the numbers depend on the seed */
    int64_t size;      /* rows wanted */
    kfe_data **pieces; /* rows that may be in the sample, in their order */
    int64_t piece_count, piece_capacity;
    double *numbers; /* of these rows */
    int64_t rows, capacity;
    double limit; /* rows of larger numbers are not in the sample */
} kfe_i_reservoir;

void kfe_i_reservoir_begin(kfe_context *ctx, int64_t size, kfe_i_reservoir *out);
void kfe_i_reservoir_free(kfe_i_reservoir *reservoir);
kfe_status kfe_i_reservoir_add(kfe_i_reservoir *reservoir, const kfe_data *part);
/* The sample, in the order of the rows; NULL if there were none. */
kfe_status kfe_i_reservoir_take(kfe_i_reservoir *reservoir, kfe_data **out);

#endif
