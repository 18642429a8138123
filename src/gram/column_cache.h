/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of an operator on demand, for methods that look at a few hundred of them: those asked for last are
 * kept, as many as memory allows. */
#ifndef KFE_GRAM_COLUMN_CACHE_H
#define KFE_GRAM_COLUMN_CACHE_H

#include "gram/gram.h"

typedef struct kfe_i_column_cache kfe_i_column_cache;

/* Keeps up to `most` columns (at least one). Borrows the operator. */
kfe_status kfe_i_column_cache_new(const kfe_i_gram *gram, int64_t most, kfe_i_column_cache **out);
void kfe_i_column_cache_free(kfe_i_column_cache *cache);
/* Column `index`, n numbers, valid until the cache is asked for as many other columns as it keeps. */
kfe_status kfe_i_column_cache_get(kfe_i_column_cache *cache, int64_t index, const double **out);
/* Makes all the columns listed present, evaluating those that are not in one go; at most as many as it keeps.
 */
kfe_status kfe_i_column_cache_fetch(kfe_i_column_cache *cache, const int64_t *index, int64_t count);
/* How many columns were evaluated so far. */
int64_t kfe_i_column_cache_evaluated(const kfe_i_column_cache *cache);

#endif
