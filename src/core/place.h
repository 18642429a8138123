/* SPDX-License-Identifier: Apache-2.0 */
/* Find out where an output file really goes, and create the temporary file beside it. Used by file.c only. */
#ifndef KFE_CORE_PLACE_H
#define KFE_CORE_PLACE_H

#include "core/context.h"

/* A temporary name is at most the longest name that file systems take, plus the NUL. */
enum { KFE_PLACE_NAME = 256 };

typedef struct kfe_i_place {
    char *path;                     /* after all symbolic links */
    const char *name;               /* its last part, within path */
    int folder;                     /* descriptor of its folder; -1: none */
    char temporary[KFE_PLACE_NAME]; /* name in the folder until the commit; "": no such file */
} kfe_i_place;

/* Follows the symbolic links of `path`, whose end need not exist. */
kfe_status kfe_i_place_resolve(kfe_context *ctx, const char *path, kfe_i_place *out);
/* Opens the folder, removes what killed runs left there for this output, and creates and locks the temporary file.
 * The lock, which ends with the process, is how the next run knows that nobody writes to it any more. Returns the
 * descriptor of the file, or -1 with errno set. */
int kfe_i_place_create(kfe_i_place *place);
/* Renames the temporary file to the final name and syncs the folder; -1 with errno set on failure. */
int kfe_i_place_commit(kfe_i_place *place);
/* Removes the temporary file if there still is one, and frees the rest. */
void kfe_i_place_free(kfe_context *ctx, kfe_i_place *place);

#endif
