/* SPDX-License-Identifier: Apache-2.0 */
/* Read the fuzzer's bytes as one format. The first byte selects one of the option texts, so that the fuzzer
 * explores options too. */
#ifndef KFE_FUZZ_READER_H
#define KFE_FUZZ_READER_H

#include <stdlib.h>
#include <string.h>

#include "data/read/reader.h"

enum { FUZZ_OPTIONS = 8 };

static inline void fuzz_read(const uint8_t *bytes, size_t size, const char *format,
                             const char *const options[FUZZ_OPTIONS])
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_i_source source;
    kfe_i_read_settings settings;
    kfe_status status;

    memset(&settings, 0, sizeof settings);
    memset(&source, 0, sizeof source);
    if (size < 1 || kfe_context_new(&ctx) != KFE_OK)
        return;
    kfe_context_set_memory(ctx, 1 << 28);
    kfe_context_set_threads(ctx, 1);
    if (kfe_i_params_default(ctx, &kfe_i_read_params, &settings) != KFE_OK ||
        kfe_i_params_parse(ctx, &kfe_i_read_params, "fuzz", &settings, options[bytes[0] % FUZZ_OPTIONS]) !=
            KFE_OK ||
        kfe_i_param_set(ctx, &kfe_i_read_params, "fuzz", &settings, "format", format) != KFE_OK)
        abort();
    status = kfe_i_source_open_memory(ctx, "fuzz", bytes + 1, (int64_t)size - 1, &source);
    if (status == KFE_OK)
        status = kfe_i_data_read_source(ctx, &source, "fuzz", &settings, &data);
    if ((status == KFE_OK) != (data != NULL) || (status != KFE_OK && !kfe_error_message(ctx)[0]))
        abort();
    if (data && (kfe_data_rows(data) < 1 || kfe_i_table_check(ctx, &data->views[0].table) != KFE_OK))
        abort();
    kfe_data_free(data);
    kfe_i_source_close(&source);
    kfe_context_free(ctx);
}

#define FUZZ_READER(format, ...)                                                                             \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);                                           \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)                                            \
    {                                                                                                        \
        static const char *const options[FUZZ_OPTIONS] = {__VA_ARGS__};                                      \
        fuzz_read(bytes, size, format, options);                                                             \
        return 0;                                                                                            \
    }

#endif
