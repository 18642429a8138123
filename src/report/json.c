/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

static kfe_status no_memory(kfe_context *ctx)
{
    return kfe_i_fail(ctx, KFE_ENOMEM, "out of memory: could not write JSON");
}

kfe_status kfe_i_json_take(kfe_context *ctx, json_t *value, char **out)
{
    char *dumped = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    size_t length = dumped ? strlen(dumped) : 0;

    *out = NULL;
    json_decref(value);
    if (!dumped)
        return no_memory(ctx);
    *out = kfe_i_alloc(ctx, (int64_t)length + 2, 1);
    if (*out) {
        memcpy(*out, dumped, length);
        memcpy(*out + length, "\n", 2);
    }
    free(dumped);
    return *out ? KFE_OK : KFE_ENOMEM;
}

json_t *kfe_i_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *kfe_i_json_string(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string("?");
}

void kfe_string_free(kfe_context *ctx, char *string)
{
    kfe_i_free(ctx, string);
}
