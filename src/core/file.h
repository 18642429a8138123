/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear whole or not at all. */
#ifndef KFE_CORE_FILE_H
#define KFE_CORE_FILE_H

#include <stdio.h>

#include "core/context.h"

typedef struct kfe_i_outfile {
    kfe_context *ctx;
    char *path;      /* where it will be */
    char *temporary; /* where it is until then; NULL when written in place (devices, pipes) */
    FILE *stream;
} kfe_i_outfile;

/* "-" is standard output. The struct must be closed or abandoned, also after a failure. */
kfe_status kfe_i_outfile_open(kfe_context *ctx, const char *path, kfe_i_outfile *out);
kfe_status kfe_i_outfile_write(kfe_i_outfile *out, const void *bytes, size_t size);
/* Syncs and renames. After a failure nothing is left behind. */
kfe_status kfe_i_outfile_commit(kfe_i_outfile *out);
/* Removes what was written; harmless after a commit. */
void kfe_i_outfile_abandon(kfe_i_outfile *out);

#endif
