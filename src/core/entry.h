/* SPDX-License-Identifier: Apache-2.0 */
/* Begin the rows of a table that hosts can list: KFE_I_ENTRY(formula) makes name, summary, formula (by the name that this
 * table gives it), flags and alias the first members of a row, and `entry` the same as kfe_entry_info. */
#ifndef KFE_CORE_ENTRY_H
#define KFE_CORE_ENTRY_H

#include "core/context.h"

#define KFE_I_ENTRY(formula_name)                                                                            \
    union {                                                                                                  \
        kfe_entry_info entry;                                                                                \
        struct {                                                                                             \
            const char *name;                                                                                \
            const char *summary;                                                                             \
            const char *formula_name;                                                                        \
            unsigned flags; /* KFE_HAS_... */                                                                \
            const char *alias;                                                                               \
        };                                                                                                   \
    }

#endif
