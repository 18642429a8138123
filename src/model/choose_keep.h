/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how many columns each direction of a sparse method uses, for specs that leave it to the data (kfe_i_spec_chooses_keep). */
#ifndef KFE_MODEL_CHOOSE_KEEP_H
#define KFE_MODEL_CHOOSE_KEEP_H

#include "method/shared/keep.h"
#include "model/choosing.h"

typedef struct kfe_i_keep_task {
    const kfe_i_table *views; /* scaled */
    int view_count;
    kfe_i_keep_list values; /* to try, besides all */
    int given;              /* the number of directions is given */
} kfe_i_keep_task;

/* One direction after the other, up to choosing->most of them, and in each one view after the other; ends early, unless the number of directions is
 * given, where two more do not lower the error. Writes the numbers into the spec's keep, leaves their errors in choosing->errors, and sets
 * choosing->most. */
kfe_status kfe_i_choose_keep(kfe_i_choosing *choosing, const kfe_i_keep_task *task);
/* The numbers of the first `count` directions in what it wrote; `out` has room for as many characters. */
void kfe_i_keep_of_first(const char *list, int64_t count, char *out);

#endif
