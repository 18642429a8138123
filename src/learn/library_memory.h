/* SPDX-License-Identifier: Apache-2.0 */
/* Ask here whether LIBSVM or LIBLINEAR may be called. Both allocate by themselves, and a failure inside them ends the
 * process: LIBSVM's malloc is not checked, and what its operator new throws cannot pass through C. */
#ifndef KFE_LEARN_LIBRARY_MEMORY_H
#define KFE_LEARN_LIBRARY_MEMORY_H

#include "core/context.h"

/* Bytes that LIBSVM takes for one problem beside its cache, and for the least cache that it works with. */
double kfe_i_libsvm_bytes(int64_t rows);
/* Checks that LIBSVM can train on `rows` examples. *cache, in megabytes, becomes smaller where the kernel matrix or the
 * memory limit is. */
kfe_status kfe_i_libsvm_reserve(kfe_context *ctx, int64_t rows, double *cache);

#endif
