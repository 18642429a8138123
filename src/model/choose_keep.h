/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how many columns each direction of a sparse method uses, for specs that leave it to the data (kfe_i_spec_chooses_keep). */
#ifndef KFE_MODEL_CHOOSE_KEEP_H
#define KFE_MODEL_CHOOSE_KEEP_H

#include "model/choosing.h"

/* One direction after the other, up to choosing->most of them; ends early, unless the number of directions is given, where two more do not
 * lower the error. Writes the numbers into the spec's keep, leaves their errors in choosing->errors, and sets choosing->most. */
kfe_status kfe_i_choose_keep(kfe_i_choosing *choosing, int64_t columns, int given);

#endif
