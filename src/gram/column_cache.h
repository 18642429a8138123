/* SPDX-License-Identifier: Apache-2.0 */
/* Get single columns of an operator. The cache keeps those used last, as many as it has room for; skpls and skblf,
 * which use a few hundred columns, work this way. */
#ifndef KFE_GRAM_COLUMN_CACHE_H
#define KFE_GRAM_COLUMN_CACHE_H

#include "gram/gram.h"

typedef struct kfe_i_column_cache kfe_i_column_cache;

/* Keeps up to `most` columns (at least one). Borrows the operator. */
kfe_status kfe_i_column_cache_new(const kfe_i_gram *gram, int64_t most, kfe_i_column_cache **out);
void kfe_i_column_cache_free(kfe_i_column_cache *cache);
/* Column `index`, n numbers, valid until the cache is asked for as many other columns as it keeps. */
kfe_status kfe_i_column_cache_get(kfe_i_column_cache *cache, int64_t index, const double **out);
/* Loads all columns listed, and evaluates the missing ones together; `count` is at most the number it keeps. */
kfe_status kfe_i_column_cache_fetch(kfe_i_column_cache *cache, const int64_t *index, int64_t count);
/* How many columns were evaluated so far. */
int64_t kfe_i_column_cache_evaluated(const kfe_i_column_cache *cache);

#endif
