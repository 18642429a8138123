/* SPDX-License-Identifier: Apache-2.0 */
/* Tables read from text, for the tests of readers and encodings. */
#include "support/read.h"

#include "data/data.h"

kfe_data *support_read_text(kfe_context *ctx, const char *text, const char *options)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_read(ctx, support_text("t.csv", text), options, &data));
    return data;
}

double support_value_at(const kfe_data *data, int64_t row, int64_t col)
{
    const kfe_i_table *table = &data->views[0].table;

    assert_true(row < table->rows && col < table->cols);
    return table->values[row * table->stride + col];
}
