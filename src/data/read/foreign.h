/* SPDX-License-Identifier: Apache-2.0 */
/* Recognise files that no reader can read, to tell users what they have. */
#ifndef KFE_DATA_READ_FOREIGN_H
#define KFE_DATA_READ_FOREIGN_H

#include <stdint.h>

/* What the first bytes of a file say it is ("an Excel or other Office file") and what to do with it; NULL: nothing that
 * is known. */
const char *kfe_i_foreign_kind(const char *head, int64_t length, const char **advice);
/* Whether the plug-in for Arrow files reads a file that begins so: Parquet, Feather, Arrow. */
int kfe_i_is_arrow_file(const char *head, int64_t length);

#endif
