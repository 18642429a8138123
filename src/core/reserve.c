/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that there is memory for a library that allocates by itself (reserve.h). Called before LIBSVM and
 * LIBLINEAR. */
#include "core/reserve.h"

#include "core/memory.h"

/* So few need no plan: small problems run under the smallest limit. */
#define FEW_BYTES 2e6

kfe_status kfe_i_reserve(kfe_context *ctx, double bytes, const char *what, const char *remedy)
{
    kfe_status status = KFE_OK;
    char *block = NULL;

    if (bytes > FEW_BYTES)
        KFE_TRY(kfe_i_check_memory(ctx, bytes, what, remedy));
    KFE_ALLOC(ctx, block, (int64_t)bytes + 1);
cleanup:
    kfe_i_free(ctx, block);
    return status;
}
