/* SPDX-License-Identifier: Apache-2.0 */
/* What the plug-in for Parquet, Feather and Arrow files offers: implemented by backends/arrow, called by data/format/arrow.c. */
#ifndef KFE_PLUGIN_PARQUET_H
#define KFE_PLUGIN_PARQUET_H

#include "kfe_arrow.h"

#define KFE_ARROW_FILES_SYMBOL "kfe_arrow_files"
#define KFE_ARROW_FILES_ABI 1u

typedef struct kfe_arrow_files_table {
    uint32_t abi, size;
    /* Opens the content of a file, which stays in memory until the stream is released. Returns 0, or another number with the reason in
     * `message`; then there is no stream to release. */
    int (*open)(const void *bytes, int64_t count, struct ArrowArrayStream *out, char *message,
                int64_t message_size);
} kfe_arrow_files_table;

/* The function of the plug-in that returns its table. */
typedef const kfe_arrow_files_table *(*kfe_arrow_files_fn)(void);

#endif
