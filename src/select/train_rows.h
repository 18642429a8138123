/* SPDX-License-Identifier: Apache-2.0 */
/* Keep the training rows of splits while a search goes from kernel to kernel: gathering them for every fit can take longer than a
 * fit on a device. Used by sweep.c and fold.c. */
#ifndef KFE_SELECT_TRAIN_ROWS_H
#define KFE_SELECT_TRAIN_ROWS_H

#include "data/data.h"
#include "model/spec.h"
#include "select/splits.h"

/* The training rows of one split; the classes that they do not have are left out of the target. */
typedef struct kfe_i_train_rows {
    kfe_data *data;    /* NULL: not made */
    int32_t *old_code; /* class in the whole data of each class; NULL: real targets */
} kfe_i_train_rows;

/* Removes the classes without members. *old_code receives the former number of each that stays; NULL: real targets. */
kfe_status kfe_i_compact_classes(kfe_context *ctx, kfe_data *data, int32_t **old_code);
/* Free it also after a failure. */
kfe_status kfe_i_train_rows_make(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                 const kfe_i_split *split, kfe_i_train_rows *out);
void kfe_i_train_rows_free(kfe_context *ctx, kfe_i_train_rows *rows);
/* Copies of what a fold keeps. */
kfe_status kfe_i_train_rows_target(kfe_context *ctx, const kfe_i_train_rows *rows, kfe_i_target *target,
                                   int32_t **old_code);

/* Those of all splits, each made when it is first asked for. */
typedef struct kfe_i_train_cache {
    kfe_context *ctx;
    kfe_i_train_rows *items; /* NULL: they are not kept */
    int64_t count;
} kfe_i_train_cache;

/* Keeps none if they would take much of the memory that is left, or if the kernels of the spec are given as matrices. */
kfe_status kfe_i_train_cache_init(kfe_context *ctx, const kfe_data *data, const kfe_spec *spec,
                                  const kfe_i_splits *splits, kfe_i_train_cache *out);
/* Makes the rows of these splits, unless they are. */
kfe_status kfe_i_train_cache_fill(kfe_i_train_cache *cache, const kfe_data *data, const kfe_spec *spec,
                                  const kfe_i_splits *splits, const int64_t *members, int64_t count);
/* NULL: not kept. */
const kfe_i_train_rows *kfe_i_train_cache_at(const kfe_i_train_cache *cache, int64_t split);
void kfe_i_train_cache_free(kfe_i_train_cache *cache);

#endif
