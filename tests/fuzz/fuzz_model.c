/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the model loader. Build it with FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, which
 * accepts a wrong SHA-256, because no fuzzer can guess one. */
#include <stddef.h>
#include <stdint.h>

#include "kfe.h"

enum { MEMORY_LIMIT = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void describe(kfe_context *ctx, const kfe_model *model, kfe_style style)
{
    char *text = NULL;

    if (kfe_model_describe(ctx, model, style, &text) == KFE_OK)
        kfe_string_free(ctx, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kfe_context *ctx = NULL;
    kfe_model *model = NULL;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    if (kfe_model_load_bytes(ctx, bytes, size, &model) == KFE_OK) {
        describe(ctx, model, KFE_STYLE_TEXT);
        describe(ctx, model, KFE_STYLE_JSON);
    }
    kfe_model_free(model);
    kfe_context_free(ctx);
    return 0;
}
