/* SPDX-License-Identifier: Apache-2.0 */
/* Suggest a name for a misspelt one. kfe_count_typos is the rule, for every message and every host. */
#ifndef KFE_CORE_SUGGEST_H
#define KFE_CORE_SUGGEST_H

#include <stddef.h>

/* Writes " (did you mean 'X'?)" into out, or "" if no name is similar. `name_at` returns NULL past the end. */
void kfe_i_suggest(const char *word, const char *(*name_at)(const void *, int), const void *list, char *out,
                   size_t size);

#endif
