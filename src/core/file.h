/* SPDX-License-Identifier: Apache-2.0 */
/* Write a file that appears whole or not at all: under a temporary name, renamed at the end. */
#ifndef KFE_CORE_FILE_H
#define KFE_CORE_FILE_H

#include <stdio.h>

#include "core/context.h"
#include "system/system.h"

typedef struct kfe_i_outfile {
    kfe_context *ctx;
    char *path; /* as the user wrote it */
    int aside;  /* written as `replacement`; else in place (devices, pipes, standard output) */
    kfe_i_replacement replacement;
    FILE *stream;
    int on_terminal; /* control characters are escaped */
} kfe_i_outfile;

/* "-" is standard output. A symbolic link is followed. A file that may not be written is refused, although a rename
 * could replace it. Commit or abandon the file, also after a failure. */
kfe_status kfe_i_outfile_open(kfe_context *ctx, const char *path, kfe_i_outfile *out);
kfe_status kfe_i_outfile_write(kfe_i_outfile *out, const void *bytes, size_t size);
/* Hands everything that was written to its reader, if the file is written in place. */
kfe_status kfe_i_outfile_flush(kfe_i_outfile *out);
/* Syncs the file, renames it and syncs the folder. After a failure no file is left behind. */
kfe_status kfe_i_outfile_commit(kfe_i_outfile *out);
/* Removes the temporary file; does nothing after a commit. */
void kfe_i_outfile_abandon(kfe_i_outfile *out);

#endif
