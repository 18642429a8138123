/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values to strings of ours. */
#ifndef KFE_REPORT_JSON_H
#define KFE_REPORT_JSON_H

#include <jansson.h>

#include "core/context.h"

/* Indented text, ended by a newline, freed with kfe_string_free; lets go of `value`. NULL: out of memory. */
kfe_status kfe_i_json_take(kfe_context *ctx, json_t *value, char **out);
/* A number, or null where JSON has none (NaN, infinite). */
json_t *kfe_i_json_number(double value);
/* A string; bytes that are not UTF-8 become "?". */
json_t *kfe_i_json_string(const char *text);

#endif
