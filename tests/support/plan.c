/* SPDX-License-Identifier: Apache-2.0 */
/* Runs small plans of reproductions. Used by tests/reproduce. */
#include "support/plan.h"

#include <stdlib.h>

#include "support/support.h"

json_t *support_reproduce(kfe_context *ctx, const char *text, const rep_settings *settings)
{
    static const rep_settings none = {0};
    char *out = NULL;
    json_error_t error;

    assert_ok(ctx, rep_run(ctx, support_text("s.json", text), settings ? settings : &none, NULL, &out));
    json_t *found = json_loads(out, 0, &error);
    if (!found)
        fail_msg("not JSON: %s: %s", error.text, out);
    free(out);
    return found;
}

const json_t *support_result(const json_t *found, size_t index)
{
    const json_t *result = json_array_get(json_object_get(found, "results"), index);

    assert_non_null(result);
    return result;
}

double support_result_number(const json_t *result, const char *key)
{
    const json_t *value = json_object_get(result, key);

    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}
