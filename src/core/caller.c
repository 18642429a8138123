/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program outside the library may record on a context: failures and progress of its own. Called by direction
 * rules, kernels and programs such as the reproduction of published tables.
 */
#include "core/context.h"

kfe_status kfe_fail(kfe_context *ctx, kfe_status status, const char *reason)
{
    return status == KFE_OK ? KFE_OK : kfe_i_fail(ctx, status, "%s", reason);
}

kfe_status kfe_progress(kfe_context *ctx, const char *stage, int64_t done, int64_t total)
{
    return kfe_i_progress(ctx, stage, done, total);
}
