/* SPDX-License-Identifier: Apache-2.0 */
/* Read a table from text in a test, and look at its numbers. */
#ifndef KFE_TESTS_SUPPORT_READ_H
#define KFE_TESTS_SUPPORT_READ_H

#include "support/support.h"

/* The text as a CSV file; a failure fails the test. */
kfe_data *support_read_text(kfe_context *ctx, const char *text, const char *options);
/* One number of the first view, which is dense. */
double support_value_at(const kfe_data *data, int64_t row, int64_t col);

#endif
