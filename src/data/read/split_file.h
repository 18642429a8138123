/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read a file of fixed splits: the words `train` and `test`, each followed by 1-based row numbers or ranges a-b,
 * separated by blanks, commas or line ends. Another `train` begins the next split. '#' starts a comment.
 */
#ifndef KFE_DATA_READ_SPLIT_FILE_H
#define KFE_DATA_READ_SPLIT_FILE_H

#include "data/read/source.h"

/* Called with one whole split, 0-based rows in the order of the file; the arrays belong to the reader. */
typedef kfe_status (*kfe_i_split_fn)(void *user, const int64_t *train, int64_t train_count,
                                     const int64_t *test, int64_t test_count);

/* Refuses rows beyond `rows`, repeated ones, a row in both parts, and parts without rows, with line and
 * column. `use` may have been called before the mistake is found. */
kfe_status kfe_i_split_file_read(kfe_context *ctx, const char *path, int64_t rows, kfe_i_split_fn use,
                                 void *user);
/* The same from an open source. */
kfe_status kfe_i_split_source_read(kfe_i_source *source, int64_t rows, kfe_i_split_fn use, void *user);

#endif
