/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness of the reader of split files. The first byte is the number of rows of the data. */
#include <stdlib.h>

#include "data/read/split_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct expectation {
    int64_t rows, splits;
} expectation;

static void check_part(const int64_t *part, int64_t count, int64_t rows, char *seen)
{
    if (count < 1 || count > rows)
        abort();
    for (int64_t i = 0; i < count; i++)
        if (part[i] < 0 || part[i] >= rows || seen[part[i]]++)
            abort();
}

static kfe_status check_split(void *user, const int64_t *train, int64_t train_count, const int64_t *test,
                              int64_t test_count)
{
    expectation *expected = user;
    char seen[256] = {0};

    check_part(train, train_count, expected->rows, seen);
    check_part(test, test_count, expected->rows, seen);
    expected->splits++;
    return KFE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kfe_context *ctx = NULL;
    kfe_i_source source = {0};
    kfe_status status;

    if (size < 1 || kfe_context_new(&ctx) != KFE_OK)
        return 0;
    expectation expected = {.rows = bytes[0]};
    status = kfe_i_source_open_memory(ctx, "fuzz", bytes + 1, (int64_t)size - 1, &source);
    if (status == KFE_OK)
        status = kfe_i_split_source_read(&source, expected.rows, check_split, &expected);
    if (status == KFE_OK ? expected.splits < 1 : !kfe_error_message(ctx)[0])
        abort();
    kfe_i_source_close(&source);
    kfe_context_free(ctx);
    return 0;
}
