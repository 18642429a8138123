/* SPDX-License-Identifier: Apache-2.0 */
/* Take a model file apart, alter it, and write it again with the right checksums, so that only its content is
 * wrong. */
#ifndef KFE_TESTS_SUPPORT_MODEL_FILE_H
#define KFE_TESTS_SUPPORT_MODEL_FILE_H

#include <jansson.h>

#include "support/support.h"

typedef struct model_file {
    json_t *header;
    unsigned char *payload;
    size_t payload_size;
} model_file;

model_file model_file_read(const char *path);
void model_file_free(model_file *f);
json_t *model_file_metadata(const model_file *f);
kfe_status model_file_load(kfe_context *ctx, const model_file *f, kfe_model **out);
void model_file_rename(model_file *f, const char *from, const char *to);
/* Sets number `at` of a tensor to `value`. */
void model_file_put(model_file *f, const char *tensor, size_t at, double value);
/* Checks that loading fails with KFE_EMODEL and this reason. */
void model_file_assert_refused(kfe_context *ctx, const model_file *f, const char *what, const char *reason);

#endif
